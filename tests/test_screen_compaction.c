/* Compaction in the real program: the card, the review of a draft, failures, F4, and the figures of
 * the status line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/capability.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/text/format.h"

/* A second answer would be compacted before, as the first one takes more than this. */
#define SMALL                                                                                      \
    "[compaction]\nauto_compact_threshold = 500\nmin_turns_between_compactions = 0\n"              \
    "recent_turn_budget = 1\n"

/* A conversation that the next message compacts. */
static struct screen *open_full(int rows, int cols)
{
    scene_queue(.text = "the first answer", .input_tokens = 600, .output_tokens = 5);
    struct screen *s = scene_open(rows, cols, NULL);
    scene_ask(s, "one", "the first answer");
    return s;
}

/* Like open_full(), with a summary that stops after its first lines until the server is
 * released. */
static struct screen *open_compacting(int rows, int cols)
{
    struct screen *s = open_full(rows, cols);
    scene_queue(.fault = REPLY_STALL, .text = "## Goal\n日本 in November\nnext: hotels, and");
    scene_queue(.text = "the second answer", .input_tokens = 90, .output_tokens = 5);
    act(s, "two<enter>", "next: hotels");
    return s;
}

static const char *status_row(struct screen *s)
{
    int rows, cols;
    screen_size(s, &rows, &cols);
    return screen_row_text(s, rows - 2);
}

FIXTURES(compaction, scene_setup, scene_teardown);

TEST_IF(capability_compaction(), it_is_seen_from_start_to_outcome)
{
    write_config(SMALL);
    struct screen *s = open_compacting(24, 80);
    see(s, "▣ compacting · summary + last turns · ~623 tokens · ", " · limit of 500 tokens reached",
        "\n  日本 in November\n");
    assert_says(status_row(s), "compacting ", " 623/500");
    see(s, " · 1 s   Esc cancels");
    model_server_release(scene_server());
    see(s, "the second answer", IDLE);
    const char *text = screen_text(s);
    assert_says(text, "▣ compacted · summary + last turns · ", " ⏎ opens\n",
                "another mode: /compact MODE", "!next: hotels", "!compacting");
    assert_true(strstr(text, "two") < strstr(text, "▣ compacted"));
    assert_true(strstr(text, "▣ compacted") < strstr(text, "the second answer"));
    assert_non_null(strstr(status_row(s), "⟳1"));
    assert_int_equal(model_server_requests(scene_server()), 3);
    scene_sent(2, "[Context compacted]", "!the first answer");
}

TEST_IF(capability_compaction(), escape_stops_it)
{
    struct screen *s = open_full(24, 80);
    scene_queue(.fault = REPLY_STALL, .text = "half a summary");
    act(s, "/compact --preview the names<enter>", "half a summary", "manual");
    scene_sent(1, "the names");
    act(s, "/compact<enter>", "Not possible while a compaction is running");
    act(s, "<escape>", "▣ not compacted · summary + last turns", "cancelled", IDLE,
        "!half a summary");
    model_server_release(scene_server());
    scene_exchange(s, "go on", "as if nothing had been");
    scene_sent(2, "the first answer");
    assert_null(strstr(status_row(s), "⟳"));
}

/* --- failures --- */

#define FIRST_REQUEST "how do we cross the river"
#define FAILED "✗ not compacted · summary + last turns"

static int set_up(void **state)
{
    int result = scene_setup(state);
    setenv("TIRO_LEARNED_HISTORY", "false", 1); /* else a request tells of other sessions */
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "400", 1);
    setenv("TIRO_COMPACTION_RECENT_TURN_BUDGET", "1", 1);
    return result;
}

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

static bool says(size_t index, const char *text)
{
    const char *body = model_server_body(scene_server(), index);
    assert_non_null(body);
    return strstr(body, text) != NULL;
}

/* A conversation that the next message shortens. One request. */
static struct screen *faults_open_full(int rows, int cols)
{
    struct screen *s = scene_open(rows, cols, NULL);
    scene_exchange_long(s, FIRST_REQUEST, "first end");
    return s;
}

