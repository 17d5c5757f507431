/* What a look at the database and its recovery have to know of the corpora's tables. */
#include "knowledge/corpora_private.h"
#include "store/health_rows.h"
#include "store/salvage.h"

/* ---- a look at it ---- */

/* What must not be: a count of rows, and what they are called. */
static const struct {
    const char *sql, *fault;
} checks[] = {
    {"SELECT count(*) FROM corpus_document WHERE file = '' OR chunks < 0 OR number <= 0"
     " OR number >= (SELECT document FROM corpus_next)",
     "documents make no sense"},
    {"SELECT count(*) FROM corpus_document WHERE state IN ('ready', 'failed')"
     " AND corpus NOT IN (SELECT number FROM corpus_set)",
     "documents belong to no corpus"},
    {"SELECT count(*) FROM corpus_document WHERE state = 'ready' AND chunks <>"
     " (SELECT count(*) FROM corpus_entry WHERE key >= number << 24 AND key < (number + 1) << 24)",
     "documents have not all of their passages; 'tiro corpus update' reads them again"},
    {"SELECT count(*) FROM corpus_entry"
     " WHERE key >> 24 NOT IN (SELECT number FROM corpus_document)",
     "passages belong to no document"},
    {"SELECT count(*) FROM corpus_entry WHERE key NOT IN (SELECT id FROM corpus_words_docsize)",
     "passages are not in their index of words; 'tiro memory reindex' makes it anew"},
    {"SELECT count(*) FROM corpus_words_docsize WHERE id NOT IN (SELECT key FROM corpus_entry)",
     "rows of their index of words belong to no passage; 'tiro memory reindex' makes it anew"},
};

static bool check(struct store *s, bool thorough, struct health *out)
{
    bool ok = health_count(s, "SELECT count(*) FROM corpus_set", &out->corpora, out) &&
              health_count(s, "SELECT count(*) FROM corpus_document WHERE state = 'ready'",
                           &out->documents, out) &&
              health_count(s,
                           "SELECT coalesce(sum(chunks), 0) FROM corpus_document"
                           " WHERE state = 'ready'",
                           &out->passages, out) &&
              health_count(s, "SELECT count(*) FROM corpus_document WHERE state = 'failed'",
                           &out->unreadable, out);
    for (size_t i = 0; ok && thorough && i < sizeof checks / sizeof *checks; i++) {
        int64_t rows = 0;
        ok = health_count(s, checks[i].sql, &rows, out) &&
             (rows == 0 || health_found(out, HEALTH_INCONSISTENT, "corpora: %lld %s",
                                        (long long)rows, checks[i].fault));
    }
    return ok;
}

/* ---- what is found of it in damaged pages ---- */

static const struct salvage_shape shapes[] = {
    {"corpus_set", "number, name, asked, ended, created_ms, updated_ms", "ntiiii", false},
    {"corpus_document",
     "number, corpus, file, given, size, modified_ns, changed_ns, digest, loader, state, error,"
     " chunks, bytes, ingested_ms",
     "nitiiiiittTiii", false},
    {"corpus_entry", "key, start, finish, line, page_number, heading, content", "niiiitt", false},
    {"corpus_path", "corpus, path", "it", true},
    {0},
};

#define PATHS "corpus_path"
static const char *const indexes[] = {PATHS, NULL};

/* What is on a page that was given up was deleted. */
static const char choose_sql[] =
    "DELETE FROM found.corpus_set WHERE free OR NOT whole;"
    "DELETE FROM found.corpus_document WHERE free OR NOT whole OR state <> 'ready';"
    "DELETE FROM found.corpus_entry WHERE free OR NOT whole;"
    "DELETE FROM found.corpus_path WHERE NOT whole OR plain(path) IS NULL OR page NOT "
    "IN " SALVAGE_PAGES_OF(PATHS) ";";

/* ---- back into its tables ---- */

/* A document is there with all of its passages or not at all. What was a file is read again by the
 * next update; a given text is lost with a passage of it. */
static const char recover_sql[] =
    "INSERT OR IGNORE INTO corpus_set (number, name, asked, ended, created_ms, updated_ms)"
    " SELECT row, plain(name), 1, 0, created_ms, updated_ms FROM found.corpus_set"
    " WHERE plain(name) <> '';"
    "CREATE TABLE found.corpus_whole AS SELECT d.row AS number FROM found.corpus_document d"
    " WHERE d.corpus IN (SELECT number FROM corpus_set) AND plain(d.file) <> '' AND d.chunks ="
    " (SELECT count(DISTINCT e.row) FROM found.corpus_entry e WHERE e.row >= d.row << 24"
    "  AND e.row < (d.row + 1) << 24 AND plain(e.content) IS NOT NULL);"
    "INSERT OR IGNORE INTO corpus_document SELECT row, corpus, plain(file), given, size,"
    " modified_ns, changed_ns, digest, loader, 'ready', NULL, chunks, bytes, ingested_ms"
    " FROM found.corpus_document WHERE row IN (SELECT number FROM found.corpus_whole);"
    "INSERT OR IGNORE INTO corpus_entry (key, start, finish, line, page_number, heading, content)"
    " SELECT row, start, finish, line, page, coalesce(plain(heading), ''), plain(content)"
    " FROM found.corpus_entry WHERE plain(content) IS NOT NULL"
    " AND row >> 24 IN (SELECT number FROM corpus_document);"
    "INSERT OR IGNORE INTO corpus_path (corpus, path) SELECT corpus, path FROM found.corpus_path"
    " WHERE corpus IN (SELECT number FROM corpus_set);"
    "UPDATE corpus_next SET document ="
    " 1 + (SELECT coalesce(max(row), 0) FROM found.corpus_document);";

static const char lost_sql[] =
    "SELECT count(*) FROM found.corpus_document"
    " WHERE given AND row NOT IN (SELECT number FROM corpus_document)";

static bool recover(struct store *to, struct recovery *out, struct error *e)
{
    int64_t lost = 0;
    bool ok = store_exec(to, recover_sql, e) && store_number(to, lost_sql, &lost, e);
    out->lost += lost;
    return ok;
}

/* ---- files ---- */

bool corpora_files_read(struct store *s, struct text_list *models, struct error *e)
{
    const struct corpus index = corpora_index(s);
    return graph_names_read(&index, models, e);
}

enum graph_file_kind corpora_file_kind(const struct text_list *models, const char *name)
{
    return graph_file_kind(CORPORA_TABLES, models, name);
}

const struct store_extension corpora_extension = {
    .check = check, .shapes = shapes, .indexes = indexes, .choose = choose_sql, .recover = recover};
