#include "serve/describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "chat/event.h"
#include "serve/contract.h"
#include "serve/http_service.h"
#include "serve/jsonrpc.h"
#include "serve/notification.h"
#include "session/session_operations.h"

static struct json *from_text(const char *text)
{
    return json_parse(text, strlen(text), NULL);
}

/* "session/list", "result" → a reference to the component session.list.result. */
static struct json *reference(const char *name, const char *part)
{
    auto_free char *path = name ? mem_printf("#/components/schemas/%s.%s", name, part)
                                : mem_printf("#/components/schemas/%s", part);
    char *slash = name ? strchr(path + strlen("#/components/schemas/"), '/') : NULL;
    if (slash)
        *slash = '.';
    return json_pack("{$ref:s}", path);
}

static struct json *content(const char *type, struct json *schema)
{
    struct json *v = json_new_object();
    json_set(v, type, json_pack("{schema:o}", schema));
    return v;
}

/* --- parameters ------------------------------------------------------------------------------- */

static struct json *parameter(const char *name, const char *in, bool required,
                              const struct json *schema)
{
    return json_pack("{name:s in:s required:b schema:o}", name, in, required,
                     schema ? json_clone(schema) : json_pack("{type:'string'}"));
}

static bool is_variable(const struct http_route *r, const char *name)
{
    auto_free char *pattern = mem_printf("{%s}", name);
    return strstr(r->path, pattern) != NULL;
}

static bool is_required(const struct json *schema, const char *name)
{
    for (const struct json *n = json_first(json_get(schema, "required")); n; n = json_next(n))
        if (strcmp(json_string(n), name) == 0)
            return true;
    return false;
}

/* A POST has its parameters in the body, another method in the query. A stream of a session's
 * events has those that the operation of their pages, session/history, would have. */
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
    if (r->kind == HTTP_EVENTS && strchr(r->path, '{')) {
        json_push(list, parameter(SESSION_MEMBER, "path", true, NULL));
        json_push(list, parameter("after", "query", false, NULL));
        json_push(list, parameter("Last-Event-ID", "header", false, NULL));
    }
    return list;
}

/* --- methods ---------------------------------------------------------------------------------- */

/* Results of routes that are no operations. */
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

/* The response where the caller does not wait for the turn. */
static const char begun[] =
    "{\"description\":\"It has begun, as was preferred (Prefer: respond-async).\",\"content\":{"
    "\"application/"
    "json\":{\"schema\":{\"type\":\"object\",\"properties\":{\"session_id\":{\"type\":"
    "\"string\"},\"seq\":{\"type\":\"integer\"}},\"required\":[\"session_id\",\"seq\"]}}}}";

static struct json *responses(const struct http_route *r)
{
    const char *type = r->kind == HTTP_EVENTS ? "text/event-stream" : "application/json";
    struct json *v = json_new_object(), *good = json_pack("{description:'It was done.'}");
    auto_free char *status = mem_printf("%d", r->status);
    if (r->status != 204)
        json_set(good, "content",
                 content(type, r->operation ? reference(r->operation, "result")
                                            : from_text(kind_schemas[r->kind])));
    json_set(v, status, good);
    if (r->async)
        json_set(v, "202", from_text(begun));
    json_set(v, "4XX", json_pack("{$ref:'#/components/responses/error'}"));
    json_set(v, "5XX", json_pack("{$ref:'#/components/responses/error'}"));
    return v;
}

static struct json *openapi_method(const struct http_route *r)
{
    const struct operation *o = r->operation ? operation_find(r->operation) : NULL;
    bool posts = strcmp(r->method, "POST") == 0;
    AUTO(json_free_local) struct json *schema = o ? contract_schema(o, false) : NULL;
    /* "session/list" → session_list; without an operation of the path: get_sessions_session_events
     */
    auto_free char *name = o ? mem_strdup(o->name) : mem_printf("%s%s", r->method, r->path);
    char *to = name;
    for (const char *at = name; *at; at++)
        if (!strchr("{}.", *at))
            *to++ = (char)(*at == '/' ? '_' : tolower((unsigned char)*at));
    *to = '\0';
    struct json *v = json_pack("{summary:s operationId:s x-authority:s parameters:o}",
                               o ? o->summary : r->summary, name,
                               o ? authority_name(o->authority) : NULL, parameters(r, schema));
    struct json *body = NULL;
    if (o && posts) { /* without the variables of the path */
        struct json *members = json_new_object(), *required = json_new_array();
        for (const struct json *m = json_first(json_get(schema, "properties")); m; m = json_next(m))
            if (!is_variable(r, json_name(m)))
                json_set(members, json_name(m), json_clone(m));
        for (const struct json *n = json_first(json_get(schema, "required")); n; n = json_next(n))
            if (!is_variable(r, json_string(n)))
                json_push(required, json_clone(n));
        body = json_clone(schema);
        json_set(body, "properties", members);
        json_set(body, "required", required);
    } else if (r->kind == HTTP_MCP && posts) {
        body = json_pack("{type:'object'}");
    } else if (r->kind == HTTP_RPC) {
        body = reference(NULL, "request");
    }
    if (body)
        json_set(v, "requestBody", json_pack("{content:o}", content("application/json", body)));
    if (r->kind == HTTP_EVENTS)
        json_set(v, "security", from_text("[{\"token\":[]},{\"ticket\":[]}]"));
    json_set(v, "responses", responses(r));
    return v;
}

