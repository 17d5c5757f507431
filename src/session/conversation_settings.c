/* What a session is set to where it is not as configured: its level of tools, its compaction mode.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "compact/mode.h"
#include "session/conversation_private.h"
#include "store/sessions.h"

static const char tools_name[] = "tools", mode_name[] = "compaction";

/* NULL: as configured. */
static char *read_setting(const struct conversation *c, const char *name)
{
    char *value = NULL;
    struct error e;
    if (*c->journal.info.id && !session_setting_get(c->store, c->journal.info.id, name, &value, &e))
        log_line(LOG_ERROR, "settings of %s: %s", c->journal.info.id, e.text);
    return value;
}

static enum tools_offer level_named(const char *word)
{
    for (int i = TOOLS_NONE; word && i < tools_offer_names.count; i++)
        if (strcmp(tools_offer_names.words[i], word) == 0)
            return (enum tools_offer)i;
    return TOOLS_CONFIGURED;
}

static const struct compact_mode *configured_mode(const struct conversation *c)
{
    return compact_mode_find(config_string(c->config, CONFIG_COMPACTION_MODE));
}

void conversation_read_settings(struct conversation *c)
{
    char *tools = read_setting(c, tools_name), *mode = read_setting(c, mode_name);
    const struct compact_mode *kept = mode ? compact_mode_find(mode) : NULL;
    c->level = level_named(tools);
    c->compact.mode = kept ? kept : configured_mode(c);
    free(tools);
    free(mode);
}

const char *conversation_offer(const struct conversation *c)
{
    bool as_started = c->level == TOOLS_CONFIGURED || c->engine->tools_asked;
    return as_started ? c->engine->options.tools : tools_offer_names.words[c->level];
}

bool conversation_set_tools(struct conversation *c, enum tools_offer level, struct error *e)
{
    const char *word = tools_offer_names.words[level];
    if (!session_setting_put(c->store, c->journal.info.id, tools_name, word, e))
        return false;
    c->level = level;
    return true;
}

bool run_set_tools(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_tools_params *p = params;
    (void)result;
    if (!conversation_is_live(c, e) || !conversation_set_tools(c, p->tools, e))
        return false;
    tell_session(c, false); /* the request has another size */
    return true;
}

bool run_set_compaction(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_compaction_params *p = params;
    const struct compact_mode *mode = p->mode ? compact_mode_find(p->mode) : configured_mode(c);
    (void)result;
    if (!mode)
        return err_set(e, ERR_USAGE, "unknown compaction mode \"%.64s\"; the modes are: %s",
                       p->mode, config_key_info(CONFIG_COMPACTION_MODE)->choices);
    if (!conversation_is_live(c, e) ||
        !session_setting_put(c->store, c->journal.info.id, mode_name, p->mode, e))
        return false;
    c->compact.mode = mode;
    tell_session(c, false);
    return true;
}

bool run_settings(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct session_settings *out = result;
    (void)params, (void)e;
    const struct session_info *info = &c->journal.info;
    const struct choice *choice = c->backend.chosen ? &c->backend.choice : NULL;
    *out = (struct session_settings){
        .directory = mem_strdup(c->root),
        .provider = mem_strdup(choice ? choice->provider->name : info->provider),
        .model = mem_strdup(choice ? choice->model : info->model),
        .system = mem_strdup(info->system),
        .tools = level_named(conversation_offer(c)),
        .compaction = c->engine->compaction ? mem_strdup(c->compact.mode->name) : NULL,
        .memory = c->access,
    };
    return true;
}
