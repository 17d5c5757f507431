/* The tools as a model calls them: confinement, schema, limits, results. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/tool.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "tests/workplace.h"

static const char *call(const char *tool, const char *args, bool want_error)
{
    return workplace_call(tool, args, want_error);
}

FIXTURE(workplace_setup, workplace_teardown);

TEST(reads_a_file_and_parts_of_it)
{
    workplace_put("work/a.txt", "one\ntwo\nthree\nfour\n");
    assert_string_equal(call("read_file", "{\"path\":\"a.txt\"}", false),
                        "one\ntwo\nthree\nfour\n");
    assert_string_equal(call("read_file", "{\"path\":\"a.txt\",\"offset\":2,\"limit\":2}", false),
                        "two\nthree\n");
    assert_non_null(strstr(call("read_file", "{\"path\":\"a.txt\",\"offset\":9}", false),
                           "fewer than 9 lines"));
}

TEST(makes_invalid_bytes_valid)
{
    workplace_put("work/latin1.txt", "caf\xe9 \x1b[31m");
    const char *out = call("read_file", "{\"path\":\"latin1.txt\"}", false);
    assert_true(utf8_valid(out, strlen(out)));
    assert_non_null(strstr(out, "caf\xef\xbf\xbd"));
}

TEST(refuses_what_is_no_text_file)
{
    char *path = support_path("work/bin");
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "a\0b", 3), 3);
    close(fd);
    path = support_path("work/fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_non_null(strstr(call("read_file", "{\"path\":\"bin\"}", true), "binary"));
    assert_non_null(strstr(call("read_file", "{\"path\":\"fifo\"}", true), "regular"));
    assert_non_null(strstr(call("read_file", "{\"path\":\".\"}", true), "list_directory"));
    assert_non_null(strstr(call("read_file", "{\"path\":\"none\"}", true), "none: "));
}

TEST(no_path_leaves_the_directory)
{
    workplace_put("secret", "secret");
    workplace_put("work/inside", "inside");
    assert_int_equal(symlinkat("../secret", place.root_fd, "relative"), 0);
    assert_int_equal(symlinkat("/etc/passwd", place.root_fd, "absolute"), 0);
    assert_int_equal(symlinkat("..", place.root_fd, "up"), 0);
    assert_int_equal(symlinkat("loop", place.root_fd, "loop"), 0);
    static const char *const paths[] = {"../secret", "relative",    "absolute",
                                        "up/secret", "/etc/passwd", "sub/../../secret",
                                        "loop",      "//etc/passwd"};
    assert_int_equal(mkdirat(place.root_fd, "sub", 0700), 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct error e = {0};
        assert_int_equal(confine_open(place.root_fd, place.root, paths[i], O_RDONLY, NULL, &e), -1);
        assert_non_null(strstr(e.text, paths[i]));
    }
    /* A directory beside it whose name begins alike is outside, too. */
    char *sibling = support_text("%sling", place.root);
    mkdir(sibling, 0700);
    assert_int_equal(
        confine_open(place.root_fd, place.root, sibling, O_RDONLY, NULL, &(struct error){0}), -1);
}

TEST(paths_inside_are_followed)
{
    assert_int_equal(mkdirat(place.root_fd, "sub", 0700), 0);
    workplace_put("work/sub/file", "found");
    char *inside = support_text("%s/sub", place.root);
    assert_int_equal(symlinkat("sub", place.root_fd, "relative"), 0);
    assert_int_equal(symlinkat(inside, place.root_fd, "absolute"), 0);
    char *absolute = support_text("%s/file", inside);
    const char *const paths[] = {"sub/file",      "./sub//file",   "sub/../sub/file",
                                 "relative/file", "absolute/file", absolute};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char *args = support_text("{\"path\":\"%s\"}", paths[i]);
        assert_string_equal(call("read_file", args, false), "found");
    }
}

TEST(lists_a_directory)
{
    assert_string_equal(call("list_directory", "{}", false), "[empty]\n");
    workplace_put("work/b.txt", "12345");
    workplace_put("work/.hidden", "");
    assert_int_equal(mkdirat(place.root_fd, "a", 0700), 0);
    assert_int_equal(symlinkat("b.txt", place.root_fd, "c"), 0);
    assert_string_equal(call("list_directory", "", false),
                        ".hidden (0 bytes)\na/\nb.txt (5 bytes)\nc (symbolic link)\n");
    assert_non_null(strstr(call("list_directory", "{\"path\":\"..\"}", true), "outside"));
}

