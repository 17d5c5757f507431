#include "ui/app/notices.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/context.h"
#include "session/session_operations.h"
#include "ui/app/cards.h"
#include "ui/app/completion.h"
#include "ui/app/corpora.h"
#include "ui/app/faults.h"
#include "ui/app/find.h"
#include "ui/app/imports.h"
#include "ui/app/slash.h"
#include "ui/app/turns.h"
#include "ui/app/welcome.h"
#include "ui/term/term.h"

/* Events */

/* The size of the next request is known. */
static void saw_request(struct app *app, struct request_size size)
{
    app->meters.request = size;
    app->activity.unmeasured = 0;
}

static void stop_counting(struct app *app)
{
    app->activity.streaming_ms = app->activity.command_ms = 0;
    app->activity.streamed = 0;
    app->activity.retry = 0;
}

/* Updates the state beside the transcript: meters and the text of /edit. `live`: the event happens
 * now, and is not history. */
static void note_event(struct app *app, struct event *ev, bool live)
{
    struct activity *a = &app->activity;
    cards_event(app, ev, live);
    switch (ev->type) {
    case EVENT_TURN_STARTED:
    case EVENT_COMMAND_COMPLETED:
    case EVENT_TOOL_EXECUTION_COMPLETED:
        if (live)
            a->command_ms = 0;
        if (live && ev->text) /* part of the next request, which is measured after the turn */
            a->unmeasured += (int64_t)strlen(ev->text);
        if (ev->type == EVENT_TURN_STARTED) {
            app->fresh = false;
            free(app->last_sent);
            app->last_sent = mem_strdup(ev->text);
        }
        break;
    case EVENT_CALL_STARTED:
        app->truncated = app->truncated && !app->answered;
        break;
    case EVENT_TURN_COMPLETED: /* a warning about an answer comes after the answer */
        app->truncated = app->truncated && !app->answered;
        break;
    case EVENT_WARNING:
        if (ev->name && strcmp(ev->name, "prompt_truncated") == 0) {
            app->truncated = true;
            app->answered = false;
        }
        break;
    case EVENT_TEXT_DELTA:
    case EVENT_REASONING_DELTA:
    case EVENT_COMPACTION_DELTA:
        if (!live)
            break;
        if (a->streaming_ms == 0)
            a->streaming_ms = clock_mono_ms();
        a->streamed += ev->text ? (int64_t)strlen(ev->text) : 0;
        a->retry = 0;
        app->status_dirty = true;
        break;
    case EVENT_CALL_COMPLETED:
        if (live) {
            const struct request_measure m = request_measured(&ev->usage, 0);
            if (m.tokens >= 0)
                saw_request(app, (struct request_size){m.tokens, m.estimated});
        }
        app->answered = true;
        stop_counting(app);
        app->dirty |= DIRTY_STATUS;
        break;
    case EVENT_RETRYING:
        if (!live)
            break;
        stop_counting(app);
        a->retry = ev->count;
        a->retries = ev->limit;
        a->retry_at = clock_mono_ms() + ev->number;
        free(a->retry_reason);
        a->retry_reason = mem_strdup(ev->text);
        break;
    case EVENT_BUDGET_WARNING:
        if (live && ev->count > app->meters.budget_percent)
            app->meters.budget_percent = ev->count;
        break;
    case EVENT_COMPACTION_STARTED:
        if (live && ev->compaction.request_before > 0)
            saw_request(app, (struct request_size){ev->compaction.request_before, true});
        if (live)
            a->compacting_ms = clock_mono_ms();
        break;
    case EVENT_COMPACTION_COMPLETED:
    case EVENT_COMPACTION_FAILED:
        if (ev->type == EVENT_COMPACTION_COMPLETED) {
            app->truncated = false;
            if (live && ev->compaction.request_after > 0)
                saw_request(app, (struct request_size){ev->compaction.request_after, true});
        }
        stop_counting(app);
        a->compacting_ms = 0;
        break;
    case EVENT_COMPACTION_UNDONE:
        app->truncated = false;
        break;
    case EVENT_REWOUND:
        mem_replace(&app->last_sent, NULL);
        app->truncated = app->replacing = false;
        break;
    default:
        break;
    }
}

