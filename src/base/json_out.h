/* Writes JSON into a buffer without a tree, or only counts its bytes: for texts of megabytes, which
 * a tree would copy twice. Each bracket that is opened must be closed; commas are added. */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

struct json_out {
    struct buf *buf; /* NULL: only count */
    int64_t len;     /* bytes so far */
    bool comma;      /* the next value is not the first of its container */
};

/* `bracket` is '{' or '['; '}' or ']'. */
void json_out_open(struct json_out *o, char bracket);
void json_out_close(struct json_out *o, char bracket);

/* The name of the member whose value comes next; a plain ASCII word. */
void json_out_name(struct json_out *o, const char *name);

/* Invalid UTF-8 becomes U+FFFD, so that the text is always JSON. */
void json_out_string(struct json_out *o, const char *s);

void json_out_number(struct json_out *o, int64_t n);
void json_out_real_number(struct json_out *o, double n); /* finite, else null */

/* A text that is JSON already. */
void json_out_raw(struct json_out *o, const char *json);

/* Members of an object. A NULL string writes nothing. */
void json_out_member(struct json_out *o, const char *name, const char *s);
void json_out_int(struct json_out *o, const char *name, int64_t n);

/* Appends a compact JSON text, laid out in lines for people: a member on each, with tabs. */
void json_out_pretty(const char *json, struct buf *out);

/* The tree of a written text; the buffer is released. */
struct json *json_out_tree(struct buf *written);

#endif
