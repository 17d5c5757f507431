/* The scripted answers of the kill campaign's model. Each question names its own plan, so that any
 * number of programs may ask at once: "ask-N plan-NAME WORD…". All text of the turn carries WORD,
 * which occurs nowhere else. */
#ifndef TESTS_KILL_SCRIPT_H
#define TESTS_KILL_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tests/model_server.h"

/* X(NAME, "name", the last text on standard output, or NULL) */
#define KILL_PLANS(X)                                                                              \
    X(PLAIN, "plain", NULL)                                                                        \
    X(LONG, "long", NULL)                                                                          \
    X(REASONED, "reasoned", NULL)                                                                  \
    X(READS, "reads", NULL)                                                                        \
    X(WRITES, "writes", NULL)                                                                      \
    X(RETRIED, "retried", NULL)                                                                    \
    X(BROKEN_OFF, "broken-off", NULL)                                                              \
    X(REFUSED, "refused", NULL)                                                                    \
    X(STALLED, "stalled", "answer-")                                                               \
    X(SLOW, "slow", "piece-36")                                                                    \
    X(COMMAND, "command", "\"tool_call_requested\"")                                               \
    X(HELD, "held", "\"turn_started\"")

enum kill_plan {
#define X(id, name, until) KILL_PLAN_##id,
    KILL_PLANS(X)
#undef X
        KILL_PLAN_COUNT
};

struct kill_plan_info {
    const char *name, *until;
};
const struct kill_plan_info *kill_plan_info(enum kill_plan plan);

/* Words of the campaign: KILL_WORD and letters without a vowel, so that no stemmer changes them and
 * no other text contains them. A file that has all but the first letters of a word counts as
 * containing it, since an index with shared prefixes stores that. */
#define KILL_WORD "zq"
enum { KILL_WORD_LEN = 14, KILL_WORD_SHARED = 4 };
void kill_word(char word[KILL_WORD_LEN + 1]);

/* The next word in a text, NULL at its end. */
const char *kill_word_find(const char *text);

/* A question with this number of further words. The caller frees. */
char *kill_question(int number, enum kill_plan plan, const char *word, size_t more);

/* A text that identifies the command of plan COMMAND in the process list; the caller frees. */
char *kill_command_mark(int number);

/* The text that plan WRITES puts into "out-N.txt"; the caller frees. */
char *kill_written(const char *word);

/* For model_server_set_responder(); no context. */
void kill_respond(void *context, const char *body, size_t len, struct reply *r);
void kill_script_reset(void);

#endif
