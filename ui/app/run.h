/* The two terminal surfaces and what they are started with. */
#ifndef UI_APP_RUN_H
#define UI_APP_RUN_H

#include "chat/mention.h"
#include "config/config.h"
#include "session/engine.h"

struct ui_options {
    const struct config *config;
    const struct engine_options *engine;
    const char *first_draft;       /* pipes of -f, the beginning of the first message; NULL: none */
    const struct mentions *attach; /* files of -f, which go with the first message; NULL: none */
    char *const *warnings;         /* shown as notes at the start; ends with NULL; may be NULL */
};

/* Takes the terminal, runs the conversation and gives the terminal back. Returns the exit status:
 * 0, 128 + the number of the signal that ended it, or 1 with `e` set (no usable terminal). */
int ui_run(const struct ui_options *options, struct error *e);

/* The surface for terminals that show one line after the other, and for screen readers: output is
 * lines, commands are typed. Input and output may be pipes. Returns as ui_run(). At the end of the
 * input the program leaves when the running turn has ended. */
int plain_run(const struct ui_options *options, struct error *e);

#endif
