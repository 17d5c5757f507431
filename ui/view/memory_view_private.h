/* What the parts of the memory pane share: memory_view.c (the view), memory_view_answers.c (what is
 * asked, held and answered), memory_view_keys.c, memory_view_ahead.c (keys that wait),
 * memory_view_edit.c (an entry that is changed), memory_view_asked.c (what the model asked),
 * memory_view_list.c, memory_view_preview.c, memory_view_head.c and memory_view_rows.c (what it
 * looks like), memory_view_tabs.c (the tabs, of which memory itself is one). Nobody else includes
 * it. */
#ifndef UI_MEMORY_VIEW_PRIVATE_H
#define UI_MEMORY_VIEW_PRIVATE_H

#include "base/entropy.h"
#include "session/memory_operations.h"
#include "ui/text/editor.h"
#include "ui/text/wrap.h"
#include "ui/transcript/item.h"
#include "ui/view/hints.h"
#include "ui/view/memory_view.h"

enum {
    PANE_QUERY_BYTES = 1024,
    PANE_HITS = 50,       /* that are asked for at first */
    PANE_HITS_MOST = 6400 /* after going on to the end of them, again and again */
};

enum pane_tab { TAB_MEMORY, TAB_ASKED, TABS };

/* Where keys go. */
enum pane_place { IN_QUERY, IN_LIST, IN_PREVIEW, IN_EDITOR };

enum pane_scope { SCOPE_ALL, SCOPE_PROJECT, SCOPE_SESSION, SCOPES };

/* A list of rows of which one is chosen. */
struct pane_list {
    size_t chosen, top; /* top: the first in view */
};

/* The whole of an entry: its text with what is said of it in front, broken into rows only as far as
 * it was looked at. */
struct pane_preview {
    bool open;
    char *id;                  /* of the entry; NULL: none */
    uint64_t reading;          /* the request for it; 0: none is on its way */
    struct memory_entry whole; /* of that entry, once it has come; id NULL: not yet */
    struct styled text;
    VEC(size_t) starts; /* of the rows that are known; the last may be the text's end */
    int width;          /* that they are for; 0: none is known */
    size_t top;
    bool figures;   /* why it was found is told by them */
    size_t found;   /* byte of the text where what was found begins; 0: nothing was */
    bool untouched; /* the person did not scroll yet: what was found is in view */
};

/* An entry that is changed. It may wait for its whole text, then for the answer. */
struct pane_edit {
    char *id;         /* NULL: nothing is changed, nor was left half done */
    uint64_t reading; /* the request for its text; 0: none is on its way */
    char *original;   /* as the editor has it; NULL: the text has not come */
    bool saving;
    struct editor *editor;
};

struct pane_layout {
    int width, height;
    int query_row; /* -1: there is none */
    int list_top, list_rows;
    int lower_top, lower_rows; /* of the preview or the editor, its title included; rows 0: none */
    int hint_rows;             /* at the end: keys, or what is said; 0: no room */
};

/* Tabs are counted from 0, memory's own. */
struct pane_tabs {
    VEC(struct view *) views; /* of those beside it; NULL: not made yet */
    size_t at;                /* the one that is shown */
    int width, height;        /* of the pane */
    bool bar;                 /* their names have a row, as drawn last */
    struct rows rows;
};

struct memory_view {
    struct view view;
    struct pane_tabs tabs;
    bool open, focused; /* if it is not open, what changes is asked for when it is opened */
    enum pane_tab tab;
    enum pane_place place;
    struct editor *query;
    char *former; /* query of before it was opened; NULL: none */
    enum pane_scope scope;
    enum memory_order order;
    int origin; /* of the entries that are shown; 0: any, else 1 + enum memory_origin */

    int limit;
    uint64_t searching;    /* the newest search; 0: it was answered */
    bool behind;           /* the hits are not those of what is asked for: keys wait for these */
    int64_t behind_ms;     /* clock_mono_ms() since then */
    bool slow;             /* that this takes long is seen */
    VEC(struct key) ahead; /* keys that wait, in order; their texts are their own */
    struct memory_hits hits;
    char *held; /* the query that they answer; NULL: nothing was answered yet */
    int64_t total;
    char *stay; /* id of the entry to choose in the next answer; NULL: the one that is chosen */
    struct memory_stats stats;

    struct recalls recalls;     /* what the model asked in the open session */
    char session[UUID_LEN + 1]; /* the open one; "": none was open yet */
    struct {
        bool waits; /* a session was asked for, to show a message of it */
        char session[UUID_LEN + 1];
        int64_t seq; /* 0: it is not known */
    } source;

    struct pane_list lists[TABS];
    struct pane_preview preview;
    struct pane_edit edit;
    struct remark remark;

    struct pane_layout layout;
    struct rows rows;
    int caret_row, caret_col; /* row -1: none */
};

static inline struct memory_view *pane_of(struct view *view)
{
    return (struct memory_view *)view;
}

/* memory_view.c */
bool pane_is_seen(const struct memory_view *p);
void pane_open_source(struct view *view); /* of the chosen entry: its message is shown */
void pane_insert(struct view *view);      /* a quotation of it, into the message */

