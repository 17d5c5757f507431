/* JSON written by a format, which is one value:
 *
 *   {name:s count:I list:[s s]}  an object, an array; names are plain words, blanks and commas
 *                                separate members
 *   'text'                       this string, as in {type:'text' text:s}
 *   s  const char *; a member or element that is NULL is left out
 *   S  const char *; NULL is written as null
 *   r  const char *, a text that is JSON already; NULL is left out
 *   i  int    I  int64_t    d  double    b  bool (as int)    n  null
 *   o  struct json *, freed; NULL is left out
 *
 * A wrong format is a bug of the caller (assert). */
#ifndef BASE_JSON_PACK_H
#define BASE_JSON_PACK_H

#include <stdarg.h>

#include "base/json.h"
#include "base/json_out.h"

/* The tree; the caller frees. It is made from a text: for values of some kilobytes. */
struct json *json_pack(const char *format, ...);

/* Writes the value; a format of members without braces ("name:s count:I") writes members into the
 * object that is open. */
void json_out_pack(struct json_out *out, const char *format, ...);
void json_out_vpack(struct json_out *out, const char *format, va_list args);

#endif
