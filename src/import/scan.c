#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include "import/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "import/private.h"
#include "import/text.h"
#include "import/watch.h"
#include "knowledge/package.h"
#include "store/health.h"
#include "store/salvage.h"

enum { DEPTH_MAX = 16, FILES_MAX = 1000000, TELL_FILES = 500, CHUNK_BYTES = 65536 };

/* Limit of the bytes that come out of a zip file: texts become 5 to 30 times as long. */
#define ZIP_BYTES (4 * IMPORT_MAX_BYTES)
enum { ZIP_TIMES = 100, ZIP_LEAST = 16 << 20 };

/* clang-format off */
static const struct shape counts_shape = SHAPE_OF("imported history", struct import_counts,
    SHAPE_REQ(import_counts, name, "The source's word."),
    SHAPE_REQ(import_counts, label, "Its name."),
    SHAPE_OPT(import_counts, places, "Where its files are, a line each."),
    SHAPE_REQ(import_counts, files, "Files that belong to it."),
    SHAPE_REQ(import_counts, read, "Of them: were new, or had changed."),
    SHAPE_REQ(import_counts, failed, "Of them: could not be read."),
    SHAPE_OPT(import_counts, fault, "Why the first of these could not be read."),
    SHAPE_REQ(import_counts, bytes, "Of all files."),
    SHAPE_REQ(import_counts, conversations, "Conversations that got something new; in a list: that were imported."),
    SHAPE_REQ(import_counts, messages, "New messages of the person and the assistant; in a list: those that were imported."),
    SHAPE_REQ(import_counts, not_understood, "Records that were not understood."),
    SHAPE_OPT(import_counts, kinds, "Their kinds."),
    SHAPE_FIELD("newest", TIME, OPTIONAL, SHAPE_AT(int64_t, struct import_counts, newest_ms), .help = "When the newest file was changed."));
const struct shape import_report_shape = SHAPE_OF("imported histories", struct import_report,
    SHAPE_REQ_LIST("sources", import_report, sources, counts_shape, "Every source."));
/* clang-format on */

void import_report_release(struct import_report *r)
{
    shape_release(&import_report_shape, r);
}

/* A file that has to be read. */
struct found {
    char *path;
    int64_t modified_ns;
    const struct import_source *source; /* NULL: any */
};

struct scan {
    struct store *store;
    const struct import_options *o;
    struct import_report *report;
    VEC(struct found) found;
    size_t seen;
    bool survey; /* counts alone */
    bool stopped;
    struct error unread; /* the first file or folder below a given path that cannot be read */
};

static struct import_counts *counts_of(struct scan *s, const char *source)
{
    for (size_t i = 0; i < s->report->sources.len; i++)
        if (strcmp(s->report->sources.items[i].name, source) == 0)
            return &s->report->sources.items[i];
    return NULL;
}

static bool is_part(const struct import_options *o)
{
    return o->changed && o->changed->items.len > 0;
}

bool import_is_wanted(const char *from, const char *name)
{
    size_t len = strlen(name);
    if (!from || !*from || strcmp(from, "all") == 0)
        return true;
    for (const char *at = from; *at; at += strcspn(at, ", "), at += strspn(at, ", "))
        if (strncmp(at, name, len) == 0 && (at[len] == '\0' || at[len] == ',' || at[len] == ' '))
            return true;
    return false;
}

static bool check_names(const char *from, struct error *e)
{
    for (const char *at = from && strcmp(from, "all") != 0 ? from : ""; *at;) {
        size_t len = strcspn(at, ", ");
        auto_free char *name = mem_strndup(at, len);
        if (len > 0 && !import_source_find(name))
            return err_set(e, ERR_USAGE,
                           "there is no source \"%.40s\"; tiro import --list shows all", name);
        at += len + strspn(at + len, ", ");
    }
    return true;
}

bool import_fits(const char *path, const struct import_source *source, const char *from)
{
    bool fits = !source && import_ends(path, ".zip");
    for (size_t i = 0; !fits && import_sources[i]; i++)
        fits = (!source || source == import_sources[i]) && import_sources[i]->named(path) &&
               import_is_wanted(from, import_sources[i]->name);
    return fits;
}

/* --- what was read ---------------------------------------------------------------------------- */

