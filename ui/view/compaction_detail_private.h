/* What the parts of an opened card share: compaction_detail.c (what is asked, held and chosen) and
 * compaction_detail_rows.c (what it looks like). Nobody else includes it. */
#ifndef UI_COMPACTION_DETAIL_PRIVATE_H
#define UI_COMPACTION_DETAIL_PRIVATE_H

#include "chat/rebuild.h"
#include "ui/transcript/item.h"
#include "ui/transcript/messages.h"
#include "ui/view/compaction_detail.h"
#include "ui/view/outline.h"
#include "ui/view/remark.h"
#include "ui/view/view.h"

/* What an entry of the outline is; `index` is of a message. */
enum detail_kind {
    DETAIL_SUMMARY,
    DETAIL_SHORTENED_HEADING,
    DETAIL_SHORTENED,
    DETAIL_DROPPED_HEADING,
    DETAIL_DROPPED,
    DETAIL_MORE /* is being asked for, or could not be had */
};
struct detail_entry {
    enum detail_kind kind;
    size_t index;
};

struct compaction_detail {
    struct view view;
    int64_t seq;
    struct event *completed; /* NULL: not known yet */
    struct item *card;       /* with its outcome; NULL likewise */
    struct dropped shortened, dropped;
    VEC(struct detail_entry) entries;
    struct outline *outline;
    bool waiting, more, failed;
    bool quotes_forgotten; /* its summary */
    int64_t place; /* of the next page */

    struct remark remark;

    int width, height;
    int head_rows; /* above the outline, as drawn last */
    struct rows rows;
};

/* NULL: the entry is no message. */
const struct dropped_message *detail_message(const struct compaction_detail *d, size_t entry);

/* Asks for the next page, if there is one and none is on its way. */
void detail_want_more(struct compaction_detail *d);

/* compaction_detail_rows.c */
void detail_resize(struct view *view, int width, int height);
const struct rows *detail_rows(struct view *view);
void detail_heading(void *detail, size_t entry, const struct outline_look *look, struct rows *out);

#endif
