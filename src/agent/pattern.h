/* POSIX extended regular expressions that a model wrote: only those that cannot hold up the thread
 * that matches them, which nothing can interrupt, or eat its memory. */
#ifndef AGENT_PATTERN_H
#define AGENT_PATTERN_H

#include <regex.h>
#include <stdbool.h>

#include "base/err.h"

/* Refuses, besides what regcomp() does, back references, repetitions that grow too large and loops
 * over what can be empty. Free it with regfree(). */
bool pattern_compile(regex_t *out, const char *text, bool ignore_case, struct error *e);

#endif
