/* Requests of the Model Context Protocol that are admitted, and the names of resources. */
#include "serve/mcp_private.h"
#include "tests/suite.h"

#define CAPABLE "'io.modelcontextprotocol/clientCapabilities':{}"
#define OF(version) "'io.modelcontextprotocol/protocolVersion':'" version "'"
#define META(members) "{'_meta':{" members "}}"
#define MODERN META(OF("2026-07-28") "," CAPABLE)
#define CALL "{'name':'a','_meta':{" OF("2026-07-28") "," CAPABLE "}}"

static const struct mcp_headers no_headers,
    of_2025 = {.protocol_version = "2025-06-18"}, of_nobody = {.protocol_version = "1900-01-01"},
    list = {.protocol_version = "2026-07-28", .method = "tools/list"},
    call = {.protocol_version = "2026-07-28", .method = "tools/call", .name = "a"},
    coded = {.protocol_version = "2026-07-28", .method = "tools/call", .name = "=?base64?YQ==?="},
    miscoded = {.protocol_version = "2026-07-28", .method = "tools/call", .name = "=?base64?YQ?="},
    nameless = {.protocol_version = "2026-07-28", .method = "tools/call"},
    upper = {.protocol_version = "2026-07-28", .method = "TOOLS/LIST"};

/* `code` 0: it is looked at. */
static const struct {
    const char *method, *params;
    const struct mcp_headers *headers;
    const char *agreed;
    bool batch, modern;
    int code;
} cases[] = {
    /* lines: as the request says, else as initialize did */
    {"tools/list", MODERN, NULL, NULL, false, true, 0},
    {"tools/list", MODERN, NULL, "2025-11-25", false, true, 0},
    {"tools/list", NULL, NULL, "2025-11-25", false, false, 0},
    {"tools/list", NULL, NULL, NULL, false, false, -32602},
    {"server/discover", "{}", NULL, NULL, false, false, -32602},
    {"initialize", "{}", NULL, NULL, false, false, 0},
    {"ping", NULL, NULL, NULL, false, false, 0},
    {"tools/list", META(OF("2026-07-28")), NULL, NULL, false, true, -32602},
    {"tools/list", META(OF("2026-07-28") ",'io.modelcontextprotocol/clientCapabilities':1"), NULL,
     NULL, false, true, -32602},
    {"tools/list", META("'io.modelcontextprotocol/protocolVersion':7," CAPABLE), NULL, NULL, false,
     true, -32602},
    {"tools/list", META(OF("2030-01-01") "," CAPABLE), NULL, NULL, false, true, -32022},
    {"tools/list", META(OF("2025-11-25") "," CAPABLE), NULL, NULL, false, true, -32022},
    {"tools/list", "[1]", NULL, NULL, false, false, -32602},
    /* arrays of messages were in two versions */
    {"tools/list", NULL, NULL, "2024-11-05", true, false, 0},
    {"tools/list", NULL, NULL, "2025-03-26", true, false, 0},
    {"tools/list", NULL, NULL, "2025-06-18", true, false, -32600},
    {"tools/list", NULL, NULL, "2025-11-25", true, false, -32600},
    {"tools/list", MODERN, NULL, NULL, true, true, -32600},
    {"initialize", "{}", NULL, NULL, true, false, -32600},
    {"tools/list", NULL, &no_headers, NULL, true, false, 0},
    /* HTTP: by the header, which repeats the request */
    {"tools/list", NULL, &no_headers, NULL, false, false, 0},
    {"tools/list", NULL, &of_2025, NULL, false, false, 0},
    {"tools/list", NULL, &of_nobody, NULL, false, false, -32022},
    {"tools/list", MODERN, &list, NULL, false, true, 0},
    {"tools/list", "{}", &list, NULL, false, true, -32602},
    {"tools/list", MODERN, &no_headers, NULL, false, true, -32020},
    {"tools/list", MODERN, &of_2025, NULL, false, true, -32020},
    {"tools/list", META(OF("2030-01-01") "," CAPABLE), &list, NULL, false, true, -32020},
    {"tools/list", MODERN, &call, NULL, false, true, -32020},
    {"tools/list", MODERN, &upper, NULL, false, true, -32020},
    {"tools/call", CALL, &call, NULL, false, true, 0},
    {"tools/call", CALL, &coded, NULL, false, true, 0},
    {"tools/call", CALL, &miscoded, NULL, false, true, -32020},
    {"tools/call", CALL, &nameless, NULL, false, true, -32020},
    {"tools/call", MODERN, &nameless, NULL, false, true, 0}, /* the method says that it has none */
};

