#include "provider/mask.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/base64.h"
#include "base/key_command.h"
#include "base/mem.h"
#include "provider/host.h"

/* Shorter "keys" are placeholders for servers that want none; replacing them would garble text. */
#define MIN_SECRET 4
/* Fewer bytes in a row say too little of a secret, and may be a word by chance. */
#define MIN_PIECE 8
/* From here on it is no placeholder such as "EMPTY" or "ollama", which messages may well say. */
#define NO_WORD 16

static const char placeholder[] = "[key]";

static void add_secret(struct mask *m, char *owned)
{
    if (owned != NULL && strlen(owned) >= MIN_SECRET)
        vec_push(&m->secrets, owned);
    else
        key_command_free(owned);
}

void mask_init(struct mask *m, const char *key, const char *base_url)
{
    *m = (struct mask){0};
    add_secret(m, mem_strdup(key));
    char *login = base_url == NULL ? NULL : host_login_of_url(base_url);
    if (login == NULL)
        return;
    const char *colon = strchr(login, ':');
    add_secret(m, base64_encode((const unsigned char *)login, strlen(login)));
    add_secret(m, mem_strdup(colon == NULL ? login : colon + 1));
    key_command_free(login);
}

void mask_release(struct mask *m)
{
    for (size_t i = 0; i < m->secrets.len; i++)
        key_command_free(m->secrets.items[i]);
    vec_release(&m->secrets);
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

static bool is_same(char a, char b, bool fold)
{
    return a == b || (fold && tolower((unsigned char)a) == tolower((unsigned char)b));
}

/* How many bytes at `s` stand for this byte of a secret, as it is or as %2F, \/ or \u002f. */
static size_t stands_for(const char *s, const char *end, char byte, bool fold)
{
    if (is_same(*s, byte, fold))
        return 1;
    if (*s == '%')
        return hex_byte(s + 1, end) == (unsigned char)byte ? 3 : 0;
    if (*s != '\\' || end - s < 2)
        return 0;
    if (s[1] == 'u' && end - s >= 6 && s[2] == '0' && s[3] == '0')
        return hex_byte(s + 4, end) == (unsigned char)byte ? 6 : 0;
    return s[1] == byte ? 2 : 0;
}

/* Bytes at `s` that are the piece of the secret which begins with `piece`; 0 if it is short. */
static size_t piece_len(const char *s, const char *end, const char *piece, size_t least, bool fold)
{
    const char *at = s;
    size_t bytes = 0, used;
    for (; at < end && piece[bytes] != '\0'; bytes++, at += used)
        if ((used = stands_for(at, end, piece[bytes], fold)) == 0)
            break;
    return bytes >= least ? (size_t)(at - s) : 0;
}

/* The longest piece of a secret at `s`, in bytes of the text. */
static size_t longest_piece(const struct mask *m, const char *s, const char *end)
{
    size_t longest = 0;
    for (size_t i = 0; i < m->secrets.len; i++) {
        const char *secret = m->secrets.items[i];
        size_t len = strlen(secret), least = len < MIN_PIECE ? len : MIN_PIECE;
        for (size_t from = 0; from + least <= len; from++) {
            size_t found = piece_len(s, end, secret + from, least, len >= NO_WORD);
            longest = found > longest ? found : longest;
        }
    }
    return longest;
}

void mask_add(const struct mask *m, struct buf *out, const char *text, size_t len)
{
    const char *end = text + len;
    bool masked = false; /* right before: pieces that follow each other are one */
    for (const char *at = text; at < end;) {
        size_t piece = longest_piece(m, at, end);
        if (piece == 0)
            buf_addch(out, *at);
        else if (!masked)
            buf_addstr(out, placeholder);
        masked = piece > 0;
        at += piece > 0 ? piece : 1;
    }
}
