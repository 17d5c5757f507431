/* The fixture of every screen test: a fresh home, the scripted model, the program at a terminal. */
#ifndef TESTS_SCENE_H
#define TESTS_SCENE_H

#include <stdbool.h>

#include "session/capability.h"
#include "session/engine.h"
#include "tests/model_server.h"
#include "tests/screen.h"
#include "tests/steps.h"
#include "tests/support.h"

enum { WAIT_MS = 20000 }; /* far above the normal time, for sanitizers on a busy machine */

#define SCENE_KEY "sk-scene-0123456789-must-not-leak"

/* For cmocka_unit_test_setup_teardown(). The environment makes the program use the model as
 * Anthropic's, with SCENE_KEY. The teardown ends every program and the server. */
int scene_setup(void **state);
int scene_teardown(void **state);

struct model_server *scene_server(void);
const char *scene_store(void); /* path of the database */

/* Starts the program and waits for the prompt. At most 8 per test. Arguments without the program's
 * name, ending with NULL; NULL: none. */
struct screen *scene_open(int rows, int cols, const char *const *arguments);
struct screen *scene_start(int rows, int cols, const char *const *arguments); /* without waiting */
struct screen *scene_run(int rows, int cols, const char *const *argv);        /* any program */

/* Types keys, then waits for each of the looks in turn (tests/steps.h). One more look: no turn
 * runs. */
#define IDLE "\xff idle"
#define act(s, ...) scene_act(__FILE__, __LINE__, s, STEPS(__VA_ARGS__))
#define see(s, ...) scene_see(__FILE__, __LINE__, s, STEPS(__VA_ARGS__))
void scene_act(const char *file, int line, struct screen *s, const char *const *keys_and_looks);
void scene_see(const char *file, int line, struct screen *s, const char *const *looks);

/* A script for the program that was opened last. Steps: ":" and keys, a look to wait for, or "="
 * and one of these, or of scene_steps():
 *   open, open ROWS COLUMNS ARGUMENTS  scene_open(); 24 by 80 without a size
 *   says TEXT, stalls TEXT             the model's next reply; it stops after its text
 *   calls NAME ARGS, holds NAME ARGS   … calls a tool, at once or when it is released
 *   refuses STATUS TYPE|MESSAGE|SECONDS    … is an error; the seconds until a retry may lack
 *   release, wait N, requests N        the server goes on; it gets N requests; it has had N
 *   sent N LOOK|LOOK, sent last LOOK   the body of request N
 *   ask QUESTION|ANSWER                scene_ask(); exchange, long: the longer ones
 *   paste TEXT, size ROWS COLUMNS, env NAME=VALUE, config TEXT
 *   file NAME TEXT                     in the test's directory
 *   leave, kill SIGNAL, exit, status N     how the program ends
 *   prompt, draft TEXT, restored       the caret is in the prompt's row; scene_wait_draft(); …
 *   truthful                           a full repaint changes nothing; the editor must be empty
 *   row N TEXT, count N TEXT           this text comes in a row, comes so many times
 *   wrote BYTES, unwritten BYTES, writes BYTES, forget     its output until now, or soon
 *   mouse 1, mouse 0                   whether it has the mouse
 *   made NAME, unmade NAME             whether this file is there */
#define play(...) scene_play(__FILE__, __LINE__, STEPS(__VA_ARGS__))
#define PLAY(name, ...) PLAY_IF(true, name, __VA_ARGS__)
#define PLAY_IF(there, name, ...) STEPS_TEST(there, name, play, __VA_ARGS__)
void scene_play(const char *file, int line, const char *const *steps);
void scene_steps(const struct step *steps); /* of the test's own, until scene_teardown() */
/* The fixture of a file with steps of its own. */
#define SCENE(steps)                                                                               \
    static int set_up(void **state)                                                                \
    {                                                                                              \
        scene_steps(steps);                                                                        \
        return scene_setup(state);                                                                 \
    }                                                                                              \
    FIXTURE(set_up, scene_teardown)
struct screen *scene(void); /* the program that was opened last */

/* Queues the model's next reply, as fields of struct reply. */
#define scene_queue(...) model_server_queue(scene_server(), &(struct reply){__VA_ARGS__})

/* Checks the body of this request to the model: looks. */
#define scene_sent(index, ...) assert_says(model_server_body(scene_server(), index), __VA_ARGS__)

/* Waits until no turn runs. */
bool scene_wait_idle(struct screen *s);

/* Sends the signal, then waits for the program's end. */
void scene_end(struct screen *s, int signal_number);

/* Types a line and Enter. */
void scene_say(struct screen *s, const char *text);

/* Asks, then waits for this text of the answer, which must not be on the screen before, and for the
 * end of the turn. */
void scene_ask(struct screen *s, const char *question, const char *answer);

/* Like scene_ask(), with an answer that is queued here. */
void scene_exchange(struct screen *s, const char *question, const char *answer);

/* Like scene_exchange(), with an answer that ends with this text and is long enough for a summary
 * to be shorter. */
void scene_exchange_long(struct screen *s, const char *question, const char *end);

/* Ctrl-D, then waits for exit status 0. */
void scene_leave(struct screen *s);

/* Checks that the terminal is restored: the screen's modes and the line's settings. */
void scene_assert_restored(struct screen *s);

/* Waits until the newest session's draft is this text. */
bool scene_wait_draft(struct screen *s, const char *text);

#endif