/* The message that shortens it is answered, and was sent behind all that was said before. */
static void assert_untouched(struct screen *s, size_t index)
{
    see(s, "Gladly.", IDLE);
    scene_sent(index, FIRST_REQUEST, "first end", "go on", "![Context compacted]");
    assert_int_equal(model_server_requests(scene_server()), index + 1);
}

FIXTURES(faults, set_up, scene_teardown);

TEST_IF(capability_compaction(), a_server_that_fails_is_asked_again)
{
    struct screen *s = faults_open_full(24, 80);
    for (int i = 0; i < 4; i++)
        scene_queue(.fault = REPLY_STATUS, .status = 500, .error_type = "api_error",
                    .error_message = "no summaries today", .retry_after = i == 0 ? "1" : "0");
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", "retry 1/3", FAILED, "no summaries today",
        "The conversation is unchanged.");
    assert_untouched(s, 5);
    scene_exchange(s, "and more", "Still here."); /* the next turn does not try again */
    assert_int_equal(model_server_requests(scene_server()), 7);
}

TEST_IF(capability_store() && capability_compaction(), it_stops_after_failures)
{
    setenv("TIRO_COMPACTION_MIN_TURNS_BETWEEN_COMPACTIONS", "0", 1);
    setenv("TIRO_COMPACTION_MAX_CONSECUTIVE_FAILURES", "2", 1);
    struct screen *s = faults_open_full(24, 80);
    static const char *const answers[] = {"One.", "Two."};
    for (int i = 0; i < 2; i++) {
        scene_queue(.text = " ");
        scene_exchange(s, "on", answers[i]);
    }
    see(s, "Automatic compaction has stopped", "compaction stopped");
    size_t before = model_server_requests(scene_server());
    scene_leave(s);
    s = scene_open(24, 80, (const char *const[]){"--continue", NULL});
    see(s, "compaction stopped");
    scene_exchange(s, "on", "Three.");
    assert_int_equal(model_server_requests(scene_server()), before + 1);
}

/* --- the summary on the screen --- */
static const char wide[] =
    "漢字かな交じり文の要約。日本の川に橋を架ける。e\xcc\x81 "
    "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac 予約は金曜日まで。";

/* Each byte is a write of its own, while the screen changes its size. */
TEST_IF(capability_compaction(), wide_characters_and_sizes_while_it_streams)
{
    static const int sizes[][2] = {{10, 40}, {50, 200}, {5, 20},  {30, 41}, {24, 80},
                                   {2, 2},   {11, 45},  {40, 61}, {24, 80}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct screen *s = faults_open_full(24, 80);
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 12; i++)
        buf_addstr(&text, wide);
    scene_queue(.text = text.data, .piece = 7, .interval_ms = 5);
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", "漢字");
    for (size_t i = 0; i < SIZES; i++) {
        screen_resize(s, sizes[i][0], sizes[i][1]);
        (void)screen_pump(s, 20);
    }
    see(s, "Gladly.", IDLE, "▣ compacted · summary + last turns");
    scene_assert_truthful(s);
    scene_sent(2, wide, "!" FIRST_REQUEST);
}

/* --- killed --- */

static const char *const again[] = {"--continue", NULL};
static const char back[] = "Back again.";

static void kill_it(struct screen *s)
{
    scene_end(s, SIGKILL);
    model_server_release(scene_server());
}

/* The conversation is wholly as it was, or wholly shortened, and never both; and it goes on. */
static void assert_whole(struct screen *s)
{
    act(s, "/retry<enter>", back, IDLE);
    size_t last = model_server_requests(scene_server()) - 1;
    scene_sent(last, "go on");
    bool whole = says(last, FIRST_REQUEST) && says(last, "first end");
    assert_true(whole != says(last, "[Context compacted]"));
    assert_int_equal(says(last, FIRST_REQUEST), whole);
}

static struct screen *open_killable(const struct reply *summary)
{
    model_server_set_default(scene_server(), &(struct reply){.text = back});
    struct screen *s = faults_open_full(24, 80);
    size_t sent = model_server_requests(scene_server());
    queue(*summary);
    act(s, "go on<enter>");
    assert_true(model_server_wait(scene_server(), sent + 1, WAIT_MS));
    return s;
}

