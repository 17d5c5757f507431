/* What the parts of an import share: import.c (what a text is, and writing it), import_own.c (what
 * export_session() wrote), import_info.c (a session's row), import_openai.c (lists of messages). */
#ifndef SESSION_IMPORT_PRIVATE_H
#define SESSION_IMPORT_PRIVATE_H

#include "base/json.h"
#include "chat/event.h"
#include "chat/session_info.h"

struct imported {
    struct session_info info;   /* as the text says; an id of "" where it does not */
    int64_t updated_ms;         /* 0: the time of the last event */
    double cost;                /* -1: unknown */
    VEC(struct event *) events; /* numbered, of one session, rising */
};

/* Where in the text a value stands: "events[3]", "line 12". */
struct place {
    char text[64];
};

struct place place_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* FILE_ERROR, with the place before the reason. Returns false. */
bool import_fault(const struct place *p, struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The members of session_info_to_json(). What a listing counts is not read: the events tell it. */
bool import_info(const struct json *v, const struct place *p, struct imported *out,
                 struct error *e);

/* {"tiro","session","events"}. */
bool import_json(const struct json *root, struct imported *out, struct error *e);

/* Lines, the first of which may be the session; without it the events say which it was. */
bool import_lines(const char *text, size_t len, struct imported *out, struct error *e);

/* A list of messages, or an object with "messages". */
bool import_openai(const struct json *root, struct imported *out, struct error *e);

#endif
