/* OpenAI's Responses API, which searches the web. */
#include <stdlib.h>
#include <string.h>

#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"
#include "provider/exchange.h"
#include "provider/failure.h"
#include "provider/outgoing.h"

enum {
    MOST_SEARCHES = 5, /* of an answer; pages that are opened count, too */
    LINK_BYTES = 16384 /* before a citation, in which its link is looked for */
};

/* An answer while it comes. */
struct answer {
    struct sources sources;
    struct buf text; /* of the message that is open, as it came */
    bool cites;      /* the message has citations */
    bool marked;     /* some of them are no links in its text and got a mark */
};

/* --- the request ------------------------------------------------------------------------------ */

static const char own_search[] = "{\"type\":\"web_search_call\"";
static const char own_text[] = "{\"type\":\"output_text\"";

bool responses_signed(const struct block *b)
{
    const char *s = b->signature ? b->signature : "";
    return b->type != BLOCK_REASONING && (strncmp(s, own_search, sizeof own_search - 1) == 0 ||
                                          strncmp(s, own_text, sizeof own_text - 1) == 0);
}

/* Items without ids: with "store" off the API would look for them in vain, and each item has all
 * that it needs. */
static void write_answer(struct json_out *out, const struct block *b)
{
    bool own = responses_signed(b);
    if (b->type == BLOCK_TEXT) {
        json_out_open(out, '{');
        json_out_pack(out, "type:'message' role:'assistant'");
        json_out_name(out, "content");
        json_out_open(out, '[');
        if (own)
            outgoing_own(out, b->signature);
        else
            json_out_pack(out, "{type:'output_text' text:s annotations:r}", b->text, "[]");
        json_out_close(out, ']');
        json_out_close(out, '}');
    } else if (b->type == BLOCK_TOOL_CALL && own) {
        outgoing_own(out, b->signature);
    } else if (b->type == BLOCK_TOOL_CALL) {
        AUTO(json_free_local) struct json *object = outgoing_object(b->text);
        auto_free char *arguments = json_print(object);
        json_out_pack(out, "{type:'function_call' call_id:s name:s arguments:s}", b->id, b->name,
                      arguments);
    } else if (b->redacted && b->signature && *b->signature) { /* other reasoning is not of here */
        json_out_pack(out, "{type:'reasoning' summary:r encrypted_content:s}", "[]", b->signature);
    }
}

static void write_turn(struct outgoing_body *body, const struct outgoing_turn *turn, void *context)
{
    struct json_out *out = &body->out;
    (void)context;
    if (turn->role == ROLE_USER || turn->role == ROLE_SYSTEM) {
        json_out_open(out, '{');
        json_out_pack(out, "type:'message' role:s", turn->role == ROLE_USER ? "user" : "developer");
        json_out_name(out, "content");
        openai_content(out, turn, true);
        json_out_close(out, '}');
        return;
    }
    for (size_t i = 0; i < turn->blocks.len; i++) {
        const struct block *b = turn->blocks.items[i];
        if (turn->role == ROLE_ASSISTANT)
            write_answer(out, b);
        else if (!responses_signed(b))
            json_out_pack(out, "{type:'function_call_output' call_id:s output:s}", b->id,
                          b->text ? b->text : "");
    }
}

/* The model thinks in a form that only the API reads. Others refuse a request for it. */
static bool reasons(const char *model)
{
    bool o = model[0] == 'o' && model[1] >= '1' && model[1] <= '9';
    bool gpt = strncmp(model, "gpt-", 4) == 0 && strtol(model + 4, NULL, 10) >= 5;
    return o || (gpt && !strstr(model, "-chat"));
}

void responses_body(struct outgoing_body *out, const struct config *config,
                    const struct request *request)
{
    struct json_out *o = &out->out;
    outgoing_body_begin(out, config);
    out->list = "input";
    json_out_pack(o, "model:s max_output_tokens:I stream:b store:b max_tool_calls:i",
                  request->model, request->max_output, true, false, MOST_SEARCHES);
    json_out_pack(o, "include:['web_search_call.action.sources' s]",
                  reasons(request->model) ? "reasoning.encrypted_content" : NULL);
    outgoing_temperature(out, config);
    if (request->effort)
        json_out_pack(o, "reasoning:{effort:s}", request->effort);
    if (!utf8_is_blank(request->system))
        json_out_pack(o, "instructions:s", request->system);
    json_out_name(o, "tools");
    json_out_open(o, '[');
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct tool_spec *spec = &request->tools[i];
        if (spec->by_provider)
            json_out_pack(o, "{type:'web_search'}");
        else
            json_out_pack(o, "{type:'function' name:s description:s parameters:o strict:b}",
                          spec->name, spec->description, outgoing_object(spec->schema), false);
    }
    json_out_close(o, ']');
    outgoing_body_messages(out, request, false, write_turn, NULL);
    outgoing_body_end(out);
}

