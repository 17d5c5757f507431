/* Two kinds of patterns: globs, names of files as a shell or git writes them (*, ?, [a-z], {c,h},
 * directories of any depth), and regular expressions of Perl's kind (PCRE2), looked for in one line
 * at a time, which can be stopped whatever they cost, and whose memory is bounded. */
#ifndef AGENT_PATTERN_H
#define AGENT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"

struct glob {
    VEC(char *) patterns;
};

/* Fails when the braces stand for too many. */
bool glob_read(struct glob *g, const char *text, struct error *e);
void glob_release(struct glob *g);

/* A pattern without a slash is compared with the last component of the path, one with a slash with
 * the path. A star stands for slashes, too. */
bool glob_matches(const struct glob *g, const char *path);

struct regex;

/* NULL and USAGE, with the place of the fault, when it cannot be used. `go_on` is asked again and
 * again while a line is looked at; false ends that. */
struct regex *regex_new(const char *pattern, bool ignore_case, bool (*go_on)(void *context),
                        void *context, struct error *e);
void regex_free(struct regex *r);

enum regex_result {
    REGEX_FOUND,
    REGEX_ABSENT,
    REGEX_STOPPED, /* go_on() said no */
    REGEX_TOO_MUCH /* more steps, or more memory, than a line may take */
};

/* A line without its newline; bytes that are no UTF-8 match nothing. `at` is where the match
 * begins. */
enum regex_result regex_find(struct regex *r, const char *line, size_t len, size_t *at);

#endif
