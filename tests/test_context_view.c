/* The context screen without terminal and engine: its requests, its drawing of made-up answers, and
 * its keys. */
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "ui/term/rows.h"
#include "ui/view/context_view.h"

/* --- made-up answers --- */

static struct context_part part(enum context_kind kind, enum role role, int64_t seq, int turn,
                                int64_t tokens, const char *text)
{
    return (struct context_part){.kind = kind,
                                 .role = role,
                                 .seq = seq,
                                 .turn = turn,
                                 .tokens = tokens,
                                 .text = mem_strdup(text)};
}

static void add(struct context *c, struct context_part p)
{
    vec_push(&c->parts, p);
    c->tokens += p.tokens;
}

static struct context answer_of(const char *mode)
{
    return (struct context){
        .mode = mem_strdup(mode), .tokens_after = -1, .last_input = -1, .cached = -1};
}

/* system 100, tools 300, summary 500, four messages of 25 … */
static struct context usual(void)
{
    struct context c = answer_of("handoff");
    add(&c, part(CONTEXT_SYSTEM, ROLE_SYSTEM, 0, 0, 100, "You are a helper.\nSecond line."));
    add(&c, part(CONTEXT_TOOLS, ROLE_SYSTEM, 0, 0, 300, "read_file {…}"));
    add(&c, part(CONTEXT_SUMMARY, ROLE_USER, 3, 1, 500, "[Context compacted]\nGoal: Kyoto"));
    add(&c, part(CONTEXT_MESSAGE, ROLE_USER, 20, 7, 1000, "where to sleep?"));
    add(&c, part(CONTEXT_MESSAGE, ROLE_ASSISTANT, 23, 7, 6000, "In the ryokan.\nBy the river."));
    add(&c, part(CONTEXT_MESSAGE, ROLE_TOOL, 26, 7, 1600, "search: 3 hits"));
    add(&c, part(CONTEXT_MESSAGE, ROLE_USER, 30, 8, 500, "and then?"));
    c.window = 200000;
    c.threshold = 100000;
    c.last_input = 9321;
    c.cached = 900;
    c.sent = 1200000;
    c.received = 34000;
    c.tokens_after = 2400;
    c.parts.items[3].goes = c.parts.items[4].goes = true;
    c.parts.items[6].pinned = true;
    return c;
}

static void end_turn(void)
{
    give(notice_new(NOTICE_BUSY));
}

static bool waits(void)
{
    for (size_t i = 0; i < the.requests.len; i++)
        if (the.requests.items[i].request->operation == &operation_context_read &&
            !the.requests.items[i].answered)
            return true;
    return false;
}

/* Gives the context as the answer to the view's request, now or later. */
static void give_context(struct context c)
{
    if (!waits()) {
        give_event(EVENT_CALL_COMPLETED);
        end_turn();
    }
    struct operation_answer *a = answer_to(&operation_context_read);
    *(struct context *)a->result = c;
    give_answer(a, NULL);
}

static void begin(void)
{
    give_context(usual());
    forget_sent();
}

static int64_t due(void)
{
    return the.view->ops->due(the.view);
}

/* Forty messages: the list is from row LIST_TOP to before the hints. */
enum { LIST_TOP = 3 };

static void give_forty(void)
{
    struct context c = answer_of("handoff");
    for (int i = 1; i <= 40; i++)
        add(&c, part(CONTEXT_MESSAGE, ROLE_USER, i, i, 10,
                     support_text("\n \nmessage %02d.\nmore of %02d.", i, i)));
    give_context(c);
}

static void give_usual(void)
{
    give_context(usual());
}

static const struct step steps[] = {{"begin", .alone = begin},
                                    {"usual", .alone = give_usual},
                                    {"end", .alone = end_turn},
                                    {"forty", .alone = give_forty},
                                    {.name = NULL}};

static int set_up(void **state)
{
    (void)state;
    stage_set_up(steps, 80, 22);
    the.view = context_view_new(&the.host, "");
    return 0;
}

/* --- tests --- */

BEFORE_ALL(support_utf8);
FIXTURE(set_up, stage_tear_down);

PLAY(it_asks_at_once, "?context/read", "loading", "=usual", "!loading");
PLAY(the_head_has_the_figures, "=width 120", "=begin", "Context  ~10,000 tokens", "window 200k",
     "compacts at 100k", "last request 9,321", "cached 900", "session 1.2M in, 34k out");

