/* The tools as a model calls them: confinement, schema, limits, results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/schema.h"
#include "agent/tools.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "support.h"

struct fixture {
    int root_fd;
    char *root; /* HOME/work */
    bool stop;
    struct wakeup wakeup;
    struct tool_context context;
    struct buf out;
};

static bool go_on(void *context)
{
    return !((struct fixture *)context)->stop;
}

static int setup(void **state)
{
    struct fixture *f = mem_alloc(sizeof *f);
    if (support_setup(NULL) != 0)
        return -1;
    char *root = support_path("work");
    mkdir(root, 0700);
    f->root = realpath(root, NULL);
    free(root);
    f->root_fd = open(f->root, O_RDONLY | O_DIRECTORY);
    f->wakeup = (struct wakeup){.fd = -1, .go_on = go_on, .context = f};
    f->context = (struct tool_context){.root_fd = f->root_fd,
                                       .root = f->root,
                                       .max_output = 1000,
                                       .deadline_ms = clock_mono_ms() + 60000,
                                       .wakeup = &f->wakeup};
    buf_init(&f->out, 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    close(f->root_fd);
    free(f->root);
    buf_release(&f->out);
    free(f);
    return support_teardown(NULL);
}

static void put(const char *name, const char *text)
{
    char *path = support_path(name);
    support_write(path, text);
    free(path);
}

static const char *call(struct fixture *f, const char *tool, const char *args, bool want_error)
{
    buf_clear(&f->out);
    assert_int_equal(tool_call(&f->context, tool, args, &f->out), want_error);
    return f->out.data;
}

static void reads_a_file_and_parts_of_it(void **state)
{
    struct fixture *f = *state;
    put("work/a.txt", "one\ntwo\nthree\nfour\n");
    assert_string_equal(call(f, "read_file", "{\"path\":\"a.txt\"}", false),
                        "one\ntwo\nthree\nfour\n");
    assert_string_equal(
        call(f, "read_file", "{\"path\":\"a.txt\",\"offset\":2,\"limit\":2}", false),
        "two\nthree\n");
    assert_non_null(strstr(call(f, "read_file", "{\"path\":\"a.txt\",\"offset\":9}", false),
                           "fewer than 9 lines"));
}

static void cuts_long_results_at_a_character(void **state)
{
    struct fixture *f = *state;
    struct buf text = BUF_INIT;
    for (int i = 0; i < 3000; i++)
        buf_addstr(&text, "ü");
    put("work/long.txt", text.data);
    buf_release(&text);
    f->context.max_output = 1001;
    const char *out = call(f, "read_file", "{\"path\":\"long.txt\"}", false);
    assert_true(utf8_valid(out, strlen(out)));
    assert_non_null(strstr(out, "\n[cut: 1000 of "));
}

static void makes_invalid_bytes_valid(void **state)
{
    struct fixture *f = *state;
    put("work/latin1.txt", "caf\xe9 \x1b[31m");
    const char *out = call(f, "read_file", "{\"path\":\"latin1.txt\"}", false);
    assert_true(utf8_valid(out, strlen(out)));
}

static void refuses_what_is_no_text_file(void **state)
{
    struct fixture *f = *state;
    char *path = support_path("work/bin");
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "a\0b", 3), 3);
    close(fd);
    free(path);
    path = support_path("work/fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    free(path);
    assert_non_null(strstr(call(f, "read_file", "{\"path\":\"bin\"}", true), "binary"));
    assert_non_null(strstr(call(f, "read_file", "{\"path\":\"fifo\"}", true), "regular"));
    assert_non_null(strstr(call(f, "read_file", "{\"path\":\".\"}", true), "list_directory"));
    assert_non_null(strstr(call(f, "read_file", "{\"path\":\"none\"}", true), "none: "));
}

static void no_path_leaves_the_directory(void **state)
{
    struct fixture *f = *state;
    put("secret", "secret");
    put("work/inside", "inside");
    assert_int_equal(symlinkat("../secret", f->root_fd, "relative"), 0);
    assert_int_equal(symlinkat("/etc/passwd", f->root_fd, "absolute"), 0);
    assert_int_equal(symlinkat("..", f->root_fd, "up"), 0);
    assert_int_equal(symlinkat("loop", f->root_fd, "loop"), 0);
    static const char *const paths[] = {"../secret", "relative",    "absolute",
                                        "up/secret", "/etc/passwd", "sub/../../secret",
                                        "loop",      "//etc/passwd"};
    assert_int_equal(mkdirat(f->root_fd, "sub", 0700), 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct error e = {0};
        assert_int_equal(confine_open(f->root_fd, f->root, paths[i], O_RDONLY, &e), -1);
        assert_non_null(strstr(e.text, paths[i]));
    }
    /* A directory beside it whose name begins alike is outside, too. */
    char *sibling = mem_printf("%sling", f->root);
    mkdir(sibling, 0700);
    assert_int_equal(confine_open(f->root_fd, f->root, sibling, O_RDONLY, &(struct error){0}), -1);
    free(sibling);
}

