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
    int row, col;   /* where the first character goes */
    int typed;      /* characters in the editor */
};

/* A fresh home under $TMPDIR; everything until the next call lives there. Removed at the end. */
void chat_new_home(void);
const char *chat_home(void);

/* Starts the program (a model's address, or NULL for offline; one more argument, or NULL, or a few
 * with NULL behind them), waits for the prompt. Ends the benchmark with the screen shown if it does
 * not come. */
void chat_open(struct chat *c, const char *model_url, const char *argument);
void chat_open_with(struct chat *c, const char *model_url, const char *const *arguments);
void chat_close(struct chat *c);

/* Programs that are started from now on ask this model. */
void chat_tell_model(const char *url);

/* Types one character and returns the milliseconds until it is on the screen. */
double chat_key_echo(struct chat *c);

/* Empties the editor. */
void chat_clear(struct chat *c);

/* Takes in what the program writes, for so long. */
void chat_watch(struct chat *c, double ms);

/* Takes in what the program writes until it has been silent for so long; returns when the last of
 * it came (screen_clock()), or when it was called. */
double chat_settle(struct chat *c, int silence_ms);

/* Waits for the end of the turn. */
void chat_wait_idle(struct chat *c);

/* Sends a question; returns when (screen_clock()). */
double chat_ask(struct chat *c);

/* Ends the benchmark if a wait has failed. */
void chat_must(struct chat *c, bool ok, const char *what);

#endif
