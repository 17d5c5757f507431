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
#include "store/sessions.h"

/* A batch of at most so many events or bytes is written at once. */
enum { CHUNK_BYTES = 65536, BATCH_EVENTS = 8192, BATCH_BYTES = 4 << 20 };

/* The parts of the work in percent, as one after the other they take time. */
enum { LOOKED_AT = 30, WRITTEN = 99 };

/* --- one reading ------------------------------------------------------------------------------ */

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

/* Without a title it has the one that it would have got here. */
static void name_session(struct imported *im, const char *title)
{
    struct session_info *info = &im->info;
    const char *natural = im->unnamed.title ? im->unnamed.title : "";
    if (!*info->title && title) {
        free(info->title);
        info->title = session_title_from(title);
    }
    info->title_set = *info->title && strcmp(info->title, natural) != 0;
    if (!*info->title) {
        free(info->title);
        info->title = mem_strdup(natural);
    }
}

/* Costs are sums of rounded figures in a text; the last digits of their sum may differ. */
static bool nearly_same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* --- a text that can be read only once --- */

enum { ASK_MS = 100 };

/* A terminal or a device can be moved in, but does not say the same again. */
static bool can_be_read_twice(FILE *in)
{
    struct stat st;
    int fd = fileno(in);
    return fseeko(in, 0, SEEK_CUR) == 0 && (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)));
}

/* There is nothing yet. */
static ssize_t again(void)
{
    errno = EAGAIN;
    return -1;
}

static bool unkept(struct error *e)
{
    return err_set_errno(e, ERR_FILE_ERROR, "cannot keep what is read for the import");
}

/* The writer may take long, and poll() does not report a named pipe that has no writer. So a pipe
 * is set to O_NONBLOCK and read before poll(). */
static ssize_t read_some(int fd, char *chunk)
{
    struct stat st;
    struct pollfd in = {.fd = fd, .events = POLLIN};
    int flags = fcntl(fd, F_GETFL);
    bool is_pipe = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    if (!is_pipe)
        return poll(&in, 1, ASK_MS) != 0 ? read(fd, chunk, CHUNK_BYTES) : again();
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
            return lseek(out, 0, SEEK_SET) == 0 || unkept(e);
        if (len < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (len < 0)
            return err_set_errno(e, ERR_FILE_ERROR, "the text cannot be read");
        if (!paths_write_all(out, chunk, (size_t)len))
            return unkept(e);
        bytes += len;
        if (bytes > IMPORT_MAX_BYTES)
            return err_set(e, ERR_FILE_ERROR,
                           "the text is longer than %lld bytes; nothing was imported",
                           (long long)IMPORT_MAX_BYTES);
    }
    return err_set(e, ERR_INTERRUPTED, "stopped; nothing was imported");
}

/* `in` itself if it can be read twice; else a file without a name that has all of it, which the
 * caller closes. `directory` (NULL: anywhere) is where that lies. NULL with `e`. */
static FILE *import_spool(FILE *in, const char *directory,
                          bool (*go_on)(void *context, int64_t bytes), void *context,
                          struct error *e)
{
    if (can_be_read_twice(in))
        return in;
    /* 0600, and gone with its last descriptor. */
    if (!directory)
        directory = getenv("TMPDIR");
    char *path = mem_printf("%s/import.XXXXXX", directory && *directory ? directory : "/tmp");
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!file)
        err_set_errno(e, ERR_FILE_ERROR, "cannot keep what is read for the import in %s", path);
    if (fd >= 0)
        unlink(path);
    if (!file && fd >= 0)
        close(fd);
    free(path);
    FILE *out = file;
    if (out && !copy(fileno(in), fileno(out), go_on, context, e)) {
        fclose(out);
        return NULL;
    }
    return out;
}

/* The full-text index numbers what it knows with 32 bits. */
/* --- the members of session_info_shape; listings are counted by the events --- */

