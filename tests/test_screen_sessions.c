/* Sessions at a terminal: resume, drafts, crashes, the list of sessions, and commands on a session.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "session/capability.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char hello[] = "Hello from the scripted model.";
static const char *const go_on[] = {"--continue", NULL};

FIXTURES(sessions, scene_setup, scene_teardown);

TEST_IF(capability_store(), continue_shows_the_same_conversation)
{
    scene_queue(.text = "The *first* answer.\n\n- with\n- a list\n");
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "the first question", "a list");
    scene_exchange(s, "the second question", hello);
    auto_free char *before = mem_strdup(screen_row_text(s, 3));
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    see(s, "The first answer.", "the first question", "the second question", hello);
    assert_string_equal(screen_row_text(s, 3), before);
    scene_exchange(s, "the third question", "The third answer.");
    const char *body = model_server_body(scene_server(), 2);
    assert_says(body, "the first question", "The *first* answer.", "the third question");
}

static void open_sessions(struct screen *s)
{
    act(s, "<f3>");
    assert_true(screen_wait_row(s, 1, " Sessions / ", WAIT_MS));
    see(s, "about gardening");
}

TEST_IF(capability_store(), a_draft_survives_a_kill)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    act(s, "typed before the kill");
    assert_true(scene_wait_draft(s, "typed before the kill"));
    scene_end(s, SIGKILL);
    s = scene_open(24, 80, go_on);
    see(s, "> typed before the kill", hello);
    assert_int_equal(model_server_requests(scene_server()), 1);
}

TEST_IF(capability_store(), a_draft_that_was_never_sent_is_offered)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "a thought for later");
    assert_true(scene_wait_draft(s, "a thought for later"));
    struct screen *other = scene_open(24, 80, NULL); /* it is still being written there */
    see(other, "!a thought for later");
    act(other, "<f3>", "Draft: a thought for later", "Written, but not sent:", "!Nothing was said");
    act(other, "<escape>", "!Sessions");
    scene_leave(other);
    scene_end(s, SIGKILL);
    s = scene_open(24, 80, NULL);
    see(s, "> a thought for later", "did not send it");
    act(s, "<enter>", hello);
    scene_leave(s);
    s = scene_open(24, 80, NULL); /* once is enough */
    see(s, "!a thought for later", "!did not send it");
}

TEST_IF(capability_store(), a_sent_draft_is_gone)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "soon sent");
    assert_true(scene_wait_draft(s, "soon sent"));
    act(s, "<enter>", hello);
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    see(s, hello, "!> soon sent");
}

TEST_IF(capability_store(), a_turn_that_a_kill_cut_off_is_shown_as_such)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "an early question", hello);
    scene_queue(.fault = REPLY_STALL, .text = "half an answer");
    act(s, "the fatal question<enter>", "half an answer");
    scene_end(s, SIGKILL);
    model_server_release(scene_server());
    s = scene_open(24, 80, go_on);
    see(s, "the fatal question", "interrupted; /retry");
    act(s, "/retry<enter>");
    assert_true(model_server_wait(scene_server(), 3, WAIT_MS));
    assert_true(screen_wait_count(s, hello, 2, WAIT_MS));
    const char *body = model_server_body(scene_server(), 2);
    assert_says(body, "the fatal question", "an early question", "!half an answer");
}

/* --- the sessions screen --- */
/* Two sessions: the one about gardening was left for the one about astronomy. */
static struct screen *open_two(int rows, int cols)
{
    struct screen *s = scene_open(rows, cols, NULL);
    scene_exchange(s, "about gardening", "Roses need a pergola.");
    act(s, "/new<enter>", "!pergola");
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "about astronomy", "Stars need none.");
    return s;
}

static void choose_gardening(struct screen *s)
{
    open_sessions(s);
    act(s, "garden", "\u203aabout gardening", "!\u203aabout astronomy");
}

