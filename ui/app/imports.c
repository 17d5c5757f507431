#include "ui/app/imports.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"
#include "ui/app/picker.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/text/wrap.h"

/* The lines that answer the offer, and the value of the list's first row. */
#define ANSWER_NO "n"
#define ANSWER_LIST "l"
#define ANSWER_DONE "*"

enum { NEWEST = 20, KEY_COLUMNS = 10 /* as in the welcome */ };

char *imports_told(const struct import_report *r, const char *find)
{
    struct import_progress sum = {0};
    import_report_sum(r, &sum);
    if (sum.messages == 0)
        return mem_strdup(_("There is nothing new in the histories of other agents."));
    auto_free char *labels = import_report_labels(r);
    auto_free char *told =
        mem_printf(_("%lld %s, %lld %s from %s."), (long long)sum.conversations,
                   ngettext("conversation", "conversations", (unsigned long)sum.conversations),
                   (long long)sum.messages,
                   ngettext("message", "messages", (unsigned long)sum.messages), labels);
    return mem_printf("%s %s", told, find);
}

static bool take_imported(struct app *app, struct operation_answer *a, const char *words)
{
    AUTO(buf_release) struct buf list = BUF_INIT, search = BUF_INIT;
    bool memory = app->pane_host.offers(app, &operation_memory_search);
    app->import.run = 0;
    app_touch_now(app, DIRTY_STATUS);
    if (words)
        return false;
    keymap_describe_first(&app->keymap, ACTION_SESSIONS, &list);
    keymap_describe_first(&app->keymap, ACTION_MEMORY, &search);
    auto_free char *find =
        memory ? mem_printf(_("%s lists and searches them, %s finds what was said."), list.data,
                            search.data)
               : mem_printf(_("%s lists and searches them."), list.data);
    auto_free char *told = imports_told(a->result, find);
    app_note(app, STYLE_NOTE, "%s", told);
    return true;
}

static void end_offer(struct app *app)
{
    shape_release(operation_import_list.result, &app->import.found);
    app_touch_now(app, DIRTY_BODY);
}

static void start(struct app *app, const struct import_params *params)
{
    if (app->import.run) {
        app_note_briefly(app, STYLE_NOTE, "%s", _("An import runs already."));
        return;
    }
    end_offer(app);
    app->import.percent = 0;
    app->import.run = app_ask(app, &operation_import_run, params, take_imported);
    app_touch_now(app, DIRTY_STATUS);
}

void imports_run(struct app *app, const char *path)
{
    start(app, &(struct import_params){.paths = {.items = &path, .len = *path != '\0'}});
}

void imports_take_state(struct app *app, const struct notice *n)
{
    app->import.percent = (int)(n->import.files * 100 / n->import.of);
    app_touch_now(app, DIRTY_STATUS);
}

bool imports_stop(struct app *app)
{
    if (!app->import.run)
        return false;
    asked_withdraw(app, NULL, app->import.run);
    app->import.run = 0;
    app_note(app, STYLE_NOTE, "%s",
             _("The import is stopped. What was read is kept, and /import goes on from there."));
    app_touch_now(app, DIRTY_STATUS);
    return true;
}

/* --- the offer -------------------------------------------------------------------------------- */

static bool take_found(struct app *app, struct operation_answer *a, const char *words)
{
    struct import_report *r = a->result;
    if (words)
        return true; /* /import tells why */
    app->import.found = *r;
    *r = (struct import_report){0};
    app_touch_now(app, DIRTY_BODY);
    return true;
}

static bool take_sessions(struct app *app, struct operation_answer *a, const char *words)
{
    const struct session_list_result *all = a->result;
    bool empty = !words;
    for (size_t i = 0; empty && i < all->sessions.items.len; i++)
        empty = all->sessions.items.items[i].messages == 0;
    if (empty)
        (void)app_ask(app, &operation_import_list, NULL, take_found);
    return true;
}

void imports_look(struct app *app)
{
    const struct session_filter newest = {.state = SESSION_ANY, .limit = NEWEST};
    bool asks = strcmp(config_string(app->config, CONFIG_IMPORT_SOURCES), "ask") == 0;
    if (asks && !app->import.looked && app->options->engine->persist)
        (void)app_ask(app, &operation_session_list, &newest, take_sessions);
    app->import.looked = true;
}

bool imports_offered(const struct app *app)
{
    int64_t files = 0;
    for (size_t i = 0; i < app->import.found.sources.len; i++)
        files += app->import.found.sources.items[i].files;
    return app->fresh && files > 0;
}

/* "1,190 files, 1.1 GB". */
static void add_size(struct buf *out, int64_t files, int64_t bytes)
{
    auto_free char *number = format_exact(files);
    buf_addf(out, "%s %s, ", number, ngettext("file", "files", (unsigned long)files));
    format_short(out, bytes);
    buf_addch(out, 'B');
}

