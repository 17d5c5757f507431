#include "chat/knowledge.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
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
    [LEARNED_TYPED] = "typed",   [LEARNED_ADDED] = "added",   [LEARNED_EXTRACTED] = "extracted",
    [LEARNED_SHARED] = "shared", [LEARNED_LOGGED] = "logged",
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
    TEXT("id", REQUIRED, id, "Id of the item.", .most = LEARNED_ID_BYTES),
    ITEM("scope", ENUM, REQUIRED, enum learned_scope, scope,
         "Scope of the item.", .names = &learned_scope_names),
    ITEM("kind", ENUM, REQUIRED, enum learned_kind, kind,
         "Kind of the item.", .names = &learned_kind_names),
    ITEM("state", ENUM, REQUIRED, enum learned_state, state,
         "Whether it counts.", .names = &learned_state_names),
    ITEM("origin", ENUM, REQUIRED, enum learned_origin, origin,
         "Where it came from.", .names = &learned_origin_names),
    TEXT("text", REQUIRED, text, "Text of the item.", .most = LEARNED_TEXT_BYTES),
    TEXT("project", OPTIONAL, project, "Resolved path of the project that it belongs to."),
    TEXT("session_id", OPTIONAL, session_id, "The session that it was said in."),
    ITEM("session_gone", BOOLEAN, OPTIONAL, bool, session_gone, "The session was deleted."),
    ITEM("seq", INTEGER, OPTIONAL, int64_t, seq, "Number of the event of its message.", .least = 1),
    TEXT("replaced_by", OPTIONAL, replaced_by, "The item that replaced it."),
    ITEM("created_at", TIME, REQUIRED, int64_t, created_ms, "Time at which it was written."),
    ITEM("changed_at", TIME, REQUIRED, int64_t, changed_ms,
         "Time of the last change of its text or state."),
    ITEM("uses", INTEGER, DEFAULT, int64_t, uses, "Number of sessions whose model was told of it."),
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
#define COUNTED(S, name, at, ...) \
    SHAPE_FIELD(name, INTEGER, REQUIRED, SHAPE_AT(int64_t, S, at), .help = __VA_ARGS__)

/* --- the graph of facts: answers -------------------------------------------------------------- */

#define SOURCE(S) \
    SHAPE_FIELD("session_id", STRING, OPTIONAL, SHAPE_AT_TEXT(S, source.session_id), \
                .help = "Session of the fact; absent: added by a person or imported."), \
    SHAPE_FIELD("seq", INTEGER, OPTIONAL, SHAPE_AT(int64_t, S, source.seq), \
                .help = "Number of the event of its message in that session."), \
    SHAPE_FIELD("created_at", TIME, REQUIRED, SHAPE_AT(int64_t, S, source.created_ms), \
                .help = "Time at which it was written."), \
    SHAPE_FIELD("session_deleted", BOOLEAN, OPTIONAL, SHAPE_AT(bool, S, source.deleted), \
                .help = "The session was deleted.")

static const struct shape_field observation_fields[] = {
    TEXT(struct graph_observation, "content", content, GRAPH_OBSERVATION_BYTES,
         "Text of the observation."),
    SOURCE(struct graph_observation),
    {0},
};
static const struct shape observation_shape = {
    .name = "observation", .size = sizeof(struct graph_observation), .fields = observation_fields};

const struct shape graph_entity_shape = SHAPE_OF("entity", struct graph_entity,
    TEXT(struct graph_entity, "name", name, GRAPH_NAME_BYTES, "Unique name or number."),
    TEXT(struct graph_entity, "entity_type", type, GRAPH_TYPE_BYTES, "Type of the entity."),
    SHAPE_REQ_LIST("observations", graph_entity, observations, observation_shape, "Observations, oldest first."),
    SHAPE_FIELD("observed", COUNT, REQUIRED, SHAPE_AT(int, struct graph_entity, observed),
                .help = "Number of observations, including those left out."),
    SHAPE_FIELD("relation_count", COUNT, REQUIRED, SHAPE_AT(int, struct graph_entity, relations),
                .help = "Number of outgoing and incoming relations."),
    SOURCE(struct graph_entity));

