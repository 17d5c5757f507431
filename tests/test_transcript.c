/* The transcript: what events become, and a view that stays where it is. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "chat/event.h"
#include "tests/seen.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "tests/told.h"
#include "ui/transcript/transcript.h"

static struct transcript *t; /* of the test */

static int new_transcript(void **state)
{
    (void)state;
    t = transcript_new();
    transcript_resize(t, 40, 20);
    return 0;
}

static int free_transcript(void **state)
{
    (void)state;
    transcript_free(t);
    return 0;
}

/* --- events --- */

static bool say(enum event_type type, int64_t seq, const char *text)
{
    return told(t, told_event(type, seq, text));
}

static struct event *call_of(int64_t seq, const char *id, const char *name, const char *args)
{
    struct event *ev = EV(TOOL_CALL_REQUESTED, seq, args);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(name);
    return ev;
}

static struct event *result_of(int64_t seq, const char *id, const char *text, bool failed)
{
    struct event *ev = EV(TOOL_EXECUTION_COMPLETED, seq, text);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup("read_file");
    ev->flag = failed;
    ev->number = 35;
    return ev;
}

static struct event *retry_of(int64_t seq, const char *text, int64_t of)
{
    struct event *ev = EV(TURN_STARTED, seq, text);
    ev->number = of;
    return ev;
}

static struct event *partial_of(int64_t seq, const char *text)
{
    struct event *ev = EV(TEXT_COMPLETE, seq, text);
    ev->flag = true;
    return ev;
}

/* A run of three events, from `seq` on. */
static void exchange(int64_t seq, const char *question, const char *answer)
{
    tell(t, EV(TURN_STARTED, seq, question), EV(TEXT_COMPLETE, seq + 1, answer),
         EV(TURN_COMPLETED, seq + 2, answer));
}

/* --- drawing --- */

static void first_row(const char *wanted)
{
    char *got = support_keep(seen_transcript(t));
    got[strcspn(got, "\n")] = '\0';
    assert_string_equal(got, wanted);
}

/* "row 1" to "row 30" */
static const char *thirty_rows(void)
{
    struct buf text = BUF_INIT;
    for (int i = 1; i <= 30; i++)
        buf_addf(&text, "row %d\n\n", i);
    return support_keep(buf_take(&text));
}

/* --- items --- */

BEFORE_ALL(support_utf8);
FIXTURE(new_transcript, free_transcript);

TEST(a_run_is_question_and_answer)
{
    exchange(1, "hello\nthere", "**Hi**, you");
    seen_transcript_is(t, "\nyou\n│ hello\n│ there\n\ntiro\n  Hi, you\n");
}

