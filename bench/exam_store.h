/* A fresh semantic memory that holds conversations of an exam, searched in several ways. */
#ifndef BENCH_EXAM_STORE_H
#define BENCH_EXAM_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/exam.h"
#include "bench/exam_encoder.h"
#include "bench/exam_score.h"
#include "memory/memory.h"

enum exam_vectors { EXAM_HASHED, EXAM_SERVED, EXAM_SYNTHETIC, EXAM_VECTORS };

struct exam_way {
    enum memory_ranking ranking;
    enum exam_vectors vectors; /* a store holds one kind of vectors: the last that was requested */
    struct exam_mixture mixture; /* with EXAM_SYNTHETIC */
    struct rank_settings rank;
};

/* Whether served vectors are configured: RECALL_EMBEDDING_URL is an endpoint of OpenAI's dialect,
 * RECALL_EMBEDDING_MODEL its model (may be unset). */
bool exam_is_served(void);

/* The settings of a program without configuration. */
struct exam_way exam_way_default(void);

/* Holds conversations `first` to `first + count - 1` of an exam, which outlives it, in a new
 * database at this path (or store_memory_path()). */
struct exam_store;
bool exam_store_new(struct exam_store **out, const char *path, const struct exam *x, size_t first,
                    size_t count, struct error *e);
void exam_store_free(struct exam_store *s); /* NULL is fine */

/* Synthetic vectors need a question of the exam with its evidence; the others its text alone. */
bool exam_store_ask(struct exam_store *s, const struct exam_way *way,
                    const struct exam_question *question, struct exam_found *out, struct error *e);

#endif
