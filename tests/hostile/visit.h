/* One client at one hostile server: a home, the programs that run there, and the faults that were
 * found. Each visit is a process of its own. */
#ifndef TESTS_HOSTILE_VISIT_H
#define TESTS_HOSTILE_VISIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "tests/hostile/mode.h"
#include "tests/screen.h"

/* Time limits for a stop, and for a program that ends by itself. */
enum { VISIT_STOP_MS = 1000, VISIT_END_MS = 30000 };

struct visit {
    const struct mode *mode;
    const struct form *form;
    enum target target;
    bool every_step; /* false: a sample of the steps */
    struct hostile_server *server;
    char key[64];
    struct buf faults; /* one line per fault */
    bool only_late;    /* all faults are timeouts */
};

void visit_begin(struct visit *v);
/* Ends the server, looks into the files, and removes the home. */
void visit_end(struct visit *v);

void visit_fault(struct visit *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports a visit that took too long, which may also happen on a busy machine. */
void visit_late(struct visit *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `ms`, multiplied if the program runs slowly under a tool. */
int visit_ms(int ms);

struct ending {
    int status;
    bool stopped; /* it was interrupted */
    char *text;   /* the output on the terminal; the caller frees */
    size_t len;
};

/* Runs the program at a terminal until it ends, and inspects its output. After `patience_ms` the
 * program is interrupted (0: never; then a run longer than VISIT_END_MS is a fault). The arguments
 * exclude the program's name and end with NULL. */
struct ending visit_run(struct visit *v, const char *const *arguments, int patience_ms);

/* Runs the program, which must end with status 0 and this text in its output (NULL: any). */
void visit_expect(struct visit *v, const char *const *arguments, const char *text);

/* Inspects the output of the program on the screen so far. */
void visit_inspect_screen(struct visit *v, struct screen *s);

/* Compares the most memory of a program with its limit. */
void visit_check_memory(struct visit *v, long peak_kib);

/* Makes the server behave well, then checks that a turn of the last session succeeds, the session
 * can be shown and exported, and the doctor finds no fault. */
void visit_check_session(struct visit *v);

#endif
