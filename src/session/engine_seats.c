#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/worker.h"
#include "session/conversation_private.h"

/* What an engine knows of its conversations. */

/* --- conversations ---------------------------------------------------------------------------- */

struct conversation *engine_add_conversation(struct engine *s)
{
    struct conversation *c = conversation_new(s);
    c->seat.used_ms = clock_mono_ms();
    vec_push(&s->conversations, c);
    return c;
}

/* One that retired is nobody's but its thread's. */
static void *agent_main(void *conversation)
{
    struct conversation *c = conversation;
    if (!conversation_run(c))
        return NULL;
    const struct seat seat = c->seat;
    conversation_free(c);
    if (seat.joins)
        pthread_join(seat.earlier, NULL);
    return NULL;
}

bool engine_start_conversation(struct conversation *c)
{
    c->seat.started = thread_start(&c->seat.thread, agent_main, c);
    return c->seat.started;
}

/* --- who has a session -------------------------------------------------------------------------
 */

struct conversation *engine_find_open(const struct engine *s, const char *session)
{
    for (size_t i = 0; session && *session && i < s->conversations.len; i++)
        if (strcmp(s->conversations.items[i]->seat.session, session) == 0)
            return s->conversations.items[i];
    return NULL;
}

bool engine_names_session(struct operation_request *r)
{
    char **named = operation_request_session(r);
    return named && *named && **named;
}

struct conversation *engine_find_named(const struct engine *s, struct operation_request *r)
{
    return engine_names_session(r) ? engine_find_open(s, *operation_request_session(r)) : NULL;
}

/* --- requests ----------------------------------------------------------------------------------
 */

bool engine_take_queued(struct engine *s, uint64_t id)
{
    for (size_t i = 0; i < s->queued.len; i++)
        if (s->queued.items[i] == id) {
            vec_remove(&s->queued, i, 1);
            return true;
        }
    return false;
}

static void give(struct conversation *c, struct operation_request *r)
{
    c->seat.claims += conversation_begins_turn(r->operation);
    c->seat.load++;
    conversation_send(c, r);
}

void engine_send(struct conversation *c, struct operation_request *r)
{
    vec_push(&c->engine->queued, r->id);
    give(c, r);
}

void engine_pass_on(struct conversation *from, struct conversation *to, struct operation_request *r)
{
    if (r->id == 0) { /* an order is for whom it was given */
        operation_request_free(r);
        return;
    }
    from->seat.claims -= conversation_begins_turn(r->operation);
    from->seat.load--;
    give(to, r);
}

void engine_move_requests(struct conversation *from, struct conversation *to)
{
    for (size_t i = 0; i < from->deferred.len; i++)
        engine_pass_on(from, to, from->deferred.items[i]);
    vec_clear(&from->deferred);
    for (struct operation_request *r; (r = mailbox_pop(from->requests));)
        engine_pass_on(from, to, r);
}

/* --- what conversations say --------------------------------------------------------------------
 */

void engine_note_session(struct conversation *c, const char *id)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    if (s->options.serves)
        engine_take_seat(c, id);
    else
        snprintf(c->seat.session, sizeof c->seat.session, "%s", id);
    pthread_mutex_unlock(&s->lock);
}

static void replace(char **old, const char *new)
{
    free(*old);
    *old = mem_strdup(new);
}

void engine_note_backend(struct conversation *c, const char *provider, const char *model)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    replace(&c->seat.provider, provider);
    replace(&c->seat.model, model);
    pthread_mutex_unlock(&s->lock);
}

bool engine_begin_request(struct conversation *c, const struct operation_request *r)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    bool wanted = engine_take_queued(s, r->id);
    pthread_mutex_unlock(&s->lock);
    return wanted;
}

void engine_request_over(struct conversation *c, uint64_t id, const struct operation *o)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    (void)engine_take_queued(s, id); /* it may have been refused */
    c->seat.claims -= conversation_begins_turn(o);
    c->seat.load--;
    c->seat.used_ms = clock_mono_ms();
    engine_make_room(s);
    pthread_mutex_unlock(&s->lock);
}

/* An engine with a conversation in front: which one a request goes to, and who comes to the front.
 */

/* --- requests ----------------------------------------------------------------------------------
 */

static struct conversation *find_spare_beside_front(struct engine *s)
{
    for (size_t i = 0; i < s->conversations.len; i++) {
        struct conversation *c = s->conversations.items[i];
        if (c != s->front && c->seat.load == 0 && !*c->seat.session)
            return c;
    }
    return NULL;
}