TEST_IF(capability_store(), the_sessions_screen_finds_and_resumes)
{
    setenv("TIRO_LEARNED_HISTORY", "false", 1); /* else the request tells of the other session */
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    see(s, "1 of 2", "Roses need a pergola."); /* the preview */
    act(s, "<enter>", "!Sessions", "Roses need a pergola.");
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "roses?", "Of roses.");
    const char *body = model_server_body(scene_server(), 2);
    assert_says(body, "about gardening", "!about astronomy");
}

TEST_IF(capability_store(), a_transcript_is_found_by_what_was_said)
{
    struct screen *s = open_two(24, 100);
    open_sessions(s);
    act(s, "pergola", "In the transcripts: 1 match", "1 of 2"); /* it is in a last line, too */
    act(s, "<down>", "\u203aRoses need a pergola.");
    act(s, "<enter>", "find: pergola", "about gardening", "Roses need a pergola.");
    act(s, "<escape>");
    assert_true(scene_wait_prompt(s));
}

TEST_IF(capability_store(), escape_goes_back_from_what_was_only_read)
{
    struct screen *s = open_two(24, 100);
    act(s, "half a thought");
    act(s, "<left*3>");
    choose_gardening(s);
    act(s, "<alt-v>", "read-only", "Roses need a pergola.", "Esc goes back");
    act(s, "<escape>", "!read-only", "!Roses need a pergola.", "> half a thought");
    act(s, "new ", "> half a thounew ght", "!Esc goes back"); /* where the caret was */
}

TEST_IF(capability_store(), the_open_session_gives_way_when_it_is_archived)
{
    struct screen *s = open_two(24, 100);
    act(s, "its draft");
    open_sessions(s);
    see(s, "\u203aabout astronomy");
    act(s, "<alt-a>", "about astronomy  archived", "!> its draft"); /* stays with it */
    act(s, "<enter>", "> its draft", "Stars need none.");
}

TEST_IF(capability_store(), deleting_is_asked_and_keeps_nothing)
{
    struct screen *s = open_two(24, 100);
    act(s, "not sent");
    open_sessions(s);
    see(s, "\u203aabout astronomy");
    act(s, "<alt-x>", "Delete \"about astronomy\" for good?");
    act(s, "n", "!Delete");
    act(s, "<alt-x>y", "Deleted.", "\u203aabout gardening", "!about astronomy");
    act(s, "<escape>", "> not sent", "!Stars need none."); /* a new session took its place */
}

TEST_IF(capability_store(), a_session_is_open_only_once)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "mine", hello);
    struct screen *other = scene_start(24, 80, go_on);
    see(other, "The session is in use.", "another tiro");
    scene_exchange(s, "still mine", "So it is.");
}

/* --- commands --- */

static const char *const reading[] = {"--resume", "last", "--read-only", NULL};

static const char *last_request(void)
{
    return model_server_body(scene_server(), model_server_requests(scene_server()) - 1);
}

static struct screen *open_with_two_turns(void)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "about roses", "Of roses.");
    scene_exchange(s, "about lilies", "Of lilies.");
    return s;
}

TEST(a_fork_ends_with_the_turn_that_is_named)
{
    struct screen *s = open_with_two_turns();
    act(s, "/fork 1<enter>", "!Of lilies.", "Of roses.",
        "This is a copy; the original session is unchanged.");
    scene_exchange(s, "about tulips", "Of tulips.");
    assert_says(last_request(), "about roses", "!about lilies");
}

/* Imports a conversation of this many turns, by the command line. */
static void import_turns(int turns)
{
    char *path = support_path("list.json"), *out, *err;
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addch(&text, '[');
    for (int i = 1; i <= turns; i++)
        buf_addf(&text,
                 "%s{\"role\":\"user\",\"content\":\"question %d\"},"
                 "{\"role\":\"assistant\",\"content\":\"reply %d.\"}",
                 i > 1 ? "," : "", i, i);
    buf_addch(&text, ']');
    support_write(path, text.data);
    int status =
        support_run((const char *const[]){"sessions", "import", path, NULL}, NULL, &out, &err);
    assert_string_equal(err, "");
    assert_int_equal(status, 0);
    free(out);
    free(err);
}

