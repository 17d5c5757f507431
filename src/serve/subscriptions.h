/* Which sessions a client hears of, and from which event on: what its log has first, then what
 * comes, nothing twice and nothing missed. */
#ifndef SERVE_SUBSCRIPTIONS_H
#define SERVE_SUBSCRIPTIONS_H

#include "serve/server.h"

/* Of a session that was heard of by chance, from now on. */
enum { SUBSCRIBE_NOW = -1 };

struct subscription_sink {
    /* What the client is to hear, borrowed: notices of its sessions, and those of none. */
    void (*tell)(void *context, const struct notice *n);
    /* Whether the client takes more of a log now; asked again after some time. */
    bool (*takes_more)(void *context);
    /* The log cannot be read: there is no such session, or it is damaged. It is not subscribed. */
    void (*failed)(void *context, const char *session, const struct error *e);
};

struct subscriptions;
struct subscriptions *subscriptions_new(struct server *s, const struct subscription_sink *sink,
                                        void *context);
void subscriptions_free(struct subscriptions *s); /* NULL is fine */

/* Events behind `since` (0: all), else SUBSCRIBE_NOW. `session` is an id. One that is subscribed
 * already begins anew, with SUBSCRIBE_NOW it goes on. Whether it was not. */
bool subscriptions_add(struct subscriptions *s, const char *session, int64_t since);
bool subscriptions_remove(struct subscriptions *s, const char *session); /* whether it was there */

/* Every session there is, from now on. */
void subscriptions_all(struct subscriptions *s, bool all);

#endif
