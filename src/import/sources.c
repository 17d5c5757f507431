#include <string.h>

#include "import/source.h"

/* In the order in which a file is tried. */
extern const struct import_source import_chatgpt;
extern const struct import_source import_claude;
extern const struct import_source import_claude_ai;
extern const struct import_source import_codex;
extern const struct import_source import_aichat;
extern const struct import_source import_aider;
extern const struct import_source import_antigravity;
extern const struct import_source import_copilot;
extern const struct import_source import_crush;
extern const struct import_source import_cursor;
extern const struct import_source import_gemini;
extern const struct import_source import_goose;
extern const struct import_source import_hermes;
extern const struct import_source import_llm;
extern const struct import_source import_opencode;
extern const struct import_source import_own;
extern const struct import_source import_pi;
extern const struct import_source import_simple;

const struct import_source *const import_sources[] = {
    &import_claude,
    &import_codex,
    &import_opencode,
    &import_chatgpt,
    &import_claude_ai,
    &import_gemini,
    &import_antigravity,
    &import_cursor,
    &import_copilot,
    &import_pi,
    &import_hermes,
    &import_goose,
    &import_crush,
    &import_llm,
    &import_aider,
    &import_aichat,
    &import_own,
    &import_simple,
    NULL,
};

const struct import_source *import_source_find(const char *name)
{
    for (size_t i = 0; import_sources[i]; i++)
        if (strcmp(import_sources[i]->name, name) == 0)
            return import_sources[i];
    return NULL;
}

const struct import_source *import_source_sniff(const struct import_file *f)
{
    for (size_t i = 0; import_sources[i]; i++)
        if (import_sources[i]->sniff(f))
            return import_sources[i];
    return NULL;
}
