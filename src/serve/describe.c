#include "serve/describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "chat/event.h"
#include "serve/contract.h"
#include "serve/http_service.h"
#include "serve/jsonrpc.h"
#include "serve/notification.h"
#include "session/session_operations.h"

/* The routes of HTTP as paths of OpenAPI. */

/* Adds them to the object "paths", but those of JSON-RPC; and to the "schemas" of the components
 * what they refer to, besides NAME.params and NAME.result of the operations
 * ("session.list.result"). */
void http_describe(struct json *paths, struct json *schemas);

static struct json *text_object(const char *name, const char *value)
{
    struct json *v = json_new_object();
    json_set_string(v, name, value);
    return v;
}

static struct json *wrapped(const char *name, struct json *inner)
{
    struct json *v = json_new_object();
    json_set(v, name, inner);
    return v;
}

/* "session/list", "result" → a reference to the component session.list.result. */
static struct json *reference(const char *operation, const char *what)
{
    char *path = operation ? mem_printf("#/components/schemas/%s.%s", operation, what)
                           : mem_printf("#/components/schemas/%s", what);
    if (operation)
        *strchr(path + strlen("#/components/schemas/"), '/') = '.';
    struct json *v = text_object("$ref", path);
    free(path);
    return v;
}

static struct json *content(const char *type, struct json *schema)
{
    return wrapped(type, wrapped("schema", schema));
}

/* --- parameters ------------------------------------------------------------------------------- */

static struct json *parameter(const char *name, const char *in, bool required,
                              const struct json *schema)
{
    struct json *v = text_object("name", name);
    json_set_string(v, "in", in);
    json_set_bool(v, "required", required);
    json_set(v, "schema", schema ? json_clone(schema) : text_object("type", "string"));
    return v;
}

static bool is_variable(const struct http_route *r, const char *name)
{
    char *pattern = mem_printf("{%s}", name);
    bool found = strstr(r->path, pattern) != NULL;
    free(pattern);
    return found;
}

static bool is_required(const struct json *schema, const char *name)
{
    for (const struct json *n = json_first(json_get(schema, "required")); n; n = json_next(n))
        if (strcmp(json_string(n), name) == 0)
            return true;
    return false;
}

/* What a POST says in its body, the others say in the query. */
static struct json *parameters(const struct http_route *r, const struct json *schema)
{
    struct json *list = json_new_array();
    bool queried = strcmp(r->method, "POST") != 0;
    for (const struct json *m = json_first(json_get(schema, "properties")); m; m = json_next(m)) {
        bool variable = is_variable(r, json_name(m));
        const char *name = r->q && strcmp(r->q, json_name(m)) == 0 ? "q" : json_name(m);
        if (variable || queried)
            json_push(list, parameter(name, variable ? "path" : "query",
                                      variable || is_required(schema, json_name(m)), m));
    }
    return list;
}

/* Which the operation of their pages, session/history, would have. */
static struct json *event_parameters(const struct http_route *r)
{
    struct json *list = json_new_array();
    if (!strchr(r->path, '{'))
        return list;
    json_push(list, parameter(SESSION_MEMBER, "path", true, NULL));
    json_push(list, parameter("after", "query", false, NULL));
    json_push(list, parameter("Last-Event-ID", "header", false, NULL));
    return list;
}

/* --- methods ---------------------------------------------------------------------------------- */

/* What has no operation to say it. */
static const char *const kind_schemas[] = {
    [HTTP_EVENTS] = "{\"$ref\":\"#/components/schemas/told\"}",
    [HTTP_RPC] = "{\"$ref\":\"#/components/schemas/answer\"}",
    [HTTP_MCP] = "{\"type\":\"object\"}",
    [HTTP_HEALTH] =
        "{\"type\":\"object\",\"properties\":{\"status\":{\"const\":\"ok\"},\"version\":{"
        "\"type\":\"string\"},\"contract_version\":{\"type\":\"string\"}},\"required\":["
        "\"status\",\"version\",\"contract_version\"]}",
    [HTTP_TICKET] =
        "{\"type\":\"object\",\"properties\":{\"ticket\":{\"type\":\"string\"},\"seconds\":"
        "{\"type\":\"integer\"}},\"required\":[\"ticket\",\"seconds\"]}",
    [HTTP_DESCRIPTION] = "{\"type\":\"object\"}",
};

static struct json *from_text(const char *text)
{
    return json_parse(text, strlen(text), NULL);
}

