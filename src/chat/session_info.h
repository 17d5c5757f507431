/* Sessions as a listing shows them: their row, the fold that keeps it, hits of a search in their
 * transcripts; and files attached to messages. */
#ifndef CHAT_SESSION_INFO_H
#define CHAT_SESSION_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/err.h"
#include "base/shape.h"
#include "base/vec.h"
#include "chat/event.h"
#include "chat/message.h"
#include "chat/usage.h"

struct session_info {
    char id[UUID_LEN + 1];
    char *title;     /* set by hand, else by a model, else the beginning of the first user message;
                        never NULL */
    bool title_set;  /* by hand */
    char *directory; /* working directory, resolved */
    char *provider;
    char *model;
    char *system;    /* NULL: the configured one */
    char *draft;     /* what was typed and not sent; NULL if nothing */
    char *last_line; /* first line of the newest answer, at most 160 bytes; NULL before it */
    char *imported;  /* the source that it was imported from, "claude"; NULL: begun here */
    char *labels;    /* words parted by single blanks, sorted, no doubles; NULL: none */
    char parent[UUID_LEN + 1]; /* the session that this one was forked from; "" if none */
    int64_t parent_seq;        /* and the last event that came along */
    int64_t created_ms, updated_ms;
    int64_t archived_ms; /* 0: not archived */
    int64_t messages;    /* of the transcript */
    int turns;
    int64_t last_seq;
    int64_t tool_calls;
    int64_t run_ms;     /* how long its turns took, together */
    struct usage usage; /* sum */
    double cost;        /* USD, sum; negative: unknown */
};

/* At most 16 labels of at most 32 bytes each. */
enum { LABEL_BYTES = 32, LABELS_MAX = 16 };

struct session_list {
    VEC(struct session_info) items;
};

void session_info_init(struct session_info *s);
void session_info_release(struct session_info *s);
struct session_info session_info_clone(const struct session_info *s);
void session_list_release(struct session_list *l);

/* A title: the text's first non-empty line, cleaned, and the suffix; at most 60 columns. A longer
 * line ends with "…". The caller frees. */
char *session_title_from(const char *text, const char *suffix);

/* The title of a session that has none, from its draft; NULL for any other. The caller frees. */
char *session_title_of_draft(const struct session_info *s);

/* Changes the labels `current` (NULL: none) by `words`, separated by blanks or commas, in their
 * order: "name" or "+name" adds a label, "-name" removes it. `out` is NULL when none are left.
 * USAGE when one is too long or has control characters, or there are too many. The caller frees. */
bool session_labels_change(const char *current, const char *words, char **out, struct error *e);

extern const struct shape session_info_shape;

/* ---- the row as a fold over events ---- The same function keeps the row while a session runs and
 * makes it anew from a log (a fork, an import, after a crash). */

/* Updates messages, turns, tool calls, usage, cost, time, last line and last number. A session
 * without a title is named after its first message, and sending a message removes the draft. A
 * model's title replaces one that was not set by hand. */
void session_tally(struct session_info *s, const struct event *ev);

/* Names a session that has no title by the message, without its attached files. */
void session_tally_name(struct session_info *s, const char *first_message);

/* Resets all that session_tally() counts; id, names and places stay. */
void session_tally_reset(struct session_info *s);

/* ---- a text file attached to a message: its path and a colon on one line, then the text in a
 * fence longer than any in the text ---- */

void attached_file_add(struct buf *out, const char *path, const char *text, size_t len);

/* The text in its fence alone, whole lines. */
void attached_file_fence(struct buf *out, const char *text, size_t len);

/* The lines in the fence of a text that attached_file_add() made. */
int64_t attached_file_lines(const char *text);

/* The text after the files that a message begins with, without white space before it; "" if there
 * is none. */
const char *attached_files_end(const char *message);
/* The same, but the whole message if there is none: for a title. */
const char *attached_files_skip(const char *message);

/* ---- hits of a full-text search ---- */

struct search_hit {
    char session_id[UUID_LEN + 1];
    char *title; /* of the session */
    int64_t seq; /* of the event that holds the text */
    int64_t at_ms;
    enum role role;    /* who said it */
    bool archived;     /* the session is */
    char *snippet;     /* one line, cleaned, at most 240 bytes, the first match in its middle */
    size_t match, len; /* bytes of the first match in the snippet; len 0: not found in it */
};

struct search_hits {
    VEC(struct search_hit) items;
};

void search_hits_release(struct search_hits *h);

extern const struct shape search_hit_shape;

/* The end of an id, which tells sessions apart: the id begins with the time. Points into it. */
const char *session_short_id(const char *id);

#endif
