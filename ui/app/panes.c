#include "ui/app/panes.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/capability.h"
#include "session/corpus_operations.h"
#include "session/graph_operations.h"
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"
#include "ui/app/completion.h"
#include "ui/app/find.h"
#include "ui/app/screen.h"
#include "ui/app/select.h"
#include "ui/app/turns.h"
#include "ui/term/term.h"
#include "ui/view/approval.h"
#include "ui/view/context_view.h"
#include "ui/view/draft_review.h"
#include "ui/view/memory_view.h"
#include "ui/view/sessions.h"

enum { TITLES_LISTED = 200 };

static const struct {
    enum action action;
    struct view *(*make)(const struct view_host *host, const char *query);
} panes[] = {{ACTION_CONTEXT, context_view_new}, {ACTION_SESSIONS, sessions_new}};

/* Tabs of the memory pane, beside its first. */
static const struct view_tab tabs[] = {
    {N_("learned"), &operation_learned_list, learned_view_new, learned_view_show},
    {N_("graph"), &operation_graph_list, graph_view_new, graph_view_show},
    {N_("corpora"), &operation_corpus_list, corpus_view_new, corpus_view_show},
    {.name = NULL},
};

void panes_show(struct app *app, struct view *v)
{
    views_open(&app->views, v);
    app_touch_now(app, DIRTY_ALL);
}

bool panes_open(struct app *app, enum action action, const char *query)
{
    for (size_t i = 0; i < sizeof panes / sizeof *panes; i++)
        if (panes[i].action == action) {
            panes_show(app, panes[i].make(&app->host, query));
            return true;
        }
    return false;
}

/* Requests of views */

static uint64_t ask(struct app *app, struct view *v, const struct operation *o, const void *params,
                    view_answer *take)
{
    const struct session_open_params *open = o == &operation_session_open ? params : NULL;
    const struct session_params *archive = o == &operation_session_archive ? params : NULL;
    const struct compaction_decide_params *draft =
        o == &operation_compaction_decide ? params : NULL;
    if (open && open->read_only)
        way_back_mark(app, open->session);
    /* The draft is saved with the open session before another replaces it. A deleted session keeps
     * no draft: the text stays in the editor. */
    if (open || o == &operation_session_fork ||
        (archive && strcmp(archive->session, app->session.id) == 0))
        app_leave_session(app);
    if (o == &operation_compaction_run)
        app_follow(app);
    if (draft && draft->decision == DRAFT_AGAIN)
        transcript_redraft(app->transcript);
    return asked_start(app, o, params, (struct asked_request){.view = v, .take_view = take});
}

static void close_view(struct app *app, struct view *v)
{
    views_close(&app->views, v);
    app_touch_now(app, DIRTY_ALL);
}

static void touch(struct app *app)
{
    app_touch_now(app, DIRTY_ALL);
}

static bool drafting(struct app *app)
{
    return *editor_text(app->editor) || views_holder(&app->views);
}

static void note(struct app *app, const char *text)
{
    app_note(app, STYLE_NOTE, "%s", text);
}

static void find(struct app *app, const char *session_id, const char *text)
{
    free(app->find_next);
    app->find_next = NULL;
    if (!text)
        return;
    if (!session_id) {
        find_open(app, text);
        return;
    }
    app->find_next = mem_strdup(text);
    memset(app->find_session, 0, sizeof app->find_session);
    memcpy(app->find_session, session_id, strnlen(session_id, UUID_LEN));
}

static bool works(struct app *app, const char *session_id, bool *waits)
{
    const struct background_session *b = background_find(app, session_id);
    *waits = b && b->waits;
    return b && strcmp(session_id, app->session.id) != 0;
}

/* The memory pane */