static const char error_schema[] =
    "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"},"
    "\"message\":{\"type\":\"string\"},\"result\":{\"type\":\"object\",\"description\":\"What was "
    "done until then.\"}},\"required\":[\"code\",\"message\"]}";

const char describe_formats[] = "openrpc openapi json-schema";

/* --- what there is, one by one ---------------------------------------------------------------- */

/* A method: an operation, or one that JSON-RPC has besides, which only tells. */
struct method {
    const char *name, *summary, *authority;
    const struct operation *operation; /* NULL: it is none */
    struct json *params, *result;      /* schemas, the visitor's */
};

static void each_method(void (*visit)(struct json *into, const struct method *m), struct json *into)
{
    const struct operation *o;
    for (const struct jsonrpc_method *m = jsonrpc_methods; m->name; m++)
        visit(into, &(struct method){m->name, m->summary, authority_name(AUTHORITY_CLIENT), NULL,
                                     shape_schema(m->params), m->result()});
    for (size_t i = 0; (o = operation_at(i)); i++)
        visit(into, &(struct method){o->name, o->summary, authority_name(o->authority), o,
                                     contract_schema(o, false), contract_schema(o, true)});
}

/* A line of stream-json: the members of every event, and those of its type. */
static struct json *event_schema(enum event_type type)
{
    struct json *v = shape_schema(&event_shapes[type]);
    struct json *members = json_pack(
        "{seq:{type:'integer' minimum:i} session_id:{type:'string' "
        "format:'uuid'} at:{type:'string' format:'date-time'} "
        "version:{type:'integer'} type:{const:s}}",
        1, event_name(type));
    const struct json *had = json_get(v, "required");
    struct json *required = json_type(had) == JSON_ARRAY ? json_clone(had) : json_new_array();
    for (const struct json *m = json_first(json_get(v, "properties")); m; m = json_next(m))
        json_set(members, json_name(m), json_clone(m));
    for (const char *const *n = (const char *const[]){"type", "seq", "session_id", "at", NULL}; *n;
         n++)
        json_push(required, json_new_string(*n));
    json_set_string(v, "title", event_name(type));
    json_set(v, "properties", members);
    json_set(v, "required", required);
    return v;
}

static struct json *info(void)
{
    return json_pack("{title:s version:s description:s license:{name:'MIT' url:s}}", PACKAGE_NAME,
                     CONTRACT_VERSION, "The operations of tiro " PACKAGE_VERSION ".",
                     "https://spdx.org/licenses/MIT");
}

/* --- errors ----------------------------------------------------------------------------------- */

static const enum err_code codes[] = {
#define X(name, rpc, rest, status) ERR_##name,
    ERR_TABLE(X)
#undef X
};

static void add_error(struct json *list, enum err_code code)
{
    auto_free char *to = mem_printf("#/components/errors/%s", err_info(code)->name);
    json_push(list, json_pack("{$ref:s}", to));
}

/* The errors by which a row's needs may refuse it. Any row may also fail with others. */
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

/* Required parameters first, as a caller by position needs them. */
static void add_openrpc(struct json *methods, const struct method *m)
{
    struct json *params = json_new_array();
    for (int required = 1; required >= 0; required--)
        for (const struct json *p = json_first(json_get(m->params, "properties")); p;
             p = json_next(p))
            if (is_required(m->params, json_name(p)) == required)
                json_push(params,
                          json_pack("{name:s description:s required:b schema:o}", json_name(p),
                                    json_get_string(p, "description"), required, json_clone(p)));
    json_push(methods,
              json_pack("{name:s summary:s paramStructure:'by-name' x-authority:s params:o "
                        "result:{name:'result' schema:o} errors:o}",
                        m->name, m->summary, m->authority, params, m->result, errors_of(m)));
    json_free(m->params);
}

static struct json *openrpc(void)
{
    struct json *methods = json_new_array(), *errors = json_new_object(), *told = json_new_array();
    each_method(add_openrpc, methods);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const struct err_info *e = err_info(codes[i]);
        if (codes[i] != ERR_OK)
            json_set(errors, e->name,
                     json_pack("{code:i message:s data:{code:s}}", e->rpc, e->name, e->name));
    }
    for (int type = 0; type < NOTICE_TYPES; type++) {
        const struct notification *n = notification_of((enum notice_type)type);
        if (n->method)
            json_push(told, json_pack("{name:s summary:s params:o}", n->method, n->summary,
                                      shape_schema(n->shape)));
    }
    return json_pack("{openrpc:'1.3.2' info:o methods:o components:{errors:o} x-notifications:o}",
                     info(), methods, errors, told);
}