/* The prefix that all summaries share is left out, unless the summary has no other text. */
TEST(a_summary_is_told_by_its_own_words)
{
    play("=begin", "Goal: Kyoto", "![Context compacted]", "where to sleep?");
    struct context c = answer_of("handoff");
    add(&c, part(CONTEXT_SUMMARY, ROLE_USER, 3, 1, 500, "[Context compacted] \n"));
    add(&c, part(CONTEXT_MESSAGE, ROLE_USER, 20, 7, 1000, "[a] is the first"));
    give_context(c);
    see("[Context compacted]", "[a] is the first");
}

TEST(stopped_compaction_says_the_way_out)
{
    play("=begin", "!has stopped");
    the.meters.suspended = true;
    play("automatic compaction has stopped after failures; if c succeeds, it starts again",
         "=height 9", "has stopped", "=height 8", "!has stopped");
}

TEST(nothing_unknown_is_shown_as_a_number)
{
    struct context c = answer_of(NULL);
    add(&c, part(CONTEXT_SYSTEM, ROLE_SYSTEM, 0, 0, 100, "You are."));
    give_context(c);
    see("!window", "!compacts at", "!cached", "!-1", "!summary", "Compaction is off.");
}

TEST(each_kind_has_its_share)
{
    play("=begin", "=row  system | 100 | 1 %");
    assert_says(row_text(find(" history ")), " 9,100 ", "91 %", glyph(GLYPH_GAUGE_FULL),
                glyph(GLYPH_GAUGE_EMPTY));
}

static struct context of_two_sources(void)
{
    struct context c = answer_of("handoff");
    add(&c, part(CONTEXT_SYSTEM, ROLE_SYSTEM, 0, 0, 100, "You are."));
    add(&c, part(CONTEXT_TOOLS, ROLE_SYSTEM, 0, 0, 700, "read_file\nof the disk"));
    add(&c, part(CONTEXT_TOOLS, ROLE_SYSTEM, 0, 0, 300, "memory_search\nof the past"));
    c.parts.items[0].whole = 5000;
    c.parts.items[1].source = mem_strdup("built-in");
    c.parts.items[2].source = mem_strdup("memory");
    return c;
}

TEST(each_source_of_tools_has_its_row)
{
    give_context(of_two_sources());
    play("=row  tools | 1,000 ", "=row built-in: read_file | 700 ",
         "=row memory: memory_search | 300 ", "=row You are.| cut ", "><end><enter>");
    give_context(of_two_sources()); /* open entries stay open, and no others open */
    see("of the past", "!of the disk");
}

PLAY(a_lower_screen_has_the_shares_in_a_row, "=height 12", "=begin",
     "system 1 % \xc2\xb7 tools 3 % \xc2\xb7 summary 5 % \xc2\xb7 history 91 %");

TEST(it_says_what_a_compaction_would_drop)
{
    play("=begin",
         "a compaction now (summary + last turns) would drop 2 messages, 10,000 \xe2\x86\x92 "
         "~2,400");
    struct context c = usual();
    c.parts.items[3].goes = false;
    give_context(c);
    see("would drop 1 message, 10,000");
    c = usual();
    c.parts.items[3].goes = c.parts.items[4].goes = false;
    give_context(c);
    see("a compaction now (summary + last turns) would shorten messages");
    c = usual();
    c.tokens_after = -1;
    give_context(c);
    play("a compaction now (summary + last turns) would drop nothing", "=width 40", "=height 7",
         "=usual", "would drop 2 messages, 10k \xe2\x86\x92 ~2.4k");
}

TEST(a_part_has_its_row)
{
    play("=begin", "=row In the ryokan.|tiro|turn 7|dropped|6,000|60 %|!By the river.",
         "=row and then?|you|pinned|!dropped", "=row search: 3 hits|tool");
    /* 900 of the tokens are cached: system, tools and the summary */
    assert_says(row_text(find("Goal: Kyoto")), "cached");
    play("=row You are a helper.|cached", "=row where to sleep?|!cached");
}

PLAY(enter_opens_the_whole_text, "=begin", "!Second line.", "><enter>", "!?close", "Second line.",
     "><down>", "›Changed by /system.", "><enter>", "!Second line.",
     "›You are a helper."); /* closes it from within, too */

TEST(an_opened_part_says_how_it_is_left_out_and_its_cap)
{
    struct context c = {.window = 0};
    struct context_part file = part(CONTEXT_INSTRUCTIONS, ROLE_SYSTEM, 0, 0, 9,
                                    "# Instructions of /p/AGENTS.md\nAnswer briefly.");
    file.source = mem_strdup("/p/AGENTS.md");
    file.cap = 8192;
    add(&c, file);
    add(&c, part(CONTEXT_GRAPH, ROLE_SYSTEM, 0, 0, 5, "# Knowledge graph\n7 entities"));
    give_context(c);
    play("project", " p/AGENTS.md: Answer", "graph", "!# Instructions of", "><enter>",
         "instructions = false", "At most 8,192 tokens.", "# Instructions of", "><enter>G<enter>",
         "/memory off", "7 entities", "!At most");
}

