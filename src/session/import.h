/* Imports a session from a text: JSON or JSON Lines of export_session(), or a list of messages in
 * OpenAI's form (an array, or an object with "messages"). The text is foreign: all of it is checked
 * before anything is written, and an error names its place ("messages[3].role", "line 12"). One
 * transaction.
 *
 * The text is read twice, an element at a time (of at most IMPORT_ELEMENT_BYTES),
 * in less than 100 MB of memory whatever it is. */
#ifndef SESSION_IMPORT_H
#define SESSION_IMPORT_H

#include <stdio.h>

#include "session/catalog.h"

struct session_import_options {
    const char *title;     /* if the text has none; may be NULL */
    const char *directory; /* working directory, if the text has none; may be NULL */
    bool once;             /* a session whose id is in the store is passed over: `out` gets no id */
    /* Called every 64 KiB with the percentage done; false stops with INTERRUPTED. May be NULL. */
    bool (*tell)(void *context, int percent);
    void *context;
};

/* Reads from the file's present position to its end. Input that is not a regular file is copied to
 * an unnamed file beside the store. A session whose id is in the store, or whose files are still to
 * be removed, gets a new id. */
bool import_session(struct catalog *c, FILE *in, const struct session_import_options *o,
                    struct session_info *out, struct error *e);

#endif
