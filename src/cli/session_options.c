#include "cli/session_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/session_info.h"
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

/* The table of the configuration has the choices. */
bool session_options_take_choice(const struct option *self, void *at, const char *value,
                                 struct error *e)
{
    enum config_key key =
        strcmp(self->name, "tools") == 0 ? CONFIG_CHAT_TOOLS : CONFIG_PROVIDER_NAME;
    struct config *scratch = config_new();
    bool ok = config_set(scratch, key, value, NULL);
    config_free(scratch);
    *(const char **)at = value;
    return (ok && *value) || err_set(e, ERR_USAGE, _("--%s takes one of: %s; not \"%s\""),
                                     self->name, config_key_info(key)->choices, value);
}

bool session_options_take_last(const struct option *self, void *at, const char *value,
                               struct error *e)
{
    (void)e;
    *(const char **)at = value ? value : strcmp(self->name, "continue") == 0 ? RESUME_HERE : "last";
    return true;
}

bool session_options_take_file(const struct option *self, void *at, const char *value,
                               struct error *e)
{
    struct session_options *o = at;
    (void)self, (void)e;
    vec_push(&o->files, value);
    return true;
}

bool session_options_take_allow(const struct option *self, void *at, const char *value,
                                struct error *e)
{
    (void)self, (void)e;
    buf_addf(at, "%s, ", value);
    return true;
}

bool session_options_take_label(const struct option *self, void *at, const char *value,
                                struct error *e)
{
    char *labels, **old = at;
    (void)self;
    if (!session_labels_change(*old, value, &labels, e))
        return false;
    free(*old);
    *old = labels;
    return true;
}

bool session_options_take_switch(const struct option *self, void *at, const char *value,
                                 struct error *e)
{
    static const struct {
        const char *name;
        bool (*need)(bool wanted, struct error *e);
    } needs[] = {{"persist", capability_need_store},
                 {"compaction", capability_need_compaction},
                 {"memory", capability_need_memory}};
    (void)value;
    *(int *)at = strncmp(self->name, "no-", 3) != 0;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strcmp(self->name, needs[i].name) == 0)
            return needs[i].need(true, e);
    return true;
}

struct engine_options session_options_service(const struct session_options *o,
                                              const struct config *config)
{
    bool persist = o->persist >= 0 ? o->persist : config_boolean(config, CONFIG_SESSION_PERSIST);
    return (struct engine_options){
        .config = config,
        .provider = o->provider,
        .model = o->model,
        .effort = o->effort,
        .system = o->system,
        .tools = o->tools,
        .allow = o->allow.len > 0 ? o->allow.data : NULL,
        .labels = o->labels,
        .persist = persist && capability_store(),
        .compaction =
            o->compaction >= 0 ? o->compaction : config_boolean(config, CONFIG_COMPACTION_ENABLED),
        .memory = o->memory >= 0 ? o->memory : config_boolean(config, CONFIG_MEMORY_ENABLED),
        .read_only = o->read_only,
        .resume = o->resume,
    };
}

bool session_options_files(const struct session_options *o, struct buf *piped,
                           struct mentions *files, struct error *e)
{
    for (size_t i = 0; i < o->files.len; i++) {
        const char *path = o->files.items[i];
        int64_t first, last;
        struct stat st;
        auto_free char *plain = mem_strndup(path, mention_lines(path, &first, &last));
        bool whole = stat(path, &st) == 0;
        if (!whole && stat(plain, &st) != 0)
            return err_set_errno(e, ERR_FILE_ERROR, _("cannot open %.100s"), path);
        if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
            /* A session that is resumed may work in another directory. */
            auto_free char *found = o->resume ? realpath(whole ? path : plain, NULL) : NULL;
            vec_push(&files->items,
                     found ? mem_printf("%s%s", found, whole ? "" : path + strlen(plain))
                           : mem_strdup(path));
            continue;
        }
        AUTO(buf_release) struct buf text = {.data = buf_empty, .max = MAX_FILE};
        if (!paths_read_file(path, PATHS_FILE_OR_PIPE, &text, e))
            return false;
        if (!utf8_valid(text.data, text.len) || memchr(text.data, '\0', text.len))
            return err_set(e, ERR_FILE_ERROR, _("%s is not UTF-8 text; convert it first"), path);
        attached_file_add(piped, path, text.data, text.len);
    }
    return true;
}
