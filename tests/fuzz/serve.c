/* Readers of the protocols that tiro serves. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "mcp/client_private.h"
#include "rpc/peer.h"
#include "serve/acp_private.h"
#include "serve/acp_updates.h"
#include "serve/http_request.h"
#include "serve/http_service.h"
#include "serve/mcp_private.h"
#include "session/operation.h"
#include "tests/fuzz/fuzz.h"

/* --- acp -------------------------------------------------------------------------------------- */

static void check_prompt(const char *text)
{
    struct error e = {0};
    struct acp_prompt p;
    AUTO(json_free_local) struct json *blocks = json_parse_foreign(text, strlen(text), &e);
    if (blocks && acp_prompt_read(blocks, &p, &e)) {
        FUZZ_CHECK(utf8_valid(p.text.data, p.text.len) || !utf8_valid(text, strlen(text)));
        for (size_t i = 0; i < p.images.len; i++) {
            const struct acp_image *image = &p.images.items[i];
            AUTO(buf_release) struct buf bytes = {0};
            buf_init(&bytes, 1 << 20);
            if (base64_decode(image->data, &bytes)) {
                auto_free char *again = base64_encode((const unsigned char *)bytes.data, bytes.len);
                FUZZ_CHECK(strlen(again) == strlen(image->data));
            }
        }
        acp_prompt_release(&p);
    } else {
        fuzz_check_error(&e);
        if (blocks)
            acp_prompt_release(&p);
    }
}

/* Written as an object that reads as JSON. */
static void check_call(const char *args, const char *preview, const struct file_change *change)
{
    static const char *const tools[] = {"edit_file", "read_file", "unheard of"};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        struct json_out o = {.buf = &text};
        const struct acp_tool_call call = {
            .id = "1", .tool = tools[i], .args = args, .directory = "/home/ada"};
        json_out_open(&o, '{');
        acp_tool_call_write(&o, &call);
        acp_tool_call_write_preview(&o, &call, preview, change);
        json_out_close(&o, '}');
        AUTO(json_free_local) struct json *v = json_parse(text.data, text.len, NULL);
        FUZZ_CHECK(v || !utf8_valid(args, strlen(args)) || json_find_nul(text.data, text.len));
    }
}

/* Reads the prompt of a client of the Agent Client Protocol (it is accepted, or refused with a
 * reason), and renders a model's tool call and its change as JSON. The input is up to three texts,
 * separated by NULs: a prompt or arguments, a text that is changed, the text that it becomes. */
int fuzz_acp(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_strndup((const char *)data, size);
    const char *end = text + size, *second = text + strlen(text);
    second += second < end;
    const char *third = second + strlen(second);
    third += third < end;
    const struct buf old = {.data = text + (second - text), .len = strlen(second)};
    const struct buf new = {.data = text + (third - text), .len = strlen(third)};
    struct file_change change = {0};
    change_keep(&change, &old, &new);
    check_prompt(text);
    check_call(text, second, &change);
    /* A whole change has the lines of both texts. */
    AUTO(buf_release) struct buf hunks = BUF_INIT;
    struct difference_size n = difference_write(&hunks, &old, &new, 1);
    FUZZ_CHECK((n.added + n.removed > 0) == (strcmp(second, third) != 0));
    if (change.after && change.line == 0) {
        FUZZ_CHECK_SAME(change.before, second);
        FUZZ_CHECK_SAME(change.after, third);
    }
    shape_release(&change_shape, &change);
    return 0;
}

/* --- acp_answer ------------------------------------------------------------------------------- */

enum { MAX_OUTPUT = 2000 };

/* The notices that the tool gets from the surface. */
struct told {
    struct surface_answer_params answer;
    int64_t status;
    char *signal;
};

static enum surface_outcome run(void *context, const struct tool_context *tool,
                                const struct surface_command *command, struct surface_run *run,
                                struct buf *out)
{
    const struct told *t = context;
    (void)tool, (void)out;
    FUZZ_CHECK(command->max_output > 0 && command->max_output <= MAX_OUTPUT);
    buf_addstr(&run->output, t->answer.text);
    run->truncated = t->answer.truncated;
    run->status = t->status;
    run->signal = mem_strdup(t->signal);
    return SURFACE_DID;
}

