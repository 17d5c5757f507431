/* The texts of many files, searched by one grep. */
#ifndef AGENT_GREP_BATCH_H
#define AGENT_GREP_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/grep.h"
#include "base/buf.h"
#include "base/vec.h"

struct grep_batch_file {
    char *path;
    size_t end; /* of it in the text of the batch */
};

/* Zeroed but for `text`, which is BUF_INIT. */
struct grep_batch {
    struct buf text; /* every line ends in LF, as grep wants it */
    VEC(struct grep_batch_file) files;
};

/* Borrowed from the batch. */
struct grep_match {
    const char *path;
    size_t number; /* of the line in its file, from 1 */
    const char *line;
    size_t len;
    size_t at; /* where the match begins; 0 in a line that is short enough to be shown whole */
};

typedef VEC(struct grep_match) grep_matches;

/* Lines of `text`, which has no NUL, end in LF or CR LF. */
void grep_batch_add(struct grep_batch *b, const char *path, const char *text, size_t len);
bool grep_batch_is_full(const struct grep_batch *b);
void grep_batch_clear(struct grep_batch *b);
void grep_batch_release(struct grep_batch *b);

/* The first matches, `most` of them at the most; lines up to `whole` bytes are shown whole. There
 * may be some whatever the end. Only GREP_FAILED sets `e`. */
enum grep_end grep_batch_search(const struct grep_batch *b, const struct grep *g, size_t most,
                                size_t whole, grep_matches *out, struct error *e);

#endif
