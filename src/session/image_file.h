/* sessions/ID/image-UUID.png: an image of a message, beside the files that are derived from the
 * session. Its message has its path; it goes with the session. */
#ifndef SESSION_IMAGE_FILE_H
#define SESSION_IMAGE_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "session/conversation_operations.h"

/* Writes a new file in a session's directory, which is made where it lacks. USAGE where `data`
 * (base64) is none of the images that models take, or larger than they do. */
bool image_file_add(const char *directory, const char *data, struct session_image *out,
                    struct error *e);

/* Removes those in the directory. False with errno. */
bool image_file_remove_all(int directory);

/* Whether that is the name of one, or one that it has while it is written. */
bool image_file_is(const char *file, bool unfinished);

#endif
