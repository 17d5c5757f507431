#include "chat/knowledge.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const kind_words[] = {
#define X(name, word, replaces) [LEARNED_##name] = word,
    LEARNED_KINDS(X)
#undef X
};
static const bool replaces_of[] = {
#define X(name, word, replaces) [LEARNED_##name] = replaces,
    LEARNED_KINDS(X)
#undef X
};
static const char *const scope_words[] = {[LEARNED_PROJECT] = "project",
                                          [LEARNED_USER] = "user",
                                          [LEARNED_TOOL] = "tool",
                                          [LEARNED_HISTORY] = "history"};
static const char *const state_words[] = {[LEARNED_CANDIDATE] = "candidate",
                                          [LEARNED_ACTIVE] = "active",
                                          [LEARNED_SUPERSEDED] = "superseded",
                                          [LEARNED_REJECTED] = "rejected"};
static const char *const origin_words[] = {
    [LEARNED_TYPED] = "typed",
    [LEARNED_ADDED] = "added",
    [LEARNED_EXTRACTED] = "extracted",
    [LEARNED_LOGGED] = "logged",
};

static const char *const access_words[] = {
    [MEMORY_ACCESS_OFF] = "off", [MEMORY_ACCESS_READ] = "read", [MEMORY_ACCESS_WRITE] = "write"};

const struct shape_names memory_access_names = {access_words, MEMORY_ACCESS_WRITE + 1, -1};
const struct shape_names learned_kind_names = {kind_words, LEARNED_KIND_COUNT, -1};
const struct shape_names learned_scope_names = {scope_words, LEARNED_SCOPES, -1};
const struct shape_names learned_state_names = {state_words, LEARNED_STATES, -1};
const struct shape_names learned_origin_names = {origin_words, LEARNED_LOGGED + 1, -1};

bool learned_kind_replaces(enum learned_kind kind)
{
    return replaces_of[kind];
}

const char *learned_kind_word(enum learned_kind kind)
{
    return kind_words[kind];
}

const char *learned_scope_word(enum learned_scope scope)
{
    return scope_words[scope];
}

const char *learned_state_word(enum learned_state state)
{
    return state_words[state];
}

enum learned_scope learned_scope_of(enum learned_kind kind)
{
    if (kind == LEARNED_USAGE || kind == LEARNED_SESSION)
        return kind == LEARNED_USAGE ? LEARNED_TOOL : LEARNED_HISTORY;
    return learned_kind_replaces(kind) || kind == LEARNED_ENTITY ? LEARNED_USER : LEARNED_PROJECT;
}

void learned_item_release(struct learned_item *item)
{
    shape_release(&learned_item_shape, item);
}

void learned_items_release(struct learned_items *list)
{
    for (size_t i = 0; i < list->items.len; i++)
        learned_item_release(&list->items.items[i]);
    vec_release(&list->items);
}

#define ITEM(name, TYPE, PRESENCE, T, member, ...)                                                 \
    SHAPE_FIELD(name, TYPE, PRESENCE, SHAPE_AT(T, struct learned_item, member), .help = __VA_ARGS__)
#define TEXT(name, PRESENCE, member, ...)                                                          \
    SHAPE_FIELD(name, STRING, PRESENCE, SHAPE_AT_TEXT(struct learned_item, member),                \
                .help = __VA_ARGS__)

