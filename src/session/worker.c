#include "session/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/embedded.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/backend.h"
#include "session/journal.h"
#include "session/reader.h"
#include "session/report.h"

struct worker {
    const struct config *config;
    char *store_path; /* NULL: nothing is kept */
    char *store_dir;
    char *provider, *model, *system, *resume; /* asked for at the start; NULL: not */
    bool offer_tools;
    char *root; /* working directory, resolved */
    int root_fd;

    struct mailbox *commands, *notices;
    struct wakeup wakeup;
    struct store *store;
    struct journal journal;
    struct backend backend;
    struct reader *reader;

    enum { IDLE, TURN, ASIDE } doing; /* ASIDE: asks the server something between turns */
    bool cancelled;
    bool quit;
    VEC(struct command *) deferred; /* until the turn has ended */
};

static bool go_on(void *context);

static char *store_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return mem_strdup(".");
    return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static char *resolve_directory(const char *directory)
{
    char *resolved = realpath(directory ? directory : ".", NULL);
    return resolved ? resolved : mem_strdup(directory ? directory : ".");
}

struct worker *worker_new(const struct service_options *o, struct mailbox *commands,
                          struct mailbox *notices)
{
    struct worker *w = mem_alloc(sizeof *w);
    const char *offer = o->tools ? o->tools : config_string(o->config, CONFIG_CHAT_TOOLS);
    w->config = o->config;
    w->commands = commands;
    w->notices = notices;
    w->wakeup = (struct wakeup){.fd = mailbox_fd(commands), .go_on = go_on, .context = w};
    if (o->persist)
        w->store_path = o->store_path ? mem_strdup(o->store_path) : store_default_path();
    w->store_dir = w->store_path ? store_directory(w->store_path) : NULL;
    w->provider = mem_strdup(o->provider);
    w->model = mem_strdup(o->model);
    w->system = mem_strdup(o->system);
    w->resume = mem_strdup(o->resume);
    w->offer_tools = strcmp(offer, "none") != 0;
    w->root = resolve_directory(o->directory);
    w->root_fd = open(w->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    journal_init(&w->journal, notices);
    backend_init(&w->backend, o->config, &w->wakeup);
    w->reader = reader_new(w->store_path, notices);
    return w;
}

void worker_free(struct worker *w)
{
    reader_free(w->reader);
    backend_release(&w->backend);
    journal_release(&w->journal);
    store_close(w->store);
    for (size_t i = 0; i < w->deferred.len; i++)
        command_free(w->deferred.items[i]);
    vec_release(&w->deferred);
    if (w->root_fd >= 0)
        close(w->root_fd);
    free(w->root);
    free(w->store_path);
    free(w->store_dir);
    free(w->provider);
    free(w->model);
    free(w->system);
    free(w->resume);
    free(w);
}

static void tell(struct worker *w, struct notice *n)
{
    mailbox_push(w->notices, n);
}

static void tell_error(struct worker *w, const struct command *c, const struct error *e)
{
    struct notice *n = notice_new(NOTICE_ERROR);
    n->error = *e;
    n->command = c->type;
    n->text = mem_strdup(c->text);
    log_line(LOG_ERROR, "%s: %s", err_info(e->code)->name, e->text);
    tell(w, n);
}

static struct meters current_meters(const struct worker *w)
{
    return (struct meters){.estimate = w->journal.history.estimate,
                           .last_input = w->journal.history.last_input,
                           .window = w->backend.facts.window,
                           .total = w->journal.info.usage,
                           .price = w->backend.facts.price};
}

static void tell_session(struct worker *w, bool opened)
{
    struct notice *n = notice_new(NOTICE_SESSION);
    session_info_release(&n->info);
    n->info = session_info_clone(&w->journal.info);
    n->meters = current_meters(w);
    n->flag = opened;
    tell(w, n);
}

static void tell_provider(struct worker *w)
{
    const struct choice *choice = &w->backend.choice;
    struct notice *n = notice_new(NOTICE_PROVIDER);
    n->provider = mem_strdup(choice->provider->name);
    n->model = mem_strdup(choice->model);
    n->detail = mem_strdup(choice->detail);
    n->reason = (enum provider_reason)choice->reason;
    n->meters = current_meters(w);
    tell(w, n);
}

static void tell_busy(struct worker *w, bool busy)
{
    struct notice *n = notice_new(NOTICE_BUSY);
    n->flag = busy;
    tell(w, n);
}

/* The session remembers what it talks to, but not a provider that nobody chose: when there is a
 * better one next time, it is to be taken. */
static void note_backend(struct worker *w)
{
    struct session_info *info = &w->journal.info;
    const struct choice *choice = &w->backend.choice;
    bool chosen = choice->reason != CHOICE_FALLBACK;
    free(info->provider);
    free(info->model);
    info->provider = chosen ? mem_strdup(choice->provider->name) : NULL;
    info->model = mem_strdup(choice->model);
}

/* What the user asked for at the start, else what the session used, else by the rules. */
static bool choose(struct worker *w, struct error *e)
{
    const struct session_info *info = &w->journal.info;
    bool asked = w->provider || w->model;
    bool remembered = !asked && info->provider && *info->provider;
    if (remembered && backend_choose(&w->backend, info->provider, info->model, e)) {
        note_backend(w);
        return true;
    }
    if (!backend_choose(&w->backend, w->provider, w->model, e))
        return false;
    note_backend(w);
    return true;
}

static void choose_and_tell(struct worker *w, const struct command *c)
{
    struct error e = {0};
    if (!choose(w, &e)) {
        tell_error(w, c, &e);
        return;
    }
    w->backend.facts = models_find(w->config, w->backend.choice.model);
    tell_provider(w);
}

static void begin_session(struct worker *w)
{
    journal_begin(&w->journal, w->root);
    if (w->system)
        w->journal.info.system = mem_strdup(w->system);
    tell_session(w, true);
}

static bool resume_session(struct worker *w, const char *reference, struct error *e)
{
    struct event_list tail = {0};
    struct notice *page = notice_new(NOTICE_PAGE);
    if (!journal_resume(&w->journal, reference, &tail, &page->flag, e)) {
        event_list_release(&tail);
        notice_free(page);
        return false;
    }
    tell_session(w, true);
    page->events.items = tail.items.items;
    page->events.len = tail.items.len;
    page->events.cap = tail.items.cap;
    tell(w, page);
    if (!journal_load_history(&w->journal, e)) {
        begin_session(w); /* to go on in this one would be to go on without what was said */
        return false;
    }
    tell_session(w, false);
    return true;
}

/* --- commands ----------------------------------------------------------------------------------
 */

static const char *system_prompt(const struct worker *w)
{
    const char *configured = config_string(w->config, CONFIG_CHAT_SYSTEM);
    if (w->journal.info.system)
        return w->journal.info.system;
    return *configured ? configured : embedded_text("prompts/system.md");
}

static bool run_turn(struct worker *w, const char *input, const char *attachments, int64_t retries,
                     struct error *e)
{
    struct backend *b = &w->backend;
    char *system = mem_printf("%s\nWorking directory: %s\n", system_prompt(w), w->root);
    struct agent agent = {
        .config = w->config,
        .provider = b->choice.provider,
        .endpoint = &b->choice.endpoint,
        .http = b->http,
        .model = b->choice.model,
        .system = system,
        .window = b->facts.window,
        .max_output = agent_max_output(config_integer(w->config, CONFIG_PROVIDER_MAX_OUTPUT),
                                       b->facts.max_output, b->facts.window),
        .offer_tools = w->offer_tools && w->root_fd >= 0,
        .root_fd = w->root_fd,
        .root = w->root,
        .wakeup = &w->wakeup,
        .history = &w->journal.history,
        .emit = journal_emit,
        .context = &w->journal,
    };
    bool ok = agent_run(&agent, input, attachments, retries, e);
    b->facts.window = agent.window;
    free(system);
    return ok;
}

static void finish_work(struct worker *w)
{
    w->doing = IDLE;
    w->cancelled = false;
}

static void learn_window(struct worker *w)
{
    w->doing = ASIDE;
    if (!w->quit && backend_ask_window(&w->backend))
        tell_provider(w);
}

static void start(struct worker *w, const struct command *c, const char *input, int64_t retries)
{
    struct error e = {0};
    w->doing = TURN;
    tell_busy(w, true);
    bool ready = w->backend.chosen || choose(w, &e);
    ready = ready && backend_prepare(&w->backend, &e);
    if (ready && !go_on(w)) /* while it asked the server for its window */
        ready = err_set(&e, ERR_INTERRUPTED, "interrupted before anything was sent");
    if (ready) {
        note_backend(w);
        tell_provider(w);
        journal_name(&w->journal, input);
        tell_session(w, false);
    }
    bool kept = ready && run_turn(w, input, c->attachments, retries, &e);
    if (!kept)
        tell_error(w, c, &e);
    if (ready && !kept) /* what could not be kept is not to be built upon */
        journal_load_history(&w->journal, &(struct error){0});
    finish_work(w);
    tell_session(w, false);
    tell_busy(w, false);
    if (ready)
        learn_window(w);
    finish_work(w);
}

static void do_start_turn(struct worker *w, struct command *c)
{
    start(w, c, c->text ? c->text : "", 0);
}

static void do_retry(struct worker *w, struct command *c)
{
    struct error e;
    const struct history *h = &w->journal.history;
    if (!h->last_text) {
        err_set(&e, ERR_USAGE, "nothing to retry; send a message first");
        tell_error(w, c, &e);
        return;
    }
    char *text = mem_strdup(h->last_text);
    start(w, c, text, h->last_run_seq);
    free(text);
}

static void do_interrupt(struct worker *w, struct command *c)
{
    struct error e;
    if (w->doing != IDLE) {
        w->cancelled = true;
        return;
    }
    err_set(&e, ERR_SESSION_NOT_RUNNING, "no turn is running");
    tell_error(w, c, &e);
}

/* What one talks to stays. */
static void do_new(struct worker *w, struct command *c)
{
    begin_session(w);
    if (!w->backend.chosen) {
        choose_and_tell(w, c);
        return;
    }
    note_backend(w);
    tell_provider(w);
}

static void do_resume(struct worker *w, struct command *c)
{
    struct error e = {0};
    if (resume_session(w, c->text ? c->text : "last", &e))
        choose_and_tell(w, c);
    else
        tell_error(w, c, &e);
}

static void do_rename(struct worker *w, struct command *c)
{
    struct error e = {0};
    struct session_info *info = &w->journal.info;
    free(info->title);
    info->title = session_title_from(c->text ? c->text : "");
    info->title_set = *info->title != '\0';
    if (!journal_save_info(&w->journal, &e))
        tell_error(w, c, &e);
    tell_session(w, false);
}

static void do_set_model(struct worker *w, struct command *c)
{
    struct error e = {0};
    if (!backend_choose(&w->backend, c->name, c->text, &e)) {
        tell_error(w, c, &e);
        return;
    }
    w->backend.facts = models_find(w->config, w->backend.choice.model);
    note_backend(w);
    if (!journal_save_info(&w->journal, &e))
        tell_error(w, c, &e);
    tell_provider(w);
}

static void set_system(struct worker *w, const char *text)
{
    free(w->journal.info.system);
    w->journal.info.system = text && *text ? mem_strdup(text) : NULL;
}

static void do_set_system(struct worker *w, struct command *c)
{
    struct error e = {0};
    set_system(w, c->text);
    if (!journal_save_info(&w->journal, &e))
        tell_error(w, c, &e);
    tell_session(w, false);
}

static void do_save_draft(struct worker *w, struct command *c)
{
    struct error e = {0};
    if (!journal_save_draft(&w->journal, c->text, &e))
        tell_error(w, c, &e);
}

/* Reads are the reader's. It gets a command of its own: this one is freed by the loop. */
static void do_read(struct worker *w, struct command *c)
{
    struct command *question = command_new(c->type, c->text);
    question->number = c->number;
    question->limit = c->limit;
    question->name = mem_strdup(w->journal.info.id);
    reader_ask(w->reader, question);
}

static void do_models(struct worker *w, struct command *c)
{
    struct error e = {0};
    struct provider_names names = {0};
    w->doing = ASIDE;
    if ((w->backend.chosen || choose(w, &e)) && backend_models(&w->backend, &names, &e)) {
        struct notice *n = notice_new(NOTICE_MODELS);
        for (size_t i = 0; i < names.names.len; i++)
            vec_push(&n->texts, mem_strdup(names.names.items[i]));
        tell(w, n);
    } else {
        tell_error(w, c, &e);
    }
    provider_names_release(&names);
    finish_work(w);
}

static void do_report(struct worker *w, struct command *c)
{
    (void)c;
    struct notice *n = notice_new(NOTICE_REPORT);
    report_backend(n, &w->backend);
    report_store(n, w->store_path, w->store);
    tell(w, n);
}

static void do_quit(struct worker *w, struct command *c)
{
    (void)c;
    w->quit = true;
}

/* What may happen while a turn runs: NOW does, LATER waits for its end, REFUSED is SESSION_BUSY.
 * What a turn refuses, an aside gives way to. */
enum when { NOW, LATER, REFUSED };

static const struct {
    enum when in_turn;
    void (*run)(struct worker *w, struct command *c);
} actions[] = {
    [COMMAND_START_TURN] = {REFUSED, do_start_turn},
    [COMMAND_RETRY] = {REFUSED, do_retry},
    [COMMAND_INTERRUPT] = {NOW, do_interrupt},
    [COMMAND_NEW] = {REFUSED, do_new},
    [COMMAND_RESUME] = {REFUSED, do_resume},
    [COMMAND_RENAME] = {NOW, do_rename},
    [COMMAND_SET_MODEL] = {REFUSED, do_set_model},
    [COMMAND_SET_SYSTEM] = {REFUSED, do_set_system},
    [COMMAND_SAVE_DRAFT] = {NOW, do_save_draft},
    [COMMAND_PAGE] = {NOW, do_read},
    [COMMAND_LIST] = {NOW, do_read},
    [COMMAND_INPUTS] = {NOW, do_read},
    [COMMAND_MODELS] = {LATER, do_models},
    [COMMAND_REPORT] = {LATER, do_report},
    [COMMAND_QUIT] = {NOW, do_quit},
};

static void refuse(struct worker *w, const struct command *c)
{
    struct error e;
    err_set(&e, ERR_SESSION_BUSY, "a turn is running; wait for its end or interrupt it");
    tell_error(w, c, &e);
}

/* Takes the command. */
static void handle(struct worker *w, struct command *c)
{
    enum when when = w->doing == IDLE ? NOW : actions[c->type].in_turn;
    bool gives_way = when == REFUSED && w->doing == ASIDE;
    if (when == LATER || gives_way) {
        w->cancelled = w->cancelled || gives_way;
        vec_push(&w->deferred, c);
        return;
    }
    if (when == REFUSED)
        refuse(w, c);
    else
        actions[c->type].run(w, c);
    command_free(c);
}

static bool go_on(void *context)
{
    struct worker *w = context;
    struct command *c;
    while ((c = mailbox_pop(w->commands)))
        handle(w, c);
    return !w->cancelled && !w->quit;
}

static void handle_deferred(struct worker *w)
{
    while (w->deferred.len > 0 && !w->quit) {
        struct command *c = w->deferred.items[0];
        vec_remove(&w->deferred, 0, 1);
        handle(w, c);
    }
}

static void open_store(struct worker *w)
{
    struct error e = {0};
    const struct command opening = {.type = COMMAND_NEW};
    if (!w->store_path)
        return;
    if (!store_open(w->store_path, STORE_READ_WRITE, &w->store, &e)) {
        tell_error(w, &opening, &e);
        return;
    }
    w->journal.store = w->store;
    w->journal.directory = w->store_dir;
}

static void open_first_session(struct worker *w)
{
    struct error e = {0};
    struct command opening = {.type = w->resume ? COMMAND_RESUME : COMMAND_NEW, .text = w->resume};
    bool resumed = w->resume && resume_session(w, w->resume, &e);
    if (w->resume && !resumed)
        tell_error(w, &opening, &e);
    if (!resumed)
        begin_session(w);
    else if (w->system)
        set_system(w, w->system);
    choose_and_tell(w, &opening);
}

void worker_run(struct worker *w)
{
    open_store(w);
    open_first_session(w);
    while (!w->quit) {
        handle(w, mailbox_wait(w->commands, -1));
        handle_deferred(w);
    }
}
