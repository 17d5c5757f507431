/* An opened card without terminal and engine: the summary, the shortened and the dropped messages,
 * and the way to a message in the transcript. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "session/session_operations.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "tests/told.h"
#include "ui/view/context_view.h"

enum { SEQ = 900 };

static int set_up(void **state)
{
    (void)state;
    stage_set_up();
    the.view = compaction_detail_new(&the.host, SEQ);
    return 0;
}

/* The page that was asked for since forget_sent(); -1: none. */
static int64_t asked(void)
{
    const struct compaction_ledger_params *p = params_of(&operation_compaction_ledger);
    return p ? p->place : -1;
}

/* --- made-up answers --- */

static struct event *completed(const char *summary)
{
    struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    ev->seq = SEQ;
    ev->text = mem_strdup(summary);
    ev->model = mem_strdup("small-model");
    ev->number = 4200;
    ev->compaction.mode = mem_strdup("handoff");
    ev->compaction.effective_mode = mem_strdup("handoff");
    ev->compaction.stage = mem_strdup(*summary ? "summary" : "micro");
    ev->compaction.trigger = mem_strdup("manual");
    ev->compaction.tokens_before = 101204;
    ev->compaction.tokens_after = 6310;
    ev->compaction.messages_before = 142;
    ev->compaction.messages_after = 9;
    ev->compaction.messages_dropped = 134;
    return ev;
}

/* The page that is requested: its contents, then its end. */
static struct operation_answer *answer;

static struct compaction_ledger *page(const char *summary)
{
    answer = answer_to(&operation_compaction_ledger);
    struct compaction_ledger *page = answer->result;
    page->completed = completed(summary);
    return page;
}

static struct event *add(enum event_type type, int64_t seq, const char *text)
{
    struct compaction_ledger *page = answer->result;
    vec_push(&page->events.items, told_event(type, seq, text));
    return vec_last(&page->events.items);
}

static void add_tool(enum event_type type, int64_t seq, const char *name, const char *text)
{
    struct event *ev = add(type, seq, text);
    ev->id = mem_strdup("call-1");
    ev->name = mem_strdup(name);
}

static void give_page(bool more)
{
    ((struct compaction_ledger *)answer->result)->more = more;
    assert_true(give_answer(answer, NULL));
}

/* Turn 4: a question, reasoning and a call, its result, an answer; then turn 5's question. */
static struct compaction_ledger *usual(void)
{
    struct compaction_ledger *made = page("## Goal\n\n- sleep in **Kyoto**\n");
    add(EVENT_TURN_STARTED, 10, "where to sleep?\nsecond line of it");
    add(EVENT_CALL_STARTED, 11, NULL)->number = 4;
    add(EVENT_REASONING_COMPLETE, 12, "let me think");
    add_tool(EVENT_TOOL_CALL_REQUESTED, 13, "search_files", "{\"query\":\"ryokan\"}");
    add_tool(EVENT_TOOL_EXECUTION_COMPLETED, 14, "search_files", "three hits");
    add(EVENT_CALL_STARTED, 15, NULL)->number = 4;
    add(EVENT_TEXT_COMPLETE, 16, "In the ryokan.");
    add(EVENT_TURN_STARTED, 20, "and the price?");
    return made;
}

static void give_usual(void)
{
    (void)usual();
    give_page(false);
}

static void begin_again(void)
{
    stage_tear_down(NULL);
    set_up(NULL);
}

/* --- a person --- */

/* Moves down until the chosen row has this text. */
static void choose(const char *text)
{
    act("g");
    for (int tries = 0; tries < 400; tries++) {
        if (strstr(row_text(seen_chosen(rows_now())), text))
            return;
        act("<down>");
    }
    fail_msg("cannot be chosen: %s", text);
}

/* --- tests --- */

BEFORE_ALL(support_utf8);
FIXTURE(set_up, stage_tear_down);

TEST(it_asks_at_once)
{
    const struct compaction_ledger_params *p = params_of(&operation_compaction_ledger);
    assert_int_equal(p->seq, SEQ);
    assert_int_equal(p->place, 0);
    assert_string_equal(p->session, "");
    assert_int_equal(p->limit, 200);
    see("loading");
    give_usual();
    see("!loading");
}

TEST(the_outcome_stands_above)
{
    give_usual();
    see("Compaction", "101,204", "6,310", "142", "small-model");
}

TEST(the_summary_is_open_and_laid_out)
{
    give_usual();
    see("Summary", "sleep in Kyoto", "!##", "!**");
    choose("Summary");
    act("<enter>", "!sleep in Kyoto");
}

