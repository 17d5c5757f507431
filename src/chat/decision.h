/* What is said when something waits for a word of the person, or of the surface. */
#ifndef CHAT_DECISION_H
#define CHAT_DECISION_H

/* On a tool that asks before it runs. SESSION: it and every later call that the notice's `grant`
 * names. */
enum approval_answer { ANSWER_ONCE, ANSWER_SESSION, ANSWER_DENY };

/* On a draft summary. */
enum draft_answer { DRAFT_COMMIT, DRAFT_REFUSE, DRAFT_AGAIN };

/* What a surface says when a tool wants something done by it. */
enum surface_outcome {
    SURFACE_DID,
    SURFACE_PASSED, /* it does not do that: the tool does it itself */
    SURFACE_FAILED  /* it could not or would not */
};

#endif
