/* Shared by the files of an import: import.c checks the text, then writes the session, and reads
 * texts of export_session(); import_form.c recognises the form of a text and reads lists of
 * messages; import_text.c reads the elements of a text. */
#ifndef SESSION_IMPORT_PRIVATE_H
#define SESSION_IMPORT_PRIVATE_H

#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "chat/event.h"
#include "chat/session_info.h"
#include "session/import.h"

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
 * bytes so far, and returns false to stop. */
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

/* The result of reading the text once. */
struct imported {
    struct session_info info;    /* from the text; the id is "" if the text has none */
    int64_t updated_ms;          /* 0: the time of the last event */
    double cost;                 /* -1: unknown */
    int64_t count;               /* events so far */
    int64_t last_seq;            /* of the newest */
    int64_t first_ms;            /* time of the first */
    struct session_info unnamed; /* its title is the one that the first message gives */

    /* Takes the events; NULL: the text is only checked. `keep` takes one; `settle` is called after
     * the element of the text that they were made of was freed. */
    const struct import_keeper {
        void (*keep)(void *context, struct event *ev);
        bool (*settle)(void *context, struct error *e);
    } * keeper;
    void *context;
};

void imported_init(struct imported *im);
void imported_release(struct imported *im);

/* Takes an event, whose number is above those before. */
void imported_add(struct imported *im, struct event *ev);

/* After each element of the text. */
bool imported_settle(struct imported *im, struct error *e);

/* Reads the whole text from its beginning. */
bool import_form_read(struct import_text *t, struct imported *out, struct error *e);

/* --- {"tiro","session","events"}, or lines of them --- */

/* "tiro" of an object or of a line. */
bool import_own_version(const struct json *version, const struct place *p, struct error *e);
/* "session", which may also follow the events. */
bool import_own_session(const struct json *v, struct imported *out, struct error *e);
bool import_own_event(const struct json *v, const struct place *p, struct imported *out,
                      struct error *e);
/* The first line may be the session; without it the session has the id of the events. */
bool import_own_lines(struct import_text *t, struct imported *out, struct error *e);

#endif
