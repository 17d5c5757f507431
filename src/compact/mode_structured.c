/* Beginning and end word for word, between them a summary in fixed sections. */
#include "compact/cuts.h"
#include "compact/mode.h"

const struct compact_mode mode_structured = {
    .name = "structured",
    .cut = compact_cut_middle,
    .head = compact_head_end,
    .prompt = "prompts/compaction-structured.md",
    .update_prompt = "prompts/compaction-update.md",
    .prefix = COMPACT_PREFIX,
    .sections = true,
    .prunes = true,
    .fallback = &mode_recency_preserving,
};
