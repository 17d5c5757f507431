/* Passages that the model was given in a session, by the numbers that it cites them by. They stand
 * in the log as results of rag_search. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "knowledge/corpora.h"
#include "store/event_log.h"

enum { EVENTS = 3000 }; /* that are looked at, from the end on */

static char *text_of(const struct json *v, const char *name)
{
    const char *text = json_get_string(v, name);
    return text && *text ? mem_strdup(text) : NULL;
}

static void add_passage(const struct json *v, struct corpus_passages *out)
{
    int64_t number = json_get_int(v, "n", 0);
    if (json_type(v) != JSON_OBJECT || number <= 0 || number > INT32_MAX ||
        !json_get_string(v, "content") || !json_get_string(v, "file"))
        return;
    vec_push(&out->items,
             (struct corpus_passage){.number = (int)number,
                                     .document = json_get_int(v, "document", 0),
                                     .chunk = json_get_int(v, "chunk", 0),
                                     .corpus = mem_strdup("-"), /* the log does not say */
                                     .file = mem_strdup(json_get_string(v, "file")),
                                     .heading = text_of(v, "heading"),
                                     .content = mem_strdup(json_get_string(v, "content")),
                                     .line = json_get_int(v, "line", 0),
                                     .page = json_get_int(v, "page", 0),
                                     .score = json_get_number(v, "score", 0),
                                     .start = -1,
                                     .finish = -1,
                                     .vector = -1});
}

static void add_result(const struct event *ev, struct corpus_passages *out)
{
    struct json *list = ev->text ? json_parse_foreign(ev->text, strlen(ev->text), NULL) : NULL;
    const struct json *v = json_type(list) == JSON_ARRAY ? json_first(list) : NULL;
    for (; v; v = json_next(v))
        add_passage(v, out);
    json_free(list);
}

static bool is_search(const struct event *ev)
{
    return ev->type == EVENT_TOOL_EXECUTION_COMPLETED && !ev->flag && ev->name &&
           strcmp(ev->name, "rag_search") == 0;
}

/* Numbers begin anew with each message: those of the newest one that has some. */
static void take_newest(const struct event_list *events, struct corpus_passages *out)
{
    size_t from = events->items.len, end = events->items.len;
    while (from > 0 && out->items.len == 0) {
        const struct event *ev = events->items.items[--from];
        if (ev->type != EVENT_TURN_STARTED && from > 0)
            continue;
        for (size_t i = from; i < end; i++)
            if (is_search(events->items.items[i]))
                add_result(events->items.items[i], out);
        end = from;
    }
    out->total = (int64_t)out->items.len;
}

bool corpora_cited(struct corpora *c, const struct corpus_cited *query, struct corpus_passages *out,
                   struct error *e)
{
    struct event_list events = {0};
    bool more;
    *out = (struct corpus_passages){0};
    if (!event_log_tail(c->store, query->session_id, query->before, EVENTS, 0, &events, &more, e))
        return false;
    take_newest(&events, out);
    event_list_release(&events);
    return true;
}
