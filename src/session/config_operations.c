#include "session/config_operations.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/approval.h"
#include "base/environment.h"
#include "base/mem.h"
#include "compact/policy.h"
#include "config/edit.h"
#include "session/capability.h"

/* --- config/get ------------------------------------------------------------------------------- */

static void write_value(struct json_out *o, const void *row)
{
    const char *value = ((const struct config_row *)row)->value;
    if (value)
        json_out_string(o, value);
    else
        json_out_raw(o, "null");
}

static bool read_value(const struct json *v, void *row)
{
    ((struct config_row *)row)->value = mem_strdup(json_string(v));
    return json_string(v) || json_type(v) == JSON_NULL;
}

static void release_value(void *row)
{
    free(((struct config_row *)row)->value);
    ((struct config_row *)row)->value = NULL;
}

static const struct shape_codec value = {.write = write_value,
                                         .read = read_value,
                                         .release = release_value,
                                         .schema = "{\"type\":[\"string\",\"null\"]}",
                                         .expected = "a string, or null where it is unset"};

static const char *const origin_words[] = {
    [CONFIG_FROM_DEFAULT] = "default",
    [CONFIG_FROM_FILE] = "file",
    [CONFIG_FROM_ENVIRONMENT] = "environment",
    [CONFIG_FROM_COMMAND_LINE] = "command line",
};
static const struct shape_names origins = {origin_words, 4, -1};

const char *config_origin_name(enum config_origin origin)
{
    return origin_words[origin];
}

static const struct shape row_shape = SHAPE_OF(
    "key", struct config_row, SHAPE_REQ(config_row, section, "Section of the key."),
    SHAPE_REQ(config_row, name, "Name of the key."),
    SHAPE_FIELD("value", OWN, REQUIRED, 0, .codec = &value,
                .help = "Value, as it is written in a file."),
    SHAPE_REQ_WORD(config_row, origin, origins, "Where the value was set."),
    SHAPE_OPT(config_row, help, "Help text of the key."),
    SHAPE_OPT(config_row, source, "File that sets the key; only for keys with free names."),
    SHAPE_OPT(config_row, line, "Line in that file."));

static bool is_secret(enum config_key key)
{
    return key < CONFIG_KEY_COUNT && config_key_info(key)->type == CONFIG_SECRET;
}

/* The value with secrets and passwords masked. */
static char *masked(enum config_key key, const char *written)
{
    struct buf out = BUF_INIT;
    if (is_secret(key) && *written)
        buf_addstr(&out, "****");
    else
        url_mask(&out, written);
    return buf_take(&out);
}

static void add_free_key(void *context, const char *section, const char *name, const char *text,
                         const char *source, int line)
{
    struct config_rows *rows = context;
    vec_push(&rows->items, (struct config_row){.section = mem_strdup(section),
                                               .name = mem_strdup(name),
                                               .value = mem_strdup(text),
                                               .origin = CONFIG_FROM_FILE,
                                               .source = mem_strdup(source),
                                               .line = line});
}

static bool run_config(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    struct config_rows *rows = result;
    (void)params, (void)e;
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        enum config_key key = (enum config_key)i;
        const struct config_key_info *info = config_key_info(key);
        if (config_key_is_free(info))
            continue;
        const char *written = config_is_set(c->config, key) ? config_string(c->config, key) : NULL;
        vec_push(&rows->items, (struct config_row){.section = mem_strdup(info->section),
                                                   .name = mem_strdup(info->name),
                                                   .value = written ? masked(key, written) : NULL,
                                                   .origin = config_origin(c->config, key),
                                                   .help = mem_strdup(info->help)});
    }
    config_visit(c->config, "model ", add_free_key, rows);
    config_visit(c->config, "corpus", add_free_key, rows);
    config_visit(c->config, "keys", add_free_key, rows);
    return true;
}

const struct operation operation_config_get = {
    OPERATION("config/get", OWNER, CALLER,
              "Lists every key of the configuration, its value and where it was set."),
    .result = RESULT(
        "configuration", config_rows,
        SHAPE_REQ_LIST("keys", config_rows, items, row_shape, "In the order of the manual.")),
    .run = run_config,
};

/* --- config/set ------------------------------------------------------------------------------- */

