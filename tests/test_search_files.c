/* The tool search_files, and the patterns and globs that it takes. */
#include <fcntl.h>
#include <unistd.h>

#include "agent/pattern.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "tests/workplace.h"

static const char *search(const char *args)
{
    return workplace_call("search_files", args, false);
}

static void put_bytes(const char *name, const void *bytes, size_t len)
{
    int fd = open(support_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    close(fd);
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

BEFORE_ALL(support_utf8);
FIXTURE(workplace_setup, workplace_teardown);

TEST(finds_lines_in_the_order_of_paths)
{
    make_tree();
    assert_string_equal(search("{\"pattern\":\"int\"}"),
                        ".hidden:1: int h\n"
                        "src.txt:1: int main\n"
                        "src/a.h:2: print\n"
                        "src/b.c:2: int x;\n"
                        "src/b.c:3: \tint y;\n"
                        "src/deep/c.c:1: an int without an "
                        "end\n");
    assert_string_equal(search("{\"pattern\":\"^int\",\"ignore_case\":true,\"path\":"
                               "\"src/\"}"),
                        "src/a.h:1: INT z;\nsrc/b.c:2: int x;\n");
    assert_string_equal(search("{\"pattern\":\"y;$\",\"path\":\"./src/b.c\"}"),
                        "./src/b.c:3: \tint y;\n");
    assert_string_equal(search("{\"pattern\":\"int (y|x)\",\"path\":\"link\"}"),
                        "link/b.c:2: int x;\nlink/b.c:3: \tint y;\n");
    assert_string_equal(search("{\"pattern\":\"nowhere\"}"), "[no match in 5 text files]\n");
    assert_string_equal(search("{\"pattern\":\"^$\",\"path\":\"src\"}"),
                        "[no match in 3 text files]\n");
}

TEST(takes_globs)
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
        AUTO(buf_release) struct buf files = BUF_INIT;
        auto_free char *args = workplace_args("pattern", "int", "glob", rows[i].glob, NULL);
        const char *out = search(args);
        for (const char *line = out; *line && *line != '['; line = strchr(line, '\n') + 1) {
            size_t len = strcspn(line, ":");
            if (files.len >= len && memcmp(files.data + files.len - len, line, len) == 0)
                continue;
            buf_addstr(&files, files.len > 0 ? " " : "");
            buf_add(&files, line, len);
        }
        assert_string_equal(files.data, rows[i].files);
    }
    const char *args = "{\"pattern\":\"x\",\"glob\":\"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\"}";
    assert_non_null(strstr(workplace_call("search_files", args, true), "64 patterns"));
}

TEST(says_what_it_left_out)
{
    AUTO(buf_release) struct buf path = BUF_INIT;
    buf_addstr(&path, "work");
    for (int i = 0; i < 33; i++) {
        buf_addstr(&path, "/d");
        workplace_mkdir(path.data);
        if (i == 30 || i == 31) { /* the last level that is searched, and one too many */
            workplace_put(support_text("%s/file", path.data), "needle\n");
        }
    }
    char *large = support_keep(mem_alloc(9 * 1024 * 1024));
    memset(large, '\n', 9 * 1024 * 1024);
    put_bytes("work/large", large, 9 * 1024 * 1024);
    const char *out = search("{\"pattern\":\"needle\"}");
    assert_non_null(strstr(out,
                           "/d/file:1: needle\n[1 file of more than 8 MiB left out]\n"
                           "[1 directory more than 32 levels deep left out]\n"));
    assert_null(strstr(strstr(out, "needle") + 1, "needle"));
    if (geteuid() != 0) {
        workplace_mkdir("work/closed");
        assert_int_equal(fchmodat(place.root_fd, "closed", 0, 0), 0);
        out = search("{\"pattern\":\"nothing\"}");
        assert_int_equal(fchmodat(place.root_fd, "closed", 0700, 0), 0);
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

TEST(its_result_is_bounded)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 2000; i++)
        buf_addf(&text, "line %d\n", i);
    workplace_put("work/many", text.data);
    place.context.max_output = 100000;
    const char *out = search("{\"pattern\":\"line\",\"limit\":3}");
    assert_string_equal(out,
                        "many:1: line 0\nmany:2: line 1\nmany:3: line 2\n"
                        "[more matches; the limit is 3 lines]\n");
    assert_int_equal(count(search("{\"pattern\":\"line\"}"), "many:"), 100);
    assert_string_equal(search("{\"pattern\":\"line 1$\",\"limit\":1}"),
                        "many:2: line 1\n"); /* exactly as many as may be */
    place.context.max_output = 2000;
    out = search("{\"pattern\":\"line\",\"limit\":1000}");
    assert_true(place.out.len <= 2000);
    assert_says(out, "\n[more matches; the output is full, narrow the search]\n", "![cut");
}

