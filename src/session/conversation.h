/* A conversation and its thread, the agent thread: takes requests, opens sessions, runs turns and
 * sends notices and answers. It also answers while a turn runs: everything that takes long polls
 * the conversation's wakeup. */
#ifndef SESSION_CONVERSATION_H
#define SESSION_CONVERSATION_H

#include "session/operation.h"

struct conversation;
struct engine;
struct seat;

/* Adds a conversation to the engine, whose lock the caller holds. Its thread is not started. The
 * result is its seat. */
struct seat *conversation_new(struct engine *engine);
void conversation_free(struct conversation *c); /* after its thread has ended */

/* Runs the conversation on its thread until order_quit. True: it has retired (engine_retire()), and
 * the engine has no reference to it any more. */
bool conversation_run(struct conversation *c);

/* The functions of the rows that a conversation runs (`converse` of struct operation). */
#define CONVERSES(name)                                                                            \
    bool name(struct conversation *c, const void *params, void *result, struct error *e)
CONVERSES(converse_create);
CONVERSES(converse_open);
CONVERSES(converse_fork);
CONVERSES(converse_rename);
CONVERSES(converse_label);
CONVERSES(converse_archive);
CONVERSES(converse_unarchive);
CONVERSES(converse_delete);
CONVERSES(converse_close);
CONVERSES(converse_set_model);
CONVERSES(converse_set_effort);
CONVERSES(converse_set_system);
CONVERSES(converse_set_draft);
CONVERSES(converse_add_image);
CONVERSES(converse_set_memory);
CONVERSES(converse_leave_out);
CONVERSES(converse_set_tools);
CONVERSES(converse_set_compaction);
CONVERSES(converse_settings);
CONVERSES(converse_start_turn);
CONVERSES(converse_retry);
CONVERSES(converse_interrupt);
CONVERSES(converse_background);
CONVERSES(converse_decide_approval);
CONVERSES(converse_decide_elicitation);
CONVERSES(converse_list_permissions);
CONVERSES(converse_list_servers);
CONVERSES(converse_set_client);
CONVERSES(converse_list_skills);
CONVERSES(converse_answer_tool);
CONVERSES(converse_compact);
CONVERSES(converse_decide_draft);
CONVERSES(converse_undo);
CONVERSES(converse_pin);
CONVERSES(converse_unpin);
CONVERSES(converse_rewind);
CONVERSES(converse_unrewind);
CONVERSES(converse_changes);
CONVERSES(converse_restore);
CONVERSES(converse_context);
CONVERSES(converse_models);
CONVERSES(converse_check);
CONVERSES(converse_report);

#endif
