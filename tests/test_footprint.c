/* What the program holds in memory: libraries only once they are needed. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

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
static const bool libcurl_is_looked_for = sizeof libcurl > 1 && libcurl[0] != '/';

/* The files that the screen's program has mapped, a line each. */
static const char *mapped(struct screen *s)
{
    return support_read(support_text("/proc/%ld/maps", (long)screen_pid(s)));
}

FIXTURE(scene_setup, scene_teardown);

TEST_IF(libcurl_is_looked_for, test_the_network_is_loaded_by_the_first_request)
{
    if (access("/proc/self/maps", R_OK) != 0)
        skip();
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "a draft", "a draft");
    assert_no_text(mapped(s), libcurl);
    assert_no_text(mapped(s), "libssl");
    assert_no_text(mapped(s), "libgnutls");
    if (HAS_OWN_CXX)
        assert_no_text(mapped(s), "libstdc++");
    screen_ctrl(s, 'u');
    scene_exchange(s, "hello", "Hello from the scripted model.");
    assert_text(mapped(s), libcurl);
    scene_leave(s);
}

/* Who asks no server goes on without it. */
TEST_IF(libcurl_is_looked_for, test_a_libcurl_that_cannot_be_loaded_is_told)
{
    support_write(support_path(libcurl), "no library\n");
    setenv("LD_LIBRARY_PATH", support_dir(), 1);
    struct result r = RUN("run", "hello");
    struct result offline = RUN("run", "--provider", "offline", "hello");
    unsetenv("LD_LIBRARY_PATH");
    expect(r, 1, "libcurl cannot be loaded: ");
    assert_text(r.err, "; install it");
    run_ok(offline);
}