/* Of a turn that is not waited for. */
static const char begun[] =
    "{\"description\":\"It has begun, as was preferred (Prefer: respond-async).\",\"content\":{"
    "\"application/"
    "json\":{\"schema\":{\"type\":\"object\",\"properties\":{\"session_id\":{\"type\":"
    "\"string\"},\"seq\":{\"type\":\"integer\"}},\"required\":[\"session_id\",\"seq\"]}}}}";

static struct json *responses(const struct http_route *r)
{
    const char *type = r->kind == HTTP_EVENTS ? "text/event-stream" : "application/json";
    struct json *v = json_new_object(), *good = text_object("description", "It was done.");
    char *status = mem_printf("%d", r->status);
    if (r->status != 204)
        json_set(good, "content",
                 content(type, r->operation ? reference(r->operation, "result")
                                            : from_text(kind_schemas[r->kind])));
    json_set(v, status, good);
    if (r->async)
        json_set(v, "202", from_text(begun));
    json_set(v, "4XX", text_object("$ref", "#/components/responses/error"));
    json_set(v, "5XX", text_object("$ref", "#/components/responses/error"));
    free(status);
    return v;
}

/* "session/list" → session_list; without an operation of the path: get_sessions_session_events. */
static char *name_of(const struct http_route *r)
{
    char *name = r->operation ? mem_strdup(r->operation) : mem_printf("%s%s", r->method, r->path),
         *to = name;
    for (const char *at = name; *at; at++)
        if (!strchr("{}.", *at))
            *to++ = (char)(*at == '/' ? '_' : tolower((unsigned char)*at));
    *to = '\0';
    return name;
}

/* The path has said what its variables are. */
static struct json *body_schema(const struct http_route *r, const struct json *schema)
{
    struct json *v = json_clone(schema), *members = json_new_object(), *required = json_new_array();
    for (const struct json *m = json_first(json_get(schema, "properties")); m; m = json_next(m))
        if (!is_variable(r, json_name(m)))
            json_set(members, json_name(m), json_clone(m));
    for (const struct json *n = json_first(json_get(schema, "required")); n; n = json_next(n))
        if (!is_variable(r, json_string(n)))
            json_push(required, json_clone(n));
    json_set(v, "properties", members);
    json_set(v, "required", required);
    return v;
}

/* `schema` is taken. */
static void add_body(struct json *v, struct json *schema)
{
    json_set(v, "requestBody", wrapped("content", content("application/json", schema)));
}

static struct json *openapi_method(const struct http_route *r)
{
    const struct operation *o = r->operation ? operation_find(r->operation) : NULL;
    struct json *v = text_object("summary", o ? o->summary : r->summary);
    struct json *schema = o ? contract_params_schema(o) : NULL;
    char *name = name_of(r);
    json_set_string(v, "operationId", name);
    free(name);
    if (o)
        json_set_string(v, "x-authority", authority_name(o->authority));
    json_set(v, "parameters", r->kind == HTTP_EVENTS ? event_parameters(r) : parameters(r, schema));
    if (o && strcmp(r->method, "POST") == 0)
        add_body(v, body_schema(r, schema));
    if (r->kind == HTTP_MCP && strcmp(r->method, "POST") == 0)
        add_body(v, text_object("type", "object"));
    if (r->kind == HTTP_RPC)
        add_body(v, reference(NULL, "request"));
    if (r->kind == HTTP_EVENTS)
        json_set(v, "security", from_text("[{\"token\":[]},{\"ticket\":[]}]"));
    json_set(v, "responses", responses(r));
    json_free(schema);
    return v;
}

static void add_method(struct json *paths, const struct http_route *r)
{
    const struct json *had = json_get(paths, r->path);
    struct json *path = had ? json_clone(had) : json_new_object();
    char *name = mem_strdup(r->method);
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    json_set(path, name, openapi_method(r));
    json_set(paths, r->path, path);
    free(name);
}

static const char error_schema[] =
    "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"},"
    "\"message\":{\"type\":\"string\"},\"result\":{\"type\":\"object\",\"description\":\"What was "
    "done until then.\"}},\"required\":[\"code\",\"message\"]}";

void http_describe(struct json *paths, struct json *schemas)
{
    const struct http_route *r;
    for (size_t i = 0; (r = http_route_at(i)) != NULL; i++)
        add_method(paths, r);
    json_set(schemas, "error", json_parse(error_schema, sizeof error_schema - 1, NULL));
}

const char describe_formats[] = "openrpc openapi json-schema";

/* --- what there is, one by one ---------------------------------------------------------------- */

/* A method: an operation, or one that JSON-RPC has besides. */
struct method {
    const char *name, *summary;
    const struct operation *operation; /* NULL: it is none */
    struct json *params, *result;      /* schemas, the visitor's */
};

