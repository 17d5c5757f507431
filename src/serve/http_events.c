#include "serve/http_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "config/config.h"
#include "serve/notification.h"
#include "session/session_operations.h"

/* --- frames ----------------------------------------------------------------------------------- */

struct http_frame *http_frame_new(int64_t seq, const char *name, const char *data)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (seq >= 0)
        buf_addf(&text, "id: %" PRId64 "\n", seq);
    buf_addf(&text, "event: %s\ndata: ", name);
    buf_addstr(&text, data);
    buf_addstr(&text, "\n\n");
    return http_frame_of(seq > 0 ? seq : 0, text.data, text.len);
}

struct http_frame *http_frame_of(int64_t seq, const char *bytes, size_t len)
{
    struct http_frame *f = mem_alloc(sizeof *f + len);
    f->refs = 1;
    f->seq = seq;
    f->len = len;
    memcpy(f->bytes, bytes, len);
    return f;
}

void http_frame_drop(struct http_frame *f)
{
    if (f && --f->refs == 0)
        free(f);
}

/* --- feeds ------------------------------------------------------------------------------------ */

/* Forgets the oldest frames. */
static void forget_frames(struct http_feed *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct http_frame *frame = f->frames.items[i];
        f->bytes -= frame->len;
        if (frame->seq > 0)
            f->base = frame->seq;
        http_frame_drop(frame);
    }
    f->first += count;
    vec_remove(&f->frames, 0, count);
}

static void feed_free(struct http_feed *f)
{
    forget_frames(f, f->frames.len);
    vec_release(&f->frames);
    vec_release(&f->readers);
    free(f);
}

void http_feeds_release(struct http_feeds *all)
{
    for (size_t i = 0; i < all->list.len; i++)
        feed_free(all->list.items[i]);
    vec_release(&all->list);
}

