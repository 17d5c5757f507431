#include "compact/mode.h"

#include <string.h>

const struct compact_mode *const compact_modes[] = {
    &mode_handoff,       &mode_structured,  &mode_recency_preserving,
    &mode_deterministic, &mode_llm_replace, NULL,
};

const struct compact_mode *compact_mode_find(const char *name)
{
    for (size_t i = 0; name && compact_modes[i]; i++)
        if (strcmp(compact_modes[i]->name, name) == 0)
            return compact_modes[i];
    return NULL;
}