/* "+" before each, so that a label which begins with a sign stays what it is. */
static bool check_labels(const char *labels, char **out, struct error *e)
{
    AUTO(buf_release) struct buf words = BUF_INIT;
    for (const char *at = labels; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
        buf_addf(&words, "+%.*s ", (int)strcspn(at, " "), at);
    return session_labels_change(NULL, words.data, out, e);
}

static void move(char **to, char **from)
{
    free(*to);
    *to = *from;
    *from = NULL;
}

static void move_time(int64_t *to, int64_t ms)
{
    if (ms != 0)
        *to = ms;
}

/* Takes the session's description; its counters are made from the events. */
static void take(struct imported *out, struct session_info *told)
{
    struct session_info *info = &out->info;
    free(info->title);
    info->title = session_title_from(told->title ? told->title : "");
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
    move_time(&info->created_ms, told->created_ms);
    move_time(&info->archived_ms, told->archived_ms);
    move_time(&out->updated_ms, told->updated_ms);
    out->cost = told->cost;
}

static bool import_info(const struct json *v, const struct place *p, struct imported *out,
                        struct error *e)
{
    struct session_info told = {0};
    struct error cause;
    if (!shape_read(&session_info_shape, v, &told, &cause))
        return import_fault(p, e, "%s", cause.text);
    bool ok = !told.labels || check_labels(told.labels, &out->info.labels, &cause) ||
              import_fault(p, e, "\"labels\": %s", cause.text);
    if (ok)
        take(out, &told);
    session_info_release(&told);
    return ok;
}

/* --- what export_session() wrote --- */

#define SEQ_MAX INT32_MAX

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

static bool check_order(const struct event *ev, const struct imported *im, const struct place *p,
                        struct error *e)
{
    if (*im->info.id && strcmp(ev->session_id, im->info.id) != 0)
        return import_fault(p, e, "\"session_id\" is that of another session");
    if (ev->seq <= im->last_seq)
        return import_fault(p, e, "\"seq\" %lld does not come after %lld", (long long)ev->seq,
                            (long long)im->last_seq);
    return ev->seq <= SEQ_MAX || import_fault(p, e, "\"seq\" is above %d", SEQ_MAX);
}

bool import_own_event(const struct json *v, const struct place *p, struct imported *im,
                      struct error *e)
{
    struct event *ev;
    struct error cause = {0};
    if (!event_from_json(v, &ev, &cause))
        return import_fault(p, e, "%s", cause.text);
    if (!check_order(ev, im, p, e)) {
        event_free(ev);
        return false;
    }
    memcpy(im->info.id, ev->session_id, sizeof im->info.id);
    imported_add(im, ev);
    return true;
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool is_session(const struct json *line)
{
    const char *type = json_get_string(line, "type");
    return type && strcmp(type, "session") == 0;
}

static bool read_line(struct import_text *t, bool first, struct imported *out, struct error *e)
{
    struct place p = place_of("line %lld", (long long)t->element_line);
    AUTO(json_free_local) struct json *line = import_text_parse(t, &p, e);
    if (!line)
        return false;
    if (!is_session(line))
        return import_own_event(line, &p, out, e);
    if (!first)
        return import_fault(&p, e, "a second session; import each by itself");
    return import_own_version(json_get(line, "tiro"), &p, e) && import_info(line, &p, out, e);
}

bool import_own_lines(struct import_text *t, struct imported *out, struct error *e)
{
    for (bool first = true; import_text_peek(t) >= 0; first = false) {
        if (!import_text_line(t, e) || !read_line(t, first, out, e) || !imported_settle(out, e))
            return false;
    }
    return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Neither a session's nor that of one whose files are still to be removed; "" is not free. */
static bool is_free(struct catalog *c, const char *id, bool *out, struct error *e)
{
    struct session_info there = {0};
    struct error cause = {0};
    bool noted = false;
    *out = false;
    if (!*id)
        return true;
    bool found = sessions_get(c->store, id, &there, &cause);
    session_info_release(&there);
    if (!found && cause.code != ERR_SESSION_NOT_FOUND)
        return err_set(e, cause.code, "%s", cause.text);
    if (!removals_has(c->store, id, &noted, e))
        return false;
    *out = !found && !noted;
    return true;
}

static bool choose_id(struct catalog *c, struct session_info *info, struct error *e)
{
    bool keeps;
    if (!is_free(c, info->id, &keeps, e))
        return false;
    if (!keeps)
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

/* The text again, now with somewhere for its events to go. */
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

/* Writes row and events in one transaction. Everything that a listing counts is counted anew: a
 * text may say anything. */
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
    free(info->draft);
    info->draft = draft;
    if (nearly_same(info->cost, seen->cost))
        info->cost = seen->cost;
    if (seen->updated_ms > 0)
        info->updated_ms = seen->updated_ms;
    else if (info->updated_ms == 0)
        info->updated_ms = info->created_ms;
    ok = ok && sessions_put(c->store, info, e) && store_commit(c->store, e);
    if (!ok)
        store_rollback(c->store);
    return ok;
}

/* --- how far it is ---------------------------------------------------------------------------- */

struct watch {
    const struct import_options *options;
    int64_t size;   /* of the text; 0: not known yet */
    int from, upto; /* percent of what is being done */
};

static bool goes_on(void *watch, int64_t bytes)
{
    const struct watch *w = watch;
    const struct import_options *o = w->options;
    double part = w->size > 0 ? fmin((double)bytes / (double)w->size, 1) : 0;
    return !o->tell || o->tell(o->context, w->from + (int)(part * (w->upto - w->from)));
}

static bool measure(FILE *in, struct watch *w, struct error *e)
{
    off_t begin = ftello(in);
    if (begin < 0 || fseeko(in, 0, SEEK_END) != 0)
        return err_set_errno(e, ERR_FILE_ERROR, "the text cannot be read");
    w->size = ftello(in) - begin;
    if (fseeko(in, begin, SEEK_SET) != 0)
        return err_set_errno(e, ERR_FILE_ERROR, "the text cannot be read");
    return w->size <= IMPORT_MAX_BYTES ||
           err_set(e, ERR_FILE_ERROR, "the text: longer than %lld bytes; nothing was imported",
                   (long long)IMPORT_MAX_BYTES);
}

/* ---------------------------------------------------------------------------------------------- */

static bool read_and_write(struct catalog *c, FILE *in, struct watch *w, struct imported *seen,
                           struct error *e)
{
    struct import_text t;
    if (!measure(in, w, e))
        return false;
    import_text_init(&t, in, CHUNK_BYTES, goes_on, w);
    w->upto = LOOKED_AT;
    bool ok = import_form_read(&t, seen, e);
    if (ok) {
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

bool import_session(struct catalog *c, FILE *in, const struct import_options *o,
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
