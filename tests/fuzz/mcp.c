/* The Model Context Protocol: admission of requests, and the resources that addresses name. The
 * first line is the request's "params", the others are the headers' values. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "serve/mcp_private.h"
#include "tests/fuzz/fuzz.h"

/* The next line of the text, which is cut there; NULL where it is empty. */
static char *take_line(char **text)
{
    char *line = *text, *end = line + strcspn(line, "\n");
    *text = *end ? end + 1 : end;
    *end = '\0';
    return *line ? line : NULL;
}

static void check_admission(const struct json *params, const struct mcp_headers *headers,
                            bool batch)
{
    static const char *const methods[] = {"initialize", "tools/call", "resources/read", "x"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct mcp_request r = {methods[i], params, batch, headers,
                                      headers ? NULL : "2025-03-26"};
        struct mcp_refusal refusal = {0};
        bool modern;
        bool ok = mcp_admit(&r, &modern, &refusal);
        FUZZ_CHECK(ok || (refusal.code < 0 && refusal.status == 400));
        FUZZ_CHECK(ok || fuzz_is_clean(refusal.message, strlen(refusal.message), false));
        if (refusal.data) {
            struct json *data = json_parse(refusal.data, strlen(refusal.data), NULL);
            FUZZ_CHECK(json_get_string(data, "requested"));
            json_free(data);
        }
        free(refusal.data);
    }
}

static void check_address(const char *uri)
{
    char *reference, *again;
    enum mcp_form form, same;
    if (!mcp_uri_read(uri, &reference, &form))
        return;
    FUZZ_CHECK(*reference);
    char *made = mcp_uri_of(reference, form);
    FUZZ_CHECK(mcp_uri_read(made, &again, &same));
    if (form == MCP_JSON) {
        FUZZ_CHECK(same == MCP_JSON);
        FUZZ_CHECK_SAME(again, reference);
    }
    free(made);
    free(again);
    free(reference);
}

int fuzz_mcp(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text;
    char *first = take_line(&rest);
    struct json *params = first ? json_parse_foreign(first, strlen(first), NULL) : NULL;
    struct mcp_headers headers;
    headers.protocol_version = take_line(&rest);
    headers.method = take_line(&rest);
    headers.name = take_line(&rest);
    headers.session = NULL;
    headers.takes_json = headers.takes_events = true;
    check_admission(params, NULL, false);
    check_admission(params, &headers, true);
    check_admission(params, &headers, false);
    check_address(rest);
    json_free(params);
    free(text);
    return 0;
}
