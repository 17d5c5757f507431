/* The verbs of `tiro sessions`. Each gets what its operation works on and its options, reports what fails and
 * returns the exit status. */
#ifndef CLI_SESSIONS_H
#define CLI_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "session/session_operations.h"

/* Texts are borrowed from the command line. */
struct sessions_options {
    VEC(const char *) words;
    const char *label, *directory, *format, *output, *title, *in;
    bool json, names, archived, live, yes, force;
    int limit;  /* 0: all */
    int64_t at; /* 0: the end */
    bool before_compaction;
};

int verb_list(struct operation_context *c, const struct sessions_options *o);
int verb_show(struct operation_context *c, const struct sessions_options *o);
int verb_search(struct operation_context *c, const struct sessions_options *o);
int verb_rename(struct operation_context *c, const struct sessions_options *o);
int verb_label(struct operation_context *c, const struct sessions_options *o);
int verb_archive(struct operation_context *c, const struct sessions_options *o);
int verb_unarchive(struct operation_context *c, const struct sessions_options *o);
int verb_fork(struct operation_context *c, const struct sessions_options *o);
int verb_delete(struct operation_context *c, const struct sessions_options *o);
int verb_export(struct operation_context *c, const struct sessions_options *o);
int verb_import(struct operation_context *c, const struct sessions_options *o);
int verb_rebuild(struct operation_context *c, const struct sessions_options *o);

/* An id begins with the time and ends in chance: its end tells sessions apart. Points into it. */
const char *sessions_short_id(const char *id);

/* Prints what an operation made, a session: its id alone, or all of it as JSON; and releases it. */
void sessions_print_made(const struct operation *o, struct session_info *made, bool json);

/* False with USAGE when there is no such format of export. */
bool sessions_check_format(const char *name, struct error *e);

/* The words from `first` on, joined by blanks; the caller frees. */
char *sessions_join(const struct sessions_options *o, size_t first);

#endif
