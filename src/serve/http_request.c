#include "serve/http_request.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"

const char *http_status_name(int status)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {{400, "BAD_REQUEST"},
                 {401, "UNAUTHORIZED"},
                 {403, "FORBIDDEN"},
                 {404, "NOT_FOUND"},
                 {405, "METHOD_NOT_ALLOWED"},
                 {406, "NOT_ACCEPTABLE"},
                 {413, "CONTENT_TOO_LARGE"},
                 {415, "UNSUPPORTED_MEDIA_TYPE"},
                 {431, "REQUEST_HEADER_FIELDS_TOO_LARGE"},
                 {501, "NOT_IMPLEMENTED"},
                 {503, "SERVICE_UNAVAILABLE"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status)
            return names[i].name;
    return "INTERNAL_ERROR";
}

static void refuse(struct http_refusal *out, int status, const char *text)
{
    out->status = status;
    err_set(&out->error, ERR_USAGE, "%s", text);
}

/* --- fields ----------------------------------------------------------------------------------- */

const char *http_head_field(const struct http_head *h, const char *name)
{
    for (size_t i = 0; i < h->fields.len; i++)
        if (strcasecmp(h->fields.items[i].name, name) == 0)
            return h->fields.items[i].value;
    return NULL;
}

static size_t count_field(const struct http_head *h, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < h->fields.len; i++)
        n += strcasecmp(h->fields.items[i].name, name) == 0;
    return n;
}

/* --- framing ---------------------------------------------------------------------------------- */

/* Whether nobody may read the head in another way: its fields, and the length of its body. */
static void check_framing(const struct http_head *h, struct http_refusal *out)
{
    const char *length = http_head_field(h, "Content-Length");
    const char *encoding = http_head_field(h, "Transfer-Encoding");
    bool well = true;
    if (h->garbled) {
        refuse(out, 400,
               "a line of the head is folded, has a NUL or ends without CRLF; see RFC "
               "9112, sections 2.2 and 5.2");
        return;
    }
    if (h->fields.len > HTTP_FIELDS_MAX) {
        refuse(out, 431, "the head has more than 100 fields; send fewer");
        return;
    }
    for (size_t i = 0; i < h->fields.len; i++) {
        const char *name = h->fields.items[i].name, *at = name; /* a token */
        while (isalnum((unsigned char)*at) || (*at && strchr("!#$%&'*+-.^_`|~", *at)))
            at++;
        well = well && at > name && !*at;
        for (const char *s = h->fields.items[i].value; *s; s++)
            well = well && ((unsigned char)*s < ' ' ? *s == '\t' : *s != 0x7F);
    }
    size_t digits = length ? strspn(length, "0123456789") : 0;
    bool counted = digits > 0 && digits <= 18 && !length[digits];
    if (!well)
        refuse(out, 400, "a field of the head is malformed; see RFC 9110, section 5");
    else if (length && (count_field(h, "Content-Length") > 1 || !counted))
        refuse(out, 400, "Content-Length is not one number; give the length of the body once");
    else if (length && strtoull(length, NULL, 10) > HTTP_BODY_MAX)
        refuse(out, 413, "the body is longer than 32 MiB; send less");
    else if (encoding && length)
        refuse(out, 400, "Content-Length and Transfer-Encoding contradict each other; give one");
    else if (encoding && strcmp(h->version, "HTTP/1.0") == 0)
        refuse(out, 400, "HTTP/1.0 has no Transfer-Encoding; use HTTP/1.1");
    else if (encoding && count_field(h, "Transfer-Encoding") > 1)
        refuse(out, 400, "Transfer-Encoding is there twice; give it once");
    else if (encoding && strcasecmp(encoding, "chunked") != 0)
        refuse(out, 501, "this Transfer-Encoding is not known; use chunked");
}

/* --- for whom --------------------------------------------------------------------------------- */

static bool is_listed(const char *host, const char *list)
{
    size_t len = strlen(host);
    for (const char *at = list ? list : ""; *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == len && strncasecmp(at, host, len) == 0)
            return true;
        at += word;
    }
    return false;
}

/* A page of another origin reaches us by a name of its own that leads to our address; it has no way
 * to have an address, or our names, in Host. The port does not matter to whom it leads. */
