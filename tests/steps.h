/* Scripts of input and expected output, one line per step; for a terminal (tests/scene.h), a view
 * (tests/stage.h) and a transcript (tests/seen.h).
 *
 * Keys are typed text, with named keys of [keys] in it: "ryokan<enter><down*3>"; "<j*20>" repeats a
 * letter.
 * Where keys and looks are steps of one script (play() of tests/seen.h), ">" stands before keys.
 * A look is a text that must be seen; "!text" must not be seen; "›text" must stand after the
 * pointer; "?text" must be a line of the view's requests to the engine, "!?text" must not be. */
#ifndef TESTS_STEPS_H
#define TESTS_STEPS_H

#include <stdbool.h>

#define STEPS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A test that is nothing but a script for `how`. */
#define STEPS_TEST(there, name, how, ...)                                                          \
    TEST_IF(there, name)                                                                           \
    {                                                                                              \
        how(__VA_ARGS__);                                                                          \
    }                                                                                              \
    _Static_assert(1, "for the semicolon")

struct typist {
    void (*text)(void *to, const char *text);
    void (*key)(void *to, const char *name);
};
void steps_type(const char *keys, const struct typist *typist, void *to);

enum step_look_kind { LOOK_SHOWN, LOOK_ABSENT, LOOK_CHOSEN, LOOK_ASKED, LOOK_UNASKED };
struct step_look {
    enum step_look_kind kind;
    const char *text; /* text after the sign */
};
struct step_look steps_look(const char *look);

/* A step of a test's own: "two", or "one" and a text behind it. A table of them ends with a NULL
 * name. */
struct step {
    const char *name;
    void (*alone)(void);
    void (*run)(const char *rest);
};
/* Runs "NAME TEXT" if the table (NULL: none) has this name; else returns false. */
bool steps_own(const struct step *table, const char *step);

/* The output that looks are compared with. */
struct scenery {
    const char *rows;
    int entry_rows;    /* rows per entry of the list; 0: 1 */
    const char *asked; /* lines; NULL: none */
};
bool steps_holds(const struct scenery *seen, struct step_look look);

/* Fails at this place unless all looks hold; the looks end with NULL. */
void steps_check(const char *file, int line, const struct scenery *seen, const char *const *looks);

#define assert_says(text, ...)                                                                     \
    steps_check(__FILE__, __LINE__, &(struct scenery){.rows = (text)}, STEPS(__VA_ARGS__))

#endif
