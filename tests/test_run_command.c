/* The tool run_command: the model's result, the command's environment, and that no process
 * remains. */
#include <fcntl.h>
#include <unistd.h>

#include "agent/tool.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/utf8.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "tests/workplace.h"

enum { SOON_MS = 5000 };

static const char *run(const char *command, bool want_error)
{
    char *args = support_keep(workplace_args("command", command, NULL));
    return workplace_call("run_command", args, want_error);
}

FIXTURE(workplace_setup, workplace_teardown);

TEST(tells_output_and_status)
{
    static const struct {
        const char *command, *result;
        bool error;
    } rows[] = {
        {"echo one; echo two >&2; echo three", "one\ntwo\nthree\n[exit status 0]", false},
        {"printf no-newline; exit 2", "no-newline\n[exit status 2]", true},
        {"true", "[exit status 0]", false},
        {"cat; echo end of input", "end of input\n[exit status 0]", false},
        {"kill -9 $$", "[ended by signal 9]", true},
        {"-x", NULL, true},
        {"printf '\\033[1mbold\\r\\n\\377'", "\xe2\x90\x9b[1mbold\n\xef\xbf\xbd\n[exit status 0]",
         false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *out = run(rows[i].command, rows[i].error);
        if (rows[i].command[0] == '-') /* shells say it in their own words */
            assert_non_null(strstr(out, "[exit status 127]"));
        else
            assert_string_equal(out, rows[i].result);
    }
}

TEST(gets_no_secrets)
{
    static const char *const secrets[] = {
        "ANTHROPIC_API_KEY",     "OPENAI_API_KEY", "my_api_key", "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY", "CLIENT_SECRET",  "PGPASSWORD", "DB_PASSWORD_FILE",
        "TIRO_CHAT_TOOLS",       "GPG_PASSPHRASE", "TOKEN",      "NPM_TOKEN_READ",
        "SSH_AUTH_SOCK",         "MY_SERVICE_PW",  "CFLAGSX",    "DATABASE_URL"};
    static const char *const harmless[] = {"PATH", "CFLAGS", "XDG_CACHE_HOME", "LC_TIME"};
    setenv("TERM", "xterm-256color", 1);
    setenv("PAGER", "less", 1);
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        setenv(secrets[i], "hidden-value", 1);
    for (size_t i = 1; i < sizeof harmless / sizeof *harmless; i++)
        setenv(harmless[i], "shown-value", 1);
    place.context.max_output = 100000;
    const char *out = run("env", false);
    assert_null(strstr(out, "hidden-value"));
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        char *line = support_text("\n%s=", harmless[i]);
        assert_true(strstr(out, line) || strncmp(out, line + 1, strlen(line) - 1) == 0);
    }
    assert_string_equal(run("echo $TERM $PAGER; env | grep -c '^TERM='", false),
                        "dumb cat\n1\n[exit status 0]");
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        unsetenv(secrets[i]);
    for (size_t i = 1; i < sizeof harmless / sizeof *harmless; i++)
        unsetenv(harmless[i]);
}

TEST(each_kind_gets_its_own)
{
    char *from[] = {(char[]){"TERM=xterm"},
                    (char[]){"A=b"},
                    (char[]){"odd"},
                    (char[]){"PAGER="},
                    (char[]){"LC_TIME=C"},
                    (char[]){"MINE_ONE=1"},
                    (char[]){"OTHER=2"},
                    (char[]){"OTHERS=3"},
                    (char[]){"http_proxy=http://a:b@proxy"},
                    (char[]){"https_proxy=http://proxy"},
                    (char[]){"HOME=/h"},
                    NULL};
    static const char *const expected[] = {
        "LC_TIME=C", "MINE_ONE=1", "OTHER=2",  "https_proxy=http://proxy",
        "HOME=/h",   "TERM=dumb",  "PAGER=cat"};
    struct child_environment e;
    child_environment_init(&e, from, CHILD_OF_MODEL, "MINE_*, OTHER");
    assert_int_equal(e.list.len, sizeof expected / sizeof *expected + 1);
    for (size_t i = 0; i + 1 < e.list.len; i++)
        assert_string_equal(e.list.items[i], expected[i]);
    assert_null(vec_last(&e.list));
    child_environment_release(&e);
    child_environment_init(&e, from, CHILD_HELPER, NULL);
    assert_int_equal(e.list.len, 2);
    assert_string_equal(e.list.items[0], "LC_TIME=C");
    child_environment_release(&e);
}

