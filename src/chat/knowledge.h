/* Knowledge as data: items of learned memory, the graph of facts, corpora and skills; what they are
 * asked and what they answer, as structs and shapes. Where they are kept: knowledge/. */
#ifndef CHAT_KNOWLEDGE_H
#define CHAT_KNOWLEDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape.h"
#include "base/vec.h"
#include "chat/event.h"

/* ---- learned memory: items from the user's words that influence later sessions ---- */

enum { LEARNED_TEXT_BYTES = 1000, LEARNED_ID_BYTES = 200 };

/* X(NAME, "word", whether a new one replaces the one before) */
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

/* TOOL and HISTORY items are made from the logs of sessions, the others from the user's words. */
enum learned_scope { LEARNED_PROJECT, LEARNED_USER, LEARNED_TOOL, LEARNED_HISTORY, LEARNED_SCOPES };

/* A CANDIDATE waits for the user's decision, an ACTIVE item is given to models, a SUPERSEDED one
 * was replaced, a REJECTED one is not proposed again. */
enum learned_state {
    LEARNED_CANDIDATE,
    LEARNED_ACTIVE,
    LEARNED_SUPERSEDED,
    LEARNED_REJECTED,
    LEARNED_STATES
};

/* A session's access to memory of all kinds; WRITE includes READ. */
enum memory_access { MEMORY_ACCESS_OFF, MEMORY_ACCESS_READ, MEMORY_ACCESS_WRITE };
extern const struct shape_names memory_access_names;

/* The source of an item; SHARED: another person, in a shared space; LOGGED: the logs of sessions.
 */
enum learned_origin {
    LEARNED_TYPED,
    LEARNED_ADDED,
    LEARNED_EXTRACTED,
    LEARNED_SHARED,
    LEARNED_LOGGED
};

struct learned_item {
    char *id; /* permanent; NULL before the store made one */
    enum learned_scope scope;
    enum learned_kind kind;
    enum learned_state state;
    enum learned_origin origin;
    char *text;
    char *project;     /* resolved path, for scope PROJECT; NULL: all projects */
    char *session_id;  /* of its message; NULL: none */
    bool session_gone; /* that session was deleted */
    int64_t seq;       /* of the event of its message; 0 unknown */
    char *replaced_by; /* the ID of the item that superseded it; NULL: none */
    int64_t created_ms, changed_ms;
    int64_t uses, used_ms; /* sessions that got it, and when the last one did; 0: none */

    /* Its message, if learned_find_messages() found it in the log. */
    char *said;  /* the line with the noted words, as it was typed; NULL: not found */
    char *title; /* of the session */
    int turn;    /* for a CANDIDATE; 0: unknown */
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
                .help = "Learned items.")

/* ---- the graph of facts: entities with observations, and relations between entities ---- */

/* Limits of texts in bytes, of one call, and of the whole graph. */
enum {
    GRAPH_NAME_BYTES = 256,
    GRAPH_TYPE_BYTES = 128, /* of an entity and of a relation */
    GRAPH_OBSERVATION_BYTES = 4096,
    GRAPH_ENTITY_BYTES = 256 * 1024, /* all observations of an entity */
    GRAPH_BATCH = 200,               /* entities, relations, names of one call */
    GRAPH_OBSERVATIONS = 1000,       /* of an entity */
    GRAPH_ENTITIES = 100000,
    GRAPH_OBSERVATIONS_IN_ALL = 1000000,
    GRAPH_RELATIONS = 500000,
    GRAPH_IMPORT_BYTES = 256 * 1024 * 1024,
    GRAPH_FOUND = 20, /* default limit of a search */
    GRAPH_FOUND_MOST = 1000,
    GRAPH_PART_RELATIONS = 2000 /* in a graph_part; others are counted */
};

/* Where a fact comes from. */
struct graph_source {
    char *session_id; /* NULL: written by the user, or imported */
    int64_t seq;      /* of the event of its message; 0 unknown */
    int64_t created_ms;
    bool deleted; /* the session was deleted */
};

struct graph_observation {
    char *content;
    struct graph_source source;
};
struct graph_entity {
    char *name, *type;
    VEC(struct graph_observation) observations; /* oldest first */
    int observed;                               /* how many observations it has, listed or not */
    int relations;                              /* how many, from it and to it */
    struct graph_source source;
};
struct graph_relation {
    char *from, *to, *type;
    struct graph_source source;
};

