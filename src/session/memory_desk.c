#include "session/memory_desk.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/die.h"
#include "base/mem.h"
#include "session/memory_desk_private.h"

enum { TELL_EVERY_MS = 250, PATIENCE_MS = 5000, PURGE_AGAIN_MS = 1000 };

/* What is asked of the thread. */
enum errand_kind { ASKED, WORK, QUIT };
struct errand {
    enum errand_kind kind;
    struct command *command; /* ASKED */
    int64_t serial;          /* later ones have a larger one */
};

/* What is left in the index of forgotten texts. */
struct purge {
    bool wanted;
    int64_t at_ms; /* clock_mono_ms() before which it is not tried; 0: at once */
};

/* The work that waits: vectors that entries lack, the graph. */
struct chore {
    bool wanted;
    int64_t at_ms;      /* clock_mono_ms() before which it is not tried; 0: at once */
    int64_t left;       /* entries, as last heard */
    int64_t told_at_ms; /* when that was told */
    bool told;          /* and that it is over was not */
    struct error why;   /* why it waits; ERR_OK: it does not */
};

struct memory_desk {
    const struct config *config;
    char *store_path, *directory, *project;
    struct mailbox *notices;
    struct mailbox *box; /* of errands */
    pthread_t thread;
    bool started;
    int patience_ms;

    int64_t serial; /* of the last errand; the asking thread's */

    pthread_mutex_t lock;   /* over the two below */
    struct store *reading;  /* on which a search runs, which a newer one may end; NULL: none */
    int64_t reading_serial; /* of that search */

    /* The thread's own. */
    struct store *store; /* NULL: see `fault` */
    struct error fault;
    VEC(struct errand *) waiting; /* taken out of the box */
    struct memory_answers answers;
    struct purge purge;
    struct chore chore;
    bool leaving;
};

/* --- errands ---------------------------------------------------------------------------------- */

static struct errand *errand_new(enum errand_kind kind, struct command *c)
{
    struct errand *errand = mem_alloc(sizeof *errand);
    *errand = (struct errand){.kind = kind, .command = c};
    return errand;
}

static void errand_free(void *item)
{
    struct errand *errand = item;
    if (errand)
        command_free(errand->command);
    free(errand);
}

static bool is_quit(const void *item)
{
    return ((const struct errand *)item)->kind == QUIT;
}

static bool is_search(const struct errand *errand)
{
    return errand->kind == ASKED && errand->command->type == COMMAND_MEMORY_SEARCH;
}

static void take_waiting(struct memory_desk *d)
{
    struct errand *errand;
    while ((errand = mailbox_pop(d->box)))
        vec_push(&d->waiting, errand);
}

/* Whether a search is out of date: there is a newer one, or it is over. */
static bool superseded(struct memory_desk *d)
{
    take_waiting(d);
    for (size_t i = 0; i < d->waiting.len; i++)
        if (is_search(d->waiting.items[i]) || is_quit(d->waiting.items[i]))
            return true;
    return false;
}

static bool search_goes_on(void *desk)
{
    return !superseded(desk);
}

static bool work_goes_on(void *desk)
{
    struct memory_desk *d = desk;
    take_waiting(d);
    return d->waiting.len == 0;
}

/* It may have been taken out of the box already, behind what is being done. */
static bool leaves(void *desk)
{
    struct memory_desk *d = desk;
    for (size_t i = 0; i < d->waiting.len; i++)
        if (is_quit(d->waiting.items[i]))
            return true;
    return d->leaving || mailbox_has(d->box, is_quit);
}

