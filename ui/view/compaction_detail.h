/* An opened card of a compaction: what came of it, the whole summary, what was shortened, and the
 * messages that it dropped, page by page. Knows neither the terminal nor the service: commands go
 * to its host, notices come from it. */
#ifndef UI_COMPACTION_DETAIL_H
#define UI_COMPACTION_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "session/command.h"
#include "session/notice.h"
#include "ui/term/keymap.h"
#include "ui/term/rows.h"

struct compaction_detail;

struct compaction_host {
    const struct keymap *keymap;                    /* borrowed; outlives the view */
    void (*send)(void *context, struct command *c); /* takes the command */
    void *context;
};

/* `seq`: of the compaction_completed, which is asked for at once. */
struct compaction_detail *compaction_detail_new(const struct compaction_host *host, int64_t seq);
void compaction_detail_free(struct compaction_detail *d); /* NULL is fine */

/* CLOSED: it is left. JUMP: likewise, for compaction_detail_message() in the transcript. MEMORY:
 * likewise, for what is remembered of it. */
enum compaction_result { COMPACTION_STAYS, COMPACTION_CLOSED, COMPACTION_JUMP, COMPACTION_MEMORY };
enum compaction_result compaction_detail_key(struct compaction_detail *d, enum action action,
                                             const struct key *key);
int64_t compaction_detail_message(const struct compaction_detail *d);

/* A click at a row of what compaction_detail_rows() returned last. */
void compaction_detail_click(struct compaction_detail *d, int row);

/* Takes in a DROPPED. One that was not asked for changes nothing. */
void compaction_detail_take(struct compaction_detail *d, const struct notice *n);

/* An ERROR, with the words for it. False if it is none of the view's. */
bool compaction_detail_failed(struct compaction_detail *d, enum command_type command,
                              const char *text);

void compaction_detail_resize(struct compaction_detail *d, int width, int height);

/* The rows to show, exactly as many as the height, none wider than the width. Borrowed until the
 * next call. More of what was dropped is asked for when its end comes near. */
const struct rows *compaction_detail_rows(struct compaction_detail *d);

#endif