TEST(a_long_listing_tells_how_many_are_left_out)
{
    for (int i = 10; i < 60; i++)
        workplace_put(support_text("work/%d", i), "x");
    place.context.max_output = 300; /* twenty of 13 bytes, and room to say so */
    const char *out = call("list_directory", "{}", false);
    assert_non_null(strstr(out, "\n29 (1 bytes)\n[30 more]\n"));
    assert_true(strlen(out) <= 300);
}

/* No name can look like another entry, or be something else than it looks like. */
TEST(lists_names_as_they_are)
{
    static const struct {
        const char *name, *shown;
    } names[] = {{"a\nb.txt (5 bytes)", "a␊b.txt (5 bytes)"},
                 {"esc\x1b[2J", "esc␛[2J"},
                 {"\xff\xfe", "<0xFF><0xFE>"},
                 {"bidi\u202Etxt.exe", "bidi<U+202E>txt.exe"},
                 {"zero\u200Bwidth", "zero<U+200B>width"},
                 {"日本語 ü", "日本語 ü"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = support_text("work/%s", names[i].name);
        workplace_put(path, "");
    }
    const char *out = call("list_directory", "{}", false);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *line = support_text("%s (0 bytes)\n", names[i].shown);
        assert_non_null(strstr(out, line));
    }
    workplace_put("work/x\ny:1: z", "needle\n");
    assert_string_equal(call("search_files", "{\"pattern\":\"needle\"}", false),
                        "x␊y:1: z:1: needle\n");
}

TEST(a_stop_ends_a_tool)
{
    static const char *const calls[][2] = {
        {"read_file", "{\"path\":\"a.txt\"}"},
        {"search_files", "{\"pattern\":\"one\"}"},
        {"write_file", "{\"path\":\"a.txt\",\"content\":\"two\"}"},
    };
    workplace_put("work/a.txt", "one\n");
    place.context.deadline_ms = clock_mono_ms() - 1;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_non_null(strstr(call(calls[i][0], calls[i][1], true), "timed out"));
    place.context.deadline_ms = clock_mono_ms() + 60000;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        workplace_interrupt();
        assert_string_equal(call(calls[i][0], calls[i][1], true), "interrupted");
    }
    place.stop = false;
    assert_string_equal(call("read_file", calls[0][1], false), "one\n");
    assert_string_equal(call("list_directory", "{}", false), "a.txt (4 bytes)\n");
}

/* Every tool that takes a path, with the path to be filled in. */
static const struct {
    const char *tool, *args;
} path_tools[] = {
    {"read_file", "{\"path\":\"%s\"}"},
    {"list_directory", "{\"path\":\"%s\"}"},
    {"search_files", "{\"pattern\":\"\",\"path\":\"%s\"}"},
    {"write_file", "{\"path\":\"%s\",\"content\":\"written\"}"},
    {"edit_file",
     "{\"path\":\"%s\",\"edits\":[{\"old_text\":\"secret\",\"new_text\":\"written\"}]}"},
};
enum { PATH_TOOLS = sizeof path_tools / sizeof *path_tools };

static char *path_args(size_t tool, const char *path)
{
    struct buf out = BUF_INIT;
    const char *hole = strstr(path_tools[tool].args, "%s");
    buf_add(&out, path_tools[tool].args, (size_t)(hole - path_tools[tool].args));
    buf_addstr(&out, path);
    buf_addstr(&out, hole + 2);
    return support_keep(buf_take(&out));
}

static void assert_outside_untouched(void)
{
    char *file = support_path("outside/file"), *new = support_path("outside/new");
    assert_string_equal(support_read(file), "secret");
    assert_int_equal(access(new, F_OK), -1);
}

TEST(no_tool_leaves_the_directory)
{
    workplace_mkdir("outside");
    workplace_put("outside/file", "secret");
    workplace_mkdir("workling"); /* its name begins alike */
    workplace_mkdir("work/sub");
    workplace_link("../outside", "work/dir");
    workplace_link("../outside/file", "work/relative");
    workplace_link("../outside/new", "work/dangling");
    workplace_link("/etc/passwd", "work/absolute");
    workplace_link("..", "work/up");
    workplace_link("loop", "work/loop");
    char *sibling = support_text("%sling", place.root);
    char *sibling_file = support_text("%sling/new", place.root);
    const char *const paths[] = {
        "..",
        "../outside/file",
        "../outside/new",
        "dir/file",
        "dir/new",
        "relative",
        "dangling",
        "absolute",
        "up",
        "up/outside/file",
        "/etc/passwd",
        "//etc/passwd",
        "/",
        "loop",
        "loop/x",
        "sub/../../x",
        "sub/../../work/../x",
        sibling,
        sibling_file,
        "missing/../../x",
    };
    for (size_t t = 0; t < PATH_TOOLS; t++)
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
            char *args = path_args(t, paths[i]);
            const char *out = call(path_tools[t].tool, args, true);
            assert_null(strstr(out, "secret"));
            if (!strstr(out, paths[i]))
                fail_msg("%s: %s", paths[i], out);
            if (toolset_find(&place.tools, path_tools[t].tool)->preview)
                workplace_preview(path_tools[t].tool, args, true);
        }
    assert_outside_untouched();
    assert_int_equal(faccessat(place.root_fd, "missing", F_OK, 0), -1);
}

