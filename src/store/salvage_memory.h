/* Records of a damaged database that are semantic memory's. */
#ifndef STORE_SALVAGE_MEMORY_H
#define STORE_SALVAGE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/db_cell.h"

/* A session by the number that memory has for it. */
struct memory_talk {
    int64_t number;
    char *id;     /* owned */
    int64_t next; /* place of its next entry; 0: not known */
};

/* A key is the session's number and, in so many bits, the place in it. */
enum { SALVAGE_PLACE_BITS = 24 };

struct memory_place {
    int64_t key;
    uint32_t page, cell;
    bool free; /* on a page that is given up */
};

/* A summary that quotes what was forgotten. */
struct memory_flag {
    int64_t session, compaction;
    char *entry; /* owned */
};

struct salvaged_memory {
    VEC(struct memory_talk) talks;    /* by number, one each */
    VEC(struct memory_place) entries; /* by key, one each */
    VEC(int64_t) expected;            /* keys that the index of ids has, ascending, one each */
    VEC(struct memory_flag) flags;
};
void salvaged_memory_release(struct salvaged_memory *m);

/* A row of a table's leaf, if it looks like one of ours. */
bool salvage_memory_row(struct salvaged_memory *m, const struct db_cell *cell,
                        const struct db_record *r, struct memory_place place);

/* What the indexes of ids and the table of flags have. */
void salvage_memory_talk(struct salvaged_memory *m, const struct db_record *r);
void salvage_memory_key(struct salvaged_memory *m, const struct db_record *r);
void salvage_memory_flag(struct salvaged_memory *m, const struct db_record *r);

/* Sorts, and leaves out what was deleted or is there twice. */
void salvage_memory_choose(struct salvaged_memory *m);

/* A row of the table of entries. Texts are owned. */
struct salvaged_entry {
    int64_t key, id_is_number, session, turn;
    int64_t seq, compaction; /* 0: none */
    int64_t created_ms, pinned, edited, digest;
    char *id, *role, *content;
    char *speaker; /* NULL: none */
};
void salvaged_entry_release(struct salvaged_entry *e);

/* False when its values are none that anybody wrote. */
bool salvage_memory_entry(const struct db_pages *pages, const struct memory_place *place,
                          struct salvaged_entry *out);

/* The columns, in order: for a test that compares them with the schema. NULL behind the last. */
const char *salvage_memory_column(size_t i);

#endif
