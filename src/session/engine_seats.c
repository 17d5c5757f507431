#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
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
