#include "store/health.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/event.h"
#include "store/db_files.h"
#include "store/db_pages.h"
#include "store/sql.h"
#include "store/tokenizer.h"

static const char sessions_sql[] =
    "SELECT count(key), max(id), max(title), max(directory),"
    " max(updated_ms), max(last_seq) FROM session";
static const char events_sql[] = "SELECT session, seq, at, type, version, payload FROM event";
static const char orphans_sql[] =
    "SELECT count(*), min(session) FROM event"
    " WHERE session NOT IN (SELECT key FROM session)";

bool health_found(struct health *out, enum health_state state, const char *format, ...)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    AUTO(buf_release) struct buf clean = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    utf8_clean(&clean, text.data, text.len, UTF8_ONE_LINE);
    out->state = state;
    snprintf(out->detail, sizeof out->detail, "%.*s",
             (int)utf8_cut_bytes(clean.data, clean.len, sizeof out->detail - 1), clean.data);
    return false;
}

bool health_fault(struct store *s, int result, struct health *out)
{
    static const struct {
        int result;
        enum health_state state;
    } states[] = {
        {SQLITE_BUSY, HEALTH_LOCKED},         {SQLITE_LOCKED, HEALTH_LOCKED},
        {SQLITE_CANTOPEN, HEALTH_UNREADABLE}, {SQLITE_PERM, HEALTH_UNREADABLE},
        {SQLITE_AUTH, HEALTH_UNREADABLE},     {SQLITE_READONLY, HEALTH_UNREADABLE},
        {SQLITE_NOTADB, HEALTH_NO_DATABASE},  {SQLITE_ERROR, HEALTH_INCONSISTENT},
    };
    enum health_state state = HEALTH_DAMAGED;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (states[i].result == (result & 0xff))
            state = states[i].state;
    return health_found(out, state, "%s", sqlite3_errmsg(s->db));
}

/* Ends the query; `ok` is whether all went well so far. */
static bool end(struct query *q, bool ok, struct health *out)
{
    return query_end(q) ? ok : health_fault(q->store, q->fault, out);
}

bool health_count(struct store *s, const char *sql, int64_t *out, struct health *health)
{
    struct query q = sql_query(s, NULL, sql, "");
    if (query_next(&q))
        *out = sqlite3_column_int64(q.handle, 0);
    return end(&q, true, health);
}

bool health_rules(struct store *s, const struct health_rule *rules, const char *what,
                  struct health *out)
{
    bool ok = true;
    for (; ok && rules->sql; rules++) {
        int64_t rows = 0;
        ok = health_count(s, rules->sql, &rows, out) &&
             (rows == 0 || health_found(out, HEALTH_INCONSISTENT, "%s: %lld %s", what,
                                        (long long)rows, rules->fault));
    }
    return ok;
}

/* Whether the tables of sessions and events can be read. */
static bool check_tables(struct store *s, struct health *out)
{
    int64_t first = 0;
    return health_count(s, sessions_sql, &out->sessions, out) &&
           health_count(s, events_sql, &first, out);
}

/* Each event belongs to a session and can be decoded. All are counted, also behind one that cannot.
 */
static bool check_events(struct store *s, struct health *out)
{
    int64_t orphans = 0;
    if (!health_count(s, orphans_sql, &orphans, out))
        return false;
    if (orphans > 0)
        return health_found(out, HEALTH_INCONSISTENT, "%lld events belong to no session",
                            (long long)orphans);
    struct query q = sql_query(s, NULL, events_sql, "");
    bool ok = true;
    for (out->events = 0; query_next(&q); out->events++)
        if (ok) {
            const char *name = (const char *)sqlite3_column_text(q.handle, 3);
            const char *payload = (const char *)sqlite3_column_text(q.handle, 5);
            size_t len = (size_t)sqlite3_column_bytes(q.handle, 5);
            enum event_type type;
            struct event *ev = NULL;
            struct error e = {0};
            if (!name || !payload || !event_type_from_name(name, &type))
                err_set(&e, ERR_SESSION_STORE_ERROR, "unknown type \"%.40s\"", name ? name : "");
            else
                event_from_payload(type, sqlite3_column_int(q.handle, 4), payload, len, &ev, &e);
            event_free(ev);
            ok = e.code == ERR_OK ||
                 health_found(out, HEALTH_INCONSISTENT,
                              "event %lld of the session with key %lld: %s",
                              (long long)sqlite3_column_int64(q.handle, 1),
                              (long long)sqlite3_column_int64(q.handle, 0), e.text);
        }
    return end(&q, ok, out);
}

