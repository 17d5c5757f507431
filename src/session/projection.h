/* Files that are derived from a session's log, for people and their tools:
 * sessions/ID/transcript.md, events.jsonl and summary.txt (the newest summary of a compaction that
 * holds) beside the store. They are never read back; deleting them loses nothing, and rebuilding
 * gives the same bytes. */
#ifndef SESSION_PROJECTION_H
#define SESSION_PROJECTION_H

#include <stdbool.h>

#include "base/err.h"
#include "session/catalog.h"
#include "session/conversation_operations.h"

/* Adds what the log has gained since the last time; writes all anew when the files are not as they
 * were left. Cost grows with what was added. A store of memory alone has none. */
bool projection_update(struct catalog *c, const char *id, struct error *e);

/* The same after a change that is kept whatever becomes of the files: a failure is logged. */
void projection_follow(struct catalog *c, const char *id);

/* Writes the files of one session (its id) anew. */
bool projection_rebuild(struct catalog *c, const char *id, struct error *e);

/* Takes the files and their directory away; what lacks is fine. */
bool projection_remove(struct catalog *c, const char *id, struct error *e);

/* Whether there are files of this name, of those that are whole or of those that are being written.
 */
bool projection_has(const char *name, bool unfinished);

/* "DIR/sessions/ID"; the caller frees. NULL where the store is in memory alone. */
char *projection_directory(const struct catalog *c, const char *id);

/* sessions/ID/image-UUID.png: an image of a message, beside the files that are derived from the
 * session. Its message has its path; it goes with the session. */

/* Writes a new file in a session's directory, which is made where it lacks. USAGE where `data`
 * (base64) is none of the images that models take, or larger than they do. */
bool image_file_add(const char *directory, const char *data, struct session_image *out,
                    struct error *e);

/* Removes those in the directory. False with errno. */
bool image_file_remove_all(int directory);

/* Whether that is the name of one, or one that it has while it is written. */
bool image_file_is(const char *file, bool unfinished);

#endif
