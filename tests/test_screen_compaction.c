/* Compaction in the real program: the card, the review of a draft, failures, F4, and the figures of
 * the status line. */
#include <sys/stat.h>

#include "base/entropy.h"
#include "base/paths.h"
#include "session/capability.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "ui/text/format.h"

#define FIRST_REQUEST "how do we cross the river"
#define FAILED "✗ not compacted · summary + last turns"
#define BACK "Back again."
#define REVIEW "draft summary ·", "Alt-g" /* it is open */
#define OVER "!draft summary", IDLE
#define SUMMARY "The bridge is booked."
#define OWN "my own words"
#define WIDE                                                                                       \
    "漢字かな交じり文の要約。日本の川に橋を架ける。e\xcc\x81 "              \
    "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac 予約は金曜日まで。"

/* --- steps --- */

/* A conversation that the next message compacts. */
static void open_full(void)
{
    scene_queue(.text = "the first answer", .input_tokens = 600, .output_tokens = 5);
    play("=open", "=ask one|the first answer");
}

/* Two turns, so that the first can go, and a summary that waits for the person. */
static void open_review(const char *summary)
{
    play("=open", "=long " FIRST_REQUEST "|first end", "=long and then?|second end",
         support_text("=says %s", summary), ":/compact<enter>", REVIEW);
}

static bool says(size_t index, const char *text)
{
    return strstr(model_server_body(scene_server(), index), text) != NULL;
}

/* The conversation is wholly as it was, or wholly shortened, and never both; and it goes on. */
static void assert_whole(void)
{
    play(":/retry<enter>", BACK, IDLE, "=sent last go on");
    size_t last = model_server_requests(scene_server()) - 1;
    bool whole = says(last, FIRST_REQUEST) && says(last, "first end");
    assert_true(whole != says(last, "[Context compacted]"));
    assert_int_equal(says(last, FIRST_REQUEST), whole);
}

/* The summary is requested, and text that is typed meanwhile is a message. */
static void write_meanwhile(const char *typed)
{
    play("=open", "=long " FIRST_REQUEST "|first end", "=long and then?|second end");
    scene_queue(.text = SUMMARY, .hold = true);
    play(":/compact<enter>", "=wait 3", support_text(":%s", typed));
}

static void talk(const char *turns)
{
    for (int i = 1; i <= atoi(turns); i++)
        play(support_text("=exchange question number %d of many|answer number %d of many", i, i));
}

static void open_compacted(const char *turns)
{
    play("=env TIRO_COMPACTION_MODE=deterministic", "=open");
    talk(turns);
    play(":/compact<enter>", "compacted", IDLE);
}

/* The row with the pointer; "": there is none. */
static const char *chosen(struct screen *s)
{
    int row, col;
    return screen_find(s, "\u203a", &row, &col) && col == 0 ? screen_row_text(s, row) : "";
}

static bool is_another(struct screen *s, void *before)
{
    return *chosen(s) && strcmp(chosen(s), before) != 0;
}

/* Moves down to the row with this text. No two rows on the way are the same. */
static void choose(const char *text)
{
    char none[] = "";
    assert_true(screen_wait(scene(), is_another, none, "a pointer", WAIT_MS));
    while (!strstr(chosen(scene()), text)) {
        auto_free char *before = mem_strdup(chosen(scene()));
        play(":<down>");
        assert_true(screen_wait(scene(), is_another, before, text, WAIT_MS));
    }
}

static void write_instructions(const char *text)
{
    auto_free char *directory = paths_dir(PATHS_CONFIG), *path = paths_join(directory, "AGENTS.md");
    struct error e;
    assert_true(paths_make_dir(directory, &e));
    support_write(path, text);
}

/* "TOKENS QUESTION|ANSWER": the answer tells of so many tokens of input. */
static void exchange_counted(const char *rest)
{
    const char *question = strchr(rest, ' ') + 1, *answer = strchr(question, '|') + 1;
    scene_queue(.text = answer, .input_tokens = atol(rest), .output_tokens = 150);
    play(support_text("=ask %s", question));
}

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

static void assert_gauge_is_f4(void)
{
    AUTO(buf_release) struct buf tokens = BUF_INIT;
    play(":<f4>");
    assert_true(screen_wait(scene(), f4_tells, &tokens, "the title of F4", WAIT_MS));
    play(tokens.data, ":<escape>", "!Context  ~", tokens.data);
}

