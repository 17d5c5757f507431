/* A compaction in the transcript, as a card: its progress, then its result. The card is made of
 * events alone, so that a session that is opened again shows the same. */
#ifndef UI_COMPACTION_CARD_H
#define UI_COMPACTION_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/transcript/item.h"

/* Applies a compaction_started, _delta, _completed or _failed, in their order; the first may be on
 * an older page. */
void compaction_card_apply(struct item *item, const struct event *ev);

/* The summary begins anew: drops the text that has streamed. */
void compaction_card_restart(struct item *item);

/* CARD_CUT_OFF: it is shown as interrupted, until another event of it comes. */
void compaction_card_set(struct item *item, enum card_state state);

/* Number of the event that completed it; 0: it is not completed. */
int64_t compaction_card_completed(const struct item *item);

void compaction_card_rows(struct rows *out, const struct item *item, int width);

#endif