/* What the front has, so that the request means the same in another conversation. */
static void keep_meaning(const struct engine *s, struct operation_request *r)
{
    const struct seat *front = &s->front->seat;
    if (r->operation == &operation_session_create) {
        struct session_create_params *p = r->params;
        if (p->provider || p->model)
            return;
        p->provider = mem_strdup(front->provider);
        p->model = front->provider ? mem_strdup(front->model) : NULL;
    } else if (r->operation == &operation_session_fork && !engine_names_session(r)) {
        operation_request_name(r, front->session);
    }
}

static struct conversation *take_another(struct engine *s, struct operation_request *r)
{
    struct conversation *spare = find_spare_beside_front(s),
                        *c = spare ? spare : engine_add_conversation(s);
    keep_meaning(s, r);
    memcpy(c->seat.before, s->front->seat.session, sizeof c->seat.before);
    if (!spare && !engine_start_conversation(c))
        die("cannot start a thread");
    return c;
}

/* It looks whether it is done with. */
static void leave_front(struct engine *s, struct conversation *front)
{
    if (front != s->front)
        conversation_leave(s->front);
    s->front = front;
}

static bool opens(const struct operation *o)
{
    return o == &operation_session_create || o == &operation_session_open ||
           o == &operation_session_fork;
}

static struct conversation *who_opens(struct engine *s, struct operation_request *r)
{
    struct conversation *open =
        r->operation == &operation_session_open ? engine_find_named(s, r) : NULL;
    if (open)
        return open;
    return s->options.many && s->front->seat.claims > 0 ? take_another(s, r) : s->front;
}

/* Who has the session open that the request names, else the one in front, which changes others,
 * too; NULL: there it must be open. */
static struct conversation *who_does(struct engine *s, struct operation_request *r)
{
    struct conversation *open = engine_find_named(s, r);
    return open || (engine_names_session(r) && !r->operation->run) ? open : s->front;
}

bool engine_ask_front(struct engine *s, struct operation_request *r, struct error *e)
{
    bool opening = opens(r->operation);
    struct conversation *c = opening ? who_opens(s, r) : who_does(s, r);
    if (!c)
        return err_set(e, ERR_SESSION_NOT_FOUND, "session %.60s is not open",
                       *operation_request_session(r));
    if (opening)
        leave_front(s, c);
    engine_send(c, r);
    return true;
}

/* --- what conversations say --------------------------------------------------------------------
 */

void engine_tell_front(struct conversation *c, struct notice *n)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    bool in_front = s->options.serves || s->front == c;
    if (in_front)
        mailbox_push(s->notices, n);
    pthread_mutex_unlock(&s->lock);
    if (!in_front)
        notice_free(n);
}

bool engine_has_in_front(struct conversation *c)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    bool in_front = s->front == c;
    pthread_mutex_unlock(&s->lock);
    return in_front;
}

bool engine_is_done_with(struct conversation *c)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    bool done = s->front && s->front != c && c->seat.load == 0;
    pthread_mutex_unlock(&s->lock);
    return done;
}

bool engine_hand_over(struct conversation *c, const char *session, struct operation_request *r)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    struct conversation *to =
        s->ends || !s->front || s->front != c ? NULL : engine_find_open(s, session);
    bool another = to && to != c;
    if (another) {
        s->front = to;
        if (r)
            engine_pass_on(c, to, r);
        engine_move_requests(c, to);
    }
    pthread_mutex_unlock(&s->lock);
    return another;
}

/* An engine that serves: nothing is in front. A request goes to the conversation that has its
 * session, else to a spare one, which makes sure that no other has it (engine_claim()) and opens
 * it. A conversation has one session in its life; nobody needing it, it closes and ends. */

enum { SPARE_MS = 2000 }; /* without a session, before it ends */

/* --- requests ----------------------------------------------------------------------------------
 */

static bool needs_session(const struct operation *o)
{
    const struct shape_field *f = o->params ? o->params->fields : NULL;
    for (; f && f->name; f++)
        if (strcmp(f->name, SESSION_MEMBER) == 0)
            return f->presence == SHAPE_REQUIRED;
    return false;
}

static struct conversation *find_spare(const struct engine *s)
{
    for (size_t i = 0; i < s->conversations.len; i++) {
        struct conversation *c = s->conversations.items[i];
        if (c->seat.load == 0 && !c->seat.spent)
            return c;
    }
    return NULL;
}

static bool is_crowded(const struct engine *s)
{
    int64_t most = config_integer(s->config, CONFIG_SERVE_OPEN_SESSIONS);
    return s->options.serves && ((int64_t)s->conversations.len > most || s->waiting.len > 0);
}

