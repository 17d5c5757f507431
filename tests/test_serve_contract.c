/* The contract that --describe prints, against the real program: every method is called on standard
 * input, and each answer and notification must fit its schema. */
#include "chat/event.h"
#include "session/capability.h"
#include "session/operation.h"
#include "tests/json_schema.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/suite.h"

static struct model_server *model;
static struct json *schemas; /* by name, "session/list.result" */
static struct json *whole;

static int set_up(void **state)
{
    support_setup(state);
    model = begin_server();
    struct result r = RUN("serve", "--describe", "json-schema");
    assert_int_equal(r.status, 0);
    whole = json_parse(r.out, strlen(r.out), NULL);
    assert_non_null(whole);
    schemas = (struct json *)(uintptr_t)json_get(whole, "$defs");
    return 0;
}

static int tear_down(void **state)
{
    json_free(whole);
    end_server(model);
    return support_teardown(state);
}

FIXTURE(set_up, tear_down);
NEEDS(capability_store() && capability_memory() && capability_compaction());

static void check(const char *name, const char *what, const struct json *v)
{
    const struct json *schema = json_get(schemas, support_text("%s.%s", name, what));
    AUTO(buf_release) struct buf why = BUF_INIT;
    if (!schema)
        fail_msg("%s.%s is not described", name, what);
    if (!json_schema_check(schema, v, &why))
        fail_msg("%s.%s: %s", name, what, why.data);
}

/* --- the check itself ------------------------------------------------------------------------- */

static size_t changes; /* of answers, that were tried */

static void assert_refused(const struct json *schema, struct json *changed, const char *path,
                           const char *what)
{
    AUTO(buf_release) struct buf why = BUF_INIT;
    if (json_schema_check(schema, changed, &why))
        fail_msg("%s: not noticed that a member was %s", path, what);
    json_free(changed);
    changes++;
}

/* A copy without this member, or with another value for it (taken). */
static struct json *changed(const struct json *v, const char *name, struct json *other)
{
    struct json *copy = json_new_object();
    for (const struct json *m = json_first(v); m; m = json_next(m))
        if (strcmp(json_name(m), name) != 0)
            json_set(copy, json_name(m), json_clone(m));
    if (other)
        json_set(copy, name, other);
    return copy;
}

static bool is_required(const struct json *schema, const char *name)
{
    const struct json *names = json_get(schema, "required");
    for (const struct json *n = json_first(names); n; n = json_next(n))
        if (strcmp(json_string(n), name) == 0)
            return true;
    return false;
}

static struct json *of_another_type(const struct json *v)
{
    return json_type(v) == JSON_OBJECT ? json_new_string("?") : json_new_object();
}

/* A member more, one less, one of another type: anywhere in the answer it would be noticed. */
static void assert_notices(const struct json *schema, const struct json *v, const char *path)
{
    const struct json *members = json_get(schema, "properties");
    if (json_type(v) == JSON_ARRAY && json_get(schema, "items") && json_first(v))
        assert_notices(json_get(schema, "items"), json_first(v), support_text("%s[0]", path));
    if (json_type(v) != JSON_OBJECT || !members)
        return;
    assert_refused(schema, changed(v, "no_such_member", json_new_object()), path, "added");
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        const char *name = json_name(m), *at = support_text("%s.%s", path, name);
        const struct json *own = json_get(members, name);
        if (is_required(schema, name))
            assert_refused(schema, changed(v, name, NULL), at, "dropped");
        if (json_get(own, "type") || json_get(own, "enum") || json_get(own, "const"))
            assert_refused(schema, changed(v, name, of_another_type(m)), at, "retyped");
        assert_notices(own, m, at);
    }
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Steps in order. `params` and `saves` have $NAME for saved values; `error`: the name of the
 * expected error, NULL: success. `saves`: "NAME=member", of the result. */
