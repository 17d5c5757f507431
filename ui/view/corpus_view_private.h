/* What the parts of the tab of corpora share: corpus_view.c (what is asked and answered, and its
 * keys) and corpus_view_rows.c (what it looks like). Nobody else includes it. */
#ifndef UI_CORPUS_VIEW_PRIVATE_H
#define UI_CORPUS_VIEW_PRIVATE_H

#include "chat/knowledge.h"
#include "ui/text/editor.h"
#include "ui/view/corpus_view.h"
#include "ui/view/outline.h"
#include "ui/view/remark.h"

enum { CORPUS_VIEW_QUERY_BYTES = 1024, CORPUS_VIEW_LISTED = 500 /* rows of a level */ };

/* What a level has: one walks from corpora over the documents of one to the passages of one; at the
 * top a query finds passages, and those that the model was given stand below CITED. */
enum corpus_level { LEVEL_CORPORA, LEVEL_FOUND, LEVEL_CITED, LEVEL_DOCUMENTS, LEVEL_PASSAGES };

enum corpus_row_kind { ROW_CITED, ROW_CORPUS, ROW_FAILED, ROW_DOCUMENT, ROW_PASSAGE };

struct corpus_row {
    enum corpus_row_kind kind;
    size_t index; /* in the list of its kind */
};

struct corpus_view {
    struct view view;
    struct editor *query;
    bool writing; /* keys go to the query */

    enum corpus_level level;
    char *corpus; /* of LEVEL_DOCUMENTS and below; NULL: passages were come to from elsewhere */
    char *file;   /* of LEVEL_PASSAGES */
    int64_t document, chunk; /* likewise; the passage that is to be chosen when they come */
    enum corpus_level from;  /* where Backspace leads from passages */
    int wanted;              /* citation that is to be opened when it comes; 0: none */
    int64_t cited_before;    /* event before which `cited` was given; 0: last of all */

    struct corpus_list corpora;
    struct corpus_passages cited;
    struct corpus_found found;
    struct corpus_documents documents, failed;
    struct corpus_passages passages;
    VEC(struct corpus_row) rows_of; /* the level's */
    bool known;                     /* an answer has come */
    uint64_t asked, asked_more;     /* newest requests; 0: answered */
    struct outline *outline;

    char *progress; /* of an ingest or of vectors; NULL: none goes on */
    bool asks_remove;
    struct remark remark;

    int width, height;
    int top_rows;  /* above the list, as drawn last */
    int caret_col; /* of the query; -1: none */
    struct rows rows;
    char *text; /* that an opened row shows */
};

static inline struct corpus_view *corpus_view_of(struct view *view)
{
    return (struct corpus_view *)view;
}

static inline bool corpus_view_has_query(const struct corpus_view *v)
{
    return v->level == LEVEL_CORPORA || v->level == LEVEL_FOUND;
}

/* NULL: nothing is chosen. */
const struct corpus_row *corpus_view_chosen(const struct corpus_view *v);
/* The passage of a row; NULL: it is none. */
const struct corpus_passage *corpus_view_passage(const struct corpus_view *v,
                                                 const struct corpus_row *r);

/* corpus_view_rows.c */
void corpus_view_resize(struct view *view, int width, int height);
const struct rows *corpus_view_rows(struct view *view);
bool corpus_view_caret(const struct view *view, int *row, int *col);
void corpus_row_heading(void *view, size_t row, const struct outline_look *look, struct rows *out);
struct outline_text corpus_row_text(void *view, size_t row);

#endif