/* Turns are counted from the first, which is not on the screen: older pages are asked for. */
TEST_IF(capability_store(), a_turn_of_long_ago_can_be_named)
{
    import_turns(300);
    struct screen *s = scene_open(24, 80, (const char *const[]){"--resume", "last", NULL});
    see(s, "reply 300.");
    act(s, "/fork 7<enter>", "reply 7.", "!reply 300.");
    scene_exchange(s, "and now?", hello);
    assert_says(last_request(), "reply 7.", "!question 8");
}

TEST_IF(capability_store(), a_search_counts_and_goes_round)
{
    import_turns(300);
    struct screen *s = scene_open(24, 80, (const char *const[]){"--resume", "last", NULL});
    see(s, "reply 300.");
    act(s, "<ctrl-f>reply 300", " 1 match+ ", "reply 300.");
    act(s, "1", " 0 matches+ ");
    act(s, "<ctrl-u>reply 7.<enter>", "1 of 1 ", "  reply 7."); /* on an older page */
    act(s, "<enter>", "1 of 1 ");
    act(s, "<escape><ctrl-f>", "!of 1 ");
    act(s, "<up>", "find: reply 7.");
    act(s, "<ctrl-u>question 3", " 12 matches "); /* 3, 30 to 39, 300 */
    act(s, "<enter>", " 12 of 12 ");
    act(s, "<enter>", " 1 of 12 ", "  reply 300.");
    act(s, "<enter>", " 2 of 12 ");
    screen_type(s, "\033[Z\033[Z"); /* Shift-Tab: newer */
    see(s, " 12 of 12 ", "  reply 3.");
    act(s, "<ctrl-u>never said<enter>", "no match");
}

TEST(copying_says_where_it_went)
{
    static const char *const variables[] = {"VTE_VERSION", "DISPLAY", "WAYLAND_DISPLAY",
                                            "XTERM_VERSION", "WT_SESSION"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    struct screen *s = scene_open(24, 120, NULL);
    scene_queue(.text = "Of *may* bells.");
    scene_ask(s, "say something", "Of may bells.");
    act(s, "/copy<enter>", "Sent 15 bytes to the terminal's clipboard.");
    assert_true(screen_log_has(s, "\033]52;c;T2YgKm1heSogYmVsbHMu\033\\"));
    scene_exchange(s, "and more", hello);
    see(s, "!clipboard");
}

/* The terminal has the mouse and breaks the lines; everything else goes on behind. */
TEST(bare_text_is_there_to_be_selected)
{
    struct screen *s = scene_open(16, 40, NULL);
    scene_queue(.text = "It is **bold**, and longer than a row has columns.");
    scene_ask(s, "how is it?", "It is bold");
    act(s, "half a thought");
    assert_true(screen_mouse(s));
    act(s, "<alt-l>");
    assert_true(screen_wait_row(s, 15, "Select with the mouse.", WAIT_MS));
    assert_true(screen_wait_row(s, 4, "It is **bold**, and longer than a row ha", WAIT_MS));
    assert_true(screen_wait_row(s, 5, "s columns.", WAIT_MS));
    assert_false(screen_mouse(s));
    assert_true(screen_log_has(s, "It is **bold**, and longer than a row has columns."));
    see(s, "!half a thought");
    screen_resize(s, 20, 60);
    assert_true(
        screen_wait_row(s, 4, "It is **bold**, and longer than a row has columns.", WAIT_MS));
    act(s, "<alt-l>", "!Select with the mouse", "> half a thought", "!**bold**");
    assert_true(screen_mouse(s));
    act(s, "<alt-l>", "Select with the mouse.");
    act(s, "<ctrl-c>", "> half a thought"); /* it closes, and does no more */
    act(s, "<ctrl-u>");
    scene_leave(s);
    scene_assert_restored(s);
}

/* The configuration file's text; the caller frees. */
static char *configured(void)
{
    char *path = paths_config_file(), *text = support_read(path);
    free(path);
    return text;
}

TEST(a_theme_is_kept)
{
    write_config("# mine\n[ui]\nmouse = true\n");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "/theme light<enter>", "Theme: light, saved in tiro.ini.");
    char *text = configured();
    assert_says(text, "\ntheme = light\n", "# mine\n[ui]\n");
    free(text);
    scene_exchange(s, "hi", hello);
    see(s, "!saved in tiro.ini");
    act(s, "/theme<enter>", "in use");
    act(s, "<down><enter>", "saved in tiro.ini.");
    scene_leave(s);
    text = configured();
    assert_non_null(strstr(text, "\ntheme = "));
    free(text);
}

