/* JSON written by a format. The format is a value:
 *     {name:s count:I list:[s s] …}   an object or array of values; names are plain words, blanks
 * and commas part members 'text'                          this string, as in {type:'text' text:s}
 *     s  const char *; a member or element that is NULL is left out        S  the same, NULL is
 * written as null i  int        I  int64_t        d  double        b  bool (as int) o  struct json
 * *, taken; NULL is left out r  const char *, a text that is JSON already; NULL is left out n  null
 * A format with a fault is a bug of the caller (assert). */
#ifndef BASE_JSON_PACK_H
#define BASE_JSON_PACK_H

#include "base/json.h"
#include "base/json_out.h"

/* The tree; the caller frees. It is made by way of a text: for values of some kilobytes. */
struct json *json_pack(const char *format, ...);

/* Writes the value; a format of members without braces ("name:s count:I") writes members into the
 * object that is open. `o` in the format is freed. */
void json_out_pack(struct json_out *out, const char *format, ...);

#endif
