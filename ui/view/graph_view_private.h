/* What the parts of the graph's tab share: graph_view.c (what is asked and answered, and its keys)
 * and graph_view_rows.c (what it looks like). Nobody else includes it. */
#ifndef UI_GRAPH_VIEW_PRIVATE_H
#define UI_GRAPH_VIEW_PRIVATE_H

#include "chat/knowledge.h"
#include "ui/text/editor.h"
#include "ui/view/graph_view.h"
#include "ui/view/outline.h"
#include "ui/view/remark.h"

enum { GRAPH_QUERY_BYTES = 1024, GRAPH_LISTED = 100 /* that are asked for at first */ };

/* What a row of an open entity is. */
struct graph_row {
    enum { ROW_ENTITY, ROW_OBSERVATION, ROW_OUT, ROW_IN } kind;
    size_t index; /* of the observation, or of the relation */
};

/* Where one has walked to, with the row that was chosen there. */
struct graph_step {
    char *name;
    size_t chosen;
};

struct graph_view {
    struct view view;
    struct editor *query;
    bool writing; /* keys go to the query */

    struct graph_part list; /* entities without observations, or those that were found */
    bool known;             /* an answer has come */
    bool searched;          /* the list answers a query */
    int limit;
    uint64_t asked; /* the newest request; 0: it was answered */
    struct outline *entities;

    VEC(struct graph_step) path; /* empty: the list is shown; the last one is open */
    struct graph_part open;      /* that entity, if it has come */
    VEC(struct graph_row) facts; /* its rows */
    uint64_t opening;            /* the request for it; 0: none is on its way */
    struct outline *outline;

    bool stale;       /* something was changed since it was asked for */
    int64_t asked_ms; /* clock_mono_ms() of that */
    bool asks_delete; /* yes or no */
    struct remark remark;

    int width, height;
    int top_rows;  /* above the list, as drawn last */
    int caret_col; /* of the query; -1: none */
    struct rows rows;
    char *text; /* that an opened row shows */
};

static inline struct graph_view *graph_view_of(struct view *view)
{
    return (struct graph_view *)view;
}

static inline bool graph_view_walks(const struct graph_view *v)
{
    return v->path.len > 0;
}

/* The open entity; NULL: it has not come. */
const struct graph_entity *graph_view_entity(const struct graph_view *v);

/* What is chosen: a row of the open entity, an entity of the list; NULL: nothing is. */
const struct graph_row *graph_view_fact(const struct graph_view *v);
const struct graph_entity *graph_view_listed(const struct graph_view *v);

/* graph_view_rows.c */
void graph_view_resize(struct view *view, int width, int height);
const struct rows *graph_view_rows(struct view *view);
bool graph_view_caret(const struct view *view, int *row, int *col);
void graph_entity_heading(void *view, size_t entity, const struct outline_look *look,
                          struct rows *out);
void graph_fact_heading(void *view, size_t row, const struct outline_look *look, struct rows *out);
struct outline_text graph_fact_text(void *view, size_t row);

#endif
