/* The operations graph/… and corpus/…: what each takes, gives and refuses, on a context of its own
 * as a command of the command line has it. */
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "knowledge/corpora.h"
#include "session/capability.h"
#include "session/corpus_operations.h"
#include "session/graph_operations.h"
#include "tests/suite.h"

#define GRAPH_TEST(f) TEST_IF(capability_store() && capability_memory(), f)
#define CORPUS_TEST(f) TEST_IF(capability_store() && capability_corpora(), f)

static struct config *config;
static struct error e;
static char *path;
static const char *told;  /* of the listener: the last step */
static bool stops;        /* the listener says no */
static bool later;        /* somebody else goes on with an ingest */
static char *stream_text; /* a text that is read, or was written; kept; NULL: none */

static int set_up(void **state)
{
    support_setup(state);
    config = config_new();
    path = support_path("tiro.db");
    stops = later = false;
    stream_text = NULL;
    return 0;
}

static int tear_down(void **state)
{
    config_free(config);
    return support_teardown(state);
}

static bool keep(void *context, const char *bytes, size_t len, struct error *error)
{
    (void)error;
    buf_add(context, bytes, len);
    return true;
}

static bool tell(void *context, const char *what, int64_t done, int64_t of)
{
    (void)context, (void)done, (void)of;
    told = what;
    return !stops;
}

static const char *run_in(struct operation_context *c, const char *name, const char *json)
{
    const struct operation *o = operation_find(name);
    assert_non_null(o);
    auto_free void *params = o->params ? mem_alloc(o->params->size) : NULL;
    auto_free void *result = mem_alloc(o->result->size), *again = mem_alloc(o->result->size);
    struct buf written = BUF_INIT;
    FILE *in = stream_text ? fmemopen(stream_text, strlen(stream_text), "r") : NULL;
    const struct operation_stream stream = {.in = in,
                                            .name = "facts.jsonl",
                                            .write = keep,
                                            .tell = tell,
                                            .context = &written,
                                            .wake_fd = -1};
    const char *answer = NULL;
    c->stream = &stream;
    if (c->corpora)
        c->corpora->alone = !later;
    if (o->params)
        assert_ok(support_shape(o->params, support_json(json), params, &e), e);
    if (operation_call(c, o, params, result, &e)) {
        AUTO(json_free_local) struct json *v = shape_to_json(o->result, result);
        answer = support_keep(json_print(v));
        assert_ok(support_shape(o->result, answer, again, &e), e); /* it can be read */
        shape_release(o->result, again);
        shape_release(o->result, result);
    }
    if (o->params)
        shape_release(o->params, params);
    if (in)
        fclose(in);
    stream_text = written.len > 0 ? support_keep(buf_take(&written)) : NULL;
    buf_release(&written);
    c->stream = NULL;
    return answer;
}

/* The answer as JSON; NULL: `e`. */
static const char *run(const char *name, const char *json)
{
    struct operation_context c = {0};
    assert_ok(operation_open(&c, operation_find(name), config, path, "/", &e), e);
    const char *answer = run_in(&c, name, json);
    operation_close(&c);
    return answer;
}

static void says(const char *name, const char *json, const char *text)
{
    const char *answer = run(name, json);
    if (!answer || !strstr(answer, support_json(text)))
        fail_msg("%s: %s", name, answer ? answer : e.text);
}

static void refuses(const char *name, const char *json, enum err_code code)
{
    assert_null(run(name, json));
    assert_int_equal(e.code, code);
}

FIXTURE(set_up, tear_down);

/* --- graph ------------------------------------------------------------------------------------ */

#define GIVES(entities, observations, relations)                                                   \
    "'entities':" #entities ",'observations':" #observations ",'relations':" #relations

static void kyoto(void)
{
    says("graph/create_entities",
         "{'entities':[{'name':'Kyoto','entity_type':'city','observations':['old']},"
         "{'name':'Japan','entity_type':'country'}]}",
         "'total':2");
    says("graph/create_relations",
         "{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'}]}",
         "'relation_type':'lies in'");
}

/* The store was never written: there is no file, and reading makes none. */
GRAPH_TEST(a_store_without_a_graph)
{
    says("graph/list", "{}", "'entities':[],'relations':[],'total':0");
    says("graph/search", "{'query':'x'}", "'entities':[]");
    says("graph/open", "{'names':['x']}", "'entities':[]");
    says("graph/stats", "{}", GIVES(0, 0, 0));
    says("graph/export", "{}", GIVES(0, 0, 0));
    assert_int_equal(access(path, F_OK), -1);
}