TEST(deltas_make_the_answer)
{
    say(EVENT_TURN_STARTED, 1, "q");
    assert_false(say(EVENT_CALL_STARTED, 2, NULL));
    assert_false(say(EVENT_TEXT_DELTA, 0, "\n\n"));
    assert_true(say(EVENT_TEXT_DELTA, 0, "caf\xc3"));
    assert_true(say(EVENT_TEXT_DELTA, 0, "\xa9 \x1b[31m\r"));
    assert_true(say(EVENT_TEXT_DELTA, 0, "\n\nend"));
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  café ␛[31m\n\n  end\n");
    assert_string_equal(transcript_last_answer(t), "café ␛[31m\n\nend");
    assert_true(say(EVENT_TEXT_COMPLETE, 3, "\n\ncafé \x1b[31m\r\n\nend"));
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  café ␛[31m\n\n  end\n");
    assert_string_equal(transcript_last_answer(t), "café ␛[31m\n\nend");
}

TEST(complete_text_wins_over_deltas)
{
    tell(t, EV(TURN_STARTED, 1, "q"), EV(TEXT_DELTA, 0, "onetwo"), EV(TEXT_COMPLETE, 2, "one"),
         EV(TEXT_COMPLETE, 3, "two"));
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  one\n\n  two\n");
}

TEST(seen_numbers_are_passed_over)
{
    exchange(1, "q", "a");
    assert_false(say(EVENT_TEXT_COMPLETE, 2, "again"));
    seen_transcript_says(t, "!again");
}

TEST(reasoning_is_folded_and_opens)
{
    tell(t, EV(TURN_STARTED, 1, "q"), EV(REASONING_DELTA, 0, "one two"));
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  ▸ reasoning…\n");
    tell(t, EV(TEXT_DELTA, 0, "answer"), EV(REASONING_COMPLETE, 2, "one two three"),
         EV(TEXT_COMPLETE, 3, "answer"));
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  ▸ reasoning · 3 words\n  answer\n");
    assert_true(transcript_toggle(t, 1));
    seen_transcript_is(
        t, "\nyou\n│ q\n\ntiro\n  ▾ reasoning · 3 words\n  │ one two three\n  answer\n");
    assert_false(transcript_toggle(t, 0));
    assert_false(transcript_toggle(t, 2));
    assert_false(transcript_toggle(t, 99));
    transcript_toggle(t, 1);
    transcript_set_reasoning(t, REASONING_OPEN);
    seen_transcript_says(t, "│ one two three");
    transcript_set_reasoning(t, REASONING_HIDDEN);
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  answer\n");
}

TEST(open_reasoning_streams)
{
    transcript_set_reasoning(t, REASONING_OPEN);
    tell(t, EV(TURN_STARTED, 1, "q"), EV(REASONING_DELTA, 0, "one"));
    seen_transcript_says(t, "  ▾ reasoning…\n  │ one\n");
    say(EVENT_REASONING_DELTA, 0, " two");
    seen_transcript_says(t, "  ▾ reasoning…\n  │ one two\n");
    say(EVENT_REASONING_COMPLETE, 2, "one two");
    seen_transcript_says(t, "  ▾ reasoning · 2 words\n  │ one two\n");
}

TEST(tool_calls_are_one_line)
{
    transcript_resize(t, 60, 20);
    tell(t, EV(TURN_STARTED, 1, "q"),
         call_of(2, "c1", "read_file", "{\"path\":\"a\\u001b[1m.c\",\"n\":2}"));
    seen_transcript_says(t, "tiro\n  ▤ read_file “a␛[1m.c” …\n");
    told(t, result_of(3, "c1", "line\nline\n", false));
    seen_transcript_says(t, "  ▤ read_file “a␛[1m.c” → 2 lines · 35 ms\n");
    tell(t, call_of(4, "c2", "other", "{}"), result_of(5, "c2", "no such\nfile", true));
    seen_transcript_says(t, "  ⚙ other ✗ no such\n");
    assert_true(transcript_toggle(t, 1));
    seen_transcript_says(t, "    n: 2\n", "!\"path\"", "    line\n    line\n");
    transcript_toggle_all(t);
    seen_transcript_says(t, "    no such\n    file\n");
    transcript_toggle_all(t);
    seen_transcript_says(t, "!    no such");
}

#define EDIT call_of(2, "c1", "write_file", "{\"content\":\"one\\ntwo\\n\",\"path\":\"a.txt\"}")

TEST(an_edit_tells_its_difference_and_no_json)
{
    transcript_resize(t, 60, 20);
    tell(t, EV(TURN_STARTED, 1, "q"), EDIT);
    transcript_set_difference(t, "c1", "--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n-on\n+one\n+two\n");
    transcript_set_difference(t, "other", "");
    told(t, result_of(3, "c1", "wrote 8 bytes, 2 lines", false));
    seen_transcript_says(t, "write_file “a.txt” → +2 -1 · 35 ms\n", "!@@");
    transcript_toggle(t, 1);
    seen_transcript_says(t, "    @@ -1 +1,2 @@\n    -on\n    +one\n    +two\n", "!content",
                         "!wrote");
}

/* The log has no difference, so the transcript shows the new text. */
TEST(an_edit_without_difference_tells_its_text)
{
    transcript_resize(t, 60, 20);
    tell(t, EV(TURN_STARTED, 1, "q"), EDIT, result_of(3, "c1", "wrote 8 bytes, 2 lines", false));
    seen_transcript_says(t, "write_file “a.txt” → 1 line · 35 ms\n");
    transcript_toggle(t, 1);
    seen_transcript_says(t, "    content: one\n    two\n", "    path: a.txt\n", "!{");
}

TEST(an_edit_that_was_declined_has_no_difference)
{
    transcript_resize(t, 60, 20);
    tell(t, EV(TURN_STARTED, 1, "q"), EDIT);
    transcript_set_difference(t, "c1", "@@ -1 +1 @@\n-on\n+one\n");
    told(t, result_of(3, "c1", "the user declined this call", true));
    transcript_toggle(t, 1);
    seen_transcript_says(t, "✗ the user declined this call\n", "!+one", "content: one");
}

TEST(arguments_within_arguments_are_lines)
{
    transcript_resize(t, 60, 20);
    tell(t, EV(TURN_STARTED, 1, "q"),
         call_of(2, "c1", "other", "{\"list\":[{\"a\":\"x\",\"b\":true},\"y\"],\"n\":1.5}"));
    transcript_toggle(t, 1);
    seen_transcript_says(
        t, "    list: \n      - \n        a: x\n        b: true\n      - y\n    n: 1.5\n");
}

TEST(a_command_that_fails_tells_its_end)
{
    static const struct {
        const char *result, *line, *below;
    } rows[] = {
        {"1\n2\n3\n4\n5\n6\n7\n[exit status 3]", "✗ exit 3 · 7 lines\n",
         "    3\n    4\n    5\n    6\n    7\n"},
        {"[exit status 1]", "✗ exit 1 · 0 lines\n", NULL},
        {"a\n[ended by signal 9]", "✗ signal 9 · 1 line\n", "    a\n"},
        {"a\n[timed out after 5 s and was ended]", "✗ timed out after 5 s · 1 line\n", "    a\n"},
        {"the user declined this call\nb", "✗ the user declined this call\n", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        transcript_clear(t);
        transcript_resize(t, 60, 20);
        tell(t, EV(TURN_STARTED, 1, "q"), call_of(2, "c1", "run_command", "{\"command\":\"make\"}"),
             result_of(3, "c1", rows[i].result, true));
        seen_transcript_says(t, rows[i].line, "!    2\n", "![");
        if (rows[i].below)
            seen_transcript_says(t, rows[i].below);
    }
}

TEST(a_search_without_a_match_says_so)
{
    static const char *const rows[][3] = {
        {"search_files", "[no match in 3 text files]\n", "→ no match ·"},
        {"rag_search", "{\"results\":[],\"note\":\"x\"}", "→ no match ·"},
        {"learned_search", "[]", "→ no match ·"},
        {"memory_search_nodes", "{\"entities\":[],\"relations\":[]}", "→ no match ·"},
        {"memory_search_nodes", "{\"entities\":[{\"name\":\"Ada\"}]}", "→ 1 match ·"},
        {"search_files", "a.c:1: x\n", "→ 1 line ·"},
        {"read_file", "[no match ", "→ 1 line ·"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        transcript_clear(t);
        transcript_resize(t, 60, 20);
        tell(t, EV(TURN_STARTED, 1, "q"), call_of(2, "c1", rows[i][0], "{}"),
             result_of(3, "c1", rows[i][1], false));
        seen_transcript_says(t, rows[i][2]);
    }
}

TEST(what_is_opened_comes_into_view)
{
    transcript_resize(t, 60, 8);
    tell(t, EV(TURN_STARTED, 1, "q"), EV(TEXT_COMPLETE, 2, "a\n\nb\n\nc\n\nd"),
         call_of(3, "c1", "read_file", "{\"path\":\"a.txt\"}"),
         result_of(4, "c1", "1\n2\n3", false));
    seen_transcript_says(t, "read_file", "  b\n");
    transcript_toggle(t, 2);
    seen_transcript_says(t, "read_file", "    path: a.txt\n    →\n", "!  b\n");
}

TEST(tool_lines_fit_any_width)
{
    size_t count;
    tell(t, EV(TURN_STARTED, 1, "q"),
         call_of(2, "c1", "memory_search", "{\"query\":\"日本 a long question for it\"}"),
         result_of(3, "c1", "a very long error text that does not fit", true));
    transcript_toggle_all(t);
    for (int width = 60; width > 0; width--) {
        transcript_resize(t, width, 50);
        const struct transcript_row *rows = transcript_rows(t, &count);
        for (size_t i = 0; i < count; i++)
            assert_true(rows_width(rows[i].rows, rows[i].index) <= (size_t)width);
    }
}

/* An event with the model's hits in memory. */
static struct event *recall_of(int64_t seq)
{
    struct event *ev = EV(MEMORY_RECALLED, seq, "sleep kyoto");
    ev->id = mem_strdup("c1");
    ev->hits = mem_strdup(
        "[{\"id\":\"a\",\"score\":0.9,\"session_id\":\"s\",\"turn\":3,"
        "\"role\":\"user\",\"created_at\":\"2026-03-09T14:05:07.000Z\","
        "\"content\":\"by the river\"}]");
    return ev;
}

static struct event *search_of(int64_t seq)
{
    return call_of(seq, "c1", "memory_search", "{\"query\":\"sleep kyoto\"}");
}

TEST(a_search_in_memory_tells_its_hits)
{
    transcript_resize(t, 80, 40);
    tell(t, search_of(2), recall_of(3), result_of(4, "c1", "[{},{}]", false));
    seen_transcript_says(t, "⌕ memory_search “sleep kyoto” → 1 match", "!by the river");
    transcript_toggle_all(t);
    seen_transcript_says(t, "by the river", "0.90 you · turn 3", "![{},{}]");
}

TEST(a_search_in_memory_across_pages_tells_them_too)
{
    transcript_resize(t, 80, 40);
    tell_earlier(t, true, recall_of(3), result_of(4, "c1", "[{},{}]", false));
    seen_transcript_says(t, "1 match");
    tell_earlier(t, false, EV(TURN_STARTED, 1, "where?"), search_of(2));
    seen_transcript_says(t, "memory_search “sleep kyoto” → 1 match");
}

TEST(long_results_are_bounded)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 5000; i++)
        buf_addf(&text, "line %d\n", i);
    tell(t, EV(TURN_STARTED, 1, "q"), call_of(2, "c1", "read_file", "{}"),
         result_of(3, "c1", text.data, false));
    transcript_toggle(t, 1);
    transcript_scroll(t, -TRANSCRIPT_ALL);
    seen_transcript_says(t, "… 4800 more lines\n");
}

TEST(ends_of_runs_are_notes)
{
    tell(t, EV(TURN_STARTED, 1, "q"), EV(TEXT_DELTA, 0, "half"), partial_of(2, "half"),
         EV(INTERRUPTED, 3, NULL));
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  half\n  — interrupted\n");
    tell(t, EV(TURN_STARTED, 4, "r"), EV(INTERRUPTED, 5, NULL), EV(TURN_STARTED, 6, "s"),
         partial_of(7, "part"), EV(TURN_FAILED, 8, "the server\nis away"));
    transcript_resize(t, 40, 14);
    seen_transcript_is(
        t,
        "\nyou\n│ r\n\n  — interrupted\n\nyou\n│ s\n\ntiro\n  part\n\n  ✗ the server\n  is away\n");
}

TEST(calls_that_a_run_leaves_get_no_result)
{
    tell(t, EV(TURN_STARTED, 1, "q"), call_of(2, "c1", "read_file", "{\"path\": \"a\"}"),
         call_of(3, "c2", "read_file", "{\"path\": \"b\"}"), result_of(4, "c1", "x", false));
    seen_transcript_says(t, "“b” …");
    say(EVENT_INTERRUPTED, 5, NULL);
    seen_transcript_says(t, "“a” → 1 line", "“b” ✗ no result");
}

TEST(graph_calls_read_as_sentences)
{
    static const struct {
        const char *tool, *args, *sentence;
    } calls[] = {
        {"memory_create_entities",
         "{\"entities\":[{\"name\":\"Ada\",\"entity_type\":\"person\",\"observations\":[]},"
         "{\"name\":\"Acme\",\"entity_type\":\"company\"}]}",
         "noted Ada (person), Acme (company) · 35 ms\n"},
        {"memory_add_observations",
         "{\"observations\":[{\"entity_name\":\"Ada\",\"contents\":[\"likes tea\",\"is 36\"]}]}",
         "noted Ada: likes tea; is 36 · 35 ms\n"},
        {"memory_create_relations",
         "{\"relations\":[{\"from\":\"Ada\",\"relation_type\":\"works at\",\"to\":\"Acme\"}]}",
         "noted Ada works at Acme · 35 ms\n"},
        {"memory_create_entities",
         "{\"entities\":[{\"name\":\"Ada\",\"entityType\":\"person\",\"observations\":[]}]}",
         "noted Ada (person) · 35 ms\n"},
        {"memory_create_relations",
         "{\"relations\":[{\"from\":\"Ada\",\"relationType\":\"works at\",\"to\":\"Acme\"}]}",
         "noted Ada works at Acme · 35 ms\n"},
        {"memory_delete_entities", "{\"entityNames\":[\"Ada\"]}", "removed Ada · 35 ms\n"},
        {"memory_delete_entities", "{\"entity_names\":[\"Ada\",\"Acme\"]}",
         "removed Ada, Acme · 35 ms\n"},
        {"memory_delete_entities", "{\"unknown\":1}", "removed {\"unknown\":1} · 35 ms\n"},
    };
    transcript_resize(t, 80, 20);
    tell(t, EV(TURN_STARTED, 1, "q"));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char *id = support_text("call %zu", i);
        tell(t, call_of(2 + 2 * (int64_t)i, id, calls[i].tool, calls[i].args),
             result_of(3 + 2 * (int64_t)i, id, "{}", false));
        seen_transcript_says(t, calls[i].sentence);
    }
}

TEST(a_reached_limit_is_said)
{
    tell(t, EV(TURN_STARTED, 1, "q"), EV(TEXT_COMPLETE, 2, "a"));
    struct event *end = EV(TURN_COMPLETED, 3, "a");
    end->stop_reason = STOP_MAX_TOKENS;
    told(t, end);
    seen_transcript_says(t, "length limit");
}

static void budget_of(int64_t seq, const char *kind, double used, double limit)
{
    struct event *ev = EV(BUDGET_WARNING, seq, NULL);
    ev->name = mem_strdup(kind);
    ev->used = used;
    ev->bound = limit;
    ev->count = 80;
    told(t, ev);
}

TEST(the_budget_warns_and_ends)
{
    transcript_resize(t, 70, 30);
    say(EVENT_TURN_STARTED, 1, "q");
    budget_of(2, "max_tokens", 8000, 10000);
    budget_of(3, "max_cost", 0.4, 0.5);
    budget_of(4, "max_turn_duration", 48, 60);
    budget_of(5, "max_\033[2J", 1e300, -1);
    struct event *end = EV(TURN_FAILED, 6, "max_tokens is reached; raise it");
    end->name = mem_strdup("BUDGET_EXHAUSTED");
    told(t, end);
    assert_says(support_keep(seen_transcript(t)), " ! 80 % of max_tokens used: 8,000 of 10,000\n",
                " ! 80 % of max_cost used: $0.40 of $0.50\n",
                " ! 80 % of max_turn_duration used: 48 of 60 seconds\n",
                "max_␛[2J used: 1e+300 of -1\n",
                "✗ The budget is used up.\n  max_tokens is reached; raise it\n");
}

TEST(a_retried_attempt_leaves_nothing)
{
    tell(t, EV(TURN_STARTED, 1, "q"), EV(TEXT_DELTA, 0, "first try"), EV(RETRYING, 2, "busy"),
         EV(TEXT_DELTA, 0, "second"));
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  second\n");
    say(EVENT_TEXT_COMPLETE, 3, "second");
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  second\n");
}

TEST(retry_takes_the_place_of_its_run)
{
    exchange(1, "first", "kept");
    transcript_note(t, STYLE_NOTE, "own note", false);
    tell(t, EV(TURN_STARTED, 4, "again"), EV(TURN_FAILED, 5, "broken"));
    transcript_note(t, STYLE_NOTE, "what to do about it", false);
    tell(t, retry_of(6, "again", 4), EV(TEXT_COMPLETE, 7, "now"));
    seen_transcript_is(
        t, "\nyou\n│ first\n\ntiro\n  kept\n\n  own note\n\nyou\n│ again\n\ntiro\n  now\n");
}

TEST(a_brief_note_leaves_with_the_next_message)
{
    exchange(1, "first", "kept");
    transcript_note(t, STYLE_NOTE, "copied", true);
    transcript_note(t, STYLE_NOTE, "own note", false);
    transcript_note(t, STYLE_NOTE, "copied again", true);
    seen_transcript_is(t,
                       "\nyou\n│ first\n\ntiro\n  kept\n\n  copied\n  own note\n  copied again\n");
    say(EVENT_TURN_STARTED, 4, "on");
    seen_transcript_is(t, "\nyou\n│ first\n\ntiro\n  kept\n\n  own note\n\nyou\n│ on\n");
    transcript_note(t, STYLE_NOTE, "of this turn", true);
    tell(t, EV(TEXT_COMPLETE, 5, "and on"), EV(TURN_COMPLETED, 6, "and on"));
    seen_transcript_is(t,
                       "\nyou\n│ first\n\ntiro\n  kept\n\n  own note\n\nyou\n│ on\n\n"
                       "  of this turn\n\ntiro\n  and on\n");
}

static struct event *end_of(int64_t seq, const char *result, enum stop_reason reason)
{
    struct event *ev = EV(TURN_COMPLETED, seq, result);
    ev->stop_reason = reason;
    return ev;
}

TEST(an_empty_answer_is_told)
{
    tell(t, EV(TURN_STARTED, 1, "q"), EV(TEXT_COMPLETE, 2, " \n"), end_of(3, " \n", STOP_END_TURN));
    seen_transcript_is(t, "\nyou\n│ q\n\n  (empty answer)\n");
    assert_null(transcript_last_answer(t)); /* it is not the model's word */
    tell(t, EV(TURN_STARTED, 4, "r"), end_of(5, "", STOP_OTHER), EV(TURN_STARTED, 6, "s"),
         end_of(7, "", STOP_REFUSAL)); /* a fork ends there */
    seen_transcript_is(t,
                       "\nyou\n│ q\n\n  (empty answer)\n\nyou\n│ r\n\nyou\n│ s\n\n"
                       "  — the model declined to answer\n");
}

/* --- pages --- */

TEST(an_open_run_of_a_resumed_session_was_cut_off)
{
    tell_earlier(t, false, EV(TURN_STARTED, 1, "q"), EV(TEXT_DELTA, 2, "half an"));
    seen_transcript_is(
        t, "\nyou\n│ q\n\ntiro\n  half an\n\n  — interrupted; /retry sends the\n  message again\n");
    tell(t, retry_of(3, "q", 1), EV(TEXT_COMPLETE, 4, "whole"));
    seen_transcript_is(t, "\nyou\n│ q\n\ntiro\n  whole\n");
}

TEST(pages_join_what_their_border_cut)
{
    tell_earlier(t, true, EV(TEXT_COMPLETE, 6, "looking"), result_of(8, "c1", "x\n", false),
                 EV(TEXT_COMPLETE, 9, "found"), EV(TURN_COMPLETED, 10, "found"));
    assert_int_equal(transcript_wants_before(t), 6);
    tell_earlier(t, false, EV(TURN_STARTED, 1, "q"), EV(TEXT_COMPLETE, 2, "so"),
                 call_of(3, "c1", "read_file", "{\"path\":\"p\"}"), EV(TEXT_DELTA, 5, "look"));
    assert_int_equal(transcript_wants_before(t), 0);
    seen_transcript_is(
        t,
        "\nyou\n│ q\n\ntiro\n  so\n\n  ▤ read_file “p” → 1 line · 35 ms\n  looking\n\n  found\n");
}

TEST(a_retry_reaches_back_over_pages)
{
    tell_earlier(t, true, EV(TURN_FAILED, 6, "broken"), retry_of(7, "again", 4),
                 EV(TEXT_COMPLETE, 8, "now"), EV(TURN_COMPLETED, 9, "now"));
    tell_earlier(t, false, EV(TURN_STARTED, 1, "first"), EV(TEXT_COMPLETE, 2, "kept"),
                 EV(TURN_COMPLETED, 3, "kept"), EV(TURN_STARTED, 4, "again"),
                 EV(TEXT_COMPLETE, 5, "lost"));
    seen_transcript_is(t, "\nyou\n│ first\n\ntiro\n  kept\n\nyou\n│ again\n\ntiro\n  now\n");
}

struct ends {
    int64_t last[8];
    size_t count;
};

static void take_end(void *context, const struct transcript_turn *turn)
{
    struct ends *ends = context;
    assert_int_equal(turn->number, ends->count + 1);
    ends->last[ends->count++] = turn->last;
}

static void assert_turns(size_t count, const int64_t *last)
{
    struct ends ends = {0};
    transcript_each_turn(t, take_end, &ends);
    assert_int_equal(ends.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ends.last[i], last[i]);
}

/* A turn reaches to where the next one began, which is where it was tried first. */
TEST(turns_are_counted_and_end_where_the_next_begins)
{
    exchange(1, "one", "first");
    exchange(4, "two", "second");
    transcript_note(t, STYLE_NOTE, "a note", false);
    assert_turns(2, (const int64_t[]){3, 6});
    tell(t, EV(TURN_STARTED, 7, "three"), EV(TURN_FAILED, 8, "broken"), retry_of(9, "three", 7),
         EV(TURN_FAILED, 10, "broken again"), retry_of(11, "three", 9));
    assert_turns(3, (const int64_t[]){3, 6, 11});
    assert_int_equal(transcript_oldest(t), 0);
}

TEST(turns_are_counted_over_pages)
{
    tell_earlier(t, true, retry_of(9, "two", 7), EV(TEXT_COMPLETE, 10, "second"),
                 EV(TURN_COMPLETED, 11, "second"));
    assert_int_equal(transcript_oldest(t), 9);
    tell_earlier(t, false, EV(TURN_STARTED, 1, "one"), EV(TEXT_COMPLETE, 2, "first"),
                 EV(TURN_COMPLETED, 3, "first"), EV(TURN_STARTED, 4, "two"),
                 EV(TURN_FAILED, 6, "broken"), retry_of(7, "two", 4),
                 EV(TURN_FAILED, 8, "broken again"));
    assert_int_equal(transcript_oldest(t), 0);
    assert_turns(2, (const int64_t[]){3, 11});
}

TEST(an_older_page_leaves_the_view_in_place)
{
    const char *answer = thirty_rows();
    exchange(11, "second", answer);
    transcript_scroll(t, TRANSCRIPT_ALL);
    transcript_scroll(t, -7);
    first_row("  row 2");
    tell_earlier(t, false, EV(TURN_STARTED, 1, "first"), EV(TEXT_COMPLETE, 2, answer),
                 EV(TURN_COMPLETED, 3, answer));
    first_row("  row 2");
    assert_true(transcript_scroll(t, 10));
    first_row("  row 29");
}

/* The item at the view's top loses its label to the page before it. */
TEST(a_joined_item_leaves_the_view_in_place)
{
    const char *answer = thirty_rows();
    tell_earlier(t, true, EV(TEXT_COMPLETE, 4, answer), EV(TURN_COMPLETED, 5, answer));
    assert_true(transcript_scroll(t, 21));
    first_row("  row 10");
    tell_earlier(t, false, EV(TURN_STARTED, 1, "q"), call_of(2, "c", "read_file", "{}"),
                 result_of(3, "c", "x", false));
    first_row("  row 10");
    transcript_scroll(t, 18);
    first_row("  row 1");
    transcript_scroll(t, 1);
    first_row("  ▤ read_file → 1 line · 35 ms");
}

/* --- the view --- */

TEST(new_text_does_not_move_a_scrolled_view)
{
    const char *answer = thirty_rows();
    tell(t, EV(TURN_STARTED, 1, "q"), EV(TEXT_DELTA, 0, answer));
    first_row("");
    assert_true(transcript_at_end(t));
    assert_true(transcript_scroll(t, 11));
    first_row("  row 15");
    assert_int_equal(transcript_unread(t), 0);
    say(EVENT_TEXT_DELTA, 0, "news\n\nmore news\n\n");
    first_row("  row 15");
    assert_int_equal(transcript_unread(t), 4);
    say(EVENT_TEXT_COMPLETE, 2, "other");
    free(seen_transcript(t));
}

TEST(unread_ends_at_the_end)
{
    const char *answer = thirty_rows();
    exchange(1, "q", answer);
    assert_false(transcript_scroll(t, -1));
    transcript_scroll(t, 5);
    assert_false(transcript_at_end(t));
    transcript_note(t, STYLE_NOTE, "one\ntwo", false);
    free(seen_transcript(t));
    assert_int_equal(transcript_unread(t), 3);
    transcript_scroll(t, -6);
    free(seen_transcript(t));
    assert_int_equal(transcript_unread(t), 2);
    assert_true(transcript_scroll(t, -TRANSCRIPT_ALL));
    assert_int_equal(transcript_unread(t), 0);
    seen_transcript_says(t, "  one\n  two\n");
    assert_false(transcript_scroll(t, -TRANSCRIPT_ALL));
}

TEST(scrolling_stops_at_both_ends)
{
    assert_false(transcript_scroll(t, 5));
    exchange(1, "q", "a");
    assert_false(transcript_scroll(t, 5));
    assert_false(transcript_scroll(t, -5));
    transcript_resize(t, 40, 2);
    first_row("tiro");
    assert_true(transcript_scroll(t, 2));
    first_row("│ q");
    assert_true(transcript_scroll(t, 100));
    first_row("");
    assert_false(transcript_scroll(t, 1));
    assert_true(transcript_scroll(t, -100));
    first_row("tiro");
    assert_true(transcript_at_end(t));
    assert_true(transcript_scroll(t, TRANSCRIPT_ALL));
    assert_false(transcript_at_end(t));
}

/* Moving up and down by single rows shows every row once, for any items. */
TEST(every_row_is_met_once)
{
    for (int i = 0; i < 30; i++)
        exchange(3 * i + 1, "question", i % 3 ? "answer" : "```c\nint x;\n```\n\n- a\n- b\n");
    transcript_resize(t, 40, 200000);
    auto_free char *whole = seen_transcript(t);
    transcript_resize(t, 40, 1);
    AUTO(buf_release) struct buf up = BUF_INIT, down = BUF_INIT;
    transcript_scroll(t, TRANSCRIPT_ALL);
    do {
        auto_free char *row = seen_transcript(t);
        buf_addstr(&down, row);
    } while (transcript_scroll(t, -1));
    assert_string_equal(down.data, whole);
    do {
        auto_free char *row = seen_transcript(t);
        buf_splice(&up, 0, 0, row, strlen(row));
    } while (transcript_scroll(t, 1));
    assert_string_equal(up.data, whole);
}

TEST(a_new_width_keeps_the_text_in_view)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        buf_addf(&answer, "word%d ", i);
    exchange(1, "q", answer.data);
    exchange(4, "q", answer.data);
    transcript_scroll(t, 100);
    transcript_resize(t, 30, 20);
    int a = atoi(strstr(support_keep(seen_transcript(t)), "word") + 4);
    transcript_resize(t, 73, 20);
    int b = atoi(strstr(support_keep(seen_transcript(t)), "word") + 4);
    assert_in_range(b, a > 30 ? a - 30 : 0, a + 30);
}