/* Where it is, or would be. */
static size_t place_of(const struct http_feeds *all, const char *session)
{
    size_t low = 0, high = all->list.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(all->list.items[middle]->session, session) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct http_feed *http_feed_find(const struct http_feeds *all, const char *session)
{
    size_t i = place_of(all, session);
    return i < all->list.len && strcmp(all->list.items[i]->session, session) == 0
               ? all->list.items[i]
               : NULL;
}

struct http_feed *http_feed_get(struct http_feeds *all, const char *session)
{
    struct http_feed *f = http_feed_find(all, session);
    size_t idle = 0, oldest = 0;
    if (f)
        return f;
    for (size_t i = 0; i < all->list.len; i++) {
        f = all->list.items[i];
        if (!f->busy && f->readers.len == 0 &&
            (idle++ == 0 || f->used < all->list.items[oldest]->used))
            oldest = i;
    }
    if (idle > HTTP_FEEDS_IDLE) {
        feed_free(all->list.items[oldest]);
        vec_remove(&all->list, oldest, 1);
    }
    f = mem_alloc(sizeof *f);
    strncpy(f->session, session, sizeof f->session - 1);
    f->used = ++all->uses;
    vec_insert(&all->list, place_of(all, session), f);
    return f;
}

void http_feed_begin(struct http_feed *f, int64_t last)
{
    if (f->frames.len == 0 && last > f->last)
        f->base = f->last = last;
}

void http_feed_add(struct http_feeds *all, struct http_feed *f, struct http_frame *frame)
{
    size_t old = 0;
    f->used = ++all->uses;
    if (frame->seq > 0 && frame->seq != f->last + 1) { /* events between them were not told here */
        forget_frames(f, f->frames.len);
        f->base = frame->seq - 1;
        f->breaks++;
    }
    if (frame->seq > 0)
        f->last = frame->seq;
    vec_push(&f->frames, frame);
    f->bytes += frame->len;
    if (frame->seq > 0 && frame->len > HTTP_FEED_BYTES) {
        f->breaks++;
        forget_frames(f, f->frames.len);
        return;
    }
    for (size_t bytes = f->bytes; bytes > HTTP_FEED_BYTES && old + 1 < f->frames.len; old++)
        bytes -= f->frames.items[old]->len;
    forget_frames(f, old);
}

uint64_t http_feed_behind(const struct http_feed *f, int64_t seq)
{
    size_t i = f->frames.len;
    while (i > 0 && (f->frames.items[i - 1]->seq == 0 || f->frames.items[i - 1]->seq > seq))
        i--;
    return f->first + i;
}

void http_feed_leave(struct http_feed *f, void *reader)
{
    for (size_t i = 0; i < f->readers.len; i++)
        if (f->readers.items[i] == reader) {
            f->readers.items[i] = vec_last(&f->readers);
            f->readers.len--;
            return;
        }
}

/* Readers are handed the log in pages, each when the socket has taken the one before. A page has
 * at most an eighth of what is left of the bytes that all readers together may hold, within bounds;
 * the least, times HTTP_CONNECTIONS, comes on top. An event that is longer comes in parts. */
enum { PAGE_EVENTS = 100, PAGE_LEAST = 16 * 1024, PAGE_MOST = 512 * 1024 };
enum { PAGES_BYTES = 32 * 1024 * 1024 };

size_t http_events_share(size_t held)
{
    size_t left = held < PAGES_BYTES ? (PAGES_BYTES - held) / 8 : 0;
    return left < PAGE_LEAST ? PAGE_LEAST : left > PAGE_MOST ? PAGE_MOST : left;
}

#ifdef HAVE_LIBMICROHTTPD

struct http_events {
    struct server *loop;
    struct listener *listener;
    struct stop_handler *end;
    struct timer *beat;
    int beat_ms;
    struct http_feeds feeds;
    VEC(struct stream *) streams;
    size_t held; /* bytes that pages may have which were asked for and are not sent */
};

/* One reader. */
struct stream {
    struct http_events *all;
    struct http_exchange *exchange;
    struct http_feed *feed; /* NULL: it is not known yet which session is meant */
    char *reference;
    int64_t after;   /* as it was asked */
    int64_t seq;     /* of the last event that was handed on */
    uint64_t place;  /* in the feed, of the next frame */
    uint64_t breaks; /* of the feed, up to which the place counts */

    bool reading;       /* the log: pages are asked for until the feed goes on from there */
    uint64_t ask;       /* the page that is waited for; 0: none */
    int64_t asked_base; /* of the feed when it was asked for */
    VEC(struct http_frame *) page;
    size_t page_at, page_bytes; /* of `held` */
    bool page_more;
    int64_t large, from; /* an event behind the page that comes in parts, and the next one */
    bool inside;         /* such an event: the next part must follow, and nothing else */

    VEC(struct http_frame *) own; /* what goes out before all else */
    struct http_frame *current;   /* what goes out now, up to … */
    size_t sent;
    bool waiting; /* there was nothing to send */
    bool ended;   /* what waits goes out, and nothing more */
    int64_t spoke_ms;
};

/* --- frames ----------------------------------------------------------------------------------- */

static void say_done(struct stream *s, const char *reason)
{
    char data[64];
    snprintf(data, sizeof data, "{\"reason\":\"%s\"}", reason);
    if (!s->ended)
        vec_push(&s->own, http_frame_new(-1, "done", data));
    s->ended = true;
}

static struct http_frame *event_frame(const struct event *ev, bool numbered)
{
    auto_free char *line = event_to_line(ev);
    return http_frame_new(numbered ? ev->seq : -1, event_name(ev->type), line);
}

static void wake(struct stream *s)
{
    if (!s->waiting)
        return;
    s->waiting = false;
    http_exchange_wake(s->exchange);
}

/* --- the log ---------------------------------------------------------------------------------- */

static void release_page(struct stream *s)
{
    s->all->held -= s->page_bytes;
    s->page_bytes = 0;
}

static void take_share(struct stream *s)
{
    release_page(s);
    s->page_bytes = http_events_share(s->all->held);
    s->all->held += s->page_bytes;
}

static void on_page(void *context, const struct operation_answer *a);

static void ask_page(struct stream *s)
{
    take_share(s);
    bool first = !s->feed;
    struct session_history_params params = {.session = first ? s->reference : s->feed->session,
                                            .after = first ? s->after : s->seq,
                                            .limit = PAGE_EVENTS,
                                            .bytes = (int)s->page_bytes};
    if (first && s->after < 0)
        params =
            (struct session_history_params){.session = s->reference, .newest = true, .limit = 1};
    s->asked_base = first ? 0 : s->feed->base;
    s->ask = server_ask(s->all->loop, &operation_session_history, &params, on_page, s);
}

/* The log keeps what streamed in pieces of a second, for the case that nothing completes it. Once
 * something does, the pieces say nothing that it does not say, and are left out. */
static void take_page(struct stream *s, const struct session_history_result *r)
{
    for (size_t i = 0; i < r->events.items.len; i++) {
        struct event *const *all = r->events.items.items;
        size_t next = i;
        while (next < r->events.items.len && event_is_delta(all[next]->type))
            next++;
        enum event_type after = next < r->events.items.len ? all[next]->type : EVENT_INTERRUPTED;
        bool covered = next > i && after != EVENT_TURN_COMPLETED && after != EVENT_TURN_FAILED &&
                       after != EVENT_INTERRUPTED && after != EVENT_RETRYING;
        if (!covered)
            vec_push(&s->page, event_frame(all[i], true));
    }
    s->page_more = r->more;
    s->large = r->large;
}

static void join(struct stream *s, const char *session)
{
    s->feed = http_feed_get(&s->all->feeds, session);
    vec_push(&s->feed->readers, s);
    s->breaks = s->feed->breaks;
}

static long read_stream(void *context, char *to, size_t size);
static void say_comment(void *stream);

/* The first frame has the number to come back with, should nothing follow. */
static void start(struct stream *s)
{
    const struct http_source source = {read_stream, say_comment, s};
    if (!s->reading)
        release_page(s);
    if (*s->feed->session) {
        AUTO(buf_release) struct buf data = BUF_INIT;
        json_out_pack(&(struct json_out){.buf = &data}, "{session_id:s seq:I}", s->feed->session,
                      s->seq);
        struct http_frame *f = http_frame_new(s->seq, "session_loaded", data.data);
        f->seq = 0;
        vec_push(&s->own, f);
    }
    http_exchange_stream(s->exchange, &source);
}

static void begin(struct stream *s, const struct session_history_result *r)
{
    int64_t last = r->events.items.len > 0 ? vec_last(&r->events.items)->seq : 0;
    join(s, r->session.id);
    if (s->after < 0) {
        /* From now on: behind the last event that was told here, or kept by another process. A
         * question that waits has no number, and is sent. */
        http_feed_begin(s->feed, last);
        s->seq = s->feed->last;
        s->place = http_feed_behind(s->feed, s->seq);
    } else {
        s->seq = s->after;
        s->reading = true;
        int64_t newest = r->large ? r->large : last;
        if (s->feed->frames.len == 0 || s->after < s->feed->base || s->feed->last < newest)
            take_page(s, r);
    }
    start(s);
}

static void on_page(void *context, const struct operation_answer *a)
{
    struct stream *s = context;
    struct error e = a->error;
    s->ask = 0;
    if (!s->feed && e.code == ERR_OK) {
        begin(s, a->result);
    } else if (!s->feed) {
        /* A session that is not kept, or in which nothing was said yet, is known by what is told of
         * it alone. */
        struct http_feed *feed = http_feed_find(&s->all->feeds, s->reference);
        bool told = feed && (e.code == ERR_SESSION_PERSISTENCE_DISABLED ||
                             (e.code == ERR_SESSION_NOT_FOUND && feed->last == 0));
        if (told && s->after > feed->last)
            told =
                err_set(&e, ERR_EVENT_NOT_FOUND,
                        "the session told of no event %" PRId64 "; leave the number out", s->after);
        if (!told) {
            http_exchange_fail(s->exchange, &e);
            return;
        }
        join(s, feed->session);
        s->seq = s->after < 0 ? feed->last : s->after;
        s->place = http_feed_behind(feed, s->seq);
        start(s);
    } else {
        if (e.code == ERR_OK)
            take_page(s, a->result);
        else if (e.code == ERR_SESSION_NOT_FOUND && s->seq > 0)
            say_done(s, "deleted");
        else
            s->page_more = false;
        wake(s);
    }
}

/* The number of the stream is that of the last event that was sent whole. A part that cannot be
 * read ends the stream: a reader that comes back gets the event anew. */
static void on_part(void *context, const struct operation_answer *a)
{
    struct stream *s = context;
    const struct session_event_result *r = a->result;
    s->ask = 0;
    if (a->error.code == ERR_OK) {
        AUTO(buf_release) struct buf bytes = BUF_INIT;
        if (s->from == 0)
            buf_addf(&bytes, "id: %" PRId64 "\nevent: %s\ndata: ", s->large, r->type);
        buf_addf(&bytes, "%s%s", r->text, r->next ? "" : "\n\n");
        vec_push(&s->page, http_frame_of(r->next ? s->seq : s->large, bytes.data, bytes.len));
        s->from = r->next;
        s->large = r->next ? s->large : 0;
    } else if (a->error.code == ERR_SESSION_NOT_FOUND) {
        say_done(s, "deleted");
    }
    s->ended = s->ended || a->error.code != ERR_OK;
    wake(s);
}

/* --- what is next ----------------------------------------------------------------------------- */

static struct http_frame *next_of_log(struct stream *s)
{
    struct http_feed *feed = s->feed;
    if (s->page_at < s->page.len) {
        struct http_frame *f = s->page.items[s->page_at++];
        s->seq = f->seq;
        s->inside = f->bytes[f->len - 1] != '\n';
        return f;
    }
    vec_clear(&s->page);
    s->page_at = 0;
    if (s->ask)
        return NULL;
    if (s->large) {
        take_share(s);
        const struct session_event_params part = {.session = feed->session,
                                                  .seq = s->large,
                                                  .from = s->from,
                                                  .bytes = (int)s->page_bytes};
        s->ask = server_ask(s->all->loop, &operation_session_event, &part, on_part, s);
        return NULL;
    }
    /* The log has told all that it had when it was asked. The feed goes on from there, unless it
     * has let go of more since. */
    int64_t reached = s->asked_base > s->seq ? s->asked_base : s->seq;
    if (s->page_more || (feed->frames.len > 0 && feed->base > reached)) {
        s->page_more = false;
        ask_page(s);
        return NULL;
    }
    release_page(s);
    http_feed_begin(feed, s->seq);
    uint64_t behind = http_feed_behind(feed, s->seq);
    s->place = s->breaks == feed->breaks && s->place > behind ? s->place : behind;
    s->breaks = feed->breaks;
    s->reading = false;
    return NULL;
}

static struct http_frame *next_frame(struct stream *s)
{
    const struct http_feed *feed = s->feed;
    struct http_frame *f = NULL;
    if (s->own.len > 0 && !s->inside) {
        f = s->own.items[0];
        vec_remove(&s->own, 0, 1);
        return f;
    }
    if (s->ended)
        return NULL;
    if (s->reading)
        f = next_of_log(s);
    if (f || s->reading)
        return f;
    if (s->breaks != feed->breaks) {
        s->reading = true;
        ask_page(s);
        return NULL;
    }
    if (s->place < feed->first) {
        char data[96];
        snprintf(data, sizeof data, "{\"dropped\":%" PRIu64 ",\"after\":%" PRId64 "}",
                 feed->first - s->place, s->seq);
        s->place = feed->first;
        return http_frame_new(-1, "stream_truncated", data);
    }
    if (s->place - feed->first >= feed->frames.len)
        return NULL;
    f = feed->frames.items[s->place++ - feed->first];
    if (f->seq > 0)
        s->seq = f->seq;
    f->refs++;
    return f;
}

static long read_stream(void *context, char *to, size_t size)
{
    struct stream *s = context;
    size_t len = 0;
    while (len < size && (s->current || (s->current = next_frame(s)))) {
        size_t left = s->current->len - s->sent;
        size_t part = left < size - len ? left : size - len;
        memcpy(to + len, s->current->bytes + s->sent, part);
        len += part;
        s->sent += part;
        if (s->sent < s->current->len)
            break;
        http_frame_drop(s->current);
        s->current = NULL;
        s->sent = 0;
    }
    s->waiting = len == 0 && !s->ended;
    if (len > 0)
        s->spoke_ms = clock_mono_ms();
    return len == 0 && s->ended ? -1 : (long)len;
}

/* --- what is told ----------------------------------------------------------------------------- */

/* Numbers are of one session: the feed of all sessions has none. */
static void tell(struct http_events *all, struct http_feed *feed, const struct notice *n)
{
    const char *name = notification_of(n->type)->method;
    if (!name)
        return;
    auto_free char *data = n->type == NOTICE_EVENT ? NULL : notice_json(n);
    http_feed_add(&all->feeds, feed,
                  data ? http_frame_new(-1, name, data) : event_frame(n->event, *feed->session));
    for (size_t i = 0; i < feed->readers.len; i++)
        wake(feed->readers.items[i]);
}

/* The feed of all sessions has no name. */
static void on_notice(void *context, const struct notice *n)
{
    struct http_events *all = context;
    struct http_feed *every = http_feed_find(&all->feeds, "");
    if (every && every->readers.len > 0)
        tell(all, every, n);
    if (!*n->session)
        return;
    struct http_feed *feed = http_feed_get(&all->feeds, n->session);
    if (n->type == NOTICE_BUSY)
        feed->busy = n->flag;
    tell(all, feed, n);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Whether the reader is there shows when something is sent. */
static void say_comment(void *stream)
{
    struct stream *s = stream;
    vec_push(&s->own, http_frame_of(0, ":\n\n", 3));
    wake(s);
}

/* Sends a comment where nothing was said, and asks the log for what others wrote. */
static void on_beat(void *context)
{
    struct http_events *all = context;
    int64_t due = clock_mono_ms() - all->beat_ms;
    all->beat = NULL;
    for (size_t i = 0; i < all->streams.len; i++) {
        struct stream *s = all->streams.items[i];
        if (!s->waiting || s->spoke_ms > due)
            continue;
        if (*s->feed->session && !s->feed->busy && !s->reading) {
            s->reading = true;
            ask_page(s);
        }
        say_comment(s);
    }
    if (all->streams.len > 0)
        all->beat = server_after(all->loop, all->beat_ms / 4, on_beat, all);
}

static void stream_free(void *mine)
{
    struct stream *s = mine;
    struct http_events *all = s->all;
    if (s->ask)
        server_withdraw(all->loop, s->ask);
    release_page(s);
    if (s->feed)
        http_feed_leave(s->feed, s);
    for (size_t i = 0; i < all->streams.len; i++)
        if (all->streams.items[i] == s) {
            all->streams.items[i] = vec_last(&all->streams);
            all->streams.len--;
            break;
        }
    for (size_t i = s->page_at; i < s->page.len; i++)
        http_frame_drop(s->page.items[i]);
    for (size_t i = 0; i < s->own.len; i++)
        http_frame_drop(s->own.items[i]);
    http_frame_drop(s->current);
    vec_release(&s->page);
    vec_release(&s->own);
    free(s->reference);
    free(s);
}

void http_events_begin(struct http_events *all, struct http_exchange *x, const char *session,
                       int64_t after)
{
    const struct questions *waiting = server_questions(all->loop);
    struct stream *s = mem_alloc(sizeof *s);
    *s = (struct stream){.all = all,
                         .exchange = x,
                         .reference = mem_strdup(session),
                         .after = after,
                         .spoke_ms = clock_mono_ms()};
    vec_push(&all->streams, s);
    x->kept = s;
    x->forget = stream_free;
    if (!all->beat)
        all->beat = server_after(all->loop, all->beat_ms / 4, on_beat, all);
    if (session) {
        ask_page(s);
        return;
    }
    /* A stream of all sessions begins with the questions that wait; earlier events are in no one
     * log. */
    join(s, "");
    s->place = s->feed->first + s->feed->frames.len;
    for (size_t i = 0; i < waiting->items.len; i++)
        vec_push(&s->own, http_frame_new(-1, waiting->items.items[i].method,
                                         waiting->items.items[i].params));
    start(s);
}

/* All streams end, with the event "done". */
static void on_stop(void *context)
{
    struct http_events *all = context;
    for (size_t i = 0; i < all->streams.len; i++) {
        say_done(all->streams.items[i], "shutdown");
        wake(all->streams.items[i]);
    }
}

struct http_events *http_events_new(struct server *loop)
{
    struct http_events *all = mem_alloc(sizeof *all);
    all->loop = loop;
    all->beat_ms = 1000 * (int)config_integer(server_config(loop), CONFIG_SERVE_HEARTBEAT);
    all->listener = server_listen(loop, on_notice, all);
    all->end = server_on_stop(loop, on_stop, NULL, all);
    return all;
}

void http_events_free(struct http_events *all)
{
    if (!all)
        return;
    server_unlisten(all->loop, all->listener);
    server_remove_stop(all->loop, all->end);
    server_cancel_timer(all->loop, all->beat);
    http_feeds_release(&all->feeds);
    vec_release(&all->streams);
    free(all);
}

#endif
