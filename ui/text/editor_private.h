/* What the editor's parts share: editor.c (actions), editor_undo.c (the one place that changes the
 * text), editor_layout.c (rows), editor_history.c. Nobody else includes it. */
#ifndef UI_EDITOR_PRIVATE_H
#define UI_EDITOR_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"

enum edit_group {
    GROUP_ALONE, /* a step of its own */
    GROUP_TYPED, /* joins typed text that it continues, up to the next word */
    GROUP_ERASED /* joins what was erased beside it */
};

struct edit { /* at pos, `removed` was replaced by `inserted` */
    size_t pos;
    struct buf removed, inserted;
    size_t caret_before;
    enum edit_group group;
};

struct edit_layout {
    int width;          /* 0: there is no layout */
    VEC(size_t) starts; /* byte offsets of the rows */
    size_t top;
    struct rows rows; /* [shown, shown_end) have their text */
    size_t shown, shown_end;
    bool drawn; /* rows fit the text */
};

struct editor {
    struct buf text;
    size_t caret;
    VEC(struct edit) edits; /* [0, done) can be undone, the others redone */
    size_t done;
    bool open_group; /* the last edit may be continued */

    VEC(char *) kills; /* newest last */
    bool killing;      /* the last action was a kill: the next one adds to it */
    bool yanked;       /* the last action was a yank: */
    size_t yank_from, yank_index;

    struct edit_layout layout;
    size_t goal; /* column that up and down aim for; SIZE_MAX: the caret's */

    VEC(char *) history; /* newest last */
    size_t history_back; /* how many entries back; 0: not in it */
    char *unsent;        /* what was being written before */
};

/* editor_undo.c. Replaces [from, to), puts the caret behind what came. */
void editor_edit(struct editor *e, size_t from, size_t to, const char *text, size_t len,
                 enum edit_group group);
bool editor_undo(struct editor *e);
bool editor_redo(struct editor *e);
void editor_undo_forget(struct editor *e); /* there is nothing to undo */
void editor_undo_release(struct editor *e);

/* editor_layout.c */
void editor_layout_changed(struct editor *e, size_t pos, size_t old_len, size_t new_len);
void editor_layout_release(struct editor *e);
bool editor_up(struct editor *e);
bool editor_down(struct editor *e);

/* The grapheme border that is not before `pos`, which is a character's. */
size_t editor_border(const struct editor *e, size_t pos);

/* editor_history.c */
void editor_history_release(struct editor *e);

#endif
