#include "chat/session_tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "chat/attached_file.h"
#include "chat/figure.h"

#define LAST_LINE_BYTES 160

static char *first_line(const char *text)
{
    text += strspn(text, " \t\r\n");
    size_t len = strcspn(text, "\r\n");
    return mem_strndup(text, utf8_cut_bytes(text, len, LAST_LINE_BYTES));
}

void session_tally_name(struct session_info *s, const char *first_message)
{
    if (s->title && *s->title)
        return;
    free(s->title);
    s->title = session_title_from(attached_files_skip(first_message ? first_message : ""));
}

void session_tally_reset(struct session_info *s)
{
    free(s->last_line);
    s->last_line = NULL;
    s->messages = s->last_seq = s->tool_calls = s->run_ms = 0;
    s->turns = 0;
    s->usage = USAGE_UNKNOWN;
    s->cost = -1;
}

static void turn_started(struct session_info *s, const struct event *ev)
{
    s->messages++;
    s->turns++;
    free(s->draft);
    s->draft = NULL;
    session_tally_name(s, ev->text);
}

static void text_complete(struct session_info *s, const struct event *ev)
{
    s->messages++;
    free(s->last_line);
    s->last_line = first_line(ev->text ? ev->text : "");
}

static void tool_completed(struct session_info *s, const struct event *ev)
{
    (void)ev;
    s->tool_calls++;
}

static void add_usage(struct session_info *s, const struct event *ev)
{
    if (usage_known(&ev->usage))
        usage_add(&s->usage, &ev->usage);
    s->cost = usage_cost_sum(s->cost, ev->used);
}

/* An imported log may say anything. */
static void add_time(struct session_info *s, int64_t ms)
{
    if (ms > 0)
        s->run_ms = s->run_ms > INT64_MAX - ms ? INT64_MAX : s->run_ms + ms;
}

static void turn_cut(struct session_info *s, const struct event *ev)
{
    add_usage(s, ev);
    add_time(s, ev->number);
}

static void turn_completed(struct session_info *s, const struct event *ev)
{
    add_time(s, ev->number);
}

void session_tally(struct session_info *s, const struct event *ev)
{
    static void (*const effects[EVENT_TYPE_COUNT])(struct session_info *, const struct event *) = {
        [EVENT_TURN_STARTED] = turn_started,
        [EVENT_TEXT_COMPLETE] = text_complete,
        [EVENT_TOOL_EXECUTION_COMPLETED] = tool_completed,
        [EVENT_CALL_COMPLETED] = add_usage,
        [EVENT_COMPACTION_COMPLETED] = add_usage,
        [EVENT_COMPACTION_FAILED] = add_usage,
        [EVENT_LEARNED_EXTRACTED] = add_usage,
        [EVENT_TURN_COMPLETED] = turn_completed,
        [EVENT_TURN_FAILED] = turn_cut,
        [EVENT_INTERRUPTED] = turn_cut,
    };
    if (ev->type != EVENT_LEARNED_EXTRACTED) /* the session was left before */
        s->updated_ms = ev->wall_ms;
    s->last_seq = ev->seq;
    if (effects[ev->type])
        effects[ev->type](s, ev);
}
