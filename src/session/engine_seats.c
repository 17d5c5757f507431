#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/engine_private.h"

enum { SPARE_MS = 2000 }; /* a conversation without a session ends after that */

static pthread_mutex_t *lock(struct engine *s)
{
    pthread_mutex_lock(&s->lock);
    return &s->lock;
}

static void unlock(pthread_mutex_t **held)
{
    pthread_mutex_unlock(*held);
}

#define HOLD_LOCK(s) AUTO(unlock) pthread_mutex_t *held = lock(s)

/* --- requests --------------------------------------------------------------------------------- */

struct seat *engine_find_open(const struct engine *s, const char *session)
{
    for (size_t i = 0; session && *session && i < s->seats.len; i++)
        if (strcmp(s->seats.items[i]->session, session) == 0)
            return s->seats.items[i];
    return NULL;
}

const char *engine_named(struct operation_request *r)
{
    char **named = operation_request_session(r);
    return named && *named && **named ? *named : NULL;
}

bool engine_take_queued(struct engine *s, uint64_t id)
{
    for (size_t i = 0; i < s->queued.len; i++)
        if (s->queued.items[i] == id) {
            vec_remove(&s->queued, i, 1);
            return true;
        }
    return false;
}

static void give(struct seat *seat, struct operation_request *r)
{
    seat->claims += r->operation->busy != BUSY_NOT;
    seat->load++;
    mailbox_push(seat->requests, r);
}

void engine_send(struct seat *seat, struct operation_request *r)
{
    vec_push(&seat->engine->queued, r->id);
    give(seat, r);
}

/* Gives on a request that `from` has not begun; an order is for its receiver alone. */
static void pass_on(struct seat *from, struct seat *to, struct operation_request *r)
{
    if (r->id == 0) {
        operation_request_free(r);
        return;
    }
    from->claims -= r->operation->busy != BUSY_NOT;
    from->load--;
    give(to, r);
}

const struct operation order_look = {.name = "look"}, order_quit = {.name = "quit"};

void engine_order(struct seat *seat, const struct operation *order)
{
    mailbox_push(seat->requests, operation_request_new(order, NULL));
}

bool engine_begin_request(struct seat *seat, const struct operation_request *r)
{
    HOLD_LOCK(seat->engine);
    return engine_take_queued(seat->engine, r->id);
}

void engine_request_over(struct seat *seat, uint64_t id, const struct operation *o)
{
    HOLD_LOCK(seat->engine);
    (void)engine_take_queued(seat->engine, id); /* it may have been refused */
    seat->claims -= o->busy != BUSY_NOT;
    seat->load--;
    seat->used_ms = clock_mono_ms();
    engine_make_room(seat->engine);
}

void engine_answer(struct engine *s, struct operation_answer *a, const char *session)
{
    if (a->request->id == 0) {
        operation_answer_free(a);
        return;
    }
    struct notice *n = notice_new(NOTICE_ANSWER);
    n->answer = a;
    notice_name_session(n, session);
    mailbox_push(s->notices, n);
}

void engine_fail(struct engine *s, struct operation_request *r, const struct error *e)
{
    struct operation_answer *a = operation_answer_new(r);
    operation_answer_fail(a, e);
    engine_answer(s, a, r->session);
}

/* --- which session a conversation has --------------------------------------------------------- */

/* In an engine that serves a conversation never changes its session: the requests in its mailbox
 * were given to it because they name that one. */
static void take_seat(struct seat *seat, const char *session)
{
    assert(!*seat->session || strcmp(seat->session, session) == 0);
    memcpy(seat->session, session, UUID_LEN + 1);
    seat->spent = true;
}

void engine_note_session(struct seat *seat, const char *id)
{
    HOLD_LOCK(seat->engine);
    if (seat->engine->options.serves)
        take_seat(seat, id);
    else
        snprintf(seat->session, sizeof seat->session, "%s", id);
}

