#include "session/memory_sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "knowledge/learned.h"
#include "session/lock.h"
#include "store/event_log.h"
#include "store/sessions.h"

/* A compaction's transaction, for which the user waits, indexes at most so many messages and about
 * so many bytes; the rest is deferred. */
enum { AT_ONCE_MESSAGES = 500 };
#define BATCH_BYTES ((size_t)1024 * 1024)

struct batch {
    const struct memory_sink *sink;
    struct store *store;
    const char *session_id;
    int64_t compaction;
    VEC(struct memory_entry) entries;
    size_t bytes;
    bool full; /* it was indexed, and begins anew */
    int stored;
};

static void forget(struct batch *b)
{
    for (size_t i = 0; i < b->entries.len; i++)
        memory_entry_release(&b->entries.items[i]);
    vec_release(&b->entries);
    b->bytes = 0;
}

/* Indexes the collected entries. */
static bool index_batch(struct batch *b, struct error *e)
{
    struct memory *m = b->sink->memory;
    int stored = 0;
    bool ok = m->ops->index(m, b->session_id, b->compaction, b->entries.items, b->entries.len,
                            &stored, e);
    b->stored += stored;
    b->full = true;
    forget(b);
    return ok;
}

/* Adds the message as it is in the log, where earlier compactions have not shortened it. */
static bool add_message(struct batch *b, int64_t seq, int64_t turn, struct error *e)
{
    struct said said;
    if (!event_log_said(b->store, b->session_id, seq, &said, e))
        return false;
    if (!said.text)
        return true;
    const struct memory_entry entry = {.role = said.role,
                                       .turn = turn,
                                       .seq = seq,
                                       .created_ms =
                                           said.wall_ms > 0 ? said.wall_ms : clock_wall_ms(),
                                       .content = said.text};
    vec_push(&b->entries, entry);
    b->bytes += strlen(entry.content);
    return b->bytes < BATCH_BYTES || index_batch(b, e);
}

/* --- the messages that a compaction drops ----------------------------------------------------- */

/* Indexes the oldest messages and leaves the rest in order; all are left if older messages of the
 * session are deferred. Messages that were said while the session had no write access stay out. */
static bool index_some(struct batch *b, const struct discard *d, struct memory_deferred *rest,
                       struct error *e)
{
    const struct memory_sink *s = b->sink;
    struct learned_locked locked;
    size_t taken = 0;
    bool waits = false;
    if (!s->memory->ops->has_deferred(s->memory, d->session_id, &waits, e) ||
        !learned_locked_read(b->store, d->session_id, &locked, e))
        return false;
    size_t room = waits ? 0 : AT_ONCE_MESSAGES;
    bool ok = true;
    for (size_t i = 0; i < d->count && ok; i++) {
        const struct message *m = d->messages[i];
        bool wanted = m->role == ROLE_USER || m->role == ROLE_ASSISTANT ||
                      (m->role == ROLE_TOOL && s->tool_results);
        if (m->summary || !wanted || learned_locked_has(&locked, m->seq))
            continue;
        if (taken++ < room && !b->full)
            ok = add_message(b, m->seq, m->turn, e);
        else {
            const struct memory_source source = {m->seq, m->turn};
            vec_push(&rest->messages, source);
        }
    }
    learned_locked_release(&locked);
    return ok && index_batch(b, e);
}

static bool sink_index(void *context, struct store *s, const struct discard *d, int *entries,
                       struct error *e)
{
    const struct memory_sink *sink = context;
    *entries = 0;
    if (sink->off || sink->closed)
        return true;
    struct batch b = {
        .sink = sink, .store = s, .session_id = d->session_id, .compaction = d->completed_seq};
    struct memory_deferred rest = {.session_id = (char *)d->session_id,
                                   .compaction = d->completed_seq};
    bool ok = index_some(&b, d, &rest, e) &&
              (rest.messages.len == 0 || sink->memory->ops->defer(sink->memory, &rest, e));
    *entries = b.stored + (int)rest.messages.len;
    forget(&b);
    vec_release(&rest.messages);
    return ok;
}

static bool sink_withdraw(void *context, struct store *s, const char *session_id,
                          int64_t completed_seq, struct error *e)
{
    const struct memory_sink *sink = context;
    (void)s; /* the memory is on it */
    return sink->memory->ops->withdraw(sink->memory, session_id, completed_seq, e);
}

static bool follow(const struct memory_sink *sink, struct store *s, const char *session_id,
                   bool anew, struct error *e)
{
    enum memory_access access;
    AUTO(log_messages_release) struct log_messages messages = {0};
    struct memory_following f = {.session_id = session_id,
                                 .messages = &messages,
                                 .tool_results = sink->tool_results,
                                 .anew = anew};
    if (!learned_access_read(s, session_id, &access, e) ||
        !event_log_last(s, session_id, &f.last, e) ||
        !event_log_messages(s, session_id, &messages, e))
        return false;
    if (anew) { /* what was said without write access stays out */
        struct learned_locked locked;
        size_t kept = 0;
        if (!learned_locked_read(s, session_id, &locked, e))
            return false;
        for (size_t i = 0; i < messages.items.len; i++)
            if (!learned_locked_has(&locked, messages.items.items[i].seq))
                messages.items.items[kept++] = messages.items.items[i];
        messages.items.len = kept;
        learned_locked_release(&locked);
    }
    f.stays_out = access != MEMORY_ACCESS_WRITE;
    /* The turn of another agent may be open for hours, and is not sent again. */
    AUTO(session_info_release) struct session_info info = {0};
    bool foreign = sessions_get(s, session_id, &info, NULL) && info.imported;
    int64_t open = foreign ? 0 : log_messages_drop_open_turn(&messages);
    if (open > 0)
        f.last = open - 1;
    return sink->memory->ops->follow(sink->memory, &f, e);
}

