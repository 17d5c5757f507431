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
    *f = (struct failure){.retry_after_ms = -1, .prompt_tokens = -1, .window = -1};
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

int retry_limit(const struct failure *f, int max_retries)
{
    bool patient = f->kind == FAILURE_LOADING && max_retries > 0 && max_retries < LOADING_RETRIES;
    return patient ? LOADING_RETRIES : max_retries;
}

int64_t retry_wait(const struct failure *f, int attempt, int max_retries, double unit)
{
    if (f->content_seen || !is_passing(f) || attempt > retry_limit(f, max_retries))
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
