#include "ui/app/faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "session/memory_operations.h"
#include "ui/app/compact.h"
#include "ui/app/panes.h"
#include "ui/app/way_back.h"

/* What was asked for, where that says more than the code. */
static const char *sentence_of_command(enum command_type command)
{
    switch (command) {
    case COMMAND_COMPACT:
        return _("Nothing was shortened.");
    case COMMAND_UNCOMPACT:
        return _("Nothing was undone.");
    case COMMAND_PIN:
        return _("No pin was changed.");
    case COMMAND_SET_MODEL:
        return _("The model was not changed.");
    default:
        return NULL;
    }
}

static const char *sentence(const struct notice *n, const struct doing *doing)
{
    const struct error *e = &n->error;
    bool plain = e->code == ERR_AGENT_ERROR || e->code == ERR_USAGE || e->code == ERR_CONFIG_ERROR;
    const char *of_command = plain ? sentence_of_command(n->command) : NULL;
    static const struct {
        enum err_code code;
        const char *text;
    } sentences[] = {
        {ERR_SESSION_NOT_FOUND, N_("The session was not found.")},
        {ERR_SESSION_BUSY, N_("Not possible while a turn is running.")},
        {ERR_SESSION_PERSISTENCE_DISABLED, N_("Conversations are not saved here.")},
        {ERR_SESSION_COMPACTION_DISABLED, N_("Conversations are not shortened here.")},
        {ERR_SESSION_NOT_RUNNING, N_("Nothing is running.")},
        {ERR_SESSION_STORE_ERROR, N_("The database cannot be used.")},
        {ERR_FILE_ERROR, N_("A file could not be used.")},
        {ERR_BUDGET_EXHAUSTED, N_("The budget is used up.")},
        {ERR_MEMORY_DISABLED, N_("Memory is off.")},
        {ERR_MEMORY_NOT_FOUND, N_("The memory entry was not found.")},
        {ERR_USAGE, N_("This is not possible.")},
        {ERR_AGENT_ERROR, N_("An error occurred.")},
    };
    if (of_command)
        return of_command;
    if (e->code == ERR_SESSION_BUSY && !doing->turn)
        return _("The session is in use.");
    if (e->code == ERR_SESSION_BUSY && doing->compaction)
        return _("Not possible while a compaction is running.");
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (sentences[i].code == e->code)
            return _(sentences[i].text);
    return _("An error occurred.");
}

/* A mode that keeps everything; NULL: any other fault. The caller frees. */
static char *what_keeps_all(const struct notice *n, const struct doing *doing)
{
    return n->error.code == ERR_TOO_SMALL_TO_COMPACT ? compact_all_stays(doing->config, n->name)
                                                     : NULL;
}