/* --- JSON Schema ------------------------------------------------------------------------------ */

static void add_definition(struct json *into, const char *name, const char *part,
                           struct json *schema)
{
    auto_free char *full = mem_printf("%s.%s", name, part);
    json_set(into, full, schema);
}

static void add_schemas(struct json *into, const struct method *m)
{
    auto_free char *least = mem_printf("Least caller: %s.", m->authority);
    json_set_string(m->params, "description", least);
    add_definition(into, m->name, "params", m->params);
    add_definition(into, m->name, "result", m->result);
}

static struct json *json_schema(void)
{
    struct json *definitions = json_new_object();
    each_method(add_schemas, definitions);
    for (int type = 0; type < NOTICE_TYPES; type++) {
        const struct notification *n = notification_of((enum notice_type)type);
        if (n->method)
            add_definition(definitions, n->method, "notification", shape_schema(n->shape));
    }
    for (int type = 0; type < EVENT_TYPE_COUNT; type++)
        add_definition(definitions, event_name((enum event_type)type), "event",
                       event_schema((enum event_type)type));
    return json_pack("{$schema:s title:s description:s $defs:o}",
                     "https://json-schema.org/draft/2020-12/schema", PACKAGE_NAME,
                     "Contract " CONTRACT_VERSION " of tiro " PACKAGE_VERSION ".", definitions);
}

/* --- OpenAPI ---------------------------------------------------------------------------------- */

/* Adds a schema whose name has a dot in place of the slash. */
static void add_component(struct json *schemas, const char *of, const char *part,
                          struct json *schema)
{
    auto_free char *name = mem_printf("%s.%s", of, part);
    *strchr(name, '/') = '.';
    json_set(schemas, name, schema);
}

static void add_components(struct json *schemas, const struct method *m)
{
    if (m->operation) {
        json_set_string(m->params, "x-authority", m->authority);
        add_component(schemas, m->name, "params", m->params);
        add_component(schemas, m->name, "result", m->result);
    } else {
        json_free(m->params);
        json_free(m->result);
    }
}

/* Adds the requests of POST /rpc one by one, and the answers to any. */
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
        json_push(asked, json_pack("{type:'object' properties:{jsonrpc:{const:'2.0'} "
                                   "id:{type:['string' 'integer']} method:{const:s} params:o} "
                                   "required:['jsonrpc' 'method']}",
                                   o->name, reference(o->name, "params")));
        json_push(results, reference(o->name, "result"));
    }
    struct json *members = from_text(answer);
    json_set(members, "result", json_pack("{anyOf:o}", results));
    json_set(schemas, "request", json_pack("{oneOf:o}", asked));
    json_set(schemas, "answer", json_pack("{properties:o}", members));
}

/* Adds the data of the frames of a stream: events, by their type, and notices without a number. */
static void add_events(struct json *schemas)
{
    struct json *events = json_new_array(), *told = json_new_array();
    for (int type = 0; type < EVENT_TYPE_COUNT; type++) {
        const char *name = event_name((enum event_type)type);
        add_definition(schemas, "event", name, event_schema((enum event_type)type));
        json_push(events, reference("event", name));
    }
    json_push(told, reference(NULL, "event"));
    for (int type = 0; type < NOTICE_TYPES; type++) {
        const struct notification *n = notification_of((enum notice_type)type);
        if (!n->method || type == NOTICE_EVENT)
            continue;
        add_component(schemas, n->method, "notification", shape_schema(n->shape));
        json_push(told, reference(n->method, "notification"));
    }
    json_set(schemas, "event", json_pack("{oneOf:o}", events));
    json_set(schemas, "told", json_pack("{anyOf:o}", told));
}

static struct json *openapi(void)
{
    struct json *paths = json_new_object(), *schemas = json_new_object();
    each_method(add_components, schemas);
    add_envelope(schemas);
    add_events(schemas);
    json_set(schemas, "error", from_text(error_schema));
    for (const struct http_route *r = http_routes; r->path; r++) {
        const struct json *had = json_get(paths, r->path);
        struct json *path = had ? json_clone(had) : json_new_object();
        auto_free char *name = mem_strdup(r->method);
        for (char *c = name; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        json_set(path, name, openapi_method(r));
        json_set(paths, r->path, path);
    }
    return json_pack(
        "{openapi:'3.1.0' servers:[{url:s}] security:[{token:[]}] info:o paths:o "
        "components:{securitySchemes:{token:{type:'http' scheme:'bearer'} ticket:{type:'apiKey' "
        "in:'query' name:'ticket'}} responses:{error:{description:s content:o}} schemas:o}}",
        "http://127.0.0.1:8476", info(), paths, "It was not done; the status is the error's.",
        content("application/json", reference(NULL, "error")), schemas);
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
