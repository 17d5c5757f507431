#include "chat/corpora.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
#define TEXT(S, name, at, presence, most_bytes, text) \
    SHAPE_FIELD(name, STRING, presence, SHAPE_AT_TEXT(S, at), .least = 1, .most = most_bytes, \
                .help = text)
#define COUNTED(S, name, at, text) \
    SHAPE_FIELD(name, INTEGER, REQUIRED, SHAPE_AT(int64_t, S, at), .help = text)
#define FLAG(S, name, at, text) \
    SHAPE_FIELD(name, BOOLEAN, OPTIONAL, SHAPE_AT(bool, S, at), .help = text)
#define TOLD(called, T, rows) {.name = called, .size = sizeof(T), .fields = rows}
#define PARAMS(T, rows) {.name = "parameters", .size = sizeof(T), .fields = rows, .closed = true}

/* --- told of them ----------------------------------------------------------------------------- */

static const struct shape_field info_fields[] = {
    TEXT(struct corpus_info, "name", name, REQUIRED, CORPUS_NAME_BYTES, "Names it alone."),
    SHAPE_FIELD("paths", STRINGS, REQUIRED, offsetof(struct corpus_info, paths),
                .most = CORPUS_PATHS, .help = "Files and folders that it is made of."),
    COUNTED(struct corpus_info, "documents", documents, "That can be searched."),
    COUNTED(struct corpus_info, "failed", failed, "Files that could not be read."),
    COUNTED(struct corpus_info, "passages", passages, "That the documents have."),
    COUNTED(struct corpus_info, "bytes", bytes, "Of the documents' text."),
    SHAPE_FIELD("updated_at", TIME, OPTIONAL, SHAPE_AT(int64_t, struct corpus_info, updated_ms),
                .help = "End of the last ingest."),
    FLAG(struct corpus_info, "pending", pending, "An ingest has begun and not ended."),
    {0},
};
const struct shape corpus_info_shape = TOLD("corpus", struct corpus_info, info_fields);

static const struct shape_field list_fields[] = {
    SHAPE_FIELD("corpora", LIST, REQUIRED, offsetof(struct corpus_list, items),
                .of = &corpus_info_shape, .help = "By name."),
    {0},
};
const struct shape corpus_list_shape = TOLD("corpora", struct corpus_list, list_fields);

static const char *const state_words[] = {"ready", "failed"};
static const struct shape_names states = {state_words, 2, -1};

static const struct shape_field document_fields[] = {
    COUNTED(struct corpus_document, "id", id, "Names it alone."),
    TEXT(struct corpus_document, "corpus_id", corpus, REQUIRED, CORPUS_NAME_BYTES, "The corpus that it is in."),
    TEXT(struct corpus_document, "file", file, REQUIRED, CORPUS_FILE_BYTES, "Its path, or the name of a given text."),
    SHAPE_FIELD("state", ENUM, REQUIRED,
                SHAPE_AT(enum corpus_document_state, struct corpus_document, state),
                .names = &states, .help = "Whether it can be searched."),
    TEXT(struct corpus_document, "error", error, OPTIONAL, 1024, "Why it cannot."),
    COUNTED(struct corpus_document, "passages", passages, "That it has."),
    COUNTED(struct corpus_document, "bytes", bytes, "Of its text."),
    SHAPE_FIELD("ingested_at", TIME, REQUIRED, SHAPE_AT(int64_t, struct corpus_document, ingested_ms),
                .help = "When it was read."),
    FLAG(struct corpus_document, "given", given, "It is a text without a file."),
    {0},
};
const struct shape corpus_document_shape =
    TOLD("document", struct corpus_document, document_fields);

static const struct shape_field documents_fields[] = {
    SHAPE_FIELD("documents", LIST, REQUIRED, offsetof(struct corpus_documents, items),
                .of = &corpus_document_shape, .help = "By file."),
    COUNTED(struct corpus_documents, "total", total, "How many there are."),
    {0},
};
const struct shape corpus_documents_shape =
    TOLD("documents", struct corpus_documents, documents_fields);

