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
#include "chat/session_info.h"
#include "serve/acp_private.h"

/* --- tool calls --------------------------------------------------------------------------------
 */

enum { TITLE_BYTES = 200 };
#define PLACE "%s" /* in a title, of what it is about */

/* How a tool is shown; a row whose member a call lacks has the tool's name as its title. */
struct tool_row {
    const char *tool;
    const char *kind;   /* of the protocol */
    const char *title;  /* NULL: the member as it is */
    const char *member; /* of the arguments */
};

static const struct tool_row tool_rows[] = {
    {"read_file", "read", N_("Read %s"), "path"},
    {"list_directory", "read", N_("List %s"), "path"},
    {"search_files", "search", N_("Search files for %s"), "pattern"},
    {"write_file", "edit", N_("Write %s"), "path"},
    {"edit_file", "edit", N_("Edit %s"), "path"},
    {"run_command", "execute", NULL, "command"},
    {"task_output", "read", NULL, NULL},
    {"task_stop", "execute", NULL, NULL},
    {"fetch_url", "fetch", NULL, "url"},
    {"web_search", "search", N_("Search the web for %s"), "query"},
    {"skill", "read", N_("Open the skill %s"), "name"},
    {"memory_search", "search", N_("Search memory for %s"), "query"},
    {"memory_read", "read", N_("Read in memory around %s"), "id"},
    {"learned_search", "search", N_("Search what was learned for %s"), "query"},
    {"rag_search", "search", N_("Search documents for %s"), "query"},
    {"rag_ingest", "edit", N_("Add %s to documents"), "filename"},
};

static const struct tool_row *find_row(const char *tool)
{
    static const struct tool_row other = {.kind = "other"};
    for (size_t i = 0; i < sizeof tool_rows / sizeof *tool_rows; i++)
        if (strcmp(tool_rows[i].tool, tool) == 0)
            return &tool_rows[i];
    return &other;
}

/* The absolute form of a model's path. NULL: it cannot be told. The caller frees. */
static char *absolute(const struct acp_tool_call *call, const char *path)
{
    if (!path || *path == '/')
        return mem_strdup(path);
    return call->directory ? mem_printf("%s/%s", call->directory, path) : NULL;
}

static struct json *parse_args(const struct acp_tool_call *call)
{
    const char *args = call->args ? call->args : "";
    return json_parse_foreign(args, strlen(args), NULL);
}

/* The member locations: the path of the arguments, if they have one, and a line in it. */
static void write_location(struct json_out *o, const struct acp_tool_call *call, int64_t line)
{
    AUTO(json_free_local) struct json *args = parse_args(call);
    auto_free char *path = absolute(call, json_get_string(args, "path"));
    if (path && line >= 1 && line <= INT32_MAX)
        json_out_pack(o, "locations:[{path:s line:I}]", path, line);
    else if (path)
        json_out_pack(o, "locations:[{path:s}]", path);
}

void acp_tool_call_write(struct json_out *o, const struct acp_tool_call *call)
{
    const struct tool_row *row = find_row(call->tool);
    AUTO(json_free_local) struct json *args = parse_args(call);
    auto_free char *input = args ? json_print(args) : NULL;
    AUTO(buf_release) struct buf clean = BUF_INIT;
    AUTO(buf_release) struct buf cut = BUF_INIT;
    AUTO(buf_release) struct buf title = BUF_INIT;
    const char *about = row->member ? json_get_string(args, row->member) : NULL;
    const char *text = about ? about : call->tool;
    utf8_clean(&clean, text, strlen(text), UTF8_ONE_LINE);
    utf8_add_cut(&cut, clean.data, clean.len, TITLE_BYTES);
    buf_addstr(&title, about && row->title ? _(row->title) : PLACE);
    const char *place = strstr(title.data, PLACE);
    if (place)
        buf_splice(&title, (size_t)(place - title.data), strlen(PLACE), cut.data, cut.len);
    json_out_member(o, "toolCallId", call->id);
    json_out_member(o, "title", title.data);
    json_out_member(o, "kind", row->kind);
    write_location(o, call, json_get_int(args, "offset", 0));
    json_out_name(o, "rawInput");
    if (input)
        json_out_raw(o, input);
    else
        json_out_string(o, call->args ? call->args : "");
}