/* Replaces files by links that lead out of the directory, as fast as it can. */
struct swapper {
    int root_fd;
    bool able; /* where the system can do it at once, without a moment at which nothing is there */
    atomic_bool done;
};

static bool exchange(int dir, const char *a, const char *b)
{
#ifdef SYS_renameat2
    return syscall(SYS_renameat2, dir, a, dir, b, 2 /* RENAME_EXCHANGE */) == 0;
#else
    (void)dir, (void)a, (void)b;
    return false;
#endif
}

static void *swap(void *arg)
{
    struct swapper *s = arg;
    while (!atomic_load(&s->done))
        s->able = exchange(s->root_fd, "dir", "link") && exchange(s->root_fd, "file", "file_link");
    return NULL;
}

TEST(no_swapped_link_leads_out)
{
    static const char *const paths[] = {"dir/file", "file", "dir", "dir/new", "."};
    struct swapper swapper = {.root_fd = place.root_fd};
    pthread_t thread;
    workplace_mkdir("outside");
    workplace_put("outside/file", "secret");
    workplace_mkdir("work/dir");
    workplace_put("work/dir/file", "open");
    workplace_put("work/file", "open");
    workplace_link("../outside", "work/link");
    workplace_link("../outside/file", "work/file_link");
    atomic_init(&swapper.done, false);
    assert_int_equal(pthread_create(&thread, NULL, swap, &swapper), 0);
    for (int round = 0; round < 240; round++)
        for (size_t t = 0; t < PATH_TOOLS; t++) {
            struct tool_call prepared;
            char *args = path_args(t, paths[(size_t)round % (sizeof paths / sizeof *paths)]);
            buf_clear(&place.out);
            assert_true(
                tool_call_prepare(&prepared, &place.tools, path_tools[t].tool, args, &place.out));
            tool_call_run(&prepared, &place.context, &place.out);
            assert_says(place.out.data, "!secret", "!file (6 bytes)");
            tool_call_release(&prepared);
        }
    atomic_store(&swapper.done, true);
    pthread_join(thread, NULL);
    assert_outside_untouched();
    if (!swapper.able)
        skip();
}

