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
#include "config/edit.h"
#include "config/ini.h"

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

/* --- values ----------------------------------------------------------------------------------- */

/* These return false when the text is not wholly such a value. */

static bool read_integer(const char *text, int64_t *out)
{
    const char *first = text + (text[0] == '-');
    if (*first < '0' || *first > '9')
        return false;
    char *end;
    errno = 0;
    intmax_t number = strtoimax(text, &end, 10);
    *out = (int64_t)number;
    return *end == '\0' && errno == 0;
}

/* Not strtod(), which expects a comma in many locales. */
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
        if (*c < '0' || *c > '9')
            return false;
        any = true;
        number = number * 10 + (*c - '0');
        if (after_point)
            scale *= 10;
    }
    *out = (negative ? -number : number) / scale;
    return any && strlen(text) < 32; /* so that neither part overflows */
}

static bool read_boolean(const char *text, bool *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i % 2 == 1;
            return true;
        }
    return false;
}

static bool is_choice(const struct config_key_info *key, const char *text)
{
    size_t len = strlen(text), word_len;
    for (const char *word = key->choices; *word; word += word_len + strspn(word + word_len, " ")) {
        word_len = strcspn(word, " ");
        if (word_len == len && memcmp(word, text, len) == 0)
            return true;
    }
    return false;
}

/* Whether the text fits the key's type, bounds and choices; "" always does: it unsets the key. The
 * error tells the allowed values. */
static bool value_fits(const struct config_key_info *key, const char *text, struct error *e)
{
    bool whole = key->type == CONFIG_INTEGER, ignored;
    int64_t integer = 0;
    double real = 0;
    if (!*text || (whole && is_choice(key, text)))
        return true;
    if (!utf8_valid(text, strlen(text)))
        return err_set(e, ERR_CONFIG_ERROR, "%s: the value is not valid UTF-8; convert it",
                       key->name);
    int quoted = (int)utf8_cut_bytes(text, strlen(text), 60);
    if (whole || key->type == CONFIG_REAL) {
        if (!(whole ? read_integer(text, &integer) : config_value_real(text, &real)))
            return err_set(e, ERR_CONFIG_ERROR, "%s: \"%.*s\" is not a %s; write one%s%s", key->name,
                           quoted, text, whole ? "whole number" : "number such as 0.5",
                           *key->choices ? ", or " : "", key->choices);
        real = whole ? (double)integer : real;
        if ((key->min != 0 || key->max != 0) && (real < key->min || real > key->max))
            return err_set(e, ERR_CONFIG_ERROR, "%s: %.*s is out of bounds; write %.10g to %.10g",
                           key->name, quoted, text, key->min, key->max);
    }
    if (key->type == CONFIG_BOOLEAN && !read_boolean(text, &ignored))
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s: \"%.*s\" is neither true nor false; write one of them", key->name,
                       quoted, text);
    if (key->type == CONFIG_CHOICE && !is_choice(key, text))
        return err_set(e, ERR_CONFIG_ERROR, "%s: \"%.*s\" is not allowed; write one of: %s",
                       key->name, quoted, text, key->choices);
    return true;
}

/* --- the nearest word ------------------------------------------------------------------------- */

/* Levenshtein distance with one row of the table. `row` has room for strlen(b) + 1 numbers. */
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

const char *config_nearest(const char *word, const char *const *words, size_t count)
{
    enum { LONGEST_WORD = 64 }; /* a longer one is no typing slip, and the distance is quadratic */
    size_t len = strlen(word);
    if (!len || len > LONGEST_WORD)
        return NULL;
    size_t best = (len / 3 > 2 ? len / 3 : 2) + 1; /* one more than is allowed */
    if (best > len)
        best = len; /* else any two words of two letters would be near */
    const char *nearest = NULL;
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

/* --- keys ------------------------------------------------------------------------------------- */

#define OPEN_SECTION "keys" /* its names are in the terminal's table of actions */

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

/* The length of a section's name without the free part: "model" of "model *". */
static size_t fixed_len(const char *section)
{
    size_t len = strlen(section);
    return len > 2 && strcmp(section + len - 2, " *") == 0 ? len - 2 : len;
}

bool config_key_is_free(const struct config_key_info *info)
{
    return info->section[fixed_len(info->section)] || strchr(info->name, '*');
}

static bool section_fits(const char *pattern, const char *section)
{
    size_t fixed = fixed_len(pattern);
    if (!pattern[fixed])
        return strcmp(pattern, section) == 0;
    return strncmp(pattern, section, fixed) == 0 && section[fixed] == ' ' &&
           section[fixed + 1] != '\0';
}

static bool section_is_known(const char *section)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
        if (section_fits(key_table[i].section, section))
            return true;
    return strcmp(section, OPEN_SECTION) == 0;
}

