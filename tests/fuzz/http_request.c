/* An HTTP request: the target in the first line, header fields in the other lines. An accepted
 * target survives writing and reading again, every route accepts its query or names the member that
 * does not fit, and every head is served or refused with a reason. */
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "serve/http_request.h"
#include "serve/http_service.h"
#include "session/operation.h"
#include "tests/fuzz/fuzz.h"

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
