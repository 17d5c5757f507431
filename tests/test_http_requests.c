/* Contents and limits of a request: targets, parameters, routes, heads. */
#include <ctype.h>

#include "serve/describe.h"
#include "serve/http_request.h"
#include "serve/http_service.h"
#include "serve/socket.h"
#include "session/operation.h"
#include "tests/steps.h"
#include "tests/suite.h"

/* --- targets ---------------------------------------------------------------------------------- */

/* "/a/b?c=d" → "a|b|?c=d", so that a table can say it. */
static char *told(const struct http_target *t)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < t->path.len; i++)
        buf_addf(&out, "%s|", t->path.items[i]);
    for (size_t i = 0; i < t->query.len; i++)
        buf_addf(&out, "%c%s=%s", i ? '&' : '?', t->query.items[i].name, t->query.items[i].value);
    return buf_take(&out);
}

TEST(a_target_is_parted_and_its_escapes_are_read)
{
    static const struct {
        const char *raw, *told; /* NULL: it is refused */
    } rows[] = {
        {"/", "|"},
        {"/sessions", "sessions|"},
        {"/sessions/", "sessions||"},
        {"/sessions/a%20b/history?after=3&limit=5", "sessions|a b|history|?after=3&limit=5"},
        {"/a%2Fb", "a/b|"},
        {"/m?q=two+words%2B1", "m|?q=two words+1"},
        {"/m?q", "m|?q="},
        {"/m?", "m|"},
        {"/m?&&a=1&", "m|?a=1"},
        {"/m?a=b=c", "m|?a=b=c"},
        {"/%C3%A4", "\xC3\xA4|"},
        {"/a+b", "a+b|"},
        {"http://localhost:8476/x?y=z", "x|?y=z"},
        {"HTTP://h", "|"},
        {"", NULL},
        {"sessions", NULL},
        {"*", NULL},
        {"https://h/x", NULL},
        {"/%", NULL},
        {"/%4", NULL},
        {"/%4g", NULL},
        {"/%00", NULL},
        {"/a?b=%00", NULL},
        {"/%FF", NULL},
        {"/a?%FF=1", NULL},
        {"/\xC3\xA4", NULL},
        {"/a b", NULL},
        {"/a\tb", NULL},
        {"/a#b", NULL},
        {"/a\\b", NULL},
        {"/a\"b", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(http_target_release) struct http_target t = {0};
        struct error e = {0};
        bool ok = http_target_parse(rows[i].raw, &t, &e);
        if (ok != (rows[i].told != NULL))
            fail_msg("\"%s\": %s", rows[i].raw, ok ? "taken" : e.text);
        if (ok)
            assert_string_equal(support_keep(told(&t)), rows[i].told);
        else
            assert_int_equal(e.code, ERR_USAGE);
    }
}

TEST(a_query_becomes_parameters_as_the_shape_wants_them)
{
    static const struct {
        const char *operation, *raw, *json, *fault; /* one of the two is NULL */
    } rows[] = {
        {"session/history", "/?after=12&newest=true&limit=5",
         "{\"after\":12,\"newest\":true,\"limit\":5}", NULL},
        {"session/history", "/?newest", "{\"newest\":true}", NULL},
        {"session/history", "/?newest=false", "{\"newest\":false}", NULL},
        {"session/list", "/?text=a+b&state=archived", "{\"text\":\"a b\",\"state\":\"archived\"}",
         NULL},
        {"session/history", "/?newest=yes", NULL, "newest"},
        {"session/history", "/?after=x", NULL, "after"},
        {"session/history", "/?after=0x10", NULL, "after"},
        {"session/history", "/?after=1%20", NULL, "after"},
        {"session/history", "/?after=", NULL, "after"},
        {"session/history", "/?after=inf", NULL, "after"},
        {"session/history", "/?after=1&after=2", NULL, "after"},
        {"session/history", "/?nix=1", NULL, "nix"},
        {"engine/info", "/?nix=1", NULL, "nix"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(http_target_release) struct http_target t = {0};
        struct error e = {0};
        AUTO(json_free_local) struct json *params = json_new_object();
        assert_true(http_target_parse(rows[i].raw, &t, &e));
        const struct shape *s = operation_find(rows[i].operation)->params;
        bool ok = http_target_add_params(&t, s, params, &e);
        if (ok != !rows[i].fault)
            fail_msg("%s: %s", rows[i].raw, ok ? "taken" : e.text);
        if (ok)
            assert_string_equal(support_keep(json_print(params)), rows[i].json);
        else
            assert_non_null(strstr(e.text, rows[i].fault));
    }
}

/* --- routes ----------------------------------------------------------------------------------- */

TEST(each_route_of_an_operation_has_one_and_names_members_of_it)
{
    const struct http_route *r;
    for (r = http_routes; r->path; r++) {
        if (r->kind != HTTP_OPERATION)
            continue;
        const struct operation *o = operation_find(r->operation);
        assert_non_null(o);
        AUTO(json_free_local) struct json *schema = o->params ? shape_schema(o->params) : NULL;
        const struct json *members = json_get(schema, "properties");
        assert_true(!strstr(r->path, "{session_id}") || json_get(members, "session_id"));
        assert_true(!r->q || json_get(members, r->q));
    }
}

/* Follows each "$ref" from the root. */
static void check_references(const struct json *root, const struct json *v)
{
    const char *to = json_get_string(v, "$ref");
    if (to) {
        const struct json *at = root;
        char *copy = support_text("%s", to + 2);
        for (char *part = strtok(copy, "/"); part; part = strtok(NULL, "/"))
            at = json_get(at, part);
        if (!at)
            fail_msg("%s leads nowhere", to);
    }
    for (const struct json *m = json_first(v); m; m = json_next(m))
        check_references(root, m);
}

TEST(each_route_is_described)
{
    AUTO(json_free_local) struct json *api = describe_contract("openapi"), *ids = json_new_object();
    const struct http_route *r;
    for (r = http_routes; r->path; r++) {
        const struct json *path = json_get(json_get(api, "paths"), r->path);
        char name[8] = "";
        for (size_t c = 0; r->method[c]; c++)
            name[c] = (char)tolower((unsigned char)r->method[c]);
        const struct json *method = json_get(path, name);
        if (!method)
            fail_msg("%s %s is not described", r->method, r->path);
        const struct json *first = json_first(json_get(method, "parameters"));
        if (strstr(r->path, "{session_id}")) {
            assert_string_equal(json_get_string(first, "name"), "session_id");
            assert_string_equal(json_get_string(first, "in"), "path");
            assert_true(json_get_bool(first, "required", false));
        }
        assert_non_null(json_get_string(method, "summary"));
        const char *id = json_get_string(method, "operationId");
        assert_null(json_get(ids, id));
        json_set_bool(ids, id, true);
        assert_non_null(json_get(json_get(method, "responses"), "4XX"));
    }
    check_references(api, api);
    char *text = support_keep(json_print(api));
    const struct json *schemas = json_get(json_get(api, "components"), "schemas");
    for (const struct json *s = json_first(schemas); s; s = json_next(s))
        if (!strstr(text, support_text("\"#/components/schemas/%s\"", json_name(s))))
            fail_msg("%s is not used", json_name(s));
    const struct json *messages =
        json_get(json_get(json_get(api, "paths"), "/sessions/{session_id}/messages"), "post");
    char *body = support_keep(json_print(json_get(messages, "requestBody")));
    assert_says(body, "\"required\":[\"prompt\"]", "!\"session_id\"");
}

TEST(a_path_and_a_method_lead_to_one_row)
{
    static const struct {
        const char *method, *raw, *operation; /* NULL: none, or none of the table */
        int status;
        const char *session;
    } rows[] = {
        {"GET", "/sessions", "session/list", 200, NULL},
        {"HEAD", "/sessions", "session/list", 200, NULL},
        {"POST", "/sessions", "session/create", 201, NULL},
        {"GET", "/sessions/last", "session/read", 200, "last"},
        {"GET", "/sessions/my%20talk%2F2", "session/read", 200, "my talk/2"},
        {"DELETE", "/sessions/x", "session/archive", 200, "x"},
        {"GET", "/sessions/x/history", "session/history", 200, "x"},
        {"POST", "/sessions/x/messages", "turn/start", 200, "x"},
        {"POST", "/sessions/x/interrupt", "turn/interrupt", 200, "x"},
        {"POST", "/sessions/x/compact", "compaction/run", 200, "x"},
        {"GET", "/sessions/x/events", NULL, 200, "x"},
        {"GET", "/events", NULL, 200, NULL},
        {"GET", "/memory?q=x", "memory/search", 200, NULL},
        {"GET", "/capabilities", "capabilities/get", 200, NULL},
        {"GET", "/config", "config/get", 200, NULL},
        {"GET", "/models", "models/list", 200, NULL},
        {"GET", "/health", NULL, 200, NULL},
        {"GET", "/openapi.json", NULL, 200, NULL},
        {"POST", "/rpc", NULL, 200, NULL},
        {"HEAD", "/sessions/x/events", NULL, 405, NULL},
        {"GET", "/rpc", NULL, 405, NULL},
        {"POST", "/mcp", NULL, 200, NULL},
        {"DELETE", "/mcp", NULL, 204, NULL},
        {"GET", "/mcp", NULL, 405, NULL},
        {"PUT", "/sessions", NULL, 405, NULL},
        {"get", "/sessions", NULL, 405, NULL},
        {"GET", "/", NULL, 404, NULL},
        {"GET", "/sessions/", NULL, 404, NULL},
        {"GET", "/sessions//history", NULL, 404, NULL},
        {"GET", "/sessions/x/history/", NULL, 404, NULL},
        {"GET", "/sessions/x/y/history", NULL, 404, NULL},
        {"GET", "/Sessions", NULL, 404, NULL},
        {"GET", "/%7Bsession%7D", NULL, 404, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(http_target_release) struct http_target t = {0};
        struct error e;
        int status;
        AUTO(json_free_local) struct json *params = json_new_object();
        assert_true(http_target_parse(rows[i].raw, &t, &e));
        const struct http_route *r = http_route_find(rows[i].method, &t, params, &status);
        if ((r ? r->status : status) != rows[i].status)
            fail_msg("%s %s: %d", rows[i].method, rows[i].raw, r ? r->status : status);
        if (rows[i].operation)
            assert_string_equal(r->operation, rows[i].operation);
        if (rows[i].session)
            assert_string_equal(json_get_string(params, "session_id"), rows[i].session);
        else
            assert_int_equal(json_len(params), 0);
    }
}

TEST(a_path_tells_its_methods)
{
    AUTO(http_target_release) struct http_target t = {0};
    struct error e;
    AUTO(buf_release) struct buf allow = BUF_INIT;
    assert_true(http_target_parse("/sessions/x", &t, &e));
    http_route_allow(&t, &allow);
    assert_string_equal(allow.data, "GET, HEAD, DELETE");
}

/* --- heads ------------------------------------------------------------------------------------ */

/* "Host: x\nOrigin: y" as a head. The text is cut up. */
static struct http_head head_of(char *text)
{
    struct http_head h = {.method = "POST", .version = "HTTP/1.1"};
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *colon = strchr(line, ':');
        *colon = '\0';
        vec_push(&h.fields, (struct http_field){line, colon + 1 + (colon[1] == ' ')});
    }
    return h;
}

static int status_of(const char *text, const struct http_policy *p, bool of_machine,
                     const char *authority)
{
    auto_free char *copy = mem_strdup(text);
    struct http_head h = head_of(copy);
    struct http_refusal r = {0};
    if (strncmp(text, "X-Version", 9) == 0)
        h.version = "HTTP/1.0";
    h.of_machine = of_machine;
    h.authority = authority;
    http_check_head(&h, p, &r);
    if (r.status) {
        assert_true(strchr(r.error.text, ';') != NULL); /* what happened; what to do */
        assert_string_not_equal(http_status_name(r.status), "INTERNAL_ERROR");
    }
    vec_release(&h.fields);
    return r.status;
}

#define PROXIED .head = "Host: tiro.example\nX-Forwarded-Proto: "
#define SECURE "Host: tiro.example\nX-Forwarded-Proto: https\nOrigin: https://tiro.example"
#define OTHERS .status = 403, .of_machine = true

TEST(a_head_is_served_or_refused_with_its_status)
{
    static const struct {
        const char *head;
        int status; /* 0: it is served */
        const char *hosts, *authority;
        bool of_machine;
    } rows[] = {
        /* two could read it differently */
        {.head = "Host: 127.0.0.1:8476\nContent-Length: 5", .status = 0},
        {.head = "Host: 127.0.0.1\nTransfer-Encoding: chunked", .status = 0},
        {.head = "Host: 127.0.0.1\nTransfer-Encoding: CHUNKED", .status = 0},
        {.head = "Host: 127.0.0.1\nContent-Length: 0", .status = 0},
        {.head = "Host: 127.0.0.1\nContent-Length: 5\nTransfer-Encoding: chunked", .status = 400},
        {.head = "Host: 127.0.0.1\nTransfer-Encoding: chunked\nContent-Length: 5", .status = 400},
        {.head = "Host: 127.0.0.1\nContent-Length: 5\nContent-Length: 5", .status = 400},
        {.head = "Host: 127.0.0.1\nContent-Length: 5\nContent-Length: 6", .status = 400},
        {.head = "Host: 127.0.0.1\nContent-Length: 5, 5", .status = 400},
        {.head = "Host: 127.0.0.1\nContent-Length: +5", .status = 400},
        {.head = "Host: 127.0.0.1\nContent-Length: -5", .status = 400},
        {.head = "Host: 127.0.0.1\nContent-Length: 0x5", .status = 400},
        {.head = "Host: 127.0.0.1\nContent-Length: ", .status = 400},
        {.head = "Host: 127.0.0.1\nContent-Length: 99999999999999999999", .status = 400},
        {.head = "Host: 127.0.0.1\nContent-Length: 33554432", .status = 0},
        {.head = "Host: 127.0.0.1\nContent-Length: 33554433", .status = 413},
        {.head = "Host: 127.0.0.1\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked",
         .status = 400},
        {.head = "Host: 127.0.0.1\nTransfer-Encoding: gzip, chunked", .status = 501},
        {.head = "Host: 127.0.0.1\nTransfer-Encoding: identity", .status = 501},
        {.head = "Host: 127.0.0.1\nTransfer-Encoding: xchunked", .status = 501},
        {.head = "X-Version: 1.0\nHost: 127.0.0.1\nTransfer-Encoding: chunked", .status = 400},
        {.head = "Host: 127.0.0.1\nTransfer-Encoding : chunked", .status = 400},
        {.head = "Host: 127.0.0.1\nX y: z", .status = 400},
        {.head = "Host: 127.0.0.1\n: z", .status = 400},
        {.head = "Host: 127.0.0.1\nX: a\x01z", .status = 400},
        {.head = "Host: 127.0.0.1\nX: a\tz", .status = 0},
        {.head = "Host: 127.0.0.1\nX: a\x7Fz", .status = 400},
        {.head = "X: y", .status = 400},
        {.head = "Host: 127.0.0.1\nHost: 127.0.0.1", .status = 400},
        {.head = "Host: 127.0.0.1\nHost: evil.example", .status = 400},
        /* a name or a page of others */
        {.head = "Host: 127.0.0.1:8476", .status = 0},
        {.head = "Host: localhost", .status = 0},
        {.head = "Host: LocalHost:1", .status = 0},
        {.head = "Host: [::1]:8476", .status = 0},
        {.head = "Host: 192.168.1.7:8476", .status = 0},
        {.head = "Host: evil.example", .status = 403},
        {.head = "Host: 127.0.0.1.evil.example", .status = 403},
        {.head = "Host: localhost.evil.example:8476", .status = 403},
        {.head = "Host: evil.example:127.0.0.1", .status = 403},
        {.head = "Host: 127.0.0.1:x", .status = 403},
        {.head = "Host: [::1", .status = 403},
        {.head = "Host: []", .status = 403},
        {.head = "Host: ", .status = 403},
        {.head = "Host: :8476", .status = 403},
        {.head = "Host: 0x7f.1", .status = 403},
        {.head = "Host: tiro.lan:8476", .status = 0, .hosts = "other tiro.lan"},
        {.head = "Host: TIRO.lan", .status = 0, .hosts = "tiro.lan other"},
        {.head = "Host: tiro.la", .status = 403, .hosts = "tiro.lan"},
        {.head = "Host: tiro.lan.x", .status = 403, .hosts = "tiro.lan"},
        {.head = "Host: 127.0.0.1:8476\nOrigin: http://127.0.0.1:8476", .status = 0},
        {.head = "Host: 127.0.0.1:8476\nOrigin: http://127.0.0.1:3000", .status = 403},
        {.head = "Host: 127.0.0.1:8476\nOrigin: http://localhost:8476", .status = 403},
        {.head = "Host: 127.0.0.1:8476\nOrigin: https://127.0.0.1:8476", .status = 403},
        {.head = "Host: 127.0.0.1:8476\nOrigin: http://evil.example", .status = 403},
        {.head = "Host: 127.0.0.1:8476\nOrigin: null", .status = 403},
        {.head = "Host: 127.0.0.1:8476\nOrigin: ", .status = 403},
        {.head =
             "Host: 127.0.0.1:8476\nOrigin: http://127.0.0.1:8476\nOrigin: http://127.0.0.1:8476",
         .status = 403},
        {.head = "Host: evil.example\nOrigin: http://evil.example", .status = 403},
        /* pages behind a proxy are those that are listed, or its own */
        {.head = SECURE, .status = 0, .of_machine = true},
        {.head = SECURE, .status = 403},
        {.head = SECURE ":8443", OTHERS},
        {PROXIED "https\nOrigin: http://tiro.example", OTHERS},
        {PROXIED "ftp\nOrigin: ftp://tiro.example", OTHERS},
        {.head = "Host: evil.example\nX-Forwarded-Proto: https\nOrigin: https://evil.example",
         OTHERS},
        {.head = "Host: 127.0.0.1\nOrigin: https://page.example", .status = 0},
        {.head = "Host: 127.0.0.1\nOrigin: HTTPS://page.example:8443", .status = 0},
        {.head = "Host: 127.0.0.1\nOrigin: http://page.example", OTHERS},
        {.head = "Host: 127.0.0.1\nOrigin: https://page.example.evil", OTHERS},
        {.head = "Host: 127.0.0.1\nOrigin: https://page.exampl", OTHERS},
        /* the authority of an absolute target counts, too */
        {.head = "Host: 127.0.0.1", .status = 403, .authority = "evil.example"},
        {.head = "Host: 127.0.0.1", .status = 0, .authority = "localhost:8476"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_policy policy = {.hosts = rows[i].hosts ? rows[i].hosts : "tiro.example",
                                           .origins =
                                               "https://page.example https://page.example:8443"};
        int status = status_of(rows[i].head, &policy, rows[i].of_machine, rows[i].authority);
        if (status != rows[i].status)
            fail_msg("\"%s\": %d, not %d", rows[i].head, status, rows[i].status);
    }
}

TEST(the_token_is_asked_for)
{
    const struct http_policy policy = {.token = "0123456789abcdef"};
    static const struct {
        const char *field;
        int status;
    } rows[] = {
        {"Authorization: Bearer 0123456789abcdef", 0},
        {"authorization: bearer 0123456789abcdef", 0},
        {"X: y", 401},
        {"Authorization: Bearer ", 401},
        {"Authorization: Bearer 0123456789abcde", 401},
        {"Authorization: Bearer 0123456789abcdef0", 401},
        {"Authorization: Bearer 0123456789abcdeF", 401},
        {"Authorization: Bearer 0123456789abcdef0123456789abcdef", 401},
        {"Authorization: Basic 0123456789abcdef", 401},
        {"Authorization: 0123456789abcdef", 401},
        {"Authorization: Bearer 0123456789abcdef\nAuthorization: Bearer x", 401},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *head = support_keep(mem_printf("Host: 127.0.0.1\n%s", rows[i].field));
        assert_int_equal(status_of(head, &policy, false, NULL), rows[i].status);
    }
}

TEST(a_ticket_is_taken_once_and_soon)
{
    struct http_tickets t = {0};
    char first[HTTP_TICKET_LEN + 1], *copy;
    assert_false(http_ticket_take(&t, "", 0));
    snprintf(first, sizeof first, "%s", http_ticket_make(&t, 1000));
    copy = support_text("%s", http_ticket_make(&t, 1000));
    assert_string_not_equal(first, copy);
    assert_true(http_ticket_take(&t, first, 1000));
    assert_false(http_ticket_take(&t, first, 1000));
    assert_false(http_ticket_take(&t, copy, 1000 + 1000 * HTTP_TICKET_S));
    copy = support_text("%s", http_ticket_make(&t, 1000));
    for (int i = 0; i < HTTP_TICKETS; i++)
        http_ticket_make(&t, 1000);
    assert_false(http_ticket_take(&t, copy, 1000));
}

TEST(too_many_fields_are_refused)
{
    const struct http_policy policy = {0};
    AUTO(buf_release) struct buf head = BUF_INIT;
    buf_addstr(&head, "Host: 127.0.0.1");
    for (int i = 1; i < HTTP_FIELDS_MAX; i++)
        buf_addf(&head, "\nX-%d: y", i);
    assert_int_equal(status_of(head.data, &policy, false, NULL), 0);
    buf_addstr(&head, "\nX: y");
    assert_int_equal(status_of(head.data, &policy, false, NULL), 431);
}

TEST(accept_allows_or_leaves_out)
{
    static const struct {
        const char *accept, *type;
        bool yes;
    } rows[] = {
        {"text/event-stream", "text/event-stream", true},
        {"application/json, text/event-stream", "text/event-stream", true},
        {"TEXT/Event-Stream;q=0.5", "text/event-stream", true},
        {"text/*", "text/event-stream", true},
        {"*/*;q=0.1", "text/event-stream", true},
        {"", "text/event-stream", true},
        {"application/json", "text/event-stream", false},
        {"text/html", "text/event-stream", false},
        {"text/event-stream;q=0", "text/event-stream", false},
        {"text/event-stream; q=0.0, */*", "text/event-stream", true},
        {"text/event-stream; q=0.01", "text/event-stream", true},
        {"text/event-streams", "text/event-stream", false},
        {",,;", "text/event-stream", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_head h = {0};
        vec_push(&h.fields, (struct http_field){"accept", rows[i].accept});
        if (http_accepts(&h, rows[i].type) != rows[i].yes)
            fail_msg("\"%s\"", rows[i].accept);
        vec_release(&h.fields);
    }
    assert_true(http_accepts(&(struct http_head){0}, "application/json"));
}

TEST(a_body_has_to_be_json)
{
    static const struct {
        const char *type;
        int status;
    } rows[] = {
        {"application/json", 0},    {"Application/JSON; charset=utf-8", 0},
        {"application/json ;x", 0}, {"text/plain", 415},
        {"application/jsonp", 415}, {"", 415},
        {"text/json", 415},         {"application/x-www-form-urlencoded", 415},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_head h = {0};
        struct http_refusal r;
        vec_push(&h.fields, (struct http_field){"Content-Type", rows[i].type});
        http_check_body_type(&h, &r);
        assert_int_equal(r.status, 0); /* there is no body */
        vec_push(&h.fields, (struct http_field){"Content-Length", "02"});
        http_check_body_type(&h, &r);
        assert_int_equal(r.status, rows[i].status);
        vec_release(&h.fields);
    }
}

/* --- addresses -------------------------------------------------------------------------------- */

TEST(an_address_has_a_host_and_a_port)
{
    static const struct {
        const char *text, *host; /* host NULL: no host; "!": refused */
        int port;
    } rows[] = {
        {"127.0.0.1:8080", "127.0.0.1", 8080},
        {"[::1]:0", "::1", 0},
        {"localhost", "localhost", 8476},
        {":9", NULL, 9},
        {"9", NULL, 9},
        {"", NULL, 8476},
        {"[::]", "::", 8476},
        {"::1", "!", 0},
        {"h:", "!", 0},
        {"h:65536", "!", 0},
        {"h:-1", "!", 0},
        {"h:1x", "!", 0},
        {"[::1", "!", 0},
        {"[::1]x", "!", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_free char *host = NULL;
        int port = 8476;
        struct error e = {0};
        bool ok = http_parse_address(rows[i].text, &host, &port, &e);
        bool wanted = !rows[i].host || strcmp(rows[i].host, "!") != 0;
        if (ok != wanted)
            fail_msg("\"%s\": %s", rows[i].text, ok ? "taken" : e.text);
        if (ok && rows[i].host)
            assert_string_equal(host, rows[i].host);
        if (ok)
            assert_int_equal(port, rows[i].port);
        if (ok && !rows[i].host)
            assert_null(host);
    }
}

TEST(this_machine_is_listened_to_alone_unless_it_is_said)
{
    AUTO(listening_release) struct listening l = {0};
    struct error e = {0};
    AUTO(buf_release) struct buf urls = BUF_INIT;
    assert_true(listening_open(&l, NULL, 0, &e));
    assert_true(l.sockets.len >= 1);
    listening_add_urls(&l, &urls);
    assert_int_equal(strncmp(urls.data, "http://127.0.0.1:", 17), 0);
    assert_true(l.sockets.len == 1 || strstr(urls.data, " http://[::1]:"));
    int port = atoi(urls.data + 17);
    assert_true(port > 0);
    AUTO(listening_release) struct listening again = {0};
    assert_err(listening_open(&again, "127.0.0.1", port, &e), e, ERR_FILE_ERROR);
    assert_err(listening_open(&again, "name.example", 0, &e), e, ERR_USAGE);
    assert_true(listening_open(&again, "0.0.0.0", 0, &e));
}
