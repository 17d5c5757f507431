/* Our own environment. Keys that came in it are taken out once they are known by name, so that
 * neither a child nor /proc/PID/environ shows them, and found here from then on. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "base/wakeup.h"

/* Takes a variable out, if it is there, and overwrites its bytes; its name is known from then on in
 * any case. Before any thread is started. */
void environment_hide(const char *name);

/* The names that were hidden, one after the other; NULL behind the last. Another program may have
 * them in an environment of its own. */
const char *environment_hidden(size_t index);

/* As getenv(), also of what was hidden. Not to be changed or freed. */
char *environment_get(const char *name);

/* URLs: passwords and keys in them, which are not shown, and texts made fit for them. */

/* Whether there is something before an @ of the host, or a value in the query, which may be a key:
 * scheme://user:password@host/path?name=value. */
bool url_has_secret(const char *url);

/* Appends the text with these parts as "****" in every URL of it; all else stays. */
void url_add_masked(struct buf *out, const char *text);

/* The text as one segment of a path: all but RFC 3986's unreserved characters as %XX. The caller
 * frees. */
char *url_escape(const char *text);

/* The environment of a program that we start, by who wrote its command line. The command for a key
 * and $EDITOR are the user's own and get all of ours, from which our keys were taken
 * (environment.h); others get what a list names. */

enum child_kind {
    CHILD_HELPER,  /* diff: what finds programs and tells the language */
    CHILD_OF_MODEL /* a command that a model wrote: what builds and tools need, and no keys */
};

struct child_environment {
    VEC(char *) list; /* ends with NULL */
};

/* What `from` has of the kind's list, and of the names in `also` (parted by blanks or commas, a
 * star at the end is any text; NULL: none). What our list names does not go along when it is a URL
 * with a password, as of a proxy. For a model's command TERM is dumb and PAGER cat, so that it
 * shows text and nothing else. */
void child_environment_init(struct child_environment *e, char *const *from, enum child_kind kind,
                            const char *also);

/* The variable that such a program gives the lines below in; they take it away, too. */
#define CHILD_SCRIPT_VARIABLE "TIRO_FIRST"

/* Appends lines of a shell (POSIX) for a program that starts it with an environment of its own:
 * they leave of that what this list has, and then run their first argument ("$1") as a command,
 * without input. What was hidden of ours (environment.h) is taken away, too, whoever names it.
 * There is no value in them. */
void child_environment_script(struct buf *out, enum child_kind kind, const char *also);

void child_environment_release(struct child_environment *e);

/* A key from a command, as password managers give it. */

/* Runs the command with /bin/sh, without terminal input and its error output thrown away; `key` is
 * its first line, without blanks around it. Fails when the command does (the error tells its
 * status, never its output), when the line is empty, longer than 8 KiB or has a NUL character, and
 * after timeout_ms, at which the command and what it started are killed, as they are when the
 * wakeup (NULL: none) says stop: INTERRUPTED. What it leaves in the background is not waited for;
 * what made itself a daemon, as the agents of password managers do, lives on. Errors call it by
 * `name`, the key of the configuration that it is. Free the key with key_command_free(). */
bool key_command_run(const char *name, const char *command, int timeout_ms,
                     const struct wakeup *wakeup, char **key, struct error *e);

/* Overwrites the key before it frees it; NULL is fine. */
void key_command_free(char *key);

#endif
