/* The one face of cJSON. Numbers are doubles: integers are exact up to 2^53. A string ends at its
 * first NUL character. Nesting is limited by cJSON (1,000). */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct json; /* a value inside a tree; the root owns the tree */

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* NULL, with the offset of the fault in `e`, when the text is not exactly one JSON value. */
struct json *json_parse(const char *text, size_t len, struct error *e);
void json_free(struct json *root);
AUTO_POINTER(json_free, struct json)

/* A tree takes up to 144 bytes a value, however short its text ("[1,1,…" has two bytes a value).
 * A tree of this size takes 43 MB besides its strings, and 100 ms to make and to read; it has room
 * for 64 vectors of 4,096 numbers. */
#define JSON_FOREIGN_VALUES 300000

/* json_parse() for a text of a server, a model or a user's file: NULL, too, for more values. */
struct json *json_parse_foreign(const char *text, size_t len, struct error *e);

/* Whether a text has no more than `max` values, without parsing it. Each array and object counts
 * itself, and an empty one as if it had a value. */
bool json_has_at_most(const char *text, size_t len, size_t max);

/* A copy in which escapes of half a surrogate pair are replaced by \ufffd: the parser refuses them.
 * NULL if there are none; the caller frees. */
char *json_repair_surrogates(const char *text, size_t len);

/* The first NUL character of a JSON text, raw or escaped: a string would end there. NULL: none. */
const char *json_find_nul(const char *text, size_t len);

struct json *json_new_object(void);
struct json *json_new_array(void);
struct json *json_new_string(const char *s); /* NULL makes null */
struct json *json_clone(const struct json *v);

/* Reading. A NULL value, a missing member or a wrong type gives NULL / the fallback. */
enum json_type json_type(const struct json *v);
const struct json *json_get(const struct json *object, const char *name);
const struct json *json_at(const struct json *array, size_t index); /* O(index) */
size_t json_len(const struct json *array_or_object);                /* O(n) */
const struct json *json_first(const struct json *array_or_object);
const struct json *json_next(const struct json *v);
const char *json_name(const struct json *member);
const char *json_string(const struct json *v); /* NULL unless a string */
double json_number(const struct json *v, double fallback);
int64_t json_int(const struct json *v, int64_t fallback); /* cut to an int64_t */
bool json_bool(const struct json *v, bool fallback);

/* The value of a member of an object, converted as by the functions above. */
static inline const char *json_get_string(const struct json *object, const char *name)
{
    return json_string(json_get(object, name));
}
static inline int64_t json_get_int(const struct json *object, const char *name, int64_t fallback)
{
    return json_int(json_get(object, name), fallback);
}
static inline double json_get_number(const struct json *object, const char *name, double fallback)
{
    return json_number(json_get(object, name), fallback);
}
static inline bool json_get_bool(const struct json *object, const char *name, bool fallback)
{
    return json_bool(json_get(object, name), fallback);
}

/* Writing. `value` is taken. Setting a NULL string writes nothing. Names are copied. */
void json_set(struct json *object, const char *name, struct json *value);
void json_set_string(struct json *object, const char *name, const char *s);
void json_set_int(struct json *object, const char *name, int64_t n);
void json_set_number(struct json *object, const char *name, double n);
void json_set_bool(struct json *object, const char *name, bool b);
void json_push(struct json *array, struct json *value);

/* Writes the escape of a character: \u and four digits, or two such escapes. Returns its bytes. */
size_t json_escape(uint32_t cp, char out[13]);

/* Compact text, in which hidden characters (utf8_is_hidden()) are escapes; the caller frees. */
char *json_print(const struct json *v);

/* ---- the end of a JSON value whose text comes in pieces ---- Follows brackets and strings and
 * checks nothing else. So each value of a long text can be parsed by itself. */

/* All 0: before the value's first byte, which is none of " \t\r\n,:". */
struct json_scan {
    size_t depth; /* brackets that are open */
    bool in_string, escaped;
    bool ended; /* the value is whole */
};

/* How many of these bytes belong to the value: all of them, unless it ends among them or before
 * them; then `ended` is set. A bracket that closes nothing ends the value before it, which may be
 * empty. */
size_t json_scan(struct json_scan *s, const char *bytes, size_t len);

#endif
