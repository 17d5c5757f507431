/* The operations graph/…: what each takes, gives and refuses, on a context of its own as a command
 * of the command line has it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config.h"
#include "session/capability.h"
#include "session/graph_operations.h"
#include "tests/suite.h"
#include "tests/support.h"

static struct config *config;
static struct error e;
static char *path;

static int set_up(void **state)
{
    support_setup(state);
    config = config_new();
    path = support_path("tiro.db");
    return 0;
}

static int tear_down(void **state)
{
    config_free(config);
    return support_teardown(state);
}

struct written {
    struct buf text;
};

static bool keep(void *context, const char *bytes, size_t len, struct error *error)
{
    struct written *w = context;
    (void)error;
    buf_add(&w->text, bytes, len);
    return true;
}

static bool stops; /* the listener says no */

static bool tell(void *context, const char *what, int64_t done, int64_t of)
{
    (void)context, (void)what, (void)done, (void)of;
    return !stops;
}

/* A text that was written or is read passes in `stream_text`; kept. */
static char *stream_text;

static const char *run_in(struct operation_context *c, const char *name, const char *json)
{
    const struct operation *o = operation_find(name);
    const char *text = support_json(json);
    auto_free void *params = o->params ? mem_alloc(o->params->size) : NULL;
    auto_free void *result = mem_alloc(o->result->size);
    struct written written = {BUF_INIT};
    FILE *in = stream_text ? fmemopen(stream_text, strlen(stream_text), "r") : NULL;
    const struct operation_stream stream = {.in = in,
                                            .name = "facts.jsonl",
                                            .write = keep,
                                            .tell = tell,
                                            .context = &written,
                                            .wake_fd = -1};
    const char *answer = NULL;
    c->stream = &stream;
    if (o->params && !support_shape(o->params, text, params, &e))
        fail_msg("%s", e.text);
    if (operation_call(c, o, params, result, &e)) {
        AUTO(json_free_local) struct json *v = shape_to_json(o->result, result);
        answer = support_keep(json_print(v));
        shape_release(o->result, result);
    }
    if (o->params)
        shape_release(o->params, params);
    if (in)
        fclose(in);
    stream_text = support_keep(buf_take(&written.text));
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
    if (!answer)
        fail_msg("%s: %s", name, e.text);
    if (!strstr(answer, support_json(text)))
        fail_msg("%s: %s", name, answer);
}

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

NEEDS(capability_memory() && capability_store());
FIXTURE(set_up, tear_down);

/* The store was never written: there is no file, and reading makes none. */
TEST(an_empty_store_has_an_empty_graph)
{
    says("graph/list", "{}", "'entities':[],'relations':[],'total':0");
    says("graph/search", "{'query':'x'}", "'entities':[]");
    says("graph/open", "{'names':['x']}", "'entities':[]");
    says("graph/stats", "{}", GIVES(0, 0, 0));
    says("graph/export", "{}", GIVES(0, 0, 0));
    FILE *f = fopen(path, "r");
    assert_null(f);
}

TEST(what_is_created_is_listed_found_and_opened)
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
TEST(a_person_is_no_session)
{
    kyoto();
    assert_null(strstr(run("graph/open", "{'names':['Kyoto']}"), "session_id"));
}

TEST(deletions_are_counted_and_refused_by_name)
{
    kyoto();
    assert_null(run("graph/delete_entities", "{'entity_names':['Rome']}"));
    assert_int_equal(e.code, ERR_MEMORY_NOT_FOUND);
    says("graph/delete_observations",
         "{'deletions':[{'entity_name':'Kyoto','observations':['old']}]}", GIVES(0, 1, 0));
    says("graph/delete_relations",
         "{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'}]}", GIVES(0, 0, 1));
    says("graph/delete_entities", "{'entity_names':['Kyoto']}", GIVES(1, 0, 0));
}

TEST(what_was_deleted_here_comes_back_the_last_first)
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

TEST(what_is_exported_can_be_imported)
{
    kyoto();
    says("graph/export", "{}", GIVES(2, 1, 1));
    path = support_path("other.db");
    says("graph/import", "{}", GIVES(2, 1, 1));
    says("graph/open", "{'names':['Kyoto']}", "'relation_type':'lies in'");
}

TEST(a_bad_line_is_named_and_nothing_is_kept)
{
    stream_text = support_json(
        "{'type':'entity','name':'a','entityType':'t','observations':[]}\n\n"
        "{'type':'entity','name':'b','observations':[]}\n");
    assert_null(run("graph/import", "{}"));
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "facts.jsonl:3: "));
    assert_non_null(strstr(e.text, "entityType"));
    says("graph/stats", "{}", GIVES(0, 0, 0));
}

TEST(names_of_server_memory_are_taken)
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

/* server-memory keeps the relations of an entity that was deleted. */
TEST(a_relation_of_an_entity_that_is_nowhere_is_left_out)
{
    stream_text = support_json(
        "{'type':'relation','from':'a','to':'b','relationType':'t'}\n"
        "{'type':'relation','from':'a','to':'a','relationType':'is'}\n"
        "{'type':'entity','name':'a','entityType':'t','observations':[]}\n");
    says("graph/import", "{}", "{'entities':1,'observations':0,'relations':1,'skipped':1}");
}

TEST(an_import_that_is_stopped_keeps_nothing)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 500; i++)
        buf_addf(&text, "{'type':'entity','name':'n%d','entityType':'t','observations':[]}\n", i);
    stream_text = support_json(text.data);
    stops = true;
    assert_null(run("graph/import", "{}"));
    stops = false;
    assert_int_equal(e.code, ERR_INTERRUPTED);
    says("graph/stats", "{}", GIVES(0, 0, 0));
}
