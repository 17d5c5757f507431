/* The tool fetch_url: the URLs and addresses that it refuses, redirects, limits, and the text of
 * what it fetches. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "agent/tool.h"
#include "base/clock.h"
#include "base/json.h"
#include "provider/http.h"
#include "tests/raw_server.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "tests/workplace.h"

static struct raw_server *server;

static int teardown(void **state)
{
    if (server)
        raw_server_stop(server);
    server = NULL;
    return workplace_teardown(state);
}

/* `allowed`: the server by host and port. */
static void serve(const struct raw_reply *replies, size_t count, bool allowed)
{
    if (server)
        raw_server_stop(server);
    server = raw_server_start(replies, count);
    place.tools.host.fetch_allow = allowed ? support_text("%s", raw_server_url(server) + 7) : NULL;
}

static const char *fetch_url(const char *url, bool want_error)
{
    char *args = support_keep(workplace_args("url", url, NULL));
    return workplace_call("fetch_url", args, want_error);
}

static const char *fetch(const char *path, bool want_error)
{
    return fetch_url(support_text("%s%s", raw_server_url(server), path), want_error);
}

static const char *fetch_answer(const char *begin, bool want_error)
{
    const struct raw_reply reply = {.begin = begin, .times = 1, .close = true};
    serve(&reply, 1, true);
    return fetch("/a", want_error);
}

static char *grant_of(const char *url)
{
    AUTO(json_free_local) struct json *args = json_new_object();
    json_set_string(args, "url", url);
    const struct tool_call call = {.tool = toolset_find(&place.tools, "fetch_url"), .args = args};
    return tool_call_grant(&call);
}

#define TYPE(type) "HTTP/1.1 200 OK\r\nContent-Type: " type "\r\nConnection: close\r\n\r\n"
#define LOCATION(url)                                                                              \
    "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: " url "\r\n\r\n"

FIXTURE(workplace_setup, teardown);

