/* Colours for code: one small tokenizer, driven by a table of languages. It knows keywords,
 * comments, strings and numbers, nothing of grammar. */
#ifndef UI_HIGHLIGHT_H
#define UI_HIGHLIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/text/wrap.h"

enum {
    LANGUAGE_ANY_CASE = 1,   /* keywords in any case (SQL) */
    LANGUAGE_TAGS = 2,       /* <name and </name are keywords, quotes count only within tags */
    LANGUAGE_KEYS = 4,       /* a word before ": " is a keyword (YAML) */
    LANGUAGE_TRIPLE = 8,     /* three quotes begin a string of many lines (Python) */
    LANGUAGE_DIFF = 16,      /* the beginning of the line gives its style */
    LANGUAGE_VARIABLES = 32, /* $name is a keyword (shell) */
    LANGUAGE_SPACED = 64     /* # is a comment only after a space or at the line's beginning */
};

struct language {
    const char *names;    /* lower case, with blanks between them */
    const char *keywords; /* with blanks between them, sorted by strcmp(); lower case if in any
                             case; NULL: none */
    const char *line_comments[2];
    const char *block_open, *block_close;
    const char *quotes;      /* each begins a string that ends with the line */
    const char *long_quotes; /* each begins a string that may have many lines */
    unsigned flags;
};

extern const struct language languages[];
extern const size_t language_count;

/* The language that a fence's info string names; NULL: unknown. */
const struct language *language_find(const char *name, size_t len);

struct highlight {
    const struct language *language; /* NULL: all is STYLE_CODE */
    const char *until;               /* the end of the open comment or string; NULL: none is open */
    enum style inside;               /* its style */
    bool tag;                        /* within <…> */
};

/* Appends one line (without its newline) and carries the state over to the next. */
void highlight_line(struct highlight *h, struct styled *out, const char *line, size_t len);

#endif
