/* Conversations with questions: a directory with a file of `tiro memory import` lines for each
 * conversation, and files of questions, whose lines are {"category","question","evidence":[ids]}
 * ("conversation" is for readers): questions.jsonl for tuning, and optionally held.jsonl for the
 * final check alone. A question belongs to the conversation that holds its first evidence. */
#ifndef BENCH_EXAM_H
#define BENCH_EXAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"
#include "chat/memory.h"

struct exam_conversation {
    char *name; /* the file's name without its ending */
    struct memory_entries turns;
};

/* One expected hit: any of these messages counts. */
struct exam_target {
    VEC(const char *) ids; /* borrowed from the turns */
};
struct exam_targets {
    VEC(struct exam_target) items;
};

/* The unit of a hit: a message, or a message of the user with its answer. */
enum exam_unit { EXAM_MESSAGE, EXAM_EXCHANGE, EXAM_UNITS };

struct exam_question {
    size_t conversation; /* index */
    char *category, *text;
    struct exam_targets evidence[EXAM_UNITS];
};

struct exam {
    VEC(struct exam_conversation) conversations; /* by name */
    VEC(struct exam_question) questions;         /* in the order of the file */
    VEC(const char *) categories;                /* by name; borrowed from questions */
};

extern const char exam_questions[], exam_held[]; /* names of files */

/* Returns false with an error that names the file and the line. */
bool exam_read(struct exam *out, const char *directory, const char *questions, struct error *e);
void exam_release(struct exam *x);

/* Joins each conversation to one session, to measure whether talks are found by their time. */
void exam_join_sessions(struct exam *x);

#endif
