/* Programming languages by the ends of file names, and what tells where their code can be cut. */
#ifndef KNOWLEDGE_DOCUMENT_LOADERS_H
#define KNOWLEDGE_DOCUMENT_LOADERS_H

#include <stdbool.h>
#include <stddef.h>

#include "knowledge/document.h"
#include "knowledge/markup.h"

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

/* The loaders of documents, a row a format (document.c), and what they have in common. */

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
    const char *begins;     /* … of a file whose name tells nothing (document.c); NULL: none */
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
enum document_outcome load_pdf(struct loading *l);
enum document_outcome load_command(struct loading *l);

/* Ends a loader: `e` gets the reason. */
enum document_outcome loading_fails(struct loading *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum document_outcome loading_skips(struct loading *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* DOCUMENT_LOADED: go on. Asked between pieces of work. */
enum document_outcome loading_goes_on(struct loading *l);

/* Makes `out->text` of the source: UTF-8, UTF-16 with its mark, else one byte a character. */
enum document_outcome loading_decode(struct loading *l);

/* What the document calls itself; nothing for nothing but white space. */
void loading_name(struct loading *l, const char *title, size_t len);

/* For what the text has from `at` to `end`, without the white space around it; nothing for nothing
 * but that. */
void loading_add_part(struct loading *l, struct document_part part, size_t at, size_t end);

/* The text of a document that is put together from marked-up pieces: blocks of one kind, in which
 * white space is as good as one blank. */

struct flow {
    struct loading *l;
    struct document_part block; /* kind, level, line of what is written now */
    size_t from;                /* where it begins in the text */
    bool gap;                   /* white space is due before what comes next */
    int rows;                   /* … of tables that are open, within one another */
    bool loose;                 /* the row had more in it than text, and is none any more */
    enum document_outcome outcome;
};

/* Ends the block that is written and begins another. Within a row of a table only paragraphs stay
 * in it: anything else dissolves it. */
void flow_begin(struct flow *f, enum document_part_kind kind, int level, int64_t line);
void flow_end(struct flow *f); /* what follows is prose */

void flow_begin_row(struct flow *f, int64_t line);
void flow_cell(struct flow *f);
void flow_end_row(struct flow *f);

/* Code keeps its white space. False: `outcome` says why there may be no more. */
bool flow_text(struct flow *f, const char *text, size_t len);
bool flow_newline(struct flow *f);
void flow_gap(struct flow *f);

/* Pages of HTML, as files and as chapters of books. */

enum { LOAD_HTML_TITLE = 1000 }; /* bytes of a title that are kept */

/* Adds the page's text. `title` (may be NULL) gets what it calls itself; the caller releases it.
 * What the source's read() refused is for the caller to know. */
enum document_outcome load_html_page(struct flow *flow, const struct markup_source *source,
                                     bool has_lines, struct buf *title);

#endif
