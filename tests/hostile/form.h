/* The wire format of a dialect's answers, in pieces small enough to insert hostile bytes between
 * and into. Written by hand, as in tests/model_dialects.c. */
#ifndef TESTS_HOSTILE_FORM_H
#define TESTS_HOSTILE_FORM_H

#include "base/buf.h"
#include "tests/model_dialects.h"

/* Events are JSON, one a line; "@1" … "@9" stand for the values that form_fill() is given. */
struct form {
    const char *name;
    enum dialect dialect;
    const char *type;      /* content type of a stream */
    const char *frame;     /* one event: @1 is its JSON */
    const char *begin;     /* @1: model, inside a JSON string; @2: input tokens */
    const char *open;      /* before the first text */
    const char *text;      /* @1: inside a JSON string */
    const char *reasoning; /* likewise, with its opening event */
    const char *call;      /* @1: number; @2: id, @3: name, @4: arguments, inside JSON strings */
    const char *end;       /* @1: stop reason, inside a JSON string; @2, @3: tokens in and out */
    const char *done;      /* text after the last event, not framed */
    const char *stop;      /* the ordinary stop reason */
    const char *call_stop; /* … after tool calls */
    const char *error;     /* a body or an event: @1: type, @2: message, inside JSON strings */
    const char *host_variable, *host_suffix; /* the variable that names the server to tiro */
    const char *key_variable;                /* NULL: it takes no key */
};

enum { FORM_COUNT = 3 };
extern const struct form forms[FORM_COUNT];

/* A list of values; VALUES(NULL) is empty. */
#define VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Appends a template with its values in place; `values` ends with NULL. "@@" is "@". */
void form_fill(struct buf *out, const char *format, const char *const *values);

/* Appends each line of a filled template as an event. */
void form_events(struct buf *out, const struct form *form, const char *format,
                 const char *const *values);

#endif
