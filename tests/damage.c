#include "tests/damage.h"
#include "index/transcripts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "chat/session_info.h"
#include "store/db_files.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/tokenizer.h"
#include "tests/suite.h"

enum { NOBODY = 65534, LONG_EVENT = 9000, MIDDLING = 500 };

/* --- filling --------------------------------------------------------------------------------- */

/* Different for each event, and in some of them longer than a page. */
static char *text_of(int session, int event)
{
    struct buf text = BUF_INIT;
    size_t len = event % 7 == 3 ? LONG_EVENT + (size_t)session * 10 : DAMAGE_PAYLOAD;
    len += (size_t)(session * 31 + event * 17) % MIDDLING;
    buf_addf(&text, "session %d event %d: ", session, event);
    while (text.len < len)
        buf_addf(&text, "größer %d-%d-%zu ", session, event, text.len);
    return buf_take(&text);
}

static struct event *event_of(int session, int i)
{
    static const enum event_type types[] = {EVENT_TURN_STARTED, EVENT_TEXT_COMPLETE,
                                            EVENT_TOOL_EXECUTION_COMPLETED, EVENT_TEXT_DELTA,
                                            EVENT_TURN_COMPLETED};
    struct event *ev = event_new(types[i % 5]);
    ev->text = text_of(session, i);
    if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED) {
        ev->id = mem_strdup("call");
        ev->name = mem_strdup("read_file");
    }
    ev->seq = i + 1 + i / 10; /* with a gap */
    ev->wall_ms = 1700000000000 + session * 100000 + i;
    return ev;
}

static void fill_session(struct store *s, int session, int events)
{
    AUTO(session_info_release) struct session_info info = {0};
    struct error e = {0};
    session_info_init(&info);
    uuid_new(info.id);
    info.directory = mem_printf("/home/someone/project-%d", session);
    info.provider = mem_strdup("offline");
    info.model = mem_strdup("a-model");
    info.draft = mem_printf("draft of session %d", session);
    info.created_ms = 1700000000000 + session * 100000;
    assert_true(sessions_put(s, &info, &e));
    for (int i = 0; i < events; i++) {
        AUTO(event_free_local) struct event *ev = event_of(session, i);
        memcpy(ev->session_id, info.id, sizeof info.id);
        assert_true(transcripts_append(s, ev, &e));
        session_tally(&info, ev);
    }
    free(info.draft);
    info.draft = mem_printf("draft of session %d", session);
    assert_true(sessions_put(s, &info, &e));
}

static struct store *open_and_fill(const char *path, int sessions, int events)
{
    struct store *s;
    struct error e = {0};
    assert_true(store_open(path, STORE_READ_WRITE, &s, &e));
    assert_true(store_begin(s, &e));
    for (int i = 0; i < sessions; i++)
        fill_session(s, i, events);
    assert_true(store_commit(s, &e));
    return s;
}

void damage_fill(const char *path, int sessions, int events)
{
    store_close(open_and_fill(path, sessions, events));
}

void damage_fill_and_die(const char *path, int sessions, int events)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        open_and_fill(path, sessions, events);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

bool damage_index(void *context, struct store *s, struct error *e)
{
    (void)context;
    return store_exec(s,
                      "INSERT INTO memory_words (rowid, words)"
                      " SELECT key, content FROM memory_entry",
                      e);
}

static void fill_talk(struct store *s, int talk, int entries)
{
    struct error e = {0};
    char id[UUID_LEN + 1];
    uuid_new(id);
    char *sql = mem_printf("INSERT INTO memory_session VALUES (%d, '%s', %d)", talk, id,
                           entries + 3); /* three were forgotten */
    assert_true(store_exec(s, sql, &e));
    free(sql);
    for (int i = 0; i < entries; i++) {
        auto_free char *text = text_of(talk, i);
        bool first = i == 0;
        uuid_new(id);
        sql = mem_printf(
            "INSERT INTO memory_entry VALUES ((%d << 24) + %d, '%s', %d, %d, %d, %s, '%s', %s, "
            "%lld,"
            " %d, %d, %s, %d, '%s')",
            talk, i, id, i % 2, talk, i / 2 + 1, first ? "NULL" : "7 * 3",
            i % 3 == 2 ? "tool" : "assistant", first ? "'Zoë'" : "NULL",
            1700000000000 + (long long)talk * 1000 + i, first, i == 1, first ? "NULL" : "42",
            talk * 1000 + i, text);
        assert_true(store_exec(s, sql, &e));
        free(sql);
    }
}

