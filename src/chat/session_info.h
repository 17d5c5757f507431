/* What is known of a session without reading it: a row of every listing. */
#ifndef CHAT_SESSION_INFO_H
#define CHAT_SESSION_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "chat/usage.h"

struct session_info {
    char id[UUID_LEN + 1];
    char *title;     /* set by hand, else the beginning of the first user message; never NULL */
    bool title_set;  /* by hand */
    char *directory; /* working directory, resolved */
    char *provider;
    char *model;
    char *system;    /* NULL: the configured one */
    char *draft;     /* what was typed and not sent; NULL if nothing */
    char *last_line; /* first line of the newest answer, at most 160 bytes; NULL before it */
    int64_t created_ms, updated_ms;
    int64_t messages; /* of the transcript */
    int turns;
    int64_t last_seq;
    struct usage usage; /* sum */
};

struct session_list {
    VEC(struct session_info) items;
};

void session_info_init(struct session_info *s);
void session_info_release(struct session_info *s);
struct session_info session_info_clone(const struct session_info *s);
void session_list_release(struct session_list *l);

/* At most 60 columns of the text's first non-empty line, cleaned. The caller frees. */
char *session_title_from(const char *text);

/* For --json. */
struct json *session_info_to_json(const struct session_info *s);

#endif
