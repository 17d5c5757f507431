/* The loaders of documents, a row for each format (document.c), and their common functions. */
#ifndef KNOWLEDGE_DOCUMENT_LOADERS_H
#define KNOWLEDGE_DOCUMENT_LOADERS_H

#include "knowledge/document.h"

/* One file while it is loaded. */
struct loading {
    const struct document_options *options;
    const struct loader *loader;
    const char *name;    /* as the caller has it */
    const char *command; /* of load_command() */
    int fd;              /* open for reading at its beginning; -1: the source is in memory */
    int64_t size;        /* of the file when it was opened */
    int64_t deadline_ms; /* clock_mono_ms() */
    struct buf source;   /* the whole file, for loaders that are `whole` */
    struct loaded_document *out;
    struct error *e;
};

struct loader {
    const char *format;
    const char *extensions; /* lower case, apart by blanks */
    const char *begins;     /* first bytes of such a file, for one without a known extension
                               (document.c); NULL: none */
    bool whole;             /* reads `source`, not the descriptor */
    enum document_outcome (*load)(struct loading *l);
};

enum document_outcome load_plain_text(struct loading *l);
enum document_outcome load_markdown(struct loading *l);
enum document_outcome load_code(struct loading *l);
enum document_outcome load_html(struct loading *l);
enum document_outcome load_docx(struct loading *l);
enum document_outcome load_odt(struct loading *l);
enum document_outcome load_epub(struct loading *l);

/* End a loader: `e` gets the reason. */
enum document_outcome loading_fails(struct loading *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum document_outcome loading_skips(struct loading *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* DOCUMENT_LOADED: go on. Called between pieces of work. */
enum document_outcome loading_goes_on(struct loading *l);

/* Sets the document's title unless it has one or this one is blank. */
void loading_name(struct loading *l, const char *title, size_t len);

/* Adds a part for the text from `at` to `end`, without white space around it; none for nothing but
 * white space. */
void loading_add_part(struct loading *l, struct document_part part, size_t at, size_t end);

/* ---- flow: text from marked-up pieces (load_html.c) ---- */

/* A text of blocks, each of one kind. White space within a block is one blank. */
struct flow {
    struct loading *l;
    struct document_part block; /* kind, level, line of the block that is written */
    size_t from;                /* where it begins in the text */
    bool gap;                   /* white space is due before the next text */
    int rows;                   /* … of tables that are open, within one another */
    bool loose;                 /* the row had more in it than text, and is no row any more */
    enum document_outcome outcome;
};

/* Ends the block and begins another. Within a row of a table only paragraphs stay in it: anything
 * else dissolves it. */
void flow_begin(struct flow *f, enum document_part_kind kind, int level, int64_t line);
void flow_end(struct flow *f); /* prose follows */

void flow_begin_row(struct flow *f, int64_t line);
void flow_cell(struct flow *f);
void flow_end_row(struct flow *f);

/* Code keeps its white space. False: no more may be added, for the reason in `outcome`. */
bool flow_text(struct flow *f, const char *text, size_t len);
bool flow_newline(struct flow *f);
void flow_gap(struct flow *f);

/* ---- programming languages (load_text.c) ---- */

struct code_language {
    const char *name;       /* "Python" */
    const char *files;      /* extensions and whole names, lower case, apart by blanks */
    const char *comments;   /* beginnings of a line of comment, apart by blanks */
    const char *block_ends; /* … of the last line of a block; NULL: a line that is less indented */
};

/* By a path's last part; NULL: none that is known. */
const struct code_language *code_language_of(const char *name);

/* Whether the word is in a list apart by blanks, whatever its case. */
bool code_is_word_of(const char *list, const char *word);

/* For one line without its end. */
size_t code_indentation(const char *line, size_t len); /* blanks and tabs */
bool code_is_comment(const struct code_language *l, const char *line, size_t len);
/* Whether a block may end between two adjacent lines that are not blank. Of the second the
 * indentation is enough. */
bool code_ends_block(const struct code_language *l, const char *line, size_t len, const char *next,
                     size_t next_len);

/* Appends the names that the code defines, one on each line. */
void code_names_add(const struct code_language *l, const char *text, struct buf *out);

#endif
