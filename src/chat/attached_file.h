/* A text file within a message of the user's: its path and a colon on one line, then the text in a
 * fence that it cannot break out of. */
#ifndef CHAT_ATTACHED_FILE_H
#define CHAT_ATTACHED_FILE_H

#include <stddef.h>

#include "base/buf.h"

void attached_file_add(struct buf *out, const char *path, const char *text, size_t len);

/* The text in its fence alone, whole lines. */
void attached_file_fence(struct buf *out, const char *text, size_t len);

/* The text behind the files that a message begins with, without white space in front; "" if the
 * message has nothing else. */
const char *attached_files_end(const char *message);
/* The same, but the whole message if it has nothing else: for a title. */
const char *attached_files_skip(const char *message);

#endif
