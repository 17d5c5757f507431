/* Items and entities that a model proposes from the user's messages in sessions that ended: which
 * sessions wait, the request, the answer, and the proposals that are kept. */
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
    EXTRACTION_BYTES = 48 * 1024, /* of all messages; the newest are taken */
    EXTRACTION_PROPOSALS = 20,    /* items, and as many entities, of an answer */
    EXTRACTION_OBSERVATIONS = 10, /* of an entity */
    EXTRACTION_KNOWN = 50,        /* known items in the request */
    EXTRACTION_TRIES = 3          /* that fail before a session is given up */
};

/* ---- request and answer: pure ---- */

/* Sentences that the user typed, without files, code and quotations, secrets masked. */
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

/* The request's one message, as JSON: the messages, numbered from 1 on, and the known items. The
 * caller frees. */
char *extraction_request(const struct typed_messages *m, const struct learned_items *known);

struct proposal {
    enum learned_kind kind; /* ENTITY: its text is a line of entity_text_write() */
    int64_t seq;            /* of the message that it comes from */
    char *text;
};
struct proposals {
    VEC(struct proposal) items;
};
void proposals_release(struct proposals *p);

/* Proposals without a message, a kind or a text are left out. False: the answer is no JSON object.
 */
bool extraction_read(const char *answer, const struct typed_messages *m, struct proposals *out,
                     struct error *e);

/* An entity of the graph as a line that a person reads and changes before it is kept:
 * "Kyoto (city): has ryokans by the river; was the capital". */
struct entity_text {
    char *name, *type;
    VEC(char *) observations; /* may be none */
};
void entity_text_release(struct entity_text *t);

/* The caller frees. Parentheses in the name and semicolons in observations are replaced, so that
 * the line reads as the same parts. */
char *entity_text_write(const char *name, const char *type, const char *const *observations,
                        size_t count);

/* USAGE: the line is no entity. */
bool entity_text_read(const char *line, struct entity_text *out, struct error *e);

/* ---- the user's own words ---- */

/* Whether the text is the user's own, not copied from results of tools, attached files, messages
 * that were not typed or the model's answers. Only own words are learned, so that no document can
 * write memory and memory does not feed itself. Words that the user typed before they were shown
 * are own words. Looks at events before `seq` of the session. */
bool own_words(struct store *s, const char *session_id, int64_t seq, const char *text, bool *own,
               struct error *e);

/* So many words in a row are no chance: from a tool, memory or a file; from an answer. A text of
 * fewer words is always the user's. */
enum { OWN_WORDS_OF_TEXTS = 3, OWN_WORDS_OF_ANSWERS = 5 };

/* ---- sessions: each call is a transaction of its own ---- */

/* The session ended and waits. */
bool learned_extract_want(struct store *s, const char *session_id, struct error *e);

struct waiting_session {
    char *id; /* NULL: none waits */
    int64_t seq;
};
bool learned_extract_next(struct store *s, struct waiting_session *out, struct error *e);

/* Reads messages typed after event `seq`, and *last, the log's last event. None where the session
 * has fewer than EXTRACTION_TURNS turns, or may not write memory. */
bool learned_extract_read(struct store *s, const struct waiting_session *w,
                          struct typed_messages *out, int64_t *last, struct error *e);

/* Keeps proposals in own words as candidates, with the session's project. Entities are kept only
 * with a graph (NULL: none). The session is done up to `last`. *kept: how many are new. */
bool learned_extract_keep(struct store *s, const struct waiting_session *w, int64_t last,
                          const struct proposals *p, const struct graph *graph, int *kept,
                          struct error *e);

/* A try failed. After EXTRACTION_TRIES the session waits no more. */
bool learned_extract_failed(struct store *s, const struct waiting_session *w, struct error *e);

/* Moves the entity of a candidate into the graph. USAGE: its text is no entity. */
bool learned_keep_entity(const struct graph *g, const struct learned_item *item, struct error *e);

#endif
