#include "memory/content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "index/words.h"
#include "memory/secrets.h"

static bool is_blank(uint32_t cp)
{
    return (cp >= '\t' && cp <= '\r') || cp == ' ' || cp == 0x85 || cp == 0xa0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200b) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
           cp == 0x205f || cp == 0x3000 || cp == 0xfeff;
}

/* Nearly every byte, and never one of a blank. */
static bool is_ink(char c)
{
    return c > ' ' && c < 0x7f;
}

static size_t decode_blank(const char *text)
{
    uint32_t cp = (unsigned char)*text;
    size_t used = cp < 0x80 ? 1 : utf8_decode(text, strnlen(text, 4), &cp);
    return is_blank(cp) ? used : 0;
}

/* Bytes of the blank that a text begins with; 0: with none. Every one of them is of few bytes. */
static inline size_t blank_len(const char *text)
{
    return is_ink(*text) ? 0 : decode_blank(text);
}

/* ---- trimmed and masked ---- */

/* The text without blanks at either end. */
static void trim(const char **text, size_t *len)
{
    size_t used, end = 0;
    for (; (used = blank_len(*text)) > 0; *text += used)
        *len -= used;
    if (*len > 0 && is_ink((*text)[*len - 1]))
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
    struct buf out = BUF_INIT;
    size_t len = strlen(text);
    trim(&text, &len);
    secrets_mask(&out, text, len);
    if (out.len > 0)
        return buf_take(&out);
    buf_release(&out);
    return NULL;
}

/* ---- the same ---- */

struct run {
    const char *text;
    size_t len;
};

/* The next run of what is no blank; false: there is none. */
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

/* FNV-1a */
static uint64_t hash_add(uint64_t hash, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash;
}

int64_t content_digest(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    bool began = false;
    struct run r;
    while (next_run(&text, &r)) {
        if (began)
            hash = hash_add(hash, " ", 1);
        hash = hash_add(hash, r.text, r.len);
        began = true;
    }
    return (int64_t)hash;
}

bool content_equal(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    char *normal_a = content_normal(a), *normal_b = content_normal(b);
    bool equal = strcmp(normal_a, normal_b) == 0;
    free(normal_a);
    free(normal_b);
    return equal;
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

/* "Tuesday 9 May 2023"; empty where it is not known. */
static void write_date(int64_t ms, char *out, size_t size)
{
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    out[0] = '\0';
    if (ms > 0 && gmtime_r(&seconds, &t))
        snprintf(out, size, "%s %d %s %d", days[t.tm_wday], t.tm_mday, months[t.tm_mon],
                 t.tm_year + 1900);
}

bool content_asks(const char *text)
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
    char date[80];
    write_date(m->created_ms, date, sizeof date);
    struct buf text = BUF_INIT;
    buf_addstr(&text, memory_entry_speaker(m));
    buf_addch(&text, '\n');
    buf_addstr(&text, date);
    buf_addch(&text, '\n');
    buf_addstr(&text, m->content);
    buf_addch(&text, '\n');
    buf_addch(&text, words_mark(content_asks(m->content), m->role == ROLE_USER && !m->speaker));
    return buf_take(&text);
}

/* ---- ids ---- */

enum { ID_BITS = 5 }; /* a character's */

static char *id_of(uint64_t random)
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    enum { LENGTH = 12 };
    char id[LENGTH + 1] = "";
    for (int i = 0; i < LENGTH; i++, random >>= ID_BITS)
        id[i] = digits[random % (sizeof digits - 1)];
    return mem_strdup(id);
}

static void fill(struct fresh_ids *ids)
{
    const uint64_t beginning = ((uint64_t)1 << FRESH_IDS_SHARED * ID_BITS) - 1;
    entropy_fill(ids->random, sizeof ids->random);
    for (size_t i = 1; i < FRESH_IDS; i++)
        ids->random[i] = (ids->random[i] & ~beginning) | (ids->random[0] & beginning);
    ids->left = FRESH_IDS;
}

char *fresh_ids_next(struct fresh_ids *ids)
{
    if (ids->left == 0)
        fill(ids);
    return id_of(ids->random[--ids->left]);
}
