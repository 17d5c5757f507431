#include "ui/transcript/compaction_card.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Bytes of a summary that streams; only its end is shown. */
enum { KEPT_MAX = 16 * 1024, KEPT_LEAST = 8 * 1024 };

void compaction_card_new(struct item *item, const struct card_hints *hints)
{
    item->card = mem_alloc(sizeof *item->card);
    item->card->hints = hints;
}

static void drop(char **text)
{
    free(*text);
    *text = NULL;
}

/* The event without what no card shows. */
static struct event *keep(const struct event *ev)
{
    struct event *kept = event_clone(ev);
    drop(&kept->compaction.history);
    drop(&kept->compaction.dropped);
    if (kept->type == EVENT_COMPACTION_COMPLETED)
        drop(&kept->text);
    return kept;
}

static void set_state(struct item *item, enum card_state state)
{
    item->card->state = state;
    item->streaming = state == CARD_RUNNING;
    item->change = ITEM_CHANGED;
}

void compaction_card_start(struct item *item, const struct event *started)
{
    event_free(item->card->started);
    item->card->started = keep(started);
    set_state(item, CARD_RUNNING);
}

void compaction_card_restart(struct item *item)
{
    buf_clear(&item->text);
    buf_clear(&item->tail);
    item->change = ITEM_CHANGED;
}

static void forget_beginning(struct buf *text)
{
    if (text->len <= KEPT_MAX)
        return;
    buf_consume(text, utf8_cut_bytes(text->data, text->len, text->len - KEPT_LEAST));
}

void compaction_card_delta(struct item *item, const struct event *delta)
{
    struct compaction_card *card = item->card;
    if (delta->count > 0 && delta->count != card->part)
        compaction_card_restart(item);
    if (delta->count > 0) {
        card->part = delta->count;
        card->parts = delta->limit;
    }
    item_append(item, delta->text ? delta->text : "");
    forget_beginning(&item->text);
    set_state(item, CARD_RUNNING);
}

void compaction_card_end(struct item *item, const struct event *ended)
{
    struct compaction_card *card = item->card;
    bool done = ended->type == EVENT_COMPACTION_COMPLETED;
    event_free(card->ended);
    card->ended = keep(ended);
    compaction_card_restart(item);
    set_state(item, done ? CARD_DONE : CARD_FAILED);
}

void compaction_card_cut_off(struct item *item)
{
    set_state(item, CARD_CUT_OFF);
}

void compaction_card_undo(struct item *item)
{
    item->card->undone = true;
    item->change = ITEM_CHANGED;
}

bool compaction_card_tick(struct item *item, int64_t elapsed_ms)
{
    struct compaction_card *card = item->card;
    bool shows = card->state == CARD_RUNNING && elapsed_ms / 1000 != card->elapsed_ms / 1000;
    card->elapsed_ms = elapsed_ms;
    if (shows)
        item->change = ITEM_CHANGED;
    return shows;
}

void compaction_card_join(struct item *item, struct item *older)
{
    assert(!item->card->started);
    item->card->started = older->card->started;
    older->card->started = NULL;
    item->seq = older->seq;
    item->change = ITEM_CHANGED;
}

int64_t compaction_card_completed(const struct item *item)
{
    const struct compaction_card *card = item->card;
    return card && card->state == CARD_DONE ? card->ended->seq : 0;
}
