/* Shared by many tests: a directory to write to, an isolated environment, waiting for a condition
 * with a deadline, seeds, and running the real program. A fault of the test machine ends the test
 * program with a message. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/shape.h"

/* For cmocka_unit_test_setup_teardown(): a fresh directory that is HOME (in TMPDIR; without one
 * in memory where there is room, else in /tmp), with an environment without XDG_*, keys, base URLs, proxies and TIRO_* settings, and LC_ALL=C.UTF-8. The teardown
 * removes the directory with all that is in it. `state` is untouched: it stays the test's own. */
int support_setup(void **state);
int support_teardown(void **state);

/* Whether memory figures of a process are meaningful: a sanitizer keeps freed memory. */
#ifdef __has_feature /* clang's test for sanitizers */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SUPPORT_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUPPORT_SANITIZED
#endif
#ifdef SUPPORT_SANITIZED
enum { SUPPORT_TELLS_MEMORY = 0 };
#else
enum { SUPPORT_TELLS_MEMORY = 1 };
#endif

/* The exit status of a program whose tests all need parts that this build leaves out. */
enum { SUPPORT_SKIPPED = 77 };

/* The call must return false with an error of this code in `e`. Include
 * <cmocka.h> first. */
#define assert_err(call, e, expected)                                                              \
    do {                                                                                           \
        assert_false(call);                                                                        \
        assert_int_equal((e).code, expected);                                                      \
    } while (0)

/* …, and this in its text. */
#define assert_error(call, e, expected, words)                                                     \
    do {                                                                                           \
        assert_err(call, e, expected);                                                             \
        assert_non_null(strstr((e).text, words));                                                  \
    } while (0)

/* The call must return true; else the test fails with the error in `e`. */
#define assert_ok(call, e)                                                                         \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s: %s", err_info((e).code)->name, (e).text);                                \
    } while (0)

/* The directory of the running test. Borrowed. */
const char *support_dir(void);

/* A text that the test program keeps until its end, so that no test has to free it. */
char *support_keep(char *text);
__attribute__((format(printf, 1, 2))) char *support_text(const char *format, ...);

/* The text with " for each '; kept. */
char *support_json(const char *text);

/* shape_read() of a JSON text; USAGE for what is no JSON. */
bool support_shape(const struct shape *s, const char *text, void *object, struct error *e);

/* A list of texts, which ends with NULL. */
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The test's directory with "/name" added; kept. */
char *support_path(const char *name);

/* Writes a file, mode 0600; `path` as support_path() gives it. */
void support_write(const char *path, const char *text);

/* A whole file; kept. Fails the test when it cannot be read. */
char *support_read(const char *path);

/* Checks the condition every millisecond or two. Returns false after timeout_ms. */
bool support_wait_until(bool (*holds)(void *context), void *context, int timeout_ms);

/* A seed for a random test, printed so that a failure can be repeated; TIRO_TEST_SEED sets it. */
uint64_t support_seed(void);

/* The next number, of 31 bits, of a sequence that depends on `seed` alone. */
uint64_t support_random(uint64_t *seed);

/* For cmocka_run_group_tests(): sets a UTF-8 locale, independent of the environment. */
int support_utf8(void **state);

/* The built program (TIRO of the environment). Borrowed. */
const char *support_program(void);

/* A running child whose standard streams are pipes. */
struct support_child {
    pid_t pid;
    int in;       /* its standard input; -1 once closed */
    int out, err; /* read by support_finish() and support_read_until() */
    struct buf out_text, err_text;
};

/* The factor of every deadline, for programs that run slowly under a tool: TEST_PATIENCE of the
 * environment, else 1. */
int support_patience(void);

/* argv as for execv(): argv[0] is the path, the last is NULL. */
void support_start(struct support_child *c, const char *const *argv);

/* Reads until standard output holds `text`. False after timeout_ms or at its end. */
bool support_read_until(struct support_child *c, const char *text, int timeout_ms);

/* Writes `input` (NULL: nothing), closes the input, reads both outputs to their end and waits. The
 * result is the exit status, or 128 + the signal that killed it; a child that is not done within 30
 * seconds, times support_patience(), is killed and fails the test. The texts stay in
 * `c` for support_release(). */
int support_finish(struct support_child *c, const char *input);
void support_release(struct support_child *c);

/* Does all of the above: argv is the program's arguments without its name, and ends with NULL. The
 * caller frees the texts; either may be NULL. */
int support_run(const char *const *args, const char *input, char **out, char **err);

#endif
