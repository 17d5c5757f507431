/* A session's events as text to read: headings, messages, tool calls. */
#ifndef CLI_TRANSCRIPT_TEXT_H
#define CLI_TRANSCRIPT_TEXT_H

#include "base/buf.h"
#include "chat/event.h"

/* Appends what the event adds to the text, cleaned; most kinds add nothing. */
void transcript_text_add(struct buf *out, const struct event *ev);

/* "2026-03-09 14:05" of the local time; the caller frees. */
char *transcript_text_time(int64_t wall_ms);

#endif