static const struct step {
    const char *method, *params, *error, *saves;
} steps[] = {
    {"engine/info", NULL, NULL, NULL},
    {"capabilities/get", "{}", NULL, NULL},
    {"config/get", NULL, NULL, NULL},
    {"config/set", "{'key':'ui.theme','value':'dark'}", NULL, NULL},
    {"session/create", "{}", NULL, "S=id"},
    {"turn/start",
     "{'session_id':'$S','prompt':'The lantern of Kyoto is blue. An extract has this message "
     "twice, "
     "which is why it would be longer than the message itself, however long the path of the "
     "directory is that the surroundings have.'}",
     NULL, NULL},
    {"compaction/run", "{'session_id':'$S','mode':'deterministic'}", "TOO_SMALL_TO_COMPACT", NULL},
    {"session/list", "{'limit':5}", NULL, NULL},
    {"session/search", "{'query':'lantern'}", NULL, NULL},
    {"session/read", "{'session_id':'$S'}", NULL, NULL},
    {"session/history", "{'session_id':'$S','limit':3}", NULL, NULL},
    {"session/history", "{'session_id':'$S','newest':true}", NULL, NULL},
    {"session/event", "{'session_id':'$S','seq':1}", NULL, NULL},
    {"session/inputs", "{}", NULL, NULL},
    {"session/rename", "{'session_id':'$S','title':'Lanterns'}", NULL, NULL},
    {"session/label", "{'session_id':'Lanterns','changes':'+blue'}", NULL, NULL},
    {"session/set_model", "{'session_id':'$S','model':'scripted-model'}", NULL, NULL},
    {"session/set_effort", "{'session_id':'$S','effort':'default'}", NULL, NULL},
    {"session/set_effort", "{'session_id':'$S','effort':'high'}", "USAGE", NULL},
    {"session/set_system", "{'session_id':'$S','text':'Be brief.'}", NULL, NULL},
    {"session/set_draft", "{'session_id':'$S','text':'not sent'}", NULL, NULL},
    {"session/set_tools", "{'session_id':'$S','tools':'read'}", NULL, NULL},
    {"session/set_compaction", "{'session_id':'$S','mode':'structured'}", NULL, NULL},
    {"session/set_compaction", "{'session_id':'$S','mode':'shredded'}", "USAGE", NULL},
    {"session/add_image",
     "{'session_id':'$S','data':'"
     "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60"
     "e6kgAAAABJRU5ErkJggg=='}",
     NULL, NULL},
    {"session/add_image", "{'session_id':'$S','data':'aGVsbG8='}", "USAGE", NULL},
    {"session/settings", "{'session_id':'$S'}", NULL, NULL},
    {"session/set_memory", "{'session_id':'$S','access':'write'}", NULL, NULL},
    {"session/set_tools", "{'session_id':'$S','tools':'full'}", NULL, NULL},
    {"session/set_compaction", "{'session_id':'$S','mode':'handoff'}", NULL, NULL},
    {"session/settings", "{'session_id':'$S'}", NULL, NULL},
    {"turn/retry", "{'session_id':'$S','prompt':'The lantern of Kyoto is red.'}", NULL, NULL},
    {"turn/start", "{'session_id':'Lanterns','prompt':'And that of Nara?'}", NULL, NULL},
    {"turn/interrupt", "{'session_id':'$S'}", "SESSION_NOT_RUNNING", NULL},
    {"turn/background", "{'session_id':'$S'}", "SESSION_NOT_RUNNING", NULL},
    {"approval/decide", "{'session_id':'$S','call':'x','decision':'deny'}", "SESSION_NOT_RUNNING",
     NULL},
    {"elicitation/decide", "{'session_id':'$S','number':1,'action':'decline'}",
     "SESSION_NOT_RUNNING", NULL},
    {"permission/list", "{'session_id':'$S'}", NULL, NULL},
    {"permission/list", "{'revoke':'write_file'}", "USAGE", NULL},
    {"skill/list", "{'session_id':'$S'}", NULL, NULL},
    {"mcp/list", "{'session_id':'$S'}", NULL, NULL},
    {"mcp/list", "{'command':'off nothing'}", "USAGE", NULL},
    {"plugin/list", NULL, NULL, NULL},
    {"compaction/decide", "{'session_id':'$S','decision':'commit'}", "SESSION_NOT_RUNNING", NULL},
    {"compaction/undo", "{'session_id':'$S'}", "NOTHING_TO_UNDO", NULL},
    {"compaction/pin", "{'session_id':'$S'}", NULL, NULL},
    {"compaction/unpin", "{'session_id':'$S'}", NULL, NULL},
    {"turn/start", "{'session_id':'$S','prompt':'$B'}", NULL, NULL},
    {"turn/start", "{'session_id':'$S','prompt':'And in short?'}", NULL, NULL},
    {"turn/start", "{'session_id':'$S','prompt':'And in a word?'}", NULL, NULL},
    {"compaction/run", "{'session_id':'$S','mode':'deterministic'}", NULL, NULL},
    {"compaction/undo", "{'session_id':'$S'}", NULL, NULL},
    {"session/unrewind", "{'session_id':'$S'}", "NOTHING_TO_UNDO", NULL},
    {"session/rewind", "{'session_id':'$S','turn':1000}", "MESSAGE_NOT_SENT", NULL},
    {"session/rewind", "{'session_id':'$S'}", NULL, NULL},
    {"session/changes", "{'session_id':'$S'}", NULL, NULL},
    {"session/restore", "{'session_id':'$S'}", NULL, NULL},
    {"session/restore", "{'session_id':'$S','file':'none'}", "USAGE", NULL},
    {"session/unrewind", "{'session_id':'$S'}", NULL, NULL},
    {"compaction/ledger", "{'session_id':'$S','seq':1}", "USAGE", NULL},
    {"context/read", "{'session_id':'$S'}", NULL, NULL},
    {"models/list", "{'session_id':'$S'}", NULL, NULL},
    {"provider/check", "{'session_id':'$S'}", NULL, NULL},
    {"doctor/report", "{'session_id':'$S'}", NULL, NULL},
    {"session/export", "{'session_id':'$S','format':'jsonl'}", NULL, "E=content"},
    {"session/export", "{'session_id':'$S','path':'$D/session.md'}", NULL, NULL},
    {"session/import", "{'content':'$E'}", NULL, "I=id"},
    {"session/rebuild", "{'session_id':'$I'}", NULL, NULL},
    {"session/fork", "{'session_id':'$S'}", NULL, "F=id"},
    {"session/open", "{'session_id':'$I'}", NULL, NULL},
    {"session/close", "{'session_id':'$F'}", NULL, NULL},
    {"session/archive", "{'session_id':'$F'}", NULL, NULL},
    {"session/unarchive", "{'session_id':'$F'}", NULL, NULL},
    {"session/delete", "{'session_id':'$F'}", NULL, NULL},
    {"memory/import",
     "{'content':'{\\'session_id\\':\\'old\\',\\'role\\':\\'user\\',\\'created_at\\':\\'2026-03-"
     "09T14:05:07Z\\',\\'content\\':\\'Ferries leave at nine.\\'}'}",
     NULL, NULL},
    {"memory/list", "{}", NULL, "M=entries.0.id"},
    {"memory/read", "{'id':'$M'}", NULL, NULL},
    {"memory/around", "{'id':'$M','before':1}", NULL, NULL},
    {"memory/edit", "{'id':'$M','content':'Ferries leave at ten.'}", NULL, NULL},
    {"memory/list", "{}", NULL, "M=entries.0.id"},
    {"memory/pin", "{'id':'$M','pinned':true}", NULL, NULL},
    {"memory/leave_out", "{'session_id':'$S','id':'$M'}", NULL, NULL},
    {"memory/search", "{'query':'ferries','scope':'all'}", NULL, NULL},
    {"memory/export", NULL, NULL, NULL},
    {"memory/forget", "{'ids':['$M']}", NULL, NULL},
    {"memory/restore", NULL, NULL, NULL},
    {"memory/stats", NULL, NULL, NULL},
    {"memory/reindex", NULL, NULL, NULL},
    {"memory/index", "{'sessions':'none'}", NULL, NULL},
    {"graph/create_entities",
     "{'entities':[{'name':'Kyoto','entity_type':'place','observations':['It has lanterns.']},{'"
     "name':'Nara','entity_type':'place','observations':[]}]}",
     NULL, NULL},
    {"graph/add_observations", "{'observations':[{'entity_name':'Nara','contents':['Deer.']}]}",
     NULL, NULL},
    {"graph/create_relations",
     "{'relations':[{'from':'Kyoto','to':'Nara','relation_type':'is near'}]}", NULL, NULL},
    {"graph/list", "{}", NULL, NULL},
    {"graph/search", "{'query':'lanterns'}", NULL, NULL},
    {"graph/open", "{'names':['Kyoto']}", NULL, NULL},
    {"graph/stats", NULL, NULL, NULL},
    {"graph/export", NULL, NULL, "G=content"},
    {"graph/import", "{'content':'$G'}", NULL, NULL},
    {"graph/reindex", NULL, NULL, NULL},
    {"graph/delete_observations", "{'deletions':[{'entity_name':'Nara','observations':['Deer.']}]}",
     NULL, NULL},
    {"graph/delete_relations",
     "{'relations':[{'from':'Kyoto','to':'Nara','relation_type':'is near'}]}", NULL, NULL},
    {"graph/delete_entities", "{'entity_names':['Nara']}", NULL, NULL},
    {"graph/restore", NULL, NULL, NULL},
    {"learned/add", "{'text':'Answers are short.'}", NULL, "L=item.id"},
    {"learned/list", "{}", NULL, NULL},
    {"learned/search", "{'query':'answers'}", NULL, NULL},
    {"learned/read", "{'id':'$L'}", NULL, NULL},
    {"learned/history", "{'id':'$L'}", NULL, NULL},
    {"learned/edit", "{'id':'$L','text':'Answers are very short.'}", NULL, NULL},
    {"learned/accept", "{'id':'$L'}", NULL, NULL},
    {"learned/reject", "{'id':'$L'}", NULL, NULL},
    {"learned/forget", "{'ids':['$L']}", NULL, NULL},
    {"learned/restore", NULL, NULL, NULL},
    {"learned/stats", NULL, NULL, NULL},
    {"corpus/ingest", "{'corpus_id':'notes','filename':'a.txt','text':'Lanterns hang in Gion.'}",
     NULL, "N=document"},
    {"corpus/add", "{'corpus_id':'files','paths':['$D/session.md']}", NULL, NULL},
    {"corpus/update", "{'corpus_id':'files'}", NULL, NULL},
    {"corpus/list", NULL, NULL, NULL},
    {"import/run", "{'dry_run':true}", NULL, NULL},
    {"import/list", NULL, NULL, NULL},
    {"space/status", NULL, NULL, NULL},
    {"space/members", "{}", "USAGE", NULL},
    {"space/share", "{}", "USAGE", NULL},
    {"space/sync", "{}", "USAGE", NULL},
    {"corpus/documents", "{'corpus_id':'notes'}", NULL, NULL},
    {"corpus/passages", "{'document':$N}", NULL, NULL},
    {"corpus/cited", "{'session_id':'$S'}", NULL, NULL},
    {"corpus/search", "{'query':'lanterns'}", NULL, NULL},
    {"corpus/stats", NULL, NULL, NULL},
    {"corpus/remove", "{'corpus_id':'notes'}", NULL, NULL},
    {"session/close", "{'session_id':'$S'}", NULL, NULL},
    {"events/subscribe", "{'session_id':'$S','since':0}", NULL, NULL},
    {"events/unsubscribe", "{'session_id':'$S'}", NULL, NULL},
    {"events/subscribe", NULL, NULL, NULL},
    {"initialize", NULL, NULL, NULL},
};

