/* A surface in a test: the engine with the scripted model, requests in, notices out. Include
 * <cmocka.h> first. */
#ifndef TESTS_SURFACE_H
#define TESTS_SURFACE_H

#include <stdbool.h>

#include "session/capability.h"
#include "session/catalog.h"
#include "session/engine.h"
#include "session/session_operations.h"
#include "tests/model_server.h"
#include "tests/support.h"

#define SURFACE_MS (10000 * support_patience()) /* of every wait */

/* For cmocka_unit_test_setup_teardown(): a fresh home, a scripted server in OPENAI_BASE_URL, the
 * default configuration. */
int surface_setup(void **state);
int surface_teardown(void **state);

struct model_server *surface_server(void);
/* The number of requests to the scripted model, and the body of one of them, from 0. */
#define surface_requests() model_server_requests(surface_server())
#define surface_body(index) model_server_body(surface_server(), index)
#define surface_last_body() surface_body(surface_requests() - 1)
#define surface_set(key, value) assert_true(config_set(surface_config(), key, value, NULL))
struct config *surface_config(void);
const char *surface_store(void); /* path of the database, which does not exist at first */

/* Options of an engine on that store in the test's directory, with openai and "scripted-model",
 * compacting. */
struct engine_options surface_options(const char *resume, bool persist);
struct engine *surface_open(const char *resume, bool persist);

/* Sends a request: `text` is its main text (message, title, model, focus; else its only text). The
 * other functions also take a `name` (of a session, tool call, mode, provider), or a `number` for
 * the first member that is no text. */
uint64_t surface_send(struct engine *s, const struct operation *o, const char *text);
uint64_t surface_send_for(struct engine *s, const struct operation *o, const char *name,
                          const char *text, int64_t number);

/* The next notice, the next of this type, the next event of this type; others are dropped. Fails
 * the test after ten seconds. Every notice, answer and text that a function here returns lives
 * until surface_teardown(). */
struct notice *surface_next(struct engine *s);
struct notice *surface_expect(struct engine *s, enum notice_type type);
struct notice *surface_expect_event(struct engine *s, enum event_type type);
void surface_expect_idle(struct engine *s);

/* The answer to a request, which may have failed; other notices are dropped. */
struct operation_answer *surface_call(struct engine *s, const struct operation *o,
                                      const void *params);

/* The next successful answer to this operation, the next that changed or forked a session, the next
 * failed answer or notice; and their contents. */
struct notice *surface_expect_answer(struct engine *s, const struct operation *o);
struct notice *surface_expect_changed(struct engine *s);
struct notice *surface_expect_failure(struct engine *s);
const char *surface_changed(const struct notice *n); /* its id */
const struct context *surface_context(const struct notice *n);
bool surface_failed(const struct notice *n);
const struct error *surface_error(const struct notice *n);
const char *surface_text(const struct notice *n); /* main text of the request, as in
                                                   * surface_send() */

/* The next failure must have this code, and return this text unless it is NULL. */
void surface_expect_error(struct engine *s, enum err_code code, const char *text);

/* Sends a message and waits for the whole answer. */
const char *surface_ask(struct engine *s, const char *text);

/* The sessions in the store, read through a catalog of its own. */
void surface_list(struct session_list *out);
bool surface_read(const char *reference, struct session_info *info,
                  bool (*visit)(void *context, const struct event *ev), void *context,
                  struct error *e);

#endif
