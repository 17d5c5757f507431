/* A key from a command, as password managers give it. */
#ifndef BASE_KEY_COMMAND_H
#define BASE_KEY_COMMAND_H

#include <stdbool.h>

#include "base/err.h"
#include "base/wakeup.h"

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
