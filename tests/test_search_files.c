/* The tool search_files, and the patterns and globs that it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <locale.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/glob.h"
#include "agent/pattern.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/support.h"
#include "tests/workplace.h"

static const char *search(void **state, const char *args)
{
    return workplace_call(*state, "search_files", args, false);
}

static void put_bytes(const char *name, const void *bytes, size_t len)
{
    char *path = support_path(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    close(fd);
    free(path);
}

static void make_tree(void)
{
    workplace_mkdir("work/src");
    workplace_mkdir("work/src/deep");
    workplace_mkdir("work/.git");
    workplace_put("work/src.txt", "int main\n");
    workplace_put("work/src/b.c", "no\nint x;\n\tint y;\r\n");
    workplace_put("work/src/a.h", "INT z;\nprint\n");
    workplace_put("work/src/deep/c.c", "an int without an end");
    workplace_put("work/.git/config", "int\n");
    workplace_put("work/.hidden", "int h\n");
    workplace_link("src", "work/link");
    put_bytes("work/binary", "int \0int\n", 9);
}

static void finds_lines_in_the_order_of_paths(void **state)
{
    make_tree();
    assert_string_equal(search(state, "{\"pattern\":\"int\"}"),
                        ".hidden:1: int h\n"
                        "src.txt:1: int main\n"
                        "src/a.h:2: print\n"
                        "src/b.c:2: int x;\n"
                        "src/b.c:3: \tint y;\n"
                        "src/deep/c.c:1: an int without an "
                        "end\n");
    assert_string_equal(search(state,
                               "{\"pattern\":\"^int\",\"ignore_case\":true,\"path\":"
                               "\"src/\"}"),
                        "src/a.h:1: INT z;\nsrc/b.c:2: int x;\n");
    assert_string_equal(search(state, "{\"pattern\":\"y;$\",\"path\":\"./src/b.c\"}"),
                        "./src/b.c:3: \tint y;\n");
    assert_string_equal(search(state, "{\"pattern\":\"int (y|x)\",\"path\":\"link\"}"),
                        "link/b.c:2: int x;\nlink/b.c:3: \tint y;\n");
    assert_string_equal(search(state, "{\"pattern\":\"nowhere\"}"), "[no match in 5 text files]\n");
    assert_string_equal(search(state, "{\"pattern\":\"^$\",\"path\":\"src\"}"),
                        "[no match in 3 text files]\n");
}

static void takes_globs(void **state)
{
    static const struct {
        const char *glob, *files;
    } rows[] = {
        {"*.c", "src/b.c src/deep/c.c"},    {"src/*.h", "src/a.h"},
        {"**/*.c", "src/b.c src/deep/c.c"}, {"src/**/*.c", "src/b.c src/deep/c.c"},
        {"*.{h,txt}", "src.txt src/a.h"},   {"{src/deep/*,*.{t,x}xt}", "src.txt src/deep/c.c"},
        {"[ab].?", "src/a.h src/b.c"},      {"*.none", ""},
    };
    make_tree();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf files = BUF_INIT;
        char *args = workplace_args("pattern", "int", "glob", rows[i].glob, NULL);
        const char *out = search(state, args);
        for (const char *line = out; *line && *line != '['; line = strchr(line, '\n') + 1) {
            size_t len = strcspn(line, ":");
            if (files.len >= len && memcmp(files.data + files.len - len, line, len) == 0)
                continue;
            buf_addstr(&files, files.len > 0 ? " " : "");
            buf_add(&files, line, len);
        }
        assert_string_equal(files.data, rows[i].files);
        buf_release(&files);
        free(args);
    }
    const char *args = "{\"pattern\":\"x\",\"glob\":\"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\"}";
    assert_non_null(strstr(workplace_call(*state, "search_files", args, true), "64 patterns"));
}

static void says_what_it_left_out(void **state)
{
    struct workplace *w = *state;
    struct buf path = BUF_INIT;
    buf_addstr(&path, "work");
    for (int i = 0; i < 33; i++) {
        buf_addstr(&path, "/d");
        workplace_mkdir(path.data);
        if (i == 30 || i == 31) { /* the last level that is searched, and one too many */
            char *name = mem_printf("%s/file", path.data);
            workplace_put(name, "needle\n");
            free(name);
        }
    }
    char *large = mem_alloc(9 * 1024 * 1024);
    memset(large, '\n', 9 * 1024 * 1024);
    put_bytes("work/large", large, 9 * 1024 * 1024);
    free(large);
    buf_release(&path);
    const char *out = search(state, "{\"pattern\":\"needle\"}");
    assert_non_null(strstr(out,
                           "/d/file:1: needle\n[1 file of more than 8 MiB left out]\n"
                           "[1 directory more than 32 levels deep left out]\n"));
    assert_null(strstr(strstr(out, "needle") + 1, "needle"));
    if (geteuid() != 0) {
        workplace_mkdir("work/closed");
        assert_int_equal(fchmodat(w->root_fd, "closed", 0, 0), 0);
        out = search(state, "{\"pattern\":\"nothing\"}");
        assert_int_equal(fchmodat(w->root_fd, "closed", 0700, 0), 0);
        assert_non_null(strstr(out, "[1 file or directories could not be read]"));
    }
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    while ((text = strstr(text, what)) != NULL) {
        n++;
        text++;
    }
    return n;
}

