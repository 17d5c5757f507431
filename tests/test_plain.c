/* The surface that writes line by line: through a pipe, and at a terminal that knows no sequences.
 */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/import_case.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "ui/app/plain_io.h"

/* --- steps --- */

/* Answers that are long enough for a compaction. */
static void say_much(const char *times)
{
    static char words[30000];
    for (size_t i = 0; i < sizeof words - 1; i++)
        words[i] = i % 6 == 5 ? ' ' : 'w';
    for (int i = atoi(times); i > 0; i--)
        scene_queue(.text = words);
}

/* A hook of the project that adds this word to the file "ran". */
static void bring_hook(const char *word)
{
    mkdir(support_path(".claude"), 0700);
    support_write(support_path(".claude/settings.json"),
                  support_json(support_text("{'hooks':{'Stop':[{'hooks':[{'command':"
                                            "'echo %s >> ran'}]}]}}",
                                            word)));
}

/* The output of the last program, and what is left of it behind the last text that was found. */
static const char *output, *left;

/* "TOOLS|INPUT" or "TOOLS -c|INPUT": runs the program through a pipe, in the test's own directory.
 * Its output has no control character except the newline. */
static void run_in_pipe(const char *arguments_and_input)
{
    const char *input = strchr(arguments_and_input, '|') + 1;
    bool go_on = input[-2] == 'c';
    char *tools =
        support_text("%.*s", (int)strcspn(arguments_and_input, " |"), arguments_and_input);
    char *text, *err, *here = support_keep(getcwd(NULL, 0));
    assert_int_equal(chdir(support_dir()), 0);
    int status =
        support_run(STEPS("--plain", "--tools", tools, go_on ? "-c" : NULL), input, &text, &err);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(status, 0);
    assert_string_equal(support_keep(err), "");
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p >= ' ' || *p == '\n');
    output = left = support_keep(text);
}

static void has_then(const char *part)
{
    const char *found = strstr(left, part);
    if (!found)
        fail_msg("\"%s\" is not in: %s", part, left);
    else
        left = found + strlen(part);
}

static void has_not(const char *part)
{
    assert_null(strstr(output, part));
}

static void bring_history(void)
{
    import_case_copy("claude/turns.jsonl", ".claude/projects/-w/turns.jsonl");
}

static bool has_prompt(struct screen *s, void *context)
{
    int row, col;
    bool visible;
    (void)context;
    screen_cursor(s, &row, &col, &visible);
    return col == 2 && strcmp(screen_row_text(s, row), ">") == 0;
}

static void is_ready(void)
{
    assert_true(screen_wait(scene(), has_prompt, NULL, "the prompt", WAIT_MS));
}

/* At a terminal, with an argument or none. */
static void open_plain(const char *argument)
{
    (void)scene_start(24, 80, STEPS("--plain", "--tools", "none", *argument ? argument : NULL));
    is_ready();
}

static void open_with_tools(void)
{
    (void)scene_start(24, 80, STEPS("--plain", "--tools", "full"));
    is_ready();
}

static void send_signal(const char *number)
{
    screen_signal(scene(), atoi(number));
}

/* It has ended so, and no control sequences were written. */
static void has_ended(const char *status)
{
    play("=exit", support_text("=status %s", status), "=unwritten \033");
    assert_true(screen_settings_restored(scene()));
}

static const struct step steps[] = {
    {"much", .run = say_much},    {"history", .alone = bring_history},
    {"pipe", .run = run_in_pipe}, {"brings", .run = bring_hook},
    {"then", .run = has_then},    {"never", .run = has_not},
    {"plain", .run = open_plain}, {"full", .alone = open_with_tools},
    {"ready", .alone = is_ready}, {"signal", .run = send_signal},
    {"ends", .run = has_ended},   {.name = NULL}};

BEFORE_ALL(support_utf8);
SCENE(steps);

/* --- through a pipe --- */

PLAY(lines_are_turns_one_after_the_other, "=says The first answer.\n\nIt has two paragraphs.",
     "=says The second answer.", "=pipe none|one\ntwo\\\nlines\n",
     "=then \nyou: one\ntiro:\nThe first answer.\n\nIt has two paragraphs.\n",
     "=then you: two\nlines\ntiro:\nThe second answer.\n", "=requests 2");

PLAY(foreign_controls_are_cleaned, "=says an \033[31mescape\033]0;title\a and a\rreturn",
     "=pipe none|hello\n", "=then an \u241b[31mescape");

