/* What a request says: targets, parameters. */
#include <stdlib.h>
#include <string.h>

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
