/* A turn on the screen: an answer that streams, a tool that asks, and other conversations behind
 * it. */
#include "tests/scene.h"
#include "tests/suite.h"
#include "ui/view/approval.h"

#define HELLO "Hello from the scripted model."
#define KEYS "a allow once"
#define MORE "a allow, after the last page"
#define DONE "All done.", IDLE, "!wants to"

/* Begins a turn whose answer stops after `text` until the server is released. */
static void open_stalled(const char *text)
{
    scene_queue(.fault = REPLY_STALL, .text = text);
    play("=open", ":begin<enter>");
}

/* The model asks to make a file by a command, and says "All done." after that. */
static void open_asking(void)
{
    play("=calls run_command {\"command\":\"touch made\"}", "=says All done.",
         "=open 24 80 --tools full", ":make it<enter>", "model wants to run a command (run", KEYS,
         "touch made", "=unmade made", "=requests 1");
}

static void queue_lines(void)
{
    AUTO(buf_release) struct buf args = BUF_INIT;
    buf_addstr(&args, "{\"command\":\"");
    for (int i = 1; i <= 120; i++)
        buf_addf(&args, "echo the line %d;\\n", i);
    buf_addstr(&args, "touch made\"}");
    scene_queue(.tool_name = "run_command", .tool_args = args.data);
}

/* A turn that has said "Half of it" and goes on when the server is released. */
static void open_running(void)
{
    play("=open", "=stalls Half of it", ":Tell me all.<enter>", "Half of it");
}

static void begin_another(void)
{
    play(":/new<enter>", "1 working", "!Half of it");
}

/* Until it leads to the question: within a word it completes. */
static void press_tab(void)
{
    int row, col;
    for (int i = 0; i < 20 && !screen_find(scene(), KEYS, &row, &col); i++) {
        play(":<tab>");
        (void)screen_pump(scene(), 2 * APPROVAL_TAB_MS);
    }
}

static const struct step steps[] = {{"tab", .alone = press_tab},
                                    {"stalled", .run = open_stalled},
                                    {"asking", .alone = open_asking},
                                    {"lines", .alone = queue_lines},
                                    {"running", .alone = open_running},
                                    {"another", .alone = begin_another},
                                    {.name = NULL}};

SCENE(steps);

PLAY(one_message_can_wait_for_the_end, "=stalled streaming", "streaming",
     ":sent when it ends<enter>", "sent when it ends", "=requests 1", "=release", "=wait 2", HELLO,
     "=sent 1 sent when it ends");

PLAY(escape_cancels_and_keeps_what_came, "=stalled half of a thought", "half of a thought",
     ":<escape>", "interrupted", "half of a thought", "=exchange go on|" HELLO,
     "=sent 1 half of a thought|go on");

TEST(resizing_while_it_streams)
{
    static const int sizes[][2] = {{24, 100}, {10, 40}, {50, 200}, {5, 20},   {30, 41}, {24, 80},
                                   {11, 120}, {40, 40}, {2, 2},    {24, 132}, {20, 60}};
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= 120; i++)
        buf_addf(&text, "%d. item number %d of the list\n", i, i);
    buf_addstr(&text, "\nthe very end\n");
    scene_queue(.text = text.data, .piece = 8, .interval_ms = 1);
    play("=open", ":a list, please<enter>", "item number");
    struct screen *s = scene();
    for (size_t round = 0; round < 5; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            screen_resize(s, sizes[i][0], sizes[i][1]);
            (void)screen_pump(s, 20);
        }
    play("the very end", "item number 120 of the list", IDLE, "=status -1", "=truthful");
}

/* Too quick for the program to see the size between: the terminal has forgotten its text anyway. */
TEST(resizing_there_and_back)
{
    play("=open", "=exchange hi|" HELLO);
    for (int i = 0; i < 10; i++)
        play("=size 10 40", "=size 24 80", HELLO, "=truthful");
}