struct change {
    const struct operation_context *context;
    const char *value; /* NULL: the key goes */
    char *section, *name;
    enum config_key key; /* CONFIG_KEY_COUNT: a free one */
    struct config_file file;
};

static void find_problems(const struct change *c, const char *text, struct config_problems *found)
{
    struct config *config = config_new();
    config_load_text(config, c->file.path, text, found);
    if (c->context->check_screen)
        c->context->check_screen(config, c->file.path, found);
    config_free(config);
}

static size_t count_problem(const struct config_problems *p, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < p->list.len; i++)
        count += strcmp(p->list.items[i].text, text) == 0;
    return count;
}

/* A file that has faults may be changed, but not so that it gets new ones, for example of the theme
 * or of a key that two actions have. */
static bool adds_no_problem(const struct change *c, const char *before, const char *after,
                            struct error *e)
{
    struct config_problems old = {0}, now = {0};
    bool ok = true;
    find_problems(c, before, &old);
    find_problems(c, after, &now);
    for (size_t i = 0; ok && i < now.list.len; i++) {
        const char *text = now.list.items[i].text;
        if (count_problem(&now, text) > count_problem(&old, text))
            ok = err_set(e, ERR_CONFIG_ERROR, "%s", text);
    }
    config_problems_release(&old);
    config_problems_release(&now);
    return ok;
}

/* A key that is unknown can only be removed if the file has it. */
static bool prepare(struct change *c, struct error *e)
{
    struct config_file *f = &c->file;
    if (!config_file_read(f, e))
        return false;
    if (c->value)
        return config_edit_check(c->section, c->name, c->value, e) &&
               config_edit_set(f->text.data, c->section, c->name, c->value, &f->changed, e) &&
               adds_no_problem(c, f->text.data, f->changed.data, e);
    auto_free char *old = config_edit_value(f->text.data, c->section, c->name);
    auto_free char *alone = mem_printf("[%s]\n%s =\n", c->section, c->name);
    if (!old &&
        (!config_edit_check(c->section, c->name, "", e) || !adds_no_problem(c, "", alone, e)))
        return false;
    return config_edit_set(f->text.data, c->section, c->name, NULL, &f->changed, e);
}

static bool run_set(struct operation_context *context, const void *params, void *result,
                    struct error *e)
{
    const struct config_set_params *p = params;
    struct config_set_result *out = result;
    struct change c = {.context = context, .value = p->value};
    struct stat st;
    if (!config_edit_split(p->key, &c.section, &c.name, e))
        return false;
    c.key = config_key_find(c.section, c.name);
    config_file_init(&c.file);
    bool ok = prepare(&c, e);
    /* The file of a secret is also written if other users can read it. */
    bool secret = p->value && (is_secret(c.key) || url_mask(NULL, p->value));
    bool exposed = secret && stat(c.file.path, &st) == 0 && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    bool changed = ok && (strcmp(c.file.text.data, c.file.changed.data) != 0 || exposed);
    if (changed) { /* prepare again: the file may have changed until it was locked */
        int lock = config_file_lock(e);
        ok = prepare(&c, e) && config_file_write(&c.file, e);
        if (lock >= 0)
            close(lock);
    }
    if (ok) {
        bool known = c.key < CONFIG_KEY_COUNT;
        const char *fallback = known ? config_key_info(c.key)->fallback : "";
        out->path = mem_strdup(c.file.path);
        out->value = p->value ? masked(c.key, p->value) : NULL;
        out->fallback = *fallback ? mem_strdup(fallback) : NULL;
        out->changed = changed;
        out->overridden = known && config_origin(context->config, c.key) == CONFIG_FROM_ENVIRONMENT;
    }
    config_file_release(&c.file);
    free(c.section);
    free(c.name);
    return ok;
}

const struct operation operation_config_set = {
    OPERATION("config/set", OWNER, CALLER,
              "Changes a key in the configuration file, or removes it."),
    .params = PARAMETERS(
        config_set_params, SHAPE_REQ(config_set_params, key, "SECTION.KEY."),
        SHAPE_OPT(config_set_params, value,
                  "The new value, as it is written in the file; absent: remove the key.")),
    .result = RESULT(
        "changed key", config_set_result,
        SHAPE_REQ(config_set_result, path, "The configuration file."),
        SHAPE_OPT(config_set_result, value,
                  "The value in the file now; secrets are masked; absent: none."),
        SHAPE_OPT_AS("default", config_set_result, fallback,
                     "The value that applies while the key is unset."),
        SHAPE_REQ(config_set_result, changed, "The file was written."),
        SHAPE_REQ(config_set_result, overridden, "An environment variable overrides the file."),
        SHAPE_REQ(config_set_result, applied,
                  "True: the running program uses the new value; false: only programs that start "
                  "from now on do.")),
    .run = run_set,
};

