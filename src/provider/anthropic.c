/* Anthropic's Messages API. */
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"
#include "provider/exchange.h"
#include "provider/outgoing.h"

enum {
    MOST_SEARCHES = 5, /* of a request */
    MOST_PAUSES = 8,   /* of an answer that goes on by itself */
    QUERY_BYTES = 64 * 1024
};

/* A search that has no result yet. */
struct searching {
    int64_t key; /* of its block */
    struct json *block;
    struct buf input; /* its text so far */
};

/* An answer while it comes. */
struct answer {
    /* The figures of the usage so far: later ones replace earlier ones. -1: not told. */
    int64_t fresh, written, read, output, searched;
    struct usage before; /* before the newest pause */

    bool searches; /* the request offers the search of the web */
    VEC(struct searching) open;
    struct sources sources;
    /* The text block that is open: its text, its citations with commas between them, and the
     * numbers of its sources. */
    struct buf text, citations;
    VEC(size_t) cited;
};

static bool searches(const struct request *request)
{
    for (size_t i = 0; i < request->tool_count; i++)
        if (request->tools[i].by_provider)
            return true;
    return false;
}

/* The block of a search with its whole input. The caller frees. */
static char *search_block(const struct searching *search)
{
    AUTO(json_free_local) struct json *block = json_clone(search->block);
    if (search->input.len > 0)
        json_set(block, "input", outgoing_object(search->input.data));
    return json_print(block);
}

/* The members of a content block. */
static void write_block(struct json_out *out, const struct block *b, enum role role)
{
    switch (b->type) {
    case BLOCK_TEXT:
        json_out_pack(out, "type:'text' text:s", b->text);
        break;
    case BLOCK_REASONING:
        if (b->redacted)
            json_out_pack(out, "type:'redacted_thinking' data:s", b->signature);
        else
            json_out_pack(out, "type:'thinking' thinking:s signature:s", b->text ? b->text : "",
                          b->signature);
        break;
    case BLOCK_TOOL_CALL:
        json_out_pack(out, "type:'tool_use' id:s name:s input:o", b->id, b->name,
                      outgoing_object(b->text));
        break;
    case BLOCK_TOOL_RESULT:
        if (role == ROLE_TOOL) {
            json_out_pack(out, "type:'tool_result' tool_use_id:s content:s", b->id,
                          b->text && *b->text ? b->text : NULL);
            if (b->is_error)
                json_out_pack(out, "is_error:b", true);
        } else {
            auto_free char *text = outgoing_orphan(b);
            json_out_pack(out, "type:'text' text:s", text);
        }
        break;
    case BLOCK_IMAGE: {
        AUTO(image_release) struct image image;
        image_load(&image, b);
        if (image.problem)
            json_out_pack(out, "type:'text' text:s", image.problem);
        else if (image.url)
            json_out_pack(out, "type:'image' source:{type:'url' url:s}", image.url);
        else
            json_out_pack(out, "type:'image' source:{type:'base64' media_type:s data:s}",
                          image.media_type, image.base64);
        break;
    }
    }
}

/* The messages while they are written. There are only two roles: a turn in the role of the one
 * before continues its message. */
struct writer {
    const char *role; /* of the message that is open; NULL: none is */
    size_t cacheable; /* where a breakpoint of the last block that may have one goes; 0: nowhere */
    size_t stable;    /* the same before the newest turn of the user */
    bool searches;    /* the request offers the search of the web */
    bool searched;    /* a search was written, which citations refer to */
};

static void end_message(struct json_out *out, const struct writer *w)
{
    if (!w->role)
        return;
    json_out_close(out, ']');
    json_out_close(out, '}');
}

/* Opens a message, unless one of the role is open. */
static void open_message(struct json_out *out, struct writer *w, const char *role)
{
    if (w->role && strcmp(w->role, role) == 0)
        return;
    end_message(out, w);
    json_out_open(out, '{');
    json_out_member(out, "role", w->role = role);
    json_out_name(out, "content");
    json_out_open(out, '[');
}

