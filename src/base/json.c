#include "base/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

/* A struct json is a cJSON under another name, so that nobody else sees cJSON. */
struct json {
    cJSON c;
};

static void *alloc_or_die(size_t size)
{
    return mem_resize(NULL, size);
}

__attribute__((constructor)) static void set_hooks(void)
{
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = alloc_or_die, .free_fn = free});
}

struct json *json_parse(const char *text, size_t len, struct error *e)
{
    const char *end = text;
    cJSON *root = cJSON_ParseWithLengthOpts(text, len, &end, false);
    size_t at = end ? (size_t)(end - text) : 0;
    while (root && at < len && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    if (root && at == len)
        return (struct json *)root;
    cJSON_Delete(root);
    err_set(e, ERR_AGENT_ERROR, "not valid JSON near byte %zu of %zu", at, len);
    return NULL;
}

struct json *json_parse_foreign(const char *text, size_t len, struct error *e)
{
    if (json_has_at_most(text, len, JSON_FOREIGN_VALUES))
        return json_parse(text, len, e);
    err_set(e, ERR_AGENT_ERROR, "the JSON has more than %d values", JSON_FOREIGN_VALUES);
    return NULL;
}

bool json_has_at_most(const char *text, size_t len, size_t max)
{
    const char *end = text + len;
    size_t values = 1;
    if (len < max) /* at most one a byte, and one */
        return true;
    for (const char *at = text; at < end && values <= max; at++) {
        /* Each value but the first follows one of these. */
        values += *at == ',' || *at == '[' || *at == '{';
        if (*at == '"')
            for (at++; at < end && *at != '"'; at++)
                at += *at == '\\';
    }
    return values <= max;
}

/* The code unit of the escape "\uXXXX" at `s`; 0 if none begins there. */
static unsigned escaped_unit(const char *s, const char *end)
{
    unsigned n = 0;
    if (end - s < 6 || s[0] != '\\' || s[1] != 'u')
        return 0;
    for (int i = 2; i < 6; i++) {
        if (!isxdigit((unsigned char)s[i]))
            return 0;
        n = n << 4 | (unsigned)(s[i] <= '9' ? s[i] - '0' : (s[i] & 7) + 9);
    }
    return n;
}

/* The next escape of half a surrogate pair; `len`: there is none. */
static size_t find_half_pair(const char *text, size_t len, size_t from)
{
    enum { HIGH = 0xD800, LOW = 0xDC00, KIND = 0xFC00 };
    const char *at = text + from, *end = text + len;
    while ((at = memchr(at, '\\', (size_t)(end - at))) && end - at >= 2) {
        unsigned unit = escaped_unit(at, end), kind = unit & KIND;
        bool pair = kind == HIGH && (escaped_unit(at + 6, end) & KIND) == LOW;
        if (!pair && (kind == HIGH || kind == LOW))
            return (size_t)(at - text);
        at += pair ? 12 : unit > 0 ? 6 : 2;
    }
    return len;
}

char *json_repair_surrogates(const char *text, size_t len)
{
    size_t at = find_half_pair(text, len, 0);
    if (at == len)
        return NULL;
    char *copy = mem_strndup(text, len);
    for (; at < len; at = find_half_pair(copy, len, at + 6))
        memcpy(copy + at + 2, "fffd", 4);
    return copy;
}

const char *json_find_nul(const char *text, size_t len)
{
    static const char escaped[] = "\\u0000";
    const char *end = text + len;
    const char *nul = memchr(text, '\0', len);
    for (const char *at = text; (at = memchr(at, '\\', (size_t)(end - at))); at += 2) {
        if (end - at < (ptrdiff_t)strlen(escaped))
            break;
        if (memcmp(at, escaped, strlen(escaped)) == 0)
            return nul && nul < at ? nul : at;
    }
    return nul;
}

void json_free(struct json *root)
{
    cJSON_Delete((cJSON *)root);
}

struct json *json_new_object(void)
{
    return (struct json *)cJSON_CreateObject();
}

struct json *json_new_array(void)
{
    return (struct json *)cJSON_CreateArray();
}

struct json *json_new_string(const char *s)
{
    return (struct json *)(s ? cJSON_CreateString(s) : cJSON_CreateNull());
}

struct json *json_clone(const struct json *v)
{
    return (struct json *)cJSON_Duplicate((const cJSON *)v, true);
}

/* A raw value is an integer that cJSON would print with an exponent (json_set_int()). */
enum json_type json_type(const struct json *v)
{
    switch (v ? v->c.type & 0xff : cJSON_NULL) {
    case cJSON_False:
    case cJSON_True:
        return JSON_BOOL;
    case cJSON_Number:
    case cJSON_Raw:
        return JSON_NUMBER;
    case cJSON_String:
        return JSON_STRING;
    case cJSON_Array:
        return JSON_ARRAY;
    case cJSON_Object:
        return JSON_OBJECT;
    default:
        return JSON_NULL;
    }
}

const struct json *json_get(const struct json *object, const char *name)
{
    return json_type(object) != JSON_OBJECT
               ? NULL
               : (const struct json *)cJSON_GetObjectItemCaseSensitive(&object->c, name);
}

const struct json *json_at(const struct json *array, size_t index)
{
    const struct json *v = json_type(array) == JSON_ARRAY ? json_first(array) : NULL;
    while (v && index--)
        v = json_next(v);
    return v;
}

size_t json_len(const struct json *array_or_object)
{
    size_t len = 0;
    for (const struct json *v = json_first(array_or_object); v; v = json_next(v))
        len++;
    return len;
}

const struct json *json_first(const struct json *array_or_object)
{
    enum json_type type = json_type(array_or_object);
    return type == JSON_ARRAY || type == JSON_OBJECT ? (const struct json *)array_or_object->c.child
                                                     : NULL;
}

const struct json *json_next(const struct json *v)
{
    return v ? (const struct json *)v->c.next : NULL;
}

const char *json_name(const struct json *member)
{
    return member ? member->c.string : NULL;
}

const char *json_string(const struct json *v)
{
    return json_type(v) == JSON_STRING ? v->c.valuestring : NULL;
}

double json_number(const struct json *v, double fallback)
{
    if (json_type(v) != JSON_NUMBER)
        return fallback;
    if (cJSON_IsRaw(&v->c))
        return strtod(v->c.valuestring, NULL);
    return v->c.valuedouble;
}

bool json_bool(const struct json *v, bool fallback)
{
    return json_type(v) == JSON_BOOL ? cJSON_IsTrue(&v->c) : fallback;
}

int64_t json_int(const struct json *v, int64_t fallback)
{
    double n = json_number(v, NAN);
    if (isnan(n))
        return fallback;
    if (n >= 0x1p63)
        return INT64_MAX;
    return n <= -0x1p63 ? INT64_MIN : (int64_t)n;
}

void json_set(struct json *object, const char *name, struct json *value)
{
    assert(json_type(object) == JSON_OBJECT && value);
    if (json_get(object, name))
        cJSON_ReplaceItemInObjectCaseSensitive(&object->c, name, &value->c);
    else
        cJSON_AddItemToObject(&object->c, name, &value->c);
}

void json_set_string(struct json *object, const char *name, const char *s)
{
    if (s)
        json_set(object, name, json_new_string(s));
}

void json_set_int(struct json *object, const char *name, int64_t n)
{
    const int64_t exact = 1000000000000000; /* from here on cJSON prints 1e+15 */
    if (n > -exact && n < exact) {
        json_set(object, name, (struct json *)cJSON_CreateNumber((double)n));
        return;
    }
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, n);
    json_set(object, name, (struct json *)cJSON_CreateRaw(digits));
}