/* The next message in the form that rpc/peer.h passes on: valid UTF-8 without NULs. */
static struct json *next(const char **at, const char *end)
{
    size_t len = strlen(*at);
    bool fits = utf8_valid(*at, len) && !json_find_nul(*at, len);
    struct json *v = fits ? json_parse_foreign(*at, len, NULL) : NULL;
    *at += len;
    *at += *at < end;
    return v;
}

/* Answers from a client of the Agent Client Protocol to a tool's requests. Any answer must lead to
 * a bounded, valid result that says how the tool ended. The input is up to three JSON texts,
 * separated by NULs: how a command ended, its output, an error. */
int fuzz_acp_answer(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_strndup((const char *)data, size);
    const char *at = text, *end = text + size;
    AUTO(json_free_local)
    struct json *exit = next(&at, end), *output = next(&at, end), *error = next(&at, end);
    struct told t = {.status = -1};
    acp_answer_exit(exit, &t.status, &t.signal);
    acp_answer_exit(json_get(output, "exitStatus"), &t.status, &t.signal);
    FUZZ_CHECK(t.status >= -1 && t.status <= UINT32_MAX && (!t.signal || *t.signal));
    t.answer.text = json_get_string(output, "output");
    t.answer.truncated = json_get_bool(output, "truncated", false);
    if (t.answer.text) {
        const struct tool_surface surface = {.run = run, .context = (void *)(uintptr_t)&t};
        const struct tool_host host = {.root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                       .root = "/",
                                       .surface = &surface};
        const struct wakeup wakeup = {.fd = -1};
        const struct tool_context context = {
            .max_output = MAX_OUTPUT, .deadline_ms = clock_mono_ms() + 10000, .wakeup = &wakeup};
        AUTO(toolset_release) struct toolset tools = {0};
        AUTO(tool_call_release) struct tool_call call = {0};
        AUTO(buf_release) struct buf out = BUF_INIT;
        toolset_init(&tools, tool_sources, &host);
        FUZZ_CHECK(tool_call_prepare(&call, &tools, "run_command", "{\"command\":\"x\"}", &out));
        bool failed = tool_call_run(&call, &context, &out);
        FUZZ_CHECK(failed == (t.signal || t.status != 0));
        FUZZ_CHECK(out.len <= MAX_OUTPUT && out.data[out.len - 1] == ']');
        FUZZ_CHECK(fuzz_is_clean(out.data, out.len, true));
        close(host.root_fd);
    }
    free(t.signal);
    const char *message = json_get_string(error, "message");
    const struct rpc_fault fault = {0, message ? message : "", json_get(error, "data")};
    auto_free char *why = acp_answer_refusal(error ? &fault : NULL, "fs/read_text_file");
    FUZZ_CHECK(*why && strlen(why) < 1100);
    return 0;
}

/* --- rpc -------------------------------------------------------------------------------------- */

enum { ASKED = 3 };

struct side {
    struct buf heard;
    VEC(struct rpc_call *) later;
    size_t requests;
};

static void hear(struct side *s, const char *what, const struct json *v)
{
    struct json_out o = {.buf = &s->heard};
    auto_free char *text = json_print(v);
    json_out_string(&o, what);
    json_out_raw(&o, text);
}

/* Each request is answered in another way: at once, as an error, or at the end. */
static void on_request(void *context, struct rpc_call *call, const char *method,
                       const struct json *params)
{
    static const struct error busy = {ERR_SESSION_BUSY, "a turn runs; wait"};
    struct side *s = context;
    auto_free char *text = json_print(params);
    FUZZ_CHECK(!params || json_type(params) == JSON_OBJECT || json_type(params) == JSON_ARRAY);
    hear(s, method, params);
    call->kept = s;
    s->requests++;
    if (strlen(method) % 3 == 0)
        rpc_answer(call, text);
    else if (strlen(method) % 3 == 1)
        rpc_fail_with(call, &busy);
    else
        vec_push(&s->later, call);
}

