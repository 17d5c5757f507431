/* The surface that writes line by line: through a pipe, and at a terminal that knows no sequences.
 */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/scene.h"
#include "tests/suite.h"
#include "ui/app/plain_io.h"

static void say(const char *text)
{
    scene_queue(.text = text);
}

/* Answers that are long enough for a compaction. */
static void say_much(int times)
{
    static char words[30000];
    for (size_t i = 0; i < sizeof words - 1; i++)
        words[i] = i % 6 == 5 ? ' ' : 'w';
    while (times-- > 0)
        say(words);
}

/* --- through a pipe --- */

#define PIPE(input, ...) talk(input, (const char *const[]){"--plain", __VA_ARGS__, NULL})

static bool exists(const char *name)
{
    auto_free char *path = support_path(name);
    return access(path, F_OK) == 0;
}

/* The program's output, checked to have no control character except the newline. The program runs
 * in the test's own directory. */
static const char *talk(const char *input, const char *const *args)
{
    char *out, *err, *here = getcwd(NULL, 0);
    assert_int_equal(chdir(support_dir()), 0);
    int status = support_run(args, input, &out, &err);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(status, 0);
    free(here);
    assert_string_equal(err, "");
    for (const char *p = out; *p; p++)
        assert_true((unsigned char)*p >= ' ' || *p == '\n');
    free(err);
    return support_keep(out);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text);
}

static void assert_in_order(const char *text, const char *const *parts)
{
    for (; *parts; parts++) {
        assert_has(text, *parts);
        text = strstr(text, *parts) + strlen(*parts);
    }
}

#define IN_ORDER(text, ...) assert_in_order(text, (const char *const[]){__VA_ARGS__, NULL})

BEFORE_ALL(support_utf8);
FIXTURE(scene_setup, scene_teardown);

TEST(lines_are_turns_one_after_the_other)
{
    say("The first answer.\n\nIt has two paragraphs.");
    say("The second answer.");
    const char *out = PIPE("one\ntwo\\\nlines\n", "--tools", "none");
    IN_ORDER(out, "\nyou: one\ntiro:\nThe first answer.\n\nIt has two paragraphs.\n",
             "you: two\nlines\ntiro:\nThe second answer.\n");
    assert_int_equal(model_server_requests(scene_server()), 2);
}

TEST(foreign_controls_are_cleaned)
{
    say("an \033[31mescape\033]0;title\a and a\rreturn");
    const char *out = PIPE("hello\n", "--tools", "none");
    assert_says(out, "an \u241b[31mescape");
}

TEST_IF(capability_store() && capability_compaction(), commands_are_the_screens)
{
    say("An answer.");
    const char *out = PIPE(
        "/help\nhello\n/rename A better title\n/label +travel\n/context\n/frobnicate\n"
        "/theme\n/contxt\n/export out.md\n/pin\n/pin 7\n//no command\n/system\n/doctor\n",
        "--tools", "none");
    IN_ORDER(out, "/compact [MODE] [--preview] [FOCUS]: ", "An answer.", "Done.", "Done.",
             "system: ~", "total ~", "There is no command /frobnicate",
             "/theme needs the full screen", "Did you mean /context?", "Exported to out.md.",
             "pinned", "You have sent 1 message in this session.", "you: /no command",
             "the configured system prompt", "provider: anthropic");
    assert_true(exists("out.md"));
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++)
        if (o->slash)
            assert_says(out, support_text("/%s%s%s: ", o->slash, *o->takes ? " " : "", o->takes));
    out = PIPE("/context\n", "--tools", "read");
    IN_ORDER(out, "system: ~", "tools: ~", "\n  built-in: ~", "total ~");
}

TEST_IF(capability_store(), a_session_is_gone_on_with)
{
    say("Answer A.");
    say("Answer B.");
    say("Answer C.");
    (void)PIPE("first\nsecond\nthird\n", "--tools", "none");
    say("Answer D.");
    const char *out =
        PIPE("fourth\n/sessions\n/fork 1\n/new\n/resume last\n", "--tools", "none", "-c");
    assert_says(out, "!Answer A.\nyou: second");
    IN_ORDER(out, "Session: first (3 turns)", "These are the last turns",
             "you: second\ntiro:\nAnswer B.", "you: third\ntiro:\nAnswer C.",
             "you: fourth\ntiro:\nAnswer D.", "4 turns: first", "Session: ", "(1 turn)",
             "you: first\ntiro:\nAnswer A.", "This is a copy", "A new session.", "Session: ");
}