static const char *saved['Z' + 1];

/* The text within a JSON string; " stays, and support_json() keeps it. */
static char *escaped(const char *text)
{
    AUTO(json_free_local) struct json *v = json_new_string(text);
    auto_free char *printed = json_print(v);
    printed[strlen(printed) - 1] = '\0';
    return support_text("%s", printed + 1);
}

static const char *filled_in(const char *params)
{
    struct buf out = BUF_INIT;
    const char *json = params ? support_json(params) : NULL;
    for (const char *at = json; at && *at; at++) {
        if (*at != '$') {
            buf_addch(&out, *at);
            continue;
        }
        const char *value = saved[(unsigned char)*++at];
        if (!value)
            fail_msg("%s: nothing was saved as %c", params, *at);
        buf_addstr(&out, escaped(value));
    }
    return json ? support_keep(buf_take(&out)) : NULL;
}

static const struct json *member_at(const struct json *v, const char *path)
{
    char *copy = support_text("%s", path), *rest = NULL;
    for (char *name = strtok_r(copy, ".", &rest); name; name = strtok_r(NULL, ".", &rest))
        v = json_type(v) == JSON_ARRAY ? json_at(v, (size_t)atoi(name)) : json_get(v, name);
    return v;
}

static void save(const struct step *s, const struct json *result)
{
    const struct json *v = s->saves ? member_at(result, s->saves + 2) : NULL;
    if (s->saves && !v)
        fail_msg("%s has no %s: %s", s->method, s->saves + 2, support_keep(json_print(result)));
    if (v && json_string(v))
        saved[(unsigned char)*s->saves] = support_text("%s", json_string(v));
    else if (v)
        saved[(unsigned char)*s->saves] = support_keep(json_print(v));
}

