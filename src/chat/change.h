/* A change of a file: its texts before and after, as the log keeps them, and the difference of two
 * texts as people read it. Pure. */
#ifndef CHAT_CHANGE_H
#define CHAT_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/shape.h"

enum {
    CHANGE_WHOLE = 64 * 1024, /* bytes of a text up to which all of it is kept */
    CHANGE_MAX = 256 * 1024,  /* bytes that are kept of each text at most */
    CHANGE_CONTEXT = 3        /* lines around those that differ */
};

/* Of a longer text the lines from the first to the last that differ are kept, and those around
 * them. */
struct file_change {
    char *before; /* NULL: there was no file */
    char *after;  /* NULL: no change is known */
    int64_t line; /* of the file, with which both texts begin; 0: they are whole */
};
extern const struct shape change_shape;

/* Keeps the change of `before` (NULL: there was no file) to `after` in a zeroed struct. It stays
 * zeroed if the texts are equal, if one is no text (UTF-8 without NUL), or if more than CHANGE_MAX
 * bytes would have to be kept. */
void change_keep(struct file_change *c, const struct buf *before, const struct buf *after);

/* Lines that a difference adds and removes. */
struct difference_size {
    size_t added, removed;
};

/* Appends the hunks of the difference as `diff -u` writes them; nothing for equal texts. `line`: of
 * the file, with which both texts begin. Texts that have little in common are not compared to the
 * end: a difference takes some 100 ms at most, and may then be longer than necessary. */
struct difference_size difference_write(struct buf *out, const struct buf *before,
                                        const struct buf *after, int64_t line);

/* The same of a change that is known. */
struct difference_size change_difference(const struct file_change *c, struct buf *out);

#endif
