/* The text of a document that is put together from marked-up pieces: blocks of one kind, in which
 * white space is as good as one blank. */
#ifndef KNOWLEDGE_FLOW_H
#define KNOWLEDGE_FLOW_H

#include "knowledge/document_loaders.h"

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

#endif