/* --- the answer ------------------------------------------------------------------------------- */

/* A search ended, or a page was opened. */
static bool take_search(struct stream *s, const struct json *item)
{
    const struct json *action = json_get(item, "action");
    const char *id = json_get_string(item, "id"), *type = json_get_string(action, "type");
    const char *status = json_get_string(item, "status");
    const char *query = json_get_string(action, "query");
    bool known = !id || !*id;
    if (!query)
        query = json_string(json_first(json_get(action, "queries")));
    if (!query)
        query = json_get_string(action, "url");
    for (size_t i = 0; i < s->response->blocks.len && !known; i++)
        known = s->response->blocks.items[i].id && strcmp(s->response->blocks.items[i].id, id) == 0;
    if (known || json_type(action) != JSON_OBJECT)
        return true;
    s->response->usage.searches += type && strcmp(type, "search") == 0; /* no other is charged */
    auto_free char *printed = json_print(action);
    struct buf pages = BUF_INIT, signature = BUF_INIT, input = BUF_INIT;
    struct json_out own = {.buf = &signature}, out = {.buf = &input};
    const struct json *sources = json_get(action, "sources");
    for (const struct json *page = json_first(sources); page; page = json_next(page)) {
        const char *url = json_get_string(page, "url");
        buf_addstr(&pages, url && pages.len > 0 ? "\n" : "");
        if (url)
            utf8_clean(&pages, url, utf8_cut_bytes(url, strlen(url), 1000), UTF8_ONE_LINE);
    }
    json_out_pack(&own, "{type:'web_search_call' status:s action:r}", status, printed);
    json_out_pack(&out, "{query:s}", query ? query : "");
    struct block call = {.type = BLOCK_TOOL_CALL,
                         .id = mem_strdup(id),
                         .name = mem_strdup("web_search"),
                         .text = buf_take(&input),
                         .signature = buf_take(&signature)};
    struct block result = {.type = BLOCK_TOOL_RESULT,
                           .is_error = status && strcmp(status, "failed") == 0,
                           .id = mem_strdup(id),
                           .name = mem_strdup("web_search"),
                           .text = buf_take(&pages),
                           .signature = mem_printf("%s}", own_search)}; /* the call has it */
    return stream_ran(s, call, result);
}

/* The part of the item that an event is about; NULL: there is none, or with `open`, a failure. */
static struct stream_part *part_of(struct stream *s, enum block_type type, const struct json *event,
                                   bool open)
{
    int64_t key = json_get_int(event, "output_index", -1);
    struct stream_part *part = stream_find(s, key);
    if (part && part->type == type)
        return part;
    return open ? stream_open(s, type, key) : NULL;
}

static bool take_text(struct stream *s, struct answer *a, const struct json *event)
{
    const char *text = json_get_string(event, "delta");
    if (!text || !*text)
        return true;
    struct stream_part *part = part_of(s, BLOCK_TEXT, event, true);
    if (!part || !stream_add(s, part, text))
        return false;
    buf_addstr(&a->text, text);
    return true;
}

/* Most citations are about a link that the model wrote; others get a mark. */
static bool take_citation(struct stream *s, struct answer *a, const struct json *event)
{
    const struct json *page = json_get(event, "annotation");
    const char *url = json_get_string(page, "url");
    struct stream_part *part = part_of(s, BLOCK_TEXT, event, false);
    size_t number = part ? sources_number(&a->sources, url, json_get_string(page, "title")) : 0;
    if (number == 0)
        return true;
    size_t before = a->text.len > LINK_BYTES ? a->text.len - LINK_BYTES : 0;
    a->cites = true;
    if (a->text.len > 0 && strstr(a->text.data + before, url))
        return true;
    a->marked = true;
    return stream_cite(s, part, &a->sources, number);
}

/* The text lists the pages that it only marks, and keeps for the API what came. */
static bool end_message(struct stream *s, struct answer *a, const struct json *event)
{
    struct stream_part *part = part_of(s, BLOCK_TEXT, event, false);
    const struct json *content = json_get(json_get(event, "item"), "content");
    AUTO(buf_release) struct buf own = BUF_INIT;
    struct json_out out = {.buf = &own};
    bool ok = true;
    for (const struct json *v = json_first(content); v && part && a->cites; v = json_next(v)) {
        const char *text = json_get_string(v, "text");
        const struct json *list = json_get(v, "annotations");
        auto_free char *annotations = json_type(list) == JSON_ARRAY ? json_print(list) : NULL;
        if (text)
            json_out_pack(&out, "{type:'output_text' text:s annotations:r}", text,
                          annotations ? annotations : "[]");
    }
    if (own.len > 0 && part->signature.len == 0) {
        part->cited = true;
        ok = stream_sign(s, part, own.data);
    }
    if (ok && a->marked && part && part == stream_last(s))
        ok = stream_list_sources(s, &a->sources);
    buf_clear(&a->text);
    a->cites = a->marked = false;
    return ok;
}

