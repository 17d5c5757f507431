#include "base/key_command.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"

#define LINE_MAX_BYTES 8192

struct first_line {
    char bytes[LINE_MAX_BYTES];
    size_t len;
    bool ended; /* its newline came */
};

void key_command_free(char *key)
{
    if (key)
        mem_wipe(key, strlen(key));
    free(key);
}

static bool take_bytes(void *context, const char *bytes, size_t len)
{
    struct first_line *line = context;
    const char *newline = memchr(bytes, '\n', len);
    size_t wanted = newline ? (size_t)(newline - bytes) : len;
    if (line->ended)
        return true;
    if (wanted > sizeof line->bytes - line->len)
        return false;
    memcpy(line->bytes + line->len, bytes, wanted);
    line->len += wanted;
    line->ended = newline != NULL;
    return true;
}

static bool check(const char *name, const struct child_result *result, struct error *e)
{
    switch (result->end) {
    case CHILD_STOPPED:
        return err_set(e, ERR_INTERRUPTED, "%s was interrupted; send it again", name);
    case CHILD_REFUSED:
        return err_set(e, ERR_CONFIG_ERROR,
                       "the first line of %s's output is longer than 8 KiB; it must "
                       "print nothing but the key there",
                       name);
    case CHILD_LATE:
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s did not end in time and was stopped; run it in a shell to "
                       "see what it waits for",
                       name);
    case CHILD_SIGNALED:
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s was ended by signal %d; run it in a shell to see why", name,
                       result->status);
    case CHILD_EXITED:
        break;
    }
    if (result->status != 0)
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s failed with exit status %d; run it in a shell to see why", name,
                       result->status);
    return true;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool take_key(const char *name, const struct first_line *line, char **key, struct error *e)
{
    size_t from = 0;
    size_t to = line->len;
    while (from < to && blank(line->bytes[from]))
        from++;
    while (to > from && blank(line->bytes[to - 1]))
        to--;
    if (from == to)
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s printed nothing on its first line; the key belongs there", name);
    if (memchr(line->bytes + from, '\0', to - from))
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s printed a NUL character on its first line; it must print "
                       "nothing but the key there",
                       name);
    *key = mem_strndup(line->bytes + from, to - from);
    return true;
}

static bool run(const char *name, const char *command, int timeout_ms, const struct wakeup *wakeup,
                struct first_line *line, struct error *e)
{
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    const struct child_command child = {.argv = argv,
                                        .deadline_ms = clock_mono_ms() + timeout_ms,
                                        .wakeup = wakeup,
                                        .spares_daemons = true,
                                        .take = take_bytes,
                                        .context = line};
    struct child_result result;
    struct error fault = {0};
    if (!child_run(&child, &result, &fault))
        return err_set(e, ERR_CONFIG_ERROR, "cannot run %s: %s", name, fault.text);
    return check(name, &result, e);
}

bool key_command_run(const char *name, const char *command, int timeout_ms,
                     const struct wakeup *wakeup, char **key, struct error *e)
{
    struct first_line line = {.len = 0};
    bool ok = run(name, command, timeout_ms, wakeup, &line, e) && take_key(name, &line, key, e);
    mem_wipe(&line, sizeof line);
    return ok;
}
