/* The deterministic extract: what a program can say of messages without a model. The same messages
 * give the same bytes. */
#ifndef CHAT_EXTRACT_H
#define CHAT_EXTRACT_H

#include <stddef.h>

#include "base/buf.h"
#include "chat/message.h"

/* Headings of its sections. */
enum { EXTRACT_TIMELINE = 5, EXTRACT_SECTIONS };
extern const char *const extract_headings[EXTRACT_SECTIONS];
#define EXTRACT_NONE "(none)" /* of an empty one */

/* Appends sections under headings of the second level: sorted tool names; the last 3 requests (160
 * bytes each); pending work; at most 8 sorted file paths; current work (200 bytes); a timeline of
 * the first 3 and last 5. */
void extract_add(struct buf *out, const struct message *const *messages, size_t count,
                 struct message_source *source);

#endif
