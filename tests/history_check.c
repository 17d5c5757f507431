#include "tests/history_check.h"

#include <sqlite3.h>

#include "base/json.h"
#include "chat/session_info.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "tests/suite.h"

/* --- a history -------------------------------------------------------------------------------- */

static size_t count_blocks(const struct message *m, enum block_type type, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < m->blocks.len; i++)
        if (m->blocks.items[i].type == type && (!id || strcmp(m->blocks.items[i].id, id) == 0))
            count++;
    return count;
}

static bool says_something(const struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if (b->type != BLOCK_REASONING && (b->type != BLOCK_TEXT || (b->text && *b->text)))
            return true;
    }
    return false;
}

/* The results that stand behind an answer are those of its calls, each as often. */
static bool calls_are_answered(const struct message *answer, const struct message *next)
{
    static const struct message none = {.role = ROLE_TOOL};
    const struct message *results = next && next->role == ROLE_TOOL ? next : &none;
    for (size_t i = 0; i < answer->blocks.len; i++) {
        const char *id = answer->blocks.items[i].id;
        if (answer->blocks.items[i].type == BLOCK_TOOL_CALL &&
            count_blocks(answer, BLOCK_TOOL_CALL, id) !=
                count_blocks(results, BLOCK_TOOL_RESULT, id))
            return false;
    }
    return count_blocks(answer, BLOCK_TOOL_CALL, NULL) ==
           count_blocks(results, BLOCK_TOOL_RESULT, NULL);
}

static const char *message_fault(const struct message *m, const struct message *before,
                                 const struct message *next)
{
    if (!before && m->role != ROLE_USER)
        return "the first message is not the user's";
    if (!says_something(m))
        return "an empty message";
    if (m->role == ROLE_TOOL &&
        (before->role != ROLE_ASSISTANT || count_blocks(before, BLOCK_TOOL_CALL, NULL) == 0))
        return "results without a call";
    if (m->role == ROLE_ASSISTANT && before->role == ROLE_ASSISTANT && !m->pinned &&
        !before->pinned)
        return "two answers in a row";
    if (m->role == ROLE_ASSISTANT && !calls_are_answered(m, next))
        return "calls and results do not pair";
    if (before && m->seq <= before->seq)
        return "numbers that do not rise";
    return NULL;
}

char *history_fault(const struct history *h)
{
    for (size_t i = 0; i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        const char *fault =
            message_fault(m, i > 0 ? m - 1 : NULL, i + 1 < h->messages.len ? m + 1 : NULL);
        if (fault)
            return mem_printf("message %zu (%s): %s", i, role_name(m->role), fault);
    }
    return NULL;
}

static char *as_text(const struct history *h, size_t i)
{
    AUTO(message_release) struct message room = {0};
    AUTO(json_free_local)
    struct json *v =
        shape_to_json(&message_shape, message_whole(h->source, &h->messages.items[i], &room));
    return json_print(v);
}

static void assert_same_text(const char *a, const char *b)
{
    assert_string_equal(a ? a : "(none)", b ? b : "(none)");
}

void assert_same_compactions(const struct history *a, const struct history *b)
{
    const struct compaction_state *one = &a->compaction, *other = &b->compaction;
    assert_int_equal(one->in_force.len, other->in_force.len);
    for (size_t i = 0; i < one->in_force.len; i++)
        assert_int_equal(one->in_force.items[i], other->in_force.items[i]);
    assert_int_equal(one->last_attempt, other->last_attempt);
    assert_int_equal(one->failures, other->failures);
    assert_int_equal(one->suspended, other->suspended);
    assert_same_text(one->failed_mode, other->failed_mode);
    assert_same_text(one->failed_model, other->failed_model);
    assert_int_equal(a->turn_shortened, b->turn_shortened);
}

void assert_same_history(const struct history *a, const struct history *b)
{
    assert_same_compactions(a, b);
    char *one = history_counters(a);
    char *other = history_counters(b);
    assert_string_equal(one, other);
    free(one);
    free(other);
    assert_int_equal(a->messages.len, b->messages.len);
    for (size_t i = 0; i < a->messages.len; i++) {
        one = as_text(a, i);
        other = as_text(b, i);
        assert_string_equal(one, other);
        free(one);
        free(other);
    }
}

/* --- a session -------------------------------------------------------------------------------- */

struct folded {
    struct history history;
    struct session_info tally;
    int64_t last_seq;
};

static bool fold(void *context, const struct event *ev)
{
    struct folded *f = context;
    assert_true(ev->seq > f->last_seq);
    f->last_seq = ev->seq;
    history_apply(&f->history, ev);
    session_tally(&f->tally, ev);
    return true;
}