/* The member content: a link to the file of an image. */
static void write_link(struct json_out *o, const struct json *image)
{
    const char *place = json_get_string(image, "text"), *name = strrchr(place, '/');
    auto_free char *uri = *place == '/' ? acp_path_to_uri(place) : mem_strdup(place);
    json_out_pack(o, "content:{type:'resource_link' uri:s name:s mimeType:s}", uri,
                  name && name[1] ? name + 1 : place, json_get_string(image, "media_type"));
}

static bool is_image(const struct json *block)
{
    const char *type = json_get_string(block, "type");
    return type && strcmp(type, "image") == 0 && json_get_string(block, "text");
}

/* The member content: what the tool gave, and its images (JSON; NULL: none). A fence keeps a text
 * that is no Markdown as it is. */
static void write_result(struct json_out *o, const char *result, const char *images)
{
    AUTO(buf_release) struct buf fenced = BUF_INIT;
    AUTO(json_free_local)
    struct json *list = images ? json_parse(images, strlen(images), NULL) : NULL;
    attached_file_fence(&fenced, result, strlen(result));
    json_out_name(o, "content");
    json_out_open(o, '[');
    json_out_pack(o, "{type:'content' content:{type:'text' text:s}}", fenced.data);
    for (const struct json *i = json_first(list); i; i = json_next(i))
        if (is_image(i)) {
            json_out_open(o, '{');
            json_out_member(o, "type", "content");
            write_link(o, i);
            json_out_close(o, '}');
        }
    json_out_close(o, ']');
}

/* The member content, a diff. Its texts show invisible characters, as the preview
 * does by which a person decides. False: the change or its path is not known. */
static bool write_change(struct json_out *o, const struct acp_tool_call *call,
                         const struct file_change *change)
{
    AUTO(json_free_local) struct json *args = parse_args(call);
    auto_free char *path = absolute(call, json_get_string(args, "path"));
    AUTO(buf_release) struct buf before = BUF_INIT, after = BUF_INIT;
    if (!path || !change->after)
        return false;
    if (change->before)
        utf8_reveal(&before, change->before, strlen(change->before), UTF8_MULTILINE);
    utf8_reveal(&after, change->after, strlen(change->after), UTF8_MULTILINE);
    json_out_pack(o, "content:[{type:'diff' path:s oldText:s newText:s}]", path,
                  change->before ? before.data : NULL, after.data);
    return true;
}

void acp_tool_call_write_preview(struct json_out *o, const struct acp_tool_call *call,
                                 const char *preview, const struct file_change *change)
{
    if (!write_change(o, call, change) && preview)
        write_result(o, preview, NULL);
}

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
    buf_release(&c->output);
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
    for (const struct json *i = json_first(images); i; i = json_next(i)) {
        struct update u;
        if (!is_image(i))
            continue;
        struct json_out *o = begin(&u, "user_message_chunk");
        json_out_member(o, "messageId", id);
        write_link(o, i);
        send(t, &u);
    }
}

static void delta(struct acp_telling *t, const struct event *ev)
{
    bool answers = ev->type == EVENT_TEXT_DELTA;
    *(answers ? &t->streamed_text : &t->streamed_reasoning) += strlen(ev->text);
    tell_part(t, answers ? answering : thinking, ev->text);
}

