/* One client at one hostile server: a home, the programs that run there, and what is wrong with
 * what they did. Each visit is a process of its own. */
#ifndef TESTS_HOSTILE_VISIT_H
#define TESTS_HOSTILE_VISIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "tests/hostile/mode.h"
#include "tests/screen.h"

/* How long a stop may take, and how long a program may take that ends by itself. */
enum { VISIT_STOP_MS = 1000, VISIT_END_MS = 30000 };

struct visit {
    const struct mode *mode;
    const struct form *form;
    enum target target;
    bool every_step; /* else a sample of them */
    struct hostile_server *server;
    char key[64];
    struct buf faults; /* a line each */
    bool only_late;    /* all of them are of time */
};

void visit_begin(struct visit *v);
/* Ends the server, looks into the files, and removes the home. */
void visit_end(struct visit *v);

void visit_fault(struct visit *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports a visit that took too long, which may also happen on a busy machine. */
void visit_late(struct visit *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `ms`, or more where the program is slowed down by what looks at it. */
int visit_ms(int ms);

struct ending {
    int status;
    bool stopped; /* it was interrupted */
    char *text;   /* all that it wrote to its terminal; the caller frees */
    size_t len;
};

/* Runs the program at a terminal until it ends, and inspects its output. After `patience_ms` the
 * program is interrupted (0: never; then a run longer than VISIT_END_MS is a fault). The arguments
 * exclude the program's name and end with NULL. */
struct ending visit_run(struct visit *v, const char *const *arguments, int patience_ms);

/* Runs the program to its end, which is with status 0 and this text somewhere (NULL: any). */
void visit_expect(struct visit *v, const char *const *arguments, const char *text);

/* Looks at what a program of the screen wrote so far. */
void visit_inspect_screen(struct visit *v, struct screen *s);

/* The most memory of a program, against what it may take. */
void visit_check_memory(struct visit *v, long peak_kib);

/* The server behaves well from here on: a turn of the last session succeeds, it can be shown and
 * exported, and the doctor finds nothing. */
void visit_check_session(struct visit *v);

#endif