static void paths_inside_are_followed(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdirat(f->root_fd, "sub", 0700), 0);
    put("work/sub/file", "found");
    char *inside = mem_printf("%s/sub", f->root);
    assert_int_equal(symlinkat("sub", f->root_fd, "relative"), 0);
    assert_int_equal(symlinkat(inside, f->root_fd, "absolute"), 0);
    char *absolute = mem_printf("%s/file", inside);
    const char *const paths[] = {"sub/file",      "./sub//file",   "sub/../sub/file",
                                 "relative/file", "absolute/file", absolute};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char *args = mem_printf("{\"path\":\"%s\"}", paths[i]);
        assert_string_equal(call(f, "read_file", args, false), "found");
        free(args);
    }
    free(absolute);
    free(inside);
}

static void lists_a_directory(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(call(f, "list_directory", "{}", false), "[empty]\n");
    put("work/b.txt", "12345");
    put("work/.hidden", "");
    assert_int_equal(mkdirat(f->root_fd, "a", 0700), 0);
    assert_int_equal(symlinkat("b.txt", f->root_fd, "c"), 0);
    assert_string_equal(call(f, "list_directory", "", false),
                        ".hidden (0 bytes)\na/\nb.txt (5 bytes)\nc (symbolic link)\n");
    assert_non_null(strstr(call(f, "list_directory", "{\"path\":\"..\"}", true), "outside"));
}

static void a_stop_ends_a_tool(void **state)
{
    struct fixture *f = *state;
    int ends[2];
    put("work/a.txt", "one\n");
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    f->wakeup.fd = ends[0];
    f->stop = true;
    assert_string_equal(call(f, "read_file", "{\"path\":\"a.txt\"}", true), "interrupted");
    close(ends[0]);
    close(ends[1]);
    f->wakeup.fd = -1;
    f->context.deadline_ms = clock_mono_ms() - 1;
    assert_string_equal(call(f, "read_file", "{\"path\":\"a.txt\"}", true), "timed out");
}

static void bad_arguments_are_told_to_the_model(void **state)
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
        {"read_file", "{\"path\":\"a\",\"mode\":\"w\"}", "unknown argument \"mode\""},
        {"run_anything", "{}", "no tool named \"run_anything\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_non_null(strstr(call(*state, cases[i].tool, cases[i].args, true), cases[i].says));
}

static void schema_sees_into_arrays_and_enums(void **state)
{
    (void)state;
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
    struct json *schema = json_parse(schema_text, strlen(schema_text), NULL);
    assert_non_null(schema);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *value = json_parse(cases[i].text, strlen(cases[i].text), NULL);
        assert_int_equal(schema_check(schema, value, &(struct error){0}), cases[i].fits);
        json_free(value);
    }
    json_free(schema);
}

static void every_schema_parses(void **state)
{
    (void)state;
    for (const struct tool *const *t = tools; *t; t++) {
        struct json *schema = json_parse((*t)->spec.schema, strlen((*t)->spec.schema), NULL);
        assert_non_null(schema);
        assert_ptr_equal(tool_find((*t)->spec.name), *t);
        json_free(schema);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest all[] = {
        TEST(reads_a_file_and_parts_of_it),
        TEST(cuts_long_results_at_a_character),
        TEST(makes_invalid_bytes_valid),
        TEST(refuses_what_is_no_text_file),
        TEST(no_path_leaves_the_directory),
        TEST(paths_inside_are_followed),
        TEST(lists_a_directory),
        TEST(a_stop_ends_a_tool),
        TEST(bad_arguments_are_told_to_the_model),
        cmocka_unit_test(schema_sees_into_arrays_and_enums),
        cmocka_unit_test(every_schema_parses),
    };
    return cmocka_run_group_tests_name("tools", all, NULL, NULL);
}