/* A text that came in pieces, with the transcript drawn after each. */
static void stream(const char *text)
{
    say(EVENT_TURN_STARTED, 1, "q");
    for (const char *at = text; *at; at += strnlen(at, 500)) {
        say(EVENT_TEXT_DELTA, 0, support_text("%.500s", at));
        free(seen_transcript(t));
    }
    tell(t, EV(TEXT_COMPLETE, 2, text), EV(TURN_COMPLETED, 3, text));
}

static size_t rows_laid_out(void)
{
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    assert_int_equal(count, 20);
    return rows[0].rows->list.len;
}

/* Whether the view shows the rows of `whole` that end `up` rows before its end. */
static void assert_shows(const char *whole, size_t up)
{
    size_t rows = 0, end = strlen(whole);
    while (up > 0)
        up -= whole[--end - 1] == '\n';
    size_t begin = end;
    while (begin > 0 && (rows += whole[begin - 1] == '\n') <= 20)
        begin--;
    char *wanted = support_keep(mem_strndup(whole + begin, end - begin));
    assert_string_equal(support_keep(seen_transcript(t)), wanted);
}

/* Rows far above the view are let go, and are there again when they are wanted. */
TEST(a_giant_is_laid_out_where_it_is_read)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    for (int i = 0; i < 1500; i++)
        buf_addf(&answer, "- item %d of [a list](https://list.example/%d), *and more*\n%s", i,
                 i / 3, i % 9 ? "" : "\n```c\nint code;\n```\n\n");
    stream(answer.data);
    assert_in_range(rows_laid_out(), 200, 700);
    transcript_resize(t, 40, 100000);
    char *whole = support_keep(seen_transcript(t));
    transcript_resize(t, 40, 20);
    assert_shows(whole, 0);
    assert_in_range(rows_laid_out(), 200, 700);
    size_t up = 0;
    for (int step = 7; step < 900; step += step / 3, up += (size_t)step) {
        assert_shows(whole, up);
        transcript_scroll(t, step + step / 3);
    }
    transcript_scroll(t, -TRANSCRIPT_ALL);
    assert_shows(whole, 0);
    assert_in_range(rows_laid_out(), 200, 700);
    assert_true(transcript_find(t, "item 12 of", true));
    seen_transcript_says(t, "item 12 of", "item 13 of");
    transcript_find(t, NULL, true);
    transcript_scroll(t, -TRANSCRIPT_ALL);
    assert_shows(whole, 0);
    assert_in_range(rows_laid_out(), 200, 700);
}

