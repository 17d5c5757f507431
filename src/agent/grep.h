/* The system's grep over a text: whatever the pattern costs, it can be stopped. */
#ifndef AGENT_GREP_H
#define AGENT_GREP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/wakeup.h"

enum { GREP_MAX_TEXT = 512 /* most bytes of a line that are told */ };

struct grep {
    const char *pattern; /* a POSIX extended regular expression */
    bool ignore_case;
    int64_t deadline_ms;         /* clock_mono_ms() */
    const struct wakeup *wakeup; /* NULL: none */
};

enum grep_end { GREP_DONE, GREP_INTERRUPTED, GREP_TIMED_OUT, GREP_FAILED };

/* Whether there is a grep that takes the pattern. Only GREP_FAILED sets `e`. */
enum grep_end grep_check(const struct grep *g, struct error *e);

struct grep_lines {
    const struct buf *text; /* without NUL; every line ends in LF */
    bool only_matches;      /* each match of a line instead of the line; none that is empty */
    /* A line that matches, from 1, in their order; false: no more is wanted. */
    bool (*line)(void *context, size_t number, const char *text, size_t len);
    void *context;
};

/* Only GREP_FAILED sets `e`. */
enum grep_end grep_run(const struct grep *g, const struct grep_lines *lines, struct error *e);

#endif
