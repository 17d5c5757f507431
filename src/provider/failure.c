#include "provider/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define FIRST_WAIT_MS 500
#define LONGEST_WAIT_MS 30000
#define LONGEST_LOADING_WAIT_MS 5000
/* About five minutes at the waits above: a large model from a slow disk. */
#define LOADING_RETRIES 60

void failure_clear(struct failure *f)
{
    *f = (struct failure){.retry_after_ms = -1, .prompt_tokens = -1, .window = -1, .body_bytes = -1};
}

bool failure_set(struct failure *f, enum failure_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    f->kind = kind;
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
    size_t len = strlen(f->text);
    f->text[len - utf8_incomplete_tail(f->text, len)] = '\0';
    return false;
}

/* The first that fits. */
static const struct {
    enum failure_kind kind;
    int lowest, highest; /* statuses */
    const char *text;
} advices[] = {
    {FAILURE_STATUS, 300, 399, "check the base URL"},
    {FAILURE_STATUS, 401, 403, "check the API key and its access to this model"},
    {FAILURE_STATUS, 408, 409, "try again"},
    {FAILURE_STATUS, 429, 429, "wait a while, or choose another model"},
    {FAILURE_STATUS, 500, 599, "the server failed: try again later"},
    {FAILURE_STATUS, 400, 499, "change the message, or choose another model"},
    {FAILURE_CONNECT, 0, 999, "check that the server is running, and the base URL"},
    {FAILURE_STALL, 0, 999, "try again, or raise stall_timeout in [provider]"},
    {FAILURE_PROTOCOL, 0, 999, "check the base URL"},
    {FAILURE_TOO_LARGE, 0, 999, "ask for less at once"},
    {FAILURE_OVERFLOW, 0, 999, "start a new session, or choose a model with a larger window"},
    {FAILURE_QUOTA, 0, 999, "add credit, or use another key or provider"},
    {FAILURE_LOADING, 0, 999, "try again once it is loaded"},
    {FAILURE_SETUP, 0, 999, "'tiro config show' lists the settings and where each is set"},
};

static const char *advice(const struct failure *f)
{
    enum failure_kind kind = f->kind == FAILURE_STREAM ? FAILURE_STATUS : f->kind;
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (advices[i].kind == kind && f->status >= advices[i].lowest &&
            f->status <= advices[i].highest)
            return advices[i].text;
    return "try again";
}

bool failure_error(const struct failure *f, struct error *e)
{
    if (err_advice(f->text))
        return err_set(e, ERR_AGENT_ERROR, "%s", f->text);
    const char *what_to_do = advice(f);
    size_t len = strlen(f->text), room = sizeof e->text - strlen("…; ") - strlen(what_to_do) - 1;
    bool cut = len > room;
    if (cut)
        len = utf8_cut_bytes(f->text, len, room);
    return err_set(e, ERR_AGENT_ERROR, "%.*s%s; %s", (int)len, f->text, cut ? "…" : "", what_to_do);
}

static bool status_is_passing(int status)
{
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

static bool is_passing(const struct failure *f)
{
    switch (f->kind) {
    case FAILURE_CONNECT:
    case FAILURE_STALL:
    case FAILURE_CUT:
    case FAILURE_LOADING:
        return true;
    case FAILURE_STATUS:
        return status_is_passing(f->status);
    case FAILURE_STREAM:
        return f->status == 0 || status_is_passing(f->status);
    case FAILURE_NONE:
    case FAILURE_CANCELLED:
    case FAILURE_PROTOCOL:
    case FAILURE_TOO_LARGE:
    case FAILURE_OVERFLOW:
    case FAILURE_QUOTA:
    case FAILURE_SETUP:
        return false;
    }
    return false;
}

int failure_retry_limit(const struct failure *f, int max_retries)
{
    bool patient = f->kind == FAILURE_LOADING && max_retries > 0 && max_retries < LOADING_RETRIES;
    return patient ? LOADING_RETRIES : max_retries;
}

int64_t failure_retry_wait(const struct failure *f, int attempt, int max_retries, double unit)
{
    if (f->content_seen || !is_passing(f) || attempt > failure_retry_limit(f, max_retries))
        return -1;
    if (f->retry_after_ms >= 0)
        return f->retry_after_ms;
    int64_t longest = f->kind == FAILURE_LOADING ? LONGEST_LOADING_WAIT_MS : LONGEST_WAIT_MS;
    int64_t wait = FIRST_WAIT_MS;
    for (int n = 1; n < attempt && wait < longest; n++)
        wait *= 2;
    if (wait > longest)
        wait = longest;
    return (int64_t)((double)wait * (0.9 + 0.2 * unit) + 0.5);
}
