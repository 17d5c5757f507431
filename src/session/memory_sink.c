#include "session/memory_sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "compact/shorten.h"
#include "store/event_log.h"

/* What is indexed at a time: of all that a long conversation drops, memory has but this. */
#define BATCH_BYTES ((size_t)1024 * 1024)

struct dropped_entries {
    VEC(struct memory_entry) items;
    size_t bytes;
};

/* As the tool gave it, whatever earlier compactions left. NULL: the log does not say. */
static bool whole_result(struct store *s, const char *session_id, const struct message *m,
                         const struct block *b, char **text, struct error *e)
{
    *text = NULL;
    return !compact_is_shortened(b->text) ||
           event_log_tool_result(s, session_id, m->seq, b->id, text, e);
}

static bool add_results(struct buf *out, struct store *s, const char *session_id,
                        const struct message *m, struct error *e)
{
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        char *whole;
        if (b->type != BLOCK_TOOL_RESULT || !b->text)
            continue;
        if (!whole_result(s, session_id, m, b, &whole, e))
            return false;
        if (out->len > 0)
            buf_addstr(out, "\n\n");
        buf_addstr(out, whole ? whole : b->text);
        free(whole);
    }
    return true;
}

static bool is_wanted(const struct memory_sink *s, const struct message *m)
{
    if (m->summary)
        return false;
    return m->role == ROLE_USER || m->role == ROLE_ASSISTANT ||
           (m->role == ROLE_TOOL && s->tool_results);
}

/* When it was said, as the log has it. */
static bool time_of(struct store *s, const char *session_id, const struct message *m, int64_t *ms,
                    struct error *e)
{
    *ms = 0;
    if (m->seq > 0 && !event_log_time(s, session_id, m->seq, ms, e))
        return false;
    if (*ms == 0)
        *ms = clock_wall_ms();
    return true;
}

static bool add_entry(struct dropped_entries *out, struct store *s, const char *session_id,
                      const struct message *m, struct error *e)
{
    struct memory_entry entry = {.role = m->role, .turn = m->turn, .seq = m->seq};
    struct buf results = BUF_INIT;
    if (!time_of(s, session_id, m, &entry.created_ms, e) ||
        (m->role == ROLE_TOOL && !add_results(&results, s, session_id, m, e))) {
        buf_release(&results);
        return false;
    }
    entry.content = m->role == ROLE_TOOL ? buf_take(&results) : message_text(m);
    vec_push(&out->items, entry);
    out->bytes += strlen(entry.content);
    return true;
}

static bool read_entry(struct dropped_entries *out, struct store *s, const struct discard *d,
                       size_t i, struct error *e)
{
    struct message room;
    const struct message *m = message_whole(d->source, d->messages[i], &room);
    bool ok = m->row == 0;
    if (ok)
        ok = add_entry(out, s, d->session_id, m, e);
    else
        *e = d->source->fault;
    message_release(&room);
    return ok;
}

static void forget(struct dropped_entries *dropped)
{
    for (size_t i = 0; i < dropped->items.len; i++)
        memory_entry_release(&dropped->items.items[i]);
    vec_release(&dropped->items);
    dropped->bytes = 0;
}

/* What was collected so far. */
static bool index_batch(const struct memory_sink *sink, const struct discard *d,
                        struct dropped_entries *dropped, int *entries, struct error *e)
{
    int stored = 0;
    bool ok = sink->memory->ops->index(sink->memory, d->session_id, d->completed_seq,
                                       dropped->items.items, dropped->items.len, &stored, e);
    *entries += stored;
    forget(dropped);
    return ok;
}

static bool sink_index(void *context, struct store *s, const struct discard *d, int *entries,
                       struct error *e)
{
    const struct memory_sink *sink = context;
    struct dropped_entries dropped = {0};
    bool ok = true;
    *entries = 0;
    for (size_t i = 0; i < d->count && ok; i++) {
        if (is_wanted(sink, d->messages[i]))
            ok = read_entry(&dropped, s, d, i, e);
        if (ok && dropped.bytes >= BATCH_BYTES)
            ok = index_batch(sink, d, &dropped, entries, e);
    }
    ok = ok && index_batch(sink, d, &dropped, entries, e);
    forget(&dropped);
    return ok;
}

static bool sink_withdraw(void *context, struct store *s, const char *session_id,
                          int64_t completed_seq, struct error *e)
{
    const struct memory_sink *sink = context;
    (void)s; /* the memory is on it */
    return sink->memory->ops->withdraw(sink->memory, session_id, completed_seq, e);
}

void memory_sink_init(struct memory_sink *s, struct memory *memory, const struct config *config)
{
    *s = (struct memory_sink){
        .sink = {.index = sink_index, .withdraw = sink_withdraw, .context = s},
        .memory = memory,
        .tool_results = config_boolean(config, CONFIG_MEMORY_TOOL_RESULTS),
    };
}
