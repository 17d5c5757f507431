/* What the parts of the context screen share: context_view.c (what is asked, held and chosen) and
 * context_rows.c (what it looks like). Nobody else includes it. */
#ifndef UI_CONTEXT_VIEW_PRIVATE_H
#define UI_CONTEXT_VIEW_PRIVATE_H

#include "ui/view/context_view.h"
#include "ui/view/outline.h"
#include "ui/view/remark.h"
#include "ui/view/view.h"

/* Sums over the parts. */
struct context_sums {
    int64_t tokens[CONTEXT_KINDS];
    size_t going;  /* parts that a compaction now would drop */
    size_t cached; /* parts at the beginning that the provider has kept */
};

struct context_view {
    struct view view;
    struct outline *outline;
    char *text; /* that an opened part shows */
    struct context context;
    struct context_sums sums;
    bool known;   /* an answer has come */
    bool waiting; /* for one */
    bool stale;   /* what is held is out of date */
    int64_t asked_ms;

    bool asks_compact; /* yes or no */
    struct remark remark;

    int width, height;
    int head_rows; /* above the outline, as drawn last */
    struct rows rows;
};

/* context_rows.c */
void context_view_resize(struct view *view, int width, int height);
const struct rows *context_view_rows(struct view *view);
/* What an opened part shows: how it is left out, its cap, and all of it. The caller frees. */
char *context_part_text(const struct context_part *p);
void context_part_heading(void *view, size_t part, const struct outline_look *look,
                          struct rows *out);

#endif
