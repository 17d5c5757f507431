#include "store/health.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/db_copy.h"
#include "store/db_lock.h"
#include "store/db_pages.h"
#include "store/health_rows.h"
#include "store/migrate.h"
#include "store/tokenizer.h"

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
} states[] = {
#define X(name, word, recoverable) [HEALTH_##name] = {word, recoverable},
    HEALTH_STATES(X)
#undef X
};

const char *health_name(enum health_state state)
{
    return states[state].word;
}

bool health_recoverable(enum health_state state)
{
    return states[state].recoverable;
}

/* One look at a file. Each step below says whether the next one is to follow. */
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

/* Of the process's own rights, on the directory that is or would be made. */
static bool directory_writable(const char *path)
{
    char *dir = *path == '/' ? mem_strdup(path) : mem_printf("./%s", path);
    bool ok = false;
    for (char *slash; (slash = strrchr(dir, '/'));) {
        slash[slash == dir] = '\0';
        ok = faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0;
        if (ok || errno != ENOENT || slash == dir)
            break;
    }
    free(dir);
    return ok;
}

static bool writable(struct look *l)
{
    if (!directory_writable(l->path))
        return health_found(l->out, HEALTH_READ_ONLY, "its directory cannot be written");
    return l->out->state == HEALTH_MISSING || faccessat(AT_FDCWD, l->path, W_OK, AT_EACCESS) == 0 ||
           health_found(l->out, HEALTH_READ_ONLY, "%s", strerror(errno));
}

static bool all_are_files(struct look *l)
{
    char *other;
    if (db_copy_are_files(l->path, &other))
        return true;
    health_found(l->out, HEALTH_UNREADABLE, "%s is no regular file", other);
    free(other);
    return false;
}

static bool is_there(struct look *l)
{
    struct stat st;
    if (stat(l->path, &st) != 0 && errno == ENOENT)
        return health_found(l->out, HEALTH_MISSING, "%s", "");
    if (stat(l->path, &st) != 0)
        return health_found(l->out, HEALTH_UNREADABLE, "%s", strerror(errno));
    if (!all_are_files(l))
        return false;
    l->out->bytes = st.st_size;
    return faccessat(AT_FDCWD, l->path, R_OK, AT_EACCESS) == 0 ||
           health_found(l->out, HEALTH_UNREADABLE, "%s", strerror(errno));
}

/* Whoever writes has the lock for a moment: only one that stays is in the way. */
static bool is_free(struct look *l)
{
    struct db_lock lock;
    int64_t deadline = clock_mono_ms() + LOCK_PATIENCE_MS;
    while (db_lock_look(l->path, &lock) && lock.locked && clock_mono_ms() < deadline)
        poll(NULL, 0, LOCK_LOOK_MS);
    l->in_use = lock.open;
    if (!lock.locked)
        return true;
    if (lock.pid > 0)
        return health_found(l->out, HEALTH_LOCKED, "process %ld holds it", (long)lock.pid);
    return health_found(l->out, HEALTH_LOCKED, "another process holds it");
}

static bool is_whole(struct look *l)
{
    struct db_pages pages;
    struct error e;
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

/* How to read without a trace.
 *   STILL   nobody has it open and there is no WAL: the file is all there is
 *   ALONE   nobody has it open; the WAL is read, with its index in memory
 *   SHARED  others have it open: with their locks and their index of the WAL, not made or written
 */
enum manner { STILL, ALONE, SHARED };

static char *uri_of(const char *path, enum manner manner)
{
    static const char *const parameters[] = {
        [STILL] = "immutable=1",
        [ALONE] = "mode=ro&vfs=unix-none",
        [SHARED] = "mode=ro&readonly_shm=1",
    };
    struct buf uri = BUF_INIT;
    buf_addstr(&uri, "file:");
    for (const char *at = path; *at; at++) {
        if (*at == '?' || *at == '#' || *at == '%')
            buf_addf(&uri, "%%%02x", (unsigned)(unsigned char)*at);
        else
            buf_addch(&uri, *at);
    }
    buf_addf(&uri, "?%s", parameters[manner]);
    return buf_take(&uri);
}

/* A file of unknown origin: nothing in its schema is run. */
static int set_up(sqlite3 *db, enum manner manner)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, BUSY_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (manner == ALONE)
        sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL);
    return sqlite3_exec(db, "PRAGMA cell_size_check = ON; SELECT count(*) FROM sqlite_schema", NULL,
                        NULL, NULL);
}

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
    char *uri = uri_of(l->path, manner);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int result = sqlite3_open_v2(uri, &l->store.db, flags, NULL);
    free(uri);
    return result == SQLITE_OK ? set_up(l->store.db, manner) : result;
}

static bool opens(struct look *l)
{
    enum manner manner = l->logged ? ALONE : STILL;
    int result = connect_in(l, l->in_use ? SHARED : manner);
    int primary = result & 0xff;
    /* An index that another process keeps to itself. */
    if (l->in_use && (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY)) {
        disconnect(l);
        result = connect_in(l, manner);
    }
    return result == SQLITE_OK || health_fault(&l->store, result, l->out);
}

