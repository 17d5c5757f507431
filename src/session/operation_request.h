/* What a surface asked of the engine, and the answer to it. Both are whole and immutable once they
 * are sent; who pops one frees it. */
#ifndef SESSION_OPERATION_REQUEST_H
#define SESSION_OPERATION_REQUEST_H

#include <stdint.h>

#include "base/entropy.h"
#include "base/err.h"
#include "session/operation.h"

struct operation_request {
    uint64_t id; /* of the engine's counting, from 1 */
    const struct operation *operation;
    void *params;               /* struct of the row's shape; NULL: it takes none */
    char session[UUID_LEN + 1]; /* that it is for, or that was in front; "": none */
};

/* Copies the parameters. */
struct operation_request *operation_request_new(const struct operation *o, const void *params);
void operation_request_free(struct operation_request *r); /* NULL is fine */

/* Where the parameters name a session; NULL: they do not. */
char **operation_request_session(struct operation_request *r);
void operation_request_name(struct operation_request *r, const char *session);

struct operation_answer {
    struct operation_request *request; /* what was asked: nothing is lost */
    void *result;       /* struct of the row's shape; NULL: it gives none, or failed */
    struct error error; /* ERR_OK: it was done */
};

/* Takes the request. The result is empty. */
struct operation_answer *operation_answer_new(struct operation_request *r);
void operation_answer_free(struct operation_answer *a); /* NULL is fine */

/* Fails it: the result is released. */
void operation_answer_fail(struct operation_answer *a, const struct error *e);

bool operation_answers(const struct operation_answer *a, const struct operation *o);

#endif
