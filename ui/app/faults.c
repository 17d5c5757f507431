#include "ui/app/faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"
#include "ui/app/slash.h"

/* A sentence about the error. *whole: it says all; else the text of the error says more. */
static const char *sentence(const struct fault *f, const struct doing *doing, bool *whole)
{
    static const struct {
        enum err_code code;
        bool whole;
        const char *text;
    } sentences[] = {
        {ERR_SESSION_NOT_FOUND, false, N_("The session was not found.")},
        {ERR_SESSION_BUSY, false, N_("Not possible while a turn is running.")},
        {ERR_SESSION_PERSISTENCE_DISABLED, false, N_("Conversations are not saved here.")},
        {ERR_SESSION_COMPACTION_DISABLED, false, N_("Conversations are not shortened here.")},
        {ERR_SESSION_NOT_RUNNING, false, N_("Nothing is running.")},
        {ERR_SESSION_STORE_ERROR, false, N_("The database cannot be used.")},
        {ERR_FILE_ERROR, false, N_("A file could not be used.")},
        {ERR_BUDGET_EXHAUSTED, false, N_("The budget is used up.")},
        {ERR_MEMORY_DISABLED, false, N_("Memory is off.")},
        {ERR_MEMORY_NOT_FOUND, true, N_("The memory entry was not found.")},
        {ERR_NOTHING_TO_COMPACT, true, N_("There is nothing to compact yet.")},
        {ERR_NOTHING_TO_UNDO, true, N_("There is no compaction to undo.")},
        {ERR_MESSAGE_NOT_SENT, true,
         N_("The message is no longer sent to the model, so it cannot be pinned.")},
        {ERR_USAGE, false, N_("This is not possible.")},
        {ERR_AGENT_ERROR, false, N_("An error occurred.")},
    };
    const struct error *e = f->error;
    const struct compaction_pin_params *pin =
        f->operation == &operation_compaction_pin || f->operation == &operation_compaction_unpin
            ? f->params
            : NULL;
    bool plain = e->code == ERR_AGENT_ERROR || e->code == ERR_USAGE || e->code == ERR_CONFIG_ERROR;
    *whole = false;
    if (plain && f->operation && f->operation->undone)
        return _(f->operation->undone);
    if (e->code == ERR_SESSION_BUSY && !doing->turn)
        return _("The session is in use.");
    *whole = true;
    if (e->code == ERR_SESSION_BUSY && doing->compaction) /* the engine speaks of a turn */
        return _("Not possible while a compaction is running.");
    if (e->code == ERR_SESSION_AMBIGUOUS)
        return e->text;
    if (e->code == ERR_MEMORY_NOT_FOUND && f->operation == &operation_memory_restore)
        return _("There is nothing to restore.");
    if (e->code == ERR_NOTHING_TO_UNDO && f->operation == &operation_session_unrewind)
        return _("The conversation was not rewound.");
    if (e->code == ERR_MESSAGE_NOT_SENT &&
        (f->operation == &operation_session_rewind || f->operation == &operation_session_fork))
        return _("There is no message of yours with that number to go back to.");
    if (e->code == ERR_MESSAGE_NOT_SENT && pin && pin->turn != 0)
        return _("There is no message of yours of that number in what the model is sent.");
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (sentences[i].code == e->code) {
            *whole = sentences[i].whole;
            return _(sentences[i].text);
        }
    *whole = false;
    return _("An error occurred.");
}

/* A name, such as api_key_command, keeps its small letter. */
static void add_sentence(struct buf *out, const char *text, size_t len)
{
    size_t letters = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    bool word = letters > 0 && (letters == len || text[letters] == ' ');
    buf_addch(out, word ? (char)(*text - 'a' + 'A') : *text);
    buf_add(out, text + 1, len - 1);
    if (!strchr(".?!", text[len - 1]))
        buf_addch(out, '.');
}

