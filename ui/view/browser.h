/* A view that lists things: a title, a query, the list, and a row of keys or a message. A view of
 * this kind begins with a struct browser; its table says what is special about it. No curses. */
#ifndef UI_BROWSER_H
#define UI_BROWSER_H

#include "base/mem.h"
#include "ui/text/editor.h"
#include "ui/view/hints.h"
#include "ui/view/outline.h"
#include "ui/view/view.h"

struct browser;

enum { BROWSER_QUERY_BYTES = 1024 };

/* An entry of a list as one row: `left` is cut, `right` is left out where there is no room. */
struct browser_entry {
    struct buf left, right;
    enum style style; /* of `left`; STYLE_OVERLAY unless it is set */
};

/* Where something was said: a conversation (id NULL: none) and a place in it. */
struct browser_source {
    const char *session_id, *title; /* title NULL: not known */
    int64_t seq, at_ms;
    bool deleted; /* the conversation is */
};

/* The entries of one list. */
struct browser_columns {
    int64_t (*id)(const struct browser *b, size_t index); /* the same after each answer */
    void (*entry)(const struct browser *b, size_t index, struct browser_entry *out);
    /* Writes the text that the entry unfolds. False: it does not unfold. NULL: no entry does. */
    bool (*text)(const struct browser *b, size_t index, struct buf *out);
    /* Where the entry was said; ACTION_MEMORY_OPEN shows that message. NULL: no key does. */
    struct browser_source (*source)(const struct browser *b, size_t index);
};

struct browser_list {
    struct browser *browser;
    const struct browser_columns *columns;
    struct outline *outline;
    size_t count;
};

/* The receiver of the keys. */
enum browser_place {
    BROWSER_LIST,
    BROWSER_QUERY,
    BROWSER_LINE,    /* a text that is changed, in the row of the query */
    BROWSER_QUESTION /* yes or no, in the foot */
};

/* A function that is NULL does nothing. */
struct browser_table {
    /* An action in the list, of KEYS_PANE or KEYS_EVERYWHERE, before the browser's own. False: it
     * is none of this view. */
    bool (*act)(struct browser *b, enum action action);
    /* Enter on an entry, or a click at the chosen one. False: the entry unfolds. NULL: each does.
     */
    bool (*open)(struct browser *b);
    const char *sourceless; /* why an entry without a conversation has no message; for gettext */
    const struct operation *restore; /* ACTION_MEMORY_RESTORE asks for it */
    /* A change was made, whose answer browser_changed() got: returns what the foot says of it. */
    const char *(*done)(struct browser *b, struct operation_answer *a);
    void (*title)(const struct browser *b, struct buf *out);
    const char *(*empty)(const struct browser *b); /* in place of a known list without entries */
    const char *to_list; /* a word for the key that leads from the query to the list; for gettext */
    struct hint_table (*hints)(const struct browser *b); /* in the list */
    bool (*has_query)(const struct browser *b);          /* the list that is shown; NULL: `main` */
    void (*back)(struct browser *b);                     /* up from a list that has no query */
    void (*search)(struct browser *b);                   /* the query was changed */
    void (*refresh)(struct browser *b);                  /* asks for everything again */
    void (*more)(struct browser *b);                     /* the last entry is chosen, by keys */
    /* Writes the question before the chosen entry is deleted; or returns why it is not asked. */
    const char *(*question)(const struct browser *b, struct buf *out);
    void (*confirm)(struct browser *b); /* the answer was yes */
    const char *prompt;                 /* before BROWSER_LINE; for gettext */
    size_t line_bytes;                  /* the most that BROWSER_LINE takes */
    void (*save)(struct browser *b);    /* Enter in BROWSER_LINE */
};

struct browser {
    struct view view;
    const struct browser_table *table;
    enum browser_place place;
    struct editor *query, *line;
    struct browser_list main;
    struct browser_list *list; /* the one that is shown */
    bool known;                /* an answer has come */
    uint64_t asked;            /* the newest request for the list; 0: it was answered */
    bool stale;                /* refresh() is called, not more than every 300 ms */
    int64_t asked_ms;          /* clock_mono_ms() of browser_refresh() */
    struct remark remark;      /* in the foot, until the next key */
    int top_rows;              /* above the list, as drawn last */
    struct rows rows;
    char *unfolded; /* text of the entry that was unfolded last */
};

static inline struct browser *browser_of(struct view *v)
{
    return (struct browser *)v;
}

/* A view's struct view_ops begins with these. */
#define BROWSER_OPS                                                                                \
    .layer = VIEW_PANE, .key = browser_key, .click = browser_click, .rows = browser_rows,          \
    .due = browser_due, .tick = browser_tick

void browser_init(struct browser *b, const struct view_host *host, const struct view_ops *ops,
                  const struct browser_table *table, const struct browser_columns *columns);
void browser_release(struct browser *b);

void browser_list_init(struct browser_list *l, struct browser *b,
                       const struct browser_columns *columns);
/* The list has other entries; the chosen and the unfolded ones stay if they are among them. */
void browser_fill(struct browser_list *l, size_t count);

/* The chosen entry of the list that is shown; SIZE_MAX: none. */
size_t browser_chosen(const struct browser *b);

/* Calls table->refresh. */
void browser_refresh(struct browser *b);

/* Asks for the list, and no more for the one that was asked for before. */
void browser_ask(struct browser *b, const struct operation *o, const void *params,
                 view_answer *take);
/* For a view_answer. The list came, or failed, which is said: false. */
bool browser_came(struct browser *b, const char *words);
/* Moves the result to `to`, a struct of the same shape, whose former members are released. */
void browser_take(struct operation_answer *a, void *to);
/* For a request that changes something: says that it was done, and asks for everything again; or
 * says that it failed. */
view_answer browser_changed;

/* Goes up to the list that has a query, and gives the query the keys. */
void browser_to_query(struct browser *b);

/* ", from a conversation: Kyoto", with the date before it; `other`: there is no conversation. */
void browser_write_source(const struct browser *b, const struct browser_source *s,
                          const char *other, struct buf *out);

/* Members of struct view_ops. */
bool browser_key(struct view *v, enum action action, const struct key *key);
void browser_click(struct view *v, int row, int col);
const struct rows *browser_rows(struct view *v);
int64_t browser_due(const struct view *v);
void browser_tick(struct view *v);

/* For views of other shapes. */

/* The row of a query: title and prompt, the text, and at the right a state, which gives way to the
 * text. Returns the caret's column. */
struct browser_line {
    const char *title, *prompt, *right; /* NULL: none */
    const struct editor *editor;
};
int browser_line_row(struct rows *out, const struct browser_line *line, size_t width);

/* Gives a key to an editor of one line. *mine: it is one of the editor's keys. Returns whether the
 * text has changed. */
bool browser_edit(struct editor *e, size_t most, enum action action, const struct key *key,
                  bool *mine);

/* For ids: texts, as the outline knows entries. */
int64_t browser_hash(int64_t seed, const char *text);

/* Appends a foreign text, clean, on one line. */
void browser_clean(struct buf *out, const char *text);

#endif