static const struct shape_field passage_fields[] = {
    SHAPE_FIELD("n", COUNT, OPTIONAL, SHAPE_AT(int, struct corpus_passage, number),
                .help = "The number that a model cites it by."),
    TEXT(struct corpus_passage, "content", content, REQUIRED, 0, "The text."),
    SHAPE_FIELD("score", NUMBER, REQUIRED, SHAPE_AT(double, struct corpus_passage, score),
                .most = 1, .decimals = 4, .help = "Of a search: how well it fits."),
    TEXT(struct corpus_passage, "file", file, REQUIRED, CORPUS_FILE_BYTES, "The document's path or name."),
    COUNTED(struct corpus_passage, "chunk", chunk, "Its number in the document."),
    SHAPE_FIELD("line", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct corpus_passage, line),
                .help = "In the file, from 1 on."),
    SHAPE_FIELD("page", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct corpus_passage, page),
                .help = "In the file, from 1 on."),
    TEXT(struct corpus_passage, "heading", heading, OPTIONAL, 0, "Headings that it stands below."),
    TEXT(struct corpus_passage, "corpus_id", corpus, REQUIRED, CORPUS_NAME_BYTES, "The corpus that it is in."),
    COUNTED(struct corpus_passage, "document", document, "Number of its document."),
    SHAPE_FIELD("start", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct corpus_passage, start),
                .absent = -1, .help = "First byte of the file that it has, where the format tells."),
    SHAPE_FIELD("finish", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct corpus_passage, finish),
                .absent = -1, .help = "The one behind the last."),
    SHAPE_FIELD("words", NUMBER, OPTIONAL, SHAPE_AT(double, struct corpus_passage, words),
                .most = 1, .decimals = 4, .help = "What words say of that."),
    SHAPE_FIELD("vector", NUMBER, OPTIONAL, SHAPE_AT(double, struct corpus_passage, vector),
                .most = 1, .decimals = 4, .absent = -1, .help = "What vectors say of that."),
    {0},
};
const struct shape corpus_passage_shape = TOLD("passage", struct corpus_passage, passage_fields);

static const struct shape_field passages_fields[] = {
    SHAPE_FIELD("passages", LIST, REQUIRED, offsetof(struct corpus_passages, items),
                .of = &corpus_passage_shape, .help = "As they stand in the document."),
    COUNTED(struct corpus_passages, "total", total, "How many the document has."),
    {0},
};
const struct shape corpus_passages_shape =
    TOLD("passages", struct corpus_passages, passages_fields);

static const struct shape_field found_fields[] = {
    SHAPE_FIELD("results", LIST, REQUIRED, offsetof(struct corpus_found, items),
                .of = &corpus_passage_shape, .help = "Best first."),
    COUNTED(struct corpus_found, "documents", documents, "Documents that were searched."),
    COUNTED(struct corpus_found, "searched", searched, "Passages that were searched."),
    TEXT(struct corpus_found, "badge", badge, OPTIONAL, 0, "What could not be used."),
    {0},
};
const struct shape corpus_found_shape = TOLD("found", struct corpus_found, found_fields);

static const struct shape_field stats_fields[] = {
    COUNTED(struct corpus_stats, "corpora", corpora, "Sets of documents."),
    COUNTED(struct corpus_stats, "documents", documents, "That can be searched."),
    COUNTED(struct corpus_stats, "failed", failed, "Files that could not be read."),
    COUNTED(struct corpus_stats, "passages", passages, "That the documents have."),
    COUNTED(struct corpus_stats, "bytes", bytes, "Of their text."),
    COUNTED(struct corpus_stats, "index_bytes", index, "Of words and vectors."),
    COUNTED(struct corpus_stats, "embedded", embedded, "Passages with a vector of the model."),
    COUNTED(struct corpus_stats, "missing", missing, "Passages that lack one."),
    TEXT(struct corpus_stats, "model", model, OPTIONAL, 0, "Who makes vectors; absent: nobody."),
    {0},
};
const struct shape corpus_stats_shape = TOLD("corpora figures", struct corpus_stats, stats_fields);

static const struct shape_field progress_fields[] = {
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
    FLAG(struct corpus_progress, "asks", asks, "Nothing was done: so much goes to an embedding endpoint with consent alone."),
    {0},
};
const struct shape corpus_progress_shape =
    TOLD("progress", struct corpus_progress, progress_fields);

static const struct shape_field ingested_fields[] = {
    COUNTED(struct corpus_ingested, "document", document, "Number of the document."),
    COUNTED(struct corpus_ingested, "chunks", chunks, "Passages that it has."),
    {0},
};
const struct shape corpus_ingested_shape =
    TOLD("ingested", struct corpus_ingested, ingested_fields);

static const struct shape_field removed_fields[] = {
    COUNTED(struct corpus_removed, "documents", documents, "That are gone."),
    {0},
};
const struct shape corpus_removed_shape = TOLD("removed", struct corpus_removed, removed_fields);

/* --- told to them ----------------------------------------------------------------------------- */