TEST(only_public_addresses_pass)
{
    static const struct {
        const char *address;
        bool public;
    } rows[] = {
        {"1.1.1.1", true},
        {"9.255.255.255", true},
        {"11.0.0.0", true},
        {"93.184.215.14", true},
        {"100.63.255.255", true},
        {"100.128.0.0", true},
        {"172.15.255.255", true},
        {"172.32.0.1", true},
        {"192.167.255.255", true},
        {"198.17.255.255", true},
        {"198.20.0.0", true},
        {"223.255.255.255", true},
        {"0.0.0.0", false},
        {"0.1.2.3", false},
        {"10.0.0.1", false},
        {"100.64.0.1", false},
        {"100.127.255.255", false},
        {"127.0.0.1", false},
        {"127.255.255.254", false},
        {"169.254.169.254", false},
        {"172.16.0.1", false},
        {"172.31.255.255", false},
        {"192.0.0.8", false},
        {"192.0.2.1", false},
        {"192.88.99.1", false},
        {"192.168.1.1", false},
        {"198.18.0.1", false},
        {"198.19.255.255", false},
        {"198.51.100.7", false},
        {"203.0.113.7", false},
        {"224.0.0.1", false},
        {"239.255.255.255", false},
        {"240.0.0.1", false},
        {"255.255.255.255", false},
        {"2606:4700::1111", true},
        {"2a00:1450:4001::200e", true},
        {"2001:4860:4860::8888", true},
        {"::ffff:1.1.1.1", true},
        {"64:ff9b::1.1.1.1", true},
        {"::", false},
        {"::1", false},
        {"::1.1.1.1", false},
        {"::ffff:127.0.0.1", false},
        {"::ffff:10.0.0.1", false},
        {"::ffff:0:127.0.0.1", false},
        {"64:ff9b::10.0.0.1", false},
        {"64:ff9b::a9fe:a9fe", false},
        {"64:ff9b:1::1.1.1.1", false},
        {"100::1", false},
        {"2001::1", false},
        {"2001:0:7f00:1::", false},
        {"2001:20::1", false},
        {"2001:db8::1", false},
        {"2002:7f00:1::1", false},
        {"2002:101:101::1", false},
        {"3fff:1::1", false},
        {"5f00::1", false},
        {"fc00::1", false},
        {"fd12:3456::1", false},
        {"fe80::1", false},
        {"fec0::1", false},
        {"ff02::1", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sockaddr_in v4 = {.sin_family = AF_INET};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
        bool is_v6 = strchr(rows[i].address, ':') != NULL;
        void *to = is_v6 ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr;
        assert_int_equal(inet_pton(is_v6 ? AF_INET6 : AF_INET, rows[i].address, to), 1);
        const struct sockaddr *a =
            is_v6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4;
        if (address_is_public(a) != rows[i].public)
            fail_msg("%s", rows[i].address);
    }
    const struct sockaddr_in local = {.sin_family = AF_UNIX};
    assert_false(address_is_public((const struct sockaddr *)&local));
}

/* The host that a person reads in the question is the one that is fetched from. */
TEST(a_url_has_a_plain_host_and_nothing_hidden)
{
    static const char *const good[][2] = {
        {"http://example.org", "fetch_url http://example.org"},
        {"HTTPS://Example.ORG:443/a?b=\xc3\xa4#c", "fetch_url example.org"},
        {"http://example.org:443/", "fetch_url http://example.org:443"},
        {"https://example.org:08080?x@y", "fetch_url example.org:8080"},
        {"http://[::1]:8080/", "fetch_url http://[::1]:8080"},
        {"http://[2606:4700::1111]/", "fetch_url http://[2606:4700::1111]"},
    };
    static const char *const bad[] = {
        "",
        "example.org",
        "ftp://example.org/",
        "file:///etc/passwd",
        "httpx://example.org/",
        "http:example.org",
        "http:///example.org",
        "http://",
        "http://:80/",
        "http://user@example.org/",
        "http://user:secret@example.org/",
        "http://example.org:80@127.0.0.1/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org/a b",
        "http://example.org/a\nHost: x",
        "http://example.org/\x7f",
        "http://ex%61mple.org/",
        "http://\xc3\xbc.example/",
        "http://example.org:/",
        "http://example.org:123456/",
        "http://example.org:80:81/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://[::1]x/",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char *args = support_keep(workplace_args("url", good[i][0], NULL));
        assert_says(workplace_preview("fetch_url", args, false),
                    support_text("GET %s", good[i][0]));
        assert_string_equal(support_keep(grant_of(good[i][0])), good[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *args = support_keep(workplace_args("url", bad[i], NULL));
        assert_says(workplace_preview("fetch_url", args, true), "the URL ");
        assert_says(workplace_call("fetch_url", args, true), "the URL ");
        assert_null(grant_of(bad[i]));
    }
}

TEST(asks_by_its_class_and_costs_little)
{
    const struct tool *tool = toolset_find(&place.tools, "fetch_url");
    assert_string_equal(tool_class_name(tool->class), "network");
    assert_int_equal(tool->consent, CONSENT_BY_CLASS);
    assert_null(tool_lacks(tool));
    assert_false(tool_offered(tool, "read"));
    assert_true(strlen(tool->spec.name) + strlen(tool->spec.description) +
                    strlen(tool->spec.schema) <=
                4 * 80);
}

/* However the address is written, and whatever a proxy would reach. */
TEST(a_private_address_is_not_connected_to)
{
    static const struct raw_reply reply = {.begin = TYPE("text/plain") "secret", .close = true};
    serve(&reply, 1, false);
    const char *port = strrchr(raw_server_url(server), ':') + 1;
    static const char *const hosts[] = {"127.0.0.1",  "localhost",          "127.1",  "0x7f.1",
                                        "2130706433", "[::ffff:127.0.0.1]", "0.0.0.0"};
    setenv("http_proxy", raw_server_url(server), 1);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        fetch_url(support_text("http://%s:%s/", hosts[i], port), true);
    assert_says(fetch("/", true), "its host is at 127.0.0.1", "fetch_allow");
    assert_says(fetch_url("http://10.0.0.1/", true), "its host is at 10.0.0.1");
    assert_int_equal(raw_server_state(server).connections, 0);
    unsetenv("http_proxy");
}

TEST(an_allowed_host_is_one_of_the_list)
{
    static const struct raw_reply reply = {.begin = TYPE("text/plain") "hello", .close = true};
    static const struct {
        const char *list; /* %s: the port */
        bool allowed;
    } rows[] = {{"127.0.0.1", true},      {"a, 127.0.0.1:%s b", true},
                {"127.0.0.1:1%s", false}, {"127.0.0.1:1", false},
                {"127.0.0", false},       {"127.0.0.1.example", false},
                {"localhost:%s", false},  {"", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        serve(&reply, 1, false);
        const char *port = strrchr(raw_server_url(server), ':') + 1;
        const char *at = strstr(rows[i].list, "%s");
        place.tools.host.fetch_allow =
            at ? support_text("%.*s%s%s", (int)(at - rows[i].list), rows[i].list, port, at + 2)
               : rows[i].list;
        fetch("/", !rows[i].allowed);
    }
}

TEST(pages_become_text)
{
    const char *out = fetch_answer(TYPE("text/plain; charset=utf-8") "one\r\ntwo\033[1m\n", false);
    assert_string_equal(
        out, support_text("%s/a · 200 · text/plain · 13 bytes\n\none\ntwo\xe2\x90\x9b[1m\n",
                          raw_server_url(server)));
    out = fetch_answer(TYPE("text/html") "<!doctype html><title>Old page</title><script>evil()"
                                         "</script><h1>Head</h1><p>a <b>bold</b> word</p>",
                       false);
    assert_says(out, "/a · 200 · text/html · ", "\nOld page\n\nHead\n\na bold word", "!evil", "!<");
    assert_says(fetch_answer(TYPE("application/json") "{\"a\":1}", false), "{\"a\":1}");
    assert_says(fetch_answer(TYPE("application/atom+xml") "<feed/>", false), "<feed/>");
    assert_says(fetch_answer(TYPE("text/plain") "gr\xfc\xdf", false), "gr\xc3\xbc\xc3\x9f");
    assert_says(fetch_answer("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbare", false), "bare");
    assert_says(raw_server_state(server).heard, "GET /a HTTP/1.1", "!Cookie", "!Authorization");
}

TEST(what_is_no_text_is_named)
{
    assert_says(fetch_answer(TYPE("image/png") "\x89PNG1234", true),
                "/a: 200 · image/png · 8 bytes: this type is not read as text", "!PNG1");
    const struct raw_reply zeros = {.begin = TYPE("text/plain") "\x80\001\002\003", .close = true};
    serve(&zeros, 1, true);
    assert_says(fetch("/a", true), "a binary file");
    assert_says(fetch_answer("HTTP/1.1 404 Gone\r\nContent-Type: text/html\r\nConnection: close\r\n"
                             "\r\n<p>not here</p>",
                             true),
                "/a: 404 · text/html · 15 bytes\n", "not here");
}

TEST(redirects_stay_with_the_host)
{
    static const struct raw_reply hops[] = {{.begin = LOCATION("/b?c"), .close = true},
                                            {.begin = TYPE("text/plain") "there", .close = true}};
    static const struct raw_reply loop[] = {{.begin = LOCATION("/a"), .close = true}};
    static const char *const others[] = {
        LOCATION("http://10.0.0.1/"), LOCATION("http://169.254.169.254/latest/meta-data"),
        LOCATION("http://127.0.0.1:1/"), LOCATION("//example.org/x"),
        LOCATION("http://localhost/")};
    static const char *const broken[] = {LOCATION("http://user@127.0.0.1/"),
                                         LOCATION("file:///etc/passwd")};
    serve(hops, 2, true);
    assert_says(fetch("/a", false), "/b?c · 200 · ", "there");
    serve(loop, 1, true);
    assert_says(fetch("/a", true), "more than 5 redirects");
    assert_int_equal(raw_server_state(server).requests, 6);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_says(fetch_answer(others[i], true), "it redirects to another host");
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_says(fetch_answer(broken[i], true), "it redirects to a URL that ");
}

TEST(a_long_page_is_cut)
{
    static const struct raw_reply endless = {
        .begin = TYPE("text/plain"), .again = "\xc3\xa4\xc3\xb6", .close = true};
    serve(&endless, 1, true);
    assert_says(fetch("/a", false), " · 1048576 bytes, the rest was left out\n", "\xc3\xa4\xc3\xb6",
                "[cut: ");
    const char *url = raw_server_url(server);
    assert_says(
        workplace_call("fetch_url", support_text("{\"url\":\"%s/a\",\"max_bytes\":7}", url), false),
        " · 7 bytes, the rest was left out\n\n\xc3\xa4\xc3\xb6\xc3\xa4");
    assert_says(workplace_call("fetch_url",
                               support_text("{\"url\":\"%s/a\",\"max_bytes\":1048577}", url), true),
                "at most");
}

/* Each piece says where the next one begins. */
TEST(a_long_page_is_read_in_pieces)
{
    struct buf page = BUF_INIT, read = BUF_INIT;
    for (int i = 0; page.len < 150000; i++)
        buf_addf(&page, "%d \xc3\xa4\n", i);
    const struct raw_reply reply = {.begin = TYPE("text/plain"), .end = page.data, .close = true};
    serve(&reply, 1, true);
    size_t offset = 0, pieces = 0;
    for (const char *note = ""; note; pieces++) {
        const char *out = workplace_call(
            "fetch_url",
            support_text("{\"url\":\"%s/a\",\"offset\":%zu}", raw_server_url(server), offset),
            false);
        const char *body = strstr(out, "\n\n") + 2;
        assert_true(strlen(out) <= place.context.max_output);
        note = strstr(body, "\n[cut: ");
        buf_add(&read, body, note ? (size_t)(note - body) : strlen(body));
        offset = note ? (size_t)atoi(strstr(note, "\"offset\":") + 9) : 0;
    }
    assert_string_equal(read.data, page.data);
    assert_true(pieces > 1);
    buf_release(&page);
    buf_release(&read);
}

TEST(links_are_shown_when_they_are_wanted)
{
    static const char html[] =
        "<title>T</title><nav><a href='/a?b=1&amp;c'>one</a><a name=x>two</a></nav><p>"
        "<a href='#top'>up</a> <a href='javascript:x()'>do</a> <a href='mailto:a@b'>mail</a> "
        "<a href='https://b.example/'>b <b>c</b></a>.<pre><a href='/code'>code</a></pre>";
    static const struct raw_reply reply = {.begin = TYPE("text/html"), .end = html, .close = true};
    serve(&reply, 1, true);
    const char *url = raw_server_url(server);
    assert_says(fetch("/p", false), "\n\nonetwo\n\nup do mail b c.\n\ncode", "!(");
    assert_says(
        workplace_call("fetch_url", support_text("{\"url\":\"%s/p\",\"links\":true}", url), false),
        "\n\none (/a?b=1&c)two\n\nup do mail b c (https://b.example/).\n\ncode", "!code (");
}

TEST(a_slow_server_meets_the_deadline)
{
    static const struct raw_reply drip = {
        .begin = TYPE("text/plain"), .again = "x", .pause_ms = 20, .close = true};
    serve(&drip, 1, true);
    int64_t begun = clock_mono_ms();
    place.context.deadline_ms = begun + 300;
    assert_string_equal(fetch("/a", true), "timed out");
    assert_true(clock_mono_ms() - begun < 5000);
}

static void *interrupt_amid(void *unused)
{
    (void)unused;
    while (raw_server_state(server).sent == 0)
        poll(NULL, 0, 5);
    workplace_interrupt();
    return NULL;
}

TEST(an_interrupt_ends_it)
{
    static const struct raw_reply drip = {
        .begin = TYPE("text/plain"), .again = "x", .pause_ms = 20, .close = true};
    pthread_t thread;
    serve(&drip, 1, true);
    int64_t begun = clock_mono_ms();
    assert_int_equal(pthread_create(&thread, NULL, interrupt_amid, NULL), 0);
    assert_string_equal(fetch("/a", true), "interrupted");
    assert_true(clock_mono_ms() - begun < 5000);
    pthread_join(thread, NULL);
}

TEST(a_server_that_is_not_there_is_told)
{
    place.tools.host.fetch_allow = "127.0.0.1";
    assert_says(fetch_url("http://127.0.0.1:1/", true), "http://127.0.0.1:1/: ");
}
