/* The memory pane in the real program: entries, learned items, the graph and corpora. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/paths.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

/* An answer that is long enough for a compaction to make sense. */
static void exchange(struct screen *s, const char *question, const char *begin, const char *end,
                     int words)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addf(&text, "%s\n\n", begin);
    for (int i = 0; i < words; i++)
        buf_addstr(&text, "and more ");
    buf_addf(&text, "\n\n%s", end);
    struct reply r = {.text = text.data};
    model_server_queue(scene_server(), &r);
    scene_ask(s, question, end);
}

/* A conversation of three turns that are dropped and remembered. */
static struct screen *open_compacted(int rows, int cols)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(rows, cols, NULL);
    exchange(s, "where did we want to sleep?", "In the ryokan by the river.", "first end", 0);
    exchange(s, "which train?", "The one at nine from Tokyo.", "second end", 200);
    exchange(s, "thanks", "You are welcome.", "third end", 200);
    act(s, "/compact deterministic<enter>", " memory entr", IDLE);
    return s;
}

static void open_pane(struct screen *s)
{
    act(s, "<f2>", " Memory \u00b7 all");
}

static void search(struct screen *s, const char *query, const char *found)
{
    screen_type(s, query);
    see(s, " by score", found);
}

static void leave(struct screen *s)
{
    act(s, "<ctrl-c><ctrl-u>");
}

/* --- beside and over --- */

FIXTURES(memory, scene_setup, scene_teardown);

TEST_IF(capability_memory() && capability_compaction(), tab_moves_the_keys)
{
    int row, col, rows, cols;
    bool visible;
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    act(s, "ryo", "/ ryo");
    screen_cursor(s, &row, &col, &visible);
    screen_size(s, &rows, &cols);
    assert_true(visible && col > 70 && row == 3);
    act(s, "<tab>for the message");
    assert_true(screen_wait_row(s, rows - 1, "> for the message", WAIT_MS));
    act(s, "<tab>kan", "/ ryokan");
    act(s, "<tab>");
    scene_exchange(s, " goes on", "It does.");
}

/* --- actions --- */

TEST_IF(capability_memory() && capability_compaction(), escape_goes_back_to_where_o_was_pressed)
{
    static const struct {
        int cols;
        const char *pane;
    } sizes[] = {{120, " Memory \u00b7 all"}, {80, " Memory \u00b7 all"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = open_compacted(16, sizes[i].cols);
        act(s, "half a thought");
        open_pane(s);
        search(s, "ryokan", "ryokan by the river.");
        act(s, "<enter>o", "Esc goes back", "  In the ryokan by the river.");
        act(s, "<escape>", "!Esc goes back", "/ ryokan",
            "> half a thought");                         /* the pane as it was */
        act(s, "p", "pinned");                           /* and the keys in its list */
        act(s, "<f2>", "!/ ryokan", "\u25a3 compacted"); /* the end */
        leave(s);
    }
}

TEST_IF(capability_memory() && capability_store() && capability_compaction(),
        escape_goes_back_over_sessions)
{
    struct screen *s = open_compacted(16, 120);
    act(s, "/new<enter>", "Chat with a language model");
    act(s, "half a thought");
    open_pane(s);
    search(s, "ryokan", "ryokan by the river.");
    act(s, "<enter>o", "read-only", "  In the ryokan by the river.", "!half a thought",
        "Esc goes back");
    act(s, "<escape>", "!read-only", "Chat with a language model", "half a thought", "/ ryokan");
}

TEST_IF(capability_memory() && capability_compaction(), a_command_brings_a_query)
{
    struct screen *s = open_compacted(24, 80);
    act(s, "/memory train<enter>", "/ train", "which train?");
    act(s, "<escape>", "!/ train");
    act(s, "/forget ryokan<enter>", "/ ryokan");
    act(s, "d", "forgotten; u restores it", "/ ryokan ");
}

TEST_IF(capability_memory() && capability_compaction(), m_in_a_card_shows_what_is_remembered)
{
    struct screen *s = open_compacted(24, 80);
    act(s, "<enter>", "m memory entries");
    act(s, "m", "Memory \u00b7 session \u00b7 6 entries");
}

/* --- the model's searches --- */

/* --- conversations from before --- */

/* Two turns, in a database of the version before memory followed sessions. */
static void talk_before(void)
{
    setenv("TIRO_MEMORY_INDEX", "dropped", 1);
    for (int i = 0; i < 2; i++) {
        struct screen *s = scene_open(24, 80, NULL);
        scene_exchange(s, i ? "which train?" : "where did we want to sleep?",
                       i ? "The one at nine." : "In the ryokan by the river.");
        act(s, "/quit<enter>");
        assert_true(screen_wait_exit(s, WAIT_MS));
    }
    unsetenv("TIRO_MEMORY_INDEX");
    damage_sql(scene_store(),
               "INSERT OR REPLACE INTO memory_followed"
               " SELECT id, last_seq, 0, 1 FROM session WHERE last_seq > 0");
}

#define OFFER "2 earlier conversations are not in memory yet"

TEST_IF(capability_memory() && capability_store() && capability_compaction(),
        earlier_conversations_come_in_when_they_are_wanted)
{
    talk_before();
    struct screen *s = scene_open(30, 120, NULL);
    act(s, "who writes goes on", OFFER, "> who writes goes on");
    act(s, "<ctrl-u>/index<enter>", "are indexed in the background");
    open_pane(s);
    see(s, " Memory \u00b7 all \u00b7 4 entries");
    search(s, "ryokan", "In the ryokan by the river.");
    act(s, "<down><enter>", "contains ryokan · earlier session");
    act(s, "<escape>", "!contains ryokan");
    act(s, "vv", " all \u00b7 compacted \u00b7 0 entries");
    act(s, "v", " all \u00b7 earlier session \u00b7 4 entries", "ryokan");
    act(s, "<f2>/quit<enter>");
    assert_true(screen_wait_exit(s, WAIT_MS));
    s = scene_open(24, 80, NULL);
    scene_exchange(s, "hello", "Good day.");
    see(s, "!earlier conversation");
}

TEST_IF(capability_memory() && capability_store() && capability_compaction(),
        who_does_not_answer_is_asked_again_and_who_refuses_is_not)
{
    talk_before();
    for (int i = 0; i < 2; i++) {
        struct screen *s = scene_open(i ? 10 : 24, i ? 40 : 80, NULL);
        see(s, "2 earlier conversations");
        act(s, i ? "/index none<enter>" : "/quit<enter>", i ? "stay out of" : NULL);
        if (i)
            act(s, "/quit<enter>");
        assert_true(screen_wait_exit(s, WAIT_MS));
    }
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hello", "Good day.");
    see(s, "!earlier conversation");
    act(s, "<f2>", " Memory \u00b7 all \u00b7 0 entries");
}

/* --- when there is none --- */

TEST_IF(capability_memory() && capability_compaction(), without_a_memory_f2_says_so)
{
    write_config(
        "[memory]\nenabled = false\n[graph]\nenabled = false\n"
        "[corpus]\nenabled = false\n");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "<f2>", "Memory is off");
    scene_exchange(s, "still here?", "Yes.");
}

