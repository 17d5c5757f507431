/* What the person says when something waits for their word. */
#ifndef CHAT_DECISION_H
#define CHAT_DECISION_H

/* On a tool that asks before it runs. SESSION: it and every later call of that tool. */
enum approval_answer { ANSWER_ONCE, ANSWER_SESSION, ANSWER_DENY };

/* On a draft summary. */
enum draft_answer { DRAFT_COMMIT, DRAFT_REFUSE, DRAFT_AGAIN };

#endif