void engine_note_backend(struct seat *seat, const char *provider, const char *model)
{
    HOLD_LOCK(seat->engine);
    free(seat->provider);
    free(seat->model);
    seat->provider = mem_strdup(provider);
    seat->model = mem_strdup(model);
}

bool engine_claim(struct seat *seat, const char *session, struct operation_request *r)
{
    HOLD_LOCK(seat->engine);
    struct seat *other = engine_find_open(seat->engine, session);
    bool mine = !other || other == seat;
    if (mine)
        take_seat(seat, session);
    else
        pass_on(seat, other, r);
    return mine;
}

void engine_spend(struct seat *seat)
{
    HOLD_LOCK(seat->engine);
    seat->spent = true;
}

/* --- which conversation is in front ----------------------------------------------------------- */

void engine_tell_front(struct seat *seat, struct notice *n)
{
    struct engine *s = seat->engine;
    HOLD_LOCK(s);
    if (s->options.serves || s->front == seat)
        mailbox_push(s->notices, n);
    else
        notice_free(n);
}

bool engine_has_in_front(struct seat *seat)
{
    HOLD_LOCK(seat->engine);
    return seat->engine->front == seat;
}

bool engine_is_done_with(struct seat *seat)
{
    HOLD_LOCK(seat->engine);
    return seat->engine->front && seat->engine->front != seat && seat->load == 0;
}

bool engine_hand_over(struct seat *seat, const char *session, struct operation_request *r)
{
    struct engine *s = seat->engine;
    HOLD_LOCK(s);
    struct seat *to = s->ends || s->front != seat ? NULL : engine_find_open(s, session);
    if (!to || to == seat)
        return false;
    s->front = to;
    if (r)
        pass_on(seat, to, r);
    for (size_t i = 0; i < seat->deferred.len; i++)
        pass_on(seat, to, seat->deferred.items[i]);
    vec_clear(&seat->deferred);
    while ((r = mailbox_pop(seat->requests)))
        pass_on(seat, to, r);
    return true;
}

/* --- how long a conversation stays that has nothing to do ------------------------------------- */

static bool is_crowded(const struct engine *s)
{
    int64_t most = config_integer(s->config, CONFIG_SERVE_OPEN_SESSIONS);
    return s->options.serves && ((int64_t)s->seats.len > most || s->waiting.len > 0);
}

/* No other idle conversation was used longer ago. */
static bool is_oldest(const struct engine *s, const struct seat *seat)
{
    for (size_t i = 0; i < s->seats.len; i++)
        if (s->seats.items[i]->load == 0 && s->seats.items[i]->used_ms < seat->used_ms)
            return false;
    return true;
}

void engine_make_room(const struct engine *s)
{
    for (size_t i = 0; i < s->seats.len && is_crowded(s); i++) {
        struct seat *seat = s->seats.items[i];
        if (seat->load == 0 && is_oldest(s, seat)) {
            engine_order(seat, &order_look);
            return;
        }
    }
}

int engine_rest_wait(struct seat *seat, bool open)
{
    struct engine *s = seat->engine;
    HOLD_LOCK(s);
    if (!s->options.serves || seat->load > 0)
        return -1;
    if (open ? is_crowded(s) && is_oldest(s, seat) : seat->spent || s->waiting.len > 0)
        return 0; /* a request that waits gets another conversation */
    int64_t rest_ms =
        open ? config_integer(s->config, CONFIG_SERVE_IDLE_MINUTES) * 60000 : SPARE_MS;
    int64_t left = seat->used_ms + rest_ms - clock_mono_ms();
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

bool engine_retire(struct seat *seat)
{
    struct engine *s = seat->engine;
    HOLD_LOCK(s);
    if (s->ends || seat->load > 0)
        return false;
    size_t at = 0;
    while (s->seats.items[at] != seat)
        at++;
    vec_remove(&s->seats, at, 1);
    seat->joins = s->has_ended;
    seat->earlier = s->last_ended;
    s->last_ended = seat->thread;
    s->has_ended = true;
    s->serve_waiting(s);
    engine_make_room(s);
    return true;
}
