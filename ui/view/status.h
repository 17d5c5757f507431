/* The status line as one row: how full the context is, the cost, and what waits for the person.
 * Pure. A figure that was not measured is left out, never shown as 0; estimates carry "~";
 * narrow terminals lose the least important parts first. The context view (F4) has the tokens of
 * requests and answers. */
#ifndef UI_STATUS_H
#define UI_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/term/keymap.h"
#include "ui/term/rows.h"

struct status {
    int64_t context; /* tokens that the next request would carry; -1 unknown */
    bool context_estimated;
    int64_t window;     /* 0 unknown */
    int64_t threshold;  /* from which it is compacted; 0: it is not */
    int compactions;    /* of the session */
    bool suspended;     /* compaction has stopped after failures */
    const char *memory; /* the session's use of it: "off", "read", "write"; NULL: no memory */
    bool truncated;     /* the server left out the beginning of the last request */

    double cost; /* of the session, USD; negative: unknown */
    bool cost_estimated;
    bool cost_partial;  /* the cost of other calls is unknown */
    bool budget;        /* one is set */
    int budget_percent; /* used of the budget that is nearest its end */

    bool working;
    bool asking;     /* … but waits for an answer of the person */
    bool compacting; /* … on the history, not on an answer */
    int64_t working_ms;
    double rate; /* tokens per second, an estimate; negative: nothing streams */

    int retry, retries;       /* attempt and most; 0: no retry */
    int64_t retry_ms;         /* until then; 0: it runs */
    const char *retry_reason; /* cleaned here; may be NULL */

    bool importing;
    const char *space;          /* lines for this shared space are not sent for long; borrowed */
    int64_t space_waiting;      /* how many; 0: none */
    int import_percent;         /* of the files */
    int tasks;                  /* commands in the background */
    const char *background_key; /* that puts the running command there; NULL: none runs long */

    int unread;            /* rows below the view */
    const char *stop_key;  /* the key that cancels, for the hint */
    const char *back_key;  /* that leads the way back; NULL: none does */
    bool replacing;        /* the text that is written replaces the last message */
    bool replacing_older;  /* it replaces one before it, and what followed */
    const char *leave_key; /* that leaves when it is pressed now; NULL: none does */
};

/* Everything unknown. */
#define STATUS_UNKNOWN ((struct status){.context = -1, .cost = -1, .rate = -1})

/* Appends one row of at most `width` columns. */
void status_row(const struct status *s, int width, struct rows *out);

#endif