GRAPH_TEST(what_is_created_is_listed_found_and_opened)
{
    kyoto();
    says("graph/list", "{'limit':1}", "'total':2");
    says("graph/list", "{'after':'Japan'}", "'name':'Kyoto'");
    says("graph/search", "{'query':'OL','typing':true}", "'content':'old'");
    says("graph/open", "{'names':['Kyoto','Rome']}", "'unknown':['Rome']");
    says("graph/stats", "{}", GIVES(2, 1, 1));
    says("graph/add_observations", "{'observations':[{'entity_name':'Japan','contents':['sea']}]}",
         "'added_observations':['sea']");
}

/* A person's own facts have no session. */
GRAPH_TEST(a_person_is_no_session)
{
    kyoto();
    assert_null(strstr(run("graph/open", "{'names':['Kyoto']}"), "session_id"));
}

GRAPH_TEST(deletions_are_counted_and_refused_by_name)
{
    kyoto();
    refuses("graph/delete_entities", "{'entity_names':['Rome']}", ERR_MEMORY_NOT_FOUND);
    says("graph/delete_observations",
         "{'deletions':[{'entity_name':'Kyoto','observations':['old']}]}", GIVES(0, 1, 0));
    says("graph/delete_relations",
         "{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'}]}", GIVES(0, 0, 1));
    says("graph/delete_entities", "{'entity_names':['Kyoto']}", GIVES(1, 0, 0));
}

GRAPH_TEST(what_was_deleted_here_comes_back_the_last_first)
{
    struct operation_context c = {0};
    kyoto();
    assert_true(operation_open(&c, &operation_graph_delete, config, path, "/", &e));
    assert_null(run_in(&c, "graph/restore", "{}"));
    assert_int_equal(e.code, ERR_MEMORY_NOT_FOUND);
    assert_non_null(run_in(&c, "graph/delete_observations",
                           "{'deletions':[{'entity_name':'Kyoto','observations':['old']}]}"));
    assert_non_null(run_in(&c, "graph/delete_entities", "{'entity_names':['Kyoto']}"));
    assert_non_null(strstr(run_in(&c, "graph/restore", "{}"), support_json("{" GIVES(1, 0, 1))));
    assert_non_null(run_in(&c, "graph/restore", "{}"));
    assert_null(run_in(&c, "graph/restore", "{}"));
    operation_close(&c);
    says("graph/stats", "{}", GIVES(2, 1, 1));
}

GRAPH_TEST(what_is_exported_can_be_imported)
{
    kyoto();
    says("graph/export", "{}", GIVES(2, 1, 1));
    path = support_path("other.db");
    says("graph/import", "{}", GIVES(2, 1, 1));
    says("graph/open", "{'names':['Kyoto']}", "'relation_type':'lies in'");
}

GRAPH_TEST(a_bad_line_is_named_and_nothing_is_kept)
{
    stream_text = support_json(
        "{'type':'entity','name':'a','entityType':'t','observations':[]}\n\n"
        "{'type':'entity','name':'b','observations':[]}\n");
    refuses("graph/import", "{}", ERR_USAGE);
    assert_non_null(strstr(e.text, "facts.jsonl:3: "));
    assert_non_null(strstr(e.text, "entityType"));
    says("graph/stats", "{}", GIVES(0, 0, 0));
}

GRAPH_TEST(names_of_server_memory_are_taken)
{
    says("graph/create_entities",
         "{'entities':[{'name':'Ada','entityType':'person','observations':['x']},"
         "{'name':'Rome','entity_type':'city','observations':[]}]}",
         "'entity_type':'person'");
    says("graph/create_relations",
         "{'relations':[{'from':'Ada','to':'Rome','relationType':'visits'}]}",
         "'relation_type':'visits'");
    says("graph/add_observations", "{'observations':[{'entityName':'Ada','contents':['y']}]}",
         "'y'");
    says("graph/delete_observations", "{'deletions':[{'entityName':'Ada','observations':['y']}]}",
         GIVES(0, 1, 0));
    says("graph/delete_entities", "{'entityNames':['Ada']}", GIVES(1, 1, 1));
}

