#include "ui/app/memory_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/capability.h"
#include "ui/app/dispatch.h"
#include "ui/app/jump.h"
#include "ui/term/term.h"
#include "ui/view/memory_pane.h"

enum { SHARE = 40, /* percent of the width */ LISTED = 200 };

int memory_screen_columns(int cols)
{
    return cols >= MEMORY_BESIDE ? cols * SHARE / 100 : 0;
}

/* --- what the pane asks for --- */

static void send(void *context, struct command *c)
{
    struct app *app = context;
    engine_send(app->engine, c);
}

static const char *title_of(void *context, const char *session_id)
{
    const struct app *app = context;
    if (strcmp(session_id, app->session.id) == 0)
        return "";
    for (size_t i = 0; i < app->sessions.items.len; i++) {
        const struct session_info *info = &app->sessions.items.items[i];
        if (strcmp(session_id, info->id) == 0)
            return info->title && *info->title ? info->title : NULL;
    }
    return NULL;
}

static void make_pane(struct app *app)
{
    const struct memory_host host = {&app->keymap,
                                     send,
                                     title_of,
                                     app,
                                     &app->memory.recalls,
                                     config_string(app->config, CONFIG_MEMORY_SCOPE)};
    if (!app->memory.pane)
        app->memory.pane = memory_pane_new(&host);
}

/* Their titles say more than their ids. */
static void ask_sessions(struct app *app)
{
    struct command *c;
    if (app->sessions_known)
        return;
    c = command_new(COMMAND_LIST, NULL);
    c->limit = LISTED;
    engine_send(app->engine, c);
}

/* --- opening and closing --- */

static bool is_there(struct app *app)
{
    bool opened = app->session.id[0] != '\0'; /* else it is known by what was asked for */
    bool on = opened ? app->meters.memory : app->options->engine->memory;
    if (!capability_memory())
        app_note(app, STYLE_WARNING, "%s", _("This tiro was built without memory."));
    else if (!on)
        app_note(app, STYLE_WARNING, "%s",
                 _("Memory is off. \"enabled = true\" in [memory] of tiro.ini turns it on, "
                   "--memory for one start."));
    else
        return true;
    app_follow(app);
    return false;
}

static bool make_ready(struct app *app)
{
    if (!is_there(app))
        return false;
    views_close_from(&app->views, VIEW_COVER);
    app_close_list(app);
    make_pane(app);
    ask_sessions(app);
    app->memory.open = true;
    memory_screen_focus(app, true);
    app_touch_now(app, DIRTY_ALL);
    return true;
}

void memory_screen_open(struct app *app, const char *query)
{
    if (!make_ready(app))
        return;
    bool as_left = !*query && memory_pane_edits(app->memory.pane);
    memory_pane_show(app->memory.pane, as_left ? NULL : query);
}

void memory_screen_open_session(struct app *app)
{
    if (make_ready(app))
        memory_pane_show_session(app->memory.pane);
}

void memory_screen_to_hits(struct app *app)
{
    if (app->memory.open)
        memory_pane_to_hits(app->memory.pane);
}

void memory_screen_return(struct app *app, bool focused)
{
    if (!app->memory.open && make_ready(app)) {
        memory_pane_show(app->memory.pane, NULL);
        memory_screen_to_hits(app);
    }
    (void)memory_screen_focus(app, focused);
}

void memory_screen_close(struct app *app)
{
    if (!app->memory.open)
        return;
    app->memory.open = app->memory.focused = false;
    memory_pane_hide(app->memory.pane);
    app_touch_now(app, DIRTY_ALL);
}

void memory_screen_free(struct app *app)
{
    memory_pane_free(app->memory.pane);
    recalls_release(&app->memory.recalls);
}

/* --- where it is --- */

static bool is_beside(void)
{
    int rows, cols;
    term_size(&rows, &cols);
    return memory_screen_columns(cols) > 0;
}

/* A terminal that was made narrow leaves somebody who writes the message there. */
bool memory_screen_covers(const struct app *app)
{
    return app->memory.open && app->memory.focused && !is_beside();
}