/* A database changes in its journal, too. */
static void add_journal(const char *path, struct stat *st)
{
    struct stat wal;
    auto_free char *name = mem_printf("%s-wal", path);
    if (stat(name, &wal) != 0)
        return;
    st->st_size += wal.st_size;
    if (wal.st_mtim.tv_sec > st->st_mtim.tv_sec ||
        (wal.st_mtim.tv_sec == st->st_mtim.tv_sec && wal.st_mtim.tv_nsec > st->st_mtim.tv_nsec))
        st->st_mtim = wal.st_mtim;
}

static bool may_be_database(const char *path)
{
    static const char *const endings[] = {".db", ".vscdb", ".sqlite", ".sqlite3", NULL};
    size_t len = strlen(path);
    for (size_t i = 0; endings[i]; i++)
        if (len > strlen(endings[i]) && strcmp(path + len - strlen(endings[i]), endings[i]) == 0)
            return true;
    return false;
}

static int64_t modified_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static int64_t hash_head(const struct import_file *f, size_t len)
{
    return (int64_t)mem_hash(MEM_HASH, f->head, len);
}

/* Sets where to go on, if the file only grew. */
static bool load_state(struct scan *s, struct import_file *f, struct json **unknown,
                       struct error *e)
{
    struct query q = sql_query(s->store, e,
                               "SELECT done, mark, head, head_bytes, unknown, tip FROM import_file"
                               " WHERE path = ? AND device = ? AND inode = ?",
                               "tii", f->path, (int64_t)f->stat.st_dev, (int64_t)f->stat.st_ino);
    if (query_next(&q)) {
        int64_t done = sqlite3_column_int64(q.handle, 0);
        size_t len = (size_t)sqlite3_column_int64(q.handle, 3);
        const char *text = (const char *)sqlite3_column_text(q.handle, 4);
        if (done <= f->stat.st_size && len <= f->head_len &&
            hash_head(f, len) == sqlite3_column_int64(q.handle, 2)) {
            f->offset = done;
            f->mark = sqlite3_column_int64(q.handle, 1);
            f->tip = sqlite3_column_int64(q.handle, 5);
            *unknown = text && done > 0 ? json_parse(text, strlen(text), NULL) : NULL;
        }
    }
    return query_end(&q);
}

static bool store_state(struct store *s, const struct import_file *f, const char *source,
                        int64_t size, const struct json *unknown, const char *error,
                        struct error *e)
{
    auto_free char *kinds = unknown ? json_print(unknown) : NULL;
    return sql_exec(s, e,
                    "INSERT OR REPLACE INTO import_file (path, source, device, inode, size,"
                    " modified_ns, done, head, head_bytes, mark, tip, unknown, error)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    "ttiiiiiiiiitt", f->path, source, (int64_t)f->stat.st_dev,
                    (int64_t)f->stat.st_ino, size, modified_ns(&f->stat), f->done,
                    hash_head(f, f->head_len), (int64_t)f->head_len, f->mark, f->tip, kinds, error);
}

static bool keep_file(struct import_sink *k, bool whole, struct error *e)
{
    return k->filtered ||
           store_state(k->store, k->file, k->source->name,
                       whole ? (int64_t)k->file->stat.st_size : -1, k->unknown, NULL, e);
}

/* --- finding ---------------------------------------------------------------------------------- */

static void count_file(struct import_counts *c, const struct stat *st)
{
    int64_t ms = modified_ns(st) / 1000000;
    c->files++;
    c->bytes += (int64_t)st->st_size;
    c->newest_ms = ms > c->newest_ms ? ms : c->newest_ms;
}

static void count_fault(struct import_counts *c, const struct error *cause)
{
    c->failed++;
    if (!c->fault)
        c->fault = utf8_clean_line(cause->text);
}

/* Notes that the last call failed on a file or folder, which costs itself, unless it is gone. */
static void note_unread(struct scan *s, const char *path, const struct import_source *source)
{
    struct error cause;
    if (errno == ENOENT || errno == ELOOP)
        return;
    err_set_errno(&cause, ERR_FILE_ERROR, "%s cannot be read", path);
    if (source)
        count_fault(counts_of(s, source->name), &cause);
    else if (s->unread.code == ERR_OK)
        s->unread = cause;
}

