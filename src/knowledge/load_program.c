/* Formats that another program reads: PDF with pdftotext, and the commands of the user. Each is a
 * child process: what a file does to it is done to it alone. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/child_environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/document_loaders.h"

enum { NOT_FOUND = 127, SHELL_SIGNAL = 128, SAID_MOST = 4096 };

/* Of a child, which a small file can make it use up: KiB of memory, seconds of processor time. The
 * limits are soft, so that a command of the user's own can raise them. */
#define LIMITS "ulimit -S -v 524288 2>/dev/null; ulimit -S -t 20 2>/dev/null; "
static const char late[] = "takes longer than 20 s of processor time to read";

extern char **environ;

/* What a program wrote. */
struct written {
    struct loading *l;
    struct buf *out;
    size_t most;
};

static bool take(void *context, const char *bytes, size_t len)
{
    struct written *w = context;
    if (len > w->most - w->out->len)
        return false;
    buf_add(w->out, bytes, len);
    return true;
}

/* The last line of what it said, which is the reason as a rule. */
static enum document_outcome tell_status(struct loading *l, const char *program, int status,
                                         struct buf *said)
{
    struct buf line = BUF_INIT;
    buf_trim_end(said, " \t\r\n");
    const char *last = strrchr(said->data, '\n');
    last = last ? last + 1 : said->data;
    utf8_clean(&line, last, strlen(last), UTF8_ONE_LINE);
    if (status == NOT_FOUND)
        loading_fails(l, "cannot be read: %s is not installed", program);
    else if (status == SHELL_SIGNAL + SIGXCPU)
        loading_fails(l, late);
    else if (line.len > 0)
        loading_fails(l, "cannot be read: %s: %s", program, line.data);
    else
        loading_fails(l, "cannot be read: %s ended with status %d", program, status);
    buf_release(&line);
    return DOCUMENT_FAILED;
}

static enum document_outcome outcome_of(struct loading *l, const char *program,
                                        const struct child_result *result)
{
    int64_t most = l->options->limits.text >> 20;
    switch (result->end) {
    case CHILD_EXITED:
        return DOCUMENT_LOADED; /* whatever its status */
    case CHILD_SIGNALED:
        if (result->status == SIGXCPU)
            return loading_fails(l, late);
        return loading_fails(l, "cannot be read: %s was ended by signal %d", program,
                             result->status);
    case CHILD_LATE:
        return loading_fails(l, "takes longer than %lld s to read",
                             (long long)(l->options->limits.ms + 999) / 1000);
    case CHILD_STOPPED:
        err_set(l->e, ERR_INTERRUPTED, "stopped");
        return DOCUMENT_STOPPED;
    case CHILD_REFUSED:
        return loading_fails(l, "has more than %lld MiB of text", (long long)most);
    }
    return DOCUMENT_FAILED;
}

/* Runs the child with the short list of variables; its output becomes the document's text. */
static enum document_outcome run(struct loading *l, const char *program,
                                 struct child_command *child, int *status)
{
    struct written written = {l, &l->out->text, (size_t)l->options->limits.text};
    struct child_environment environment;
    struct child_result result;
    struct error e;
    child_environment_init(&environment, environ, CHILD_HELPER, "HOME");
    child->environment = environment.list.items;
    child->deadline_ms = l->deadline_ms;
    child->wakeup = l->options->wakeup;
    child->take = take;
    child->context = &written;
    bool ran = child_run(child, &result, &e);
    child_environment_release(&environment);
    if (!ran)
        return loading_fails(l, "cannot be read: %s", e.text);
    *status = result.status;
    return outcome_of(l, program, &result);
}

/* Form feeds end pages; a text without one has none. */
static enum document_outcome take_pages(struct loading *l)
{
    const struct buf *text = &l->out->text;
    if (memchr(text->data, '\0', text->len))
        return loading_fails(l, "cannot be read: what came of it is no text");
    bool has_pages = memchr(text->data, '\f', text->len) != NULL;
    int64_t page = has_pages;
    for (size_t at = 0; at < text->len; page++) {
        const char *feed = memchr(text->data + at, '\f', text->len - at);
        size_t end = feed ? (size_t)(feed - text->data) : text->len;
        loading_add_part(l, (struct document_part){.page = has_pages ? page : 0}, at, end);
        at = end + 1;
    }
    if (l->out->parts.len == 0)
        return loading_skips(l, "has no text: its pages may be pictures");
    return DOCUMENT_LOADED;
}

/* --- PDF -------------------------------------------------------------------------------------- */

/* The number is child_run()'s for `extra`: so it reads the file that was opened, even if the path
 * leads to another file by now. */
static const char pdftotext[] = LIMITS "exec pdftotext -q -enc UTF-8 -eol unix /dev/fd/3 -";
static const char pdftotext_reason[] = LIMITS "exec pdftotext -l 1 /dev/fd/3 /dev/null";

static enum document_outcome run_pdftotext(struct loading *l, const char *line, bool with_errors,
                                           int *status)
{
    struct child_command child = {.argv = (const char *const[]){"/bin/sh", "-c", line, NULL},
                                  .extra = l->fd,
                                  .with_errors = with_errors};
    return run(l, "pdftotext", &child, status);
}

enum document_outcome load_pdf(struct loading *l)
{
    int status = 0, again;
    enum document_outcome outcome = run_pdftotext(l, pdftotext, false, &status);
    if (outcome != DOCUMENT_LOADED)
        return outcome;
    if (status == 0)
        return take_pages(l);
    buf_clear(&l->out->text);
    outcome = run_pdftotext(l, pdftotext_reason, true, &again);
    if (outcome != DOCUMENT_LOADED)
        return outcome;
    buf_truncate(&l->out->text, l->out->text.len < SAID_MOST ? l->out->text.len : SAID_MOST);
    return tell_status(l, "pdftotext", status, &l->out->text);
}

/* --- commands of the user --------------------------------------------------------------------- */

/* $1 is one word, whatever is in the file's name. */
static const char before_command[] = LIMITS "set -f; IFS=; ";

enum document_outcome load_command(struct loading *l)
{
    char *line = mem_printf("%s%s", before_command, l->command);
    char *path = *l->name == '/' ? mem_strdup(l->name) : mem_printf("./%s", l->name);
    char *program = mem_strndup(l->command, strcspn(l->command, " \t"));
    struct child_command child = {
        .argv = (const char *const[]){"/bin/sh", "-c", line, "sh", path, NULL}};
    struct buf nothing = BUF_INIT;
    int status = 0;
    enum document_outcome outcome = run(l, program, &child, &status);
    if (outcome == DOCUMENT_LOADED)
        outcome = status == 0 ? take_pages(l) : tell_status(l, program, status, &nothing);
    buf_release(&nothing);
    free(program);
    free(path);
    free(line);
    return outcome;
}
