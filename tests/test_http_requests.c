/* What a request says: targets, parameters, routes. */
#include <stdlib.h>
#include <string.h>

#include "serve/http_routes.h"
#include "serve/http_target.h"
#include "session/operation.h"
#include "tests/suite.h"
#include "tests/support.h"

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
        struct http_target t;
        struct error e = {0};
        bool ok = http_target_parse(rows[i].raw, &t, &e);
        if (ok != (rows[i].told != NULL))
            fail_msg("\"%s\": %s", rows[i].raw, ok ? "taken" : e.text);
        if (ok)
            assert_string_equal(support_keep(told(&t)), rows[i].told);
        else
            assert_int_equal(e.code, ERR_USAGE);
        http_target_release(&t);
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
        struct http_target t;
        struct error e = {0};
        struct json *params = json_new_object();
        assert_true(http_target_parse(rows[i].raw, &t, &e));
        const struct shape *s = operation_find(rows[i].operation)->params;
        bool ok = http_target_add_params(&t, s, params, &e);
        if (ok != !rows[i].fault)
            fail_msg("%s: %s", rows[i].raw, ok ? "taken" : e.text);
        if (ok)
            assert_string_equal(support_keep(json_print(params)), rows[i].json);
        else
            assert_non_null(strstr(e.text, rows[i].fault));
        json_free(params);
        http_target_release(&t);
    }
}

/* --- routes ----------------------------------------------------------------------------------- */

TEST(each_route_of_an_operation_has_one_and_names_members_of_it)
{
    const struct http_route *r;
    for (size_t i = 0; (r = http_route_at(i)) != NULL; i++) {
        if (r->kind != HTTP_OPERATION)
            continue;
        const struct operation *o = operation_find(r->operation);
        assert_non_null(o);
        struct json *schema = o->params ? shape_schema(o->params) : NULL;
        const struct json *members = json_get(schema, "properties");
        assert_true(!strstr(r->path, "{session}") || json_get(members, "session"));
        assert_true(!r->q || json_get(members, r->q));
        json_free(schema);
    }
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
        {"GET", "/memory?q=x", "memory/search", 200, NULL},
        {"GET", "/capabilities", "capabilities/get", 200, NULL},
        {"GET", "/config", "config/get", 200, NULL},
        {"GET", "/models", "models/list", 200, NULL},
        {"GET", "/health", NULL, 200, NULL},
        {"POST", "/rpc", NULL, 200, NULL},
        {"HEAD", "/sessions/x/events", NULL, 405, NULL},
        {"GET", "/rpc", NULL, 405, NULL},
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
        struct http_target t;
        struct error e;
        int status;
        struct json *params = json_new_object();
        assert_true(http_target_parse(rows[i].raw, &t, &e));
        const struct http_route *r = http_route_find(rows[i].method, &t, params, &status);
        if ((r ? r->status : status) != rows[i].status)
            fail_msg("%s %s: %d", rows[i].method, rows[i].raw, r ? r->status : status);
        if (rows[i].operation)
            assert_string_equal(r->operation, rows[i].operation);
        if (rows[i].session)
            assert_string_equal(json_get_string(params, "session"), rows[i].session);
        else
            assert_int_equal(json_len(params), 0);
        json_free(params);
        http_target_release(&t);
    }
}

TEST(a_path_tells_its_methods)
{
    struct http_target t;
    struct error e;
    struct buf allow = BUF_INIT;
    assert_true(http_target_parse("/sessions/x", &t, &e));
    http_route_allow(&t, &allow);
    assert_string_equal(allow.data, "GET, HEAD, DELETE");
    buf_release(&allow);
    http_target_release(&t);
}