static void write_turn(struct outgoing_body *body, const struct outgoing_turn *turn, void *context)
{
    struct writer *w = context;
    struct json_out *out = &body->out;
    const char *role = turn->role == ROLE_ASSISTANT ? "assistant" : "user";
    if (turn->role == ROLE_USER)
        w->stable = w->cacheable;
    for (size_t i = 0; i < turn->blocks.len; i++) {
        const struct block *b = turn->blocks.items[i];
        bool reasoning = b->type == BLOCK_REASONING;
        if (reasoning && (!b->signature || !*b->signature))
            continue; /* it is another provider's */
        bool own = w->searches && !reasoning && b->signature && !responses_signed(b) &&
                   (b->type != BLOCK_TEXT || w->searched);
        if (own && b->type == BLOCK_TOOL_RESULT)
            continue; /* it is with its call */
        open_message(out, w, role);
        if (own) {
            outgoing_own(out, b->signature);
            w->searched = true;
            continue;
        }
        json_out_open(out, '{');
        write_block(out, b, turn->role);
        if (!reasoning) /* the API refuses a breakpoint on thinking */
            w->cacheable = (size_t)out->len;
        json_out_close(out, '}');
    }
}

static const char breakpoint[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";

static void add_breakpoint(struct outgoing_body *body, size_t at)
{
    if (at == 0)
        return;
    body->out.len += (int64_t)(sizeof breakpoint - 1);
    if (body->out.buf)
        buf_splice(body->out.buf, at, 0, breakpoint, sizeof breakpoint - 1);
}

/* A budget is part of the answer's tokens and must leave room for a text. A model that thinks takes
 * no temperature. */
static void write_effort(struct outgoing_body *out, const struct config *config,
                         const struct request *request)
{
    enum { LEAST_BUDGET = 1024, TEXT = 1024 };
    const char *effort = request->effort ? request->effort : "";
    int64_t budget = strtoll(effort, NULL, 10), most = request->max_output - TEXT;
    if (budget > most)
        budget = most;
    if (budget >= LEAST_BUDGET)
        json_out_pack(&out->out, "thinking:{type:'enabled' budget_tokens:I}", budget);
    else if (*effort > '9')
        json_out_pack(&out->out, "thinking:{type:'adaptive'} output_config:{effort:s}", effort);
    else
        outgoing_temperature(out, config);
}

static void write_body(struct outgoing_body *out, const struct config *config,
                       const struct request *request, const struct response *begun,
                       const struct answer *answer)
{
    struct writer w = {.searches = searches(request)};
    struct json_out *o = &out->out;
    outgoing_body_begin(out, config);
    json_out_pack(o, "model:s max_tokens:I stream:b", request->model, request->max_output, true);
    write_effort(out, config, request);
    if (!utf8_is_blank(request->system))
        json_out_pack(o, "system:[{type:'text' text:s cache_control:{type:'ephemeral'}}]",
                      request->system);
    if (request->tool_count > 0) {
        json_out_name(o, "tools");
        json_out_open(o, '[');
        for (size_t i = 0; i < request->tool_count; i++) {
            const struct tool_spec *spec = &request->tools[i];
            if (spec->by_provider)
                json_out_pack(o, "{type:'web_search_20250305' name:'web_search' max_uses:i}",
                              MOST_SEARCHES);
            else
                json_out_pack(o, "{name:s description:s input_schema:o}", spec->name,
                              spec->description, outgoing_object(spec->schema));
        }
        json_out_close(o, ']');
    }
    outgoing_body_messages(out, request, false, write_turn, &w);
    if (begun) { /* the answer, which paused within a search */
        struct outgoing_turn turn = {.role = ROLE_ASSISTANT};
        for (size_t i = 0; i < begun->blocks.len; i++)
            if (begun->blocks.items[i].type != BLOCK_TEXT ||
                !utf8_is_blank(begun->blocks.items[i].text))
                vec_push(&turn.blocks, &begun->blocks.items[i]);
        write_turn(out, &turn, &w);
        vec_release(&turn.blocks);
        open_message(o, &w, "assistant");
        for (size_t i = 0; i < answer->open.len; i++) {
            auto_free char *block = search_block(&answer->open.items[i]);
            json_out_raw(o, block);
        }
    }
    end_message(o, &w);
    outgoing_body_end(out);
    /* The later place first: it does not move the earlier one. */
    if (w.cacheable != w.stable)
        add_breakpoint(out, w.cacheable);
    add_breakpoint(out, w.stable);
}

void anthropic_body(struct outgoing_body *out, const struct config *config,
                    const struct request *request)
{
    write_body(out, config, request, NULL, NULL);
}

static void add_headers(const struct endpoint *endpoint, struct http_headers *out)
{
    http_headers_add(out, "anthropic-version: 2023-06-01");
    if (endpoint->key && *endpoint->key)
        http_headers_add(out, endpoint->bearer ? "Authorization: Bearer %s" : "x-api-key: %s",
                         endpoint->key);
}

static void take_usage(struct stream *s, struct answer *a, const struct json *usage)
{
    a->fresh = figure_tokens(usage, "input_tokens", a->fresh);
    a->written = figure_tokens(usage, "cache_creation_input_tokens", a->written);
    a->read = figure_tokens(usage, "cache_read_input_tokens", a->read);
    a->output = figure_tokens(usage, "output_tokens", a->output);
    a->searched =
        figure_tokens(json_get(usage, "server_tool_use"), "web_search_requests", a->searched);

    struct usage now = {.input = figure_sum(figure_sum(a->fresh, a->written), a->read),
                        .cached = a->read,
                        .output = a->output,
                        .searches = a->searched};
    s->response->usage = a->before;
    usage_add(&s->response->usage, &now);
}

/* --- the search of the web -------------------------------------------------------------------- */

static void searching_release(struct searching *search)
{
    json_free(search->block);
    buf_release(&search->input);
}

static void answer_release(struct answer *a)
{
    for (size_t i = 0; i < a->open.len; i++)
        searching_release(&a->open.items[i]);
    vec_release(&a->open);
    sources_release(&a->sources);
    buf_release(&a->text);
    buf_release(&a->citations);
    vec_release(&a->cited);
}

static void begin_search(struct stream *s, struct answer *a, const struct json *block, int64_t key)
{
    const char *name = json_get_string(block, "name"), *id = json_get_string(block, "id");
    auto_free char *text = json_print(block);
    s->failure->content_seen = true; /* it is paid for */
    bool known = !id || !*id;
    for (size_t i = 0; i < a->open.len && !known; i++)
        known = strcmp(json_get_string(a->open.items[i].block, "id"), id) == 0;
    for (size_t i = 0; i < s->response->blocks.len && !known; i++)
        known = s->response->blocks.items[i].id && strcmp(s->response->blocks.items[i].id, id) == 0;
    if (!name || strcmp(name, "web_search") != 0 || known || strlen(text) > QUERY_BYTES ||
        a->open.len >= PROVIDER_MAX_CALLS)
        return;
    struct searching search = {.key = key, .block = json_clone(block)};
    buf_init(&search.input, QUERY_BYTES);
    vec_push(&a->open, search);
}

/* Appends "TITLE · URL" for each page, or why there is none. Returns whether there is none. */
static bool add_pages(struct buf *out, const struct json *content)
{
    static const char *const members[] = {"title", "url"};
    const char *code = json_get_string(content, "error_code");
    if (code)
        utf8_clean(out, code, strlen(code), UTF8_ONE_LINE);
    for (const struct json *page = code ? NULL : json_first(content); page;
         page = json_next(page)) {
        buf_addstr(out, out->len > 0 ? "\n" : "");
        for (size_t i = 0; i < 2; i++) {
            const char *text = json_get_string(page, members[i]);
            buf_addstr(out, i > 0 ? " · " : "");
            if (text)
                utf8_clean(out, text, utf8_cut_bytes(text, strlen(text), 1000), UTF8_ONE_LINE);
        }
    }
    return code != NULL;
}

/* The results of a search came, all at once. */
static bool end_search(struct stream *s, struct answer *a, const struct json *block)
{
    const char *id = json_get_string(block, "tool_use_id");
    size_t i = 0;
    while (i < a->open.len && (!id || strcmp(json_get_string(a->open.items[i].block, "id"), id)))
        i++;
    if (i == a->open.len)
        return true;
    struct searching *search = &a->open.items[i];
    struct buf pages = BUF_INIT;
    bool failed = add_pages(&pages, json_get(block, "content"));
    auto_free char *began = search_block(search), *ended = json_print(block);
    AUTO(json_free_local) struct json *input = outgoing_object(search->input.data);
    struct block call = {.type = BLOCK_TOOL_CALL,
                         .id = mem_strdup(id),
                         .name = mem_strdup("web_search"),
                         .text = json_print(input),
                         .signature = mem_printf("%s,%s", began, ended)};
    struct block result = {.type = BLOCK_TOOL_RESULT,
                           .is_error = failed,
                           .id = mem_strdup(id),
                           .name = mem_strdup("web_search"),
                           .text = buf_take(&pages),
                           .signature = mem_strdup("null")}; /* the call has it */
    searching_release(search);
    vec_remove(&a->open, i, 1);
    return stream_ran(s, call, result);
}

static void take_citation(struct answer *a, const struct json *citation)
{
    auto_free char *text = json_type(citation) == JSON_OBJECT ? json_print(citation) : NULL;
    size_t number = sources_number(&a->sources, json_get_string(citation, "url"),
                                   json_get_string(citation, "title"));
    if (!text || a->citations.len + strlen(text) > STREAM_MAX_BYTES)
        return;
    buf_addf(&a->citations, "%s%s", a->citations.len > 0 ? "," : "", text);
    for (size_t i = 0; i < a->cited.len && number > 0; i++)
        number = a->cited.items[i] == number ? 0 : number;
    if (number > 0)
        vec_push(&a->cited, number);
}

/* The text gets the marks of its sources, and keeps the block as it came for the API. */
static bool end_text(struct stream *s, struct answer *a, int64_t key)
{
    struct stream_part *part = stream_find(s, key);
    AUTO(buf_release) struct buf block = BUF_INIT;
    struct json_out out = {.buf = &block};
    bool ok = part && part->type == BLOCK_TEXT, cites = a->citations.len > 0;
    if (ok && (cites || !utf8_is_blank(a->text.data))) {
        auto_free char *list = cites ? mem_printf("[%s]", a->citations.data) : NULL;
        buf_addstr(&block, part->signature.len > 0 ? "," : "");
        json_out_pack(&out, "{type:'text' text:s citations:r}", a->text.data, list);
        part->cited = part->cited || cites;
        ok = stream_sign(s, part, block.data);
    }
    for (size_t i = 0; ok && i < a->cited.len; i++)
        ok = stream_cite(s, part, &a->sources, a->cited.items[i]);
    buf_clear(&a->text);
    buf_clear(&a->citations);
    vec_clear(&a->cited);
    return ok || !part || part->type != BLOCK_TEXT;
}

/* A call of another tool begins, or the answer ends: the text before lists its sources. */
static bool list_sources(struct stream *s, struct answer *a)
{
    bool alone = stream_last(s) == NULL || stream_last(s)->type != BLOCK_TEXT;
    if (a->sources.listed == a->sources.len)
        return true;
    if (!stream_list_sources(s, &a->sources))
        return false;
    stream_last(s)->cited = true;
    return !alone || stream_sign(s, stream_last(s), "null"); /* the API gets no list */
}

/* --- events ----------------------------------------------------------------------------------- */

static bool block_start(struct stream *s, struct answer *a, const struct json *event)
{
    static const struct {
        const char *name;
        enum block_type type;
        const char *text, *signature; /* members that may hold a beginning */
    } kinds[] = {
        {"text", BLOCK_TEXT, "text", NULL},
        {"thinking", BLOCK_REASONING, "thinking", "signature"},
        {"redacted_thinking", BLOCK_REASONING, NULL, "data"},
        {"tool_use", BLOCK_TOOL_CALL, NULL, NULL},
    };
    const struct json *block = json_get(event, "content_block");
    const char *type = json_get_string(block, "type");
    int64_t index = json_get_int(event, "index", -1);
    if (type && a->searches && strcmp(type, "server_tool_use") == 0)
        begin_search(s, a, block, index);
    else if (type && a->searches && strcmp(type, "web_search_tool_result") == 0)
        return end_search(s, a, block);
    for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].name) != 0)
            continue;
        const char *text = kinds[i].text, *signature = kinds[i].signature;
        struct stream_part *part = stream_last(s);
        if (kinds[i].type == BLOCK_TOOL_CALL && !list_sources(s, a))
            return false;
        /* A sentence with a citation is a block of its own, but no paragraph. */
        if (a->searches && part && part->type == BLOCK_TEXT && kinds[i].type == BLOCK_TEXT)
            part->key = index;
        else if (!(part = stream_open(s, kinds[i].type, index)))
            return false;
        if (a->searches && kinds[i].type == BLOCK_TEXT && json_get_string(block, "text"))
            buf_addstr(&a->text, json_get_string(block, "text"));
        part->redacted = strcmp(type, "redacted_thinking") == 0;
        if (part->type == BLOCK_TOOL_CALL) {
            stream_set_once(&part->id, json_get_string(block, "id"));
            stream_set_once(&part->name, json_get_string(block, "name"));
        }
        return (!text || stream_add(s, part, json_get_string(block, text))) &&
               (!signature || stream_sign(s, part, json_get_string(block, signature)));
    }
    return true;
}

