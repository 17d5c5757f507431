/* Sessions at a terminal: resume, drafts, crashes, the list of sessions, and commands on a session.
 */
#include <signal.h>

#include "base/paths.h"
#include "session/capability.h"
#include "store/store.h"
#include "tests/import_case.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"

#define HELLO "Hello from the scripted model."

/* Two sessions: the one about gardening was left for the one about astronomy. */
static void open_two(void)
{
    play("=open 24 100", "=exchange about gardening|Roses need a pergola.", ":/new<enter>",
         "!pergola", "=prompt", "=exchange about astronomy|Stars need none.");
}

static void open_sessions(void)
{
    play(":<f3>", "=row 1  Sessions / ", "about gardening");
}

static void choose_gardening(void)
{
    play("=sessions", ":garden", "\u203aabout gardening", "!\u203aabout astronomy");
}

static void open_with_two_turns(void)
{
    play("=open", "=exchange about roses|Of roses.", "=exchange about lilies|Of lilies.");
}

/* Imports a conversation of 300 turns, by the command line, and opens it. */
static void open_imported(void)
{
    char *path = support_path("list.json");
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= 300; i++)
        buf_addf(&text,
                 "%s{\"role\":\"user\",\"content\":\"question %d\"},"
                 "{\"role\":\"assistant\",\"content\":\"reply %d.\"}",
                 i > 1 ? "," : "[", i, i);
    buf_addch(&text, ']');
    support_write(path, text.data);
    run_ok(RUN("sessions", "import", path));
    play("=open 24 80 --resume last", "reply 300.");
}

/* The configuration file has these texts. */
static void is_configured(const char *looks)
{
    auto_free char *path = paths_config_file(), *all = mem_strdup(looks);
    char *save = NULL;
    for (char *look = strtok_r(all, "|", &save); look; look = strtok_r(NULL, "|", &save))
        assert_says(support_read(path), look);
}

static void bring_history(void)
{
    import_case_copy("claude/turns.jsonl", ".claude/projects/-w/turns.jsonl");
}

static void bring_another(void)
{
    import_case_write(".codex/sessions/2026/03/01/rollout-1.jsonl", "{}\n");
}

/* Somebody else writes to the store meanwhile. */
static void import_beside_a_writer(void)
{
    struct store *other;
    struct error e;
    import_case_append(".claude/projects/-w/turns.jsonl", "{'type':'summary'}\n");
    assert_ok(store_open(scene_store(), STORE_READ_WRITE, &other, &e), e);
    assert_ok(store_exec(other, "BEGIN IMMEDIATE", &e), e);
    play(":/import<enter>", "importing 0 % (Esc stops)", ":<escape>", "The import is stopped.",
         "!importing");
    assert_ok(store_exec(other, "COMMIT", &e), e);
    store_close(other);
}

static const struct step steps[] = {
    {"history", .alone = bring_history},         {"twice", .alone = bring_another},
    {"beside", .alone = import_beside_a_writer}, {"two", .alone = open_two},
    {"sessions", .alone = open_sessions},        {"gardening", .alone = choose_gardening},
    {"turns", .alone = open_with_two_turns},     {"imported", .alone = open_imported},
    {"configured", .run = is_configured},        {.name = NULL}};

SCENE(steps);

TEST_IF(capability_store(), continue_shows_the_same_conversation)
{
    play("=says The *first* answer.\n\n- with\n- a list\n", "=open",
         "=ask the first question|a list", "=exchange the second question|" HELLO);
    auto_free char *before = mem_strdup(screen_row_text(scene(), 3));
    play("=leave", "=open 24 80 --continue", "The first answer.", "the first question",
         "the second question", HELLO);
    assert_string_equal(screen_row_text(scene(), 3), before);
    play("=exchange the third question|The third answer.",
         "=sent 2 the first question|The *first* answer.|the third question");
}

PLAY_IF(capability_store(), a_draft_survives_a_kill, "=open", "=exchange hi|" HELLO,
        ":typed before the kill", "=draft typed before the kill", "=kill 9",
        "=open 24 80 --continue", "> typed before the kill", HELLO, "=requests 1");