/* clang-format off */
const struct shape learned_item_shape = SHAPE_OF("learned item", struct learned_item,
    TEXT("id", REQUIRED, id, "Names the item.", .most = LEARNED_ID_BYTES),
    ITEM("scope", ENUM, REQUIRED, enum learned_scope, scope,
         "Whom it is about.", .names = &learned_scope_names),
    ITEM("kind", ENUM, REQUIRED, enum learned_kind, kind,
         "What it is.", .names = &learned_kind_names),
    ITEM("state", ENUM, REQUIRED, enum learned_state, state,
         "Whether it counts.", .names = &learned_state_names),
    ITEM("origin", ENUM, REQUIRED, enum learned_origin, origin,
         "Where it came from.", .names = &learned_origin_names),
    TEXT("text", REQUIRED, text, "What was learned.", .most = LEARNED_TEXT_BYTES),
    TEXT("project", OPTIONAL, project, "Resolved path of the project that it belongs to."),
    TEXT("session_id", OPTIONAL, session_id, "The session that it was said in."),
    ITEM("session_gone", BOOLEAN, OPTIONAL, bool, session_gone, "That session was deleted."),
    ITEM("seq", INTEGER, OPTIONAL, int64_t, seq, "Number of the event of its message.", .least = 1),
    TEXT("replaced_by", OPTIONAL, replaced_by, "The item that took its place."),
    ITEM("created_at", TIME, REQUIRED, int64_t, created_ms, "When it was noted."),
    ITEM("changed_at", TIME, REQUIRED, int64_t, changed_ms,
         "When its text or state was last changed."),
    ITEM("uses", INTEGER, DEFAULT, int64_t, uses, "Sessions whose model was told of it."),
    ITEM("used_at", TIME, OPTIONAL, int64_t, used_ms, "When one was, last.", .least = 1),
    TEXT("said", OPTIONAL, said, "A line of the message that it is of, as the person typed it."),
    ITEM("said_at", TIME, OPTIONAL, int64_t, said_ms, "When that was sent.", .least = 1),
    ITEM("said_origin", ENUM, OPTIONAL, enum input_origin, said_origin,
         "Where it came from; absent: unknown.", .names = &input_origin_names),
    ITEM("turn", COUNT, OPTIONAL, int, turn, "Number of its turn."),
    TEXT("title", OPTIONAL, title, "Title of the session."));

#undef TEXT
#define TEXT(S, name, at, most_bytes, ...) \
    SHAPE_FIELD(name, STRING, REQUIRED, SHAPE_AT_TEXT(S, at), .least = 1, .most = most_bytes, \
                .help = __VA_ARGS__)
#define COUNTED(S, name, at, text) \
    SHAPE_FIELD(name, INTEGER, REQUIRED, SHAPE_AT(int64_t, S, at), .help = text)

/* --- the graph of facts: answers -------------------------------------------------------------- */

#define SOURCE(S) \
    SHAPE_FIELD("session_id", STRING, OPTIONAL, SHAPE_AT_TEXT(S, source.session_id), \
                .help = "The session that it comes from; absent: a person's own, or an import."), \
    SHAPE_FIELD("seq", INTEGER, OPTIONAL, SHAPE_AT(int64_t, S, source.seq), \
                .help = "Number of the event of its message there."), \
    SHAPE_FIELD("created_at", TIME, REQUIRED, SHAPE_AT(int64_t, S, source.created_ms), \
                .help = "When it was noted."), \
    SHAPE_FIELD("session_deleted", BOOLEAN, OPTIONAL, SHAPE_AT(bool, S, source.deleted), \
                .help = "That session was deleted.")

static const struct shape_field observation_fields[] = {
    TEXT(struct graph_observation, "content", content, GRAPH_OBSERVATION_BYTES,
         "What was observed."),
    SOURCE(struct graph_observation),
    {0},
};
static const struct shape observation_shape = {
    .name = "observation", .size = sizeof(struct graph_observation), .fields = observation_fields};

const struct shape graph_entity_shape = SHAPE_OF("entity", struct graph_entity,
    TEXT(struct graph_entity, "name", name, GRAPH_NAME_BYTES, "Names it alone."),
    TEXT(struct graph_entity, "entity_type", type, GRAPH_TYPE_BYTES, "What kind of thing it is."),
    SHAPE_REQ_LIST("observations", graph_entity, observations, observation_shape, "Oldest first."),
    SHAPE_FIELD("observed", COUNT, REQUIRED, SHAPE_AT(int, struct graph_entity, observed),
                .help = "How many observations it has, also where they are left out."),
    SHAPE_FIELD("relation_count", COUNT, REQUIRED, SHAPE_AT(int, struct graph_entity, relations),
                .help = "How many relations it has, out and in."),
    SOURCE(struct graph_entity));

const struct shape graph_relation_shape = SHAPE_OF("relation", struct graph_relation,
    TEXT(struct graph_relation, "from", from, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_relation, "to", to, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_relation, "relation_type", type, GRAPH_TYPE_BYTES, "What the one is to the other."),
    SOURCE(struct graph_relation));

