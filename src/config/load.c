#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/ini.h"
#include "config/values.h"

#define OPEN_SECTION "keys" /* the terminal's key table knows its names */

/* One source while it is read. */
struct load {
    struct config *config;
    const char *source;
    bool readable_by_others;
    struct config_problems *problems;
    size_t first_problem; /* those before are another source's */
};

/* Names and values of a file stand in the text, so it is cleaned. */
static void complain(struct load *load, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(struct load *load, int line, const char *format, ...)
{
    struct buf raw = BUF_INIT, text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&raw, format, args);
    va_end(args);
    utf8_clean(&text, raw.data, raw.len, UTF8_ONE_LINE);
    buf_release(&raw);
    size_t at = load->problems->list.len;
    while (at > load->first_problem && load->problems->list.items[at - 1].line > line)
        at--;
    vec_insert(&load->problems->list, at,
               (struct config_problem){
                   .source = mem_strdup(load->source), .line = line, .text = buf_take(&text)});
}

/* Length of the part of the section's name that is fixed: of "model *", "model". */
static size_t fixed_len(const char *pattern)
{
    size_t len = strlen(pattern);
    return config_section_is_pattern(pattern) ? len - 2 : len;
}

static bool section_fits(const char *pattern, const char *section)
{
    size_t fixed = fixed_len(pattern);
    if (!config_section_is_pattern(pattern))
        return strcmp(pattern, section) == 0;
    return strncmp(pattern, section, fixed) == 0 && section[fixed] == ' ' &&
           section[fixed + 1] != '\0';
}

/* "*.paths" is any name before ".paths". */
static bool name_fits(const char *pattern, const char *name)
{
    const char *star = strchr(pattern, '*');
    size_t len = strlen(name), before = star ? (size_t)(star - pattern) : 0;
    size_t behind = star ? strlen(star + 1) : 0;
    if (!star)
        return strcmp(pattern, name) == 0;
    return len > before + behind && strncmp(pattern, name, before) == 0 &&
           strcmp(star + 1, name + len - behind) == 0;
}

static bool section_is_known(const char *section)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        if (section_fits(config_key_info((enum config_key)i)->section, section))
            return true;
    }
    return strcmp(section, OPEN_SECTION) == 0;
}

enum config_key config_key_find(const char *section, const char *name)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        if (section_fits(info->section, section) && name_fits(info->name, name))
            return (enum config_key)i;
    }
    return CONFIG_KEY_COUNT;
}

static void unknown_section(struct load *load, const struct ini_entry *entry)
{
    const char *section = entry->section;
    if (!*section) {
        complain(load, entry->line, "\"%s\" stands before any [section]; move it below one",
                 entry->name);
        return;
    }
    /* "model *" is compared by its fixed word, with the fixed word of what was written. */
    char *fixed[CONFIG_KEY_COUNT + 1];
    char *word = mem_strndup(section, strcspn(section, " "));
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const char *known = config_key_info((enum config_key)i)->section;
        fixed[i] = mem_strndup(known, fixed_len(known));
    }
    fixed[CONFIG_KEY_COUNT] = mem_strdup(OPEN_SECTION);
    const char *nearest = config_nearest(word, (const char *const *)fixed, CONFIG_KEY_COUNT + 1);
    if (nearest)
        complain(load, entry->line, "unknown section [%s]; did you mean [%s%s]?", section, nearest,
                 section_is_known(nearest) ? "" : " NAME");
    else
        complain(load, entry->line, "unknown section [%s]; 'tiro config show' lists them", section);
    for (int i = 0; i <= CONFIG_KEY_COUNT; i++)
        free(fixed[i]);
    free(word);
}

static void unknown_key(struct load *load, const struct ini_entry *entry)
{
    const char *names[CONFIG_KEY_COUNT];
    size_t count = 0;
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        if (section_fits(info->section, entry->section))
            names[count++] = info->name;
    }
    const char *nearest = config_nearest(entry->name, names, count);
    if (nearest)
        complain(load, entry->line, "unknown key \"%s\" in [%s]; did you mean \"%s\"?", entry->name,
                 entry->section, nearest);
    else
        complain(load, entry->line, "unknown key \"%s\" in [%s]; 'tiro config show' lists them",
                 entry->name, entry->section);
}

static void add_free_value(struct load *load, const struct ini_entry *entry)
{
    vec_push(&load->config->free_values,
             (struct config_free_value){.section = mem_strdup(entry->section),
                                        .name = mem_strdup(entry->name),
                                        .value = mem_strdup(entry->value),
                                        .source = mem_strdup(load->source),
                                        .line = entry->line});
}