/* Takes note of a regular file unless it is as it was. */
static bool consider(struct scan *s, const char *path, struct stat *st,
                     const struct import_source *source, bool given, struct error *e)
{
    if (!given && !import_fits(path, source, s->o->from))
        return true;
    if (++s->seen > FILES_MAX)
        return err_set(e, ERR_FILE_ERROR, "there are more than %d files; name a smaller folder",
                       FILES_MAX);
    if (may_be_database(path))
        add_journal(path, st);
    if (s->o->since_ms > 0 && modified_ns(st) / 1000000 < s->o->since_ms)
        return true;
    auto_free char *known = NULL;
    bool same = false;
    struct query q = sql_query(s->store, e,
                               "SELECT source, device, inode, size, modified_ns FROM import_file"
                               " WHERE path = ?",
                               "t", path);
    if (query_next(&q)) {
        known = query_column_text(&q, 0);
        same = sqlite3_column_int64(q.handle, 1) == (int64_t)st->st_dev &&
               sqlite3_column_int64(q.handle, 2) == (int64_t)st->st_ino &&
               sqlite3_column_int64(q.handle, 3) == (int64_t)st->st_size &&
               sqlite3_column_int64(q.handle, 4) == modified_ns(st);
    }
    if (!query_end(&q))
        return false;
    struct import_counts *c = known && same ? counts_of(s, known) : NULL;
    if (c)
        count_file(c, st);
    else if (s->survey && source)
        count_file(counts_of(s, source->name), st);
    if (!same && !s->survey)
        vec_push(&s->found, (struct found){mem_strdup(path), modified_ns(st), source});
    if (s->seen % TELL_FILES == 0 && s->o->tell && !s->o->tell(s->o->context, 0, 0))
        s->stopped = true;
    return !s->stopped || err_set(e, ERR_INTERRUPTED, "stopped; nothing was read");
}

/* The files below a folder, whose descriptor is taken. Links and what is no file are passed over.
 */
static bool walk(struct scan *s, int fd, const char *path, const struct import_source *source,
                 int depth, struct error *e)
{
    DIR *folder = fdopendir(fd);
    bool ok = true;
    if (s->o->watch)
        import_watch_folder(s->o->watch, path);
    if (!folder) {
        note_unread(s, path, source);
        close(fd);
        return true;
    }
    for (const struct dirent *entry; ok && (errno = 0, entry = readdir(folder));) {
        struct stat st = {0};
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        auto_free char *name = paths_join(path, entry->d_name);
        if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            note_unread(s, name, source);
        else if (S_ISREG(st.st_mode))
            ok = consider(s, name, &st, source, false, e);
        if (!S_ISDIR(st.st_mode) || depth >= DEPTH_MAX)
            continue;
        int below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
            ok = walk(s, below, name, source, depth + 1, e);
        else
            note_unread(s, name, source);
    }
    if (ok && errno != 0)
        note_unread(s, path, source);
    closedir(folder);
    return ok;
}

/* A place of a source, or a path that a person gave, which has to be there. */
static bool find(struct scan *s, const char *path, const struct import_source *source,
                 struct error *e)
{
    struct stat st;
    bool given = !source, there = stat(path, &st) == 0;
    if (there && S_ISREG(st.st_mode))
        return consider(s, path, &st, source, given, e);
    if (there && !S_ISDIR(st.st_mode))
        return !given || err_set(e, ERR_FILE_ERROR, "%s is no file or folder", path);
    int fd = there ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0)
        return walk(s, fd, path, source, 0, e);
    if (given)
        return err_set_errno(e, ERR_FILE_ERROR, "%s cannot be read", path);
    note_unread(s, path, source);
    return true;
}

