#include "serve/subscriptions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "serve/tails.h"
#include "session/session_operations.h"

enum {
    PAGE_EVENTS = 200,
    FULL_MS = 50, /* until a slow reader is asked again */
    AGAIN_MAX = 3 /* readings of a log that lacks what was told; then it does not keep that */
};

struct subscription {
    struct subscriptions *all;
    char session[UUID_LEN + 1];
    int64_t seen;  /* number of the newest event that was told */
    bool replays;  /* the log is being read */
    uint64_t page; /* that was asked for; 0: none */
    struct timer *wait;
    int again;
};

struct subscriptions {
    struct server *server;
    const struct subscription_sink *sink;
    void *context;
    struct listener *listener;
    VEC(struct subscription *) items;
    bool every;
};

static struct subscription *find(const struct subscriptions *s, const char *session)
{
    for (size_t i = 0; i < s->items.len; i++)
        if (strcmp(s->items.items[i]->session, session) == 0)
            return s->items.items[i];
    return NULL;
}

/* --- what comes ------------------------------------------------------------------------------- */

static bool is_new(struct subscription *one, const struct event *ev)
{
    if (one->replays || ev->seq <= one->seen)
        return false;
    one->seen = ev->seq;
    return true;
}

static void on_notice(void *context, const struct notice *n)
{
    struct subscriptions *s = context;
    struct subscription *one = find(s, n->session);
    bool hears = one || s->every || !*n->session;
    if (hears && (n->type != NOTICE_EVENT || !one || is_new(one, n->event)))
        s->sink->tell(s->context, n);
}

/* --- what the log has ------------------------------------------------------------------------- */

static void tell_event(struct subscription *one, struct event *borrowed)
{
    struct notice n = {.type = NOTICE_EVENT, .event = borrowed};
    memcpy(n.session, one->session, sizeof n.session);
    one->seen = borrowed->seq;
    one->all->sink->tell(one->all->context, &n);
}

static void go_live(struct subscription *one)
{
    struct event *tail = tails_after(server_tails(one->all->server), one->session, one->seen);
    if (tail)
        tell_event(one, tail);
    event_free(tail);
    one->replays = false;
}

static void ask_page(void *subscription);

static void stop_reading(struct subscription *one)
{
    server_withdraw(one->all->server, one->page);
    server_take_back(one->all->server, one->wait);
    one->page = 0;
    one->wait = NULL;
}

static void forget(struct subscription *one)
{
    struct subscriptions *s = one->all;
    stop_reading(one);
    for (size_t i = s->items.len; i-- > 0;)
        if (s->items.items[i] == one)
            vec_remove(&s->items, i, 1);
    free(one);
}

/* False: it is a piece that the tail has, which may be joined in the log. */
static bool tell_kept(struct subscription *one, struct event *ev, int64_t kept)
{
    bool is = kept == 0 || ev->seq <= kept;
    if (is)
        tell_event(one, ev);
    return is;
}

static void tell_page(struct subscription *one, const struct session_history_result *page)
{
    int64_t kept = tails_kept(server_tails(one->all->server), one->session), had = one->seen;
    bool more = page->more;
    for (size_t i = 0; i < page->events.items.len; i++)
        if (!tell_kept(one, page->events.items.items[i], kept))
            more = false;
    one->again = one->seen > had ? 0 : one->again + 1;
    if (more || (kept > one->seen && one->again < AGAIN_MAX))
        ask_page(one);
    else
        go_live(one);
}

static void on_page(void *context, const struct operation_answer *a)
{
    struct subscription *one = context;
    one->page = 0;
    if (a->error.code == ERR_OK) {
        tell_page(one, a->result);
        return;
    }
    one->all->sink->failed(one->all->context, one->session, &a->error);
    forget(one);
}

static void ask_page(void *subscription)
{
    struct subscription *one = subscription;
    struct subscriptions *s = one->all;
    one->wait = NULL;
    if (!s->sink->takes_more(s->context)) {
        one->wait = server_after(s->server, FULL_MS, ask_page, one);
        return;
    }
    const struct session_history_params p = {
        .session = one->session, .after = one->seen, .limit = PAGE_EVENTS};
    one->page = server_ask(s->server, &operation_session_history, &p, on_page, one);
}

/* --- the list --------------------------------------------------------------------------------- */

struct subscriptions *subscriptions_new(struct server *s, const struct subscription_sink *sink,
                                        void *context)
{
    struct subscriptions *made = mem_alloc(sizeof *made);
    made->server = s;
    made->sink = sink;
    made->context = context;
    made->listener = server_listen(s, on_notice, made);
    return made;
}

void subscriptions_free(struct subscriptions *s)
{
    if (!s)
        return;
    while (s->items.len > 0)
        forget(vec_last(&s->items));
    vec_release(&s->items);
    server_deafen(s->server, s->listener);
    free(s);
}

bool subscriptions_add(struct subscriptions *s, const char *session, int64_t since)
{
    struct subscription *one = find(s, session);
    bool is_new = !one;
    if (one && since == SUBSCRIBE_NOW)
        return false;
    if (is_new) {
        one = mem_alloc(sizeof *one);
        one->all = s;
        memcpy(one->session, session, strnlen(session, UUID_LEN));
        vec_push(&s->items, one);
    }
    stop_reading(one);
    one->replays = since != SUBSCRIBE_NOW;
    one->seen = one->replays ? since : 0;
    one->again = 0;
    if (one->replays)
        ask_page(one);
    return is_new;
}

bool subscriptions_remove(struct subscriptions *s, const char *session)
{
    struct subscription *one = find(s, session);
    if (one)
        forget(one);
    return one;
}

void subscriptions_all(struct subscriptions *s, bool all)
{
    s->every = all;
}
