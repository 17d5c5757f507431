/* The lines of a text that match a pattern. */
#ifndef AGENT_LINE_SEARCH_H
#define AGENT_LINE_SEARCH_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_search {
    const regex_t *pattern;
    /* A line that matches, from 1; the first match begins at `at`. False: no more is wanted. */
    bool (*found)(void *context, int64_t number, const char *line, size_t len, size_t at);
    /* Asked often; false ends the search. */
    bool (*go_on)(void *context);
    void *context;
};

/* `text` has a NUL behind its end and is changed meanwhile. Lines end in LF or CR LF, which is not
 * part of them. In a long line a match of more than 256 bytes may be missed: it is looked at in
 * pieces, because nothing can stop regexec(). False when one of the functions said so. */
bool line_search_run(const struct line_search *s, char *text, size_t len);

#endif
