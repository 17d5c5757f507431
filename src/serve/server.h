/* The loop that all surfaces for other programs share: one thread that waits for descriptors,
 * times, and what the engine tells. Surfaces (JSON-RPC, HTTP, MCP, ACP) are callers of it and of
 * the table of operations, and know nothing of one another. All functions are called on its thread,
 * and may be called from within any callback but server_free(). */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "session/engine.h"

struct server;

/* How long a stop waits for turns to end and for readers to take what was written for them. */
enum { SERVER_STOP_MS = 1500 };

/* Descriptors for 4,096 clients, and as many for sessions: databases, locks, pipes of commands. */
enum { SERVER_DESCRIPTORS = 8192 };

/* The engine's options are copied but for what engine_new() borrows. */
struct server *server_new(const struct engine_options *options);

/* False: sessions cannot be kept, though they should be. Before the surfaces begin. */
bool server_open_store(struct server *s, struct error *e);

/* Ends the engine, after the surfaces. Calls are not answered any more; watches, listeners and
 * timers that are left are freed. NULL is fine. */
void server_free(struct server *s);

const struct config *server_config(const struct server *s);
const struct engine_options *server_options(const struct server *s); /* server_new()'s */
const struct tails *server_tails(const struct server *s);            /* notification.h */
const struct questions *server_questions(const struct server *s);    /* notification.h */

/* Goes on until nobody holds it, or until it is stopped. Running turns are interrupted then (what
 * came of them is kept), what was asked is answered, and what waits to be written is written, for
 * SERVER_STOP_MS at most. The exit status. */
int server_run(struct server *s);

/* Begins the end. A surface takes no more requests from then on. */
void server_stop(struct server *s);
bool server_stopping(const struct server *s);

/* A surface that is to hear when the end begins, and has more to write then than its watches show.
 * `is_written` NULL: it has not. Gone with server_remove_stop(). */
struct stop_handler;
struct stop_handler *server_on_stop(struct server *s, void (*stop)(void *context),
                                    bool (*is_written)(void *context), void *context);
void server_remove_stop(struct server *s, struct stop_handler *end); /* NULL is fine */

/* Surfaces and clients keep the loop alive; the last one to let go stops it. */
void server_hold(struct server *s);
void server_unhold(struct server *s);

/* --- descriptors and times ---------------------------------------------------------------------
 */

/* `events` as of poll(); `ready` also gets POLLERR, POLLHUP and POLLNVAL, and must take away what
 * caused them. The descriptor stays the caller's. */
struct watch;
struct watch *server_watch(struct server *s, int fd, short events,
                           void (*ready)(void *context, short revents), void *context);
void watch_events(struct watch *w, short events);
void server_unwatch(struct server *s, struct watch *w); /* NULL is fine */

/* Calls `due` once, `ms` from now. The timer is gone then, or when it is taken back. */
struct timer;
struct timer *server_after(struct server *s, int ms, void (*due)(void *context), void *context);
void server_cancel_timer(struct server *s, struct timer *t); /* NULL is fine */

/* --- the engine --------------------------------------------------------------------------------
 */

/* `done` gets the answer once, borrowed, from the loop (never from within server_ask()); NULL:
 * nobody wants it. Returns an id to withdraw the call by, which is never 0. */
typedef void server_answered(void *context, const struct operation_answer *a);
uint64_t server_ask(struct server *s, const struct operation *o, const void *params,
                    server_answered *done, void *context);

/* Bytes that an operation may read from or write to its stream here, where they stay in memory. */
#define SERVER_TEXT_MAX ((size_t)32 * 1024 * 1024)

/* server_ask() for any row: one that needs a stream, or writes beside the engine, runs on another
 * thread with a connection of its own. `text`: what the row reads from its stream; NULL: nothing.
 * The answer has the text that the row writes. Returns 0 with AGENT_ERROR where too many wait. */
uint64_t server_ask_with(struct server *s, const struct operation *o, const void *params,
                         const char *text, server_answered *done, void *context, struct error *e);

/* `done` is not called any more. A call that changes something is carried out all the same. */
void server_withdraw(struct server *s, uint64_t id);

/* server_withdraw() for a call that nobody wants carried out any more. Returns whether no
 * conversation had begun it, and none will. */
bool server_cancel(struct server *s, uint64_t id);

/* Hears every notice but answers, borrowed, in the order of the engine. */
struct listener;
struct listener *server_listen(struct server *s,
                               void (*notice)(void *context, const struct notice *n),
                               void *context);
void server_unlisten(struct server *s, struct listener *l); /* NULL is fine */

#endif
