#include "session/memory_errands.h"

#include <stdlib.h>

#include "base/mem.h"

void errand_free(void *item)
{
    struct errand *errand = item;
    if (errand)
        command_free(errand->command);
    free(errand);
}

bool errand_is_search(const struct errand *errand)
{
    return errand->kind == ERRAND_ASKED && errand->command->type == COMMAND_MEMORY_SEARCH;
}

static bool is_quit(const void *item)
{
    return ((const struct errand *)item)->kind == ERRAND_QUIT;
}

void errands_init(struct errands *q)
{
    *q = (struct errands){.box = mailbox_new(errand_free)};
    pthread_mutex_init(&q->lock, NULL);
}

void errands_release(struct errands *q)
{
    for (size_t i = 0; i < q->waiting.len; i++)
        errand_free(q->waiting.items[i]);
    vec_release(&q->waiting);
    mailbox_free(q->box);
    pthread_mutex_destroy(&q->lock);
}

/* --- the search that runs --------------------------------------------------------------------- */

static void set_reading(struct errands *q, struct store *s, int64_t serial)
{
    pthread_mutex_lock(&q->lock);
    q->reading = s;
    q->reading_serial = serial;
    pthread_mutex_unlock(&q->lock);
}

void errands_begin_search(struct errands *q, struct store *s, const struct errand *search)
{
    set_reading(q, s, search->serial);
}

void errands_end_search(struct errands *q)
{
    set_reading(q, NULL, 0);
}

/* Ends a search that is older: the thread may be at the new one already. */
static void interrupt_before(struct errands *q, int64_t serial)
{
    pthread_mutex_lock(&q->lock);
    if (q->reading && q->reading_serial < serial)
        store_interrupt(q->reading);
    pthread_mutex_unlock(&q->lock);
}

/* --- sending and taking ----------------------------------------------------------------------- */

void errands_send(struct errands *q, enum errand_kind kind, struct command *command)
{
    struct errand *errand = mem_alloc(sizeof *errand);
    *errand = (struct errand){.kind = kind, .command = command, .serial = ++q->serial};
    bool ends_search = kind == ERRAND_QUIT || errand_is_search(errand);
    mailbox_push(q->box, errand);
    if (ends_search)
        interrupt_before(q, q->serial);
}

static void take_waiting(struct errands *q)
{
    struct errand *errand;
    while ((errand = mailbox_pop(q->box)))
        vec_push(&q->waiting, errand);
}

struct errand *errands_next(struct errands *q, int timeout_ms)
{
    take_waiting(q);
    if (q->waiting.len == 0) {
        struct errand *came = mailbox_wait(q->box, timeout_ms);
        if (!came)
            return NULL;
        vec_push(&q->waiting, came);
    }
    struct errand *first = q->waiting.items[0];
    vec_remove(&q->waiting, 0, 1);
    q->leaving = q->leaving || is_quit(first);
    return first;
}

/* --- what is out of date ---------------------------------------------------------------------- */

bool errands_have_newer(struct errands *q)
{
    take_waiting(q);
    for (size_t i = 0; i < q->waiting.len; i++)
        if (errand_is_search(q->waiting.items[i]) || is_quit(q->waiting.items[i]))
            return true;
    return false;
}

/* It may have been taken out of the box already, behind what is being done. */
bool errands_say_leave(void *errands)
{
    struct errands *q = errands;
    for (size_t i = 0; i < q->waiting.len; i++)
        if (is_quit(q->waiting.items[i]))
            return true;
    return q->leaving || mailbox_has(q->box, is_quit);
}

static bool search_goes_on(void *errands)
{
    return !errands_have_newer(errands);
}

static bool nothing_waits(void *errands)
{
    struct errands *q = errands;
    take_waiting(q);
    return q->waiting.len == 0;
}

static bool stays(void *errands)
{
    take_waiting(errands); /* whoever sleeps looks at the box */
    return !errands_say_leave(errands);
}

static struct wakeup wakeup_of(struct errands *q, bool (*go_on)(void *errands))
{
    return (struct wakeup){.fd = mailbox_fd(q->box), .go_on = go_on, .context = q};
}

struct wakeup errands_until_newer(struct errands *q)
{
    return wakeup_of(q, search_goes_on);
}

struct wakeup errands_until_any(struct errands *q)
{
    return wakeup_of(q, nothing_waits);
}

struct wakeup errands_until_leave(struct errands *q)
{
    return wakeup_of(q, stays);
}
