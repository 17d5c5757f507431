/* Conversations that go on while another is shown: which work, and which wait for an answer. */
#ifndef UI_APP_BACKGROUND_H
#define UI_APP_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/vec.h"

struct notice;

struct background_session {
    char id[UUID_LEN + 1];
    char *title;
    bool waits;  /* for the person's answer; else it works */
    bool failed; /* its turn ended with an error */
};

/* In the order in which they were left. Zeroed: none. */
struct background {
    VEC(struct background_session) items;
};

void background_release(struct background *b);

/* Adds it behind the others if it is not there. The pointer is valid until the next change. */
struct background_session *background_put(struct background *b, const char *id, const char *title);
struct background_session *background_find(const struct background *b, const char *id);
bool background_remove(struct background *b, const char *id); /* false: it is not there */

/* The number of sessions other than `but`. */
size_t background_count(const struct background *b, const char *but);

/* The first other session that waits, else the first that works; NULL: there is none. */
const struct background_session *background_next(const struct background *b, const char *from);

/* Appends "2 working, 1 waits for you" for all sessions other than `but`. Returns whether one
 * waits. */
bool background_describe(const struct background *b, const char *but, struct buf *out);

/* Whether the notice is about another session than the one that is shown. */
bool background_means(const struct notice *n, const char *shown);

/* Applies such a notice to its session; an ended session stays in the list. */
enum background_news {
    BACKGROUND_NOTHING,
    BACKGROUND_ASKS,
    BACKGROUND_GOES_ON, /* it does not wait any more */
    BACKGROUND_ENDED
};
enum background_news background_take(struct background *b, const struct notice *n);

#endif