char *faults_words(const struct fault *f, const struct doing *doing, bool *whole)
{
    const struct error *e = f->error;
    const struct compaction_run_params *p =
        f->operation == &operation_compaction_run ? f->params : NULL;
    const char *words = sentence(f, doing, whole);
    if (e->code == ERR_TOO_SMALL_TO_COMPACT) { /* the mode keeps everything */
        *whole = true;
        return compact_all_stays(doing->config, p ? p->mode : NULL);
    }
    if (e->code != ERR_CONFIG_ERROR || (f->operation && f->operation->undone))
        return *whole ? mem_strdup(words) : mem_printf("%s\n%s", words, e->text);
    /* The error and its advice, a sentence and a line each. */
    struct buf out = BUF_INIT;
    const char *advice = err_advice(e->text);
    size_t first = advice ? (size_t)(advice - e->text) - strlen("; ") : strlen(e->text);
    if (first > 0)
        add_sentence(&out, e->text, first);
    if (advice) {
        buf_addch(&out, '\n');
        add_sentence(&out, advice, strlen(advice));
    }
    return buf_take(&out);
}

/* Restoring the state before a refused request */

/* `here`: the request was of the session that is shown. */
static void take_back(struct app *app, const struct operation_answer *a, bool here)
{
    static const struct operation *const leave[] = {
        &operation_session_create, &operation_session_open, &operation_session_fork,
        &operation_session_archive, &operation_session_delete};
    const struct turn_start_params *start =
        operation_answers(a, &operation_turn_start) ? a->request->params : NULL;
    const struct turn_retry_params *retry =
        operation_answers(a, &operation_turn_retry) ? a->request->params : NULL;
    const char *text = start ? start->text : retry ? retry->text : NULL;
    if ((start || retry) && here) {
        if (a->error.code != ERR_SESSION_BUSY)
            app->activity.busy = app->activity.over = false;
        app->activity.failed = !app->activity.busy;
    }
    if (text)
        app_give_back(app, text);
    if (retry && here)
        app->replacing = text;

    for (size_t i = 0; i < sizeof leave / sizeof *leave; i++)
        if (operation_answers(a, leave[i])) { /* the session stays */
            free(app->draft_when_left);
            app->draft_when_left = NULL;
            app->host.find(app, NULL, NULL);
            app->way_back.moving = WAY_STAYS;
            if (background_remove(app, app->session.id))
                app->activity.busy = true;
            app_touch_now(app, DIRTY_TITLE | DIRTY_STATUS);
        }

    if (operation_answers(a, &operation_doctor_report) && list_view_find(&app->views, LIST_REPORT))
        app_close_list(app);
}

/* Reporting */

void faults_take_answer(struct app *app, const struct notice *n, const struct asked_request *by)
{
    bool whole;
    struct operation_answer *a = n->answer;
    bool here = !*n->session || strcmp(n->session, app->session.id) == 0;
    take_back(app, a, here);
    struct doing doing = {app->activity.busy, app->activity.compacting_ms != 0, app->config};
    struct fault fault = {&a->error, a->request->operation, a->request->params};
    auto_free char *words = faults_words(&fault, &doing, &whole);
    bool turn =
        operation_answers(a, &operation_turn_start) || operation_answers(a, &operation_turn_retry);
    if (asked_give(app, by, a, words))
        return;
    if (operation_answers(a, &operation_session_set_draft)) { /* reported once, not at every key */
        if (app->draft_complained)
            return;
        app->draft_complained = true;
    } else if (a->error.code == ERR_SESSION_NOT_RUNNING) { /* reported after /stop, not after Esc */
        bool interrupts = operation_answers(a, &operation_turn_interrupt);
        bool asked =
            (interrupts && app->stop_asked) || operation_answers(a, &operation_turn_background);
        app->stop_asked = app->stop_asked && !interrupts;
        if (!asked)
            return;
    } else if (a->error.code == ERR_INTERRUPTED &&
               operation_answers(a, &operation_compaction_run)) {
        return; /* its card says it */
    }
    if (a->error.code == ERR_INTERRUPTED)
        app_note(app, STYLE_NOTE, "%s", _("Cancelled before anything was sent."));
    else if (turn && here && app->read_only && a->error.code == ERR_SESSION_NOT_FOUND)
        app_note(app, STYLE_WARNING, "%s",
                 _("This session is read-only. /resume continues it; /fork continues in a copy."));
    else
        app_note(app, whole ? STYLE_WARNING : STYLE_ERROR, "%s", words);
}

void faults_say(struct app *app, const struct error *e)
{
    bool whole;
    struct doing doing = {app->activity.busy, app->activity.compacting_ms != 0, app->config};
    struct fault fault = {.error = e};
    auto_free char *words = faults_words(&fault, &doing, &whole);
    app_note(app, whole ? STYLE_WARNING : STYLE_ERROR, "%s", words);
}
