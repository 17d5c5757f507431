/* The operations on semantic memory: memory/…, and what they take and give. An entry is named by
 * its id or the beginning of it. Texts of parameters are borrowed. */
#ifndef SESSION_MEMORY_OPERATIONS_H
#define SESSION_MEMORY_OPERATIONS_H

#include "base/vec.h"
#include "session/operation.h"

/* memory/search: struct memory_search, gives a struct memory_found (memories.h). */

/* memory/list gives a struct memory_entries. */
struct memory_list_params {
    const char *scope;
    int limit; /* 0: all */
};

/* memory/read, gives a struct memory_entry. */
struct memory_read_params {
    const char *id;
};
struct memory_edit_params {
    const char *id, *content;
};
struct memory_pin_params {
    const char *id;
    bool pinned;
};

/* All or none. */
struct memory_forget_params {
    VEC(const char *) ids;
};
struct memory_forget_result {
    int deleted;
    int summaries; /* that quote what went, and are flagged */
};

/* What was forgotten last through the same context, and not put back yet. */
struct memory_restore_result {
    char *id; /* its first entry */
    int summaries;
};

/* memory/stats gives a struct memory_stats. */

struct memory_export_result {
    int64_t entries;
};
struct memory_import_result {
    int64_t lines, stored; /* also where it fails: what was kept by then */
};

extern const struct operation operation_memory_search, operation_memory_list, operation_memory_read,
    operation_memory_edit, operation_memory_pin, operation_memory_forget, operation_memory_restore,
    operation_memory_stats, operation_memory_export, operation_memory_import,
    operation_memory_reindex;

#endif