static bool block_delta(struct stream *s, struct answer *a, const struct json *event)
{
    static const struct {
        const char *name;
        enum block_type type;
        const char *member;
        bool (*take)(struct stream *s, struct stream_part *part, const char *text);
    } kinds[] = {
        {"text_delta", BLOCK_TEXT, "text", stream_add},
        {"thinking_delta", BLOCK_REASONING, "thinking", stream_add},
        {"signature_delta", BLOCK_REASONING, "signature", stream_sign},
        {"input_json_delta", BLOCK_TOOL_CALL, "partial_json", stream_add},
    };
    const struct json *delta = json_get(event, "delta");
    const char *type = json_get_string(delta, "type");
    int64_t index = json_get_int(event, "index", -1);
    struct stream_part *part = stream_find(s, index);
    if (type && a->searches && strcmp(type, "citations_delta") == 0)
        take_citation(a, json_get(delta, "citation"));
    const char *input = json_get_string(delta, "partial_json");
    for (size_t i = 0; i < a->open.len && input; i++)
        if (a->open.items[i].key == index &&
            !buf_try_add(&a->open.items[i].input, input, strlen(input)))
            buf_clear(&a->open.items[i].input);
    for (size_t i = 0; type && part && i < sizeof kinds / sizeof *kinds; i++) {
        const char *text = json_get_string(delta, kinds[i].member);
        if (strcmp(type, kinds[i].name) != 0 || part->type != kinds[i].type)
            continue;
        if (a->searches && part->type == BLOCK_TEXT && text)
            buf_addstr(&a->text, text);
        return kinds[i].take(s, part, text);
    }
    return true;
}