static bool take_output(void *context, const char *bytes, size_t len)
{
    buf_add(context, bytes, len);
    return true;
}

static const char *run_with(const char *const *argv, char *const *environment)
{
    struct buf output = BUF_INIT;
    struct child_result result;
    struct error e;
    const struct child_command command = {.argv = argv,
                                          .environment = environment,
                                          .with_errors = true,
                                          .deadline_ms = clock_mono_ms() + SOON_MS,
                                          .take = take_output,
                                          .context = &output};
    assert_true(child_run(&command, &result, &e));
    assert_int_equal(result.status, 0);
    return support_keep(buf_take(&output));
}

/* The variables that the shell's script leaves must be those that a child begins with. */
TEST(a_shell_leaves_what_a_child_gets)
{
    static const char *const from[] = {"PATH=/usr/bin:/bin",
                                       "SECRET=x",
                                       "MULTI=a\nexport PATH=/evil\nexport B C\nMINE_X=y",
                                       "MINE_A=it's\ntwo  lines $(id) `id` *",
                                       "OTHER=http://ada:sesame@host/",
                                       "http_proxy=http://ada:sesame@host/",
                                       "HTTPS_PROXY=http://host/",
                                       "LC_ALL=C",
                                       "LCX=1",
                                       "TERM=xterm",
                                       "PAGER=less",
                                       "IFS=x",
                                       "tiro_name=y",
                                       NULL};
    static const char *const shells[][2] = {
        {"/bin/sh", "-u"}, {"/bin/bash", "--posix"}, {"/bin/dash", "-u"}, {"/bin/busybox", "sh"}};
    static const char show[] =
        "for name in PATH SECRET MULTI B MINE_A OTHER http_proxy HTTPS_PROXY"
        " LC_ALL LCX TERM PAGER tiro_name FIRST; do"
        " printenv \"$name\" || echo \"no $name\"; done; cat; exit 0";
    const char *const plain[] = {"/bin/sh", "-c", "--", show, NULL};
    AUTO(child_environment_release) struct child_environment e = {0}, given = {0};
    AUTO(buf_release) struct buf first = BUF_INIT;
    child_environment_script(&first, CHILD_OF_MODEL, "MINE_*, OTHER $(id) B*C");
    for (const char *const *v = from; *v; v++)
        vec_push(&given.list, mem_strdup(*v));
    vec_push(&given.list, NULL);
    child_environment_init(&e, given.list.items, CHILD_OF_MODEL, "MINE_*, OTHER $(id) B*C");
    const char *expected = run_with(plain, e.list.items);
    assert_non_null(strstr(expected, "no SECRET\n"));
    given.list.items[given.list.len - 1] = mem_printf("FIRST=%s", first.data);
    vec_push(&given.list, NULL);
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        const char *const argv[] = {"/usr/bin/env",    shells[i][0], shells[i][1], "-c",
                                    "eval \"$FIRST\"", "sh",         show,         NULL};
        if (access(shells[i][0], X_OK) == 0)
            assert_string_equal(run_with(argv, given.list.items), expected);
    }
}

