/* Items of the transcript → rows. */
#ifndef UI_ITEM_LAYOUT_H
#define UI_ITEM_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/transcript/item.h"

/* Brings the item's rows up to date and returns their number (0: it is not shown). At most *room
 * bytes of a model's text are laid out, and subtracted from *room. */
size_t item_lay_out(struct item *item, int width, enum reasoning_view reasoning, size_t *room);

/* Whether some of the text is not laid out yet; the next item_lay_out() goes on. */
bool item_is_behind(const struct item *item);

/* Frees the rows. */
void item_forget_rows(struct item *item);

/* The number of rows, with those that were freed by item_let_go(). */
size_t item_row_count(const struct item *item);

/* Frees the rows before `first` of a long text, as far as they will not change. */
void item_let_go(struct item *item, size_t first);

bool item_can_fold(const struct item *item, enum reasoning_view reasoning);
bool item_is_open(const struct item *item, enum reasoning_view reasoning);
void item_set_open(struct item *item, bool open, enum reasoning_view reasoning);

#endif
