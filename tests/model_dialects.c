#include "tests/model_dialects.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define HUGE_LINE ((size_t)17 * 1024 * 1024)
#define SIGNATURE "c2lnbmF0dXJlIG9mIHRoZSBzY3JpcHQ="

/* The state of writing a script. */
struct writer {
    struct script *out;
    const struct reply *r;
    const char *model;
    const char *tool_args;
    size_t tool_args_len;
    long input, output;
    int blocks; /* begun so far (anthropic) */
    bool open;  /* one of them has not ended */
};

enum delta { DELTA_TEXT, DELTA_REASONING };

struct wire {
    const char *content_type;
    void (*begin)(struct writer *w);
    void (*content)(struct writer *w, enum delta kind, const char *text);
    void (*call)(struct writer *w, const char *id, const char *name);
    void (*end)(struct writer *w, const char *stop);
    void (*error)(struct buf *out, const char *type, const char *message);
    const char *event_head, *event_tail; /* around one event's JSON */
    const char *huge_head, *huge_tail;   /* around the text of one delta's JSON */
};

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

void wire_string(struct buf *out, const char *text, size_t len)
{
    buf_addch(out, '"');
    for (size_t i = 0; i < len; i++) {
        size_t from = i;
        while (i < len && is_plain(text[i]))
            i++;
        buf_add(out, text + from, i - from);
        if (i == len)
            break;
        if (text[i] == '\n')
            buf_addstr(out, "\\n");
        else if ((unsigned char)text[i] < 0x20)
            buf_addf(out, "\\u%04x", (unsigned)text[i]);
        else
            buf_addf(out, "\\%c", text[i]);
    }
    buf_addch(out, '"');
}

static void add_string(struct buf *out, const char *text)
{
    wire_string(out, text, strlen(text));
}

/* `text` as it is, which ends before a value, and the value as a string. */
static void add_member(struct buf *out, const char *text, const char *value)
{
    buf_addstr(out, text);
    add_string(out, value);
}

/* The end of the piece that starts at `from`, never inside a character. */
static size_t piece_end(const struct reply *r, const char *text, size_t len, size_t from)
{
    size_t end = from + (r->piece ? r->piece : 24);

    if (end >= len)
        return len;
    while (end < len && ((unsigned char)text[end] & 0xC0) == 0x80)
        end++;
    return end;
}

static void mark(struct writer *w)
{
    vec_push(&w->out->ends, w->out->body.len);
}

static long words(const char *text)
{
    long count = 0;
    bool inside = false;

    for (; text && *text; text++) {
        bool blank = strchr(" \t\n", *text) != NULL;

        if (!blank && !inside)
            count++;
        inside = !blank;
    }
    return count;
}

/* --- anthropic ------------------------------------------------------------------------------- */