const struct shape graph_relation_shape = SHAPE_OF("relation", struct graph_relation,
    TEXT(struct graph_relation, "from", from, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_relation, "to", to, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_relation, "relation_type", type, GRAPH_TYPE_BYTES, "Type of the relation."),
    SOURCE(struct graph_relation));

const struct shape graph_part_shape = SHAPE_OF("part of the graph", struct graph_part,
    SHAPE_FIELD("entities", LIST, REQUIRED, offsetof(struct graph_part, entities),
                .of = &graph_entity_shape, .help = "Entities; of a search, best match first."),
    SHAPE_FIELD("relations", LIST, REQUIRED, offsetof(struct graph_part, relations),
                .of = &graph_relation_shape, .help = "Relations from or to one of these entities."),
    SHAPE_OPT(graph_part, relations_left, "Number of relations that are left out."),
    SHAPE_FIELD("unknown", STRINGS, OPTIONAL, offsetof(struct graph_part, unknown),
                .help = "Requested names without an entity."),
    COUNTED(struct graph_part, "total", total, "Number of entities in the graph."));

const struct shape graph_stats_shape = SHAPE_OF("graph figures", struct graph_stats,
    COUNTED(struct graph_stats, "entities", entities, "Entities.", .label = N_("entities")),
    COUNTED(struct graph_stats, "observations", observations, "Number of observations.", .label = N_("observations")),
    COUNTED(struct graph_stats, "relations", relations, "Relations between them.", .label = N_("relations")),
    COUNTED(struct graph_stats, "orphans", orphans, "Observations whose session was deleted.", .label = N_("observations whose session was deleted")),
    COUNTED(struct graph_stats, "bytes", bytes, "Approximate size of the graph in the database.", .label = N_("bytes")));

/* --- the graph of facts: requests ------------------------------------------------------------- */

static const struct shape new_entity_shape = SHAPE_OF_CLOSED("new entity", struct graph_new_entity,
    TEXT(struct graph_new_entity, "name", name, GRAPH_NAME_BYTES, "Unique name or number."),
    TEXT(struct graph_new_entity, "entity_type", type, GRAPH_TYPE_BYTES, "Type of the entity.",
         .also = "entityType"),
    SHAPE_FIELD("observations", STRINGS, OPTIONAL, offsetof(struct graph_new_entity, observations),
                .most = GRAPH_OBSERVATIONS, .help = "Observations of the entity."));
const struct shape graph_create_shape = SHAPE_PARAMETERS(struct graph_create,
    SHAPE_FIELD("entities", LIST, REQUIRED, offsetof(struct graph_create, entities),
                .of = &new_entity_shape, .least = 1, .most = GRAPH_BATCH, .help = "New entities."));

static const struct shape contents_shape = SHAPE_OF_CLOSED("observations", struct graph_new_observations,
    TEXT(struct graph_new_observations, "entity_name", entity, GRAPH_NAME_BYTES, "Name of the entity.",
         .also = "entityName"),
    SHAPE_FIELD("contents", STRINGS, REQUIRED, offsetof(struct graph_new_observations, contents),
                .least = 1, .most = GRAPH_OBSERVATIONS, .help = "Observations of the entity."));
const struct shape graph_observe_shape = SHAPE_PARAMETERS(struct graph_observe,
    SHAPE_FIELD("observations", LIST, REQUIRED, offsetof(struct graph_observe, observations),
                .of = &contents_shape, .least = 1, .most = GRAPH_BATCH, .help = "One item per entity."));

static const struct shape new_relation_shape = SHAPE_OF_CLOSED("new relation", struct graph_new_relation,
    TEXT(struct graph_new_relation, "from", from, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_new_relation, "to", to, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_new_relation, "relation_type", type, GRAPH_TYPE_BYTES,
         "Type of the relation, such as \"works at\".", .also = "relationType"));
const struct shape graph_relate_shape = SHAPE_PARAMETERS(struct graph_relate,
    SHAPE_REQ_LIST("relations", graph_relate, relations, new_relation_shape,
        "Relations from one entity to another.", .least = 1, .most = GRAPH_BATCH),
    SHAPE_OPT(graph_relate, lenient, "Make entities that are missing; pass over missing relations when deleting."));

