/* Configuration: data/tiro.ini's defaults < the user's file < TIRO_SECTION_KEY of the environment <
 * the command line. An empty value is the default again. A struct config is immutable once loaded
 * and may be read by any thread. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/keys.h"

enum config_key {
#define X(id, section, name, type, fallback, min, max, choices, help) CONFIG_##id,
    CONFIG_KEYS(X)
#undef X
        CONFIG_KEY_COUNT
};

enum config_type {
    CONFIG_STRING,
    CONFIG_SECRET,
    CONFIG_COMMAND,
    CONFIG_INTEGER,
    CONFIG_REAL,
    CONFIG_BOOLEAN,
    CONFIG_CHOICE,
    CONFIG_TERMINAL = 16, /* in the table of keys alone, added to the type */
    CONFIG_TERMINAL_STRING = CONFIG_STRING + CONFIG_TERMINAL,
    CONFIG_TERMINAL_CHOICE = CONFIG_CHOICE + CONFIG_TERMINAL
};

struct config_key_info {
    const char *section, *name;
    enum config_type type; /* without CONFIG_TERMINAL */
    bool terminal;         /* no other program may set it */
    const char *fallback;
    double min, max;
    const char *choices;
    const char *help;
};

/* One complaint: an unknown section or key (with the nearest known one), a bad value, a syntax
 * error, a secret in a readable file. The default is used in place of what it complains of. */
struct config_problem {
    char *source; /* file, or the environment variable's name */
    int line;     /* 0 for the environment */
    char *text;   /* English; the command line prints "SOURCE:LINE: TEXT" */
};
struct config_problems {
    VEC(struct config_problem) list;
};
void config_problems_release(struct config_problems *p);

/* Where a value came from, for `config show`. */
enum config_origin {
    CONFIG_FROM_DEFAULT,
    CONFIG_FROM_FILE,
    CONFIG_FROM_ENVIRONMENT,
    CONFIG_FROM_COMMAND_LINE
};

struct config;

struct config *config_new(void); /* defaults only */
void config_free(struct config *c);
AUTO_POINTER(config_free, struct config)

const struct config_key_info *config_key_info(enum config_key key);

/* Whether its section or name has a free part ("model *", "*.paths"): the key has no single value;
 * its values are read by config_visit(). */
bool config_key_is_free(const struct config_key_info *info);

/* CONFIG_KEY_COUNT: there is none, or the section's keys are free. */
enum config_key config_key_find(const char *section, const char *name);

/* Adds a file's values. A file that does not exist adds nothing and is no error; one that cannot
 * be read is a problem. */
void config_load_file(struct config *c, const char *path, struct config_problems *problems);

/* The same for a text in memory; `source` names it in problems. Secrets are accepted. */
void config_load_text(struct config *c, const char *source, const char *text,
                      struct config_problems *problems);

/* TIRO_SECTION_KEY, e.g. TIRO_UI_THEME; `environment` is like environ. */
void config_load_environment(struct config *c, char *const *environment,
                             struct config_problems *problems);

/* Removes secret variables from the environment (base/environment.h), after they are loaded and
 * before any thread is started. */
void config_hide_environment(void);

/* From the command line. False with CONFIG_ERROR on a value that does not fit. */
bool config_set(struct config *c, enum config_key key, const char *value, struct error *e);

/* A decimal number with a point in every locale; false when the text is not wholly one. */
bool config_value_real(const char *text, double *out);

/* Values. A string is "" when unset; config_is_set() tells unset numbers from 0. A word that an
 * INTEGER key allows beside numbers ("auto") is -1. */
const char *config_string(const struct config *c, enum config_key key);
int64_t config_integer(const struct config *c, enum config_key key);
double config_real(const struct config *c, enum config_key key);
bool config_boolean(const struct config *c, enum config_key key);
bool config_is_set(const struct config *c, enum config_key key);
enum config_origin config_origin(const struct config *c, enum config_key key);

/* TIRO_UI_THEME for [ui] theme, "" for a key without a variable; the caller frees. */
char *config_variable(enum config_key key);

/* Visits the values of sections with a free name ("model *") and of [keys], in the order of the
 * file, if the section begins with `section_prefix`; e.g. ("model gpt-4o", "window", "128000"). */
void config_visit(const struct config *c, const char *section_prefix,
                  void (*visit)(void *context, const char *section, const char *name,
                                const char *value, const char *source, int line),
                  void *context);

/* The nearest of the words to `word` (Levenshtein distance at most a third of its length, at least
 * 2, less than all of it), or NULL. For keys, commands, options. */
const char *config_nearest(const char *word, const char *const *words, size_t count);

#endif
