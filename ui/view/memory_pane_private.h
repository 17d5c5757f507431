/* What the parts of the memory pane share: memory_pane.c (what is asked, held and answered),
 * memory_pane_keys.c, memory_pane_ahead.c (keys that wait), memory_pane_edit.c (an entry that is
 * changed), memory_pane_asked.c (what the model asked), memory_pane_list.c, memory_pane_preview.c,
 * memory_pane_head.c and memory_pane_rows.c (what it looks like). Nobody else includes it. */
#ifndef UI_MEMORY_PANE_PRIVATE_H
#define UI_MEMORY_PANE_PRIVATE_H

#include "ui/text/wrap.h"
#include "ui/view/memory_pane.h"
#include "ui/view/remark.h"

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
    struct memory_entry whole; /* of that entry, once it has come; id NULL: not yet */
    struct styled text;
    VEC(size_t) starts; /* of the rows that are known; the last may be the text's end */
    int width;          /* that they are for; 0: none is known */
    size_t top;
    size_t found;   /* byte of the text where what was found begins; 0: nothing was */
    bool untouched; /* the person did not scroll yet: what was found is in view */
};

/* An entry that is changed. It may wait for its whole text, then for the answer. */
struct pane_edit {
    char *id;       /* NULL: nothing is changed, nor was left half done */
    char *original; /* as the editor has it; NULL: the text has not come */
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

struct memory_pane {
    struct memory_host host;
    bool shown;   /* it is open; else what changes is asked for when it is opened */
    bool focused; /* keys are its own */
    enum pane_tab tab;
    enum pane_place place;
    struct editor *query;
    char *former; /* query of before it was opened; NULL: none */
    enum pane_scope scope;
    enum memory_order order;

    int limit;
    bool waiting;
    bool behind;           /* the hits are not those of what is asked for: keys wait for these */
    int64_t behind_ms;     /* clock_mono_ms() since then */
    bool slow;             /* that this takes long is seen */
    VEC(struct key) ahead; /* keys that wait, in order; their texts are their own */
    struct memory_hits hits;
    char *held; /* the query that they answer; NULL: nothing was answered yet */
    int64_t total;
    char *stay; /* id of the entry to choose in the next answer; NULL: the one that is chosen */

    struct memory_stats stats;

    struct pane_list lists[TABS];
    struct pane_preview preview;
    struct pane_edit edit;
    bool pinning; /* what the last MEMORY_PIN was for */
    struct remark remark;

    struct pane_layout layout;
    struct rows rows;
    int caret_row, caret_col; /* row -1: none */
};

/* memory_pane.c */
void pane_ask(struct memory_pane *p);       /* again, for what is held */
void pane_ask_other(struct memory_pane *p); /* what is held answers something else */
void pane_send(struct memory_pane *p, enum command_type type, const char *id, const char *text,
               int64_t number);
const struct memory_hit *pane_hit(const struct memory_pane *p); /* chosen; NULL: none is */
size_t pane_count(const struct memory_pane *p);                 /* rows of the tab's list */
void pane_choose(struct memory_pane *p, size_t index);          /* the last one if it is beyond */
void pane_set_pinned(struct memory_pane *p, bool pinned);       /* the chosen hit */
void pane_take_out(struct memory_pane *p);                      /* the chosen hit is gone */
void pane_set_query(struct memory_pane *p, const char *text);   /* of any form */
bool pane_wants_more(const struct memory_pane *p);              /* there may be more hits */
const char *pane_scope_name(enum pane_scope scope);             /* as a command has it */

/* memory_pane_ahead.c */
bool ahead_take(struct memory_pane *p, enum action action, const struct key *key);
bool ahead_waits(const struct memory_pane *p);
void ahead_drop(struct memory_pane *p); /* they, and the text that waits to be changed, are off */

/* memory_pane_keys.c: what the screen around it does with a key that the pane has no use for. */
bool pane_passes(enum action action);

/* memory_pane_asked.c: a row of that tab is a question of the model's, or (hit not NULL) what it
 * got for it; newest first. */
struct asked_row {
    const struct recalled *recalled;
    const struct memory_hit *hit;
};
struct asked_row asked_row(const struct memory_pane *p, size_t index); /* NULL, NULL: none */
size_t asked_count(const struct memory_pane *p);
size_t asked_fresh(const struct memory_pane *p);
void asked_seen(struct memory_pane *p);

/* memory_pane_preview.c */
void preview_open(struct memory_pane *p);
void preview_close(struct memory_pane *p);
void preview_follow(struct memory_pane *p); /* another entry may be chosen */
void preview_take(struct memory_pane *p, struct memory_entry *entry);
void preview_scroll(struct memory_pane *p, long by);
void preview_to_end(struct memory_pane *p, bool first);
void preview_rows(struct memory_pane *p, struct rows *out); /* fills the lower part */
void preview_release(struct pane_preview *v);
/* What is known of it: the whole if that has come. NULL: nothing is chosen. */
const struct memory_entry *preview_entry(const struct memory_pane *p);

/* memory_pane_edit.c */
void edit_open(struct memory_pane *p);
bool edit_waits(const struct memory_pane *p); /* for the text */
void edit_give_up(struct memory_pane *p);     /* that wait */
void edit_take(struct memory_pane *p, const struct memory_entry *entry);
enum memory_result edit_in_pane(struct memory_pane *p, enum action action, const struct key *key);
void edit_over(struct memory_pane *p, bool done); /* the engine answered */
void edit_rows(struct memory_pane *p, struct rows *out);
void edit_release(struct pane_edit *e);

/* memory_pane_list.c: fills the rows of the list. */
void list_part_rows(struct memory_pane *p, struct rows *out);
size_t list_part_at(const struct memory_pane *p, int row); /* of the list; SIZE_MAX: none */
int list_part_row_height(const struct memory_pane *p);     /* of one entry */

/* memory_pane_head.c */
char *pane_badge(const struct memory_pane *p, bool *warns); /* the caller frees; NULL: none */
void head_rows(struct memory_pane *p, struct rows *out, const char *badge, bool warns);
void head_query(struct memory_pane *p, struct rows *out);

/* Words of both. */
enum who_form {
    WHO_SHORT,   /* "you · t3 · 2 d", a long name cut */
    WHO_ROW,     /* "you · t3 · 2 d · Kyoto", likewise */
    WHO_SESSION, /* the same with the whole name */
    WHO_LASTING  /* "you · t3 · 2026-03-09 · Kyoto" */
};
void pane_write_who(const struct memory_pane *p, const struct memory_entry *e, enum who_form form,
                    struct buf *out);

#endif
