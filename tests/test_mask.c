/* Secrets in what a server says: whole, in pieces, in other writings. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "provider/mask.h"
#include "tests/suite.h"
#include "tests/support.h"

#define KEY "sk-abcDEFGH0123456789+/zyxw"

static const char key[] = KEY;

static char *masked(const char *secret, const char *url, const char *text)
{
    struct mask m;
    struct buf out = BUF_INIT;
    mask_init(&m, secret, url);
    mask_add(&m, &out, text, strlen(text));
    mask_release(&m);
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
    check(KEY, NULL, "SK-ABCDEFGH0123456789+/ZYXW", "[key]");
    check(KEY, NULL, "100% of \\ and %2", "100% of \\ and %2");
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
        struct buf text = BUF_INIT;
        for (uint64_t parts = support_random(&seed) % 6; parts > 0; parts--) {
            size_t from = support_random(&seed) % strlen(KEY);
            size_t len = support_random(&seed) % (strlen(KEY) - from + 1);
            buf_add(&text, key + from, len);
            if (support_random(&seed) % 2)
                buf_addch(&text, "x-%\\ k"[support_random(&seed) % 6]);
        }
        char *is = masked(KEY, NULL, text.data);
        assert_false(shows_eight(is));
        buf_release(&text);
    }
}