TEST(keeps_the_beginning_and_the_end)
{
    const char *out = run("echo first; seq 1 20000; echo last; exit 3", true);
    assert_true(place.out.len <= place.context.max_output);
    assert_true(place.out.len > place.context.max_output / 2);
    assert_int_equal(strncmp(out, "first\n1\n2\n", 10), 0);
    assert_non_null(strstr(out, "\n20000\nlast\n[exit status 3]"));
    /* first\n + 1…20000 + last\n, without the shown part */
    const char *note = strstr(out, "\n[… ");
    const char *rest = strstr(out, " bytes left out …]\n");
    assert_non_null(note);
    assert_non_null(rest);
    size_t shown = (size_t)(note - out) + strlen(rest + strlen(" bytes left out …]\n")) -
                   strlen("[exit status 3]");
    assert_int_equal(strtoul(note + strlen("\n[… "), NULL, 10) + shown, 108894 + 6 + 5);
    assert_null(strstr(out, "[cut"));
}

TEST(cuts_between_characters)
{
    for (size_t max = 10; max < 20; max++)
        for (int count = 10; count < 20; count++) {
            AUTO(head_tail_release) struct head_tail h = {0};
            AUTO(buf_release) struct buf out = BUF_INIT;
            head_tail_init(&h, max);
            for (int i = 0; i < count; i++)
                head_tail_add(&h, "😀", strlen("😀"));
            head_tail_show(&h, &out);
            assert_says(out.data, " bytes left out …]\n😀", "!\xef\xbf\xbd");
        }
}

/* Any pieces of any bytes: valid, within the maximum, and with all bytes accounted for. */
TEST(head_and_tail_of_anything)
{
    static const char *const parts[] = {"a", "\n", "ü", "漢", "\xff", "\xc3", "\x1b", "word "};
    srand((unsigned)support_seed());
    for (int round = 0; round < 3000; round++) {
        AUTO(head_tail_release) struct head_tail h = {0};
        AUTO(buf_release) struct buf all = BUF_INIT, out = BUF_INIT;
        size_t max = 2 + (size_t)rand() % 60, piece;
        head_tail_init(&h, max);
        for (int n = rand() % 100; n > 0; n--)
            buf_addstr(&all, parts[(size_t)rand() % (sizeof parts / sizeof *parts)]);
        for (size_t at = 0; at < all.len; at += piece) {
            piece = 1 + (size_t)rand() % 20;
            piece = piece < all.len - at ? piece : all.len - at;
            head_tail_add(&h, all.data + at, piece);
        }
        head_tail_show(&h, &out);
        const char *note = strstr(out.data, "\n[… ");
        assert_true(utf8_valid(out.data, out.len));
        if (!note) {
            AUTO(buf_release) struct buf clean = BUF_INIT;
            utf8_clean(&clean, all.data, all.len, UTF8_MULTILINE);
            assert_string_equal(out.data, clean.data);
            assert_true(out.len <= max);
        } else {
            const char *rest = strstr(note, "…]\n") + strlen("…]\n");
            assert_true((size_t)(note - out.data) + strlen(rest) <= max);
            assert_true(strtoul(note + strlen("\n[… "), NULL, 10) > 0);
        }
    }
}

static bool is_dead(void *fifo)
{
    char byte;
    return read(*(int *)fifo, &byte, 1) == 0;
}