static int found_order(const void *a, const void *b)
{
    const struct found *left = a, *right = b;
    bool lists = strcmp(import_name(left->path), "history.jsonl") == 0;
    /* Prompts are read where no transcript was, so behind all transcripts. */
    if (lists != (strcmp(import_name(right->path), "history.jsonl") == 0))
        return lists ? 1 : -1;
    if (left->modified_ns != right->modified_ns)
        return left->modified_ns < right->modified_ns ? -1 : 1;
    return strcmp(left->path, right->path);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* False with errno: it cannot be read, or is no regular file any more (ENOENT). */
static bool open_file(const char *path, struct import_file *f)
{
    static const char sqlite[] = "SQLite format 3";
    *f = (struct import_file){.path = path};
    f->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    if (f->fd < 0 || fstat(f->fd, &f->stat) != 0)
        return false;
    errno = ENOENT;
    if (!S_ISREG(f->stat.st_mode))
        return false;
    ssize_t len;
    do
        len = pread(f->fd, f->head, sizeof f->head, 0);
    while (len < 0 && errno == EINTR);
    if (len < 0)
        return false;
    f->head_len = (size_t)len;
    f->sqlite = f->head_len > sizeof sqlite && memcmp(f->head, sqlite, sizeof sqlite) == 0;
    if (may_be_database(path))
        add_journal(path, &f->stat);
    return true;
}

/* Reads one file of a source. *whole: it was read to its end; else `cause` says why not. False is a
 * fault of the store, or a stop. */
static bool read_source(struct scan *s, struct import_sink *k, const struct import_source *source,
                        struct import_file *f, bool *whole, struct error *cause, struct error *e)
{
    k->source = source;
    k->counts = counts_of(s, source->name);
    k->file = f;
    k->broken = false;
    vec_clear(&k->given);
    count_file(k->counts, &f->stat);
    k->counts->read++;
    if (!import_sink_begin(k, e))
        return false;
    *whole = source->read(k, f, cause);
    if (!*whole && !k->broken && !strstr(cause->text, f->path)) {
        const struct error inner = *cause;
        err_set(cause, inner.code, "%s: %s", f->path, inner.text);
    }
    if (!*whole)
        count_fault(k->counts, cause);
    if (!*whole && k->broken)
        return err_set(e, cause->code, "%s", cause->text);
    return import_sink_cut_off(k, e); /* a file that ends too early keeps what it gave */
}

/* --- zip files -------------------------------------------------------------------------------- */

/* The rest of a member's bytes behind its head, in a file without a name. */
static int unpack(struct package *p, const struct import_file *f)
{
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    auto_free char *path = mem_printf("%s/tiro-import.XXXXXX", folder);
    auto_free char *chunk = mem_alloc(CHUNK_BYTES);
    int fd = -1;
#ifdef O_TMPFILE /* a death leaves nothing */
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0 && (fd = mkstemp(path)) >= 0)
        unlink(path);
    if (fd < 0)
        return -1;
    bool ok = paths_write_all(fd, f->head, f->head_len);
    for (ssize_t len = 1; ok && len > 0;)
        ok = (len = package_read(p, chunk, CHUNK_BYTES)) >= 0 &&
             paths_write_all(fd, chunk, (size_t)len);
    if (ok)
        return fd;
    close(fd);
    return -1;
}

/* Reads the members that belong to a source; a file that zstd compressed has one. *last: the source
 * of one; NULL: of none. *again: it may be whole the next time. */
static bool read_zip(struct scan *s, struct import_sink *k, const struct import_file *zip,
                     const struct import_source **last, bool *whole, bool *again,
                     struct error *cause, struct error *e)
{
    int64_t most = zip->stat.st_size * ZIP_TIMES + ZIP_LEAST;
    struct document_options options = {.limits = {.expanded = most < ZIP_BYTES ? most : ZIP_BYTES}};
    struct loading l = {.options = &options,
                        .fd = zip->fd,
                        .size = zip->stat.st_size,
                        .deadline_ms = INT64_MAX,
                        .e = cause};
    struct package p = {.l = &l, .zstd = *zip->head != 'P'};
    bool ok = true;
    *whole = true;
    for (char *name; ok && (name = package_next(&p)); free(name)) {
        auto_free char *path = mem_printf("%s/%s", zip->path, name);
        struct import_file f = {.path = path, .fd = -1};
        ssize_t len = 1;
        while (len > 0 && f.head_len < sizeof f.head) {
            len = package_read(&p, f.head + f.head_len, sizeof f.head - f.head_len);
            f.head_len += len > 0 ? (size_t)len : 0;
        }
        const struct import_source *source = import_source_sniff(&f);
        if (!source || !import_is_wanted(s->o->from, source->name))
            continue;
        bool member = false;
        *last = source;
        f.fd = unpack(&p, &f);
        if (f.fd >= 0 && fstat(f.fd, &f.stat) == 0) {
            ok = read_source(s, k, source, &f, &member, cause, e);
        } else if (p.outcome == DOCUMENT_LOADED) {
            err_set_errno(cause, ERR_FILE_ERROR, "%s cannot be unpacked", path);
            *again = true;
        }
        *whole = *whole && member;
        if (f.fd >= 0)
            close(f.fd);
    }
    *whole = *whole && p.outcome == DOCUMENT_LOADED;
    package_close(&p);
    return ok;
}