TEST_IF(capability_compaction(), a_compaction_is_told)
{
    const char *out = PIPE("/compact handof\n/compact\n/uncompact\n", "--tools", "none");
    IN_ORDER(out, "Did you mean handoff?", "There is nothing to compact yet.",
             "There is no compaction to undo.");
    say_much(4);
    say("What was said in short.");
    out = PIPE("a\nb\nc\nd\n/compact handoff\n/uncompact\n", "--tools", "none");
    IN_ORDER(out, "compacting", "compacted", "summary + last turns", "another mode: /compact MODE",
             "compaction undone");
}

TEST_IF(capability_compaction() && capability_memory(), memory_is_searched_and_forgotten)
{
    say("The ryokan by the river.");
    say_much(3);
    say("What was said in short.");
    const char *out = PIPE(
        "where did we sleep\nb\nc\nd\n/compact\n/memory ryokan\n/forget 1\n/forget "
        "99\n/memory ryokan\n",
        "--tools", "none");
    IN_ORDER(out, "compacted", "1. ", "The ryokan by the river.", "/forget NUMBER", "Done.",
             "The last list has no such entry");
    assert_null(strstr(strstr(out, "Done."), "The ryokan by the river."));
}

/* Sends a line, and checks the output after it. */
static void type_line(struct support_child *c, const char *line, const char *answer)
{
    buf_clear(&c->out_text);
    assert_int_equal(write(c->in, line, strlen(line)), strlen(line));
    if (!support_read_until(c, answer, WAIT_MS))
        fail_msg("\"%s\" is not in: %s", answer, c->out_text.data);
}

TEST_IF(capability_corpora(), corpora_are_read_searched_and_cited)
{
    AUTO(support_release) struct support_child c = {0};
    mkdir(support_path("docs"), 0700);
    support_write(support_path("docs/kyoto.md"), "# Sleeping\n\nThe ryokan is by the river.\n");
    support_write(support_path("docs/broken.docx"), "no archive");
    scene_queue(.tool_name = "rag_search",
                .tool_args = "{\"corpus_id\":\"trip\",\"query\":\"ryokan\"}");
    say("By the river [1].");
    support_start(&c, TEXTS(support_program(), "--plain"));
    type_line(&c, "/corpus\n", "There is no corpus.");
    type_line(&c, "/corpus add trip\n", "/corpus add NAME PATH");
    type_line(&c, support_text("/corpus add trip %s\n", support_path("docs")),
              "Corpus trip is read: 2 files, 1 new, 1 unreadable; ");
    type_line(&c, "/corpus\n", "trip: documents 1, passages 1, unreadable 1");
    type_line(&c, "/corpus ryokan\n", "kyoto.md:1  Sleeping\n# Sleeping");
    type_line(&c, "where? @corpus:trip\n", "By the river [1].");
    type_line(&c, "/cite 1\n", "kyoto.md:1  Sleeping");
    type_line(&c, "/cite 7\n", "The model was given no passage with this number.");
    assert_int_equal(support_finish(&c, NULL), 0);
}

TEST_IF(capability_memory(), the_graph_is_listed_and_searched)
{
    setenv("TIRO_LEARNED_CAPTURE", "auto", 1);
    scene_queue(.tool_name = "memory_create_entities",
                .tool_args =
                    "{\"entities\":[{\"name\":\"京都\",\"entity_type\":\"city\","
                    "\"observations\":[\"has ryokans\",\"old\\n- fake\"]},{\"name\":\"Japan\","
                    "\"entity_type\":\"country\"}]}");
    scene_queue(.tool_name = "memory_create_relations",
                .tool_args =
                    "{\"relations\":[{\"from\":\"京都\",\"to\":\"Japan\","
                    "\"relation_type\":\"lies in\"}]}");
    say("It is noted.");
    const char *out =
        PIPE("/graph\nnote Kyoto\n/graph\n/graph RYOK\n/graph nowhere\n", "--tools", "read");
    unsetenv("TIRO_LEARNED_CAPTURE");
    IN_ORDER(out, "The graph is empty", "It is noted.", "Japan (country): 0 observations\n",
             "京都 (city): 2 observations\n", "京都 (city)  [", "]\n  - has ryokans  [",
             "]\n  - old - fake  [", "]\n\n京都 -- lies in -> Japan\n", "No matches in the graph.");
}

