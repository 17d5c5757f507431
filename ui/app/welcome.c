#include "ui/app/welcome.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/context.h"
#include "session/conversation_operations.h"
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"
#include "ui/app/imports.h"
#include "ui/text/format.h"
#include "ui/view/sessions.h"

enum {
    NEWEST = 20,      /* sessions of the project that are looked at */
    KEY_COLUMNS = 10, /* of the keys, with the gap behind them */
    LEAST_ROWS = 3,
    ROOMY = 8, /* below these rows an offer takes the place of the title */
    TITLE_COLUMNS = 40
};

/* --- the mark that a message was sent once ---------------------------------------------------- */

struct mark {
    struct errand errand;
    char *state; /* the directory */
    bool sent;   /* it is made; else it is looked for */
    bool missing;
};

static void run_mark(struct errand *e)
{
    struct mark *m = (struct mark *)e;
    auto_free char *path = paths_join(m->state, "welcomed");
    struct error fault;
    m->missing = access(path, F_OK) != 0;
    if (m->sent && (!paths_make_dir(m->state, &fault) || !paths_write_file(path, "", 0, &fault)))
        log_line(LOG_INFO, "%s", fault.text); /* the hint comes once more */
}

static void took_mark(struct app *app, struct errand *e)
{
    const struct mark *m = (const struct mark *)e;
    if (m->sent || e->refused)
        return;
    app->welcome.is_first = m->missing && !app->activity.busy;
    app_touch_now(app, DIRTY_EDITOR);
}

static void release_mark(struct errand *e)
{
    free(((struct mark *)e)->state);
    free(e);
}

static void start_mark(struct app *app, bool sent)
{
    struct mark *m = mem_alloc(sizeof *m);
    *m = (struct mark){.errand = {.run = run_mark, .done = took_mark, .release = release_mark},
                       .state = paths_dir(PATHS_STATE),
                       .sent = sent};
    errand_start(app->errands, &m->errand);
}

