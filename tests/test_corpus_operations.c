/* The operations corpus/…: what each takes, gives and refuses, on a context of its own as a command
 * of the command line has it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "config/config.h"
#include "knowledge/corpora.h"
#include "session/capability.h"
#include "session/corpus_operations.h"
#include "tests/suite.h"
#include "tests/support.h"

static struct config *config;
static struct error e;
static char *path;
static bool later; /* somebody else goes on with an ingest */

static int set_up(void **state)
{
    support_setup(state);
    config = config_new();
    path = support_path("tiro.db");
    later = false;
    return 0;
}

static int tear_down(void **state)
{
    config_free(config);
    return support_teardown(state);
}

static const char *run_in(struct operation_context *c, const struct operation *o, const char *json)
{
    const char *text = support_json(json), *answer = NULL;
    auto_free void *params = o->params ? mem_alloc(o->params->size) : NULL;
    auto_free void *result = mem_alloc(o->result->size);
    if (o->params && !support_shape(o->params, text, params, &e))
        fail_msg("%s", e.text);
    if (operation_call(c, o, params, result, &e)) {
        AUTO(json_free_local) struct json *v = shape_to_json(o->result, result);
        answer = support_keep(json_print(v));
        auto_free void *again = mem_alloc(o->result->size); /* a written result can be read */
        if (!support_shape(o->result, answer, again, &e))
            fail_msg("%s: %s", o->name, e.text);
        shape_release(o->result, again);
    }
    shape_release(o->result, result);
    if (o->params)
        shape_release(o->params, params);
    return answer;
}

/* The answer as JSON; NULL: `e`. */
static const char *run(const char *name, const char *json)
{
    struct operation_context c = {0};
    const struct operation *o = operation_find(name);
    assert_non_null(o);
    assert_ok(operation_open(&c, o, config, path, "/", &e), e);
    if (c.corpora)
        c.corpora->alone = !later;
    const char *answer = run_in(&c, o, json);
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

static void refuses(const char *name, const char *json, enum err_code code)
{
    assert_null(run(name, json));
    assert_int_equal(e.code, code);
}

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

FIXTURE(set_up, tear_down);
NEEDS(capability_store() && capability_corpora());

/* The store was never written: there is no file, and reading makes none. */
TEST(an_empty_store_has_no_corpora)
{
    says("corpus/list", "{}", "'corpora':[]");
    says("corpus/search", "{'query':'x'}", "'results':[],'documents':0,'searched':0");
    says("corpus/stats", "{}", "'corpora':0");
    says("corpus/cited", "{'session_id':'x'}", "'passages':[]");
    refuses("corpus/search", "{'query':'x','corpus_id':'none'}", ERR_MEMORY_NOT_FOUND);
    refuses("corpus/documents", "{'corpus_id':'none'}", ERR_MEMORY_NOT_FOUND);
    refuses("corpus/passages", "{'document':1}", ERR_MEMORY_NOT_FOUND);
    struct stat st;
    assert_int_not_equal(stat(path, &st), 0);
}

TEST(what_is_added_is_listed_found_and_updated)
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

TEST(a_text_is_ingested_and_removed)
{
    says("corpus/ingest", "{'corpus_id':'t','filename':'a.md','text':'a lantern'}", "'chunks':1");
    says("corpus/search", "{'query':'lantern'}", "'file':'a.md'");
    says("corpus/remove", "{'corpus_id':'t','file':'a.md'}", "'documents':1");
    says("corpus/search", "{'query':'lantern'}", "'results':[]");
    says("corpus/remove", "{'corpus_id':'t'}", "'documents':0");
    refuses("corpus/remove", "{'corpus_id':'t'}", ERR_MEMORY_NOT_FOUND);
}

TEST(what_does_not_fit_is_refused)
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
TEST(the_table_has_no_other_rows)
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

TEST(where_somebody_goes_on_it_only_begins)
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

static void set(enum config_key key, const char *value)
{
    assert_true(config_set(config, key, value, &e));
}

TEST(much_goes_to_an_endpoint_with_consent_alone)
{
    mkdir(support_path("many"), 0700);
    for (int i = 0; i <= INGEST_ASK_FILES; i++)
        support_write(support_path(support_text("many/%d.txt", i)), "x\n");
    const char *few =
        support_text("{'corpus_id':'few','paths':['%s']}", support_path("many/1.txt"));
    const char *many = support_text("{'corpus_id':'many','paths':['%s']}", support_path("many"));
    later = true; /* no vectors are made here */
    set(CONFIG_EMBEDDING_PROVIDER, "openai");
    set(CONFIG_EMBEDDING_BASE_URL, "http://127.0.0.1:9");
    assert_null(strstr(run("corpus/add", few), "asks"));
    says("corpus/add", many, "'asks':true");
    assert_null(strstr(run("corpus/list", "{}"), "\"name\":\"many\""));
    assert_null(strstr(run("corpus/add", support_text("{'consent':true,%s", many + 1)), "asks"));
    says("corpus/list", "{}", "'name':'many'");
    set(CONFIG_EMBEDDING_PROVIDER, "hashed");
    set(CONFIG_CORPUS_RANKING, "both");
    assert_null(strstr(run("corpus/add", many), "asks"));
}

static bool no_more(void *context, const char *what, int64_t done, int64_t of)
{
    (void)context, (void)done, (void)of;
    assert_string_equal(what, "files");
    return false;
}

TEST(a_stream_tells_how_far_it_is_and_can_stop_it)
{
    notes();
    struct operation_context c = {0};
    assert_true(operation_open(&c, &operation_corpus_add, config, path, "/", &e));
    const struct operation_stream stream = {.tell = no_more, .wake_fd = -1};
    c.stream = &stream;
    assert_null(run_in(&c, &operation_corpus_add, add_notes()));
    assert_int_equal(e.code, ERR_INTERRUPTED);
    operation_close(&c);
    says("corpus/update", "{}", "'files':2");
}
