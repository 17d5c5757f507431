#include "memory/secrets.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MASK "[secret]"

struct text {
    const char *bytes;
    size_t len;
    size_t done;           /* what stands before it is in `out`, masked */
    const struct buf *out; /* from `from` on */
    size_t from;
};

/* The part of a text that gives way. */
struct found {
    size_t start, end;
};

static const char alnum[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
static const char token[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=";

/* One of `word`. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-';
}

static bool is_one_of(const char *set, char c)
{
    return c != '\0' && strchr(set, c);
}

static size_t run_of(const struct text *t, size_t at, const char *set)
{
    size_t end = at;
    while (end < t->len && is_one_of(set, t->bytes[end]))
        end++;
    return end - at;
}

static bool has_digit(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (isdigit((unsigned char)s[i]))
            return true;
    return false;
}

static bool stands_at(const struct text *t, size_t at, const char *what)
{
    size_t len = strlen(what);
    return t->len - at >= len && memcmp(t->bytes + at, what, len) == 0;
}

/* The n-th character before this place, as it is after masking: so masking again finds the same.
 * NUL: there is none. */
static char before(const struct text *t, size_t at, size_t n)
{
    size_t kept = at - t->done, masked = t->out->len - t->from;
    if (n <= kept)
        return t->bytes[at - n];
    return n - kept <= masked ? t->out->data[t->out->len - (n - kept)] : '\0';
}

/* No word goes on across this place, so that no run is looked at twice. */
static bool begins_word(const struct text *t, size_t at)
{
    return !is_word(before(t, at, 1));
}

/* ---- keys that begin in a known way ---- */

static const struct {
    const char *prefix, *set;
    size_t at_least; /* characters behind the prefix */
} shapes[] = {
    {"sk-", word, 20},         {"sk_live_", alnum, 16}, {"sk_test_", alnum, 16},
    {"rk_live_", alnum, 16},   {"ghp_", alnum, 20},     {"gho_", alnum, 20},
    {"ghu_", alnum, 20},       {"ghs_", alnum, 20},     {"ghr_", alnum, 20},
    {"github_pat_", word, 20}, {"glpat-", word, 20},    {"AKIA", upper, 16},
    {"ASIA", upper, 16},       {"xoxa-", word, 10},     {"xoxb-", word, 10},
    {"xoxp-", word, 10},       {"xoxr-", word, 10},     {"xoxs-", word, 10},
    {"xapp-", word, 10},       {"AIza", word, 35},      {"hf_", alnum, 30},
    {"npm_", alnum, 36},       {"pypi-", word, 50},     {"Bearer ", token, 20},
};

static bool find_shape(const struct text *t, size_t at, struct found *out)
{
    if (!begins_word(t, at))
        return false;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (shapes[i].prefix[0] != t->bytes[at] || !stands_at(t, at, shapes[i].prefix))
            continue;
        size_t start = at + strlen(shapes[i].prefix);
        size_t len = run_of(t, start, shapes[i].set);
        /* Real keys have digits; names with dashes mostly have none. */
        if (len < shapes[i].at_least || !has_digit(t->bytes + start, len))
            continue;
        bool keeps_prefix = shapes[i].prefix[strlen(shapes[i].prefix) - 1] == ' ';
        *out = (struct found){keeps_prefix ? start : at, start + len};
        return true;
    }
    return false;
}

/* ---- JSON Web Tokens: three parts, of which two are JSON in base64 ---- */

static bool find_jwt(const struct text *t, size_t at, struct found *out)
{
    enum { PART = 10 };
    if (!stands_at(t, at, "eyJ") || !begins_word(t, at))
        return false;
    size_t end = at + run_of(t, at, word);
    if (end - at < PART || !stands_at(t, end, ".eyJ"))
        return false;
    size_t claims = run_of(t, end + 1, word);
    end += 1 + claims;
    if (claims < PART || !stands_at(t, end, "."))
        return false;
    size_t signature = run_of(t, end + 1, word);
    if (signature < PART)
        return false;
    *out = (struct found){at, end + 1 + signature};
    return true;
}

/* ---- private keys ---- */

static bool find_block(const struct text *t, size_t at, struct found *out)
{
    static const char dashes[] = "-----";
    static const char kind[] = "PRIVATE KEY-----";
    enum { HEADER = 64 };
    if (!stands_at(t, at, "-----BEGIN "))
        return false;
    size_t end = at + strlen("-----BEGIN ");
    while (end < t->len && end - at < HEADER && !stands_at(t, end, kind) &&
           is_one_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ", t->bytes[end]))
        end++;
    if (!stands_at(t, end, kind))
        return false;
    /* Lines of base64; one that was cut off has no end. */
    end += strlen(kind);
    end +=
        run_of(t, end, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n\\");
    if (stands_at(t, end, "-----END ")) {
        end += strlen("-----END ");
        end += run_of(t, end, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ");
        end += stands_at(t, end, dashes) ? strlen(dashes) : 0;
    }
    *out = (struct found){at, end};
    return true;
}

/* ---- password=… ---- */

/* How sure a name makes that a secret follows. */
enum certainty { UNSURE, SURE };
static const struct {
    const char *name;
    enum certainty certainty;
} names[] = {
    {"password", SURE},   {"passwd", SURE},     {"passphrase", SURE},   {"pwd", SURE},
    {"api_key", SURE},    {"api-key", SURE},    {"apikey", SURE},       {"access_key", SURE},
    {"secret_key", SURE}, {"auth_token", SURE}, {"access_token", SURE}, {"client_secret", SURE},
    {"token", UNSURE},    {"secret", UNSURE},
};

/* Whether the name ends `back` characters before this place. */
static bool ends_with_name(const struct text *t, size_t at, size_t back, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if (tolower((unsigned char)before(t, at, back + 1 + i)) != name[len - 1 - i])
            return false;
    return true;
}

/* The same of any name of the table, maybe with something before it (DB_PASSWORD). */
static bool named(const struct text *t, size_t at, size_t back, enum certainty *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!ends_with_name(t, at, back, names[i].name))
            continue;
        char c = before(t, at, back + strlen(names[i].name) + 1);
        if (names[i].certainty == UNSURE && isalpha((unsigned char)c))
            continue;
        *out = names[i].certainty;
        return true;
    }
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* What is longer is none, so that no text is looked at again and again. */
enum { LONGEST_VALUE = 1024 };

/* The value behind = or :, without its quotes. */
static struct found value_at(const struct text *t, size_t at, bool *quoted)
{
    while (at < t->len && is_blank(t->bytes[at]))
        at++;
    *quoted = at < t->len && is_quote(t->bytes[at]);
    char quote = *quoted ? t->bytes[at++] : '\0';
    size_t end = at;
    while (end < t->len && end - at <= LONGEST_VALUE && t->bytes[end] != '\n' &&
           (*quoted ? t->bytes[end] != quote : !is_one_of(" \t\r\"'`,;&<>", t->bytes[end])))
        end++;
    return (struct found){at, end};
}

/* "password: is it set?" is no secret, password=x7 and "password": "hunter" are. */
static bool is_secret(const struct text *t, const struct found *value, bool tight, bool quoted,
                      enum certainty certainty)
{
    enum { TIGHT = 4, LOOSE = 6, UNNAMED = 8 };
    size_t len = value->end - value->start;
    bool digit = has_digit(t->bytes + value->start, len);
    if (stands_at(t, value->start, MASK) || len > LONGEST_VALUE)
        return false;
    if (certainty == UNSURE)
        return len >= UNNAMED && digit;
    return (tight && len >= TIGHT) || (len >= LOOSE && (quoted || digit));
}

static bool find_assigned(const struct text *t, size_t at, struct found *out)
{
    enum certainty certainty;
    bool quoted;
    if (t->bytes[at] != '=' && t->bytes[at] != ':')
        return false;
    size_t back = 0;
    while (back < 3 && (is_blank(before(t, at, back + 1)) || is_quote(before(t, at, back + 1))))
        back++;
    if (!named(t, at, back, &certainty))
        return false;
    *out = value_at(t, at + 1, &quoted);
    bool tight = t->bytes[at] == '=' && back == 0 && out->start <= at + 2;
    return is_secret(t, out, tight, quoted, certainty);
}

/* ---- scheme://name:password@host ---- */

enum { LONGEST_NAME = 256 };
static const char ends_url[] = " \t\r\n/\"'<>";

/* Whether a name stands before this colon, and a scheme before the name. */
static bool names_user(const struct text *t, size_t at)
{
    for (size_t n = 1; n < LONGEST_NAME; n++) {
        char c = before(t, at, n);
        if (c == '/')
            return before(t, at, n + 1) == '/' && before(t, at, n + 2) == ':';
        if (c == '\0' || c == ':' || c == '@' || is_one_of(ends_url, c))
            return false;
    }
    return false;
}

/* From the colon on, so that a key in the place of the name is found before. */
static bool find_url(const struct text *t, size_t at, struct found *out)
{
    if (t->bytes[at] != ':' || !names_user(t, at))
        return false;
    size_t start = at + 1, end = start;
    while (end < t->len && end - at < LONGEST_NAME && t->bytes[end] != '@' &&
           !is_one_of(ends_url, t->bytes[end]))
        end++;
    *out = (struct found){start, end};
    return end > start && end < t->len && t->bytes[end] == '@' && !stands_at(t, start, MASK);
}

/* ---- all of them ---- */

static bool begins_shape(char c)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].prefix[0] == c)
            return true;
    return false;
}

