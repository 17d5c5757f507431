/* An opened card without terminal and engine: the summary, what was shortened, what went; and the
 * way to a message in the transcript. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/term/glyph.h"
#include "ui/transcript/transcript.h"
#include "ui/view/compaction_detail.h"

enum { SEQ = 900 };

static int set_up(void **state)
{
    (void)state;
    stage_set_up();
    the.view = compaction_detail_new(&the.host, SEQ);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    stage_tear_down();
    return 0;
}

static const struct command *asked(void)
{
    assert_true(the.sent.len <= 1);
    return sent(COMMAND_DROPPED);
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

static struct notice *page(const char *place, struct event *ev, bool more)
{
    struct notice *n = notice_new(NOTICE_DROPPED);
    n->number = SEQ;
    n->text = mem_strdup(place);
    n->event = ev;
    n->flag = more;
    return n;
}

static struct event *add(struct notice *n, enum event_type type, int64_t seq, const char *text)
{
    struct event *ev = event_new(type);
    ev->seq = seq;
    ev->text = mem_strdup(text);
    vec_push(&n->events, ev);
    return ev;
}

static void add_tool(struct notice *n, enum event_type type, int64_t seq, const char *name,
                     const char *text)
{
    struct event *ev = add(n, type, seq, text);
    ev->id = mem_strdup("call-1");
    ev->name = mem_strdup(name);
}

/* Turn 4: a question, reasoning and a call, its result, an answer; then turn 5's question. */
static struct notice *usual(bool more)
{
    struct notice *n = page("0", completed("## Goal\n\n- sleep in **Kyoto**\n"), more);
    add(n, EVENT_TURN_STARTED, 10, "where to sleep?\nsecond line of it");
    add(n, EVENT_CALL_STARTED, 11, NULL)->number = 4;
    add(n, EVENT_REASONING_COMPLETE, 12, "let me think");
    add_tool(n, EVENT_TOOL_CALL_REQUESTED, 13, "search_files", "{\"query\":\"ryokan\"}");
    add_tool(n, EVENT_TOOL_EXECUTION_COMPLETED, 14, "search_files", "three hits");
    add(n, EVENT_CALL_STARTED, 15, NULL)->number = 4;
    add(n, EVENT_TEXT_COMPLETE, 16, "In the ryokan.");
    add(n, EVENT_TURN_STARTED, 20, "and the price?");
    return n;
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
FIXTURE(set_up, tear_down);

TEST(it_asks_at_once)
{
    assert_int_equal(asked()->number, SEQ);
    assert_string_equal(asked()->text, "0");
    assert_true(asked()->limit > 0);
    see("loading");
    give(usual(false));
    see("!loading");
}

TEST(the_outcome_stands_above)
{
    give(usual(false));
    see("Compaction", "101,204", "6,310", "142", "small-model");
}

TEST(the_summary_is_open_and_laid_out)
{
    give(usual(false));
    see("Summary", "sleep in Kyoto", "!##", "!**");
    choose("Summary");
    act("<enter>", "!sleep in Kyoto");
}

TEST(the_messages_that_went_are_listed)
{
    give(usual(false));
    see("5 messages summarised");
    const char *row = row_text(find("where to sleep?"));
    assert_says(row, "you", "t4");
    see("!second line of it");
    row = row_text(find("search_files {"));
    assert_says(row, "tiro", "!Reasoning");
    row = row_text(find("search_files:"));
    assert_non_null(strstr(row, "tool"));
    assert_says(row_text(find("In the ryokan.")), "t4");
    assert_says(row_text(find("and the price?")), "!t4");
}

TEST(each_opens_to_its_whole_text)
{
    give(usual(false));
    choose("where to sleep?");
    act("<enter>", "second line of it");
    choose("search_files {");
    act("<enter>", "let me think", "{\"query\":\"ryokan\"}");
    choose("search_files:");
    act("<enter>", "three hits");
}

TEST(what_was_taken_back_is_not_listed)
{
    struct notice *n = page("0", completed("short"), false);
    add(n, EVENT_TURN_STARTED, 10, "first try");
    add(n, EVENT_TEXT_COMPLETE, 11, "half")->flag = true;
    add(n, EVENT_TURN_STARTED, 20, "second try")->number = 10;
    add(n, EVENT_TEXT_COMPLETE, 21, "half again")->flag = true;
    add(n, EVENT_TURN_STARTED, 30, "failed at once");
    add(n, EVENT_TURN_FAILED, 31, "no server");
    add(n, EVENT_TURN_STARTED, 40, "last");
    give(n);
    see("!first try", "second try", "!failed at once", "3 messages summarised");
    choose("half again");
    act("<enter>", "(interrupted)");
}

TEST(more_is_asked_for_when_its_end_comes_near)
{
    struct notice *n = page("0", completed("short"), true);
    forget_sent();
    for (int i = 0; i < 100; i++)
        add(n, EVENT_TURN_STARTED, 10 + i, "one of many");
    give(n);
    rows_now();
    see("134 messages summarised"); /* not all are listed yet */
    assert_null(asked());
    act("G");
    rows_now();
    assert_string_equal(asked()->text, "100");
    rows_now();
    assert_non_null(asked()); /* once */
    forget_sent();
    give(page("0", NULL, true)); /* of nobody's question */
    rows_now();
    assert_null(asked());
    n = page("100", completed("short"), false);
    add(n, EVENT_TEXT_COMPLETE, 200, "the very last");
    give(n);
    act("G", "the very last", "!loading");
    assert_null(asked());
    act("g", "101 messages summarised");
}

TEST(pieces_of_a_message_come_with_different_pages)
{
    struct notice *n = page("0", completed("short"), true);
    add(n, EVENT_TURN_STARTED, 10, "question");
    add(n, EVENT_TEXT_COMPLETE, 11, "first half");
    forget_sent();
    give(n);
    choose("first half");
    act("<enter>");
    n = page("2", completed("short"), false);
    add_tool(n, EVENT_TOOL_CALL_REQUESTED, 12, "list_directory", "{}");
    give(n);
    see("list_directory {}", "2 messages summarised");
}

TEST(other_answers_change_nothing)
{
    struct notice *n = usual(false);
    n->number = SEQ + 1;
    give(n);
    see("loading");
    give(usual(false));
    give(usual(false));
    see("5 messages summarised");
}

TEST(micro_says_which_results_were_shortened)
{
    struct notice *n = page("0", completed(""), false);
    n->event->compaction.history = mem_strdup(
        "[[0,5],{\"of\":5,\"message\":{\"role\":\"tool\",\"seq\":77,\"turn\":3,\"content\":[{"
        "\"type\":\"tool_result\",\"id\":\"c\",\"name\":\"read_file\",\"text\":\"its first bytes "
        "[50,000 bytes]\"}]}},[6,136]]");
    give(n);
    see("!Summary", "!summarised", "1 message shortened");
    choose("read_file:");
    assert_says(row_text(find("read_file:")), "t3");
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
        struct notice *n = usual(false);
        n->event->compaction.history = mem_strdup(histories[i]);
        if (i > 0) {
            tear_down(state);
            set_up(state);
        }
        give(n);
        see("5 messages summarised", "!less in");
    }
}

