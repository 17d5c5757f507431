/* Texts that should be JSON (a tool call's arguments, attachments) inside other JSON: as a
 * value where nothing is lost by that, else as a string. */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/json.h"
#include "base/json_out.h"

/* Writes a value: the text's if the text is JSON that survives being read and written again, else
 * the text as a string. */
void json_text_write(struct json_out *o, const char *text);

/* The text of such a member: exactly the old one if it is a string, else compact JSON of the same
 * meaning. The caller frees. */
char *json_text_read(const struct json *v);

#endif
