#include "config/config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "config/edit.h"
#include "config/ini.h"

/* What a struct config is made of; for the files of this directory only. */

struct config_value {
    char *text; /* NULL: the default */
    enum config_origin origin;
};

/* A key of a section with a free name, or of [keys]. */
struct config_free_value {
    char *section, *name, *value, *source;
    int line;
};

struct config {
    struct config_value values[CONFIG_KEY_COUNT];
    VEC(struct config_free_value) free_values;
};

/* Is the section one with a free name ("model *")? */
bool config_section_is_pattern(const char *section);

/* Checks and stores the value; the latest one counts, "" goes back to the default. */
bool config_assign(struct config *c, enum config_key key, const char *value,
                   enum config_origin origin, struct error *e);

/* value.c: texts of the types that a key can have. Decimal points are points in every locale. */

/* False when the text is not wholly such a value. */
bool config_value_integer(const char *text, int64_t *out);
bool config_value_boolean(const char *text, bool *out);

/* Does the text fit the key's type, bounds and choices? "" always does: it unsets. The error says
 * what would, and quotes the text unless it is a secret. */
bool config_value_fits(const struct config_key_info *key, const char *text, struct error *e);

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool config_value_integer(const char *text, int64_t *out)
{
    if (!is_digit(text[text[0] == '-']))
        return false;
    char *end;
    errno = 0;
    intmax_t number = strtoimax(text, &end, 10);
    *out = (int64_t)number;
    return *end == '\0' && errno == 0;
}

/* Not strtod(), which would want a comma in half of the world. */
bool config_value_real(const char *text, double *out)
{
    bool negative = *text == '-';
    bool after_point = false, any = false;
    double number = 0, scale = 1;
    for (const char *c = text + negative; *c; c++) {
        if (*c == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (!is_digit(*c))
            return false;
        any = true;
        number = number * 10 + (*c - '0');
        if (after_point)
            scale *= 10;
    }
    *out = (negative ? -number : number) / scale;
    return any && strlen(text) < 32; /* so that neither part overflows */
}

bool config_value_boolean(const char *text, bool *out)
{
    static const char *const names[][2] = {
        {"false", "true"}, {"no", "yes"}, {"off", "on"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int value = 0; value < 2; value++) {
            if (strcmp(text, names[i][value]) == 0) {
                *out = value != 0;
                return true;
            }
        }
    }
    return false;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);
    for (const char *word = choices; *word; word += strspn(word, " ")) {
        size_t word_len = strcspn(word, " ");
        if (word_len == len && memcmp(word, text, len) == 0)
            return true;
        word += word_len;
    }
    return false;
}

/* The value as an error quotes it. */
static int quoted_len(const char *text)
{
    return (int)utf8_cut_bytes(text, strlen(text), 60);
}

static bool in_bounds(const struct config_key_info *key, double number)
{
    return (key->min == 0 && key->max == 0) || (number >= key->min && number <= key->max);
}

static bool number_fits(const struct config_key_info *key, const char *text, struct error *e)
{
    int64_t integer = 0;
    double real = 0;
    bool whole = key->type == CONFIG_INTEGER;
    if (!(whole ? config_value_integer(text, &integer) : config_value_real(text, &real)))
        return err_set(e, ERR_CONFIG_ERROR, "%s: \"%.*s\" is not a %s; write one", key->name,
                       quoted_len(text), text, whole ? "whole number" : "number such as 0.5");
    if (!in_bounds(key, whole ? (double)integer : real))
        return err_set(e, ERR_CONFIG_ERROR, "%s: %.*s is out of bounds; write %.10g to %.10g",
                       key->name, quoted_len(text), text, key->min, key->max);
    return true;
}

bool config_value_fits(const struct config_key_info *key, const char *text, struct error *e)
{
    bool ignored;
    if (!*text)
        return true;
    if (!utf8_valid(text, strlen(text)))
        return err_set(e, ERR_CONFIG_ERROR, "%s: the value is not valid UTF-8; convert it",
                       key->name);
    if (key->type == CONFIG_INTEGER || key->type == CONFIG_REAL)
        return number_fits(key, text, e);
    if (key->type == CONFIG_BOOLEAN && !config_value_boolean(text, &ignored))
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s: \"%.*s\" is neither true nor false; write one of them", key->name,
                       quoted_len(text), text);
    if (key->type == CONFIG_CHOICE && !is_choice(key->choices, text))
        return err_set(e, ERR_CONFIG_ERROR, "%s: \"%.*s\" is not allowed; write one of: %s",
                       key->name, quoted_len(text), text, key->choices);
    return true;
}

enum { LONGEST_WORD = 64 }; /* longer ones are no typing slips, and the distance is quadratic */

/* Levenshtein distance by one row of the table. `row` holds strlen(b) + 1 numbers. */
static size_t distance(const char *a, const char *b, size_t *row)
{
    size_t b_len = strlen(b);
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_len; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (diagonal + 1 < best)
                best = diagonal + 1;
            row[j + 1] = best;
        }
    }
    return row[b_len];
}

static size_t most_slips(size_t len)
{
    size_t most = len / 3 > 2 ? len / 3 : 2;
    /* Else any word of two letters would be near any other. */
    return most < len ? most : len - 1;
}

const char *config_nearest(const char *word, const char *const *words, size_t count)
{
    size_t len = strlen(word);
    if (!len || len > LONGEST_WORD)
        return NULL;
    const char *nearest = NULL;
    size_t best = most_slips(len) + 1;
    size_t *row = NULL;
    for (size_t i = 0; i < count; i++) {
        row = mem_resize(row, (strlen(words[i]) + 1) * sizeof *row);
        size_t slips = distance(word, words[i], row);
        if (slips < best) {
            best = slips;
            nearest = words[i];
        }
    }
    free(row);
    return nearest;
}

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

char *config_variable(enum config_key key)
{
    return variable_name(config_key_info(key));
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