static enum stop_reason find_stop_reason(const char *name)
{
    static const struct {
        const char *name;
        enum stop_reason reason;
    } reasons[] = {
        {"end_turn", STOP_END_TURN},
        {"max_tokens", STOP_MAX_TOKENS},
        {"stop_sequence", STOP_SEQUENCE},
        {"tool_use", STOP_TOOL_USE},
        {"pause_turn", STOP_PAUSE},
        {"refusal", STOP_REFUSAL},
        {"model_context_window_exceeded", STOP_CONTEXT_EXCEEDED},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(name, reasons[i].name) == 0)
            return reasons[i].reason;
    return STOP_OTHER;
}

static bool take_event(struct stream *s, void *state, const struct json *event)
{
    struct answer *a = state;
    const char *type = json_get_string(event, "type");
    if (!type)
        return true;
    if (strcmp(type, "content_block_start") == 0)
        return block_start(s, a, event);
    if (strcmp(type, "content_block_delta") == 0)
        return block_delta(s, a, event);
    if (a->searches && strcmp(type, "content_block_stop") == 0)
        return end_text(s, a, json_get_int(event, "index", -1));
    if (strcmp(type, "message_start") == 0) {
        const struct json *message = json_get(event, "message");
        stream_set_once(&s->response->model, json_get_string(message, "model"));
        take_usage(s, a, json_get(message, "usage"));
    } else if (strcmp(type, "message_delta") == 0) {
        const char *reason = json_get_string(json_get(event, "delta"), "stop_reason");
        if (reason)
            stream_stop(s, find_stop_reason(reason));
        take_usage(s, a, json_get(event, "usage"));
        bool pauses = s->response->stop_reason == STOP_PAUSE && a->open.len > 0;
        return !reason || pauses || list_sources(s, a);
    } else if (strcmp(type, "message_stop") == 0) {
        s->ended = true;
    }
    return true;
}

