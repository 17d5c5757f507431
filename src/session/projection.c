#include "session/projection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/transcript_text.h"
#include "provider/outgoing.h"
#include "store/event_log.h"
#include "store/sessions.h"

/* --- the run that is open at a place of the log, and summary.txt: the newest summary in force ---
 */

enum { GROWTH = 8 };

/* Searches backwards from event `seq` for the run_started of the run that is open there; 0: none is
 * open. Reads one event if `seq` ends a run, else about as many as the run has. */
static bool open_run_find(struct store *s, const char *session_id, int64_t seq, int64_t *begin,
                          struct error *e)
{
    bool more = true, found = false;
    int limit = 1;
    *begin = 0;
    while (!found && more) {
        struct event_list tail;
        if (!event_log_tail(s, session_id, seq + 1, limit, 0, &tail, &more, e))
            return false;
        more = more && limit <= INT_MAX / GROWTH;
        limit = more ? limit * GROWTH : limit;
        for (size_t i = tail.items.len; i > 0 && !found; i--) {
            const struct event *ev = tail.items.items[i - 1];
            bool begins = ev->type == EVENT_TURN_STARTED;
            found = begins || event_between_turns(ev) || event_ends_turn(ev->type);
            if (begins)
                *begin = ev->seq;
        }
        event_list_release(&tail);
    }
    return true;
}

static const char summary_name[] = "summary.txt";
static const char new_name[] = "summary.txt.new";

static bool is_there(int directory, const struct buf *text)
{
    struct stat st;
    int fd = openat(directory, summary_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool there =
        fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)text->len;
    if (there) {
        auto_free char *found = mem_alloc(text->len);
        there = read(fd, found, text->len) == (ssize_t)text->len &&
                memcmp(found, text->data, text->len) == 0;
    }
    if (fd >= 0)
        close(fd);
    return there;
}

static bool file_is_gone(int result)
{
    return result == 0 || errno == ENOENT;
}

static bool summary_file_remove(int directory)
{
    bool ok = file_is_gone(unlinkat(directory, summary_name, 0));
    return file_is_gone(unlinkat(directory, new_name, 0)) && ok;
}

/* Writes summary.txt, whole or not at all, if it differs; NULL removes it. False with errno. */
static bool summary_file_put(int directory, const char *summary)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!summary)
        return summary_file_remove(directory);
    unlinkat(directory, new_name, 0); /* of a process that was killed */
    utf8_clean(&text, summary, strlen(summary), UTF8_MULTILINE);
    buf_addch(&text, '\n');
    if (is_there(directory, &text))
        return true;
    int fd =
        openat(directory, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = paths_write_all(fd, text.data, text.len);
    int cause = errno;
    ok = close(fd) == 0 && ok;
    if (ok && renameat(directory, new_name, directory, summary_name) == 0)
        return true;
    cause = ok ? errno : cause;
    unlinkat(directory, new_name, 0);
    errno = cause;
    return false;
}

static const char prefix[] = "image-";

/* --- derived files --- */

#define PIECE_BYTES ((size_t)64 * 1024)
#define FOLDER "sessions"

/* One of the files while it is written. */
struct derived {
    int fd; /* -1: closed */
    int64_t bytes;
    struct buf pending;
};

enum { TRANSCRIPT, EVENTS, FILE_COUNT };
enum { LOCK_STEP_MS = 10, LOCK_MAX_MS = 2000 };

static const char *const names[FILE_COUNT] = {"transcript.md", "events.jsonl"};
static const char *const new_names[FILE_COUNT] = {"transcript.md.new", "events.jsonl.new"};

/* The files of one session. Their directory is locked while they are looked at and written, so that
 * two processes do not write to them at once.
 *
 * While a run is open the transcript ends with words that say so. Their length follows from the
 * log, and the next update truncates them. */
struct projection {
    struct catalog *catalog;
    const char *id;
    char *path; /* of the directory */
    int dir;
    struct derived files[FILE_COUNT];
    struct transcript_text text;
    int64_t seq; /* the last event in them */
    int cause;   /* errno of a write that failed; 0: none did */
};

char *projection_directory(const struct catalog *c, const char *id)
{
    return c->directory ? mem_printf("%s/" FOLDER "/%s", c->directory, id) : NULL;
}