/* Tells the part of a complete text that did not stream before it. */
static void complete(struct acp_telling *t, const struct event *ev)
{
    bool answers = ev->type == EVENT_TEXT_COMPLETE;
    size_t *streamed = answers ? &t->streamed_text : &t->streamed_reasoning;
    size_t len = ev->text ? strlen(ev->text) : 0, known = *streamed < len ? *streamed : len;
    *streamed -= known;
    if (known == len)
        return;
    if (known == 0)
        end_part(t);
    tell_part(t, answers ? answering : thinking, ev->text + known);
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

/* Events that are a notice alone. */
static void noted(struct acp_telling *t, const struct event *ev)
{
    const char *text = ev->text ? ev->text : "";
    auto_free char *made = NULL;
    if (ev->type == EVENT_BUDGET_WARNING)
        made = mem_printf(_("%d %% of the budget %s is used"), ev->count, ev->name);
    else if (ev->type == EVENT_LEARNED_NOTED)
        made = mem_printf(ev->flag ? _("remembered: %s") : _("to be remembered? %s"), text);
    else if (ev->type == EVENT_COMPACTION_UNDONE)
        made = mem_strdup(_("The last compaction was undone."));
    else if (ev->type == EVENT_REWOUND)
        made = mem_strdup(_("The conversation goes on from before that message."));
    else if (ev->type == EVENT_REWIND_UNDONE)
        made = mem_strdup(_("The rewind was undone."));
    else if (ev->type == EVENT_FILE_RESTORED)
        made = mem_printf("%s: %s", ev->flag ? _("file removed again") : _("file taken back"),
                          ev->name);
    bool warns = ev->type == EVENT_WARNING || ev->type == EVENT_BUDGET_WARNING;
    acp_tell_notice(t, warns ? "warning" : "info", made ? made : *text ? text : ev->name);
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
                              .args = mem_strdup(ev->text),
                              .output = BUF_INIT};
    vec_push(&t->calls, c);
    const struct acp_tool_call told = call_as_told(t, &c);
    struct json_out *o = begin(&u, "tool_call");
    acp_tool_call_write(o, &told);
    json_out_member(o, "status", "pending");
    send(t, &u);
}

void acp_tell_status(struct acp_telling *t, const char *told, const char *status)
{
    tell(t, "tool_call_update", "toolCallId:s status:s", told, status);
}

/* Calls run one after another. */
static void tell_next_runs(struct acp_telling *t, const struct event *ev)
{
    (void)ev;
    if (t->calls.len > 0)
        acp_tell_status(t, t->calls.items[0].told, "in_progress");
}

void acp_tell_preview(struct acp_telling *t, const char *id, const char *preview,
                      const struct file_change *change)
{
    struct update u;
    struct acp_open_call *c = acp_find_call(t, id);
    if (!c || !preview)
        return;
    const struct acp_tool_call told = call_as_told(t, c);
    struct json_out *o = begin(&u, "tool_call_update");
    json_out_member(o, "toolCallId", c->told);
    acp_tool_call_write_preview(o, &told, preview, change);
    send(t, &u);
}

void acp_tell_terminal(struct acp_telling *t, const char *terminal)
{
    if (t->calls.len == 0)
        return;
    tell(t, "tool_call_update", "toolCallId:s content:[{type:'terminal' terminalId:s}]",
         t->calls.items[0].told, terminal);
    t->calls.items[0].terminal = true;
}

/* The content of a call is told anew each time: it is short. */
void acp_tell_output(struct acp_telling *t, const struct notice *n)
{
    enum { OUTPUT_BYTES = 4096 };
    struct update u;
    struct acp_open_call *c = acp_find_call(t, n->text);
    if (!c || !n->detail || !*n->detail)
        return;
    if (n->flag)
        buf_clear(&c->output);
    utf8_add_output(&c->output, n->detail, OUTPUT_BYTES);
    struct json_out *o = begin(&u, "tool_call_update");
    json_out_member(o, "toolCallId", c->told);
    write_result(o, c->output.data, NULL);
    send(t, &u);
}

static void tool_execution_completed(struct acp_telling *t, const struct event *ev)
{
    struct update u;
    struct acp_open_call *c = acp_find_call(t, ev->id);
    if (!c)
        return;
    const struct acp_tool_call call = call_as_told(t, c);
    struct json_out *o = begin(&u, "tool_call_update");
    json_out_pack(o, "toolCallId:s status:s", c->told, ev->flag ? "failed" : "completed");
    if (!c->terminal && !write_change(o, &call, &ev->change)) /* the client keeps a terminal */
        write_result(o, ev->text ? ev->text : "", ev->attachments);
    if (ev->change.line > 0) /* a part of a long file */
        write_location(o, &call, ev->change.line);
    json_out_member(o, "rawOutput", ev->text);
    send(t, &u);
    forget_call(t, (size_t)(c - t->calls.items));
    tell_next_runs(t, ev);
}

