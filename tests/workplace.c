#include "tests/workplace.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"

static bool go_on(void *context)
{
    struct workplace *w = context;
    char byte;
    while (read(w->wake[0], &byte, 1) == 1)
        continue;
    return !w->stop;
}

int workplace_setup(void **state)
{
    struct workplace *w = mem_alloc(sizeof *w);
    if (support_setup(NULL) != 0 || pipe(w->wake) != 0)
        return -1;
    signal(SIGPIPE, SIG_IGN);
    workplace_mkdir("work");
    w->root = realpath(support_path("work"), NULL);
    w->root_fd = open(w->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fcntl(w->wake[0], F_SETFL, O_NONBLOCK);
    fcntl(w->wake[0], F_SETFD, FD_CLOEXEC);
    fcntl(w->wake[1], F_SETFD, FD_CLOEXEC);
    w->wakeup = (struct wakeup){.fd = w->wake[0], .go_on = go_on, .context = w};
    const struct tool_host host = {.root_fd = w->root_fd, .root = w->root};
    toolset_init(&w->tools, tool_sources, &host);
    w->context = (struct tool_context){
        .max_output = 2000, .deadline_ms = clock_mono_ms() + 60000, .wakeup = &w->wakeup};
    buf_init(&w->out, 0);
    *state = w;
    return 0;
}

int workplace_teardown(void **state)
{
    auto_free struct workplace *w = *state;
    toolset_release(&w->tools);
    close(w->root_fd);
    close(w->wake[0]);
    close(w->wake[1]);
    free(w->root);
    buf_release(&w->out);
    return support_teardown(NULL);
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

void workplace_interrupt(struct workplace *w)
{
    assert_int_equal(write(w->wake[1], "x", 1), 1);
    w->stop = true;
}

static const char *use(struct workplace *w, const char *tool, const char *args, bool want_error,
                       bool preview)
{
    struct tool_call call;
    buf_clear(&w->out);
    bool failed = !tool_call_prepare(&call, &w->tools, tool, args, &w->out);
    if (!failed)
        failed = preview ? !tool_call_preview(&call, &w->context, &w->out)
                         : tool_call_run(&call, &w->context, &w->out);
    tool_call_release(&call);
    if (failed != want_error)
        fail_msg("%s %.200s: %.200s", tool, args, w->out.data);
    return w->out.data;
}

const char *workplace_call(struct workplace *w, const char *tool, const char *args, bool want_error)
{
    return use(w, tool, args, want_error, false);
}

const char *workplace_preview(struct workplace *w, const char *tool, const char *args,
                              bool want_error)
{
    return use(w, tool, args, want_error, true);
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