/* A word on a full screen does not repaint it. */
TEST(a_key_sends_few_bytes)
{
    play("=open 40 120", "=exchange hi|" HELLO, ":a", "> a");
    struct screen *s = scene();
    size_t before = screen_bytes(s);
    play(":b", "> ab");
    assert_true(screen_bytes(s) - before < 200);
    assert_false(screen_pump(s, 300)); /* and then nothing moves */
}

/* --- approval --- */

PLAY(what_is_allowed_runs, "=asking", "=wrote \a", ":a", DONE, "=made made",
     "=calls run_command {\"command\":\"touch again\"}",
     "=calls run_command {\"command\":\" touch again \"}", /* the same words */
     "=calls run_command {\"command\":\"git --version\"}",
     "=calls run_command {\"command\":\"touch -c again; touch other\"}",
     "=calls write_file {\"path\":\"x\",\"content\":\"x\"}", ":once more<enter>", "touch again",
     "s allow `touch again` for this session", "=unmade again", /* once is once */
     ":s", "s allow `git --version` for this session", "=made again", ":d", "touch other", KEYS,
     "!this session", /* no simple command */
     "=unmade other", ":d", "model wants to write (write_file)", KEYS,
     "s allow write_file for this session");

PLAY(a_command_shows_its_output_while_it_runs,
     "=calls run_command {\"command\":\"echo first; echo second; until [ -e go ]; do sleep .01; "
     "done; "
     "echo third\"}",
     "=says All done.", "=open 24 80 --tools full", ":make it<enter>", KEYS, ":a",
     "    first\n    second\n", "!✓", "=file go x", "✓ 3 lines", DONE);

PLAY(a_command_goes_on_in_the_background,
     "=calls run_command {\"command\":\"echo first; until [ -e go ]; do sleep .01; done; exit 3\"}",
     "=says All done.", "=open 24 80 --tools full --allow execute", ":make it<enter>",
     "    first\n", ":<ctrl-b>", "✓ task 1 · ", DONE, "1 task · ", ":<ctrl-d>",
     "! 1 command runs in the background. Leaving ends it", ":abc<ctrl-b>x", "> abxc", "=file go x",
     "! Task 1 ended with exit 3: echo first", "!1 task");

PLAY(what_is_allowed_always_is_listed_and_taken_back, "=asking", ":p", DONE, "=made made",
     "=calls run_command {\"command\":\"touch made\"}", "=says Made again.", ":/new<enter>",
     "!" DONE, ":again<enter>", "Made again.", ":/permissions<enter>", "1  `touch made`  (project)",
     "!2  `", ":/permissions touch made<enter>", "Nothing is allowed beyond the configuration.",
     "=calls run_command {\"command\":\"touch made\"}", ":once more<enter>", KEYS);

PLAY(a_refusal_can_say_why, "=asking", ":r", "why not:", ":use the other<enter>", DONE,
     "=unmade made", "=sent 1 The user said no: use the other");

/* Esc ends all of it: a waiting message is not sent afterwards. */
TEST(escape_gives_back_what_waited)
{
    scene_queue(.fault = REPLY_STALL, .text = "so", .tool_name = "run_command",
                .tool_args = "{\"command\":\"touch made\"}");
    play("=open 24 80 --tools full", ":make it<enter>", "=wait 1", ":and then this<enter>",
         "waiting: and then this", "=release", KEYS, ":<escape>", "> and then this", "interrupted",
         IDLE, "=requests 1", ":<enter>", HELLO, "=unmade made");
}

/* The end of a long command is not on the screen, so allowing waits for it. */
PLAY(what_was_not_read_is_not_allowed, "=lines", "=says All done.", "=open 10 40 --tools full",
     ":make it<enter>", MORE, ":as<pagedown*2>", "!echo the line 1;", MORE, "=unmade made", ":G",
     KEYS, "touch made", "=size 10 41", MORE, ":aG", KEYS, "=unmade made", ":a", DONE,
     "=made made");

