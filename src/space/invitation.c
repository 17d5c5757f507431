#include "space/invitation.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define BEGINNING "tiro:"

enum { CODE_BYTES = 8192, SUM_DIGITS = 8 };

static const struct shape invitation_shape = SHAPE_OF(
    "invitation", struct space_invitation, SHAPE_REQ(space_invitation, id, "Of the space."),
    SHAPE_REQ(space_invitation, name, "Of the space.", .least = 1, .most = SPACE_NAME_BYTES),
    SHAPE_REQ(space_invitation, url, "Of its carrier.", .least = 1, .most = 2000),
    SHAPE_REQ_WORD(space_invitation, role, space_role_names, "Of who joins."),
    SHAPE_OPT(space_invitation, owner, "Public key, in Base64.", .most = 64),
    SHAPE_OPT(space_invitation, token, "In Base64.", .most = 64));

void space_invitation_release(struct space_invitation *i)
{
    shape_release(&invitation_shape, i);
}

/* Removes "NAME:PASSWORD@" before the host, and the parameters `user` and `password`. */
static char *without_person(const char *url)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *p = strstr(url, "://"), *at;
    if (p && strncmp(url, "folder", 6) != 0) {
        p += 3;
        buf_add(&out, url, (size_t)(p - url));
        size_t host = strcspn(p, "/?");
        while ((at = memchr(p, '@', host))) {
            host -= (size_t)(at + 1 - p);
            p = at + 1;
        }
    } else
        p = url;
    size_t path = strncmp(url, "folder", 6) == 0 ? strlen(p) : strcspn(p, "?");
    buf_add(&out, p, path);
    char sign = '?';
    for (p += path; *p; p += strcspn(p, "&")) {
        p++;
        size_t len = strcspn(p, "&");
        if (len == 0 || strncmp(p, "user=", 5) == 0 || strncmp(p, "password=", 9) == 0)
            continue;
        buf_addch(&out, sign);
        buf_add(&out, p, len);
        sign = '&';
    }
    return buf_take(&out);
}

/* A checksum of the text: finds a character that was mistyped or lost, and no forgery. */
static unsigned sum_of(const char *text, size_t len)
{
    uint64_t hash = mem_hash(MEM_HASH, text, len);
    return (unsigned)((hash ^ hash >> 32) & 0xffffffffU);
}

char *space_invitation_write(const struct space_invitation *i)
{
    AUTO(buf_release) struct buf json = BUF_INIT;
    struct json_out o = {.buf = &json};
    struct space_invitation plain = *i;
    auto_free char *url = plain.url = without_person(i->url);
    shape_write(&invitation_shape, &plain, &o);
    auto_free char *text = base64_encode((const unsigned char *)json.data, json.len);
    (void)url;
    return mem_printf(BEGINNING "%s.%08x", text, sum_of(text, strlen(text)));
}

/* Whether it may be shown in one line as it is. */
static bool is_plain(const char *text)
{
    auto_free char *clean = utf8_clean_line(text);
    return strcmp(clean, text) == 0;
}

bool space_invitation_read(const char *code, struct space_invitation *out, struct error *e)
{
    AUTO(buf_release) struct buf json = {.data = buf_empty, .max = CODE_BYTES};
    struct error cause;
    char sum[SUM_DIGITS + 1];
    size_t len = strlen(code);
    *out = (struct space_invitation){0};
    if (len < sizeof BEGINNING + SUM_DIGITS || len > CODE_BYTES ||
        strncmp(code, BEGINNING, sizeof BEGINNING - 1) != 0)
        return err_set(e, ERR_USAGE, "this is no invitation; it begins with " BEGINNING);
    const char *text = code + sizeof BEGINNING - 1, *end = code + len - SUM_DIGITS - 1;
    snprintf(sum, sizeof sum, "%08x", sum_of(text, (size_t)(end - text)));
    auto_free char *coded = mem_strndup(text, (size_t)(end - text));
    if (*end != '.' || strcmp(end + 1, sum) != 0 || !base64_decode(coded, &json))
        return err_set(e, ERR_USAGE, "the invitation is not whole; copy all of it again");
    AUTO(json_free_local) struct json *v = json_parse_foreign(json.data, json.len, &cause);
    if (!v || !shape_read(&invitation_shape, v, out, &cause))
        return err_set(e, ERR_USAGE, "the invitation cannot be read: %s", cause.text);
    if (is_plain(out->name) && is_plain(out->url) && !out->owner == !out->token)
        return true;
    space_invitation_release(out);
    return err_set(e, ERR_USAGE, "the invitation cannot be used; ask for another one");
}
