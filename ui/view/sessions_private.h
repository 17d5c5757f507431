/* What the parts of the sessions screen share: sessions.c (what is asked, held and selected),
 * sessions_done.c (what was done), sessions_keys.c, sessions_input.c (titles, labels, files, yes or
 * no), sessions_fields.c, sessions_list.c, sessions_hints.c and sessions_rows.c (what it
 * looks like). Nobody else includes it. */
#ifndef UI_SESSIONS_PRIVATE_H
#define UI_SESSIONS_PRIVATE_H

#include "base/entropy.h"
#include "ui/text/editor.h"
#include "ui/transcript/transcript.h"
#include "ui/view/hints.h"
#include "ui/view/sessions.h"

enum {
    SESSIONS_LISTED = 200, /* rows that a listing may have */
    SESSIONS_FOUND = 50,
    SESSIONS_PREVIEWED = 40, /* events */
    SESSIONS_QUERY_BYTES = 256,
    SESSIONS_BELOW_ROWS = 15, /* of the screen, from which on there is a preview at any width */
    SESSIONS_INPUT_BYTES = 1024
};

/* One kind of question to the engine: the one that was asked last counts. */
struct sessions_question {
    const struct operation *operation;
    view_answer *take;
    uint64_t id; /* of the request that is under way; 0: none is */
    char *text;  /* that was asked last, and a number; NULL: nothing, or it is out of date */
    int64_t number;
};

/* What the row above the list asks for instead of a query. */
enum sessions_input { INPUT_NONE, INPUT_TITLE, INPUT_LABELS, INPUT_FILE, INPUT_DELETE };

enum preview_place { PREVIEW_NONE, PREVIEW_RIGHT, PREVIEW_BELOW };

/* Where things are; all in rows and columns of the screen's own. */
struct sessions_layout {
    int width, height;
    int list_rows, list_cols; /* from row 1, column 0 on */
    enum preview_place place;
    int preview_top, preview_left, preview_rows, preview_cols; /* its header included */
    int hint_top, hint_rows;
};

/* The columns of the list, as wide as what is in view: the most important first. */
enum {
    SESSIONS_STATE,
    SESSIONS_AGE,
    SESSIONS_MESSAGES,
    SESSIONS_TOKENS,
    SESSIONS_MODEL,
    SESSIONS_LABELS,
    SESSIONS_FIELDS
};
struct sessions_columns {
    size_t main;                    /* of a title or of what was found */
    size_t fields[SESSIONS_FIELDS]; /* 0: not shown */
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
    bool shows_archived; /* also where nothing is looked for */
    bool more_hits;

    size_t selected, top; /* entry; first line shown */
    bool pinned;          /* the person chose the entry: it stays selected in a new listing */

    struct transcript *preview;
    struct session_info previewed; /* id "": nothing is */
    bool in_preview;               /* moving keys scroll it */

    enum sessions_input input;
    struct editor *line;
    struct session_info target; /* what the input is about */
    uint64_t sent;              /* request that the input waits for; 0: none */
    bool opening;               /* a session was asked for */

    struct remark remark;

    struct sessions_layout layout;
    struct sessions_columns list_columns, hit_columns;
    struct rows rows;
    int caret_row, caret_col;
};

/* An entry: a session, or a place in a transcript; the other is NULL. Both are, where there is
 * none. */
struct sessions_entry {
    const struct session_info *session;
    const struct search_hit *hit;
};
struct sessions_entry sessions_entry(const struct sessions *s, size_t index);
size_t sessions_count(const struct sessions *s);
const char *sessions_selected_id(const struct sessions *s); /* NULL: nothing is selected */

struct sessions *sessions_of(struct view *view);

/* What the search found in the selected row, NULL if the row is a session. The caller frees. */
char *sessions_found(const struct sessions *s);

/* sessions_done.c: asks for a change of a session, and shows it when it is done. Returns the
 * request's id. */
uint64_t sessions_change(struct sessions *s, const struct operation *o, const void *params);

/* sessions_keys.c, sessions_rows.c: what the view does. */
bool sessions_key(struct view *view, enum action action, const struct key *key);
void sessions_click(struct view *view, int row, int col);
void sessions_resize(struct view *view, int width, int height);
const struct rows *sessions_rows(struct view *view);
bool sessions_caret(const struct view *view, int *row, int *col);

/* sessions.c: asks what is not known yet. */
void sessions_ask(struct sessions *s);
void sessions_select(struct sessions *s, size_t index);
void sessions_stay_within(struct sessions *s); /* after some entries are gone */
void sessions_forget_preview(struct sessions *s);
/* It is asked again by sessions_ask(), and what is under way does not count. */
void sessions_forget_question(struct sessions *s, struct sessions_question *q);
void sessions_say(struct sessions *s, enum style style, const char *text); /* NULL: nothing */
/* sessions_input.c */
void sessions_input_open(struct sessions *s, enum sessions_input input);
void sessions_input_close(struct sessions *s);
void sessions_input_key(struct sessions *s, enum action action, const struct key *key);
/* That request was done, or failed. */
void sessions_input_answered(struct sessions *s, uint64_t id, bool done);
/* A key of a line of at most so many bytes. */
void sessions_edit(struct editor *line, enum action action, const struct key *key, size_t max);
const char *sessions_input_prompt(const struct sessions *s); /* NULL: there is no line */
char *sessions_input_question(const struct sessions *s);     /* yes or no; the caller frees */

/* sessions_list.c: the lines of the list, each cut and filled to the columns of the layout. */
void sessions_list_row(const struct sessions *s, struct rows *out, int row);
/* Prepares them: which are in view, and how wide their columns are. */
void sessions_list_view(struct sessions *s);
/* The entry at a row of the list; SIZE_MAX: none. */
size_t sessions_list_at(const struct sessions *s, int row);

/* sessions_hints.c: the keys, or a message, in the last rows. */
int sessions_hint_rows(const struct sessions *s, int width, int height);
void sessions_draw_hints(struct sessions *s);

/* sessions_fields.c: what stands behind a title or a snippet, the most important first. Clean; the
 * caller frees. */
char *sessions_field(const struct sessions *s, struct sessions_entry entry, size_t field);
bool sessions_field_is_cut(size_t field); /* rather than left out, where there is little room */
/* "#label #label", as they come. */
void sessions_write_labels(const struct session_info *info, struct buf *out);

/* Cleans a text of unknown origin to one line. The caller frees. */
char *sessions_clean(const char *text);

#endif
