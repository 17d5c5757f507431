#include "config/config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/values.h"

static const struct config_key_info key_table[] = {
#define X(id, section, name, type, fallback, min, max, choices, help)                              \
    {section,                                                                                      \
     name,                                                                                         \
     (enum config_type)(CONFIG_##type % CONFIG_TERMINAL),                                          \
     CONFIG_##type >= CONFIG_TERMINAL || CONFIG_##type == CONFIG_SECRET ||                         \
         CONFIG_##type == CONFIG_COMMAND,                                                          \
     fallback,                                                                                     \
     min,                                                                                          \
     max,                                                                                          \
     choices,                                                                                      \
     help},
    CONFIG_KEYS(X)
#undef X
};

const struct config_key_info *config_key_info(enum config_key key)
{
    assert(key < CONFIG_KEY_COUNT);
    return &key_table[key];
}

void config_problems_release(struct config_problems *p)
{
    for (size_t i = 0; i < p->list.len; i++) {
        free(p->list.items[i].source);
        free(p->list.items[i].text);
    }
    vec_release(&p->list);
}

struct config *config_new(void)
{
    return mem_alloc(sizeof(struct config));
}

void config_free(struct config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
        free(c->values[i].text);
    for (size_t i = 0; i < c->free_values.len; i++) {
        struct config_free_value *v = &c->free_values.items[i];
        free(v->section);
        free(v->name);
        free(v->value);
        free(v->source);
    }
    vec_release(&c->free_values);
    free(c);
}

bool config_section_is_pattern(const char *section)
{
    size_t len = strlen(section);
    return len > 2 && strcmp(section + len - 2, " *") == 0;
}

bool config_key_is_free(const struct config_key_info *info)
{
    return config_section_is_pattern(info->section) || strchr(info->name, '*');
}

bool config_assign(struct config *c, enum config_key key, const char *value,
                   enum config_origin origin, struct error *e)
{
    const struct config_key_info *info = config_key_info(key);
    assert(!config_key_is_free(info));
    if (!config_value_fits(info, value, e))
        return false;
    struct config_value *v = &c->values[key];
    free(v->text);
    v->text = *value ? mem_strdup(value) : NULL;
    v->origin = *value ? origin : CONFIG_FROM_DEFAULT;
    return true;
}

bool config_set(struct config *c, enum config_key key, const char *value, struct error *e)
{
    return config_assign(c, key, value, CONFIG_FROM_COMMAND_LINE, e);
}

const char *config_string(const struct config *c, enum config_key key)
{
    const char *text = c->values[key].text;
    return text ? text : config_key_info(key)->fallback;
}

int64_t config_integer(const struct config *c, enum config_key key)
{
    int64_t number = 0;
    assert(config_key_info(key)->type == CONFIG_INTEGER);
    return config_value_integer(config_string(c, key), &number) ? number : 0;
}

double config_real(const struct config *c, enum config_key key)
{
    double number = 0;
    assert(config_key_info(key)->type == CONFIG_REAL);
    return config_value_real(config_string(c, key), &number) ? number : 0;
}

bool config_boolean(const struct config *c, enum config_key key)
{
    bool yes = false;
    assert(config_key_info(key)->type == CONFIG_BOOLEAN);
    return config_value_boolean(config_string(c, key), &yes) && yes;
}

bool config_is_set(const struct config *c, enum config_key key)
{
    return *config_string(c, key) != '\0';
}

enum config_origin config_origin(const struct config *c, enum config_key key)
{
    return c->values[key].origin;
}

void config_visit(const struct config *c, const char *section_prefix,
                  void (*visit)(void *context, const char *section, const char *name,
                                const char *value, const char *source, int line),
                  void *context)
{
    size_t len = strlen(section_prefix);
    for (size_t i = 0; i < c->free_values.len; i++) {
        const struct config_free_value *v = &c->free_values.items[i];
        if (strncmp(v->section, section_prefix, len) == 0)
            visit(context, v->section, v->name, v->value, v->source, v->line);
    }
}
