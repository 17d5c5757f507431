#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rfc3339.h"
#include "base/shape_private.h"
#include "base/uuid.h"
#include "base/vec.h"

/* --- what is absent --------------------------------------------------------------------------- */

/* The nearest within the bounds; what is no number is the least. */
static double bounded(const struct shape_field *f, double n)
{
    if (!(n >= f->least))
        return f->least;
    return n <= most_of(f) ? n : most_of(f);
}

static double rounded(const struct shape_field *f, double n)
{
    if (f->type != SHAPE_NUMBER || f->decimals == 0)
        return n;
    double steps = pow(10, f->decimals);
    return isfinite(n) ? round(n * steps) / steps : 0;
}

static bool is_absent(const struct shape_field *f, const void *object)
{
    const char *at = (const char *)object + f->offset;
    if (f->there)
        return !f->there(object);
    if (is_text(f))
        return !get_text(at);
    if (is_list(f))
        return get_list(at).len == 0;
    if (is_number(f)) {
        double n = rounded(f, get_number(f, at));
        return n < f->least || n == (double)f->absent;
    }
    switch (f->type) {
    case SHAPE_UUID:
        return !*at;
    case SHAPE_BOOLEAN:
        return !*(const bool *)(const void *)at;
    case SHAPE_TIME:
        return *(const int64_t *)(const void *)at == f->absent;
    case SHAPE_ENUM:
        return get_int(at) == f->absent;
    case SHAPE_OBJECT:
        return f->of->known && !f->of->known(at);
    default:
        return false;
    }
}

/* --- lifecycle -------------------------------------------------------------------------------- */

static void make_absent(const struct shape_field *f, void *object)
{
    char *at = (char *)object + f->offset;
    if (is_text(f))
        put_text(at, NULL);
    else if (is_list(f))
        put_list(at, (struct list){0});
    else if (is_number(f) || f->type == SHAPE_TIME)
        put_number(f, at, f->absent);
    else if (f->type == SHAPE_UUID)
        *at = '\0';
    else if (f->type == SHAPE_BOOLEAN)
        *(bool *)(void *)at = false;
    else if (f->type == SHAPE_ENUM)
        put_int(at, f->absent);
    else if (f->type == SHAPE_OBJECT)
        shape_init(f->of, at);
}

void shape_init(const struct shape *s, void *object)
{
    for (const struct shape_field *f = s->fields; f->name; f++)
        make_absent(f, object);
}

static void release_list(const struct shape_field *f, struct list list)
{
    for (size_t i = 0; i < list.len; i++) {
        char *element = list.items + i * element_size(f);
        if (f->type == SHAPE_LIST)
            shape_release(f->of, element);
        else
            free(get_text(element));
    }
    free(list.items);
}

static void release_field(const struct shape_field *f, void *object)
{
    char *at = (char *)object + f->offset;
    if (is_text(f))
        free(get_text(at));
    else if (is_list(f))
        release_list(f, get_list(at));
    else if (f->type == SHAPE_OBJECT)
        shape_release(f->of, at);
    else if (f->type == SHAPE_OWN && f->codec->release)
        f->codec->release(at);
}

void shape_release(const struct shape *s, void *object)
{
    for (const struct shape_field *f = s->fields; f->name; f++)
        release_field(f, object);
    shape_init(s, object);
}

static size_t plain_size(const struct shape_field *f)
{
    switch (f->type) {
    case SHAPE_UUID:
        return UUID_LEN + 1;
    case SHAPE_NUMBER:
        return sizeof(double);
    case SHAPE_BOOLEAN:
        return sizeof(bool);
    case SHAPE_COUNT:
    case SHAPE_ENUM:
        return sizeof(int);
    default:
        return sizeof(int64_t);
    }
}

static struct list copy_list(const struct shape_field *f, struct list from)
{
    size_t size = element_size(f);
    struct list to = {.len = from.len};
    to.items = vec_reserve_(NULL, &to.cap, from.len, size);
    for (size_t i = 0; i < from.len; i++) {
        char *element = to.items + i * size;
        if (f->type == SHAPE_LIST) {
            memset(element, 0, size);
            shape_copy(f->of, element, from.items + i * size);
        } else {
            put_text(element, mem_strdup(get_text(from.items + i * size)));
        }
    }
    return to;
}

void shape_copy(const struct shape *s, void *to, const void *from)
{
    for (const struct shape_field *f = s->fields; f->name; f++) {
        char *there = (char *)to + f->offset;
        const char *at = (const char *)from + f->offset;
        if (is_text(f))
            put_text(there, mem_strdup(get_text(at)));
        else if (is_list(f))
            put_list(there, copy_list(f, get_list(at)));
        else if (f->type == SHAPE_OBJECT)
            shape_copy(f->of, there, at);
        else if (f->type != SHAPE_OWN)
            memcpy(there, at, plain_size(f));
    }
}

/* --- texts that should be JSON ---------------------------------------------------------------- */