static void on_notification(void *context, const char *method, const struct json *params)
{
    hear(context, method, params);
}

static void on_cancelled(void *context, struct rpc_call *call)
{
    FUZZ_CHECK(call->kept == context);
    hear(context, "cancelled", NULL);
}

static void on_answered(void *context, const struct json *result, const struct rpc_fault *fault)
{
    FUZZ_CHECK(!result != !fault);
    hear(context, fault ? fault->message : "result", result);
}

static const struct rpc_handlers handlers = {on_request, on_notification, on_cancelled, false};

static void check_message(const struct json *v)
{
    FUZZ_CHECK(json_type(v) == JSON_OBJECT);
    FUZZ_CHECK_SAME(json_get_string(v, "jsonrpc"), "2.0");
    bool answer = json_get(v, "result") || json_get(v, "error");
    FUZZ_CHECK(answer != (json_get_string(v, "method") != NULL));
    FUZZ_CHECK(!answer || json_get(v, "id"));
    FUZZ_CHECK(!(json_get(v, "result") && json_get(v, "error")));
}

static void check_output(const char *text, size_t len)
{
    const char *end = text + len;
    FUZZ_CHECK(len == 0 || end[-1] == '\n');
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        struct error e;
        AUTO(json_free_local) struct json *v = json_parse(text, (size_t)(line_end - text), &e);
        FUZZ_CHECK_ERROR(v, &e);
        if (json_type(v) != JSON_ARRAY)
            check_message(v);
        for (const struct json *m = json_type(v) == JSON_ARRAY ? json_first(v) : NULL; m;
             m = json_next(m))
            check_message(m);
        text = line_end + 1;
    }
}

/* The messages that the peer received, then those that it sent. */
static struct buf talk(const uint8_t *data, size_t size, struct dice *d)
{
    struct side s = {.heard = BUF_INIT};
    struct rpc_peer *p = rpc_peer_new(&handlers, &s);
    struct error e;
    for (int i = 0; i < ASKED; i++)
        FUZZ_CHECK(rpc_ask(p, "x", NULL, on_answered, &s) == i + 1);
    for (size_t at = 0; at < size;) {
        size_t len = d ? fuzz_piece(d, size - at) : size;
        FUZZ_CHECK_ERROR(rpc_peer_feed(p, (const char *)data + at, len, &e), &e);
        at += len;
    }
    FUZZ_CHECK(rpc_peer_calls(p) == s.later.len);
    for (size_t i = 0; i < s.later.len; i++)
        rpc_answer(s.later.items[i], "{}");
    size_t len;
    const char *said = rpc_peer_output(p, &len);
    check_output(said, len);
    buf_add(&s.heard, said, len);
    rpc_peer_free(p); /* unanswered requests fail and are reported, too */
    vec_release(&s.later);
    return s.heard;
}

/* One side of a JSON-RPC connection: its output for any bytes is JSON-RPC, one message per line,
 * bounded, and the same for any split. */
int fuzz_rpc(const uint8_t *data, size_t size)
{
    struct dice d = fuzz_dice(data, size);
    AUTO(buf_release) struct buf whole = talk(data, size, NULL), split = talk(data, size, &d);
    FUZZ_CHECK(whole.len == split.len && memcmp(whole.data, split.data, whole.len) == 0);
    return 0;
}

/* --- mcp -------------------------------------------------------------------------------------- */

/* The next line of the text, which is cut there; NULL where it is empty. */
static char *take_line(char **text)
{
    char *line = *text, *end = line + strcspn(line, "\n");
    *text = *end ? end + 1 : end;
    *end = '\0';
    return *line ? line : NULL;
}