static bool catch_up(void *info, const struct event *ev)
{
    session_tally(info, ev);
    return true;
}

/* For a session whose turn was cut off the row may lack counts, but every count it has comes from
 * the log. */
static void assert_same_counts(struct store *s, const char *id, const struct folded *f)
{
    struct error e = {0};
    AUTO(session_info_release) struct session_info row = {0};
    assert_ok(sessions_get(s, id, &row, &e), e);
    if (row.last_seq > f->last_seq)
        fail_msg("the row of %s knows event %lld, the log %lld", id, (long long)row.last_seq,
                 (long long)f->last_seq);
    assert_ok(event_log_read(s, id, row.last_seq, catch_up, &row, &e), e);
    int64_t messages = 0;
    int turns = 0;
    assert_ok(event_log_standing(s, id, &messages, &turns, &e), e);
    assert_int_equal(row.messages, messages);
    assert_int_equal(row.turns, turns);
    assert_int_equal(row.tool_calls, f->tally.tool_calls);
    assert_int_equal(row.run_ms, f->tally.run_ms);
    assert_int_equal(row.usage.input, f->tally.usage.input);
    assert_int_equal(row.usage.output, f->tally.usage.output);
}

void pass_over_undone(struct store *s, const char *id, struct history *h)
{
    struct error e = {0};
    struct undone_list undone;
    assert_ok(event_log_undone(s, id, &undone, &e), e);
    for (size_t i = 0; i < undone.items.len; i++)
        history_pass_over(h, &undone.items.items[i].of, 1);
    vec_release(&undone.items);
}

void assert_session_sound(struct store *s, const char *id)
{
    struct error e = {0};
    AUTO(history_release) struct history resumed = {0};
    struct folded f = {0};
    history_init(&f.history);
    session_info_init(&f.tally);
    pass_over_undone(s, id, &f.history);
    assert_ok(event_log_read(s, id, 0, fold, &f, &e), e);
    assert_ok(snapshot_resume(s, id, &resumed, &e), e);
    assert_same_history(&resumed, &f.history);
    history_drop_open_turn(&resumed);
    auto_free char *fault = history_fault(&resumed);
    if (fault)
        fail_msg("the history of %s: %s", id, fault);
    assert_same_counts(s, id, &f);
    history_release(&f.history);
    session_info_release(&f.tally);
}

/* --- a store ---------------------------------------------------------------------------------- */

struct sweep {
    struct store *store;
    size_t count;
};

static bool assert_one_sound(void *context, const char *id)
{
    struct sweep *sweep = context;
    assert_session_sound(sweep->store, id);
    sweep->count++;
    return true;
}

size_t assert_store_sound(const char *path)
{
    struct error e = {0};
    struct sweep sweep = {0};
    sqlite3 *db;
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (int i = 0; i < 2; i++) {
        const char *sql = i == 0 ? "PRAGMA integrity_check"
                                 : "SELECT 'ok' WHERE NOT EXISTS "
                                   "(SELECT 1 FROM pragma_foreign_key_check)";
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(q), SQLITE_ROW);
        assert_string_equal((const char *)sqlite3_column_text(q, 0), "ok");
        sqlite3_finalize(q);
    }
    sqlite3_close(db);
    assert_ok(store_open(path, STORE_READ_ONLY, &sweep.store, &e), e);
    assert_ok(sessions_each(sweep.store, NULL, assert_one_sound, &sweep, &e), e);
    store_close(sweep.store);
    return sweep.count;
}

/* --- an event --------------------------------------------------------------------------------- */

struct wanted {
    int64_t seq;
    const char *line;
    bool found;
};

/* A shown compaction may end with a hint at other modes ([compaction] show_settings_hint), which is
 * no part of the event. */
static bool is_shown_as(const struct event *ev, const char *shown)
{
    static const char hint[] = ",\"hint\":\"";
    auto_free char *line = event_to_line(ev);
    size_t len = strlen(line) - 1;
    bool hinted = ev->type == EVENT_COMPACTION_COMPLETED && strncmp(shown, line, len) == 0 &&
                  strncmp(shown + len, hint, strlen(hint)) == 0;
    return hinted || strcmp(shown, line) == 0;
}

static bool compare(void *context, const struct event *ev)
{
    struct wanted *w = context;
    if (ev->seq == w->seq)
        w->found = is_shown_as(ev, w->line);
    return ev->seq < w->seq;
}

bool log_has_line(struct store *s, const char *id, int64_t seq, const char *line)
{
    struct error e = {0};
    struct wanted w = {.seq = seq, .line = line};
    assert_ok(event_log_read(s, id, seq - 1, compare, &w, &e), e);
    return w.found;
}
