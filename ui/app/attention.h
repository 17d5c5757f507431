/* Whether the person looks at the window, and the word (ui/term/notification.h) that calls who does
 * not. When: what is told is worth it ([ui] notify, notify_after), and the window is not known to have
 * the keyboard. */
#ifndef UI_ATTENTION_H
#define UI_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

struct app; /* ui/app/app.h */
struct key; /* ui/term/key.h */

enum focus { FOCUS_UNKNOWN, FOCUS_HERE, FOCUS_ELSEWHERE };

/* Takes what a key tells of the focus; true if it is told by nothing else. Who types has the
 * keyboard, whatever the terminal said last: $EDITOR may have heard the rest. */
bool attention_saw(enum focus *focus, const struct key *key);

/* Whether the end of a turn that took so long is told; pure. */
bool attention_is_due(const struct config *config, enum focus focus, int64_t took_ms);

void attention_turn_ended(struct app *app);

/* The turn waits for an answer: `what` (clean, one line) says for which. However short it was. */
void attention_asked(struct app *app, const char *what);

#endif
