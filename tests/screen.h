/* A person at a terminal: a program in a pseudo-terminal, its output drawn by libvterm, keys as a
 * terminal sends them. Waits have a deadline; one that fails shows the screen on standard error.
 * Uses no test framework, since the benchmarks use it, too. */
#ifndef TESTS_SCREEN_H
#define TESTS_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct screen;

/* Sets the answers of the terminal of every screen that is started later; they come before
 * libvterm's own (DA1 …). At most 16; the last entry has no question; borrowed. NULL: none. A
 * question without an answer: the terminal does not answer it at all. */
struct screen_answer {
    const char *question, *answer;
};
void screen_answers(const struct screen_answer *answers);

/* argv as for execv(). The environment is the caller's, with TERM=xterm-256color and LC_ALL=C.UTF-8
 * and without variables about the caller's own terminal. `directory` is the working directory;
 * NULL: the current one. */
struct screen *screen_start(const char *const *argv, const char *directory, int rows, int cols);
void screen_free(struct screen *s); /* kills the program if it still runs */
pid_t screen_pid(const struct screen *s);

/* Input. Text is sent unchanged; special keys in the mode that the program set. */
void screen_type(struct screen *s, const char *text);
void screen_ctrl(struct screen *s, char letter);
enum screen_key {
    SCREEN_ENTER,
    SCREEN_ESCAPE,
    SCREEN_TAB,
    SCREEN_BACKSPACE,
    SCREEN_UP,
    SCREEN_DOWN,
    SCREEN_LEFT,
    SCREEN_RIGHT,
    SCREEN_HOME,
    SCREEN_END,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_F1,
    SCREEN_F2,
    SCREEN_F3,
    SCREEN_F4
};
void screen_key(struct screen *s, enum screen_key key);
void screen_wheel(struct screen *s, bool up); /* nothing if the program asked for no mouse */
void screen_paste(struct screen *s, const char *text);
void screen_click(struct screen *s, int row, int col); /* likewise */

void screen_resize(struct screen *s, int rows, int cols);
void screen_signal(struct screen *s, int signal_number);
void screen_hang_up(struct screen *s); /* closes the terminal; no more waits for its text */

/* Waits until `holds` returns true. The condition is checked between synchronised frames only,
 * since a terminal never shows half a frame. */
bool screen_wait(struct screen *s, bool (*holds)(struct screen *s, void *context), void *context,
                 const char *what, int timeout_ms);
bool screen_wait_text(struct screen *s, const char *text, int timeout_ms); /* within one row */
bool screen_wait_gone(struct screen *s, const char *text, int timeout_ms);
bool screen_wait_count(struct screen *s, const char *text, int count, int timeout_ms);
bool screen_wait_row(struct screen *s, int row, const char *text, int timeout_ms);
bool screen_wait_exit(struct screen *s, int timeout_ms);

/* Reads output until there is some and no frame is half drawn, for at most timeout_ms; false if
 * none came. */
bool screen_pump(struct screen *s, int timeout_ms);

/* The content of the terminal. Texts are borrowed until the next call of the same function. Rows
 * have no trailing blanks. */
const char *screen_row_text(struct screen *s, int row);
const char *screen_text(struct screen *s); /* all rows, each with a newline */
bool screen_find(struct screen *s, const char *text, int *row, int *col);
bool screen_cell_is(struct screen *s, int row, int col, unsigned long character);
const char *screen_link(const struct screen *s, int row, int col); /* OSC 8; "": it leads nowhere */
void screen_cursor(const struct screen *s, int *row, int *col, bool *visible);
bool screen_alternate(const struct screen *s);
bool screen_mouse(const struct screen *s);
const char *screen_title(const struct screen *s); /* "" before one was set */
void screen_size(const struct screen *s, int *rows, int *cols);

/* All bytes that the program wrote, since the start or screen_forget_log(). */
const char *screen_log(const struct screen *s, size_t *len);
bool screen_log_has(const struct screen *s, const char *bytes);
void screen_forget_log(struct screen *s);
void screen_keep_log(struct screen *s, bool keep); /* on at first; the count goes on */
void screen_emulate(struct screen *s, bool draw); /* on at first; else nothing is on the screen */
size_t screen_bytes(const struct screen *s);       /* written since the start */

/* Bytes that were sent but not read by the program. */
size_t screen_unread(const struct screen *s);

/* Exit status, or 128 + the signal that killed it; -1 while it runs. */
int screen_status(const struct screen *s);
/* Whether the line settings of the terminal equal those before the start. */
bool screen_settings_restored(const struct screen *s);

/* Milliseconds on the monotonic clock, with fractions. */
double screen_clock(void);

void screen_dump(struct screen *s, const char *why);

#endif
