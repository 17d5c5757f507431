#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "session/conversation_private.h"

/* An engine with a conversation in front: which one a request goes to, and who comes to the front.
 */

/* --- requests ----------------------------------------------------------------------------------
 */

static struct conversation *find_spare(struct engine *s)
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
    struct conversation *spare = find_spare(s), *c = spare ? spare : engine_add_conversation(s);
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
