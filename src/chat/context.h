/* The next request to the model, by its parts. */
#ifndef CHAT_CONTEXT_H
#define CHAT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "chat/message.h"

/* A part of the next request, in its order. */
enum context_kind {
    CONTEXT_SYSTEM,
    CONTEXT_INSTRUCTIONS, /* a file of the project's or the person's own: AGENTS.md */
    CONTEXT_SKILLS,
    CONTEXT_LEARNED,
    CONTEXT_GRAPH, /* what is in the graph of facts */
    CONTEXT_TOOLS,
    CONTEXT_SUMMARY,
    CONTEXT_MESSAGE,
    CONTEXT_KINDS /* how many */
};
struct context_part {
    enum context_kind kind;
    enum role role; /* of a MESSAGE */
    char *source;   /* of TOOLS, the source's name; of a SKILL, its own; of INSTRUCTIONS, the path;
                       else NULL */
    int64_t seq;    /* of a message; 0 */
    int turn;
    int64_t tokens; /* its share of the whole request, by estimate */
    int64_t cap;    /* tokens that it may have; 0: any number */
    int64_t whole;  /* what it had before the cap cut its text; 0: nothing was cut */
    char *text;     /* the whole of it, for a person to read: tools with their schemas, calls with
                       their arguments; of long messages the beginning and "…". Not cleaned */
    bool pinned;
    bool goes; /* a compaction now, in the configured mode, would drop it */
};
struct context {
    VEC(struct context_part) parts;
    int64_t tokens;            /* of all parts: the whole next request, as the meters have it */
    bool estimated;            /* of that: no provider counted it so */
    int64_t last_input;        /* as the provider counted the last request; -1 unknown */
    int64_t cached;            /* of those read from the provider's cache; -1 unknown */
    int64_t window, threshold; /* 0 unknown / no compaction */
    char *mode;                /* of a compaction now; NULL: histories are not shortened */
    int64_t tokens_after; /* of all parts that stay, without a summary's; -1: nothing would go */
};
void context_release(struct context *c);

#endif
