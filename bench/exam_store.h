/* A fresh semantic memory that holds conversations of an exam, and is asked in many ways. */
#ifndef BENCH_EXAM_STORE_H
#define BENCH_EXAM_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/exam.h"
#include "bench/exam_score.h"
#include "memory/memory.h"

enum exam_vectors { EXAM_HASHED, EXAM_SERVED, EXAM_VECTORS };

struct exam_way {
    enum memory_ranking ranking;
    enum exam_vectors vectors; /* a store holds those of one kind: the last that were asked for */
    struct rank_settings rank;
};

/* Whether there is an endpoint for the served ones: RECALL_EMBEDDING_URL names one that speaks
 * OpenAI's dialect, RECALL_EMBEDDING_MODEL its model (may be unset). */
bool exam_is_served(void);

/* The way of a program whose user set nothing. */
struct exam_way exam_way_default(void);

/* Conversations `first` and the `count - 1` after it, in a database of this path that does not
 * exist yet (or store_memory_path()). */
struct exam_store;
bool exam_store_new(struct exam_store **out, const char *path, const struct exam *x, size_t first,
                    size_t count, struct error *e);
void exam_store_free(struct exam_store *s); /* NULL is fine */

bool exam_store_ask(struct exam_store *s, const struct exam_way *way, const char *question,
                    struct exam_found *out, struct error *e);

#endif
