/* The memory pane in the real program: entries, learned items, the graph and corpora. */
#include <sys/stat.h>

#include "tests/damage.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"

/* A conversation of three turns that are dropped and remembered. An answer is long enough for a
 * compaction to make sense. */
static void open_compacted(const char *size)
{
    play("=env TIRO_COMPACTION_MODE=deterministic", support_text("=open %s", size),
         "=exchange where did we want to sleep?|In the ryokan by the river.",
         "=long which train?|The one at nine.", "=long thanks|Welcome.",
         ":/compact deterministic<enter>", " memory entr", IDLE);
}

/* Two turns, in a database of the version before memory followed sessions. */
static void talk_before(void)
{
    play("=env TIRO_MEMORY_INDEX=dropped", "=open",
         "=exchange where did we want to sleep?|In the ryokan by the river.", "=leave", "=open",
         "=exchange which train?|The one at nine.", "=leave");
    unsetenv("TIRO_MEMORY_INDEX");
    damage_sql(scene_store(),
               "INSERT OR REPLACE INTO memory_followed"
               " SELECT id, last_seq, 0, 1 FROM session WHERE last_seq > 0");
}

static void say(const char *text)
{
    play("=says As you like.", support_text(":%s<enter>", text), "As you like.", IDLE);
}

/* "STATE COUNT" of learned items. */
static void is_in_state(const char *state_and_count)
{
    int len = (int)strcspn(state_and_count, " ");
    int64_t count = damage_number(
        scene_store(), support_text("SELECT count(*) FROM learned_item WHERE state = '%.*s'", len,
                                    state_and_count));
    assert_int_equal(count, atoi(state_and_count + len));
}

/* A conversation in which the model noted a city and a country. */
static void open_noted(const char *size)
{
    play(
        "=calls memory_create_entities {\"entities\":[{\"name\":\"京都\",\"entity_type\":\"city\","
        "\"observations\":[\"has ryokans by the river\",\"東京 is newer\"]},"
        "{\"name\":\"Japan\",\"entity_type\":\"country\"}]}",
        "=calls memory_create_relations {\"relations\":[{\"from\":\"京都\",\"to\":\"Japan\","
        "\"relation_type\":\"lies in\"}]}",
        "=says It is noted.", "=env TIRO_LEARNED_CAPTURE=auto", support_text("=open %s", size),
        ":please note Kyoto<enter>", "It is noted.", IDLE);
}

static void write_documents(void)
{
    mkdir(support_path("docs"), 0700);
    play("=file docs/京都.md # Sleeping\n\nThe ryokan 旅館 is by the river.\n",
         "=file docs/train.txt The night train leaves at nine.\n",
         "=file docs/broken.html.pdf no PDF at all\n");
}

static void add_corpus(const char *answer)
{
    play(support_text(":/corpus add trip %s<enter>", support_path("docs")), answer);
}

static void open_with_corpus(const char *size)
{
    play("=documents", support_text("=open %s", size), "=add Corpus trip is read: 3 files");
}

/* "QUERY|ANSWER" */
static void cite(const char *query_and_answer)
{
    int len = (int)strcspn(query_and_answer, "|");
    play(support_text("=calls rag_search {\"corpus_id\":\"trip\",\"query\":\"%.*s\"}", len,
                      query_and_answer),
         support_text("=says %s", query_and_answer + len + 1),
         support_text(":@corpus:trip %.*s?<enter>", len, query_and_answer), "rag_search", IDLE);
}

static void click_at(const char *text)
{
    int row, col;
    assert_true(screen_find(scene(), text, &row, &col));
    screen_click(scene(), row, col + 1);
}

static const struct step steps[] = {{"compacted", .run = open_compacted},
                                    {"before", .alone = talk_before},
                                    {"say", .run = say},
                                    {"state", .run = is_in_state},
                                    {"noted", .run = open_noted},
                                    {"documents", .alone = write_documents},
                                    {"add", .run = add_corpus},
                                    {"corpus", .run = open_with_corpus},
                                    {"cite", .run = cite},
                                    {"click", .run = click_at},
                                    {.name = NULL}};