TEST_IF(capability_store() && capability_memory(), what_is_learned_is_told_and_found)
{
    say("As you like.");
    const char *out =
        PIPE("No emojis.\n/remember the port is 8443\n/forget port\n/learned\n", "--tools", "none");
    IN_ORDER(out, "active  the port is 8443", "No matches in memory", "active  the port is 8443",
             "/learned forget ID deletes");
    assert_null(strstr(out, "candidate")); /* nobody typed it */
}

TEST_IF(capability_store() && capability_compaction(), a_draft_summary_is_looked_at_first)
{
    say_much(4);
    say("First draft.");
    say("Second draft.");
    const char *out =
        PIPE("a\nb\nc\nd\n/compact --preview\nwhat?\nagain\nyes\n", "--tools", "none");
    IN_ORDER(out, "First draft.", "Use this summary?", "Queued", "Second draft.", "compacted",
             "you: what?");
    say("Third draft.");
    out = PIPE("/compact --preview\nno\n/context\n", "--tools", "none", "-c");
    IN_ORDER(out, "Use this summary?", "not compacted", "total ~");
}

TEST(a_retry_is_told)
{
    scene_queue(.fault = REPLY_STATUS, .status = 503, .retry_after = "0");
    say("The answer.");
    const char *out = PIPE("hello\n", "--tools", "none");
    IN_ORDER(out, "retry 1 of", "tiro:\nThe answer.\n");
}

TEST(an_answer_that_breaks_off_is_kept)
{
    scene_queue(.fault = REPLY_DISCONNECT, .text = "The beginning of");
    say("The whole answer.");
    const char *out = PIPE("hello\n/retry\n", "--tools", "none");
    IN_ORDER(out, "tiro:\nThe beginning of\n", "try again", "/retry sends the message again.",
             "tiro:\nThe whole answer.\n");
    assert_says(out, "!interrupted");
}

TEST_IF(capability_store(), errors_give_the_message_back)
{
    scene_queue(.fault = REPLY_STATUS, .status = 400, .error_message = "no such thing");
    say("Now it works.");
    const char *out = PIPE("hello\n/retry\n/resume nosuch\n", "--tools", "none");
    IN_ORDER(out, "no such thing", "Now it works.", "The session was not found.");
}

TEST(tools_ask_and_the_next_line_answers)
{
    const char *call = "{\"command\":\"touch made\"}";
    scene_queue(.tool_name = "run_command", .tool_args = call);
    say("Refused then.");
    const char *out = PIPE("make it\nno\n", "--tools", "full");
    IN_ORDER(out, "The model wants to run a command (run_command):", "touch made",
             "With \"session\" you allow `touch made …` for this session.", "Allow it? yes, no",
             "Refused then.");
    assert_false(exists("made"));
    scene_queue(.tool_name = "run_command", .tool_args = call);
    say("Nobody said yes.");
    out = PIPE("make it\n", "--tools", "full"); /* the input ends: that is a no */
    assert_says(out, "Nobody said yes.");
    assert_false(exists("made"));
    scene_queue(.tool_name = "run_command", .tool_args = call);
    say("Made.");
    out =
        PIPE("make it\nyes, do\n yes \n", "--tools", "full"); /* the first is no answer: it waits */
    IN_ORDER(out, "Queued", "Made.", "you: yes, do");
    assert_true(exists("made"));
}

TEST(another_charset_is_written)
{
    setenv("LC_ALL", "C", 1);
    say("für Köln \u2192 5 \u20ac");
    const char *out = PIPE("hello\n", "--tools", "none");
    setenv("LC_ALL", "C.UTF-8", 1);
    IN_ORDER(out, "LC_ALL=C.UTF-8", "fur Koln -> 5 EUR");
    for (const char *p = out; *p; p++)
        assert_true((unsigned char)*p < 0x80);
}

