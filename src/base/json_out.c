#include "base/json_out.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_pack.h"
#include "base/utf8.h"

static void put(struct json_out *o, const char *bytes, size_t len)
{
    o->len += (int64_t)len;
    if (o->buf)
        buf_add(o->buf, bytes, len);
}

static void begin_value(struct json_out *o)
{
    if (o->comma)
        put(o, ",", 1);
    o->comma = true;
}

void json_out_open(struct json_out *o, char bracket)
{
    begin_value(o);
    put(o, &bracket, 1);
    o->comma = false;
}

void json_out_close(struct json_out *o, char bracket)
{
    put(o, &bracket, 1);
    o->comma = true;
}

void json_out_name(struct json_out *o, const char *name)
{
    begin_value(o);
    put(o, "\"", 1);
    put(o, name, strlen(name));
    put(o, "\":", 2);
    o->comma = false;
}

/* Whether the next eight bytes are ASCII without controls, quotes and backslashes. A subtraction
 * sets the high bit of a byte that is less, here of one that is 0 after the exclusive or. */
static bool eight_plain(const char *s)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high_bits = 0x80 * ones;
    uint64_t eight;
    memcpy(&eight, s, sizeof eight);
    uint64_t quote = eight ^ '"' * ones, backslash = eight ^ '\\' * ones;
    uint64_t found = eight | ((eight - ' ' * ones) & ~eight) | ((quote - ones) & ~quote) |
                     ((backslash - ones) & ~backslash);
    return (found & high_bits) == 0;
}

static void put_valid(struct json_out *o, const char *s, size_t len)
{
    static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                   ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    size_t done = 0;
    for (size_t i = 0, used; i < len; i += used) {
        uint32_t cp = (unsigned char)s[i];
        used = len - i >= 8 && eight_plain(s + i) ? 8 : 1;
        if (cp >= 0x80)
            used = utf8_decode(s + i, len - i, &cp);
        if (used == 8 || !(cp < 0x20 || cp == '"' || cp == '\\' || utf8_is_hidden(cp)))
            continue;
        char escape[13] = {'\\'};
        bool letter = cp < sizeof letters && letters[cp];
        if (letter)
            escape[1] = letters[cp];
        put(o, s + done, i - done);
        put(o, escape, letter ? 2 : json_escape(cp, escape));
        done = i + used;
    }
    put(o, s + done, len - done);
}

void json_out_string(struct json_out *o, const char *s)
{
    size_t len = strlen(s);
    bool valid = utf8_valid(s, len);
    begin_value(o);
    put(o, "\"", 1);
    if (valid)
        put_valid(o, s, len);
    for (size_t i = 0; !valid && i < len;) { /* invalid bytes are decoded as U+FFFD */
        uint32_t cp;
        char encoded[4];
        i += utf8_decode(s + i, len - i, &cp);
        put_valid(o, encoded, utf8_encode(cp, encoded));
    }
    put(o, "\"", 1);
}

void json_out_raw(struct json_out *o, const char *json)
{
    begin_value(o);
    put(o, json, strlen(json));
}

void json_out_member(struct json_out *o, const char *name, const char *s)
{
    if (!s)
        return;
    json_out_name(o, name);
    json_out_string(o, s);
}

void json_out_number(struct json_out *o, int64_t n)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
    do
        digits[--at] = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        digits[--at] = '-';
    begin_value(o);
    put(o, digits + at, sizeof digits - at);
}

void json_out_int(struct json_out *o, const char *name, int64_t n)
{
    json_out_name(o, name);
    json_out_number(o, n);
}

void json_out_real_number(struct json_out *o, double n)
{
    if (!isfinite(n)) {
        json_out_raw(o, "null");
        return;
    }
    char digits[40];
    int len = snprintf(digits, sizeof digits, "%.15g", n);
    for (int i = 0; i < len; i++)
        if (!strchr("0123456789+-e", digits[i]))
            digits[i] = '.'; /* the locale's decimal sign */
    begin_value(o);
    put(o, digits, (size_t)len);
}