/* --- engine/info, capabilities/get ------------------------------------------------------------ */

static bool run_info(struct operation_context *c, const void *params, void *result, struct error *e)
{
    (void)c, (void)params, (void)e;
    *(struct engine_info *)result = (struct engine_info){.name = mem_strdup(PACKAGE_NAME),
                                                         .version = mem_strdup(PACKAGE_VERSION)};
    return true;
}

const struct operation operation_engine_info = {
    OPERATION("engine/info", CLIENT, CALLER, "Tells the program and its version."),
    .result = RESULT("engine", engine_info, SHAPE_REQ(engine_info, name, "Name of the program."),
                     SHAPE_REQ(engine_info, version, "Version of the program.")),
    .run = run_info,
};

#define PARTS(X)                                                                                   \
    X(store, NEED_STORE, "Sessions are saved.")                                                    \
    X(compaction, NEED_COMPACTION, "Histories are shortened.")                                     \
    X(memory, NEED_MEMORY, "Messages are indexed and can be searched.")                            \
    X(graph, NEED_GRAPH, "There is a graph of facts.")                                             \
    X(corpora, NEED_CORPORA, "Documents can be searched.")                                         \
    X(learned, NEED_MEMORY | NEED_LEARNED, "Learned items are given to the model.")

static bool run_capabilities(struct operation_context *c, const void *params, void *result,
                             struct error *e)
{
    struct capabilities *can = result;
    struct error reason;
    (void)params, (void)e;
    can->built_store = capability_store();
    can->built_compaction = capability_compaction();
    can->built_memory = capability_memory();
#define X(part, needs, help)                                                                       \
    can->part = operation_has(needs, c->config, &reason);                                          \
    can->part##_reason = can->part ? NULL : mem_strdup(reason.text);
    PARTS(X)
#undef X
    return true;
}

#define X(part, needs, help)                                                                       \
    SHAPE_REQ(capabilities, part, help),                                                           \
        SHAPE_OPT(capabilities, part##_reason, "Why this is false; absent: it is true."),
const struct operation operation_capabilities_get = {
    OPERATION("capabilities/get", CLIENT, CALLER,
              "Tells what the build, the configuration and the command line allow."),
    .result =
        RESULT("capabilities", capabilities,
               PARTS(X) SHAPE_REQ(capabilities, built_store, "The program can save sessions."),
               SHAPE_REQ(capabilities, built_compaction, "The program can shorten histories."),
               SHAPE_REQ(capabilities, built_memory, "The program has a memory.")),
    .run = run_capabilities,
};
#undef X

void config_check(const struct config *config, const char *file, struct config_problems *problems)
{
    bool from_file = config_origin(config, CONFIG_COMPACTION_PERCENT) == CONFIG_FROM_FILE ||
                     config_origin(config, CONFIG_COMPACTION_TAIL_RATIO) == CONFIG_FROM_FILE;
    const char *source = from_file ? file : "TIRO_COMPACTION_*";
    struct compact_settings settings;
    struct compact_warnings warnings = {.count = 0};
    compact_settings_read(&settings, config, &warnings);
    for (int i = 0; i < warnings.count; i++) {
        struct config_problem p = {.source = mem_strdup(source),
                                   .text = mem_strdup(warnings.text[i])};
        vec_push(&problems->list, p);
    }
}

/* The list of tools does not depend on the host's members. */
bool config_check_tools(const struct config *config, const char *allow, struct error *e)
{
    const struct tool_host nothing = {.root_fd = -1};
    AUTO(approval_policy_release) struct approval_policy policy = {0};
    AUTO(toolset_release) struct toolset tools = {0};
    toolset_init(&tools, tool_sources, &nothing);
    return approval_policy_read(&policy, config, &tools, allow, e);
}
