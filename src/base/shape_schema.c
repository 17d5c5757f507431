#include <inttypes.h>
#include <string.h>

#include "base/shape.h"

/* --- in words --------------------------------------------------------------------------------- */

static void add_words(struct buf *out, const struct shape_names *names)
{
    int left = 0;
    for (int i = 0; i < names->count; i++)
        left += names->words[i] != NULL;
    for (int i = 0; i < names->count; i++) {
        if (names->words[i])
            buf_addf(out, "\"%s\"%s", names->words[i], left > 2 ? ", " : left == 2 ? " or " : "");
        left -= names->words[i] != NULL;
    }
}

static void add_bounds(struct buf *out, const struct shape_field *f)
{
    if (f->most != 0)
        buf_addf(out, " from %.15g to %.15g", f->least, f->most);
    else
        buf_addf(out, " from %.15g", f->least);
}

static void add_length(struct buf *out, const struct shape_field *f, const char *unit)
{
    if (f->most != 0)
        buf_addf(out, " of at most %.15g %s", f->most, unit);
}

void shape_add_expected(const struct shape_field *f, struct buf *out)
{
    switch (f->type) {
    case SHAPE_STRING:
        buf_addstr(out, f->least > 0 ? "a string that is not empty" : "a string");
        add_length(out, f, "bytes");
        break;
    case SHAPE_JSON:
        buf_addstr(out, "any value");
        break;
    case SHAPE_WORDS:
        buf_addstr(out, "a list of words");
        break;
    case SHAPE_STRINGS:
        buf_addstr(out, f->least > 0 ? "a list of strings that is not empty" : "a list of strings");
        add_length(out, f, "elements");
        break;
    case SHAPE_UUID:
        buf_addstr(out, "an id like \"01890a5d-ac96-774b-bcce-b302099a8057\"");
        break;
    case SHAPE_INTEGER:
    case SHAPE_COUNT:
        buf_addstr(out, "a whole number");
        add_bounds(out, f);
        break;
    case SHAPE_NUMBER:
        buf_addstr(out, "a number");
        add_bounds(out, f);
        break;
    case SHAPE_BOOLEAN:
        buf_addstr(out, "true or false");
        break;
    case SHAPE_TIME:
        buf_addstr(out, "a time like \"2026-03-09T14:05:07Z\"");
        break;
    case SHAPE_ENUM:
        add_words(out, f->names);
        break;
    case SHAPE_OBJECT:
        buf_addstr(out, "an object");
        break;
    case SHAPE_LIST:
        buf_addstr(out, "a list of objects");
        add_length(out, f, "elements");
        break;
    case SHAPE_OWN:
        buf_addstr(out, f->codec->expected);
        break;
    }
}

static void describe(const struct shape *s, size_t indent, struct buf *out)
{
    for (const struct shape_field *f = s->fields; f->name; f++) {
        buf_addf(out, "%*s%s: ", (int)indent, "", f->name);
        shape_add_expected(f, out);
        if (f->presence != SHAPE_REQUIRED)
            buf_addstr(out, "; optional");
        if (f->help)
            buf_addf(out, ". %s", f->help);
        buf_addch(out, '\n');
        if (f->of)
            describe(f->of, indent + 2, out);
    }
}

void shape_describe(const struct shape *s, struct buf *out)
{
    describe(s, 2, out);
}

/* --- as JSON Schema --------------------------------------------------------------------------- */

static struct json *typed(const char *type)
{
    struct json *v = json_new_object();
    json_set_string(v, "type", type);
    return v;
}

static struct json *formatted(const char *format)
{
    struct json *v = typed("string");
    json_set_string(v, "format", format);
    return v;
}

/* Bytes are no characters: a text of so many bytes has at most so many of them. */
static void set_bounds(struct json *v, const struct shape_field *f, const char *least,
                       const char *most)
{
    if (least && f->least != 0)
        json_set_number(v, least, f->least);
    if (f->most != 0)
        json_set_number(v, most, f->most);
}

static struct json *array_of(const struct shape_field *f, struct json *items)
{
    struct json *v = typed("array");
    json_set(v, "items", items);
    set_bounds(v, f, "minItems", "maxItems");
    return v;
}

static struct json *number_schema(const struct shape_field *f)
{
    struct json *v = typed(f->type == SHAPE_NUMBER ? "number" : "integer");
    json_set_number(v, "minimum", f->least);
    if (f->most != 0)
        json_set_number(v, "maximum", f->most);
    return v;
}

static struct json *string_schema(const struct shape_field *f)
{
    struct json *v = typed("string");
    if (f->least > 0)
        json_set_int(v, "minLength", 1);
    set_bounds(v, f, NULL, "maxLength");
    return v;
}

static struct json *words_schema(const struct shape_names *names)
{
    struct json *v = typed("string"), *words = json_new_array();
    for (int i = 0; i < names->count; i++)
        if (names->words[i])
            json_push(words, json_new_string(names->words[i]));
    json_set(v, "enum", words);
    return v;
}

static struct json *value_schema(const struct shape_field *f)
{
    switch (f->type) {
    case SHAPE_STRING:
        return string_schema(f);
    case SHAPE_JSON:
        return json_new_object();
    case SHAPE_WORDS:
    case SHAPE_STRINGS:
        return array_of(f, typed("string"));
    case SHAPE_UUID:
        return formatted("uuid");
    case SHAPE_INTEGER:
    case SHAPE_COUNT:
    case SHAPE_NUMBER:
        return number_schema(f);
    case SHAPE_BOOLEAN:
        return typed("boolean");
    case SHAPE_TIME:
        return formatted("date-time");
    case SHAPE_ENUM:
        return words_schema(f->names);
    case SHAPE_OBJECT:
        return shape_schema(f->of);
    case SHAPE_LIST:
        return array_of(f, shape_schema(f->of));
    case SHAPE_OWN:
        break;
    }
    return json_parse(f->codec->schema, strlen(f->codec->schema), NULL);
}

struct json *shape_schema(const struct shape *s)
{
    struct json *v = typed("object"), *members = json_new_object(), *needed = json_new_array();
    for (const struct shape_field *f = s->fields; f->name; f++) {
        struct json *value = value_schema(f);
        json_set_string(value, "description", f->help);
        json_set(members, f->name, value);
        if (f->presence == SHAPE_REQUIRED)
            json_push(needed, json_new_string(f->name));
    }
    json_set_string(v, "title", s->name);
    json_set(v, "properties", members);
    if (json_len(needed) > 0)
        json_set(v, "required", needed);
    else
        json_free(needed);
    if (s->closed)
        json_set_bool(v, "additionalProperties", false);
    return v;
}