/* Reads a file. What is wrong with it is noted; false is a fault of the store, or a stop. */
static bool read_found(struct scan *s, struct import_sink *k, const struct found *found,
                       struct error *e)
{
    struct import_file f;
    struct error cause = {0};
    bool ok = true, whole = true, again = false, opened = open_file(found->path, &f);
    bool zip = opened && f.head_len > 4 &&
               (memcmp(f.head, "PK\3\4", 4) == 0 || memcmp(f.head, "\x28\xb5\x2f\xfd", 4) == 0);
    const struct import_source *source = NULL;
    k->filtered = false;
    k->keep_file = zip ? NULL : keep_file;
    if (!opened)
        note_unread(s, found->path, found->source);
    if (opened && f.sqlite && !import_database_opens(f.path, &cause)) {
        whole = false;
        source = found->source;
        if (source) {
            count_file(counts_of(s, source->name), &f.stat);
            count_fault(counts_of(s, source->name), &cause);
        } else if (s->unread.code == ERR_OK) {
            s->unread = cause;
        }
    } else if (zip)
        ok = read_zip(s, k, &f, &source, &whole, &again, &cause, e);
    else if (opened)
        source =
            found->source && found->source->sniff(&f) ? found->source : import_source_sniff(&f);
    if (source && !import_is_wanted(s->o->from, source->name))
        source = NULL;
    if (source && whole && !zip)
        ok = load_state(s, &f, &k->unknown, e) && read_source(s, k, source, &f, &whole, &cause, e);
    if (ok && source && !s->o->dry && !k->filtered) {
        /* A database may have been locked: it is tried again. */
        int64_t size = !whole && (again || f.sqlite) ? -1 : (int64_t)f.stat.st_size;
        ok = import_sink_begin(k, e) && store_state(k->store, &f, source->name, size, k->unknown,
                                                    whole ? NULL : cause.text, e);
    } else if (ok && !source && opened && whole && !s->o->dry && !s->o->from) {
        ok = import_sink_begin(k, e) &&
             store_state(k->store, &f, "", (int64_t)f.stat.st_size, NULL, NULL, e);
    }
    json_free(k->unknown);
    k->unknown = NULL;
    k->file = NULL;
    if (f.fd >= 0)
        close(f.fd);
    return ok;
}