#define LENIENT "Pass over what is missing; else nothing is deleted then."

const struct shape graph_query_shape = SHAPE_PARAMETERS(struct graph_query,
    TEXT(struct graph_query, "query", query, 65536, "Words, or a part of a name, type or observation."));

const struct shape graph_search_shape = SHAPE_PARAMETERS(struct graph_search,
    SHAPE_REQ(graph_search, query, "Words, or a part of a name, type or observation."),
    SHAPE_FIELD("limit", COUNT, OPTIONAL, SHAPE_AT(int, struct graph_search, limit),
                .least = 1, .most = GRAPH_FOUND_MOST, .absent = GRAPH_FOUND, .help = "Entities.", SHAPE_OPTION("-n, --limit N", N_("at most N entities (default 20)"))),
    SHAPE_OPT(graph_search, typing, "The last word may be incomplete."),
    SHAPE_FIELD("brief", BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct graph_search, brief),
                .help = "Count observations instead of giving them, and give no relations."));

const struct shape graph_names_shape = SHAPE_PARAMETERS(struct graph_names,
    SHAPE_REQ_TEXTS(graph_names, names, "Names of entities.", .least = 1, .most = GRAPH_BATCH));

const struct shape graph_entity_names_shape = SHAPE_PARAMETERS(struct graph_names,
    SHAPE_FIELD("entity_names", STRINGS, REQUIRED, offsetof(struct graph_names, names), .least = 1,
                .most = GRAPH_BATCH, .help = "Names of entities.", .also = "entityNames"),
    SHAPE_OPT(graph_names, lenient, LENIENT));

static const struct shape deletion_shape = SHAPE_OF_CLOSED("deletion", struct graph_new_observations,
    TEXT(struct graph_new_observations, "entity_name", entity, GRAPH_NAME_BYTES, "Name of the entity.",
         .also = "entityName"),
    SHAPE_FIELD("observations", STRINGS, REQUIRED,
                offsetof(struct graph_new_observations, contents), .least = 1,
                .most = GRAPH_OBSERVATIONS, .help = "Observations, exactly as they are in the graph."));
const struct shape graph_unobserve_shape = SHAPE_PARAMETERS(struct graph_unobserve,
    SHAPE_FIELD("deletions", LIST, REQUIRED, offsetof(struct graph_unobserve, deletions),
                .of = &deletion_shape, .least = 1, .most = GRAPH_BATCH, .help = "One item per entity."),
    SHAPE_OPT(graph_unobserve, lenient, LENIENT));

/* --- the graph of facts: results -------------------------------------------------------------- */

static const struct shape added_to_shape = SHAPE_OF("added to entity", struct graph_added_to,
    TEXT(struct graph_added_to, "entity_name", entity, GRAPH_NAME_BYTES, "Name of the entity."),
    SHAPE_FIELD("added_observations", STRINGS, REQUIRED, offsetof(struct graph_added_to, added),
                .help = "Observations that are new."));
const struct shape graph_added_shape = SHAPE_OF("added observations", struct graph_added,
    SHAPE_FIELD("results", LIST, REQUIRED, offsetof(struct graph_added, items),
                .of = &added_to_shape, .help = "In the order of the request."));

const struct shape graph_counts_shape = SHAPE_OF("graph counts", struct graph_counts,
    COUNTED(struct graph_counts, "entities", entities, "Number of them."),
    COUNTED(struct graph_counts, "observations", observations, "Number of them."),
    COUNTED(struct graph_counts, "relations", relations, "Number of them."),
    SHAPE_FIELD("made", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct graph_counts, made),
                .help = "Entities among them that only relations of an import name."));

/* --- lines ------------------------------------------------------------------------------------ */

