/* An engine that serves, in a test: the surface names each session. Wants <cmocka.h>. */
#ifndef TESTS_SERVED_H
#define TESTS_SERVED_H

#include "session/conversation_operations.h"
#include "tests/surface.h"

extern struct engine *served;       /* that was opened last */
extern struct error served_refusal; /* of the last request that was refused */

/* With all tools, and a surface that can be asked. */
void served_open(bool persist);

/* The answer to a request that is done, which the caller frees. / One that is refused with this
 * code. */
struct operation_answer *served_done(const struct operation *o, const void *params);
void served_refused(const struct operation *o, const void *params, enum err_code code);

/* A session, in the engine's directory or this one. */
void served_create(char id[UUID_LEN + 1]);
void served_create_in(const char *directory, char id[UUID_LEN + 1]);

/* A turn in it, whose answer is the expected one. */
void served_ask(const char *session, const char *text, const char *expected);

/* A directory of that name below the test's, resolved, with a file note.txt that has the name as
 * its text. The caller frees. */
char *served_place(const char *name);
void served_make_file(const char *path, const char *text);

#endif