TEST(toggling_leaves_the_top_in_place)
{
    AUTO(buf_release) struct buf result = BUF_INIT;
    for (int i = 0; i < 100; i++)
        buf_addf(&result, "line %d\n", i);
    tell(t, EV(TURN_STARTED, 1, "q"), call_of(2, "c1", "read_file", "{}"),
         result_of(3, "c1", result.data, false), EV(TEXT_COMPLETE, 4, "end"));
    first_row("");
    transcript_toggle(t, 1);
    seen_transcript_says(t, "you\n", "    line 0\n");
    assert_false(transcript_at_end(t));
    transcript_toggle(t, 1);
    seen_transcript_says(t, "  end\n");
    assert_true(transcript_at_end(t));
}

/* --- search and copying --- */

static bool marked(const char *text)
{
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i].rows->list.items[rows[i].index];
        const char *at = rows[i].rows->text.data + row->text;
        for (uint32_t s = 0; s < row->span_count; s++) {
            const struct span *span = &rows[i].rows->spans.items[row->spans + s];
            if (span->style == STYLE_MATCH && span->len == strlen(text) &&
                memcmp(at, text, span->len) == 0)
                return true;
            at += span->len;
        }
    }
    return false;
}

TEST(finds_older_and_newer)
{
    for (int i = 0; i < 40; i++)
        exchange(3 * i + 1, "question", support_text("answer **number** %d with ÄPFEL%d", i, i));
    assert_true(transcript_find(t, "äpfel7", true));
    assert_true(marked("ÄPFEL7"));
    assert_false(transcript_find(t, "äpfel7", true));
    assert_true(marked("ÄPFEL7"));
    assert_true(transcript_find(t, "number 5", true));
    seen_transcript_says(t, "answer number 5 with");
    assert_true(transcript_find(t, "äpfel", false));
    assert_true(transcript_find(t, "äpfel", false));
    seen_transcript_says(t, "ÄPFEL6");
    assert_false(transcript_find(t, "nowhere", true));
    assert_false(transcript_find(t, NULL, true));
    assert_false(marked("ÄPFEL"));
}

