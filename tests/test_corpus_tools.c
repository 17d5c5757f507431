/* The tools of corpora: the offered tools, their results and errors, and the questions to the user.
 * The corpora are real ones. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "knowledge/corpora.h"
#include "store/store.h"
#include "tests/play.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/support.h"

static struct config *config;
static struct store *store;
static struct corpora *corpora;
static struct tool_corpora host;
static int cited;
static bool named;

static bool search(void *context, const struct corpus_search *what, struct corpus_found *out,
                   struct error *e)
{
    (void)context;
    return corpora_search(corpora, what, NULL, out, e);
}

static bool ingest(void *context, const struct corpus_ingest *text, struct corpus_ingested *out,
                   struct error *e)
{
    (void)context;
    return corpora_ingest_text(corpora, text, NULL, out, e);
}

static bool any_named(void *context)
{
    (void)context;
    return named;
}

static int setup(void **state)
{
    struct error e;
    if (play_setup(state) != 0 || !store_open(support_path("c.db"), STORE_READ_WRITE, &store, &e))
        return -1;
    config = config_new();
    corpora = corpora_open(config, store, NULL);
    cited = 0;
    named = true;
    host = (struct tool_corpora){
        .search = search, .ingest = ingest, .any_named = any_named, .cited = &cited};
    play.corpora = &host;
    play.offer = "full";
    return 0;
}

static int teardown(void **state)
{
    int result = play_teardown(state);
    corpora_close(corpora);
    store_close(store);
    config_free(config);
    return result;
}

static void text(const char *name, const char *content)
{
    struct corpus_ingested made;
    struct error e;
    if (!corpora_ingest_text(corpora, &(struct corpus_ingest){"notes", name, content}, NULL, &made,
                             &e))
        fail_msg("%s", e.text);
}

static void configure(enum config_key key, const char *value)
{
    struct error e;
    assert_true(config_set(play.config, key, value, &e));
}

FIXTURE(setup, teardown);

TEST(a_search_gives_numbered_passages_with_their_places)
{
    text("kyoto.md", "# Travel\n\nThe ryokan is booked.\n\n## Trains\n\nThe night train.\n");
    const struct event *ev = play_call("rag_search", "{'corpus_id':'notes','query':'ryokan'}");
    assert_string_equal(ev->text,
                        support_json("[{'n':1,'content':'# Travel\\n\\nThe ryokan is booked.',"
                                     "'score':0.7932,'file':'kyoto.md','chunk':0,'line':1,"
                                     "'heading':'Travel','document':1}]"));
}

TEST(numbers_go_on_within_a_message)
{
    text("a.txt", "a red lantern");
    text("b.txt", "a green lantern");
    assert_text(play_call("rag_search", "{'corpus_id':'notes','query':'lantern'}")->text,
                support_json("'n':2,"));
    assert_text(play_call("rag_search", "{'corpus_id':'notes','query':'red','top_k':1}")->text,
                support_json("[{'n':3,"));
    assert_int_equal(cited, 3);
}

TEST(nothing_found_says_how_much_was_searched)
{
    text("a.txt", "a red lantern");
    const struct event *ev = play_call("rag_search", "{'corpus_id':'notes','query':'zeppelin'}");
    assert_string_equal(ev->text, support_json("{'results':[],'searched':1,'documents':1}"));
    assert_int_equal(cited, 0);
}

TEST(a_result_that_has_no_room_leaves_out_the_worst)
{
    for (int i = 0; i < 20; i++) {
        AUTO(buf_release) struct buf long_text = BUF_INIT;
        for (int k = 0; k < 90; k++)
            buf_addf(&long_text, "lantern%s ", k % 9 < i % 9 ? "" : "s and more words");
        text(support_text("f%d.txt", i), long_text.data);
    }
    configure(CONFIG_TOOLS_MAX_OUTPUT, "4096");
    const struct event *ev =
        play_call("rag_search", "{'corpus_id':'notes','query':'lantern','top_k':20}");
    assert_true(strlen(ev->text) <= 4096);
    assert_int_equal(ev->text[strlen(ev->text) - 1], ']');
    assert_true(cited > 0 && cited < 20);
}

TEST(a_text_is_ingested_after_a_question)
{
    configure(CONFIG_TOOLS_ALLOW, "rag_ingest");
    assert_text(
        play_call("rag_ingest", "{'corpus_id':'new','filename':'a.txt','text':'a lantern'}")->text,
        support_json("{'document':1,'chunks':1}"));
    assert_text(play_call("rag_search", "{'corpus_id':'new','query':'lantern'}")->text,
                support_json("'file':'a.txt'"));
}

TEST(a_mistake_is_told_by_its_member)
{
    configure(CONFIG_TOOLS_ALLOW, "rag_ingest");
    text("a.txt", "a lantern");
    play_refuses("rag_search", "{'corpus_id':'notes'}", "query");
    play_refuses("rag_search", "{'corpus_id':'nowhere','query':'x'}", "nowhere");
    play_refuses("rag_search", "{'corpus_id':'notes','query':' '}", "query");
    play_refuses("rag_search", "{'corpus_id':'notes','query':'x','hybrid_weight':2}",
                 "hybrid_weight");
    play_refuses("rag_ingest", "{'corpus_id':'a b','filename':'x','text':'y'}", "a b");
    play_refuses("rag_ingest", "{'corpus_id':'a','filename':'x','text':''}", "text");
}

/* Without a corpus in the session there is nothing to search. */
TEST(what_nobody_named_is_not_offered)
{
    text("a.txt", "a lantern");
    named = false;
    play_refuses("rag_search", "{'corpus_id':'notes','query':'lantern'}", "@corpus:NAME");
}