TEST(the_messages_that_went_are_listed)
{
    give_usual();
    see("5 messages summarised", "!second line of it");
    assert_says(row_text(find("where to sleep?")), "you", "turn 4");
    assert_says(row_text(find("search_files {")), "tiro", "!Reasoning");
    assert_says(row_text(find("search_files:")), "tool");
    assert_says(row_text(find("In the ryokan.")), "turn 4");
    assert_says(row_text(find("and the price?")), "!turn 4");
}

TEST(each_opens_to_its_whole_text)
{
    give_usual();
    choose("where to sleep?");
    act("<enter>", "second line of it");
    choose("search_files {");
    act("<enter>", "let me think", "{\"query\":\"ryokan\"}");
    choose("search_files:");
    act("<enter>", "three hits");
}

TEST(what_was_taken_back_is_not_listed)
{
    page("short");
    add(EVENT_TURN_STARTED, 10, "first try");
    add(EVENT_TEXT_COMPLETE, 11, "half")->flag = true;
    add(EVENT_TURN_STARTED, 20, "second try")->number = 10;
    add(EVENT_TEXT_COMPLETE, 21, "half again")->flag = true;
    add(EVENT_TURN_STARTED, 30, "failed at once");
    add(EVENT_TURN_FAILED, 31, "no server");
    add(EVENT_TURN_STARTED, 40, "last");
    give_page(false);
    see("!first try", "second try", "!failed at once", "3 messages summarised");
    choose("half again");
    act("<enter>", "(interrupted)");
}

TEST(more_is_asked_for_when_its_end_comes_near)
{
    page("short");
    forget_sent();
    for (int i = 0; i < 100; i++)
        add(EVENT_TURN_STARTED, 10 + i, "one of many");
    give_page(true);
    see("134 messages summarised"); /* not all are listed yet */
    assert_int_equal(asked(), -1);
    act("G");
    rows_now();
    rows_now();
    assert_int_equal(asked(), 100); /* once */
    page("short");
    add(EVENT_TEXT_COMPLETE, 200, "the very last");
    give_page(false);
    act("G", "the very last", "!loading");
    assert_int_equal(asked(), -1);
    act("g", "101 messages summarised");
}

TEST(pieces_of_a_message_come_with_different_pages)
{
    page("short");
    add(EVENT_TURN_STARTED, 10, "question");
    add(EVENT_TEXT_COMPLETE, 11, "first half");
    give_page(true);
    choose("first half");
    act("<enter>");
    page("short");
    add_tool(EVENT_TOOL_CALL_REQUESTED, 12, "list_directory", "{}");
    give_page(false);
    see("list_directory {}", "2 messages summarised");
}

TEST(micro_says_which_results_were_shortened)
{
    page("")->completed->compaction.history = mem_strdup(
        "[[0,5],{\"of\":5,\"message\":{\"role\":\"tool\",\"seq\":77,\"turn\":3,\"content\":[{"
        "\"type\":\"tool_result\",\"id\":\"c\",\"name\":\"read_file\",\"text\":\"its first bytes "
        "[50,000 bytes]\"}]}},[6,136]]");
    give_page(false);
    see("!Summary", "!summarised", "1 message shortened");
    choose("read_file:");
    assert_says(row_text(find("read_file:")), "turn 3");
    act("<enter>", "[50,000 bytes]");
    act("ko");
    assert_false(the.closed);
    choose("read_file:");
    act("o");
    assert_int_equal(the.jumped, 77);
}

TEST(a_history_that_is_none_is_passed_over)
{
    static const char *const histories[] = {
        "", "[", "{}", "[[0,999999]]", "[[-1,5]]", "[{\"of\":1000,\"message\":{}}]", "[1,2,3]"};
    for (size_t i = 0; i < sizeof histories / sizeof *histories; i++) {
        begin_again();
        usual()->completed->compaction.history = mem_strdup(histories[i]);
        give_page(false);
        see("5 messages summarised", "!less in");
    }
}

TEST(o_goes_to_the_message)
{
    give_usual();
    act("o");
    assert_false(the.closed);
    choose("In the ryokan.");
    act("o");
    assert_int_equal(the.jumped, 16);
}

TEST(esc_closes)
{
    act("<escape>");
    assert_true(the.closed);
    give_usual();
    act("<escape>");
    assert_true(the.closed);
    act("<ctrl-c>");
    assert_true(the.closed);
}

TEST(errors_are_said_in_it)
{
    assert_true(give_answer(answer_to(&operation_compaction_ledger), "It cannot\x1b[1m be read."));
    see("be read.", "!loading");
    act("<down>", "be read.");
}

