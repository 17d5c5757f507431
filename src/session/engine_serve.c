#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/conversation_private.h"

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