static const struct step steps[] = {{"full", .alone = open_full},
                                    {"review", .run = open_review},
                                    {"whole", .alone = assert_whole},
                                    {"meanwhile", .run = write_meanwhile},
                                    {"talk", .run = talk},
                                    {"compacted", .run = open_compacted},
                                    {"choose", .run = choose},
                                    {"instructions", .run = write_instructions},
                                    {"counted", .run = exchange_counted},
                                    {"gauge", .alone = assert_gauge_is_f4},
                                    {.name = NULL}};

SCENE(steps);

/* The second answer would be compacted before, as the first one takes more than the threshold. */
TEST_IF(capability_compaction(), it_is_seen_from_start_to_outcome)
{
    play(
        "=config [compaction]\nauto_compact_threshold = 500\n"
        "min_turns_between_compactions = 0\nrecent_turn_budget = 1\n",
        "=full", "=stalls ## Goal\n日本 in November\nnext: hotels, and");
    scene_queue(.text = "the second answer", .input_tokens = 90, .output_tokens = 5);
    play(":two<enter>", "next: hotels", "▣ compacting · summary + last turns · ~623 tokens · ",
         " · limit of 500 tokens reached", "\n  日本 in November\n", "=row 22 compacting ",
         "=row 22  623/500", " · 1 s   Esc cancels", "=release", "the second answer", IDLE,
         "▣ compacted · summary + last turns · ", " ⏎ opens\n", "another mode: /compact MODE",
         "!next: hotels", "!compacting", "=row 22 ⟳1", "=requests 3",
         "=sent 2 [Context compacted]|!the first answer");
    const char *text = screen_text(scene()), *card = strstr(text, "▣ compacted");
    assert_true(strstr(text, "two") < card && card < strstr(text, "the second answer"));
}

PLAY_IF(capability_compaction(), escape_stops_it, "=full", "=stalls half a summary",
        ":/compact --preview the names<enter>", "half a summary", "manual", "=sent 1 the names",
        ":/compact<enter>", "Not possible while a compaction is running", ":<escape>",
        "▣ not compacted · summary + last turns", "cancelled", IDLE, "!half a summary", "=release",
        "=exchange go on|as if nothing had been", "=sent 2 the first answer", "!⟳");

/* --- failures --- */

static int set_up_faults(void **state)
{
    int result = set_up(state);
    setenv("TIRO_LEARNED_HISTORY", "false", 1); /* else a request tells of other sessions, */
    setenv("TIRO_MEMORY_RECALL", "off", 1);     /* or quotes one, with its title */
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "400", 1);
    setenv("TIRO_COMPACTION_RECENT_TURN_BUDGET", "1", 1);
    return result;
}

FIXTURES(faults, set_up_faults, scene_teardown);

PLAY_IF(capability_compaction(), a_server_that_fails_is_asked_again, "=open",
        "=long " FIRST_REQUEST "|first end", "=refuses 500 api_error|no summaries today|1",
        "=refuses 500 api_error|no summaries today|0",
        "=refuses 500 api_error|no summaries today|0",
        "=refuses 500 api_error|no summaries today|0", "=says Gladly.", ":go on<enter>",
        "retry 1/3", FAILED, "no summaries today", "The conversation is unchanged.", "Gladly.",
        IDLE, "=sent 5 " FIRST_REQUEST "|first end|go on|![Context compacted]", "=requests 6",
        "=exchange and more|Still here.", /* the next turn does not try again */
        "=requests 7");

PLAY_IF(capability_store() && capability_compaction(), it_stops_after_failures,
        "=env TIRO_COMPACTION_MIN_TURNS_BETWEEN_COMPACTIONS=0",
        "=env TIRO_COMPACTION_MAX_CONSECUTIVE_FAILURES=2", "=open",
        "=long " FIRST_REQUEST "|first end", "=says  ", "=exchange on|One.", "=says  ",
        "=exchange on|Two.", "Automatic compaction has stopped", "compaction stopped",
        "=requests 5", "=leave", "=open 24 80 --continue", "compaction stopped",
        "=exchange on|Three.", "=requests 6");

