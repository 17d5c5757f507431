#include "session/reader_dropped.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "chat/figure.h"
#include "memory/quoting.h"
#include "session/capability.h"
#include "store/event_log.h"

enum { MAX_RANGES = 100000, MAX_PAGE = 1000 };

struct range {
    int64_t first, last;
};

struct ranges {
    VEC(struct range) items;
};

struct page {
    struct notice *n;
    int64_t range_last; /* of the range that is read */
    int64_t skip;       /* events of earlier pages */
    size_t limit;
};

/* --- which events --- */

/* -1: none. JSON has doubles, and a text may have been written by anybody. */
static int64_t read_seq(const struct json *v)
{
    int64_t n = figure_from(json_number(v, -1), FIGURE_MAX);
    return n >= 1 ? n : -1;
}

/* Ranges rise, and end before the compaction that dropped them. */
static bool read_range(const struct json *v, int64_t after, int64_t before, struct range *out)
{
    const struct json *first = json_first(v);
    out->first = read_seq(first);
    out->last = read_seq(first ? json_next(first) : NULL);
    return out->first > after && out->first <= out->last && out->last < before;
}

static bool read_ranges(const char *text, int64_t before, struct ranges *out)
{
    struct json *list = text ? json_parse(text, strlen(text), NULL) : NULL;
    bool ok = json_type(list) == JSON_ARRAY;
    int64_t after = 0;
    for (const struct json *v = ok ? json_first(list) : NULL; v && ok; v = json_next(v)) {
        struct range range;
        ok = out->items.len < MAX_RANGES && read_range(v, after, before, &range);
        if (!ok)
            break;
        vec_push(&out->items, range);
        after = range.last;
    }
    json_free(list);
    return ok;
}

/* --- reading them --- */

struct search {
    int64_t seq;
    struct event *found; /* NULL: there is no such event */
};

static bool take_one(void *search, const struct event *ev)
{
    struct search *s = search;
    if (ev->seq == s->seq && ev->type == EVENT_COMPACTION_COMPLETED)
        s->found = event_clone(ev);
    return false;
}

static struct event *find_completed(struct store *s, const struct command *c, struct error *e)
{
    struct search search = {.seq = c->number};
    if (c->number <= 0 || !event_log_read(s, c->name, c->number - 1, take_one, &search, e) ||
        !search.found) {
        if (c->number <= 0 || e->code == ERR_OK)
            err_set(e, ERR_USAGE, "event %lld is not a compaction of this session",
                    (long long)c->number);
        return NULL;
    }
    return search.found;
}

/* What messages are made of, and what tells their turns and takes one back. */
static bool makes_message(enum event_type type)
{
    switch (type) {
    case EVENT_TURN_STARTED:
    case EVENT_TURN_FAILED:
    case EVENT_CALL_STARTED:
    case EVENT_TEXT_COMPLETE:
    case EVENT_REASONING_COMPLETE:
    case EVENT_TOOL_CALL_REQUESTED:
    case EVENT_TOOL_EXECUTION_COMPLETED:
        return true;
    default:
        return false;
    }
}

static bool take_event(void *page, const struct event *ev)
{
    struct page *p = page;
    if (ev->seq > p->range_last)
        return false;
    if (!makes_message(ev->type))
        return true;
    if (p->skip > 0) {
        p->skip--;
        return true;
    }
    if (p->n->events.len == p->limit) {
        p->n->flag = true;
        return false;
    }
    vec_push(&p->n->events, event_clone(ev));
    return true;
}

static bool read_page(struct store *s, const struct command *c, const struct ranges *ranges,
                      struct page *p, struct error *e)
{
    for (size_t i = 0; i < ranges->items.len && !p->n->flag; i++) {
        const struct range *r = &ranges->items.items[i];
        p->range_last = r->last;
        if (!event_log_read(s, c->name, r->first - 1, take_event, p, e))
            return false;
    }
    return true;
}

static int64_t place_of(const struct command *c)
{
    long long place = c->text ? strtoll(c->text, NULL, 10) : 0;
    return place > 0 ? place : 0;
}

/* Whether its summary quotes what was forgotten. */
static bool read_flag(struct store *s, const struct command *c, struct notice *n, struct error *e)
{
    bool flagged = false;
    if (capability_memory() && !quoting_flagged(s, c->name, c->number, &flagged, e))
        return false;
    n->stats.flagged = flagged;
    return true;
}

bool reader_dropped(struct store *s, const struct command *c, struct notice *n, struct error *e)
{
    struct ranges ranges = {0};
    struct event *completed = find_completed(s, c, e);
    if (!completed)
        return false;
    struct page page = {.n = n,
                        .skip = place_of(c),
                        .limit = c->limit > 0 && c->limit < MAX_PAGE ? (size_t)c->limit : MAX_PAGE};
    n->number = c->number;
    bool ok = read_ranges(completed->compaction.dropped, completed->seq, &ranges)
                  ? read_page(s, c, &ranges, &page, e)
                  : err_set(e, ERR_SESSION_STORE_ERROR,
                            "the messages that this compaction dropped cannot be read; see tiro "
                            "doctor");
    ok = ok && read_flag(s, c, n, e);
    n->event = completed;
    vec_release(&ranges.items);
    return ok;
}
