/* The operations on semantic memory (memory/…), their parameters and results. An entry is named by
 * its id or the beginning of it. Texts of parameters are borrowed. */
#ifndef SESSION_MEMORY_OPERATIONS_H
#define SESSION_MEMORY_OPERATIONS_H

#include "base/vec.h"
#include "chat/memory.h"
#include "session/operation.h"

/* memory/search. A scope is "all", "project", "session=REFERENCE" (an id that entries have, else as
 * catalog.h) or NULL: as configured; a configured "session" means "all" while no session is open.
 * USAGE: any other scope. */
enum memory_order { MEMORY_BY_SCORE, MEMORY_BY_DATE };
struct memory_search {
    const char *query; /* blank: the newest entries */
    const char *scope;
    const char *session; /* for the scopes "project" and "session"; NULL: the open
                            session and the working directory */
    int limit;
    enum memory_order order;
    struct memory_filter filter;
    bool typing; /* a person types the query: its last word may be the beginning of one, and
                    "from:SOURCE" in it is a filter (sessions_take_from()) */
};
/* The members of a filter, for the shape of a struct S that has one. */
#define MEMORY_FILTER(S)                                                                           \
    SHAPE_FIELD(                                                                                   \
        "origin", ENUM, OPTIONAL, SHAPE_AT(int, struct S, filter.origin),                          \
        SHAPE_OPTION("--origin ORIGIN", N_("only entries of this origin: import, dropped (by a "   \
                                           "compaction) or session (that was left)")),             \
        .names = &memory_filter_origins,                                                           \
        .help =                                                                                    \
            "Only entries that came so: by an \"import\", \"dropped\" by a "                       \
            "compaction, with a \"session\" that was left."),                                      \
        SHAPE_FIELD("after", TIME, OPTIONAL, SHAPE_AT(int64_t, struct S, filter.after_ms),         \
                    .help = "Only what was said at this time or later."),                          \
        SHAPE_FIELD("before", TIME, OPTIONAL, SHAPE_AT(int64_t, struct S, filter.before_ms),       \
                    .help = "Only what was said before this time."),                               \
        SHAPE_FIELD("project", STRING, OPTIONAL, SHAPE_AT_TEXT(struct S, filter.project),          \
                    .least = 1,                                                                    \
                    .help =                                                                        \
                        "Only of sessions with this working directory: its path, or the last "     \
                        "part of it."),                                                            \
        SHAPE_FIELD("from", STRING, OPTIONAL, SHAPE_AT_TEXT(struct S, filter.from), .least = 1,    \
                    SHAPE_OPTION("--from AGENT", N_("only what was said to this agent: claude, "   \
                                                    "codex … or tiro")),                           \
                    .help =                                                                        \
                        "Only what was said to this agent: \"claude\", \"codex\" …, or "         \
                        "\"tiro\".")
extern const struct shape_names memory_filter_origins;

struct memory_found {
    struct memory_hits hits;
    int64_t total; /* entries of the scope */
};

/* memory/list gives a struct memory_entries. */
struct memory_list_params {
    const char *scope, *session;
    struct memory_filter filter;
    int limit; /* 0: all */
};

/* memory/read, gives a struct memory_entry. */
struct memory_read_params {
    const char *id;
};
/* memory/around takes a struct memory_place and gives a struct memory_excerpt, of entries that a
 * search as configured could find. */
struct memory_edit_params {
    const char *id, *content;
};
struct memory_pin_params {
    const char *id;
    bool pinned;
};

/* Deletes all of the entries or none. */
struct memory_forget_params {
    VEC(const char *) ids;
};
struct memory_forget_result {
    int deleted;
    int summaries; /* that quote deleted entries and are flagged */
};

/* memory/restore restores the last deletion of the same context that was not restored yet. */
struct memory_restore_result {
    char *id; /* its first entry */
    int summaries;
};

/* memory/index: whether to index sessions that are older than memory. If the context has a stream
 * they are indexed before the row returns. USAGE: [memory] index does not allow it. */
enum memory_index_choice { MEMORY_INDEX_ALL, MEMORY_INDEX_NONE };
struct memory_index_params {
    enum memory_index_choice sessions;
};
struct memory_index_result {
    int64_t sessions; /* sessions that the choice applied to */
};

/* memory/stats gives a struct memory_stats. */

struct memory_export_result {
    int64_t entries;
};
/* memory/import saves entries in steps of one transaction each, so that other programs can write in
 * between and a killed import keeps its steps; importing the same text again adds nothing. A wrong
 * line is USAGE that names it ("NAME:LINE: …"); the lines before it have been imported. Bytes that
 * are no UTF-8 become U+FFFD; empty lines are skipped. */
struct memory_import_result {
    int64_t lines, stored; /* on failure, too: the entries saved so far */
};

/* memory/reindex builds the index of words again in the configured language, then makes missing
 * vectors. */

#endif