static void take_step(struct rpc_client *c, const struct step *s)
{
    const char *params = filled_in(s->params);
    if (params && !s->error) {
        AUTO(json_free_local) struct json *v = json_parse(params, strlen(params), NULL);
        check(s->method, "params", v);
    }
    int id = ++c->asked;
    rpc_client_write(c,
                     support_text("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"%s%s}\n", id,
                                  s->method, params ? ",\"params\":" : "", params ? params : ""));
    const struct json *answer = rpc_client_answer(c, id), *result = json_get(answer, "result");
    if (s->error) {
        rpc_client_is_error(answer, s->error);
        return;
    }
    if (!result)
        fail_msg("%s %s: %s", s->method, params ? params : "", support_keep(json_print(answer)));
    check(s->method, "result", result);
    assert_notices(json_get(schemas, support_text("%s.result", s->method)), result, s->method);
    save(s, result);
}

/* Checks every method's errors for an unknown member and for each missing one. */
static void assert_names_members(struct rpc_client *c, const char *method)
{
    const struct json *schema = json_get(schemas, support_text("%s.params", method));
    const struct json *fault = rpc_client_error(c, method, "{'no_such_member':1}", "USAGE");
    const struct json *needed = json_first(json_get(schema, "required"));
    assert_text(json_get_string(fault, "message"), "\"no_such_member\"");
    if (needed) {
        fault = rpc_client_error(c, method, "{}", "USAGE");
        assert_text(json_get_string(fault, "message"), support_text("\"%s\"", json_string(needed)));
    }
    for (const struct json *m = json_first(json_get(schema, "properties")); m; m = json_next(m)) {
        bool other = needed && strcmp(json_name(m), json_string(needed)) != 0; /* lacks first */
        if (!json_get(m, "type") || other)
            continue;
        fault =
            rpc_client_error(c, method, support_text("{'%s':{'never':1}}", json_name(m)), "USAGE");
        assert_text(json_get_string(fault, "message"), support_text("\"%s\"", json_name(m)));
    }
}