#define LINES "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21"
PLAY_IF(capability_store(), a_long_draft_is_folded_again, "=open", "=exchange hi|" HELLO,
        "=paste look\n" LINES "\nwell", "[pasted 23 lines]", "=draft look\n" LINES "\nwell",
        "=kill 9", "=open 24 80 --continue", "> look", "[pasted 21 lines]", "  well", ":<ctrl-o>",
        "  21", "!pasted");

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
    act(s, "<enter>", HELLO);
    scene_leave(s);
    s = scene_open(24, 80, NULL); /* once is enough */
    see(s, "!a thought for later", "!did not send it");
}

PLAY_IF(capability_store(), a_sent_draft_is_gone, "=open", ":soon sent", "=draft soon sent",
        ":<enter>", HELLO, "=leave", "=open 24 80 --continue", HELLO, "!> soon sent");

PLAY_IF(capability_store(), a_turn_that_a_kill_cut_off_is_shown_as_such, "=open",
        "=exchange an early question|" HELLO, "=stalls half an answer",
        ":the fatal question<enter>", "half an answer", "=kill 9", "=release",
        "=open 24 80 --continue", "the fatal question", "interrupted; /retry", ":/retry<enter>",
        "=wait 3", "=count 2 " HELLO,
        "=sent 2 the fatal question|an early question|!half an answer");

/* --- the sessions screen --- */

PLAY_IF(capability_store(), the_sessions_screen_finds_and_resumes,
        "=env TIRO_LEARNED_HISTORY=false", /* else the request tells of the other session */
        "=two", "=gardening", "1 of 2", "Roses need a pergola.", /* the preview */
        ":<enter>", "!Sessions", "Roses need a pergola.", "=prompt", "=exchange roses?|Of roses.",
        "=sent 2 about gardening|!about astronomy");

PLAY_IF(capability_store(), histories_of_other_agents_come_in, "=history", "=open",
        ":/import<enter>", "1 conversation, 5 messages from Claude Code. F3", "=beside",
        ":/import<enter>", "There is nothing new", ":<f3>", ":from:claude",
        "\u203aFind the tax rate");

PLAY_IF(capability_store(), histories_are_offered_at_the_first_start, "=history", "=open",
        "Found conversations with Claude Code: 1 file", "n Enter   no", "l Enter   choose",
        ":<enter>", "1 conversation, 5 messages from Claude Code.", "!Found", ":<f3>",
        "\u203aFind the tax rate", "=configured sources = all");

PLAY_IF(capability_store(), an_offer_takes_no_message_for_an_answer, "=history", "=says Well.",
        "=open 10 40", "l Enter   choose", ":no, hello", "!choose", "Found", ":<enter>", "Well.",
        "!Found", "=sent 0 no, hello");

PLAY_IF(capability_store(), a_refused_offer_does_not_come_again, "=history", "=open", "n Enter",
        ":n", "Enter     no; tiro does not ask again", "!choose", ":<enter>", "saved in tiro.ini",
        "!Found", "=configured sources = none", "=requests 0", "=leave", "=open", "=prompt",
        "!Found");

PLAY_IF(capability_store(), an_offer_can_be_taken_in_part, "=history", "=twice", "=open",
        "Claude Code, Codex: 2 files", ":l<enter>", "[x] Claude Code  1 file", ":<down><enter>",
        "\u203a[ ] Claude Code", ":<escape>", "Found", ":l<enter>", "[ ] Claude", ":<enter>",
        "saved in tiro.ini", "=configured sources = codex");

PLAY_IF(capability_store(), a_transcript_is_found_by_what_was_said, "=two", "=sessions", ":pergola",
        "In the transcripts: 1 match", "1 of 2", /* it is in a last line, too */
        ":<down>", "\u203aRoses need a pergola.", ":<enter>", "find: pergola", "about gardening",
        "Roses need a pergola.", ":<escape>", "=prompt");

PLAY_IF(capability_store(), escape_goes_back_from_what_was_only_read, "=two", ":half a thought",
        ":<left*3>", "=gardening", ":<alt-v>", "read-only", "Roses need a pergola.",
        "Esc goes back", ":<escape>", "!read-only", "!Roses need a pergola.", "> half a thought",
        ":new ", "> half a thounew ght", "!Esc goes back" /* where the caret was */);