/* Reading asks nothing, but where keys are. */
PLAY(a_place_of_keys_is_asked_about, "=file .env NAME=hidden",
     "=calls read_file {\"path\":\".env\"}", "=says All done.", "=open 24 80 --tools full",
     ":read it<enter>", "keys or tiro's own files: /", KEYS, "!for this session", ":a", DONE,
     "=sent 1 NAME=hidden", "=calls read_file {\"path\":\".env\"}", "=says Then not.",
     ":once more<enter>", KEYS, /* once is once */
     ":d", "Then not.", "=sent 3 declined");

/* Open lists wait behind the question, and come back. */
PLAY(other_lists_come_back, "=holds run_command {\"command\":\"touch made\"}", "=says All done.",
     "=open 24 80 --tools full", ":make it<enter>", "=wait 1", ":<f1>", "Help", "=release",
     "Tab answers the question", "!Help", ":xa", "=tab", KEYS, "=unmade made", ":a", "!wants to",
     "Help", /* goes nowhere: the list behind is not seen */
     ":<escape>", DONE, "=made made");

/* --- several conversations --- */

PLAY_IF(capability_store(), a_turn_goes_on_behind_a_new_session, "=running", "=another",
        "=exchange And you?|I am fine.", "1 working", "=release",
        "\"Tell me all.\" is done; /sessions opens it.", "!working",
        "=exchange Still there?|I am.", /* takes the note away */
        "!is done", ":/resume Tell me all.<enter>", "Half of it", "=leave");

PLAY_IF(capability_store(), a_key_goes_to_what_works, "=running", "=another", ":<f5>", "Half of it",
        "(Esc stops)", "!1 working", "!interrupted", "=release", IDLE,
        "=exchange Is that all?|It is.", "Half of it", ":<f5>", "No other conversation is working.",
        "=leave");

TEST_IF(capability_store(), the_key_goes_back_to_the_conversation_left)
{
    play("=open", "=exchange Where to sleep?|In the ryokan.", ":/new<enter>", "!ryokan", ":<f5>",
         "In the ryokan.", ":<f5>", /* nothing was said in the other */
         "No other conversation is working.", ":/new<enter>", "!ryokan",
         "=exchange And to eat?|By the river.");
    for (int i = 0; i < 2; i++)
        play(":<f5>", "In the ryokan.", "!By the river.", ":<f5>", "By the river.",
             "!In the ryokan.");

    play("=leave");
}

PLAY_IF(capability_store(), the_list_leaves_it_running, "=open",
        "=exchange An older talk|Long ago.", ":/new<enter>", "!Long ago.", "=stalls Half of it",
        ":Tell me all.<enter>", "Half of it", ":<f3>older", "Long ago.", ":<enter>", "1 working",
        ":<f3>Tell me", "Tell me all.  working  now", ":<enter>", "Half of it", "!1 working",
        "(Esc stops)", "=leave");

/* The model asks for a tool after the person has gone on. */
PLAY_IF(capability_store(), a_question_waits, "=open 12 40 --tools full",
        "=holds run_command {\"command\":\"touch made\"}", "=says All done.", ":make it<enter>",
        "=wait 1", ":/new<enter>", "1 working", "=release", "1 waits for you", "F5", "=unmade made",
        ":<f5>", "touch made", KEYS, "!1 waits", ":a", DONE, "=made made", "=leave");

/* A message that waits for the end of the turn is a draft of the session that is left. */
PLAY_IF(capability_store(), what_waits_stays_with_its_session, "=running", ":And then?<enter>",
        "And then?", "=another", "!And then?", ":<f5>", "> And then?");

TEST_IF(capability_store(), leaving_is_asked_once)
{
    play("=running", "=another", ":/quit<enter>", "1 other conversation goes on.", ":/quit<enter>",
         "=exit");
    (void)scene_open(24, 80, (const char *const[]){"--resume=Tell me all.", NULL});
    play("Half of it", "interrupted", "=leave");
}
