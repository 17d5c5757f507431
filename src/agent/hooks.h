/* Hooks: commands of the user's configuration ([hooks]), then those of a project that the user
 * trusts (knowledge/trust.h), which run at moments of a session, with JSON on standard input and
 * output in the format of Claude Code. A hook may refuse a message, a tool call or a compaction,
 * and add text for the model. tiro.ini(5) documents the format. A hook that fails changes nothing;
 * that is told once a session. After a hook that refuses, no other runs.
 *
 * The functions run the hooks on the agent thread, 10 seconds each, until the wakeup says stop.
 * Without a hook for the moment they do nothing. */
#ifndef AGENT_HOOKS_H
#define AGENT_HOOKS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "chat/message.h"
#include "knowledge/trust.h"

struct agent;
struct turn;

enum hook {
#define X(id, name, event) HOOK_##id,
    HOOKS(X)
#undef X
};

enum hook_verdict { HOOK_SILENT, HOOK_ALLOWS, HOOK_ASKS, HOOK_BLOCKS };

/* The texts are cleaned for the terminal; NULL: none. */
struct hook_answer {
    enum hook_verdict verdict;
    char *reason;  /* of the verdict; a hook that blocks always has one */
    char *context; /* for the model */
    char *said;    /* for the user */
    char *fault;   /* why it counts as no answer; then the members above are empty */
};
void hook_answer_release(struct hook_answer *a);

/* The answer of a hook that exited with this status and wrote these texts. Pure. */
void hook_answer_read(struct hook_answer *out, enum hook hook, int status, const struct buf *output,
                      const struct buf *errors);

/* Appends its text for the model to the result of a tool. */
void hook_answer_add(const struct hook_answer *a, struct buf *result);

/* The hooks of a session. */
struct hooks {
    /* The parts of the project, if the user trusts them; NULL: its hooks do not run. Set to NULL
     * when a program of theirs is another one on the disk. Borrowed. */
    const struct project_parts *project;
    char *warning;             /* to be told; NULL: none */
    bool begun;                /* session_start has run */
    struct hook_answer start;  /* its answer, whose context is in each prompt */
    struct hook_answer prompt; /* of the turn's message */
    unsigned faults_told;      /* a bit for each hook */
};
void hooks_release(struct hooks *h);

/* Before agent_take_turn(): runs session_start, if it has not run yet, and prompt. False: the
 * message is not to be sent, since prompt blocks it (FORBIDDEN) or the user stopped it
 * (INTERRUPTED); nothing was emitted. */
bool hooks_admit(struct agent *a, const char *input, struct error *e);

/* Tells the user what the two said, after the turn has begun. */
void hooks_tell_begin(struct turn *t);

/* False: the user stopped the turn, and there is no answer. Tells what the hook said. */
bool hooks_ask_tool(struct turn *t, const struct block *call, struct hook_answer *out);

/* After a tool ran. Appends the hook's text for the model to the result. */
void hooks_note_tool(struct turn *t, const struct block *call, bool is_error, struct buf *result);

void hooks_note_end(struct turn *t);

/* False with the reason: the compaction is not to be (FORBIDDEN), or the user stopped it
 * (INTERRUPTED). `focus`: NULL: the user said nothing. */
bool hooks_ask_compact(struct turn *t, bool by_hand, const char *focus, struct error *e);
void hooks_note_compact(struct turn *t, bool by_hand);

#endif