static bool is_ours(const char *authority, const struct http_policy *p)
{
    char host[256];
    size_t len = *authority == '[' ? strcspn(authority, "]") + 1 : strcspn(authority, ":");
    const char *port = strlen(authority) > len ? authority + len : "";
    if (len == 0 || len >= sizeof host || len > strlen(authority))
        return false;
    if (*port && (*port != ':' || strspn(port + 1, "0123456789") != strlen(port + 1)))
        return false;
    memcpy(host, authority, len);
    host[len] = '\0';
    struct in_addr v4;
    struct in6_addr v6;
    if (strcasecmp(host, "localhost") == 0 || is_listed(host, p->hosts))
        return true;
    bool bracket = len >= 3 && *host == '[';
    if (bracket)
        host[len - 1] = '\0';
    return bracket ? inet_pton(AF_INET6, host + 1, &v6) == 1 : inet_pton(AF_INET, host, &v4) == 1;
}

/* --- from whom -------------------------------------------------------------------------------- */

bool http_is_secret(const char *given, const char *secret)
{
    size_t given_len = strlen(given), len = strlen(secret);
    unsigned differs = given_len != len;
    for (size_t i = 0; i < given_len; i++)
        differs |= (unsigned)(given[i] ^ secret[i % len]);
    return differs == 0;
}

void http_check_head(const struct http_head *h, const struct http_policy *p,
                     struct http_refusal *out)
{
    static const char scheme[] = "Bearer ";
    const char *host = http_head_field(h, "Host");
    const char *given = http_head_field(h, "Authorization");
    out->status = 0;
    check_framing(h, out);
    if (out->status)
        return;
    if (count_field(h, "Host") != 1)
        refuse(out, 400, "the request has not one Host; give it once");
    else if (!is_ours(host, p) || (h->authority && !is_ours(h->authority, p)))
        refuse(out, 403,
               "this Host is not served; use the server's address, or name it in [serve] hosts");

    /* Browsers name the page that asks. A proxy on this machine that takes TLS off says so. */
    const char *origin = http_head_field(h, "Origin");
    const char *said = h->of_machine ? http_head_field(h, "X-Forwarded-Proto") : NULL;
    if (origin && !out->status) {
        auto_free char *own =
            mem_printf("%s://%s", said && strcasecmp(said, "https") == 0 ? "https" : "http",
                       h->authority ? h->authority : host);
        if (count_field(h, "Origin") > 1 ||
            (strcasecmp(origin, own) != 0 && !is_listed(origin, p->origins)))
            refuse(out, 403, "pages of this origin are not served; name it in [serve] origins");
    }
    if (out->status || !p->token)
        return;
    if (!given || count_field(h, "Authorization") != 1 ||
        strncasecmp(given, scheme, sizeof scheme - 1) != 0 ||
        !http_is_secret(given + sizeof scheme - 1, p->token))
        refuse(out, 401, "the request lacks the server's token; give it as Authorization: Bearer");
}

/* --- media types ------------------------------------------------------------------------------ */

static bool is_type(const char *s, size_t len, const char *type)
{
    while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
        len--;
    return len == strlen(type) && strncasecmp(s, type, len) == 0;
}

void http_check_body_type(const struct http_head *h, struct http_refusal *out)
{
    const char *type = http_head_field(h, "Content-Type");
    const char *length = http_head_field(h, "Content-Length");
    out->status = 0;
    if (!http_head_field(h, "Transfer-Encoding") &&
        (!length || strspn(length, "0") == strlen(length)))
        return;
    if (!type || !is_type(type, strcspn(type, ";"), "application/json"))
        refuse(out, 415, "the body is not said to be JSON; give Content-Type: application/json");
}

/* "q=0", "q=0.0": not wanted at all. */
static bool is_unwanted(const char *parameters, size_t len)
{
    for (const char *at = parameters, *end = parameters + len; at < end; at++) {
        at += strspn(at, "; \t");
        if (at + 2 < end && strncasecmp(at, "q=0", 3) == 0)
            return strspn(at + 3, ".0") == strcspn(at + 3, "; \t,");
        at += strcspn(at, ";,");
    }
    return false;
}

bool http_accepts(const struct http_head *h, const char *type)
{
    const char *accept = http_head_field(h, "Accept");
    char any[64];
    snprintf(any, sizeof any, "%.*s/*", (int)strcspn(type, "/"), type);
    if (!accept || !*accept)
        return true;
    for (const char *at = accept; *at; at += *at == ',') {
        at += strspn(at, " \t");
        size_t range = strcspn(at, ",;"), len = strcspn(at, ",");
        if ((is_type(at, range, type) || is_type(at, range, any) || is_type(at, range, "*/*")) &&
            !is_unwanted(at + range, len - range))
            return true;
        at += len;
    }
    return false;
}

