/* The program at a terminal of 120 columns and 40 rows, watched from outside. */
#ifndef BENCH_CHAT_H
#define BENCH_CHAT_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/screen.h"

enum { CHAT_ROWS = 40, CHAT_COLS = 120, CHAT_DEADLINE_MS = 60000 };

struct chat {
    struct screen *screen;
    double started; /* screen_clock() */
    int row, col;   /* screen position of the first character */
    int typed;      /* characters in the editor */
};

/* Makes a fresh home under $TMPDIR, used until the next call. Removed at the end. */
void chat_new_home(void);
const char *chat_home(void);

/* Starts the program with a model's address (NULL: offline) and more arguments (NULL, one, or
 * several that end with NULL), and waits for the prompt. If none comes, shows the screen and ends
 * the benchmark. */
void chat_open(struct chat *c, const char *model_url, const char *argument);
void chat_open_with(struct chat *c, const char *model_url, const char *const *arguments);
void chat_close(struct chat *c);

/* Programs that are started later use this model. */
void chat_tell_model(const char *url);

/* Types one character and returns the milliseconds until it is on the screen. */
double chat_key_echo(struct chat *c);

/* Empties the editor. */
void chat_clear(struct chat *c);

/* Reads the program's output for this time. */
void chat_watch(struct chat *c, double ms);

/* Reads the program's output until it has been silent for this time. Returns the time of the last
 * output (screen_clock()), or of the call. */
double chat_settle(struct chat *c, int silence_ms);

/* Waits for the end of the turn. */
void chat_wait_idle(struct chat *c);

/* Sends a question; returns the time (screen_clock()). */
double chat_ask(struct chat *c);

/* Ends the benchmark if a wait has failed. */
void chat_must(struct chat *c, bool ok, const char *what);

#endif
