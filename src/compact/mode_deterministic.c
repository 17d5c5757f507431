/* An extract that the program makes itself. */
#include "compact/cuts.h"
#include "compact/extract.h"
#include "compact/mode.h"

const struct compact_mode mode_deterministic = {
    .name = "deterministic",
    .cut = compact_cut_all,
    .text = compact_extract,
};
