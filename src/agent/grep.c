#include "agent/grep.h"

#include <string.h>

#include "base/child.h"
#include "base/child_environment.h"
#include "base/utf8.h"

extern char **environ;

enum { NOT_FOUND = 127, MAX_COMPLAINT = 4096, MAX_REASON = 200 };

/* A small pattern can grow beyond all memory: where the shell knows that limit, grep gets 2 GB of
 * it. Its complaints are in English, its locale is the user's. */
static const char grep_command[] =
    "LANGUAGE=C; export LANGUAGE; "
    "ulimit -v 2000000 2>/dev/null; exec grep \"$@\"";

static bool run_child(const struct grep *g, const char *options, struct child_command *c,
                      struct child_result *result, struct error *e)
{
    const char *const argv[] = {"/bin/sh", "-c",       grep_command,
                                "sh",      options,    g->ignore_case ? "-i" : "-a",
                                "-e",      g->pattern, NULL};
    struct child_environment environment;
    child_environment_init(&environment, environ, CHILD_HELPER, NULL);
    c->argv = argv;
    c->environment = environment.list.items;
    c->deadline_ms = g->deadline_ms;
    c->wakeup = g->wakeup;
    bool ok = child_run(c, result, e);
    child_environment_release(&environment);
    return ok;
}

/* "N:text" and a newline, again and again, in pieces. */
struct reader {
    const struct grep_lines *lines;
    size_t number;
    bool in_text;
    struct buf text;
};

static bool read_byte(struct reader *r, char c)
{
    bool more = true;
    if (c == '\n') {
        more = r->lines->line(r->lines->context, r->number, r->text.data, r->text.len);
        buf_clear(&r->text);
        r->number = 0;
        r->in_text = false;
    } else if (r->in_text && r->text.len < GREP_MAX_TEXT) {
        buf_addch(&r->text, c);
    } else if (c == ':') {
        r->in_text = true;
    } else if (!r->in_text && c >= '0' && c <= '9') {
        r->number = 10 * r->number + (size_t)(c - '0');
    }
    return more;
}

static bool take_lines(void *context, const char *bytes, size_t len)
{
    bool more = true;
    for (size_t i = 0; more && i < len; i++)
        more = read_byte(context, bytes[i]);
    return more;
}

static enum grep_end conclude(const struct child_result *result, struct error *e)
{
    switch (result->end) {
    case CHILD_LATE:
        return GREP_TIMED_OUT;
    case CHILD_STOPPED:
        return GREP_INTERRUPTED;
    case CHILD_REFUSED:
        return GREP_DONE;
    case CHILD_SIGNALED:
        err_set(e, ERR_AGENT_ERROR, "grep was ended by signal %d", result->status);
        return GREP_FAILED;
    case CHILD_EXITED:
        break;
    }
    if (result->status <= 1)
        return GREP_DONE;
    if (result->status == NOT_FOUND)
        err_set(e, ERR_AGENT_ERROR, "grep is not installed, and files are searched with it");
    else
        err_set(e, ERR_AGENT_ERROR, "grep failed with exit status %d", result->status);
    return GREP_FAILED;
}

enum grep_end grep_run(const struct grep *g, const struct grep_lines *lines, struct error *e)
{
    struct child_result result;
    struct reader reader = {.lines = lines, .text = BUF_INIT};
    struct child_command command = {.input = lines->text->data,
                                    .input_len = lines->text->len,
                                    .take = take_lines,
                                    .context = &reader};
    bool ran = run_child(g, lines->only_matches ? "-naoE" : "-naE", &command, &result, e);
    buf_release(&reader.text);
    return ran ? conclude(&result, e) : GREP_FAILED;
}

static bool take_complaint(void *context, const char *bytes, size_t len)
{
    struct buf *complaint = context;
    size_t free_bytes = MAX_COMPLAINT - complaint->len;
    buf_add(complaint, bytes, len < free_bytes ? len : free_bytes);
    return true;
}

/* Behind "grep: ", which may have a path before it. */
static const char *skip_name(const char *line, size_t len)
{
    static const char name[] = "grep: ";
    const char *found = strstr(line, name);
    bool at_start = found && found < line + len && !memchr(line, ' ', (size_t)(found - line));
    return at_start ? found + sizeof name - 1 : line;
}

/* What is not a mere warning. */
static void find_reason(const char *complaint, struct buf *out)
{
    static const char warning[] = "warning: ";
    const char *line = complaint;
    while (*line) {
        size_t len = strcspn(line, "\n");
        const char *text = skip_name(line, len);
        size_t text_len = (size_t)(line + len - text);
        if (strncmp(text, warning, sizeof warning - 1) != 0) {
            utf8_clean(out, text, utf8_cut_bytes(text, text_len, MAX_REASON), UTF8_ONE_LINE);
            return;
        }
        line += len + (line[len] == '\n');
    }
    buf_addstr(out, "grep does not take it");
}

enum grep_end grep_check(const struct grep *g, struct error *e)
{
    enum { BAD_PATTERN = 2 };
    struct child_result result;
    struct buf complaint = BUF_INIT, reason = BUF_INIT;
    struct child_command command = {
        .with_errors = true, .take = take_complaint, .context = &complaint};
    enum grep_end end = GREP_FAILED;
    if (run_child(g, "-naE", &command, &result, e)) {
        end = conclude(&result, e);
        if (result.end == CHILD_EXITED && result.status == BAD_PATTERN) {
            find_reason(complaint.data, &reason);
            err_set(e, ERR_USAGE, "bad pattern: %s", reason.data);
        }
    }
    buf_release(&complaint);
    buf_release(&reason);
    return end;
}