SCENE(steps);

/* At every size. */
static const char *const sizes[] = {"40 120", "24 80", "10 40"};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* --- entries --- */

TEST_IF(capability_memory() && capability_compaction(), tab_moves_the_keys)
{
    int row, col;
    bool visible;
    play("=compacted 30 120", ":<f2>", " Memory \u00b7 all", ":ryo", "/ ryo");
    screen_cursor(scene(), &row, &col, &visible);
    assert_true(visible && col > 70 && row == 3);
    play(":<tab>for the message", "=row 29 > for the message", ":<tab>kan", "/ ryokan", ":<tab>",
         "=exchange  goes on|It does.");
}

TEST_IF(capability_memory() && capability_compaction(), escape_goes_back_to_where_o_was_pressed)
{
    static const char *const two[] = {"=compacted 16 120", "=compacted 16 80"};
    for (size_t i = 0; i < 2; i++)
        play(two[i], ":half a thought", ":<f2>", " Memory \u00b7 all", ":ryokan", " by score",
             "ryokan by the river.", ":<enter>o", "Esc goes back", "  In the ryokan by the river.",
             ":<escape>", "!Esc goes back", "/ ryokan", "> half a thought", /* the pane as it was */
             ":p", "pinned",                           /* and the keys in its list */
             ":<f2>", "!/ ryokan", "\u25a3 compacted", /* the end */
             ":<ctrl-c><ctrl-u>");
}

PLAY_IF(capability_memory() && capability_store() && capability_compaction(),
        escape_goes_back_over_sessions, "=compacted 16 120", ":/new<enter>",
        "Chat with a language model", ":half a thought", ":<f2>", " Memory \u00b7 all", ":ryokan",
        " by score", "ryokan by the river.", ":<enter>o", "read-only",
        "  In the ryokan by the river.", "!half a thought", "Esc goes back", ":<escape>",
        "!read-only", "Chat with a language model", "half a thought", "/ ryokan");

PLAY_IF(capability_memory() && capability_compaction(), a_command_brings_a_query,
        "=compacted 24 80", ":/memory train<enter>", "/ train", "which train?", ":<escape>",
        "!/ train", ":/forget ryokan<enter>", "/ ryokan", ":d", "forgotten; u restores it",
        "/ ryokan ");

PLAY_IF(capability_memory() && capability_compaction(), m_in_a_card_shows_what_is_remembered,
        "=compacted 24 80", ":<enter>", "m memory entries", ":m",
        "Memory \u00b7 session \u00b7 6 entries");

PLAY_IF(capability_memory() && capability_compaction(), a_passage_is_left_out_beside_its_row,
        "=compacted 30 120", "=says There.", ":where is the ryokan by the river?<enter>", "There.",
        " passage", ":/recalled<enter>", " Recalled \u00b7 1", " sent \u00b7 ", ":<down>x",
        "left out of this session's messages; x undoes", " \u00b7 1 left out", ":x",
        "may be sent with messages again", "! \u00b7 1 left out");

/* --- conversations from before --- */

#define OFFER "2 earlier conversations are not in memory yet"

PLAY_IF(capability_memory() && capability_store() && capability_compaction(),
        earlier_conversations_come_in_when_they_are_wanted, "=before", "=open 30 120",
        ":who writes goes on", OFFER, "> who writes goes on", ":<ctrl-u>/index<enter>",
        "are indexed in the background", ":<f2>", " Memory \u00b7 all",
        " Memory \u00b7 all \u00b7 4 entries", ":ryokan", " by score",
        "In the ryokan by the river.", ":<down><enter>", "contains ryokan · earlier session",
        ":<escape>", "!contains ryokan", ":vv", " all \u00b7 compacted \u00b7 0 entries", ":v",
        " all \u00b7 earlier session \u00b7 4 entries", "ryokan", ":<f2>/quit<enter>", "=exit",
        "=open", "=exchange hello|Good day.", "!earlier conversation");

