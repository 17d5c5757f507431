/* Markdown that grows while it is shown → rows. What is finished is laid out once; only the
 * unfinished end is laid out again at each update. */
#ifndef UI_MARKDOWN_H
#define UI_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term/rows.h"
#include "ui/text/highlight.h"
#include "ui/text/markdown_blocks.h"
#include "ui/text/markdown_split.h"

struct markdown {
    struct markdown_look look;
    struct markdown_split split;
    struct rows *rows;
    struct rows_mark start;    /* where our rows begin */
    struct rows_mark finished; /* where those of the unfinished end begin */
    struct highlight code;     /* of the open code block */
    unsigned ordinal;          /* the open list's next number */
};

/* Rows are appended to `rows`, after what is there. What `look` points to and `rows` outlive it;
 * nobody else may append rows between two updates. */
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

#endif
