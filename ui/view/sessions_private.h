/* Shared by sessions.c (requests, answers and keys) and sessions_rows.c (the rows). No other file
 * includes it. */
#ifndef UI_SESSIONS_PRIVATE_H
#define UI_SESSIONS_PRIVATE_H

#include "ui/text/editor.h"
#include "ui/transcript/transcript.h"
#include "ui/view/hints.h"
#include "ui/view/sessions.h"

/* One kind of question to the engine: only the newest counts. */
struct sessions_question {
    const struct operation *operation;
    view_answer *take;
    uint64_t id; /* of the request that is under way; 0: none */
    char *text;  /* that was asked last, and a number; NULL: nothing, or it is out of date */
    int64_t number;
};

/* A line that is asked for in the row of the query, or yes or no. */
enum sessions_input { INPUT_NONE, INPUT_TITLE, INPUT_LABELS, INPUT_FILE, INPUT_DELETE };

enum preview_place { PREVIEW_NONE, PREVIEW_RIGHT, PREVIEW_BELOW };

/* Places in rows and columns of the screen. */
struct sessions_layout {
    int width, height;
    int list_rows, list_cols; /* from row 1, column 0 on */
    enum preview_place place;
    int preview_top, preview_left, preview_rows, preview_cols; /* its header included */
    int hint_top, hint_rows;
};

struct sessions {
    struct view view;

    struct editor *query;
    struct sessions_question list_question, search_question, preview_question;
    struct session_list list;
    struct search_hits hits;
    bool listed;         /* the list is known */
    int64_t matching;    /* sessions that match the query */
    int64_t all;         /* sessions that there are; -1: not known yet */
    bool shows_archived; /* also without a query */
    bool everywhere;     /* those of other projects, too, also without a query */
    bool more_hits;

    size_t selected, top; /* entry; first line shown */
    bool pinned;          /* the person chose the entry: it stays selected in a new listing */

    struct transcript *preview;
    struct session_info previewed; /* id "": none */
    bool in_preview;               /* moving keys scroll it */

    enum sessions_input input;
    struct editor *line;
    struct session_info target; /* the session that the input is about */
    uint64_t sent;              /* request that the input waits for; 0: none */
    bool opening;               /* a session was asked for */

    struct remark remark;

    struct sessions_layout layout;
    struct rows rows;
};

/* An entry: a session, or a place in a transcript; the other is NULL. Both are where there is no
 * such entry. */
struct sessions_entry {
    const struct session_info *session;
    const struct search_hit *hit;
};
struct sessions_entry sessions_entry(const struct sessions *s, size_t index);
size_t sessions_count(const struct sessions *s);
const char *sessions_selected_id(const struct sessions *s); /* NULL: nothing is selected */

/* Asks for what is not known yet. */
void sessions_ask(struct sessions *s);

/* sessions_rows.c */
const struct rows *sessions_rows(struct view *view);
/* The entry at a row of the list; SIZE_MAX: none. */
size_t sessions_list_at(const struct sessions *s, int row);

#endif