TEST(long_texts_scroll)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= 500; i++)
        buf_addf(&text, "line number %d\n", i);
    struct context c = usual();
    add(&c, part(CONTEXT_MESSAGE, ROLE_USER, 40, 9, 10, text.data));
    give_context(c);
    play(">G<enter>", "line number 5\n", ">G", "›line number 500", "!line number 300",
         "><pageup*2>", "!line number 500", "line number 47", ">g", "›You are a helper.", ">jjk",
         "›read_file");
}

TEST(another_width_keeps_the_place)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= 300; i++)
        buf_addf(&text, "marker%d is a long line of words that has to be broken somewhere\n", i);
    struct context c = answer_of("handoff");
    add(&c, part(CONTEXT_MESSAGE, ROLE_USER, 40, 9, 10, text.data));
    give_context(c);
    play("><enter>", "=draw", "><down*150>", "›marker150 ", "=width 40", "›marker150 ",
         "=width 120", "=height 40", "›marker150 ");
}

TEST(a_new_answer_keeps_what_is_open_and_chosen)
{
    play("=begin", "><down*4><enter>", "By the river.", "><down*2>", "›By the river.");
    struct context c = usual();
    free(c.parts.items[2].text); /* the summary is gone: the entries after it move up */
    vec_remove(&c.parts, 2, 1);
    give_context(c);
    see("›By the river.", "and then?");
    c = answer_of("handoff"); /* nothing of it is left */
    add(&c, part(CONTEXT_SYSTEM, ROLE_SYSTEM, 0, 0, 100, "Another."));
    give_context(c);
    see("›Another.", "!By the river.");
    give_context(answer_of("handoff"));
    play("=draw", "><enter><down>Go", "!?close");
}

PLAY(the_view_moves_no_more_than_it_must, "=forty", "=height 24", "=line 3|message 01.",
     "=line 22|message 20.", "><down*20>", "›message 21.", "=line 22|message 21.", ">G",
     "=line 22|message 40.", "><up*20>", "›message 20.", "=line 3|message 20.",
     "=line 22|message 39.", ">G", "=height 34", /* no room is left below the end */
     "=line 32|message 40.");
PLAY(what_opens_at_the_bottom_is_brought_into_view, "=forty", "=height 24", "=draw", "><down*19>",
     "=line 22|message 20.", "><enter>", "›message 20.", "=line 22|more of 20.");
PLAY(p_pins_messages, "=begin", ">p", "!?compaction/",
     "Only your messages and answers can be pinned", "><down*3>p", "?compaction/pin seq=20",
     "=forget", ">Gp", "?compaction/unpin seq=30", "=forget", ">kp",
     "!?compaction/"); /* a tool's result */
PLAY(c_asks_before_it_compacts, "=begin", ">c", "!?close", "Shorten the conversation now? y/n",
     ">j", "!?close", "><enter>", "!?close", "=click read_file", "›You are a helper.", "y/n", ">n",
     "!?close", "!y/n", ">c<escape>", "!?close", "!y/n", "!?compaction/", ">cy", "?close",
     "?compaction/run");

TEST(c_says_where_nothing_is_shortened)
{
    give_context(answer_of("handoff"));
    see("c shorten");
    give_context(answer_of(NULL));
    play("!c shorten", "Esc close", "=forget", ">cy", "!?close", "!?compaction/");
}

PLAY(u_takes_the_last_back_and_o_goes_to_the_message, "=begin", ">u", "!?close", "?compaction/undo",
     ">o", "!?close", ">Go", "?jump 30");

TEST(n_goes_among_what_goes)
{
    play("=begin", ">n", "›where to sleep?", ">n", "›In the ryokan.", ">n", "›where to sleep?",
         ">N", "›In the ryokan.");
    struct context c = usual();
    c.parts.items[6].goes = true;
    give_context(c);
    play(">n", "›and then?", ">N", "›In the ryokan.");
}

PLAY(keys_are_those_of_the_configuration, "=bind context_pin x", "=begin", ">Gp", "!?compaction/",
     ">x", "?compaction/unpin", "x pin", "><escape>", "?close", "><ctrl-c>", "?close", "><f4>",
     "?close");

