/* Histories of other agents: import/run takes them into the store, import/list says what there is.
 * Both give a struct import_report (import/scan.h). */
#ifndef SESSION_IMPORT_OPERATIONS_H
#define SESSION_IMPORT_OPERATIONS_H

#include "import/scan.h"
#include "session/operation.h"

/* Texts are borrowed. */
struct import_params {
    VEC(const char *) paths; /* none: the places of the sources */
    const char *from, *since, *project;
    bool dry_run;
};

/* [import] sources: "all" or names; NULL: the person has not decided, or wants none. */
const char *import_chosen(const struct config *config);

/* How many files were read, and the new conversations and messages in them. */
struct import_progress {
    int64_t files, of, conversations, messages;
};

/* Adds the conversations and messages. */
void import_report_sum(const struct import_report *r, struct import_progress *out);

/* The words for `from`, separated by blanks. The caller frees. */
char *import_source_names(void);

/* "Claude Code, Codex": the sources that had something new. The caller frees. */
char *import_report_labels(const struct import_report *r);

/* The options of a scan, whose texts are borrowed but for the paths, which the caller frees, also
 * on failure. Its context is `c`. */
bool import_options_of(struct operation_context *c, const struct import_params *p,
                       struct import_options *o, struct text_list *paths, struct error *e);

#endif
