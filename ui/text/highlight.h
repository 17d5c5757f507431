/* Colours for code: one small tokenizer, driven by a table of languages. It knows keywords,
 * comments, strings and numbers, nothing of grammar. */
#ifndef UI_HIGHLIGHT_H
#define UI_HIGHLIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/text/wrap.h"

enum {
    LANGUAGE_ANY_CASE = 1,   /* keywords in any case (SQL) */
    LANGUAGE_TAGS = 2,       /* <name and </name are keywords, quotes count only inside of tags */
    LANGUAGE_KEYS = 4,       /* a word before ": " is a keyword (YAML) */
    LANGUAGE_TRIPLE = 8,     /* three quotes begin a string of many lines (Python) */
    LANGUAGE_DIFF = 16,      /* the line's first character tells */
    LANGUAGE_VARIABLES = 32, /* $name is a keyword (shell) */
    LANGUAGE_SPACED = 64     /* # is a comment only after a space or at the line's beginning */
};

struct language {
    const char *names;    /* parted by blanks, the label's first; in small letters */
    const char *keywords; /* likewise, sorted by strcmp(); small letters if any case; or NULL */
    const char *line_comments[2];
    const char *block_open, *block_close;
    const char *quotes;      /* each begins a string that ends with the line */
    const char *long_quotes; /* each begins a string that goes on over line ends */
    unsigned flags;
};

extern const struct language languages[];
extern const size_t language_count;

/* The language of a fence's info string; NULL: none that is known. */
const struct language *language_find(const char *name, size_t len);

struct highlight {
    const struct language *language; /* NULL: all is STYLE_CODE */
    const char *until;               /* what ends the comment or string that is open; NULL: none */
    enum style inside;               /* its style */
    bool tag;                        /* inside of <…> */
};

/* Appends one line (without its newline) and carries the state over to the next. */
void highlight_line(struct highlight *h, struct styled *out, const char *line, size_t len);

#endif
