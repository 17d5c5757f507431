#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "chat/history_private.h"

/* ---- what is remembered of compactions ---- */

void compaction_state_init(struct compaction_state *s)
{
    *s = (struct compaction_state){.last_attempt = -1};
}

void compaction_state_release(struct compaction_state *s)
{
    vec_release(&s->in_force);
    free(s->failed_mode);
    free(s->failed_model);
    free(s->obstacle);
    compaction_state_init(s);
}

static struct compaction_state state_clone(const struct compaction_state *s)
{
    struct compaction_state copy = *s;
    copy.in_force.items = NULL;
    copy.in_force.len = copy.in_force.cap = 0;
    vec_reserve(&copy.in_force, s->in_force.len);
    for (size_t i = 0; i < s->in_force.len; i++)
        vec_push(&copy.in_force, s->in_force.items[i]);
    copy.failed_mode = mem_strdup(s->failed_mode);
    copy.failed_model = mem_strdup(s->failed_model);
    copy.obstacle = mem_strdup(s->obstacle);
    return copy;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* One that counts for nothing leaves what was counted; one by hand in another mode, or by another
 * model, does not open what is suspended. */
static bool counts(const struct compaction_state *s, const struct event *ev, bool by_hand)
{
    bool same = same_text(s->failed_mode, ev->compaction.mode) &&
                same_text(s->failed_model, ev->model);
    return ev->compaction.failures > 0 && (same || !s->suspended || !by_hand);
}

static void failed(struct compaction_state *s, const struct event *ev)
{
    s->failures = ev->compaction.failures;
    s->suspended = ev->compaction.suspended;
    free(s->failed_mode);
    free(s->failed_model);
    s->failed_mode = mem_strdup(ev->compaction.mode);
    s->failed_model = mem_strdup(ev->model);
}

static void forget_failures(struct compaction_state *s)
{
    s->failures = 0;
    s->suspended = false;
    free(s->failed_mode);
    free(s->failed_model);
    s->failed_mode = s->failed_model = NULL;
}

/* Of a completed one, undone or not: what counts is whether the model answered. */
static void judge(struct history *h, const struct event *ev)
{
    if (ev->compaction.failures == 0)
        forget_failures(&h->compaction);
    else if (counts(&h->compaction, ev, !h->running))
        failed(&h->compaction, ev);
}

/* ---- compactions that were undone ---- */

static int by_number(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

void history_pass_over(struct history *h, const int64_t *completed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vec_push(&h->undone, completed[i]);
    vec_sort(&h->undone, by_number);
}

static bool was_undone(const struct history *h, int64_t seq)
{
    return h->undone.len > 0 &&
           bsearch(&seq, h->undone.items, h->undone.len, sizeof *h->undone.items, by_number);
}

/* ---- the messages made anew ---- */

/* Whether the old message of this index stays as it is. */
static bool keeps(const struct rebuild *r, size_t index)
{
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (index >= p->first && index - p->first < p->count)
            return true;
    }
    return false;
}

static bool rewrites_fit(const struct history *h, const struct rebuild *r)
{
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        const struct message *old = p->rewrites ? &h->messages.items[p->first] : &p->made;
        if (old->role != p->made.role || old->seq != p->made.seq || old->turn != p->made.turn)
            return false;
    }
    return true;
}

/* The messages as the rebuild has them; their blocks stay where they are. */
static struct message *compose(const struct history *h, const struct rebuild *r, size_t count)
{
    struct message *out = mem_alloc((count > 0 ? count : 1) * sizeof *out);
    size_t len = 0;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        const struct message *from = p->count > 0 ? &h->messages.items[p->first] : &p->made;
        size_t n = p->count > 0 ? p->count : 1;
        memcpy(&out[len], from, n * sizeof *from);
        len += n;
    }
    return out;
}

