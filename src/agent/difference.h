/* What the change of a file looks like: as `diff -u` shows it, by the system's diff. */
#ifndef AGENT_DIFFERENCE_H
#define AGENT_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/wakeup.h"

struct difference {
    const char *path;    /* as it is shown */
    int old;             /* the file as it is, open for reading */
    const char *content; /* as it would be */
    int64_t deadline_ms;
    const struct wakeup *wakeup;
    size_t max; /* bytes of a difference */
};

/* Appends the difference. Where there is no diff, it fails or has more than `max` bytes, the whole
 * new content with a note of that. False when the wakeup said stop; `out` then holds that. */
bool difference_show(const struct difference *d, struct buf *out);

/* The same for a file that does not exist: every line is added. */
void difference_show_new(const char *path, const char *content, struct buf *out);

/* A text as `old`, which no disk gets to see where that can be had. -1 with errno. The caller
 * closes. */
int difference_open_text(const char *text, size_t len);

/* Of a text; the last one may lack its end. */
size_t difference_count_lines(const char *text);

#endif