TEST_IF(capability_store() && capability_compaction(), killed_within_the_summary)
{
    struct screen *s = open_killable(&(struct reply){.fault = REPLY_STALL, .text = wide});
    see(s, "漢字");
    act(s, "my own words");
    assert_true(scene_wait_draft(s, "my own words"));
    kill_it(s);
    s = scene_open(24, 80, again);
    see(s, "▣ compaction interrupted · summary + last turns", "> my own words", "!漢字");
    act(s, "<ctrl-c>");
    assert_whole(s);
}

struct moment {
    size_t bytes; /* that the program has written by then */
};

static bool has_come(struct screen *s, void *context)
{
    const struct moment *m = context;
    return screen_bytes(s) >= m->bytes || strstr(screen_text(s), back);
}

static bool is_shown(struct screen *s, void *context)
{
    (void)context;
    const char *text = screen_text(s);
    return strstr(text, back) || strstr(text, "/retry sends the message again");
}

TEST_IF(capability_store() && capability_compaction(), killed_at_any_moment)
{
    support_seed();
    for (int i = 0; i < 4; i++) {
        const struct reply summary = {
            .text = "The bridge is booked; pay by Friday.", .piece = 4, .interval_ms = 3};
        struct screen *s = open_killable(&summary);
        struct moment m = {screen_bytes(s) + (size_t)(entropy_unit() * 2500)};
        assert_true(screen_wait(s, has_come, &m, "the moment to die", WAIT_MS));
        kill_it(s);
        s = scene_open(24, 80, again);
        assert_true(screen_wait(s, is_shown, NULL, "how the session ended", WAIT_MS));
        if (!strstr(screen_text(s), back))
            assert_whole(s);
    }
}

/* --- the review of a draft --- */

#define REVIEW "draft summary ·", "Alt-g" /* it is open */
#define OVER "!draft summary", IDLE
#define HEADING "draft summary · summary + last turns"
#define SUMMARY "The bridge is booked."
#define OWN "my own words"

static int draft_set_up(void **state)
{
    int result = scene_setup(state);
    setenv("TIRO_COMPACTION_PREVIEW", "true", 1);
    setenv("TIRO_COMPACTION_RECENT_TURN_BUDGET", "1", 1);
    return result;
}

/* Two turns, so that the first can go. Two requests. */
static struct screen *open_conversation(int rows, int cols)
{
    struct screen *s = scene_open(rows, cols, NULL);
    scene_exchange_long(s, FIRST_REQUEST, "first end");
    scene_exchange_long(s, "and then?", "second end");
    return s;
}

static struct screen *open_review(int rows, int cols, const char *text)
{
    struct screen *s = open_conversation(rows, cols);
    scene_queue(.text = text);
    act(s, "/compact<enter>", REVIEW);
    return s;
}

/* Whether the caret stands after the text of this row. */
static bool caret_stands(struct screen *s, void *text)
{
    int row, col, at, left;
    bool visible;
    screen_cursor(s, &row, &col, &visible);
    return visible && screen_find(s, text, &at, &left) && row == at && col == left + 2;
}

static void wait_caret(struct screen *s, const char *row)
{
    auto_free char *text = mem_strdup(row);
    assert_true(screen_wait(s, caret_stands, text, "the caret's place", WAIT_MS));
}

FIXTURES(draft, draft_set_up, scene_teardown);

TEST_IF(capability_compaction(), what_is_kept_stands_for_the_rest)
{
    struct screen *s = open_review(24, 80, SUMMARY);
    see(s, HEADING, "Enter accepts", "> The bridge is booked.", "waiting for you");
    wait_caret(s, "> The bridge");
    act(s, "<enter>", OVER, "compacted");
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(3, SUMMARY, "!" FIRST_REQUEST, "second end");
}

