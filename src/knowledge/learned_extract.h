/* What a model is asked to propose for learned memory and the graph out of what the user typed in a
 * session, and its answer. Pure functions. */
#ifndef KNOWLEDGE_LEARNED_EXTRACT_H
#define KNOWLEDGE_LEARNED_EXTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "chat/knowledge.h"
#include "knowledge/graph.h"
#include "store/store.h"

enum {
    EXTRACTION_TURNS = 3,         /* that a session has at least */
    EXTRACTION_TEXT_BYTES = 4000, /* of a message */
    EXTRACTION_BYTES = 48 * 1024, /* of all; of more the newest */
    EXTRACTION_PROPOSALS = 20,    /* items, and as many entities, that are taken of an answer */
    EXTRACTION_OBSERVATIONS = 10, /* of an entity */
    EXTRACTION_KNOWN = 50         /* items that the model is told of */
};

/* What the user typed: sentences alone, without files, code and quotations, secrets masked. */
struct typed_message {
    int64_t seq; /* of its event */
    char *text;
};
struct typed_messages {
    VEC(struct typed_message) items;
};
void typed_messages_release(struct typed_messages *m);
/* False: nothing of it was typed. */
bool typed_messages_add(struct typed_messages *m, int64_t seq, const char *message);

/* The request's one message: the messages, numbered from 1 on, and what is known already, as JSON.
 * The caller frees. */
char *extraction_request(const struct typed_messages *m, const struct learned_items *known);

struct proposal {
    enum learned_kind kind; /* ENTITY: its text as of entity_text.h */
    int64_t seq;            /* of the message that it is of */
    char *text;
};
struct proposals {
    VEC(struct proposal) items;
};
void proposals_release(struct proposals *p);

/* What of the answer can be used: a proposal that names no message, no kind or no text is left out.
 * False where it is no JSON object. */
bool extraction_read(const char *answer, const struct typed_messages *m, struct proposals *out,
                     struct error *e);

/* An entity of the graph as a line that a person reads and changes before it is kept:
 * "Kyoto (city): has ryokans by the river; was the capital". Pure functions. */

struct entity_text {
    char *name, *type;
    VEC(char *) observations; /* may be none */
};
void entity_text_release(struct entity_text *t);

/* The caller frees. Parentheses of the name and semicolons of observations become other marks, so
 * that the line reads as the same parts. */
char *entity_text_write(const char *name, const char *type, const char *const *observations,
                        size_t count);

/* USAGE where the line is none. */
bool entity_text_read(const char *line, struct entity_text *out, struct error *e);

/* Whether what the user wrote is in their own words, or was copied of what the session showed:
 * results of tools (memory_search is one), files that were attached, messages that were not typed,
 * answers of the model. What is
 * not their own is not learned, so that a document cannot write and nothing feeds itself. Words
 * that the user typed before they were shown (a model repeats them) are the user's. */

/* How many words in a row are no chance: of what a tool gave, was recalled or attached; of an
 * answer. */
enum { OWN_WORDS_OF_TEXTS = 3, OWN_WORDS_OF_ANSWERS = 5 };

/* Looks in the log of the session, in events before `seq`. A text of fewer words is the user's. */
bool own_words(struct store *s, const char *session_id, int64_t seq, const char *text, bool *own,
               struct error *e);

/* Sessions that ended and out of whose messages a model is to propose items: which wait, what is
 * read of them, what becomes of proposals. Each call is a transaction of its own. */

enum { EXTRACTION_TRIES = 3 /* that fail before a session is given up */ };

/* The session ended. */
bool learned_extract_want(struct store *s, const char *session_id, struct error *e);

struct waiting_session {
    char *id; /* NULL: none waits */
    int64_t seq;
};
bool learned_extract_next(struct store *s, struct waiting_session *out, struct error *e);

/* What was typed behind event `seq`, and *last of the log. None where the whole session has fewer
 * than EXTRACTION_TURNS turns, or may not write memory. */
bool learned_extract_read(struct store *s, const struct waiting_session *w,
                          struct typed_messages *out, int64_t *last, struct error *e);

/* Keeps proposals as candidates (with the session's project), but for what the session showed
 * (own_words.h), and entities only where there is a graph (NULL: none); the session has been looked
 * at up to `last`. *kept: how many are new. */
bool learned_extract_keep(struct store *s, const struct waiting_session *w, int64_t last,
                          const struct proposals *p, const struct graph *graph, int *kept,
                          struct error *e);

/* A try failed; the session does not wait any more after EXTRACTION_TRIES. */
bool learned_extract_failed(struct store *s, const struct waiting_session *w, struct error *e);

/* The entity of a candidate into the graph, and the candidate goes. USAGE where its text is none.
 */
bool learned_keep_entity(const struct graph *graph, const struct learned_item *item,
                         struct error *e);

#endif