PLAY_IF(capability_store(), histories_of_other_agents_come_in, "=history",
        "=pipe none|/import\n/import ~/.claude\n/import nowhere\n",
        "=then 1 conversation, 5 messages from Claude Code. /sessions lists them",
        "=then nothing new", "=then nowhere cannot be read");

TEST_IF(capability_store() && capability_compaction(), commands_are_the_screens)
{
    play("=says An answer.",
         "=pipe none|/help\nhello\n/rename A better title\n/label +travel\n/context\n/frobnicate\n"
         "/theme\n/contxt\n/export out.md\n/pin\n/pin 7\n//no command\n/system\n/doctor\n",
         "=then /compact [MODE] [--preview] [FOCUS]: ", "=then An answer.", "=then Done.",
         "=then Done.", "=then system: ~", "=then total ~", "=then There is no command /frobnicate",
         "=then /theme needs the full screen", "=then Did you mean /context?",
         "=then Exported to out.md.", "=then pinned", "=then no message of yours of that number",
         "=then you: /no command", "=then the configured system prompt",
         "=then provider: anthropic", "=made out.md");
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++)
        if (o->slash)
            assert_says(output,
                        support_text("/%s%s%s: ", o->slash, *o->takes ? " " : "", o->takes));
    play("=pipe read|/context\n", "=then system: ~", "=then tools: ~", "=then \n  built-in: ~",
         "=then total ~");
}

PLAY_IF(capability_store(), a_session_is_gone_on_with, "=says Answer A.", "=says Answer B.",
        "=says Answer C.", "=pipe none|first\nsecond\nthird\n", "=says Answer D.",
        "=pipe none -c|fourth\n/sessions\n/fork 1\n/new\n/resume last\n",
        "=never Answer A.\nyou: second", "=then Session: first (3 turns)",
        "=then These are the last turns", "=then you: second\ntiro:\nAnswer B.",
        "=then you: third\ntiro:\nAnswer C.", "=then you: fourth\ntiro:\nAnswer D.",
        "=then 4 turns: first", "=then Session: ", "=then (1 turn)",
        "=then you: first\ntiro:\nAnswer A.", "=then This is a copy", "=then A new session.",
        "=then Session: ");

PLAY_IF(capability_store(), a_rewind_is_told, "=says Answer A.", "=says Answer B.",
        "=says Answer C.",
        "=pipe none|/unrewind\nfirst\nsecond\n/rewind 7\n/rewind x\n/rewind\nthird\n/fork 2\n",
        "=then The conversation was not rewound.", "=then Answer B.",
        "=then no message of yours with that number", "=then no message of yours with that number",
        "=then rewound", "=then second", "=then Your message was:\nsecond", "=then Answer C.",
        "=then Session: ", "=then (2 turns)");

PLAY_IF(capability_compaction(), a_compaction_is_told,
        "=pipe none|/compact handof\n/compact\n/uncompact\n", "=then Did you mean handoff?",
        "=then There is nothing to compact yet.", "=then There is no compaction to undo.",
        "=much 4", "=says What was said in short.",
        "=pipe none|a\nb\nc\nd\n/compact handoff\n/uncompact\n", "=then compacting",
        "=then compacted", "=then summary + last turns", "=then another mode: /compact MODE",
        "=then compaction undone");

TEST_IF(capability_compaction() && capability_memory(), memory_is_searched_and_forgotten)
{
    play("=says The ryokan by the river.", "=much 3", "=says What was said in short.",
         "=pipe none|where did we sleep\nb\nc\nd\n/compact\n/memory ryokan\n/forget 1\n/forget "
         "99\n/memory ryokan\n",
         "=then compacted", "=then 1. ", "=then The ryokan by the river.", "=then /forget NUMBER",
         "=then Done.", "=then The last list has no such entry");
    assert_null(strstr(left, "The ryokan by the river."));
}

PLAY_IF(
    capability_store() && capability_memory(), a_passage_is_left_out_by_its_number,
    "=says The ryokan Tamahan by the river.",
    "=pipe none|/recalled\nIn which ryokan of Kyoto did we sleep?\n",
    "=then No message of this session was sent with", "=says Tamahan.",
    "=pipe none|Was it the ryokan Tamahan of Kyoto?\n/recalled\n/recalled 1\n/recalled\n/recalled "
    "1\n/recalled 9\n",
    "=then recalled 2 passages", "=then 1. ", "=then /recalled NUMBER leaves a passage out",
    "=then left out of this session's messages",
    "=then , left out: ", "=then may be sent with messages again", "=then 1. ");

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
    play("=file docs/kyoto.md # Sleeping\n\nThe ryokan is by the river.\n",
         "=file docs/broken.docx no archive",
         "=calls rag_search {\"corpus_id\":\"trip\",\"query\":\"ryokan\"}",
         "=says By the river [1].");
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