static bool offers(struct app *app, const struct operation *o)
{
    bool graph = capability_graph() && config_boolean(app->config, CONFIG_GRAPH_ENABLED);
    bool corpora = capability_corpora() && config_boolean(app->config, CONFIG_CORPUS_ENABLED);
    bool opened = app->session.id[0] != '\0'; /* before that the options of the start tell */
    bool memory =
        capability_memory() && (opened ? app->meters.memory : app->options->engine->memory);
    return (!(o->needs & NEED_MEMORY) || memory) && (!(o->needs & NEED_GRAPH) || graph) &&
           (!(o->needs & NEED_CORPORA) || corpora);
}

static void show_message(struct app *app, struct view *v, const char *session_id, int64_t seq)
{
    if (session_id) {
        memory_view_show_message(app->memory, session_id, seq);
        return;
    }
    way_back_mark(app, NULL);
    if (v == app->memory)
        memory_view_uncover(v);
    else
        close_view(app, v);
    jump_to(app, seq);
}

static bool has_memory(struct app *app)
{
    if (offers(app, &operation_memory_search))
        return true;
    app_note(app, STYLE_WARNING, "%s",
             capability_memory()
                 ? _("Memory is off. \"enabled = true\" in [memory] of tiro.ini turns it on, "
                     "--memory for one start.")
                 : _("This tiro was built without memory."));
    app_follow(app);
    return false;
}

static void came(struct app *app, struct view *v)
{
    const struct session_filter newest = {.limit = TITLES_LISTED};
    views_close_from(&app->views, (enum view_layer)(v->ops->layer + 1));
    if (!app->sessions_known)
        (void)app_ask(app, &operation_session_list, &newest, completion_take_sessions);
}

static bool beside(struct app *app)
{
    (void)app;
    return layout_pane_columns(term_facts().cols) > 0;
}

static bool under(struct app *app, const struct view *v, const struct key *key)
{
    int row, col;
    return screen_view_at(app, key->row, key->col, &row, &col) == v;
}

static const char *title_of(struct app *app, const char *session_id)
{
    if (strcmp(session_id, app->session.id) == 0)
        return "";
    for (size_t i = 0; i < app->sessions.items.len; i++) {
        const struct session_info *info = &app->sessions.items.items[i];
        if (strcmp(session_id, info->id) == 0)
            return info->title && *info->title ? info->title : NULL;
    }
    return NULL;
}

/* At the beginning of a line of its own, with a blank line after it. */
static void insert(struct app *app, const char *lines)
{
    const char *written = editor_text(app->editor);
    size_t caret = editor_caret(app->editor);
    bool within = caret > 0 && written[caret - 1] != '\n';
    auto_free char *text = mem_printf("%s%s\n", within ? "\n\n" : "", lines);
    editor_paste(app->editor, text, strlen(text));
    app_edited(app);
}

void panes_init(struct app *app)
{
    app->host = (struct view_host){.keymap = &app->keymap,
                                   .session = &app->session,
                                   .meters = &app->meters,
                                   .read_only = &app->read_only,
                                   .persist = app->options->engine->persist,
                                   .app = app,
                                   .ask = ask,
                                   .withdraw = asked_withdraw,
                                   .close = close_view,
                                   .touch = touch,
                                   .drafting = drafting,
                                   .find = find,
                                   .works = works,
                                   .show_message = show_message,
                                   .title = title_of};
    app->pane_host =
        (struct pane_host){.tabs = tabs,
                           .memory_scope = config_string(app->config, CONFIG_MEMORY_SCOPE),
                           .offers = offers,
                           .has_memory = has_memory,
                           .came = came,
                           .beside = beside,
                           .under = under,
                           .note = note,
                           .scroll_to = jump_to,
                           .insert = insert,
                           .want_older = app_want_older};
    draft_review_init(&app->draft, &app->host);
    views_open(&app->views, &app->draft.view);
    find_init(app);
    select_init(app);
    app->memory = memory_view_new(&app->host, &app->pane_host);
    views_open(&app->views, app->memory);
    approval_init(&app->approval, &app->host);
    views_open(&app->views, &app->approval.view);
}