TEST(a_full_output_is_told)
{
    AUTO(support_release) struct support_child c = {0};
    auto_free char *line = mem_printf("'%s' --plain >/dev/full", support_program());
    support_start(&c, TEXTS("/bin/sh", "-c", line));
    assert_int_equal(support_finish(&c, "hello\n"), 1);
    assert_says(c.err_text.data, "standard output cannot be written");
}

/* --- at a terminal --- */

static bool has_prompt(struct screen *s, void *context)
{
    int row, col;
    bool visible;
    (void)context;
    screen_cursor(s, &row, &col, &visible);
    return col == 2 && strcmp(screen_row_text(s, row), ">") == 0;
}

static void wait_prompt(struct screen *s)
{
    assert_true(screen_wait(s, has_prompt, NULL, "the prompt", WAIT_MS));
}

static struct screen *open_plain(const char *const *more)
{
    const char *args[8] = {"--plain", "--tools", "none"};
    for (size_t i = 3; more && *more; more++)
        args[i++] = *more;
    struct screen *s = scene_start(24, 80, args);
    wait_prompt(s);
    return s;
}

/* It has ended so, and no control sequences were written. */
static void ends(struct screen *s, int status)
{
    assert_true(screen_wait_exit(s, WAIT_MS));
    assert_int_equal(screen_status(s), status);
    assert_false(screen_log_has(s, "\033"));
    assert_true(screen_settings_restored(s));
}

static void leave(struct screen *s)
{
    wait_prompt(s);
    act(s, "<ctrl-d>");
    ends(s, 0);
}

TEST(streaming_is_seen_and_ctrl_c_stops)
{
    scene_queue(.fault = REPLY_STALL,
                .text = "A sentence that is long enough to be written alone. And half");
    struct screen *s = open_plain(NULL);
    act(s, "hello<enter>", "to be written alone.", "!And half");
    act(s, "meanwhile<enter>", "Queued");
    act(s, "<ctrl-c>", "And half", "interrupted", "Ctrl-C drops it: meanwhile");
    assert_int_equal(screen_status(s), -1);
    say("Meanwhile answered.");
    wait_prompt(s);
    act(s, "/retry<enter>", "Meanwhile answered.");
    leave(s);
}

TEST_IF(capability_store() && capability_memory(), what_is_typed_is_learned)
{
    say("As you like.");
    struct screen *s = open_plain(NULL);
    act(s, "No emojis.<enter>", "remember this? No emojis");
    wait_prompt(s);
    act(s, "/learned<enter>", "candidate  No emojis");
}

TEST(ctrl_c_twice_leaves)
{
    struct screen *s = open_plain(NULL);
    act(s, "<ctrl-c>", "Ctrl-C again");
    assert_int_equal(screen_status(s), -1);
    act(s, "<ctrl-c>");
    ends(s, 0);
}

TEST(a_signal_ends_it)
{
    struct screen *s = open_plain(NULL);
    screen_signal(s, SIGTERM);
    ends(s, 128 + SIGTERM);
}

TEST_IF(capability_store(), what_was_not_sent_is_kept)
{
    say("First.");
    scene_queue(.fault = REPLY_STALL, .text = "x");
    struct screen *s = open_plain(NULL);
    act(s, "one<enter>", "First.");
    act(s, "two<enter>");
    assert_true(model_server_wait(scene_server(), 2, WAIT_MS));
    act(s, "three<enter>", "Queued");
    assert_true(scene_wait_draft(s, "three"));
    screen_signal(s, SIGKILL);
    assert_true(screen_wait_exit(s, WAIT_MS));
    s = open_plain(TEXTS("-c"));
    see(s, "Ctrl-C drops it: three");
    wait_prompt(s);
    act(s, "<ctrl-c>", "Dropped: three");
    leave(s);
    s = open_plain(TEXTS("-c"));
    see(s, "!drops it");
}

TEST_IF(capability_store(), what_was_not_sent_outlives_another_message)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "for later");
    assert_true(scene_wait_draft(s, "for later"));
    screen_signal(s, SIGKILL);
    assert_true(screen_wait_exit(s, WAIT_MS));
    say("An answer.");
    s = open_plain(NULL);
    see(s, "Ctrl-C drops it: for later");
    act(s, "first something else<enter>", "An answer.");
    assert_true(scene_wait_draft(s, "for later"));
}

