#include "serve/http_describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/contract.h"
#include "serve/http_routes.h"

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
    [HTTP_HEALTH] = "{\"type\":\"object\",\"properties\":{\"status\":{\"const\":\"ok\"},\"version\":{"
                    "\"type\":\"string\"},\"contract_version\":{\"type\":\"string\"}},\"required\":["
                    "\"status\",\"version\",\"contract_version\"]}",
    [HTTP_TICKET] = "{\"type\":\"object\",\"properties\":{\"ticket\":{\"type\":\"string\"},\"seconds\":"
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
    "\"application/json\":{\"schema\":{\"type\":\"object\",\"properties\":{\"session_id\":{\"type\":"
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
    char *name =
        r->operation ? mem_strdup(r->operation) : mem_printf("%s%s", r->method, r->path), *to = name;
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

static struct json *method(const struct http_route *r)
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
    json_set(path, name, method(r));
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
