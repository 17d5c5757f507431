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

/* A tree takes up to 144 bytes for each value, however short its text ("[1,1,…" is two bytes a
 * value): with this many it takes 43 MB besides its strings, and 100 ms to make and to read. It is
 * 64 vectors of 4,096 numbers and more. */
#define JSON_FOREIGN_VALUES 300000

/* json_parse() for what a server, a model or a file of the user wrote: NULL, too, when it has more
 * values than that. */
struct json *json_parse_foreign(const char *text, size_t len, struct error *e);

/* Whether a text has no more than `max` values, without making them. Each array and object counts
 * itself, and an empty one as if it had a value. */
bool json_has_at_most(const char *text, size_t len, size_t max);

/* A copy in which the escapes of surrogates that lack their other half became \ufffd: the parser
 * refuses them. NULL where there are none; the caller frees. */
char *json_repair_surrogates(const char *text, size_t len);

/* The first NUL character of a JSON text, as it is or escaped: a string ends there. NULL: none. */
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
bool json_true(const struct json *v);

const char *json_get_string(const struct json *object, const char *name); /* NULL if absent */
int64_t json_get_int(const struct json *object, const char *name, int64_t fallback);
double json_get_number(const struct json *object, const char *name, double fallback);
bool json_get_bool(const struct json *object, const char *name, bool fallback);

/* Writing. `value` is taken. Setting a NULL string writes nothing. Names are copied. */
void json_set(struct json *object, const char *name, struct json *value);
void json_set_string(struct json *object, const char *name, const char *s);
void json_set_int(struct json *object, const char *name, int64_t n);
void json_set_number(struct json *object, const char *name, double n);
void json_set_bool(struct json *object, const char *name, bool b);
void json_push(struct json *array, struct json *value);

/* Writes the escape of a character: \u and four digits, or a pair of them. Returns its bytes. */
size_t json_escape(uint32_t cp, char out[13]);

/* Compact text, in which hidden characters (utf8_is_hidden()) are escapes; the caller frees. */
char *json_print(const struct json *v);
char *json_print_pretty(const struct json *v);

/* Where a JSON value ends, found while its text comes in pieces: brackets and strings are followed,
 * nothing else is checked. A value is then parsed by itself, and a text of many never lies in
 * memory as a whole. */

/* All 0: before the value's first byte, which is none of " \t\r\n,:". */
struct json_scan {
    size_t depth; /* brackets that are open */
    bool in_string, escaped;
    bool ended; /* the value is whole */
};

/* How many of these bytes belong to the value. All of them, unless it ends among them or in front
 * of them: then `ended` is set. A bracket that closes nothing ends a value in front of it, which
 * may be empty. */
size_t json_scan(struct json_scan *s, const char *bytes, size_t len);

#endif
