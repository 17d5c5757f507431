/* Shared by the parts of the memory pane: memory_pane.c (the pane and its tabs), memory_view.c
 * (requests, answers and keys of memory's own tab), memory_preview.c (an entry that is shown in
 * full or changed) and memory_rows.c (the rows). No other file includes it. */
#ifndef UI_MEMORY_VIEW_PRIVATE_H
#define UI_MEMORY_VIEW_PRIVATE_H

#include "base/entropy.h"
#include "session/conversation_operations.h"
#include "session/memory_operations.h"
#include "ui/text/editor.h"
#include "ui/text/wrap.h"
#include "ui/transcript/item.h"
#include "ui/view/hints.h"
#include "ui/view/memory_view.h"

enum { PANE_HITS = 50 /* that are asked for at first */ };

/* Lists of memory's own tab: entries; and passages recalled by searches of the model and for
 * messages. */
enum pane_tab { TAB_MEMORY, TAB_ASKED, TABS };

/* The receiver of the keys. */
enum pane_place { IN_QUERY, IN_LIST, IN_PREVIEW, IN_EDITOR };

enum pane_scope { SCOPE_ALL, SCOPE_PROJECT, SCOPE_SESSION, SCOPES };

struct pane_list {
    size_t chosen, top; /* top: the first row in view */
};

/* An entry in full: its text with who, when and why it was found, broken into rows only as far as
 * it was looked at. */
struct pane_preview {
    bool open;
    char *id;                  /* of the entry; NULL: none */
    uint64_t reading;          /* the request for it; 0: none is under way */
    struct memory_entry whole; /* of that entry, once it has come; id NULL: not yet */
    struct styled text;
    VEC(size_t) starts; /* of the rows that are known; the last may be the text's end */
    int width;          /* that they are for; 0: none is known */
    size_t top;
    bool figures;   /* the reasons have their numbers */
    size_t found;   /* byte of the text where the match begins; 0: none */
    bool untouched; /* the person did not scroll yet: the match is in view */
};

/* An entry that is changed. It may wait for its whole text, then for the answer. */
struct pane_edit {
    char *id;         /* NULL: nothing is changed, nor was left half done */
    uint64_t reading; /* the request for its text; 0: none is under way */
    char *original;   /* as the editor has it; NULL: the text has not come */
    bool saving;
    struct editor *editor;
};

struct pane_layout {
    int width, height;
    int query_row; /* -1: there is none */
    int list_top, list_rows;
    int lower_top, lower_rows; /* of the preview or the editor, its title included; rows 0: none */
    int hint_rows;             /* of the foot; 0: no room */
};

/* Tabs are counted from 0, memory's own. */
struct pane_tabs {
    VEC(struct view *) views; /* of the tabs; NULL: memory's own, and one that is not made yet */
    size_t at;                /* the one that is shown */
    bool bar;                 /* their names have a row, as drawn last */
    struct rows rows;
};

struct memory_view {
    struct view view;
    const struct pane_host *host;
    struct pane_tabs tabs;
    bool open, focused; /* a closed pane asks for changes when it is opened */
    enum pane_tab tab;
    enum pane_place place;
    struct editor *query;
    char *former; /* query of before it was opened; NULL: none */
    enum pane_scope scope;
    enum memory_order order;
    int origin; /* of the entries that are shown; 0: any, else 1 + enum memory_origin */

    int limit;
    uint64_t searching;    /* the newest search; 0: it was answered */
    bool behind;           /* the hits answer an older search: keys wait for the newest */
    int64_t behind_ms;     /* clock_mono_ms() since then */
    bool slow;             /* the wait is shown */
    VEC(struct key) ahead; /* keys that wait, in order; their texts are their own */
    struct memory_hits hits;
    char *held; /* the query that they answer; NULL: nothing was answered yet */
    int64_t total;
    char *stay; /* id of the entry to choose in the next answer; NULL: the one that is chosen */
    struct memory_stats stats;

    struct recalls recalls;     /* of the open session */
    char session[UUID_LEN + 1]; /* the open one; "": none was open yet */
    struct {
        bool waits; /* a session was asked for, to show a message of it */
        char session[UUID_LEN + 1];
        int64_t seq; /* 0: it is not known */
    } source;

