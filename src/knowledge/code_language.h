/* Programming languages by the ends of file names, and what tells where their code can be cut. */
#ifndef KNOWLEDGE_CODE_LANGUAGE_H
#define KNOWLEDGE_CODE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

struct code_language {
    const char *name;       /* "Python" */
    const char *files;      /* extensions and whole names, lower case, apart by blanks */
    const char *comments;   /* what a line of comment begins with, apart by blanks */
    const char *block_ends; /* … the last line of a block; NULL: a line that is less indented */
};

/* By a path's last part; NULL: none that is known. */
const struct code_language *code_language_of(const char *name);

/* In a list apart by blanks, whatever the case of the word. */
bool code_is_word_of(const char *list, const char *word);

/* Of one line without its end. */
size_t code_indentation(const char *line, size_t len); /* blanks and tabs */
bool code_is_comment(const struct code_language *l, const char *line, size_t len);
/* Whether a block may end between two lines that follow one another, neither of them blank. Of the
 * second the indentation is enough. */
bool code_ends_block(const struct code_language *l, const char *line, size_t len, const char *next,
                     size_t next_len);

#endif