/* server-memory does not need the ends of a relation to exist. */
GRAPH_TEST(an_entity_that_only_a_relation_names_is_made)
{
    stream_text = support_json(
        "{'type':'relation','from':'a','to':'b','relationType':'t'}\n"
        "{'type':'relation','from':'a','to':'a','relationType':'is'}\n"
        "{'type':'entity','name':'a','entityType':'t','observations':[]}\n");
    says("graph/import", "{}", "{'entities':2,'observations':0,'relations':2,'made':1}");
    says("graph/open", "{'names':['b']}", "'entity_type':'unknown'");
    says("graph/search", "{'query':'unknown'}", "'name':'b'");
}

GRAPH_TEST(a_lenient_call_makes_or_passes_over_what_is_missing)
{
    says("graph/create_relations",
         "{'relations':[{'from':'a','to':'b','relation_type':'t'}],'lenient':true}",
         "'relation_type':'t'");
    says("graph/stats", "{}", GIVES(2, 0, 1));
    refuses("graph/delete_entities", "{'entity_names':['a','x']}", ERR_MEMORY_NOT_FOUND);
    says("graph/delete_relations",
         "{'relations':[{'from':'a','to':'x','relation_type':'t'},"
         "{'from':'a','to':'b','relation_type':'t'}],'lenient':true}",
         GIVES(0, 0, 1));
    says("graph/add_observations", "{'observations':[{'entity_name':'b','contents':['o']}]}", "o");
    says("graph/delete_observations",
         "{'deletions':[{'entity_name':'x','observations':['o']},"
         "{'entity_name':'b','observations':['p','o']}],'lenient':true}",
         GIVES(0, 1, 0));
    says("graph/delete_entities", "{'entity_names':['a','x',''],'lenient':true}", GIVES(1, 0, 0));
}

GRAPH_TEST(an_import_that_is_stopped_keeps_nothing)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 500; i++)
        buf_addf(&text, "{'type':'entity','name':'n%d','entityType':'t','observations':[]}\n", i);
    stream_text = support_json(text.data);
    stops = true;
    refuses("graph/import", "{}", ERR_INTERRUPTED);
    stops = false;
    says("graph/stats", "{}", GIVES(0, 0, 0));
}

/* --- corpora ---------------------------------------------------------------------------------- */

static void notes(void)
{
    mkdir(support_path("notes"), 0700);
    support_write(support_path("notes/kyoto.md"), "# Travel\n\nThe ryokan is booked for May.\n");
    support_write(support_path("notes/garden.txt"), "Basil wants sun.\n");
}

static const char *add_notes(void)
{
    return support_text("{'corpus_id':'notes','paths':['%s']}", support_path("notes"));
}

/* The store was never written: there is no file, and reading makes none. */
CORPUS_TEST(an_empty_store_has_no_corpora)
{
    says("corpus/list", "{}", "'corpora':[]");
    says("corpus/search", "{'query':'x'}", "'results':[],'documents':0,'searched':0");
    says("corpus/stats", "{}", "'corpora':0");
    says("corpus/cited", "{'session_id':'x'}", "'passages':[]");
    refuses("corpus/search", "{'query':'x','corpus_id':'none'}", ERR_MEMORY_NOT_FOUND);
    refuses("corpus/documents", "{'corpus_id':'none'}", ERR_MEMORY_NOT_FOUND);
    refuses("corpus/passages", "{'document':1}", ERR_MEMORY_NOT_FOUND);
    assert_int_equal(access(path, F_OK), -1);
}

CORPUS_TEST(what_is_ingested_is_listed_found_and_updated)
{
    notes();
    says("corpus/add", add_notes(), "'files':2,'done':2,'added':2");
    says("corpus/list", "{}", "'name':'notes'");
    says("corpus/documents", "{'corpus_id':'notes'}", "'state':'ready'");
    says("corpus/passages", "{'document':2}", "ryokan");
    says("corpus/search", "{'query':'ryokan','corpus_id':'notes','top_k':99}",
         "'heading':'Travel'");
    says("corpus/stats", "{}", "'documents':2");
    support_write(support_path("notes/garden.txt"), "Carrots want sand.\n");
    says("corpus/update", "{'corpus_id':'notes'}", "'changed':1,'unchanged':1");
    says("corpus/update", "{}", "'unchanged':2");
    says("corpus/search", "{'query':'basil'}", "'results':[]");
}

