#include "serve/http_feed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* --- frames ----------------------------------------------------------------------------------- */

struct http_frame *http_frame_new(int64_t seq, const char *name, const char *data)
{
    struct buf text = BUF_INIT;
    if (seq >= 0)
        buf_addf(&text, "id: %" PRId64 "\n", seq);
    buf_addf(&text, "event: %s\ndata: ", name);
    buf_addstr(&text, data);
    buf_addstr(&text, "\n\n");
    struct http_frame *f = http_frame_of(seq > 0 ? seq : 0, text.data, text.len);
    buf_release(&text);
    return f;
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

struct http_frame *http_frame_hold(struct http_frame *f)
{
    f->refs++;
    return f;
}

void http_frame_drop(struct http_frame *f)
{
    if (f && --f->refs == 0)
        free(f);
}

/* --- feeds ------------------------------------------------------------------------------------ */

/* Those from the first on. */
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

static bool is_idle(const struct http_feed *f)
{
    return !f->busy && f->readers.len == 0;
}

/* Once more are idle than there may be, the one that was used longest ago. */
static void forget_one(struct http_feeds *all)
{
    size_t idle = 0, oldest = 0;
    for (size_t i = 0; i < all->list.len; i++)
        if (is_idle(all->list.items[i]) &&
            (idle++ == 0 || all->list.items[i]->used < all->list.items[oldest]->used))
            oldest = i;
    if (idle <= HTTP_FEEDS_IDLE)
        return;
    feed_free(all->list.items[oldest]);
    vec_remove(&all->list, oldest, 1);
}

struct http_feed *http_feed_get(struct http_feeds *all, const char *session)
{
    struct http_feed *f = http_feed_find(all, session);
    if (f)
        return f;
    forget_one(all);
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

static void number(struct http_feed *f, int64_t seq)
{
    if (seq != f->last + 1) {
        forget_frames(f, f->frames.len);
        f->base = seq - 1;
        f->breaks++;
    }
    f->last = seq;
}

void http_feed_add(struct http_feeds *all, struct http_feed *f, struct http_frame *frame)
{
    size_t old = 0;
    f->used = ++all->uses;
    if (frame->seq > 0)
        number(f, frame->seq);
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

struct http_frame *http_feed_at(const struct http_feed *f, uint64_t place)
{
    uint64_t i = place - f->first;
    return i < f->frames.len ? f->frames.items[i] : NULL;
}

uint64_t http_feed_behind(const struct http_feed *f, int64_t seq)
{
    size_t i = f->frames.len;
    while (i > 0 && (f->frames.items[i - 1]->seq == 0 || f->frames.items[i - 1]->seq > seq))
        i--;
    return f->first + i;
}

void http_feed_join(struct http_feed *f, void *reader)
{
    vec_push(&f->readers, reader);
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