static void take_event(struct app *app, struct notice *n)
{
    struct event *ev = n->event;
    bool truncated = app->truncated, failed = ev->type == EVENT_TURN_FAILED;
    note_event(app, ev, true);
    if (failed || ev->type == EVENT_TURN_COMPLETED || ev->type == EVENT_INTERRUPTED) {
        app->activity.over = app->activity.busy;
        app->activity.failed = failed;
    }
    if (transcript_apply(app->transcript, ev))
        app->dirty |= DIRTY_BODY;
    else if (transcript_unread(app->transcript) > 0)
        app->status_dirty = true;
    if (ev->type != EVENT_TEXT_DELTA && ev->type != EVENT_REASONING_DELTA &&
        ev->type != EVENT_COMPACTION_DELTA)
        app_touch_now(app, DIRTY_STATUS);
    /* An exhausted budget would end the next turn, too. */
    if (failed && (!ev->name || err_from_name(ev->name) != ERR_BUDGET_EXHAUSTED))
        app_note(app, STYLE_NOTE, "%s", _("/retry sends the message again."));
    if (app->truncated && !truncated) /* only Ollama does so */
        app_note(app, STYLE_NOTE, "%s",
                 _("/compact shortens what is sent; num_ctx in [ollama] of tiro.ini asks for a "
                   "larger window."));
}

/* Sessions */

/* Shows the draft of the session that is opened. The text in the editor is dropped if it was saved
 * as the draft of the former session; any other text is kept behind the draft. */
static void change_draft(struct app *app, const char *draft)
{
    if (app->draft_when_left && strcmp(app->draft_when_left, editor_text(app->editor)) == 0)
        editor_set(app->editor, "");
    free(app->draft_when_left);
    app->draft_when_left = NULL;
    if (draft && *draft)
        app_give_back(app, draft);
    editor_fold_draft(app->editor);
    completion_follow(app);
    if (strcmp(editor_text(app->editor), draft ? draft : "") == 0)
        app->draft_at = 0; /* nothing was typed while the session opened */
}

static void open_session(struct app *app, const struct session_info *info)
{
    if (!app->fresh && !app->read_only && strcmp(app->session.id, info->id) != 0)
        memcpy(app->left, app->session.id, sizeof app->left);
    transcript_clear(app->transcript);
    turns_forget(app);
    way_back_session(app, info->id);
    views_close_session(&app->views);
    if (app->parting)
        app_note(app, STYLE_NOTE, "%s", app->parting);
    free(app->parting);
    app->parting = NULL;
    app->fresh = true;
    app_forget_cards(app);
    app->offline_said = false;
    asked_withdraw(app, NULL, app->older_asked);
    app->older_asked = 0;
    app->truncated = app->answered = false;
    free(app->last_sent);
    app->last_sent = NULL;
    message_keep(app);
    stop_counting(app);
    app->activity.unmeasured = 0;
    change_draft(app, info->draft);
    if (app->way_back.moving == WAY_HOME)
        editor_set_caret(app->editor, app->way_back.left.caret);
}

/* Says that the session's only text is a draft, which the engine opened it for. */
static void say_unsent(struct app *app, const struct session_info *info)
{
    AUTO(buf_release) struct buf send = BUF_INIT, clear = BUF_INIT;
    bool offered = app->options->engine->offer_draft && !app->options->engine->resume;
    if (!offered || !info->draft || info->last_seq > 0)
        return;
    keymap_describe_first(&app->keymap, ACTION_SEND, &send);
    keymap_describe_first(&app->keymap, ACTION_CLEAR, &clear);
    app_note(app, STYLE_NOTE,
             _("You wrote this here, but did not send it. %s sends it, %s clears it."), send.data,
             clear.data);
}