TEST(a_model_is_kept)
{
    struct screen *s = scene_open(24, 100, NULL);
    act(s, "/model another-one<enter>", "Model: anthropic/another-one, saved in tiro.ini.");
    scene_leave(s);
    auto_free char *text = configured();
    assert_says(text, "name = anthropic\n", "model = another-one\n");
    s = scene_open(24, 100, NULL);
    assert_true(screen_wait_row(s, 0, "anthropic · another-one", WAIT_MS));
}

TEST(an_edited_message_takes_the_place_of_the_last)
{
    struct screen *s = open_with_two_turns();
    act(s, "/edit<enter>", "> about lilies", "changing your last message");
    act(s, "<escape>", "!changing your last message", "!> about lilies");
    act(s, "/edit<enter>", "> about lilies");
    act(s, " of the valley");
    scene_queue(.text = "Of may bells.");
    act(s, "<enter>", "Of may bells.", "!Of lilies.", "!changing your last message");
    assert_says(last_request(), "about roses", "about lilies of the valley", "!\"about lilies\"",
                "!Of lilies.");
    see(s, IDLE);
    scene_exchange(s, "about tulips", "Of tulips.");
    assert_says(last_request(), "!\"about lilies\"", "!Of lilies.", "Of may bells.");
}

/* On a screen of ten rows a list would hide the error. */
TEST(enter_takes_the_marked_row_and_says_what_is_wrong_with_it)
{
    struct screen *s = scene_open(10, 40, NULL);
    act(s, "/hel", "›/help");
    act(s, "<enter>", "Help");
    act(s, "<escape>", "!Help");
    act(s, "/ren", "›/rename");
    act(s, "<enter>", "/rename TITLE: change", "!›/rename", "> /rename");
    act(s, "<ctrl-u>/re", "›/resume");
    act(s, "<down*2>", "›/remember");
    act(s, "<enter>", "/remember TEXT", "!›/remember", "> /remember");
    act(s, "<ctrl-u>/exi", "/quit");
    act(s, "<enter>");
    assert_true(screen_wait_exit(s, WAIT_MS));
}

TEST_IF(capability_store(), reading_changes_nothing_until_it_is_resumed)
{
    struct screen *s = open_with_two_turns();
    scene_leave(s);
    s = scene_open(24, 80, reading);
    see(s, "Of lilies.");
    assert_true(screen_wait_row(s, 0, "read-only", WAIT_MS));
    act(s, "about tulips<enter>", "This session is read-only.", "> about tulips");
    assert_int_equal(model_server_requests(scene_server()), 2);
    act(s, "<ctrl-u>", "!> about tulips");
    act(s, "/resume<enter>", "!read-only");
    scene_exchange(s, "about tulips", "Of tulips.");
    assert_non_null(strstr(last_request(), "about roses"));
}

TEST(the_title_has_the_model_before_the_first_message)
{
    static const char *const names[] = {"the-only-one", NULL};
    auto_free char *url = mem_printf("%s/v1", model_server_url(scene_server()));
    setenv("OPENAI_BASE_URL", url, 1);
    model_server_set_models(scene_server(), names);
    struct screen *s = scene_open(24, 80, (const char *const[]){"--provider", "openai", NULL});
    assert_true(screen_wait_row(s, 0, "the-only-one", WAIT_MS));
    act(s, "/model the-only-noe<enter>", "did you mean \"the-only-one\"?");
    act(s, "/doctor<enter>", "provider: openai", "server: answers after",
        "models that it lists: 1");
    assert_int_equal(model_server_requests(scene_server()), 0);
}