static int admit(size_t i, bool *modern, struct mcp_refusal *refusal)
{
    const char *text = cases[i].params ? support_json(cases[i].params) : "null";
    AUTO(json_free_local) struct json *params = json_parse(text, strlen(text), NULL);
    const struct mcp_request r = {cases[i].method, cases[i].params ? params : NULL, cases[i].batch,
                                  cases[i].headers, cases[i].agreed};
    *refusal = (struct mcp_refusal){0};
    bool ok = mcp_admit(&r, modern, refusal);
    assert_int_equal(ok, refusal->code == 0);
    return refusal->code;
}

TEST(a_request_is_of_the_version_that_it_says)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mcp_refusal refusal;
        bool modern;
        int code = admit(i, &modern, &refusal);
        if (code != cases[i].code || modern != cases[i].modern)
            fail_msg("case %zu: %d \"%s\"%s", i, code, refusal.message, modern ? ", modern" : "");
        if (code)
            assert_int_equal(refusal.status, 400);
        free(refusal.data);
    }
}

TEST(who_asks_for_another_version_is_told_which_there_are)
{
    struct mcp_refusal refusal;
    const struct mcp_request r = {"tools/list", NULL, false, &of_nobody, NULL};
    bool modern;
    assert_false(mcp_admit(&r, &modern, &refusal));
    assert_string_equal(refusal.data, support_json("{'supported':['2026-07-28','2025-11-25',"
                                                   "'2025-06-18','2025-03-26','2024-11-05'],"
                                                   "'requested':'1900-01-01'}"));
    free(refusal.data);
}

static const struct {
    const char *uri, *reference; /* NULL: it is none */
    enum mcp_form form;
} uris[] = {
    {"tiro://session/01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8057",
     MCP_MARKDOWN},
    {"tiro://session/last.json", "last", MCP_JSON},
    {"tiro://session/my%20trip%2Fto%20R%c3%B3ma", "my trip/to Róma", MCP_MARKDOWN},
    {"tiro://session/.json", ".json", MCP_MARKDOWN},
    {"tiro://session/", NULL, MCP_MARKDOWN},
    {"tiro://session/a/b", NULL, MCP_MARKDOWN},
    {"tiro://session/%", NULL, MCP_MARKDOWN},
    {"tiro://session/%4", NULL, MCP_MARKDOWN},
    {"tiro://session/%zz", NULL, MCP_MARKDOWN},
    {"tiro://session/a%00b", NULL, MCP_MARKDOWN},
    {"tiro://session/%ff", NULL, MCP_MARKDOWN},
    {"tiro://memory/a", NULL, MCP_MARKDOWN},
    {"file:///etc/passwd", NULL, MCP_MARKDOWN},
    {"", NULL, MCP_MARKDOWN},
};

TEST(a_resource_names_a_session_and_how_it_is_given)
{
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        auto_free char *reference = NULL;
        enum mcp_form form;
        bool ok = mcp_uri_read(uris[i].uri, &reference, &form);
        if (ok != !!uris[i].reference ||
            (ok && (strcmp(reference, uris[i].reference) != 0 || form != uris[i].form)))
            fail_msg("%s: %s", uris[i].uri, ok ? reference : "none");
    }
}

TEST(what_a_resource_is_called_is_read_again)
{
    auto_free char *uri = mcp_uri_of("a b/ü%", MCP_JSON), *reference = NULL;
    enum mcp_form form;
    assert_string_equal(uri, "tiro://session/a%20b%2F%C3%BC%25.json");
    assert_true(mcp_uri_read(uri, &reference, &form));
    assert_string_equal(reference, "a b/ü%");
    assert_int_equal(form, MCP_JSON);
}