static void check_admission(const struct json *params, const struct mcp_headers *headers,
                            bool batch)
{
    static const char *const methods[] = {"initialize", "tools/call", "resources/read", "x"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct mcp_request r = {methods[i], params, batch, headers,
                                      headers ? NULL : "2025-03-26"};
        struct mcp_refusal refusal = {0};
        bool modern;
        bool ok = mcp_admit(&r, &modern, &refusal);
        FUZZ_CHECK(ok || (refusal.code < 0 && refusal.status == 400));
        FUZZ_CHECK(ok || fuzz_is_clean(refusal.message, strlen(refusal.message), false));
        if (refusal.data) {
            struct json *data = json_parse(refusal.data, strlen(refusal.data), NULL);
            FUZZ_CHECK(json_get_string(data, "requested"));
            json_free(data);
        }
        free(refusal.data);
    }
}

static void check_address(const char *uri)
{
    char *reference, *again;
    enum mcp_form form, same;
    if (!mcp_uri_read(uri, &reference, &form))
        return;
    FUZZ_CHECK(*reference);
    auto_free char *made = mcp_uri_of(reference, form);
    FUZZ_CHECK(mcp_uri_read(made, &again, &same));
    if (form == MCP_JSON) {
        FUZZ_CHECK(same == MCP_JSON);
        FUZZ_CHECK_SAME(again, reference);
    }
    free(again);
    free(reference);
}

/* The Model Context Protocol: admission of requests, and the resources that addresses name. The
 * first line is the request's "params", the others are the headers' values. */
int fuzz_mcp(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text;
    char *first = take_line(&rest);
    struct json *params = first ? json_parse_foreign(first, strlen(first), NULL) : NULL;
    struct mcp_headers headers;
    headers.protocol_version = take_line(&rest);
    headers.method = take_line(&rest);
    headers.name = take_line(&rest);
    headers.session = NULL;
    headers.takes_json = headers.takes_events = true;
    check_admission(params, NULL, false);
    check_admission(params, &headers, true);
    check_admission(params, &headers, false);
    check_address(rest);
    json_free(params);
    free(text);
    return 0;
}

/* --- http_request ----------------------------------------------------------------------------- */

static void add_escaped(struct buf *out, const char *text)
{
    auto_free char *escaped = url_escape(text);
    FUZZ_CHECK(utf8_valid(text, strlen(text)));
    buf_addstr(out, escaped);
}

static void check_same(const struct http_target *t)
{
    AUTO(buf_release) struct buf again = BUF_INIT;
    AUTO(http_target_release) struct http_target second = {0};
    struct error e;
    for (size_t i = 0; i < t->path.len; i++) {
        buf_addch(&again, '/');
        add_escaped(&again, t->path.items[i]);
    }
    for (size_t i = 0; i < t->query.len; i++) {
        buf_addch(&again, i ? '&' : '?');
        add_escaped(&again, t->query.items[i].name);
        buf_addch(&again, '=');
        add_escaped(&again, t->query.items[i].value);
    }
    FUZZ_CHECK_ERROR(http_target_parse(again.data, &second, &e), &e);
    FUZZ_CHECK(second.path.len == t->path.len && second.query.len == t->query.len);
    for (size_t i = 0; i < t->path.len; i++)
        FUZZ_CHECK_SAME(second.path.items[i], t->path.items[i]);
    for (size_t i = 0; i < t->query.len; i++) {
        FUZZ_CHECK_SAME(second.query.items[i].name, t->query.items[i].name);
        FUZZ_CHECK_SAME(second.query.items[i].value, t->query.items[i].value);
    }
}

/* Reads the parameters as the query of every route, since few inputs reach a route by their
 * path. */
static void check_params(const struct http_target *t)
{
    const struct http_route *r;
    for (r = http_routes; r->path; r++) {
        struct error e = {0};
        AUTO(json_free_local) struct json *params = json_new_object();
        const struct shape *s =
            r->kind == HTTP_OPERATION ? operation_find(r->operation)->params : NULL;
        if (!http_target_add_params(t, s, params, &e))
            fuzz_check_error(&e);
    }
}

static void check_head(struct http_head *h)
{
    const struct http_policy policy = {.hosts = "tiro.lan", .token = "0123456789abcdef"};
    struct http_refusal r = {0};
    http_check_head(h, &policy, &r);
    FUZZ_CHECK(r.status == 0 || strcmp(http_status_name(r.status), "INTERNAL_ERROR") != 0);
    if (r.status)
        fuzz_check_error(&r.error);
    else
        FUZZ_CHECK(http_head_field(h, "Host") && http_head_field(h, "Authorization"));
    http_check_body_type(h, &r);
    (void)http_accepts(h, "text/event-stream");
}