/* A part of the graph. */
struct graph_part {
    VEC(struct graph_entity) entities;
    VEC(struct graph_relation) relations;
    int64_t relations_left; /* beyond GRAPH_PART_RELATIONS */
    VEC(char *) unknown;    /* requested names that no entity has */
    int64_t total;          /* entities of the whole graph */
};
void graph_part_release(struct graph_part *p);
extern const struct shape graph_entity_shape, graph_relation_shape, graph_part_shape;

struct graph_stats {
    int64_t entities, observations, relations;
    int64_t orphans; /* observations whose session was deleted */
    int64_t bytes;   /* in the database, about */
};
extern const struct shape graph_stats_shape;

/* Requests. Texts belong to the reader (shape_release()) or the caller. */

struct graph_new_entity {
    const char *name, *type;
    VEC(const char *) observations;
};
struct graph_create {
    VEC(struct graph_new_entity) entities;
};

struct graph_new_observations {
    const char *entity;
    VEC(const char *) contents;
};
struct graph_observe {
    VEC(struct graph_new_observations) observations;
};

struct graph_new_relation {
    const char *from, *to, *type;
};
struct graph_relate {
    VEC(struct graph_new_relation) relations;
    bool lenient; /* missing ends are made, missing relations passed over by a deletion */
};

struct graph_query {
    const char *query;
};
struct graph_search {
    const char *query;
    int limit;   /* entities */
    bool typing; /* the last word may be the beginning of one */
    bool brief;  /* only counts of observations, and no relations */
};
struct graph_names {
    VEC(const char *) names;
    bool lenient; /* a deletion passes over what is missing */
};
struct graph_unobserve {
    VEC(struct graph_new_observations) deletions;
    bool lenient; /* the same */
};

extern const struct shape graph_create_shape, graph_observe_shape, graph_relate_shape,
    graph_query_shape, graph_search_shape, graph_names_shape, graph_entity_names_shape,
    graph_unobserve_shape;

/* Results. */

/* The answer to add_observations: the new observations of each named entity. */
struct graph_added {
    VEC(struct graph_added_to {
        char *entity;
        VEC(char *) added;
    })
    items;
};
extern const struct shape graph_added_shape;

struct graph_counts {
    int64_t entities, observations, relations;
    int64_t made; /* of the entities: those that only relations of an import name */
};
extern const struct shape graph_counts_shape;

/* A line of an export, in the form of the MCP project's server-memory. */

struct graph_line_entity {
    char *name, *type;
    VEC(char *) observations;
};
struct graph_line_relation {
    char *from, *to, *type;
};
extern const struct shape graph_line_entity_shape, graph_line_relation_shape;

/* ---- corpora: named sets of documents that are searched on demand ---- */

enum {
    CORPUS_NAME_BYTES = 64,
    CORPUS_FILE_BYTES = 4096,             /* of a path, or a given text's name */
    CORPUS_PATHS = 1000,                  /* files and folders that a corpus is made of */
    CORPUS_TEXT_BYTES = 16 * 1024 * 1024, /* of a given text */
    CORPUS_QUERY_BYTES = 65536,
    CORPUS_TOP_K = 5, /* default number of passages of a search */
    CORPUS_TOP_K_MOST = 20,
    CORPUS_PAGE = 1000 /* rows of a list, at most */
};

/* ASCII letters, digits, ".", "_" and "-", beginning with a letter or a digit: a name is written in
 * "@corpus:NAME" and in tiro.ini. */
bool corpus_name_valid(const char *name);

/* The next name in "@corpus:NAME" from *at on, which moves after it; NULL: none. The caller frees.
 */
char *corpus_next_mention(const char **at);
/* The text without these mentions and the blanks before them. The caller frees. */
char *corpus_without_mentions(const char *text);

struct corpus_info {
    char *name;
    VEC(char *) paths;
    int64_t documents; /* readable ones */
    int64_t failed;    /* files that could not be read */
    int64_t passages, bytes;
    int64_t updated_ms; /* end of the last ingest; 0: there was none */
    bool pending;       /* an ingest has begun and not ended */
};
struct corpus_list {
    VEC(struct corpus_info) items; /* by name */
};

enum corpus_document_state { CORPUS_DOCUMENT_READY, CORPUS_DOCUMENT_FAILED };
struct corpus_document {
    int64_t id;
    char *corpus, *file;
    enum corpus_document_state state;
    char *error; /* NULL: ready */
    int64_t passages, bytes, ingested_ms;
    bool given; /* a text without a file */
};
struct corpus_documents {
    VEC(struct corpus_document) items; /* by file */
    int64_t total;                     /* of this state, listed or not */
};

