#include "base/json_pack.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

/* A format on its way into `out`. */
struct packer {
    const char *at;
    struct json_out *out;
    va_list args;
};

static void skip_blanks(struct packer *p)
{
    p->at += strspn(p->at, " ,");
}

/* Reads "name:" where a member begins. */
static void read_name(struct packer *p, char name[64])
{
    size_t len = strcspn(p->at, ":");
    assert(p->at[len] == ':' && len > 0 && len < 64);
    memcpy(name, p->at, len);
    name[len] = '\0';
    p->at += len + 1;
}

static void pack_value(struct packer *p, const char *name);

static void pack_members(struct packer *p)
{
    for (skip_blanks(p); *p->at && *p->at != '}'; skip_blanks(p)) {
        char name[64];
        read_name(p, name);
        pack_value(p, name);
    }
}

static void begin_member(struct packer *p, const char *name)
{
    if (name)
        json_out_name(p->out, name);
}

/* A container: its bracket has been read. */
static void pack_container(struct packer *p, char open)
{
    char close = open == '{' ? '}' : ']';
    json_out_open(p->out, open);
    if (open == '{')
        pack_members(p);
    else
        for (skip_blanks(p); *p->at && *p->at != ']'; skip_blanks(p))
            pack_value(p, NULL);
    assert(*p->at == close);
    p->at++;
    json_out_close(p->out, close);
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
    case '[':
        pack_container(p, type);
        break;
    default:
        assert(!"the format of a JSON value is wrong");
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

void json_out_pack(struct json_out *out, const char *format, ...)
{
    struct packer p = {.at = format, .out = out};
    va_start(p.args, format);
    pack(&p);
    va_end(p.args);
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
