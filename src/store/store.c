#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/paths.h"
#include "store/db_files.h"
#include "store/db_pages.h"
#include "store/language.h"
#include "store/sql.h"
#include "store/tokenizer.h"

enum { PATIENCE_MS = 5000, NAP_MS = 5 };

/* secure_delete: deleted content is overwritten. */
static const char settings[] =
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA foreign_keys = ON;"
    "PRAGMA secure_delete = ON;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA journal_size_limit = 4194304;";

/* Negative numbers are KiB. The changes of a transaction should fit, or they are written twice. */
static const char *const cache_sizes[] = {
    [STORE_READ_ONLY] = "PRAGMA cache_size = -512",
    [STORE_READ_WRITE] = "PRAGMA cache_size = -4096",
};

char *store_default_path(void)
{
    auto_free char *dir = paths_dir(PATHS_DATA);
    return paths_join(dir, "tiro.db");
}

static const char memory_prefix[] = "file:/tiro-";

char *store_memory_path(void)
{
    char id[UUID_LEN + 1];
    uuid_new(id);
    return mem_printf("%s%s?vfs=memdb", memory_prefix, id);
}

bool store_in_memory(const char *path)
{
    return strncmp(path, memory_prefix, sizeof memory_prefix - 1) == 0;
}

/* Makes the file if it is missing and may be made: SQLite would give it the rights that the umask
 * leaves, which its -wal and -shm inherit. An existing file is not opened here: closing it would
 * drop the locks that another connection of this process has on it. */
static bool ensure_file(const char *path, enum store_mode mode, struct error *e)
{
    struct stat st;
    struct error cause;
    if (store_in_memory(path) || stat(path, &st) == 0)
        return true;
    if (mode == STORE_READ_ONLY)
        return errno == ENOENT
                   ? err_set(e, ERR_SESSION_NOT_FOUND,
                             "nothing has been saved yet: %s does not exist; start a chat first",
                             path)
                   : err_set_errno(e, ERR_SESSION_STORE_ERROR, "cannot open the database %s", path);
    const char *slash = strrchr(path, '/');
    auto_free char *dir = slash && slash > path ? mem_strndup(path, (size_t)(slash - path)) : NULL;
    if (dir && !paths_make_dir(dir, &cause))
        return err_set(e, ERR_SESSION_STORE_ERROR, "%s", cause.text);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == EEXIST ||
           err_set_errno(e, ERR_SESSION_STORE_ERROR, "cannot make the database %s", path);
}

static bool need_files(const char *path, struct error *e)
{
    auto_free char *other = NULL;
    return store_in_memory(path) || db_files_regular(path, &other) ||
           err_set(e, ERR_SESSION_STORE_ERROR,
                   "%s is no regular file, so the database cannot be opened; move it away", other);
}

/* SQLite's busy handler: whether to try again. */
static int wait_for_writer(void *store, int tries)
{
    struct store *s = store;
    if (tries == 0)
        s->waiting_since = clock_mono_ms();
    int64_t waited_ms = clock_mono_ms() - s->waiting_since;
    if (waited_ms >= s->patience_ms ||
        (waited_ms >= s->grace_ms && s->give_up && s->give_up(s->give_up_context)))
        return 0;
    poll(NULL, 0, NAP_MS);
    return 1;
}

void store_set_refusal(struct store *s, const char *why)
{
    s->refusal = why;
}

void store_set_patience(struct store *s, int ms, int grace_ms, bool (*give_up)(void *context),
                        void *context)
{
    s->patience_ms = ms;
    s->grace_ms = grace_ms;
    s->give_up = give_up;
    s->give_up_context = context;
    sqlite3_busy_handler(s->db, wait_for_writer, s);
}

/* If a program died in a change while the file had no WAL yet, only a connection that may write can
 * take that change back. Other faults are told by the next read, but a reader that has waited in
 * vain does not wait again. */
static bool roll_back_half_done(struct store *s, struct error *e)
{
    sqlite3 *writer;
    int result = sqlite3_exec(s->db, "PRAGMA schema_version", NULL, NULL, NULL);
    if ((result & 0xff) == SQLITE_BUSY)
        return store_fault(s, result, e);
    if ((result & 0xff) != SQLITE_READONLY)
        return true;
    result =
        sqlite3_open_v2(s->path, &writer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, scrub_vfs());
    if (result == SQLITE_OK) {
        sqlite3_busy_timeout(writer, PATIENCE_MS);
        sqlite3_exec(writer, "PRAGMA schema_version", NULL, NULL, NULL);
    }
    sqlite3_close(writer);
    return true;
}

/* ---- the schema ---- */

/* "tiro" in the file's header; file(1) shows it. */
#define APPLICATION_ID 0x7469726f

/* In one transaction: another process may be making the schema, and between two reads an empty
 * database would seem to have become a foreign one. */
bool schema_inspect(struct store *s, enum schema_state *out, struct error *e)
{
    int64_t application, version, tables;
    bool began;
    if (!store_step_begin(s, &began, e))
        return false;
    bool ok = store_number(s, "PRAGMA application_id", &application, e) &&
              store_number(s, "PRAGMA user_version", &version, e) &&
              store_number(s, "SELECT count(*) FROM sqlite_schema", &tables, e);
    if (!store_step_end(s, began, ok, e))
        return false;
    if (application == 0 && version == 0 && tables == 0)
        *out = SCHEMA_EMPTY;
    else if (application != APPLICATION_ID || version < 1)
        *out = SCHEMA_FOREIGN;
    else
        *out = version > SCHEMA_VERSION ? SCHEMA_NEWER : SCHEMA_CURRENT;
    return true;
}