/* Each byte is a write of its own, while the screen changes its size. */
TEST_IF(capability_compaction(), wide_characters_and_sizes_while_it_streams)
{
    static const int sizes[][2] = {{10, 40}, {50, 200}, {5, 20},  {30, 41}, {24, 80},
                                   {2, 2},   {11, 45},  {40, 61}, {24, 80}};
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 12; i++)
        buf_addstr(&text, WIDE);
    play("=open", "=long " FIRST_REQUEST "|first end");
    scene_queue(.text = text.data, .piece = 7, .interval_ms = 5);
    play("=says Gladly.", ":go on<enter>", "漢字");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        screen_resize(scene(), sizes[i][0], sizes[i][1]);
        (void)screen_pump(scene(), 20);
    }
    play("Gladly.", IDLE, "▣ compacted · summary + last turns", "=truthful",
         "=sent 2 " WIDE "|!" FIRST_REQUEST);
}

/* --- killed --- */

PLAY_IF(capability_store() && capability_compaction(), killed_within_the_summary, "=open",
        "=long " FIRST_REQUEST "|first end", "=stalls " WIDE, ":go on<enter>", "漢字",
        ":my own words", "=draft my own words", "=kill 9", "=release", "=says " BACK,
        "=open 24 80 --continue", "▣ compaction interrupted · summary + last turns",
        "> my own words", "!漢字", ":<ctrl-c>", "=whole");

static bool has_come(struct screen *s, void *bytes) /* that the program has written by then */
{
    return screen_bytes(s) >= *(size_t *)bytes || strstr(screen_text(s), BACK);
}

static bool is_shown(struct screen *s, void *context)
{
    (void)context;
    const char *text = screen_text(s);
    return strstr(text, BACK) || strstr(text, "/retry sends the message again");
}

TEST_IF(capability_store() && capability_compaction(), killed_at_any_moment)
{
    support_seed();
    model_server_set_default(scene_server(), &(struct reply){.text = BACK});
    for (int i = 0; i < 4; i++) {
        play("=open", "=long " FIRST_REQUEST "|first end");
        size_t sent = model_server_requests(scene_server());
        scene_queue(.text = "The bridge is booked; pay by Friday.", .piece = 4, .interval_ms = 3);
        play(":go on<enter>");
        assert_true(model_server_wait(scene_server(), sent + 1, WAIT_MS));
        size_t moment = screen_bytes(scene()) + (size_t)(entropy_unit() * 2500);
        assert_true(screen_wait(scene(), has_come, &moment, "the moment to die", WAIT_MS));
        play("=kill 9", "=release", "=open 24 80 --continue");
        assert_true(screen_wait(scene(), is_shown, NULL, "how the session ended", WAIT_MS));
        if (!strstr(screen_text(scene()), BACK))
            assert_whole();
    }
}

/* --- the review of a draft --- */

static int set_up_draft(void **state)
{
    int result = set_up(state);
    setenv("TIRO_COMPACTION_PREVIEW", "true", 1);
    setenv("TIRO_COMPACTION_RECENT_TURN_BUDGET", "1", 1);
    return result;
}

/* Whether the caret stands after the text of this row. */
static bool caret_stands(struct screen *s, void *text)
{
    int row, col, at, left;
    bool visible;
    screen_cursor(s, &row, &col, &visible);
    return visible && screen_find(s, text, &at, &left) && row == at && col == left + 2;
}

FIXTURES(draft, set_up_draft, scene_teardown);

TEST_IF(capability_compaction(), what_is_kept_stands_for_the_rest)
{
    char text[] = "> The bridge";
    play("=review " SUMMARY, "draft summary · summary + last turns", "Enter accepts",
         "> The bridge is booked.", "waiting for you");
    assert_true(screen_wait(scene(), caret_stands, text, "the caret's place", WAIT_MS));
    play(":<enter>", OVER, "compacted", "=exchange go on|Gladly.",
         "=sent 3 " SUMMARY "|!" FIRST_REQUEST "|second end");
}

PLAY_IF(capability_compaction(), what_was_changed_is_what_counts, "=review " SUMMARY,
        ":漢字: <ctrl-e><ctrl-j>", "=paste - pay by Friday\n- e\xcc\x81",
        "> 漢字: The bridge is booked.", "- e\xcc\x81", ":<enter>", OVER, "=exchange go on|Gladly.",
        "=sent 3 漢字: The bridge is booked.\\n- pay by Friday\\n- e\xcc\x81|!" FIRST_REQUEST);

PLAY_IF(capability_compaction(), it_is_asked_for_again_with_a_focus, "=review " SUMMARY, ":<alt-g>",
        "focus on:", ":<escape>", REVIEW, ":<alt-g>", "focus on:", ":what it costs",
        "focus on: what it costs", "=says The bridge costs 40.", ":<enter>",
        "> The bridge costs 40.", REVIEW, "!" SUMMARY, /* nor in the card above */
        "=requests 4", "=sent 3 what it costs|" SUMMARY, ":<enter>", OVER,
        "=exchange go on|Gladly.", "=sent 4 The bridge costs 40.|!" FIRST_REQUEST);

