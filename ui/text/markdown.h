/* Markdown that grows while it is shown → rows. What is finished is laid out once; only the
 * unfinished end is laid out again at each update. */
#ifndef UI_MARKDOWN_H
#define UI_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term/rows.h"
#include "ui/text/highlight.h"
#include "ui/text/wrap.h"

struct markdown_look {
    size_t width;                /* at least 1 */
    const struct styled *prefix; /* before every row that has text; NULL: nothing */
    enum style style;            /* of plain text */
    bool keep_lines;             /* a line break in a paragraph stays one */
};

/* Paragraphs, headings and lists are wrapped at this width on wider screens, with their prefix;
 * code and tables have the whole width. */
enum { MARKDOWN_PROSE_COLUMNS = 100 };

/* A piece that would get longer than this is cut at a line's or word's border. */
enum { MARKDOWN_PIECE_MAX = 8192 };

enum markdown_kind {
    MARKDOWN_BLOCKS,      /* paragraphs, headings, quotes, tables, … */
    MARKDOWN_ITEM,        /* one item of an outermost list, with all that is in it */
    MARKDOWN_ITEM_MORE,   /* goes on with an item that was cut: lines are indented by `indent` */
    MARKDOWN_TABLE_MORE,  /* goes on with a table that was cut; its head is [head, head_end) */
    MARKDOWN_FENCE,       /* the line that opens a code block */
    MARKDOWN_CODE,        /* a line of code, with its newline */
    MARKDOWN_FENCE_CLOSED /* the line that closes it */
};

struct markdown_piece {
    enum markdown_kind kind;
    size_t from, to;       /* bytes of the source */
    size_t indent;         /* columns of the item around it; of a fence: its own */
    size_t head, head_end; /* see MARKDOWN_TABLE_MORE */
    bool blank_before;     /* there is a blank line before it */
    bool same_list;        /* an item of the same list as the item before it */
};

/* Cuts a growing text into pieces that later text does not change. Where it cuts depends on the
 * text alone, not on when it is asked. Begins as {0}. */
struct markdown_split {
    struct markdown_piece piece; /* the piece that begins at piece.from; piece.to is not set */
    size_t scan;                 /* offset of the first line that is not read yet */
    size_t lines;                /* of the piece */
    size_t indent;               /* of the content of the open list item; 0: no list is open */
    char mark;                   /* of the open list: - * + . ) */
    bool blank;                  /* the line before `scan` is blank */
    bool table;                  /* the piece's second line makes it a table */
    char fence;                  /* ` or ~ within a code block, else 0 */
    size_t fence_len;
};

/* Finds the next finished piece of the source's first `len` bytes. With `complete` no more text
 * will come, and the last piece is finished, too. False: nothing is finished beyond s->piece.from.
 * The source may only have grown since the last call. Linear over all calls. */
bool markdown_split_next(struct markdown_split *s, const char *source, size_t len, bool complete,
                         struct markdown_piece *out);

struct markdown {
    struct markdown_look look;
    struct markdown_split split;
    struct rows *rows;
    struct rows_mark start;    /* where our rows begin */
    struct rows_mark finished; /* where those of the unfinished end begin */
    struct highlight code;     /* of the open code block */
    unsigned ordinal;          /* the open list's next number */
};

/* Appends rows to `rows`, after those that are there. The pointers in `look`, and `rows`, outlive
 * `m`; nobody else may append rows between two updates. */
void markdown_init(struct markdown *m, const struct markdown_look *look, struct rows *rows);

/* Brings the rows up to date with the source, of which the part seen before is unchanged.
 * `complete`: no more will come. The rows are the same however the source was cut into updates. */
void markdown_update(struct markdown *m, const char *source, size_t len, bool complete);

/* Drops the first `count` rows, or as many of them as will not change, whoever added them. Returns
 * how many it dropped. */
size_t markdown_drop_rows(struct markdown *m, size_t count);

/* The content of the last fenced code block, without its indentation; NULL: there is none. The
 * caller frees. */
char *markdown_last_code(const char *source, size_t len);

/* Code blocks → rows: a label, lines that are broken only where they are too long, and an end. */

/* Adds a row with the language's name, if the info string has one; returns the language for
 * highlight_line(). */
const struct language *markdown_code_label(struct rows *out, const char *info, size_t len,
                                           size_t width, const struct styled *first,
                                           const struct styled *rest);

/* Adds the row that ends a fenced block. */
void markdown_code_end(struct rows *out, size_t width, const struct styled *prefix);

/* Adds one line, given without its newline. */
void markdown_code_line(struct rows *out, struct highlight *h, const char *line, size_t len,
                        size_t width, const struct styled *prefix);

/* Adds the lines of a whole block. `first` is before the first row only. */
void markdown_code_lines(struct rows *out, const struct language *language, const char *text,
                         size_t len, size_t width, const struct styled *first,
                         const struct styled *rest);

#endif