static void each_method(void (*visit)(struct json *into, const struct method *m), struct json *into)
{
    const struct operation *o;
    for (const struct jsonrpc_method *m = jsonrpc_methods; m->name; m++)
        visit(into,
              &(struct method){m->name, m->summary, NULL, shape_schema(m->params), m->result()});
    for (size_t i = 0; (o = operation_at(i)); i++)
        visit(into, &(struct method){o->name, o->summary, o, contract_params_schema(o),
                                     contract_result_schema(o)});
}

/* A line of stream-json: what every event has, and the members of its type. */
static struct json *event_schema(enum event_type type)
{
    static const char envelope[] =
        "{\"seq\":{\"type\":\"integer\",\"minimum\":1},"
        "\"session_id\":{\"type\":\"string\",\"format\":\"uuid\"},"
        "\"at\":{\"type\":\"string\",\"format\":\"date-time\"},"
        "\"version\":{\"type\":\"integer\"}}";
    struct json *v = shape_schema(&event_shapes[type]), *members = from_text(envelope);
    struct json *name = json_new_object(), *required = json_clone(json_get(v, "required"));
    json_set_string(name, "const", event_name(type));
    json_set(members, "type", name);
    for (const struct json *m = json_first(json_get(v, "properties")); m; m = json_next(m))
        json_set(members, json_name(m), json_clone(m));
    if (json_type(required) != JSON_ARRAY) {
        json_free(required);
        required = json_new_array();
    }
    for (const char *const *n = (const char *const[]){"type", "seq", "session_id", "at", NULL}; *n;
         n++)
        json_push(required, json_new_string(*n));
    json_set_string(v, "title", event_name(type));
    json_set(v, "properties", members);
    json_set(v, "required", required);
    return v;
}

static struct json *notifications(void)
{
    struct json *all = json_new_array();
    for (int type = 0; type < NOTICE_TYPES; type++) {
        const struct notification *n = notification_of((enum notice_type)type);
        if (!n->method)
            continue;
        struct json *v = json_new_object();
        json_set_string(v, "name", n->method);
        json_set_string(v, "summary", n->summary);
        json_set(v, "params", shape_schema(n->shape));
        json_push(all, v);
    }
    return all;
}

static struct json *info(void)
{
    struct json *v = json_new_object();
    json_set_string(v, "title", PACKAGE_NAME);
    json_set_string(v, "version", CONTRACT_VERSION);
    json_set_string(v, "description", "What can be asked of tiro " PACKAGE_VERSION ".");
    json_set(v, "license",
             from_text("{\"name\":\"MIT\",\"url\":\"https://spdx.org/licenses/MIT\"}"));
    return v;
}

/* Methods that JSON-RPC has besides only tell. */
static const char *authority_of(const struct operation *o)
{
    return authority_name(o ? o->authority : AUTHORITY_CLIENT);
}

/* --- errors ----------------------------------------------------------------------------------- */

static const enum err_code codes[] = {
#define X(name, rpc, rest, status) ERR_##name,
    ERR_TABLE(X)
#undef X
};

static struct json *error_object(enum err_code code)
{
    const struct err_info *e = err_info(code);
    struct json *v = json_new_object(), *data = json_new_object();
    json_set_int(v, "code", e->rpc);
    json_set_string(v, "message", e->name);
    json_set_string(data, "code", e->name);
    json_set(v, "data", data);
    return v;
}

static struct json *error_objects(void)
{
    struct json *v = json_new_object();
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] != ERR_OK)
            json_set(v, err_info(codes[i])->name, error_object(codes[i]));
    return v;
}

static void add_error(struct json *list, enum err_code code)
{
    struct json *v = json_new_object();
    char *to = mem_printf("#/components/errors/%s", err_info(code)->name);
    json_set_string(v, "$ref", to);
    json_push(list, v);
    free(to);
}

/* What a row may be refused with by its needs; any may also fail with an error of no row. */
static struct json *errors_of(const struct method *m)
{
    static const struct {
        unsigned need;
        enum err_code code;
    } needs[] = {
        {NEED_STORE, ERR_SESSION_PERSISTENCE_DISABLED},
        {NEED_COMPACTION, ERR_SESSION_COMPACTION_DISABLED},
        {NEED_MEMORY | NEED_GRAPH | NEED_CORPORA | NEED_LEARNED, ERR_MEMORY_DISABLED},
    };
    struct json *list = json_new_array();
    add_error(list, ERR_USAGE);
    if (m->operation && m->operation->authority < AUTHORITY_CLIENT)
        add_error(list, ERR_FORBIDDEN);
    if (json_get(json_get(m->params, "properties"), SESSION_MEMBER))
        add_error(list, ERR_SESSION_NOT_FOUND);
    if (m->operation == &operation_session_history)
        add_error(list, ERR_EVENT_NOT_FOUND);
    if (m->operation && m->operation->executor == OPERATION_CONVERSATION)
        add_error(list, ERR_SESSION_BUSY);
    if (json_get(json_get(m->result, "properties"), "error")) {
        add_error(list, ERR_AGENT_ERROR);
        add_error(list, ERR_BUDGET_EXHAUSTED);
    }
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (m->operation && m->operation->needs & needs[i].need)
            add_error(list, needs[i].code);
    return list;
}