static bool is_seen(const struct app *app)
{
    return app->memory.open && (app->memory.focused || is_beside());
}

bool memory_screen_focused(const struct app *app)
{
    return app->memory.open && app->memory.focused;
}

bool memory_screen_focus(struct app *app, bool focused)
{
    if (!app->memory.open || (!focused && !is_beside()))
        return false;
    app->memory.focused = focused;
    app_touch_now(app, DIRTY_ALL);
    return true;
}

void memory_screen_toggle(struct app *app)
{
    if (is_seen(app))
        memory_screen_close(app);
    else if (!memory_screen_focus(app, true))
        memory_screen_open(app, "");
}

void memory_screen_uncover(struct app *app)
{
    if (memory_screen_covers(app))
        memory_screen_close(app);
    else
        memory_screen_focus(app, false);
}

/* --- what is done with an entry --- */

static void say(struct app *app, const char *text)
{
    if (is_seen(app))
        memory_pane_say(app->memory.pane, STYLE_NOTE, text);
    else
        app_note(app, STYLE_NOTE, "%s", text);
    app_touch_now(app, DIRTY_BODY);
}

static void open_other(struct app *app, const char *id, int64_t seq)
{
    memset(app->memory.session, 0, sizeof app->memory.session);
    memcpy(app->memory.session, id, UUID_LEN);
    app->memory.seq = seq;
    app->memory.opening = true;
    way_back_leave(app, id);
    app_leave_session(app);
    app_command(app, COMMAND_OPEN, id);
}

/* Entries of an import may name conversations that were never here. */
static void open_source(struct app *app)
{
    const struct memory_entry *e = memory_pane_entry(app->memory.pane);
    const char *id = e && e->session_id ? e->session_id : "";
    if (strcmp(id, app->session.id) == 0 && e->seq > 0) {
        int64_t seq = e->seq;
        way_back_mark(app);
        memory_screen_uncover(app);
        jump_to(app, seq);
    } else if (strcmp(id, app->session.id) == 0) {
        say(app, _("The place of this entry in the conversation is unknown."));
    } else if (strlen(id) != UUID_LEN) {
        say(app, _("This entry was imported; its conversation is not here."));
    } else {
        open_other(app, id, e->seq);
    }
}

/* At the beginning of a line of its own, with a blank line after it. */
static void insert(struct app *app)
{
    char *quote = memory_pane_quotation(app->memory.pane);
    const char *written = editor_text(app->editor);
    size_t caret = editor_caret(app->editor);
    bool within = caret > 0 && written[caret - 1] != '\n';
    if (!quote)
        return;
    char *text = mem_printf("%s%s\n", within ? "\n\n" : "", quote);
    editor_paste(app->editor, text, strlen(text));
    free(text);
    free(quote);
    memory_screen_uncover(app);
    app_edited(app);
}

static void write_message(struct app *app)
{
    memory_screen_uncover(app);
}

static void edit_outside(struct app *app)
{
    (void)dispatch_edit_outside(app, memory_pane_editor(app->memory.pane));
}

static void want_older(struct app *app)
{
    (void)app_want_older(app);
}

/* --- keys --- */

/* These go on in the message. */
static void leave_for(struct app *app, enum action action)
{
    if (action == ACTION_HISTORY || action == ACTION_PALETTE)
        memory_screen_uncover(app);
}

bool memory_screen_key(struct app *app, enum action action, const struct key *key)
{
    static void (*const what[])(struct app * app) = {
        [MEMORY_CLOSED] = memory_screen_close, [MEMORY_WRITE] = write_message,
        [MEMORY_OPEN] = open_source,           [MEMORY_INSERT] = insert,
        [MEMORY_EXTERNAL] = edit_outside,      [MEMORY_OLDER] = want_older,
    };
    if (!memory_screen_focused(app))
        return false;
    enum memory_result result = memory_pane_key(app->memory.pane, action, key);
    app_touch_now(app, DIRTY_BODY);
    if (result == MEMORY_PASS)
        leave_for(app, action);
    else if (result != MEMORY_STAYS)
        what[result](app);
    return result != MEMORY_PASS;
}