PLAY_IF(capability_store() && capability_compaction(), own_words_come_back, "=meanwhile " OWN,
        "> my own words", "=release", REVIEW, "!" OWN, ":changed ", "> changed The bridge",
        "=draft " OWN, ":<enter>", OVER, "> my own words", ":!", "=draft my own words!");

PLAY_IF(capability_store() && capability_compaction(), killed_during_the_review, "=meanwhile " OWN,
        "=release", REVIEW, ":changed ", "> changed The bridge", "=draft " OWN, "=kill 9",
        "=open 24 80 --continue", "> my own words", ":<enter>", "Hello from the scripted model.",
        "=sent 3 " FIRST_REQUEST "|!changed");

/* --- around it --- */

static void set_editor(const char *script)
{
    char *path = support_path("editor");
    support_write(path, script);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("EDITOR", path, 1);
}

TEST_IF(capability_compaction(), the_external_editor)
{
    set_editor(
        "#!/bin/sh\n"
        "for n in 3 4 5 6 7 8 9; do\n"
        "  (: <&$n) 2>/dev/null && echo \"- inherited $n\" >>\"$1\"\n"
        "done\n"
        /* bit 24, which is SIGXFSZ */
        "grep -q '^SigIgn:.*[13579bdf]......$' /proc/$$/status 2>/dev/null &&\n"
        "  echo '- inherited an ignored signal' >>\"$1\"\n"
        "echo '- by the editor' >>\"$1\"\n");
    play("=review - by the model\n", ":<ctrl-g>", "- by the editor", REVIEW, ":<enter>", OVER,
         "=exchange go on|Gladly.", "=sent 3 - by the editor");
#ifdef HAVE_CLOSEFROM
    play("=sent 3 !- inherited");
#endif
    set_editor("#!/bin/sh\necho '- of one that failed' >>\"$1\"\nexit 1\n");
    play("=long and more?|third end", "=says - again\n", ":/compact<enter>", REVIEW, ":<ctrl-g>",
         "failed; the text is", "> - again", "!- of one that failed");
    unsetenv("EDITOR");
}

/* Within a turn, the answer waits for the decision on the summary, and comes after any decision. */
PLAY_IF(capability_compaction(), a_turn_goes_on_after_it,
        "=env TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD=400", "=open",
        "=long " FIRST_REQUEST "|first end", "=says " SUMMARY, "=says Gladly.", ":go on<enter>",
        REVIEW, "=requests 2", ":kept: <enter>", "Gladly.",
        OVER, /* into the summary, and keeps it */
        "=sent 2 kept: The bridge is booked.|!" FIRST_REQUEST "|go on");

/* --- F4 and the opened card --- */

FIXTURES(context, set_up, scene_teardown);

PLAY_IF(capability_compaction(), f4_shows_the_next_request, "=open",
        "=exchange where to sleep?|In the ryokan.", ":<f4>", "Context  ~", " system ", " tools ",
        "you     turn 1   where to sleep?", "tiro    turn 1   In the ryokan.",
        "a compaction now (summary + last turns)", ":<escape>", "!Context  ~", "In the ryokan.",
        ":/context<enter>", "Context  ~", ":<f4>", "!Context  ~",
        "=exchange the keyboard is the editor's again|Indeed.");

PLAY_IF(capability_compaction(), c_compacts_and_u_takes_it_back,
        "=env TIRO_COMPACTION_MODE=deterministic", "=open 40 100", "=talk 12", ":<pageup>",
        "!answer number 12 of many", /* the card is seen from wherever it was asked for */
        ":<f4>", "Context  ~", "a compaction now (deterministic) would drop", ":c",
        "Shorten the conversation now? y/n", ":y", "compacted", IDLE, ":<f4>", "Context  ~",
        "summary turn 1", ":u", "!summary turn 1", "answer number 12 of many", ":u",
        "There is no compaction to undo.", /* there is none any more */
        "=requests 12");