bool projection_has(const char *name, bool unfinished)
{
    bool has = (strcmp(name, unfinished ? new_name : summary_name) == 0) ||
               image_file_is(name, unfinished);
    for (int i = 0; i < FILE_COUNT; i++)
        has = has || strcmp(name, (unfinished ? new_names : names)[i]) == 0;
    return has;
}

static bool fault(const char *what, const char *path, struct error *e)
{
    return err_set_errno(e, ERR_FILE_ERROR, "cannot %s %s", what, path);
}

/* --- the directory ---------------------------------------------------------------------------- */

/* Opens a directory in a directory, and makes it if it is missing and `make`; -1 with errno. */
static int step_into(int parent, const char *name, bool make)
{
    const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, how);
    if (fd >= 0 || errno != ENOENT || !make)
        return fd;
    if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return openat(parent, name, how);
}

/* DIR/sessions. DIR itself may be a symbolic link of the user. */
static int open_folder(const struct catalog *c, bool make)
{
    int root = open(c->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int folder = root < 0 ? -1 : step_into(root, FOLDER, make);
    int cause = errno;
    if (root >= 0)
        close(root);
    errno = cause;
    return folder;
}

/* Opens and locks the session's directory. Waits at most LOCK_MAX_MS for the lock: the process that
 * has it may be stopped, and this is the agent thread. */
static bool open_directory(struct projection *p, bool make)
{
    int folder = open_folder(p->catalog, make);
    if (folder < 0)
        return false;
    p->dir = step_into(folder, p->id, make);
    int cause = errno;
    close(folder);
    errno = cause;
    if (p->dir < 0)
        return false;
    for (int waited_ms = 0; flock(p->dir, LOCK_EX | LOCK_NB) != 0; waited_ms += LOCK_STEP_MS) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || waited_ms >= LOCK_MAX_MS)
            return false;
        poll(NULL, 0, LOCK_STEP_MS);
    }
    return true;
}

static void projection_begin(struct projection *p, struct catalog *c, const char *id)
{
    *p =
        (struct projection){.catalog = c, .id = id, .path = projection_directory(c, id), .dir = -1};
    for (int i = 0; i < FILE_COUNT; i++)
        p->files[i] = (struct derived){.fd = -1, .pending = BUF_INIT};
    transcript_text_init(&p->text, &transcript_words_fixed);
}

static void projection_end(struct projection *p)
{
    for (int i = 0; i < FILE_COUNT; i++) {
        if (p->files[i].fd >= 0)
            close(p->files[i].fd);
        buf_release(&p->files[i].pending);
    }
    if (p->dir >= 0)
        close(p->dir);
    transcript_text_release(&p->text);
    free(p->path);
}

/* --- writing ---------------------------------------------------------------------------------- */

static bool flush(struct projection *p, size_t least)
{
    for (int i = 0; i < FILE_COUNT && p->cause == 0; i++) {
        struct derived *f = &p->files[i];
        if (f->pending.len <= least)
            continue;
        if (paths_write_all(f->fd, f->pending.data, f->pending.len)) {
            f->bytes += (int64_t)f->pending.len;
            buf_clear(&f->pending);
        } else
            p->cause = errno;
    }
    return p->cause == 0;
}

static bool add_event(void *projection, const struct event *ev)
{
    struct projection *p = projection;
    auto_free char *line = event_to_line(ev);
    buf_addf(&p->files[EVENTS].pending, "%s\n", line);
    transcript_text_add(&p->text, &p->files[TRANSCRIPT].pending, ev);
    p->seq = ev->seq;
    return flush(p, PIECE_BYTES);
}

static bool add_events(struct projection *p, struct error *e)
{
    if (!event_log_read(p->catalog->store, p->id, p->seq, add_event, p, e))
        return false;
    transcript_text_end(&p->text, &p->files[TRANSCRIPT].pending);
    if (flush(p, 0))
        return true;
    errno = p->cause;
    return fault("write the files in", p->path, e);
}

static bool note_down(struct projection *p, struct error *e)
{
    struct projected now = {.seq = p->seq,
                            .transcript_bytes = p->files[TRANSCRIPT].bytes,
                            .events_bytes = p->files[EVENTS].bytes};
    return projected_put(p->catalog->store, p->id, &now, e);
}

/* --- writing all files again ------------------------------------------------------------------ */

static void drop_new(struct projection *p)
{
    for (int i = 0; i < FILE_COUNT; i++)
        unlinkat(p->dir, new_names[i], 0);
}