static const struct shape_field add_fields[] = {
    TEXT(struct corpus_add, "corpus_id", name, OPTIONAL, CORPUS_NAME_BYTES, "Of an update: absent for all."),
    SHAPE_FIELD("paths", STRINGS, OPTIONAL, offsetof(struct corpus_add, paths),
                .most = CORPUS_PATHS, .place = SHAPE_READS,
                .help = "Files and folders; none: those that it has."),
    FLAG(struct corpus_add, "consent", consent, "However much goes to an embedding endpoint."),
    {0},
};
const struct shape corpus_add_shape = PARAMS(struct corpus_add, add_fields);

static const struct shape_field documents_query_fields[] = {
    TEXT(struct corpus_documents_query, "corpus_id", name, REQUIRED, CORPUS_NAME_BYTES, "The corpus."),
    FLAG(struct corpus_documents_query, "failed", failed, "Files that could not be read, instead."),
    SHAPE_FIELD("after", STRING, OPTIONAL, SHAPE_AT_TEXT(struct corpus_documents_query, after),
                .help = "From behind this file on."),
    SHAPE_FIELD("limit", COUNT, OPTIONAL, SHAPE_AT(int, struct corpus_documents_query, limit),
                .most = CORPUS_PAGE, .help = "At most so many."),
    {0},
};
const struct shape corpus_documents_query_shape =
    PARAMS(struct corpus_documents_query, documents_query_fields);

static const struct shape_field passages_query_fields[] = {
    COUNTED(struct corpus_passages_query, "document", document, "Number of the document."),
    SHAPE_FIELD("from", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct corpus_passages_query, from),
                .help = "Number of the first passage."),
    SHAPE_FIELD("limit", COUNT, OPTIONAL, SHAPE_AT(int, struct corpus_passages_query, limit),
                .most = CORPUS_PAGE, .help = "At most so many."),
    {0},
};
const struct shape corpus_passages_query_shape =
    PARAMS(struct corpus_passages_query, passages_query_fields);

static const struct shape_field cited_fields[] = {
    TEXT(struct corpus_cited, "session_id", session_id, REQUIRED, 64, "The whole id."),
    SHAPE_FIELD("before", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct corpus_cited, before),
                .help = "Number of an event: what was given last before it."),
    {0},
};
const struct shape corpus_cited_shape = PARAMS(struct corpus_cited, cited_fields);

static const struct shape_field search_fields[] = {
    TEXT(struct corpus_search, "corpus_id", corpus, OPTIONAL, CORPUS_NAME_BYTES, "The corpus; absent: all."),
    TEXT(struct corpus_search, "query", query, REQUIRED, CORPUS_QUERY_BYTES, "What is looked for."),
    SHAPE_FIELD("top_k", COUNT, OPTIONAL, SHAPE_AT(int, struct corpus_search, top_k),
                .most = CORPUS_TOP_K_MOST, .nearest = true, .help = "Passages."),
    SHAPE_FIELD("hybrid_weight", NUMBER, OPTIONAL,
                SHAPE_AT(double, struct corpus_search, hybrid_weight), .least = 0, .most = 1,
                .absent = -1, .help = "Share of words; what is left is that of vectors."),
    TEXT(struct corpus_search, "filter", filter, OPTIONAL, CORPUS_FILE_BYTES,
         "Files whose path has this in it, or fits it as a glob."),
    {0},
};
const struct shape corpus_search_shape = PARAMS(struct corpus_search, search_fields);

static const struct shape_field ingest_fields[] = {
    TEXT(struct corpus_ingest, "corpus_id", corpus, REQUIRED, CORPUS_NAME_BYTES, "The corpus; it is made where there is none."),
    TEXT(struct corpus_ingest, "filename", filename, REQUIRED, CORPUS_FILE_BYTES, "What the document is called; its ending says how it is read."),
    TEXT(struct corpus_ingest, "text", text, REQUIRED, CORPUS_TEXT_BYTES, "The document."),
    {0},
};
const struct shape corpus_ingest_shape = PARAMS(struct corpus_ingest, ingest_fields);

static const struct shape_field remove_fields[] = {
    TEXT(struct corpus_remove, "corpus_id", name, REQUIRED, CORPUS_NAME_BYTES, "The corpus."),
    TEXT(struct corpus_remove, "file", file, OPTIONAL, CORPUS_FILE_BYTES, "This document alone."),
    {0},
};
const struct shape corpus_remove_shape = PARAMS(struct corpus_remove, remove_fields);
/* clang-format on */
