/* The tools of the graph and of corpora: the offered tools, their results and errors, and the
 * questions to the user. Graph and corpora are real ones. */
#include "base/json.h"
#include "knowledge/corpora.h"
#include "store/store.h"
#include "tests/play.h"
#include "tests/program.h"
#include "tests/suite.h"

#define SESSION "0198c0de-0000-7000-8000-000000000001"

#define AN_ENTITY "{'entities':[{'name':'a','entity_type':'t'}]}"

static struct store *store;
static struct tool_graph graph;
static int purges;

static struct graph_by by(void *context)
{
    (void)context;
    return (struct graph_by){SESSION, 42};
}

static void deleted(void *context, struct graph_part *gone)
{
    (void)context;
    assert_true(gone->entities.len + gone->relations.len > 0);
    purges++;
}

static int setup(void **state)
{
    struct error e;
    if (play_setup(state) != 0 || !store_open(support_path("g.db"), STORE_READ_WRITE, &store, &e))
        return -1;
    graph = (struct tool_graph){
        .graph = {store, "english"}, .by = by, .deleted = deleted, .capture = GRAPH_CAPTURE_AUTO};
    play.graph = &graph;
    play.offer = "full";
    purges = 0;
    return 0;
}

static int teardown(void **state)
{
    int result = play_teardown(state);
    store_close(store);
    return result;
}

static void kyoto(void)
{
    play_gives("memory_create_entities",
               "{'entities':[{'name':'Kyoto','entity_type':'city','observations':['old']},"
               "{'name':'Japan','entity_type':'country'}]}",
               "[{'name':'Kyoto','entity_type':'city','observations':['old']},"
               "{'name':'Japan','entity_type':'country','observations':[]}]");
    play_gives("memory_create_relations",
               "{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'}]}",
               "[{'from':'Kyoto','to':'Japan','relation_type':'lies in'}]");
}

#define KYOTO                                                                                      \
    "{'entities':[{'name':'Kyoto','entity_type':'city','observations':['old']}],"                  \
    "'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'}]}"

/* --- results --- */

FIXTURES(graph, setup, teardown);

TEST(each_gives_what_is_specified)
{
    kyoto();
    play_gives("memory_create_entities",
               "{'entities':[{'name':'Kyoto','entity_type':'city'},{'name':'Nara','entityType':"
               "'city'}]}",
               "[{'name':'Nara','entity_type':'city','observations':[]}]");
    play_gives("memory_add_observations",
               "{'observations':[{'entity_name':'Nara','contents':['deer','deer']},"
               "{'entity_name':'Kyoto','contents':['old']}]}",
               "[{'entity_name':'Nara','added_observations':['deer']},"
               "{'entity_name':'Kyoto','added_observations':[]}]");
    play_gives("memory_search_nodes", "{'query':'OLD'}", KYOTO);
    play_gives("memory_open_nodes", "{'names':['Kyoto']}", KYOTO);
    play_gives("memory_open_nodes", "{'names':['Rome']}",
               "{'entities':[],'relations':[],'unknown':['Rome']}");
    play_gives("memory_delete_observations",
               "{'deletions':[{'entity_name':'Nara','observations':['deer']}]}",
               "{'deleted':{'entities':0,'observations':1,'relations':0}}");
    play_gives("memory_delete_relations",
               "{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'}]}",
               "{'deleted':{'entities':0,'observations':0,'relations':1}}");
    play_gives("memory_delete_entities", "{'entityNames':['Kyoto']}",
               "{'deleted':{'entities':1,'observations':1,'relations':0}}");
    play_gives("memory_search_nodes", "{'query':'old'}", "{'entities':[],'relations':[]}");
    assert_int_equal(purges, 3);
}

TEST(a_mistake_is_told_by_its_member)
{
    static const struct {
        const char *tool, *args, *says;
    } rows[] = {
        {"memory_create_entities", "{}", "'entities' is missing"},
        {"memory_create_entities", "{'entities':[]}", "entities"},
        {"memory_create_entities", "{'entities':[{'name':'a'}]}", "entity_type"},
        {"memory_create_entities", "{'entities':[{'name':'a','entity_type':'t','x':1}]}", "x"},
        {"memory_create_entities", "{'entities':[{'name':' ','entity_type':'t'}]}",
         "entities[0].name"},
        {"memory_add_observations", "{'observations':[{'entity_name':'Rome','contents':['x']}]}",
         "there is no entity 'Rome'"},
        {"memory_add_observations", "{'observations':[{'entity_name':'Kyoto','contents':[7]}]}",
         "contents"},
        {"memory_create_relations",
         "{'relations':[{'from':'Kyoto','to':'Rome','relation_type':'x'}]}", "relations[0].to"},
        {"memory_search_nodes", "{}", "'query' is missing"},
        {"memory_open_nodes", "{'names':'Kyoto'}", "names"},
        {"memory_delete_entities", "{'entity_names':['Kyoto','Rome']}", "entity_names[1]"},
        {"memory_delete_observations",
         "{'deletions':[{'entity_name':'Kyoto','observations':['new']}]}",
         "deletions[0].observations[0]"},
        {"memory_delete_relations",
         "{'relations':[{'from':'Japan','to':'Kyoto','relation_type':'lies in'}]}", "relations[0]"},
    };
    kyoto();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        play_refuses(rows[i].tool, rows[i].args, rows[i].says);
    play_gives("memory_open_nodes", "{'names':['Kyoto']}", KYOTO); /* nothing was changed */
}

