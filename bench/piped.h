/* A program on pipes that speaks JSON-RPC 2.0, one message a line. A fault ends the benchmark. */
#ifndef BENCH_PIPED_H
#define BENCH_PIPED_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/json.h"

struct piped {
    pid_t pid;
    int in, out;
    struct buf text;
    size_t read;
    int asked;
};

/* argv[0] is searched in PATH if `program` has no slash. */
struct piped piped_start(const char *program, const char *const *argv);

/* Closes its input, and waits for its end. */
void piped_stop(struct piped *p);

/* The next line; NULL at the end. The caller frees the tree. */
struct json *piped_next(struct piped *p);

/* Writes a line. */
void piped_write(struct piped *p, const char *line);

/* Sends a request and returns its id. */
int piped_ask(struct piped *p, const char *method, const char *params);

/* The result of a call; the caller frees it. Messages before it are passed over. */
struct json *piped_call(struct piped *p, const char *method, const char *params);

#endif