/* A text that a compaction shortens. */
static const char *long_text(void)
{
    struct buf text = BUF_INIT;
    for (int i = 0; i < 4000; i++)
        buf_addf(&text, "Lantern %d hangs in Gion. ", i);
    return support_keep(buf_take(&text));
}

static bool is_walked(const char *method)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strcmp(steps[i].method, method) == 0)
            return true;
    return false;
}

TEST(every_method_answers_as_it_is_described)
{
    setenv("TIRO_SERVE_FOLDERS", support_dir(), 1);
    struct rpc_client c;
    RPC_START(&c, NULL);
    saved['D'] = support_dir();
    saved['B'] = long_text();
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        take_step(&c, &steps[i]);
    const struct json *methods = json_get(rpc_client_result(&c, "initialize", NULL), "methods");
    for (const struct json *m = json_first(methods); m; m = json_next(m))
        if (!is_walked(json_string(m)))
            fail_msg("%s is offered, and was not called", json_string(m));
    for (size_t i = 0; i < c.waiting.len; i++) {
        const struct json *v = c.waiting.items[i];
        const char *method = json_get_string(v, "method");
        const struct json *event = json_get(json_get(v, "params"), "event");
        if (method)
            check(method, "notification", json_get(v, "params"));
        if (event)
            check(json_get_string(event, "type"), "event", event);
    }
    print_message("%zu changes of answers would be noticed\n", changes);
    assert_true(rpc_client_was_told(&c, "session/event", "run_completed"));
    assert_int_equal(rpc_client_end(&c), 0);
}

TEST(every_method_names_the_member_that_is_wrong)
{
    struct rpc_client c;
    RPC_START(&c, NULL);
    const struct json *methods = json_get(rpc_client_result(&c, "initialize", NULL), "methods");
    for (const struct json *m = json_first(methods); m; m = json_next(m))
        if (strcmp(json_string(m), "initialize") != 0) /* what clients say of themselves grows */
            assert_names_members(&c, json_string(m));
    assert_int_equal(rpc_client_end(&c), 0);
}