/* --- learned memory --- */

static const char next_tab[] = "\033[17~"; /* F6 */

static struct screen *open_with(int rows, int cols, const char *name, const char *value)
{
    setenv(name, value, 1);
    struct screen *s = scene_open(rows, cols, NULL);
    unsetenv(name);
    return s;
}

static void say(struct screen *s, const char *text)
{
    scene_queue(.text = "As you like.");
    screen_type(s, text);
    act(s, "<enter>", "As you like.", IDLE);
}

static int64_t count(const char *state)
{
    return damage_number(
        scene_store(), support_text("SELECT count(*) FROM learned_item WHERE state = '%s'", state));
}

/* --- cards --- */

TEST_IF(capability_memory() && capability_store(), a_card_is_accepted_and_taken_back)
{
    struct screen *s = scene_open(30, 100, NULL);
    say(s, "Reply in French please.");
    see(s, "remember this? Reply in French", "you typed: \u201cReply in French please.\u201d",
        "Alt-k keeps it");
    assert_int_equal(count("candidate"), 1);
    act(s, "<alt-k>", "Remembered: Reply in French", "Alt-j undoes it", "!remember this?",
        "!Alt-k keeps it");
    assert_int_equal(count("active"), 1);
    act(s, "<alt-j>", "Not remembered: Reply in French", "!Alt-j undoes it");
    assert_int_equal(count("rejected"), 1);
    act(s, "<alt-k>", "No proposal waits");
}

TEST_IF(capability_memory() && capability_store(),
        what_waits_is_told_at_the_start_and_what_is_kept_asks_no_more)
{
    struct screen *s = scene_open(30, 100, NULL);
    say(s, "Reply in French please.");
    act(s, "<alt-k>", "Remembered: Reply in French");
    say(s, "No emojis.");
    see(s, "remember this? No emojis");
    scene_leave(s);
    s = scene_open(30, 100, (const char *const[]){"-c", NULL});
    see(s, "1 item waits to be remembered", "remembered: Reply in French", "!this? Reply in French",
        "remember this? No emojis");
}