/* Entries of messages that were rewound go at once, as those of a turn that was sent again do when
 * the session is left; after the rewind's end all messages are read again. */
static bool sink_rewound(void *context, struct store *s, const char *session_id, bool undone,
                         struct error *e)
{
    const struct memory_sink *sink = context;
    return !sink->follows || follow(sink, s, session_id, undone, e);
}

void memory_sink_init(struct memory_sink *s, struct memory *memory, const struct config *config)
{
    *s = (struct memory_sink){
        .sink = {.index = sink_index,
                 .withdraw = sink_withdraw,
                 .context = s,
                 .rewound = sink_rewound},
        .memory = memory,
        .tool_results = config_boolean(config, CONFIG_MEMORY_TOOL_RESULTS),
        .follows = memory_follow_is_on(config),
        .off = strcmp(config_string(config, CONFIG_MEMORY_INDEX), "off") == 0,
    };
}

/* --- deferred messages ------------------------------------------------------------------------ */

static bool work(const struct memory_sink *sink, struct store *s, bool *more, struct error *e)
{
    struct memory *m = sink->memory;
    struct memory_deferred next;
    if (!m->ops->next_deferred(m, &next, e))
        return false;
    *more = next.session_id;
    struct batch b = {
        .sink = sink, .store = s, .session_id = next.session_id, .compaction = next.compaction};
    bool ok = true;
    for (size_t i = 0; *more && ok && i < next.messages.len; i++)
        ok = add_message(&b, next.messages.items[i].seq, next.messages.items[i].turn, e);
    ok = ok && (!*more || (index_batch(&b, e) && m->ops->drop_deferred(m, &next, e)));
    forget(&b);
    memory_deferred_release(&next);
    return ok;
}

bool memory_sink_work(const struct memory_sink *sink, struct store *s, bool *more, struct error *e)
{
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, work(sink, s, more, e), e);
}

/* --- sessions that were left ------------------------------------------------------------------ */

bool memory_sink_follow(const struct memory_sink *sink, struct store *s, const char *session_id,
                        struct error *e)
{
    bool began;
    return store_enter(s, &began, e) &&
           store_leave(s, began, follow(sink, s, session_id, false, e), e);
}

bool memory_follow_is_on(const struct config *config)
{
    return strcmp(config_string(config, CONFIG_MEMORY_INDEX), "sessions") == 0;
}

/* The newest session that was left. A session that another process has locked is left once it has
 * been idle for long enough; *oldest_ms is the last change of the oldest one that was looked at,
 * -1: none. */
static bool find_left(const struct memory_follow *f, int64_t since_ms, char **session_id,
                      int64_t *oldest_ms, struct error *e)
{
    struct memory_dues dues;
    *session_id = NULL;
    *oldest_ms = -1;
    if (!f->sink->memory->ops->fresh(f->sink->memory, since_ms, &dues, e))
        return false;
    for (size_t i = 0; i < dues.items.len && !*session_id; i++) {
        const char *id = dues.items.items[i].session_id;
        *oldest_ms = dues.items.items[i].updated_ms;
        if (f->directory ? lock_is_free(f->directory, id)
                         : f->has_left && f->has_left(f->context, id))
            *session_id = mem_strdup(id);
    }
    memory_dues_release(&dues);
    return true;
}

/* Takes the id. */
static bool follow_one(const struct memory_follow *f, char *session_id, bool *more, struct error *e)
{
    *more = session_id;
    bool ok = !session_id || memory_sink_follow(f->sink, f->store, session_id, e);
    free(session_id);
    return ok;
}

/* NULL: none now. */
static bool find_next(const struct memory_follow *f, char **id, int64_t *wait_ms, struct error *e)
{
    int64_t idle_since = clock_wall_ms() - FOLLOW_IDLE_MS, oldest = -1;
    *wait_ms = -1;
    if (!f->sink->memory->ops->next_idle(f->sink->memory, idle_since, id, e) ||
        (!*id && !find_left(f, idle_since, id, &oldest, e)))
        return false;
    if (!*id && oldest >= 0)
        *wait_ms = oldest - idle_since + 1;
    return true;
}

bool memory_follow_wait(const struct memory_follow *f, bool *due, int64_t *wait_ms, struct error *e)
{
    auto_free char *id = NULL;
    bool ok = find_next(f, &id, wait_ms, e);
    *due = id;
    return ok;
}

bool memory_follow_next(const struct memory_follow *f, bool *more, int64_t *wait_ms,
                        struct error *e)
{
    char *id = NULL;
    *more = false;
    return find_next(f, &id, wait_ms, e) && follow_one(f, id, more, e);
}

bool memory_follow_since(const struct memory_follow *f, int64_t since_ms, bool *more,
                         struct error *e)
{
    int64_t oldest;
    char *id;
    *more = false;
    return find_left(f, since_ms, &id, &oldest, e) && follow_one(f, id, more, e);
}
