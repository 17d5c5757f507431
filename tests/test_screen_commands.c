/* What is done with a session from its own screen: fork, archive, export, labels, reading only. */
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
static const char *const reading[] = {"--resume", "last", "--read-only", NULL};

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

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

FIXTURE(scene_setup, scene_teardown);

TEST(a_fork_ends_with_the_turn_that_is_named)
{
    struct screen *s = open_with_two_turns();
    scene_say(s, "/fork 1");
    assert_true(screen_wait_gone(s, "Of lilies.", WAIT_MS));
    assert_true(screen_wait_text(s, "Of roses.", WAIT_MS));
    assert_true(screen_wait_text(s, "This is a copy; the original session is unchanged.", WAIT_MS));
    scene_exchange(s, "about tulips", "Of tulips.");
    assert_non_null(strstr(last_request(), "about roses"));
    assert_null(strstr(last_request(), "about lilies"));
}

TEST(a_fork_of_all_is_the_same_conversation)
{
    struct screen *s = open_with_two_turns();
    scene_say(s, "/fork");
    assert_true(screen_wait_text(s, "This is a copy; the original session is unchanged.", WAIT_MS));
    scene_exchange(s, "about tulips", "Of tulips.");
    assert_non_null(strstr(last_request(), "about lilies"));
    scene_say(s, "/fork 9");
    assert_true(screen_wait_text(s, "You have sent 3 messages", WAIT_MS));
}

TEST(tab_lists_the_turns)
{
    struct screen *s = open_with_two_turns();
    screen_type(s, "/fork ");
    screen_key(s, SCREEN_TAB);
    assert_true(screen_wait_count(s, "about roses", 2, WAIT_MS));
    screen_key(s, SCREEN_DOWN); /* newest first */
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "> /fork 1", WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_gone(s, "Of lilies.", WAIT_MS));
}

/* A conversation of so many turns, by the command line. */
static void import_turns(int turns)
{
    char *path = support_path("list.json"), *out, *err;
    struct buf text = BUF_INIT;
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
    buf_release(&text);
    free(path);
    free(out);
    free(err);
}

/* Turns are counted from the first, which is not on the screen: older pages are asked for. */
TEST_IF(capability_store(), a_turn_of_long_ago_can_be_named)
{
    import_turns(300);
    struct screen *s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, "reply 300.", WAIT_MS));
    scene_say(s, "/fork 7");
    assert_true(screen_wait_text(s, "reply 7.", WAIT_MS));
    assert_true(screen_wait_gone(s, "reply 300.", WAIT_MS));
    scene_exchange(s, "and now?", hello);
    assert_non_null(strstr(last_request(), "reply 7."));
    assert_null(strstr(last_request(), "question 8"));
}

TEST_IF(capability_store(), a_search_counts_and_goes_round)
{
    import_turns(300);
    struct screen *s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, "reply 300.", WAIT_MS));
    screen_ctrl(s, 'f');
    scene_say(s, "reply 7."); /* on an older page */
    assert_true(screen_wait_text(s, "1 of 1 ", WAIT_MS));
    assert_true(screen_wait_text(s, "  reply 7.", WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "1 of 1 ", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    screen_ctrl(s, 'f');
    assert_true(screen_wait_gone(s, "of 1 ", WAIT_MS));
    screen_key(s, SCREEN_UP);
    assert_true(screen_wait_text(s, "find: reply 7.", WAIT_MS));
    screen_ctrl(s, 'u');
    scene_say(s, "question 3");
    assert_true(screen_wait_text(s, " 12 of 12 ", WAIT_MS)); /* 3, 30 to 39, 300 */
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, " 1 of 12 ", WAIT_MS));
    assert_true(screen_wait_text(s, "  reply 300.", WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, " 2 of 12 ", WAIT_MS));
    screen_type(s, "\033[Z\033[Z"); /* Shift-Tab: newer */
    assert_true(screen_wait_text(s, " 12 of 12 ", WAIT_MS));
    assert_true(screen_wait_text(s, "  reply 3.", WAIT_MS));
    screen_ctrl(s, 'u');
    scene_say(s, "never said");
    assert_true(screen_wait_text(s, "no match", WAIT_MS));
}

TEST_IF(capability_store(), archive_puts_it_away)
{
    struct screen *s = open_with_two_turns();
    scene_say(s, "/archive");
    assert_true(screen_wait_gone(s, "Of roses.", WAIT_MS));
    assert_true(screen_wait_text(s, "\"about roses\" is archived", WAIT_MS));
    scene_exchange(s, "something else", hello);
    assert_null(strstr(last_request(), "about roses"));
    scene_say(s, "/resume about roses");
    assert_true(screen_wait_text(s, "Of lilies.", WAIT_MS));
    scene_exchange(s, "about tulips", "Of tulips.");
    assert_non_null(strstr(last_request(), "about roses"));
}

