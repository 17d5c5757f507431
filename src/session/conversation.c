#include "session/conversation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/die.h"
#include "base/environment.h"
#include "base/mem.h"
#include "session/capability.h"
#include "session/conversation_private.h"
#include "session/removal.h"
#include "session/report.h"

enum {
    PATIENCE_MS = 15000, /* somebody else may import months of talk */
    REST_MS = 300,       /* without a command, before what nobody waits for is done */
    ASIDE_MS = 5000,     /* that a server has to answer what is asked between turns */
    REMOVALS_AT_ONCE = 8
};

static void free_command(void *command)
{
    command_free(command);
}

struct conversation *conversation_new(struct engine *engine)
{
    struct conversation *w = mem_alloc(sizeof *w);
    w->engine = engine;
    w->is_first = engine->conversations.len == 0;
    w->config = engine->config;
    w->commands = mailbox_new(free_command);
    w->wakeup =
        (struct wakeup){.fd = mailbox_fd(w->commands), .go_on = conversation_go_on, .context = w};
    w->labels = mem_strdup(engine->options.labels);
    w->root_fd = open(engine->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct tool_host host = {
        .root_fd = w->root_fd,
        .root = engine->root,
        .environment = config_string(w->config, CONFIG_TOOLS_ENVIRONMENT),
        .memory = engine->memory ? &w->tool_memory : NULL,
    };
    toolset_init(&w->tools, tool_sources, &host);
    journal_init(&w->journal, engine->notices);
    backend_init(&w->backend, w->config, &w->wakeup);
    budget_read(&w->budget, w->config);
    conversation_read_compaction(w);
    return w;
}

void conversation_free(struct conversation *w)
{
    conversation_close_memory(w);
    conversation_forget_summariser(w);
    backend_release(&w->backend);
    journal_release(&w->journal);
    approval_policy_release(&w->policy);
    toolset_release(&w->tools);
    prompt_told_release(&w->prompt_told);
    store_close(w->store);
    for (size_t i = 0; i < w->deferred.len; i++)
        command_free(w->deferred.items[i]);
    vec_release(&w->deferred);
    mailbox_free(w->commands);
    if (w->root_fd >= 0)
        close(w->root_fd);
    free(w->seat.provider);
    free(w->seat.model);
    free(w->labels);
    free(w->newer_draft);
    free(w);
}

void conversation_send(struct conversation *w, struct command *c)
{
    mailbox_push(w->commands, c);
}

void conversation_step_aside(struct conversation *w)
{
    w->doing = ASIDE;
    w->wakeup.deadline_ms = clock_mono_ms() + ASIDE_MS;
}

void conversation_finish(struct conversation *w)
{
    w->doing = IDLE;
    w->cancelled = false;
    w->wakeup.deadline_ms = 0;
}

static void add_offers(const struct conversation *w, struct notice *n)
{
    for (size_t i = 0; providers[i]; i++) {
        const char *name = providers[i]->name;
        struct provider_offer offer = {.name = name};
        (void)choose_key_state(w->config, environment_get, name, &offer.wants);
        vec_push(&n->offers, offer);
    }
}

static void do_models(struct conversation *w, struct command *c)
{
    struct error e = {0};
    struct provider_names names = {0};
    struct notice *n = notice_new(NOTICE_MODELS);
    conversation_step_aside(w);
    bool listed = (w->backend.chosen || conversation_choose(w, &e)) &&
                  backend_models(&w->backend, &names, &e);
    for (size_t i = 0; i < names.names.len; i++)
        vec_push(&n->texts, mem_strdup(names.names.items[i]));
    add_offers(w, n);
    tell(w, n);
    if (!listed)
        tell_error(w, c, &e);
    provider_names_release(&names);
    conversation_finish(w);
}

static void do_report(struct conversation *w, struct command *c)
{
    (void)c;
    struct notice *n = notice_new(NOTICE_REPORT);
    report_backend(n, &w->backend);
    report_store(n, place_path(w->engine->place), w->journal.directory != NULL);
    report_memory(n, w->config, &w->wakeup);
    tell(w, n);
}

/* The loop looks whether there is still something to do. */
static void do_leave(struct conversation *w, struct command *c)
{
    (void)w;
    (void)c;
}

static void do_quit(struct conversation *w, struct command *c)
{
    (void)c;
    w->quit = true;
}

/* What may happen while a turn runs: NOW does, LATER waits for its end, REFUSED is SESSION_BUSY,
 * and ENDS interrupts the turn and waits for it, when it is about the open session. What a turn
 * refuses, an aside gives way to. */
enum when { NOW, LATER, REFUSED, ENDS };

static const struct {
    enum when in_turn;
    void (*run)(struct conversation *w, struct command *c);
} actions[] = {
    [COMMAND_START_TURN] = {REFUSED, do_start_turn},
    [COMMAND_RETRY] = {REFUSED, do_retry},
    [COMMAND_INTERRUPT] = {NOW, do_interrupt},
    [COMMAND_NEW] = {REFUSED, do_new},
    [COMMAND_RESUME] = {REFUSED, do_resume},
    [COMMAND_OPEN] = {REFUSED, do_open},
    [COMMAND_FORK] = {REFUSED, do_fork},
    [COMMAND_RENAME] = {NOW, do_rename},
    [COMMAND_LABEL] = {NOW, do_label},
    [COMMAND_ARCHIVE] = {ENDS, do_archive},
    [COMMAND_DELETE] = {ENDS, do_delete},
    [COMMAND_ANSWER] = {NOW, do_answer},
    [COMMAND_COMPACT] = {REFUSED, do_compact},
    [COMMAND_UNCOMPACT] = {REFUSED, do_uncompact},
    [COMMAND_PIN] = {REFUSED, do_pin},
    [COMMAND_DRAFT] = {NOW, do_draft},
    [COMMAND_CONTEXT] = {NOW, do_context},
    [COMMAND_SET_MODEL] = {REFUSED, do_set_model},
    [COMMAND_SET_SYSTEM] = {REFUSED, do_set_system},
    [COMMAND_SAVE_DRAFT] = {NOW, do_save_draft},
    [COMMAND_MODELS] = {LATER, do_models},
    [COMMAND_REPORT] = {LATER, do_report},
    [COMMAND_LEAVE] = {NOW, do_leave},
    [COMMAND_QUIT] = {NOW, do_quit},
};

static void refuse(struct conversation *w, const struct command *c)
{
    struct error e;
    err_set(&e, ERR_SESSION_BUSY, "%s is running; wait for its end or interrupt it",
            w->doing == COMPACTION ? "a compaction" : "a turn");
    tell_error(w, c, &e);
}

/* A turn that waits for the end of an aside is one that runs, for all who ask; a compaction, too.
 */
struct command *conversation_take_waiting_turn(struct conversation *w)
{
    for (size_t i = 0; i < w->deferred.len; i++) {
        struct command *c = w->deferred.items[i];
        if (command_begins_turn(c->type)) {
            vec_remove(&w->deferred, i, 1);
            return c;
        }
    }
    return NULL;
}

static bool turn_waits(const struct conversation *w)
{
    for (size_t i = 0; i < w->deferred.len; i++)
        if (command_begins_turn(w->deferred.items[i]->type))
            return true;
    return false;
}

/* To take a session out of the archive is nothing to its turn. */
static bool ends_session(struct conversation *w, const struct command *c)
{
    bool leaves = c->type == COMMAND_DELETE || c->number == 0;
    return leaves && conversation_means_current(w, c);
}

/* It is only to be shown again. */
static bool shows(const struct conversation *w, const struct command *c)
{
    bool opens = c->type == COMMAND_RESUME || c->type == COMMAND_OPEN;
    return opens && (w->doing == TURN || w->doing == COMPACTION) && c->text &&
           strcmp(c->text, w->journal.info.id) == 0;
}

static enum when when_of(struct conversation *w, const struct command *c)
{
    enum when when = w->doing == IDLE ? NOW : actions[c->type].in_turn;
    if (shows(w, c) || (when == ENDS && !ends_session(w, c)))
        return NOW;
    if (when == REFUSED && w->doing == ASIDE)
        return command_begins_turn(c->type) && turn_waits(w) ? REFUSED : ENDS;
    return when;
}

void conversation_handle(struct conversation *w, struct command *c)
{
    enum when when = when_of(w, c);
    if (when == LATER || when == ENDS) {
        w->cancelled = w->cancelled || when == ENDS;
        vec_push(&w->deferred, c);
        return;
    }
    if (when == REFUSED)
        refuse(w, c);
    else
        actions[c->type].run(w, c);
    conversation_drop(w, c);
}

void conversation_drop(struct conversation *w, struct command *c)
{
    if (command_begins_turn(c->type))
        engine_turn_over(w);
    command_free(c);
}

bool conversation_go_on(void *conversation)
{
    struct conversation *w = conversation;
    struct command *c;
    while ((c = mailbox_pop(w->commands)))
        conversation_handle(w, c);
    return !w->cancelled && !w->quit && !wakeup_late(&w->wakeup);
}

/* The end of the program leaves nothing undone of what was to be put away. */
static void handle_deferred(struct conversation *w)
{
    while (w->deferred.len > 0) {
        struct command *c = w->deferred.items[0];
        vec_remove(&w->deferred, 0, 1);
        if (!w->quit || actions[c->type].in_turn == ENDS)
            conversation_handle(w, c);
        else
            conversation_drop(w, c);
    }
}

/* Nobody asks for it any more: another session may be opened in it. */
static void close_session(struct conversation *w)
{
    journal_close(&w->journal);
    engine_note_session(w, "");
}

static bool ends_a_wait(const void *command)
{
    const struct command *c = command;
    return c->type == COMMAND_INTERRUPT || c->type == COMMAND_QUIT;
}

/* The agent thread waits for a writer of another process and cannot take commands meanwhile. */
static bool wants_an_end(void *commands)
{
    return mailbox_has(commands, ends_a_wait);
}

/* In memory alone where the file cannot be used, and the user is told. */
static void open_store(struct conversation *w)
{
    struct error e = {0};
    const struct command opening = {.type = COMMAND_NEW};
    if (!place_open(w->engine->place, STORE_READ_WRITE, &w->store, &e))
        die(e.text);
    store_set_patience(w->store, PATIENCE_MS, wants_an_end, w->commands);
    w->journal.store = w->store;
    w->journal.directory = place_directory(w->engine->place);
    conversation_open_memory(w);
    if (place_take_fault(w->engine->place, &e))
        tell_error(w, &opening, &e);
}

/* What a deleting process was killed before it could remove. */
static void remove_left_files(struct conversation *w)
{
    struct catalog catalog;
    catalog_borrow(&catalog, w->store, w->journal.directory, w->journal.info.id);
    removal_finish_some(&catalog, REMOVALS_AT_ONCE);
    removal_sweep_locks(&catalog);
    catalog_release(&catalog);
}

/* What only the server knows of the model of the open session; NULL: nothing. */
static bool (*question_for(const struct conversation *w))(struct backend *b)
{
    const struct backend *b = &w->backend;
    if (!*w->journal.info.id)
        return NULL;
    if (backend_wants_name(b))
        return backend_ask_name;
    return backend_wants_window(b) ? backend_ask_window : NULL;
}

/* So that title and gauge are whole before a message is sent. */
static void ask_server(struct conversation *w, bool (*ask)(struct backend *b))
{
    conversation_step_aside(w);
    bool known = ask(&w->backend);
    conversation_finish(w);
    if (!known)
        return;
    conversation_note_backend(w);
    tell_provider(w);
}

void conversation_run(struct conversation *w)
{
    bool removed = !w->is_first; /* once a process is enough: there are seldom any */
    open_store(w);
    conversation_begin(w);
    while (!w->quit) {
        bool (*ask)(struct backend *) = question_for(w);
        struct command *c = mailbox_wait(w->commands, ask || !removed ? REST_MS : -1);
        if (c) {
            conversation_handle(w, c);
        } else if (ask) {
            ask_server(w, ask);
        } else {
            remove_left_files(w);
            removed = true;
        }
        handle_deferred(w);
        if (engine_is_done_with(w))
            close_session(w);
    }
}
