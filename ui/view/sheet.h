/* A form of an MCP server while a person fills it in: its texts, and the values so far. Texts are
 * foreign, and to be cleaned before they are shown (utf8_reveal()). */
#ifndef UI_SHEET_H
#define UI_SHEET_H

#include "chat/form.h"
#include "session/notice.h"

struct sheet {
    int64_t number;
    char *server;
    struct form form;
    VEC(struct json *) values; /* of the fields, at first their defaults; NULL: none */
    size_t at;                 /* the field that is asked for; all of them: the whole is shown */
    char *fault;               /* why the last text does not fit the field; NULL: it does */
};

struct sheet *sheet_new(const struct notice *n); /* of a NOTICE_ELICITATION; NULL: none is in it */
void sheet_free(struct sheet *s);                /* NULL is fine */

/* Whether a field is asked for; else the form is shown with its values, or the page. */
bool sheet_fills(const struct sheet *s);
void sheet_show(struct sheet *s, size_t at);

/* The first field that must have a value and has none; the number of fields: none. */
size_t sheet_missing(const struct sheet *s);

/* "github asks you" and what it asks, or what is known of the field. The caller frees. */
char *sheet_title(const struct sheet *s);
char *sheet_text(const struct sheet *s);

/* The present value of the field, as a person types it; the caller frees. */
char *sheet_typed(const struct sheet *s);

/* Takes the value of the field and goes on to the next; false: `fault` says why not. */
bool sheet_take(struct sheet *s, const char *typed);

/* The parameters of the answer; `content` is JSON that the caller frees. */
struct elicitation_decide_params sheet_answer(const struct sheet *s, enum elicitation_action action,
                                              char **content);

#endif
