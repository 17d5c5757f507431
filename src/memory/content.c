#include "memory/content.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "index/words.h"

/* ---- secrets ---- */

#define MASK "[secret]"

struct masking {
    const char *bytes;
    size_t len;
    size_t done;           /* the text before it is in `out`, masked */
    const struct buf *out; /* from `from` on */
    size_t from;
};

/* The part of a text that is masked. */
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
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static bool is_one_of(const char *set, char c)
{
    return c != '\0' && strchr(set, c);
}

static size_t run_of(const struct masking *t, size_t at, const char *set)
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

static bool stands_at(const struct masking *t, size_t at, const char *what)
{
    size_t len = strlen(what);
    return t->len - at >= len && memcmp(t->bytes + at, what, len) == 0;
}

/* The n-th character before this place, after masking, so that masking again finds the same. NUL:
 * there is none. */
static char before(const struct masking *t, size_t at, size_t n)
{
    size_t kept = at - t->done, masked = t->out->len - t->from;
    if (n <= kept)
        return t->bytes[at - n];
    return n - kept <= masked ? t->out->data[t->out->len - (n - kept)] : '\0';
}

/* No word goes on across this place, so that no word is checked twice. */
static bool begins_word(const struct masking *t, size_t at)
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

static bool find_shape(const struct masking *t, size_t at, struct found *out)
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

static bool find_jwt(const struct masking *t, size_t at, struct found *out)
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

static bool find_block(const struct masking *t, size_t at, struct found *out)
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

/* How sure it is that a secret follows the name. */
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

/* Whether a name of the table ends `back` characters before this place, perhaps with something
 * before it (DB_PASSWORD). */
static bool named(const struct masking *t, size_t at, size_t back, enum certainty *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i].name), k = 0;
        while (k < len &&
               tolower((unsigned char)before(t, at, back + 1 + k)) == names[i].name[len - 1 - k])
            k++;
        if (k < len ||
            (names[i].certainty == UNSURE && isalpha((unsigned char)before(t, at, back + len + 1))))
            continue;
        *out = names[i].certainty;
        return true;
    }
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* A longer value is none, so that no text is read again and again. */
enum { LONGEST_VALUE = 1024 };

static bool find_assigned(const struct masking *t, size_t at, struct found *out)
{
    enum { TIGHT = 4, LOOSE = 6, UNNAMED = 8 };
    enum certainty certainty;
    if (t->bytes[at] != '=' && t->bytes[at] != ':')
        return false;
    size_t back = 0;
    while (back < 3 && (is_space(before(t, at, back + 1)) || is_quote(before(t, at, back + 1))))
        back++;
    if (!named(t, at, back, &certainty))
        return false;

    /* The value behind the sign, without its quotes. */
    size_t start = at + 1;
    while (start < t->len && is_space(t->bytes[start]))
        start++;
    bool quoted = start < t->len && is_quote(t->bytes[start]);
    char quote = quoted ? t->bytes[start++] : '\0';
    size_t end = start;
    while (end < t->len && end - start <= LONGEST_VALUE && t->bytes[end] != '\n' &&
           (quoted ? t->bytes[end] != quote : !is_one_of(" \t\r\"'`,;&<>", t->bytes[end])))
        end++;
    *out = (struct found){start, end};

    /* "password: is it set?" is no secret, password=x7 and "password": "hunter" are. */
    size_t len = end - start;
    bool tight = t->bytes[at] == '=' && back == 0 && start <= at + 2;
    bool digit = has_digit(t->bytes + start, len);
    if (stands_at(t, start, MASK) || len > LONGEST_VALUE)
        return false;
    if (certainty == UNSURE)
        return len >= UNNAMED && digit;
    return (tight && len >= TIGHT) || (len >= LOOSE && (quoted || digit));
}

/* ---- scheme://name:password@host ---- */

enum { LONGEST_NAME = 256 };
static const char ends_url[] = " \t\r\n/\"'<>";

/* From the colon on: a key in the place of the name is found before. */
static bool find_url(const struct masking *t, size_t at, struct found *out)
{
    if (t->bytes[at] != ':')
        return false;
    /* Whether a name stands before this colon, and a scheme before the name. */
    size_t name = 1;
    for (char c; (c = before(t, at, name)) != '/'; name++)
        if (name == LONGEST_NAME - 1 || c == '\0' || c == ':' || c == '@' || is_one_of(ends_url, c))
            return false;
    if (before(t, at, name + 1) != '/' || before(t, at, name + 2) != ':')
        return false;
    size_t start = at + 1, end = start;
    while (end < t->len && end - at < LONGEST_NAME && t->bytes[end] != '@' &&
           !is_one_of(ends_url, t->bytes[end]))
        end++;
    *out = (struct found){start, end};
    return end > start && end < t->len && t->bytes[end] == '@' && !stands_at(t, start, MASK);
}

/* Most places are skipped: keys begin a word, values stand behind a sign. */
static bool may_begin(const struct masking *t, size_t at)
{
    char c = t->bytes[at];
    if (!isalnum((unsigned char)c))
        return c == '=' || c == ':' || c == '-';
    if (!begins_word(t, at))
        return false;
    bool begins = c == 'e';
    for (size_t i = 0; !begins && i < sizeof shapes / sizeof *shapes; i++)
        begins = shapes[i].prefix[0] == c;
    return begins;
}

/* A mask, also with something around it, is not masked again. */
static bool find_any(const struct masking *t, size_t at, struct found *out)
{
    static bool (*const finders[])(const struct masking *, size_t, struct found *) = {
        find_shape, find_jwt, find_block, find_assigned, find_url};
    for (size_t i = 0; i < sizeof finders / sizeof *finders; i++) {
        bool found = finders[i](t, at, out) && out->start >= t->done;
        for (size_t k = out->start; found && k < out->end; k++)
            found = !stands_at(t, k, MASK);
        if (found)
            return true;
    }
    return false;
}

