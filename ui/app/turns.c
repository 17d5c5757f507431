#include "ui/app/turns.h"

#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "session/session_operations.h"
#include "ui/app/slash.h"
#include "ui/app/welcome.h"
#include "ui/view/memory_view.h"
#include "ui/view/restore_view.h"

/* Jumps */

static void show_jump(struct app *app)
{
    bool shown = transcript_show_place(app->transcript, &app->jump);
    bool over = shown || app_want_older(app) == 0;
    if (over)
        app->jump = (struct transcript_place){0};
    if (over && !shown)
        memory_view_say(app->memory, _("The message no longer exists."));
    app_want_page(app);
    app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
}

void jump_to(struct app *app, int64_t seq)
{
    app->jump = (struct transcript_place){.seq = seq};
    show_jump(app);
}

void way_back_mark(struct app *app, const char *to)
{
    struct way_back *w = &app->way_back;
    struct place_left p = {
        .read_only = app->read_only,
        .blank = app->fresh && editor_len(app->editor) == 0,
        .view = transcript_place(app->transcript),
        .caret = editor_caret(app->editor),
        .memory = memory_view_is_open(app->memory),
        .memory_focused = memory_view_focused(app->memory),
    };
    memcpy(p.session, app->session.id, sizeof p.session);
    if (!to) {
        vec_push(&w->places, p);
        app_touch_now(app, DIRTY_STATUS);
        return;
    }
    w->moving = WAY_OUT;
    w->left = p;
    memset(w->to, 0, sizeof w->to);
    memcpy(w->to, to, strnlen(to, UUID_LEN));
}

static void show_again(struct app *app, const struct place_left *p)
{
    app->jump = p->view;
    show_jump(app);
    if (p->memory)
        memory_view_return(app->memory, p->memory_focused);
    app_touch_now(app, DIRTY_ALL);
}

bool way_back_go(struct app *app)
{
    struct way_back *w = &app->way_back;
    if (w->moving == WAY_HOME)
        return true;
    if (w->places.len == 0)
        return false;
    struct place_left p = vec_last(&w->places);
    w->places.len--;
    if (strcmp(p.session, app->session.id) == 0 && p.read_only == app->read_only) {
        show_again(app, &p);
        return true;
    }
    w->moving = WAY_HOME;
    w->left = p;
    /* The draft of a session that was only read is not carried over. */
    const char *draft = app->session.draft;
    if (app->read_only && draft && strcmp(draft, editor_text(app->editor)) == 0)
        editor_set(app->editor, "");
    if (!p.blank) {
        app_open_session(app, p.session, p.read_only);
        return true;
    }
    app_leave_session(app);
    (void)app_ask(app, &operation_session_create, NULL, NULL);
    return true;
}

static void forget_way_back(struct app *app)
{
    app->way_back.places.len = 0;
    app->way_back.moving = WAY_STAYS;
    app->dirty |= DIRTY_STATUS;
}

void way_back_session(struct app *app, const char *id)
{
    struct way_back *w = &app->way_back;
    bool out = w->moving == WAY_OUT && strcmp(id, w->to) == 0;
    bool home = w->moving == WAY_HOME && (w->left.blank || strcmp(id, w->left.session) == 0);
    if (out)
        vec_push(&w->places, w->left);
    if (out || (home && w->left.blank))
        w->moving = WAY_STAYS;
    else if (!home)
        forget_way_back(app);
    if (home && w->left.blank)
        show_again(app, &w->left);
}

void way_back_page(struct app *app)
{
    if (app->way_back.moving != WAY_HOME)
        return;
    app->way_back.moving = WAY_STAYS;
    show_again(app, &app->way_back.left);
}

/* Sending */

