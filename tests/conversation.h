/* Random conversations that a history may hold, and the invariants of all of them. */
#ifndef TESTS_CONVERSATION_H
#define TESTS_CONVERSATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "chat/message.h"
#include "chat/rebuild.h"
#include "compact/plan.h"

/* A generator of random numbers; equal seeds give equal numbers. */
struct dice {
    uint64_t state;
};
uint64_t dice_throw(struct dice *d);
size_t dice_below(struct dice *d, size_t bound); /* returns 0 if `bound` is 0 */
bool dice_one_in(struct dice *d, size_t n);

/* Random text of many scripts, at most `max` bytes, maybe empty: combining marks, joined emoji,
 * line breaks, words that look like paths. The caller frees. */
char *dice_text(struct dice *d, size_t max);

struct conversation {
    VEC(struct message) messages;
    VEC(int64_t) estimates; /* one per message */
    size_t open;            /* the running turn's user message; messages.len if none runs */
};
void conversation_release(struct conversation *c);

/* Adds a message with this text; its number follows the last. A user message begins a turn. Returns
 * its index. */
size_t conversation_add(struct conversation *c, enum role role, const char *text);

/* Adds a block to the last message; arguments and contents are `text`. */
void conversation_call(struct conversation *c, const char *id, const char *name, const char *text);
void conversation_result(struct conversation *c, const char *id, const char *text);

/* Computes the estimates anew after messages were changed by hand. */
void conversation_weigh(struct conversation *c);

/* Adds `turns` turns: several calls and results per message, empty texts, images, reasoning,
 * partial answers, maybe pins, an earlier summary, and a last turn that still runs. */
void conversation_random(struct conversation *c, struct dice *d, size_t turns);

/* Borrows the conversation and the settings. */
/* The settings by default. */
struct compact_settings conversation_settings(void);

struct compact_input conversation_input(const struct conversation *c,
                                        const struct compact_settings *s, int64_t threshold);

/* The result of a rebuild, with the position of the open turn in it. */
void conversation_rebuilt(const struct conversation *c, const struct rebuild *r,
                          struct conversation *out);

/* Checks that the user begins, no message is empty, numbers rise, turns do not fall, calls and
 * results pair, texts are UTF-8, and at most one summary is not pinned. Returns NULL if so, else
 * the fault, which the caller frees. */
char *conversation_fault(const struct conversation *c);

/* The history in short: "u:hi a:hello,[call] t:(result) S:summary", with ^ for a pin. The caller
 * frees. */
char *conversation_sketch(const struct conversation *c);

#endif