static bool write_anew(struct projection *p, const struct session_info *info, struct error *e)
{
    p->seq = 0;
    transcript_text_release(&p->text);
    transcript_text_init(&p->text, &transcript_words_fixed);
    for (int i = 0; i < FILE_COUNT; i++) {
        struct derived *f = &p->files[i];
        if (f->fd >= 0)
            close(f->fd);
        f->bytes = 0;
        buf_clear(&f->pending);
        f->fd = openat(p->dir, new_names[i], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       0600);
        if (f->fd < 0)
            return fault("make files in", p->path, e);
    }
    transcript_text_head(&p->files[TRANSCRIPT].pending, info, &transcript_words_fixed, true);
    bool ok = add_events(p, e);
    for (int i = 0; ok && i < FILE_COUNT; i++)
        ok = renameat(p->dir, new_names[i], p->dir, names[i]) == 0 ||
             fault("replace the files in", p->path, e);
    if (ok)
        return note_down(p, e);
    drop_new(p);
    return false;
}

/* --- appending -------------------------------------------------------------------------------- */

/* Opens the files to append to them. False: they are not as the last update left them. */
static bool can_go_on(struct projection *p, const struct projected *left)
{
    const int64_t bytes[FILE_COUNT] = {
        [TRANSCRIPT] = left->transcript_bytes, [EVENTS] = left->events_bytes};
    p->seq = left->seq;
    for (int i = 0; i < FILE_COUNT && left->seq > 0; i++) {
        struct stat st;
        struct derived *f = &p->files[i];
        f->bytes = bytes[i];
        f->fd = openat(p->dir, names[i], O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (f->fd < 0 || fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size != bytes[i] ||
            st.st_nlink != 1)
            return false;
    }
    return left->seq > 0;
}

static bool recall_event(void *projection, const struct event *ev)
{
    struct projection *p = projection;
    AUTO(buf_release) struct buf written = BUF_INIT;
    if (ev->seq <= p->seq)
        transcript_text_add(&p->text, &written, ev);
    return ev->seq < p->seq;
}

/* Appends the events since the last update. Before that the transcript's state is restored and the
 * words about the open run are truncated; if the transcript does not end with them, all files are
 * written again. */
static bool go_on(struct projection *p, const struct session_info *info, struct error *e)
{
    struct store *s = p->catalog->store;
    struct derived *f = &p->files[TRANSCRIPT];
    AUTO(buf_release) struct buf end = BUF_INIT;
    int64_t last, begin = 0;
    if (!event_log_last(s, p->id, &last, e))
        return false;
    if (last <= p->seq)
        return true;
    if (!open_run_find(s, p->id, p->seq, &begin, e) ||
        (begin > 0 && !event_log_read(s, p->id, begin - 1, recall_event, p, e)))
        return false;
    transcript_text_end(&p->text, &end);
    f->bytes -= (int64_t)end.len;
    if (end.len > 0) {
        auto_free char *found = mem_alloc(end.len);
        if (f->bytes < 0 || pread(f->fd, found, end.len, (off_t)f->bytes) != (ssize_t)end.len ||
            memcmp(found, end.data, end.len) != 0 || ftruncate(f->fd, (off_t)f->bytes) != 0)
            return write_anew(p, info, e);
    }
    return add_events(p, e) && note_down(p, e);
}

/* --- the operations on all files --- */

/* fsync() makes the removal survive a power failure, if the file system supports it. */
static bool remove_directory(struct projection *p)
{
    int folder = open_folder(p->catalog, false);
    bool ok = folder >= 0 && file_is_gone(unlinkat(folder, p->id, AT_REMOVEDIR));
    int cause = errno;
    if (ok)
        fsync(folder);
    if (folder >= 0)
        close(folder);
    errno = cause;
    return ok;
}

/* Reads the session after the lock: it may have been deleted before, and then nothing is written.
 */
static bool write_locked(struct projection *p, bool anew, struct error *e)
{
    AUTO(session_info_release) struct session_info info = {0};
    struct projected left;
    auto_free char *summary = NULL;
    struct store *s = p->catalog->store;
    if (!open_directory(p, true))
        return fault("open the directory", p->path, e);
    drop_new(p); /* of a process that was killed */
    if (!sessions_get(s, p->id, &info, e) || !projected_get(s, p->id, &left, e) ||
        !(!anew && can_go_on(p, &left) ? go_on(p, &info, e) : write_anew(p, &info, e)) ||
        !event_log_summary(s, p->id, &summary, e))
        return false;
    return summary_file_put(p->dir, summary) || fault("write the summary in", p->path, e);
}

/* The id becomes a part of paths. */
static bool is_id(const char *id, struct error *e)
{
    return uuid_valid(id) ||
           err_set(e, ERR_SESSION_STORE_ERROR, "\"%.40s\" is no session's id", id);
}

bool projection_write(struct catalog *c, const char *id, bool anew, struct error *e)
{
    struct projection p;
    struct session_info info = {0};
    if (!c->store || !c->directory)
        return true;
    bool known = is_id(id, e) && sessions_get(c->store, id, &info, e);
    session_info_release(&info);
    if (!known)
        return false;
    projection_begin(&p, c, id);
    bool ok = write_locked(&p, anew, e);
    if (!ok && e->code == ERR_SESSION_NOT_FOUND)
        remove_directory(&p); /* empty, if it was made again */
    projection_end(&p);
    return ok;
}

void projection_follow(struct catalog *c, const char *id)
{
    struct error e;
    if (!projection_write(c, id, false, &e))
        log_line(LOG_ERROR, "files of %s: %s", id, e.text);
}

bool projection_remove(struct catalog *c, const char *id, struct error *e)
{
    struct projection p;
    if (!c->directory)
        return true;
    if (!is_id(id, e))
        return false;
    projection_begin(&p, c, id);
    bool ok = false;
    if (open_directory(&p, false)) {
        ok = summary_file_remove(p.dir) && image_file_remove_all(p.dir);
        for (int i = 0; i < FILE_COUNT; i++) {
            ok = file_is_gone(unlinkat(p.dir, names[i], 0)) && ok;
            ok = file_is_gone(unlinkat(p.dir, new_names[i], 0)) && ok;
        }
        ok = ok && remove_directory(&p);
    } else {
        ok = errno == ENOENT;
    }
    if (!ok)
        fault("remove the files in", p.path, e);
    projection_end(&p);
    return ok;
}

/* --- images of messages --- */

bool image_file_add(const char *directory, const char *data, struct session_image *out,
                    struct error *e)
{
    AUTO(buf_release) struct buf bytes;
    char id[UUID_LEN + 1];
    buf_init(&bytes, IMAGE_MAX_BYTES);
    if (!base64_decode(data, &bytes))
        return err_set(e, ERR_USAGE,
                       "\"data\" does not fit; give base64 of at most %zu MB of an image",
                       IMAGE_MAX_BYTES >> 20);
    const char *media_type = image_media_type(bytes.data, bytes.len);
    if (!media_type)
        return err_set(e, ERR_USAGE, "\"data\" is no PNG, JPEG, GIF or WebP image");
    uuid_new(id);
    auto_free char *path =
        mem_printf("%s/%s%s.%s", directory, prefix, id, strchr(media_type, '/') + 1);
    if (!paths_make_dir(directory, e) || !paths_write_file(path, bytes.data, bytes.len, e))
        return false;
    *out = (struct session_image){.path = path, .media_type = mem_strdup(media_type)};
    path = NULL;
    return true;
}

bool image_file_remove_all(int directory)
{
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    bool ok = d != NULL;
    if (!d && copy >= 0)
        close(copy);
    for (const struct dirent *f; d && (f = readdir(d));)
        if (strncmp(f->d_name, prefix, strlen(prefix)) == 0)
            ok = (unlinkat(directory, f->d_name, 0) == 0 || errno == ENOENT) && ok;
    int cause = errno;
    if (d)
        closedir(d);
    errno = cause;
    return ok;
}

/* "image-UUID.png", "image-UUID.png.tiro-XXXXXX" (base/paths.h). */
bool image_file_is(const char *file, bool unfinished)
{
    char id[UUID_LEN + 1] = "";
    if (strncmp(file, prefix, strlen(prefix)) != 0)
        return false;
    memcpy(id, file + strlen(prefix), strnlen(file + strlen(prefix), UUID_LEN));
    const char *rest = file + strlen(prefix) + strlen(id);
    return uuid_valid(id) && *rest == '.' && (strchr(rest + 1, '.') != NULL) == unfinished;
}