void damage_fill_memory(const char *path, int talks, int entries)
{
    struct store *s;
    struct error e = {0};
    assert_true(store_open(path, STORE_READ_WRITE, &s, &e));
    assert_true(store_begin(s, &e));
    for (int i = 1; i <= talks; i++)
        fill_talk(s, i, entries);
    assert_true(damage_index(NULL, s, &e));
    assert_true(store_exec(s,
                           "INSERT INTO memory_flag VALUES (1, 17, 'GONE');"
                           "INSERT INTO memory_model (number, name, dimension, used, fitted)"
                           " VALUES (1, 'some/model', 3, 1, 0);"
                           "INSERT INTO memory_vector (model, key, stamp, scale, bytes)"
                           " SELECT 1, key, 1, 0.5, x'010203' FROM memory_entry",
                           &e));
    assert_true(store_commit(s, &e));
    store_close(s);
}

/* --- looking --------------------------------------------------------------------------------- */

struct damage_events damage_events(const char *path)
{
    struct damage_events list = {0};
    sqlite3 *db;
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT s.id, e.seq, e.at, e.type || ' ' || e.version || ' ' ||"
                           " e.payload FROM event e JOIN session s ON s.key = e.session"
                           " ORDER BY s.id, e.seq",
                           -1, &q, NULL),
        SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        struct damage_event ev = {.seq = sqlite3_column_int64(q, 1),
                                  .at = sqlite3_column_int64(q, 2)};
        snprintf(ev.id, sizeof ev.id, "%s", (const char *)sqlite3_column_text(q, 0));
        ev.text = mem_strdup((const char *)sqlite3_column_text(q, 3));
        vec_push(&list.items, ev);
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
    return list;
}

void damage_events_release(struct damage_events *l)
{
    for (size_t i = 0; i < l->items.len; i++)
        free(l->items.items[i].text);
    vec_release(&l->items);
}

char *damage_memory(const char *path)
{
    return damage_rows(path,
                       "SELECT key, s.id, e.id, id_number, turn, seq, role, speaker,"
                       " created_ms, pinned, edited, compaction, digest, content"
                       " FROM memory_entry e JOIN memory_session s ON number = session"
                       " ORDER BY key");
}

/* Whether the statement gave a row; *number is then its first column. */
static bool step_through(sqlite3_stmt *q, int64_t *number)
{
    int result = sqlite3_step(q);
    bool any = result == SQLITE_ROW;
    if (any)
        *number = sqlite3_column_int64(q, 0);
    while (result == SQLITE_ROW)
        result = sqlite3_step(q);
    assert_int_equal(result, SQLITE_DONE);
    return any;
}

/* Tables of words cannot be opened without it. */
static void know_tokenizer(const char *path, sqlite3 *db)
{
    static struct store s; /* as far as it needs one; until the connection is closed */
    s = (struct store){.db = db, .path = (char *)path};
    struct error e;
    if (!tokenizer_register(&s, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < s.statements.len; i++)
        sqlite3_finalize(s.statements.items[i].handle);
    vec_release(&s.statements);
}

static sqlite3 *open_for(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (strstr(sql, "_words"))
        know_tokenizer(path, db);
    return db;
}

static bool run_sql(const char *path, const char *sql, int64_t *number)
{
    sqlite3 *db = open_for(path, sql);
    sqlite3_stmt *q;
    bool any = false;
    for (const char *rest = sql; *rest;) {
        assert_int_equal(sqlite3_prepare_v2(db, rest, -1, &q, &rest), SQLITE_OK);
        if (!q) /* blanks, a comment */
            continue;
        any = step_through(q, number);
        sqlite3_finalize(q);
    }
    sqlite3_close(db);
    return any;
}

char *damage_rows(const char *path, const char *sql)
{
    struct buf text = BUF_INIT;
    sqlite3 *db = open_for(path, sql);
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    int result;
    while ((result = sqlite3_step(q)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            const char *value = (const char *)sqlite3_column_text(q, i);
            buf_addf(&text, "%s|", value ? value : "(none)");
        }
        buf_addch(&text, '\n');
    }
    assert_int_equal(result, SQLITE_DONE);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return buf_take(&text);
}

int64_t damage_sql(const char *path, const char *sql)
{
    int64_t number = 0;
    run_sql(path, sql, &number);
    return number;
}

int64_t damage_number(const char *path, const char *sql)
{
    int64_t number = 0;
    assert_true(run_sql(path, sql, &number));
    return number;
}

char *damage_read(const char *path, size_t *len)
{
    *len = damage_size(path);
    char *bytes = mem_alloc(*len + 1);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, bytes, *len + 1), *len);
    close(fd);
    return bytes;
}