const struct shape graph_part_shape = SHAPE_OF("part of the graph", struct graph_part,
    SHAPE_FIELD("entities", LIST, REQUIRED, offsetof(struct graph_part, entities),
                .of = &graph_entity_shape, .help = "Of a search: best first."),
    SHAPE_FIELD("relations", LIST, REQUIRED, offsetof(struct graph_part, relations),
                .of = &graph_relation_shape, .help = "That lead from one of them or to one."),
    SHAPE_OPT(graph_part, relations_left, "How many more there are, which are left out."),
    SHAPE_FIELD("unknown", STRINGS, OPTIONAL, offsetof(struct graph_part, unknown),
                .help = "Names that were asked for, and that no entity has."),
    COUNTED(struct graph_part, "total", total, "Entities that there are."));

const struct shape graph_stats_shape = SHAPE_OF("graph figures", struct graph_stats,
    COUNTED(struct graph_stats, "entities", entities, "Entities."),
    COUNTED(struct graph_stats, "observations", observations, "What was observed of them."),
    COUNTED(struct graph_stats, "relations", relations, "Relations between them."),
    COUNTED(struct graph_stats, "orphans", orphans, "Observations whose session was deleted."),
    COUNTED(struct graph_stats, "bytes", bytes, "What it takes in the database, about."));

/* --- the graph of facts: requests ------------------------------------------------------------- */

static const struct shape new_entity_shape = SHAPE_OF_CLOSED("new entity", struct graph_new_entity,
    TEXT(struct graph_new_entity, "name", name, GRAPH_NAME_BYTES, "Names it alone."),
    TEXT(struct graph_new_entity, "entity_type", type, GRAPH_TYPE_BYTES, "What kind of thing it is.",
         .also = "entityType"),
    SHAPE_FIELD("observations", STRINGS, OPTIONAL, offsetof(struct graph_new_entity, observations),
                .most = GRAPH_OBSERVATIONS, .help = "What is known of it."));
const struct shape graph_create_shape = SHAPE_PARAMETERS(struct graph_create,
    SHAPE_FIELD("entities", LIST, REQUIRED, offsetof(struct graph_create, entities),
                .of = &new_entity_shape, .least = 1, .most = GRAPH_BATCH, .help = "New ones."));

static const struct shape contents_shape = SHAPE_OF_CLOSED("observations", struct graph_new_observations,
    TEXT(struct graph_new_observations, "entity_name", entity, GRAPH_NAME_BYTES, "Of whom.",
         .also = "entityName"),
    SHAPE_FIELD("contents", STRINGS, REQUIRED, offsetof(struct graph_new_observations, contents),
                .least = 1, .most = GRAPH_OBSERVATIONS, .help = "What is known of it."));
const struct shape graph_observe_shape = SHAPE_PARAMETERS(struct graph_observe,
    SHAPE_FIELD("observations", LIST, REQUIRED, offsetof(struct graph_observe, observations),
                .of = &contents_shape, .least = 1, .most = GRAPH_BATCH, .help = "By entity."));

static const struct shape new_relation_shape = SHAPE_OF_CLOSED("new relation", struct graph_new_relation,
    TEXT(struct graph_new_relation, "from", from, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_new_relation, "to", to, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_new_relation, "relation_type", type, GRAPH_TYPE_BYTES,
         "What the one is to the other: \"works at\".", .also = "relationType"));
const struct shape graph_relate_shape = SHAPE_PARAMETERS(struct graph_relate,
    SHAPE_REQ_LIST("relations", graph_relate, relations, new_relation_shape,
        "From one entity to another.", .least = 1, .most = GRAPH_BATCH));

const struct shape graph_query_shape = SHAPE_PARAMETERS(struct graph_query,
    TEXT(struct graph_query, "query", query, 65536, "Words, or a part of a text."));

const struct shape graph_search_shape = SHAPE_PARAMETERS(struct graph_search,
    SHAPE_REQ(graph_search, query, "Words, or a part of a text."),
    SHAPE_FIELD("limit", COUNT, OPTIONAL, SHAPE_AT(int, struct graph_search, limit),
                .least = 1, .most = GRAPH_FOUND_MOST, .absent = GRAPH_FOUND, .help = "Entities."),
    SHAPE_OPT(graph_search, typing, "The last word may be the beginning of one."),
    SHAPE_FIELD("brief", BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct graph_search, brief),
                .help = "Observations are counted, not given, and there are no relations."));