enum {
    LOCK_PATIENCE_MS = 800,
    LOCK_LOOK_MS = 10,
    BUSY_MS = 500,
    LOOKS_MAX = 4,
    SMALL_BYTES = 16 << 20, /* a file whose pages are all looked at also in passing */
    VERSION_LIKELY = 9999   /* a greater one is no version but rubbish */
};

static const struct {
    const char *word;
    bool recoverable;
} health_states[] = {
#define X(name, word, recoverable) [HEALTH_##name] = {word, recoverable},
    HEALTH_STATES(X)
#undef X
};

const char *health_name(enum health_state state)
{
    return health_states[state].word;
}

bool health_recoverable(enum health_state state)
{
    return health_states[state].recoverable;
}

/* One check of a file. Each step below returns whether the next one follows. */
struct look {
    char *path;
    bool thorough;
    const struct store_extension *const *extensions;
    struct health *out;
    bool in_use; /* another process has it open */
    bool logged; /* its WAL has pages that are newer than the file's */
    struct store store;
};

/* --- the files ------------------------------------------------------------------------------- */

/* Whether this process may write in the directory of the path, or would be allowed to make it. */
static bool directory_writable(const char *path)
{
    auto_free char *dir = *path == '/' ? mem_strdup(path) : mem_printf("./%s", path);
    for (char *slash; (slash = strrchr(dir, '/'));) {
        slash[slash == dir] = '\0';
        if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0)
            return true;
        if (errno != ENOENT || slash == dir)
            break;
    }
    return false;
}

static bool files_are_sound(struct look *l)
{
    struct stat st;
    struct error e;
    struct db_lock lock;
    struct db_pages pages;
    auto_free char *other = NULL;
    if (stat(l->path, &st) != 0 && errno == ENOENT)
        return health_found(l->out, HEALTH_MISSING, "%s", "");
    if (stat(l->path, &st) != 0)
        return health_found(l->out, HEALTH_UNREADABLE, "%s", strerror(errno));
    if (!db_files_regular(l->path, &other))
        return health_found(l->out, HEALTH_UNREADABLE, "%s is no regular file", other);
    l->out->bytes = st.st_size;
    if (faccessat(AT_FDCWD, l->path, R_OK, AT_EACCESS) != 0)
        return health_found(l->out, HEALTH_UNREADABLE, "%s", strerror(errno));

    /* A writer holds its lock for a moment: only one that stays is a fault. */
    int64_t deadline = clock_mono_ms() + LOCK_PATIENCE_MS;
    while (db_lock_look(l->path, &lock) && lock.locked && clock_mono_ms() < deadline)
        poll(NULL, 0, LOCK_LOOK_MS);
    l->in_use = lock.open;
    if (lock.locked && lock.pid > 0)
        return health_found(l->out, HEALTH_LOCKED, "process %ld holds it", (long)lock.pid);
    if (lock.locked)
        return health_found(l->out, HEALTH_LOCKED, "another process holds it");

    if (!db_pages_open(&pages, l->path, &e))
        return health_found(l->out, HEALTH_UNREADABLE, "%s", e.text);
    bool ok = true;
    l->logged = pages.log.len > 0;
    if (pages.bytes == 0 && l->logged) /* SQLite would delete the log, also when it only reads */
        ok = health_found(l->out, HEALTH_TRUNCATED, "it is empty; its log has %zu pages",
                          pages.log.len);
    else if (!db_pages_whole(&pages))
        ok = health_found(l->out, HEALTH_TRUNCATED, "%lu of %lu pages are there",
                          (unsigned long)pages.in_file, (unsigned long)pages.claimed);
    else if (pages.bytes == 0)
        ok = health_found(l->out, HEALTH_EMPTY, "%s", "");
    else if (pages.bytes < PAGE_SIZE_MIN && db_pages_begins(&pages))
        ok = health_found(l->out, HEALTH_TRUNCATED, "only %lld bytes are there",
                          (long long)pages.bytes);
    db_pages_close(&pages);
    return ok;
}

