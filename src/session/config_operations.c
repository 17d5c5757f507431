#include "session/config_operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/url.h"

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

#define TEXT(member) SHAPE_AT_TEXT(struct config_row, member)

static const struct shape_field row_fields[] = {
    SHAPE_FIELD("section", STRING, REQUIRED, TEXT(section), .help = "Its section."),
    SHAPE_FIELD("name", STRING, REQUIRED, TEXT(name), .help = "Its name."),
    SHAPE_FIELD("value", OWN, REQUIRED, 0, .codec = &value, .help = "As it is written."),
    SHAPE_FIELD("origin", ENUM, REQUIRED, SHAPE_AT(enum config_origin, struct config_row, origin),
                .names = &origins, .help = "Where the value is from."),
    SHAPE_FIELD("help", STRING, OPTIONAL, TEXT(help), .help = "What it means."),
    SHAPE_FIELD("source", STRING, OPTIONAL, TEXT(source), .help = "The file of a free key."),
    SHAPE_FIELD("line", COUNT, OPTIONAL, SHAPE_AT(int, struct config_row, line),
                .help = "Its line."),
    {0},
};
static const struct shape row_shape = {
    .name = "key", .size = sizeof(struct config_row), .fields = row_fields};

static const struct shape_field rows_fields[] = {
    SHAPE_FIELD("keys", LIST, REQUIRED, offsetof(struct config_rows, items), .of = &row_shape,
                .help = "In the order of the manual."),
    {0},
};
static const struct shape rows_shape = {
    .name = "configuration", .size = sizeof(struct config_rows), .fields = rows_fields};

/* As it is written into the file, but for secrets and passwords; NULL when unset. */
static char *value_text(const struct config *c, enum config_key key)
{
    struct buf out = BUF_INIT;
    if (!config_is_set(c, key))
        return NULL;
    if (config_key_info(key)->type == CONFIG_SECRET)
        buf_addstr(&out, "****");
    else
        url_add_masked(&out, config_string(c, key));
    return buf_take(&out);
}

static void add_key(struct config_rows *rows, const struct config *c, enum config_key key)
{
    const struct config_key_info *info = config_key_info(key);
    if (strchr(info->section, '*')) /* keys of "model *" have no value of their own */
        return;
    vec_push(&rows->items, (struct config_row){.section = mem_strdup(info->section),
                                               .name = mem_strdup(info->name),
                                               .value = value_text(c, key),
                                               .origin = config_origin(c, key),
                                               .help = mem_strdup(info->help)});
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
    for (int key = 0; key < CONFIG_KEY_COUNT; key++)
        add_key(rows, c->config, (enum config_key)key);
    config_visit(c->config, "model ", add_free_key, rows);
    config_visit(c->config, "keys", add_free_key, rows);
    return true;
}

const struct operation operation_config_get = {
    .name = "config/get",
    .summary = "Lists every key of the configuration, its value and where that is from.",
    .result = &rows_shape,
    .run = run_config,
};