static void take_session(struct app *app, struct notice *n)
{
    bool retitled = !app->session.title || strcmp(app->session.title, n->info.title) != 0;
    if (n->flag) {
        bool first = app->session.id[0] == '\0';
        background_remove(app, n->info.id);
        if (first) { /* notes of the start stay */
            change_draft(app, n->info.draft);
            say_unsent(app, &n->info);
            if (n->info.last_seq > 0) /* else the welcome tells of the inbox */
                cards_begin(app);
        } else {
            open_session(app, &n->info);
        }
        completion_ask_skills(app);
    }
    const char *labels = n->info.labels, *former = app->session.labels;
    if (!n->flag && strcmp(former ? former : "", labels ? labels : "") != 0) {
        if (labels)
            app_note(app, STYLE_NOTE, _("Labels: %s"), labels);
        else
            app_note(app, STYLE_NOTE, "%s", _("This session has no labels any more."));
    }
    app->read_only = n->read_only;
    session_info_release(&app->session);
    app->session = n->info;
    session_info_init(&n->info);
    struct meters kept = app->meters;
    app->meters = n->meters;
    app->activity.unmeasured = 0;
    if (app->meters.window <= 0 && !n->flag)
        app->meters.window = kept.window;
    if (n->flag)
        welcome_ask(app);
    if (retitled) {
        AUTO(buf_release) struct buf title = BUF_INIT;
        const char *name = app->session.title ? app->session.title : "";
        utf8_clean(&title, name, strlen(name), UTF8_ONE_LINE);
        buf_addstr(&title, title.len > 0 ? " - tiro" : "tiro");
        term_title(title.data);
    }
    app->sessions_known = false;
    app_touch_now(app, DIRTY_ALL);
}

static void take_page(struct app *app, struct notice *n)
{
    for (size_t i = 0; i < n->events.len; i++)
        note_event(app, n->events.items[i], false);
    if (app->activity.busy) { /* applied one by one, the last item stays open */
        transcript_prepend(app->transcript, NULL, 0, n->flag);
        for (size_t i = 0; i < n->events.len; i++)
            transcript_apply(app->transcript, n->events.items[i]);
    } else {
        transcript_prepend(app->transcript, n->events.items, n->events.len, n->flag);
    }
    cards_page_came(app, n);
    if (turns_page_came(app))
        completion_listed(app);
    if (app->find_next && strcmp(app->find_session, app->session.id) == 0) {
        auto_free char *text = app->find_next;
        app->find_next = NULL;
        find_open(app, text);
    }
    way_back_page(app);
    app_want_page(app);
    app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
}

bool notices_take_older(struct app *app, struct operation_answer *a, const char *words)
{
    const struct session_history_params *asked = a->request->params;
    const struct session_history_result *page = a->result;
    app->older_asked = 0;
    if (words) {
        turns_forget(app);
        app->find.waiting = false;
        return false;
    }
    transcript_prepend(app->transcript, page->events.items.items, page->events.items.len,
                       page->more);
    if (turns_page_came(app))
        completion_listed(app);
    struct notice n = {.type = NOTICE_PAGE, .number = asked->before, .flag = page->more};
    n.events.items = page->events.items.items;
    n.events.len = page->events.items.len;
    views_notice(&app->views, &n); /* as of the first page */
    app_want_page(app);
    return true;
}

/* Providers */

const char *notices_offline(void)
{
    return _(
        "offline: no model; answers are quotations.\n"
        "To talk with a model, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama, and "
        "start tiro again; /model chooses another, /doctor shows what was tried.");
}

