/* Shared by the parts of the simple store. */
#ifndef TESTS_SIMPLE_STORE_PRIVATE_H
#define TESTS_SIMPLE_STORE_PRIVATE_H

#include "base/vec.h"
#include "memory/content.h"
#include "memory/memory.h"

struct simple_session {
    char *id;     /* NULL: it was deleted */
    int64_t next; /* place */
};

struct simple_source {
    int64_t session, seq;
};

struct simple_memory {
    struct memory memory;
    struct fresh_ids ids;
    VEC(struct forgotten_entry) rows; /* by key */
    VEC(struct simple_session) sessions;
    VEC(struct simple_source) gone; /* messages whose entries were forgotten */
    char *language;
};

static inline struct simple_memory *simple_of(struct memory *m)
{
    return (struct simple_memory *)m;
}

enum { SIMPLE_NOWHERE = -1 };

ptrdiff_t simple_row_of(const struct simple_memory *m, const char *id);
bool simple_need_row(const struct simple_memory *m, const char *id, ptrdiff_t *row,
                     struct error *e);

/* simple_store_read.c: functions of the table. */
bool simple_search(struct memory *memory, const struct memory_query *query, struct memory_hits *out,
                   struct error *e);
bool simple_list(struct memory *memory, const struct memory_scope *scope, int64_t after, int limit,
                 struct memory_entries *out, struct error *e);
bool simple_count(struct memory *memory, const struct memory_scope *scope, int64_t *out,
                  struct error *e);
bool simple_get(struct memory *memory, const char *id, struct memory_entry *out, struct error *e);
bool simple_ids(struct memory *memory, const char *beginning, int limit, struct text_list *out,
                struct error *e);
bool simple_each(struct memory *memory,
                 bool (*visit)(void *context, const struct memory_entry *entry), void *context,
                 struct error *e);
bool simple_stats(struct memory *memory, struct memory_stats *out, struct error *e);

#endif