TEST(a_fact_comes_from_the_session_and_its_message)
{
    struct graph_names names = {0};
    AUTO(graph_part_release) struct graph_part part = {0};
    struct error e;
    kyoto();
    vec_push(&names.names, "Kyoto");
    assert_true(graph_open(&graph.graph, &names, &part, &e));
    vec_release(&names.names);
    assert_string_equal(part.entities.items[0].observations.items[0].source.session_id, SESSION);
    assert_int_equal(part.entities.items[0].source.seq, 42);
    assert_string_equal(part.relations.items[0].source.session_id, SESSION);
}

/* Half a result would be no JSON. */
TEST(what_has_no_room_is_left_out_and_counted)
{
    AUTO(buf_release) struct buf args = BUF_INIT;
    char *text = mem_alloc(4001);
    memset(text, 'x', 4000);
    buf_addstr(&args, "{'entities':[");
    for (int i = 0; i < 30; i++)
        buf_addf(&args, "%s{'name':'n%d','entity_type':'word','observations':['%s']}",
                 i > 0 ? "," : "", i, text);
    buf_addstr(&args, "]}");
    assert_false(play_call("memory_create_entities", args.data)->flag);
    free(text);
    const struct event *ev = play_call("memory_search_nodes", "{'query':'word'}");
    AUTO(json_free_local) struct json *v = json_parse(ev->text, strlen(ev->text), NULL);
    assert_non_null(v);
    size_t shown = json_len(json_get(v, "entities"));
    assert_in_range(shown, 10, 19);
    assert_int_equal(json_get_int(json_get(v, "left_out"), "entities", 0), 20 - (int64_t)shown);
}

/* --- offers and questions --- */

static const char *const writing[] = {"memory_create_entities",     "memory_add_observations",
                                      "memory_create_relations",    "memory_delete_entities",
                                      "memory_delete_observations", "memory_delete_relations"};
static const char *const reading[] = {"memory_search_nodes", "memory_open_nodes"};

static void expect_offered(bool writes, bool reads)
{
    PLAY({.text = "Done.", .stop = STOP_END_TURN});
    for (size_t i = 0; i < sizeof writing / sizeof *writing; i++)
        assert_int_equal(play_offered(writing[i]), writes);
    for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
        assert_int_equal(play_offered(reading[i]), reads);
}

TEST(they_are_offered_as_the_settings_say)
{
    expect_offered(true, true);
    graph.capture = GRAPH_CAPTURE_OFF;
    expect_offered(false, true);
    graph.capture = GRAPH_CAPTURE_ASK;
    play.offer = "read"; /* they have a consent of their own */
    expect_offered(true, true);
    play.offer = "none";
    expect_offered(false, false);
    play.offer = "full";
    play.graph = NULL;
    expect_offered(false, false);
}

TEST(off_refuses_a_call_that_comes_all_the_same)
{
    graph.capture = GRAPH_CAPTURE_OFF;
    play_refuses("memory_create_entities", AN_ENTITY, "[learned] capture is off");
}

TEST(ask_asks_before_anything_is_written)
{
    graph.capture = GRAPH_CAPTURE_ASK;
    play_policy("read write", "", ""); /* that other tools may write is not meant */
    play.answer = APPROVAL_DENY;
    play_refuses("memory_create_entities", AN_ENTITY, "declined");
    assert_int_equal(play.questions, 1);
    assert_string_equal(play.asked_preview, "New entity a (t)\n");
    play.answer = APPROVAL_ALLOW;
    play_gives("memory_create_entities", AN_ENTITY,
               "[{'name':'a','entity_type':'t','observations':[]}]");
    assert_int_equal(play.questions, 2);
    assert_null(play_event(EVENT_GRAPH_CHANGED, 0));
    play_gives("memory_search_nodes", "{'query':'a'}",
               "{'entities':[{'name':'a','entity_type':'t','observations':[]}],'relations':[]}");
    assert_int_equal(play.questions, 2);
}

TEST(a_tool_that_is_allowed_by_its_name_does_not_ask)
{
    graph.capture = GRAPH_CAPTURE_ASK;
    play_policy("memory_create_entities", "write", "");
    assert_false(play_call("memory_create_entities", AN_ENTITY)->flag);
    assert_int_equal(play.questions, 0);
}