void imports_rows(const struct app *app, int width, struct rows *out)
{
    const char *text = editor_text(app->editor);
    AUTO(buf_release) struct buf names = BUF_INIT, size = BUF_INIT, send = BUF_INIT;
    int64_t files = 0, bytes = 0;
    if (!imports_offered(app))
        return;
    for (size_t i = 0; i < app->import.found.sources.len; i++) {
        const struct import_counts *c = &app->import.found.sources.items[i];
        files += c->files;
        bytes += c->bytes;
        if (c->files > 0)
            buf_addf(&names, "%s%s", names.len > 0 ? ", " : "", c->label);
    }
    add_size(&size, files, bytes);
    keymap_describe_first(&app->keymap, ACTION_SEND, &send);
    auto_free char *found =
        mem_printf(_("Found conversations with %s: %s."), names.data, size.data);
    AUTO(styled_release) struct styled sentence = {0}, margin = {0};
    styled_init(&sentence);
    styled_init(&margin);
    styled_addstr(&sentence, found, STYLE_NOTE, 0);
    styled_addstr(&margin, "  ", STYLE_TEXT, 0);
    wrap_text(out, &sentence,
              &(struct wrap_look){width > 1 ? (size_t)width : 1, WRAP_WORDS, &margin, &margin});
    const struct {
        const char *answer, *help; /* the line that Enter sends */
    } answers[] = {{"", _("search them here, too")},
                   {ANSWER_NO, _("no; tiro does not ask again, /import takes them in")},
                   {ANSWER_LIST, _("choose")}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        AUTO(buf_release) struct buf line = BUF_INIT;
        bool written = strcmp(text, answers[i].answer) == 0;
        if (*text && !written) /* a message is written, or another answer */
            continue;
        buf_addf(&line, "%s%s%s", *text ? "" : answers[i].answer,
                 *text || !*answers[i].answer ? "" : " ", send.data);
        do
            buf_addch(&line, ' ');
        while (utf8_width(line.data, line.len) < KEY_COLUMNS);
        buf_addstr(&line, answers[i].help);
        rows_begin(out);
        rows_addstr(out, "  ", STYLE_TEXT, 0);
        rows_add_cut(out, line.data, width > 2 ? (size_t)width - 2 : 0, STYLE_NOTE);
    }
}

/* Ends the offer. `sources` NULL: those that are marked. */
static void decide(struct app *app, const char *sources)
{
    AUTO(buf_release) struct buf marked = BUF_INIT;
    bool all = true;
    for (size_t i = 0; i < app->import.found.sources.len; i++) {
        const struct import_counts *c = &app->import.found.sources.items[i];
        bool is = !(app->import.unmarked >> i & 1);
        if (is && c->files > 0)
            buf_addf(&marked, "%s%s", marked.len > 0 ? "," : "", c->name);
        all = all && is;
    }
    if (!sources)
        sources = all ? "all" : marked.len > 0 ? marked.data : "none";
    picker_keep(app, CONFIG_IMPORT_SOURCES, sources, CONFIG_IMPORT_SOURCES, NULL,
                mem_printf(_("Histories of other agents: %s"), sources));
    if (strcmp(sources, "none") != 0)
        start(app, &(struct import_params){.from = sources});
    else
        end_offer(app);
}

static void chose(struct app *app, const char *value);

static void show_list(struct app *app, const char *at)
{
    struct list *list = list_new(LIST_PICK, _("Histories of other agents"));
    list_add(list, _("search the marked ones here, too"), NULL, ANSWER_DONE);
    for (size_t i = 0; i < app->import.found.sources.len; i++) {
        const struct import_counts *c = &app->import.found.sources.items[i];
        AUTO(buf_release) struct buf size = BUF_INIT;
        auto_free char *label =
            mem_printf("[%c] %s", app->import.unmarked >> i & 1 ? ' ' : 'x', c->label);
        add_size(&size, c->files, c->bytes);
        if (c->files > 0)
            list_add(list, label, size.data, c->name);
    }
    list_mark(list, at);
    app_open_list(app, LIST_IMPORTS, list, chose);
}

/* The list stays until its first row is chosen, or it is left. */
static void chose(struct app *app, const char *value)
{
    if (strcmp(value, ANSWER_DONE) == 0) {
        decide(app, NULL);
        return;
    }
    for (size_t i = 0; i < app->import.found.sources.len; i++)
        if (strcmp(app->import.found.sources.items[i].name, value) == 0)
            app->import.unmarked ^= UINT64_C(1) << i;
    show_list(app, value);
}

bool imports_answer(struct app *app, const char *line)
{
    bool no = strcmp(line, ANSWER_NO) == 0, lists = strcmp(line, ANSWER_LIST) == 0;
    if (!app->import.shown || !imports_offered(app) || (*line && !no && !lists))
        return false;
    app_write(app, "");
    if (lists)
        show_list(app, NULL);
    else
        decide(app, no ? "none" : "all");
    return true;
}