TEST_IF(capability_compaction(), what_was_changed_is_what_counts)
{
    struct screen *s = open_review(24, 80, SUMMARY);
    act(s, "漢字: <ctrl-e><ctrl-j>");
    screen_paste(s, "- pay by Friday\n- e\xcc\x81");
    see(s, "> 漢字: The bridge is booked.", "- e\xcc\x81");
    act(s, "<enter>", OVER);
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(3, "漢字: The bridge is booked.\\n- pay by Friday\\n- e\xcc\x81", "!" FIRST_REQUEST);
}

TEST_IF(capability_compaction(), it_is_asked_for_again_with_a_focus)
{
    struct screen *s = open_review(24, 80, SUMMARY);
    act(s, "<alt-g>", "focus on:");
    act(s, "<escape>", REVIEW);
    act(s, "<alt-g>", "focus on:");
    act(s, "what it costs", "focus on: what it costs");
    scene_queue(.text = "The bridge costs 40.");
    act(s, "<enter>", "> The bridge costs 40.", REVIEW);
    assert_null(strstr(screen_text(s), SUMMARY)); /* nor in the card above */
    assert_int_equal(model_server_requests(scene_server()), 4);
    scene_sent(3, "what it costs", SUMMARY);
    act(s, "<enter>", OVER);
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(4, "The bridge costs 40.", "!" FIRST_REQUEST);
}

/* --- the person's own words --- */
/* The summary is requested, and text that is typed meanwhile is a message. */
static struct screen *write_meanwhile(const char *typed)
{
    size_t before = model_server_requests(scene_server());
    struct screen *s = open_conversation(24, 80);
    scene_queue(.text = SUMMARY, .hold = true);
    act(s, "/compact<enter>");
    assert_true(model_server_wait(scene_server(), before + 3, WAIT_MS));
    screen_type(s, typed);
    return s;
}

TEST_IF(capability_store() && capability_compaction(), own_words_come_back)
{
    struct screen *s = write_meanwhile(OWN);
    see(s, "> my own words");
    model_server_release(scene_server());
    see(s, REVIEW, "!" OWN);
    act(s, "changed ", "> changed The bridge");
    assert_true(scene_wait_draft(s, OWN));
    act(s, "<enter>", OVER, "> my own words");
    act(s, "!");
    assert_true(scene_wait_draft(s, "my own words!"));
}

TEST_IF(capability_store() && capability_compaction(), killed_during_the_review)
{
    struct screen *s = write_meanwhile(OWN);
    model_server_release(scene_server());
    see(s, REVIEW);
    act(s, "changed ", "> changed The bridge");
    assert_true(scene_wait_draft(s, OWN));
    scene_end(s, SIGKILL);
    s = scene_open(24, 80, again);
    see(s, "> my own words");
    act(s, "<enter>", "Hello from the scripted model.");
    scene_sent(3, FIRST_REQUEST, "!changed");
}

/* --- around it --- */

TEST_IF(capability_compaction(), the_external_editor)
{
    char *path = support_path("add-a-line");
    support_write(path,
                  "#!/bin/sh\n"
                  "for n in 3 4 5 6 7 8 9; do\n"
                  "  (: <&$n) 2>/dev/null && echo \"- inherited $n\" >>\"$1\"\n"
                  "done\n"
                  /* bit 24, which is SIGXFSZ */
                  "grep -q '^SigIgn:.*[13579bdf]......$' /proc/$$/status 2>/dev/null &&\n"
                  "  echo '- inherited an ignored signal' >>\"$1\"\n"
                  "echo '- by the editor' >>\"$1\"\n");
    assert_int_equal(chmod(path, 0700), 0);
    setenv("EDITOR", path, 1);
    struct screen *s = open_review(24, 80, "- by the model\n");
    act(s, "<ctrl-g>", "- by the editor", REVIEW);
    act(s, "<enter>", OVER);
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(3, "- by the editor");
#ifdef HAVE_CLOSEFROM
    scene_sent(3, "!- inherited");
#endif
    unsetenv("EDITOR");
}

TEST_IF(capability_compaction(), what_an_editor_that_failed_wrote_is_not_taken)
{
    char *path = support_path("fails");
    support_write(path, "#!/bin/sh\necho '- by the editor' >>\"$1\"\nexit 1\n");
    assert_int_equal(chmod(path, 0700), 0);
    setenv("EDITOR", path, 1);
    struct screen *s = open_review(24, 80, "- by the model\n");
    act(s, "<ctrl-g>", "the text is unchanged", "- by the model", "!- by the editor");
    unsetenv("EDITOR");
}

