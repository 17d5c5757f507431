#include "serve/http_routes.h"

#include <string.h>

#include "base/mem.h"

static const struct http_route routes[] = {
    {"POST", "/sessions", HTTP_OPERATION, "session/create", .status = 201},
    {"GET", "/sessions", HTTP_OPERATION, "session/list", .status = 200},
    {"GET", "/sessions/{session_id}", HTTP_OPERATION, "session/read", .status = 200},
    {"DELETE", "/sessions/{session_id}", HTTP_OPERATION, "session/archive", .status = 200},
    {"GET", "/sessions/{session_id}/history", HTTP_OPERATION, "session/history", .status = 200},
    {"POST", "/sessions/{session_id}/messages", HTTP_OPERATION, "turn/start", .status = 200,
     .async = true},
    {"POST", "/sessions/{session_id}/interrupt", HTTP_OPERATION, "turn/interrupt", .status = 200},
    {"POST", "/sessions/{session_id}/compact", HTTP_OPERATION, "compaction/run", .status = 200},
    {"GET", "/sessions/{session_id}/events", HTTP_EVENTS, .status = 200,
     .summary = "Streams the events of a session as they happen (text/event-stream)."},
    {"GET", "/events", HTTP_EVENTS, .status = 200,
     .summary = "Streams what happens in all sessions (text/event-stream)."},
    {"POST", "/tickets", HTTP_TICKET, .status = 201,
     .summary = "Gives a ticket that opens one stream of events in place of the token."},
    {"GET", "/memory", HTTP_OPERATION, "memory/search", .status = 200, .q = "query"},
    {"GET", "/capabilities", HTTP_OPERATION, "capabilities/get", .status = 200},
    {"GET", "/config", HTTP_OPERATION, "config/get", .status = 200},
    {"GET", "/models", HTTP_OPERATION, "models/list", .status = 200},
    {"GET", "/health", HTTP_HEALTH, .status = 200, .summary = "Tells that the server answers."},
    {"GET", "/openapi.json", HTTP_DESCRIPTION, .status = 200,
     .summary = "Gives this description."},
    {"POST", "/mcp", HTTP_MCP, .status = 200,
     .summary = "Takes a message of the Model Context Protocol."},
    {"DELETE", "/mcp", HTTP_MCP, .status = 204,
     .summary = "Ends a session of the Model Context Protocol."},
    {"POST", "/rpc", HTTP_RPC, .status = 200,
     .summary = "Calls any operation, as JSON-RPC 2.0; batches are answered as batches."},
};

const struct http_route *http_route_at(size_t index)
{
    return index < sizeof routes / sizeof *routes ? &routes[index] : NULL;
}

static bool is_variable(const char *part, size_t len)
{
    return len > 2 && part[0] == '{' && part[len - 1] == '}';
}

static bool fits(const char *part, size_t len, const char *segment)
{
    return is_variable(part, len) ? *segment != '\0'
                                  : strlen(segment) == len && memcmp(part, segment, len) == 0;
}

/* Calls `use` (NULL: nothing) with each segment that fits its part of the pattern. */
static bool match(const char *pattern, const struct http_target *t,
                  void (*use)(struct json *params, const char *part, size_t len,
                              const char *segment),
                  struct json *params)
{
    size_t i = 0;
    for (const char *part = pattern + 1;; i++) {
        size_t len = strcspn(part, "/");
        if (i == t->path.len || !fits(part, len, t->path.items[i]))
            return false;
        if (use)
            use(params, part, len, t->path.items[i]);
        part += len;
        if (!*part++)
            return i + 1 == t->path.len;
    }
}

static void add_variable(struct json *params, const char *part, size_t len, const char *segment)
{
    if (!is_variable(part, len))
        return;
    char *name = mem_strndup(part + 1, len - 2);
    json_set_string(params, name, segment);
    free(name);
}

static bool serves(const struct http_route *r, const char *method)
{
    return strcmp(r->method, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(r->method, "GET") == 0 && r->kind != HTTP_EVENTS);
}

const struct http_route *http_route_find(const char *method, const struct http_target *t,
                                         struct json *params, int *status)
{
    *status = 404;
    const struct http_route *r;
    for (size_t i = 0; (r = http_route_at(i)) != NULL; i++) {
        if (!match(r->path, t, NULL, NULL))
            continue;
        *status = 405;
        if (serves(r, method)) {
            match(r->path, t, add_variable, params);
            return r;
        }
    }
    return NULL;
}

void http_route_allow(const struct http_target *t, struct buf *out)
{
    const struct http_route *r;
    for (size_t i = 0; (r = http_route_at(i)) != NULL; i++) {
        if (!match(r->path, t, NULL, NULL))
            continue;
        buf_addf(out, "%s%s", out->len ? ", " : "", r->method);
        if (serves(r, "HEAD"))
            buf_addstr(out, ", HEAD");
    }
}
