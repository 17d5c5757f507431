#include "ui/app/dispatch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/app/cards.h"
#include "ui/app/clipboard.h"
#include "ui/app/completion.h"
#include "ui/app/corpora.h"
#include "ui/app/find.h"
#include "ui/app/imports.h"
#include "ui/app/mentions.h"
#include "ui/app/notices.h"
#include "ui/app/panes.h"
#include "ui/app/picker.h"
#include "ui/app/screen.h"
#include "ui/app/select.h"
#include "ui/app/slash.h"
#include "ui/app/turns.h"
#include "ui/term/term.h"
#include "ui/term/tty.h"
#include "ui/text/editor.h"
#include "ui/view/context_view.h"
#include "ui/view/hints.h"
#include "ui/view/memory_view.h"

#define EXTERNAL_MAX (16u * 1024 * 1024)
#define LEAVE_MS 2000

/* Sending */

static void send(struct app *app)
{
    struct transcript_citation citation;
    bool chosen = transcript_chosen_citation(app->transcript, &citation);
    (void)transcript_leave_citation(app->transcript);
    if (chosen) {
        corpora_open_citation(app, &citation);
        return;
    }
    auto_free char *text = mem_strdup(editor_text(app->editor));
    struct slash_line line = slash_parse(text);
    app_close_list(app);
    if (imports_answer(app, text)) {
        ;
    } else if (!*text) {
        int64_t card = transcript_newest_card(app->transcript);
        if (card > 0)
            panes_show(app, compaction_detail_new(&app->host, card));
    } else if (line.kind == SLASH_COMMAND) {
        app_write(app, "");
        if (slash_run(app, text)) {
            editor_history_add(app->editor, text);
        } else {
            app->completion_closed = true; /* the popup would hide the complaint */
            app_give_back(app, text);
        }
    } else if (text[strspn(text, " \t\n")]) {
        app_write(app, "");
        (line.kind == SLASH_SHELL ? message_command
         : app->replacing         ? message_replace
                                  : message_send)(app, text + (line.kind == SLASH_LITERAL));
        app_save_draft(app);
    }
}

/* Cancelling */

static void cancel(struct app *app)
{
    if (transcript_leave_citation(app->transcript)) {
        app_touch_now(app, DIRTY_BODY);
    } else if (way_back_go(app)) {
        ;
    } else if (app->replacing) {
        message_keep(app);
        app_write(app, "");
    } else if (!app_take_waiting(app)) {
        if (app->activity.busy)
            (void)app_ask(app, &operation_turn_interrupt, NULL, NULL);
        else if (!imports_stop(app))
            transcript_scroll(app->transcript, -TRANSCRIPT_ALL);
        app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
    }
}

/* Leaving takes two presses: a turn may have ended just before a press that was to stop it. */
static void clear_or_leave(struct app *app)
{
    if (app->replacing) {
        message_keep(app);
        app_write(app, "");
    } else if (*editor_text(app->editor)) {
        app_write(app, "");
    } else if (app_take_waiting(app)) {
        ;
    } else if (app->activity.busy) {
        (void)app_ask(app, &operation_turn_interrupt, NULL, NULL);
    } else {
        int64_t now_ms = clock_mono_ms();
        (void)app_knows_others(app);
        app->leaving = now_ms < app->leave_until;
        app->leave_until = now_ms + LEAVE_MS;
        app_touch_now(app, DIRTY_STATUS);
    }
}

/* Moving in the editor and through its history */

static void up(struct app *app)
{
    bool empty = *editor_text(app->editor) == '\0';
    if (editor_do(app->editor, ACTION_UP)) {
        app_touch_now(app, DIRTY_EDITOR);
        return;
    }
    if (empty && app_take_waiting(app))
        return;
    picker_want_inputs(app);
    if (editor_history_older(app->editor))
        app_edited(app);
}

/* The transcript */

/* False: the action does not scroll. */
static bool scroll(struct app *app, enum action action)
{
    int page = screen_body_rows() > 3 ? screen_body_rows() - 2 : 1;
    bool edits = action == ACTION_LINE_START || action == ACTION_LINE_END;
    long down = edits ? 0 : moves_by_action(action, page, MOVES_WHEEL);
    if (down == 0)
        return false;
    if (transcript_scroll(app->transcript, -(int)down))
        app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
    app_want_page(app);
    return true;
}

/* A folded paste in the editor, else the newest item on the screen that folds. */
static void toggle_newest(struct app *app)
{
    size_t count;
    if (editor_unfold(app->editor)) {
        app_edited(app);
        return;
    }
    const struct transcript_row *rows = transcript_rows(app->transcript, &count);
    for (size_t i = count; i-- > 0;)
        if ((i + 1 == count || rows[i].item != rows[i + 1].item) &&
            transcript_toggle(app->transcript, rows[i].item))
            break;
    app_touch_now(app, DIRTY_BODY);
}

/* Other programs and the whole screen */

void dispatch_suspend(struct app *app)
{
    views_close(&app->views, views_shown(&app->views, VIEW_BARE));
    term_suspend();
    signals_stop();
    term_resume();
    app_touch_now(app, DIRTY_ALL);
}