const struct shape graph_names_shape = SHAPE_PARAMETERS(struct graph_names,
    SHAPE_REQ_TEXTS(graph_names, names, "Of entities.", .least = 1, .most = GRAPH_BATCH));

const struct shape graph_entity_names_shape = SHAPE_PARAMETERS(struct graph_names,
    SHAPE_FIELD("entity_names", STRINGS, REQUIRED, offsetof(struct graph_names, names), .least = 1,
                .most = GRAPH_BATCH, .help = "Of entities.", .also = "entityNames"));

static const struct shape deletion_shape = SHAPE_OF_CLOSED("deletion", struct graph_new_observations,
    TEXT(struct graph_new_observations, "entity_name", entity, GRAPH_NAME_BYTES, "Of whom.",
         .also = "entityName"),
    SHAPE_FIELD("observations", STRINGS, REQUIRED,
                offsetof(struct graph_new_observations, contents), .least = 1,
                .most = GRAPH_OBSERVATIONS, .help = "Exactly as they are."));
const struct shape graph_unobserve_shape = SHAPE_PARAMETERS(struct graph_unobserve,
    SHAPE_FIELD("deletions", LIST, REQUIRED, offsetof(struct graph_unobserve, deletions),
                .of = &deletion_shape, .least = 1, .most = GRAPH_BATCH, .help = "By entity."));

/* --- the graph of facts: results -------------------------------------------------------------- */

static const struct shape added_to_shape = SHAPE_OF("added to entity", struct graph_added_to,
    TEXT(struct graph_added_to, "entity_name", entity, GRAPH_NAME_BYTES, "Of whom."),
    SHAPE_FIELD("added_observations", STRINGS, REQUIRED, offsetof(struct graph_added_to, added),
                .help = "That are new."));
const struct shape graph_added_shape = SHAPE_OF("added observations", struct graph_added,
    SHAPE_FIELD("results", LIST, REQUIRED, offsetof(struct graph_added, items),
                .of = &added_to_shape, .help = "In the order in which they were named."));

const struct shape graph_counts_shape = SHAPE_OF("graph counts", struct graph_counts,
    COUNTED(struct graph_counts, "entities", entities, "How many."),
    COUNTED(struct graph_counts, "observations", observations, "How many."),
    COUNTED(struct graph_counts, "relations", relations, "How many."),
    SHAPE_FIELD("skipped", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct graph_counts, skipped),
                .help = "Relations of an import whose entities are neither in it nor in the graph."));

/* --- lines ------------------------------------------------------------------------------------ */

const struct shape graph_line_entity_shape = SHAPE_OF("entity", struct graph_line_entity,
    TEXT(struct graph_line_entity, "name", name, GRAPH_NAME_BYTES, "Names it alone."),
    TEXT(struct graph_line_entity, "entityType", type, GRAPH_TYPE_BYTES, "What kind of thing it is."),
    SHAPE_FIELD("observations", STRINGS, REQUIRED, offsetof(struct graph_line_entity, observations),
                .most = GRAPH_OBSERVATIONS, .help = "What is known of it."));

const struct shape graph_line_relation_shape = SHAPE_OF("relation", struct graph_line_relation,
    TEXT(struct graph_line_relation, "from", from, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_line_relation, "to", to, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_line_relation, "relationType", type, GRAPH_TYPE_BYTES,
         "What the one is to the other."));
/* clang-format on */

void graph_part_release(struct graph_part *p)
{
    shape_release(&graph_part_shape, p);
}

static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
static const char others[] = "._-";

bool corpus_name_valid(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > CORPUS_NAME_BYTES || !strchr(first, name[0]))
        return false;
    for (size_t i = 1; i < len; i++)
        if (!strchr(first, name[i]) && !strchr(others, name[i]))
            return false;
    return true;
}

static const char mark[] = "@corpus:";

static size_t name_length(const char *at)
{
    size_t len = 0;
    while (at[len] && (strchr(first, at[len]) || strchr(others, at[len])))
        len++;
    while (len > 0 && strchr(others, at[len - 1])) /* the end of a sentence */
        len--;
    return len;
}

