/* What the parts of an import share: import.c (looking, then writing), import_form.c (what a text
 * is), import_text.c (its elements), import_own.c (what export_session() wrote), import_info.c (a
 * session's row), import_openai.c (lists of messages), import_spool.c (what can be read only once).
 */
#ifndef SESSION_IMPORT_PRIVATE_H
#define SESSION_IMPORT_PRIVATE_H

#include "base/json.h"
#include "chat/event.h"
#include "chat/session_info.h"
#include "session/import_text.h"

/* One reading of a text. */
struct imported {
    struct session_info info;    /* as the text says; an id of "" where it does not */
    int64_t updated_ms;          /* 0: the time of the last event */
    double cost;                 /* -1: unknown */
    int64_t count;               /* events so far */
    int64_t last_seq;            /* of the newest */
    int64_t first_ms;            /* when the first was */
    struct session_info unnamed; /* its title is what the first message would have named it */

    /* Where events go; NULL: they are only looked at. `keep` takes one, `settle` is called when the
     * tree that they were made of is gone. */
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

/* All of the text, from its beginning. */
bool import_form_read(struct import_text *t, struct imported *out, struct error *e);

/* The members of session_info_shape. What a listing counts is not read: the events tell it. */
bool import_info(const struct json *v, const struct place *p, struct imported *out,
                 struct error *e);

/* --- {"tiro","session","events"}, or lines of them --- */

/* "tiro" of an object or of a line. */
bool import_own_version(const struct json *version, const struct place *p, struct error *e);
/* "session"; also behind the events. */
bool import_own_session(const struct json *v, struct imported *out, struct error *e);
bool import_own_event(const struct json *v, const struct place *p, struct imported *out,
                      struct error *e);
/* The first line may be the session; without it the events say which it was. */
bool import_own_lines(struct import_text *t, struct imported *out, struct error *e);

/* --- a list of messages --- */

struct import_openai; /* what a list of messages becomes while it is read */

struct import_openai *import_openai_new(struct imported *out);
void import_openai_free(struct import_openai *r); /* NULL is fine */
bool import_openai_message(struct import_openai *r, const struct json *message,
                           const struct place *p, struct error *e);
void import_openai_end(struct import_openai *r);

/* --- what can be read only once --- */

/* `in` itself if it can be read twice; else a file without a name that has all of it, which the
 * caller closes. `directory` (NULL: anywhere) is where that lies. NULL with `e`. */
FILE *import_spool(FILE *in, const char *directory, bool (*go_on)(void *context, int64_t bytes),
                   void *context, struct error *e);

#endif
