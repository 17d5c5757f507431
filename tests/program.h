/* The real program, run without a terminal, for the tests of the command line. Faults fail the
 * test. Wants <cmocka.h>. */
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

#define RUN(...) program_run("", (const char *const[]){__VA_ARGS__, NULL})

void assert_text(const char *where, const char *what);    /* it is in there */
void assert_no_text(const char *where, const char *what); /* it is not */

/* Ends with this status, and says this on standard error. */
void expect(struct result r, int status, const char *err);

/* Standard error has nothing but the line of a run about what it used, if that. */
bool tells_use_alone(const char *err);

/* Ends with 0 and no more than that on standard error; the output. */
char *program_output(struct result r);
void run_ok(struct result r); /* the same, whatever it printed */

/* Runs the program at a terminal of this size to its end, which is with 0. The caller frees what
 * is then on the screen. */
struct screen *program_at_terminal(int rows, int columns, const char *const *args);

#define AT_TERMINAL(rows, columns, ...)                                                            \
    program_at_terminal(rows, columns, (const char *const[]){__VA_ARGS__, NULL})

/* Runs the program at a terminal of this width: it asks yes or no and shows these texts (up to a
 * NULL), is answered, and ends with this status. Arguments as for program_run(). */
void program_asks(const char *const *args, int width, const char *const *shown, const char *answer,
                  int status);

/* Kept, too. */
struct json *program_json(struct result r);
struct json *parse_json(const char *text);

/* The value has all that this text says, with ' for "; an object may have more members. */
void assert_json(const struct json *v, const char *text);

/* The user's configuration file. */
void write_config(const char *text);

/* A scripted model that the program will find as OpenAI's. */
struct model_server *begin_server(void);
void end_server(struct model_server *s);

#endif
