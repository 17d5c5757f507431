#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rfc3339.h"
#include "base/shape_private.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "base/vec.h"

enum { SHOWN_BYTES = 60 }; /* of a foreign name */

/* Where a value stands in the whole, for the words of an error. */
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
    struct buf where = BUF_INIT, expected = BUF_INIT;
    add_place(&where, p);
    shape_add_expected(f, &expected);
    err_set(e, ERR_USAGE, "\"%s\" %s; give %s%s", where.data, what, expected.data,
            f->presence == SHAPE_REQUIRED ? "" : ", or leave it out");
    buf_release(&where);
    buf_release(&expected);
    return false;
}

static bool within(const struct shape_field *f, size_t n)
{
    return (double)n >= f->least && (f->most == 0 || (double)n <= f->most);
}

static bool read_text(const struct shape_field *f, const struct json *v, void *at)
{
    const char *string = json_string(v);
    char *text = string || f->type != SHAPE_JSON ? mem_strdup(string) : json_print(v);
    put_text(at, text);
    return text && within(f, strlen(text));
}

static bool read_words(const struct json *v, void *at)
{
    struct buf words = BUF_INIT;
    bool ok = json_type(v) == JSON_ARRAY;
    for (const struct json *item = json_first(v); item && ok; item = json_next(item)) {
        const char *word = json_string(item);
        ok = word && *word && !word[strcspn(word, " \t\r\n\v\f")];
        if (ok)
            buf_addf(&words, "%s%s", words.len > 0 ? " " : "", word);
    }
    if (ok && words.len > 0)
        put_text(at, buf_take(&words));
    buf_release(&words);
    return ok;
}

static bool read_uuid(const struct json *v, char *at)
{
    const char *text = json_string(v);
    if (!text || !uuid_valid(text))
        return false;
    memcpy(at, text, UUID_LEN + 1);
    return true;
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

static bool read_time(const struct json *v, void *at)
{
    const char *text = json_string(v);
    return text && rfc3339_parse(text, at);
}

static bool read_object(const struct shape *s, const struct json *v, const struct place *p,
                        void *object, struct error *e);

static bool read_element(const struct shape_field *f, const struct json *v, const struct place *p,
                         char *element, struct error *e)
{
    if (f->type == SHAPE_LIST)
        return json_type(v) == JSON_OBJECT ? read_object(f->of, v, p, element, e)
                                           : misfit(p, f, "is no object", e);
    put_text(element, mem_strdup(json_string(v)));
    return get_text(element) || misfit(p, f, "is no string", e);
}

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
        ok = read_element(f, item, &here, element, e);
    }
    put_list(at, list);
    return ok;
}

/* Those that need no more than the value; the others are read by read_member(). */
static bool read_plain(const struct shape_field *f, const struct json *v, void *object)
{
    char *at = (char *)object + f->offset;
    if (is_number(f))
        return read_number(f, v, at);
    switch (f->type) {
    case SHAPE_STRING:
    case SHAPE_JSON:
        return read_text(f, v, at);
    case SHAPE_WORDS:
        return read_words(v, at);
    case SHAPE_UUID:
        return read_uuid(v, at);
    case SHAPE_BOOLEAN:
        *(bool *)(void *)at = json_true(v);
        return json_type(v) == JSON_BOOL;
    case SHAPE_TIME:
        return read_time(v, at);
    case SHAPE_ENUM:
        return read_word(f->names, v, at);
    default:
        return f->codec && f->codec->read && f->codec->read(v, at);
    }
}

static bool read_member(const struct shape_field *f, const struct json *v, const struct place *p,
                        void *object, struct error *e)
{
    char *at = (char *)object + f->offset;
    bool null = json_type(v) == JSON_NULL && f->type != SHAPE_JSON;
    if (!v || (null && f->presence != SHAPE_REQUIRED))
        return f->presence != SHAPE_REQUIRED || misfit(p, f, "is missing", e);
    if (is_list(f))
        return read_list(f, v, p, at, e);
    if (f->type == SHAPE_OBJECT && json_type(v) == JSON_OBJECT)
        return read_object(f->of, v, p, at, e);
    return read_plain(f, v, object) || misfit(p, f, "does not fit", e);
}

static bool refuse_member(const struct place *above, const char *name, const char *why,
                          struct error *e)
{
    struct buf where = BUF_INIT;
    char *shown = mem_strndup(name, utf8_cut_bytes(name, strlen(name), SHOWN_BYTES));
    const struct place here = {above, shown, 0};
    add_place(&where, &here);
    err_set(e, ERR_USAGE, "\"%s\" %s", where.data, why);
    buf_release(&where);
    free(shown);
    return false;
}

static bool check_members(const struct shape *s, const struct json *v, const struct place *above,
                          struct error *e)
{
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        if (!find_field(s, json_name(m)))
            return refuse_member(above, json_name(m), "is unknown here; leave it out", e);
        if (json_get(v, json_name(m)) != m)
            return refuse_member(above, json_name(m), "is there twice; give it once", e);
    }
    return true;
}

static bool read_object(const struct shape *s, const struct json *v, const struct place *above,
                        void *object, struct error *e)
{
    shape_init(s, object);
    bool ok = !s->closed || check_members(s, v, above, e);
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

bool shape_parse(const struct shape *s, const char *text, size_t len, void *object, struct error *e)
{
    struct error cause = {0};
    shape_init(s, object);
    if (json_find_nul(text, len))
        return err_set(e, ERR_USAGE, "there is a NUL character in it; remove it");
    struct json *v = json_parse_foreign(text, len, &cause);
    bool ok = v ? shape_read(s, v, object, e) : err_set(e, ERR_USAGE, "%s", cause.text);
    json_free(v);
    return ok;
}