static void anthropic_event(struct writer *w, const char *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void anthropic_event(struct writer *w, const char *type, const char *format, ...)
{
    va_list args;

    buf_addf(&w->out->body, "event: %s\ndata: {\"type\":\"%s\"", type, type);
    va_start(args, format);
    buf_vaddf(&w->out->body, format, args);
    va_end(args);
    buf_addstr(&w->out->body, "}\n\n");
    mark(w);
}

static char *anthropic_usage(const struct writer *w, long output)
{
    return w->r->no_usage
               ? mem_strdup("")
               : mem_printf(
                     ",\"usage\":{\"input_tokens\":%ld,\"cache_creation_input_tokens\":0,"
                     "\"cache_read_input_tokens\":%ld,\"output_tokens\":%ld}",
                     w->input - w->r->cached_tokens, w->r->cached_tokens, output);
}

static void anthropic_begin(struct writer *w)
{
    AUTO(buf_release) struct buf model = BUF_INIT;
    auto_free char *usage = anthropic_usage(w, 1);

    add_string(&model, w->model);
    anthropic_event(w, "message_start",
                    ",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\","
                    "\"model\":%s,\"content\":[],\"stop_reason\":null,\"stop_sequence\":null%s}",
                    model.data, usage);
    anthropic_event(w, "ping", "%s", "");
}

static void anthropic_close(struct writer *w)
{
    if (w->open)
        anthropic_event(w, "content_block_stop", ",\"index\":%d", w->blocks - 1);
    w->open = false;
}

static void anthropic_open(struct writer *w, const char *block)
{
    anthropic_close(w);
    anthropic_event(w, "content_block_start", ",\"index\":%d,\"content_block\":%s", w->blocks,
                    block);
    w->blocks++;
    w->open = true;
}

static void anthropic_deltas(struct writer *w, const char *type, const char *field,
                             const char *text, size_t len)
{
    for (size_t from = 0; from < len;) {
        size_t end = piece_end(w->r, text, len, from);
        AUTO(buf_release) struct buf piece = BUF_INIT;

        wire_string(&piece, text + from, end - from);
        anthropic_event(w, "content_block_delta",
                        ",\"index\":%d,\"delta\":{\"type\":\"%s\",\"%s\":%s}", w->blocks - 1, type,
                        field, piece.data);
        from = end;
    }
}

static void anthropic_content(struct writer *w, enum delta kind, const char *text)
{
    if (kind == DELTA_TEXT) {
        anthropic_open(w, "{\"type\":\"text\",\"text\":\"\"}");
        anthropic_deltas(w, "text_delta", "text", text, strlen(text));
        return;
    }
    anthropic_open(w, "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}");
    anthropic_deltas(w, "thinking_delta", "thinking", text, strlen(text));
    anthropic_event(w, "content_block_delta",
                    ",\"index\":%d,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"%s\"}",
                    w->blocks - 1, SIGNATURE);
}

static void anthropic_call(struct writer *w, const char *id, const char *name)
{
    AUTO(buf_release) struct buf block = BUF_INIT;

    add_member(&block, "{\"type\":\"tool_use\",\"id\":", id ? id : "call_1");
    add_member(&block, ",\"name\":", name);
    buf_addstr(&block, ",\"input\":{}}");
    anthropic_open(w, block.data);
    anthropic_deltas(w, "input_json_delta", "partial_json", w->tool_args, w->tool_args_len);
}

static void anthropic_end(struct writer *w, const char *stop)
{
    auto_free char *usage = anthropic_usage(w, w->output);

    anthropic_close(w);
    anthropic_event(w, "message_delta",
                    ",\"delta\":{\"stop_reason\":\"%s\",\"stop_sequence\":null}%s",
                    strcmp(stop, "tool") == 0 ? "tool_use" : "end_turn", usage);
    anthropic_event(w, "message_stop", "%s", "");
}

static void anthropic_error(struct buf *out, const char *type, const char *message)
{
    add_member(out, "{\"type\":\"error\",\"error\":{\"type\":", type);
    add_member(out, ",\"message\":", message);
    buf_addstr(out, "},\"request_id\":\"req_1\"}");
}

/* --- openai ---------------------------------------------------------------------------------- */

/* `choices` is the list's content, `more` the text after the list. */
static void openai_event(struct writer *w, const char *choices, const char *more)
{
    struct buf *body = &w->out->body;

    add_member(body,
               "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\","
               "\"created\":1700000000,\"model\":",
               w->model);
    buf_addf(body, ",\"choices\":[%s]%s}\n\n", choices, more);
    mark(w);
}

static void openai_delta(struct writer *w, const char *delta, const char *finish)
{
    auto_free char *choices =
        finish ? mem_printf("{\"index\":0,\"delta\":{%s},\"finish_reason\":\"%s\"}", delta, finish)
               : mem_printf("{\"index\":0,\"delta\":{%s},\"finish_reason\":null}", delta);

    openai_event(w, choices, "");
}

static void openai_begin(struct writer *w)
{
    openai_delta(w, "\"role\":\"assistant\",\"content\":\"\"", NULL);
}

/* The pieces, each as the string between `head` and `tail`. */
static void openai_deltas(struct writer *w, const char *head, const char *tail, const char *text,
                          size_t len)
{
    for (size_t from = 0; from < len;) {
        size_t end = piece_end(w->r, text, len, from);
        AUTO(buf_release) struct buf delta = BUF_INIT;

        buf_addstr(&delta, head);
        wire_string(&delta, text + from, end - from);
        buf_addstr(&delta, tail);
        openai_delta(w, delta.data, NULL);
        from = end;
    }
}

static void openai_content(struct writer *w, enum delta kind, const char *text)
{
    openai_deltas(w, kind == DELTA_TEXT ? "\"content\":" : "\"reasoning_content\":", "", text,
                  strlen(text));
}

static void openai_call(struct writer *w, const char *id, const char *name)
{
    AUTO(buf_release) struct buf delta = BUF_INIT;

    add_member(&delta, "\"tool_calls\":[{\"index\":0,\"id\":", id ? id : "call_1");
    add_member(&delta, ",\"type\":\"function\",\"function\":{\"name\":", name);
    buf_addstr(&delta, ",\"arguments\":\"\"}}]");
    openai_delta(w, delta.data, NULL);
    openai_deltas(w, "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":", "}}]",
                  w->tool_args, w->tool_args_len);
}