static void edit_outside(struct app *app, struct editor *editor)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error fault;
    buf_init(&text, EXTERNAL_MAX);
    term_suspend();
    bool ok = external_editor_run(editor_text(editor), &text, &fault);
    term_resume();
    if (ok) {
        while (text.len > 0 && text.data[text.len - 1] == '\n')
            buf_splice(&text, text.len - 1, 1, NULL, 0);
        AUTO(buf_release) struct buf clean = BUF_INIT;
        utf8_clean(&clean, text.data, text.len, UTF8_MULTILINE);
        editor_set(editor, clean.data);
        if (editor == app->editor)
            app_edited(app);
    } else {
        app_note(app, STYLE_WARNING, "%s", fault.text);
    }
    app_touch_now(app, DIRTY_ALL);
}

/* Actions */

static bool run_action(struct app *app, enum action action)
{
    static const struct {
        enum action action;
        void (*run)(struct app *app);
    } handlers[] = {{ACTION_SEND, send},
                    {ACTION_CANCEL, cancel},
                    {ACTION_CLEAR, clear_or_leave},
                    {ACTION_SUSPEND, dispatch_suspend},
                    {ACTION_HISTORY, picker_history},
                    {ACTION_PALETTE, picker_palette},
                    {ACTION_HELP, picker_help},
                    {ACTION_MEMORY_ACCESS, cards_next_access},
                    {ACTION_TOGGLE, toggle_newest},
                    {ACTION_BARE, bare_open},
                    {ACTION_UP, up},
                    {ACTION_PASTE_IMAGE, clipboard_paste_image},
                    {ACTION_NEXT_SESSION, app_next_session}};
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].action == action) {
            handlers[i].run(app);
            return true;
        }
    switch (action) {
    case ACTION_LEAVE:
        if (*editor_text(app->editor) == '\0')
            app_leave(app);
        else if (editor_do(app->editor, ACTION_DELETE))
            app_edited(app);
        return true;
    case ACTION_COMPLETE: /* where nothing can be completed, Tab goes to the memory pane */
        if (!completion_start(app))
            (void)memory_view_focus(app->memory, true);
        return true;
    case ACTION_DOWN:
        if (editor_do(app->editor, ACTION_DOWN))
            app_touch_now(app, DIRTY_EDITOR);
        else if (editor_history_newer(app->editor))
            app_edited(app);
        return true;
    case ACTION_EXTERNAL:
        edit_outside(app, app->editor);
        return true;
    case ACTION_MEMORY:
        memory_view_toggle(app->memory);
        return true;
    case ACTION_FIND:
        find_open(app, "");
        return true;
    case ACTION_SELECT_OLDER:
    case ACTION_SELECT_NEWER:
        select_step(app, action == ACTION_SELECT_OLDER);
        return true;
    case ACTION_LEARNED_ACCEPT:
    case ACTION_LEARNED_EDIT:
    case ACTION_LEARNED_REJECT:
        cards_decide(app, action);
        return true;
    case ACTION_TOGGLE_ALL:
        transcript_toggle_all(app->transcript);
        app_touch_now(app, DIRTY_BODY);
        return true;
    case ACTION_CITATION:
        if (!transcript_choose_citation(app->transcript))
            app_note_briefly(app, STYLE_NOTE, "%s", _("No answer on the screen cites a passage."));
        app_touch_now(app, DIRTY_BODY);
        return true;
    case ACTION_BACKGROUND:
        (void)app_ask(app, &operation_turn_background, NULL, NULL);
        return true;
    case ACTION_REDRAW:
        term_redraw();
        app_touch_now(app, DIRTY_ALL);
        return true;
    default:
        return scroll(app, action) || panes_open(app, action, "");
    }
}

/* Clicks */

static void click(struct app *app, const struct key *key)
{
    int row, col;
    size_t count;
    struct transcript_citation citation;
    struct view *v = screen_view_at(app, key->row, key->col, &row, &col);
    app_touch_now(app, DIRTY_BODY);
    if (v && v->ops->click)
        v->ops->click(v, row, col);
    if (v || row < 0)
        return;
    (void)memory_view_focus(app->memory, false);
    const struct transcript_row *rows = transcript_rows(app->transcript, &count);
    if ((size_t)row >= count)
        return;
    if (transcript_citation_at(app->transcript, (size_t)row, (size_t)key->col, &citation)) {
        corpora_open_citation(app, &citation);
        return;
    }
    int64_t card = transcript_card(app->transcript, rows[row].item);
    if (card > 0)
        panes_show(app, compaction_detail_new(&app->host, card));
    (void)transcript_toggle(app->transcript, rows[row].item);
}

static void editor_key(struct app *app, enum action action, const struct key *key)
{
    if (transcript_leave_citation(app->transcript))
        app_touch_now(app, DIRTY_BODY);
    if (key->code == K_PASTE) {
        editor_paste_folded(app->editor, key->text, strlen(key->text));
        app_edited(app);
        mentions_pasted(app, key->text);
    } else if (editor_take_key(app->editor, action, key)) {
        app_edited(app);
    }
}

