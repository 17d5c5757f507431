/* Shared by the files of an import: import.c checks the text, then writes the session, and reads
 * texts of export_session(); import_form.c recognises the form of a text and reads lists of
 * messages. */
#ifndef SESSION_IMPORT_PRIVATE_H
#define SESSION_IMPORT_PRIVATE_H

#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "chat/event.h"
#include "chat/session_info.h"
#include "import/text.h"
#include "session/import.h"

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
