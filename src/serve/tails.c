#include "serve/tails.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"

/* Where a piece ends in the joined text. */
struct piece {
    int64_t seq, wall_ms;
    size_t end;
};

struct tail {
    char session[UUID_LEN + 1];
    int64_t kept;
    enum event_type type; /* of the pieces, as what follows */
    int count, limit;
    struct buf text;
    VEC(struct piece) pieces;
};

struct tails {
    VEC(struct tail) items; /* of running turns */
};

struct tails *tails_new(void)
{
    return mem_alloc(sizeof(struct tails));
}

static void release(struct tail *t)
{
    buf_release(&t->text);
    vec_release(&t->pieces);
}

void tails_free(struct tails *t)
{
    for (size_t i = 0; t && i < t->items.len; i++)
        release(&t->items.items[i]);
    if (t)
        vec_release(&t->items);
    free(t);
}

static struct tail *find(const struct tails *t, const char *session)
{
    for (size_t i = 0; i < t->items.len; i++)
        if (strcmp(t->items.items[i].session, session) == 0)
            return &t->items.items[i];
    return NULL;
}

static struct tail *add(struct tails *t, const char *session)
{
    struct tail tail = {.text = BUF_INIT};
    memcpy(tail.session, session, sizeof tail.session);
    vec_push(&t->items, tail);
    return &vec_last(&t->items);
}

static void drop(struct tails *t, const char *session)
{
    struct tail *gone = find(t, session);
    if (!gone)
        return;
    release(gone);
    vec_remove(&t->items, (size_t)(gone - t->items.items), 1);
}

static void begin(struct tail *t, int64_t kept)
{
    t->kept = kept;
    buf_clear(&t->text);
    vec_clear(&t->pieces);
}

/* Deltas of one kind are one text; when another kind begins, the log has them. */
static void add_piece(struct tail *t, const struct event *ev)
{
    bool goes_on = t->type == ev->type && t->count == ev->count && t->limit == ev->limit;
    if (!goes_on && t->pieces.len > 0)
        begin(t, vec_last(&t->pieces).seq);
    t->type = ev->type;
    t->count = ev->count;
    t->limit = ev->limit;
    buf_addstr(&t->text, ev->text ? ev->text : "");
    vec_push(&t->pieces, (struct piece){ev->seq, ev->wall_ms, t->text.len});
}

static void note_event(struct tails *t, const struct event *ev)
{
    struct tail *tail = find(t, ev->session_id);
    if (!tail)
        tail = add(t, ev->session_id);
    if (event_is_delta(ev->type))
        add_piece(tail, ev);
    else
        begin(tail, ev->seq);
}

void tails_note(struct tails *t, const struct notice *n)
{
    if (n->type == NOTICE_EVENT)
        note_event(t, n->event);
    else if (n->type == NOTICE_BUSY && !n->flag)
        drop(t, n->session);
}

int64_t tails_kept(const struct tails *t, const char *session)
{
    const struct tail *tail = find(t, session);
    return tail ? tail->kept : 0;
}

struct event *tails_after(const struct tails *t, const char *session, int64_t after)
{
    const struct tail *tail = find(t, session);
    size_t first = 0;
    while (tail && first < tail->pieces.len && tail->pieces.items[first].seq <= after)
        first++;
    if (!tail || first == tail->pieces.len)
        return NULL;
    const struct piece *last = &vec_last(&tail->pieces);
    size_t begins = first > 0 ? tail->pieces.items[first - 1].end : 0;
    struct event *ev = event_new(tail->type);
    ev->seq = last->seq;
    ev->wall_ms = last->wall_ms;
    ev->count = tail->count;
    ev->limit = tail->limit;
    ev->text = mem_strndup(tail->text.data + begins, tail->text.len - begins);
    memcpy(ev->session_id, tail->session, sizeof ev->session_id);
    return ev;
}