static bool stays(void *desk)
{
    take_waiting(desk); /* whoever sleeps looks at the box */
    return !leaves(desk);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void set_reading(struct memory_desk *d, struct store *s, int64_t serial)
{
    pthread_mutex_lock(&d->lock);
    d->reading = s;
    d->reading_serial = serial;
    pthread_mutex_unlock(&d->lock);
}

/* Ends a search that is older: the thread may be at the new one already. */
static void interrupt_before(struct memory_desk *d, int64_t serial)
{
    pthread_mutex_lock(&d->lock);
    if (d->reading && d->reading_serial < serial)
        store_interrupt(d->reading);
    pthread_mutex_unlock(&d->lock);
}

static bool is_heard(struct memory_desk *d, struct error *e)
{
    return !leaves(d) || err_set(e, ERR_INTERRUPTED, "the program ends");
}

/* NULL with `e` when the store cannot say, or nobody will hear it. */
static struct notice *describe_state(struct memory_desk *d, struct error *e)
{
    const struct wakeup wakeup = {.fd = mailbox_fd(d->box), .go_on = stays, .context = d};
    struct notice *n = notice_new(NOTICE_MEMORY_STATE);
    const struct chore *chore = &d->chore;
    bool waits = chore->why.code != ERR_OK;
    if (!is_heard(d, e) || !recall_stats(&d->answers.recall, &wakeup, &n->stats, e)) {
        notice_free(n);
        return NULL;
    }
    n->number = !chore->wanted ? -1 : chore->left > 0 ? chore->left : n->stats.missing;
    n->detail = waits ? mem_strdup(chore->why.text) : NULL;
    return n;
}

static struct notice *answer(struct memory_desk *d, const struct command *c)
{
    struct error e = {0};
    bool changed = false;
    if (!d->store)
        return memory_answer_fault(c, &d->fault);
    if (c->type == COMMAND_MEMORY_STATE) {
        struct notice *state = describe_state(d, &e);
        return state ? state : memory_answer_fault(c, &e);
    }
    struct notice *n = memory_answer(&d->answers, c, &changed);
    d->chore.wanted = d->chore.wanted || changed;
    d->purge.wanted = d->purge.wanted || c->type != COMMAND_MEMORY_SEARCH;
    return n;
}

/* What came of one that is out of date is not told. */
static void run_search(struct memory_desk *d, const struct errand *errand)
{
    set_reading(d, d->store, errand->serial);
    struct notice *n = superseded(d) ? NULL : answer(d, errand->command);
    set_reading(d, NULL, 0);
    if (n && !superseded(d))
        mailbox_push(d->notices, n);
    else
        notice_free(n);
}

static void run_errand(struct memory_desk *d, const struct errand *errand)
{
    if (errand->kind == WORK)
        d->chore.wanted = d->store != NULL;
    else if (is_search(errand))
        run_search(d, errand);
    else
        mailbox_push(d->notices, answer(d, errand->command));
}

/* --- work that waits -------------------------------------------------------------------------- */

/* A state that cannot be read is not told; who asks for it is told why. */
static void tell_state(struct memory_desk *d)
{
    struct error e;
    struct notice *n = describe_state(d, &e);
    d->chore.told = d->chore.wanted;
    d->chore.told_at_ms = clock_mono_ms();
    if (n)
        mailbox_push(d->notices, n);
}

static void work_done(struct memory_desk *d)
{
    bool told = d->chore.told;
    d->chore = (struct chore){.told_at_ms = d->chore.told_at_ms};
    if (told)
        tell_state(d);
}

static void work_goes_well(struct memory_desk *d, int64_t left)
{
    struct chore *chore = &d->chore;
    bool waited = chore->why.code != ERR_OK;
    chore->left = left;
    chore->at_ms = 0;
    chore->why = (struct error){0};
    if (waited || !chore->told || clock_mono_ms() - chore->told_at_ms >= TELL_EVERY_MS)
        tell_state(d);
}

static void work_waits(struct memory_desk *d, int retry_ms, const struct error *why)
{
    struct chore *chore = &d->chore;
    bool news = strcmp(chore->why.text, why->text) != 0;
    chore->at_ms = clock_mono_ms() + retry_ms;
    chore->why = *why;
    if (news)
        tell_state(d);
}

/* Whether it goes on at once. */
static bool purge_some(struct memory_desk *d)
{
    struct memory *m = d->answers.recall.memory;
    struct error e;
    bool more = false, ok = m->store->purge(m, &more, &e);
    d->purge =
        (struct purge){.wanted = more || !ok, .at_ms = ok ? 0 : clock_mono_ms() + PURGE_AGAIN_MS};
    return ok && more;
}

/* What another process's transaction keeps from being purged waits for the next time. */
static void finish_purge(struct memory_desk *d)
{
    d->leaving = true;
    for (bool more = d->purge.wanted; more;)
        more = purge_some(d);
}

static void do_chore(struct memory_desk *d)
{
    const struct wakeup wakeup = {.fd = mailbox_fd(d->box), .go_on = work_goes_on, .context = d};
    int64_t left = 0;
    int retry_ms = 0;
    struct error why = {0};
    switch (recall_work(&d->answers.recall, &wakeup, &left, &retry_ms, &why)) {
    case RECALL_IDLE:
        work_done(d);
        break;
    case RECALL_WORKED:
        work_goes_well(d, left);
        break;
    case RECALL_WAITS:
        work_waits(d, retry_ms, &why);
        break;
    }
}

/* --- the thread ------------------------------------------------------------------------------- */

static int time_until(bool wanted, int64_t at_ms)
{
    int64_t left = at_ms - clock_mono_ms();
    if (!wanted)
        return -1;
    return left > 0 ? (int)left : 0;
}

/* -1: there is nothing to do. */
static int time_to_work(const struct memory_desk *d)
{
    int purge = time_until(d->purge.wanted, d->purge.at_ms);
    int chore = time_until(d->chore.wanted, d->chore.at_ms);
    return purge < 0 || (chore >= 0 && chore < purge) ? chore : purge;
}

static void work(struct memory_desk *d)
{
    if (time_until(d->purge.wanted, d->purge.at_ms) == 0)
        purge_some(d);
    else if (time_until(d->chore.wanted, d->chore.at_ms) == 0)
        do_chore(d);
}

/* NULL: it is time to work. */
static struct errand *next_errand(struct memory_desk *d)
{
    take_waiting(d);
    if (d->waiting.len == 0) {
        struct errand *came = mailbox_wait(d->box, time_to_work(d));
        if (!came)
            return NULL;
        vec_push(&d->waiting, came);
    }
    struct errand *first = d->waiting.items[0];
    vec_remove(&d->waiting, 0, 1);
    return first;
}

static void open_store(struct memory_desk *d)
{
    if (!store_open(d->store_path, STORE_READ_WRITE, &d->store, &d->fault))
        return;
    store_set_patience(d->store, d->patience_ms, leaves, d); /* another process's transaction */
    recall_init(&d->answers.recall, d->config, d->store, d->directory);
    d->answers.recall.memory->lazy = true;
    d->purge.wanted = true; /* the program may have been killed last time */
}

static void *desk_main(void *arg)
{
    struct memory_desk *d = arg;
    open_store(d);
    for (;;) {
        struct errand *errand = next_errand(d);
        if (!errand) {
            work(d);
            continue;
        }
        bool quit = is_quit(errand);
        if (!quit)
            run_errand(d, errand);
        errand_free(errand);
        if (quit) {
            finish_purge(d);
            return NULL;
        }
    }
}

static void send(struct memory_desk *d, enum errand_kind kind, struct command *c)
{
    struct errand *errand = errand_new(kind, c);
    errand->serial = ++d->serial;
    mailbox_push(d->box, errand);
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
                              .box = mailbox_new(errand_free),
                              .patience_ms = PATIENCE_MS};
    pthread_mutex_init(&d->lock, NULL);
    d->answers = (struct memory_answers){.config = config, .project = d->project};
    d->answers.wakeup =
        (struct wakeup){.fd = mailbox_fd(d->box), .go_on = search_goes_on, .context = d};
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
    send(d, QUIT, NULL);
    interrupt_before(d, d->serial);
    pthread_join(d->thread, NULL);
    for (size_t i = 0; i < d->waiting.len; i++)
        errand_free(d->waiting.items[i]);
    vec_release(&d->waiting);
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
    mailbox_free(d->box);
    pthread_mutex_destroy(&d->lock);
    free(d->store_path);
    free(d->directory);
    free(d->project);
    free(d);
}

void memory_desk_ask(struct memory_desk *d, struct command *c)
{
    bool newer = c->type == COMMAND_MEMORY_SEARCH;
    send(d, ASKED, c);
    if (newer)
        interrupt_before(d, d->serial);
}

void memory_desk_work(struct memory_desk *d)
{
    send(d, WORK, NULL);
}
