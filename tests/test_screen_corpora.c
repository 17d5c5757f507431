/* Corpora in the real program: documents that are read during a chat, the model's hits in them,
 * citations that open, at three sizes. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const struct {
    int rows, cols;
} sizes[] = {{40, 120}, {24, 80}, {10, 40}};

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

NEEDS(capability_store() && capability_corpora());
FIXTURE(scene_setup, scene_teardown);

TEST(documents_are_read_searched_and_walked_at_every_size)
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

TEST(the_end_of_reading_is_told_where_one_chats)
{
    struct screen *s = scene_open(24, 80, NULL);
    write_documents();
    support_write(support_path("docs/sound.mp3"), "no text");
    act(s, support_text("/corpus add trip %s<enter>", support_path("docs")),
        "2 new, 1 unreadable, 1 without text; /corpus");
}

TEST(an_answer_streams_on_while_documents_are_read)
{
    struct screen *s = scene_open(40, 120, NULL);
    write_documents();
    scene_queue(.text = "It begins. And more and more and more and more. It ends.", .piece = 4,
                .interval_ms = 100);
    act(s, "tell me<enter>", "It begins.");
    act(s, support_text("/corpus add trip %s<enter>", support_path("docs")), "Reading the files",
        "Corpus trip is read: 3 files", "It ends.", IDLE);
}

TEST(the_names_of_corpora_are_completed)
{
    struct screen *s = open_with_corpus(24, 80);
    act(s, "in @corp<tab>", "> in @corpus:");
    act(s, "<tab>", "> in @corpus:trip");
}

TEST(a_chosen_citation_opens_its_passage_at_every_size)
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

TEST(an_older_answers_citation_is_clicked)
{
    struct screen *s = open_with_corpus(40, 120);
    ask(s, "ryokan", "The first is by the river [1].");
    ask(s, "train", "The second leaves at nine [1].");
    click_at(s, "[1].");
    see(s, "[1] 京都.md:1");
    act(s, "<f2>", "!京都.md:1", "at nine [1].", IDLE);
    act(s, "<alt-c><enter>", "[1] train.txt:1");
}

TEST(without_a_citation_on_the_screen_it_says_so)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "<alt-c>", "No answer on the screen cites a passage.");
}

TEST(what_cannot_be_read_is_said)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "/corpus add trip /nowhere/at/all<enter>", "/nowhere/at/all");
    act(s, "/corpus add trip<enter>", "/corpus add NAME PATH");
}
