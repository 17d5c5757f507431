/* The line to the terminal, below curses: its settings and plain writes, so that a dying program
 * can still give it back; the signals; the user's editor ($VISUAL, $EDITOR, vi). */
#ifndef UI_TTY_H
#define UI_TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Remembers the settings of standard input. False if that is no terminal. */
bool tty_save(void);

/* Puts the settings back that tty_save() found. Async-signal-safe. */
void tty_restore(void);

/* The bytes that leave our modes; copied, at most TTY_LEAVE_MAX. NULL: nothing to leave. */
#define TTY_LEAVE_MAX 512
void tty_set_leave(const char *bytes);

/* For a program that dies: writes the leave bytes and puts the settings back, if there is something
 * to leave. Nothing written to standard output after that arrives: other threads may still draw.
 * Only calls that are safe in a signal handler at any moment. */
void tty_emergency_release(void);

/* Writes all of it, past signals and short writes. False: nobody takes it. */
bool tty_write(const char *bytes, size_t len);
void tty_puts(const char *s);

/* Reads what has arrived on standard input: bytes, 0 at its end or when it went away, -1 when
 * nothing came within timeout_ms. */
long tty_read(char *bytes, size_t size, int timeout_ms);

/* Catches SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGTSTP and SIGCONT into the pipe, ignores SIGPIPE,
 * and lets fatal faults (SIGSEGV …) run `rescue` before they kill. `rescue` must be
 * async-signal-safe; NULL: nothing is to be restored. */
bool signals_init(void (*rescue)(void), struct error *e);

/* Puts back what was before. */
void signals_release(void);

/* Readable while signals wait. The functions on signals are for the UI thread only. */
int signals_fd(void);

/* The next signal that came, 0 if none. Repeats of one signal may come as one. */
int signals_next(void);

/* Stops the program as Ctrl-Z does, and returns when it goes on. */
void signals_stop(void);

/* Edits `text` in a file of mode 0600, which is removed afterwards, and fills `out` with the
 * result. Waits for the editor. False if it cannot be started or failed. The terminal must be
 * suspended. */
bool external_editor_run(const char *text, struct buf *out, struct error *e);

/* Edits an existing file, which stays, from this line on (0: where the editor begins). */
bool external_editor_open(const char *path, int64_t line, struct error *e);

#endif