/* Within a turn, the answer waits for the decision on the summary, and comes after any decision. */
TEST_IF(capability_compaction(), a_turn_goes_on_after_it)
{
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "400", 1);
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange_long(s, FIRST_REQUEST, "first end");
    scene_queue(.text = SUMMARY);
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", REVIEW);
    assert_int_equal(model_server_requests(scene_server()), 2);
    act(s, "kept: <enter>", "Gladly.", OVER); /* into the summary, and keeps it */
    scene_sent(2, "kept: The bridge is booked.", "!" FIRST_REQUEST, "go on");
}

/* --- F4 and the opened card --- */

static void say(struct screen *s, int from, int to)
{
    for (int i = from; i <= to; i++) {
        char question[64], answer[64];
        snprintf(question, sizeof question, "question number %d of many", i);
        snprintf(answer, sizeof answer, "answer number %d of many", i);
        scene_exchange(s, question, answer);
    }
}

static void open_context(struct screen *s)
{
    act(s, "<f4>", "Context  ~");
}

static void close_context(struct screen *s)
{
    act(s, "<escape>", "!Context  ~");
}

/* The row with the pointer; "": there is none. */
static const char *chosen(struct screen *s)
{
    int rows, cols;
    screen_size(s, &rows, &cols);
    for (int i = 0; i < rows; i++) {
        const char *row = screen_row_text(s, i);
        if (strncmp(row, "\xe2\x80\xba", 3) == 0)
            return row;
    }
    return "";
}

static bool is_another(struct screen *s, void *before)
{
    return *chosen(s) && strcmp(chosen(s), before) != 0;
}

static bool is_any(struct screen *s, void *context)
{
    (void)context;
    return *chosen(s) != '\0';
}

/* Moves down to the row with this text. No two rows on the way are the same. */
static void choose(struct screen *s, const char *text)
{
    assert_true(screen_wait(s, is_any, NULL, "a pointer", WAIT_MS));
    while (!strstr(chosen(s), text)) {
        auto_free char *before = mem_strdup(chosen(s));
        act(s, "<down>");
        assert_true(screen_wait(s, is_another, before, text, WAIT_MS));
    }
}

/* --- F4 --- */
static void write_own_instructions(const char *text)
{
    auto_free char *directory = paths_dir(PATHS_CONFIG), *path = paths_join(directory, "AGENTS.md");
    struct error e;
    assert_true(paths_make_dir(directory, &e));
    support_write(path, text);
}

FIXTURES(context, scene_setup, scene_teardown);

TEST_IF(capability_compaction(), f4_shows_the_next_request)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "where to sleep?", "In the ryokan.");
    open_context(s);
    see(s, " system ", " tools ", "you     turn 1   where to sleep?",
        "tiro    turn 1   In the ryokan.", "a compaction now (summary + last turns)");
    close_context(s);
    see(s, "In the ryokan.");
    act(s, "/context<enter>", "Context  ~");
    act(s, "<f4>", "!Context  ~");
    scene_exchange(s, "the keyboard is the editor's again", "Indeed.");
}

TEST_IF(capability_compaction(), c_compacts_and_u_takes_it_back)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(40, 100, NULL);
    say(s, 1, 12);
    act(s, "<pageup>",
        "!answer number 12 of many"); /* the card is seen from wherever it was asked for */
    open_context(s);
    see(s, "a compaction now (deterministic) would drop");
    act(s, "c", "Shorten the conversation now? y/n");
    act(s, "y", "compacted", IDLE);
    open_context(s);
    see(s, "summary turn 1");
    act(s, "u", "!summary turn 1", "answer number 12 of many");
    act(s, "u", "There is no compaction to undo."); /* there is none any more */
    assert_int_equal(model_server_requests(scene_server()), 12);
}

/* --- the opened card --- */

static struct screen *compacted(int rows, int cols, int turns)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(rows, cols, NULL);
    say(s, 1, turns);
    act(s, "/compact<enter>", "compacted", IDLE);
    return s;
}

