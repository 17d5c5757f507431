#include "tests/json_schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/utf8.h"

struct check {
    char path[256];
    struct buf *why;
};

static bool fault(const struct check *c, const char *what, const struct json *v)
{
    auto_free char *text = json_print(v);
    buf_addf(c->why, "%s: %s: %.200s", c->path, what, text);
    return false;
}

static bool check(const struct check *above, const char *name, const struct json *schema,
                  const struct json *v);

static bool is_type(const char *type, const struct json *v)
{
    static const struct {
        const char *name;
        enum json_type type;
    } types[] = {{"null", JSON_NULL},      {"boolean", JSON_BOOL},  {"number", JSON_NUMBER},
                 {"integer", JSON_NUMBER}, {"string", JSON_STRING}, {"array", JSON_ARRAY},
                 {"object", JSON_OBJECT}};
    bool whole = strcmp(type, "integer") != 0 || json_number(v, 0) == floor(json_number(v, 0));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            return json_type(v) == types[i].type && whole;
    return false;
}

static bool same(const struct json *a, const struct json *b)
{
    auto_free char *one = json_print(a), *other = json_print(b);
    return strcmp(one, other) == 0;
}

static size_t points(const char *s)
{
    size_t n = 0;
    uint32_t cp;
    for (size_t len = strlen(s); len > 0; n++) {
        size_t used = utf8_decode(s, len, &cp);
        s += used;
        len -= used;
    }
    return n;
}

/* Checks one keyword of a schema; keywords that depend on another one are checked elsewhere. */
static bool keyword(const struct check *c, const struct json *schema, const struct json *k,
                    const struct json *v);

static bool check_type(const struct check *c, const struct json *k, const struct json *v)
{
    if (json_type(k) == JSON_STRING)
        return is_type(json_string(k), v) || fault(c, json_string(k), v);
    for (const struct json *one = json_first(k); one; one = json_next(one))
        if (is_type(json_string(one), v))
            return true;
    return fault(c, "none of its types", v);
}

static bool check_enum(const struct check *c, const struct json *k, const struct json *v)
{
    for (const struct json *one = json_first(k); one; one = json_next(one))
        if (same(one, v))
            return true;
    return fault(c, "not in the enumeration", v);
}

static bool check_properties(const struct check *c, const struct json *k, const struct json *v)
{
    for (const struct json *m = json_first(k); m; m = json_next(m))
        if (json_get(v, json_name(m)) && !check(c, json_name(m), m, json_get(v, json_name(m))))
            return false;
    return true;
}

static bool check_required(const struct check *c, const struct json *k, const struct json *v)
{
    for (const struct json *name = json_first(k); name; name = json_next(name))
        if (json_type(v) == JSON_OBJECT && !json_get(v, json_string(name)))
            return fault(c, json_string(name), v);
    return true;
}

static bool check_items(const struct check *c, const struct json *k, const struct json *v)
{
    char name[32];
    size_t i = 0;
    for (const struct json *item = json_type(v) == JSON_ARRAY ? json_first(v) : NULL; item;
         item = json_next(item)) {
        snprintf(name, sizeof name, "%zu", i++);
        if (!check(c, name, k, item))
            return false;
    }
    return true;
}

static bool check_closed(const struct check *c, const struct json *schema, const struct json *k,
                         const struct json *v)
{
    for (const struct json *m = json_first(v); m && !json_bool(k, false); m = json_next(m))
        if (!json_get(json_get(schema, "properties"), json_name(m)))
            return fault(c, json_name(m), v);
    return true;
}

static bool check_format(const struct check *c, const struct json *k, const struct json *v)
{
    const char *s = json_string(v);
    int64_t ms;
    bool fits =
        strcmp(json_string(k), "uuid") == 0 ? s && uuid_valid(s) : s && rfc3339_parse_exact(s, &ms);
    return fits || fault(c, json_string(k), v);
}

static bool keyword(const struct check *c, const struct json *schema, const struct json *k,
                    const struct json *v)
{
    const char *name = json_name(k);
    double n = json_number(v, NAN), bound = json_number(k, 0);
    double len = json_type(v) == JSON_NUMBER
                     ? 0
                     : (double)(json_type(v) == JSON_STRING ? points(json_string(v)) : json_len(v));
#define IS(word) (strcmp(name, word) == 0)
    if (IS("type"))
        return check_type(c, k, v);
    if (IS("enum"))
        return check_enum(c, k, v);
    if (IS("const"))
        return same(k, v) || fault(c, "not the constant", v);
    if (IS("properties"))
        return check_properties(c, k, v);
    if (IS("required"))
        return check_required(c, k, v);
    if (IS("items"))
        return check_items(c, k, v);
    if (IS("additionalProperties"))
        return check_closed(c, schema, k, v);
    if (IS("format"))
        return check_format(c, k, v);
    if (IS("minimum"))
        return !(n < bound) || fault(c, name, v);
    if (IS("maximum"))
        return !(n > bound) || fault(c, name, v);
    if (IS("minLength") || IS("minItems"))
        return len >= bound || fault(c, name, v);
    if (IS("maxLength") || IS("maxItems"))
        return len <= bound || fault(c, name, v);
    return IS("title") || IS("description") || IS("default") || fault(c, name, schema);
#undef IS
}

static bool check(const struct check *above, const char *name, const struct json *schema,
                  const struct json *v)
{
    struct check c = {.why = above->why};
    snprintf(c.path, sizeof c.path, "%.120s/%.60s", above->path, name);
    for (const struct json *k = json_first(schema); k; k = json_next(k))
        if (!keyword(&c, schema, k, v))
            return false;
    bool open = json_get(schema, "properties") && !json_get(schema, "additionalProperties");
    return !open || json_type(v) != JSON_OBJECT || check_closed(&c, schema, NULL, v);
}

bool json_schema_check(const struct json *schema, const struct json *v, struct buf *why)
{
    return check(&(struct check){.why = why}, "", schema, v);
}