static void openai_end(struct writer *w, const char *stop)
{
    openai_delta(w, "", strcmp(stop, "tool") == 0 ? "tool_calls" : "stop");
    if (!w->r->no_usage) {
        auto_free char *usage = mem_printf(
            ",\"usage\":{\"prompt_tokens\":%ld,\"completion_tokens\":%ld,\"total_tokens\":%ld,"
            "\"prompt_tokens_details\":{\"cached_tokens\":%ld}}",
            w->input, w->output, w->input + w->output, w->r->cached_tokens);

        openai_event(w, "", usage);
    }
    buf_addstr(&w->out->body, "data: [DONE]\n\n");
    mark(w);
}

static void openai_error(struct buf *out, const char *type, const char *message)
{
    add_member(out, "{\"error\":{\"message\":", message);
    add_member(out, ",\"type\":", type);
    add_member(out, ",\"param\":null,\"code\":", type);
    buf_addstr(out, "}}");
}

/* --- ollama ---------------------------------------------------------------------------------- */

static void ollama_line(struct writer *w, const char *message, const char *more)
{
    struct buf *body = &w->out->body;

    add_member(body, "{\"model\":", w->model);
    buf_addf(
        body,
        ",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"assistant\",%s}%s}\n",
        message, more);
    mark(w);
}

static void ollama_begin(struct writer *w)
{
    (void)w; /* the first line already carries content */
}

static void ollama_content(struct writer *w, enum delta kind, const char *text)
{
    size_t len = strlen(text);

    for (size_t from = 0; from < len;) {
        size_t end = piece_end(w->r, text, len, from);
        AUTO(buf_release) struct buf message = BUF_INIT;

        buf_addstr(&message,
                   kind == DELTA_TEXT ? "\"content\":" : "\"content\":\"\",\"thinking\":");
        wire_string(&message, text + from, end - from);
        ollama_line(w, message.data, ",\"done\":false");
        from = end;
    }
}

static void ollama_call(struct writer *w, const char *id, const char *name)
{
    AUTO(buf_release) struct buf message = BUF_INIT;

    buf_addstr(&message, "\"content\":\"\",\"tool_calls\":[{");
    if (id) {
        add_member(&message, "\"id\":", id);
        buf_addch(&message, ',');
    }
    add_member(&message, "\"function\":{\"index\":0,\"name\":", name);
    buf_addstr(&message, ",\"arguments\":");
    if (w->r->fault == REPLY_BROKEN_ARGS)
        wire_string(&message, w->tool_args, w->tool_args_len);
    else
        buf_add(&message, w->tool_args, w->tool_args_len);
    buf_addstr(&message, "}}]");
    ollama_line(w, message.data, ",\"done\":false");
}

static void ollama_end(struct writer *w, const char *stop)
{
    auto_free char *counts =
        w->r->no_usage ? mem_strdup("")
                       : mem_printf(
                             ",\"prompt_eval_count\":%ld,\"prompt_eval_duration\":1000000,"
                             "\"eval_count\":%ld,\"eval_duration\":1000000",
                             w->input, w->output);
    auto_free char *more = mem_printf(
        ",\"done_reason\":\"stop\",\"done\":true,\"total_duration\":2500000,"
        "\"load_duration\":500000%s",
        counts);

    (void)stop; /* the same word after a tool call */
    ollama_line(w, "\"content\":\"\"", more);
}

static void ollama_error(struct buf *out, const char *type, const char *message)
{
    (void)type; /* this API has only the message */
    add_member(out, "{\"error\":", message);
    buf_addch(out, '}');
}

/* --- scripts --------------------------------------------------------------------------------- */

static const struct wire wires[] = {
    [DIALECT_ANTHROPIC] = {"text/event-stream; charset=utf-8", anthropic_begin, anthropic_content,
                           anthropic_call, anthropic_end, anthropic_error,
                           "event: content_block_delta\ndata: ", "\n\n",
                           "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
                           "{\"type\":\"text_delta\",\"text\":\"",
                           "\"}}"},
    [DIALECT_OPENAI] =
        {"text/event-stream", openai_begin, openai_content, openai_call, openai_end, openai_error,
         "data: ", "\n\n",
         "{\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"", "\"}}]}"},
    [DIALECT_OLLAMA] = {"application/x-ndjson", ollama_begin, ollama_content, ollama_call,
                        ollama_end, ollama_error, "", "\n",
                        "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"",
                        "\"},\"done\":false}"},
};

static void error_body(const struct wire *wire, const struct reply *r, struct buf *out)
{
    wire->error(out, r->error_type ? r->error_type : "api_error",
                r->error_message ? r->error_message : "Scripted failure");
}