TEST(sources_are_as_they_were_told)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    assert_int_equal(transcript_source(t, 1000, &out), 0);
    assert_int_equal(out.len, 0);
    exchange(1, "a *question*", "```c\nint main(void);\n```");
    tell(t, EV(TURN_STARTED, 4, "r"), call_of(5, "c1", "read_file", "{\"path\":\"a.c\"}"),
         result_of(6, "c1", "text of it", false), EV(TEXT_COMPLETE, 7, "That is **it**.\n"));
    size_t at = transcript_source(t, 1000, &out);
    assert_int_equal(at, out.len); /* it follows the end */
    assert_string_equal(out.data,
                        "you\na *question*\n\ntiro\n```c\nint main(void);\n```\n\n"
                        "you\nr\n\ntiro\nread_file {\"path\":\"a.c\"}\n\n"
                        "That is **it**.\n");
}

TEST(sources_reach_so_far_from_the_view)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (int i = 0; i < 100; i++)
        exchange(3 * i + 1, support_text("number %d", i), "an answer");
    assert_true(transcript_show_place(t, &(struct transcript_place){.seq = 3 * 50 + 1}));
    size_t at = transcript_source(t, 200, &out);
    assert_non_null(strstr(out.data, "number 50"));
    assert_ptr_equal(strstr(out.data + at, "number 50"), strstr(out.data, "number 50"));
    assert_true(strstr(out.data, "number 50") - (out.data + at) < 10);
    assert_says(out.data, "!number 30", "!number 70");
    assert_in_range(out.len, 300, 900);
}

