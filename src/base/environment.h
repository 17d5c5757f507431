/* The environment, and secrets that must not leave the process: keys in environment variables,
 * passwords in URLs, keys that a command prints. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "base/wakeup.h"

/* ---- our own environment ---- Variables with keys are removed once their names are known, so that
 * neither a child nor /proc/PID/environ shows them; environment_get() still finds them. */

/* Removes a variable, if it is set, and overwrites its bytes. The name is remembered in any case.
 * Before any thread is started. */
void environment_hide(const char *name);

/* As getenv(), hidden variables included. Not to be changed or freed. */
char *environment_get(const char *name);

/* ---- the environment of a program that we start, by who wrote its command line ---- The command
 * for a key, hooks and $EDITOR are the user's own and get our whole environment; others get the
 * variables of a list. */

enum child_kind {
    CHILD_HELPER,  /* diff: the variables that find programs and name the language */
    CHILD_OF_MODEL /* a command that a model wrote: those that builds and tools need, and no keys */
};

struct child_environment {
    VEC(char *) list; /* ends with NULL */
};

/* Takes from `from` the variables of the kind's list and of `also` (names separated by blanks or
 * commas, a star at the end is any text; NULL: none). A variable of our list whose value is a URL
 * with a password, such as a proxy's, is left out. A model's command gets TERM=dumb and PAGER=cat,
 * so that it shows plain text. */
void child_environment_init(struct child_environment *e, char *const *from, enum child_kind kind,
                            const char *also);

/* The variable in which a program that another one starts gets the script below; the script unsets
 * it. */
#define CHILD_SCRIPT_VARIABLE "TIRO_FIRST"

/* Appends a POSIX shell script for a program that is started with another environment: it unsets
 * every variable that the list above does not have, then runs its first argument ("$1") as a
 * command, without input. Our hidden variables are unset even if they are in `also`. The script
 * contains no values. */
void child_environment_script(struct buf *out, enum child_kind kind, const char *also);

void child_environment_release(struct child_environment *e);

/* ---- URLs ---- */

/* Whether a URL in the text, scheme://user:password@host/path?name=value, has a login before the @
 * or a value in its query: either may be a key. Appends the text with these parts replaced by
 * "****", unless `out` is NULL. */
bool url_mask(struct buf *out, const char *text);

/* The text as one segment of a path: all but RFC 3986's unreserved characters as %XX. The caller
 * frees. */
char *url_escape(const char *text);

/* The byte of an escape "%XX" at the beginning of the text of `len` bytes; -1: there is none. */
int url_escaped_byte(const char *text, size_t len);

/* ---- a key from a command, such as a password manager's ---- */

/* Runs the command with /bin/sh, without a terminal and without its error output; `key` is its
 * first line without blanks around it. Fails when the command fails (the error tells its status,
 * never its output), when the line is empty, longer than 8 KiB or has a NUL character, after
 * timeout_ms, and with INTERRUPTED when the wakeup (NULL: none) says stop; in the last two cases
 * the command and what it started are killed. Its background processes are not waited for, and
 * daemons, such as agents of password managers, live on. `name`, the configuration key with the
 * command, stands in errors. Free the key with key_command_free(). */
bool key_command_run(const char *name, const char *command, int timeout_ms,
                     const struct wakeup *wakeup, char **key, struct error *e);

/* Overwrites the key before it frees it; NULL is fine. */
void key_command_free(char *key);

#endif
