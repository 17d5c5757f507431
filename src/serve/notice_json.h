/* What the engine tells, as notifications of a protocol: a name and an object each. */
#ifndef SERVE_NOTICE_JSON_H
#define SERVE_NOTICE_JSON_H

#include "base/shape.h"
#include "session/notice.h"

struct notification {
    const char *method;        /* "session/event"; NULL: it is not told */
    const char *summary;       /* one sentence, English */
    const struct shape *shape; /* of a struct notice */
};

const struct notification *notification_of(enum notice_type type);

/* Its parameters, in one line; the caller frees. Only where it has a method. */
char *notice_json(const struct notice *n);

#endif