char *corpus_next_mention(const char **at)
{
    while ((*at = strstr(*at, mark))) {
        *at += sizeof mark - 1;
        char *name = mem_strndup(*at, name_length(*at));
        *at += strlen(name);
        if (corpus_name_valid(name))
            return name;
        free(name);
    }
    *at = "";
    return NULL;
}

char *corpus_without_mentions(const char *text)
{
    struct buf out = BUF_INIT;
    const char *from = text, *at = text;
    for (char *name; (name = corpus_next_mention(&at)); from = at) {
        const char *end = at - strlen(name) - (sizeof mark - 1);
        while (end > from && end[-1] == ' ')
            end--;
        buf_add(&out, from, (size_t)(end - from));
        free(name);
    }
    buf_addstr(&out, from);
    return buf_take(&out);
}

/* clang-format off */
#undef TEXT
#define TEXT(S, name, at, presence, most_bytes, text) \
    SHAPE_FIELD(name, STRING, presence, SHAPE_AT_TEXT(S, at), .least = 1, .most = most_bytes, \
                .help = text)
#undef COUNTED
#define COUNTED(S, name, at, text) \
    SHAPE_FIELD(name, INTEGER, REQUIRED, SHAPE_AT(int64_t, S, at), .help = text)
#define FLAG(S, name, at, text) \
    SHAPE_FIELD(name, BOOLEAN, OPTIONAL, SHAPE_AT(bool, S, at), .help = text)
#undef PARAMS

/* --- corpora: answers ------------------------------------------------------------------------- */

const struct shape corpus_info_shape = SHAPE_OF("corpus", struct corpus_info,
    TEXT(struct corpus_info, "name", name, REQUIRED, CORPUS_NAME_BYTES, "Names it alone."),
    SHAPE_FIELD("paths", STRINGS, REQUIRED, offsetof(struct corpus_info, paths),
                .most = CORPUS_PATHS, .help = "Files and folders that it is made of."),
    COUNTED(struct corpus_info, "documents", documents, "That can be searched."),
    COUNTED(struct corpus_info, "failed", failed, "Files that could not be read."),
    COUNTED(struct corpus_info, "passages", passages, "That the documents have."),
    COUNTED(struct corpus_info, "bytes", bytes, "Of the documents' text."),
    SHAPE_FIELD("updated_at", TIME, OPTIONAL, SHAPE_AT(int64_t, struct corpus_info, updated_ms),
                .help = "End of the last ingest."),
    FLAG(struct corpus_info, "pending", pending, "An ingest has begun and not ended."));

const struct shape corpus_list_shape = SHAPE_OF("corpora", struct corpus_list,
    SHAPE_REQ_LIST("corpora", corpus_list, items, corpus_info_shape, "By name."));

static const char *const document_state_words[] = {"ready", "failed"};
static const struct shape_names states = {document_state_words, 2, -1};

const struct shape corpus_document_shape = SHAPE_OF("document", struct corpus_document,
    COUNTED(struct corpus_document, "id", id, "Names it alone."),
    TEXT(struct corpus_document, "corpus_id", corpus, REQUIRED, CORPUS_NAME_BYTES, "The corpus that it is in."),
    TEXT(struct corpus_document, "file", file, REQUIRED, CORPUS_FILE_BYTES, "Its path, or the name of a given text."),
    SHAPE_REQ_WORD(corpus_document, state, states, "Whether it can be searched."),
    TEXT(struct corpus_document, "error", error, OPTIONAL, 1024, "Why it cannot."),
    COUNTED(struct corpus_document, "passages", passages, "That it has."),
    COUNTED(struct corpus_document, "bytes", bytes, "Of its text."),
    SHAPE_FIELD("ingested_at", TIME, REQUIRED, SHAPE_AT(int64_t, struct corpus_document, ingested_ms),
                .help = "When it was read."),
    FLAG(struct corpus_document, "given", given, "It is a text without a file."));

const struct shape corpus_documents_shape = SHAPE_OF("documents", struct corpus_documents,
    SHAPE_REQ_LIST("documents", corpus_documents, items, corpus_document_shape, "By file."),
    COUNTED(struct corpus_documents, "total", total, "How many there are."));

