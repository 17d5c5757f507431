/* Beginning and end word for word, between them only a mark. */
#include "compact/cuts.h"
#include "compact/earlier.h"
#include "compact/mode.h"

/* What a model or a program wrote of still older messages is all that is left of them. */
static char *text(const struct compact_input *in, const struct compact_plan *p)
{
    struct buf out = BUF_INIT;
    compact_add_counts(&out, in, p);
    compact_add_earlier(&out, in, p);
    return buf_take(&out);
}

const struct compact_mode mode_recency_preserving = {
    .name = "recency_preserving",
    .cut = compact_cut_middle,
    .head = compact_head_end,
    .text = text,
    .prunes = true,
};
