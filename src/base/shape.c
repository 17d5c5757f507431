#include "base/shape.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

/* --- how values stand in a struct ------------------------------------------------------------- */

/* Every whole number up to the first is exact as a double; a number up to the second reads back
 * from 15 digits. */
#define SHAPE_WHOLE_MAX 9007199254740992.0
#define SHAPE_NUMBER_MAX 1e18

/* A VEC() of any elements. */
struct list {
    char *items;
    size_t len, cap;
};

/* How a member of each type is stored. */
enum storage { OTHER, TEXT, LIST, NUMBER };
static const enum storage storage[] = {
    [SHAPE_STRING] = TEXT,  [SHAPE_JSON] = TEXT,     [SHAPE_WORDS] = TEXT,
    [SHAPE_STRINGS] = LIST, [SHAPE_LIST] = LIST,     [SHAPE_INTEGER] = NUMBER,
    [SHAPE_COUNT] = NUMBER, [SHAPE_NUMBER] = NUMBER, [SHAPE_OWN] = OTHER,
};

/* By memcpy(): a text may be declared const, a VEC() has a type of its own, an enumeration may be
 * unsigned. */

#define ACCESS(kind, T)                                                                            \
    static T get_##kind(const void *at)                                                            \
    {                                                                                              \
        T value;                                                                                   \
        memcpy(&value, at, sizeof value);                                                          \
        return value;                                                                              \
    }                                                                                              \
    static void put_##kind(void *at, T value)                                                      \
    {                                                                                              \
        memcpy(at, &value, sizeof value);                                                          \
    }
ACCESS(text, char *)
ACCESS(list, struct list)
ACCESS(int, int)

static double get_number(const struct shape_field *f, const void *at)
{
    if (f->type == SHAPE_COUNT)
        return get_int(at);
    return f->type == SHAPE_NUMBER ? *(const double *)at : (double)*(const int64_t *)at;
}

static void put_number(const struct shape_field *f, void *at, double n)
{
    if (f->type == SHAPE_COUNT)
        put_int(at, (int)n);
    else if (f->type == SHAPE_NUMBER)
        *(double *)at = n;
    else
        *(int64_t *)at = (int64_t)n;
}

static double most_of(const struct shape_field *f)
{
    double held = f->type == SHAPE_COUNT    ? INT_MAX
                  : f->type == SHAPE_NUMBER ? SHAPE_NUMBER_MAX
                                            : SHAPE_WHOLE_MAX;
    return f->most != 0 || f->least < 0 ? f->most : held;
}

static size_t element_size(const struct shape_field *f)
{
    return f->type == SHAPE_LIST ? f->of->size : sizeof(char *);
}

static const struct shape_field *find_field(const struct shape *s, const char *name)
{
    const struct shape_field *f = s->fields;
    while (f->name && strcmp(f->name, name) != 0 && !(f->also && strcmp(f->also, name) == 0))
        f++;
    return f->name ? f : NULL;
}

