/* An opened card without terminal and engine: the summary, the shortened and the dropped messages,
 * and the way to a message in the transcript. */
#include "base/utf8.h"
#include "session/session_operations.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "tests/told.h"
#include "ui/view/context_view.h"

enum { SEQ = 900 };

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

static void begin_page(const char *summary)
{
    (void)page(summary);
}

static void give_last(void)
{
    give_page(false);
}

static void give_more(void)
{
    give_page(true);
}

static void is_asked(const char *place)
{
    assert_int_equal(asked(), atoi(place));
}

static void is_memory_shown(const char *yes)
{
    assert_int_equal(the.memory_shown, *yes == 'y');
}

static const struct step steps[] = {{"usual", .alone = give_usual},    {"page", .run = begin_page},
                                    {"last", .alone = give_last},      {"more", .alone = give_more},
                                    {"asked", .run = is_asked},        {"choose", .run = choose},
                                    {"shown", .run = is_memory_shown}, {.name = NULL}};

static int set_up(void **state)
{
    (void)state;
    stage_set_up(steps, 80, 22);
    the.view = compaction_detail_new(&the.host, SEQ);
    return 0;
}

static void begin_again(void)
{
    stage_tear_down(NULL);
    set_up(NULL);
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
    play("loading", "=usual", "!loading");
}

PLAY(the_outcome_stands_above, "=usual", "Compaction", "101,204", "6,310", "142", "small-model");
PLAY(the_summary_is_open_and_laid_out, "=usual", "Summary", "sleep in Kyoto", "!##", "!**",
     "=choose Summary", "><enter>", "!sleep in Kyoto");
PLAY(the_messages_that_went_are_listed, "=usual", "5 messages summarised", "!second line of it",
     "=row where to sleep?|you|turn 4", "=row search_files {|tiro|!Reasoning",
     "=row search_files:|tool", "=row In the ryokan.|turn 4", "=row and the price?|!turn 4");
PLAY(each_opens_to_its_whole_text, "=usual", "=choose where to sleep?", "><enter>",
     "second line of it", "=choose search_files {", "><enter>", "let me think",
     "{\"query\":\"ryokan\"}", "=choose search_files:", "><enter>", "three hits");

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
    play("=last", "!first try", "second try", "!failed at once", "3 messages summarised",
         "=choose half again", "><enter>", "(interrupted)");
}

TEST(more_is_asked_for_when_its_end_comes_near)
{
    play("=page short", "=forget");
    for (int i = 0; i < 100; i++)
        add(EVENT_TURN_STARTED, 10 + i, "one of many");
    play("=more", "134 messages summarised",                /* not all are listed yet */
         "=asked -1", ">G", "=draw", "=draw", "=asked 100", /* once */
         "=page short");
    add(EVENT_TEXT_COMPLETE, 200, "the very last");
    play("=last", ">G", "the very last", "!loading", "=asked -1", ">g", "101 messages summarised");
}

TEST(pieces_of_a_message_come_with_different_pages)
{
    page("short");
    add(EVENT_TURN_STARTED, 10, "question");
    add(EVENT_TEXT_COMPLETE, 11, "first half");
    play("=more", "=choose first half", "><enter>", "=page short");
    add_tool(EVENT_TOOL_CALL_REQUESTED, 12, "list_directory", "{}");
    play("=last", "list_directory {}", "2 messages summarised");
}

TEST(micro_says_which_results_were_shortened)
{
    page("")->completed->compaction.history = mem_strdup(
        "[[0,5],{\"of\":5,\"message\":{\"role\":\"tool\",\"seq\":77,\"turn\":3,\"content\":[{"
        "\"type\":\"tool_result\",\"id\":\"c\",\"name\":\"read_file\",\"text\":\"its first bytes "
        "[50,000 bytes]\"}]}},[6,136]]");
    play("=last", "!Summary", "!summarised", "1 message shortened",
         "=choose read_file:", "=row read_file:|turn 3", "><enter>", "[50,000 bytes]", ">ko",
         "=open", "=choose read_file:", ">o", "=jumped 77");
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

PLAY(o_goes_to_the_message, "=usual", ">o", "=open", "=choose In the ryokan.", ">o", "=jumped 16");
PLAY(esc_closes, "><escape>", "=closed", "=usual", "><escape>", "=closed", "><ctrl-c>", "=closed");
PLAY(errors_are_said_in_it, "=fails compaction/ledger It cannot\x1b[1m be read.", "be read.",
     "!loading", "><down>", "be read.");

TEST(a_click_opens)
{
    play("=usual", "=click where to sleep?", "second line of it");
    click((size_t)-1);
    play("=click 0", "=click 99");
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
    play(">m", "=shown yes", "=last", ">m", "=shown yes");
}

TEST(a_summary_that_quotes_what_was_forgotten_says_so)
{
    play("=usual", ">m", "=shown no", "Memory has no entries from this compaction.",
         "!this summary quotes");
    begin_again();
    usual()->quotes_forgotten = true;
    play("=last", "this summary quotes a memory entry that you deleted");
}

/* --- help --- */

KEYS_HOLD(keys_of_a_compaction, set_up, "=usual", ">jjj");
