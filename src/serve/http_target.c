#include "serve/http_target.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

/* --- parts ------------------------------------------------------------------------------------ */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* NULL with USAGE: an escape is none, or what comes of them is no text. */
static char *read_escapes(const char *s, size_t len, bool plus_is_blank, struct error *e)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        char c = s[i] == '+' && plus_is_blank ? ' ' : s[i];
        if (c == '%') {
            int high = i + 2 < len ? hex_digit(s[i + 1]) : -1;
            int low = i + 2 < len ? hex_digit(s[i + 2]) : -1;
            c = (char)(high * 16 + low);
            if (high < 0 || low < 0 || c == '\0') {
                buf_release(&text);
                err_set(e, ERR_USAGE, "the URL has a %% that begins no escape; write it as %%25");
                return NULL;
            }
            i += 2;
        }
        buf_addch(&text, c);
    }
    if (utf8_valid(text.data, text.len))
        return buf_take(&text);
    buf_release(&text);
    err_set(e, ERR_USAGE, "the URL is no UTF-8; escape its characters as UTF-8");
    return NULL;
}

/* RFC 3986: what may stand in a path or a query as it is. Others are let through by some servers
 * and changed by others, so that two could read the same request differently. */
static bool plain(const char *s)
{
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("-._~!$&'()*+,;=:@/?%", *s))
            return false;
    return true;
}

static bool parse_path(const char *path, size_t len, struct http_target *t, struct error *e)
{
    for (const char *at = path + 1, *end = path + len; at <= end;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        size_t part = (size_t)((slash ? slash : end) - at);
        char *segment = read_escapes(at, part, false, e);
        if (!segment)
            return false;
        vec_push(&t->path, segment);
        at += part + 1;
    }
    return true;
}

static bool parse_pair(const char *s, size_t len, struct http_target *t, struct error *e)
{
    const char *equals = memchr(s, '=', len);
    size_t name_len = equals ? (size_t)(equals - s) : len;
    char *name = read_escapes(s, name_len, true, e);
    char *value = name ? read_escapes(s + name_len + (equals != NULL),
                                      len - name_len - (equals != NULL), true, e)
                       : NULL;
    if (!value) {
        free(name);
        return false;
    }
    vec_push(&t->query, (struct http_parameter){name, value});
    return true;
}

static bool parse_query(const char *query, struct http_target *t, struct error *e)
{
    while (*query) {
        size_t len = strcspn(query, "&");
        if (len > 0 && !parse_pair(query, len, t, e))
            return false;
        query += len + (query[len] == '&');
    }
    return true;
}

bool http_target_parse(const char *raw, struct http_target *t, struct error *e)
{
    static const char scheme[] = "http://";
    *t = (struct http_target){0};
    if (!plain(raw))
        return err_set(e, ERR_USAGE,
                       "the URL has a character that must be escaped; write it as %%XX");
    if (strncasecmp(raw, scheme, sizeof scheme - 1) == 0) {
        raw += sizeof scheme - 1;
        size_t len = strcspn(raw, "/?");
        t->authority = mem_strndup(raw, len);
        raw = raw[len] ? raw + len : "/";
    }
    if (*raw != '/')
        return err_set(e, ERR_USAGE, "the URL has no path; begin it with /");
    size_t len = strcspn(raw, "?");
    return parse_path(raw, len, t, e) && (!raw[len] || parse_query(raw + len + 1, t, e));
}

void http_target_release(struct http_target *t)
{
    free(t->authority);
    vec_free_each(&t->path);
    for (size_t i = 0; i < t->query.len; i++) {
        free(t->query.items[i].name);
        free(t->query.items[i].value);
    }
    vec_release(&t->query);
    *t = (struct http_target){0};
}

const char *http_target_query(const struct http_target *t, const char *name)
{
    for (size_t i = 0; i < t->query.len; i++)
        if (strcmp(t->query.items[i].name, name) == 0)
            return t->query.items[i].value;
    return NULL;
}

/* --- parameters ------------------------------------------------------------------------------- */

static const struct shape_field *find_field(const struct shape *s, const char *name)
{
    for (const struct shape_field *f = s ? s->fields : NULL; f && f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

static bool unfit(const struct shape_field *f, struct error *e)
{
    struct buf expected = BUF_INIT;
    shape_add_expected(f, &expected);
    err_set(e, ERR_USAGE, "\"%s\" does not fit; give %s", f->name, expected.data);
    buf_release(&expected);
    return false;
}

static bool add_number(const struct shape_field *f, const char *value, struct json *params,
                       struct error *e)
{
    char *end;
    double n = strtod(value, &end);
    if (*end || end == value || !isfinite(n) || strpbrk(value, "xX \t"))
        return unfit(f, e);
    json_set_number(params, f->name, n);
    return true;
}

static bool add_boolean(const struct shape_field *f, const char *value, struct json *params,
                        struct error *e)
{
    bool yes = strcmp(value, "true") == 0 || !*value;
    if (!yes && strcmp(value, "false") != 0)
        return unfit(f, e);
    json_set_bool(params, f->name, yes);
    return true;
}

/* All that have this name, at the first of them. */
static void add_list(const struct http_target *t, const struct shape_field *f, struct json *params)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < t->query.len; i++)
        if (strcmp(t->query.items[i].name, f->name) == 0)
            json_push(list, json_new_string(t->query.items[i].value));
    json_set(params, f->name, list);
}

static bool add_param(const struct http_target *t, const struct shape_field *f, const char *value,
                      struct json *params, struct error *e)
{
    switch (f->type) {
    case SHAPE_INTEGER:
    case SHAPE_COUNT:
    case SHAPE_NUMBER:
        return add_number(f, value, params, e);
    case SHAPE_BOOLEAN:
        return add_boolean(f, value, params, e);
    case SHAPE_WORDS:
    case SHAPE_STRINGS:
        add_list(t, f, params);
        return true;
    case SHAPE_OBJECT:
    case SHAPE_LIST:
    case SHAPE_OWN:
        return err_set(e, ERR_USAGE, "\"%s\" cannot be said in a URL; use POST /rpc", f->name);
    case SHAPE_STRING:
    case SHAPE_JSON:
    case SHAPE_UUID:
    case SHAPE_TIME:
    case SHAPE_ENUM:
        break;
    }
    json_set_string(params, f->name, value);
    return true;
}

bool http_target_add_params(const struct http_target *t, const struct shape *s, struct json *params,
                            struct error *e)
{
    for (size_t i = 0; i < t->query.len; i++) {
        const struct http_parameter *p = &t->query.items[i];
        const struct shape_field *f = find_field(s, p->name);
        if (!f)
            return err_set(e, ERR_USAGE, "\"%s\" is unknown here; leave it out", p->name);
        bool list = f->type == SHAPE_WORDS || f->type == SHAPE_STRINGS;
        if (json_get(params, f->name) && list)
            continue;
        if (json_get(params, f->name))
            return err_set(e, ERR_USAGE, "\"%s\" is there twice; give it once", f->name);
        if (!add_param(t, f, p->value, params, e))
            return false;
    }
    return true;
}
