/* Items of the transcript → rows. */
#ifndef UI_ITEM_LAYOUT_H
#define UI_ITEM_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/transcript/item.h"

/* Brings the item's rows up to date and returns how many there are (0: it is not shown). Of what a
 * model says, `room` bytes are laid out at most, and taken off it. */
size_t item_lay_out(struct item *item, int width, enum reasoning_view reasoning, size_t *room);

/* Some of its text is not laid out yet: the next item_lay_out() goes on. */
bool item_is_behind(const struct item *item);

/* Frees the rows. */
void item_forget_rows(struct item *item);

/* How many there are, with those that were let go. */
size_t item_row_count(const struct item *item);

/* Lets go of the rows before `first` of a long text, as far as they will not change. */
void item_let_go(struct item *item, size_t first);

bool item_can_fold(const struct item *item, enum reasoning_view reasoning);
bool item_is_open(const struct item *item, enum reasoning_view reasoning);
void item_set_open(struct item *item, bool open, enum reasoning_view reasoning);

/* tool_row.c: a tool call as one line, or that line with the arguments and the result below. */
void tool_rows(struct rows *out, const struct item *call, int width, bool open);

#endif