/* Newer versions of SQLite look into full-text indexes as well. */
static bool knows_tokenizer(struct look *l)
{
    struct error e;
    return tokenizer_register(&l->store, &e) ||
           health_found(l->out, HEALTH_UNREADABLE, "%s", e.text);
}

/* --- what is in it --------------------------------------------------------------------------- */

/* The marks in the header are of another program or of no version; the tables are ours. */
static bool marks_destroyed(struct look *l)
{
    struct health found = *l->out;
    return health_tables(&l->store, &found);
}

static int64_t version_of(struct look *l)
{
    int64_t version;
    store_number(&l->store, "PRAGMA user_version", &version, NULL);
    return version;
}

static bool is_ours(struct look *l)
{
    enum schema_state schema;
    if (!migrate_inspect(&l->store, &schema, NULL))
        return health_fault(&l->store, sqlite3_errcode(l->store.db), l->out);
    long version = (long)version_of(l);
    bool rubbish = schema == SCHEMA_FOREIGN || (schema == SCHEMA_NEWER && version > VERSION_LIKELY);
    if (rubbish && marks_destroyed(l))
        return health_found(l->out, HEALTH_DAMAGED, "its header's marks are destroyed");
    switch (schema) {
    case SCHEMA_EMPTY:
        return health_found(l->out, HEALTH_EMPTY, "%s", "");
    case SCHEMA_FOREIGN:
        return health_found(l->out, HEALTH_FOREIGN, "%s", "");
    case SCHEMA_NEWER:
        return health_found(l->out, HEALTH_NEWER, "schema %ld; this tiro writes %d", version,
                            store_schema_version());
    case SCHEMA_CURRENT:
        break;
    }
    return true;
}

static bool extensions_are_sound(struct look *l)
{
    const struct store_extension *const *x = l->extensions;
    bool ok = true;
    for (; x && *x && ok; x++)
        ok = (*x)->check(&l->store, l->thorough, l->out);
    return ok;
}

static bool is_sound(struct look *l)
{
    bool pages = l->thorough || l->out->bytes <= SMALL_BYTES;
    return (!pages || health_pages(&l->store, l->thorough, l->out)) &&
           health_tables(&l->store, l->out) && (!l->thorough || health_events(&l->store, l->out)) &&
           extensions_are_sound(l);
}

/* --------------------------------------------------------------------------------------------- */

/* Without WAL a transaction that was cut off is undone at the next start, and looks like damage
 * until then. */
static void mention_journal(struct look *l)
{
    struct stat st;
    char found[sizeof l->out->detail];
    char *journal = mem_printf("%s-journal", l->path);
    if (stat(journal, &st) == 0 && st.st_size > 0) {
        memcpy(found, l->out->detail, sizeof found);
        health_found(l->out, l->out->state,
                     "a write was cut off, which the next start undoes; until then: %s", found);
    }
    free(journal);
}

static void begin_look(struct look *l, const char *path)
{
    *l->out = (struct health){.sessions = -1,
                              .events = -1,
                              .bytes = -1,
                              .entries = -1,
                              .vectors = -1,
                              .learned = -1,
                              .waiting = -1,
                              .graph_entities = -1,
                              .graph_observations = -1,
                              .graph_relations = -1,
                              .corpora = -1,
                              .documents = -1,
                              .passages = -1,
                              .unreadable = -1};
    l->path = realpath(path, NULL);
    if (!l->path)
        l->path = mem_strdup(path);
    l->store.path = l->path;
    l->store.mode = STORE_READ_ONLY;
}

static bool can_be_read(struct look *l)
{
    return is_there(l) && is_free(l) && is_whole(l) && opens(l) && knows_tokenizer(l) && is_ours(l);
}

bool health_visit(const char *path, bool (*visit)(void *context, struct store *s), void *context)
{
    struct health found;
    struct look l = {.out = &found};
    begin_look(&l, path);
    bool ok = can_be_read(&l) && found.state == HEALTH_GOOD && visit(context, &l.store);
    disconnect(&l);
    free(l.path);
    return ok;
}

static void look(const char *path, bool thorough, const struct store_extension *const *extensions,
                 struct health *out)
{
    struct look l = {.thorough = thorough, .extensions = extensions, .out = out};
    begin_look(&l, path);
    bool well = can_be_read(&l) && is_sound(&l);
    disconnect(&l);
    if (well || out->state == HEALTH_EMPTY || out->state == HEALTH_MISSING)
        writable(&l);
    else if (health_recoverable(out->state))
        mention_journal(&l);
    free(l.path);
}

/* Tells whether the database's file or its log was written to: time of the last change and size. */
struct stamp {
    int64_t values[6];
};

static struct stamp stamp_of(const char *path)
{
    static const char *const endings[] = {"", "-wal"};
    struct stamp out = {{0}};
    for (size_t i = 0; i < 2; i++) {
        struct stat st;
        char *name = mem_printf("%s%s", path, endings[i]);
        if (stat(name, &st) == 0) {
            out.values[3 * i] = st.st_mtim.tv_sec;
            out.values[3 * i + 1] = st.st_mtim.tv_nsec;
            out.values[3 * i + 2] = st.st_size;
        }
        free(name);
    }
    return out;
}

/* What looks like damage may be another process's writing between two of our looks. */
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
