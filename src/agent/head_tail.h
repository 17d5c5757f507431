/* The beginning and the end of an output that may be endless. */
#ifndef AGENT_HEAD_TAIL_H
#define AGENT_HEAD_TAIL_H

#include <stddef.h>

#include "base/buf.h"

struct head_tail {
    size_t half; /* bytes of either */
    struct buf head, tail;
    size_t dropped; /* bytes between them */
};

/* Keeps about `max` bytes. */
void head_tail_init(struct head_tail *h, size_t max);
void head_tail_release(struct head_tail *h);
void head_tail_add(struct head_tail *h, const char *bytes, size_t len);

/* Appends what was kept, cleaned (utf8_clean()) and at most `max` bytes, with a note of a line
 * where something was left out. */
void head_tail_show(const struct head_tail *h, struct buf *out);

/* Leaves at most `max` bytes of the beginning, whole characters, with a note behind them. */
void head_tail_cut(struct buf *text, size_t max);

#endif
