/* Where a growing Markdown text can be cut into pieces that later text does not change, so that
 * each is laid out once. Pure: where it cuts depends on the text alone, not on when it is asked. */
#ifndef UI_MARKDOWN_SPLIT_H
#define UI_MARKDOWN_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

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
    size_t indent;         /* columns of the item that it is part of; of a fence: its own */
    size_t head, head_end; /* see MARKDOWN_TABLE_MORE */
    bool blank_before;     /* there is a blank line before it */
    bool same_list;        /* an item of the list that the item before it is of */
};

struct markdown_split {
    struct markdown_piece piece; /* what [piece.from, …) is so far; piece.to is not set */
    size_t scan;                 /* lines before this are looked at */
    size_t lines;                /* of the piece */
    size_t indent;               /* of the content of the open list item; 0: no list is open */
    char mark;                   /* of the open list: - * + . ) */
    bool blank;                  /* the line before `scan` is blank */
    bool table;                  /* the piece's second line makes it a table */
    char fence;                  /* ` or ~ inside of a code block, else 0 */
    size_t fence_len;
};

void markdown_split_init(struct markdown_split *s);

/* Finds the next finished piece of the source's first `len` bytes. With `complete` no more text
 * will come, and the last piece is finished, too. False: nothing is finished beyond s->piece.from.
 * The source may have grown since the last call, and nothing else. Linear over all calls. */
bool markdown_split_next(struct markdown_split *s, const char *source, size_t len, bool complete,
                         struct markdown_piece *out);

#endif
