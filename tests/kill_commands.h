/* The programs of the kill campaign, one row each in the table of kill_commands.c; struct
 * kill_command documents their functions. */
#ifndef TESTS_KILL_COMMANDS_H
#define TESTS_KILL_COMMANDS_H

#include "tests/kill_private.h"

void kill_op_add(struct kill_op *op, const char *argument);

/* Begins `tiro sessions VERB` on an existing session; returns false if there is none. */
bool kill_op_begin(const struct kill_stage *stage, struct kill_op *op, const char *verb);

bool kill_begin_run(struct kill_stage *stage, struct kill_op *op);
void kill_after_run(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_rename(struct kill_stage *stage, struct kill_op *op);
void kill_told_rename(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_label(struct kill_stage *stage, struct kill_op *op);
void kill_told_label(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_archive(struct kill_stage *stage, struct kill_op *op);
void kill_told_archive(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_delete(struct kill_stage *stage, struct kill_op *op);
void kill_told_delete(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_rebuild(struct kill_stage *stage, struct kill_op *op);
void kill_told_new(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_fork(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_import(struct kill_stage *stage, struct kill_op *op);
void kill_after_import(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_export(struct kill_stage *stage, struct kill_op *op);
void kill_after_export(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_remember(struct kill_stage *stage, struct kill_op *op);
void kill_told_remember(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_pin(struct kill_stage *stage, struct kill_op *op);
void kill_told_pin(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_edit(struct kill_stage *stage, struct kill_op *op);
void kill_told_edit(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_forget(struct kill_stage *stage, struct kill_op *op);
void kill_told_forget(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_reindex(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_search(struct kill_stage *stage, struct kill_op *op);
void kill_told_search(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_set(struct kill_stage *stage, struct kill_op *op);
void kill_told_set(struct kill_stage *stage, struct kill_op *op);
bool kill_begin_doctor(struct kill_stage *stage, struct kill_op *op);

/* Waits until the command of plan COMMAND runs, or the program has ended. */
void kill_wait_for_command(const struct kill_op *op);

#endif
