#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/die.h"
#include "base/err.h"
#include "base/utf8.h"

static void codes_have_names_and_come_back(void **state)
{
    (void)state;
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

static void numbers_are_the_published_ones(void **state)
{
    (void)state;
    const struct err_info *info = err_info(ERR_SESSION_BUSY);
    assert_int_equal(info->rpc, -32002);
    assert_int_equal(info->rest, 409);
    assert_int_equal(info->exit_status, 1);
    assert_int_equal(err_info(ERR_USAGE)->exit_status, 64);
    assert_int_equal(err_info(ERR_BUDGET_EXHAUSTED)->exit_status, 2);
}

static void set_fills_in_and_returns_false(void **state)
{
    (void)state;
    struct error e;
    assert_false(err_set(&e, ERR_FILE_ERROR, "no %s in %d places", "file", 3));
    assert_int_equal(e.code, ERR_FILE_ERROR);
    assert_string_equal(e.text, "no file in 3 places");
    assert_false(err_set(NULL, ERR_FILE_ERROR, "nobody listens"));
}

static void errno_is_explained_and_kept(void **state)
{
    (void)state;
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

/* Whatever the alignment, a cut text is whole characters. */
static void long_text_is_cut_between_characters(void **state)
{
    (void)state;
    char text[1024];
    for (size_t lead = 0; lead < 4; lead++) {
        memset(text, 'a', lead);
        text[lead] = '\0';
        for (size_t i = 0; i < 200; i++)
            strcat(text, i % 2 ? "\xE6\xB0\xB4" : "\xF0\x9F\x98\x80");
        struct error e;
        err_set(&e, ERR_AGENT_ERROR, "%s", text);
        size_t len = strlen(e.text);
        assert_in_range(len, sizeof e.text - 4, sizeof e.text - 1);
        assert_true(utf8_valid(e.text, len));
        assert_memory_equal(e.text, text, len);
        for (size_t max = 200; max < sizeof e.text; max++) {
            size_t part = utf8_cut_bytes(text, strlen(text), max);
            errno = EIO;
            err_set_errno(&e, ERR_AGENT_ERROR, "%.*s", (int)part, text);
            assert_true(utf8_valid(e.text, strlen(e.text)));
            assert_cause_follows(&e, text, part);
        }
    }
}

static int hook_pipe;

static void restore_terminal(void)
{
    if (write(hook_pipe, "r", 1) != 1)
        _exit(1);
    die("again"); /* a hook that fails itself must not begin anew */
}

static void dying_runs_the_hook_once(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hook_pipe = ends[1];
        dup2(ends[1], STDERR_FILENO);
        die_set_hook(restore_terminal);
        die("out of memory");
    }
    close(ends[1]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 70);
    char said[64] = "";
    assert_true(read(ends[0], said, sizeof said - 1) > 0);
    assert_string_equal(said, "rtiro: again\n");
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_have_names_and_come_back),
        cmocka_unit_test(numbers_are_the_published_ones),
        cmocka_unit_test(set_fills_in_and_returns_false),
        cmocka_unit_test(errno_is_explained_and_kept),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(dying_runs_the_hook_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
