/* A change of a file: the texts before and after it, as the log keeps them; and the difference of
 * two texts, as `diff -u` writes it. Pure. */
#ifndef CHAT_CHANGE_H
#define CHAT_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/shape.h"

enum {
    CHANGE_WHOLE = 64 * 1024, /* bytes; texts up to this length are kept whole */
    CHANGE_MAX = 256 * 1024,  /* bytes; at most so much of each text is kept */
    CHANGE_CONTEXT = 3        /* equal lines before and after a change */
};

/* If a text has more than CHANGE_WHOLE bytes, both texts are only the lines from the first
 * difference to the last one, with CHANGE_CONTEXT lines around them. */
struct file_change {
    char *before; /* NULL: there was no file */
    char *after;  /* NULL: no change is known */
    int64_t
        line; /* number of the line in the file with which both texts begin; 0: they are whole */
};
extern const struct shape change_shape;

/* Keeps the change of `before` (NULL: there was no file) to `after` in a zeroed struct. It stays
 * zeroed if the texts are equal, if one of them is not UTF-8 without NUL, or if more than
 * CHANGE_MAX bytes of one would have to be kept. */
void change_keep(struct file_change *c, const struct buf *before, const struct buf *after);

/* Lines that a difference adds and removes. */
struct difference_size {
    size_t added, removed;
};

/* Appends the hunks of the difference as `diff -u` writes them; nothing for equal texts. `line`:
 * the line of the file with which both texts begin. The comparison of texts with little in common
 * is bounded to some 100 ms; their difference may be longer than necessary. */
struct difference_size difference_write(struct buf *out, const struct buf *before,
                                        const struct buf *after, int64_t line);

/* The same for a change, whose `after` is not NULL. */
struct difference_size change_difference(const struct file_change *c, struct buf *out);

#endif