TEST_IF(capability_memory() && capability_store(), what_is_kept_unasked_leaves_a_receipt)
{
    struct screen *s = open_with(30, 100, "TIRO_LEARNED_CAPTURE", "auto");
    say(s, "No emojis.");
    see(s, "remembered: No emojis", "Alt-j undoes it");
    act(s, "<alt-j>", "Not remembered: No emojis");
    assert_int_equal(count("active"), 0);
}

/* --- permissions of a session --- */

/* --- the tab --- */

static const struct {
    int rows, cols;
} sizes[] = {{40, 120}, {24, 80}, {10, 40}};

TEST_IF(capability_memory() && capability_store(), the_inbox_is_worked_off_at_every_size)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = scene_open(sizes[i].rows, sizes[i].cols, NULL);
        say(s, support_text("Remember that door %zu is open.", i));
        act(s, "<f2>", " Memory · all");
        screen_type(s, next_tab);
        see(s, "1 wait", "door ", "a remember");
        act(s, "a", "Remembered.", "0 wait");
        act(s, "e", "text: door");
        act(s, "<ctrl-a>the <enter>", "Changed.", "the door");
        act(s, "h", "before: door");
        act(s, "h", "!before:");
        act(s, "dy", "u undoes it");
        act(s, "u", "Restored", "the door");
        act(s, "r", "Rejected; it is not asked");
        act(s, "<f2>", "!Learned · ");
        scene_leave(s);
    }
}

TEST_IF(capability_memory() && capability_store(), forget_looks_in_memory_and_in_what_was_learned)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "/remember the port is 8443<enter>", "Remembered: the port is 8443");
    act(s, "/forget port<enter>", "No matches in memory", "1 learned item has these words, too");
    screen_type(s, next_tab);
    see(s, "/ port", "- the port is 8443");
    act(s, "dy", "Forgotten");
    assert_int_equal(damage_number(scene_store(), "SELECT count(*) FROM learned_item"), 0);
}

TEST_IF(capability_memory() && capability_store(), proposals_of_a_model_are_told)
{
    struct screen *s = open_with(24, 80, "TIRO_LEARNED_EXTRACT", "on_archive");
    say(s, "We use tabs here.");
    scene_exchange(s, "Ada leads.", "Fine.");
    scene_exchange(s, "Thanks!", "Welcome.");
    scene_queue(.hold = true,
                .text =
                    "{\"items\":[{\"message\":1,\"kind\":\"fact\",\"text\":\"tabs are used\"}]}");
    act(s, "/archive<enter>", "is archived");
    assert_true(model_server_wait(scene_server(), 4, WAIT_MS));
    model_server_release(scene_server());
    see(s, "1 item waits to be remembered; a model proposed it");
    act(s, "/learned<enter>", "1 waiting", "tabs are used");
    act(s, "<enter>", "proposed by a model");
}

/* --- the graph --- */

static const char entities[] =
    "{\"entities\":[{\"name\":\"京都\",\"entity_type\":\"city\",\"observations\":[\"has ryokans by "
    "the river\",\"東京 is newer\"]},{\"name\":\"Japan\",\"entity_type\":\"country\"}]}";
static const char relations[] =
    "{\"relations\":[{\"from\":\"京都\",\"to\":\"Japan\",\"relation_type\":\"lies in\"}]}";

static struct screen *graph_open_with(int rows, int cols, const char *capture)
{
    setenv("TIRO_LEARNED_CAPTURE", capture, 1);
    return scene_open(rows, cols, NULL);
}

/* A conversation in which the model noted a city and a country. */
static struct screen *open_noted(int rows, int cols)
{
    scene_queue(.tool_name = "memory_create_entities", .tool_args = entities);
    scene_queue(.tool_name = "memory_create_relations", .tool_args = relations);
    scene_queue(.text = "It is noted.");
    struct screen *s = graph_open_with(rows, cols, "auto");
    act(s, "please note Kyoto<enter>", "It is noted.", IDLE);
    return s;
}

TEST_IF(capability_memory() && capability_store(), the_model_is_told_what_the_graph_has)
{
    struct screen *s = open_noted(30, 100);
    scene_sent(0, "!A graph of facts about");
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", "Gladly.", IDLE);
    scene_sent(3, "A graph of facts about 2 entities", "京都");
    scene_queue(.text = "Silently.");
    act(s, "/memory off<enter>", "memory off");
    act(s, "go on<enter>", "Silently.", IDLE);
    scene_sent(4, "!A graph of facts about");
}