/* Where nothing is kept, it is gone, and neither the list of commands nor the outcome say that it
 * is put away. */
TEST(archive_says_what_it_does)
{
    static const char *const outcomes[] = {"is closed and was not saved", "is archived;"};
    static const char *const helps[] = {"delete this session, since none is saved",
                                        "archive this session and start a new one"};
    bool kept = capability_store();
    struct screen *s = open_with_two_turns();
    screen_type(s, "/archive");
    assert_true(screen_wait_text(s, helps[kept], WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, outcomes[kept], WAIT_MS));
}

TEST(export_writes_a_file)
{
    struct screen *s = open_with_two_turns();
    scene_say(s, "/export");
    assert_true(screen_wait_text(s, "Exported to about roses.md.", WAIT_MS));
    char *path = support_path("about roses.md"), *text = support_read(path);
    assert_non_null(strstr(text, "Of lilies."));
    scene_say(s, "/export"); /* never over a file */
    assert_true(screen_wait_text(s, "A file could not be used.", WAIT_MS));
    scene_say(s, "/export all.json");
    assert_true(screen_wait_text(s, "Exported to all.json.", WAIT_MS));
    free(text);
    free(path);
    path = support_path("all.json");
    text = support_read(path);
    assert_int_equal(text[0], '{');
    assert_non_null(strstr(text, "\"events\""));
    free(text);
    free(path);
}

TEST(copying_says_where_it_went)
{
    static const char *const variables[] = {"VTE_VERSION", "DISPLAY", "WAYLAND_DISPLAY",
                                            "XTERM_VERSION", "WT_SESSION"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    struct screen *s = scene_open(24, 120, NULL);
    queue((struct reply){.text = "Of *may* bells."});
    scene_ask(s, "say something", "Of may bells.");
    scene_say(s, "/copy");
    assert_true(screen_wait_text(s, "Sent 15 bytes to the terminal's clipboard.", WAIT_MS));
    assert_true(screen_log_has(s, "\033]52;c;T2YgKm1heSogYmVsbHMu\033\\"));
    scene_exchange(s, "and more", hello);
    assert_true(screen_wait_gone(s, "clipboard", WAIT_MS));
    scene_leave(s);
    setenv("VTE_VERSION", "7006", 1); /* takes no OSC 52 */
    s = scene_open(24, 120, NULL);
    queue((struct reply){.text = "Of *may* bells."});
    scene_ask(s, "say something", "Of may bells.");
    scene_say(s, "/copy");
    assert_true(screen_wait_text(s, "Wrote 15 bytes to ", WAIT_MS));
    assert_false(screen_log_has(s, "\033]52;"));
    unsetenv("VTE_VERSION");
}

/* The terminal has the mouse and breaks the lines; everything else goes on behind. */
TEST(bare_text_is_there_to_be_selected)
{
    struct screen *s = scene_open(16, 40, NULL);
    queue((struct reply){.text = "It is **bold**, and longer than a row has columns."});
    scene_ask(s, "how is it?", "It is bold");
    screen_type(s, "half a thought");
    assert_true(screen_mouse(s));
    screen_type(s, "\033l");
    assert_true(screen_wait_row(s, 15, "Select with the mouse.", WAIT_MS));
    assert_true(screen_wait_row(s, 4, "It is **bold**, and longer than a row ha", WAIT_MS));
    assert_true(screen_wait_row(s, 5, "s columns.", WAIT_MS));
    assert_false(screen_mouse(s));
    assert_true(screen_log_has(s, "It is **bold**, and longer than a row has columns."));
    assert_true(screen_wait_gone(s, "half a thought", WAIT_MS));
    screen_resize(s, 20, 60);
    assert_true(
        screen_wait_row(s, 4, "It is **bold**, and longer than a row has columns.", WAIT_MS));
    screen_type(s, "\033l");
    assert_true(screen_wait_gone(s, "Select with the mouse", WAIT_MS));
    assert_true(screen_wait_text(s, "> half a thought", WAIT_MS));
    assert_true(screen_wait_gone(s, "**bold**", WAIT_MS));
    assert_true(screen_mouse(s));
    screen_type(s, "\033l");
    assert_true(screen_wait_text(s, "Select with the mouse.", WAIT_MS));
    screen_ctrl(s, 'c'); /* it closes, and does no more */
    assert_true(screen_wait_text(s, "> half a thought", WAIT_MS));
    screen_ctrl(s, 'u');
    scene_leave(s);
    scene_assert_restored(s);
}

TEST(an_answer_goes_on_behind_bare_text)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    queue((struct reply){.text = "The second answer.", .hold = true});
    scene_say(s, "and now?");
    assert_true(model_server_wait(scene_server(), 2, WAIT_MS));
    screen_type(s, "\033l");
    assert_true(screen_wait_text(s, "Select with the mouse.", WAIT_MS));
    model_server_release(scene_server());
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "The second answer.", WAIT_MS));
    assert_true(scene_wait_idle(s));
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
    scene_say(s, "/theme light");
    assert_true(screen_wait_text(s, "Theme: light, saved in tiro.ini.", WAIT_MS));
    char *text = configured();
    assert_non_null(strstr(text, "\ntheme = light\n"));
    assert_non_null(strstr(text, "# mine\n[ui]\n"));
    free(text);
    scene_exchange(s, "hi", hello);
    assert_true(screen_wait_gone(s, "saved in tiro.ini", WAIT_MS));
    scene_say(s, "/theme");
    assert_true(screen_wait_text(s, "in use", WAIT_MS));
    screen_key(s, SCREEN_DOWN);
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "saved in tiro.ini.", WAIT_MS));
    scene_leave(s);
    text = configured();
    assert_non_null(strstr(text, "\ntheme = "));
    free(text);
}