static bool make_schema(struct store *s, struct error *e)
{
    int64_t version;
    if (!store_begin(s, e))
        return false;
    auto_free char *stamp = mem_printf("PRAGMA application_id = %d; PRAGMA user_version = %d",
                                       APPLICATION_ID, SCHEMA_VERSION);
    /* Read again: another process may have made it while this one waited for the lock. */
    if (store_number(s, "PRAGMA user_version", &version, e) &&
        (version == SCHEMA_VERSION ||
         (store_exec(s, embedded_text("schema.sql"), e) && store_exec(s, stamp, e))))
        return store_commit(s, e);
    store_rollback(s);
    return false;
}

static bool refuse(const struct store *s, enum schema_state state, struct error *e)
{
    if (state == SCHEMA_FOREIGN)
        return err_set(e, ERR_SESSION_STORE_ERROR,
                       "the database %s belongs to another program; name another file", s->path);
    if (state == SCHEMA_NEWER)
        return err_set(e, ERR_SESSION_STORE_ERROR,
                       "the database %s was written by another version of tiro; with that version, "
                       "'tiro sessions export' saves the sessions",
                       s->path);
    return err_set(e, ERR_SESSION_NOT_FOUND,
                   "nothing has been saved yet: %s is empty; start a chat first", s->path);
}

/* ---- a connection ---- */

static bool set_up(struct store *s, struct error *e)
{
    bool writes = s->mode == STORE_READ_WRITE;
    enum schema_state state;
    int flags = writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, tries = 0;
    if (store_in_memory(s->path))
        flags |= SQLITE_OPEN_URI;
    int result = sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, scrub_vfs());
    if (result != SQLITE_OK)
        return store_fault(s, result, e);
    /* Checked again: now the file is open, but it has not been read yet. */
    if (!need_files(s->path, e))
        return false;
    sqlite3_extended_result_codes(s->db, 1);
    store_set_patience(s, PATIENCE_MS, 0, NULL, NULL);

    /* The log of a file that is refused stays as it is. */
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if ((!writes && !roll_back_half_done(s, e)) || !schema_inspect(s, &state, e))
        return false;
    if (state != SCHEMA_CURRENT && !(writes && state == SCHEMA_EMPTY))
        return refuse(s, state, e);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);

    if (!tokenizer_register(s, e) || !store_exec(s, settings, e) ||
        !store_exec(s, cache_sizes[s->mode], e))
        return false;
    if (!writes)
        return true;
    /* SQLite asks no busy handler when two connections change a new file to WAL at once. */
    do
        result = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    while ((result & 0xff) == SQLITE_BUSY && wait_for_writer(s, tries++));
    return result == SQLITE_OK ? state == SCHEMA_CURRENT || make_schema(s, e)
                               : store_fault(s, result, e);
}

bool store_open(const char *path, enum store_mode mode, struct store **out, struct error *e)
{
    *out = NULL;
    if (!ensure_file(path, mode, e) || !need_files(path, e))
        return false;
    struct store *s = mem_alloc(sizeof *s);
    s->path = mem_strdup(path);
    s->mode = mode;
    if (set_up(s, e))
        *out = s;
    else
        store_close(s);
    return *out;
}

static void forget_statements(struct store *s)
{
    for (size_t i = 0; i < s->statements.len; i++)
        sqlite3_finalize(s->statements.items[i].handle);
    vec_release(&s->statements);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    forget_statements(s);
    sqlite3_close(s->db);
    language_free(s->asked);
    free(s->asked_name);
    free(s->path);
    free(s);
}

bool store_begin(struct store *s, struct error *e)
{
    /* A writer takes its lock at once: one that had read first could not wait for it. */
    return store_exec(
        s, s->mode == STORE_READ_WRITE ? "PRAGMA synchronous = FULL; BEGIN IMMEDIATE" : "BEGIN", e);
}

static const char relax_sql[] = "PRAGMA synchronous = NORMAL";

bool store_commit(struct store *s, struct error *e)
{
    if (!store_exec(s, "COMMIT", e)) {
        store_rollback(s);
        return false;
    }
    sqlite3_exec(s->db, relax_sql, NULL, NULL, NULL);
    return true;
}

void store_rollback(struct store *s)
{
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_exec(s->db, relax_sql, NULL, NULL, NULL);
}

bool store_settle(struct store *s)
{
    sqlite3_busy_handler(s->db, NULL, NULL);
    int result =
        sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) & 0xff;
    sqlite3_busy_handler(s->db, wait_for_writer, s);
    return result != SQLITE_BUSY && result != SQLITE_LOCKED;
}

void store_give_back_memory(struct store *s)
{
    sqlite3_db_release_memory(s->db);
    for (size_t i = 0; i < s->languages.len; i++)
        language_give_back_memory(s->languages.items[i]);
}

void store_rest(struct store *s)
{
    forget_statements(s);
    store_give_back_memory(s);
}

void store_interrupt(struct store *s)
{
    sqlite3_interrupt(s->db);
}
