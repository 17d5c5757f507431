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

/* The high bit of each byte of `eight` that is `c`, and perhaps of the byte above it. */
static uint64_t bytes_equal(uint64_t eight, unsigned char c)
{
    uint64_t x = eight ^ c * UINT64_C(0x0101010101010101);
    return (x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080);
}

/* Whether the next eight bytes are ASCII without controls, quotes and backslashes. */
static bool eight_plain(const char *s)
{
    uint64_t eight;
    memcpy(&eight, s, sizeof eight);
    uint64_t control =
        (eight - UINT64_C(0x2020202020202020)) & ~eight & UINT64_C(0x8080808080808080);
    return !(control | bytes_equal(eight, '"') | bytes_equal(eight, '\\') |
             (eight & UINT64_C(0x8080808080808080)));
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

static void begin_line(struct buf *out, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        buf_addch(out, '\t');
}

/* `open` has the open brackets. Members of objects get lines of their own, elements do not. */
static void lay_out_mark(char mark, char next, struct buf *open, struct buf *out)
{
    bool in_object = open->len > 0 && open->data[open->len - 1] == '{';
    if (mark == ':') {
        buf_addstr(out, ":\t");
    } else if (mark == ',') {
        buf_addstr(out, in_object ? ",\n" : ", ");
        begin_line(out, in_object ? open->len : 0);
    } else if (mark == '{' || mark == '[') {
        buf_addch(open, mark);
        buf_addstr(out, mark == '{' ? "{\n" : "[");
        begin_line(out, mark == '{' && next != '}' ? open->len : 0);
    } else if (open->len > 0) {
        open->len--;
        if (mark == '}' && out->data[out->len - 1] != '\n')
            buf_addch(out, '\n');
        begin_line(out, mark == '}' ? open->len : 0);
        buf_addch(out, mark);
    }
}

void json_out_pretty(const struct buf *written, struct buf *out)
{
    AUTO(buf_release) struct buf open = BUF_INIT;
    for (const char *at = written->data; *at;) {
        const char *end = at + strcspn(at, "{}[],:\"");
        if (*at == '"') {
            for (end++; *end && *end != '"'; end++)
                end += *end == '\\' && end[1];
            end += *end == '"';
        }
        buf_add(out, at, (size_t)(end - at));
        at = end;
        if (*at && *at != '"') {
            lay_out_mark(at[0], at[1], &open, out);
            at++;
        }
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

static void begin_member(struct packer *p, const char *name)
{
    if (name)
        json_out_name(p->out, name);
}

/* `name` is NULL in an array and at the top. */
static void pack_value(struct packer *p, const char *name)
{
    char type = *p->at++;
    const char *text = NULL;
    switch (type) {
    case 's':
    case 'S':
    case 'r':
        text = va_arg(p->args, const char *);
        if (!text && type != 'S')
            return;
        begin_member(p, name);
        if (text && type != 'r')
            json_out_string(p->out, text);
        else
            json_out_raw(p->out, text ? text : "null");
        return;
    case 'o': {
        AUTO(json_free_local) struct json *tree = va_arg(p->args, struct json *);
        if (!tree)
            return;
        begin_member(p, name);
        auto_free char *printed = json_print(tree);
        json_out_raw(p->out, printed);
        return;
    }
    default:
        begin_member(p, name);
    }
    switch (type) {
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

static void pack(struct packer *p)
{
    size_t word = strcspn(p->at, ":{['");
    if (p->at[word] == ':')
        pack_members(p);
    else
        pack_value(p, NULL);
    assert(*p->at == '\0');
}

void json_out_vpack(struct json_out *out, const char *format, va_list args)
{
    struct packer p = {.at = format, .out = out};
    va_copy(p.args, args);
    pack(&p);
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
    struct json_out out = {.buf = &text};
    struct packer p = {.at = format, .out = &out};
    va_start(p.args, format);
    pack(&p);
    va_end(p.args);
    return json_out_tree(&text);
}