PLAY_IF(capability_store(), the_open_session_gives_way_when_it_is_archived, "=two", ":its draft",
        "=sessions", "\u203aabout astronomy", ":<alt-a>", "about astronomy  archived",
        "!> its draft", /* stays with it */
        ":<enter>", "> its draft", "Stars need none.");

PLAY_IF(capability_store(), deleting_is_asked_and_keeps_nothing, "=two", ":not sent", "=sessions",
        "\u203aabout astronomy", ":<alt-x>", "Delete \"about astronomy\" for good?", ":n",
        "!Delete", ":<alt-x>y", "Deleted.", "\u203aabout gardening", "!about astronomy",
        ":<escape>", "> not sent", "!Stars need none." /* a new session took its place */);

TEST_IF(capability_store(), a_session_is_open_only_once)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "mine", HELLO);
    (void)scene_start(24, 80, (const char *const[]){"--continue", NULL});
    play("The session is in use.", "another tiro");
    scene_exchange(s, "still mine", "So it is.");
}

/* --- commands --- */

PLAY(a_fork_ends_with_the_turn_that_is_named, "=turns", ":/fork 1<enter>", "!Of lilies.",
     "Of roses.", "This is a copy; the original session is unchanged.",
     "=exchange about tulips|Of tulips.", "=sent last about roses|!about lilies");

/* Turns are counted from the first, which is not on the screen: older pages are asked for. */
PLAY_IF(capability_store(), a_turn_of_long_ago_can_be_named, "=imported", ":/fork 7<enter>",
        "reply 7.", "!reply 300.", "=exchange and now?|" HELLO, "=sent last reply 7.|!question 8");

PLAY_IF(capability_store(), a_search_counts_and_goes_round, "=imported", ":<ctrl-f>reply 300",
        " 1 match+ ", "reply 300.", ":1", " 0 matches+ ", ":<ctrl-u>reply 7.<enter>", "1 of 1 ",
        "  reply 7.", /* on an older page */
        ":<enter>", "1 of 1 ", ":<escape><ctrl-f>", "!of 1 ", ":<up>", "find: reply 7.",
        ":<ctrl-u>question 3", " 12 matches ", /* 3, 30 to 39, 300 */
        ":<enter>", " 12 of 12 ", ":<enter>", " 1 of 12 ", "  reply 300.", ":<enter>", " 2 of 12 ",
        ":<shift-tab*2>", /* newer */
        " 12 of 12 ", "  reply 3.", ":<ctrl-u>never said<enter>", "no match");

