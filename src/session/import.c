#include "session/import.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "chat/session_info.h"
#include "index/transcripts.h"
#include "session/capability.h"
#include "session/export.h"
#include "session/import_private.h"
#include "store/event_log.h"
#include "store/sessions.h"

/* A batch of at most so many events or bytes is written at once. */
enum { CHUNK_BYTES = 65536, BATCH_EVENTS = 8192, BATCH_BYTES = 4 << 20 };

/* Percent of the work when the text was looked at, and when it was written. */
enum { LOOKED_AT = 30, WRITTEN = 99 };

void imported_init(struct imported *im)
{
    *im = (struct imported){.cost = -1};
    session_info_init(&im->info);
    session_info_init(&im->unnamed);
}

void imported_release(struct imported *im)
{
    session_info_release(&im->info);
    session_info_release(&im->unnamed);
}

void imported_add(struct imported *im, struct event *ev)
{
    if (im->count++ == 0)
        im->first_ms = ev->wall_ms;
    im->last_seq = ev->seq;
    if (ev->type == EVENT_TURN_STARTED) {
        ev->origin = INPUT_IMPORTED;
        session_tally_name(&im->unnamed, ev->text);
    }
    if (im->keeper)
        im->keeper->keep(im->context, ev);
    else
        event_free(ev);
}

bool imported_settle(struct imported *im, struct error *e)
{
    return !im->keeper || im->keeper->settle(im->context, e);
}

/* --- the session's row ------------------------------------------------------------------------ */

/* Without a title the first message names the session. */
static void name_session(struct imported *im, const char *title)
{
    struct session_info *info = &im->info;
    const char *natural = im->unnamed.title ? im->unnamed.title : "";
    if (!*info->title && title)
        mem_replace(&info->title, session_title_from(title, ""));
    info->title_set = *info->title && strcmp(info->title, natural) != 0;
    if (!*info->title)
        mem_replace(&info->title, mem_strdup(natural));
}

/* --- a text that can be read only once --- */

enum { ASK_MS = 100 };
#define CANNOT_KEEP "cannot keep what is read for the import"

/* The writer may take long, and poll() does not report a named pipe that has no writer. So a pipe
 * is set to O_NONBLOCK and read before poll(). */
static ssize_t read_some(int fd, char *chunk)
{
    struct stat st;
    struct pollfd in = {.fd = fd, .events = POLLIN};
    int flags = fcntl(fd, F_GETFL);
    bool is_pipe = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    if (!is_pipe && poll(&in, 1, ASK_MS) != 0)
        return read(fd, chunk, CHUNK_BYTES);
    if (!is_pipe) {
        errno = EAGAIN;
        return -1;
    }
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    ssize_t len = read(fd, chunk, CHUNK_BYTES);
    int cause = errno;
    fcntl(fd, F_SETFL, flags);
    if (len < 0 && cause == EAGAIN)
        poll(&in, 1, ASK_MS);
    errno = cause;
    return len;
}

static bool copy(int in, int out, bool (*go_on)(void *context, int64_t bytes), void *context,
                 struct error *e)
{
    char chunk[CHUNK_BYTES];
    int64_t bytes = 0;
    while (go_on(context, bytes)) {
        ssize_t len = read_some(in, chunk);
        if (len == 0)
            return lseek(out, 0, SEEK_SET) == 0 || err_set_errno(e, ERR_FILE_ERROR, CANNOT_KEEP);
        if (len < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (len < 0)
            return err_set_errno(e, ERR_FILE_ERROR, "the text cannot be read");
        if (!paths_write_all(out, chunk, (size_t)len))
            return err_set_errno(e, ERR_FILE_ERROR, CANNOT_KEEP);
        bytes += len;
        if (bytes > IMPORT_MAX_BYTES)
            return err_set(e, ERR_FILE_ERROR,
                           "the text is longer than %lld bytes; nothing was imported",
                           (long long)IMPORT_MAX_BYTES);
    }
    return err_set(e, ERR_INTERRUPTED, "stopped; nothing was imported");
}

/* `in` itself if it is a regular file or in memory, and so can be read twice; else a file without a
 * name that has its text, which the caller closes. `directory` (NULL: TMPDIR) is where that file
 * is. NULL with `e`. */
static FILE *import_spool(FILE *in, const char *directory,
                          bool (*go_on)(void *context, int64_t bytes), void *context,
                          struct error *e)
{
    struct stat st;
    int in_fd = fileno(in);
    if (fseeko(in, 0, SEEK_CUR) == 0 &&
        (in_fd < 0 || (fstat(in_fd, &st) == 0 && S_ISREG(st.st_mode))))
        return in;
    if (!directory)
        directory = getenv("TMPDIR");
    auto_free char *path =
        mem_printf("%s/import.XXXXXX", directory && *directory ? directory : "/tmp");
    int fd = mkstemp(path);
    FILE *out = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!out)
        err_set_errno(e, ERR_FILE_ERROR, CANNOT_KEEP " in %s", path);
    if (fd >= 0)
        unlink(path);
    if (!out && fd >= 0)
        close(fd);
    if (out && !copy(in_fd, fd, go_on, context, e)) {
        fclose(out);
        return NULL;
    }
    return out;
}