const struct shape graph_line_entity_shape = SHAPE_OF("entity", struct graph_line_entity,
    TEXT(struct graph_line_entity, "name", name, GRAPH_NAME_BYTES, "Unique name or number."),
    TEXT(struct graph_line_entity, "entityType", type, GRAPH_TYPE_BYTES, "Type of the entity."),
    SHAPE_FIELD("observations", STRINGS, REQUIRED, offsetof(struct graph_line_entity, observations),
                .most = GRAPH_OBSERVATIONS, .help = "Observations of the entity."));

const struct shape graph_line_relation_shape = SHAPE_OF("relation", struct graph_line_relation,
    TEXT(struct graph_line_relation, "from", from, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_line_relation, "to", to, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_line_relation, "relationType", type, GRAPH_TYPE_BYTES,
         "Type of the relation."));
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

char *corpus_next_mention(const char **at)
{
    while ((*at = strstr(*at, mark))) {
        *at += sizeof mark - 1;
        size_t len = 0;
        while ((*at)[len] && (strchr(first, (*at)[len]) || strchr(others, (*at)[len])))
            len++;
        while (len > 0 && strchr(others, (*at)[len - 1])) /* the end of a sentence */
            len--;
        char *name = mem_strndup(*at, len);
        *at += len;
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
#define TEXT(S, name, at, presence, most_bytes, ...) \
    SHAPE_FIELD(name, STRING, presence, SHAPE_AT_TEXT(S, at), .least = 1, .most = most_bytes, \
                .help = __VA_ARGS__)
#undef COUNTED
#define COUNTED(S, name, at, ...) \
    SHAPE_FIELD(name, INTEGER, REQUIRED, SHAPE_AT(int64_t, S, at), .help = __VA_ARGS__)
#define FLAG(S, name, at, text) \
    SHAPE_FIELD(name, BOOLEAN, OPTIONAL, SHAPE_AT(bool, S, at), .help = text)
#undef PARAMS

/* --- corpora: answers ------------------------------------------------------------------------- */

const struct shape corpus_info_shape = SHAPE_OF("corpus", struct corpus_info,
    TEXT(struct corpus_info, "name", name, REQUIRED, CORPUS_NAME_BYTES, "Unique name or number."),
    SHAPE_FIELD("paths", STRINGS, REQUIRED, offsetof(struct corpus_info, paths),
                .most = CORPUS_PATHS, .help = "Files and folders of the corpus."),
    COUNTED(struct corpus_info, "documents", documents, "Number of documents that can be searched."),
    COUNTED(struct corpus_info, "failed", failed, "Number of files that could not be read."),
    COUNTED(struct corpus_info, "passages", passages, "Number of passages."),
    COUNTED(struct corpus_info, "bytes", bytes, "Bytes of the documents' text."),
    SHAPE_FIELD("updated_at", TIME, OPTIONAL, SHAPE_AT(int64_t, struct corpus_info, updated_ms),
                .help = "Time at which the last ingest ended."),
    FLAG(struct corpus_info, "pending", pending, "An ingest is unfinished."));

const struct shape corpus_list_shape = SHAPE_OF("corpora", struct corpus_list,
    SHAPE_REQ_LIST("corpora", corpus_list, items, corpus_info_shape, "By name."));

static const char *const document_state_words[] = {"ready", "failed"};
static const struct shape_names states = {document_state_words, 2, -1};

const struct shape corpus_document_shape = SHAPE_OF("document", struct corpus_document,
    COUNTED(struct corpus_document, "id", id, "Unique name or number."),
    TEXT(struct corpus_document, "corpus_id", corpus, REQUIRED, CORPUS_NAME_BYTES, "Name of its corpus."),
    TEXT(struct corpus_document, "file", file, REQUIRED, CORPUS_FILE_BYTES, "Its path, or the name of a given text."),
    SHAPE_REQ_WORD(corpus_document, state, states, "Whether the document can be searched."),
    TEXT(struct corpus_document, "error", error, OPTIONAL, 1024, "Why the document cannot be searched."),
    COUNTED(struct corpus_document, "passages", passages, "Number of its passages."),
    COUNTED(struct corpus_document, "bytes", bytes, "Bytes of the document's text."),
    SHAPE_FIELD("ingested_at", TIME, REQUIRED, SHAPE_AT(int64_t, struct corpus_document, ingested_ms),
                .help = "Time at which the document was read."),
    FLAG(struct corpus_document, "given", given, "The document is a text without a file."));

const struct shape corpus_documents_shape = SHAPE_OF("documents", struct corpus_documents,
    SHAPE_REQ_LIST("documents", corpus_documents, items, corpus_document_shape, "By file."),
    COUNTED(struct corpus_documents, "total", total, "Total number of documents."));

const struct shape corpus_passage_shape = SHAPE_OF("passage", struct corpus_passage,
    SHAPE_OPT_AS("n", corpus_passage, number, "Number by which the model cites the passage."),
    TEXT(struct corpus_passage, "content", content, REQUIRED, 0, "The text."),
    SHAPE_REQ(corpus_passage, score, "Score of the passage in a search.", .most = 1, .decimals = 4),
    TEXT(struct corpus_passage, "file", file, REQUIRED, CORPUS_FILE_BYTES, "The document's path or name."),
    COUNTED(struct corpus_passage, "chunk", chunk, "Number of the passage in the document."),
    SHAPE_OPT(corpus_passage, line, "Line in the file, from 1 on."),
    SHAPE_OPT(corpus_passage, page, "Page in the file, from 1 on."),
    TEXT(struct corpus_passage, "heading", heading, OPTIONAL, 0, "Headings above the passage."),
    TEXT(struct corpus_passage, "corpus_id", corpus, REQUIRED, CORPUS_NAME_BYTES, "Name of its corpus."),
    COUNTED(struct corpus_passage, "document", document, "Number of its document."),
    SHAPE_FIELD("start", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct corpus_passage, start),
                .absent = -1, .help = "Offset of its first byte in the file, if the format tells."),
    SHAPE_OPT(corpus_passage, finish, "Offset after its last byte.", .absent = -1),
    SHAPE_OPT(corpus_passage, words, "Score by words.", .most = 1, .decimals = 4),
    SHAPE_FIELD("vector", NUMBER, OPTIONAL, SHAPE_AT(double, struct corpus_passage, vector),
                .most = 1, .decimals = 4, .absent = -1, .help = "Score by vectors."));

const struct shape corpus_passages_shape = SHAPE_OF("passages", struct corpus_passages,
    SHAPE_FIELD("passages", LIST, REQUIRED, offsetof(struct corpus_passages, items),
                .of = &corpus_passage_shape, .help = "Passages, in the order of the document."),
    COUNTED(struct corpus_passages, "total", total, "Number of passages in the document."));

const struct shape corpus_found_shape = SHAPE_OF("found", struct corpus_found,
    SHAPE_REQ_LIST("results", corpus_found, items, corpus_passage_shape, "Best first."),
    COUNTED(struct corpus_found, "documents", documents, "Documents that were searched."),
    COUNTED(struct corpus_found, "searched", searched, "Passages that were searched."),
    TEXT(struct corpus_found, "badge", badge, OPTIONAL, 0, "The part of the search that could not be used."));

static bool has_model(const void *stats)
{
    return ((const struct corpus_stats *)stats)->model;
}

const struct shape corpus_stats_shape = SHAPE_OF("corpora figures", struct corpus_stats,
    COUNTED(struct corpus_stats, "corpora", corpora, "Sets of documents.", .label = N_("corpora")),
    COUNTED(struct corpus_stats, "documents", documents, "Number of documents that can be searched.", .label = N_("documents")),
    COUNTED(struct corpus_stats, "failed", failed, "Number of files that could not be read.", .label = N_("unreadable files")),
    COUNTED(struct corpus_stats, "passages", passages, "Number of passages.", .label = N_("passages")),
    COUNTED(struct corpus_stats, "bytes", bytes, "Bytes of the documents' text.", .label = N_("bytes of text")),
    COUNTED(struct corpus_stats, "index_bytes", index, "Bytes of the index of words and vectors.", .label = N_("bytes of the index")),
    COUNTED(struct corpus_stats, "embedded", embedded, "Passages with a vector of the model.", .label = N_("passages with a vector"), .there = has_model),
    COUNTED(struct corpus_stats, "missing", missing, "Passages that lack one.", .label = N_("passages without a vector"), .there = has_model),
    TEXT(struct corpus_stats, "model", model, OPTIONAL, 0, "Model that makes vectors; absent: none.", .label = N_("model"), .there = has_model));

const struct shape corpus_progress_shape = SHAPE_OF("progress", struct corpus_progress,
    TEXT(struct corpus_progress, "corpus_id", corpus, OPTIONAL, CORPUS_NAME_BYTES, "Name of the corpus; of several, the last one."),
    COUNTED(struct corpus_progress, "files", files, "Number of files found."),
    COUNTED(struct corpus_progress, "done", done, "Number of files processed."),
    COUNTED(struct corpus_progress, "added", added, "New documents."),
    COUNTED(struct corpus_progress, "changed", changed, "Documents that were read again."),
    COUNTED(struct corpus_progress, "unchanged", unchanged, "Documents that stay as they are."),
    COUNTED(struct corpus_progress, "removed", removed, "Documents whose file is gone."),
    COUNTED(struct corpus_progress, "failed", failed, "Number of files that could not be read."),
    COUNTED(struct corpus_progress, "passages", passages, "Observations that are new."),
    COUNTED(struct corpus_progress, "bytes", bytes, "Bytes that were read."),
    FLAG(struct corpus_progress, "finished", finished, "The ingest is finished."),
    FLAG(struct corpus_progress, "asks", asks, "Nothing was done: so much goes to an embedding endpoint with consent alone."));

const struct shape corpus_ingested_shape = SHAPE_OF("ingested", struct corpus_ingested,
    COUNTED(struct corpus_ingested, "document", document, "Number of the document."),
    COUNTED(struct corpus_ingested, "chunks", chunks, "Number of its passages."));

const struct shape corpus_removed_shape = SHAPE_OF("removed", struct corpus_removed,
    COUNTED(struct corpus_removed, "documents", documents, "Number of removed documents."));

/* --- corpora: requests ------------------------------------------------------------------------ */

const struct shape corpus_add_shape = SHAPE_PARAMETERS(struct corpus_add,
    TEXT(struct corpus_add, "corpus_id", name, OPTIONAL, CORPUS_NAME_BYTES, "Name of the corpus; absent in an update: all corpora."),
    SHAPE_FIELD("paths", STRINGS, OPTIONAL, offsetof(struct corpus_add, paths),
                .most = CORPUS_PATHS, .place = SHAPE_READS,
                .help = "Files and folders; none: the corpus keeps its own."),
    FLAG(struct corpus_add, "consent", consent, "Consent to send any amount to the embedding endpoint."));

const struct shape corpus_documents_query_shape = SHAPE_PARAMETERS(struct corpus_documents_query,
    TEXT(struct corpus_documents_query, "corpus_id", name, REQUIRED, CORPUS_NAME_BYTES, "The corpus."),
    SHAPE_OPT(corpus_documents_query, failed, "List the files that could not be read instead of the documents.", SHAPE_OPTION("--failed", N_("list the files that could not be read, and why"))),
    SHAPE_OPT(corpus_documents_query, after, "Only files after this one."),
    SHAPE_OPT(corpus_documents_query, limit, "Most items to give.", .most = CORPUS_PAGE, SHAPE_OPTION("-n, --limit N", N_("at most N documents or passages"))));

const struct shape corpus_passages_query_shape = SHAPE_PARAMETERS(struct corpus_passages_query,
    COUNTED(struct corpus_passages_query, "document", document, "Number of the document."),
    SHAPE_OPT(corpus_passages_query, from, "Number of the first passage."),
    SHAPE_OPT(corpus_passages_query, limit, "Most items to give.", .most = CORPUS_PAGE));

const struct shape corpus_cited_shape = SHAPE_PARAMETERS(struct corpus_cited,
    TEXT(struct corpus_cited, "session_id", session_id, REQUIRED, 64, "The whole id."),
    SHAPE_OPT(corpus_cited, before, "Number of an event: give the last passages before it."));

const struct shape corpus_search_shape = SHAPE_PARAMETERS(struct corpus_search,
    SHAPE_OPT_AS("corpus_id", corpus_search, corpus, "The corpus; absent: all.", .least = 1, .most = CORPUS_NAME_BYTES, SHAPE_OPTION("--in NAME", N_("search only this corpus"))),
    TEXT(struct corpus_search, "query", query, REQUIRED, CORPUS_QUERY_BYTES, "Text to search for."),
    SHAPE_OPT(corpus_search, top_k, "Passages.", .most = CORPUS_TOP_K_MOST, .nearest = true, SHAPE_OPTION("-n, --limit N", N_("at most N passages (default 5, at most 20)"))),
    SHAPE_OPT(corpus_search, hybrid_weight,
        "Weight of words in the score; vectors get the rest.", .least = 0, .most = 1, .absent = -1, SHAPE_OPTION("--weight W", N_("weight of words in the score, 0 to 1 (default 0.3)"))),
    SHAPE_OPT(corpus_search, filter, "Files whose path has this in it, or fits it as a glob.", .least = 1, .most = CORPUS_FILE_BYTES, SHAPE_OPTION("--filter FILES", N_("only files whose path contains FILES, or matches it as a glob"))));

const struct shape corpus_ingest_shape = SHAPE_PARAMETERS(struct corpus_ingest,
    TEXT(struct corpus_ingest, "corpus_id", corpus, REQUIRED, CORPUS_NAME_BYTES, "Name of the corpus; it is created if needed."),
    TEXT(struct corpus_ingest, "filename", filename, REQUIRED, CORPUS_FILE_BYTES, "File name of the document; its ending decides how it is read."),
    TEXT(struct corpus_ingest, "text", text, REQUIRED, CORPUS_TEXT_BYTES, "The document."));

const struct shape corpus_remove_shape = SHAPE_PARAMETERS(struct corpus_remove,
    TEXT(struct corpus_remove, "corpus_id", name, REQUIRED, CORPUS_NAME_BYTES, "The corpus."),
    TEXT(struct corpus_remove, "file", file, OPTIONAL, CORPUS_FILE_BYTES, "Remove only this document."));

/* --- skills ----------------------------------------------------------------------------------- */

static const char *const skill_state_words[] = {
    [SKILL_READY] = N_("ready"), [SKILL_SHADOWED] = N_("shadowed"), [SKILL_BROKEN] = N_("broken"), [SKILL_UNTRUSTED] = N_("untrusted")};
static const struct shape_names skill_states = {skill_state_words, SKILL_STATES, -1};

static const struct shape skill_shape = SHAPE_OF("skill", struct skill,
    SHAPE_REQ(skill, name, "Its name, that of its folder or file."),
    SHAPE_OPT(skill, description, "When to open it, as the model is told."),
    SHAPE_OPT(skill, license, "Its license."),
    SHAPE_OPT(skill, compatibility, "What it needs."),
    SHAPE_OPT(skill, allowed_tools, "Tools that its author names. They are asked about as always."),
    SHAPE_REQ(skill, place, "Directory in which it was found."),
    SHAPE_REQ(skill, path, "Its Markdown file, without links; empty: it is a prompt of an MCP server."),
    SHAPE_OPT(skill, arguments, "What a person writes behind the name; absent: any words."),
    FLAG(struct skill, "command", command, "Only a person can open it."),
    FLAG(struct skill, "taken", taken, "A command of tiro has its name: a person cannot open it by that."),
    SHAPE_REQ_WORD(skill, state, skill_states, "Whether it can be opened."),
    SHAPE_OPT(skill, detail, "The one that is used in its stead, or what is wrong."),
    SHAPE_REQ(skill, tokens, "Estimated tokens of its text."));

const struct shape skills_shape = SHAPE_OF("skills", struct skills,
    SHAPE_REQ_LIST("skills", skills, items, skill_shape, "The nearest place first."));
/* clang-format on */

bool skill_names_prompt(const char *name)
{
    size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return len > 0 && name[len] == ':' && name[len + 1];
}

void skills_release(struct skills *s)
{
    shape_release(&skills_shape, s);
}