/* Most places can be passed by: keys begin a word, what is assigned stands behind a sign. */
static bool may_begin(const struct text *t, size_t at)
{
    char c = t->bytes[at];
    if (!isalnum((unsigned char)c))
        return c == '=' || c == ':' || c == '-';
    return begins_word(t, at) && (c == 'e' || begins_shape(c));
}

/* What has been masked is left as it is, also with something around it. */
static bool holds_mask(const struct text *t, const struct found *f)
{
    for (size_t at = f->start; at < f->end; at++)
        if (stands_at(t, at, MASK))
            return true;
    return false;
}

static bool find_any(const struct text *t, size_t at, struct found *out)
{
    static bool (*const finders[])(const struct text *, size_t, struct found *) = {
        find_shape, find_jwt, find_block, find_assigned, find_url};
    for (size_t i = 0; i < sizeof finders / sizeof *finders; i++)
        if (finders[i](t, at, out) && out->start >= t->done && !holds_mask(t, out))
            return true;
    return false;
}

int secrets_mask(struct buf *out, const char *text, size_t len)
{
    struct text t = {.bytes = text, .len = len, .out = out, .from = out->len};
    struct found f;
    int count = 0;
    for (size_t at = 0; at < len; at++) {
        if (!may_begin(&t, at) || !find_any(&t, at, &f))
            continue;
        buf_add(out, text + t.done, f.start - t.done);
        buf_addstr(out, MASK);
        count++;
        t.done = f.end;
        at = f.end - 1;
    }
    buf_add(out, text + t.done, len - t.done);
    return count;
}
