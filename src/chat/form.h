/* A form that an MCP server wants a person to fill in, or a page that it wants opened: the params
 * of elicitation/create in either era of the protocol. Pure. */
#ifndef CHAT_FORM_H
#define CHAT_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"

enum {
    FORM_FIELDS_MAX = 64,
    FORM_OPTIONS_MAX = 256, /* of a field */
    FORM_TEXT_MAX = 16384   /* bytes of a value */
};

enum form_kind { FORM_TEXT, FORM_NUMBER, FORM_INTEGER, FORM_FLAG, FORM_CHOICE, FORM_CHOICES };

struct form_option {
    char *value, *title;
};

/* Titles are clean lines of at most 200 bytes; names and values are as the server has them. */
struct form_field {
    char *name;
    char *title;
    char *about; /* NULL: no description */
    enum form_kind kind;
    bool required;
    enum form_format { FORM_ANY, FORM_EMAIL, FORM_URI, FORM_DATE, FORM_DATE_TIME } format;
    /* Bounds of a number, of a text's characters, of how many are chosen; infinite: none. */
    double least, most;
    VEC(struct form_option) options; /* of a choice, 1 to FORM_OPTIONS_MAX */
    struct json *preset;             /* the default; NULL: none */
};

struct form {
    char *message;                 /* clean; lines */
    char *url, *host;              /* printable ASCII, without a login; NULL: it is a form */
    VEC(struct form_field) fields; /* in the server's order */
};

/* Reads the params; a default that does not fit its field is passed over. USAGE: tiro cannot show
 * it. The form is to be released in either case. */
bool form_read(struct form *f, const struct json *params, struct error *e);
void form_release(struct form *f);

/* The value that a person typed: the text, a number, yes or no, the number or title of an option,
 * several of them between commas. Blank: NULL, which is an error only for a required field. NULL
 * with `e` (else ERR_OK): the text does not fit. The caller frees. */
struct json *form_field_parse(const struct form_field *field, const char *typed, struct error *e);

/* A value as a person types it, or (`shown`) reads it; the caller frees. "" for NULL. */
char *form_field_text(const struct form_field *field, const struct json *value, bool shown);

/* Whether a content answers the form: members that it has, those that are required, their values.
 */
bool form_check(const struct form *f, const struct json *content, struct error *e);

/* The content that has all defaults; the caller frees. */
struct json *form_defaults(const struct form *f);

#endif
