/* An answer in parts, so that a mode can insert hostile bytes between them. Each function returns
 * false if the client has gone. */
#ifndef TESTS_HOSTILE_ANSWER_H
#define TESTS_HOSTILE_ANSWER_H

#include "tests/hostile/server.h"

/* Head and first events. The model's name is inside a JSON string, the tokens are JSON. */
bool answer_begin(struct peer *p);
bool answer_begin_as(struct peer *p, const char *model, const char *tokens);

/* A piece of text, inside a JSON string. */
bool answer_text(struct peer *p, const char *text);

/* The last events. The reason is inside a JSON string, the tokens are JSON. */
bool answer_end(struct peer *p);
bool answer_end_as(struct peer *p, const char *stop, const char *in, const char *out);

/* A text again and again; the caller frees. */
char *answer_repeat(const char *text, long count);

#endif
