/* The point where a fork leaves its session: the pure function. */
#include "base/entropy.h"
#include "chat/history.h"
#include "chat/session_info.h"
#include "session/catalog.h"
#include "store/event_log.h"
#include "tests/kept.h"
#include "tests/record.h"
#include "tests/suite.h"

/* A log as letters, numbered from 1; '.' is a number that the log leaves out. An R retries the run
 * before it. Texts are the letter and the number. */
static const struct {
    char letter;
    enum event_type type;
} letters[] = {
    {'U', EVENT_TURN_STARTED},
    {'R', EVENT_TURN_STARTED},
    {'T', EVENT_CALL_STARTED},
    {'d', EVENT_TEXT_DELTA},
    {'t', EVENT_TEXT_COMPLETE},
    {'q', EVENT_REASONING_COMPLETE},
    {'c', EVENT_TOOL_CALL_REQUESTED},
    {'x', EVENT_CALL_COMPLETED},
    {'r', EVENT_TOOL_EXECUTION_COMPLETED},
    {'w', EVENT_WARNING},
    {'E', EVENT_TURN_COMPLETED},
    {'F', EVENT_TURN_FAILED},
    {'I', EVENT_INTERRUPTED},
    {'s', EVENT_COMPACTION_STARTED},
    {'K', EVENT_COMPACTION_COMPLETED},
    {'M', EVENT_COMPACTION_COMPLETED}, /* by hand */
    {'Z', EVENT_COMPACTION_UNDONE},
};

static enum event_type type_of(char letter)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter)
            return letters[i].type;
    fail_msg("no event for '%c'", letter);
    return EVENT_WARNING;
}

static bool has_text(enum event_type type)
{
    return type != EVENT_CALL_STARTED && type != EVENT_CALL_COMPLETED &&
           type != EVENT_INTERRUPTED && type != EVENT_COMPACTION_STARTED &&
           type != EVENT_COMPACTION_UNDONE;
}

static struct fork_point look_through(struct fork_point p, const char *log)
{
    int64_t run_seq = 0;
    bool more = true;
    for (int64_t seq = 1; more && log[seq - 1]; seq++) {
        char letter = log[seq - 1];
        if (letter == '.')
            continue;
        AUTO(event_free_local) struct event *ev = event_new(type_of(letter));
        ev->seq = seq;
        if (letter == 'M')
            ev->compaction.trigger = mem_strdup("manual");
        if (has_text(ev->type))
            ev->text = mem_printf("%c%d", letter, (int)seq);
        ev->number = letter == 'R' ? run_seq : 0;
        if (ev->type == EVENT_TURN_STARTED)
            run_seq = seq;
        more = fork_point_look(&p, ev);
    }
    fork_point_end(&p);
    return p;
}

static struct fork_point point_in(const char *log, int64_t at)
{
    struct fork_point p;
    fork_point_begin(&p, at, 0);
    return look_through(p, log);
}

