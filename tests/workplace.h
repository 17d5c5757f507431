/* A working directory for tools, with files outside of it that they must not reach. */
#ifndef TESTS_WORKPLACE_H
#define TESTS_WORKPLACE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "base/wakeup.h"

struct workplace {
    char *root; /* HOME/work */
    int root_fd;
    atomic_bool stop; /* the answer of the wakeup */
    int wake[2];
    struct wakeup wakeup;
    struct toolset tools; /* of the program */
    struct tool_context context;
    struct buf out;
};

extern struct workplace place; /* of the running test */

/* For cmocka_unit_test_setup_teardown(). */
int workplace_setup(void **state);
int workplace_teardown(void **state);

/* Makes files and directories in HOME: "work/a" is in the working directory, "a" beside it. */
void workplace_put(const char *name, const char *text);
void workplace_mkdir(const char *name);
void workplace_link(const char *target, const char *name);

/* Makes the wakeup ready; it then says stop. */
void workplace_interrupt(void);

/* Runs a call from its arguments' text; returns its result, or its preview. Borrowed until the next
 * call. */
const char *workplace_call(const char *tool, const char *args, bool want_error);
const char *workplace_preview(const char *tool, const char *args, bool want_error);

/* {"name":"value",…} of strings: name, value, …, NULL. The caller frees. */
char *workplace_args(const char *name, ...) __attribute__((sentinel));

#endif