/* Far below the parser's own limit: the payload nests it deeper. */
#define DEPTH_MAX 100

/* Digits that a double keeps. */
#define DIGITS_MAX 15

/* The text behind the string whose opening quote this is. */
static const char *skip_string(const char *s)
{
    for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : s;
}

/* Whether numbers and nesting of a JSON text survive the parser. */
static bool survives(const char *s)
{
    int depth = 0;
    if (strstr(s, "\\u0000"))
        return false; /* a string would end there */
    while (*s) {
        size_t digits = strspn(s, "-+.0123456789");
        if (digits > DIGITS_MAX || (digits > 0 && strchr("eE", s[digits]) && s[digits]))
            return false;
        depth += *s == '[' || *s == '{';
        depth -= *s == ']' || *s == '}';
        if (depth > DEPTH_MAX)
            return false;
        s = *s == '"' ? skip_string(s) : s + (digits > 0 ? digits : 1);
    }
    return true;
}

/* NULL when the text must be kept as it is. A JSON string must, too: reading could not tell it
 * from a text. */
static char *as_value(const char *text)
{
    if (!survives(text))
        return NULL;
    struct json *v = json_parse_foreign(text, strlen(text), NULL);
    char *compact = v && json_type(v) != JSON_STRING ? json_print(v) : NULL;
    json_free(v);
    return compact;
}

/* The text's value if the text is JSON that survives being read and written again, else the text as
 * a string. */
static void write_json(struct json_out *o, const char *text)
{
    char *compact = as_value(text);
    if (compact)
        json_out_raw(o, compact);
    else
        json_out_string(o, text);
    free(compact);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_words(struct json_out *o, const char *words)
{
    json_out_open(o, '[');
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        char *word = mem_strndup(at, strcspn(at, " "));
        json_out_string(o, word);
        at += strlen(word);
        free(word);
    }
    json_out_close(o, ']');
}

static void write_list(struct json_out *o, const struct shape_field *f, struct list list)
{
    json_out_open(o, '[');
    for (size_t i = 0; i < list.len; i++) {
        const char *element = list.items + i * element_size(f);
        if (f->type == SHAPE_LIST)
            shape_write(f->of, element, o);
        else
            json_out_string(o, get_text(element));
    }
    json_out_close(o, ']');
}

static void write_time(struct json_out *o, int64_t ms)
{
    char text[25];
    rfc3339_format(ms, text);
    json_out_string(o, text);
}

static void write_word(struct json_out *o, const struct shape_names *names, int value)
{
    bool known = value >= 0 && value < names->count && names->words[value];
    json_out_string(o, known ? names->words[value] : "");
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void write_value(struct json_out *o, const struct shape_field *f, const void *object)
{
    const char *at = (const char *)object + f->offset;
    switch (f->type) {
    case SHAPE_STRING:
        json_out_string(o, or_empty(get_text(at)));
        break;
    case SHAPE_JSON:
        write_json(o, or_empty(get_text(at)));
        break;
    case SHAPE_UUID:
        json_out_string(o, at);
        break;
    case SHAPE_WORDS:
        write_words(o, get_text(at));
        break;
    case SHAPE_STRINGS:
    case SHAPE_LIST:
        write_list(o, f, get_list(at));
        break;
    case SHAPE_INTEGER:
    case SHAPE_COUNT:
        json_out_number(o, (int64_t)bounded(f, get_number(f, at)));
        break;
    case SHAPE_NUMBER:
        json_out_real_number(o, rounded(f, bounded(f, get_number(f, at))));
        break;
    case SHAPE_BOOLEAN:
        json_out_raw(o, *(const bool *)(const void *)at ? "true" : "false");
        break;
    case SHAPE_TIME:
        write_time(o, *(const int64_t *)(const void *)at);
        break;
    case SHAPE_ENUM:
        write_word(o, f->names, get_int(at));
        break;
    case SHAPE_OBJECT:
        shape_write(f->of, at, o);
        break;
    case SHAPE_OWN:
        f->codec->write(o, at);
        break;
    }
}

void shape_write_members(const struct shape *s, const void *object, struct json_out *o)
{
    for (const struct shape_field *f = s->fields; f->name; f++) {
        if (f->presence == SHAPE_OPTIONAL && is_absent(f, object))
            continue;
        json_out_name(o, f->name);
        write_value(o, f, object);
    }
}

void shape_write(const struct shape *s, const void *object, struct json_out *o)
{
    json_out_open(o, '{');
    shape_write_members(s, object, o);
    json_out_close(o, '}');
}

struct json *shape_to_json(const struct shape *s, const void *object)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(s, object, &o);
    return json_out_tree(&text);
}

void shape_write_value(const struct shape *s, const char *name, const void *object,
                       struct json_out *o)
{
    const struct shape_field *f = find_field(s, name);
    assert(f);
    write_value(o, f, object);
}

struct json *shape_value_to_json(const struct shape *s, const char *name, const void *object)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write_value(s, name, object, &o);
    return json_out_tree(&text);
}
