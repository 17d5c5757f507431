/* What sessions ask and nobody has answered yet (approval/requested, draft/requested), for clients
 * that come later: who asked may have gone. Pure. */
#ifndef SERVE_QUESTIONS_H
#define SERVE_QUESTIONS_H

#include "session/notice.h"

struct question {
    char session[UUID_LEN + 1];
    const char *method; /* static */
    char *params;       /* JSON */
};

struct questions;
struct questions *questions_new(void);
void questions_free(struct questions *q); /* NULL is fine */

/* To be called with every notice, in order. */
void questions_note(struct questions *q, const struct notice *n);

/* All of them; NULL past the last. Borrowed likewise. */
const struct question *questions_at(const struct questions *q, size_t index);

/* NULL: the session asks nothing. Borrowed until the next notice. */
const struct question *questions_of(const struct questions *q, const char *session);

/* Whether a notice asks, and whether it ends what its session asks. */
bool question_begins(const struct notice *n);
bool question_ends(const struct notice *n);

#endif
