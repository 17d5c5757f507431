/* Reads the list of a server's tools, and the results of calls, for the model. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/entropy.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/client_private.h"
#include "provider/outgoing.h"

char *mcp_clean(const char *text, size_t max, enum utf8_clean_mode mode)
{
    if (!text)
        return NULL;
    struct buf out = BUF_INIT;
    AUTO(buf_release) struct buf cut = BUF_INIT;
    utf8_add_cut(&cut, text, strlen(text), max);
    utf8_clean(&out, cut.data, cut.len, mode);
    return buf_take(&out);
}

/* The schema as JSON; NULL: it is none that a model can be given. Providers want an object of
 * arguments; all else is the server's to check. */
static char *schema_of(const struct json *tool)
{
    const struct json *given = json_get(tool, "inputSchema");
    const char *type = json_get_string(given, "type");
    if (json_type(given) != JSON_OBJECT || (type && strcmp(type, "object") != 0))
        return NULL;
    AUTO(json_free_local) struct json *schema = json_clone(given);
    if (!type)
        json_set_string(schema, "type", "object");
    if (!json_get(schema, "properties"))
        json_set(schema, "properties", json_new_object());
    return json_print(schema);
}

/* Whether the arguments that HTTP repeats in headers (x-mcp-header) can be: the specification wants
 * a tool with another one left out. */