/* --- the connection -------------------------------------------------------------------------- */

/* How to read without changing a file.
 *   STILL   nobody has it open and there is no WAL: the file is all there is
 *   ALONE   nobody has it open; the WAL is read, with its index in memory
 *   SHARED  others have it open: with their locks and their index of the WAL, not made or written
 */
enum manner { STILL, ALONE, SHARED };

static void disconnect(struct look *l)
{
    for (size_t i = 0; i < l->store.statements.len; i++)
        sqlite3_finalize(l->store.statements.items[i].handle);
    vec_release(&l->store.statements);
    sqlite3_close(l->store.db);
    l->store.db = NULL;
}

static int connect_in(struct look *l, enum manner manner)
{
    static const char *const parameters[] = {
        [STILL] = "immutable=1",
        [ALONE] = "mode=ro&vfs=unix-none",
        [SHARED] = "mode=ro&readonly_shm=1",
    };
    AUTO(buf_release) struct buf uri = BUF_INIT;
    buf_addstr(&uri, "file:");
    for (const char *at = l->path; *at; at++)
        buf_addf(&uri, strchr("?#%", *at) ? "%%%02x" : "%c", (unsigned)(unsigned char)*at);
    buf_addf(&uri, "?%s", parameters[manner]);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int result = sqlite3_open_v2(uri.data, &l->store.db, flags, NULL);
    sqlite3 *db = l->store.db;
    if (result != SQLITE_OK)
        return result;
    /* The file is of unknown origin: nothing in its schema is run. */
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, BUSY_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (manner == ALONE)
        sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL);
    return sqlite3_exec(db, "PRAGMA cell_size_check = ON; SELECT count(*) FROM sqlite_schema", NULL,
                        NULL, NULL);
}

static bool opens(struct look *l)
{
    struct error e;
    enum manner manner = l->logged ? ALONE : STILL;
    int result = connect_in(l, l->in_use ? SHARED : manner);
    int primary = result & 0xff;
    /* Another process may keep the index of the WAL to itself. */
    if (l->in_use && (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY)) {
        disconnect(l);
        result = connect_in(l, manner);
    }
    if (result != SQLITE_OK)
        return health_fault(&l->store, result, l->out);
    /* Newer versions of SQLite check full-text indexes as well. */
    return tokenizer_register(&l->store, &e) ||
           health_found(l->out, HEALTH_UNREADABLE, "%s", e.text);
}

/* --- what is in it --------------------------------------------------------------------------- */

static bool is_ours(struct look *l)
{
    enum schema_state schema;
    int64_t version;
    if (!schema_inspect(&l->store, &schema, NULL))
        return health_fault(&l->store, sqlite3_errcode(l->store.db), l->out);
    store_number(&l->store, "PRAGMA user_version", &version, NULL);
    /* Marks of another program, or of no version, above tables that are ours. */
    struct health tables = *l->out;
    if ((schema == SCHEMA_FOREIGN || (schema == SCHEMA_NEWER && version > VERSION_LIKELY)) &&
        check_tables(&l->store, &tables))
        return health_found(l->out, HEALTH_DAMAGED, "its header's marks are destroyed");
    switch (schema) {
    case SCHEMA_EMPTY:
        return health_found(l->out, HEALTH_EMPTY, "%s", "");
    case SCHEMA_FOREIGN:
        return health_found(l->out, HEALTH_FOREIGN, "%s", "");
    case SCHEMA_NEWER:
        return health_found(l->out, HEALTH_NEWER, "schema %lld; this tiro writes %d",
                            (long long)version, SCHEMA_VERSION);
    case SCHEMA_CURRENT:
        break;
    }
    return true;
}

