/* What the parts of the tab of learned memory share: learned_view.c (what is asked and answered,
 * and its keys) and learned_view_rows.c (what it looks like). Nobody else includes it. */
#ifndef UI_LEARNED_VIEW_PRIVATE_H
#define UI_LEARNED_VIEW_PRIVATE_H

#include "chat/knowledge.h"
#include "ui/text/editor.h"
#include "ui/view/learned_view.h"
#include "ui/view/outline.h"
#include "ui/view/remark.h"

enum { LEARNED_QUERY_BYTES = 1024 };

/* Where keys go. */
enum learned_place { LEARNED_IN_QUERY, LEARNED_IN_LIST, LEARNED_IN_TEXT, LEARNED_IN_QUESTION };

struct learned_view {
    struct view view;
    enum learned_place place;
    struct editor *query;
    struct editor *text; /* of the item that is changed */
    char *changed;       /* its id; NULL: none is */

    /* What is listed. */
    int scope; /* of enum learned_scope; -1: what was said, of project and user */
    int kind;  /* of enum learned_kind; -1: any */
    bool here, unused;

    struct learned_items list; /* by state, what waits first */
    struct outline *outline;
    bool known;            /* an answer has come */
    uint64_t asked;        /* the newest request; 0: it was answered */
    int64_t waits, active; /* of all; -1: not known */

    char *history_of; /* the id of the item whose history is shown; NULL: none */
    struct learned_items history;

    bool stale;       /* something was changed since it was asked for */
    int64_t asked_ms; /* clock_mono_ms() of that */
    struct remark remark;

    int width, height;
    int top_rows;  /* above the list, as drawn last */
    int caret_col; /* of the line that is written; -1: none */
    struct rows rows;
    char *opened; /* text of the row that is open */
};

static inline struct learned_view *learned_view_of(struct view *view)
{
    return (struct learned_view *)view;
}

/* What is chosen; NULL: nothing is. */
const struct learned_item *learned_view_chosen(const struct learned_view *v);

/* learned_view_rows.c */
void learned_view_resize(struct view *view, int width, int height);
const struct rows *learned_view_rows(struct view *view);
bool learned_view_caret(const struct view *view, int *row, int *col);
void learned_view_heading(void *view, size_t entry, const struct outline_look *look,
                          struct rows *out);
struct outline_text learned_view_text(void *view, size_t entry);

#endif