/* Readable until all who have it open for writing are dead. */
static int make_fifo(void)
{
    assert_int_equal(mkfifoat(place.root_fd, "fifo", 0600), 0);
    return openat(place.root_fd, "fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Output that was shown, a bar after each piece. A command that waits for a file goes on when the
 * text is there that it waits for. */
static struct {
    struct buf text;
    const char *first, *until; /* for the files "on" and "go" */
    int64_t last_ms;
    size_t most;
} shown;

static void show(void *context, struct tool_output *output)
{
    (void)context;
    if (output->anew)
        buf_clear(&shown.text);
    buf_addf(&shown.text, "%s|", output->text);
    assert_true(utf8_valid(output->text, strlen(output->text)));
    assert_true(output->ran_ms >= shown.last_ms);
    shown.last_ms = output->ran_ms;
    shown.most = strlen(output->text) > shown.most ? strlen(output->text) : shown.most;
    if (shown.first && strstr(shown.text.data, shown.first))
        support_write(support_path("work/on"), "");
    if (strstr(shown.text.data, shown.until))
        support_write(support_path("work/go"), "");
}

#define WAIT_FOR_ON "; until [ -e on ]; do sleep .01; done; "
#define WAIT_FOR_GO "; until [ -e go ]; do sleep .01; done"

TEST(its_output_is_shown_while_it_runs)
{
    static const struct {
        const char *command, *first, *until;
    } rows[] = {
        {"echo one" WAIT_FOR_GO, NULL, "|one\n|"},
        {"printf 'a\\r\\nb\\r20 %%\\r'" WAIT_FOR_ON "echo 30" WAIT_FOR_GO, "20 %|", "|\r30\n|"},
        {"printf 'x\\303'" WAIT_FOR_ON "printf '\\244\\000\\033\\377.'" WAIT_FOR_GO, "x|",
         "|ä␀␛\xef\xbf\xbd.|"},
        {"true" WAIT_FOR_GO, NULL, "||"}, /* its clock */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shown.text = (struct buf)BUF_INIT;
        shown.first = rows[i].first;
        shown.until = rows[i].until;
        shown.last_ms = 0;
        place.context.show = show;
        run(rows[i].command, false);
        assert_non_null(strstr(shown.text.data, rows[i].until));
        assert_null(strstr(shown.text.data, "a\r"));
        assert_true(i != 1 || strstr(shown.text.data, "a\nb\r20 %"));
        buf_release(&shown.text);
        unlink(support_path("work/on"));
        unlink(support_path("work/go"));
    }
}

TEST(what_is_shown_of_endless_output_is_bounded)
{
    shown.text = (struct buf)BUF_INIT;
    shown.first = NULL;
    shown.until = "the end\n|";
    shown.last_ms = 0;
    shown.most = 0;
    place.context.show = show;
    run("yes 0123456789 | head -c 3000000; echo the end" WAIT_FOR_GO, false);
    assert_true(shown.most <= 16384);
    buf_release(&shown.text);
}

TEST(a_timeout_ends_it_with_all_it_started)
{
    int fifo = make_fifo();
    int64_t start = clock_mono_ms();
    const char *out = workplace_call("run_command",
                                     "{\"command\":\"exec 4>fifo; (sleep 60; touch alive) & "
                                     "echo begun; sleep 60\",\"timeout\":1}",
                                     true);
    assert_string_equal(out, "begun\n[timed out after 1 s and was ended]");
    assert_in_range(clock_mono_ms() - start, 1000, 1000 + SOON_MS);
    assert_true(support_wait_until(is_dead, &fifo, SOON_MS));
    close(fifo);
    /* The user's limit holds for any timeout of the model. */
    place.context.deadline_ms = clock_mono_ms() + 100;
    start = clock_mono_ms();
    workplace_call("run_command", "{\"command\":\"sleep 60\",\"timeout\":3600}", true);
    assert_true(clock_mono_ms() - start < SOON_MS);
}

/* Stops when the command says that it runs, as a person would. */
static bool stop_when_it_runs(void *fifo)
{
    return read(*(int *)fifo, &(char){0}, 1) != 1;
}

TEST(an_interrupt_ends_it_with_all_it_started)
{
    int fifo = make_fifo();
    place.wakeup = (struct wakeup){.fd = fifo, .go_on = stop_when_it_runs, .context = &fifo};
    int64_t start = clock_mono_ms();
    const char *out =
        run("trap '' TERM INT; exec 4>fifo; (sleep 60; touch alive) & "
            "echo begun; echo >&4; sleep 60",
            true);
    assert_string_equal(out, "begun\n[interrupted]");
    assert_true(clock_mono_ms() - start < SOON_MS);
    assert_true(support_wait_until(is_dead, &fifo, SOON_MS));
    close(fifo);
}

TEST(the_background_ends_with_it)
{
    int fifo = make_fifo();
    assert_string_equal(run("sleep 60 4>fifo & echo left", false), "left\n[exit status 0]");
    assert_true(support_wait_until(is_dead, &fifo, SOON_MS));
    close(fifo);
}