static void take_provider(struct app *app, struct notice *n)
{
    bool offline = n->provider && strcmp(n->provider, "offline") == 0;
    if (offline && app->fresh && !app->offline_said)
        app_note(app, STYLE_WARNING, "%s", notices_offline());
    app->offline_said = offline;
    if (app->provider && n->provider && strcmp(app->provider, n->provider) != 0)
        app->models_known = false;
    char **former[] = {&app->provider, &app->model, &app->detail, &app->effort, &app->efforts};
    char **now[] = {&n->provider, &n->model, &n->detail, &n->name, &n->args};
    for (size_t i = 0; i < sizeof now / sizeof *now; i++) { /* the notice frees the former */
        char *kept = *former[i];
        *former[i] = *now[i];
        *now[i] = kept;
    }
    app->reason = n->reason;
    saw_request(app, n->meters.request);
    app->meters.window = n->meters.window;
    app->meters.threshold = n->meters.threshold;
    app->meters.suspended = n->meters.suspended;
    app_touch_now(app, DIRTY_TITLE | DIRTY_STATUS);
}

/* Turns */

/* Notifies with the title of the conversation and the event, if the person waited long enough. A
 * question is notified however short the turn was: INT64_MAX. */
static void notify(struct app *app, int64_t waited_ms, const char *event)
{
    const char *title = app->session.title;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!notification_is_due(app->config, app->focus, waited_ms))
        return;
    if (title && *title) {
        utf8_clean(&text, title, strlen(title), UTF8_ONE_LINE);
        buf_addstr(&text, ": ");
    }
    utf8_clean(&text, event, strlen(event), UTF8_ONE_LINE);
    term_notify(notification_by_word(config_string(app->config, CONFIG_UI_NOTIFY)), text.data);
}

/* When a turn has ended, the message that waited is sent, or the last one is repeated for /retry.
 * After a failed turn the waiting message returns to the editor: it would follow a message that got
 * no answer. */
static void take_busy(struct app *app, struct notice *n)
{
    struct activity *a = &app->activity;
    app_touch_now(app, DIRTY_ALL);
    stop_counting(app);
    if (n->flag) {
        if (!a->busy)
            a->started_ms = clock_mono_ms() - n->number;
        a->busy = true;
        a->over = a->failed = false;
        return;
    }
    a->busy = a->over = app->stop_asked = false;
    a->compacting_ms = 0;
    background_remove(app, app->session.id);
    notify(app, clock_mono_ms() - a->started_ms,
           a->failed ? _("the turn failed") : _("the answer is complete"));
    auto_free char *text = app->retry_after ? NULL : app->waiting;
    if (app->retry_after) {
        app->retry_after = false;
        message_retry(app);
    } else if (text) {
        app->waiting = NULL;
        if (a->failed && !app->waiting_after) {
            app_give_back(app, text);
        } else {
            message_send(app, text);
            app_save_draft(app);
        }
    }
}

/* Answers */

/* Applies the changes that an answer tells of, whichever request it answers, and then gives it to
 * the function of the request. */
static void take_answer(struct app *app, struct notice *n)
{
    struct operation_answer *a = n->answer;
    bool failed = a->error.code != ERR_OK;
    bool archived = !failed && operation_answers(a, &operation_session_archive);
    bool deleted = !failed && operation_answers(a, &operation_session_delete);
    const struct context *context =
        !failed && operation_answers(a, &operation_context_read) ? a->result : NULL;
    if (!failed && a->request->operation->needs & NEED_WRITE)
        app->sessions_known = false;
    if (archived || deleted) {
        const char *id = ((struct session_changed *)a->result)->id, *title = app->session.title;
        if (strcmp(id, app->session.id) == 0 && title && *title) {
            free(app->parting);
            app->parting = slash_parting(title, archived && app->options->engine->persist);
        }
        if (deleted && strcmp(app->left, id) == 0)
            app->left[0] = '\0';
        if (app->fresh)
            welcome_ask(app);
    }
    if (!failed && operation_answers(a, &operation_session_fork))
        app_note(app, STYLE_NOTE, "%s", _("This is a copy; the original session is unchanged."));
    if (context && strcmp(n->session, app->session.id) == 0)
        saw_request(app, (struct request_size){context->tokens, context->estimated});

    for (size_t i = 0; i < app->asked.len; i++) {
        struct asked_request by = app->asked.items[i];
        if (by.id != a->request->id)
            continue;
        vec_remove(&app->asked, i, 1);
        if (failed)
            faults_take_answer(app, n, &by);
        else
            (void)asked_give(app, &by, a, NULL);
        break;
    }
    app_touch_now(app, DIRTY_ALL);
}

