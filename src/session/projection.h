/* Files that are derived from a session's log, for users and their tools:
 * sessions/ID/transcript.md, events.jsonl and summary.txt (of the newest compaction in force)
 * beside the store. The program never reads them back; deleting them loses nothing, and rebuilding
 * gives the same bytes. */
#ifndef SESSION_PROJECTION_H
#define SESSION_PROJECTION_H

#include <stdbool.h>

#include "base/err.h"
#include "session/catalog.h"
#include "session/conversation_operations.h"

/* Appends the events since the last call; writes all files again if they were changed, or if
 * `anew`. The cost grows with the new events. A store in memory has no files. */
bool projection_write(struct catalog *c, const char *id, bool anew, struct error *e);

/* As projection_write(), not `anew`; a failure is logged, because the files can be rebuilt. */
void projection_follow(struct catalog *c, const char *id);

/* Removes the files and their directory; missing ones are no error. */
bool projection_remove(struct catalog *c, const char *id, struct error *e);

/* True if `name` is that of a derived file, or with `unfinished` of one that is being written. */
bool projection_has(const char *name, bool unfinished);

/* "DIR/sessions/ID"; the caller frees. NULL: the store is in memory. */
char *projection_directory(const struct catalog *c, const char *id);

/* sessions/ID/image-UUID.png: an image of a message, whose block has the path. It is deleted with
 * the session. */

/* Writes a new file in a session's directory, which is created if needed. USAGE: `data` (base64) is
 * no image that models accept, or is too large. */
bool image_file_add(const char *directory, const char *data, struct session_image *out,
                    struct error *e);

/* Removes the images in the directory. False with errno. */
bool image_file_remove_all(int directory);

/* True if `file` is the name of an image, or with `unfinished` of one that is being written. */
bool image_file_is(const char *file, bool unfinished);

#endif
