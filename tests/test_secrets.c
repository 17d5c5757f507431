/* Keys of known formats are masked; all other text stays. */
#include <time.h>

#include "memory/content.h"
#include "tests/conversation.h"
#include "tests/suite.h"

static void expect(const char *text, int count, const char *masked)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    int found = secrets_mask(&out, text, strlen(text));
    if (found != count || strcmp(out.data, masked) != 0)
        fail_msg("\"%s\": %d \"%s\"", text, found, out.data);
}

/* Keys are written in parts, so that no secret scanner finds one in this file. */
TEST(keys_go)
{
    static const char *const keys[] = {
        "sk-"
        "abcdefghij0123456789ABCD",
        "sk-ant-"
        "api03-abcdefghij0123456789_-xyz",
        "ghp_"
        "abcdefghijklmnopqrst0123456789",
        "gho_"
        "abcdefghijklmnopqrst0123456789",
        "github_pat_"
        "11ABCDEFG0abcdefghij_klmnop",
        "glpat-"
        "abcdefghij0123456789",
        "AKIA"
        "IOSFODNN7EXAMPLE",
        "ASIA"
        "IOSFODNN7EXAMPLE",
        "xoxb-"
        "123456789012-abcdefGHIJ",
        "xoxp-"
        "123456789012-abcdefGHIJ",
        "AIza"
        "SyA1234567890abcdefghijklmnopqrstuv",
        "sk_live_"
        "abcdefgh12345678",
        "hf_"
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "npm_"
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "eyJhbGciOiJIUzI1NiJ9"
        ".eyJzdWIiOiIxMjM0NTY3ODkwIn0"
        ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    };
    static const struct {
        const char *before, *after;
    } places[] = {{"", ""}, {"use ", " now"}, {"(", ")."}, {"é ", "\nnext"}, {"key \"", "\","}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            AUTO(buf_release) struct buf text = BUF_INIT, masked = BUF_INIT;
            buf_addf(&text, "%s%s%s", places[k].before, keys[i], places[k].after);
            buf_addf(&masked, "%s[secret]%s", places[k].before, places[k].after);
            expect(text.data, 1, masked.data);
        }
}

TEST(what_only_looks_like_one_stays)
{
    static const char *const texts[] = {
        "",
        "sk-",
        "sk-short1",
        "the task-list-of-2024-with-many-long-words stays",
        "sk-learn-is-a-library-for-machine-learning",
        "AKIA is a prefix",
        "MAKIAIOSFODNN7EXAMPLE",
        "ghp_tooshort1",
        "eyJ is how JSON begins in base64",
        "eyJhbGciOiJIUzI1NiJ9.not.a.token",
        "password: is it set?",
        "Did you forget the password?",
        "token = next_token(lexer);",
        "the secret: honesty",
        "a == b, x = 5",
        "https://example.com:8080/a@b",
        "http://localhost:11434/api",
        "-----BEGIN CERTIFICATE-----",
        "Bearer of bad news",
        "größer 🙂 日本語",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect(texts[i], 0, texts[i]);
}

TEST(what_is_assigned_goes)
{
    expect("password=hunter", 1, "password=[secret]");
    expect("PASSWORD=hunter2 next", 1, "PASSWORD=[secret] next");
    expect("export DB_PASSWORD=\"a b c d\" x", 1, "export DB_PASSWORD=\"[secret]\" x");
    expect("{\"password\": \"correct horse\"}", 1, "{\"password\": \"[secret]\"}");
    expect("passwd: hunter2", 1, "passwd: [secret]");
    expect("api_key = abcd1234", 1, "api_key = [secret]");
    expect("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", 1, "AWS_SECRET_ACCESS_KEY=[secret]");
    expect("token: 12345678", 1, "token: [secret]");
    expect("a?password=geheim&b=c", 1, "a?password=[secret]&b=c");
    expect("pwd=äöüß", 1, "pwd=[secret]");
    expect(
        "Authorization: Bearer "
        "abcdefghij0123456789.x",
        1, "Authorization: Bearer [secret]");
    expect("postgres://me:pass@db/x", 1, "postgres://me:[secret]@db/x");
    expect(
        "https://"
        "ghp_0123456789abcdefghijABCDEFGHIJ012345:x-oauth-basic@github.com/a",
        2, "https://[secret]:[secret]@github.com/a");
    expect("http://a/b:c@d x:y@z http://b@c:8080/", 0, "http://a/b:c@d x:y@z http://b@c:8080/");
    expect("password=[secret]", 0, "password=[secret]");
    expect("password=abcd password=efgh", 2, "password=[secret] password=[secret]");
}

TEST(private_keys_go)
{
    expect(
        "a\n-----BEGIN RSA "
        "PRIVATE KEY-----\nMIIE+/=\nabc\n-----END RSA PRIVATE KEY-----\nb",
        1, "a\n[secret]\nb");
    expect(
        "-----BEGIN "
        "PRIVATE KEY-----\nMIIE",
        1, "[secret]");
    expect(
        "-----BEGIN "
        "PRIVATE KEY-----\nabc\n-----END RSA PRIVATEtoken: OiIxMjM0In0.cbadefghijk",
        2, "[secret]token: [secret]");
    expect(
        "-----BEGIN OPENSSH "
        "PRIVATE KEY-----\\nMIIE\\n-----END OPENSSH PRIVATE KEY-----\" b",
        1, "[secret]\" b");
}

/* A masked text stays as it is when it is masked again, so that an export can be imported. */
TEST(masking_twice_is_masking_once)
{
    static const char *const parts[] = {"password=", "sk-",         "abcdefghij0123456789",
                                        "\"",        "'",           " ",
                                        "token: ",   "-----BEGIN ", "PRIVATE KEY-----",
                                        "-----END ", "\n",          "eyJ",
                                        ".",         "://me:",      "@host",
                                        "Bearer ",   "=",           ":",
                                        "ghp_",      "äß",          "[secret]"};
    struct dice d = {support_seed()};
    for (int round = 0; round < 20000; round++) {
        AUTO(buf_release) struct buf text = BUF_INIT, once = BUF_INIT, twice = BUF_INIT;
        for (size_t n = dice_below(&d, 12); n > 0; n--)
            buf_addstr(&text, parts[dice_below(&d, sizeof parts / sizeof *parts)]);
        secrets_mask(&once, text.data, text.len);
        secrets_mask(&twice, once.data, once.len);
        if (strcmp(once.data, twice.data) != 0)
            fail_msg("\"%s\" \"%s\" \"%s\"", text.data, once.data, twice.data);
    }
}

/* Texts that make each place look like a beginning: time grows with the length alone. */
TEST(long_texts_take_no_time)
{
    static const char *const parts[] = {
        "sk-", "eyJ", "sk-sk_", "://", "password:", "-----BEGIN ", "Bearer ", "=", "token=\""};
    clock_t began = clock(); /* of this program alone: others may be busy */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT, out = BUF_INIT;
        while (text.len < 1 << 18)
            buf_addstr(&text, parts[i]);
        secrets_mask(&out, text.data, text.len);
        assert_true(out.len > 0);
    }
    assert_true((clock() - began) / CLOCKS_PER_SEC < 30);
}
