/* A compaction in the transcript, as a card: first what goes on, then what came of it. What it
 * shows is of its events alone, so that a session that is opened again shows the same. */
#ifndef UI_COMPACTION_CARD_H
#define UI_COMPACTION_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/transcript/item.h"

/* Makes the item's card. */
void compaction_card_new(struct item *item, const struct card_hints *hints);

/* The events, in their order; the first may be on an older page. */
void compaction_card_start(struct item *item, const struct event *started);
void compaction_card_delta(struct item *item, const struct event *delta);
void compaction_card_end(struct item *item, const struct event *completed_or_failed);

/* What streams so far is void: the summary begins anew. */
void compaction_card_restart(struct item *item);

/* Nothing comes any more, unless another event of it does after all. */
void compaction_card_cut_off(struct item *item);

void compaction_card_undo(struct item *item);

/* How long it has run; true if that shows. */
bool compaction_card_tick(struct item *item, int64_t elapsed_ms);

/* Its beginning was not seen: takes what the card that is `older` knows of that. */
void compaction_card_join(struct item *item, struct item *older);

/* Number of the event that completed it; 0: there is nothing to open. */
int64_t compaction_card_completed(const struct item *item);

void compaction_card_rows(struct rows *out, const struct item *item, int width);

#endif
