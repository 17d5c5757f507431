/* An engine that serves several sessions; the surface names the session of each request. Include
 * <cmocka.h> first. */
#ifndef TESTS_SERVED_H
#define TESTS_SERVED_H

#include "session/conversation_operations.h"
#include "tests/surface.h"

extern struct engine *served;       /* the engine that was opened last */
extern struct error served_refusal; /* error of the last refused request */

/* Opens an engine with all tools, and a surface that answers questions. The teardown closes it. */
void served_open(bool persist);
void served_close(void);
int served_teardown(void **state);

/* The answer to a request that must succeed. / The request must be refused with this code. */
struct operation_answer *served_done(const struct operation *o, const void *params);
void served_refused(const struct operation *o, const void *params, enum err_code code);

/* Creates a session, in the engine's directory or this one. */
void served_create(char id[UUID_LEN + 1]);
void served_create_in(const char *directory, char id[UUID_LEN + 1]);

/* Runs a turn, whose answer must be the expected one. */
void served_ask(const char *session, const char *text, const char *expected);

/* Makes a directory of that name below the test's, resolved, with a file note.txt whose text is the
 * name. The caller frees the path. */
char *served_place(const char *name);
void served_make_file(const char *path, const char *text);

#endif