TEST(it_asks_again_when_the_history_changes)
{
    play("=begin", "=due 0");
    give_event(EVENT_TEXT_DELTA);
    give_event(EVENT_COMPACTION_DELTA);
    assert_int_equal(due(), 0);
    give_event(EVENT_TEXT_COMPLETE);
    play("=due 6000", "=now 6000", "=tick", "?context/read", "=forget");
    give_event(EVENT_COMPACTION_COMPLETED); /* while it waits */
    play("=due 0", "=end", "!?context/read", "=usual", "=due 7000",
         "=end", /* at the end of a turn: at once */
         "?context/read");
}

TEST(every_change_of_the_history_counts)
{
    static const enum event_type changes[] = {EVENT_TURN_STARTED,
                                              EVENT_TOOL_EXECUTION_COMPLETED,
                                              EVENT_COMPACTION_UNDONE,
                                              EVENT_MESSAGE_PINNED,
                                              EVENT_REWOUND,
                                              EVENT_REWIND_UNDONE,
                                              EVENT_INTERRUPTED,
                                              EVENT_TURN_FAILED,
                                              EVENT_COMPACTION_COMPLETED,
                                              EVENT_CALL_COMPLETED,
                                              EVENT_TURN_COMPLETED};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        begin();
        give_event(changes[i]);
        assert_true(due() > 0);
        end_turn();
        see("?context/read");
    }
    begin();
    give(notice_new(NOTICE_PROVIDER));
    assert_true(due() > 0);
}

PLAY(errors_are_said_in_it, "=fails context/read The database cannot be used.",
     "The database cannot be used.", "!loading", "=begin", ">u",
     "=fails compaction/undo bad\x1b[31m\nwords", "words", ">Gp",
     "=fails compaction/unpin That has to wait.", "That has to wait.", "><down>",
     "!That has to wait.");

TEST(a_click_chooses_and_opens)
{
    play("=begin", "=click In the ryokan.", "›In the ryokan.", "By the river.",
         "=click By the river.", "›By the river.", "=click 0");
    click((size_t)(the.height - 1));
    click((size_t)(the.height + 5));
    click((size_t)-1);
    see("›By the river.");
}

/* Holds for any texts and the smallest screens. */
TEST(any_text_fits_any_size)
{
    static const char *const texts[] = {
        "",
        "\n \n\t\n",
        "\x1b[2J\x1b]52;c;aGk=\x07 red \23331m \xe2\x80\xae rtl",
        "京都の旅館で朝食をとる。京都の旅館で朝食をとる。京都の旅館で朝食をとる。",
        "é́ 👩‍👩‍👧",
        "\xff\xfe\xc3( broken \xe4\xba",
        "tab\tand\ttab\r\nline\r\rend",
        "averyveryveryveryveryveryveryveryveryveryveryveryveryverylongword"};
    static const int widths[] = {2, 3, 5, 10, 20, 33, 40, 69, 70, 80, 120, 200};
    struct context c = answer_of("mode\x1b[31m\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add(&c, part((enum context_kind)(i % 4), (enum role)(i % 4), (int64_t)i, (int)i * 999,
                     12345, texts[i]));
    c.window = c.threshold = INT64_MAX;
    c.tokens_after = 1;
    give_context(c);
    for (int i = 0; i < 200; i++)
        act("<enter><down>");
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (the.width = widths[w], the.height = 1; the.height < 45; the.height++) {
            rows_now();
            press(the.height % 3 ? "down" : "pageup");
            if (the.height % 5 == 0)
                act("<enter>");
        }
}

PLAY(small_screens_show_the_parts, "=begin", "=width 40", "=height 7", "Context  ~10,000 tokens",
     "You are", "Esc close", ">n", "=row where|dropped");

TEST(many_and_giant_parts)
{
    struct buf text = BUF_INIT;
    struct context c = answer_of("handoff");
    for (int i = 0; i < 200000; i++)
        buf_addstr(&text, "a giant text that goes on and on\n");
    for (int i = 0; i < 20000; i++)
        add(&c, part(CONTEXT_MESSAGE, ROLE_USER, i + 1, i + 1, 10, "one of many"));
    add(&c, part(CONTEXT_MESSAGE, ROLE_USER, 30000, 9, 10, text.data));
    buf_release(&text);
    give_context(c);
    play(">G<enter><down>", "›a giant text", "=draw", ">g", "=draw");
}

/* --- help --- */

KEYS_HOLD(keys_of_the_context, set_up, "=begin", ">jjjj");
