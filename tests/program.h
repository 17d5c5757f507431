/* The real program, run without a terminal, for tests of the command line. Faults fail the test.
 * Include <cmocka.h> first. */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include "base/json.h"
#include "tests/model_server.h"
#include "tests/screen.h"

/* The result of one run of the program; the texts are kept (tests/support.h). */
struct result {
    int status;
    char *out, *err;
};

/* Arguments without the program's name, ending with NULL. */
struct result program_run(const char *input, const char *const *args);

#define RUN(...) RUN_WITH("", __VA_ARGS__)
#define RUN_WITH(input, ...) program_run(input, TEXTS(__VA_ARGS__))

void assert_text(const char *where, const char *what);    /* the text must be in there */
void assert_no_text(const char *where, const char *what); /* the text must not be in there */

/* Checks the exit status. */
struct result ended(int status, struct result r);

/* Checks the exit status, and a text on standard error. */
void expect(struct result r, int status, const char *err);

/* Whether standard error has no line except that of a run about its tokens. */
bool tells_use_alone(const char *err);

/* The output of a program that ended with 0 and no other line on standard error. */
char *program_output(struct result r);
void run_ok(struct result r); /* the same, whatever the output */

/* Runs the program at a terminal of this size, which must end with 0. Returns the screen, which the
 * caller frees. */
struct screen *program_at_terminal(int rows, int columns, const char *const *args);

#define AT_TERMINAL(rows, columns, ...)                                                            \
    program_at_terminal(rows, columns, (const char *const[]){__VA_ARGS__, NULL})

/* Runs the program at a terminal of this width: it must ask yes or no and show these texts (up to a
 * NULL); sends the answer and checks the exit status. Arguments as for program_run(). */
void program_asks(const char *const *args, int width, const char *const *shown, const char *answer,
                  int status);

/* The output as JSON, kept. */
struct json *program_json(struct result r);
struct json *parse_json(const char *text);

/* The value must contain all members of this text (JSON with ' for "); an object may have more
 * members. */
void assert_json(const struct json *v, const char *text);

/* Writes the user's configuration file. */
void write_config(const char *text);

/* Starts a scripted model and sets it up as OpenAI's. */
struct model_server *begin_server(void);
void end_server(struct model_server *s);

#endif