static bool headers_fit(const struct json *properties)
{
    static const char token[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        "0123456789!#$%&'*+-.^_`|~";
    for (const struct json *p = json_first(properties); p; p = json_next(p)) {
        const struct json *header = json_get(p, MCP_HEADER);
        const char *name = json_string(header), *type = json_get_string(p, "type");
        if (!header)
            continue;
        if (!name || !*name || name[strspn(name, token)] || !type ||
            (strcmp(type, "string") != 0 && strcmp(type, "integer") != 0 &&
             strcmp(type, "boolean") != 0))
            return false;
        for (const struct json *q = json_first(properties); q != p; q = json_next(q)) {
            const char *other = json_get_string(q, MCP_HEADER);
            if (other && strcasecmp(other, name) == 0)
                return false;
        }
    }
    return true;
}

void mcp_take_tools(struct mcp_client *c, const struct json *tools)
{
    for (const struct json *t = json_first(tools); t; t = json_next(t)) {
        const char *name = json_get_string(t, "name");
        const struct json *hints = json_get(t, "annotations");
        bool fits =
            name && *name && strlen(name) <= MCP_NAME_MAX && c->found.tools.len < MCP_TOOLS_MAX;
        for (size_t i = 0; fits && i < c->found.tools.len; i++)
            fits = strcmp(c->found.tools.items[i].name, name) != 0;
        if (fits && c->server->url && c->era == MCP_ERA_MODERN)
            fits = headers_fit(json_get(json_get(t, "inputSchema"), "properties"));
        char *schema = fits ? schema_of(t) : NULL;
        size_t len = schema ? strlen(schema) : 0;
        if (!schema || len > MCP_SCHEMA_MAX || c->schema_bytes + len > MCP_SCHEMAS_MAX) {
            free(schema);
            c->found.left_out++;
            continue;
        }
        c->schema_bytes += len;
        const char *title = json_get_string(t, "title");
        struct mcp_tool_info info = {
            .name = mem_strdup(name),
            .title = mcp_clean(title ? title : json_get_string(hints, "title"), MCP_NAME_MAX,
                               UTF8_ONE_LINE),
            .description =
                mcp_clean(json_get_string(t, "description"), MCP_DESCRIPTION_MAX, UTF8_MULTILINE),
            .schema = schema,
            .off = !mcp_server_offers(c->server, name),
            .reads_only = json_get_bool(hints, "readOnlyHint", false),
            .destroys = json_get_bool(hints, "destructiveHint", false),
            .repeats = json_get_bool(hints, "idempotentHint", false),
            .open_world = json_get_bool(hints, "openWorldHint", false),
        };
        vec_push(&c->found.tools, info);
    }
}

/* The result that is being read. */
struct reading {
    struct buf text;
    struct json *images; /* NULL: they are not wanted */
};

/* "[image 64×64 png 1 kB]" of an image that goes with the text, else "[image: image/png, 1234
 * bytes, not shown]"; `encoded`: Base64. */
static void add_data(struct reading *r, const char *kind, const struct json *item,
                     const char *encoded)
{
    enum { IMAGES_MAX = 20 };
    AUTO(buf_release) struct buf bytes;
    struct buf *out = &r->text;
    struct image_facts facts;
    buf_init(&bytes, IMAGE_MAX_BYTES);
    if (r->images && encoded && json_len(r->images) < IMAGES_MAX &&
        base64_decode(encoded, &bytes) && image_facts(bytes.data, bytes.len, &facts)) {
        auto_free char *size = image_size_text(&facts);
        buf_addf(out, "[image %s]", size);
        json_push(r->images, json_pack("{data:s}", encoded));
        return;
    }
    auto_free char *type = mcp_clean(json_get_string(item, "mimeType"), 80, UTF8_ONE_LINE);
    size_t len = encoded ? strlen(encoded) : 0;
    buf_addf(out, "[%s: %s, %zu bytes, not shown]", kind, type ? type : "unknown type",
             len / 4 * 3);
}

static void add_resource(struct reading *r, const struct json *resource)
{
    struct buf *out = &r->text;
    const char *text = json_get_string(resource, "text"), *blob = json_get_string(resource, "blob");
    const char *uri = json_get_string(resource, "uri");
    buf_addf(out, "[resource %s]", uri ? uri : "without a URI");
    buf_addch(out, '\n');
    if (text)
        buf_addstr(out, text);
    else
        add_data(r, "data", resource, blob);
}

static void add_link(struct buf *out, const struct json *link)
{
    const char *uri = json_get_string(link, "uri"), *name = json_get_string(link, "name");
    const char *about = json_get_string(link, "description");
    buf_addf(out, "[link to a resource: %s", uri ? uri : "without a URI");
    if (name)
        buf_addf(out, " (%s)", name);
    if (about)
        buf_addf(out, ": %s", about);
    buf_addch(out, ']');
}

struct mcp_outcome mcp_result(const struct json *result, bool images)
{
    AUTO(json_free_local) struct json *found = json_new_array();
    struct reading r = {.text = BUF_INIT, .images = images ? found : NULL};
    struct buf *out = &r.text;
    const struct json *structured = json_get(result, "structuredContent");
    bool text = false;
    for (const struct json *i = json_first(json_get(result, "content")); i; i = json_next(i)) {
        const char *type = json_get_string(i, "type");
        type = type ? type : "";
        if (out->len > 0)
            buf_addch(out, '\n');
        if (strcmp(type, "text") == 0) {
            text = true;
            buf_addstr(out, json_get_string(i, "text") ? json_get_string(i, "text") : "");
        } else if (strcmp(type, "image") == 0 || strcmp(type, "audio") == 0) {
            add_data(&r, type, i, json_get_string(i, "data"));
        } else if (strcmp(type, "resource_link") == 0) {
            add_link(out, i);
        } else if (strcmp(type, "resource") == 0) {
            add_resource(&r, json_get(i, "resource"));
        } else {
            buf_addstr(out, "[content of an unknown type]");
        }
    }
    /* The text is the same data, for clients that read no other. */
    if (structured && !text) {
        auto_free char *json = json_print(structured);
        bool repeats = false; /* an image, of which the text has a word */
        for (const struct json *i = json_first(found); i && !repeats; i = json_next(i))
            repeats = strstr(json, json_get_string(i, "data")) != NULL;
        if (!repeats)
            buf_addf(out, "%s%s", out->len > 0 ? "\n" : "", json);
    }
    if (out->len == 0)
        buf_addstr(out, "(no content)");
    struct mcp_outcome outcome = {buf_take(out), NULL, json_get_bool(result, "isError", false)};
    if (json_first(found)) {
        outcome.images = found;
        found = NULL;
    }
    return outcome;
}
