#include "provider/mask.h"

#include <ctype.h>
#include <string.h>

#include "base/entropy.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "provider/http.h"

/* Shorter "keys" are placeholders for servers that want none; replacing them would garble text. */
#define MIN_SECRET 4
/* Fewer bytes in a row say too little of a secret, and may be a word by chance. */
#define MIN_PIECE 8
/* From here on it is no placeholder such as "EMPTY" or "ollama", which messages may well say. */
#define NO_WORD 16
/* Backslashes before an escape: those of JSON three times in a string of JSON. */
#define MOST_BACKSLASHES 8

static const char placeholder[] = "[key]";

static void add_secret(struct mask *m, char *owned)
{
    size_t len = owned ? strlen(owned) : 0;
    if (len < MIN_SECRET) {
        key_command_free(owned);
        return;
    }
    vec_push(&m->secrets, owned);
    bool word = len < NO_WORD && strspn(owned, "abcdefghijklmnopqrstuvwxyz-_. ") == len;
    if (len >= MIN_PIECE && !word && utf8_valid(owned, len))
        vec_push(&m->firm, owned);
}

void mask_init(struct mask *m, const char *key, const char *base_url)
{
    *m = (struct mask){0};
    add_secret(m, mem_strdup(key));
    if (!base_url)
        return;
    for (const char *value = base_url + strcspn(base_url, "?"); *(value += strcspn(value, "="));) {
        size_t len = strcspn(++value, "&;#");
        if (len >= MIN_PIECE) /* else it may be "true" */
            add_secret(m, host_unescape(value, len));
        value += len;
    }
    char *login = host_login_of_url(base_url);
    if (!login)
        return;
    const char *colon = strchr(login, ':');
    add_secret(m, base64_encode((const unsigned char *)login, strlen(login)));
    add_secret(m, mem_strdup(!colon ? login : colon + 1));
    key_command_free(login);
}

void mask_release(struct mask *m)
{
    for (size_t i = 0; i < m->secrets.len; i++)
        key_command_free(m->secrets.items[i]);
    vec_release(&m->secrets);
    vec_release(&m->firm);
}

/* The byte that a number of base 16 at `s` is; -1 if there is none. */
static int hex_byte(const char *s, const char *end)
{
    int n = 0;
    for (int i = 0; i < 2; i++, s++) {
        if (s >= end || !isxdigit((unsigned char)*s))
            return -1;
        n = n * 16 + (*s <= '9' ? *s - '0' : (*s & 7) + 9);
    }
    return n;
}

/* How many bytes at `s` stand for this byte of a secret, as it is or as %2F, \/ or \u002f. */
static size_t stands_for(const char *s, const char *end, char byte, bool fold)
{
    if (*s == byte || (fold && tolower((unsigned char)*s) == tolower((unsigned char)byte)))
        return 1;
    if (*s == '%')
        return hex_byte(s + 1, end) == (unsigned char)byte ? 3 : 0;
    size_t more = 0; /* backslashes of JSON in a string of JSON */
    while (end - s > 1 && *s == '\\' && s[1] == '\\' && more < MOST_BACKSLASHES - 1) {
        s++;
        more++;
    }
    if (*s != '\\' || end - s < 2)
        return 0;
    if (s[1] == 'u' && end - s >= 6 && s[2] == '0' && s[3] == '0')
        return hex_byte(s + 4, end) == (unsigned char)byte ? more + 6 : 0;
    return s[1] == byte ? more + 2 : 0;
}

/* Bytes from `s` on that stand for bytes from *secret on, which is moved behind them. */
static size_t match(const char *s, const char *end, const char **secret, bool fold)
{
    const char *at = s;
    for (size_t used; **secret != '\0' && at < end; ++*secret, at += used)
        if ((used = stands_for(at, end, **secret, fold)) == 0)
            break;
    return (size_t)(at - s);
}

void mask_add(const struct mask *m, struct buf *out, const char *text, size_t len)
{
    const char *end = text + len;
    bool masked = false; /* right before: pieces that follow each other are one */
    for (const char *at = text; at < end;) {
        size_t piece = 0; /* the longest one of a secret, in bytes of the text; 0 if it is short */
        for (size_t i = 0; i < m->secrets.len; i++) {
            const char *secret = m->secrets.items[i];
            size_t secret_len = strlen(secret);
            size_t least = secret_len < MIN_PIECE ? secret_len : MIN_PIECE;
            for (size_t from = 0; from + least <= secret_len; from++) {
                const char *byte = secret + from;
                size_t found = match(at, end, &byte, secret_len >= NO_WORD);
                if ((size_t)(byte - secret) - from >= least && found > piece)
                    piece = found;
            }
        }
        if (piece == 0)
            buf_addch(out, *at);
        else if (!masked)
            buf_addstr(out, placeholder);
        masked = piece > 0;
        at += piece > 0 ? piece : 1;
    }
}

/* Bytes at `s` that are the whole secret, or the end of the text, where its beginning is enough.
 * *open: the text ends too early to tell. */
static size_t whole_len(const char *s, const char *end, const char *secret, bool ended, bool *open)
{
    const char *byte = secret, *at = s + match(s, end, &byte, strlen(secret) >= NO_WORD);
    if (*byte == '\0')
        return (size_t)(at - s);
    if (at < end) { /* only an escape that the end of the text cuts off may become the rest */
        size_t slashes = strspn(at, "\\");
        const char *digits = at + (slashes > 0 ? slashes + (at[slashes] == 'u') : 1);
        if (slashes > MOST_BACKSLASHES || (slashes == 0 && *at != '%') || end - digits >= 4 ||
            digits + strspn(digits, "0123456789abcdefABCDEF") != end)
            return 0;
    }
    *open = *open || !ended;
    return ended && byte - secret >= MIN_PIECE ? (size_t)(end - s) : 0;
}

void mask_settle(const struct mask *m, struct buf *text, size_t *settled, bool ended)
{
    const char *at = text->data + *settled, *end = text->data + text->len;
    char *to = text->data + *settled;
    for (bool open = false; at < end;) {
        size_t longest = 0;
        for (size_t i = 0; i < m->firm.len; i++) {
            size_t found = whole_len(at, end, m->firm.items[i], ended, &open);
            longest = found > longest ? found : longest;
        }
        if (open)
            break;
        if (longest == 0) {
            *to++ = *at++;
            continue;
        }
        memcpy(to, placeholder, sizeof placeholder - 1);
        to += sizeof placeholder - 1;
        at += longest;
    }
    *settled = (size_t)(to - text->data);
    buf_splice(text, *settled, (size_t)(at - to), NULL, 0);
}
