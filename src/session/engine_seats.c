#include <stdlib.h>
#include <string.h>

#include "base/die.h"
#include "base/mem.h"
#include "base/thread.h"
#include "session/conversation_private.h"

/* What an engine knows of its conversations. */

/* --- conversations ---------------------------------------------------------------------------- */

struct conversation *engine_add_conversation(struct engine *s)
{
    struct conversation *c = conversation_new(s);
    vec_push(&s->conversations, c);
    return c;
}

static void *agent_main(void *conversation)
{
    conversation_run(conversation);
    return NULL;
}

void engine_start_conversation(struct conversation *c)
{
    if (!thread_start(&c->seat.thread, agent_main, c))
        die("cannot start a thread");
    c->seat.started = true;
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

void engine_send(struct conversation *c, struct operation_request *r)
{
    c->seat.claims += conversation_begins_turn(r->operation);
    conversation_send(c, r);
}

static void move_request(struct conversation *from, struct conversation *to,
                         struct operation_request *r)
{
    from->seat.claims -= conversation_begins_turn(r->operation);
    engine_send(to, r);
}

void engine_move_requests(struct conversation *from, struct conversation *to)
{
    for (size_t i = 0; i < from->deferred.len; i++)
        move_request(from, to, from->deferred.items[i]);
    vec_clear(&from->deferred);
    for (struct operation_request *r; (r = mailbox_pop(from->requests));)
        move_request(from, to, r);
}

/* --- what conversations say --------------------------------------------------------------------
 */

void engine_note_session(struct conversation *c, const char *id)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    memset(c->seat.session, 0, sizeof c->seat.session);
    memcpy(c->seat.session, id, strnlen(id, UUID_LEN));
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

void engine_turn_over(struct conversation *c)
{
    struct engine *s = c->engine;
    pthread_mutex_lock(&s->lock);
    c->seat.claims -= c->seat.claims > 0;
    pthread_mutex_unlock(&s->lock);
}