/* The nearest number within the bounds; the least for NaN. */
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
    if (storage[f->type] == TEXT)
        return !get_text(at);
    if (storage[f->type] == LIST)
        return get_list(at).len == 0;
    if (storage[f->type] == NUMBER) {
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

void shape_init(const struct shape *s, void *object)
{
    for (const struct shape_field *f = s->fields; f->name; f++) {
        char *at = (char *)object + f->offset;
        if (storage[f->type] == TEXT)
            put_text(at, NULL);
        else if (storage[f->type] == LIST)
            put_list(at, (struct list){0});
        else if (storage[f->type] == NUMBER || f->type == SHAPE_TIME)
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
}

void shape_release(const struct shape *s, void *object)
{
    for (const struct shape_field *f = s->fields; f->name; f++) {
        char *at = (char *)object + f->offset;
        if (storage[f->type] == TEXT) {
            free(get_text(at));
        } else if (storage[f->type] == LIST) {
            struct list list = get_list(at);
            for (size_t i = 0; i < list.len; i++) {
                char *element = list.items + i * element_size(f);
                if (f->type == SHAPE_LIST)
                    shape_release(f->of, element);
                else
                    free(get_text(element));
            }
            free(list.items);
        } else if (f->type == SHAPE_OBJECT) {
            shape_release(f->of, at);
        } else if (f->type == SHAPE_OWN && f->codec->release) {
            f->codec->release(at);
        }
    }
    shape_init(s, object);
}

void shape_copy(const struct shape *s, void *to, const void *from)
{
    static const size_t sizes[] = {
        [SHAPE_UUID] = UUID_LEN + 1,    [SHAPE_INTEGER] = sizeof(int64_t),
        [SHAPE_COUNT] = sizeof(int),    [SHAPE_NUMBER] = sizeof(double),
        [SHAPE_BOOLEAN] = sizeof(bool), [SHAPE_TIME] = sizeof(int64_t),
        [SHAPE_ENUM] = sizeof(int),
    };
    for (const struct shape_field *f = s->fields; f->name; f++) {
        char *there = (char *)to + f->offset;
        const char *at = (const char *)from + f->offset;
        if (storage[f->type] == TEXT) {
            put_text(there, mem_strdup(get_text(at)));
        } else if (storage[f->type] == LIST) {
            size_t size = element_size(f);
            struct list from_list = get_list(at), list = {.len = from_list.len};
            list.items = vec_reserve_(NULL, &list.cap, list.len, size);
            for (size_t i = 0; i < list.len; i++) {
                char *element = list.items + i * size, *original = from_list.items + i * size;
                memset(element, 0, size);
                if (f->type == SHAPE_LIST)
                    shape_copy(f->of, element, original);
                else
                    put_text(element, mem_strdup(get_text(original)));
            }
            put_list(there, list);
        } else if (f->type == SHAPE_OBJECT) {
            shape_copy(f->of, there, at);
        } else if (f->type != SHAPE_OWN) {
            memcpy(there, at, sizes[f->type]);
        }
    }
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Whether numbers and nesting of a JSON text survive the parser. */
static bool survives(const char *s)
{
    enum {
        DEPTH_MAX = 100, /* far below the parser's limit: the payload nests it deeper */
        DIGITS_MAX = 15  /* that a double keeps */
    };
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
        if (*s == '"') {
            for (s++; *s && *s != '"'; s++)
                s += *s == '\\' && s[1];
            s += *s == '"';
        } else {
            s += digits > 0 ? digits : 1;
        }
    }
    return true;
}

/* Writes the value of a text that is JSON and survives being read and written again, else the text
 * as a string. So is a JSON string: reading could not tell it from a text. */
static void write_json(struct json_out *o, const char *text)
{
    AUTO(json_free_local)
    struct json *v = survives(text) ? json_parse_foreign(text, strlen(text), NULL) : NULL;
    auto_free char *compact = v && json_type(v) != JSON_STRING ? json_print(v) : NULL;
    if (compact)
        json_out_raw(o, compact);
    else
        json_out_string(o, text);
}

static void write_words(struct json_out *o, const char *words)
{
    json_out_open(o, '[');
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        auto_free char *word = mem_strndup(at, strcspn(at, " "));
        json_out_string(o, word);
        at += strlen(word);
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

static void write_value(struct json_out *o, const struct shape_field *f, const void *object)
{
    const char *at = (const char *)object + f->offset;
    const char *text = storage[f->type] == TEXT && get_text(at) ? get_text(at) : "";
    switch (f->type) {
    case SHAPE_STRING:
        json_out_string(o, text);
        break;
    case SHAPE_JSON:
        write_json(o, text);
        break;
    case SHAPE_UUID:
        json_out_string(o, at);
        break;
    case SHAPE_WORDS:
        write_words(o, text);
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
    case SHAPE_TIME: {
        char time[25];
        rfc3339_format(*(const int64_t *)(const void *)at, time);
        json_out_string(o, time);
        break;
    }
    case SHAPE_ENUM: {
        int value = get_int(at);
        bool known = value >= 0 && value < f->names->count && f->names->words[value];
        json_out_string(o, known ? f->names->words[value] : "");
        break;
    }
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

void shape_write_value(const struct shape *s, const char *name, const void *object,
                       struct json_out *o)
{
    const struct shape_field *f = find_field(s, name);
    assert(f);
    write_value(o, f, object);
}

int64_t shape_bytes(const struct shape *s, const void *object)
{
    struct json_out o = {0};
    shape_write(s, object, &o);
    return o.len;
}

struct json *shape_to_json(const struct shape *s, const void *object)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(s, object, &o);
    return json_out_tree(&text);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Where a value is, for the text of an error. */
struct place {
    const struct place *above;
    const char *name; /* NULL: an element */
    size_t index;
};

static void add_place(struct buf *out, const struct place *p)
{
    if (p->above)
        add_place(out, p->above);
    if (!p->name)
        buf_addf(out, "[%zu]", p->index);
    else
        buf_addf(out, "%s%s", p->above ? "." : "", p->name);
}

static bool misfit(const struct place *p, const struct shape_field *f, const char *what,
                   struct error *e)
{
    AUTO(buf_release) struct buf where = BUF_INIT, expected = BUF_INIT;
    add_place(&where, p);
    shape_add_expected(f, &expected);
    return err_set(e, ERR_USAGE, "\"%s\" %s; give %s%s", where.data, what, expected.data,
                   f->presence == SHAPE_REQUIRED ? "" : ", or leave it out");
}

static bool within(const struct shape_field *f, size_t n)
{
    return (double)n >= f->least && (f->most == 0 || (double)n <= f->most);
}

static bool read_words(const struct json *v, void *at)
{
    AUTO(buf_release) struct buf words = BUF_INIT;
    bool ok = json_type(v) == JSON_ARRAY;
    for (const struct json *item = json_first(v); item && ok; item = json_next(item)) {
        const char *word = json_string(item);
        ok = word && *word && !word[strcspn(word, " \t\r\n\v\f")];
        if (ok)
            buf_addf(&words, "%s%s", words.len > 0 ? " " : "", word);
    }
    if (ok && words.len > 0)
        put_text(at, buf_take(&words));
    return ok;
}

static bool read_number(const struct shape_field *f, const struct json *v, void *at)
{
    double n = json_number(v, NAN);
    bool whole = f->type == SHAPE_NUMBER || n == floor(n);
    if (n > most_of(f) && f->nearest)
        n = most_of(f);
    if (!(n >= f->least) || !(n <= most_of(f)) || !isfinite(n) || !whole)
        return false;
    put_number(f, at, n);
    return true;
}

static bool read_word(const struct shape_names *names, const struct json *v, void *at)
{
    const char *word = json_string(v);
    int value = 0;
    while (word && value < names->count &&
           !(names->words[value] && strcmp(names->words[value], word) == 0))
        value++;
    if (value == names->count)
        value = names->other;
    put_int(at, value);
    return word && value >= 0;
}

static bool read_object(const struct shape *s, const struct json *v, const struct place *above,
                        void *object, struct error *e);

static bool read_list(const struct shape_field *f, const struct json *v, const struct place *p,
                      void *at, struct error *e)
{
    size_t size = element_size(f), len = json_len(v);
    struct list list = {0};
    if (json_type(v) != JSON_ARRAY || !within(f, len))
        return misfit(p, f, "does not fit", e);
    list.items = vec_reserve_(NULL, &list.cap, len, size);
    bool ok = true;
    for (const struct json *item = json_first(v); item && ok; item = json_next(item)) {
        const struct place here = {p, NULL, list.len};
        char *element = list.items + list.len++ * size;
        memset(element, 0, size);
        if (f->type == SHAPE_LIST) {
            ok = json_type(item) == JSON_OBJECT ? read_object(f->of, item, &here, element, e)
                                                : misfit(&here, f, "is no object", e);
        } else {
            put_text(element, mem_strdup(json_string(item)));
            ok = get_text(element) || misfit(&here, f, "is no string", e);
        }
    }
    put_list(at, list);
    return ok;
}

static bool read_member(const struct shape_field *f, const struct json *v, const struct place *p,
                        void *object, struct error *e)
{
    char *at = (char *)object + f->offset;
    const char *text = json_string(v);
    bool null = json_type(v) == JSON_NULL && f->type != SHAPE_JSON, fits = false;
    if (!v || (null && f->presence != SHAPE_REQUIRED))
        return f->presence != SHAPE_REQUIRED || misfit(p, f, "is missing", e);
    switch (f->type) {
    case SHAPE_STRINGS:
    case SHAPE_LIST:
        return read_list(f, v, p, at, e);
    case SHAPE_OBJECT:
        if (json_type(v) == JSON_OBJECT)
            return read_object(f->of, v, p, at, e);
        break;
    case SHAPE_INTEGER:
    case SHAPE_COUNT:
    case SHAPE_NUMBER:
        fits = read_number(f, v, at);
        break;
    case SHAPE_STRING:
    case SHAPE_JSON:
        put_text(at, text || f->type != SHAPE_JSON ? mem_strdup(text) : json_print(v));
        fits = get_text(at) && within(f, strlen(get_text(at)));
        break;
    case SHAPE_WORDS:
        fits = read_words(v, at);
        break;
    case SHAPE_UUID:
        fits = text && uuid_valid(text);
        if (fits)
            memcpy(at, text, UUID_LEN + 1);
        break;
    case SHAPE_BOOLEAN:
        *(bool *)(void *)at = json_bool(v, false);
        fits = json_type(v) == JSON_BOOL;
        break;
    case SHAPE_TIME:
        fits = text && rfc3339_parse(text, (int64_t *)(void *)at);
        break;
    case SHAPE_ENUM:
        fits = read_word(f->names, v, at);
        break;
    case SHAPE_OWN:
        fits = f->codec->read && f->codec->read(v, at);
        break;
    }
    return fits || misfit(p, f, "does not fit", e);
}

static bool read_object(const struct shape *s, const struct json *v, const struct place *above,
                        void *object, struct error *e)
{
    enum { SHOWN_BYTES = 60 }; /* of a foreign name */
    shape_init(s, object);
    for (const struct json *m = json_first(v); m && s->closed; m = json_next(m)) {
        const char *name = json_name(m);
        bool known = find_field(s, name);
        if (known && json_get(v, name) == m)
            continue;
        AUTO(buf_release) struct buf where = BUF_INIT;
        auto_free char *shown = mem_strndup(name, utf8_cut_bytes(name, strlen(name), SHOWN_BYTES));
        add_place(&where, &(struct place){above, shown, 0});
        return err_set(e, ERR_USAGE, "\"%s\" %s", where.data,
                       known ? "is there twice; give it once" : "is unknown here; leave it out");
    }
    bool ok = true;
    for (const struct shape_field *f = s->fields; f->name && ok; f++) {
        const struct place here = {above, f->name, 0};
        const struct json *member = json_get(v, f->name);
        ok = read_member(f, member || !f->also ? member : json_get(v, f->also), &here, object, e);
    }
    return ok;
}

bool shape_read(const struct shape *s, const struct json *v, void *object, struct error *e)
{
    if (json_type(v) != JSON_OBJECT) {
        shape_init(s, object);
        return err_set(e, ERR_USAGE, "it is no JSON object; give one");
    }
    if (read_object(s, v, NULL, object, e))
        return true;
    shape_release(s, object);
    return false;
}

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

void shape_add_expected(const struct shape_field *f, struct buf *out)
{
    static const char *const nouns[] = {
        [SHAPE_STRING] = "a string",
        [SHAPE_JSON] = "any value",
        [SHAPE_WORDS] = "a list of words",
        [SHAPE_STRINGS] = "a list of strings",
        [SHAPE_UUID] = "an id like \"01890a5d-ac96-774b-bcce-b302099a8057\"",
        [SHAPE_INTEGER] = "a whole number",
        [SHAPE_COUNT] = "a whole number",
        [SHAPE_NUMBER] = "a number",
        [SHAPE_BOOLEAN] = "true or false",
        [SHAPE_TIME] = "a time like \"2026-03-09T14:05:07Z\"",
        [SHAPE_ENUM] = "",
        [SHAPE_OBJECT] = "an object",
        [SHAPE_LIST] = "a list of objects",
        [SHAPE_OWN] = "",
    };
    buf_addstr(out, nouns[f->type]);
    if (f->type == SHAPE_ENUM)
        add_words(out, f->names);
    if (f->type == SHAPE_OWN)
        buf_addstr(out, f->codec->expected);
    if (storage[f->type] == NUMBER)
        buf_addf(out, " from %.15g", f->least);
    if (storage[f->type] == NUMBER && f->most != 0)
        buf_addf(out, " to %.15g", f->most);
    if ((f->type == SHAPE_STRING || f->type == SHAPE_STRINGS) && f->least > 0)
        buf_addstr(out, " that is not empty");
    if ((f->type == SHAPE_STRING || storage[f->type] == LIST) && f->most != 0)
        buf_addf(out, " of at most %.15g %s", f->most,
                 storage[f->type] == LIST ? "elements" : "bytes");
}

/* --- as JSON Schema --------------------------------------------------------------------------- */

static struct json *with_bounds(struct json *v, const struct shape_field *f, const char *least,
                                const char *most)
{
    if (least && (f->least != 0 || storage[f->type] == NUMBER))
        json_set_number(v, least, f->least);
    if (f->most != 0)
        json_set_number(v, most, f->most);
    return v;
}

static struct json *value_schema(const struct shape_field *f)
{
    struct json *v;
    switch (f->type) {
    case SHAPE_STRING:
        v = json_pack("{type:'string'}");
        if (f->least > 0)
            json_set_int(v, "minLength", 1);
        /* A text of so many bytes has at most so many characters. */
        return with_bounds(v, f, NULL, "maxLength");
    case SHAPE_JSON:
        return json_new_object();
    case SHAPE_WORDS:
    case SHAPE_STRINGS:
        return with_bounds(json_pack("{type:'array' items:{type:'string'}}"), f, "minItems",
                           "maxItems");
    case SHAPE_UUID:
        return json_pack("{type:'string' format:'uuid'}");
    case SHAPE_INTEGER:
    case SHAPE_COUNT:
        return with_bounds(json_pack("{type:'integer'}"), f, "minimum", "maximum");
    case SHAPE_NUMBER:
        return with_bounds(json_pack("{type:'number'}"), f, "minimum", "maximum");
    case SHAPE_BOOLEAN:
        return json_pack("{type:'boolean'}");
    case SHAPE_TIME:
        return json_pack("{type:'string' format:'date-time'}");
    case SHAPE_ENUM:
        v = json_new_array();
        for (int i = 0; i < f->names->count; i++)
            if (f->names->words[i])
                json_push(v, json_new_string(f->names->words[i]));
        return json_pack("{type:'string' enum:o}", v);
    case SHAPE_OBJECT:
        return shape_schema(f->of);
    case SHAPE_LIST:
        return with_bounds(json_pack("{type:'array' items:o}", shape_schema(f->of)), f, "minItems",
                           "maxItems");
    case SHAPE_OWN:
        break;
    }
    return json_parse(f->codec->schema, strlen(f->codec->schema), NULL);
}

struct json *shape_schema(const struct shape *s)
{
    struct json *members = json_new_object(), *needed = json_new_array();
    for (const struct shape_field *f = s->fields; f->name; f++) {
        struct json *value = value_schema(f);
        json_set_string(value, "description", f->help);
        json_set(members, f->name, value);
        if (f->presence == SHAPE_REQUIRED)
            json_push(needed, json_new_string(f->name));
    }
    struct json *v = json_pack("{type:'object' title:s properties:o}", s->name, members);
    if (json_len(needed) > 0)
        json_set(v, "required", needed);
    else
        json_free(needed);
    if (s->closed)
        json_set_bool(v, "additionalProperties", false);
    return v;
}