void json_out_pretty(const char *json, struct buf *out)
{
    AUTO(buf_release) struct buf open = BUF_INIT; /* the open brackets */
    for (const char *at = json; *at;) {
        const char *end = at + strcspn(at, "{}[],:\"");
        if (*at == '"') {
            for (end++; *end && *end != '"'; end++)
                end += *end == '\\' && end[1];
            end += *end == '"';
        }
        buf_add(out, at, (size_t)(end - at));
        at = end;
        if (!*at || *at == '"')
            continue;
        /* A mark. Members of objects get lines of their own, elements do not. */
        char mark = *at++, closing = '\0';
        bool own_line = open.len > 0 && open.data[open.len - 1] == '{';
        if (mark == ':') {
            buf_addstr(out, ":\t");
            continue;
        }
        if (mark == ',') {
            buf_addstr(out, own_line ? ",\n" : ", ");
        } else if (mark == '{' || mark == '[') {
            buf_addch(&open, mark);
            buf_addstr(out, mark == '{' ? "{\n" : "[");
            own_line = mark == '{' && *at != '}';
        } else if (open.len > 0) {
            open.len--;
            closing = mark;
            own_line = mark == '}';
            if (own_line && out->data[out->len - 1] != '\n')
                buf_addch(out, '\n');
        }
        for (size_t i = 0; own_line && i < open.len; i++)
            buf_addch(out, '\t');
        if (closing)
            buf_addch(out, closing);
    }
}

struct json *json_out_tree(struct buf *written)
{
    struct error e;
    struct json *tree = json_parse(written->data, written->len, &e);
    assert(tree);
    buf_release(written);
    return tree;
}

/* --- by a format ------------------------------------------------------------------------------ */

struct packer {
    const char *at;
    struct json_out *out;
    va_list args;
};

static void skip_blanks(struct packer *p)
{
    p->at += strspn(p->at, " ,");
}

static void pack_value(struct packer *p, const char *name);

static void pack_members(struct packer *p)
{
    for (skip_blanks(p); *p->at && *p->at != '}'; skip_blanks(p)) {
        char name[64];
        size_t len = strcspn(p->at, ":");
        assert(p->at[len] == ':' && len > 0 && len < sizeof name);
        memcpy(name, p->at, len);
        name[len] = '\0';
        p->at += len + 1;
        pack_value(p, name);
    }
}

/* `name` is NULL in an array and at the top. */
static void pack_value(struct packer *p, const char *name)
{
    char type = *p->at++;
    bool is_text = type == 's' || type == 'S' || type == 'r';
    const char *text = is_text ? va_arg(p->args, const char *) : NULL;
    AUTO(json_free_local) struct json *tree = type == 'o' ? va_arg(p->args, struct json *) : NULL;
    auto_free char *printed = tree ? json_print(tree) : NULL;
    if (type == 'o')
        text = printed;
    if (!text && (type == 's' || type == 'r' || type == 'o'))
        return;
    if (name)
        json_out_name(p->out, name);
    switch (type) {
    case 's':
    case 'S':
        if (text)
            json_out_string(p->out, text);
        else
            json_out_raw(p->out, "null");
        break;
    case 'r':
    case 'o':
        json_out_raw(p->out, text);
        break;
    case 'i':
        json_out_number(p->out, va_arg(p->args, int));
        break;
    case 'I':
        json_out_number(p->out, va_arg(p->args, int64_t));
        break;
    case 'd':
        json_out_real_number(p->out, va_arg(p->args, double));
        break;
    case 'b':
        json_out_raw(p->out, va_arg(p->args, int) ? "true" : "false");
        break;
    case 'n':
        json_out_raw(p->out, "null");
        break;
    case '\'': {
        size_t len = strcspn(p->at, "'");
        assert(p->at[len] == '\'');
        auto_free char *literal = mem_strndup(p->at, len);
        json_out_string(p->out, literal);
        p->at += len + 1;
        break;
    }
    case '{':
        json_out_open(p->out, '{');
        pack_members(p);
        assert(*p->at == '}');
        p->at++;
        json_out_close(p->out, '}');
        break;
    case '[':
        json_out_open(p->out, '[');
        for (skip_blanks(p); *p->at && *p->at != ']'; skip_blanks(p))
            pack_value(p, NULL);
        assert(*p->at == ']');
        p->at++;
        json_out_close(p->out, ']');
        break;
    default:
        assert(false && "the format of a JSON value is wrong");
    }
}

void json_out_vpack(struct json_out *out, const char *format, va_list args)
{
    struct packer p = {.at = format, .out = out};
    va_copy(p.args, args);
    if (format[strcspn(format, ":{['")] == ':')
        pack_members(&p);
    else
        pack_value(&p, NULL);
    assert(*p.at == '\0');
    va_end(p.args);
}

void json_out_pack(struct json_out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_out_vpack(out, format, args);
    va_end(args);
}

struct json *json_pack(const char *format, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    json_out_vpack(&(struct json_out){.buf = &text}, format, args);
    va_end(args);
    return json_out_tree(&text);
}
