/* A view without terminal, engine and surface: keys go in, rows come out, and the requests to its
 * host are recorded. */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include "tests/seen.h"
#include "ui/view/view.h"

struct staged_request {
    struct operation_request *request;
    view_answer *take;
    bool seen, answered;
};

struct stage {
    struct view *view; /* the test makes it, with the host; stage_tear_down() frees it */
    struct view_host host;
    struct keymap keymap;
    struct session_info session; /* the open one */
    bool read_only;
    struct meters meters;
    struct buf asked;         /* requests to the host since forget_sent(), one per line: "RENAME
                               * text=Apples", "close" … */
    const struct step *steps; /* of the test's own; NULL: none */
    VEC(struct staged_request) requests; /* requests that were not withdrawn */
    uint64_t counted;                    /* requests */
    int width, height;
    int64_t now_ms;    /* time of the clock */
    bool closed;       /* closed since the last key; the test can still use the view */
    bool memory_shown; /* … of the open session */
    char *found;       /* the last text to find; NULL: none */
    int64_t jumped;    /* message jumped to; 0: none */
};
extern struct stage the;

/* A clock at 5000 ms, the usual keys; every session is "Kyoto in November". The steps are the
 * test's own; NULL: none. */
void stage_set_up(const struct step *steps, int width, int height);
int stage_tear_down(void **state); /* as a fixture has it */

void forget_sent(void);

/* A step of play() that begins with "=", without that sign:
 *   width N, height N, now MS     of the stage
 *   click ROW, click TEXT         on this row, or the one with this text
 *   paste TEXT, bind ACTION KEYS
 *   row TEXT|LOOK|LOOK            looks at the row with this text
 *   line N|LOOK|LOOK              looks at this row
 *   draw, forget                  rows_now(), forget_sent()
 *   sizes                         draws in every size
 *   closed, open, jumped SEQ      whether the last key closed the view, and where it jumped
 *   caret ROW COL, caret none     its place now
 *   found TEXT                    the last text to find; no TEXT: none
 *   due MS, due soon, tick        the time of its timer; its tick()
 *   OPERATION JSON                give_json()
 *   ok OPERATION                  its answer as it is made
 *   fails OPERATION WORDS         an error that the view must take
 * and those of the.steps, which come first. */
void stage_step(const char *file, int line, const char *step);

/* Parameters of the one request for this row since forget_sent(); NULL: none. */
const void *params_of(const struct operation *o);
/* Like params_of(), for an operation that the test answers: it fills in the result or an error. */
struct operation_answer *answer_to(const struct operation *o);
/* Hands the answer to the view, and frees it. */
bool give_answer(struct operation_answer *a, const char *words);

/* The help is true for the view in a state (after `enter`, on a new stage for each key): a key that
 * the view names has an effect there or is left to the surface, and a key that has an effect is
 * named, by itself or by the first key of its action. */
void stage_keys_hold(int (*set_up)(void **), void (*enter)(void));

/* A test of that, whose state comes after these steps of play(). */
#define KEYS_HOLD(name, set_up, ...)                                                               \
    static void enter_##name(void)                                                                 \
    {                                                                                              \
        play(__VA_ARGS__);                                                                         \
    }                                                                                              \
    TEST(name)                                                                                     \
    {                                                                                              \
        stage_keys_hold(set_up, enter_##name);                                                     \
    }                                                                                              \
    _Static_assert(1, "for the semicolon")

/* Answers with this JSON, in which ' stands for ". */
void give_json(const struct operation *o, const char *json);

/* Hands a notice of the engine to the view; frees the notice. */
void give(struct notice *n);
void give_event(enum event_type type);

/* act() and see() of tests/seen.h work on this view; these functions send keys and texts that a
 * test computes. */
void press(const char *name);
void type(const char *text);
void click(size_t row); /* at its beginning */
void paste(const char *text);

/* The rows that are shown now, checked as in tests/seen.h. */
const struct rows *rows_now(void);
const char *row_text(size_t index);
size_t find(const char *text);

#endif