TEST(a_click_opens)
{
    give_usual();
    click(find("where to sleep?"));
    see("second line of it");
    click((size_t)-1);
    click(0);
    click(99);
}

TEST(any_text_fits_any_size)
{
    static const char *const texts[] = {
        "",
        "\x1b[2J\x1b]52;c;aGk=\x07 red \23331m \xe2\x80\xae rtl",
        "京都の旅館で朝食をとる。京都の旅館で朝食をとる。京都の旅館で朝食をとる。",
        "\xff\xfe\xc3( broken \xe4\xba",
        "tab\tand\ttab\r\nline\r\rend",
        "| a | b |\n|---|---|\n| 京都 | \x1b[31m |\n\n```c\nint a;\n```\n"};
    static const int widths[] = {2, 3, 5, 10, 20, 40, 80, 120};
    (void)state;
    auto_free char *summary = mem_printf("%s\n\n%s\n\n%s", texts[1], texts[2], texts[5]);
    struct event *ev = page(summary)->completed;
    free(ev->model);
    ev->model = mem_strdup("model\x1b[31m\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        add(EVENT_TURN_STARTED, (int64_t)i * 10 + 1, texts[i]);
        add(EVENT_TEXT_COMPLETE, (int64_t)i * 10 + 2, texts[i]);
        add_tool(EVENT_TOOL_CALL_REQUESTED, (int64_t)i * 10 + 3, texts[i], texts[i]);
        add_tool(EVENT_TOOL_EXECUTION_COMPLETED, (int64_t)i * 10 + 4, texts[i], texts[i]);
    }
    give_page(false);
    for (int i = 0; i < 100; i++)
        act("<down><enter>");
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (the.width = widths[w], the.height = 1; the.height < 45; the.height++) {
            rows_now();
            press(the.height % 3 ? "down" : "pageup");
        }
}

TEST(thousands_come_page_by_page)
{
    enum { PAGES = 50, EVENTS = 200 };
    for (int p = 0; p < PAGES; p++) {
        page("short");
        for (int i = 0; i < EVENTS; i++)
            add(EVENT_TURN_STARTED, 1 + p * EVENTS + i, "one of many");
        give_page(p + 1 < PAGES);
        act("G");
        rows_now();
    }
    act("g", "10,000 messages summarised");
}

/* --- the transcript --- */

static bool show_event(struct transcript *t, int64_t seq)
{
    return transcript_show_place(t, &(struct transcript_place){.seq = seq});
}

TEST(the_transcript_shows_an_event)
{
    struct transcript *t = transcript_new();
    struct event *events[300];
    size_t count;
    for (int i = 0; i < 100; i++) {
        char text[32];
        snprintf(text, sizeof text, "question %d", i);
        events[3 * i] = told_event(EVENT_TURN_STARTED, 100 + i * 10, text);
        events[3 * i + 1] = told_event(EVENT_TEXT_COMPLETE, 105 + i * 10, "answer");
        events[3 * i + 2] = told_event(EVENT_TURN_COMPLETED, 107 + i * 10, NULL);
    }
    told_earlier(t, events, 300, true);
    transcript_resize(t, 40, 10);
    transcript_rows(t, &count);
    assert_true(show_event(t, 300)); /* question 20 */
    const struct transcript_row *rows = transcript_rows(t, &count);
    assert_says(seen_row(rows[1].rows, rows[1].index), "question 20");
    assert_false(transcript_at_end(t));
    assert_false(show_event(t, 50)); /* on an older page */
    assert_true(transcript_wants_before(t) > 0);
    assert_true(show_event(t, 5000));
    transcript_rows(t, &count);
    assert_true(transcript_at_end(t));
    transcript_free(t);
    t = transcript_new();
    assert_false(show_event(t, 1));
    transcript_free(t);
}

/* The host has its memory; there is something to show if something was indexed. */
TEST(m_leads_to_what_is_remembered)
{
    usual()->completed->compaction.entries_indexed = 12;
    act("m");
    assert_true(the.memory_shown);
    give_page(false);
    act("m");
    assert_true(the.memory_shown);
}

TEST(a_summary_that_quotes_what_was_forgotten_says_so)
{
    give_usual();
    act("m");
    assert_false(the.memory_shown);
    see("Memory has no entries from this compaction.", "!this summary quotes");
    begin_again();
    usual()->quotes_forgotten = true;
    give_page(false);
    see("this summary quotes a memory entry that you deleted");
}