void json_set_number(struct json *object, const char *name, double n)
{
    json_set(object, name, (struct json *)cJSON_CreateNumber(n));
}

void json_set_bool(struct json *object, const char *name, bool b)
{
    json_set(object, name, (struct json *)cJSON_CreateBool(b));
}

void json_push(struct json *array, struct json *value)
{
    assert(json_type(array) == JSON_ARRAY && value);
    cJSON_AddItemToArray(&array->c, &value->c);
}

size_t json_escape(uint32_t cp, char out[13])
{
    unsigned above = (unsigned)cp - 0x10000, high = 0xD800 | above >> 10, low = above & 0x3FF;
    if (cp < 0x10000)
        return (size_t)snprintf(out, 13, "\\u%04x", (unsigned)cp);
    return (size_t)snprintf(out, 13, "\\u%04x\\u%04x", high & 0xFFFF, low | 0xDC00);
}

char *json_print(const struct json *v)
{
    if (!v)
        return mem_strdup("null");
    struct buf out = BUF_INIT;
    char *text = cJSON_PrintUnformatted(&v->c);
    size_t len = strlen(text), done = 0;
    /* Hidden characters become escapes: outside of strings JSON is ASCII. */
    for (size_t at = 0, used = 1; at < len; at += used, used = 1) {
        uint32_t cp = 0;
        char escape[13];
        if ((unsigned char)text[at] >= 0x80)
            used = utf8_decode(text + at, len - at, &cp);
        if (!utf8_is_hidden(cp))
            continue;
        buf_add(&out, text + done, at - done);
        buf_add(&out, escape, json_escape(cp, escape));
        done = at + used;
    }
    if (done == 0)
        return text;
    buf_addstr(&out, text + done);
    free(text);
    return buf_take(&out);
}

size_t json_scan(struct json_scan *s, const char *bytes, size_t len)
{
    size_t at = 0;
    while (at < len && !s->ended) {
        char c = bytes[at];
        if (s->depth == 0 && !s->in_string && c && strchr(" \t\r\n,:]}", c)) {
            s->ended = true; /* of a number or a word */
            return at;
        }
        at++;
        if (s->escaped) {
            s->escaped = false;
        } else if (s->in_string) {
            s->escaped = c == '\\';
            s->in_string = c != '"';
            s->ended = c == '"' && s->depth == 0;
        } else {
            s->in_string = c == '"';
            s->depth += c == '[' || c == '{';
            if (c == ']' || c == '}')
                s->ended = --s->depth == 0;
        }
    }
    return at;
}