TEST(a_theme_that_cannot_be_kept_says_so)
{
    char *path = paths_config_file(), *dir = paths_config_dir();
    struct error e;
    assert_true(paths_make_dir(dir, &e));
    assert_int_equal(symlink("nowhere", path), 0);
    struct screen *s = scene_open(24, 300, NULL);
    scene_say(s, "/theme light");
    assert_true(screen_wait_text(s, "Theme: light. It could not be saved:", WAIT_MS));
    assert_true(screen_wait_text(s, "is a link to a file that is not there", WAIT_MS));
    free(path);
    free(dir);
}

TEST_IF(capability_store(), labels_come_and_go)
{
    struct screen *s = open_with_two_turns();
    scene_say(s, "/label +garden spring");
    assert_true(screen_wait_text(s, "Labels: garden spring", WAIT_MS));
    scene_say(s, "/label -spring");
    assert_true(screen_wait_count(s, "Labels: garden", 2, WAIT_MS));
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, "Of lilies.", WAIT_MS));
    scene_say(s, "/label");
    assert_true(screen_wait_text(s, "Labels: garden", WAIT_MS));
}

TEST(an_edited_message_takes_the_place_of_the_last)
{
    struct screen *s = open_with_two_turns();
    scene_say(s, "/edit");
    assert_true(screen_wait_text(s, "> about lilies", WAIT_MS));
    assert_true(screen_wait_text(s, "changing your last message", WAIT_MS));
    screen_type(s, " of the valley");
    queue((struct reply){.text = "Of may bells."});
    scene_say(s, "");
    assert_true(screen_wait_text(s, "Of may bells.", WAIT_MS));
    assert_true(screen_wait_gone(s, "Of lilies.", WAIT_MS));
    assert_true(screen_wait_gone(s, "changing your last message", WAIT_MS));
    assert_non_null(strstr(last_request(), "about roses"));
    assert_non_null(strstr(last_request(), "about lilies of the valley"));
    assert_null(strstr(last_request(), "\"about lilies\""));
    assert_null(strstr(last_request(), "Of lilies."));
    assert_true(scene_wait_idle(s));
    scene_exchange(s, "about tulips", "Of tulips.");
    assert_null(strstr(last_request(), "\"about lilies\""));
    assert_null(strstr(last_request(), "Of lilies."));
    assert_non_null(strstr(last_request(), "Of may bells."));
}

TEST(escape_leaves_the_last_message)
{
    struct screen *s = open_with_two_turns();
    scene_say(s, "/edit");
    assert_true(screen_wait_text(s, "> about lilies", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "changing your last message", WAIT_MS));
    assert_true(screen_wait_gone(s, "> about lilies", WAIT_MS));
    scene_exchange(s, "about tulips", "Of tulips.");
    assert_non_null(strstr(last_request(), "Of lilies."));
}