TEST(long_lines_are_cut_around_the_match)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 20000; i++)
        buf_addstr(&text, "ü");
    buf_addstr(&text, "needle");
    for (int i = 0; i < 20000; i++)
        buf_addstr(&text, "ü");
    buf_addstr(&text, "end\n");
    workplace_put("work/long", text.data);
    const char *out = search("{\"pattern\":\"needle\"}");
    assert_says(out, "long:1: …ü", "üneedleü", "ü…\n");
    assert_in_range(strlen(out), 250, 330);
    assert_true(utf8_valid(out, strlen(out)));
    assert_non_null(strstr(search("{\"pattern\":\"end$\"}"), "üend\n"));
    assert_string_equal(search("{\"pattern\":\"ü$\"}"), "[no match in 1 text file]\n");
    assert_string_equal(search("{\"pattern\":\"^needle\"}"), "[no match in 1 text file]\n");
}

TEST(what_it_shows_is_clean)
{
    put_bytes("work/evil\x1b", "a\x1b[31m\tneedle\r\xe2\x80\xa8other:1: \xff\n", 27);
    assert_string_equal(search("{\"pattern\":\"needle\"}"),
                        "evil\xe2\x90\x9b:1: a\xe2\x90\x9b[31m\tneedle  other:1: \xef\xbf\xbd\n");
}

TEST(bad_patterns_are_told)
{
    static const struct {
        const char *pattern, *says;
    } rows[] = {
        {"(", "parenthesis (at offset 1)"},
        {"foo)", "parenthesis (at offset 3)"},
        {"[", "missing"},
        {"a{2,1}", "order"},
        {"a{99999}", "too big"},
        {"x\\C", "disabled"},
        {"((((a{1,99}){1,99}){1,99}){1,99}){1,99}", "too large"},
    };
    workplace_put("work/a", "a\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *args = support_keep(workplace_args("pattern", rows[i].pattern, NULL));
        const char *out = workplace_call("search_files", args, true);
        assert_memory_equal(out, "bad pattern: ", 13);
        if (!strstr(out, rows[i].says) || !strstr(out, " (at offset ") || strchr(out, '\n'))
            fail_msg("%s: %s", rows[i].pattern, out);
    }
}

TEST(usual_patterns_are_accepted)
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
        {"\\bint\\s+\\w+\\(", "int main("},
        {"^\\d+[.]\\d*(?!x)$", "12.5"},
        {"(?i)größe", "GRÖSSE GRÖßE"},
        {"^[[:alpha:]]+$", "Größe"},
        {"^G.{3}e$", "Größe"},
        {"\\<b\\>", "<b>"},
        {"(a)\\1", "aa"},
        {"(a|)*b", "aab"},
        {"-e", "-e"},
        {"$(date)|'\"`x`", "'\"`x`"},
        {"", "anything"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT, expected = BUF_INIT;
        buf_addf(&text, "\n%s\n", rows[i].text);
        buf_addf(&expected, "a:2: %s\n", rows[i].text);
        workplace_put("work/a", text.data);
        char *args = support_keep(workplace_args("pattern", rows[i].pattern, NULL));
        const char *out = search(args);
        if (!strstr(out, expected.data))
            fail_msg("%s: %s", rows[i].pattern, out);
    }
}

static bool goes_on(void *context)
{
    int *asked = context;
    return ++*asked < 100;
}

/* For any pattern: no crash, no read beyond the end, and the tool returns. */
TEST(random_patterns)
{
    static const char *const parts[] = {"a",  "[",   "]",  "(",  ")",    "{",   "}",      "1",
                                        ",",  "99",  "\\", "*",  "+",    "?",   "|",      "^",
                                        "[:", ":]",  "[=", "[.", "-",    "{3}", "{1,40}", "$",
                                        "(a", "[^]", ".",  "ü",  "\xff", "{,"};
    static const char line[] = "aaaa1aaa\xff{a,99}üü\xc3(a[:a:])^$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-";
    int asked = 0;
    srand((unsigned)support_seed());
    for (int round = 0; round < 10000; round++) {
        struct glob glob;
        struct error e = {0};
        AUTO(buf_release) struct buf text = BUF_INIT;
        for (int n = rand() % 12; n >= 0; n--)
            buf_addstr(&text, parts[(size_t)rand() % (sizeof parts / sizeof *parts)]);
        char *exact = support_keep(mem_strndup(text.data, text.len));
        if (glob_read(&glob, exact, &e)) {
            glob_matches(&glob, "a/b/c");
            glob_release(&glob);
        }
        struct regex *r = regex_new(exact, round % 2, goes_on, &asked, &e);
        if (r) {
            size_t at = 0;
            asked = 0;
            if (regex_find(r, line, sizeof line - 1, &at) == REGEX_FOUND)
                assert_in_range(at, 0, sizeof line - 1);
            regex_free(r);
        } else {
            assert_int_equal(e.code, ERR_USAGE);
            assert_true(utf8_valid(e.text, strlen(e.text)));
        }
    }
}