static bool take_item(struct stream *s, struct answer *a, const struct json *event, bool done)
{
    const struct json *item = json_get(event, "item");
    const char *type = json_get_string(item, "type");
    if (!type)
        return true;
    if (strcmp(type, "web_search_call") == 0) {
        s->failure->content_seen = true; /* it is paid for */
        return !done || take_search(s, item);
    }
    if (strcmp(type, "message") == 0)
        return !done || end_message(s, a, event);
    if (strcmp(type, "reasoning") == 0) {
        const char *proof = json_get_string(item, "encrypted_content");
        if (!done || !proof || !*proof)
            return true;
        struct stream_part *part =
            stream_open(s, BLOCK_REASONING, json_get_int(event, "output_index", -1));
        if (part)
            part->redacted = true;
        return part && stream_sign(s, part, proof);
    }
    if (strcmp(type, "function_call") != 0)
        return true;
    struct stream_part *part = part_of(s, BLOCK_TOOL_CALL, event, true);
    if (!part)
        return false;
    stream_set_once(&part->id, json_get_string(item, "call_id"));
    stream_set_once(&part->name, json_get_string(item, "name"));
    return !done || part->text.len > 0 || stream_add(s, part, json_get_string(item, "arguments"));
}

static bool fail(struct stream *s, const struct json *body)
{
    const struct error_origin server = {.name = s->provider, .mask = s->mask};
    return server_error_event(&server, body, s->failure);
}

static bool take_event(struct stream *s, void *state, const struct json *event)
{
    static const char prefix[] = "response.";
    const char *type = json_get_string(event, "type");
    if (!type)
        return true;
    if (strcmp(type, "error") == 0)
        return fail(s, event);
    if (strncmp(type, prefix, sizeof prefix - 1) != 0)
        return true;
    type += sizeof prefix - 1;
    const struct json *response = json_get(event, "response"), *usage = json_get(response, "usage");
    struct usage *u = &s->response->usage;
    stream_set_once(&s->response->model, json_get_string(response, "model"));
    u->input = figure_tokens(usage, "input_tokens", u->input);
    u->output = figure_tokens(usage, "output_tokens", u->output);
    u->cached = figure_tokens(json_get(usage, "input_tokens_details"), "cached_tokens", u->cached);
    if (strcmp(type, "output_text.delta") == 0 || strcmp(type, "refusal.delta") == 0)
        return take_text(s, state, event);
    if (strcmp(type, "output_text.annotation.added") == 0)
        return take_citation(s, state, event);
    if (strcmp(type, "output_item.added") == 0)
        return take_item(s, state, event, false);
    if (strcmp(type, "output_item.done") == 0)
        return take_item(s, state, event, true);
    if (strcmp(type, "function_call_arguments.delta") == 0) {
        struct stream_part *part = part_of(s, BLOCK_TOOL_CALL, event, false);
        return !part || stream_add(s, part, json_get_string(event, "delta"));
    }
    if (strcmp(type, "failed") == 0)
        return fail(s, response);
    if (strcmp(type, "completed") == 0) {
        stream_stop(s, STOP_END_TURN);
        s->ended = true;
    } else if (strcmp(type, "incomplete") == 0) {
        const char *why = json_get_string(json_get(response, "incomplete_details"), "reason");
        stream_stop(s, !why                                    ? STOP_OTHER
                       : strcmp(why, "max_output_tokens") == 0 ? STOP_MAX_TOKENS
                       : strcmp(why, "content_filter") == 0    ? STOP_REFUSAL
                                                               : STOP_OTHER);
        s->ended = true;
    }
    return true;
}

static const struct dialect dialect = {
    .name = "openai",
    .framing = FRAMING_SSE,
    .event = take_event,
};

bool responses_complete(const struct provider_call *call, const struct request *request,
                        struct response *response, struct failure *f)
{
    struct answer answer = {.text = BUF_INIT};
    struct outgoing_body body;
    responses_body(&body, call->config, request);
    bool ok = exchange_stream(call, &dialect, "/responses", &body, request, response, &answer, f);
    sources_release(&answer.sources);
    buf_release(&answer.text);
    return ok;
}
