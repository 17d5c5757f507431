/* What the commands of `tiro sessions` share. */
#ifndef CLI_SESSIONS_H
#define CLI_SESSIONS_H

#include "cli/verb.h"

#define NAMES_A_SESSION                                                                            \
    N_("SESSION is the start or the end of an id, a title, last, or ~2 (the last but one).")

/* An operation of struct session_params that gives a struct session_changed. */
bool sessions_change_one(struct operation_context *c, const struct operation *o,
                         const char *session, struct error *e);

/* Of several sessions one could not be changed: tells the fault that `e` has of another one, if it has
 * one, and puts this in its place. */
void sessions_add_fault(struct error *e, const struct error *fault);

/* Prints what an operation made, a session: its id alone, or all of it as JSON; and releases it. */
void sessions_print_made(const struct operation *o, struct session_info *made, bool json);

/* An id begins with the time and ends in chance: its end tells sessions apart. Points into it. */
const char *sessions_short_id(const char *id);

#endif
