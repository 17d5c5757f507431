/* The members that each type of event has in a payload and in a line of stream-json: what event.c
 * writes, reads, copies and frees. */
#ifndef CHAT_EVENT_FIELDS_H
#define CHAT_EVENT_FIELDS_H

#include <stddef.h>

#include "chat/event.h"

enum event_field_kind {
    FIELD_TEXT,
    FIELD_OPTIONAL_TEXT, /* NULL is left out */
    FIELD_JSON_TEXT,     /* a text that should be JSON; NULL is left out */
    FIELD_NUMBER,
    FIELD_OPTIONAL_NUMBER, /* 0 is left out */
    FIELD_KNOWN_NUMBER,    /* -1, unknown, is left out */
    FIELD_COUNT,
    FIELD_OPTIONAL_COUNT, /* 0 is left out */
    FIELD_FLAG,
    FIELD_OPTIONAL_FLAG, /* false is left out */
    FIELD_STOP,
    FIELD_REAL,
    FIELD_KNOWN_REAL, /* negative, unknown, is left out */
    FIELD_USAGE,      /* left out when unknown */
    FIELD_RUN_USAGE   /* of a whole run: `summaries` of the event is a share of it */
};

struct event_field {
    const char *name; /* NULL ends a type's list */
    enum event_field_kind kind;
    size_t
        offset; /* in struct event: of a string, an int64_t, an int, a bool, … as the kind says */
};

#define EVENT_FIELDS_MAX 28

extern const struct event_field event_fields[EVENT_TYPE_COUNT][EVENT_FIELDS_MAX];

#endif