void memory_screen_click(struct app *app, int row)
{
    (void)memory_screen_focus(app, true);
    memory_pane_click(app->memory.pane, row);
    app_touch_now(app, DIRTY_BODY);
}

void memory_screen_wheel(struct app *app, enum action action, const struct key *key)
{
    if (memory_pane_key(app->memory.pane, action, key) == MEMORY_OLDER)
        want_older(app);
    app_touch_now(app, DIRTY_BODY);
}

/* --- what it looks like --- */

const struct rows *memory_screen_rows(struct app *app, int width, int height)
{
    memory_pane_focus(app->memory.pane, memory_screen_focused(app));
    memory_pane_resize(app->memory.pane, width, height);
    return memory_pane_rows(app->memory.pane);
}

bool memory_screen_caret(const struct app *app, int *row, int *col)
{
    return memory_pane_caret(app->memory.pane, row, col);
}

/* --- notices --- */

/* What was typed behind a key that led out of the pane is the message's, if nothing else has come
 * up meanwhile that would take it for an answer. */
static void type_again(struct app *app, struct key *key)
{
    bool asked = approval_open(&app->approval) || draft_review_open(&app->draft);
    if (memory_screen_focused(app))
        (void)memory_screen_key(app, keymap_find(&app->keymap, key), key);
    else if (!asked && !views_holder(&app->views))
        dispatch_key(app, key);
    free(key->text);
}

static void go_on(struct app *app)
{
    struct key key;
    while (memory_pane_typed_ahead(app->memory.pane, &key))
        type_again(app, &key);
}

void memory_screen_take(struct app *app, struct notice *n)
{
    if (!app->memory.pane)
        return;
    memory_pane_take(app->memory.pane, n);
    go_on(app);
    app_touch_now(app, DIRTY_BODY);
}

int64_t memory_screen_due(const struct app *app)
{
    return app->memory.open && is_seen(app) ? memory_pane_due(app->memory.pane) : 0;
}

void memory_screen_event(struct app *app, const struct event *ev, bool live)
{
    bool added = recalls_add(&app->memory.recalls, ev, live);
    if (!app->memory.pane)
        return;
    if (added && live)
        memory_pane_recalled(app->memory.pane, vec_last(&app->memory.recalls.items));
    if (live && (ev->type == EVENT_MEMORY_INDEXED || ev->type == EVENT_COMPACTION_UNDONE))
        memory_pane_changed(app->memory.pane);
    if (added)
        app_touch_now(app, DIRTY_BODY);
}

void memory_screen_session(struct app *app)
{
    recalls_clear(&app->memory.recalls);
    memory_screen_uncover(app);
    if (app->memory.pane)
        memory_pane_session(app->memory.pane);
}

void memory_screen_page(struct app *app)
{
    bool opened = app->memory.opening && strcmp(app->memory.session, app->session.id) == 0;
    if (!opened)
        return;
    app->memory.opening = false;
    say(app, _("opened read-only; /resume continues it"));
    if (app->memory.seq > 0)
        jump_to(app, app->memory.seq);
}

bool memory_screen_done(struct app *app, const struct notice *n)
{
    if (!app->memory.pane || !memory_pane_done(app->memory.pane, n))
        return false;
    go_on(app);
    app_touch_now(app, DIRTY_BODY);
    return true;
}

bool memory_screen_failed(struct app *app, const struct notice *n, const char *words)
{
    bool opening = n->command == COMMAND_OPEN && app->memory.opening;
    if (opening)
        app->memory.opening = false;
    if (!app->memory.pane || !is_seen(app))
        return false;
    if (!opening)
        return memory_pane_failed(app->memory.pane, n->command, words);
    memory_pane_say(app->memory.pane, STYLE_WARNING, words);
    return true;
}

void memory_screen_missed(struct app *app)
{
    if (app->memory.open)
        say(app, _("The message no longer exists."));
}