/* --- the members of session_info_shape; the counters of listings come from the events --- */

static void move(char **to, char **from)
{
    mem_replace(to, *from);
    *from = NULL;
}

/* Takes the session's description; its counters are made from the events. */
static void take(struct imported *out, struct session_info *told)
{
    struct session_info *info = &out->info;
    mem_replace(&info->title, session_title_from(told->title ? told->title : "", ""));
    move(&info->directory, &told->directory);
    move(&info->provider, &told->provider);
    move(&info->model, &told->model);
    move(&info->system, &told->system);
    move(&info->draft, &told->draft);
    if (*told->id)
        memcpy(info->id, told->id, sizeof info->id);
    if (*told->parent) {
        memcpy(info->parent, told->parent, sizeof info->parent);
        info->parent_seq = told->parent_seq;
    }
    if (told->created_ms != 0)
        info->created_ms = told->created_ms;
    if (told->archived_ms != 0)
        info->archived_ms = told->archived_ms;
    if (told->updated_ms != 0)
        out->updated_ms = told->updated_ms;
    out->cost = told->cost;
}

static bool import_info(const struct json *v, const struct place *p, struct imported *out,
                        struct error *e)
{
    struct session_info told = {0};
    struct error cause;
    if (!shape_read(&session_info_shape, v, &told, &cause))
        return import_fault(p, e, "%s", cause.text);
    bool ok = true;
    if (told.labels) {
        AUTO(buf_release) struct buf changes = BUF_INIT;
        /* "+" before each label, which may itself begin with a sign */
        for (const char *at = told.labels; *at; at += strcspn(at, " "), at += strspn(at, " "))
            buf_addf(&changes, "+%.*s ", (int)strcspn(at, " "), at);
        ok = session_labels_change(NULL, changes.data, &out->info.labels, &cause) ||
             import_fault(p, e, "\"labels\": %s", cause.text);
    }
    if (ok)
        take(out, &told);
    session_info_release(&told);
    return ok;
}

/* --- texts of export_session() --- */

#define SEQ_MAX INT32_MAX /* the full-text index numbers texts with 32 bits */

bool import_own_version(const struct json *v, const struct place *p, struct error *e)
{
    double version = json_number(v, 0);
    if (version > EXPORT_VERSION)
        return import_fault(p, e, "written by a newer tiro (\"tiro\" is %g, this one reads %d)",
                            version, EXPORT_VERSION);
    return version == EXPORT_VERSION || import_fault(p, e, "\"tiro\" is no version");
}

bool import_own_session(const struct json *v, struct imported *out, struct error *e)
{
    struct place p = place_of("session");
    char said[UUID_LEN + 1];
    memcpy(said, out->info.id, sizeof said);
    if (!import_info(v, &p, out, e))
        return false;
    return !*said || strcmp(said, out->info.id) == 0 ||
           import_fault(&p, e, "\"id\" is not that of the events");
}