static void its_result_is_bounded(void **state)
{
    struct workplace *w = *state;
    struct buf text = BUF_INIT;
    for (int i = 0; i < 2000; i++)
        buf_addf(&text, "line %d\n", i);
    workplace_put("work/many", text.data);
    w->context.max_output = 100000;
    const char *out = search(state, "{\"pattern\":\"line\",\"limit\":3}");
    assert_string_equal(out,
                        "many:1: line 0\nmany:2: line 1\nmany:3: line 2\n"
                        "[more matches; the limit is 3 lines]\n");
    assert_int_equal(count(search(state, "{\"pattern\":\"line\"}"), "many:"), 100);
    assert_string_equal(search(state, "{\"pattern\":\"line 1$\",\"limit\":1}"),
                        "many:2: line 1\n"); /* exactly as many as may be */
    w->context.max_output = 2000;
    out = search(state, "{\"pattern\":\"line\",\"limit\":1000}");
    assert_true(w->out.len <= 2000);
    assert_non_null(strstr(out, "\n[more matches; the output is full, narrow the search]\n"));
    assert_null(strstr(out, "[cut"));
    buf_release(&text);
}

static void long_lines_are_cut_around_the_match(void **state)
{
    struct buf text = BUF_INIT;
    for (int i = 0; i < 20000; i++)
        buf_addstr(&text, "ü");
    buf_addstr(&text, "needle");
    for (int i = 0; i < 20000; i++)
        buf_addstr(&text, "ü");
    buf_addstr(&text, "end\n");
    workplace_put("work/long", text.data);
    const char *out = search(state, "{\"pattern\":\"needle\"}");
    assert_non_null(strstr(out, "long:1: …ü"));
    assert_non_null(strstr(out, "üneedleü"));
    assert_non_null(strstr(out, "ü…\n"));
    assert_in_range(strlen(out), 250, 330);
    assert_true(utf8_valid(out, strlen(out)));
    /* The ends of its pieces are not ends of the line. */
    assert_non_null(strstr(search(state, "{\"pattern\":\"end$\"}"), "üend\n"));
    assert_string_equal(search(state, "{\"pattern\":\"ü$\"}"), "[no match in 1 text file]\n");
    assert_string_equal(search(state, "{\"pattern\":\"^needle\"}"), "[no match in 1 text file]\n");
    buf_release(&text);
}

/* A match that begins in one piece of a long line and ends in the next. */
static void pieces_overlap(void **state)
{
    struct buf text = BUF_INIT;
    for (size_t at = 1000; at < 9000; at += 7) {
        buf_clear(&text);
        while (text.len < at)
            buf_addch(&text, 'x');
        buf_addstr(&text, "needle");
        while (text.len < 10000)
            buf_addch(&text, 'y');
        workplace_put("work/long", text.data);
        assert_int_equal(count(search(state, "{\"pattern\":\"xneedley\"}"), "long:1:"), 1);
    }
    /* Where a piece begins is not where the line does. */
    assert_string_equal(search(state, "{\"pattern\":\"^y\"}"), "[no match in 1 text file]\n");
    buf_release(&text);
}

static void what_it_shows_is_clean(void **state)
{
    put_bytes("work/evil\x1b", "a\x1b[31m\tneedle\r\xe2\x80\xa8other:1: \xff\n", 27);
    assert_string_equal(search(state, "{\"pattern\":\"needle\"}"),
                        "evil\xe2\x90\x9b:1: a\xe2\x90\x9b[31m\tneedle  other:1: \xef\xbf\xbd\n");
}

static void bad_patterns_are_told(void **state)
{
    static const struct {
        const char *pattern, *says;
    } rows[] = {
        {"(", "bad pattern: "},
        {"[", "bad pattern: "},
        {"a{2,1}", "bad pattern: "},
        {"(a)\\1", "back reference"},
        {"(a{1,255}){1,255}", "too large"},
        {"((((((((((a+)+)+)+)+)+)+)+)+)+)+", "too large"},
        {"a{99999}", "too large"},
        {"a{99999999999999999999}", "too large"},
        {"x{500,}x{600}", "too large"},
        {"x{40}{,9999}", "too large"},
        {"^(a?){1,200}", "too large"},
        {"(\\b){1,40}", "too large"},
        {"(a*)*", "can be empty"},
        {"(a|b?)+", "can be empty"},
        {"(a|){2,}", "can be empty"},
        {"x{0}+", "can be empty"},
        {"(\\<\\b)*", "can be empty"},
        {"a|*", "can be empty"},
        {"((((((((((((((((((((((((((((((((((((((((((((((((((((((", "too large"},
    };
    workplace_put("work/a", "a\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *args = workplace_args("pattern", rows[i].pattern, NULL);
        const char *out = workplace_call(*state, "search_files", args, true);
        if (!strstr(out, rows[i].says))
            fail_msg("%s: %s", rows[i].pattern, out);
        free(args);
    }
}