/* --- OpenRPC ---------------------------------------------------------------------------------- */

/* Those that are required first: who gives them by their places needs them there. */
static struct json *params_list(const struct json *schema)
{
    struct json *list = json_new_array();
    const struct json *members = json_get(schema, "properties");
    for (int required = 1; required >= 0; required--)
        for (const struct json *m = json_first(members); m; m = json_next(m)) {
            if (is_required(schema, json_name(m)) != required)
                continue;
            struct json *v = json_new_object();
            json_set_string(v, "name", json_name(m));
            json_set_string(v, "description", json_get_string(m, "description"));
            json_set_bool(v, "required", required);
            json_set(v, "schema", json_clone(m));
            json_push(list, v);
        }
    return list;
}

static void add_openrpc(struct json *methods, const struct method *m)
{
    struct json *v = json_new_object(), *result = json_new_object();
    json_set_string(v, "name", m->name);
    json_set_string(v, "summary", m->summary);
    json_set_string(v, "paramStructure", "by-name");
    json_set_string(v, "x-authority", authority_of(m->operation));
    json_set(v, "params", params_list(m->params));
    json_set_string(result, "name", "result");
    json_set(result, "schema", m->result);
    json_set(v, "result", result);
    json_set(v, "errors", errors_of(m));
    json_push(methods, v);
    json_free(m->params);
}

static struct json *openrpc(void)
{
    struct json *v = json_new_object(), *methods = json_new_array(), *parts = json_new_object();
    each_method(add_openrpc, methods);
    json_set_string(v, "openrpc", "1.3.2");
    json_set(v, "info", info());
    json_set(v, "methods", methods);
    json_set(parts, "errors", error_objects());
    json_set(v, "components", parts);
    json_set(v, "x-notifications", notifications());
    return v;
}

/* --- JSON Schema ------------------------------------------------------------------------------ */

static void add_definition(struct json *into, const char *name, const char *what,
                           struct json *schema)
{
    char *full = mem_printf("%s.%s", name, what);
    json_set(into, full, schema);
    free(full);
}

static void add_schemas(struct json *into, const struct method *m)
{
    char *least = mem_printf("Least caller: %s.", authority_of(m->operation));
    json_set_string(m->params, "description", least);
    free(least);
    add_definition(into, m->name, "params", m->params);
    add_definition(into, m->name, "result", m->result);
}

static struct json *definitions(void)
{
    struct json *v = json_new_object();
    each_method(add_schemas, v);
    for (int type = 0; type < NOTICE_TYPES; type++) {
        const struct notification *n = notification_of((enum notice_type)type);
        if (n->method)
            add_definition(v, n->method, "notification", shape_schema(n->shape));
    }
    for (int type = 0; type < EVENT_TYPE_COUNT; type++)
        add_definition(v, event_name((enum event_type)type), "event",
                       event_schema((enum event_type)type));
    return v;
}