PLAY_IF(capability_memory() && capability_store() && capability_compaction(),
        who_does_not_answer_is_asked_again_and_who_refuses_is_not, "=before", "=open",
        "2 earlier conversations", "=leave", "=open 10 40", "2 earlier conversations",
        ":/index none<enter>", "stay out of", "=leave", "=open", "=exchange hello|Good day.",
        "!earlier conversation", ":<f2>", " Memory \u00b7 all \u00b7 0 entries");

/* --- when there is none --- */

PLAY_IF(capability_memory() && capability_compaction(), without_a_memory_f2_says_so,
        "=config [memory]\nenabled = false\n[graph]\nenabled = false\n[corpus]\nenabled = false\n",
        "=open", ":<f2>", "Memory is off", "=exchange still here?|Yes.");

/* --- learned memory --- */

PLAY_IF(capability_memory() && capability_store(), a_card_is_accepted_and_taken_back,
        "=open 30 100", "=say Reply in French please.", "remember this? Reply in French",
        "you typed: \u201cReply in French please.\u201d", "Alt-k keeps it", "=state candidate 1",
        ":<alt-k>", "Remembered: Reply in French", "Alt-j undoes it", "!remember this?",
        "!Alt-k keeps it", "=state active 1", ":<alt-j>", "Not remembered: Reply in French",
        "!Alt-j undoes it", "=state rejected 1", ":<alt-k>", "No proposal waits");

PLAY_IF(capability_memory() && capability_store(),
        what_waits_is_told_at_the_start_and_what_is_kept_asks_no_more, "=open 30 100",
        "=say Reply in French please.", ":<alt-k>", "Remembered: Reply in French",
        "=say No emojis.", "remember this? No emojis", "=leave", "=open 30 100 -c",
        "1 item waits to be remembered", "remembered: Reply in French", "!this? Reply in French",
        "remember this? No emojis");

PLAY_IF(capability_memory() && capability_store(), what_is_kept_unasked_leaves_a_receipt,
        "=env TIRO_LEARNED_CAPTURE=auto", "=open 30 100", "=say No emojis.",
        "remembered: No emojis", "Alt-j undoes it", ":<alt-j>", "Not remembered: No emojis",
        "=state active 0");

TEST_IF(capability_memory() && capability_store(), the_inbox_is_worked_off_at_every_size)
{
    for (size_t i = 0; i < SIZES; i++)
        play(support_text("=open %s", sizes[i]),
             support_text("=say Remember that door %zu is open.", i), ":<f2>", " Memory · all",
             ":<f6>", "1 wait", "door ", "a remember", ":a", "Remembered.", "0 wait", ":e",
             "text: door", ":<ctrl-a>the <enter>", "Changed.", "the door", ":h", "before: door",
             ":h", "!before:", ":dy", "u undoes it", ":u", "Restored", "the door", ":r",
             "Rejected; it is not asked", ":<f2>", "!Learned · ", "=leave");
}

PLAY_IF(capability_memory() && capability_store(), forget_looks_in_memory_and_in_what_was_learned,
        "=open", ":/remember the port is 8443<enter>", "Remembered: the port is 8443",
        "=state active 1", ":/forget port<enter>", "No matches in memory",
        "1 learned item has these words, too", ":<f6>", "/ port", "- the port is 8443", ":dy",
        "Forgotten", "=state active 0");

TEST_IF(capability_memory() && capability_store(), proposals_of_a_model_are_told)
{
    play("=env TIRO_LEARNED_EXTRACT=on_archive", "=open", "=say We use tabs here.",
         "=exchange Ada leads.|Fine.", "=exchange Thanks!|Welcome.");
    scene_queue(.hold = true,
                .text =
                    "{\"items\":[{\"message\":1,\"kind\":\"fact\",\"text\":\"tabs are used\"}]}");
    play(":/archive<enter>", "is archived", "=wait 4", "=release",
         "1 item waits to be remembered; a model proposed it", ":/learned<enter>", "1 waiting",
         "tabs are used", ":<enter>", "proposed by a model");
}

