#include "session/memory_desk.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/die.h"
#include "base/mem.h"
#include "session/memory_desk_private.h"
#include "session/memory_errands.h"
#include "session/memory_work.h"

enum { PATIENCE_MS = 5000 };

struct memory_desk {
    const struct config *config;
    char *store_path, *directory, *project;
    struct mailbox *notices;
    struct errands errands;
    pthread_t thread;
    bool started;
    int patience_ms;

    /* The thread's own. */
    struct store *store; /* NULL: see `fault` */
    struct error fault;
    struct memory_answers answers;
    struct memory_work work;
};

/* --- answers ---------------------------------------------------------------------------------- */

static struct notice *answer_state(struct memory_desk *d, const struct command *c)
{
    struct error e = {0};
    struct notice *state = memory_work_state(&d->work, &e);
    return state ? state : memory_answer_fault(c, &e);
}

static struct notice *answer(struct memory_desk *d, const struct command *c)
{
    bool changed = false;
    if (!d->store)
        return memory_answer_fault(c, &d->fault);
    if (c->type == COMMAND_MEMORY_STATE)
        return answer_state(d, c);
    struct notice *n = memory_answer(&d->answers, c, &changed);
    d->work.chore.wanted = d->work.chore.wanted || changed;
    d->work.purge.wanted = d->work.purge.wanted || c->type != COMMAND_MEMORY_SEARCH;
    return n;
}

/* What came of one that is out of date is not told. */
static void run_search(struct memory_desk *d, const struct errand *errand)
{
    errands_begin_search(&d->errands, d->store, errand);
    struct notice *n = errands_have_newer(&d->errands) ? NULL : answer(d, errand->command);
    errands_end_search(&d->errands);
    if (n && !errands_have_newer(&d->errands))
        mailbox_push(d->notices, n);
    else
        notice_free(n);
}

static void run_errand(struct memory_desk *d, const struct errand *errand)
{
    if (errand->kind == ERRAND_WORK)
        d->work.chore.wanted = d->work.purge.wanted = d->store != NULL;
    else if (errand_is_search(errand))
        run_search(d, errand);
    else
        mailbox_push(d->notices, answer(d, errand->command));
}

/* --- the thread ------------------------------------------------------------------------------- */

static void open_store(struct memory_desk *d)
{
    if (!store_open(d->store_path, STORE_READ_WRITE, &d->store, &d->fault))
        return;
    /* another process's transaction */
    store_set_patience(d->store, d->patience_ms, errands_say_leave, &d->errands);
    recall_init(&d->answers.recall, d->config, d->store, d->directory);
    d->answers.recall.memory->lazy = true;
    d->work.purge.wanted = true; /* the program may have been killed last time */
}

static void *desk_main(void *arg)
{
    struct memory_desk *d = arg;
    open_store(d);
    for (;;) {
        struct errand *errand = errands_next(&d->errands, memory_work_due(&d->work));
        if (!errand) {
            memory_work_step(&d->work);
            continue;
        }
        bool quit = errand->kind == ERRAND_QUIT;
        if (!quit)
            run_errand(d, errand);
        errand_free(errand);
        if (quit) {
            memory_work_finish(&d->work);
            return NULL;
        }
    }
}

static void send(struct memory_desk *d, enum errand_kind kind, struct command *c)
{
    errands_send(&d->errands, kind, c);
    if (d->started)
        return;
    if (pthread_create(&d->thread, NULL, desk_main, d) != 0)
        die("cannot start a thread");
    d->started = true;
}

/* --- the face --------------------------------------------------------------------------------- */

struct memory_desk *memory_desk_new(const struct config *config, const char *store_path,
                                    const char *directory, const char *project,
                                    struct mailbox *notices)
{
    struct memory_desk *d = mem_alloc(sizeof *d);
    *d = (struct memory_desk){.config = config,
                              .store_path = mem_strdup(store_path),
                              .directory = mem_strdup(directory),
                              .project = mem_strdup(project),
                              .notices = notices,
                              .patience_ms = PATIENCE_MS};
    errands_init(&d->errands);
    d->answers = (struct memory_answers){
        .config = config, .project = d->project, .wakeup = errands_until_newer(&d->errands)};
    d->work = (struct memory_work){
        .recall = &d->answers.recall, .errands = &d->errands, .notices = notices};
    return d;
}

void memory_desk_set_patience(struct memory_desk *d, int ms)
{
    d->patience_ms = ms;
}

static void stop_thread(struct memory_desk *d)
{
    if (!d->started)
        return;
    send(d, ERRAND_QUIT, NULL);
    pthread_join(d->thread, NULL);
}

void memory_desk_free(struct memory_desk *d)
{
    if (!d)
        return;
    stop_thread(d);
    memory_answers_release(&d->answers);
    if (d->store)
        recall_release(&d->answers.recall);
    store_close(d->store);
    errands_release(&d->errands);
    free(d->store_path);
    free(d->directory);
    free(d->project);
    free(d);
}

void memory_desk_ask(struct memory_desk *d, struct command *c)
{
    send(d, ERRAND_ASKED, c);
}

void memory_desk_work(struct memory_desk *d)
{
    send(d, ERRAND_WORK, NULL);
}