TEST(levels_offer_their_tools)
{
    static const struct {
        const char *tool, *class;
        enum config_key timeout;
    } rows[] = {{"read_file", "read", CONFIG_TOOLS_TIMEOUT},
                {"list_directory", "read", CONFIG_TOOLS_TIMEOUT},
                {"search_files", "read", CONFIG_TOOLS_TIMEOUT},
                {"write_file", "write", CONFIG_TOOLS_TIMEOUT},
                {"run_command", "execute", CONFIG_TOOLS_COMMAND_TIMEOUT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tool *tool = toolset_find(&place.tools, rows[i].tool);
        assert_string_equal(tool_class_name(tool->class), rows[i].class);
        assert_int_equal(tool->timeout, rows[i].timeout);
        assert_false(tool_offered(tool, "none"));
        assert_int_equal(tool_offered(tool, "read"), strcmp(rows[i].class, "read") == 0);
        assert_true(tool_offered(tool, "full"));
        assert_int_equal(tool->preview != NULL, strcmp(rows[i].class, "read") != 0);
    }
}

/* The command decides what a session may allow (simple_command.h). */
TEST(a_session_allows_no_other_program)
{
    static const struct {
        const char *command, *grant; /* NULL: none */
    } rows[] = {{"git status -s", "`git status …`"},
                {"git -c x=y status", "`git -c x=y status`"},
                {"git status; rm x", NULL},
                {"cat env", "`cat …`"},
                {"cat .env", NULL}, /* a place of keys */
                {"cat '/home/u/.ssh/id_ed25519'", NULL},
                {"cat .e''nv", NULL},
                {"cat \".ss\"h/config", NULL},
                {"grep --file=.netrc x", NULL},
                {"cp .env x", NULL},
                {"cat .en?", NULL}, /* patterns that can find one */
                {"cat .e[m-o]v", NULL},
                {"cat ./*", NULL},
                {"cat src/i*", NULL},
                {"cat server.p?m", NULL},
                {"cat .s*/config", NULL},
                {"cat a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p*q*r*s*t*.key", NULL},
                {"cat src/*.c", "`cat …`"},
                {"cat src/*/x.c", "`cat …`"},
                {"cat src/a?.md", "`cat …`"},
                {"grep 'a.*' x", "`grep …`"},
                {"", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(json_free_local) struct json *args = json_new_object();
        json_set_string(args, "command", rows[i].command);
        struct tool_call call = {.tool = toolset_find(&place.tools, "run_command"), .args = args};
        auto_free char *grant = tool_call_grant(&call);
        if (strcmp(grant ? grant : "", rows[i].grant ? rows[i].grant : "") != 0)
            fail_msg("%s: %s", rows[i].command, grant ? grant : "none");
    }
}

TEST(a_preview_is_clean_and_bounded)
{
    assert_string_equal(workplace_preview("read_file", "{\"path\":\"none\"}", false), "");
    const char *out =
        workplace_preview("run_command", "{\"command\":\"echo \\u001b[31m\\u202e\\u0007\"}", false);
    assert_non_null(strstr(out, "echo \xe2\x90\x9b[31m<U+202E>\xe2\x90\x87"));
    char *text = support_keep(mem_alloc(TOOL_MAX_PREVIEW + 100));
    memset(text, 'x', TOOL_MAX_PREVIEW + 99);
    char *args = support_keep(workplace_args("command", text, NULL));
    out = workplace_preview("run_command", args, true);
    assert_non_null(strstr(out, "at most 1048576 can be shown"));
}

TEST(bad_arguments_are_told_to_the_model)
{
    static const struct {
        const char *tool, *args, *says;
    } cases[] = {
        {"read_file", "{\"path\":", "no valid JSON"},
        {"read_file", "[]", "one JSON object"},
        {"read_file", "{}", "\"path\" is missing"},
        {"read_file", "{\"path\":7}", "\"path\" must be of type string"},
        {"read_file", "{\"path\":\"a\",\"offset\":0}", "at least 1"},
        {"read_file", "{\"path\":\"a\",\"offset\":1.5}", "of type integer"},
        {"read_file", "{\"path\":\"a\",\"limit\":9999999}", "at most 1e+06"},
        {"read_file", "{\"path\":\"a\",\"offset\":9223372036854775807}", "at most"},
        {"read_file", "{\"path\":\"a\\u0000b\"}", "a NUL character"},
        {"read_file", "{\"path\":\"a\\\\u0000b\"}", "No such file"},
        {"read_file", "{\"path\":\"a\",\"mode\":\"w\"}", "unknown argument \"mode\""},
        {"run_anything", "{}", "no tool named \"run_anything\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_non_null(strstr(call(cases[i].tool, cases[i].args, true), cases[i].says));
}

FIXTURES(plain, NULL, NULL);

TEST(schema_sees_into_arrays_and_enums)
{
    static const char schema_text[] =
        "{\"type\":\"object\",\"properties\":{\"list\":{\"type\":\"array\",\"items\":{\"type\":"
        "\"object\",\"properties\":{\"kind\":{\"enum\":[\"a\",\"b\"]}},\"required\":[\"kind\"]}}}}";
    static const struct {
        const char *text;
        bool fits;
    } cases[] = {{"{\"list\":[]}", true},
                 {"{\"list\":[{\"kind\":\"b\"}]}", true},
                 {"{\"list\":[{\"kind\":\"c\"}]}", false},
                 {"{\"list\":[{}]}", false},
                 {"{\"list\":[3]}", false},
                 {"{\"list\":{}}", false}};
    AUTO(json_free_local) struct json *schema = json_parse(schema_text, strlen(schema_text), NULL);
    assert_non_null(schema);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(json_free_local)
        struct json *value = json_parse(cases[i].text, strlen(cases[i].text), NULL);
        assert_int_equal(tool_schema_check(schema, value, &(struct error){0}), cases[i].fits);
    }
}

FIXTURES(workplace, workplace_setup, workplace_teardown);

TEST(every_schema_parses)
{
    for (size_t i = 0; i < place.tools.tools.len; i++) {
        const struct tool *tool = &place.tools.tools.items[i];
        AUTO(json_free_local)
        struct json *schema = json_parse(tool->spec.schema, strlen(tool->spec.schema), NULL);
        assert_non_null(schema);
        assert_ptr_equal(toolset_find(&place.tools, tool->spec.name), tool);
    }
}
