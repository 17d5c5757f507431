/* Cuts a byte stream into lines, whatever pieces it comes in. A line ends with LF, CR or CR LF; a
 * byte order mark at the very beginning is dropped. Pure: no clock, no I/O. */
#ifndef PROVIDER_LINES_H
#define PROVIDER_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum feed_result {
    FEED_OK,
    FEED_STOPPED,  /* the callback returned false */
    FEED_TOO_LARGE /* a line (or an event made of lines) past the maximum */
};

struct lines {
    struct buf rest; /* the beginning of a line whose end has not come */
    bool after_cr;
    unsigned mark; /* bytes of the byte order mark seen; past 3: it is behind us */
};

/* `line` is borrowed for the call and not NUL-terminated. */
typedef bool lines_fn(void *context, const char *line, size_t len);

void lines_init(struct lines *l, size_t max);
void lines_release(struct lines *l);

/* After anything but FEED_OK the stream is of no more use. */
enum feed_result lines_feed(struct lines *l, const char *bytes, size_t len, lines_fn *on_line,
                            void *context);

/* The stream is over: a last line without an end counts. */
enum feed_result lines_end(struct lines *l, lines_fn *on_line, void *context);

#endif