/* --- the graph --- */

PLAY_IF(capability_memory() && capability_store(), the_model_is_told_what_the_graph_has,
        "=noted 30 100", "=sent 0 !A graph of facts about", "=says Gladly.", ":go on<enter>",
        "Gladly.", IDLE, "=sent 3 A graph of facts about 2 entities|京都", "=says Silently.",
        ":/memory off<enter>", "memory off", ":go on<enter>", "Silently.", IDLE,
        "=sent 4 !A graph of facts about");

TEST_IF(capability_memory() && capability_store(), it_is_searched_walked_and_changed_at_every_size)
{
    for (size_t i = 0; i < SIZES; i++)
        play(support_text("=noted %s", sizes[i]), ":<f2>", " Memory · all",
             ":<f6>", /* the tab of learned memory */
             "Learned", ":<f6>", "Graph · ", ":YOKAN", "京都 · city", "!Japan · country",
             ":<enter><enter>", "Graph > 京都", "- 東京 is newer", "lies in: Japan", ":G<enter>",
             "Graph > 京都 > Japan", "lies in: 京都", ":<backspace>", "- has ryokans", ":dy",
             "u undoes", "!lies in: Japan", ":u", "Restored", "lies in: Japan", ":<escape>",
             "/ YOKAN", ":<f2>", "!/ YOKAN", "=leave");
}

/* --- corpora --- */

TEST_IF(capability_store() && capability_corpora(),
        documents_are_read_searched_and_walked_at_every_size)
{
    for (size_t i = 0; i < SIZES; i++)
        play(support_text("=corpus %s", sizes[i]), ":/corpus<enter>", "trip · 1 unreadable",
             ":<down><enter>", "Corpora > trip", "broken.html.pdf", "train.txt", ":<escape>",
             "trip · 1 unreadable", ":/ryokan", "passages searched", "京都.md:1", ":<down><enter>",
             "Sleeping", ":<escape><escape>", "!Sleeping", "=leave");
}

PLAY_IF(capability_store() && capability_corpora(), the_end_of_reading_is_told_where_one_chats,
        "=open", "=documents", "=file docs/sound.mp3 no text",
        "=add 2 new, 1 unreadable, 1 without text; /corpus");

TEST_IF(capability_store() && capability_corpora(),
        a_chosen_citation_opens_its_passage_at_every_size)
{
    for (size_t i = 0; i < SIZES; i++) {
        play(support_text("=corpus %s", sizes[i]), "=cite ryokan|It is by the river [1].",
             "1 passage", "river [1].", ":half a message<alt-c><enter>", "given to the model",
             "[1] 京都.md:1", "Sleeping", ":<f2>", "river [1].", "> half a message",
             ":<alt-c><ctrl-u>", "!half a message", ":/cite 1<enter>", "[1] 京都.md:1", "Sleeping");
        if (i == 0) /* beside it one goes on writing */
            play(":and then", "> and then", "Tab to the memory", ":<ctrl-u>", "!and then");
        play(":<f2>", "!Sleeping", ":/cite 9<enter>", "The model was given no passage",
             ":on with it", "> on with it", /* where one was writing */
             ":<ctrl-u>", "!on with it", "=leave");
    }
}

PLAY_IF(capability_store() && capability_corpora(), an_older_answers_citation_is_clicked,
        "=corpus 40 120", "=cite ryokan|The first is by the river [1].",
        "=cite train|The second leaves at nine [1].", "=click [1].", "[1] 京都.md:1", ":<f2>",
        "!京都.md:1", "at nine [1].", IDLE, ":<alt-c><enter>", "[1] train.txt:1");
