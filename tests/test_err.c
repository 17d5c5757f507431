#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/utf8.h"
#include "tests/suite.h"

TEST(codes_have_names_and_come_back)
{
    static const char *const names[] = {
#define X(name, rpc, rest, status) #name,
        ERR_TABLE(X)
#undef X
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_string_equal(err_info((enum err_code)i)->name, names[i]);
        assert_int_equal(err_from_name(names[i]), i);
    }
    assert_int_equal(err_from_name("NO_SUCH_ERROR"), ERR_AGENT_ERROR);
    assert_int_equal(err_from_name(""), ERR_AGENT_ERROR);
    assert_int_equal(err_from_name(NULL), ERR_AGENT_ERROR);
}

TEST(numbers_are_the_published_ones)
{
    const struct err_info *info = err_info(ERR_SESSION_BUSY);
    assert_int_equal(info->rpc, -32002);
    assert_int_equal(info->rest, 409);
    assert_int_equal(info->exit_status, 1);
    assert_int_equal(err_info(ERR_USAGE)->exit_status, 64);
    assert_int_equal(err_info(ERR_BUDGET_EXHAUSTED)->exit_status, 2);
}

TEST(set_fills_in_and_returns_false)
{
    struct error e;
    assert_false(err_set(&e, ERR_FILE_ERROR, "no %s in %d places", "file", 3));
    assert_int_equal(e.code, ERR_FILE_ERROR);
    assert_string_equal(e.text, "no file in 3 places");
    assert_false(err_set(NULL, ERR_FILE_ERROR, "nobody listens"));
}

TEST(errno_is_explained_and_kept)
{
    struct error e;
    errno = ENOENT;
    assert_false(err_set_errno(&e, ERR_FILE_ERROR, "cannot open %s", "x"));
    assert_int_equal(errno, ENOENT);
    char expected[256] = "cannot open x: ";
    strcat(expected, strerror(ENOENT));
    strcat(expected, "; is the name right?");
    assert_string_equal(e.text, expected);
    errno = EINTR; /* no row for it */
    err_set_errno(&e, ERR_FILE_ERROR, "cannot open %s", "x");
    assert_non_null(strstr(e.text, "; try again"));
    assert_false(err_set_errno(NULL, ERR_FILE_ERROR, "nobody listens"));
}

/* Nearly all of the text that there is room for, then the cause and the advice, whole. */
static void assert_cause_follows(const struct error *e, const char *text, size_t part)
{
    char tail[160] = ": ";
    strcat(strcat(tail, strerror(EIO)), "; try again, or run 'tiro doctor'");
    size_t len = strlen(e->text), tail_len = strlen(tail);
    size_t kept = part < 190 - tail_len ? part : 190 - tail_len;
    assert_memory_equal(e->text, text, kept);
    assert_string_equal(e->text + len - tail_len, tail);
    if (part + tail_len > sizeof e->text - 1)
        assert_memory_equal(e->text + len - tail_len - strlen("…"), "…", strlen("…"));
}

TEST(long_text_ends_with_a_sentence)
{
    char text[1024] = "It is over. ";
    struct error e;
    while (strlen(text) < 180)
        strcat(text, "a word ");
    strcat(text, "was said. Then v1.2 came; ");
    size_t end = strlen(text) - strlen("; ");
    while (strlen(text) < 400)
        strcat(text, "another word ");
    err_set(&e, ERR_AGENT_ERROR, "%s", text);
    assert_int_equal(strlen(e.text), end);
    assert_memory_equal(e.text, text, end);
    strcpy(text + end, ".");
    err_set(&e, ERR_AGENT_ERROR, "%s", text);
    assert_string_equal(e.text, text);
}

/* A cut text consists of whole characters, for any alignment. */
TEST(long_text_is_cut_between_characters)
{
    char text[1024];
    for (size_t lead = 0; lead < 4; lead++) {
        memset(text, 'a', lead);
        text[lead] = '\0';
        for (size_t i = 0; i < 200; i++)
            strcat(text, i % 2 ? "\xE6\xB0\xB4" : "\xF0\x9F\x98\x80");
        struct error e;
        err_set(&e, ERR_AGENT_ERROR, "%s", text);
        size_t len = strlen(e.text);
        assert_in_range(len, sizeof e.text - 7, sizeof e.text - 1);
        assert_string_equal(e.text + len - strlen("…"), "…");
        assert_true(utf8_valid(e.text, len));
        assert_memory_equal(e.text, text, len - strlen("…"));
        for (size_t max = 200; max < sizeof e.text; max++) {
            size_t part = utf8_cut_bytes(text, strlen(text), max);
            errno = EIO;
            err_set_errno(&e, ERR_AGENT_ERROR, "%.*s", (int)part, text);
            assert_true(utf8_valid(e.text, strlen(e.text)));
            assert_cause_follows(&e, text, part);
        }
    }
}

static int said_pipe[2];

/* Runs the hook in a child process, whose standard error is a pipe, and checks the text that it
 * prints before it dies. */
static void assert_dies_saying(void (*hook)(void), const char *what, const char *text)
{
    int status = 0;
    char said[64] = "";
    assert_int_equal(pipe(said_pipe), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(said_pipe[1], STDERR_FILENO);
        die_set_hook(hook);
        die(what);
    }
    close(said_pipe[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 70);
    assert_true(read(said_pipe[0], said, sizeof said - 1) > 0);
    assert_string_equal(said, text);
    close(said_pipe[0]);
}

static void say_restored(void)
{
    if (write(said_pipe[1], "r", 1) != 1)
        _exit(1);
}

static void restore_and_die(void)
{
    say_restored();
    die("again"); /* a hook that fails itself must not begin anew */
}

TEST(dying_runs_the_hook_once)
{
    assert_dies_saying(restore_and_die, "out of memory", "rtiro: again\n");
}

static void *die_beside(void *arg)
{
    (void)arg;
    die("the second");
}

/* While another thread dies, which must not be heard. */
static void restore_slowly(void)
{
    pthread_t other;
    struct pollfd heard = {.fd = said_pipe[0], .events = POLLIN};
    if (pthread_create(&other, NULL, die_beside, NULL) != 0 || poll(&heard, 1, 200) != 0)
        _exit(1);
    say_restored();
}

TEST(one_thread_dies_for_all)
{
    assert_dies_saying(restore_slowly, "the first", "rtiro: the first\n");
}