/* --- addresses -------------------------------------------------------------------------------- */

static bool parse_port(const char *text, int *port)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || n > 65535)
        return false;
    *port = (int)n;
    return true;
}

bool http_parse_address(const char *text, char **host, int *port, struct error *e)
{
    bool bracket = *text == '[';
    size_t len = bracket ? strcspn(text, "]") : strcspn(text, ":");
    const char *rest = text + len + (bracket && text[len]);
    const char *name = text + bracket;
    int only_port = *port;
    if (parse_port(text, &only_port)) {
        *port = only_port;
        *host = NULL;
        return true;
    }
    if ((*rest && (*rest != ':' || !parse_port(rest + 1, port))) || (bracket && !text[len]))
        return err_set(e, ERR_USAGE, "\"%s\" is no address; give ADDRESS:PORT, as 127.0.0.1:8476",
                       text);
    *host = len > bracket ? mem_strndup(name, len - bracket) : NULL;
    return true;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* NULL with USAGE: an escape is malformed, or the text is no UTF-8. */
static char *read_escapes(const char *s, size_t len, bool plus_is_blank, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        char c = s[i] == '+' && plus_is_blank ? ' ' : s[i];
        if (c == '%') {
            int byte = url_escaped_byte(s + i, len - i);
            c = (char)byte;
            if (byte <= 0) {
                err_set(e, ERR_USAGE, "the URL has a %% that begins no escape; write it as %%25");
                return NULL;
            }
            i += 2;
        }
        buf_addch(&text, c);
    }
    if (utf8_valid(text.data, text.len))
        return buf_take(&text);
    err_set(e, ERR_USAGE, "the URL is no UTF-8; escape its characters as UTF-8");
    return NULL;
}

bool http_target_parse(const char *raw, struct http_target *t, struct error *e)
{
    static const char scheme[] = "http://";
    *t = (struct http_target){0};
    /* RFC 3986: characters of a path or a query. Some servers let others through and some change
     * them, so that two could read the same request differently. */
    for (const char *c = raw; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-._~!$&'()*+,;=:@/?%", *c))
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
    do {
        size_t part = strcspn(++raw, "/?");
        char *segment = read_escapes(raw, part, false, e);
        if (!segment)
            return false;
        vec_push(&t->path, segment);
        raw += part;
    } while (*raw == '/');
    while (*raw) { /* behind '?' or '&' */
        size_t len = strcspn(++raw, "&"), name_len = strcspn(raw, "=&");
        bool valued = name_len < len;
        if (len > 0) {
            char *name = read_escapes(raw, name_len, true, e);
            char *value =
                name ? read_escapes(raw + name_len + valued, len - name_len - valued, true, e)
                     : NULL;
            if (!value) {
                free(name);
                return false;
            }
            vec_push(&t->query, (struct http_parameter){name, value});
        }
        raw += len;
    }
    return true;
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

static bool unfit(const struct shape_field *f, struct error *e)
{
    AUTO(buf_release) struct buf expected = BUF_INIT;
    shape_add_expected(f, &expected);
    return err_set(e, ERR_USAGE, "\"%s\" does not fit; give %s", f->name, expected.data);
}

static bool add_param(const struct http_target *t, const struct shape_field *f, const char *value,
                      struct json *params, struct error *e)
{
    bool yes = strcmp(value, "true") == 0 || !*value;
    struct json *list;
    char *end;
    double n;
    switch (f->type) {
    case SHAPE_INTEGER:
    case SHAPE_COUNT:
    case SHAPE_NUMBER:
        n = strtod(value, &end);
        if (*end || end == value || !isfinite(n) || strpbrk(value, "xX \t"))
            return unfit(f, e);
        json_set_number(params, f->name, n);
        return true;
    case SHAPE_BOOLEAN:
        if (!yes && strcmp(value, "false") != 0)
            return unfit(f, e);
        json_set_bool(params, f->name, yes);
        return true;
    case SHAPE_WORDS:
    case SHAPE_STRINGS: /* all parameters of this name are one list */
        list = json_new_array();
        for (size_t i = 0; i < t->query.len; i++)
            if (strcmp(t->query.items[i].name, f->name) == 0)
                json_push(list, json_new_string(t->query.items[i].value));
        json_set(params, f->name, list);
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
        const struct shape_field *f = s ? s->fields : NULL;
        while (f && f->name && strcmp(f->name, p->name) != 0)
            f++;
        if (!f || !f->name)
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
