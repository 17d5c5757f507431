#include "space/carrier.h"

#include <stdlib.h>
#include <string.h>

#include "base/entropy.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"

static const char *const kinds[] = {"entry", "learned", "share", "forget"};
const struct shape_names space_kind_names = {kinds, SPACE_KINDS, -1};
static const char *const roles[] = {"reader", "writer", "owner"};
const struct shape_names space_role_names = {roles, 3, -1};

const struct shape space_facts_shape = SHAPE_OF(
    "space", struct space_facts, SHAPE_REQ(space_facts, id, "Its id."),
    SHAPE_REQ(space_facts, name, "The name that its members gave it."),
    SHAPE_REQ(space_facts, schema, "Form of the log.", .least = 1, .most = 1 << 20),
    SHAPE_REQ(space_facts, min_client, "Oldest form that a reader must know.", .least = 1,
              .most = 1 << 20),
    SHAPE_OPT(space_facts, epoch, "Of its keys; absent: it is not sealed."),
    SHAPE_OPT(space_facts, retain_days, "Lines are erased after so many days."),
    SHAPE_OPT(space_facts, lease_days,
              "A replica that was out of touch for so many days erases what others wrote."));

const struct shape space_member_shape =
    SHAPE_OF("member", struct space_member, SHAPE_REQ(space_member, person, "Name."),
             SHAPE_REQ_WORD(space_member, role, space_role_names, "What the person may do."),
             SHAPE_OPT(space_member, epoch, "Of the wrapped key."),
             SHAPE_OPT(space_member, public_key, "In Base64."),
             SHAPE_OPT(space_member, wrapped_key, "The space's key for this person, in Base64."),
             SHAPE_FIELD("seen_at", TIME, OPTIONAL, SHAPE_AT(int64_t, struct space_member, seen_ms),
                         .help = "When a replica of this person last read the log to its end."));

bool space_line_fits(const struct space_line *line)
{
    return line->entry && *line->entry && strlen(line->entry) <= SPACE_ENTRY_BYTES && line->owner &&
           *line->owner && strlen(line->owner) <= SPACE_NAME_BYTES && line->version >= 1 &&
           (!line->project || strlen(line->project) <= SPACE_PROJECT_BYTES) &&
           line->key.len <= SPACE_KEY_BYTES && line->body.len <= SPACE_BODY_BYTES;
}

void space_line_release(struct space_line *line)
{
    free(line->entry);
    free(line->owner);
    free(line->project);
    buf_release(&line->key);
    buf_release(&line->body);
    *line = (struct space_line){.key = BUF_INIT, .body = BUF_INIT};
}

void space_lines_release(struct space_lines *lines)
{
    for (size_t i = 0; i < lines->items.len; i++)
        space_line_release(&lines->items.items[i]);
    vec_release(&lines->items);
    lines->bytes = 0;
}

void space_facts_release(struct space_facts *f)
{
    shape_release(&space_facts_shape, f);
}

void space_member_release(struct space_member *m)
{
    shape_release(&space_member_shape, m);
}

void space_members_release(struct space_members *m)
{
    for (size_t i = 0; i < m->items.len; i++)
        space_member_release(&m->items.items[i]);
    vec_release(&m->items);
}

/* ---- lines as JSON ---- */

static void write_bytes(struct json_out *o, const char *name, const char *coded,
                        const struct buf *bytes)
{
    if (bytes->len == 0)
        return;
    if (utf8_valid(bytes->data, bytes->len) && !memchr(bytes->data, 0, bytes->len)) {
        json_out_member(o, name, bytes->data);
        return;
    }
    auto_free char *text = base64_encode((const unsigned char *)bytes->data, bytes->len);
    json_out_member(o, coded, text);
}

void space_line_write(const struct space_line *line, struct buf *out)
{
    struct json_out o = {.buf = out};
    json_out_open(&o, '{');
    json_out_pack(&o, "entry:s version:I kind:s owner:s project:s at:I", line->entry, line->version,
                  kinds[line->kind], line->owner, line->project, line->at_ms);
    write_bytes(&o, "key", "key64", &line->key);
    write_bytes(&o, "body", "body64", &line->body);
    json_out_close(&o, '}');
}

static bool read_bytes(const struct json *v, const char *name, const char *coded, size_t most,
                       struct buf *out)
{
    const char *plain = json_get_string(v, name), *text = json_get_string(v, coded);
    if (plain && strlen(plain) <= most)
        buf_addstr(out, plain);
    return !(plain && out->len == 0 && *plain) &&
           (!text || (strlen(text) <= 2 * most && base64_decode(text, out) && out->len <= most));
}

bool space_line_read(const char *text, size_t len, struct space_line *out, bool *known,
                     struct error *e)
{
    struct error cause;
    *out = (struct space_line){.key = BUF_INIT, .body = BUF_INIT};
    *known = false;
    AUTO(json_free_local) struct json *v = json_parse_foreign(text, len, &cause);
    if (!v)
        return err_set(e, ERR_USAGE, "a line of the space is no JSON: %s", cause.text);
    const char *entry = json_get_string(v, "entry"), *kind = json_get_string(v, "kind");
    const char *owner = json_get_string(v, "owner"), *project = json_get_string(v, "project");
    const struct space_line read = {.entry = (char *)(uintptr_t)entry,
                                    .version = json_get_int(v, "version", 0),
                                    .owner = (char *)(uintptr_t)owner,
                                    .project = (char *)(uintptr_t)project};
    if (!kind || !space_line_fits(&read))
        return err_set(e, ERR_USAGE,
                       "a line of the space lacks entry, version, kind or owner, or one is too "
                       "long");
    for (int i = 0; i < SPACE_KINDS && !*known; i++)
        if (strcmp(kinds[i], kind) == 0) {
            out->kind = (enum space_kind)i;
            *known = true;
        }
    if (!*known)
        return true;
    out->entry = mem_strdup(entry);
    out->owner = mem_strdup(owner);
    out->project = mem_strdup(project);
    out->version = read.version;
    out->at_ms = json_get_int(v, "at", 0);
    if (read_bytes(v, "key", "key64", SPACE_KEY_BYTES, &out->key) &&
        read_bytes(v, "body", "body64", SPACE_BODY_BYTES, &out->body))
        return true;
    space_line_release(out);
    *known = false;
    return err_set(e, ERR_USAGE, "key or body of a line of the space is too long or damaged");
}

/* ---- the table ---- */

static const struct {
    const char *scheme;
    const struct carrier_ops *ops;
} carriers[] = {
    {"folder", &carrier_folder},
#ifdef HAVE_LIBPQ
    {"postgresql", &carrier_postgresql},
    {"postgres", &carrier_postgresql},
#endif
};

bool carrier_open(const struct carrier_place *place, struct carrier **out, struct error *e)
{
    size_t len = strcspn(place->url, ":");
    *out = NULL;
    for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++)
        if (strlen(carriers[i].scheme) == len &&
            strncmp(place->url, carriers[i].scheme, len) == 0 && place->url[len] == ':')
            return carriers[i].ops->open(place, out, e);
#ifndef HAVE_LIBPQ
    if (strncmp(place->url, "postgres", 8) == 0)
        return err_set(e, ERR_USAGE,
                       "this build has no PostgreSQL; configure it with libpq, or use a folder:");
#endif
    return err_set(e, ERR_USAGE,
                   "the URL of a space begins with folder: or postgresql://, not %.*s",
                   len < 40 ? (int)len : 40, place->url);
}

void carrier_close(struct carrier *c)
{
    if (c)
        c->ops->close(c);
}