/* What is kept elsewhere is kept by its place. */
static bool fetch_moved(struct history *h, const struct rebuild *r)
{
    size_t place = 0;
    bool ok = true;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        for (size_t k = 0; k < p->count && place != p->first; k++)
            ok = history_fetch(h, p->first + k) && ok;
        place += p->count > 0 ? p->count : 1;
    }
    return ok;
}

/* What comes after gets higher numbers and turns. */
static bool fits_behind(const struct history *h, const struct message *messages, size_t count,
                        int64_t seq)
{
    return count == 0 || (messages[count - 1].seq <= seq && messages[count - 1].turn <= h->turns);
}

static bool rebuild_fits(const struct history *h, const struct rebuild *r,
                         const struct message *messages, size_t count, int64_t seq, struct error *e)
{
    const char *what;
    if (h->running && !keeps(r, h->turn_first))
        return err_set(e, ERR_AGENT_ERROR, "a compaction takes the running turn's message");
    if (!rewrites_fit(h, r))
        return err_set(e, ERR_AGENT_ERROR, "a compaction makes another message of an old one");
    if (!history_messages_fit(messages, count, h->source, &what))
        return err_set(e, ERR_AGENT_ERROR, "the history after a compaction is none: %s", what);
    return fits_behind(h, messages, count, seq) ||
           err_set(e, ERR_AGENT_ERROR, "a compaction makes messages of events to come");
}

/* Messages at the beginning that are what they were. */
static size_t unchanged(const struct rebuild *r)
{
    const struct rebuild_part *p = r->parts.len > 0 ? &r->parts.items[0] : NULL;
    return p && p->first == 0 ? p->count : 0;
}

/* What the old messages between the kept ranges were, one run of them at a time. */
static void each_gap(const struct rebuild *r, size_t old,
                     void (*visit)(void *context, size_t first, size_t count), void *context)
{
    size_t next = 0;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (p->count == 0)
            continue;
        if (p->first > next)
            visit(context, next, p->first - next);
        next = p->first + p->count;
    }
    if (old > next)
        visit(context, next, old - next);
}

struct gaps {
    const struct message *messages;
    size_t after; /* only answers behind this one are looked for */
    bool answers;
};

static void look_for_answers(void *context, size_t first, size_t count)
{
    struct gaps *g = context;
    for (size_t i = first; i < first + count && !g->answers; i++)
        g->answers = i > g->after && g->messages[i].role == ROLE_ASSISTANT &&
                     history_has_answer(&g->messages[i]);
}

static void weigh(struct history *h, const struct rebuild *r, const struct message *messages,
                  size_t count)
{
    const int64_t *old = h->estimates.items;
    int64_t *new = mem_alloc((count > 0 ? count : 1) * sizeof *new);
    size_t len = 0;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (p->count > 0)
            memcpy(&new[len], &old[p->first], p->count * sizeof *new);
        else
            new[len] = message_estimate_tokens(&messages[len]);
        len += p->count > 0 ? p->count : 1;
    }
    h->grown = 0;
    h->estimates.items = new;
    h->estimates.len = h->estimates.cap = count;
    h->estimate = 0;
    for (size_t i = 0; i < count; i++)
        h->estimate += new[i];
}

