#include "serve/acp_updates.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "serve/acp_private.h"

/* --- one update ------------------------------------------------------------------------------- */

struct update {
    struct buf buf;
    struct json_out out;
};

static struct json_out *begin(struct update *u, const char *kind)
{
    u->buf = (struct buf)BUF_INIT;
    u->out = (struct json_out){.buf = &u->buf};
    json_out_open(&u->out, '{');
    json_out_member(&u->out, "sessionUpdate", kind);
    return &u->out;
}

static void send(struct acp_telling *t, struct update *u)
{
    json_out_close(&u->out, '}');
    t->update(t->context, u->buf.data);
    buf_release(&u->buf);
}

/* Sends an update whose members are packed (base/json_out.h). */
static void tell(struct acp_telling *t, const char *kind, const char *format, ...)
{
    struct update u;
    va_list args;
    va_start(args, format);
    json_out_vpack(begin(&u, kind), format, args);
    va_end(args);
    send(t, &u);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* A longer text is told in pieces, each of which a slow reader has room for. */
enum { CHUNK_BYTES = 1024 * 1024 };

static void tell_chunk(struct acp_telling *t, const char *kind, const char *id, const char *text)
{
    static const char members[] = "messageId:s content:{type:'text' text:s}";
    size_t left = strlen(text);
    while (left > CHUNK_BYTES) {
        size_t len = CHUNK_BYTES - utf8_incomplete_tail(text, CHUNK_BYTES);
        auto_free char *piece = mem_strndup(text, len);
        tell(t, kind, members, id, piece);
        text += len;
        left -= len;
    }
    tell(t, kind, members, id, text);
}

static void end_part(struct acp_telling *t)
{
    t->part += t->saying != NULL;
    t->saying = NULL;
}

/* A text goes on, or another one begins. */
static void tell_part(struct acp_telling *t, const char *kind, const char *text)
{
    char id[64];
    if (t->saying && strcmp(t->saying, kind) != 0)
        end_part(t);
    t->saying = kind;
    snprintf(id, sizeof id, "%" PRId64 ".%d", t->call, t->part);
    tell_chunk(t, kind, id, text);
}

static const char answering[] = "agent_message_chunk", thinking[] = "agent_thought_chunk";

/* Tells the part of a complete event that did not stream before it. */
static void tell_rest(struct acp_telling *t, const char *kind, const char *text, size_t *streamed)
{
    size_t len = text ? strlen(text) : 0;
    size_t known = *streamed < len ? *streamed : len;
    *streamed -= known;
    if (known == len)
        return;
    if (known == 0)
        end_part(t);
    tell_part(t, kind, text + known);
}

void acp_tell_line(struct acp_telling *t, const char *text)
{
    end_part(t);
    tell_part(t, answering, text);
    end_part(t);
}

void acp_tell_notice(struct acp_telling *t, const char *severity, const char *text)
{
    if (*text && t->client->notices && !t->replays) {
        tell(t, "notice", "severity:s title:s", severity, text);
    } else if (*text) {
        auto_free char *line = mem_printf("\n\n*%s*\n\n", text);
        acp_tell_line(t, line);
    }
}

/* --- a turn ----------------------------------------------------------------------------------- */

static void forget_call(struct acp_telling *t, size_t index)
{
    struct acp_open_call *c = &t->calls.items[index];
    free(c->id);
    free(c->told);
    free(c->tool);
    free(c->args);
    vec_remove(&t->calls, index, 1);
}

void acp_telling_release(struct acp_telling *t)
{
    while (t->calls.len > 0)
        forget_call(t, t->calls.len - 1);
    vec_release(&t->calls);
    free(t->title);
}

static void begin_part(struct acp_telling *t, const struct event *ev)
{
    t->call = ev->seq;
    t->part = 0;
    t->saying = NULL;
    t->streamed_text = t->streamed_reasoning = 0;
}

static void tell_image(struct acp_telling *t, const char *id, const struct json *image)
{
    const char *place = json_get_string(image, "text");
    if (!place)
        return;
    const char *name = strrchr(place, '/');
    auto_free char *uri = *place == '/' ? acp_path_to_uri(place) : mem_strdup(place);
    tell(t, "user_message_chunk",
         "messageId:s content:{type:'resource_link' uri:s name:s mimeType:s}", id, uri,
         name && name[1] ? name + 1 : place, json_get_string(image, "media_type"));
}

static void turn_started(struct acp_telling *t, const struct event *ev)
{
    bool known = t->told_input;
    begin_part(t, ev);
    t->told_input = false;
    if (known)
        return;
    char id[32];
    snprintf(id, sizeof id, "%" PRId64, ev->seq);
    tell_chunk(t, "user_message_chunk", id, ev->text ? ev->text : "");
    const char *attachments = ev->attachments ? ev->attachments : "";
    AUTO(json_free_local) struct json *images = json_parse(attachments, strlen(attachments), NULL);
    for (const struct json *i = json_first(images); i; i = json_next(i))
        tell_image(t, id, i);
}

static void text_delta(struct acp_telling *t, const struct event *ev)
{
    t->streamed_text += strlen(ev->text);
    tell_part(t, answering, ev->text);
}

static void text_complete(struct acp_telling *t, const struct event *ev)
{
    tell_rest(t, answering, ev->text, &t->streamed_text);
}

static void reasoning_delta(struct acp_telling *t, const struct event *ev)
{
    t->streamed_reasoning += strlen(ev->text);
    tell_part(t, thinking, ev->text);
}

static void reasoning_complete(struct acp_telling *t, const struct event *ev)
{
    tell_rest(t, thinking, ev->text, &t->streamed_reasoning);
}

static void retrying(struct acp_telling *t, const struct event *ev)
{
    t->streamed_text = t->streamed_reasoning = 0;
    end_part(t);
    if (t->replays)
        return;
    auto_free char *text =
        mem_printf(_("Trying again (%d of %d): %s"), ev->count, ev->limit, ev->text);
    acp_tell_notice(t, "info", text);
}

static void warning(struct acp_telling *t, const struct event *ev)
{
    acp_tell_notice(t, "warning", ev->text && *ev->text ? ev->text : ev->name);
}

static void budget_warning(struct acp_telling *t, const struct event *ev)
{
    auto_free char *text = mem_printf(_("%d %% of the budget %s is used"), ev->count, ev->name);
    acp_tell_notice(t, "warning", text);
}

static void learned_noted(struct acp_telling *t, const struct event *ev)
{
    auto_free char *text = mem_printf(ev->flag ? _("remembered: %s") : _("to be remembered? %s"),
                                      ev->text ? ev->text : "");
    acp_tell_notice(t, "info", text);
}

/* --- tool calls ------------------------------------------------------------------------------- */

struct acp_open_call *acp_find_call(const struct acp_telling *t, const char *id)
{
    for (size_t i = 0; id && i < t->calls.len; i++)
        if (strcmp(t->calls.items[i].id, id) == 0)
            return &t->calls.items[i];
    return NULL;
}

static struct acp_tool_call call_as_told(const struct acp_telling *t, const struct acp_open_call *c)
{
    return (struct acp_tool_call){
        .id = c->told, .tool = c->tool, .args = c->args, .directory = t->directory};
}

static void tool_call_requested(struct acp_telling *t, const struct event *ev)
{
    struct update u;
    struct acp_open_call c = {.id = mem_strdup(ev->id),
                              .told = mem_printf("%" PRId64 ":%s", t->call, ev->id),
                              .tool = mem_strdup(ev->name),
                              .args = mem_strdup(ev->text)};
    vec_push(&t->calls, c);
    const struct acp_tool_call told = call_as_told(t, &c);
    struct json_out *o = begin(&u, "tool_call");
    acp_tool_call_write(o, &told);
    json_out_member(o, "status", "pending");
    send(t, &u);
}

static void tell_status(struct acp_telling *t, const char *told, const char *status)
{
    tell(t, "tool_call_update", "toolCallId:s status:s", told, status);
}

void acp_tell_running(struct acp_telling *t, const char *id)
{
    struct acp_open_call *c = acp_find_call(t, id);
    if (c)
        tell_status(t, c->told, "in_progress");
}

/* Calls run one after another. */
static void tell_next_runs(struct acp_telling *t, const struct event *ev)
{
    (void)ev;
    if (t->calls.len > 0)
        tell_status(t, t->calls.items[0].told, "in_progress");
}

void acp_tell_preview(struct acp_telling *t, const char *id, const char *preview)
{
    struct update u;
    struct acp_open_call *c = acp_find_call(t, id);
    if (!c || !preview)
        return;
    const struct acp_tool_call told = call_as_told(t, c);
    struct json_out *o = begin(&u, "tool_call_update");
    json_out_member(o, "toolCallId", c->told);
    acp_tool_call_write_preview(o, &told, preview);
    send(t, &u);
    c->shown = true;
}

void acp_tell_terminal(struct acp_telling *t, const char *terminal)
{
    struct update u;
    if (t->calls.len == 0)
        return;
    struct json_out *o = begin(&u, "tool_call_update");
    json_out_member(o, "toolCallId", t->calls.items[0].told);
    acp_tool_call_write_terminal(o, terminal);
    send(t, &u);
    t->calls.items[0].terminal = true;
}

static void tool_execution_completed(struct acp_telling *t, const struct event *ev)
{
    struct update u;
    struct acp_open_call *c = acp_find_call(t, ev->id);
    if (!c)
        return;
    const struct acp_tool_call call = call_as_told(t, c);
    /* The client keeps a terminal, and the difference that a write was previewed by. */
    bool shown = c->terminal || (!ev->flag && c->shown && strcmp(c->tool, "write_file") == 0);
    struct json_out *o = begin(&u, "tool_call_update");
    json_out_pack(o, "toolCallId:s status:s", c->told, ev->flag ? "failed" : "completed");
    if (!shown && !(t->replays && !ev->flag && acp_tool_call_write_written(o, &call)))
        acp_tool_call_write_result(o, ev->text ? ev->text : "");
    json_out_member(o, "rawOutput", ev->text);
    send(t, &u);
    forget_call(t, (size_t)(c - t->calls.items));
    tell_next_runs(t, ev);
}

/* The turn ended before these calls did. */
static void give_up_calls(struct acp_telling *t, const struct event *ev)
{
    (void)ev;
    while (t->calls.len > 0) {
        tell_status(t, t->calls.items[0].told, "failed");
        forget_call(t, 0);
    }
}

static void turn_failed(struct acp_telling *t, const struct event *ev)
{
    give_up_calls(t, ev);
    if (t->replays)
        acp_tell_notice(t, "error", ev->text && *ev->text ? ev->text : ev->name);
}

static void interrupted(struct acp_telling *t, const struct event *ev)
{
    give_up_calls(t, ev);
    if (t->replays)
        acp_tell_notice(t, "info", _("interrupted"));
}

/* --- draft summaries -------------------------------------------------------------------------- */

#define DRAFT_MEMBERS                                                                              \
    "toolCallId:s title:s kind:'think' status:'pending' "                                          \
    "content:[{type:'content' content:{type:'text' text:s}}]"

void acp_write_draft(struct json_out *o, const char *told, const char *summary)
{
    json_out_pack(o, "{" DRAFT_MEMBERS "}", told, _("Summary of the conversation"), summary);
}

void acp_tell_draft(struct acp_telling *t, const char *told, const char *summary)
{
    tell(t, "tool_call", DRAFT_MEMBERS, told, _("Summary of the conversation"), summary);
}

void acp_tell_draft_decided(struct acp_telling *t, const char *told, bool committed)
{
    tell_status(t, told, committed ? "completed" : "failed");
}

/* --- compactions ------------------------------------------------------------------------------ */

static void tell_compaction(struct acp_telling *t, const char *status, const char *fault)
{
    char id[32];
    snprintf(id, sizeof id, "%" PRId64, t->compaction);
    tell(t, "compaction_update", "compactionId:s status:s error:s", id, status, fault);
}

static void compaction_started(struct acp_telling *t, const struct event *ev)
{
    t->compaction = ev->seq;
    if (t->client->compaction)
        tell_compaction(t, "in_progress", NULL);
}

/* The parts of a long history are folded into the last one, which is the summary. */
static void compaction_delta(struct acp_telling *t, const struct event *ev)
{
    char id[32];
    if (!t->client->compaction || t->replays || ev->count < ev->limit)
        return;
    snprintf(id, sizeof id, "%" PRId64, t->compaction);
    tell(t, "compaction_summary_chunk", "compactionId:s content:{type:'text' text:s}", id,
         ev->text);
}

static void compaction_completed(struct acp_telling *t, const struct event *ev)
{
    const struct compaction *c = &ev->compaction;
    if (t->compaction == 0)
        t->compaction = ev->seq;
    if (t->client->compaction) {
        char id[32];
        bool empty = !ev->text || !*ev->text;
        snprintf(id, sizeof id, "%" PRId64, t->compaction);
        tell(t, "compaction_update",
             empty ? "compactionId:s status:'completed' summary:[]"
                   : "compactionId:s status:'completed' summary:[{type:'text' text:s}]",
             id, ev->text);
    } else {
        auto_free char *text =
            mem_printf(_("Compacted (%s): %d messages became %d, about %lld tokens %lld."),
                       c->effective_mode, c->messages_before, c->messages_after,
                       (long long)c->tokens_before, (long long)c->tokens_after);
        acp_tell_notice(t, "info", text);
        if (t->hints && !(c->stage && strcmp(c->stage, "micro") == 0))
            acp_tell_notice(t, "info",
                            _("another mode: /compact MODE, or [compaction] mode in tiro.ini"));
    }
    t->compaction = 0;
}

static void compaction_failed(struct acp_telling *t, const struct event *ev)
{
    const char *reason = ev->compaction.reason ? ev->compaction.reason : "";
    if (t->compaction == 0)
        t->compaction = ev->seq;
    if (t->client->compaction) {
        tell_compaction(t, strcmp(reason, "cancelled") == 0 ? "cancelled" : "failed", ev->text);
    } else {
        auto_free char *text = mem_printf(_("Compaction failed: %s"), ev->text);
        acp_tell_notice(t, "warning", text);
    }
    t->compaction = 0;
}

static void compaction_undone(struct acp_telling *t, const struct event *ev)
{
    (void)ev;
    acp_tell_notice(t, "info", _("The last compaction was undone."));
}

/* --- events ----------------------------------------------------------------------------------- */

void acp_tell_event(struct acp_telling *t, const struct event *ev)
{
    static void (*const tellers[EVENT_TYPE_COUNT])(struct acp_telling *, const struct event *) = {
        [EVENT_TURN_STARTED] = turn_started,
        [EVENT_CALL_STARTED] = begin_part,
        [EVENT_CALL_COMPLETED] = tell_next_runs,
        [EVENT_TEXT_DELTA] = text_delta,
        [EVENT_TEXT_COMPLETE] = text_complete,
        [EVENT_REASONING_DELTA] = reasoning_delta,
        [EVENT_REASONING_COMPLETE] = reasoning_complete,
        [EVENT_TOOL_CALL_REQUESTED] = tool_call_requested,
        [EVENT_TOOL_EXECUTION_COMPLETED] = tool_execution_completed,
        [EVENT_RETRYING] = retrying,
        [EVENT_COMPACTION_STARTED] = compaction_started,
        [EVENT_COMPACTION_DELTA] = compaction_delta,
        [EVENT_COMPACTION_COMPLETED] = compaction_completed,
        [EVENT_COMPACTION_FAILED] = compaction_failed,
        [EVENT_COMPACTION_UNDONE] = compaction_undone,
        [EVENT_LEARNED_NOTED] = learned_noted,
        [EVENT_BUDGET_WARNING] = budget_warning,
        [EVENT_WARNING] = warning,
        [EVENT_TURN_COMPLETED] = give_up_calls,
        [EVENT_TURN_FAILED] = turn_failed,
        [EVENT_INTERRUPTED] = interrupted,
    };
    if (tellers[ev->type])
        tellers[ev->type](t, ev);
}

/* --- the session ------------------------------------------------------------------------------ */

void acp_tell_info(struct acp_telling *t, const struct session_info *info)
{
    char at[25];
    const char *title = info->title ? info->title : "";
    if (t->title && strcmp(t->title, title) == 0 && t->updated_ms == info->updated_ms)
        return;
    free(t->title);
    t->title = mem_strdup(title);
    t->updated_ms = info->updated_ms;
    rfc3339_format(info->updated_ms, at);
    tell(t, "session_info_update", "title:s updatedAt:s", title, at);
}

void acp_tell_usage(struct acp_telling *t, const struct meters *meters)
{
    static const char members[] = "used:I size:I";
    int64_t used = meters->request.tokens, size = meters->window;
    if (size <= 0)
        return;
    if (meters->cost < 0)
        tell(t, "usage_update", members, used, size);
    else
        tell(t, "usage_update", "used:I size:I cost:{amount:d currency:'USD'}", used, size,
             meters->cost);
}
