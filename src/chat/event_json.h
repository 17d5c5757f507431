/* Texts that should be JSON (a tool call's arguments, attachments) inside an event's payload: as a
 * value where nothing is lost by that, else as a string. */
#ifndef CHAT_EVENT_JSON_H
#define CHAT_EVENT_JSON_H

#include "base/json.h"
#include "chat/json_out.h"

/* Writes the member: the text's value if the text is JSON that survives being read and written
 * again, else the text as a string. */
void json_text_write(struct json_out *o, const char *name, const char *text);

/* The text of such a member: exactly the old one if it is a string, else compact JSON of the same
 * meaning. The caller frees. */
char *json_text_read(const struct json *v);

#endif
