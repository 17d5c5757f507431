/* Long pastes that stand as one sign in the text of an editor, "[pasted 120 lines]". In the text a
 * fold is two control characters around that label: the first and the last byte number the fold.
 * The editor cleans all text that it takes, so that no text can have them otherwise. Undo, cuts and
 * the layout handle the sign as any other text. Pure. */
#ifndef UI_FOLDS_H
#define UI_FOLDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"

enum { FOLD_LINES = 20 /* a paste of more is folded */ };

struct folds {
    VEC(struct fold {
        char *text;
        size_t len;
        bool opened; /* the person has seen it whole: it is not folded again */
    })
    items;
};
void folds_release(struct folds *f);

/* Appends the sign of this clean text. False: it is not long enough, or there are too many. */
bool folds_add(struct folds *f, const char *text, size_t len, struct buf *out);

/* Whether the sign of a fold is around the place: from < pos < to. */
bool fold_around(const char *text, size_t len, size_t pos, size_t *from, size_t *to);

/* The sign that begins, or ends, at the place. */
bool fold_behind(const char *text, size_t len, size_t pos, size_t *to);
bool fold_before(const char *text, size_t pos, size_t *from);

/* The first sign from `pos` on, which is [*from, *to). NULL: there is none. */
struct fold *folds_next(const struct folds *f, const char *text, size_t len, size_t pos,
                        size_t *from, size_t *to);

/* Appends the text with the folds' own texts in place of their signs. */
void folds_expand(const struct folds *f, const char *text, size_t len, struct buf *out);

/* Appends the whole text with a sign where the text of a fold stands that was not opened. */
void folds_fold_again(const struct folds *f, const char *text, size_t len, struct buf *out);

/* A place of the text as one of the whole text, and back; a place within a fold becomes its
 * beginning. */
size_t folds_whole_place(const struct folds *f, const char *text, size_t len, size_t pos);
size_t folds_inner_place(const struct folds *f, const char *text, size_t len, size_t whole);

/* Stands for the blanks of a label, so that a row does not end within it as long as it fits. */
#define FOLD_BLANK "\u00a0"

/* False for the control characters of a sign, which are not drawn. */
bool fold_is_drawn(char c);

#endif