struct corpus_passage {
    int number; /* by which a model cites it; 0: none */
    int64_t document;
    int64_t chunk; /* its number in the document, from 0 on */
    char *corpus, *file, *heading, *content;
    int64_t line, page;    /* from 1; 0: the format has none */
    int64_t start, finish; /* bytes of the file; -1: the format does not tell */
    double score;          /* of a search: 0 … 1 */
    double words, vector;  /* the parts of the score; vector -1: none */
};
struct corpus_passages {
    VEC(struct corpus_passage) items;
    int64_t total; /* of the document */
};
/* The result of a search, best first. */
struct corpus_found {
    VEC(struct corpus_passage) items;
    int64_t documents, searched; /* documents and passages that were searched */
    char *badge;                 /* why vectors or reranker could not be used; NULL: they were */
};

struct corpus_stats {
    int64_t corpora, documents, failed, passages;
    int64_t bytes;             /* of texts */
    int64_t index;             /* bytes of words and vectors */
    int64_t embedded, missing; /* passages with and without a vector of the model */
    char *model;               /* NULL: words alone */
};

/* The progress of an ingest, and its result. */
struct corpus_progress {
    char *corpus;
    int64_t files; /* that were found */
    int64_t done;  /* of them */
    int64_t added, changed, unchanged, removed, failed;
    int64_t passages, bytes; /* that were read */
    bool finished;
    bool asks; /* nothing was done: so much goes to an embedding endpoint only with consent */
};

struct corpus_ingested {
    int64_t document, chunks;
};
struct corpus_removed {
    int64_t documents;
};

extern const struct shape corpus_info_shape, corpus_list_shape, corpus_document_shape,
    corpus_documents_shape, corpus_passage_shape, corpus_passages_shape, corpus_found_shape,
    corpus_stats_shape, corpus_progress_shape, corpus_ingested_shape, corpus_removed_shape;

/* Requests. Texts belong to the reader (shape_release()) or the caller. */

struct corpus_add {
    const char *name;
    VEC(const char *) paths; /* none: those of the corpus and of tiro.ini */
    bool consent;            /* to send any amount to an embedding endpoint */
};
struct corpus_documents_query {
    const char *name;
    bool failed;       /* list the failed documents, not the ready ones */
    const char *after; /* begin after this file; NULL: from the beginning */
    int limit;         /* 0: CORPUS_PAGE */
};
struct corpus_passages_query {
    int64_t document;
    int64_t from; /* number of the first */
    int limit;    /* 0: CORPUS_PAGE */
};
struct corpus_cited {
    const char *session_id;
    int64_t before; /* number of an event: the last passages given before it; 0: of all */
};
struct corpus_search {
    const char *corpus; /* NULL: all of them */
    const char *query;
    int top_k;            /* 0: as configured */
    double hybrid_weight; /* share of words, 0 … 1; negative: as configured */
    const char *filter;   /* part of a path, or a glob; NULL: all files */
};
struct corpus_ingest {
    const char *corpus, *filename, *text;
};
struct corpus_remove {
    const char *name;
    const char *file; /* NULL: the whole corpus */
};

extern const struct shape corpus_add_shape, corpus_documents_query_shape,
    corpus_passages_query_shape, corpus_cited_shape, corpus_search_shape, corpus_ingest_shape,
    corpus_remove_shape;

/* ---- skills: folders with instructions for a kind of task, and commands, which are files that
 * only a person opens, and prompts of MCP servers, which are commands, too ---- */

/* UNTRUSTED: of a project that the user does not trust yet. Only a READY one can be opened. */
enum skill_state { SKILL_READY, SKILL_SHADOWED, SKILL_BROKEN, SKILL_UNTRUSTED, SKILL_STATES };

struct skill {
    char *name;
    char *description, *license, *compatibility, *allowed_tools; /* one line each; NULL: none */
    char *place;     /* the directory in which it was found */
    char *path;      /* of its Markdown file, resolved; "": it is a prompt of a server */
    char *arguments; /* what a person writes behind the name; NULL: any words */
    bool command;
    bool taken; /* a command of tiro has the name: no person opens it by that */
    enum skill_state state;
    char *detail;   /* path of the one that is used in its stead, or what is wrong; NULL: nothing */
    int64_t tokens; /* of its text, estimated */
};
struct skills {
    VEC(struct skill) items; /* the nearest place first, each in the order of names */
};
void skills_release(struct skills *s);

/* Whether the name can be that of a prompt of an MCP server, "SERVER:PROMPT". Pure. */
bool skill_names_prompt(const char *name);
extern const struct shape skills_shape;

#endif