TEST(stop_and_compact_say_what_is_not_there)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "/stop");
    assert_true(screen_wait_text(s, "Nothing is running.", WAIT_MS));
    scene_say(s, "/compact");
    assert_true(screen_wait_text(
        s, capability_compaction() ? "nothing to compact" : "Conversations are not shortened here.",
        WAIT_MS));
    queue((struct reply){.fault = REPLY_STALL, .text = "half a thought"});
    scene_say(s, "begin");
    assert_true(screen_wait_text(s, "half a thought", WAIT_MS));
    scene_say(s, "/stop");
    assert_true(screen_wait_text(s, "interrupted", WAIT_MS));
    assert_true(scene_wait_idle(s));
}

TEST(the_budget_is_shown_and_ends_the_turn)
{
    setenv("TIRO_BUDGET_MAX_TOKENS", "1200", 1);
    queue((struct reply){.text = "First.", .input_tokens = 1000, .output_tokens = 20});
    queue((struct reply){.text = "Second.", .input_tokens = 1100, .output_tokens = 20});
    struct screen *s = scene_open(24, 100, NULL);
    scene_ask(s, "one", "First.");
    assert_true(screen_wait_text(s, "budget 85 %", WAIT_MS));
    assert_true(screen_wait_text(s, "85 % of max_tokens used: 1,020 of 1,200", WAIT_MS));
    scene_say(s, "two");
    assert_true(screen_wait_text(s, "Second.", WAIT_MS));
    assert_true(scene_wait_idle(s));
    scene_say(s, "three");
    assert_true(screen_wait_text(s, "The budget is used up.", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_int_equal(model_server_requests(scene_server()), 2);
    unsetenv("TIRO_BUDGET_MAX_TOKENS");
}

TEST(what_a_command_does_not_take_stays_in_the_editor)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "/new york is large");
    assert_true(screen_wait_text(s, "/new takes no arguments.", WAIT_MS));
    assert_true(screen_wait_text(s, "> /new york is large", WAIT_MS));
}

TEST_IF(capability_store(), reading_changes_nothing_until_it_is_resumed)
{
    struct screen *s = open_with_two_turns();
    scene_leave(s);
    s = scene_open(24, 80, reading);
    assert_true(screen_wait_text(s, "Of lilies.", WAIT_MS));
    assert_true(screen_wait_row(s, 0, "read-only", WAIT_MS));
    scene_say(s, "about tulips");
    assert_true(screen_wait_text(s, "This session is read-only.", WAIT_MS));
    assert_true(screen_wait_text(s, "> about tulips", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 2);
    screen_ctrl(s, 'u');
    assert_true(screen_wait_gone(s, "> about tulips", WAIT_MS));
    scene_say(s, "/resume");
    assert_true(screen_wait_gone(s, "read-only", WAIT_MS));
    scene_exchange(s, "about tulips", "Of tulips.");
    assert_non_null(strstr(last_request(), "about roses"));
}

TEST(a_model_without_a_key_is_listed_as_such_and_refused)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "/model");
    assert_true(screen_wait_text(s, "no key: set OPENAI_API_KEY", WAIT_MS));
    assert_true(screen_wait_text(s, "in use", WAIT_MS));
    screen_type(s, "openai\r");
    assert_true(screen_wait_text(s, "The model was not changed.", WAIT_MS));
    assert_true(screen_wait_text(s, "no API key for OpenAI; set OPENAI_API_KEY", WAIT_MS));
    assert_true(screen_wait_row(s, 0, "anthropic", WAIT_MS));
}

TEST(the_title_has_the_model_before_the_first_message)
{
    static const char *const names[] = {"the-only-one", NULL};
    (void)state;
    char *url = mem_printf("%s/v1", model_server_url(scene_server()));
    setenv("OPENAI_BASE_URL", url, 1);
    free(url);
    model_server_set_models(scene_server(), names);
    struct screen *s = scene_open(24, 80, (const char *const[]){"--provider", "openai", NULL});
    assert_true(screen_wait_row(s, 0, "the-only-one", WAIT_MS));
    scene_say(s, "/model the-only-noe");
    assert_true(screen_wait_text(s, "did you mean \"the-only-one\"?", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 0);
    unsetenv("OPENAI_BASE_URL");
}

TEST_IF(capability_store(), reading_is_possible_while_another_has_it)
{
    struct screen *s = open_with_two_turns();
    struct screen *other = scene_open(24, 80, reading);
    assert_true(screen_wait_text(other, "Of lilies.", WAIT_MS));
    screen_type(other, "a draft of the reader");
    assert_true(screen_wait_text(other, "> a draft of the reader", WAIT_MS));
    screen_ctrl(other, 'u');
    scene_leave(other);
    scene_exchange(s, "still mine?", "So it is.");
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, "So it is.", WAIT_MS));
    assert_null(strstr(screen_text(s), "a draft of the reader"));
}
