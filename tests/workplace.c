#include "tests/workplace.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"

struct workplace place;

static bool go_on(void *context)
{
    (void)context;
    char byte;
    while (read(place.wake[0], &byte, 1) == 1)
        continue;
    return !place.stop;
}

int workplace_setup(void **state)
{
    memset(&place, 0, sizeof place);
    if (support_setup(state) != 0 || pipe(place.wake) != 0)
        return -1;
    signal(SIGPIPE, SIG_IGN);
    workplace_mkdir("work");
    place.root = realpath(support_path("work"), NULL);
    place.root_fd = open(place.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fcntl(place.wake[0], F_SETFL, O_NONBLOCK);
    fcntl(place.wake[0], F_SETFD, FD_CLOEXEC);
    fcntl(place.wake[1], F_SETFD, FD_CLOEXEC);
    place.wakeup = (struct wakeup){.fd = place.wake[0], .go_on = go_on};
    const struct tool_host host = {.root_fd = place.root_fd, .root = place.root};
    toolset_init(&place.tools, tool_sources, &host);
    place.context = (struct tool_context){
        .max_output = 2000, .deadline_ms = clock_mono_ms() + 60000, .wakeup = &place.wakeup};
    buf_init(&place.out, 0);
    return 0;
}

int workplace_teardown(void **state)
{
    toolset_release(&place.tools);
    close(place.root_fd);
    close(place.wake[0]);
    close(place.wake[1]);
    free(place.root);
    buf_release(&place.out);
    return support_teardown(state);
}

void workplace_put(const char *name, const char *text)
{
    support_write(support_path(name), text);
}

void workplace_mkdir(const char *name)
{
    assert_int_equal(mkdir(support_path(name), 0700), 0);
}

void workplace_link(const char *target, const char *name)
{
    assert_int_equal(symlink(target, support_path(name)), 0);
}

void workplace_interrupt(void)
{
    place.stop = true; /* before a thread that is woken asks */
    assert_int_equal(write(place.wake[1], "x", 1), 1);
}

static const char *use(const char *tool, const char *args, bool want_error, bool preview)
{
    struct tool_call call;
    buf_clear(&place.out);
    bool failed = !tool_call_prepare(&call, &place.tools, tool, args, &place.out);
    if (!failed)
        failed = preview ? !tool_call_preview(&call, &place.context, &place.out)
                         : tool_call_run(&call, &place.context, &place.out);
    tool_call_release(&call);
    if (failed != want_error)
        fail_msg("%s %.200s: %.200s", tool, args, place.out.data);
    return place.out.data;
}

const char *workplace_call(const char *tool, const char *args, bool want_error)
{
    return use(tool, args, want_error, false);
}

const char *workplace_preview(const char *tool, const char *args, bool want_error)
{
    return use(tool, args, want_error, true);
}

char *workplace_args(const char *name, ...)
{
    AUTO(json_free_local) struct json *args = json_new_object();
    va_list list;
    va_start(list, name);
    for (; name; name = va_arg(list, const char *))
        json_set_string(args, name, va_arg(list, const char *));
    va_end(list);
    return json_print(args);
}