static void take_known(struct load *load, const struct ini_entry *entry, enum config_key key)
{
    const struct config_key_info *info = config_key_info(key);
    struct error e;
    if (info->type == CONFIG_SECRET && *entry->value && load->readable_by_others)
        complain(load, entry->line,
                 "%s is ignored because others may read this file; run: chmod 600 %s", info->name,
                 load->source);
    else if (!config_key_is_free(info)) {
        if (!config_assign(load->config, key, entry->value, CONFIG_FROM_FILE, &e))
            complain(load, entry->line, "%s", e.text);
    } else if (config_value_fits(info, entry->value, &e))
        add_free_value(load, entry);
    else
        complain(load, entry->line, "%s", e.text);
}

static void take_entry(struct load *load, const struct ini_entry *entry)
{
    enum config_key key = config_key_find(entry->section, entry->name);
    if (key != CONFIG_KEY_COUNT)
        take_known(load, entry, key);
    else if (strcmp(entry->section, OPEN_SECTION) == 0)
        add_free_value(load, entry);
    else
        unknown_key(load, entry);
}

static void load_text(struct load *load, const char *text)
{
    struct ini ini;
    ini_read(&ini, text);
    for (size_t i = 0; i < ini.faults.len; i++)
        complain(load, ini.faults.items[i].line, "%s", ini.faults.items[i].text);
    const char *complained = NULL; /* one complaint for all of a section's keys */
    for (size_t i = 0; i < ini.entries.len; i++) {
        const struct ini_entry *entry = &ini.entries.items[i];
        if (section_is_known(entry->section)) {
            take_entry(load, entry);
        } else if (!complained || strcmp(complained, entry->section) != 0) {
            unknown_section(load, entry);
            complained = entry->section;
        }
    }
    ini_release(&ini);
}

void config_load_text(struct config *c, const char *source, const char *text,
                      struct config_problems *problems)
{
    struct load load = {
        .config = c, .source = source, .problems = problems, .first_problem = problems->list.len};
    load_text(&load, text);
}

void config_load_file(struct config *c, const char *path, struct config_problems *problems)
{
    struct load load = {
        .config = c, .source = path, .problems = problems, .first_problem = problems->list.len};
    struct stat st;
    if (stat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return;
    struct buf text;
    struct error e;
    buf_init(&text, CONFIG_FILE_MAX);
    if (!paths_read_regular(path, &text, &e)) {
        complain(&load, 0, "%s", e.text);
    } else if (memchr(text.data, '\0', text.len)) {
        complain(&load, 0, "this is not a text file; nothing of it is used");
    } else {
        load.readable_by_others = st.st_mode & (S_IRWXG | S_IRWXO);
        load_text(&load, text.data);
    }
    buf_release(&text);
}

/* TIRO_UI_THEME for [ui] theme, "" for a key without a variable; the caller frees. */
static char *variable_name(const struct config_key_info *info)
{
    if (config_key_is_free(info))
        return mem_strdup("");
    char *name = mem_printf("TIRO_%s_%s", info->section, info->name);
    for (char *c = name; *c; c++) {
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    }
    return name;
}

static void take_variable(struct load *load, char *const *names, const char *value)
{
    struct error e;
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        if (strcmp(names[i], load->source) != 0)
            continue;
        if (!config_assign(load->config, (enum config_key)i, value, CONFIG_FROM_ENVIRONMENT, &e))
            complain(load, 0, "%s", e.text);
        return;
    }
    const char *nearest =
        config_nearest(load->source, (const char *const *)names, CONFIG_KEY_COUNT);
    if (nearest)
        complain(load, 0, "no setting has this name; did you mean %s?", nearest);
    else
        complain(load, 0, "no setting has this name; 'tiro config show' lists them");
}

void config_hide_environment(void)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        char *name = variable_name(info);
        const char *value = *name ? getenv(name) : NULL;
        bool secret = *name && info->type == CONFIG_SECRET;
        if (secret || (value && url_has_secret(value)))
            environment_hide(name);
        free(name);
    }
}

void config_load_environment(struct config *c, char *const *environment,
                             struct config_problems *problems)
{
    char *names[CONFIG_KEY_COUNT];
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        names[i] = variable_name(config_key_info((enum config_key)i));
    for (; *environment; environment++) {
        const char *value = strchr(*environment, '=');
        if (!value || strncmp(*environment, "TIRO_", 5) != 0)
            continue;
        char *source = mem_strndup(*environment, (size_t)(value - *environment));
        struct load load = {.config = c,
                            .source = source,
                            .problems = problems,
                            .first_problem = problems->list.len};
        take_variable(&load, names, value + 1);
        free(source);
    }
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        free(names[i]);
}