static bool read_all(struct scan *s, struct error *e)
{
    struct import_sink k;
    import_sink_init(&k, s->store, s->o);
    vec_sort(&s->found, found_order);
    bool ok = true;
    k.of = (int64_t)s->found.len;
    for (size_t i = 0; ok && i < s->found.len; i++) {
        k.done = (int64_t)i;
        ok = read_found(s, &k, &s->found.items[i], e);
    }
    for (size_t i = 0; ok && import_sources[i] && !s->o->dry; i++) {
        k.source = import_sources[i];
        k.counts = counts_of(s, k.source->name);
        ok = import_sink_settle(&k, e);
    }
    if (ok)
        ok = import_sink_commit(&k, true, e);
    else
        import_sink_rollback(&k);
    import_sink_release(&k);
    return ok;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool scan(struct scan *s, const struct text_list *paths, struct error *e)
{
    bool ok = check_names(s->o->from, e);
    *s->report = (struct import_report){0};
    for (size_t i = 0; import_sources[i]; i++)
        vec_push(&s->report->sources,
                 (struct import_counts){.name = mem_strdup(import_sources[i]->name),
                                        .label = mem_strdup(import_sources[i]->label)});
    for (size_t i = 0; ok && paths && i < paths->items.len; i++)
        ok = find(s, paths->items.items[i], NULL, e);
    for (size_t i = 0; ok && !(paths && paths->items.len > 0) && import_sources[i]; i++) {
        struct text_list places = {0};
        if (import_is_wanted(s->o->from, import_sources[i]->name))
            import_sources[i]->places(&places);
        AUTO(buf_release) struct buf there = BUF_INIT;
        for (size_t j = 0; ok && j < places.items.len; j++) {
            const char *place = places.items.items[j];
            if (access(place, F_OK) == 0)
                buf_addf(&there, "%s%s", there.len > 0 ? "\n" : "", place);
            if (!is_part(s->o))
                ok = find(s, place, import_sources[i], e);
            for (size_t k = 0; ok && is_part(s->o) && k < s->o->changed->items.len; k++)
                if (paths_within(s->o->changed->items.items[k], place))
                    ok = find(s, s->o->changed->items.items[k], import_sources[i], e);
        }
        if (there.len > 0)
            s->report->sources.items[i].places = buf_take(&there);
        vec_free_each(&places.items);
    }
    if (ok && !s->survey)
        ok = read_all(s, e);
    for (size_t i = 0; i < s->found.len; i++)
        free(s->found.items[i].path);
    vec_release(&s->found);
    return ok;
}

bool import_scan(struct store *s, const struct text_list *paths, const struct import_options *o,
                 struct import_report *out, struct error *e)
{
    struct scan whole = {.store = s, .o = o, .report = out};
    return scan(&whole, paths, e) &&
           (whole.unread.code == ERR_OK || err_set(e, whole.unread.code, "%s", whole.unread.text));
}

/* Counts of earlier readings: conversations, messages, records that were not understood. */
static bool add_earlier(struct store *s, struct import_counts *c, struct error *e)
{
    AUTO(buf_release) struct buf kinds = BUF_INIT;
    bool ok = sql_number(s, &c->conversations, e,
                         "SELECT count(*) FROM import_conversation WHERE source = ? AND"
                         " session <> '' AND NOT deleted",
                         "t", c->name) &&
              sql_number(s, &c->messages, e,
                         "SELECT coalesce(sum(messages), 0) FROM session WHERE imported = ?", "t",
                         c->name) &&
              sql_number(s, &c->failed, e,
                         "SELECT count(*) FROM import_file WHERE source = ? AND error IS NOT NULL",
                         "t", c->name);
    struct query q = sql_query(s, e,
                               "SELECT j.key, sum(j.value) FROM import_file AS f,"
                               " json_each(f.unknown) AS j WHERE f.source = ? GROUP BY 1"
                               " ORDER BY 2 DESC",
                               "t", c->name);
    while (ok && query_next(&q)) {
        int64_t count = sqlite3_column_int64(q.handle, 1);
        c->not_understood += count;
        buf_addf(&kinds, "%s%lld %s", kinds.len > 0 ? ", " : "", (long long)count,
                 (const char *)sqlite3_column_text(q.handle, 0));
    }
    c->kinds = kinds.len > 0 ? buf_take(&kinds) : NULL;
    return query_end(&q) && ok;
}

bool import_survey(struct store *s, const struct import_options *o, struct import_report *out,
                   struct error *e)
{
    struct scan whole = {.store = s, .o = o, .report = out, .survey = true};
    bool ok = scan(&whole, NULL, e);
    for (size_t i = 0; ok && i < out->sources.len; i++)
        ok = add_earlier(s, &out->sources.items[i], e);
    return ok;
}

/* --- what a damaged database still has -------------------------------------------------------- */

static bool check(struct store *s, bool thorough, struct health *out)
{
    int64_t count = 0;
    (void)thorough;
    return health_count(s, "SELECT count(*) FROM import_conversation", &count, out);
}

static const struct salvage_shape shapes[] = {
    {"foreign_talk", "number, source, id, session, stamp, tip, messages, response, open, deleted",
     "ntttiiiiii", false},
    {"foreign_message", "key, conversation, seq, digest", "niii", false},
    {0},
};
static const char *const no_indexes[] = {NULL};

static const char choose_sql[] =
    "DELETE FROM found.foreign_talk WHERE free OR NOT whole;"
    "DELETE FROM found.foreign_message WHERE free OR NOT whole;";

#define LOST                                                                                       \
    "(SELECT number FROM import_conversation WHERE NOT deleted AND session <> ''"                  \
    " AND session NOT IN (SELECT id FROM session))"

/* A conversation whose session is lost comes again with the next scan. */
static bool recover(struct store *to, struct recovery *out, struct error *e)
{
    (void)out;
    return store_exec(to,
                      "INSERT OR IGNORE INTO import_conversation SELECT row, plain(source),"
                      " plain(id), plain(session), stamp, tip, messages, response, open, deleted"
                      " FROM found.foreign_talk WHERE plain(source) IS NOT NULL"
                      " AND plain(id) IS NOT NULL AND plain(session) IS NOT NULL;"
                      "INSERT OR IGNORE INTO import_message SELECT row, conversation, seq, digest"
                      " FROM found.foreign_message;"
                      "DELETE FROM import_message WHERE conversation IN " LOST
                      ";"
                      "DELETE FROM import_conversation WHERE number IN " LOST,
                      e);
}

const struct store_extension import_extension = {.check = check,
                                                 .shapes = shapes,
                                                 .indexes = no_indexes,
                                                 .choose = choose_sql,
                                                 .recover = recover};
