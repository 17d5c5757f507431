/* The messages of a request in the order and pairing that every model API wants. Pure. */
#ifndef PROVIDER_OUTGOING_H
#define PROVIDER_OUTGOING_H

#include "base/json.h"
#include "provider/provider.h"

/* Adjacent messages of one role, as one. The blocks are borrowed from the request.
 *   USER       TEXT, IMAGE; TOOL_RESULT whose call is not there: write outgoing_orphan() as text
 *   ASSISTANT  TEXT, REASONING, TOOL_CALL; no turn ends without an answer to each of its calls
 *   TOOL       TOOL_RESULT, right after the turn that called
 *   SYSTEM     TEXT
 * Blank text blocks and unanswered calls are left out, and so is reasoning of a partial answer,
 * which lacks its proof, of another model, and with nothing behind it, which no API takes back. A
 * turn without blocks is left out. */
struct outgoing_turn {
    enum role role;
    VEC(const struct block *) blocks;
};
struct outgoing {
    VEC(struct outgoing_turn) turns;
};

void outgoing_build(struct outgoing *out, const struct request *request);
void outgoing_release(struct outgoing *out);

/* All texts of a turn joined by blank lines; the caller frees. NULL if it has none. */
char *outgoing_text(const struct outgoing_turn *turn);

/* The turn's tool calls, each as `call` makes it; NULL if it has none. */
struct json *outgoing_calls(const struct outgoing_turn *turn,
                            struct json *(*call)(const struct block *b));

/* A call's arguments as an object; one that the model broke is sent back empty. */
struct json *outgoing_arguments(const struct block *call);
struct json *outgoing_schema(const struct tool_spec *tool);

/* The text that stands for a tool's result without its call; the caller frees. */
char *outgoing_orphan(const struct block *result);

#endif
