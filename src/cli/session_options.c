#include "cli/session_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/attached_file.h"
#include "session/capability.h"

#define MAX_FILE ((size_t)4 * 1024 * 1024)

void session_options_release(struct session_options *o)
{
    vec_release(&o->files);
    buf_release(&o->allow);
    free(o->labels);
}

char *session_options_providers(void)
{
    return mem_strdup(config_key_info(CONFIG_PROVIDER_NAME)->choices);
}

char *session_options_tools(void)
{
    return mem_strdup(config_key_info(CONFIG_CHAT_TOOLS)->choices);
}

/* The configuration's table knows what a choice may be. */
static bool check_choice(const char *option, enum config_key key, const char *value,
                         struct error *e)
{
    struct config *scratch = config_new();
    bool ok = config_set(scratch, key, value, NULL);
    config_free(scratch);
    if (ok && *value)
        return true;
    return err_set(e, ERR_USAGE, _("--%s takes one of: %s; not \"%s\""), option,
                   config_key_info(key)->choices, value);
}

static bool take_label(struct session_options *o, const char *value, struct error *e)
{
    char *labels;
    if (!session_labels_change(o->labels, value, &labels, e))
        return false;
    free(o->labels);
    o->labels = labels;
    return true;
}

static bool take_persist(struct session_options *o, bool persist, struct error *e)
{
    o->persist = persist;
    return !persist || capability_need_store(true, e);
}

static bool take_compaction(struct session_options *o, bool compaction, struct error *e)
{
    o->compaction = compaction;
    return !compaction || capability_need_compaction(true, e);
}

static bool take_memory(struct session_options *o, bool memory, struct error *e)
{
    o->memory = memory;
    return !memory || capability_need_memory(true, e);
}

bool session_options_take(struct session_options *o, int id, const char *value, struct error *e)
{
    switch ((enum session_option)id) {
    case SESSION_CONTINUE:
        o->resume = "last";
        return true;
    case SESSION_PROVIDER:
        o->provider = value;
        return check_choice("provider", CONFIG_PROVIDER_NAME, value, e);
    case SESSION_MODEL:
        o->model = value;
        return true;
    case SESSION_SYSTEM:
        o->system = value;
        return true;
    case SESSION_FILE:
        vec_push(&o->files, value);
        return true;
    case SESSION_TOOLS:
        o->tools = value;
        return check_choice("tools", CONFIG_CHAT_TOOLS, value, e);
    case SESSION_ALLOW:
        buf_addf(&o->allow, "%s ", value);
        return true;
    case SESSION_LABEL:
        return take_label(o, value, e);
    case SESSION_PERSIST:
    case SESSION_NO_PERSIST:
        return take_persist(o, id == SESSION_PERSIST, e);
    case SESSION_COMPACTION:
    case SESSION_NO_COMPACTION:
        return take_compaction(o, id == SESSION_COMPACTION, e);
    case SESSION_MEMORY:
    case SESSION_NO_MEMORY:
        return take_memory(o, id == SESSION_MEMORY, e);
    }
    return true;
}

/* What the build cannot do is not promised by the configuration either. */
static bool keeps(const struct session_options *o, const struct config *config)
{
    bool wanted = o->persist >= 0 ? o->persist : config_boolean(config, CONFIG_SESSION_PERSIST);
    return wanted && capability_store();
}

struct engine_options session_options_service(const struct session_options *o,
                                              const struct config *config)
{
    return (struct engine_options){
        .config = config,
        .provider = o->provider,
        .model = o->model,
        .system = o->system,
        .tools = o->tools,
        .allow = o->allow.len > 0 ? o->allow.data : NULL,
        .labels = o->labels,
        .persist = keeps(o, config),
        .compaction =
            o->compaction >= 0 ? o->compaction : config_boolean(config, CONFIG_COMPACTION_ENABLED),
        .memory = o->memory >= 0 ? o->memory : config_boolean(config, CONFIG_MEMORY_ENABLED),
        .read_only = o->read_only,
        .resume = o->resume,
    };
}

static bool add_file(struct buf *out, const char *path, struct error *e)
{
    struct buf text;
    buf_init(&text, MAX_FILE);
    bool ok = paths_read_file(path, &text, e);
    if (ok && (!utf8_valid(text.data, text.len) || memchr(text.data, '\0', text.len)))
        ok = err_set(e, ERR_FILE_ERROR, _("%s is not UTF-8 text; convert it first"), path);
    if (ok)
        attached_file_add(out, path, text.data, text.len);
    buf_release(&text);
    return ok;
}

bool session_options_files(const struct session_options *o, struct buf *out, struct error *e)
{
    for (size_t i = 0; i < o->files.len; i++)
        if (!add_file(out, o->files.items[i], e))
            return false;
    return true;
}
