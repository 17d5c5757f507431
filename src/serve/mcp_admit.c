#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "rpc/peer.h"
#include "serve/mcp_private.h"

#define META "io.modelcontextprotocol/"

const char *const mcp_versions[] = {"2026-07-28", "2025-11-25", "2025-06-18",
                                    "2025-03-26", "2024-11-05", NULL};

/* The version of a client of HTTP that names none; and the first version without batches. */
static const char assumed[] = "2025-03-26", without_batches[] = "2025-06-18";

static const char batches[] = "this version has no arrays of messages; send each by itself";

static const char *find_version(const char *name)
{
    for (size_t i = 0; name && mcp_versions[i]; i++)
        if (strcmp(mcp_versions[i], name) == 0)
            return mcp_versions[i];
    return NULL;
}

const char *mcp_version_for(const char *wanted)
{
    const char *known = find_version(wanted);
    return known && known != mcp_versions[0] ? known : mcp_versions[1];
}

void mcp_write_versions(struct json_out *o)
{
    json_out_open(o, '[');
    for (size_t i = 0; mcp_versions[i]; i++)
        json_out_string(o, mcp_versions[i]);
    json_out_close(o, ']');
}

/* --- refusals --------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static bool refuse(struct mcp_refusal *out, int status,
                                                         int code, const char *format, ...)
{
    va_list args;
    *out = (struct mcp_refusal){.status = status, .code = code};
    va_start(args, format);
    vsnprintf(out->message, sizeof out->message, format, args);
    va_end(args);
    size_t len = strlen(out->message);
    out->message[len - utf8_incomplete_tail(out->message, len)] = '\0';
    return false;
}

static bool refuse_version(struct mcp_refusal *out, const char *requested)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    json_out_name(&o, "supported");
    mcp_write_versions(&o);
    json_out_member(&o, "requested", requested);
    json_out_close(&o, '}');
    refuse(out, 400, MCP_UNSUPPORTED_VERSION,
           "Unsupported protocol version; use one of \"supported\"");
    out->data = buf_take(&text);
    return false;
}

/* --- 2026-07-28 --------------------------------------------------------------------------------
 */

/* A value that does not fit into a header comes as =?base64?…?=. */
static bool repeats(const char *name, const char *header, const char *value,
                    struct mcp_refusal *refusal)
{
    static const char prefix[] = "=?base64?", suffix[] = "?=";
    size_t len = header ? strlen(header) : 0, before = strlen(prefix), behind = strlen(suffix);
    if (!header)
        return refuse(refusal, 400, MCP_HEADER_MISMATCH,
                      "Header mismatch: %s is missing; repeat the message's value", name);
    bool says = strcmp(header, value) == 0;
    if (len >= before + behind && strncmp(header, prefix, before) == 0 &&
        strcmp(header + len - behind, suffix) == 0) {
        auto_free char *encoded = base64_encode((const unsigned char *)value, strlen(value));
        size_t size = len - before - behind;
        says = strlen(encoded) == size && strncmp(header + before, encoded, size) == 0;
    }
    return says ||
           refuse(refusal, 400, MCP_HEADER_MISMATCH,
                  "Header mismatch: %s is not what the message says; repeat its value", name);
}

/* Mcp-Method repeats the method, Mcp-Name the member that some methods are about. */
static bool admit_modern(const struct mcp_request *r, const char *version,
                         struct mcp_refusal *refusal)
{
    static const char *const members[][2] = {
        {"tools/call", "name"}, {"prompts/get", "name"}, {"resources/read", "uri"}};
    const struct json *meta = json_get(r->params, "_meta");
    const char *name = NULL;
    if (r->batch)
        return refuse(refusal, 400, RPC_INVALID_REQUEST, batches);
    if (!version)
        return refuse(refusal, 400, RPC_INVALID_PARAMS,
                      "\"_meta\" lacks \"" META "protocolVersion\"; give a string");
    if (r->headers &&
        !repeats("MCP-Protocol-Version", r->headers->protocol_version, version, refusal))
        return false;
    if (strcmp(version, mcp_versions[0]) != 0)
        return refuse_version(refusal, version);
    if (json_type(json_get(meta, META "clientCapabilities")) != JSON_OBJECT)
        return refuse(refusal, 400, RPC_INVALID_PARAMS,
                      "\"_meta\" lacks \"" META "clientCapabilities\"; give an object");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i][0], r->method) == 0)
            name = json_get_string(r->params, members[i][1]);
    return !r->headers || (repeats("Mcp-Method", r->headers->method, r->method, refusal) &&
                           (!name || repeats("Mcp-Name", r->headers->name, name, refusal)));
}

bool mcp_admit(const struct mcp_request *r, bool *modern, struct mcp_refusal *refusal)
{
    const struct json *said = json_get(json_get(r->params, "_meta"), META "protocolVersion");
    const char *header = r->headers ? r->headers->protocol_version : NULL;
    bool begins = strcmp(r->method, "initialize") == 0;
    *modern = said || (header && strcmp(header, mcp_versions[0]) == 0);
    if (!said && header && !find_version(header))
        return refuse_version(refusal, header);
    if (*modern)
        return admit_modern(r, json_string(said), refusal);
    const char *version = header ? header : r->agreed;
    if (r->headers && !version)
        version = assumed;
    if (!version && !begins && strcmp(r->method, "ping") != 0)
        return refuse(
            refusal, 400, RPC_INVALID_PARAMS,
            "nothing says which version this is; begin with initialize, or give \"_meta\" "
            "with \"" META "protocolVersion\"");
    if (r->batch && (begins || !version || strcmp(version, without_batches) >= 0))
        return refuse(refusal, 400, RPC_INVALID_REQUEST, batches);
    return true;
}

static const char scheme[] = "tiro://session/", json_ending[] = ".json";

bool mcp_uri_read(const char *uri, char **reference, enum mcp_form *form)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    size_t before = strlen(scheme), ending = strlen(json_ending);
    *reference = NULL;
    if (strncmp(uri, scheme, before) != 0)
        return false;
    const char *rest = uri + before;
    size_t len = strlen(rest);
    *form = len > ending && strcmp(rest + len - ending, json_ending) == 0 ? MCP_JSON : MCP_MARKDOWN;
    len -= *form == MCP_JSON ? ending : 0;
    for (size_t i = 0; i < len; i++) {
        int byte = url_escaped_byte(rest + i, len - i);
        if (rest[i] == '/' || (rest[i] == '%' && byte < 0))
            return false;
        buf_addch(&out, byte < 0 ? rest[i] : (char)byte);
        i += byte < 0 ? 0 : 2;
    }
    if (out.len > 0 && strlen(out.data) == out.len && utf8_valid(out.data, out.len))
        *reference = buf_take(&out);
    return *reference;
}

char *mcp_uri_of(const char *session_id, enum mcp_form form)
{
    auto_free char *escaped = url_escape(session_id);
    return mem_printf("%s%s%s", scheme, escaped, form == MCP_JSON ? json_ending : "");
}