int secrets_mask(struct buf *out, const char *text, size_t len)
{
    struct masking t = {.bytes = text, .len = len, .out = out, .from = out->len};
    struct found f = {0};
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

/* ---- blanks ---- */

static bool is_blank(uint32_t cp)
{
    return (cp >= '\t' && cp <= '\r') || cp == ' ' || cp == 0x85 || cp == 0xa0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200b) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
           cp == 0x205f || cp == 0x3000 || cp == 0xfeff;
}

/* Nearly every byte, and no byte of a blank. */
#define IS_INK(c) ((c) > ' ' && (c) < 0x7f)

/* Bytes of the blank at the beginning of a text; 0: there is none. */
static inline size_t blank_len(const char *text)
{
    if (IS_INK(*text))
        return 0;
    uint32_t cp = (unsigned char)*text;
    size_t used = cp < 0x80 ? 1 : utf8_decode(text, strnlen(text, 4), &cp);
    return is_blank(cp) ? used : 0;
}

/* ---- trimmed and masked ---- */

/* The text without blanks at either end. */
static void trim(const char **text, size_t *len)
{
    size_t used, end = 0;
    for (; (used = blank_len(*text)) > 0; *text += used)
        *len -= used;
    if (*len > 0 && IS_INK((*text)[*len - 1]))
        return;
    for (size_t at = 0; at < *len;) {
        used = blank_len(*text + at);
        at += used > 0 ? used : 1;
        if (used == 0)
            end = at;
    }
    *len = end;
}

char *content_clean(const char *text)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    size_t len = strlen(text);
    trim(&text, &len);
    secrets_mask(&out, text, len);
    return out.len > 0 ? buf_take(&out) : NULL;
}

/* ---- the same ---- */

struct run {
    const char *text;
    size_t len;
};

/* The next run of other characters than blanks; false: there is none. */
static bool next_run(const char **rest, struct run *out)
{
    const char *at = *rest;
    size_t used = 0;
    while (*at && (used = blank_len(at)) > 0)
        at += used;
    out->text = at;
    while (*at && blank_len(at) == 0)
        at++;
    *rest = at;
    out->len = (size_t)(at - out->text);
    return out->len > 0;
}

char *content_normal(const char *text)
{
    struct buf out = BUF_INIT;
    struct run r;
    while (next_run(&text, &r)) {
        if (out.len > 0)
            buf_addch(&out, ' ');
        buf_add(&out, r.text, r.len);
    }
    return buf_take(&out);
}

int64_t content_digest(const char *text)
{
    uint64_t hash = MEM_HASH;
    bool began = false;
    struct run r;
    while (next_run(&text, &r)) {
        if (began)
            hash = mem_hash(hash, " ", 1);
        hash = mem_hash(hash, r.text, r.len);
        began = true;
    }
    return (int64_t)hash;
}

bool content_equal(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    auto_free char *normal_a = content_normal(a);
    auto_free char *normal_b = content_normal(b);
    return strcmp(normal_a, normal_b) == 0;
}

bool content_stays(const struct memory_entry *there, const struct memory_entry *newcomer)
{
    return there->pinned || there->created_ms >= newcomer->created_ms;
}

bool content_is_again(const struct memory_entry *there, const struct memory_entry *newcomer)
{
    return strcmp(there->session_id, newcomer->session_id) == 0 &&
           (there->edited || content_equal(there->content, newcomer->content));
}

/* ---- its words ---- */

/* Whether it ends with a question mark, perhaps inside quotes or before a smiley: as column "asks"
 * of the table. */
static bool asks(const char *text)
{
    enum { LAST = 4 };
    static const char *const signs[] = {"?", "\uff1f", "\u061f"};
    const char *at = text + strlen(text);
    for (int i = 0; i < LAST && at > text; i++) {
        at--;
        while (at > text && (*at & 0xc0) == 0x80)
            at--;
        for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
            if (strncmp(at, signs[k], strlen(signs[k])) == 0)
                return true;
    }
    return false;
}

char *content_words(const struct memory_entry *m)
{
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    time_t seconds = (time_t)(m->created_ms / 1000);
    struct tm t;
    struct buf text = BUF_INIT;
    buf_addf(&text, "%s\n", m->speaker ? m->speaker : role_name(m->role));
    if (m->created_ms > 0 && gmtime_r(&seconds, &t)) /* "Tuesday 9 May 2023" */
        buf_addf(&text, "%s %d %s %d", days[t.tm_wday], t.tm_mday, months[t.tm_mon],
                 t.tm_year + 1900);
    buf_addf(&text, "\n%s\n", m->content);
    buf_addch(&text, words_mark(asks(m->content), m->role == ROLE_USER && !m->speaker));
    return buf_take(&text);
}

/* ---- ids ---- */

enum { ID_BITS = 5 }; /* of a character */

char *fresh_ids_next(struct fresh_ids *ids)
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    enum { LENGTH = 12 };
    if (ids->left == 0) {
        const uint64_t beginning = ((uint64_t)1 << FRESH_IDS_SHARED * ID_BITS) - 1;
        entropy_fill(ids->random, sizeof ids->random);
        for (size_t i = 1; i < FRESH_IDS; i++)
            ids->random[i] = (ids->random[i] & ~beginning) | (ids->random[0] & beginning);
        ids->left = FRESH_IDS;
    }
    uint64_t random = ids->random[--ids->left];
    char id[LENGTH + 1] = "";
    for (int i = 0; i < LENGTH; i++, random >>= ID_BITS)
        id[i] = digits[random % (sizeof digits - 1)];
    return mem_strdup(id);
}