/* The turn ended before the calls that are open did. */
static void turn_ended(struct acp_telling *t, const struct event *ev)
{
    while (t->calls.len > 0) {
        acp_tell_status(t, t->calls.items[0].told, "failed");
        forget_call(t, 0);
    }
    if (t->replays && ev->type == EVENT_TURN_FAILED)
        acp_tell_notice(t, "error", ev->text && *ev->text ? ev->text : ev->name);
    else if (t->replays && ev->type == EVENT_INTERRUPTED)
        acp_tell_notice(t, "info", _("interrupted"));
}

/* --- draft summaries -------------------------------------------------------------------------- */

void acp_tell_shown(struct acp_telling *t, const char *told, const char *title, const char *text,
                    struct buf *out)
{
    static const char members[] =
        "toolCallId:s title:s kind:'think' status:'pending' "
        "content:[{type:'content' content:{type:'text' text:s}}]";
    struct json_out o = {.buf = out};
    json_out_open(&o, '{');
    json_out_pack(&o, members, told, title, text);
    json_out_close(&o, '}');
    tell(t, "tool_call", members, told, title, text);
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

/* Passages of memory that are sent with a message, as a call that is complete. */
static void memory_recalled(struct acp_telling *t, const struct event *ev)
{
    char id[40];
    AUTO(json_free_local)
    struct json *hits = ev->hits ? json_parse(ev->hits, strlen(ev->hits), NULL) : NULL;
    if (ev->id) /* the call is shown */
        return;
    AUTO(buf_release) struct buf text = BUF_INIT;
    AUTO(buf_release) struct buf title = BUF_INIT;
    for (const struct json *hit = json_first(hits); hit; hit = json_next(hit)) {
        const char *content = json_get_string(hit, "content");
        buf_addf(&text, "%s%s", text.len > 0 ? "\n\n" : "", content ? content : "");
    }
    size_t count = json_len(hits);
    buf_addf(&title, ngettext("Recalled %zu passage", "Recalled %zu passages", count), count);
    snprintf(id, sizeof id, "recalled-%" PRId64, ev->seq);
    tell(t, "tool_call",
         "toolCallId:s title:s kind:'search' status:'completed' "
         "content:[{type:'content' content:{type:'text' text:s}}]",
         id, title.data, text.data);
}

/* --- events ----------------------------------------------------------------------------------- */

void acp_tell_event(struct acp_telling *t, const struct event *ev)
{
    static void (*const tellers[EVENT_TYPE_COUNT])(struct acp_telling *, const struct event *) = {
        [EVENT_TURN_STARTED] = turn_started,
        [EVENT_CALL_STARTED] = begin_part,
        [EVENT_CALL_COMPLETED] = tell_next_runs,
        [EVENT_TEXT_DELTA] = delta,
        [EVENT_TEXT_COMPLETE] = complete,
        [EVENT_REASONING_DELTA] = delta,
        [EVENT_REASONING_COMPLETE] = complete,
        [EVENT_TOOL_CALL_REQUESTED] = tool_call_requested,
        [EVENT_TOOL_EXECUTION_COMPLETED] = tool_execution_completed,
        [EVENT_MEMORY_RECALLED] = memory_recalled,
        [EVENT_RETRYING] = retrying,
        [EVENT_COMPACTION_STARTED] = compaction_started,
        [EVENT_COMPACTION_DELTA] = compaction_delta,
        [EVENT_COMPACTION_COMPLETED] = compaction_completed,
        [EVENT_COMPACTION_FAILED] = compaction_failed,
        [EVENT_COMPACTION_UNDONE] = noted,
        [EVENT_REWOUND] = noted,
        [EVENT_REWIND_UNDONE] = noted,
        [EVENT_FILE_RESTORED] = noted,
        [EVENT_LEARNED_NOTED] = noted,
        [EVENT_BUDGET_WARNING] = noted,
        [EVENT_WARNING] = noted,
        [EVENT_TURN_COMPLETED] = turn_ended,
        [EVENT_TURN_FAILED] = turn_ended,
        [EVENT_INTERRUPTED] = turn_ended,
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