TEST_IF(capability_memory() && capability_store(), it_is_searched_walked_and_changed_at_every_size)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = open_noted(sizes[i].rows, sizes[i].cols);
        act(s, "<f2>", " Memory · all");
        screen_type(s, next_tab); /* the tab of learned memory */
        see(s, "Learned");
        screen_type(s, next_tab);
        see(s, "Graph · ");
        act(s, "YOKAN", "京都 · city", "!Japan · country");
        act(s, "<enter><enter>", "Graph > 京都", "- 東京 is newer", "lies in: Japan");
        act(s, "G<enter>", "Graph > 京都 > Japan", "lies in: 京都");
        act(s, "<backspace>", "- has ryokans");
        act(s, "dy", "u undoes", "!lies in: Japan");
        act(s, "u", "Restored", "lies in: Japan");
        act(s, "<escape>", "/ YOKAN");
        act(s, "<f2>", "!/ YOKAN");
        scene_leave(s);
    }
}

/* --- corpora --- */

static void write_documents(void)
{
    mkdir(support_path("docs"), 0700);
    support_write(support_path("docs/京都.md"), "# Sleeping\n\nThe ryokan 旅館 is by the river.\n");
    support_write(support_path("docs/train.txt"), "The night train leaves at nine.\n");
    support_write(support_path("docs/broken.html.pdf"), "no PDF at all\n");
}

static void add_corpus(struct screen *s)
{
    act(s, support_text("/corpus add trip %s<enter>", support_path("docs")),
        "Corpus trip is read: 3 files");
}

static void ask(struct screen *s, const char *query, const char *answer)
{
    scene_queue(.tool_name = "rag_search",
                .tool_args = support_text("{\"corpus_id\":\"trip\",\"query\":\"%s\"}", query));
    scene_queue(.text = answer);
    act(s, support_text("@corpus:trip %s?<enter>", query), "rag_search", IDLE);
}

static struct screen *open_with_corpus(int rows, int cols)
{
    write_documents();
    struct screen *s = scene_open(rows, cols, NULL);
    add_corpus(s);
    return s;
}

static void click_at(struct screen *s, const char *text)
{
    int row, col;
    assert_true(screen_find(s, text, &row, &col));
    screen_click(s, row, col + 1);
}

TEST_IF(capability_store() && capability_corpora(),
        documents_are_read_searched_and_walked_at_every_size)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = open_with_corpus(sizes[i].rows, sizes[i].cols);
        act(s, "/corpus<enter>", "trip · 1 unreadable");
        act(s, "<down><enter>", "Corpora > trip", "broken.html.pdf", "train.txt");
        act(s, "<escape>", "trip · 1 unreadable");
        act(s, "/ryokan", "passages searched", "京都.md:1");
        act(s, "<down><enter>", "Sleeping");
        act(s, "<escape><escape>", "!Sleeping");
        scene_leave(s);
    }
}

TEST_IF(capability_store() && capability_corpora(), the_end_of_reading_is_told_where_one_chats)
{
    struct screen *s = scene_open(24, 80, NULL);
    write_documents();
    support_write(support_path("docs/sound.mp3"), "no text");
    act(s, support_text("/corpus add trip %s<enter>", support_path("docs")),
        "2 new, 1 unreadable, 1 without text; /corpus");
}

TEST_IF(capability_store() && capability_corpora(),
        a_chosen_citation_opens_its_passage_at_every_size)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = open_with_corpus(sizes[i].rows, sizes[i].cols);
        ask(s, "ryokan", "It is by the river [1].");
        see(s, "1 passage", "river [1].");
        act(s, "half a message<alt-c><enter>", "given to the model", "[1] 京都.md:1", "Sleeping");
        act(s, "<f2>", "river [1].", "> half a message");
        act(s, "<alt-c><ctrl-u>", "!half a message");
        act(s, "/cite 1<enter>", "[1] 京都.md:1", "Sleeping");
        if (sizes[i].cols >= 100) { /* beside it one goes on writing */
            act(s, "and then", "> and then", "Tab to the memory");
            act(s, "<ctrl-u>", "!and then");
        }
        act(s, "<f2>", "!Sleeping");
        act(s, "/cite 9<enter>", "The model was given no passage");
        act(s, "on with it", "> on with it"); /* where one was writing */
        act(s, "<ctrl-u>", "!on with it");
        scene_leave(s);
    }
}

TEST_IF(capability_store() && capability_corpora(), an_older_answers_citation_is_clicked)
{
    struct screen *s = open_with_corpus(40, 120);
    ask(s, "ryokan", "The first is by the river [1].");
    ask(s, "train", "The second leaves at nine [1].");
    click_at(s, "[1].");
    see(s, "[1] 京都.md:1");
    act(s, "<f2>", "!京都.md:1", "at nine [1].", IDLE);
    act(s, "<alt-c><enter>", "[1] train.txt:1");
}