static const struct {
    const char *log;
    int64_t at, last;
    bool open;
    const char *draft;
} cuts[] = {
    /* All of it. */
    {"", 0, 0, false, NULL},
    {"UTtxE", 0, 5, false, NULL},
    {"UTtxEUTtxE", 0, 10, false, NULL},
    {"UTtI", 0, 4, false, NULL},
    {"UTtxEw", 0, 6, false, NULL},
    /* An answer, with the end of its run. */
    {"UTtxE", 3, 5, false, NULL},
    {"UTtxE", 5, 5, false, NULL},
    {"UTtxwE", 3, 6, false, NULL},
    {"UTtxEUTtxE", 2, 5, false, NULL},
    {"UTtxEUTtxE", 5, 5, false, NULL},
    {"UTtxEUTtxE", 8, 10, false, NULL},
    {"UTtxEwUTtxE", 3, 6, false, NULL},
    {"UTcxrTtxF", 8, 9, false, NULL},
    /* Numbers that the log leaves out belong to where they would stand. */
    {"UT..txE", 3, 7, false, NULL},
    {"U..TtxE", 3, 0, false, "U1"},
    /* A user's message. */
    {"UTtxE", 1, 0, false, "U1"},
    {"UwTtxE", 2, 0, false, "U1"},
    {"UTtxEUTtxE", 6, 5, false, "U6"},
    /* Within a run. */
    {"UTcxrTtxE", 3, 4, true, NULL},
    {"UTcxwrTtxE", 5, 5, true, NULL},
    {"UTcxrrTtxE", 5, 6, true, NULL},
    {"UTcxrTtxE", 7, 9, false, NULL},
    {"UTtcxrTcxrTtxE", 8, 9, true, NULL},
    /* A run that runs, or that a crash ended. */
    {"UTtx", 0, 4, true, NULL},
    {"UTt", 0, 3, true, NULL},
    {"UTcxrTd", 0, 5, true, NULL},
    {"UTcxrTd", 7, 5, true, NULL},
    {"UTcxrTqx", 0, 5, true, NULL},
    {"UTd", 0, 0, false, "U1"},
    {"UTqx", 3, 0, false, "U1"},
    {"UTtxEUTd", 0, 5, false, "U6"},
    {"UTtxEUTdUTtxE", 0, 13, false, NULL},
    {"UTtxEUTdUTtxE", 9, 5, false, "U9"},
    {"UTtxEUTdUTtxE", 7, 5, false, "U6"},
    {"UTtxUTtxE", 3, 4, true, NULL},
    {"UTtxUTtxE", 5, 0, false, "U5"},
    /* A turn without an answer. */
    {"UF", 0, 0, false, "U1"},
    {"UTtxEUTF", 0, 5, false, "U6"},
    {"UTtxEUTF", 8, 5, false, "U6"},
    {"UTtxEUTdI", 0, 5, false, "U6"},
    {"UTFUTtxE", 2, 0, false, "U1"},
    /* Retried. */
    {"UTtxERTtxE", 0, 10, false, NULL},
    {"UTtxERTtxE", 6, 0, false, "R6"},
    {"UTtxEUTtxERTtxE", 11, 5, false, "R11"},
    {"UTtxEUTFRTFRTtxE", 12, 5, false, "R12"},
    {"UTtxERTF", 0, 0, false, "R6"},
    /* With compactions: they are no messages. */
    {"UTtxEsMUTtxE", 0, 12, false, NULL},
    {"UTtxEsMUTtxE", 3, 7, false, NULL},
    {"UsKTtxE", 0, 7, false, NULL},
    {"UsKTtxE", 3, 0, false, "U1"},
    {"UTcxrsKTtxE", 5, 7, true, NULL},
    {"UTtxEUTcxrsK", 0, 12, true, NULL},
    {"UTtxEUsK", 0, 5, false, "U6"},
    /* Compacted by hand after a crash: the run is taken back. */
    {"UTtxEUTtsM", 0, 10, false, NULL},
    {"UTtxEUM", 0, 7, false, NULL},
    {"UTtxEUZ", 0, 7, false, NULL},
};

static const struct {
    const char *log;
    int64_t before, last;
    const char *draft;
} compacted[] = {
    {"UTtxEsM", 7, 5, NULL},          {"UTtxEsMUTtxE", 7, 5, NULL},
    {"UTtxEUsKTtxE", 8, 5, "U6"},     {"UTtxEUTcxrsKTtxE", 12, 5, "U6"},
    {"UsKTtxE", 3, 0, "U1"},          {"UTtxERTcxrsKTtxE", 12, 0, "R6"},
    {"UTtxEsMUTtxEsM", 14, 12, NULL}, {"UTtxEswwsM", 10, 8, NULL},
    {"UTtxEM", 6, 5, NULL},
};

TEST(test_cuts)
{
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        AUTO(fork_point_release) struct fork_point p = point_in(cuts[i].log, cuts[i].at);
        print_message("%s at %d\n", cuts[i].log, (int)cuts[i].at);
        assert_true(p.found);
        assert_int_equal(p.last, cuts[i].last);
        assert_int_equal(p.open, cuts[i].open);
        if (cuts[i].draft) {
            assert_non_null(p.draft);
            assert_string_equal(p.draft, cuts[i].draft);
        } else {
            assert_null(p.draft);
        }
    }
}

TEST(test_before_a_compaction)
{
    for (size_t i = 0; i < sizeof compacted / sizeof *compacted; i++) {
        AUTO(fork_point_release) struct fork_point p = {0};
        fork_point_begin(&p, 0, compacted[i].before);
        p = look_through(p, compacted[i].log);
        print_message("%s before %d\n", compacted[i].log, (int)compacted[i].before);
        assert_true(p.found);
        assert_false(p.open);
        assert_int_equal(p.last, compacted[i].last);
        assert_int_equal(p.draft != NULL, compacted[i].draft != NULL);
        if (p.draft)
            assert_string_equal(p.draft, compacted[i].draft);
    }
}