static bool holds(const char *bytes, size_t len, const char *what)
{
    size_t n = strlen(what);
    for (size_t i = 0; i + n <= len; i++)
        if (memcmp(bytes + i, what, n) == 0)
            return true;
    return false;
}

bool damage_on_disk(const char *path, const char *what)
{
    bool found = false;
    for (const char *const *ending = db_file_endings; *ending && !found; ending++) {
        size_t len;
        auto_free char *name = mem_printf("%s%s", path, *ending);
        auto_free char *bytes = access(name, F_OK) == 0 ? damage_read(name, &len) : NULL;
        found = bytes && holds(bytes, len, what);
    }
    return found;
}

size_t damage_size(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

void damage_write(const char *path, size_t offset, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, len, (off_t)offset), len);
    close(fd);
}

void damage_cut(const char *path, size_t len)
{
    assert_int_equal(truncate(path, (off_t)len), 0);
}

void damage_copy(const char *from, const char *to)
{
    size_t len;
    auto_free char *bytes = damage_read(from, &len);
    damage_write(to, 0, bytes, len);
    damage_cut(to, len);
}

/* FNV-1a. */
static uint64_t hash_of(const char *path)
{
    size_t len;
    uint64_t hash = 14695981039346656037u;
    auto_free char *bytes = damage_read(path, &len);
    size_t i = 0;
    for (uint64_t word; i + sizeof word <= len; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        hash = (hash ^ word) * 1099511628211u;
    }
    for (; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
    return hash;
}

char *damage_tree(const char *directory)
{
    struct dirent **entries;
    struct buf text = BUF_INIT;
    int count = scandir(directory, &entries, NULL, alphasort);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        struct stat st;
        auto_free char *path = mem_printf("%s/%s", directory, entries[i]->d_name);
        assert_int_equal(lstat(path, &st), 0);
        if (S_ISREG(st.st_mode))
            buf_addf(&text, "%s %lld %lld.%09ld %llx\n", entries[i]->d_name, (long long)st.st_size,
                     (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                     (unsigned long long)hash_of(path));
        free(entries[i]);
    }
    free(entries);
    return buf_take(&text);
}

/* --- other processes ------------------------------------------------------------------------- */

struct damage_holder damage_hold(const char *path, void (*begin)(const char *path))
{
    int ready[2], stop[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(stop), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(stop[1]);
        begin(path);
        if (write(ready[1], "x", 1) != 1 || read(stop[0], &byte, 1) < 0)
            _exit(1);
        _exit(0);
    }
    close(ready[1]);
    close(stop[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    return (struct damage_holder){.pid = pid, .ready = ready[0], .stop = stop[1]};
}

void damage_let_go(struct damage_holder *h)
{
    int status;
    close(h->stop);
    close(h->ready);
    assert_int_equal(waitpid(h->pid, &status, 0), h->pid);
    assert_int_equal(status, 0);
}

static struct store *held;

void damage_open(const char *path)
{
    if (!store_open(path, STORE_READ_WRITE, &held, NULL))
        _exit(1);
}

void damage_stay(const char *path)
{
    held = open_and_fill(path, 1, 10);
}

void damage_begin_write(const char *path)
{
    damage_open(path);
    if (!store_begin(held, NULL))
        _exit(1);
}

void damage_lock_exclusively(const char *path)
{
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL) !=
            SQLITE_OK)
        _exit(1);
}

int damage_as_nobody(const char *directory, int (*act)(const char *path), const char *path)
{
    int status;
    bool root = geteuid() == 0;
    if (root) {
        DIR *dir = opendir(directory);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            if (strcmp(entry->d_name, "..") == 0)
                continue;
            auto_free char *inside = mem_printf("%s/%s", directory, entry->d_name);
            assert_int_equal(lchown(inside, NOBODY, NOBODY), 0);
        }
        closedir(dir);
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (root && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(255);
        _exit(act(path));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}