TEST(a_place_is_found_again)
{
    for (int i = 0; i < 40; i++)
        exchange(3 * i + 1, "question", "one\n\ntwo\n\nthree");
    struct transcript_place end = transcript_place(t);
    assert_int_equal(end.seq, 0);
    for (int i = 0; i < 60; i++) {
        assert_true(transcript_scroll(t, 7));
        const char *before = support_keep(seen_transcript(t));
        struct transcript_place p = transcript_place(t);
        transcript_scroll(t, -TRANSCRIPT_ALL);
        assert_true(transcript_show_place(t, &p));
        if (*before != '\n') /* the blank row before a message is not a place */
            seen_transcript_is(t, before);
    }
    assert_true(transcript_show_place(t, &end));
    assert_true(transcript_at_end(t));
}

static void assert_matches(size_t at, size_t count)
{
    struct transcript_matches m = transcript_matches(t, SIZE_MAX);
    assert_true(m.whole);
    assert_int_equal(m.at, at);
    assert_int_equal(m.count, count);
}

TEST(matches_are_counted_from_the_newest)
{
    exchange(1, "needle one", "hay");
    exchange(4, "hay", "a needle and\n\nanother needle");
    assert_matches(0, 0); /* nothing is looked for */
    assert_true(transcript_find(t, "needle", true));
    assert_matches(1, 3);
    assert_true(transcript_find(t, "needle", true));
    assert_matches(2, 3);
    exchange(7, "NEEDLE", "hay");
    assert_matches(3, 4);
    transcript_resize(t, 5, 20); /* no row is wide enough */
    assert_matches(0, 0);
    transcript_resize(t, 8, 20);
    assert_matches(0, 4); /* which it was is lost */
    assert_true(transcript_find(t, "needle", true));
    for (int width = 8; width < 80; width++) {
        transcript_resize(t, width, 20);
        assert_matches(1, 4);
    }
    assert_false(transcript_find(t, "lost", true));
    assert_matches(0, 0);
}

TEST(what_streams_is_counted_as_it_grows)
{
    exchange(1, "needle", "hay");
    assert_true(transcript_find(t, "needle", true));
    tell(t, EV(TURN_STARTED, 4, "on"), EV(TEXT_DELTA, 0, "nee"));
    assert_matches(1, 1);
    say(EVENT_TEXT_DELTA, 0, "dle");
    assert_matches(2, 2);
    say(EVENT_TEXT_COMPLETE, 5, "noodle");
    assert_matches(1, 1);
}

TEST(counting_goes_on_where_it_stopped)
{
    for (int i = 0; i < 50; i++)
        exchange(3 * i + 1, "a question of twenty", "a needle of twenty!!");
    assert_true(transcript_find(t, "needle", true));
    struct transcript_matches m = transcript_matches(t, 400);
    int calls = 1;
    assert_false(m.whole);
    assert_int_equal(m.at, 1);
    assert_in_range(m.count, 5, 20);
    for (size_t before = 0; !m.whole; m = transcript_matches(t, 400), calls++) {
        assert_true(m.count > before);
        before = m.count;
    }
    assert_int_equal(m.count, 50);
    assert_in_range(calls, 3, 10);
}

TEST(a_search_goes_round)
{
    for (int i = 0; i < 30; i++)
        exchange(3 * i + 1, i % 10 == 0 ? "needle" : "hay", "hay");
    assert_true(transcript_find(t, "needle", true));
    assert_true(transcript_find(t, "needle", true));
    assert_true(transcript_find(t, "needle", true));
    assert_matches(3, 3);
    assert_false(transcript_find(t, "needle", true));
    assert_true(transcript_find_around(t, true));
    assert_matches(1, 3);
    assert_false(transcript_find(t, "needle", false));
    assert_true(transcript_find_around(t, false));
    assert_matches(3, 3);
    assert_false(transcript_find(t, "nowhere", true));
    assert_false(transcript_find_around(t, true));
    assert_false(transcript_find_around(t, false));
}