bool import_own_event(const struct json *v, const struct place *p, struct imported *im,
                      struct error *e)
{
    struct event *ev;
    struct error cause = {0};
    bool ok = true;
    if (!event_from_json(v, &ev, &cause))
        return import_fault(p, e, "%s", cause.text);
    if (*im->info.id && strcmp(ev->session_id, im->info.id) != 0)
        ok = import_fault(p, e, "\"session_id\" is that of another session");
    else if (ev->seq <= im->last_seq)
        ok = import_fault(p, e, "\"seq\" %lld does not come after %lld", (long long)ev->seq,
                          (long long)im->last_seq);
    else if (ev->seq > SEQ_MAX)
        ok = import_fault(p, e, "\"seq\" is above %d", SEQ_MAX);
    if (!ok) {
        event_free(ev);
        return false;
    }
    memcpy(im->info.id, ev->session_id, sizeof im->info.id);
    imported_add(im, ev);
    return true;
}

/* --- lines ------------------------------------------------------------------------------------ */

bool import_own_lines(struct import_text *t, struct imported *out, struct error *e)
{
    for (bool first = true; import_text_peek(t) >= 0; first = false) {
        if (!import_text_line(t, e))
            return false;
        struct place p = place_of("line %lld", (long long)t->element_line);
        struct json *line = import_text_parse(t, &p, e);
        const char *type = line ? json_get_string(line, "type") : NULL;
        bool ok = line != NULL;
        if (ok && (!type || strcmp(type, "session") != 0))
            ok = import_own_event(line, &p, out, e);
        else if (ok && !first)
            ok = import_fault(&p, e, "a second session; import each by itself");
        else if (ok)
            ok = import_own_version(json_get(line, "tiro"), &p, e) && import_info(line, &p, out, e);
        json_free(line);
        if (!ok || !imported_settle(out, e))
            return false;
    }
    return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Keeps the id of the text unless a session has it, or a deleted one whose files are still to be
 * removed. */
static bool choose_id(struct catalog *c, struct session_info *info, struct error *e)
{
    AUTO(session_info_release) struct session_info there = {0};
    struct error cause = {0};
    bool noted = false;
    bool found = *info->id && sessions_get(c->store, info->id, &there, &cause);
    if (*info->id && !found && cause.code != ERR_SESSION_NOT_FOUND)
        return err_set(e, cause.code, "%s", cause.text);
    if (*info->id && !removals_has(c->store, info->id, &noted, e))
        return false;
    if (!*info->id || found || noted)
        uuid_new(info->id);
    return true;
}

struct writing {
    struct store *store;
    struct session_info *info; /* counts what is written */
    VEC(struct event *) batch;
    size_t bytes;
};

static void batch_clear(struct writing *w)
{
    for (size_t i = 0; i < w->batch.len; i++)
        event_free(w->batch.items[i]);
    vec_clear(&w->batch);
    w->bytes = 0;
}

static bool write_batch(struct writing *w, struct error *e)
{
    bool ok = transcripts_fill(w->store, w->batch.items, w->batch.len, e);
    batch_clear(w);
    return ok;
}

static void keep_event(void *writing, struct event *ev)
{
    struct writing *w = writing;
    const char *texts[] = {ev->text,
                           ev->attachments,
                           ev->hits,
                           ev->signature,
                           ev->id,
                           ev->name,
                           ev->compaction.history,
                           ev->compaction.dropped};
    memcpy(ev->session_id, w->info->id, sizeof ev->session_id);
    session_tally(w->info, ev);
    vec_push(&w->batch, ev);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        w->bytes += texts[i] ? strlen(texts[i]) : 0;
}

static bool write_full_batch(void *writing, struct error *e)
{
    struct writing *w = writing;
    return (w->batch.len < BATCH_EVENTS && w->bytes < BATCH_BYTES) || write_batch(w, e);
}

/* Reads the text again and writes its events. */
static bool write_events(struct writing *w, struct import_text *t, const struct imported *seen,
                         struct error *e)
{
    static const struct import_keeper keeper = {keep_event, write_full_batch};
    struct imported again;
    imported_init(&again);
    again.keeper = &keeper;
    again.context = w;
    bool ok = import_form_read(t, &again, e) && write_batch(w, e);
    if (ok && again.count != seen->count)
        ok = err_set(e, ERR_FILE_ERROR,
                     "the text changed while it was read; nothing was imported, try again");
    imported_release(&again);
    batch_clear(w);
    vec_release(&w->batch);
    return ok;
}

/* Writes row and events in one transaction. The counters of listings are made from the events. */
static bool write_session(struct catalog *c, struct import_text *t, struct imported *seen,
                          struct error *e)
{
    struct session_info *info = &seen->info;
    struct writing w = {.store = c->store, .info = info};
    if (!store_begin(c->store, e))
        return false;
    char *draft = info->draft;
    info->draft = NULL;
    session_tally_reset(info);
    bool ok =
        choose_id(c, info, e) && sessions_put(c->store, info, e) && write_events(&w, t, seen, e);
    mem_replace(&info->draft, draft);
    /* A text has sums of rounded figures: the last digits may differ from the events' sum. */
    if (fabs(info->cost - seen->cost) <= 1e-9 * fmax(fabs(info->cost), fabs(seen->cost)))
        info->cost = seen->cost;
    if (seen->updated_ms > 0)
        info->updated_ms = seen->updated_ms;
    else if (info->updated_ms == 0)
        info->updated_ms = info->created_ms;
    ok = ok && event_log_standing(c->store, info->id, &info->messages, &info->turns, e) &&
         sessions_put(c->store, info, e) && store_commit(c->store, e);
    if (!ok)
        store_rollback(c->store);
    return ok;
}

/* --- progress --------------------------------------------------------------------------------- */

struct watch {
    const struct session_import_options *options;
    int64_t size;   /* of the text; 0: not known yet */
    int from, upto; /* percent of what is being done */
};

static bool goes_on(void *watch, int64_t bytes)
{
    const struct watch *w = watch;
    const struct session_import_options *o = w->options;
    double part = w->size > 0 ? fmin((double)bytes / (double)w->size, 1) : 0;
    return !o->tell || o->tell(o->context, w->from + (int)(part * (w->upto - w->from)));
}

static bool read_and_write(struct catalog *c, FILE *in, struct watch *w, struct imported *seen,
                           struct error *e)
{
    struct import_text t;
    off_t begin = ftello(in);
    bool sized = begin >= 0 && fseeko(in, 0, SEEK_END) == 0;
    if (sized)
        w->size = ftello(in) - begin;
    if (!sized || fseeko(in, begin, SEEK_SET) != 0)
        return err_set_errno(e, ERR_FILE_ERROR, "the text cannot be read");
    if (w->size > IMPORT_MAX_BYTES)
        return err_set(e, ERR_FILE_ERROR, "the text: longer than %lld bytes; nothing was imported",
                       (long long)IMPORT_MAX_BYTES);

    import_text_init(&t, in, CHUNK_BYTES, goes_on, w);
    w->upto = LOOKED_AT;
    bool ok = import_form_read(&t, seen, e);
    struct session_info there;
    if (ok && w->options->once && *seen->info.id &&
        sessions_get(c->store, seen->info.id, &there, NULL)) {
        session_info_release(&there);
        *seen->info.id = '\0';
    } else if (ok) {
        name_session(seen, w->options->title);
        if (seen->info.created_ms == 0)
            seen->info.created_ms = seen->count > 0 ? seen->first_ms : clock_wall_ms();
        if (!seen->info.directory)
            seen->info.directory = mem_strdup(w->options->directory);
        w->from = LOOKED_AT;
        w->upto = WRITTEN;
        ok = write_session(c, &t, seen, e);
    }
    import_text_release(&t);
    return ok;
}

bool import_session(struct catalog *c, FILE *in, const struct session_import_options *o,
                    struct session_info *out, struct error *e)
{
    struct watch watch = {.options = o};
    struct imported seen;
    *out = (struct session_info){0};
    if (!c->store)
        return capability_need_store(false, e);
    FILE *text = import_spool(in, c->directory, goes_on, &watch, e);
    if (!text)
        return false;
    imported_init(&seen);
    bool ok = read_and_write(c, text, &watch, &seen, e);
    if (ok)
        *out = session_info_clone(&seen.info);
    imported_release(&seen);
    if (text != in)
        fclose(text);
    return ok;
}