/* Whether others that rest were used longer ago. */
static bool is_oldest(const struct engine *s, const struct conversation *c)
{
    for (size_t i = 0; i < s->conversations.len; i++) {
        const struct seat *other = &s->conversations.items[i]->seat;
        if (other->load == 0 && other->used_ms < c->seat.used_ms)
            return false;
    }
    return true;
}

void engine_make_room(const struct engine *s)
{
    for (size_t i = 0; i < s->conversations.len && is_crowded(s); i++) {
        struct conversation *c = s->conversations.items[i];
        if (c->seat.load == 0 && is_oldest(s, c)) {
            conversation_leave(c);
            return;
        }
    }
}

static struct conversation *start_another(struct engine *s, struct error *e)
{
    struct conversation *c = engine_add_conversation(s);
    c->tidies = !s->tidied;
    if (engine_start_conversation(c)) {
        s->tidied = true;
        engine_make_room(s);
        return c;
    }
    s->conversations.len--;
    conversation_free(c);
    err_set(e, ERR_AGENT_ERROR, "there is no thread to be had for another session; close some");
    return NULL;
}

static bool wait_for_room(struct engine *s, struct operation_request *r)
{
    if (s->conversations.len < s->most)
        return false;
    vec_push(&s->waiting, r);
    engine_make_room(s);
    return true;
}

bool engine_serve(struct engine *s, struct operation_request *r, struct error *e)
{
    struct conversation *c = engine_find_named(s, r);
    if (!c && needs_session(r->operation) && !engine_names_session(r))
        return err_set(e, ERR_USAGE,
                       "\"" SESSION_MEMBER "\" is missing; name the session that is meant");
    if (!c)
        c = find_spare(s);
    if (!c && wait_for_room(s, r))
        return true;
    if (!c)
        c = start_another(s, e);
    if (c)
        engine_send(c, r);
    return c;
}

/* --- what conversations say --------------------------------------------------------------------
 */

/* A conversation never changes its session: the requests in its mailbox were given to it because
 * they name that one. */
void engine_take_seat(struct conversation *c, const char *session)
{
    assert(!*c->seat.session || strcmp(c->seat.session, session) == 0);
    memcpy(c->seat.session, session, UUID_LEN + 1);
    c->seat.spent = true;
}

bool engine_claim(struct conversation *c, const char *session, struct operation_request *r)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    struct conversation *other = engine_find_open(s, session);
    bool mine = !other || other == c;
    if (mine)
        engine_take_seat(c, session);
    else
        engine_pass_on(c, other, r);
    pthread_mutex_unlock(&s->lock);
    return mine;
}

void engine_spend(struct conversation *c)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    c->seat.spent = true;
    pthread_mutex_unlock(&s->lock);
}

/* For how long it may still rest. */
static int64_t rest_of(const struct conversation *c, bool open)
{
    const struct engine *s = c->engine;
    if ((open && is_crowded(s) && is_oldest(s, c)) || (!open && c->seat.spent))
        return 0;
    int64_t rest_ms =
        open ? config_integer(s->config, CONFIG_SERVE_IDLE_MINUTES) * 60000 : SPARE_MS;
    int64_t left = c->seat.used_ms + rest_ms - clock_mono_ms();
    return left > 0 ? left : 0;
}

int engine_rest_wait(struct conversation *c, bool open)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    int64_t wait_ms = !s->options.serves || c->seat.load > 0 ? -1 : rest_of(c, open);
    pthread_mutex_unlock(&s->lock);
    return wait_ms > INT_MAX ? INT_MAX : (int)wait_ms;
}

bool engine_may_close(struct conversation *c, bool open)
{
    return engine_rest_wait(c, open) == 0;
}

/* What waited for room has some; what still has none waits on. */
static void serve_waiting(struct engine *s)
{
    size_t count = s->waiting.len;
    for (size_t i = 0; i < count && s->conversations.len < s->most; i++) {
        struct operation_request *r = s->waiting.items[0];
        struct error e;
        vec_remove(&s->waiting, 0, 1);
        if (!engine_serve(s, r, &e))
            engine_fail(s, r, &e);
    }
}

static void leave_list(struct engine *s, const struct conversation *c)
{
    for (size_t i = 0; i < s->conversations.len; i++)
        if (s->conversations.items[i] == c) {
            vec_remove(&s->conversations, i, 1);
            return;
        }
}

bool engine_retire(struct conversation *c)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    bool retires = !s->ends && c->seat.load == 0;
    if (retires) {
        leave_list(s, c);
        c->seat.joins = s->has_ended;
        c->seat.earlier = s->last_ended;
        s->last_ended = c->seat.thread;
        s->has_ended = true;
        serve_waiting(s);
        engine_make_room(s);
    }
    pthread_mutex_unlock(&s->lock);
    return retires;
}