/* Starts a turn with turn/start or turn/retry. */
static void start_turn(struct app *app, const struct operation *o, const void *params)
{
    (void)app_ask(app, o, params, NULL);
    app->activity.busy = true;
    app->activity.over = false;
    app->activity.started_ms = clock_mono_ms();
    welcome_sent(app);
    forget_way_back(app);
    transcript_scroll(app->transcript, -TRANSCRIPT_ALL);
    app_touch_now(app, DIRTY_ALL);
}

void message_send(struct app *app, const char *text)
{
    if (app_is_blank(text))
        return;
    editor_history_add(app->editor, text);
    if (!app->activity.busy) {
        struct turn_start_params params = {.text = text, .origin = INPUT_TYPED};
        mentions_find(text, &params.attach);
        start_turn(app, &operation_turn_start, &params);
        mentions_release(&params.attach);
        return;
    }
    char *joined = app->waiting ? mem_printf("%s\n\n%s", app->waiting, text) : mem_strdup(text);
    free(app->waiting);
    app->waiting = joined;
    app->waiting_after = app->activity.over;
    app_touch_now(app, DIRTY_ALL);
}

void message_command(struct app *app, const char *text)
{
    if (app->activity.busy) {
        app_note_briefly(app, STYLE_NOTE, "%s",
                         _("A turn is running; run the command when it has ended."));
        app_give_back(app, text);
        return;
    }
    message_keep(app);
    editor_history_add(app->editor, text);
    start_turn(app, &operation_turn_start,
               &(struct turn_start_params){.text = text, .origin = INPUT_COMMAND});
}

void message_retry(struct app *app)
{
    if (app->activity.over)
        app->retry_after = true;
    else if (app->activity.busy)
        app_note_briefly(app, STYLE_NOTE, "%s",
                         _("A turn is running; use /retry when it has ended."));
    else if (app->fresh)
        app_note_briefly(app, STYLE_NOTE, "%s", _("No message was sent in this session yet."));
    else
        start_turn(app, &operation_turn_retry, &(struct turn_retry_params){.origin = INPUT_TYPED});
}

static bool must_wait_for_turn(struct app *app)
{
    if (app->activity.busy)
        app_note_briefly(app, STYLE_NOTE, "%s",
                         _("A turn is running; edit its message when it has ended."));
    return app->activity.busy;
}

void message_edit(struct app *app)
{
    if (must_wait_for_turn(app))
        return;
    if (!app->last_sent) {
        app_note_briefly(app, STYLE_NOTE, "%s", _("No message was sent in this session yet."));
        return;
    }
    app->replacing = true;
    app->replaced = 0;
    app_give_back(app, app->last_sent);
    app_touch_now(app, DIRTY_EDITOR | DIRTY_STATUS);
}

bool message_edit_selected(struct app *app, const struct transcript_selected *m)
{
    if (must_wait_for_turn(app))
        return false;
    app->replacing = true;
    app->replaced = m->turn_seq;
    app_give_back(app, m->turn_text);
    app_touch_now(app, DIRTY_EDITOR | DIRTY_STATUS);
    return true;
}

/* Opens the files that can be taken back; without any, names a command that is not covered. */
static bool take_changes(struct app *app, struct operation_answer *a, const char *words)
{
    const struct session_files *list = a->result;
    if (!words && list->files.len > 0) {
        views_open(&app->views, restore_view_new(&app->host, a));
        app_touch_now(app, DIRTY_ALL);
    } else if (!words && list->commands.len > 0) {
        app_note(app, STYLE_NOTE, _("What commands changed since then is not covered: %s%s"),
                 list->commands.items[0], list->commands.len > 1 ? ", ..." : "");
    }
    return !words;
}

static bool take_restorable(struct app *app, struct operation_answer *a, const char *words)
{
    if (!words && ((const struct session_files *)a->result)->files.len == 0)
        app_note(app, STYLE_NOTE, "%s", _(operation_session_restore.none));
    return take_changes(app, a, words);
}

static bool take_restored(struct app *app, struct operation_answer *a, const char *words)
{
    auto_free char *told = words ? NULL : slash_told(a);
    if (told)
        app_note(app, STYLE_NOTE, "%s", told);
    return !words;
}

