/* The program's memory: libraries are loaded only when they are needed, and a long answer takes
 * little more than its text. */
#include <unistd.h>

#include "session/capability.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"

#ifdef LIBCURL_FILE
static const char libcurl[] = LIBCURL_FILE;
#else
static const char libcurl[] = "";
#endif
#ifdef STATIC_LIBSTDCXX
enum { HAS_OWN_CXX = 1 };
#else
enum { HAS_OWN_CXX = 0 };
#endif
/* A name that the loader looks for, where another file can be found first. */
static bool libcurl_is_looked_for(void)
{
    return sizeof libcurl > 1 && libcurl[0] != '/';
}

/* The files that the screen's program has mapped, a line each. */
static const char *mapped(struct screen *s)
{
    return support_read(support_text("/proc/%ld/maps", (long)screen_pid(s)));
}

FIXTURE(scene_setup, scene_teardown);

TEST_IF(libcurl_is_looked_for(), test_the_network_is_loaded_by_the_first_request)
{
    if (access("/proc/self/maps", R_OK) != 0)
        skip();
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "a draft", "a draft");
    assert_no_text(mapped(s), libcurl);
    assert_no_text(mapped(s), "libssl");
    assert_no_text(mapped(s), "libgnutls");
#ifdef LIBXML2_FILE
    assert_no_text(mapped(s), LIBXML2_FILE);
#endif
#ifdef LIBARCHIVE_FILE
    assert_no_text(mapped(s), LIBARCHIVE_FILE);
#endif
    if (HAS_OWN_CXX)
        assert_no_text(mapped(s), "libstdc++");
    screen_ctrl(s, 'u');
    scene_exchange(s, "hello", "Hello from the scripted model.");
    assert_text(mapped(s), libcurl);
    scene_leave(s);
}

/* A program that needs no server runs without libcurl. */
TEST_IF(libcurl_is_looked_for(), test_a_libcurl_that_cannot_be_loaded_is_told)
{
    support_write(support_path(libcurl), "no library\n");
    setenv("LD_LIBRARY_PATH", support_dir(), 1);
    struct result r = RUN("run", "hello");
    struct result offline = RUN("run", "--provider", "offline", "hello");
    unsetenv("LD_LIBRARY_PATH");
    expect(r, 1, "libcurl cannot be loaded: ");
    assert_text(r.err, "; check that it is installed");
    run_ok(offline);
}

/* ---- after a long answer ---- */

enum { MIB = 1024 * 1024, TEXTS = 2, BESIDE_KIB = 2048 };

/* Memory of its own that the screen's program has, without files: KiB. -1: the system does not
 * tell. */
static long own_kib(struct screen *s)
{
    const char *path = support_text("/proc/%ld/status", (long)screen_pid(s));
    const char *field = access(path, R_OK) == 0 ? strstr(support_read(path), "RssAnon:") : NULL;
    return field ? strtol(field + strlen("RssAnon:"), NULL, 10) : -1;
}

struct bound {
    struct screen *screen;
    long most, seen;
};

static bool is_below(void *context)
{
    struct bound *b = context;
    (void)screen_pump(b->screen, 1); /* the rest of the drawing */
    b->seen = own_kib(b->screen);
    return b->seen <= b->most;
}

static char *long_answer(const char *end)
{
    struct buf text = BUF_INIT;
    for (int i = 0; text.len < MIB; i++)
        buf_addf(&text,
                 "## Part %d\n\nSome *text* that goes on for a while, with `code` and [a link]"
                 "(https://example.org/%d).\n\n- one of %d\n- two\n\n```c\nreturn %d;\n```\n\n",
                 i, i, i, i);
    buf_addstr(&text, end);
    return support_keep(buf_take(&text));
}

/* One copy in the history, for the next request, and one in the transcript; no copies from the
 * store, the network and the screen. If sessions are not kept, the store is in memory. */
TEST_IF(SUPPORT_TELLS_MEMORY && capability_store(), test_an_answer_leaves_little_more_than_its_text)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hello", "Hello from the scripted model.");
    long before = own_kib(s);
    if (before < 0)
        skip();
    scene_queue(.text = long_answer("The end of it."), .piece = 200);
    scene_ask(s, "much", "The end of it.");
    struct bound b = {s, before + TEXTS * MIB / 1024 + BESIDE_KIB, 0};
    bool below = support_wait_until(is_below, &b, WAIT_MS);
    print_message("%ld KiB more after 1 MiB\n", b.seen - before);
    assert_true(below);
    scene_leave(s);
}