CORPUS_TEST(a_text_is_ingested_and_removed)
{
    says("corpus/ingest", "{'corpus_id':'t','filename':'a.md','text':'a lantern'}", "'chunks':1");
    says("corpus/search", "{'query':'lantern'}", "'file':'a.md'");
    says("corpus/remove", "{'corpus_id':'t','file':'a.md'}", "'documents':1");
    says("corpus/search", "{'query':'lantern'}", "'results':[]");
    says("corpus/remove", "{'corpus_id':'t'}", "'documents':0");
    refuses("corpus/remove", "{'corpus_id':'t'}", ERR_MEMORY_NOT_FOUND);
}

CORPUS_TEST(what_does_not_fit_is_refused)
{
    static const struct {
        const char *name, *params;
    } rows[] = {{"corpus/add", "{}"},
                {"corpus/add", "{'corpus_id':'a b','paths':['/']}"},
                {"corpus/add", "{'corpus_id':'x'}"},
                {"corpus/update", "{'corpus_id':'x','paths':['/tmp']}"},
                {"corpus/update", "{'corpus_id':'x'}"},
                {"corpus/ingest", "{'corpus_id':'../x','filename':'a','text':'b'}"},
                {"corpus/search", "{'query':'  '}"}};
    notes();
    says("corpus/add", add_notes(), "'added':2");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuses(rows[i].name, rows[i].params, ERR_USAGE);
    refuses("corpus/add", "{'corpus_id':'x','paths':['/nowhere/at/all']}", ERR_FILE_ERROR);
    says("corpus/list", "{}", "'corpora':[{'name':'notes'");
}

/* Each row of the table has a test above that calls it. */
CORPUS_TEST(the_table_has_no_other_rows)
{
    static const char *const known[] = {"add",      "cited",  "documents", "ingest", "list",
                                        "passages", "remove", "search",    "stats",  "update"};
    const struct operation *o;
    size_t found = 0;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        bool is_known = false;
        if (strncmp(o->name, "corpus/", 7) != 0)
            continue;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_known = is_known || strcmp(known[k], o->name + 7) == 0;
        if (!is_known)
            fail_msg("%s has no test", o->name);
        assert_int_equal(o->executor, OPERATION_CORPORA);
        assert_true(o->needs & NEED_CORPORA);
        found++;
    }
    assert_int_equal(found, sizeof known / sizeof *known);
}

CORPUS_TEST(where_somebody_goes_on_it_only_begins)
{
    notes();
    later = true;
    const char *answer = run("corpus/add", add_notes());
    assert_non_null(strstr(answer, "\"done\":0"));
    assert_null(strstr(answer, "finished"));
    says("corpus/list", "{}", "'pending':true");
    later = false;
    says("corpus/update", "{}", "'added':2");
    assert_null(strstr(run("corpus/list", "{}"), "pending"));
}

/* --- consent ---------------------------------------------------------------------------------- */

CORPUS_TEST(much_goes_to_an_endpoint_with_consent_alone)
{
    mkdir(support_path("many"), 0700);
    for (int i = 0; i <= INGEST_ASK_FILES; i++)
        support_write(support_path(support_text("many/%d.txt", i)), "x\n");
    const char *few =
        support_text("{'corpus_id':'few','paths':['%s']}", support_path("many/1.txt"));
    const char *many = support_text("{'corpus_id':'many','paths':['%s']}", support_path("many"));
    later = true; /* no vectors are made here */
    assert_true(config_set(config, CONFIG_EMBEDDING_PROVIDER, "openai", &e));
    assert_true(config_set(config, CONFIG_EMBEDDING_BASE_URL, "http://127.0.0.1:9", &e));
    assert_null(strstr(run("corpus/add", few), "asks"));
    says("corpus/add", many, "'asks':true");
    assert_null(strstr(run("corpus/list", "{}"), "\"name\":\"many\""));
    assert_null(strstr(run("corpus/add", support_text("{'consent':true,%s", many + 1)), "asks"));
    says("corpus/list", "{}", "'name':'many'");
    assert_true(config_set(config, CONFIG_EMBEDDING_PROVIDER, "hashed", &e));
    assert_true(config_set(config, CONFIG_CORPUS_RANKING, "both", &e));
    assert_null(strstr(run("corpus/add", many), "asks"));
}

CORPUS_TEST(a_listener_can_stop_it)
{
    notes();
    stops = true;
    refuses("corpus/add", add_notes(), ERR_INTERRUPTED);
    assert_string_equal(told, "files");
    stops = false;
    says("corpus/update", "{}", "'files':2");
}