/* --- the other descriptions ------------------------------------------------------------------- */

static const struct json *find_named(const struct json *list, const char *name)
{
    for (const struct json *v = json_first(list); v; v = json_next(v))
        if (strcmp(json_get_string(v, "name"), name) == 0)
            return v;
    return NULL;
}

TEST(openrpc_has_every_operation_with_its_parameters_and_errors)
{
    struct json *v = program_json(RUN("serve", "--describe", "openrpc"));
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        const struct json *m = find_named(json_get(v, "methods"), o->name);
        assert_non_null(m);
        assert_string_equal(json_get_string(m, "summary"), o->summary);
        assert_string_equal(json_get_string(m, "x-authority"), authority_name(o->authority));
        for (const struct shape_field *f = o->params ? o->params->fields : NULL; f && f->name;
             f++) {
            const struct json *p = find_named(json_get(m, "params"), f->name);
            assert_int_equal(json_get_bool(p, "required", false), f->presence == SHAPE_REQUIRED);
        }
        assert_non_null(json_get(json_get(m, "result"), "schema"));
        for (const struct json *e = json_first(json_get(m, "errors")); e; e = json_next(e)) {
            const char *name = strrchr(json_get_string(e, "$ref"), '/') + 1;
            const struct json *object =
                json_get(json_get(json_get(v, "components"), "errors"), name);
            assert_int_equal(json_get_int(object, "code", 0), err_info(err_from_name(name))->rpc);
        }
    }
    assert_non_null(find_named(json_get(v, "x-notifications"), "approval/requested"));
}

/* Collects the schemas by title; equal titles must have equal schemas, except for descriptions. */
static void check_titles(struct json *titles, const struct json *v)
{
    const char *title = json_get_string(v, "title");
    for (const struct json *m = json_first(v); m; m = json_next(m))
        check_titles(titles, m);
    if (!title || json_type(json_get(v, "properties")) != JSON_OBJECT)
        return;
    char *now = support_keep(json_print(json_get(v, "properties")));
    const char *had = json_get_string(titles, title);
    if (had && strcmp(had, now) != 0)
        fail_msg("two are titled \"%s\": %s %s", title, had, now);
    json_set_string(titles, title, now);
}

/* Generators name types by titles, and give arguments by their places. */
TEST(openrpc_can_be_made_into_code)
{
    struct json *v = program_json(RUN("serve", "--describe", "openrpc"));
    AUTO(json_free_local) struct json *titles = json_new_object();
    for (const struct json *m = json_first(json_get(v, "methods")); m; m = json_next(m)) {
        bool optional = false;
        for (const struct json *p = json_first(json_get(m, "params")); p; p = json_next(p)) {
            bool required = json_get_bool(p, "required", false);
            if (required && optional)
                fail_msg("%s: %s", json_get_string(m, "name"), json_get_string(p, "name"));
            optional = !required;
        }
        check_titles(titles, json_get(m, "result"));
    }
}

TEST(the_page_for_clients_names_every_event)
{
    char *page = support_read(support_text("%s/doc/protocols.md", getenv("SOURCE_DIR")));
    for (int type = 0; type < EVENT_TYPE_COUNT; type++)
        if (!strstr(page, support_text("`%s`", event_name((enum event_type)type))))
            fail_msg("%s", event_name((enum event_type)type));
}

TEST(openapi_has_the_schemas_of_every_operation)
{
    struct json *v = program_json(RUN("serve", "--describe", "openapi"));
    const struct json *parts = json_get(json_get(v, "components"), "schemas");
    const struct operation *o;
    assert_non_null(json_get(json_get(json_get(v, "paths"), "/rpc"), "post"));
    for (size_t i = 0; (o = operation_at(i)); i++) {
        char *name = support_text("%s.params", o->name);
        *strchr(name, '/') = '.';
        assert_string_equal(json_get_string(json_get(parts, name), "x-authority"),
                            authority_name(o->authority));
    }
}

TEST(a_format_that_is_not_known_is_refused)
{
    expect(RUN("serve", "--describe", "wsdl"), 64, "openrpc openapi json-schema");
    expect(RUN("serve"), 64, "--stdio");
}
