/* The lines of an empty session and the hint of an empty message: what they tell, and what gives
 * way where there is no room. */
#include <unistd.h>

#include "base/clock.h"
#include "session/capability.h"
#include "tests/seen.h"
#include "tests/still_app.h"
#include "tests/suite.h"
#include "ui/app/imports.h"
#include "ui/app/welcome.h"
#include "ui/text/editor.h"

/* The rows, a line each. */
static const char *drawn(int width, size_t room)
{
    AUTO(rows_release) struct rows rows;
    rows_init(&rows);
    welcome_rows(&app, width, room, &rows);
    assert_true(rows.list.len <= room);
    for (size_t i = 0; i < rows.list.len; i++)
        assert_true(rows_width(&rows, i) <= (size_t)width);
    return seen_text(&rows);
}

static void know_all(void)
{
    memcpy(app.welcome.newest.id, "11111111", 9);
    mem_replace(&app.welcome.newest.title, mem_strdup("Kyoto in November"));
    app.welcome.newest.updated_ms = clock_wall_ms() - INT64_C(2) * 24 * 3600 * 1000 - 5000;
    app.welcome.proposals = 3;
    app.welcome.files = mem_strdup("AGENTS.md, /home/ada/AGENTS.md");
    app.meters.memory = true;
    memcpy(app.session.id, "22222222", 9);
}

static void finish_errand(void)
{
    struct errand *e = mailbox_wait(errands_back(app.errands), 10000 * support_patience());
    assert_non_null(e);
    errand_finish(&app, e);
}

FIXTURE(still_app_setup, still_app_teardown);

TEST(nothing_is_told_that_is_not_known)
{
    assert_says(drawn(80, 20), "Chat with a language model.", "F1        all keys and commands",
                "!continues", "!inbox", "!in use", "!F4", "/         begins a command");
}

TEST_IF(capability_memory(), all_that_is_known_is_told)
{
    know_all();
    assert_string_equal(drawn(80, 20),
                        "\n"
                        "  Chat with a language model.\n"
                        "  F5        continues \"Kyoto in November\" (2 d)\n"
                        "  /learned  3 proposals in the inbox\n"
                        "  F1        all keys and commands\n"
                        "  F2        memory: earlier conversations, learned items, "
                        "the graph, documents\n"
                        "  F4        in use: AGENTS.md, /home/ada/AGENTS.md\n"
                        "  Enter     sends the message\n"
                        "  F3        earlier sessions\n"
                        "  /         begins a command\n"
                        "\n");
}

TEST_IF(capability_memory(), the_least_important_lines_give_way)
{
    know_all();
    assert_string_equal(drawn(40, 7),
                        "  Chat with a language model.\n"
                        "  F5        continues \"Kyoto in Novembe…\n"
                        "  /learned  3 proposals in the inbox\n"
                        "  F1        all keys and commands\n"
                        "  F2        memory: earlier conversatio…\n"
                        "  F4        in use: AGENTS.md, /home/ad…\n"
                        "  Enter     sends the message\n");
    assert_says(drawn(40, 3), "continues", "inbox", "!all keys");
    assert_string_equal(drawn(40, 2), "");
    for (size_t room = 0; room < 14; room++)
        (void)drawn(2, room);
}

/* The line of F5 is told only where F5 does so. */
TEST(f5_goes_where_its_line_says)
{
    know_all();
    memcpy(app.left, "33333333", 9);
    assert_says(drawn(80, 20), "!continues");
    memcpy(app.left, "11111111", 9);
    assert_says(drawn(80, 20), "continues");
    (void)background_put(&app, "44444444", "another");
    assert_says(drawn(80, 20), "!continues");
}

static const char *hint(int width)
{
    return support_keep(welcome_hint(&app, width));
}

TEST_IF(capability_memory(), the_hint_tells_as_much_as_has_room)
{
    app.meters.memory = true;
    memcpy(app.session.id, "22222222", 9);
    assert_string_equal(hint(200), "Message, or / for commands");
    app.welcome.is_first = true;
    assert_string_equal(hint(78),
                        "Message, or / for commands, @ files, ! shell commands, "
                        "F2 memory and inbox");
    assert_string_equal(hint(38), "Message, or / for commands, @ files");
    assert_string_equal(hint(5), "Message, or / for commands");
    app.meters.memory = false;
    assert_string_equal(hint(78), "Message, or / for commands, @ files, ! shell commands");
}

/* Until a message was sent, by this start or an earlier one. */
TEST(the_hint_is_told_until_a_message_was_sent)
{
    welcome_ask(&app);
    finish_errand();
    assert_true(app.welcome.is_first);
    welcome_sent(&app);
    assert_false(app.welcome.is_first);
    finish_errand();
    assert_int_equal(access(support_path(".local/state/tiro/welcomed"), F_OK), 0);
    app.welcome.looked = false; /* as at the next start */
    welcome_ask(&app);
    finish_errand();
    assert_false(app.welcome.is_first);
}

TEST(an_offer_of_histories_comes_first_and_takes_no_message)
{
    vec_push(&app.import.found.sources, (struct import_counts){.name = mem_strdup("claude"),
                                                               .label = mem_strdup("Claude Code"),
                                                               .files = 1243,
                                                               .bytes = 1100000000});
    vec_push(&app.import.found.sources,
             (struct import_counts){.name = mem_strdup("codex"), .label = mem_strdup("Codex")});
    app.fresh = true;
    assert_says(drawn(80, 20),
                "  Chat with a language model.\n"
                "  Found conversations with Claude Code: 1,243 files, 1.1GB.\n"
                "  Enter     search them here, too\n"
                "  n Enter   no; tiro does not ask again, /import takes them in\n"
                "  l Enter   choose\n"
                "  F1        all keys and commands\n",
                "!sends the message");
    assert_false(imports_answer(&app, "")); /* it is not on the screen */
    app.import.shown = true;
    editor_set(app.editor, "n");
    assert_says(drawn(80, 20), "  Enter     no; tiro does not ask again", "!search them",
                "!choose");
    editor_set(app.editor, "next");
    assert_says(drawn(80, 20), "Found conversations", "!Enter");
    assert_false(imports_answer(&app, "next"));
    app.fresh = false;
    assert_false(imports_answer(&app, "n"));
}