/* Conversations that are not shown */

/* Tells the person when the conversation asks and when it ends. */
static void take_of_another(struct app *app, const struct notice *n)
{
    struct background_session *b = background_find(app, n->session);
    const char *title = b && *b->title ? b->title : _("untitled");
    bool changed = n->type != NOTICE_EVENT && n->type != NOTICE_OUTPUT;
    if (n->type == NOTICE_BUSY && n->flag) {
        background_put(app, n->session, NULL);
    } else if (b && (n->type == NOTICE_APPROVAL || n->type == NOTICE_DRAFT ||
                     (n->type == NOTICE_ELICITATION && !n->flag))) {
        AUTO(buf_release) struct buf key = BUF_INIT;
        b->waits = true;
        keymap_describe_first(&app->keymap, ACTION_NEXT_SESSION, &key);
        app_note_briefly(app, STYLE_NOTE, _("\"%s\" waits for your answer; %s goes there."), title,
                         key.data);
        notify(app, INT64_MAX, _("another conversation waits for your answer"));
    } else if (b && n->type == NOTICE_BUSY) {
        if (b->failed)
            app_note_briefly(app, STYLE_WARNING,
                             _("The turn of \"%s\" failed; /sessions opens it."), title);
        else
            app_note_briefly(app, STYLE_NOTE, _("\"%s\" is done; /sessions opens it."), title);
        notify(app, INT64_MAX, _("the answer in another conversation is complete"));
        background_remove(app, n->session);
    } else if (b && n->type == NOTICE_SESSION) {
        free(b->title);
        b->title = mem_strdup(n->info.title ? n->info.title : "");
    } else if (b && n->type == NOTICE_EVENT) {
        enum event_type type = n->event->type;
        bool answered = type == EVENT_TURN_STARTED || type == EVENT_TOOL_EXECUTION_COMPLETED ||
                        type == EVENT_COMPACTION_COMPLETED || type == EVENT_COMPACTION_FAILED;
        changed = b->waits && answered;
        b->waits = b->waits && !answered;
        b->failed = b->failed || type == EVENT_TURN_FAILED;
    }
    if (changed)
        app_touch_now(app, DIRTY_TITLE | (views_holder(&app->views) ? DIRTY_BODY : 0U));
}

char *notices_task(const struct notice *n)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    int number = (int)n->number, status = (int)n->limit;
    if (number == 0)
        return NULL;
    if (n->flag)
        return mem_printf(ngettext("%d command in the background was ended.",
                                   "%d commands in the background were ended.",
                                   (unsigned long)number),
                          number);
    if (status == 0)
        buf_addf(&line, _("Task %d is done"), number);
    else if (status > 0)
        buf_addf(&line, _("Task %d ended with exit %d"), number, status);
    else
        buf_addf(&line, _("Task %d was ended by signal %d"), number, -status);
    buf_addstr(&line, ": ");
    utf8_clean(&line, n->text, strlen(n->text), UTF8_ONE_LINE);
    return mem_strdup(line.data);
}