PLAY_IF(capability_compaction(), enter_opens_the_card, "=compacted 6", ":<enter>", "Compaction",
        "Summary", "!loading", "=choose Summary", ":<enter>", "messages summarised",
        "you  turn 1   question number 1 of many",
        "tiro turn 1   answer number 1 of many", /* folds it */
        "=choose turn 2   question number 2", ":<enter>", "=count 2 question number 2 of many",
        "=size 10 40", "question number 2", "=size 24 80", "Esc close", ":<escape>",
        "!messages summarised", "=exchange it goes on|Of course.");

/* The message is far above, on a page that is not held when the session is opened again. */
PLAY_IF(capability_store() && capability_compaction(), o_jumps_to_the_message, "=compacted 50",
        "=leave", "=open 24 80 --continue", "compacted", ":<enter>", "Compaction", "Summary",
        "=choose Summary", ":<enter>", "turn 1   question number 1 of many",
        "=choose turn 1   answer number 1 of many", ":o", "!Compaction", "answer number 1 of many",
        "question number 2 of many", "!answer number 50");

PLAY(instructions_are_sent_shown_and_told_of_when_they_change, "=instructions Answer in verse.",
     "=open", "=exchange one|First.", "=sent 0 Answer in verse.", ":<f4>", "Context  ~",
     " project ", "tiro/AGENTS.md", ":<escape>", "!Context  ~", "=instructions Answer in prose.",
     "=exchange two|Second.", "AGENTS.md or CLAUDE.md has changed",
     "=sent 1 Answer in prose.|!in verse", "=exchange three|Third.", "=leave",
     "=env TIRO_PROJECT_INSTRUCTIONS=false", "=open", "=exchange four|Fourth.",
     "=sent 3 !Answer in prose.");

/* --- figures of the status line --- */

#define MARK "\u2502"
TEST(before_the_first_answer)
{
    play("=open 24 100", "=gauge");
    scene_queue(.hold = true, .text = "Late.", .no_usage = true);
    play(":a first question that is not answered for now<enter>", "=wait 1", "=gauge", "=release",
         IDLE, "=gauge");
}

TEST(after_answers_and_a_compaction)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    buf_addstr(&answer, "In Gion, where the lanterns are lit: ");
    for (int i = 0; i < 80; i++)
        buf_addf(&answer, "and noodles %d", i);
    play("=open 24 100", "=counted 4000 where to sleep?|In the ryokan.", "4.2k/", "=gauge");
    scene_queue(.text = answer.data, .input_tokens = 9000, .output_tokens = 150);
    play("=ask and to eat?|In Gion, where", "9.2k/", "=gauge");
    if (capability_compaction())
        play(":/compact deterministic<enter>", "deterministic · 9,150 → ", "=gauge",
             ":/uncompact<enter>", "!⟳1", "=gauge");
}

PLAY_IF(capability_store(), after_a_resume_and_a_fork, "=open 24 100",
        "=counted 9000 where to sleep?|In the ryokan.", "=leave", "=open 24 100 --continue",
        "9.2k/", "=gauge", ":/fork<enter>", "This is a copy", "9.2k/", "=gauge",
        "=leave", /* before the copy has a turn of its own */
        "=open 24 100 --continue", "9.2k/", "=gauge");

/* Only the server knows the window. */
TEST_IF(capability_compaction(), the_mark_is_there_from_the_start)
{
    model_server_set_window(scene_server(), 32768);
    play("=open 24 100 --model unheard-of", MARK, "=counted 4000 where to sleep?|In the ryokan.",
         MARK, ":/model another-one<enter>", "another-one", MARK);
}

/* A key that a command gives is not asked for before it is needed. */
TEST_IF(capability_compaction(), no_command_runs_for_the_mark)
{
    model_server_set_window(scene_server(), 32768);
    unsetenv("ANTHROPIC_API_KEY");
    play("=env TIRO_PROVIDER_NAME=anthropic",
         support_text("=env TIRO_ANTHROPIC_API_KEY_COMMAND=touch %s; echo key-of-a-command",
                      support_path("asked")),
         "=open 24 100 --model unheard-of", "/100k", "=unmade asked",
         "=counted 4000 where to sleep?|In the ryokan.", MARK);
}

PLAY_IF(capability_store(), an_unknown_price_stays_unknown,
        "=open 24 100 --no-compaction --model unheard-of",
        "=counted 400000 where to sleep?|In the ryokan.", "In the ryokan.", "!$",
        ":/model claude-haiku-4-5<enter>", "claude-haiku-4-5", "!/model", "!$",
        "=counted 1000000 and to eat?|In Gion.", "$1.00+", "=leave",
        "=open 24 100 --no-compaction --continue", "$1.00+");
