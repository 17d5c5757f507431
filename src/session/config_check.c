#include "session/config_check.h"

#include "agent/approval.h"
#include "base/mem.h"
#include "compact/policy.h"

static const char *source_of(const struct config *config, const char *file)
{
    static const enum config_key keys[] = {CONFIG_COMPACTION_PERCENT, CONFIG_COMPACTION_TAIL_RATIO};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (config_origin(config, keys[i]) == CONFIG_FROM_FILE)
            return file;
    return "TIRO_COMPACTION_*";
}

void config_check(const struct config *config, const char *file, struct config_problems *problems)
{
    struct compact_settings settings;
    struct compact_warnings warnings = {.count = 0};
    compact_settings_read(&settings, config, &warnings);
    for (int i = 0; i < warnings.count; i++) {
        struct config_problem p = {.source = mem_strdup(source_of(config, file)),
                                   .text = mem_strdup(warnings.text[i])};
        vec_push(&problems->list, p);
    }
}

/* Which tools there are does not depend on what they have to work with. */
bool config_check_tools(const struct config *config, const char *allow, struct error *e)
{
    const struct tool_host nothing = {.root_fd = -1};
    struct approval_policy policy;
    struct toolset tools;
    toolset_init(&tools, tool_sources, &nothing);
    bool ok = approval_policy_read(&policy, config, &tools, allow, e);
    approval_policy_release(&policy);
    toolset_release(&tools);
    return ok;
}