const struct shape corpus_passage_shape = SHAPE_OF("passage", struct corpus_passage,
    SHAPE_OPT_AS("n", corpus_passage, number, "The number that a model cites it by."),
    TEXT(struct corpus_passage, "content", content, REQUIRED, 0, "The text."),
    SHAPE_REQ(corpus_passage, score, "Of a search: how well it fits.", .most = 1, .decimals = 4),
    TEXT(struct corpus_passage, "file", file, REQUIRED, CORPUS_FILE_BYTES, "The document's path or name."),
    COUNTED(struct corpus_passage, "chunk", chunk, "Its number in the document."),
    SHAPE_OPT(corpus_passage, line, "In the file, from 1 on."),
    SHAPE_OPT(corpus_passage, page, "In the file, from 1 on."),
    TEXT(struct corpus_passage, "heading", heading, OPTIONAL, 0, "Headings that it stands below."),
    TEXT(struct corpus_passage, "corpus_id", corpus, REQUIRED, CORPUS_NAME_BYTES, "The corpus that it is in."),
    COUNTED(struct corpus_passage, "document", document, "Number of its document."),
    SHAPE_FIELD("start", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct corpus_passage, start),
                .absent = -1, .help = "First byte of the file that it has, where the format tells."),
    SHAPE_OPT(corpus_passage, finish, "The one behind the last.", .absent = -1),
    SHAPE_OPT(corpus_passage, words, "What words say of that.", .most = 1, .decimals = 4),
    SHAPE_FIELD("vector", NUMBER, OPTIONAL, SHAPE_AT(double, struct corpus_passage, vector),
                .most = 1, .decimals = 4, .absent = -1, .help = "What vectors say of that."));

const struct shape corpus_passages_shape = SHAPE_OF("passages", struct corpus_passages,
    SHAPE_FIELD("passages", LIST, REQUIRED, offsetof(struct corpus_passages, items),
                .of = &corpus_passage_shape, .help = "As they stand in the document."),
    COUNTED(struct corpus_passages, "total", total, "How many the document has."));

const struct shape corpus_found_shape = SHAPE_OF("found", struct corpus_found,
    SHAPE_REQ_LIST("results", corpus_found, items, corpus_passage_shape, "Best first."),
    COUNTED(struct corpus_found, "documents", documents, "Documents that were searched."),
    COUNTED(struct corpus_found, "searched", searched, "Passages that were searched."),
    TEXT(struct corpus_found, "badge", badge, OPTIONAL, 0, "What could not be used."));

const struct shape corpus_stats_shape = SHAPE_OF("corpora figures", struct corpus_stats,
    COUNTED(struct corpus_stats, "corpora", corpora, "Sets of documents."),
    COUNTED(struct corpus_stats, "documents", documents, "That can be searched."),
    COUNTED(struct corpus_stats, "failed", failed, "Files that could not be read."),
    COUNTED(struct corpus_stats, "passages", passages, "That the documents have."),
    COUNTED(struct corpus_stats, "bytes", bytes, "Of their text."),
    COUNTED(struct corpus_stats, "index_bytes", index, "Of words and vectors."),
    COUNTED(struct corpus_stats, "embedded", embedded, "Passages with a vector of the model."),
    COUNTED(struct corpus_stats, "missing", missing, "Passages that lack one."),
    TEXT(struct corpus_stats, "model", model, OPTIONAL, 0, "Who makes vectors; absent: nobody."));

const struct shape corpus_progress_shape = SHAPE_OF("progress", struct corpus_progress,
    TEXT(struct corpus_progress, "corpus_id", corpus, OPTIONAL, CORPUS_NAME_BYTES, "The last one, where it is more than one."),
    COUNTED(struct corpus_progress, "files", files, "That were found."),
    COUNTED(struct corpus_progress, "done", done, "That were looked at."),
    COUNTED(struct corpus_progress, "added", added, "New documents."),
    COUNTED(struct corpus_progress, "changed", changed, "Documents that were read again."),
    COUNTED(struct corpus_progress, "unchanged", unchanged, "Documents that stay as they are."),
    COUNTED(struct corpus_progress, "removed", removed, "Documents whose file is gone."),
    COUNTED(struct corpus_progress, "failed", failed, "Files that could not be read."),
    COUNTED(struct corpus_progress, "passages", passages, "That are new."),
    COUNTED(struct corpus_progress, "bytes", bytes, "That were read."),
    FLAG(struct corpus_progress, "finished", finished, "That is all."),
    FLAG(struct corpus_progress, "asks", asks, "Nothing was done: so much goes to an embedding endpoint with consent alone."));