TEST(finds_over_a_line_break_and_in_calls)
{
    transcript_resize(t, 24, 10);
    exchange(1, "q", "some words before the needle in hay here");
    tell(t, EV(TURN_STARTED, 4, "r"), call_of(5, "c1", "read_file", "{\"path\":\"special.c\"}"));
    assert_true(transcript_find(t, "before the needle", true));
    transcript_resize(t, 60, 10);
    assert_true(transcript_find(t, "SPECIAL", false));
    assert_true(marked("special"));
}

TEST(last_code_is_the_newest_block)
{
    assert_null(transcript_last_answer(t));
    assert_null(transcript_last_code(t));
    exchange(1, "q", "```\nold\n```\n");
    exchange(4, "q", "```\na\n```\n\n```c\nint x;\n```\n");
    exchange(7, "q", "no code");
    assert_string_equal(support_keep(transcript_last_code(t)), "int x;\n");
    assert_string_equal(transcript_last_answer(t), "no code");
    transcript_clear(t);
    assert_null(transcript_last_answer(t));
    seen_transcript_is(t, "");
}

/* --- anything at any time --- */

static char *random_text(uint64_t *seed)
{
    static char texts[][64] = {"one ",
                               "two\n\n",
                               "```\ncode\n",
                               "- item\n",
                               "日本語の長い長い名前の要約モデル ",
                               "",
                               "long text that has to be broken somewhere ",
                               "handoff",
                               "micro",
                               "\x1b]0;evil\x07 \x1b[2J",
                               "bad \xff\xc3 utf-8",
                               "e\u0301\u0301\u0301 👩\u200d👩\u200d👧"};
    uint64_t n = support_random(seed) % (sizeof texts / sizeof *texts + 1);
    return n < sizeof texts / sizeof *texts ? texts[n] : NULL;
}

/* The strings of the event are not owned. Half of the events are those of a compaction. */
static struct event random_event(uint64_t *seed, int64_t seq)
{
    static char ids[][4] = {"c1", "c2", "c3"}, name[] = "read_file";
    static const enum event_type cards[] = {EVENT_COMPACTION_STARTED, EVENT_COMPACTION_DELTA,
                                            EVENT_COMPACTION_COMPLETED, EVENT_COMPACTION_FAILED,
                                            EVENT_COMPACTION_UNDONE};
    struct event ev = {.seq = seq,
                       .type = support_random(seed) % 2
                                   ? cards[support_random(seed) % (sizeof cards / sizeof *cards)]
                                   : (enum event_type)(support_random(seed) % EVENT_TYPE_COUNT),
                       .text = random_text(seed),
                       .id = ids[support_random(seed) % 3],
                       .name = support_random(seed) % 2 ? name : random_text(seed),
                       .model = random_text(seed),
                       .flag = support_random(seed) % 4 == 0};
    struct compaction *c = &ev.compaction;
    char **texts[] = {&c->mode, &c->effective_mode, &c->stage, &c->trigger, &c->reason};
    int64_t *figures[] = {&c->input_tokens,  &c->estimate,     &c->threshold,
                          &c->tokens_before, &c->tokens_after, &ev.number};
    int *counts[] = {&c->messages_before,
                     &c->messages_after,
                     &c->messages_changed,
                     &c->entries_indexed,
                     &c->failures,
                     &ev.count,
                     &ev.limit};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = random_text(seed);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        *figures[i] =
            (int64_t)(support_random(seed) % 7 ? support_random(seed) % 2000 : INT64_MAX) - 5;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = (int)(support_random(seed) % 50) - 5;
    c->suspended = support_random(seed) % 2;
    ev.used = (double)(support_random(seed) % 100) / 1000 - 0.01;
    ev.stop_reason = (enum stop_reason)(support_random(seed) % (STOP_OTHER + 1));
    if (ev.type == EVENT_TURN_STARTED || ev.type == EVENT_COMPACTION_UNDONE)
        ev.number =
            support_random(seed) % 3 ? 0 : 1 + (int64_t)(support_random(seed) % (uint64_t)seq);
    return ev;
}

static void random_view(struct transcript *any, uint64_t *seed)
{
    switch (support_random(seed) % 10) {
    case 0:
        transcript_resize(any, 1 + (int)(support_random(seed) % 60),
                          1 + (int)(support_random(seed) % 20));
        break;
    case 1:
        transcript_scroll(any, (int)(support_random(seed) % 40) - 20);
        break;
    case 2:
        transcript_toggle(any, support_random(seed) % 20);
        break;
    case 3:
        transcript_find(any, support_random(seed) % 2 ? "o" : "text", support_random(seed) % 2);
        break;
    case 4:
        transcript_toggle_all(any);
        break;
    case 5:
        transcript_set_reasoning(any, (enum reasoning_view)(support_random(seed) % 3));
        break;
    case 6:
        transcript_scroll(any, TRANSCRIPT_ALL);
        break;
    case 7:
        transcript_note(any, STYLE_WARNING, "note\nof two lines", false);
        break;
    case 8:
        transcript_tick(any, (int64_t)(support_random(seed) % 200000));
        break;
    default:
        transcript_scroll(any, -TRANSCRIPT_ALL);
    }
}

static void check_view(struct transcript *any, uint64_t *seed)
{
    size_t count;
    int width = 1 + (int)(support_random(seed) % 50), height = 1 + (int)(support_random(seed) % 20);
    transcript_resize(any, width, height);
    const struct transcript_row *rows = transcript_rows(any, &count);
    assert_true(count <= (size_t)height);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i].rows->list.items[rows[i].index];
        const char *text = rows[i].rows->text.data + row->text;
        assert_true(rows_width(rows[i].rows, rows[i].index) <= (size_t)width);
        assert_true(utf8_valid(text, row->len));
        for (uint32_t b = 0; b < row->len; b++)
            assert_true((unsigned char)text[b] >= 0x20 && text[b] != 0x7f);
    }
    assert_true(transcript_unread(any) >= 0);
}

static void random_page(struct transcript *any, uint64_t *seed, int64_t seq)
{
    struct event events[20], *page[20];
    for (int i = 0; i < 20; i++) {
        events[i] = random_event(seed, seq + i);
        page[i] = &events[i];
    }
    transcript_prepend(any, page, 20, true);
}

TEST(nothing_breaks_it)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 150; round++) {
        struct transcript *any = transcript_new();
        int64_t seq = 101;
        transcript_set_hints(any, "Esc", "Enter", round % 2);
        for (int step = 0; step < 60; step++) {
            struct event ev = random_event(&seed, seq);
            if (support_random(&seed) % 3) {
                transcript_apply(any, &ev);
                seq++;
            } else {
                random_view(any, &seed);
            }
            if (support_random(&seed) % 3 == 0)
                check_view(any, &seed);
            if (step % 25 == 24)
                random_page(any, &seed, 61 - step);
        }
        transcript_free(any);
    }
}