static bool is_sound(struct look *l)
{
    bool ok = true;
    if (l->thorough || l->out->bytes <= SMALL_BYTES) {
        /* SQLite's own check, of the pages alone or of the indexes, too. Its lines are "ok" or
         * faults. */
        const char *check = l->thorough ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)";
        struct query q = sql_query(&l->store, NULL, check, "");
        const char *line = query_next(&q) ? (const char *)sqlite3_column_text(q.handle, 0) : "ok";
        ok = (line && strcmp(line, "ok") == 0) ||
             health_found(l->out, HEALTH_DAMAGED, "%s", line ? line : "");
        ok = end(&q, ok, l->out);
    }
    ok = ok && check_tables(&l->store, l->out) && (!l->thorough || check_events(&l->store, l->out));
    for (const struct store_extension *const *x = l->extensions; ok && x && *x; x++)
        ok = (*x)->check(&l->store, l->thorough, l->out);
    return ok;
}

/* Whether the rows can be read. */
static bool begin_look(struct look *l, const char *path)
{
    struct health *out = l->out;
    int64_t *const unknown[] = {&out->sessions,        &out->events,
                                &out->bytes,           &out->entries,
                                &out->vectors,         &out->learned,
                                &out->waiting,         &out->corpora,
                                &out->graph_entities,  &out->graph_observations,
                                &out->graph_relations, &out->documents,
                                &out->passages,        &out->unreadable};
    *out = (struct health){0};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        *unknown[i] = -1;
    l->path = realpath(path, NULL);
    if (!l->path)
        l->path = mem_strdup(path);
    l->store.path = l->path;
    l->store.mode = STORE_READ_ONLY;
    return files_are_sound(l) && opens(l) && is_ours(l);
}

bool health_visit(const char *path, bool (*visit)(void *context, struct store *s), void *context)
{
    struct health found;
    struct look l = {.out = &found};
    bool ok = begin_look(&l, path) && found.state == HEALTH_GOOD && visit(context, &l.store);
    disconnect(&l);
    free(l.path);
    return ok;
}

static void look(const char *path, bool thorough, const struct store_extension *const *extensions,
                 struct health *out)
{
    struct look l = {.thorough = thorough, .extensions = extensions, .out = out};
    struct stat st;
    bool well = begin_look(&l, path) && is_sound(&l);
    disconnect(&l);
    auto_free char *file = l.path;
    auto_free char *journal = mem_printf("%s-journal", file);
    if (well || out->state == HEALTH_EMPTY || out->state == HEALTH_MISSING) {
        if (!directory_writable(file))
            health_found(out, HEALTH_READ_ONLY, "its directory cannot be written");
        else if (out->state != HEALTH_MISSING && faccessat(AT_FDCWD, file, W_OK, AT_EACCESS) != 0)
            health_found(out, HEALTH_READ_ONLY, "%s", strerror(errno));
    } else if (health_recoverable(out->state) && stat(journal, &st) == 0 && st.st_size > 0) {
        /* Without WAL a transaction that was cut off is undone at the next start, and looks like
         * damage until then. */
        char found[sizeof out->detail];
        memcpy(found, out->detail, sizeof found);
        health_found(out, out->state,
                     "a write was cut off, which the next start undoes; until then: %s", found);
    }
}

/* Times of the last change and sizes of the database's file and its log. */
struct stamp {
    int64_t values[6];
};

static struct stamp stamp_of(const char *path)
{
    static const char *const endings[] = {"", "-wal"};
    struct stamp out = {{0}};
    for (size_t i = 0; i < 2; i++) {
        struct stat st;
        auto_free char *name = mem_printf("%s%s", path, endings[i]);
        if (stat(name, &st) != 0)
            continue;
        out.values[3 * i] = st.st_mtim.tv_sec;
        out.values[3 * i + 1] = st.st_mtim.tv_nsec;
        out.values[3 * i + 2] = st.st_size;
    }
    return out;
}

/* A file that another process writes to meanwhile may look damaged: it is checked again. */
void health_check(const char *path, bool thorough, const struct store_extension *const *extensions,
                  struct health *out)
{
    for (int i = 0; i < LOOKS_MAX; i++) {
        struct stamp before = stamp_of(path);
        look(path, thorough, extensions, out);
        struct stamp after = stamp_of(path);
        if (!health_recoverable(out->state) || memcmp(&before, &after, sizeof before) == 0)
            return;
    }
}