/* Writing, while something asks */

/* A question that comes while a person is writing does not take the keyboard. */
static void note_writing(struct app *app, enum action action, const struct key *key)
{
    bool plain = key->code == K_CHAR && !key->ctrl && !key->alt && action == ACTION_NONE;
    bool text =
        plain || key->code == K_PASTE || action == ACTION_BACKSPACE || action == ACTION_NEWLINE;
    if (key->code == K_CLICK)
        return;
    approval_typed(&app->approval, clock_mono_ms());
    if (approval_open(&app->approval.view))
        app->dirty |= DIRTY_BODY;
    if (action != ACTION_SEND && !text)
        return;
    app->draft.typed_ms = action == ACTION_SEND ? 0 : clock_mono_ms();
    if (draft_review_pending(&app->draft.view))
        app->dirty |= DIRTY_EDITOR;
}

static void write_text(struct app *app, enum action action, const struct key *key)
{
    struct view *holder = views_holder(&app->views);
    if (holder && holder != app->memory && holder != &app->draft.view) {
        app->approval.key_ms = clock_mono_ms(); /* the text is dropped, but somebody types */
        return;
    }
    if (holder)
        (void)holder->ops->key(holder, action, key);
    else if (action == ACTION_SEND)
        send(app);
    else
        editor_key(app, action, key);
    note_writing(app, action, key);
}

void dispatch_key(struct app *app, struct key *key)
{
    enum action action = keymap_find(&app->keymap, key);
    int64_t leave_until = app->leave_until;
    if (app->activity.command_ms != 0 &&
        keymap_find_in(&app->keymap, key, KEYS_RUNNING) != ACTION_NONE)
        action = keymap_find_in(&app->keymap, key, KEYS_RUNNING);
    /* These work whatever is open. */
    bool always = action == ACTION_REDRAW || action == ACTION_SUSPEND ||
                  action == ACTION_NEXT_SESSION || action == ACTION_BACKGROUND;
    enum view_layer by = VIEW_LAYERS;
    if (!always && key->code == K_CLICK)
        click(app, key);
    else if (!always && views_key(&app->views, action, key, &by))
        app_touch_now(app, DIRTY_BODY | DIRTY_STATUS | DIRTY_EDITOR);
    else if (!run_action(app, action))
        editor_key(app, action, key);
    if (by != VIEW_QUESTION && by != VIEW_DRAFT && by != VIEW_BARE) /* there a key decides */
        note_writing(app, action, key);
    if (leave_until && app->leave_until == leave_until) { /* any other key ends the countdown */
        app->leave_until = 0;
        app_touch_now(app, DIRTY_STATUS);
    }
    free(key->text);
    key->text = NULL;
}

/* Keys typed after the one that closed a view belong to the message, unless a question has come up
 * that would take them for an answer. */
static void type_again(struct app *app, struct view *v, const struct key *key)
{
    struct view *holder = views_holder(&app->views);
    bool asked = views_shown(&app->views, VIEW_QUESTION);
    struct key again = *key;
    again.text = key->text ? mem_strdup(key->text) : NULL;
    if (holder == v)
        (void)v->ops->key(v, keymap_find(&app->keymap, key), key);
    else if (!asked && !holder)
        dispatch_key(app, &again);
    free(again.text);
}

static void act(struct app *app, enum action action)
{
    if (action == ACTION_LEAVE) {
        app_leave(app);
    } else if (action != ACTION_CANCEL) {
        memory_view_open_session(app->memory);
    } else { /* the waiting message would follow the one that is stopped, so it returns */
        app_take_waiting(app);
        views_close(&app->views, &app->approval.view);
        views_close(&app->views, &app->draft.view);
        (void)app_ask(app, &operation_turn_interrupt, NULL, NULL);
    }
}

static void open_file(struct app *app, const char *path, int64_t line, const char *text)
{
    struct error fault;
    AUTO(buf_release) struct buf unused = BUF_INIT;
    /* A path that begins with a dash would be an option. */
    bool is_file = *path == '/' && access(path, R_OK) == 0 && (line > 0 || !text);
    buf_init(&unused, EXTERNAL_MAX);
    term_suspend();
    bool ok = is_file ? external_editor_open(path, line, &fault)
              : text  ? external_editor_run(text, &unused, &fault)
                      : err_set(&fault, ERR_FILE_ERROR, _("%.160s is not there any more"), path);
    term_resume();
    if (!ok)
        app_note(app, STYLE_WARNING, "%s", fault.text);
    app_touch_now(app, DIRTY_ALL);
}

void dispatch_init(struct app *app)
{
    panes_init(app);
    app->host.edit_outside = edit_outside;
    app->host.open_file = open_file;
    app->host.act = act;
    app->host.write = write_text;
    app->pane_host.type = type_again;
    app->follow_edit = completion_follow;
    app->listed = completion_listed;
    app->take_older = notices_take_older;
}