TEST(test_what_is_not_in_the_log)
{
    static const int64_t places[] = {6, 100, -1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        AUTO(fork_point_release) struct fork_point p = point_in("UTtxE", places[i]);
        assert_false(p.found);
        assert_int_equal(p.last, 0);
        assert_null(p.draft);
    }
}

TEST(test_it_stops_looking)
{
    AUTO(fork_point_release) struct fork_point p = {0};
    AUTO(event_free_local) struct event *ev = event_new(EVENT_TURN_STARTED);
    fork_point_begin(&p, 1, 0);
    ev->seq = 1;
    assert_true(fork_point_look(&p, ev));
    ev->seq = 2;
    assert_false(fork_point_look(&p, ev));
}

/* --- any log ---------------------------------------------------------------------------------- */

struct prefix {
    int64_t last;
    struct history history;
    struct session_info tally;
};

static bool take_along(void *context, const struct event *ev)
{
    struct prefix *prefix = context;
    if (ev->seq > prefix->last)
        return false;
    history_apply(&prefix->history, ev);
    session_tally(&prefix->tally, ev);
    return true;
}

static size_t count_blocks(const struct message *m, enum block_type type)
{
    size_t count = 0;
    for (size_t i = 0; i < m->blocks.len; i++)
        count += m->blocks.items[i].type == type;
    return count;
}

static void pass_over_undone_until(const char *id, struct prefix *prefix)
{
    struct undone_list undone;
    assert_true(event_log_undone(store, id, &undone, &e));
    for (size_t i = 0; i < undone.items.len; i++)
        if (undone.items.items[i].seq <= prefix->last)
            history_pass_over(&prefix->history, &undone.items.items[i].of, 1);
    vec_release(&undone.items);
}

static void check_cut(const struct record *r, int64_t at)
{
    AUTO(fork_point_release) struct fork_point p = {0};
    struct prefix prefix = {0};
    fork_point_begin(&p, at, 0);
    assert_true(event_log_read(store, r->info.id, 0, fork_point_look, &p, &e));
    fork_point_end(&p);
    assert_true(p.found);
    history_init(&prefix.history);
    session_info_init(&prefix.tally);
    prefix.last = p.last;
    pass_over_undone_until(r->info.id, &prefix);
    assert_true(event_log_read(store, r->info.id, 0, take_along, &prefix, &e));
    if (p.open) {
        AUTO(event_free_local) struct event *end = event_new(EVENT_TURN_COMPLETED);
        end->seq = p.last + 1;
        history_apply(&prefix.history, end);
    }
    /* Fails the test where a provider would refuse the history. */
    const struct history *h = &prefix.history;
    assert_false(h->running);
    for (size_t i = 0; i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        size_t calls = count_blocks(m, BLOCK_TOOL_CALL);
        if (calls > 0) {
            assert_true(i + 1 < h->messages.len);
            assert_int_equal(m[1].role, ROLE_TOOL);
            assert_int_equal(count_blocks(&m[1], BLOCK_TOOL_RESULT), calls);
        }
        if (m->role == ROLE_TOOL)
            assert_true(i > 0 && count_blocks(m - 1, BLOCK_TOOL_CALL) > 0);
    }
    assert_int_equal(p.tally.last_seq, p.last);
    assert_int_equal(p.tally.messages, prefix.tally.messages);
    assert_int_equal(p.tally.turns, prefix.tally.turns);
    assert_int_equal(p.tally.tool_calls, prefix.tally.tool_calls);
    assert_int_equal(p.tally.run_ms, prefix.tally.run_ms);
    assert_int_equal(p.tally.usage.output, prefix.tally.usage.output);
    assert_true(p.tally.cost == prefix.tally.cost);
    history_release(&prefix.history);
    session_info_release(&prefix.tally);
}

FIXTURE(kept_setup, kept_teardown);

TEST(test_any_cut_of_any_log)
{
    entropy_seed(support_seed());
    for (int i = 0; i < 15; i++) {
        AUTO(record_release) struct record r = {0};
        record_begin(&r, store);
        for (size_t runs = 1 + (size_t)(entropy_unit() * 6); runs > 0; runs--)
            record_random_run(&r);
        for (int64_t at = 0; at <= r.info.last_seq; at++)
            check_cut(&r, at);
    }
}