static size_t index_of(const struct message *messages, size_t count, int64_t seq)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (messages[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Later answers begin messages of their own. */
static void follow_turn(struct history *h, const struct rebuild *r, const struct message *messages,
                        size_t count)
{
    struct gaps g = {.messages = h->messages.items, .after = h->turn_first};
    each_gap(r, h->messages.len, look_for_answers, &g);
    h->turn_shortened = h->turn_shortened || g.answers;
    h->turn_first = index_of(messages, count, h->messages.items[h->turn_first].seq);
    h->call_seq = 0;
}

/* `messages` is taken. */
static void replace(struct history *h, const struct rebuild *r, struct message *messages,
                    size_t count)
{
    size_t same = unchanged(r);
    if (h->unsaved > same && (same < h->messages.len || count > same))
        h->unsaved = same;
    weigh(h, r, messages, count);
    if (h->running)
        follow_turn(h, r, messages, count);
    h->messages.items = messages;
    h->messages.len = h->messages.cap = count;
    h->last_input = -1;
}

/* What is left of the request is known by estimate. */
static void measure(struct history *h, const struct event *ev)
{
    bool known = ev->compaction.request_after > 0;
    h->measure = REQUEST_UNMEASURED;
    if (known)
        h->measure = (struct request_measure){
            .tokens = ev->compaction.request_after, .history = h->estimate, .estimated = true};
}

bool history_compact(struct history *h, const struct event *ev, struct history_backup *b,
                     struct error *e)
{
    *b = (struct history_backup){0};
    if (!rebuild_from_json(ev->compaction.history ? ev->compaction.history : "", h->messages.len,
                           &b->rebuild, e))
        return false;
    if (!fetch_moved(h, &b->rebuild)) {
        rebuild_release(&b->rebuild);
        *e = h->source->fault;
        return false;
    }
    size_t count = rebuild_count(&b->rebuild);
    struct message *messages = compose(h, &b->rebuild, count);
    if (!rebuild_fits(h, &b->rebuild, messages, count, ev->seq, e)) {
        free(messages);
        rebuild_release(&b->rebuild);
        return false;
    }
    b->before = *h;
    h->compaction = state_clone(&b->before.compaction);
    h->applied_seq = ev->seq;
    h->compaction.last_attempt = h->calls;
    history_count_use(h, ev);
    judge(h, ev);
    vec_push(&h->compaction.in_force, ev->seq);
    replace(h, &b->rebuild, messages, count);
    measure(h, ev);
    return true;
}

static void release_gap(void *context, size_t first, size_t count)
{
    struct message *messages = context;
    for (size_t i = first; i < first + count; i++)
        message_release(&messages[i]);
}

void history_settle(struct history *h, struct history_backup *b)
{
    (void)h;
    each_gap(&b->rebuild, b->before.messages.len, release_gap, b->before.messages.items);
    vec_release(&b->before.messages);
    vec_release(&b->before.estimates);
    compaction_state_release(&b->before.compaction);
    vec_release(&b->rebuild.parts); /* what was made is the history's */
}

void history_revert(struct history *h, struct history_backup *b)
{
    vec_release(&h->messages);
    vec_release(&h->estimates);
    compaction_state_release(&h->compaction);
    rebuild_release(&b->rebuild);
    *h = b->before;
}

/* ---- the fold ---- */

static void set_obstacle(struct compaction_state *s, const char *text)
{
    free(s->obstacle);
    s->obstacle = mem_strdup(text);
}

static void completed(struct history *h, const struct event *ev)
{
    struct history_backup b;
    struct error e;
    bool undone = was_undone(h, ev->seq);
    if (!undone && history_compact(h, ev, &b, &e)) {
        history_settle(h, &b);
        return;
    }
    history_count_use(h, ev); /* it was spent all the same */
    if (undone)
        judge(h, ev);
    else
        log_line(LOG_ERROR, "compaction %lld is passed over: %s", (long long)ev->seq, e.text);
}

void history_warning(struct history *h, const struct event *ev)
{
    if (!same_text(ev->name, WARNING_NOT_COMPACTED))
        return;
    set_obstacle(&h->compaction, ev->text);
}

void history_compaction(struct history *h, const struct event *ev)
{
    if (event_between_turns(ev))
        history_drop_open_turn(h);
    h->compaction.last_attempt = h->calls;
    if (ev->type == EVENT_COMPACTION_UNDONE) { /* they are of a history that was shorter */
        h->last_input = -1;
        h->measure = REQUEST_UNMEASURED;
    }
    if (ev->type == EVENT_COMPACTION_COMPLETED)
        completed(h, ev);
    if (ev->type == EVENT_COMPACTION_FAILED) {
        history_count_use(h, ev);
        if (counts(&h->compaction, ev, !h->running))
            failed(&h->compaction, ev);
        if (same_text(ev->compaction.reason, "too_small"))
            set_obstacle(&h->compaction, ev->text);
    }
}