static void open_card(struct screen *s)
{
    act(s, "<enter>", "Compaction", "Summary");
}

TEST_IF(capability_compaction(), enter_opens_the_card)
{
    struct screen *s = compacted(24, 80, 6);
    open_card(s);
    see(s, "!loading");
    choose(s, "Summary");
    act(s, "<enter>", "messages summarised", "you  turn 1   question number 1 of many",
        "tiro turn 1   answer number 1 of many"); /* folds it */
    choose(s, "turn 2   question number 2");
    act(s, "<enter>");
    assert_true(screen_wait_count(s, "question number 2 of many", 2, WAIT_MS));
    screen_resize(s, 10, 40);
    see(s, "question number 2");
    screen_resize(s, 24, 80);
    see(s, "Esc close");
    act(s, "<escape>", "!messages summarised");
    scene_exchange(s, "it goes on", "Of course.");
}

/* The message is far above, on a page that is not held when the session is opened again. */
TEST_IF(capability_store() && capability_compaction(), o_jumps_to_the_message)
{
    static const char *const go_on[] = {"--continue", NULL};
    struct screen *s = compacted(24, 80, 50);
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    see(s, "compacted");
    open_card(s);
    choose(s, "Summary");
    act(s, "<enter>", "turn 1   question number 1 of many");
    choose(s, "turn 1   answer number 1 of many");
    act(s, "o", "!Compaction", "answer number 1 of many", "question number 2 of many",
        "!answer number 50");
}

TEST(instructions_are_sent_shown_and_told_of_when_they_change)
{
    write_own_instructions("Answer in verse.");
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "one", "First.");
    scene_sent(0, "Answer in verse.");
    open_context(s);
    see(s, " project ", "tiro/AGENTS.md");
    close_context(s);
    write_own_instructions("Answer in prose.");
    scene_exchange(s, "two", "Second.");
    see(s, "AGENTS.md or CLAUDE.md has changed");
    scene_sent(1, "Answer in prose.", "!in verse");
    scene_exchange(s, "three", "Third.");
    scene_leave(s);
    setenv("TIRO_PROJECT_INSTRUCTIONS", "false", 1);
    s = scene_open(24, 80, NULL);
    scene_exchange(s, "four", "Fourth.");
    scene_sent(3, "!Answer in prose.");
}

/* --- figures of the status line --- */

#define MARK "\u2502"
static const char *const unheard_of[] = {"--model", "unheard-of", NULL};

static void exchange(struct screen *s, const char *question, const char *answer, long input)
{
    scene_queue(.text = answer, .input_tokens = input, .output_tokens = 150);
    scene_ask(s, question, answer);
}

/* --- one request ----------------------------------------------------------------------------- */
/* "Context  ~1,955 tokens": the figure and its suffix as in the gauge. */
static bool f4_tells(struct screen *s, void *short_form)
{
    static const char title[] = "Context  ~";
    int row, col;
    if (!screen_find(s, title, &row, &col))
        return false;
    const char *text = strstr(screen_row_text(s, row), title) + strlen(title);
    int64_t tokens = 0;
    for (; *text != ' ' && *text; text++)
        if (*text != ',')
            tokens = tokens * 10 + (*text - '0');
    format_short(short_form, tokens);
    buf_addch(short_form, '/');
    return true;
}

static void assert_gauge_is_f4(struct screen *s)
{
    AUTO(buf_release) struct buf tokens = BUF_INIT;
    act(s, "<f4>");
    assert_true(screen_wait(s, f4_tells, &tokens, "the title of F4", WAIT_MS));
    see(s, tokens.data);
    act(s, "<escape>", "!Context  ~", tokens.data);
}

TEST(before_the_first_answer)
{
    struct screen *s = scene_open(24, 100, NULL);
    assert_gauge_is_f4(s);
    scene_queue(.hold = true, .text = "Late.", .no_usage = true);
    act(s, "a first question that is not answered for now<enter>");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    assert_gauge_is_f4(s);
    model_server_release(scene_server());
    see(s, IDLE);
    assert_gauge_is_f4(s);
}

