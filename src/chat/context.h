/* The next request to the model, by its parts. */
#ifndef CHAT_CONTEXT_H
#define CHAT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/message.h"

/* The kinds of parts of the next request, in its order: X(ID, "name on the wire", label for a
 * person). INSTRUCTIONS: a file of the project's or the person's own, as AGENTS.md. SKILLS: advice
 * on a tool. SKILL_LIST: the skills that the model can open. */
#define CONTEXT_KIND_LIST(X)                                                                       \
    X(SYSTEM, "system", N_("system"))                                                              \
    X(INSTRUCTIONS, "instructions", N_("project"))                                                 \
    X(SKILLS, "skills", N_("skills"))                                                              \
    X(SKILL_LIST, "skill_list", N_("skills"))                                                      \
    X(LEARNED, "learned", N_("learned"))                                                           \
    X(GRAPH, "graph", N_("graph"))                                                                 \
    X(TOOLS, "tools", N_("tools"))                                                                 \
    X(RECALLED, "recalled", N_("memory"))                                                          \
    X(SUMMARY, "summary", N_("summary"))                                                           \
    X(MESSAGE, "message", N_("history"))

/* The label of a compaction mode for a user who did not choose it by its name: the default mode's
 * name alone would not say what it does. */
#define COMPACTION_MODE_LABEL(mode)                                                                \
    (strcmp(mode, "handoff") == 0 ? _("summary + last turns") : (mode))

enum context_kind {
#define X(id, word, label) CONTEXT_##id,
    CONTEXT_KIND_LIST(X)
#undef X
        CONTEXT_KINDS /* how many */
};
struct context_part {
    enum context_kind kind;
    enum role role; /* of a MESSAGE */
    char *source;   /* of TOOLS, the source's name; of a SKILL, its own; of INSTRUCTIONS, the path;
                       else NULL */
    int64_t seq;    /* of a message; 0 */
    int turn;
    int64_t tokens; /* estimate */
    int64_t cap;    /* most tokens; 0: no limit */
    int64_t whole;  /* tokens before the cap cut its text; 0: nothing was cut */
    char *text;     /* the text for a person: tools with their schemas, calls with their arguments;
                       of long messages the beginning and "…". Not cleaned */
    bool pinned;
    bool goes; /* a compaction in the configured mode would drop it now */
};
struct context {
    VEC(struct context_part) parts;
    int64_t tokens;            /* of the whole next request */
    bool estimated;            /* `tokens` is an estimate, not the provider's count */
    int64_t last_input;        /* the provider's count of the last request; -1 unknown */
    int64_t cached;            /* the cached part of that; -1 unknown */
    int64_t sent, received;    /* tokens of all requests and answers of the session; -1 unknown */
    int64_t window, threshold; /* 0 unknown / no compaction */
    char *effort;              /* of reasoning; NULL: as the provider has it */
    char *mode;                /* of a compaction now; NULL: histories are not shortened */
    int64_t tokens_after; /* of the parts that a compaction keeps, without the summary; -1: it would
                             drop nothing */
};
void context_release(struct context *c);

#endif