static struct json *json_schema(void)
{
    struct json *v = json_new_object();
    json_set_string(v, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_set_string(v, "title", PACKAGE_NAME);
    json_set_string(v, "description", "Contract " CONTRACT_VERSION " of tiro " PACKAGE_VERSION ".");
    json_set(v, "$defs", definitions());
    return v;
}

/* --- OpenAPI ---------------------------------------------------------------------------------- */

static struct json *with(const char *name, struct json *inner)
{
    struct json *v = json_new_object();
    json_set(v, name, inner);
    return v;
}

/* The names of schemas there have no slash. */
static void add_component(struct json *schemas, const char *of, const char *what,
                          struct json *schema)
{
    char *name = mem_printf("%s.%s", of, what);
    *strchr(name, '/') = '.';
    json_set(schemas, name, schema);
    free(name);
}

static void add_components(struct json *schemas, const struct method *m)
{
    if (m->operation) {
        json_set_string(m->params, "x-authority", authority_of(m->operation));
        add_component(schemas, m->name, "params", m->params);
        add_component(schemas, m->name, "result", m->result);
    } else {
        json_free(m->params);
        json_free(m->result);
    }
}

/* Pushes a reference to the component that begins with "NAME.": "session/list" and "params". */
static void push_reference(struct json *list, const char *name, const char *what)
{
    struct json *v = json_new_object();
    char *to = mem_printf("#/components/schemas/%s.%s", name, what);
    char *slash = strchr(to + sizeof "#/components/schemas/", '/');
    if (slash)
        *slash = '.';
    json_set_string(v, "$ref", to);
    json_push(list, v);
    free(to);
}

/* Requests of POST /rpc one by one, and what may come of any. */
static void add_envelope(struct json *schemas)
{
    static const char answer[] =
        "{\"jsonrpc\":{\"const\":\"2.0\"},\"id\":{\"type\":[\"string\",\"integer\",\"null\"]},"
        "\"error\":{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"integer\"},"
        "\"message\":{"
        "\"type\":\"string\"},\"data\":{\"type\":\"object\",\"properties\":{\"code\":{\"type\":"
        "\"string\"}}}},\"required\":[\"code\",\"message\"]}}";
    const struct operation *o;
    struct json *asked = json_new_array(), *results = json_new_array();
    for (size_t i = 0; (o = operation_at(i)); i++) {
        char *text = mem_printf(
            "{\"type\":\"object\",\"properties\":{\"jsonrpc\":{\"const\":\"2.0\"},\"id\":{\"type\":"
            "["
            "\"string\",\"integer\"]},\"method\":{\"const\":\"%s\"}},\"required\":[\"jsonrpc\","
            "\"method\"]}",
            o->name);
        struct json *v = from_text(text), *members = json_clone(json_get(v, "properties"));
        struct json *params = json_new_array();
        push_reference(params, o->name, "params");
        json_set(members, "params", json_clone(json_first(params)));
        json_set(v, "properties", members);
        json_push(asked, v);
        push_reference(results, o->name, "result");
        json_free(params);
        free(text);
    }
    struct json *members = from_text(answer);
    json_set(members, "result", with("anyOf", results));
    json_set(schemas, "request", with("oneOf", asked));
    json_set(schemas, "answer", with("properties", members));
}

/* What a stream has as the data of its frames: events, by their type, and what has no number. */
static void add_events(struct json *schemas)
{
    struct json *events = json_new_array(), *told = json_new_array(), *v = json_new_object();
    for (int type = 0; type < EVENT_TYPE_COUNT; type++) {
        const char *name = event_name((enum event_type)type);
        add_definition(schemas, "event", name, event_schema((enum event_type)type));
        push_reference(events, "event", name);
    }
    json_set_string(v, "$ref", "#/components/schemas/event");
    json_push(told, v);
    for (int type = 0; type < NOTICE_TYPES; type++) {
        const struct notification *n = notification_of((enum notice_type)type);
        if (!n->method || type == NOTICE_EVENT)
            continue;
        struct json *notice = shape_schema(n->shape);
        add_component(schemas, n->method, "notification", notice);
        push_reference(told, n->method, "notification");
    }
    json_set(schemas, "event", with("oneOf", events));
    json_set(schemas, "told", with("anyOf", told));
}

static struct json *openapi(void)
{
    static const char frame[] =
        "{\"openapi\":\"3.1.0\",\"servers\":[{\"url\":\"http://127.0.0.1:8476\"}],\"security\":[{"
        "\"token\":[]}]}";
    static const char components[] =
        "{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"},\"ticket\":{"
        "\"type\":\"apiKey\",\"in\":\"query\",\"name\":\"ticket\"}},\"responses\":{\"error\":{"
        "\"description\":\"It was not done; the status is the "
        "error's.\",\"content\":{\"application/"
        "json\":{\"schema\":{\"$ref\":\"#/components/schemas/error\"}}}}}}";
    struct json *v = from_text(frame), *paths = json_new_object(), *schemas = json_new_object();
    struct json *parts = from_text(components);
    each_method(add_components, schemas);
    add_envelope(schemas);
    add_events(schemas);
    http_describe(paths, schemas);
    json_set(v, "info", info());
    json_set(v, "paths", paths);
    json_set(parts, "schemas", schemas);
    json_set(v, "components", parts);
    return v;
}

struct json *describe_contract(const char *format)
{
    static const struct {
        const char *name;
        struct json *(*make)(void);
    } formats[] = {{"openrpc", openrpc}, {"openapi", openapi}, {"json-schema", json_schema}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, format) == 0)
            return formats[i].make();
    return NULL;
}
