#include "serve/acp_updates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/json_out.h"
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

static void write_text_content(struct json_out *o, const char *text)
{
    json_out_name(o, "content");
    json_out_open(o, '{');
    acp_content_write_text(o, text);
    json_out_close(o, '}');
}

/* --- texts ------------------------------------------------------------------------------------ */

/* A longer text is told in pieces, each of which a slow reader has room for. */
enum { CHUNK_BYTES = 1024 * 1024 };

static void tell_piece(struct acp_telling *t, const char *kind, const char *id, const char *text)
{
    struct update u;
    struct json_out *o = begin(&u, kind);
    json_out_member(o, "messageId", id);
    write_text_content(o, text);
    send(t, &u);
}

static void tell_chunk(struct acp_telling *t, const char *kind, const char *id, const char *text)
{
    size_t left = strlen(text);
    while (left > CHUNK_BYTES) {
        size_t len = CHUNK_BYTES - utf8_incomplete_tail(text, CHUNK_BYTES);
        char *piece = mem_strndup(text, len);
        tell_piece(t, kind, id, piece);
        free(piece);
        text += len;
        left -= len;
    }
    tell_piece(t, kind, id, text);
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

/* What streamed is the beginning of what the complete events have, each kind for itself: they come
 * when the whole answer is there. */
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

static void tell_as_notice(struct acp_telling *t, const char *severity, const char *text)
{
    struct update u;
    struct json_out *o = begin(&u, "notice");
    json_out_member(o, "severity", severity);
    json_out_member(o, "title", text);
    send(t, &u);
}

void acp_tell_notice(struct acp_telling *t, const char *severity, const char *text)
{
    if (!*text)
        return;
    if (t->client->notices && !t->replays) {
        tell_as_notice(t, severity, text);
        return;
    }
    char *line = mem_printf("\n\n*%s*\n\n", text);
    acp_tell_line(t, line);
    free(line);
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
    struct update u;
    const char *place = json_get_string(image, "text");
    if (!place)
        return;
    const char *name = strrchr(place, '/');
    char *uri = *place == '/' ? acp_path_to_uri(place) : mem_strdup(place);
    struct json_out *o = begin(&u, "user_message_chunk");
    json_out_member(o, "messageId", id);
    json_out_name(o, "content");
    json_out_open(o, '{');
    json_out_member(o, "type", "resource_link");
    json_out_member(o, "uri", uri);
    json_out_member(o, "name", name && name[1] ? name + 1 : place);
    json_out_member(o, "mimeType", json_get_string(image, "media_type"));
    json_out_close(o, '}');
    send(t, &u);
    free(uri);
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
    struct json *images = json_parse(attachments, strlen(attachments), NULL);
    for (const struct json *i = json_first(images); i; i = json_next(i))
        tell_image(t, id, i);
    json_free(images);
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
    char *text = mem_printf(_("Trying again (%d of %d): %s"), ev->count, ev->limit, ev->text);
    acp_tell_notice(t, "info", text);
    free(text);
}

static void warning(struct acp_telling *t, const struct event *ev)
{
    acp_tell_notice(t, "warning", ev->text && *ev->text ? ev->text : ev->name);
}

static void budget_warning(struct acp_telling *t, const struct event *ev)
{
    char *text = mem_printf(_("%d %% of the budget %s is used"), ev->count, ev->name);
    acp_tell_notice(t, "warning", text);
    free(text);
}

static void learned_noted(struct acp_telling *t, const struct event *ev)
{
    char *text = mem_printf(ev->flag ? _("remembered: %s") : _("to be remembered? %s"),
                            ev->text ? ev->text : "");
    acp_tell_notice(t, "info", text);
    free(text);
}

/* --- tool calls ------------------------------------------------------------------------------- */

static struct acp_open_call *find_call(const struct acp_telling *t, const char *id)
{
    for (size_t i = 0; id && i < t->calls.len; i++)
        if (strcmp(t->calls.items[i].id, id) == 0)
            return &t->calls.items[i];
    return NULL;
}

const struct acp_open_call *acp_find_call(const struct acp_telling *t, const char *id)
{
    return find_call(t, id);
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
    struct update u;
    struct json_out *o = begin(&u, "tool_call_update");
    json_out_member(o, "toolCallId", told);
    json_out_member(o, "status", status);
    send(t, &u);
}

void acp_tell_running(struct acp_telling *t, const char *id)
{
    struct acp_open_call *c = find_call(t, id);
    if (c)
        tell_status(t, c->told, "in_progress");
}

/* Calls run one after another. */
static void tell_next_runs(struct acp_telling *t)
{
    if (t->calls.len > 0)
        tell_status(t, t->calls.items[0].told, "in_progress");
}

static void call_completed(struct acp_telling *t, const struct event *ev)
{
    (void)ev;
    tell_next_runs(t);
}

void acp_tell_preview(struct acp_telling *t, const char *id, const char *preview)
{
    struct update u;
    struct acp_open_call *c = find_call(t, id);
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
    struct acp_open_call *c = &t->calls.items[0];
    struct json_out *o = begin(&u, "tool_call_update");
    json_out_member(o, "toolCallId", c->told);
    acp_tool_call_write_terminal(o, terminal);
    send(t, &u);
    c->terminal = true;
}

/* What a change was is worth more than that it was made, and a terminal than what it printed. */
static bool is_shown(const struct acp_open_call *c, bool failed)
{
    return c->terminal || (!failed && c->shown && strcmp(c->tool, "write_file") == 0);
}

static void write_result(const struct acp_telling *t, struct json_out *o,
                         const struct acp_open_call *c, const struct event *ev)
{
    const struct acp_tool_call call = call_as_told(t, c);
    bool told = t->replays && !ev->flag && acp_tool_call_write_written(o, &call);
    if (!told)
        acp_tool_call_write_result(o, ev->text ? ev->text : "");
}

static void tool_execution_completed(struct acp_telling *t, const struct event *ev)
{
    struct update u;
    struct acp_open_call *c = find_call(t, ev->id);
    if (!c)
        return;
    struct json_out *o = begin(&u, "tool_call_update");
    json_out_member(o, "toolCallId", c->told);
    json_out_member(o, "status", ev->flag ? "failed" : "completed");
    if (!is_shown(c, ev->flag))
        write_result(t, o, c, ev);
    json_out_member(o, "rawOutput", ev->text);
    send(t, &u);
    forget_call(t, (size_t)(c - t->calls.items));
    tell_next_runs(t);
}

/* The turn did not come to them, or did not finish them. */
static void give_up_calls(struct acp_telling *t)
{
    while (t->calls.len > 0) {
        tell_status(t, t->calls.items[0].told, "failed");
        forget_call(t, 0);
    }
}

static void turn_completed(struct acp_telling *t, const struct event *ev)
{
    (void)ev;
    give_up_calls(t);
}

static void turn_failed(struct acp_telling *t, const struct event *ev)
{
    give_up_calls(t);
    if (t->replays)
        acp_tell_notice(t, "error", ev->text && *ev->text ? ev->text : ev->name);
}

static void interrupted(struct acp_telling *t, const struct event *ev)
{
    (void)ev;
    give_up_calls(t);
    if (t->replays)
        acp_tell_notice(t, "info", _("interrupted"));
}

/* --- draft summaries -------------------------------------------------------------------------- */

static void write_draft_members(struct json_out *o, const char *told, const char *summary)
{
    json_out_member(o, "toolCallId", told);
    json_out_member(o, "title", _("Summary of the conversation"));
    json_out_member(o, "kind", "think");
    json_out_member(o, "status", "pending");
    acp_tool_call_write_text(o, summary);
}

void acp_write_draft(struct json_out *o, const char *told, const char *summary)
{
    json_out_open(o, '{');
    write_draft_members(o, told, summary);
    json_out_close(o, '}');
}

void acp_tell_draft(struct acp_telling *t, const char *told, const char *summary)
{
    struct update u;
    write_draft_members(begin(&u, "tool_call"), told, summary);
    send(t, &u);
}

void acp_tell_draft_decided(struct acp_telling *t, const char *told, bool committed)
{
    tell_status(t, told, committed ? "completed" : "failed");
}

/* --- compactions ------------------------------------------------------------------------------ */

static struct json_out *begin_compaction(struct acp_telling *t, struct update *u, const char *kind)
{
    char id[32];
    struct json_out *o = begin(u, kind);
    snprintf(id, sizeof id, "%" PRId64, t->compaction);
    json_out_member(o, "compactionId", id);
    return o;
}

static void compaction_started(struct acp_telling *t, const struct event *ev)
{
    struct update u;
    t->compaction = ev->seq;
    if (!t->client->compaction)
        return;
    json_out_member(begin_compaction(t, &u, "compaction_update"), "status", "in_progress");
    send(t, &u);
}

/* Parts of a long history are folded into the last, which is the summary. */
static void compaction_delta(struct acp_telling *t, const struct event *ev)
{
    struct update u;
    if (!t->client->compaction || t->replays || ev->count < ev->limit)
        return;
    write_text_content(begin_compaction(t, &u, "compaction_summary_chunk"), ev->text);
    send(t, &u);
}

static void write_summary(struct json_out *o, const char *summary)
{
    json_out_name(o, "summary");
    json_out_open(o, '[');
    if (summary && *summary) {
        json_out_open(o, '{');
        acp_content_write_text(o, summary);
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

static void tell_compacted(struct acp_telling *t, const struct compaction *c)
{
    char *text = mem_printf(_("Compacted (%s): %d messages became %d, about %lld tokens %lld."),
                            c->effective_mode, c->messages_before, c->messages_after,
                            (long long)c->tokens_before, (long long)c->tokens_after);
    acp_tell_notice(t, "info", text);
    if (t->hints && !(c->stage && strcmp(c->stage, "micro") == 0))
        acp_tell_notice(t, "info",
                        _("another mode: /compact MODE, or [compaction] mode in tiro.ini"));
    free(text);
}

static void compaction_completed(struct acp_telling *t, const struct event *ev)
{
    struct update u;
    if (t->compaction == 0)
        t->compaction = ev->seq;
    if (t->client->compaction) {
        struct json_out *o = begin_compaction(t, &u, "compaction_update");
        json_out_member(o, "status", "completed");
        write_summary(o, ev->text);
        send(t, &u);
    } else {
        tell_compacted(t, &ev->compaction);
    }
    t->compaction = 0;
}

static void compaction_failed(struct acp_telling *t, const struct event *ev)
{
    struct update u;
    const char *reason = ev->compaction.reason ? ev->compaction.reason : "";
    bool cancelled = strcmp(reason, "cancelled") == 0;
    if (t->compaction == 0)
        t->compaction = ev->seq;
    if (t->client->compaction) {
        struct json_out *o = begin_compaction(t, &u, "compaction_update");
        json_out_member(o, "status", cancelled ? "cancelled" : "failed");
        json_out_member(o, "error", ev->text);
        send(t, &u);
    } else {
        char *text = mem_printf(_("Compaction failed: %s"), ev->text);
        acp_tell_notice(t, "warning", text);
        free(text);
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
        [EVENT_CALL_COMPLETED] = call_completed,
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
        [EVENT_TURN_COMPLETED] = turn_completed,
        [EVENT_TURN_FAILED] = turn_failed,
        [EVENT_INTERRUPTED] = interrupted,
    };
    if (tellers[ev->type])
        tellers[ev->type](t, ev);
}

/* --- the session ------------------------------------------------------------------------------ */

void acp_tell_info(struct acp_telling *t, const struct session_info *info)
{
    struct update u;
    char at[25];
    const char *title = info->title ? info->title : "";
    if (t->title && strcmp(t->title, title) == 0 && t->updated_ms == info->updated_ms)
        return;
    free(t->title);
    t->title = mem_strdup(title);
    t->updated_ms = info->updated_ms;
    struct json_out *o = begin(&u, "session_info_update");
    json_out_member(o, "title", title);
    rfc3339_format(info->updated_ms, at);
    json_out_member(o, "updatedAt", at);
    send(t, &u);
}

void acp_tell_usage(struct acp_telling *t, const struct meters *meters)
{
    struct update u;
    if (meters->window <= 0)
        return;
    struct json_out *o = begin(&u, "usage_update");
    json_out_int(o, "used", meters->request.tokens);
    json_out_int(o, "size", meters->window);
    if (meters->cost >= 0) {
        json_out_name(o, "cost");
        json_out_open(o, '{');
        json_out_name(o, "amount");
        json_out_real_number(o, meters->cost);
        json_out_member(o, "currency", "USD");
        json_out_close(o, '}');
    }
    send(t, &u);
}