TEST(copying_says_where_it_went)
{
    static const char *const variables[] = {"VTE_VERSION", "DISPLAY", "WAYLAND_DISPLAY",
                                            "XTERM_VERSION", "WT_SESSION"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    play("=open 24 120", "=says Of *may* bells.", "=ask say something|Of may bells.",
         ":/copy<enter>", "Sent 15 bytes to the terminal's clipboard.",
         "=wrote \033]52;c;T2YgKm1heSogYmVsbHMu\033\\", "=exchange and more|" HELLO, "!clipboard");
}

/* Byte for byte, also what the screen shows in another way. */
TEST(a_selected_message_is_copied_as_the_model_sent_it)
{
    setenv("VTE_VERSION", "", 1);
    play("=open 24 120", "=says \n\n Of\t*may* bells.\n", "=ask say something|may bells.", IDLE,
         ":<alt-up>", "tiro \u00b7 1", "\u203a Of", ":c",
         "Sent 19 bytes to the terminal's clipboard.",
         "=wrote \033]52;c;CgogT2YJKm1heSogYmVsbHMuCg==\033\\", ":<up>", "you \u00b7 1",
         "!clipboard", ":<escape>", "!you \u00b7 1");
}

/* The terminal has the mouse and breaks the lines; everything else goes on behind. */
PLAY(bare_text_is_there_to_be_selected, "=open 16 40",
     "=says It is **bold**, and longer than a row has columns.", "=ask how is it?|It is bold",
     ":half a thought", "=mouse 1", ":<alt-l>", "=row 15 Select with the mouse.",
     "=row 4 It is **bold**, and longer than a row ha", "=row 5 s columns.", "=mouse 0",
     "=wrote It is **bold**, and longer than a row has columns.", "!half a thought", "=size 20 60",
     "=row 4 It is **bold**, and longer than a row has columns.", ":<alt-l>",
     "!Select with the mouse", "> half a thought", "!**bold**", "=mouse 1", ":<alt-l>",
     "Select with the mouse.", ":<ctrl-c>", "> half a thought", /* it closes, and does no more */
     ":<ctrl-u>", "=leave", "=restored");

PLAY(a_theme_is_kept, "=config # mine\n[ui]\nmouse = true\n", "=open", ":/theme light<enter>",
     "Theme: light, saved in tiro.ini.", "=configured \ntheme = light\n|# mine\n[ui]\n",
     "=exchange hi|" HELLO, "!saved in tiro.ini", ":/theme<enter>", "in use", ":<down><enter>",
     "saved in tiro.ini.", "=leave", "=configured \ntheme = ");
PLAY(a_model_is_kept, "=open 24 100", ":/model another-one<enter>",
     "Model: anthropic/another-one, saved in tiro.ini.", "=leave",
     "=configured name = anthropic\n|model = another-one\n", "=open 24 100",
     "=row 0 anthropic · another-one");

PLAY(an_edited_message_takes_the_place_of_the_last, "=turns", ":/edit<enter>", "> about lilies",
     "changing your last message", ":<escape>", "!changing your last message", "!> about lilies",
     ":/edit<enter>", "> about lilies", ": of the valley", "=says Of may bells.", ":<enter>",
     "Of may bells.", "!Of lilies.", "!changing your last message",
     "=sent last about roses|about lilies of the valley|!\"about lilies\"|!Of lilies.", IDLE,
     "=exchange about tulips|Of tulips.", "=sent last !\"about lilies\"|!Of lilies.|Of may bells.");

/* On a screen of ten rows a list would hide the error. */
PLAY(enter_takes_the_marked_row_and_says_what_is_wrong_with_it, "=open 10 40", ":/hel", "›/help",
     ":<enter>", "Help", ":<escape>", "!Help", ":/ren", "›/rename", ":<enter>",
     "/rename TITLE: change", "!›/rename", "> /rename", ":<ctrl-u>/re", "›/resume", ":<down*5>",
     "›/remember", ":<enter>", "/remember TEXT", "!›/remember", "> /remember", ":<ctrl-u>/exi",
     "/quit", ":<enter>", "=exit");

PLAY_IF(capability_store(), reading_changes_nothing_until_it_is_resumed, "=turns", "=leave",
        "=open 24 80 --resume last --read-only", "Of lilies.", "=row 0 read-only",
        ":about tulips<enter>", "This session is read-only.", "> about tulips", "=requests 2",
        ":<ctrl-u>", "!> about tulips", ":/resume<enter>", "!read-only",
        "=exchange about tulips|Of tulips.", "=sent last about roses");

TEST(a_model_of_another_provider_is_chosen_from_the_list)
{
    static const char *const names[] = {"gpt-5", NULL};
    auto_free char *url = mem_printf("%s/v1", model_server_url(scene_server()));
    setenv("OPENAI_BASE_URL", url, 1);
    model_server_set_models(scene_server(), names);
    play("=open 24 100", ":/model<enter>", "anthropic · 400k · $1.25 in, $10 out",
         "openai · 400k · $1.25 in, $10 out", ":gpt-5 openai<enter>",
         "Model: openai/gpt-5, saved in tiro.ini.", "=row 0 openai · gpt-5", ":/effort<enter>",
         "minimal", ":<up><enter>", "Effort: high, saved in tiro.ini.", "=row 0 gpt-5 · high");
}

TEST(the_title_has_the_model_before_the_first_message)
{
    static const char *const names[] = {"the-only-one", NULL};
    auto_free char *url = mem_printf("%s/v1", model_server_url(scene_server()));
    setenv("OPENAI_BASE_URL", url, 1);
    model_server_set_models(scene_server(), names);
    play("=open 24 80 --provider openai", "=row 0 the-only-one", ":/model the-only-noe<enter>",
         "did you mean \"the-only-one\"?", ":/doctor<enter>", "provider: openai",
         "server: answers after", "models that it lists: 1", "=requests 0");
}
