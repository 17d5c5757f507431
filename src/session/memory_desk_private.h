/* What the desk's thread works with (memory_desk.c), for those that answer (memory_answers.c). */
#ifndef SESSION_MEMORY_DESK_PRIVATE_H
#define SESSION_MEMORY_DESK_PRIVATE_H

#include "memory/recall.h"
#include "session/command.h"
#include "session/notice.h"

struct memory_answers {
    const struct config *config;
    const char *project;
    struct recall recall;
    struct wakeup wakeup; /* says stop when what is being answered is out of date */
    VEC(struct memory_forgotten) forgotten;
};

void memory_answers_release(struct memory_answers *a); /* but not `recall` */

/* What the command is answered with, by the table in memory_answers.c; one that fails becomes a
 * NOTICE_ERROR. *changed: entries may lack vectors now. */
struct notice *memory_answer(struct memory_answers *a, const struct command *c, bool *changed);

/* What answers any command where there is no store. */
struct notice *memory_answer_fault(const struct command *c, const struct error *fault);

#endif
