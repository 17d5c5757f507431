/* Sessions out of a file: what export_session() wrote (JSON, JSON Lines), or a list of messages in
 * OpenAI's form (an array, or an object with "messages"). The text is somebody else's: all of it is
 * checked before anything is written, and what does not fit is named by its place
 * ("messages[3].role", "line 12"). One transaction: all or nothing.
 *
 * The text is read twice, an element at a time (of at most IMPORT_ELEMENT_BYTES),
 * in less than 100 MB of memory whatever it is. */
#ifndef SESSION_IMPORT_H
#define SESSION_IMPORT_H

#include <stdio.h>

#include "session/catalog.h"

/* Text longer than this is refused. */
#define IMPORT_MAX_BYTES (INT64_C(4) * 1024 * 1024 * 1024)

struct import_options {
    const char *title;     /* for a text that has none; NULL */
    const char *directory; /* where it is said to have been, when the text does not say; NULL */
    /* Every 64 KiB, in percent of the work; false: stop, INTERRUPTED. NULL: nobody asks. */
    bool (*tell)(void *context, int percent);
    void *context;
};

/* From where the file stands to its end. What is no regular file is kept beside the store
 * meanwhile, under no name. A session whose id is in the store, or whose files are still to be
 * removed, gets a new one. */
bool import_session(struct catalog *c, FILE *in, const struct import_options *o,
                    struct session_info *out, struct error *e);

#endif