TEST(auto_writes_and_leaves_a_receipt)
{
    kyoto();
    assert_int_equal(play.questions, 0);
    assert_string_equal(play_event(EVENT_GRAPH_CHANGED, 0)->text, "Kyoto, Japan");
    assert_string_equal(play_event(EVENT_GRAPH_CHANGED, 1)->text, "Kyoto lies in Japan");
    (void)play_call("memory_delete_entities", "{'entity_names':['Kyoto']}");
    const struct event *gone = play_event(EVENT_GRAPH_CHANGED, 2);
    assert_string_equal(gone->text, "Kyoto");
    assert_true(gone->flag);
    /* nothing new, nothing to tell */
    (void)play_call("memory_create_entities", "{'entities':[{'name':'Japan','entity_type':'x'}]}");
    assert_null(play_event(EVENT_GRAPH_CHANGED, 3));
    (void)play_call("memory_add_observations",
                    "{'observations':[{'entity_name':'Japan','contents':['islands','far']}]}");
    assert_string_equal(play_event(EVENT_GRAPH_CHANGED, 3)->text, "Japan: islands, Japan: far");
    (void)play_call("memory_delete_observations",
                    "{'deletions':[{'entity_name':'Japan','observations':['far']}]}");
    assert_string_equal(play_event(EVENT_GRAPH_CHANGED, 4)->text, "Japan: far");
    assert_true(play_event(EVENT_GRAPH_CHANGED, 4)->flag);
}

TEST(a_receipt_has_some_of_many_facts_and_the_beginning_of_a_long_one)
{
    AUTO(buf_release) struct buf args = BUF_INIT;
    buf_addstr(&args, "{'entities':[");
    for (int i = 0; i < 30; i++)
        buf_addf(&args,
                 "%s{'name':'%02d a name of many words that goes on and on, as names hardly "
                 "ever do, and on','entity_type':'t'}",
                 i > 0 ? "," : "", i);
    buf_addstr(&args, "]}");
    assert_false(play_call("memory_create_entities", args.data)->flag);
    const struct event *ev = play_event(EVENT_GRAPH_CHANGED, 0);
    assert_int_equal(ev->number, 20);
    assert_non_null(strstr(ev->text, "09 a name"));
    assert_null(strstr(ev->text, "10 a name"));
    assert_non_null(strstr(ev->text, "…, 01 a name"));
    assert_true(strlen(ev->text) < 700);
}

/* --- texts of questions --- */

static void expect_preview(const char *tool, const char *args, const char *preview)
{
    (void)play_call(tool, args);
    if (strcmp(play.asked_preview, preview) != 0)
        fail_msg("%s(%s): \"%s\"", tool, args, play.asked_preview);
}

/* No change is kept before the answer. */
TEST(a_question_says_what_would_change)
{
    kyoto();
    graph.capture = GRAPH_CAPTURE_ASK;
    play_policy("read", "write", "");
    play.answer = APPROVAL_DENY;
    expect_preview("memory_create_entities",
                   "{'entities':[{'name':'Nara','entity_type':'city','observations':['deer','two\\n"
                   "New entity x (y)']},{'name':'Kyoto','entity_type':'town'}]}",
                   "New entity Nara (city)\n  + deer\n  + two\n    New entity x (y)\n");
    expect_preview("memory_create_entities", "{'entities':[{'name':'Kyoto','entity_type':'x'}]}",
                   "Nothing changes: all of it is in the graph already.");
    expect_preview("memory_add_observations",
                   "{'observations':[{'entity_name':'Kyoto','contents':['old','big']},"
                   "{'entity_name':'Japan','contents':['islands']}]}",
                   "New observations of Kyoto\n  + big\nNew observations of Japan\n  + islands\n");
    expect_preview("memory_create_relations",
                   "{'relations':[{'from':'Japan','to':'Kyoto','relation_type':'has'}]}",
                   "New relation: Japan -- has -> Kyoto\n");
    expect_preview("memory_delete_observations",
                   "{'deletions':[{'entity_name':'Kyoto','observations':['old']}]}",
                   "Delete observations of Kyoto\n  - old\n");
    expect_preview("memory_delete_relations",
                   "{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'}]}",
                   "Delete relation: Kyoto -- lies in -> Japan\n");
    expect_preview("memory_delete_entities", "{'entity_names':['Kyoto']}",
                   "Delete entity Kyoto (city)\n  - old\nDelete relation: Kyoto -- lies in -> "
                   "Japan\n");
    assert_int_equal(purges, 0);
    graph.capture = GRAPH_CAPTURE_AUTO;
    play_gives("memory_open_nodes", "{'names':['Kyoto','Nara']}",
               "{'entities':[{'name':'Kyoto','entity_type':'city','observations':['old']}],"
               "'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'}],"
               "'unknown':['Nara']}");
}

TEST(what_would_fail_is_no_question)
{
    graph.capture = GRAPH_CAPTURE_ASK;
    play_refuses("memory_add_observations",
                 "{'observations':[{'entity_name':'Rome','contents':['x']}]}",
                 "there is no entity 'Rome'");
    assert_int_equal(play.questions, 0);
}

TEST(what_is_denied_stays_denied)
{
    play_policy("", "", "write");
    play_refuses("memory_create_entities", AN_ENTITY, "not allowed");
}

/* --- corpora ---------------------------------------------------------------------------------- */

static struct config *config;
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

static int set_up_corpora(void **state)
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

static int tear_down_corpora(void **state)
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

FIXTURES(corpora, set_up_corpora, tear_down_corpora);

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

TEST(a_mistake_in_a_search_or_text_is_told)
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