/* What says all there is to say; NULL: the engine knows more. */
static const char *whole_sentence(const struct notice *n, const struct doing *doing)
{
    const struct error *e = &n->error;
    if (e->code == ERR_SESSION_BUSY && doing->turn && doing->compaction)
        return sentence(n, doing); /* the engine speaks of a turn */
    if (e->code == ERR_SESSION_AMBIGUOUS)
        return e->text;
    switch (e->code) {
    case ERR_MEMORY_NOT_FOUND:
        return sentence(n, doing);
    case ERR_NOTHING_TO_COMPACT:
        return _("There is nothing to compact yet.");
    case ERR_NOTHING_TO_UNDO:
        return _("There is no compaction to undo.");
    case ERR_MESSAGE_NOT_SENT:
        return _("The message is no longer sent to the model, so it cannot be pinned.");
    default:
        return NULL;
    }
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

/* "what happened; what to do" as a sentence each, on lines of their own. The caller frees. */
static char *as_sentences(const char *text)
{
    struct buf out = BUF_INIT;
    const char *rest = strstr(text, "; ");
    size_t first = rest ? (size_t)(rest - text) : strlen(text);
    if (first > 0)
        add_sentence(&out, text, first);
    if (rest && rest[2]) {
        buf_addch(&out, '\n');
        add_sentence(&out, rest + 2, strlen(rest + 2));
    }
    return buf_take(&out);
}

char *faults_words(const struct notice *n, const struct doing *doing, bool *whole)
{
    char *kept = what_keeps_all(n, doing);
    const char *words = kept ? NULL : whole_sentence(n, doing);
    *whole = kept || words;
    if (kept)
        return kept;
    if (n->error.code == ERR_CONFIG_ERROR && !sentence_of_command(n->command))
        return as_sentences(n->error.text);
    return words ? mem_strdup(words) : mem_printf("%s\n%s", sentence(n, doing), n->error.text);
}

char *faults_of_answer(const struct operation_answer *a, const struct doing *doing, bool *whole)
{
    const struct notice n = {.error = a->error, .command = COMMAND_QUIT};
    if (a->error.code == ERR_MEMORY_NOT_FOUND && operation_answers(a, &operation_memory_restore)) {
        *whole = true;
        return mem_strdup(_("There is nothing to restore."));
    }
    return faults_words(&n, doing, whole);
}

/* Another conversation's turn could not go on: it says nothing of the one that is shown. */
static bool is_elsewhere(const struct app *app, const struct notice *n)
{
    return *n->session && strcmp(n->session, app->session.id) != 0;
}

/* What was asked for will not come. */
static void forget_question(struct app *app, const struct notice *n)
{
    switch (n->command) {
    case COMMAND_START_TURN:
    case COMMAND_RETRY:
        if (!is_elsewhere(app, n)) {
            app->activity.failed = !app->activity.busy;
            app->replacing = n->command == COMMAND_RETRY && n->text;
        }
        if (n->text)
            app_give_back(app, n->text);
        break;
    case COMMAND_NEW:
    case COMMAND_RESUME:
    case COMMAND_OPEN:
    case COMMAND_FORK:
    case COMMAND_ARCHIVE:
    case COMMAND_DELETE:
        free(app->draft_when_left);
        app->draft_when_left = NULL;
        panes_forget_find(app);
        way_back_refused(app);
        app_stay_in_session(app);
        break;
    case COMMAND_REPORT:
        if (list_view_find(&app->views, LIST_REPORT))
            app_close_list(app);
        break;
    default:
        break;
    }
}

/* Every key would bring the same complaint. */
static bool said_before(struct app *app, const struct notice *n)
{
    if (n->command != COMMAND_SAVE_DRAFT)
        return false;
    bool before = app->draft_complained;
    app->draft_complained = true;
    return before;
}

/* Esc after the end of a turn needs no complaint, /stop does. */
static bool is_silent(struct app *app, const struct notice *n)
{
    if (n->error.code == ERR_INTERRUPTED && n->command == COMMAND_COMPACT)
        return true; /* its card says it */
    bool asked = app->stop_asked;
    if (n->error.code != ERR_SESSION_NOT_RUNNING)
        return false;
    app->stop_asked = false;
    return !asked;
}

/* Where it was asked for, if that is open. */
static void say_in_words(struct app *app, struct notice *n)
{
    bool whole;
    struct doing doing = {app->activity.busy, app->activity.compacting_ms != 0, app->config};
    char *words = faults_words(n, &doing, &whole);
    if (!views_notice(&app->views, n, words))
        app_note(app, whole ? STYLE_WARNING : STYLE_ERROR, "%s", words);
    free(words);
}

static void say_error(struct app *app, struct notice *n, bool turn)
{
    bool reading = turn && app->read_only && n->error.code == ERR_SESSION_NOT_FOUND;
    if (n->error.code == ERR_INTERRUPTED)
        app_note(app, STYLE_NOTE, "%s", _("Cancelled before anything was sent."));
    else if (reading)
        app_note(app, STYLE_WARNING, "%s",
                 _("This session is read-only. /resume continues it; /fork continues in a copy."));
    else
        say_in_words(app, n);
}

void faults_take(struct app *app, struct notice *n)
{
    bool turn =
        (n->command == COMMAND_START_TURN || n->command == COMMAND_RETRY) && !is_elsewhere(app, n);
    if (turn && n->error.code != ERR_SESSION_BUSY)
        app->activity.busy = app->activity.over = false;
    forget_question(app, n);
    if (said_before(app, n) || is_silent(app, n))
        return;
    say_error(app, n, turn);
    app_touch_now(app, DIRTY_ALL);
}
