#include "session/compaction_operations.h"

#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "chat/usage.h"
#include "memory/quoting.h"
#include "session/capability.h"
#include "session/session_operations.h"
#include "store/event_log.h"

enum { RANGES_MOST = 100000, EVENTS_LIMIT = 200, EVENTS_MOST = 1000 };

struct range {
    int64_t first, last;
};

struct ranges {
    VEC(struct range) items;
};

struct page {
    struct compaction_ledger *out;
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
        ok = out->items.len < RANGES_MOST && read_range(v, after, before, &range);
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

bool compaction_find(struct store *s, const char *session, int64_t seq, struct event **out,
                     struct error *e)
{
    struct search search = {.seq = seq};
    if (!event_log_read(s, session, seq - 1, take_one, &search, e))
        return false;
    *out = search.found;
    return search.found ||
           err_set(e, ERR_USAGE, "event %lld is not a compaction of this session", (long long)seq);
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
    p->out->more = p->out->events.items.len == p->limit;
    if (!p->out->more)
        vec_push(&p->out->events.items, event_clone(ev));
    return !p->out->more;
}

static bool read_ranges_of(struct store *s, const char *session, const struct ranges *ranges,
                           struct page *p, struct error *e)
{
    for (size_t i = 0; i < ranges->items.len && !p->out->more; i++) {
        const struct range *r = &ranges->items.items[i];
        p->range_last = r->last;
        if (!event_log_read(s, session, r->first - 1, take_event, p, e))
            return false;
    }
    return true;
}

static bool read_page(struct store *s, const char *session, struct page *p, struct error *e)
{
    struct ranges ranges = {0};
    const struct event *completed = p->out->completed;
    bool ok = read_ranges(completed->compaction.dropped, completed->seq, &ranges)
                  ? read_ranges_of(s, session, &ranges, p, e)
                  : err_set(e, ERR_SESSION_STORE_ERROR,
                            "the messages that this compaction dropped cannot be read; see tiro "
                            "doctor");
    vec_release(&ranges.items);
    return ok;
}

/* --- compaction/ledger ------------------------------------------------------------------------ */

static const struct shape_field ledger_fields[] = {
    SESSION_FIELD(struct compaction_ledger_params),
    SHAPE_FIELD("seq", INTEGER, REQUIRED, SHAPE_AT(int64_t, struct compaction_ledger_params, seq),
                .least = 1, .most = FIGURE_MAX, .help = "Number of its compaction_completed."),
    SHAPE_FIELD("place", INTEGER, OPTIONAL,
                SHAPE_AT(int64_t, struct compaction_ledger_params, place),
                .help = "Events to pass over, those of earlier pages."),
    SHAPE_FIELD("limit", COUNT, OPTIONAL, SHAPE_AT(int, struct compaction_ledger_params, limit),
                .least = 1, .most = EVENTS_MOST, .absent = EVENTS_LIMIT, .help = "Events."),
    {0},
};
static const struct shape ledger_shape = {.name = "parameters",
                                          .size = sizeof(struct compaction_ledger_params),
                                          .fields = ledger_fields,
                                          .closed = true};

static const struct shape_field ledger_result_fields[] = {
    SHAPE_FIELD("completed", OWN, REQUIRED,
                SHAPE_AT(struct event *, struct compaction_ledger, completed),
                .codec = &event_codec, .help = "The compaction, as a line of stream-json."),
    SHAPE_FIELD("events", OWN, REQUIRED,
                SHAPE_AT(struct event_list, struct compaction_ledger, events),
                .codec = &event_list_codec, .help = "What the dropped messages were made of."),
    SHAPE_FIELD("more", BOOLEAN, REQUIRED, SHAPE_AT(bool, struct compaction_ledger, more),
                .help = "There are events behind the page."),
    SHAPE_FIELD("quotes_forgotten", BOOLEAN, REQUIRED,
                SHAPE_AT(bool, struct compaction_ledger, quotes_forgotten),
                .help = "The summary quotes what memory was told to forget."),
    {0},
};
static const struct shape ledger_result_shape = {
    .name = "ledger", .size = sizeof(struct compaction_ledger), .fields = ledger_result_fields};

static bool read_ledger(struct store *s, const char *session,
                        const struct compaction_ledger_params *p, struct compaction_ledger *out,
                        struct error *e)
{
    struct page page = {.out = out, .skip = p->place, .limit = (size_t)p->limit};
    return compaction_find(s, session, p->seq, &out->completed, e) &&
           read_page(s, session, &page, e) &&
           (!capability_memory() || quoting_flagged(s, session, p->seq, &out->quotes_forgotten, e));
}

static bool run_ledger(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct compaction_ledger_params *p = params;
    struct session_info info = {0};
    bool ok = catalog_find(&c->catalog, p->session, &info, e) &&
              read_ledger(c->catalog.store, info.id, p, result, e);
    session_info_release(&info);
    if (!ok)
        shape_release(&ledger_result_shape, result);
    return ok;
}

const struct operation operation_compaction_ledger = {
    .name = "compaction/ledger",
    .summary = "Gives a page of what the messages that a compaction dropped were made of.",
    .authority = AUTHORITY_CLIENT,
    .params = &ledger_shape,
    .result = &ledger_result_shape,
    .executor = OPERATION_READ,
    .run = run_ledger,
};