TEST(large_files_are_searched)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    while (text.len < 3 * 1024 * 1024)
        buf_addstr(&text, "0123456789 0123456789 0123456789\n");
    buf_addstr(&text, "needle\n");
    for (int i = 0; i < 5; i++) {
        workplace_put(support_text("work/large%d", i), text.data);
    }
    const char *out = search("{\"pattern\":\"needle\"}");
    assert_int_equal(count(out, ":95327: needle\n"), 5);
    assert_int_equal(count(search("{\"pattern\":\"3\",\"limit\":2}"), "large0:"), 2);
}

/* A line is left out, the others are not; where it goes on so, the search ends. */
TEST(lines_that_take_too_much)
{
    static const char args[] = "{\"pattern\":\"^(a+)+$|needle\"}";
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addstr(&text, "needle\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\nneedle\n");
    workplace_put("work/a", text.data);
    assert_string_equal(search(args),
                        "a:1: needle\na:3: needle\n"
                        "[the pattern takes too many steps for 1 line, first a:2; make it "
                        "simpler]\n");
    for (int i = 0; i < 20; i++)
        buf_addstr(&text, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n");
    buf_addstr(&text, "needle\n");
    workplace_put("work/a", text.data);
    assert_string_equal(workplace_call("search_files", args, true),
                        "a:1: needle\na:3: needle\n"
                        "[the pattern takes too many steps for 10 lines, first a:2; make it "
                        "simpler: the rest was not searched]\n");
}

/* Nor does a long line take more memory than it may. */
TEST(long_lines_take_no_more_memory)
{
    size_t len = 3 * 512 * 1024;
    char *text = support_keep(mem_alloc(len + 1));
    memset(text, 'a', len);
    workplace_put("work/long", text);
    for (int compiled = 0; compiled < 2; compiled++)
        assert_string_equal(search(compiled ? "{\"pattern\":\"^(a|b|c)*$\"}"
                                            : "{\"pattern\":\"(*NO_JIT)^(a|b|c)*$\"}"),
                            "[no match in 1 text file]\n"
                            "[the pattern takes too many steps for 1 line, first long:1; make it "
                            "simpler]\n");
}

/* Each start position in the line needs a scan to its end. */
static const char hostile[] = "{\"pattern\":\"[a-c]*[a-c]*[q-z]\"}";

static void put_hostile_text(void)
{
    size_t len = 2 * 1024 * 1024;
    char *text = support_keep(mem_alloc(len + 1));
    for (size_t i = 0; i < len; i++)
        text[i] = "abc"[(i * i / 7 + i / 3) % 3];
    workplace_put("work/hostile", text);
}

TEST(a_hostile_pattern_runs_out_of_time)
{
    put_hostile_text();
    place.context.deadline_ms = clock_mono_ms() + 300;
    const char *out = workplace_call("search_files", hostile, true);
    assert_string_equal(out, "[timed out; the rest was not searched]\n");
    assert_true(clock_mono_ms() - place.context.deadline_ms < 5000);
}

/* Says stop when the time has come, as a person does in the midst of it. */
struct person {
    int64_t stop_ms;
};

static bool person_goes_on(void *context)
{
    const struct person *p = context;
    return clock_mono_ms() < p->stop_ms;
}

TEST(a_hostile_pattern_is_interrupted)
{
    put_hostile_text();
    struct person person = {.stop_ms = clock_mono_ms() + 300};
    const struct wakeup wakeup = {
        .fd = -1, .go_on = person_goes_on, .context = &person, .deadline_ms = person.stop_ms};
    place.context.wakeup = &wakeup;
    place.context.deadline_ms = clock_mono_ms() + 60000;
    assert_string_equal(workplace_call("search_files", hostile, true), "interrupted");
    assert_in_range(clock_mono_ms() - person.stop_ms, 0, 5000);
    place.context.wakeup = &place.wakeup;
    workplace_interrupt();
    assert_string_equal(workplace_call("search_files", hostile, true), "interrupted");
}