static void take(struct app *app, struct notice *n)
{
    auto_free char *text = NULL;
    unsigned long sessions = (unsigned long)n->number;
    switch (n->type) {
    case NOTICE_ANSWER:
        take_answer(app, n);
        break;
    case NOTICE_EVENT:
        take_event(app, n);
        break;
    case NOTICE_SESSION:
        take_session(app, n);
        break;
    case NOTICE_PAGE:
        take_page(app, n);
        break;
    case NOTICE_PROVIDER:
        take_provider(app, n);
        break;
    case NOTICE_BUSY:
        take_busy(app, n);
        break;
    case NOTICE_ERROR:
        faults_say(app, &n->error);
        app_touch_now(app, DIRTY_ALL);
        break;
    case NOTICE_APPROVAL:
        text = n->detail && strcmp(n->detail, QUESTION_OF_PROJECT) == 0
                   ? mem_strdup(_("Do you trust the programs of this project?"))
                   : mem_printf(_("may %s run?"), n->name);
        notify(app, INT64_MAX, text);
        app_touch_now(app, DIRTY_ALL);
        break;
    case NOTICE_ELICITATION:
        text = mem_printf(_("The MCP server %s asks you"), n->name);
        if (!n->flag)
            notify(app, INT64_MAX, text);
        app_touch_now(app, DIRTY_ALL);
        break;
    case NOTICE_OUTPUT:
        app->activity.command_ms = clock_mono_ms() - n->number;
        if (transcript_output(app->transcript, n->text, n->detail, n->flag, n->number))
            app->dirty |= DIRTY_BODY;
        break;
    case NOTICE_TASKS:
        if (!n->flag)
            app->meters.tasks = n->meters.tasks;
        text = notices_task(n);
        if (text)
            app_note_briefly(app, n->limit == 0 ? STYLE_NOTE : STYLE_WARNING, "%s", text);
        app_touch_now(app, DIRTY_STATUS);
        break;
    case NOTICE_DRAFT:
        stop_counting(app);
        notify(app, INT64_MAX, _("a summary waits to be read"));
        app_touch_now(app, DIRTY_ALL);
        break;
    case NOTICE_LEARNED:
        if (app->fresh)
            welcome_ask_inbox(app);
        if (n->flag && n->number > 0) /* else it is of another project */
            app_note(app, STYLE_NOTE,
                     ngettext("%d item waits to be remembered; a model proposed it. /learned shows "
                              "it.",
                              "%d items wait to be remembered; a model proposed some. /learned "
                              "shows them.",
                              (unsigned long)n->number),
                     (int)n->number);
        break;
    case NOTICE_CORPORA_STATE:
        text = corpora_state_text(n, _("/corpus shows which and why"));
        if (text)
            app_note_briefly(app, n->error.code != ERR_OK ? STYLE_WARNING : STYLE_NOTE, "%s", text);
        break;
    case NOTICE_SPACE_STATE:
        mem_replace(&app->space.name, mem_strdup(n->text));
        app->space.waiting = n->number;
        app_touch_now(app, DIRTY_STATUS);
        break;
    case NOTICE_IMPORT_STATE:
        imports_take_state(app, n);
        break;
    case NOTICE_MEMORY_OFFER: /* a note and not a question: the editor keeps the keyboard */
        app_note(
            app, STYLE_NOTE,
            ngettext("%lu earlier conversation is not in memory yet. /index indexes it in the "
                     "background, /index none leaves it out; else this is asked again next time.",
                     "%lu earlier conversations are not in memory yet. /index indexes them in the "
                     "background, /index none leaves them out; else this is asked again next "
                     "time.",
                     sessions),
            sessions);
        break;
    default: /* for views alone */
        break;
    }
}

void notices_take(struct app *app, struct notice *n)
{
    enum notice_type type = n->type;
    /* Answers, and notices about the whole engine, are never of another conversation. With the flag
     * NOTICE_SESSION tells which session is shown from now on. */
    bool of_one = (type == NOTICE_SESSION && !n->flag) || type == NOTICE_EVENT ||
                  type == NOTICE_PAGE || type == NOTICE_PROVIDER || type == NOTICE_BUSY ||
                  type == NOTICE_APPROVAL || type == NOTICE_ELICITATION || type == NOTICE_DRAFT ||
                  type == NOTICE_OUTPUT || (type == NOTICE_TASKS && !n->flag);
    if (of_one && *n->session && *app->session.id && strcmp(n->session, app->session.id) != 0) {
        take_of_another(app, n);
    } else {
        take(app, n);
        if (type != NOTICE_ANSWER)
            views_notice(&app->views, n);
        if (type != NOTICE_ANSWER && type != NOTICE_EVENT && type != NOTICE_OUTPUT &&
            views_holder(&app->views))
            app_touch_now(app, DIRTY_BODY);
    }
    notice_free(n);
}