PLAY(
    files_go_with_the_next_message, "=file notes.md first of it\ntwo\n",
    "=pipe read|/attach\n/attach none.md\n/attach notes.md:2\nsum up @notes.md\n",
    "=then /attach FILE sends", "=then There is no none.md.",
    "=then With your next message: @notes.md:2", "=then Hello",
    "=sent last notes.md (lines 2-2):\\n```\\ntwo\\n```|@notes.md:2 sum up @notes.md|!first of it");

PLAY_IF(capability_memory(), the_graph_is_listed_and_searched, "=env TIRO_LEARNED_CAPTURE=auto",
        "=calls memory_create_entities {\"entities\":[{\"name\":\"京都\",\"entity_type\":\"city\","
        "\"observations\":[\"has ryokans\",\"old\\n- fake\"]},{\"name\":\"Japan\","
        "\"entity_type\":\"country\"}]}",
        "=calls memory_create_relations {\"relations\":[{\"from\":\"京都\",\"to\":\"Japan\","
        "\"relation_type\":\"lies in\"}]}",
        "=says It is noted.",
        "=pipe read|/graph\nnote Kyoto\n/graph\n/graph RYOK\n/graph nowhere\n",
        "=then The graph is empty", "=then It is noted.", "=then Japan (country): 0 observations\n",
        "=then 京都 (city): 2 observations\n", "=then 京都 (city)  [",
        "=then ]\n  - has ryokans  [", "=then ]\n  - old - fake  [",
        "=then ]\n\n京都 -- lies in -> Japan\n", "=then No matches in the graph.");

PLAY_IF(capability_store() && capability_memory(), what_is_learned_is_told_and_found,
        "=says As you like.",
        "=pipe none|No emojis.\n/remember the port is 8443\n/forget port\n/learned\n",
        "=then active  the port is 8443", "=then No matches in memory",
        "=then active  the port is 8443", "=then /learned forget ID deletes",
        "=never candidate"); /* nobody typed it */

PLAY_IF(capability_store() && capability_compaction(), a_draft_summary_is_looked_at_first,
        "=much 4", "=says First draft.", "=says Second draft.",
        "=pipe none|a\nb\nc\nd\n/compact --preview\nwhat?\nagain\nyes\n", "=then First draft.",
        "=then Use this summary?", "=then Queued", "=then Second draft.", "=then compacted",
        "=then you: what?", "=says Third draft.",
        "=pipe none -c|/compact --preview\nno\n/context\n", "=then Use this summary?",
        "=then not compacted", "=then total ~");

PLAY(a_retry_is_told, "=refuses 503 ||0", "=says The answer.", "=pipe none|hello\n",
     "=then retry 1 of", "=then tiro:\nThe answer.\n");

TEST(an_answer_that_breaks_off_is_kept)
{
    scene_queue(.fault = REPLY_DISCONNECT, .text = "The beginning of");
    play("=says The whole answer.", "=pipe none|hello\n/retry\n", "=then tiro:\nThe beginning of\n",
         "=then try again", "=then /retry sends the message again.",
         "=then tiro:\nThe whole answer.\n", "=never interrupted");
}

TEST_IF(capability_store(), errors_give_the_message_back)
{
    scene_queue(.fault = REPLY_STATUS, .status = 400, .error_message = "no such thing");
    play("=says Now it works.", "=pipe none|hello\n/retry\n/resume nosuch\n", "=then no such thing",
         "=then Now it works.", "=then The session was not found.");
}

PLAY(tools_ask_and_the_next_line_answers, "=calls run_command {\"command\":\"touch made\"}",
     "=says Refused then.", "=pipe full|make it\nno: there is none\n",
     "=then The model wants to run a command (run_command):", "=then touch made",
     "=then With \"session\" you allow `touch made` for this session, with \"project\" always",
     "=then Allow it? yes, no, session, or project", "=then The user said no: there is none",
     "=then Refused then.", "=unmade made", "=calls run_command {\"command\":\"touch made\"}",
     "=says Nobody said yes.", "=pipe full|make it\n", /* the input ends: that is a no */
     "=then Nobody said yes.", "=unmade made", "=calls run_command {\"command\":\"touch made\"}",
     "=says Made.", "=pipe full|make it\nyes, do\n yes \n", /* the first is no answer: it waits */
     "=then Queued", "=then Made.", "=then you: yes, do", "=made made");

