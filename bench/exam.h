/* Conversations with questions about them, and what a search should find: a directory with a file
 * of `tiro memory import` lines for each conversation, and files of questions, whose lines are
 * {"category","question","evidence":[ids]} ("conversation" is for readers): questions.jsonl to
 * choose by, and held.jsonl, where there is one, for the last check alone. A question belongs to
 * the conversation that holds its first evidence. */
#ifndef BENCH_EXAM_H
#define BENCH_EXAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"
#include "chat/memory.h"

struct exam_conversation {
    char *name; /* of the file, without its ending */
    struct memory_entries turns;
};

/* One thing to be found: any of these messages is it. */
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
    VEC(struct exam_question) questions;         /* as they stand in the file */
    VEC(const char *) categories;                /* by name; borrowed from questions */
};

extern const char exam_questions[], exam_held[]; /* names of files */

/* False with an error that names the file and the line. */
bool exam_read(struct exam *out, const char *directory, const char *questions, struct error *e);
void exam_release(struct exam *x);

/* All of a conversation as one session, for questions whether talks are found by their time. */
void exam_join_sessions(struct exam *x);

#endif
