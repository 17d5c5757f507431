/* The model of a long conversation: it reads the files that the user's message names, writes
 * summaries, fails at random, and checks every request as a server with a small window would. */
#ifndef TESTS_LONG_RUN_H
#define TESTS_LONG_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tests/model_server.h"

/* Files that the model reads: NAME, "1", … below the working directory. The last is the largest. */
#define LONG_RUN_FILE "letter-%d.txt"
enum { LONG_RUN_FILES = 8, LONG_RUN_FILE_BYTES = 20000 };

struct long_run {
    uint64_t random;   /* state of the generator: the seed at first, not 0 */
    long window;       /* tokens: a longer request is rejected as OpenAI does */
    int faults;        /* faults per thousand answers */
    int bad_summaries; /* bad summaries per thousand */
    int surprises;     /* per thousand long requests: the server counts more tokens than tiro */

    /* Counters of the requests; the server's threads own them while it runs, and the test reads
     * them between turns. */
    size_t requests, summaries, broken;
    size_t overs;    /* requests beyond the window, without those for summaries */
    long largest;    /* tokens of the largest accepted request */
    char *complaint; /* the first fault of a request; NULL: none */

    const char *pinned;   /* text that every request for an answer must contain; NULL: none */
    int surprised;        /* the question of the newest surprise */
    int question, rounds; /* the newest question, and its calls so far */
    struct buf text, args, id;
    struct buf trail; /* the requests, one line each; the test clears it now and then */
};

void long_run_init(struct long_run *l, uint64_t seed);
void long_run_release(struct long_run *l);

/* Writes the files below a directory. */
void long_run_write_files(struct long_run *l, const char *directory);

/* The user's message of this number, which asks for `calls` calls; the caller frees. */
char *long_run_question(struct long_run *l, int number, int calls);

/* For model_server_set_responder(). */
void long_run_respond(void *long_run, const char *body, size_t len, struct reply *r);

/* A number below `bound`. */
unsigned long_run_below(struct long_run *l, unsigned bound);

#endif