    struct pane_list lists[TABS];
    struct pane_preview preview;
    struct pane_edit edit;
    struct remark remark; /* in the foot, until the next key */

    struct pane_layout layout;
    struct rows rows;
};

static inline struct memory_view *pane_of(struct view *view)
{
    return (struct memory_view *)view;
}

/* memory_pane.c */
bool pane_is_seen(const struct view *view);
/* Opens memory's own tab, to be filled. False: there is no memory, which the surface says. */
bool pane_come(struct memory_view *p);

/* memory_view.c */
extern const char *const pane_scopes[SCOPES];             /* for gettext */
void pane_show(struct memory_view *p, const char *query); /* NULL: as it was left */
view_answer pane_take_change;                     /* of a pin, an edit, a deletion, a restoration */
void pane_changed(struct memory_view *p);         /* memory may hold other entries */
void pane_session_changed(struct memory_view *p); /* another one is open */
const struct memory_hit *pane_hit(const struct memory_view *p); /* chosen; NULL: none is */
size_t pane_count(const struct memory_view *p);                 /* rows of the list */
/* A request failed. False: the pane is not seen, so it does not tell. */
bool pane_fail(struct memory_view *p, const char *words);
bool pane_key(struct memory_view *p, enum action action, const struct key *key);
void pane_click(struct memory_view *p, int row);
/* Whether this character, the key of the other list, acts although the query takes keys: the query
 * is empty, and no query begins with punctuation. */
bool pane_tab_acts(const struct memory_view *p, uint32_t character);
bool pane_passes(enum action action); /* only the screen around the pane uses it */

/* Keys that wait for an answer: whether they do, to drop them with the text that waits to be
 * changed, and to press those that need not wait any more. */
bool ahead_waits(const struct memory_view *p);
void ahead_drop(struct memory_view *p);
void ahead_replay(struct memory_view *p);

/* A row of TAB_ASKED is a search of the model, or (hit not NULL) a match of it; newest first. */
struct asked_row {
    const struct recalled *recalled;
    const struct memory_hit *hit;
};
struct asked_row asked_row(const struct memory_view *p, size_t index); /* NULL, NULL: none */

/* memory_preview.c */
void preview_open(struct memory_view *p);
void preview_close(struct memory_view *p);
void preview_toggle_figures(struct memory_view *p);
void preview_follow(struct memory_view *p); /* another entry may be chosen */
void preview_forget(struct memory_view *p); /* the entry may have changed since it was read */
void preview_scroll(struct memory_view *p, long by);
void preview_rows(struct memory_view *p, struct rows *out); /* fills the lower part */
/* The chosen entry: the whole if that has come. NULL: nothing is chosen. */
const struct memory_entry *preview_entry(const struct memory_view *p);

void edit_open(struct memory_view *p);
void edit_give_up(struct memory_view *p); /* the wait for its text */
bool edit_key(struct memory_view *p, enum action action, const struct key *key);
void edit_saved(struct memory_view *p, bool done); /* the engine answered */
void edit_rows(struct memory_view *p, struct rows *out);

/* memory_rows.c */
size_t pane_list_at(const struct memory_view *p, int row); /* of the list; SIZE_MAX: none */
int pane_entry_height(const struct memory_view *p);        /* rows of one entry */
const struct rows *pane_rows(struct view *view);
int64_t pane_due(const struct view *view);
const char *pane_origin_words(enum memory_origin origin); /* how an entry came */

/* Appends a text, clean, behind a dot that parts it from what is there. */
void pane_add_part(struct buf *out, const char *text);

enum who_form {
    WHO_SHORT,   /* "you · turn 3 · 2 d", a long name cut */
    WHO_ROW,     /* "you · turn 3 · 2 d · Kyoto", likewise */
    WHO_SESSION, /* the same with the whole name */
    WHO_LASTING  /* "you · turn 3 · 2026-03-09 · Kyoto" */
};
void pane_write_who(const struct memory_view *p, const struct memory_entry *e, enum who_form form,
                    struct buf *out);

#endif