void welcome_sent(struct app *app)
{
    if (app->welcome.is_first)
        start_mark(app, true);
    app->welcome.is_first = false;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* The newest session with a message, except the open one. */
static bool take_sessions(struct app *app, struct operation_answer *a, const char *words)
{
    struct session_info *newest = &app->welcome.newest;
    const struct session_list_result *found = a->result;
    session_info_release(newest);
    session_info_init(newest);
    for (size_t i = 0; !words && i < found->sessions.items.len && !*newest->id; i++) {
        const struct session_info *info = &found->sessions.items.items[i];
        if (info->messages > 0 && strcmp(info->id, app->session.id) != 0) {
            session_info_release(newest);
            *newest = session_info_clone(info);
        }
    }
    app_touch_now(app, DIRTY_BODY);
    return true;
}

static bool take_inbox(struct app *app, struct operation_answer *a, const char *words)
{
    app->welcome.proposals = words ? 0 : ((const struct learned_stats *)a->result)->candidates;
    app_touch_now(app, DIRTY_BODY);
    return true;
}

/* Files below the working directory are named from there. */
static bool take_context(struct app *app, struct operation_answer *a, const char *words)
{
    const struct context *c = a->result;
    const char *here = app->session.directory ? app->session.directory : "";
    size_t len = strlen(here);
    AUTO(buf_release) struct buf files = BUF_INIT;
    for (size_t i = words ? 0 : c->parts.len; i-- > 0;) { /* the nearest first */
        const char *path = c->parts.items[i].source;
        if (c->parts.items[i].kind != CONTEXT_INSTRUCTIONS || !path || *path != '/')
            continue; /* text of a hook has no file */
        bool below = len > 0 && strncmp(path, here, len) == 0 && path[len] == '/';
        buf_addf(&files, "%s%s", files.len > 0 ? ", " : "", below ? path + len + 1 : path);
    }
    mem_replace(&app->welcome.files, files.len > 0 ? utf8_clean_line(files.data) : NULL);
    app_touch_now(app, DIRTY_BODY);
    return true;
}

void welcome_ask_inbox(struct app *app)
{
    static const struct learned_stats_params here = {.session = NULL};
    if (app->pane_host.offers(app, &operation_learned_stats))
        (void)app_ask(app, &operation_learned_stats, &here, take_inbox);
}

void welcome_ask(struct app *app)
{
    const struct session_filter newest = {
        .project = app->session.directory, .state = SESSION_LIVE, .limit = NEWEST};
    if (!app->welcome.looked)
        start_mark(app, false);
    app->welcome.looked = true;
    if (!app->engine || app->session.last_seq > 0) /* some tests have no engine */
        return;
    (void)app_ask(app, &operation_session_list, &newest, take_sessions);
    (void)app_ask(app, &operation_context_read, NULL, take_context);
    welcome_ask_inbox(app);
    imports_look(app);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* continues "Kyoto in November" (2 d); NULL: F5 goes elsewhere. The caller frees. */
static char *continues(const struct app *app)
{
    const struct session_info *info = &app->welcome.newest;
    bool elsewhere = (*app->left && strcmp(app->left, info->id) != 0) ||
                     background_count(app, true) + background_count(app, false) > 0;
    AUTO(buf_release) struct buf age = BUF_INIT;
    if (!*info->id || elsewhere)
        return NULL;
    auto_free char *title = sessions_title(info);
    size_t len = strlen(title), cut = utf8_cut_width(title, len, TITLE_COLUMNS);
    format_age(&age, info->updated_ms, clock_wall_ms());
    return mem_printf(_("continues \"%.*s%s\" (%s)"), (int)cut, title,
                      cut < len ? glyph(GLYPH_ELLIPSIS) : "", age.data);
}

void welcome_rows(const struct app *app, int width, size_t room, struct rows *out)
{
    const struct welcome *w = &app->welcome;
    bool memory = app->pane_host.offers((struct app *)app, &operation_memory_search);
    auto_free char *left = continues(app);
    auto_free char *files = w->files ? mem_printf(_("in use: %s"), w->files) : NULL;
    auto_free char *inbox =
        w->proposals > 0
            ? mem_printf(ngettext("%d proposal in the inbox", "%d proposals in the inbox",
                                  (unsigned long)w->proposals),
                         (int)w->proposals)
            : NULL;
    const struct {
        enum action action;     /* ACTION_NONE: `key` names it; both missing: the text alone */
        const char *key, *text; /* no text: no line */
    } all[] = {{ACTION_NONE, NULL, _("Chat with a language model.")},
               {ACTION_NEXT_SESSION, NULL, left},
               {ACTION_NONE, "/learned", inbox},
               {ACTION_HELP, NULL, _("all keys and commands")},
               {ACTION_MEMORY, NULL, memory ? _(action_info(ACTION_MEMORY)->help) : NULL},
               {ACTION_CONTEXT, NULL, files},
               {ACTION_SEND, NULL, imports_offered(app) ? NULL : _("sends the message")},
               {ACTION_SESSIONS, NULL, _("earlier sessions")},
               {ACTION_NONE, NULL, _("/         begins a command")}};

    if (room < LEAST_ROWS)
        return;
    AUTO(rows_release) struct rows lines;
    rows_init(&lines);
    if (imports_offered(app) && room < ROOMY)
        imports_rows(app, width, &lines);
    size_t count = lines.list.len < room ? lines.list.len : room;
    for (size_t i = count > 0; i < sizeof all / sizeof *all && count < room; i++) {
        bool plain = all[i].action == ACTION_NONE && !all[i].key;
        AUTO(buf_release) struct buf line = BUF_INIT;
        if (all[i].action != ACTION_NONE)
            keymap_describe_first(&app->keymap, all[i].action, &line);
        buf_addstr(&line, all[i].key ? all[i].key : "");
        if (!all[i].text || (!plain && line.len == 0))
            continue;
        if (!plain)
            do
                buf_addch(&line, ' ');
            while (utf8_width(line.data, line.len) < KEY_COLUMNS);
        buf_addstr(&line, all[i].text);
        rows_begin(&lines);
        rows_addstr(&lines, "  ", STYLE_TEXT, 0);
        rows_add_cut(&lines, line.data, width > 2 ? (size_t)width - 2 : 0,
                     i == 0 ? STYLE_TITLE : STYLE_DIM);
        if (i == 0)
            imports_rows(app, width, &lines);
        count = lines.list.len < room ? lines.list.len : room;
    }
    if (count + 2 <= room) /* a blank row before and after them */
        rows_begin(out);
    for (size_t i = 0; i < count; i++)
        rows_copy(out, &lines, i);
    if (count + 1 <= room)
        rows_begin(out);
}

/* --- the hint --------------------------------------------------------------------------------- */

char *welcome_hint(const struct app *app, int width)
{
    bool memory = app->pane_host.offers((struct app *)app, &operation_memory_search);
    AUTO(buf_release) struct buf key = BUF_INIT;
    struct buf out = BUF_INIT;
    keymap_describe_first(&app->keymap, ACTION_MEMORY, &key);
    auto_free char *inbox =
        memory && key.len > 0 ? mem_printf(_("%s memory and inbox"), key.data) : NULL;
    const char *const more[] = {_("@ files"), _("! shell commands"), inbox};
    buf_addstr(&out, _("Message, or / for commands"));
    for (size_t i = 0; app->welcome.is_first && i < sizeof more / sizeof *more && more[i]; i++) {
        auto_free char *part = mem_printf(", %s", more[i]);
        if (utf8_width(out.data, out.len) + utf8_width(part, strlen(part)) > (size_t)width)
            break;
        buf_addstr(&out, part);
    }
    return buf_take(&out);
}
