/* What streamed of each session and is not in its log yet: the log has the pieces of an answer
 * joined, and up to a second late. With it, who begins to follow a session misses no piece and gets
 * none twice. Pure. */
#ifndef SERVE_TAILS_H
#define SERVE_TAILS_H

#include "session/notice.h"

struct tails;
struct tails *tails_new(void);
void tails_free(struct tails *t);

/* To be called with every notice, in order. */
void tails_note(struct tails *t, const struct notice *n);

/* The newest event of the session's running turn that is surely in its log; 0: none runs, and all
 * is. */
int64_t tails_kept(const struct tails *t, const char *session);

/* What streamed behind that and behind `after`, as one delta with the number of its last piece.
 * NULL: nothing. The caller frees. */
struct event *tails_after(const struct tails *t, const char *session, int64_t after);

#endif
