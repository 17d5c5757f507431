/* The closed vocabularies of the Agent Client Protocol (version 1) and ours, as tables. Texts are
 * static. */
#ifndef SERVE_ACP_WORDS_H
#define SERVE_ACP_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "chat/event.h"

/* Of the protocol's schema; the other numbers there are JSON-RPC's own (rpc/peer.h). */
enum { ACP_AUTH_REQUIRED = -32000, ACP_NOT_FOUND = -32002, ACP_CANCELLED = -32800 };

/* The number of an error: base/err.h has others that mean something else to a client of this
 * protocol. */
int acp_error_code(enum err_code code);

/* "end_turn", "max_tokens", "refusal" or "cancelled". */
const char *acp_stop_reason(enum stop_reason reason);

/* What a person is offered when a tool asks, or a draft summary waits. */
struct acp_choice {
    const char *id;   /* of the option */
    const char *kind; /* "allow_once", "allow_always" or "reject_once" */
    const char *name; /* English, to be translated; of "session", what that allows is added */
    int answer;       /* enum approval_answer, enum draft_answer */
};
struct acp_choices {
    const struct acp_choice *items;
    size_t len;
};

/* Without a grant (notice.h) nothing allows it for the session. */
struct acp_choices acp_approval_choices(bool granting);
struct acp_choices acp_draft_choices(void);

/* The answer whose option was selected; NULL, or an id that was not offered: the refusal. */
int acp_choice_answer(struct acp_choices choices, const char *id);

#endif
