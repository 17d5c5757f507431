/* What a person does and sees, a line a step; for a terminal (tests/scene.h), a view
 * (tests/stage.h) and a transcript (tests/seen.h).
 *
 * Keys are text as it is typed, with keys by their names of [keys] in it: "ryokan<enter><down*3>";
 * "<j*20>" is a letter again and again.
 * A look is a text that has to be seen; "!text": that may not; "›text": that stands behind the
 * pointer; "?text": that is a line of what a view asked the engine for; "!?text": it is not. */
#ifndef TESTS_STEPS_H
#define TESTS_STEPS_H

#include <stdbool.h>

#define STEPS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct typist {
    void (*text)(void *to, const char *text);
    void (*key)(void *to, const char *name);
};
void steps_type(const char *keys, const struct typist *typist, void *to);

enum step_look_kind { LOOK_SHOWN, LOOK_ABSENT, LOOK_CHOSEN, LOOK_ASKED, LOOK_UNASKED };
struct step_look {
    enum step_look_kind kind;
    const char *text; /* behind the sign */
};
struct step_look steps_look(const char *look);

/* What is looked at. */
struct scenery {
    const char *rows;
    int entry_rows;    /* an entry of their list has so many; 0: 1 */
    const char *asked; /* lines; NULL: none */
};
bool steps_holds(const struct scenery *seen, struct step_look look);

/* Fails at this place unless it is as the looks say, which end with NULL. */
void steps_check(const char *file, int line, const struct scenery *seen, const char *const *looks);

#define assert_says(text, ...)                                                                     \
    steps_check(__FILE__, __LINE__, &(struct scenery){.rows = (text)}, STEPS(__VA_ARGS__))

#endif