PLAY(commands_in_the_background_end_with_it,
     "=calls run_command {\"command\":\"sleep 600\",\"background\":true}", "=says It runs.",
     "=pipe full|go\nyes\n", "=then in the background, in ", "=then It runs.",
     "=then 1 command in the background was ended.");

PLAY(a_project_is_trusted_by_a_line, "=brings one", "=says Hello.", "=pipe none|hello\nno\n",
     "=then Do you trust the programs of this project?:", "=then hook Stop:\n    echo one >> ran",
     "=then Trust them? no, yes (in this session), or project (always):", "=then Hello.",
     "=unmade ran", "=says Hello.", "=pipe none|hello\n", /* the input ends: that is a no */
     "=then Trust them?", "=then Hello.", "=unmade ran", "=says Hello.",
     "=pipe none|hello\nproject\n", "=then Hello.", "=made ran", "=says Hello.",
     "=pipe none|hello\n", "=never Trust them?", "=brings two", "=says Hello.",
     "=pipe none|hello\nyes\n", "=then echo two >> ran");

TEST(another_charset_is_written)
{
    play("=env LC_ALL=C", "=says für Köln \u2192 5 \u20ac", "=pipe none|hello\n",
         "=env LC_ALL=C.UTF-8", "=then LC_ALL=C.UTF-8", "=then fur Koln -> 5 EUR");
    for (const char *p = output; *p; p++)
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

PLAY(streaming_is_seen_and_ctrl_c_stops,
     "=stalls A sentence that is long enough to be written alone. And half", "=plain",
     ":hello<enter>", "to be written alone.", "!And half", ":meanwhile<enter>", "Queued",
     ":<ctrl-c>", "And half", "interrupted", "Ctrl-C drops it: meanwhile", "=status -1",
     "=says Meanwhile answered.", "=ready", ":/retry<enter>", "Meanwhile answered.", "=ready",
     ":<ctrl-d>", "=ends 0");

PLAY_IF(capability_store() && capability_memory(), what_is_typed_is_learned, "=says As you like.",
        "=plain", ":No emojis.<enter>", "remember this? No emojis", "=ready", ":/learned<enter>",
        "candidate  No emojis");

PLAY(ctrl_c_twice_leaves, "=plain", ":<ctrl-c>", "Ctrl-C again", "=status -1", ":<ctrl-c>",
     "=ends 0");

PLAY(a_signal_ends_it, "=plain", "=signal 15", "=ends 143");

PLAY_IF(capability_store(), what_was_not_sent_is_kept, "=says First.", "=stalls x", "=plain",
        ":one<enter>", "First.", ":two<enter>", "=wait 2", ":three<enter>", "Queued",
        "=draft three", "=signal 9", "=exit", "=plain -c", "Ctrl-C drops it: three", "=ready",
        ":<ctrl-c>", "Dropped: three", "=ready", ":<ctrl-d>", "=ends 0", "=plain -c", "!drops it");

PLAY_IF(capability_store(), what_was_not_sent_outlives_another_message, "=open", ":for later",
        "=draft for later", "=signal 9", "=exit", "=says An answer.", "=plain",
        "Ctrl-C drops it: for later", ":first something else<enter>", "An answer.",
        "=draft for later");

PLAY(a_paste_is_one_message, "=says Got it.", "=plain",
     ":first line<enter>second line<enter>third<enter>", "Got it.", "=requests 1",
     "=sent 0 first line\\nsecond line\\nthird");

PLAY(what_was_typed_before_a_question_is_no_answer,
     "=holds run_command {\"command\":\"touch made\"}", "=full", ":make it<enter>", "=wait 1",
     ":yes<enter>", "Queued", "=release", "Allow it?", ":yes<enter>",
     "You began that line before the question", "=unmade made", "=says Refused.", ":n<enter>",
     "Refused.", "=unmade made");

TEST(a_dumb_terminal_gets_it_by_itself)
{
    const char *argv[] = {"/usr/bin/env", "TERM=dumb", support_program(), NULL};
    play("=says Line by line.");
    (void)scene_run(24, 80, argv);
    play("=ready", ":hello<enter>", "Line by line.", "=ready", ":<ctrl-d>", "=ends 0");
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
