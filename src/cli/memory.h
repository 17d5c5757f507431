/* The verbs of `tiro memory`. Each gets what its operation works on and its options, reports what fails and
 * returns the exit status. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdbool.h>

#include "base/vec.h"
#include "session/memory_operations.h"

/* Texts are borrowed from the command line. */
struct memory_options {
    VEC(const char *) words;
    const char *scope, *session, *content;
    bool json, yes, force;
    int limit; /* 0: not given */
};

int verb_memory_list(struct operation_context *c, const struct memory_options *o);
int verb_memory_search(struct operation_context *c, const struct memory_options *o);
int verb_memory_show(struct operation_context *c, const struct memory_options *o);
int verb_memory_edit(struct operation_context *c, const struct memory_options *o);
int verb_memory_pin(struct operation_context *c, const struct memory_options *o);
int verb_memory_unpin(struct operation_context *c, const struct memory_options *o);
int verb_memory_delete(struct operation_context *c, const struct memory_options *o);
int verb_memory_export(struct operation_context *c, const struct memory_options *o);
int verb_memory_import(struct operation_context *c, const struct memory_options *o);
int verb_memory_stats(struct operation_context *c, const struct memory_options *o);
int verb_memory_reindex(struct operation_context *c, const struct memory_options *o);

/* Who said it, for a person: the name, else as the screen calls the role. */
const char *memory_who(const struct memory_entry *entry);

#endif
