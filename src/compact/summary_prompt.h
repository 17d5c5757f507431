/* The last message of a request for a summary: the mode's prompt and what is said besides. Pure. */
#ifndef COMPACT_SUMMARY_PROMPT_H
#define COMPACT_SUMMARY_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "compact/mode.h"

struct summary_prompt {
    const struct compact_mode *mode;
    bool updates;      /* an earlier summary is among the messages */
    const char *focus; /* NULL or blank: nothing said */
    const char *draft; /* NULL: none */
    bool sectionless;  /* a first answer had too few sections */
    size_t max_bytes;  /* of the focus, and of the draft */
    int part, of;      /* from 1; of 1: not folded */
};

/* The caller frees. */
char *summary_prompt_text(const struct summary_prompt *p);

#endif
