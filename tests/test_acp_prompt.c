/* Prompts of clients of the Agent Client Protocol. */
#include "serve/acp_private.h"
#include "tests/suite.h"

/* ' stands for ". */
static bool read(const char *text, struct acp_prompt *out, struct error *e)
{
    char *blocks = support_json(text);
    struct json *v = json_parse(blocks, strlen(blocks), NULL);
    assert_non_null(v);
    bool ok = acp_prompt_read(v, out, e);
    if (!ok || out->images.len == 0) /* images borrow of it */
        json_free(v);
    return ok;
}

static void expect_text(const char *blocks, const char *text)
{
    AUTO(acp_prompt_release) struct acp_prompt p = {0};
    struct error e = {0};
    assert_ok(read(blocks, &p, &e), e);
    assert_string_equal(p.text.data, text);
    assert_int_equal(p.images.len, 0);
}

static void expect_error(const char *blocks, const char *text)
{
    AUTO(acp_prompt_release) struct acp_prompt p = {0};
    struct error e = {0};
    assert_err(read(blocks, &p, &e), e, ERR_USAGE);
    if (!strstr(e.text, text))
        fail_msg("%s", e.text);
}

TEST(texts_and_links_are_one_message)
{
    expect_text(
        "[{'type':'text','text':'Explain '},"
        "{'type':'resource_link','name':'a b.c','uri':'file:///x/a%20b.c#L3:5'},"
        "{'type':'text','text':', please.'}]",
        "Explain `/x/a b.c#L3:5`, please.");
    expect_text("[{'type':'resource_link','name':'x','uri':'https://host/a%20b'}]",
                "`https://host/a%20b`");
}

TEST(embedded_files_come_first)
{
    expect_text(
        "[{'type':'text','text':'What is '},"
        "{'type':'resource','resource':{'uri':'file:///x/a.c','text':'int a;\\n'}},"
        "{'type':'text','text':'?'}]",
        "/x/a.c:\n```\nint a;\n```\n\nWhat is `/x/a.c`?");
}

TEST(images_go_along)
{
    AUTO(acp_prompt_release) struct acp_prompt p = {0};
    struct error e = {0};
    char *blocks = support_json(
        "[{'type':'image','data':'aGk=','mimeType':'image/png'},"
        "{'type':'resource','resource':{'uri':'file:///y.gif','blob':'R0lG'"
        ",'mimeType':'image/gif'}},{'type':'text','text':'x'}]");
    AUTO(json_free_local) struct json *v = json_parse(blocks, strlen(blocks), NULL);
    assert_true(acp_prompt_read(v, &p, &e));
    assert_string_equal(p.text.data, "x");
    assert_int_equal(p.images.len, 2);
    assert_string_equal(p.images.items[0].data, "aGk=");
    assert_string_equal(p.images.items[1].media_type, "image/gif");
}

TEST(what_does_not_fit_is_named)
{
    expect_error("{}", "\"prompt\"");
    expect_error("[]", "\"prompt\"");
    expect_error("[{'type':'text','text':'a'},{'type':'audio','data':'','mimeType':'audio/wav'}]",
                 "prompt[1]");
    expect_error("[3]", "prompt[0]");
    expect_error("[{'type':'text'}]", "\"text\"");
    expect_error("[{'type':'text','text':3}]", "\"text\"");
    expect_error("[{'type':'image','data':'x'}]", "\"mimeType\"");
    expect_error("[{'type':'resource_link','name':'x'}]", "\"uri\"");
    expect_error("[{'type':'resource','resource':{'uri':'x'}}]", "\"blob\"");
    expect_error("[{'type':'resource','resource':{'uri':'x','blob':'','mimeType':'a/pdf'}}]",
                 "neither text nor an image");
}

TEST(addresses_and_paths)
{
    static const char *const rows[][2] = {
        {"file:///a/b", "/a/b"},
        {"file://host/a", "/a"},
        {"file:///a%C3%A4%25", "/a\xc3\xa4%"},
        {"file:///a%0ab%00", "/a%0ab%00"},
        {"file:///a%2", "/a%2"},
        {"file:///a%zz", "/a%zz"},
        {"file://", "file://"},
        {"file:///a%e4", "file:///a%e4"},
        {"zed:///agent/x%20y", "zed:///agent/x%20y"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_free char *path = acp_uri_to_path(rows[i][0]);
        assert_string_equal(path, rows[i][1]);
    }
    auto_free char *uri = acp_path_to_uri("/a b/\xc3\xa4.png");
    assert_string_equal(uri, "file:///a%20b/%C3%A4.png");
    auto_free char *back = acp_uri_to_path(uri);
    assert_string_equal(back, "/a b/\xc3\xa4.png");
}