TEST(o_goes_to_the_message)
{
    give(usual(false));
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
    give(usual(false));
    act("<escape>");
    assert_true(the.closed);
    act("<ctrl-c>");
    assert_true(the.closed);
}

TEST(errors_are_said_in_it)
{
    assert_false(give_error(COMMAND_PAGE, "no"));
    assert_true(give_error(COMMAND_DROPPED, "It cannot\x1b[1m be read."));
    see("be read.", "!loading");
    act("<down>", "be read.");
}

TEST(a_click_opens)
{
    give(usual(false));
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
    struct notice *n = page("0", completed(texts[1]), false);
    free(n->event->text);
    n->event->text = mem_printf("%s\n\n%s\n\n%s", texts[1], texts[2], texts[5]);
    free(n->event->model);
    n->event->model = mem_strdup("model\x1b[31m\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        add(n, EVENT_TURN_STARTED, (int64_t)i * 10 + 1, texts[i]);
        add(n, EVENT_TEXT_COMPLETE, (int64_t)i * 10 + 2, texts[i]);
        add_tool(n, EVENT_TOOL_CALL_REQUESTED, (int64_t)i * 10 + 3, texts[i], texts[i]);
        add_tool(n, EVENT_TOOL_EXECUTION_COMPLETED, (int64_t)i * 10 + 4, texts[i], texts[i]);
    }
    give(n);
    for (int i = 0; i < 100; i++) {
        act("<down><enter>");
    }
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
        char place[16];
        snprintf(place, sizeof place, "%d", p * EVENTS);
        struct notice *n = page(place, completed("short"), p + 1 < PAGES);
        for (int i = 0; i < EVENTS; i++)
            add(n, EVENT_TURN_STARTED, 1 + p * EVENTS + i, "one of many");
        give(n);
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
    struct notice *n = notice_new(NOTICE_PAGE);
    size_t count;
    for (int i = 0; i < 100; i++) {
        char text[32];
        snprintf(text, sizeof text, "question %d", i);
        add(n, EVENT_TURN_STARTED, 100 + i * 10, text);
        add(n, EVENT_TEXT_COMPLETE, 105 + i * 10, "answer");
        add(n, EVENT_TURN_COMPLETED, 107 + i * 10, NULL);
    }
    transcript_prepend(t, n->events.items, n->events.len, true);
    transcript_resize(t, 40, 10);
    transcript_rows(t, &count);
    assert_true(show_event(t, 300)); /* question 20 */
    const struct transcript_row *rows = transcript_rows(t, &count);
    const struct row *second = &rows[1].rows->list.items[rows[1].index];
    char *text = mem_strndup(rows[1].rows->text.data + second->text, second->len);
    assert_non_null(strstr(text, "question 20"));
    free(text);
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
    notice_free(n);
}

/* The host has its memory; there is something to show if something was indexed. */
TEST(m_leads_to_what_is_remembered)
{
    struct notice *n = usual(false);
    n->event->compaction.entries_indexed = 12;
    act("m");
    assert_true(the.memory_shown);
    give(n);
    act("m");
    assert_true(the.memory_shown);
}

TEST(a_summary_that_quotes_what_was_forgotten_says_so)
{
    give(usual(false));
    act("m");
    assert_false(the.memory_shown);
    see("Memory has no entries from this compaction.", "!quotes something");
    the.view->ops->free(the.view);
    the.view = compaction_detail_new(&the.host, SEQ);
    struct notice *n = usual(false);
    n->stats.flagged = 1;
    give(n);
    see("this summary quotes a memory entry that you deleted");
}
