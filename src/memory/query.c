#include "memory/query.h"

#include <string.h>

bool memory_scope_parse(const char *text, struct memory_scope *out)
{
    static const char session[] = "session=";
    static const struct {
        const char *name;
        enum memory_scope_kind kind;
    } kinds[] = {{"all", MEMORY_SCOPE_ALL},
                 {"project", MEMORY_SCOPE_PROJECT},
                 {"session", MEMORY_SCOPE_SESSION}};
    *out = (struct memory_scope){.kind = MEMORY_SCOPE_ALL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, text) == 0) {
            out->kind = kinds[i].kind;
            return true;
        }
    if (strncmp(text, session, sizeof session - 1) != 0 || !text[sizeof session - 1])
        return false;
    *out = (struct memory_scope){.kind = MEMORY_SCOPE_SESSION,
                                 .session_id = text + sizeof session - 1};
    return true;
}

struct memory_query memory_query_for(const struct config *config, const char *text)
{
    return (struct memory_query){
        .text = text,
        .limit = 5,
        .ranking = MEMORY_WORDS,
        .rank = rank_settings_for(config_real(config, CONFIG_MEMORY_K1),
                                  config_real(config, CONFIG_MEMORY_B)),
    };
}
