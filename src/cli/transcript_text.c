#include "cli/transcript_text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"

char *transcript_text_time(int64_t wall_ms)
{
    char text[32];
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm local;
    if (!localtime_r(&seconds, &local) ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local) == 0)
        return mem_strdup("?");
    return mem_strdup(text);
}

static void add_paragraph(struct buf *out, const char *text)
{
    size_t begin = out->len;
    if (text)
        utf8_clean(out, text, strlen(text), UTF8_MULTILINE);
    if (out->len > begin && out->data[out->len - 1] != '\n')
        buf_addch(out, '\n');
    buf_addch(out, '\n');
}

static void add_line(struct buf *out, const char *text)
{
    if (text)
        utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
}

static void add_run_started(struct buf *out, const struct event *ev)
{
    char *at = transcript_text_time(ev->wall_ms);
    buf_addf(out, "## %s · %s\n\n", _("you"), at);
    add_paragraph(out, ev->text);
    free(at);
}

static void add_text(struct buf *out, const struct event *ev)
{
    buf_addf(out, "## %s%s\n\n", "tiro", ev->flag ? _(" · cut off") : "");
    add_paragraph(out, ev->text);
}

static void add_call(struct buf *out, const struct event *ev)
{
    buf_addstr(out, "> ");
    add_line(out, ev->name);
    buf_addch(out, ' ');
    add_line(out, ev->text);
    buf_addch(out, '\n');
}

static void add_result(struct buf *out, const struct event *ev)
{
    size_t len = ev->text ? strlen(ev->text) : 0;
    buf_addf(out, ev->flag ? _("> failed, %zu bytes, %.1f s\n\n") : _("> %zu bytes, %.1f s\n\n"),
             len, (double)ev->number / 1000);
}

static void add_failed(struct buf *out, const struct event *ev)
{
    buf_addstr(out, "! ");
    add_line(out, ev->name);
    buf_addstr(out, ": ");
    add_line(out, ev->text);
    buf_addstr(out, "\n\n");
}

static void add_interrupted(struct buf *out, const struct event *ev)
{
    (void)ev;
    buf_addf(out, "! %s\n\n", _("interrupted"));
}

void transcript_text_add(struct buf *out, const struct event *ev)
{
    static void (*const adders[EVENT_TYPE_COUNT])(struct buf *, const struct event *) = {
        [EVENT_RUN_STARTED] = add_run_started,  [EVENT_TEXT_COMPLETE] = add_text,
        [EVENT_TOOL_CALL_REQUESTED] = add_call, [EVENT_TOOL_EXECUTION_COMPLETED] = add_result,
        [EVENT_RUN_FAILED] = add_failed,        [EVENT_INTERRUPTED] = add_interrupted,
    };
    if (adders[ev->type])
        adders[ev->type](out, ev);
}
