/* One summary of everything. */
#include "compact/cuts.h"
#include "compact/mode.h"

const struct compact_mode mode_llm_replace = {
    .name = "llm_replace",
    .cut = compact_cut_all,
    .prompt = "prompts/compaction-llm-replace.md",
    .prefix = COMPACT_PREFIX,
};