/* Writes one event around any content. */
static void write_event(struct writer *w, const struct wire *wire, const char *inside)
{
    buf_addf(&w->out->body, "%s%s%s", wire->event_head, inside, wire->event_tail);
    mark(w);
}

static void write_error_event(struct writer *w, const struct wire *wire)
{
    AUTO(buf_release) struct buf body = BUF_INIT;

    error_body(wire, w->r, &body);
    if (wire->error == anthropic_error)
        buf_addstr(&w->out->body, "event: error\ndata: ");
    else
        buf_addstr(&w->out->body, wire->event_head);
    buf_addf(&w->out->body, "%s%s", body.data, wire->event_tail);
    mark(w);
}

static void write_huge_line(struct writer *w, const struct wire *wire)
{
    auto_free char *filler = mem_alloc(HUGE_LINE);

    memset(filler, 'x', HUGE_LINE);
    buf_addf(&w->out->body, "%s%s", wire->event_head, wire->huge_head);
    buf_add(&w->out->body, filler, HUGE_LINE);
    buf_addf(&w->out->body, "%s%s", wire->huge_tail, wire->event_tail);
    mark(w);
}

static void write_content(struct writer *w, const struct wire *wire)
{
    const struct reply *r = w->r;
    bool broken = r->fault == REPLY_BROKEN_ARGS;

    wire->begin(w);
    if (r->reasoning)
        wire->content(w, DELTA_REASONING, r->reasoning);
    if (r->text)
        wire->content(w, DELTA_TEXT, r->text);
    if (r->tool_name || broken)
        wire->call(w, r->tool_id, r->tool_name ? r->tool_name : "read_file");
}

/* Writes the end of the reply after the content, depending on the fault. */
static void write_rest(struct writer *w, const struct wire *wire)
{
    bool call = w->r->tool_name || w->r->fault == REPLY_BROKEN_ARGS;

    switch (w->r->fault) {
    case REPLY_DISCONNECT:
        w->out->drop = true;
        return;
    case REPLY_ERROR_EVENT:
        write_error_event(w, wire);
        return;
    case REPLY_STALL:
        w->out->pause_at = w->out->body.len;
        break;
    case REPLY_MALFORMED_JSON:
        write_event(w, wire, "{\"type\": \"content_block_delta\", \"delta\": {,]");
        break;
    case REPLY_HUGE_LINE:
        write_huge_line(w, wire);
        break;
    default:
        break;
    }
    wire->end(w, call ? "tool" : "stop");
}

/* A body given verbatim: its lines are its events. */
static void write_raw(struct script *out, const struct reply *r)
{
    buf_addstr(&out->body, r->raw);
    for (size_t i = 0; i < out->body.len; i++)
        if (out->body.data[i] == '\n')
            vec_push(&out->ends, i + 1);
    if (r->fault == REPLY_STALL)
        out->pause_at = out->body.len;
    out->drop = r->fault == REPLY_DISCONNECT;
}

/* The replies that are no stream of this provider. Whether it was one. */
static bool write_plain(struct script *out, const struct wire *wire, const struct reply *r)
{
    switch (r->fault) {
    case REPLY_STATUS:
        out->status = r->status;
        out->content_type = "application/json";
        if (!r->raw)
            error_body(wire, r, &out->body);
        break;
    case REPLY_WRONG_TYPE:
        out->content_type = "text/html; charset=utf-8";
        if (!r->raw)
            buf_addstr(&out->body, "<html><body>Please sign in to this network.</body></html>\n");
        break;
    case REPLY_EMPTY:
        return true;
    default:
        break;
    }
    if (r->raw)
        write_raw(out, r);
    return r->raw || out->body.len;
}

void script_build(struct script *out, enum dialect dialect, const struct reply *r,
                  const char *model)
{
    const struct wire *wire = &wires[dialect];
    struct writer w = {.out = out, .r = r, .model = model};

    *out = (struct script){
        .status = 200, .content_type = wire->content_type, .body = BUF_INIT, .pause_at = SIZE_MAX};
    if (write_plain(out, wire, r))
        return;
    w.tool_args = r->tool_args ? r->tool_args : "{\"path\": \"README.md\"}";
    w.tool_args_len = strlen(w.tool_args);
    if (r->fault == REPLY_BROKEN_ARGS)
        w.tool_args_len /= 2;
    w.input = r->input_tokens ? r->input_tokens : 12;
    w.output = r->output_tokens ? r->output_tokens : words(r->text) + words(r->reasoning);
    write_content(&w, wire);
    write_rest(&w, wire);
}

void script_release(struct script *s)
{
    buf_release(&s->body);
    vec_release(&s->ends);
}