void message_restore(struct app *app, const char *arguments)
{
    auto_free void *params = slash_params(&operation_session_restore, NULL, arguments);
    app_follow(app);
    if (*arguments)
        (void)app_ask(app, &operation_session_restore, params, take_restored);
    else
        (void)app_ask(app, &operation_session_changes, NULL, take_restorable);
}

static bool take_rewound(struct app *app, struct operation_answer *a, const char *words)
{
    if (words)
        return false;
    if (a->request->operation == &operation_session_rewind)
        app_give_back(app, ((const struct session_rewound *)a->result)->text);
    (void)app_ask(app, &operation_session_changes, NULL, take_changes);
    return true;
}

void message_unrewind(struct app *app)
{
    app_follow(app);
    (void)app_ask(app, &operation_session_unrewind, NULL, take_rewound);
}

void message_rewind(struct app *app, const char *arguments)
{
    auto_free void *params = slash_params(&operation_session_rewind, NULL, arguments);
    app_follow(app);
    (void)app_ask(app, &operation_session_rewind, params, take_rewound);
}

void message_rewind_to(struct app *app, int64_t seq)
{
    message_keep(app);
    app_follow(app);
    (void)app_ask(app, &operation_session_rewind, &(struct session_rewind_params){.seq = seq},
                  take_rewound);
}

void message_keep(struct app *app)
{
    if (!app->replacing)
        return;
    app->replacing = false;
    app_touch_now(app, DIRTY_STATUS);
}

void message_replace(struct app *app, const char *text)
{
    if (must_wait_for_turn(app)) {
        app_give_back(app, text);
        return;
    }
    const struct session_rewind_params rewind = {.seq = app->replaced};
    message_keep(app);
    if (rewind.seq > 0) { /* requests are done in their order */
        (void)app_ask(app, &operation_session_rewind, &rewind, NULL);
        message_send(app, text);
        return;
    }
    editor_history_add(app->editor, text);
    struct turn_retry_params params = {.text = text, .origin = INPUT_TYPED};
    mentions_find(text, &params.attach);
    start_turn(app, &operation_turn_retry, &params);
    mentions_release(&params.attach);
}

/* Turns by their number */

struct turns {
    VEC(struct transcript_turn) items; /* oldest first */
};

static void keep_turn(void *context, const struct transcript_turn *turn)
{
    struct turns *turns = context;
    vec_push(&turns->items, *turn);
}

void message_fork(struct app *app, const struct transcript_selected *m)
{
    const struct session_fork_params params = {.session = app->session.id,
                                               .at = m->kind == ITEM_USER ? m->turn_last : m->seq};
    app_leave_session(app);
    (void)app_ask(app, &operation_session_fork, &params, NULL);
}

void turns_list(struct app *app, struct list *list, const char *prefix, bool forks)
{
    struct turns turns = {0};
    if (app_want_older(app) != 0) {
        app->turns_wanted = app->completion_wanted = true;
        return;
    }
    transcript_each_turn(app->transcript, keep_turn, &turns);
    for (size_t i = turns.items.len; i-- > 0;) {
        auto_free char *number = mem_printf("%zu", turns.items.items[i].number);
        list_add_match(list, prefix, number, turns.items.items[i].text);
    }
    vec_release(&turns.items);
    if (forks && app->meters.compactions > 0)
        list_add_match(list, prefix, BEFORE_COMPACTION, _("the state before the last compaction"));
}

bool turns_page_came(struct app *app)
{
    bool found = app->turns_wanted && app_want_older(app) == 0;
    app->turns_wanted = app->turns_wanted && !found;
    if (app->jump.seq > 0)
        show_jump(app);
    return found;
}

void turns_forget(struct app *app)
{
    app->turns_wanted = false;
    app->jump = (struct transcript_place){0};
}