TEST(a_paste_is_one_message)
{
    say("Got it.");
    struct screen *s = open_plain(NULL);
    act(s, "first line<enter>second line<enter>third<enter>", "Got it.");
    assert_int_equal(model_server_requests(scene_server()), 1);
    assert_has(model_server_body(scene_server(), 0), "first line\\nsecond line\\nthird");
}

TEST(what_was_typed_before_a_question_is_no_answer)
{
    scene_queue(.tool_name = "run_command", .tool_args = "{\"command\":\"touch made\"}",
                .hold = true);
    struct screen *s = scene_start(24, 80, TEXTS("--plain", "--tools", "full"));
    wait_prompt(s);
    act(s, "make it<enter>");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    act(s, "yes<enter>", "Queued");
    model_server_release(scene_server());
    see(s, "Allow it?");
    assert_false(exists("made"));
    say("Refused.");
    act(s, "n<enter>", "Refused.");
    assert_false(exists("made"));
}

TEST(a_dumb_terminal_gets_it_by_itself)
{
    const char *argv[] = {"/usr/bin/env", "TERM=dumb", support_program(), NULL};
    say("Line by line.");
    struct screen *s = scene_run(24, 80, argv);
    wait_prompt(s);
    act(s, "hello<enter>", "Line by line.");
    leave(s);
}

/* --- parts --- */

static size_t ready(const char *text)
{
    return plain_ready(text, strlen(text));
}

FIXTURES(plain, NULL, NULL);

TEST(lines_and_sentences_are_ready)
{
    assert_int_equal(ready("no line"), 0);
    assert_int_equal(ready("a line\nand the beginning"), 7);
    assert_int_equal(ready("Short. Not yet"), 0);
    const char *sentence = "This sentence is longer than forty characters. And";
    assert_int_equal(ready(sentence), strlen(sentence) - 3);
    char words[1001];
    memset(words, 'w', 1000);
    words[1000] = '\0';
    assert_int_equal(ready(words), 999);
    words[300] = ' ';
    assert_int_equal(ready(words), 301);
}

static void expect_lines(const char *first, const char *then, size_t columns, const char *lines)
{
    struct plain_writer w = {0};
    AUTO(buf_release) struct buf out = BUF_INIT;
    plain_wrap(&w, &out, first, strlen(first), columns);
    plain_wrap(&w, &out, then, strlen(then), columns);
    assert_string_equal(out.data, lines);
}

TEST(words_are_not_torn)
{
    expect_lines("one two three", "", 8, "one two\nthree");
    expect_lines("one two ", "three four", 9, "one two\nthree\nfour");
    expect_lines("one tw", "o three", 8, "one two\nthree");
    expect_lines("a\n  b c", "", 4, "a\n  b\nc");
    expect_lines("longerthanitall x", "", 5, "longerthanitall\nx");
    expect_lines("日本 語", "", 5, "日本\n語");
    expect_lines("one two three\n\nfour ", "", 0, "one two three\n\nfour");
}

static void expect_texts(bool terminal, const char *input, const char *const *texts)
{
    int fds[2];
    AUTO(plain_reader_release) struct plain_reader r = {0};
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], input, strlen(input)), strlen(input));
    close(fds[1]);
    plain_reader_init(&r, fds[0]);
    r.terminal = terminal;
    while (!r.ended)
        plain_reader_fill(&r);
    for (; *texts; texts++) {
        auto_free char *text = plain_reader_next(&r);
        assert_non_null(text);
        assert_string_equal(text, *texts);
    }
    assert_null(plain_reader_next(&r));
    close(fds[0]);
}

#define READS(terminal, input, ...) expect_texts(terminal, input, TEXTS(__VA_ARGS__))

TEST(lines_are_texts)
{
    READS(false, "a\nb\n", "a", "b");
    READS(false, "a\\\nb\nc", "a\nb", "c");
    READS(false, "a\\", "a\\");
    READS(false, "\n\n", "", "");
    READS(true, "a\nb\nc", "a\nb", "c");
    READS(true, "a\nb\\\nc\n", "a\nb\\\nc");
    READS(false, "a\033[31m\tb\n", "a\u241b[31m\tb");
}
