/* Conversations with questions about them, and what a search should find: a directory with a file
 * of `tiro memory import` lines for each conversation and questions.jsonl, whose lines are
 * {"category","question","evidence":[ids]} ("conversation" is for readers). A question belongs to
 * the conversation that holds its first evidence. */
#ifndef BENCH_EXAM_H
#define BENCH_EXAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"
#include "chat/memory_entry.h"

struct exam_conversation {
    char *name; /* of the file, without its ending */
    struct memory_entries turns;
};

struct exam_question {
    size_t conversation; /* index */
    char *category, *text;
    VEC(char *) evidence;
};

struct exam {
    VEC(struct exam_conversation) conversations; /* by name */
    VEC(struct exam_question) questions;         /* as they stand in the file */
    VEC(const char *) categories;                /* by name; borrowed from questions */
};

/* False with an error that names the file and the line. */
bool exam_read(struct exam *out, const char *directory, struct error *e);
void exam_release(struct exam *x);

/* All of a conversation as one session, for questions whether talks are found by their time. */
void exam_join_sessions(struct exam *x);

#endif
