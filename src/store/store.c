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
#include "store/db_copy.h"
#include "store/migrate.h"
#include "store/scrub.h"
#include "store/sql.h"
#include "store/tokenizer.h"

enum { PATIENCE_MS = 5000, NAP_MS = 5 };

/* WAL: readers never wait for the writer. What is deleted is overwritten. */
static const char settings[] =
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA foreign_keys = ON;"
    "PRAGMA secure_delete = ON;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA journal_size_limit = 4194304;";

/* In KiB, where negative. What a transaction changes should fit, or it is written twice. */
static const char *const cache_sizes[] = {
    [STORE_READ_ONLY] = "PRAGMA cache_size = -512",
    [STORE_READ_WRITE] = "PRAGMA cache_size = -4096",
};

char *store_default_path(void)
{
    char *dir = paths_data_dir();
    char *path = paths_join(dir, "tiro.db");
    free(dir);
    return path;
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

static bool make_parent(const char *path, struct error *e)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return true;
    struct error cause;
    char *dir = mem_strndup(path, (size_t)(slash - path));
    bool ok = paths_make_dir(dir, &cause);
    free(dir);
    return ok || err_set(e, ERR_SESSION_STORE_ERROR, "%s", cause.text);
}

/* SQLite would make the file with the rights that the umask leaves; its -wal and -shm inherit
 * them. An existing file is never opened here: to close it would drop the locks that another
 * connection of this process has on it. */
static bool make_file(const char *path, struct error *e)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return true;
    if (!make_parent(path, e))
        return false;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == EEXIST ||
               err_set_errno(e, ERR_SESSION_STORE_ERROR, "cannot make the database %s", path);
    close(fd);
    return true;
}

static bool find_file(const char *path, struct error *e)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return true;
    if (errno == ENOENT)
        return err_set(e, ERR_SESSION_NOT_FOUND,
                       "nothing has been saved yet: %s does not exist; start a chat first", path);
    return err_set_errno(e, ERR_SESSION_STORE_ERROR, "cannot open the database %s", path);
}

static bool find_or_make_file(const char *path, enum store_mode mode, struct error *e)
{
    if (store_in_memory(path))
        return true;
    return mode == STORE_READ_WRITE ? make_file(path, e) : find_file(path, e);
}

static bool need_files(const char *path, struct error *e)
{
    char *other;
    if (store_in_memory(path) || db_copy_are_files(path, &other))
        return true;
    err_set(e, ERR_SESSION_STORE_ERROR,
            "%s is no regular file, so the database cannot be opened; move it away", other);
    free(other);
    return false;
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

void store_set_grace(struct store *s, int ms)
{
    s->grace_ms = ms;
}

void store_set_patience(struct store *s, int ms, bool (*give_up)(void *context), void *context)
{
    s->patience_ms = ms;
    s->give_up = give_up;
    s->give_up_context = context;
    sqlite3_busy_handler(s->db, wait_for_writer, s);
}

static bool connect_to(struct store *s, struct error *e)
{
    int flags = s->mode == STORE_READ_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    if (store_in_memory(s->path))
        flags |= SQLITE_OPEN_URI;
    int result = sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, scrub_vfs());
    if (result != SQLITE_OK)
        return store_fault(s, result, e);
    /* Again: the file has been opened but not read yet. */
    if (!need_files(s->path, e))
        return false;
    sqlite3_extended_result_codes(s->db, 1);
    store_set_patience(s, PATIENCE_MS, NULL, NULL);
    return true;
}

/* Whether a file that is being closed gets its log folded in: not one that we refused. */
static void keep_untouched(struct store *s, bool untouched)
{
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, (int)untouched, NULL);
}

static bool check_schema(struct store *s, enum schema_state *state, struct error *e)
{
    if (!migrate_inspect(s, state, e))
        return false;
    switch (*state) {
    case SCHEMA_FOREIGN:
        return err_set(e, ERR_SESSION_STORE_ERROR,
                       "the database %s belongs to another program; name another file", s->path);
    case SCHEMA_NEWER:
        return err_set(e, ERR_SESSION_STORE_ERROR,
                       "the database %s was written by another version of tiro; with that version, "
                       "'tiro sessions export' saves the sessions",
                       s->path);
    case SCHEMA_EMPTY:
        return s->mode == STORE_READ_WRITE ||
               err_set(e, ERR_SESSION_NOT_FOUND,
                       "nothing has been saved yet: %s is empty; start a chat first", s->path);
    case SCHEMA_CURRENT:
        break;
    }
    return true;
}

/* SQLite asks no busy handler when two connections change a new file to WAL at once. */
static bool use_wal(struct store *s, struct error *e)
{
    int result, tries = 0;
    do
        result = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    while ((result & 0xff) == SQLITE_BUSY && wait_for_writer(s, tries++));
    return result == SQLITE_OK || store_fault(s, result, e);
}

/* Where a program died in a change while the file had no WAL yet, only who may write can take that
 * back. What else fails here is told by who reads next; but who has waited in vain does not again.
 */
static bool take_back_half_done(struct store *s, struct error *e)
{
    sqlite3 *writer;
    if (s->mode != STORE_READ_ONLY)
        return true;
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

static bool set_up(struct store *s, struct error *e)
{
    enum schema_state state;
    keep_untouched(s, true);
    if (!take_back_half_done(s, e) || !check_schema(s, &state, e))
        return false;
    keep_untouched(s, false);
    if (!tokenizer_register(s, e) || !store_exec(s, settings, e) ||
        !store_exec(s, cache_sizes[s->mode], e))
        return false;
    if (s->mode == STORE_READ_ONLY)
        return true;
    return use_wal(s, e) && (state == SCHEMA_CURRENT || migrate_run(s, e));
}

bool store_open(const char *path, enum store_mode mode, struct store **out, struct error *e)
{
    *out = NULL;
    if (!find_or_make_file(path, mode, e) || !need_files(path, e))
        return false;
    struct store *s = mem_alloc(sizeof *s);
    s->path = mem_strdup(path);
    s->mode = mode;
    if (connect_to(s, e) && set_up(s, e)) {
        *out = s;
        return true;
    }
    store_close(s);
    return false;
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
    free(s->path);
    free(s);
}

bool store_begin(struct store *s, struct error *e)
{
    /* A writer takes its lock at once: one that had read first could not wait for it. */
    return store_exec(
        s, s->mode == STORE_READ_WRITE ? "PRAGMA synchronous = FULL; BEGIN IMMEDIATE" : "BEGIN", e);
}

static void relax(struct store *s)
{
    sqlite3_exec(s->db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
}

bool store_commit(struct store *s, struct error *e)
{
    if (!store_exec(s, "COMMIT", e)) {
        store_rollback(s);
        return false;
    }
    relax(s);
    return true;
}

void store_rollback(struct store *s)
{
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    relax(s);
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
