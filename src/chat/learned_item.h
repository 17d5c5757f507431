/* What was learned of the user's words and is to influence later sessions: an item of learned
 * memory. */
#ifndef CHAT_LEARNED_ITEM_H
#define CHAT_LEARNED_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape.h"
#include "base/vec.h"
#include "chat/event.h"

enum { LEARNED_TEXT_BYTES = 1000, LEARNED_ID_BYTES = 200 };

/* X(NAME, "word", whether a new one takes the place of the one before) */
#define LEARNED_KINDS(X)                                                                           \
    X(FACT, "fact", false)        /* "remember that …" */                                        \
    X(RULE, "rule", false)        /* "always use …" */                                           \
    X(LANGUAGE, "language", true) /* of answers, as the preferences that follow */                 \
    X(STYLE, "style", true)       /* how long and detailed */                                      \
    X(TONE, "tone", true)                                                                          \
    X(FORMAT, "format", true)                                                                      \
    X(EMOJI, "emoji", true)                                                                        \
    X(ENTITY, "entity", false)   /* for the graph, where it goes when it is accepted */            \
    X(USAGE, "usage", false)     /* of a tool, as it was seen; scope TOOL */                       \
    X(SESSION, "session", false) /* what a session was about; scope HISTORY */

enum learned_kind {
#define X(name, word, replaces) LEARNED_##name,
    LEARNED_KINDS(X)
#undef X
        LEARNED_KIND_COUNT
};

/* TOOL and HISTORY are made of the logs of sessions; what a person says is of the others. */
enum learned_scope { LEARNED_PROJECT, LEARNED_USER, LEARNED_TOOL, LEARNED_HISTORY, LEARNED_SCOPES };

/* A CANDIDATE waits for the user's word, ACTIVE ones are told to models, SUPERSEDED were replaced,
 * REJECTED are not asked for again. */
enum learned_state {
    LEARNED_CANDIDATE,
    LEARNED_ACTIVE,
    LEARNED_SUPERSEDED,
    LEARNED_REJECTED,
    LEARNED_STATES
};

/* What a session may do with memory, of all kinds: OFF nothing, READ what is there, WRITE more,
 * too.
 */
enum memory_access { MEMORY_ACCESS_OFF, MEMORY_ACCESS_READ, MEMORY_ACCESS_WRITE };
extern const struct shape_names memory_access_names;

/* Who proposed it; LOGGED: nobody, it is what the logs of sessions say. */
enum learned_origin { LEARNED_TYPED, LEARNED_ADDED, LEARNED_EXTRACTED, LEARNED_LOGGED };

struct learned_item {
    char *id; /* names it for ever; NULL before the store made one */
    enum learned_scope scope;
    enum learned_kind kind;
    enum learned_state state;
    enum learned_origin origin;
    char *text;
    char *project;     /* resolved path of a PROJECT's; NULL: of all */
    char *session_id;  /* that it was said in; NULL: in none */
    bool session_gone; /* … which was deleted */
    int64_t seq;       /* of the event of its message; 0 unknown */
    char *replaced_by; /* of a SUPERSEDED: id; NULL: none */
    int64_t created_ms, changed_ms;
    int64_t uses, used_ms; /* sessions that were told of it; 0: none was */

    /* Its message, where learned_find_messages() found it in the log. */
    char *said;  /* a line of what was typed, around the words that were noted; NULL: not found */
    char *title; /* of the session */
    int turn;    /* of a CANDIDATE; 0: unknown */
    int64_t said_ms;
    enum input_origin said_origin;
};

struct learned_items {
    VEC(struct learned_item) items;
};

void learned_item_release(struct learned_item *item);
void learned_items_release(struct learned_items *list);

bool learned_kind_replaces(enum learned_kind kind);
const char *learned_kind_word(enum learned_kind kind);
const char *learned_scope_word(enum learned_scope scope);
const char *learned_state_word(enum learned_state state);
/* A fact and a rule belong to a project, a preference and an entity to the user. */
enum learned_scope learned_scope_of(enum learned_kind kind);

extern const struct shape_names learned_kind_names, learned_scope_names, learned_state_names,
    learned_origin_names;
extern const struct shape learned_item_shape;

/* A member of type struct learned_items. */
#define LEARNED_ITEMS(S, member)                                                                   \
    SHAPE_FIELD("items", LIST, REQUIRED, offsetof(S, member), .of = &learned_item_shape,           \
                .help = "What was learned.")

#endif
