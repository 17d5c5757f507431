/* Whether a request may be looked at: which version of the protocol it is of, and what that wants
 * of its members and its headers. Pure. */
#ifndef SERVE_MCP_ADMIT_H
#define SERVE_MCP_ADMIT_H

#include <stdbool.h>

#include "base/json.h"
#include "base/json_out.h"
#include "serve/mcp.h"

/* Besides those of JSON-RPC. */
enum {
    MCP_RESOURCE_NOT_FOUND = -32002, /* until 2025-11-25; RPC_INVALID_PARAMS from then on */
    MCP_HEADER_MISMATCH = -32020,
    MCP_UNSUPPORTED_VERSION = -32022
};

/* Newest first; the first is of the era without a handshake. NULL ends them. */
extern const char *const mcp_versions[];
/* The one that initialize agrees on, where it was asked for `wanted`. Static. */
const char *mcp_version_for(const char *wanted);
/* The array of them. */
void mcp_write_versions(struct json_out *o);

struct mcp_request {
    const char *method;
    const struct json *params;
    bool batch;                        /* it came in an array */
    const struct mcp_headers *headers; /* NULL: no HTTP */
    const char *agreed; /* version of an initialize before it; NULL: there was none */
};

struct mcp_refusal {
    int status; /* of HTTP */
    int code;
    char message[256];
    char *data; /* JSON, the caller's to free; NULL: none */
};

/* False: `refusal` says why. `modern`: it is of 2026-07-28. */
bool mcp_admit(const struct mcp_request *r, bool *modern, struct mcp_refusal *refusal);

#endif