#define COURSES                                                                                    \
    "tofu in broth at the corner of the canal, noodles with spring onions behind the theatre, "    \
    "rice with pickled plums near the bridge, tea and sweets of red beans in the garden, "         \
    "aubergine with miso above the bookshop, cold soba where the tram used to turn, "

static const char long_answer[] =
    "In Gion, where the lanterns are lit: " COURSES COURSES COURSES "and so on.";

TEST(after_answers_and_a_compaction)
{
    struct screen *s = scene_open(24, 100, NULL);
    exchange(s, "where to sleep?", "In the ryokan.", 4000);
    see(s, "4.2k/");
    assert_gauge_is_f4(s);
    scene_queue(.text = long_answer, .input_tokens = 9000, .output_tokens = 150);
    scene_ask(s, "and to eat?", "In Gion, where");
    see(s, "9.2k/");
    assert_gauge_is_f4(s);
    if (!capability_compaction())
        return;
    act(s, "/compact deterministic<enter>", "deterministic \xc2\xb7 9,150 \xe2\x86\x92 ");
    assert_gauge_is_f4(s);
    act(s, "/uncompact<enter>",
        "!\xe2\x9f\xb3"
        "1");
    assert_gauge_is_f4(s);
}

TEST_IF(capability_store(), after_a_resume_and_a_fork)
{
    struct screen *s = scene_open(24, 100, NULL);
    exchange(s, "where to sleep?", "In the ryokan.", 9000);
    scene_leave(s);
    s = scene_open(24, 100, (const char *const[]){"--continue", NULL});
    see(s, "9.2k/");
    assert_gauge_is_f4(s);
    act(s, "/fork<enter>", "This is a copy", "9.2k/");
    assert_gauge_is_f4(s);
    scene_leave(s); /* before the copy has a turn of its own */
    s = scene_open(24, 100, (const char *const[]){"--continue", NULL});
    see(s, "9.2k/");
    assert_gauge_is_f4(s);
}

/* --- the mark -------------------------------------------------------------------------------- */

/* Only the server knows the window. */
TEST_IF(capability_compaction(), the_mark_is_there_from_the_start)
{
    model_server_set_window(scene_server(), 32768);
    struct screen *s = scene_open(24, 100, unheard_of);
    see(s, MARK);
    exchange(s, "where to sleep?", "In the ryokan.", 4000);
    see(s, MARK);
    act(s, "/model another-one<enter>", "another-one", MARK);
}

/* A key that a command gives is not asked for before it is needed. */
TEST_IF(capability_compaction(), no_command_runs_for_the_mark)
{
    char *made = support_path("asked");
    model_server_set_window(scene_server(), 32768);
    unsetenv("ANTHROPIC_API_KEY");
    AUTO(buf_release) struct buf command = BUF_INIT;
    buf_addf(&command, "touch %s; echo key-of-a-command", made);
    setenv("TIRO_PROVIDER_NAME", "anthropic", 1);
    setenv("TIRO_ANTHROPIC_API_KEY_COMMAND", command.data, 1);
    struct screen *s = scene_open(24, 100, unheard_of);
    see(s, "/100k");
    assert_int_equal(access(made, F_OK), -1);
    exchange(s, "where to sleep?", "In the ryokan.", 4000);
    see(s, MARK);
}

/* --- costs ----------------------------------------------------------------------------------- */

#define ARGS(...) ((const char *const[]){"--no-compaction", __VA_ARGS__, NULL})

TEST_IF(capability_store(), an_unknown_price_stays_unknown)
{
    struct screen *s = scene_open(24, 100, ARGS("--model", "unheard-of"));
    exchange(s, "where to sleep?", "In the ryokan.", 400000);
    see(s, "In the ryokan.", "!$");
    act(s, "/model claude-haiku-4-5<enter>", "claude-haiku-4-5", "!/model", "!$");
    exchange(s, "and to eat?", "In Gion.", 1000000);
    see(s, "$1.00+");
    scene_leave(s);
    s = scene_open(24, 100, ARGS("--continue"));
    see(s, "$1.00+");
}
