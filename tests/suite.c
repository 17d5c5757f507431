#include "tests/suite.h"

#include "base/vec.h"
#include "tests/kill_watch.h"

/* The tests of a file, registered by its constructors. */
struct file_tests {
    char name[64]; /* "test_json" */
    VEC(struct CMUnitTest) tests;
    CMFixtureFunction setup, teardown, begin_with;
    bool lacking;
    size_t skipped;
};

static VEC(struct file_tests) files;
static bool whole; /* fixtures clear the environment */

/* "../tests/test_json.c", as the compiler or make names a file, is "test_json". */
static void cut_name(const char *path, char name[64])
{
    const char *slash = strrchr(path, '/');
    snprintf(name, 64, "%s", slash ? slash + 1 : path);
    name[strcspn(name, ".")] = '\0';
}

static struct file_tests *find(const char *path)
{
    char name[64];
    cut_name(path, name);
    for (size_t i = 0; i < files.len; i++)
        if (strcmp(files.items[i].name, name) == 0)
            return &files.items[i];
    return NULL;
}

static struct file_tests *of_file(const char *path)
{
    struct file_tests *known = find(path);
    if (known)
        return known;
    struct file_tests new = {.lacking = false};
    cut_name(path, new.name);
    vec_push(&files, new);
    return &vec_last(&files);
}

static void skip_it(void **state)
{
    (void)state;
    skip();
}

void suite_add(const char *file, const char *name, CMUnitTestFunction f, const void *state)
{
    struct file_tests *to = of_file(file);
    struct CMUnitTest test = {name, f, to->setup, to->teardown, (void *)(uintptr_t)state};
    if (!f || to->lacking) {
        test = (struct CMUnitTest){name, skip_it, NULL, NULL, NULL};
        to->skipped++;
    }
    vec_push(&to->tests, test);
}

void suite_use(const char *file, CMFixtureFunction setup, CMFixtureFunction teardown)
{
    struct file_tests *to = of_file(file);
    to->setup = setup;
    to->teardown = teardown;
}

void suite_need(const char *file, bool there)
{
    of_file(file)->lacking = !there;
}

void suite_begin_with(const char *file, CMFixtureFunction setup)
{
    of_file(file)->begin_with = setup;
}

size_t suite_sample(size_t sample, size_t all)
{
    return whole ? all : sample;
}

static void forget_all(void)
{
    for (size_t i = 0; i < files.len; i++)
        vec_release(&files.items[i].tests);
    vec_release(&files);
}

int main(int argc, char **argv)
{
    kill_watch_launch(argv);
    whole = getenv("TEST_WHOLE");
    const struct file_tests *chosen = argc > 1         ? find(argv[1])
                                      : files.len == 1 ? files.items
                                                       : NULL;
    if (!chosen) {
        if (argc > 1)
            fprintf(stderr, "no file of tests is named %s\n", argv[1]);
        for (size_t i = 0; argc == 1 && i < files.len; i++)
            puts(files.items[i].name);
        forget_all();
        return argc > 1;
    }
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    bool none = chosen->skipped == chosen->tests.len;
    int failed = _cmocka_run_group_tests(chosen->name, chosen->tests.items, chosen->tests.len,
                                         chosen->begin_with, NULL);
    forget_all();
    return none ? SUPPORT_SKIPPED : failed;
}