const struct shape corpus_ingested_shape = SHAPE_OF("ingested", struct corpus_ingested,
    COUNTED(struct corpus_ingested, "document", document, "Number of the document."),
    COUNTED(struct corpus_ingested, "chunks", chunks, "Passages that it has."));

const struct shape corpus_removed_shape = SHAPE_OF("removed", struct corpus_removed,
    COUNTED(struct corpus_removed, "documents", documents, "That are gone."));

/* --- corpora: requests ------------------------------------------------------------------------ */

const struct shape corpus_add_shape = SHAPE_PARAMETERS(struct corpus_add,
    TEXT(struct corpus_add, "corpus_id", name, OPTIONAL, CORPUS_NAME_BYTES, "Of an update: absent for all."),
    SHAPE_FIELD("paths", STRINGS, OPTIONAL, offsetof(struct corpus_add, paths),
                .most = CORPUS_PATHS, .place = SHAPE_READS,
                .help = "Files and folders; none: those that it has."),
    FLAG(struct corpus_add, "consent", consent, "However much goes to an embedding endpoint."));

const struct shape corpus_documents_query_shape = SHAPE_PARAMETERS(struct corpus_documents_query,
    TEXT(struct corpus_documents_query, "corpus_id", name, REQUIRED, CORPUS_NAME_BYTES, "The corpus."),
    FLAG(struct corpus_documents_query, "failed", failed, "Files that could not be read, instead."),
    SHAPE_OPT(corpus_documents_query, after, "From behind this file on."),
    SHAPE_OPT(corpus_documents_query, limit, "At most so many.", .most = CORPUS_PAGE));

const struct shape corpus_passages_query_shape = SHAPE_PARAMETERS(struct corpus_passages_query,
    COUNTED(struct corpus_passages_query, "document", document, "Number of the document."),
    SHAPE_OPT(corpus_passages_query, from, "Number of the first passage."),
    SHAPE_OPT(corpus_passages_query, limit, "At most so many.", .most = CORPUS_PAGE));

const struct shape corpus_cited_shape = SHAPE_PARAMETERS(struct corpus_cited,
    TEXT(struct corpus_cited, "session_id", session_id, REQUIRED, 64, "The whole id."),
    SHAPE_OPT(corpus_cited, before, "Number of an event: what was given last before it."));

const struct shape corpus_search_shape = SHAPE_PARAMETERS(struct corpus_search,
    TEXT(struct corpus_search, "corpus_id", corpus, OPTIONAL, CORPUS_NAME_BYTES, "The corpus; absent: all."),
    TEXT(struct corpus_search, "query", query, REQUIRED, CORPUS_QUERY_BYTES, "What is looked for."),
    SHAPE_OPT(corpus_search, top_k, "Passages.", .most = CORPUS_TOP_K_MOST, .nearest = true),
    SHAPE_OPT(corpus_search, hybrid_weight,
        "Share of words; what is left is that of vectors.", .least = 0, .most = 1, .absent = -1),
    TEXT(struct corpus_search, "filter", filter, OPTIONAL, CORPUS_FILE_BYTES,
         "Files whose path has this in it, or fits it as a glob."));

const struct shape corpus_ingest_shape = SHAPE_PARAMETERS(struct corpus_ingest,
    TEXT(struct corpus_ingest, "corpus_id", corpus, REQUIRED, CORPUS_NAME_BYTES, "The corpus; it is made where there is none."),
    TEXT(struct corpus_ingest, "filename", filename, REQUIRED, CORPUS_FILE_BYTES, "What the document is called; its ending says how it is read."),
    TEXT(struct corpus_ingest, "text", text, REQUIRED, CORPUS_TEXT_BYTES, "The document."));

const struct shape corpus_remove_shape = SHAPE_PARAMETERS(struct corpus_remove,
    TEXT(struct corpus_remove, "corpus_id", name, REQUIRED, CORPUS_NAME_BYTES, "The corpus."),
    TEXT(struct corpus_remove, "file", file, OPTIONAL, CORPUS_FILE_BYTES, "This document alone."));
/* clang-format on */
