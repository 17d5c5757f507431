/* The agent thread: takes requests, opens sessions, runs turns, tells notices and answers. While a
 * turn runs it keeps answering, through the wakeup that every long effect polls. */
#ifndef SESSION_CONVERSATION_H
#define SESSION_CONVERSATION_H

#include "session/operation.h"

struct conversation;
struct engine;
struct seat;

/* Its seat; notices go to the engine's mailbox. */
struct seat *conversation_new(struct engine *engine);
void conversation_free(struct conversation *c); /* its thread has ended */

/* Before it runs: whether it does what is done once a process, when there is time. */
void conversation_tidies(struct conversation *c, bool tidies);

/* On its thread, until order_quit. True: it retired before (engine_retire()), and nobody else knows
 * it. */
bool conversation_run(struct conversation *c);

/* How conversations do the operations whose rows name these (`converse`). */
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
CONVERSES(converse_set_system);
CONVERSES(converse_set_draft);
CONVERSES(converse_add_image);
CONVERSES(converse_set_memory);
CONVERSES(converse_set_tools);
CONVERSES(converse_set_compaction);
CONVERSES(converse_settings);
CONVERSES(converse_start_turn);
CONVERSES(converse_retry);
CONVERSES(converse_interrupt);
CONVERSES(converse_decide_approval);
CONVERSES(converse_answer_tool);
CONVERSES(converse_compact);
CONVERSES(converse_decide_draft);
CONVERSES(converse_undo);
CONVERSES(converse_pin);
CONVERSES(converse_unpin);
CONVERSES(converse_context);
CONVERSES(converse_models);
CONVERSES(converse_check);
CONVERSES(converse_report);

#endif