/* An HTTP request: the target in the first line, header fields in the other lines. An accepted
 * target survives writing and reading again, every route accepts its query or names the member that
 * does not fit, and every head is served or refused with a reason. */
int fuzz_http_request(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *line = text + strcspn(text, "\n");
    struct http_head h = {.method = "GET", .version = "HTTP/1.1"};
    AUTO(http_target_release) struct http_target t = {0};
    struct error e = {0};
    while (*line) {
        *line++ = '\0';
        char *colon = line + strcspn(line, ":\n"), *end = line + strcspn(line, "\n");
        if (*colon == ':') {
            *colon = '\0';
            vec_push(&h.fields, (struct http_field){line, colon + 1});
        }
        line = end;
    }
    if (http_target_parse(text, &t, &e)) {
        check_same(&t);
        check_params(&t);
        int status = 0;
        AUTO(json_free_local) struct json *params = json_new_object();
        const struct http_route *r = http_route_find("GET", &t, params, &status);
        AUTO(buf_release) struct buf allow = BUF_INIT;
        http_route_allow(&t, &allow);
        FUZZ_CHECK(r || status == 404 || status == 405);
        FUZZ_CHECK((allow.len > 0) == (r || status == 405));
    } else {
        fuzz_check_error(&e);
    }
    check_head(&h);
    vec_release(&h.fields);
    free(text);
    return 0;
}

/* --- what a server of MCP says to its client ---------------------------------------------------
 */

/* The lines of a server, while a call waits; what the client says is dropped. */
int fuzz_mcp_client(const uint8_t *data, size_t size)
{
    char name[] = "fuzz";
    const struct mcp_server server = {.name = name, .command = name};
    struct mcp_client *c = mcp_client_make(&server, "/");
    struct error e;
    bool ok = true;
    mcp_dialogue_begin(c);
    c->call = (struct mcp_running){.number = 1,
                                   .what = size > 0 ? data[0] % 3 : MCP_CALL_TOOL,
                                   .name = mem_strdup("tool"),
                                   .args = mem_strdup("{}")};
    for (size_t at = 0; ok && at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t len = end ? (size_t)(end + 1 - (data + at)) : size - at, waits;
        ok = mcp_dialogue_heard(c, len) && rpc_peer_feed(c->peer, (const char *)data + at, len, &e);
        (void)mcp_dialogue_due(c);
        (void)rpc_peer_output(c->peer, &waits);
        rpc_peer_wrote(c->peer, waits);
        at += len;
    }
    mcp_dialogue_end(c);
    struct mcp_view v;
    mcp_client_view(c, &v);
    FUZZ_CHECK(v.tools.len <= MCP_TOOLS_MAX);
    for (size_t i = 0; i < v.tools.len; i++) {
        const struct mcp_tool_info *t = &v.tools.items[i];
        FUZZ_CHECK(*t->name && strlen(t->name) <= MCP_NAME_MAX);
        FUZZ_CHECK(strlen(t->schema) <= MCP_SCHEMA_MAX && *t->schema == '{');
        FUZZ_CHECK(utf8_valid(t->schema, strlen(t->schema)));
    }
    mcp_view_release(&v);
    struct mcp_offers o;
    mcp_client_offers(c, &o);
    FUZZ_CHECK(o.prompts.len <= MCP_PROMPTS_MAX && o.resources.len <= MCP_RESOURCES_MAX);
    for (size_t i = 0; i < o.prompts.len; i++)
        FUZZ_CHECK(*o.prompts.items[i].name && !strchr(o.prompts.items[i].name, '\n'));
    for (size_t i = 0; i < o.resources.len; i++)
        FUZZ_CHECK(*o.resources.items[i].uri && !strchr(o.resources.items[i].uri, '\n'));
    mcp_offers_release(&o);
    mcp_client_free(c);
    return 0;
}
