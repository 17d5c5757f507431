/* Secrets in a server's text: whole, in pieces, in other encodings. */
#include <strings.h>

#include "provider/mask.h"
#include "tests/suite.h"

#define KEY "sk-abcDEFGH0123456789+/zyxw"

static const char key[] = KEY;

static char *masked(const char *secret, const char *url, const char *text)
{
    AUTO(mask_release) struct mask m = {0};
    struct buf out = BUF_INIT;
    mask_init(&m, secret, url);
    mask_add(&m, &out, text, strlen(text));
    return support_keep(buf_take(&out));
}

static void check(const char *secret, const char *url, const char *text, const char *expected)
{
    assert_string_equal(masked(secret, url, text), expected);
}

TEST(test_wholes_and_pieces)
{
    check(KEY, NULL, "", "");
    check(KEY, NULL, "nothing of it", "nothing of it");
    check(KEY, NULL, KEY, "[key]");
    check(KEY, NULL, "you sent " KEY ", and " KEY "!", "you sent [key], and [key]!");
    check(KEY, NULL, KEY KEY, "[key]");
    check(KEY, NULL, "cut at sk-abcDEFGH01", "cut at [key]");
    check(KEY, NULL, "89+/zyxw was the end", "[key] was the end");
    check(KEY, NULL, "in EFGH0123456 the middle", "in [key] the middle");
    check(KEY, NULL, "sk-abcDEFGH01...56789+/zyxw", "[key]...[key]");
    check(KEY, NULL, "sk-abc***xw", "sk-abc***xw"); /* as servers show it */
    check(NULL, NULL, KEY, KEY);
    check("", NULL, KEY, KEY);
}

TEST(test_other_writings)
{
    check(KEY, NULL, "key=sk-abcDEFGH0123456789%2B%2fzyxw&", "key=[key]&");
    check(KEY, NULL, "\"sk-abcDEFGH0123456789+\\/zyxw\"", "\"[key]\"");
    check(KEY, NULL, "\"sk-abcDEFGH0123456789\\u002b\\u002Fzyxw\"", "\"[key]\"");
    check(KEY, NULL, "sk-abcDEFGH0123456789\\\\u002b\\\\\\/zyxw", "[key]");
    check(KEY, NULL, "SK-ABCDEFGH0123456789+/ZYXW", "[key]");
    check(KEY, NULL, "100% of \\ and %2", "100% of \\ and %2");
}

TEST(test_queries)
{
    const char *url = "https://host/v1?a=true&key=abcd%2Fsecret&x=y#end";
    check(NULL, url, "/v1?a=true&key=abcd%2Fsecret", "/v1?a=true&key=[key]");
    check(NULL, url, "bad key abcd/secret", "bad key [key]");
    check(NULL, url, "\\u0061\\u0062\\u0063\\u0064\\u002f\\u0073\\u0065\\u0063ret", "[key]");
}

/* Keys for servers that want none are words of their messages. */
TEST(test_placeholders)
{
    check("x", NULL, "xxx", "xxx");
    check("ollama", NULL, "model llama3 at ollama", "model llama3 at [key]");
    check("EMPTY", NULL, "messages is empty, EMPTY", "messages is empty, [key]");
    check("lm-studio", NULL, "the studio of lm", "the studio of lm");
    check("lm-studio", NULL, "lm-studi", "[key]");
}

TEST(test_logins_of_urls)
{
    static const char url[] = "https://anna:secret%2Fword@host:1/v1";
    check(NULL, url, "no secret/word here", "no [key] here");
    check(NULL, url, "no secret%2fword here", "no [key] here");
    check(NULL, url, "Basic YW5uYTpzZWNyZXQvd29yZA==", "Basic [key]");
    check(NULL, url, "anna at host", "anna at host");
    check(NULL, "https://token-of-anna@host", "the token-of-anna", "the [key]");
    check(KEY, "https://host/@path", KEY " @path", "[key] @path");
}

/* Wherever it is cut, by whom: never eight bytes in a row of a key. */
static bool shows_eight(const char *text)
{
    for (size_t from = 0; from + 8 <= strlen(KEY); from++)
        for (const char *at = text; strlen(at) >= 8; at++)
            if (strncasecmp(at, key + from, 8) == 0)
                return true;
    return false;
}

TEST(test_any_cut)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 2000; round++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        for (uint64_t parts = support_random(&seed) % 6; parts > 0; parts--) {
            size_t from = support_random(&seed) % strlen(KEY);
            size_t len = support_random(&seed) % (strlen(KEY) - from + 1);
            buf_add(&text, key + from, len);
            if (support_random(&seed) % 2)
                buf_addch(&text, "x-%\\ k"[support_random(&seed) % 6]);
        }
        char *is = masked(KEY, NULL, text.data);
        assert_false(shows_eight(is));
    }
}

/* ---- answers, in pieces of any size ---- */

static void check_settled(const char *secret, const char *text, const char *expected)
{
    AUTO(mask_release) struct mask m = {0};
    mask_init(&m, secret, NULL);
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        size_t settled = 0;
        for (size_t at = 0; at < strlen(text); at += piece) {
            buf_add(&out, text + at, strnlen(text + at, piece));
            mask_settle(&m, &out, &settled, false);
            assert_true(strncmp(out.data, expected, settled) == 0); /* no beginning of a key */
        }
        mask_settle(&m, &out, &settled, true);
        assert_int_equal(settled, out.len);
        assert_string_equal(out.data, expected);
    }
}

TEST(test_answers)
{
    check_settled(KEY, "a " KEY KEY " b", "a [key][key] b");
    check_settled(KEY, "sk-abc, SK-ABCDEFGH0123456789+/ZYXW", "sk-abc, [key]");
    check_settled(KEY, "ssk-sk-abcDEFGH0123456789+/zyx", "ssk-[key]");
    check_settled(KEY, "ends with sk-abc", "ends with sk-abc");
    check_settled(KEY, "\\u0073k-abcDEFGH0123456789%2b\\\\\\/zyxw\\", "[key]\\");
    check_settled("aabaabaac0", "aabaabaabaac0", "aab[key]");
    check_settled("1234567", "1234567", "1234567");
    check_settled("lm-studio", "run lm-studio", "run lm-studio");
    check_settled(NULL, KEY, KEY);
    check_settled("cl\xC3\xA9-2345", "\xC3\xA9 cl\xC3\xA9-2345 cl\xC3\xA8",
                  "\xC3\xA9 [key] cl\xC3\xA8");
}

/* Only the beginning of a key or an escape is held back. */
TEST(test_what_waits)
{
    static const struct {
        const char *text;
        size_t settled;
    } cases[] = {{"plain text", 10}, {"text s", 5},   {"text sk", 5},  {"text sx", 7},
                 {"a\\u00", 1},      {"a\\u0041", 7}, {"a\\begin", 7}, {"100%", 3}};
    AUTO(mask_release) struct mask m = {0};
    mask_init(&m, KEY, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        size_t settled = 0;
        buf_addstr(&text, cases[i].text);
        mask_settle(&m, &text, &settled, false);
        assert_int_equal(settled, cases[i].settled);
        assert_string_equal(text.data, cases[i].text);
    }
}
