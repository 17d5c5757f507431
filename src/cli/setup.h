/* The configuration, read at the start of a command. */
#ifndef CLI_SETUP_H
#define CLI_SETUP_H

#include "base/json.h"
#include "config/config.h"

struct setup {
    struct config *config;
    struct config_problems problems;
    char *path; /* of the user's file, or of the profile */
};

/* Reads the user's file, the profile and the environment, and opens the diagnostic log if one is
 * configured. Errors become problems; it does not fail. */
void setup_load(struct setup *s);
void setup_release(struct setup *s);

/* Adds the problems of [keys] and of the theme, for config and doctor. The full screen reports them
 * by itself, and other commands do not use them. */
void setup_check_screen(const struct config *config, const char *path,
                        struct config_problems *problems);

/* "SOURCE:LINE: TEXT"; the caller frees. */
char *setup_problem_text(const struct config_problem *p);

/* One "tiro: CONFIG_ERROR: …" a problem, to standard error. */
void setup_print_problems(const struct setup *s);

/* A list of {"source","line","text"}; the caller frees. */
struct json *setup_problems_json(const struct setup *s);

#endif