/* memory_view_answers.c */
enum pane_scope pane_scope_of(const char *name);          /* ALL where it is none */
void pane_show(struct memory_view *p, const char *query); /* NULL: as it was left */
void pane_show_session(struct memory_view *p);            /* its entries, newest first */
void pane_ask(struct memory_view *p);                     /* again, for what is held */
void pane_ask_other(struct memory_view *p);               /* what is held answers something else */
void pane_forget(struct memory_view *p);                  /* the chosen entry */
void pane_restore(struct memory_view *p);
void pane_pin(struct memory_view *p); /* … or unpin, the chosen entry */
void pane_save(struct memory_view *p, const char *id, const char *content);
void pane_changed(struct memory_view *p);         /* memory may hold other entries */
void pane_session_changed(struct memory_view *p); /* another one is open */
void pane_recalled(struct memory_view *p, const struct recalled *r); /* just now */
void pane_take_stats(struct memory_view *p, struct memory_stats *stats);
const struct memory_hit *pane_hit(const struct memory_view *p); /* chosen; NULL: none is */
size_t pane_count(const struct memory_view *p);                 /* rows of the tab's list */
void pane_choose(struct memory_view *p, long index);            /* the nearest that there is */
void pane_set_query(struct memory_view *p, const char *text);   /* of any form */
bool pane_wants_more(const struct memory_view *p);              /* there may be more hits */

/* What is said in place of the keys until the next of them; NULL: nothing. */
void pane_say(struct memory_view *p, enum style style, const char *text);
/* What was asked for failed. False: the pane is not seen, so it does not tell. */
bool pane_fail(struct memory_view *p, const char *words);

/* memory_view_keys.c */
bool pane_key(struct view *view, enum action action, const struct key *key);
void pane_click(struct view *view, int row, int col);
bool pane_passes(enum action action); /* it is of use to the screen around it alone */

/* memory_view_ahead.c */
bool ahead_take(struct memory_view *p, enum action action, const struct key *key);
bool ahead_waits(const struct memory_view *p);
void ahead_drop(struct memory_view *p);   /* they, and the text that waits to be changed, are off */
void ahead_replay(struct memory_view *p); /* those that wait no longer go to who has the keys */

/* memory_view_asked.c: a row of that tab is a question of the model's, or (hit not NULL) what it
 * got for it; newest first. */
struct asked_row {
    const struct recalled *recalled;
    const struct memory_hit *hit;
};
struct asked_row asked_row(const struct memory_view *p, size_t index); /* NULL, NULL: none */
size_t asked_count(const struct memory_view *p);
size_t asked_fresh(const struct memory_view *p);
void asked_seen(struct memory_view *p);

/* memory_view_preview.c */
void preview_open(struct view *view);
void preview_close(struct view *view);
void preview_toggle_figures(struct view *view); /* behind the reasons why it was found */
void preview_follow(struct memory_view *p);     /* another entry may be chosen */
void preview_anew(struct memory_view *p);       /* the entry may be another than was read */
void preview_scroll(struct memory_view *p, long by);
void preview_rows(struct memory_view *p, struct rows *out); /* fills the lower part */
void preview_release(struct pane_preview *v);
/* What is known of the chosen entry: the whole if that has come. NULL: nothing is chosen. */
const struct memory_entry *preview_entry(const struct memory_view *p);

/* memory_view_edit.c */
void edit_open(struct memory_view *p);
bool edit_waits(const struct memory_view *p); /* for the text */
void edit_give_up(struct memory_view *p);     /* that wait */
bool edit_in_pane(struct view *view, enum action action, const struct key *key);
void edit_saved(struct memory_view *p, bool done); /* the engine answered */
void edit_rows(struct memory_view *p, struct rows *out);
void edit_release(struct pane_edit *e);

/* memory_view_list.c: fills the rows of the list. */
void list_part_rows(struct memory_view *p, struct rows *out);
size_t list_part_at(const struct memory_view *p, int row); /* of the list; SIZE_MAX: none */
int list_part_row_height(const struct memory_view *p);     /* of one entry */

/* memory_view_rows.c */
void pane_resize(struct view *view, int width, int height);
const struct rows *pane_rows(struct view *view);
int64_t pane_due(const struct view *view);

/* memory_view_tabs.c: the pane's part of view_ops. */
void tabs_init(struct memory_view *p);
void tabs_release(struct memory_view *p);
bool tabs_offered(const struct memory_view *p, size_t tab); /* false: nor is there such a tab */
bool tabs_any(const struct memory_view *p);                 /* is offered */
void tabs_choose(struct memory_view *p, size_t tab, const char *query); /* NULL: as it was left */
void tabs_choose_first(struct memory_view *p); /* if the one that is shown is not offered */
bool tabs_key(struct view *view, enum action action, const struct key *key);
void tabs_click(struct view *view, int row, int col);
void tabs_resize(struct view *view, int width, int height);
const struct rows *tabs_rows(struct view *view);
bool tabs_caret(const struct view *view, int *row, int *col);
void tabs_notice(struct memory_view *p, struct notice *n);
int64_t tabs_due(const struct view *view);
void tabs_tick(struct view *view);

/* memory_view_head.c */
char *pane_badge(const struct memory_view *p, bool *warns); /* the caller frees; NULL: none */
void head_rows(struct memory_view *p, struct rows *out, const char *badge, bool warns);
void head_query(struct memory_view *p, struct rows *out);

const char *pane_origin_words(enum memory_origin origin); /* how an entry came */

/* Words of both. */
enum who_form {
    WHO_SHORT,   /* "you · turn 3 · 2 d", a long name cut */
    WHO_ROW,     /* "you · turn 3 · 2 d · Kyoto", likewise */
    WHO_SESSION, /* the same with the whole name */
    WHO_LASTING  /* "you · turn 3 · 2026-03-09 · Kyoto" */
};
void pane_write_who(const struct memory_view *p, const struct memory_entry *e, enum who_form form,
                    struct buf *out);

#endif
