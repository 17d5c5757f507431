/* The elements of a JSON text, one at a time, in bounded memory: for texts that are one value, such
 * as exports with thousands of conversations, and for lines. An error names its place
 * ("messages[3].role", "line 12"). */
#ifndef IMPORT_TEXT_H
#define IMPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"

/* Text longer than this is refused. */
#define IMPORT_MAX_BYTES (INT64_C(4) * 1024 * 1024 * 1024)

/* Most bytes of a line or an element. An event has up to five copies until it is in the database,
 * so that an import takes less than 100 MB. */
#define IMPORT_ELEMENT_BYTES ((size_t)16 * 1024 * 1024)

/* The place of a value in the text: "events[3]", "line 12". */
struct place {
    char text[64];
};

struct place place_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* FILE_ERROR, with the place before the reason. Returns false. */
bool import_fault(const struct place *p, struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct import_text {
    FILE *in; /* borrowed; can be read twice */
    off_t begin;
    char *chunk;
    size_t room, at, len; /* of the chunk: its size, the next byte, the end of the bytes read */
    int64_t offset;       /* of the chunk's first byte */
    int64_t line;         /* of the next byte, from 1 */
    struct buf element;   /* the line or value that was read last */
    int64_t element_line;
    struct error fault; /* a read error, or go_on() was false; ERR_OK: none */
    bool (*go_on)(void *context, int64_t bytes);
    void *context;
};

/* `chunk`: bytes that are read at once. `go_on` is called between two chunks with the number of
 * bytes so far, and returns false to stop; NULL: never. */
void import_text_init(struct import_text *t, FILE *in, size_t chunk,
                      bool (*go_on)(void *context, int64_t bytes), void *context);
void import_text_release(struct import_text *t);

/* Goes to the beginning of the text, behind a byte order mark. */
bool import_text_rewind(struct import_text *t, struct error *e);

/* The next byte that is no blank, without taking it. -1: none, or a read error. */
int import_text_peek(struct import_text *t);

/* Takes the next byte that is no blank, if it is `c`. */
bool import_text_take(struct import_text *t, char c);

/* Sets the error that the text is no JSON here. Returns false. */
bool import_text_fault(struct import_text *t, const struct place *p, struct error *e);

/* The next value as a tree, which the caller frees; NULL with `e`. */
struct json *import_text_value(struct import_text *t, const struct place *p, struct error *e);

/* The next line into `element`, without its end. False at the end of the text, and with `e` when it
 * is too long. */
bool import_text_line(struct import_text *t, struct error *e);

/* Parses `element` and clears it. The caller frees the tree; NULL with `e`. */
struct json *import_text_parse(struct import_text *t, const struct place *p, struct error *e);

#endif
