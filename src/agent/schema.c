#include "agent/schema.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is_integer(const struct json *v)
{
    double n = json_number(v, 0.5);
    return json_type(v) == JSON_NUMBER && floor(n) == n;
}

static bool has_type(const struct json *v, const char *type)
{
    static const struct {
        const char *name;
        enum json_type type;
    } types[] = {{"string", JSON_STRING}, {"number", JSON_NUMBER}, {"boolean", JSON_BOOL},
                 {"object", JSON_OBJECT}, {"array", JSON_ARRAY},   {"null", JSON_NULL}};
    if (strcmp(type, "integer") == 0)
        return is_integer(v);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            return json_type(v) == types[i].type;
    return false;
}

static bool in_enum(const struct json *choices, const struct json *v)
{
    const char *s = json_string(v);
    for (const struct json *c = json_first(choices); c; c = json_next(c))
        if (s && json_string(c) && strcmp(json_string(c), s) == 0)
            return true;
    return false;
}

static bool check(const struct json *schema, const struct json *v, const char *path,
                  struct error *e);

static bool check_member(const struct json *schema, const struct json *v, const char *path,
                         const char *name, struct error *e)
{
    char *inner = mem_printf("%s%s%s", path, *path ? "." : "", name);
    bool ok = check(schema, v, inner, e);
    free(inner);
    return ok;
}

static bool check_object(const struct json *schema, const struct json *v, const char *path,
                         struct error *e)
{
    const struct json *properties = json_get(schema, "properties");
    const struct json *required = json_get(schema, "required");
    for (const struct json *r = json_first(required); r; r = json_next(r))
        if (!json_get(v, json_string(r)))
            return err_set(e, ERR_USAGE, "argument \"%s\" is missing", json_string(r));
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        const struct json *member = json_get(properties, json_name(m));
        if (!member)
            return err_set(e, ERR_USAGE, "unknown argument \"%s\"", json_name(m));
        if (!check_member(member, m, path, json_name(m), e))
            return false;
    }
    return true;
}

static bool check_items(const struct json *schema, const struct json *v, const char *path,
                        struct error *e)
{
    const struct json *items = json_get(schema, "items");
    if (!items)
        return true;
    for (const struct json *m = json_first(v); m; m = json_next(m))
        if (!check_member(items, m, path, "[]", e))
            return false;
    return true;
}

static bool check_bounds(const struct json *schema, const struct json *v, const char *path,
                         struct error *e)
{
    double n = json_number(v, 0);
    double min = json_get_number(schema, "minimum", -DBL_MAX);
    double max = json_get_number(schema, "maximum", DBL_MAX);
    if (n < min)
        return err_set(e, ERR_USAGE, "argument \"%s\" must be at least %g", path, min);
    if (n > max)
        return err_set(e, ERR_USAGE, "argument \"%s\" must be at most %g", path, max);
    return true;
}

static bool check(const struct json *schema, const struct json *v, const char *path,
                  struct error *e)
{
    const char *type = json_get_string(schema, "type");
    if (type && !has_type(v, type)) {
        if (!*path)
            return err_set(e, ERR_USAGE, "the arguments must be one JSON %s", type);
        return err_set(e, ERR_USAGE, "argument \"%s\" must be of type %s", path, type);
    }
    const struct json *choices = json_get(schema, "enum");
    if (choices && !in_enum(choices, v))
        return err_set(e, ERR_USAGE, "argument \"%s\" is none of the values allowed", path);
    switch (json_type(v)) {
    case JSON_OBJECT:
        return check_object(schema, v, path, e);
    case JSON_ARRAY:
        return check_items(schema, v, path, e);
    case JSON_NUMBER:
        return check_bounds(schema, v, path, e);
    default:
        return true;
    }
}

bool schema_check(const struct json *schema, const struct json *value, struct error *e)
{
    return check(schema, value, "", e);
}
