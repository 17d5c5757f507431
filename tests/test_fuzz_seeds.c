/* Every kept input of every target of the fuzzer, without the fuzzer. */
#include <dirent.h>
#include <locale.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "tests/fuzz/fuzz.h"
#include "tests/suite.h"

enum { LONGEST_SECONDS = 60, NAME_BYTES = 256 };

static int is_seed(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* cmocka takes a fault for the end of a test; here it is the end of the process. */
static void let_faults_end_it(void)
{
    static const int faults[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
}

/* Runs in a process of its own: `now` tells the parent which seed ended it. */
static int replay_directory(const struct fuzz_target *target, const char *directory, char *now)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_seed, alphasort);
    let_faults_end_it();
    setenv("TMPDIR", support_dir(), 1);
    alarm(LONGEST_SECONDS);
    for (int i = 0; i < count; i++) {
        auto_free char *path = paths_join(directory, entries[i]->d_name);
        snprintf(now, NAME_BYTES, "%s", entries[i]->d_name);
        AUTO(buf_release) struct buf bytes = {0};
        struct error e;
        buf_init(&bytes, 0);
        if (!paths_read_file(path, PATHS_FILE, &bytes, &e)) {
            fprintf(stderr, "%s\n", e.text);
            exit(1);
        }
        auto_free char *exact =
            mem_strndup(bytes.data, bytes.len); /* a sanitizer detects reads beyond the end */
        target->run((const uint8_t *)exact, bytes.len);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    snprintf(now, NAME_BYTES, "(none)");
    return count > 0 ? 0 : 1;
}

/* The name of the seed with which the target ended, to be freed; NULL: it went through all. */
static char *replay(const struct fuzz_target *target, const char *directory)
{
    char *now = mmap(NULL, NAME_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(now, MAP_FAILED);
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        exit(replay_directory(target, directory, now));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    char *failed = status == 0 ? NULL : mem_strdup(now);
    munmap(now, NAME_BYTES);
    return failed;
}

static void replay_target(void **state)
{
    const struct fuzz_target *target = *state;
    auto_free char *directory =
        mem_printf("%s/tests/fuzz/seeds/%s", getenv("SOURCE_DIR"), target->name);
    char *failed = replay(target, directory);
    if (failed)
        fail_msg(
            "tests/fuzz/seeds/%s/%s does not pass; FUZZ=%s tests/fuzz/fuzz FILE tries it alone",
            target->name, failed, target->name);
}

static int refuse_b(const uint8_t *data, size_t size)
{
    FUZZ_CHECK(size == 0 || data[0] != 'b');
    return 0;
}

/* A failing seed is reported by its name, and a target without seeds fails. */
FIXTURE(support_setup, support_teardown);

TEST(a_seed_that_fails_is_named)
{
    static const struct fuzz_target target = {"refuse_b", refuse_b, 10};
    char *failed = replay(&target, support_dir());
    assert_string_equal(failed, "(none)");
    free(failed);
    for (const char *name = "abc"; *name; name++) {
        auto_free char *path = support_path((char[]){*name, '\0'});
        support_write(path, (char[]){*name, '\0'});
    }
    failed = replay(&target, support_dir());
    assert_string_equal(failed, "b");
    free(failed);
}

static int use_utf8(void **state)
{
    (void)state;
    return !setlocale(LC_ALL, "C.UTF-8");
}
BEFORE_ALL(use_utf8);

__attribute__((constructor)) static void add_targets(void)
{
    for (int i = 0; i < FUZZ_TARGET_COUNT; i++)
        suite_add(__FILE__, fuzz_targets[i].name, replay_target, &fuzz_targets[i]);
}
