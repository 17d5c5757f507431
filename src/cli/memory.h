/* The verbs of `tiro memory`. Each gets the open memory and its options, reports what fails and
 * returns the exit status. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdbool.h>

#include "base/vec.h"
#include "session/memories.h"

/* Texts are borrowed from the command line. */
struct memory_options {
    VEC(const char *) words;
    const char *scope, *session, *content;
    bool json, yes, force;
    int limit; /* 0: not given */
};

int verb_memory_list(struct memories *m, const struct memory_options *o);
int verb_memory_search(struct memories *m, const struct memory_options *o);
int verb_memory_show(struct memories *m, const struct memory_options *o);
int verb_memory_edit(struct memories *m, const struct memory_options *o);
int verb_memory_pin(struct memories *m, const struct memory_options *o);
int verb_memory_unpin(struct memories *m, const struct memory_options *o);
int verb_memory_delete(struct memories *m, const struct memory_options *o);
int verb_memory_export(struct memories *m, const struct memory_options *o);
int verb_memory_import(struct memories *m, const struct memory_options *o);
int verb_memory_stats(struct memories *m, const struct memory_options *o);
int verb_memory_reindex(struct memories *m, const struct memory_options *o);

/* Who said it, for a person: the name, else as the screen calls the role. */
const char *memory_who(const struct memory_entry *entry);

#endif