/* "*.paths" is any name before ".paths". */
enum config_key config_key_find(const char *section, const char *name)
{
    int i = 0;
    for (; i < CONFIG_KEY_COUNT; i++) {
        const char *pattern = key_table[i].name, *star = strchr(pattern, '*');
        size_t len = strlen(name), before = star ? (size_t)(star - pattern) : 0;
        size_t after = star ? strlen(star + 1) : 0;
        if (section_fits(key_table[i].section, section) &&
            (star ? len > before + after && strncmp(pattern, name, before) == 0 &&
                        strcmp(star + 1, name + len - after) == 0
                  : strcmp(pattern, name) == 0))
            break;
    }
    return (enum config_key)i;
}

char *config_variable(enum config_key key)
{
    const struct config_key_info *info = config_key_info(key);
    if (config_key_is_free(info))
        return mem_strdup("");
    char *name = mem_printf("TIRO_%s_%s", info->section, info->name);
    for (char *c = name; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return name;
}

/* --- a configuration -------------------------------------------------------------------------- */

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

/* Stores the value; the latest one counts, "" is the default again. */
static bool assign(struct config *c, enum config_key key, const char *value,
                   enum config_origin origin, struct error *e)
{
    const struct config_key_info *info = config_key_info(key);
    assert(!config_key_is_free(info));
    if (!value_fits(info, value, e))
        return false;
    struct config_value *v = &c->values[key];
    free(v->text);
    v->text = *value ? mem_strdup(value) : NULL;
    v->origin = *value ? origin : CONFIG_FROM_DEFAULT;
    return true;
}

bool config_set(struct config *c, enum config_key key, const char *value, struct error *e)
{
    return assign(c, key, value, CONFIG_FROM_COMMAND_LINE, e);
}

const char *config_string(const struct config *c, enum config_key key)
{
    const char *text = c->values[key].text;
    return text ? text : config_key_info(key)->fallback;
}

int64_t config_integer(const struct config *c, enum config_key key)
{
    const struct config_key_info *info = config_key_info(key);
    int64_t number = 0;
    assert(info->type == CONFIG_INTEGER);
    if (is_choice(info, config_string(c, key)))
        return -1;
    return read_integer(config_string(c, key), &number) ? number : 0;
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
    return read_boolean(config_string(c, key), &yes) && yes;
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

/* --- loading ---------------------------------------------------------------------------------- */

/* One source while it is read. */
struct load {
    struct config *config;
    const char *source;
    bool readable_by_others;
    struct config_problems *problems;
    size_t first_problem; /* those before are another source's */
};

/* Adds a problem in the order of lines. The text is cleaned: it quotes names and values. */
__attribute__((format(printf, 3, 4))) static void complain(struct load *load, int line,
                                                           const char *format, ...)
{
    AUTO(buf_release) struct buf raw = BUF_INIT;
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&raw, format, args);
    va_end(args);
    utf8_clean(&text, raw.data, raw.len, UTF8_ONE_LINE);
    size_t at = load->problems->list.len;
    while (at > load->first_problem && load->problems->list.items[at - 1].line > line)
        at--;
    vec_insert(&load->problems->list, at,
               (struct config_problem){
                   .source = mem_strdup(load->source), .line = line, .text = buf_take(&text)});
}

static void unknown_section(struct load *load, const struct ini_entry *entry)
{
    const char *section = entry->section;
    if (!*section) {
        complain(load, entry->line, "\"%s\" stands before any [section]; move it below one",
                 entry->name);
        return;
    }
    /* Compares the first words: "model" of "model *", and of the written name. */
    char *words[CONFIG_KEY_COUNT + 1];
    auto_free char *word = mem_strndup(section, strcspn(section, " "));
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        words[i] = mem_strndup(key_table[i].section, fixed_len(key_table[i].section));
    words[CONFIG_KEY_COUNT] = mem_strdup(OPEN_SECTION);
    const char *nearest = config_nearest(word, (const char *const *)words, CONFIG_KEY_COUNT + 1);
    if (nearest)
        complain(load, entry->line, "unknown section [%s]; did you mean [%s%s]?", section, nearest,
                 section_is_known(nearest) ? "" : " NAME");
    else
        complain(load, entry->line, "unknown section [%s]; 'tiro config show' lists them", section);
    for (int i = 0; i <= CONFIG_KEY_COUNT; i++)
        free(words[i]);
}

static void take_entry(struct load *load, const struct ini_entry *entry)
{
    const char *section = entry->section, *names[CONFIG_KEY_COUNT];
    enum config_key key = config_key_find(section, entry->name);
    const struct config_key_info *info = key == CONFIG_KEY_COUNT ? NULL : config_key_info(key);
    struct error e;
    size_t count = 0;
    if (!info && strcmp(section, OPEN_SECTION) != 0) {
        for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
            if (section_fits(key_table[i].section, section))
                names[count++] = key_table[i].name;
        const char *nearest = config_nearest(entry->name, names, count);
        if (nearest)
            complain(load, entry->line, "unknown key \"%s\" in [%s]; did you mean \"%s\"?",
                     entry->name, section, nearest);
        else
            complain(load, entry->line, "unknown key \"%s\" in [%s]; 'tiro config show' lists them",
                     entry->name, section);
    } else if (info && info->type == CONFIG_SECRET && *entry->value && load->readable_by_others) {
        complain(load, entry->line,
                 "%s is ignored because others may read this file; run: chmod 600 %s", info->name,
                 load->source);
    } else if (info && !value_fits(info, entry->value, &e)) {
        complain(load, entry->line, "%s", e.text);
    } else if (info && !config_key_is_free(info)) {
        (void)assign(load->config, key, entry->value, CONFIG_FROM_FILE, &e);
    } else {
        vec_push(&load->config->free_values,
                 (struct config_free_value){.section = mem_strdup(section),
                                            .name = mem_strdup(entry->name),
                                            .value = mem_strdup(entry->value),
                                            .source = mem_strdup(load->source),
                                            .line = entry->line});
    }
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
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error e;
    text.max = CONFIG_FILE_MAX;
    if (!paths_read_file(path, PATHS_FILE, &text, &e)) {
        complain(&load, 0, "%s", e.text);
    } else if (memchr(text.data, '\0', text.len)) {
        complain(&load, 0, "this is not a text file; nothing of it is used");
    } else {
        load.readable_by_others = st.st_mode & (S_IRWXG | S_IRWXO);
        load_text(&load, text.data);
    }
}

void config_load_environment(struct config *c, char *const *environment,
                             struct config_problems *problems)
{
    char *names[CONFIG_KEY_COUNT];
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        names[i] = config_variable((enum config_key)i);
    for (; *environment; environment++) {
        const char *value = strchr(*environment, '=');
        if (!value || strncmp(*environment, "TIRO_", 5) != 0)
            continue;
        auto_free char *source = mem_strndup(*environment, (size_t)(value - *environment));
        struct load load = {.config = c,
                            .source = source,
                            .problems = problems,
                            .first_problem = problems->list.len};
        struct error e;
        int key = 0;
        while (key < CONFIG_KEY_COUNT && strcmp(names[key], source) != 0)
            key++;
        const char *nearest =
            key < CONFIG_KEY_COUNT
                ? NULL
                : config_nearest(source, (const char *const *)names, CONFIG_KEY_COUNT);
        if (nearest)
            complain(&load, 0, "no setting has this name; did you mean %s?", nearest);
        else if (key == CONFIG_KEY_COUNT)
            complain(&load, 0, "no setting has this name; 'tiro config show' lists them");
        else if (!assign(c, (enum config_key)key, value + 1, CONFIG_FROM_ENVIRONMENT, &e))
            complain(&load, 0, "%s", e.text);
    }
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        free(names[i]);
}

void config_hide_environment(void)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        auto_free char *name = config_variable((enum config_key)i);
        const char *value = *name ? getenv(name) : NULL;
        bool secret = *name && key_table[i].type == CONFIG_SECRET;
        if (secret || (value && url_mask(NULL, value)))
            environment_hide(name);
    }
}