static const struct dialect dialect = {
    .name = "anthropic",
    .framing = FRAMING_SSE,
    .headers = add_headers,
    .event = take_event,
};

bool anthropic_complete(const struct provider_call *call, const struct request *request,
                        struct response *response, struct failure *f)
{
    struct answer answer = {.before = USAGE_UNKNOWN,
                            .searches = searches(request),
                            .text = BUF_INIT,
                            .citations = BUF_INIT};
    bool ok = true;
    for (int pauses = 0; pauses <= MOST_PAUSES; pauses++) {
        struct outgoing_body body;
        answer.fresh = answer.written = answer.read = answer.output = -1;
        answer.searched = 0;
        write_body(&body, call->config, request, pauses > 0 ? response : NULL, &answer);
        ok = exchange_stream(call, &dialect, "/v1/messages", &body, request, response, &answer, f);
        f->content_seen = f->content_seen || pauses > 0;
        bool calls = false; /* of other tools, which run first */
        for (size_t i = 0; i < response->blocks.len; i++)
            calls = calls || (response->blocks.items[i].type == BLOCK_TOOL_CALL &&
                              !response->blocks.items[i].signature);
        if (!ok || calls || response->stop_reason != STOP_PAUSE || answer.open.len == 0)
            break;
        answer.before = response->usage;
    }
    answer_release(&answer);
    return ok;
}

bool anthropic_window(const struct provider_call *call, const char *model, int64_t *tokens)
{
    struct failure f;
    auto_free char *name = url_escape(model);
    auto_free char *path = mem_printf("/v1/models/%s", name);
    AUTO(json_free_local) struct json *reply = exchange_fetch(call, &dialect, path, NULL, &f);
    int64_t found = figure_tokens(reply, "max_input_tokens", 0);
    if (found > 0)
        *tokens = found;
    return found > 0;
}

bool anthropic_models(const struct provider_call *call, struct provider_names *out,
                      struct failure *f)
{
    return exchange_names(call, &dialect, "/v1/models?limit=1000", "data", "id", out, f);
}