static void usual_patterns_are_accepted(void **state)
{
    static const struct {
        const char *pattern, *text;
    } rows[] = {
        {"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "01890a5d-ac96-774b-bcce-b302099a8057"},
        {"[[:alpha:]_][[:alnum:]_]*\\(", "main("},
        {"[]\\{(]{1,200}", "]"},
        {"[^]{999}]x", "ax"},
        {"(((a|b)+c)*d?){1,8}", "aabcd"},
        {"^(foo|bar|baz)[ \t]*=.{0,400}$", "foo = x"},
        {"(a*b|c)*\\.+x?", "aabc.."},
        {"^(a|)(b|^)?$", "a"},
        {"( *, *[a-z]+)*;$", " , a,b;"},
        {"\\\\\\{1\\}", "\\{1}"},
        {"([[.-.]]|[[=a=]])+", "-a"},
        {"", "anything"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        regex_t pattern;
        struct error e = {0};
        if (!pattern_compile(&pattern, rows[i].pattern, false, &e))
            fail_msg("%s: %s", rows[i].pattern, e.text);
        assert_int_equal(regexec(&pattern, rows[i].text, 0, NULL, 0), 0);
        regfree(&pattern);
    }
}

/* Whatever the pattern: no crash, no long compilation, no reading beyond its end. */
static void random_patterns(void **state)
{
    static const char *const parts[] = {"a",  "[",   "]",  "(",  ")",    "{",   "}",      "1",
                                        ",",  "99",  "\\", "*",  "+",    "?",   "|",      "^",
                                        "[:", ":]",  "[=", "[.", "-",    "{3}", "{1,40}", "$",
                                        "(a", "[^]", ".",  "ü",  "\xff", "{,"};
    (void)state;
    srand((unsigned)support_seed());
    for (int round = 0; round < 10000; round++) {
        regex_t pattern;
        struct glob glob;
        struct error e = {0};
        struct buf text = BUF_INIT;
        for (int n = rand() % 12; n >= 0; n--)
            buf_addstr(&text, parts[(size_t)rand() % (sizeof parts / sizeof *parts)]);
        char *exact = mem_strndup(text.data, text.len);
        int64_t start = clock_mono_ms();
        if (pattern_compile(&pattern, exact, rand() % 2, &e)) {
            regexec(&pattern, "aaaa[]ü", 0, NULL, 0);
            regfree(&pattern);
        }
        if (clock_mono_ms() - start > 5000)
            fail_msg("slow: %s", exact);
        if (glob_read(&glob, exact, &e)) {
            glob_matches(&glob, "a/b/c");
            glob_release(&glob);
        }
        free(exact);
        buf_release(&text);
    }
}

/* The worst that is accepted, on the worst text, and yet the stop is heard. */
static void an_evil_pattern_can_be_stopped(void **state)
{
    struct workplace *w = *state;
    size_t len = 2 * 1024 * 1024;
    char *text = mem_alloc(len + 1);
    memset(text, 'a', len);
    workplace_put("work/evil", text);
    free(text);
    w->context.deadline_ms = clock_mono_ms() + 300;
    const char *out =
        workplace_call(w, "search_files", "{\"pattern\":\"([a-f]|[b-z])*a[a-z]{18}q\"}", true);
    assert_string_equal(out, "[timed out; the rest was not searched]\n");
    assert_true(clock_mono_ms() - w->context.deadline_ms < 5000);
    w->context.deadline_ms = clock_mono_ms() + 60000;
    workplace_interrupt(w);
    assert_string_equal(workplace_call(w, "search_files", "{\"pattern\":\"(x+x+)+y\"}", true),
                        "interrupted");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, workplace_setup, workplace_teardown)

int main(void)
{
    const struct CMUnitTest all[] = {
        TEST(finds_lines_in_the_order_of_paths),
        TEST(takes_globs),
        TEST(says_what_it_left_out),
        TEST(its_result_is_bounded),
        TEST(long_lines_are_cut_around_the_match),
        TEST(pieces_overlap),
        TEST(what_it_shows_is_clean),
        TEST(bad_patterns_are_told),
        cmocka_unit_test(usual_patterns_are_accepted),
        cmocka_unit_test(random_patterns),
        TEST(an_evil_pattern_can_be_stopped),
    };
    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests_name("search_files", all, NULL, NULL);
}