/* --- answers that are laid out in more than one frame --- */

enum { GIANT = 1024 * 1024, PACE = 64 * 1024 };

static const char *giant(void)
{
    struct buf text = BUF_INIT;
    while (text.len < GIANT)
        buf_addf(&text, "- item %zu\n  - nested *äöü* item\n", text.len);
    return support_keep(buf_take(&text));
}

/* Frames until all is laid out. */
static size_t frames(struct transcript *any)
{
    size_t count, n = 1;
    for (transcript_rows(any, &count); transcript_is_behind(any); transcript_rows(any, &count))
        n++;
    return n;
}

static void assert_same_view(struct transcript *a, struct transcript *b)
{
    assert_string_equal(support_keep(seen_transcript(a)), support_keep(seen_transcript(b)));
}

TEST(a_giant_answer_comes_in_frames)
{
    struct transcript *whole = transcript_new();
    struct transcript *const both[] = {t, whole};
    const char *text = giant();
    transcript_resize(whole, 40, 20);
    transcript_set_pace(t, PACE);
    for (int i = 0; i < 2; i++) {
        told(both[i], EV(TURN_STARTED, 1, "q"));
        told(both[i], EV(TEXT_DELTA, 2, text));
    }
    size_t n = frames(t);
    assert_in_range(n, GIANT / PACE, GIANT / PACE + 2);
    assert_int_equal(frames(whole), 1);
    assert_same_view(t, whole);

    transcript_resize(t, 60, 20);
    transcript_resize(whole, 60, 20);
    assert_true(frames(t) >= n - 1);
    assert_same_view(t, whole);
    transcript_scroll(t, 1000);
    transcript_scroll(whole, 1000);
    transcript_resize(t, 50, 20); /* in the middle nothing may move under the reader */
    transcript_resize(whole, 50, 20);
    assert_same_view(t, whole);
    transcript_free(whole);
}

/* The mark of the interruption stands after the end, and costs one row, not a new layout of all
 * rows. */
TEST(a_giant_answer_is_interrupted)
{
    const char *text = giant();
    transcript_set_pace(t, PACE);
    tell(t, EV(TURN_STARTED, 1, "q"), EV(TEXT_DELTA, 2, text));
    frames(t);
    struct event *ev = EV(TEXT_COMPLETE, 3, text);
    ev->flag = true;
    told(t, ev);
    assert_int_equal(frames(t), 1);
    seen_transcript_says(t, "interrupted");
    transcript_resize(t, 60, 20);
    size_t count;
    transcript_rows(t, &count);
    assert_true(transcript_is_behind(t));
    seen_transcript_says(t, "!interrupted");
    frames(t);
    seen_transcript_says(t, "interrupted");
}

/* A folded text has no rows to wait for. */
TEST(giant_reasoning_is_folded)
{
    const char *text = giant();
    transcript_set_pace(t, PACE);
    tell(t, EV(TURN_STARTED, 1, "q"), EV(REASONING_DELTA, 2, text));
    assert_int_equal(frames(t), 1);
    transcript_toggle_all(t);
    assert_true(frames(t) > 1);
    transcript_toggle_all(t);
    assert_int_equal(frames(t), 1);
    say(EVENT_REASONING_COMPLETE, 3, text);
    assert_int_equal(frames(t), 1);
}

/* --- citations --- */

static void given_passages(int64_t seq, const char *id)
{
    struct event *result = result_of(seq + 1, id, "[{\"n\":1},{\"n\":2},{\"n\":3}]", false);
    free(result->name);
    result->name = mem_strdup("rag_search");
    tell(t, call_of(seq, id, "rag_search", "{\"corpus_id\":\"x\",\"query\":\"ryokan\"}"), result);
}

/* Number and event of each citation that a press chooses, until the first comes again. */
static const char *chosen_in_turn(void)
{
    struct transcript_citation c;
    struct buf all = BUF_INIT;
    for (int i = 0; i < 20 && transcript_choose_citation(t); i++) {
        assert_true(transcript_chosen_citation(t, &c));
        buf_addf(&all, "%d@%d ", c.number, (int)c.before);
    }
    return support_keep(buf_take(&all));
}

TEST(a_search_in_documents_says_what_it_looked_for_and_how_much_it_found)
{
    say(EVENT_TURN_STARTED, 1, "where?");
    given_passages(2, "a");
    transcript_resize(t, 60, 20);
    seen_transcript_says(t, "rag_search “ryokan” → 3 passages");
}

TEST(citations_are_chosen_one_after_the_other)
{
    say(EVENT_TURN_STARTED, 1, "where?");
    given_passages(2, "a");
    say(EVENT_TEXT_COMPLETE, 4,
        "By the river [2], in May [1, 3]. `x[3]` [2](http://a.b) [x] [0] [4] [1, 7]");
    assert_int_equal(transcript_passages(t, SIZE_MAX), 3);
    transcript_resize(t, 90, 20);
    assert_string_equal(support_text("%.15s", chosen_in_turn()), "2@5 1@5 3@5 2@5");
    assert_true(transcript_leave_citation(t));
    assert_false(transcript_leave_citation(t));
}

TEST(the_newest_answers_citation_is_the_first_and_older_ones_know_their_answer)
{
    struct transcript_citation c;
    say(EVENT_TURN_STARTED, 1, "where?");
    given_passages(2, "a");
    say(EVENT_TEXT_COMPLETE, 4, "By the river [1].");
    say(EVENT_TURN_STARTED, 5, "when?");
    given_passages(6, "b");
    say(EVENT_TEXT_COMPLETE, 8, "In May [2].");
    assert_string_equal(support_text("%.7s", chosen_in_turn()), "2@9 1@5");
    transcript_resize(t, 39, 20);
    assert_false(transcript_chosen_citation(t, &c));
}

TEST(a_citation_is_found_by_its_place)
{
    struct transcript_citation c;
    size_t count, row = 0;
    say(EVENT_TURN_STARTED, 1, "where?");
    given_passages(2, "a");
    say(EVENT_TEXT_COMPLETE, 4, "川 [2] there");
    (void)transcript_rows(t, &count);
    row = count - 1;
    assert_false(transcript_citation_at(t, row, 4, &c));
    assert_true(transcript_citation_at(t, row, 5, &c));
    assert_true(transcript_citation_at(t, row, 7, &c));
    assert_int_equal(c.number, 2);
    assert_false(transcript_citation_at(t, row, 8, &c));
    assert_false(transcript_citation_at(t, row - 1, 5, &c));
    assert_false(transcript_citation_at(t, count + 5, 5, &c));
}

TEST(without_a_search_in_documents_brackets_are_text)
{
    exchange(1, "where?", "By the river [1].");
    assert_false(transcript_choose_citation(t));
}
