/* Answers from a client of the Agent Client Protocol to a tool's requests. Any answer must lead to
 * a bounded, valid result that says how the tool ended. The input is up to three JSON texts,
 * separated by NULs: how a command ended, its output, an error. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/tool.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "serve/acp_private.h"
#include "serve/acp_updates.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_OUTPUT = 2000 };

/* The notices that the tool gets from the surface. */
struct told {
    struct surface_answer_params answer;
    int64_t status;
    char *signal;
};

static enum surface_outcome run(void *context, const struct tool_context *tool,
                                const struct surface_command *command, struct surface_run *run,
                                struct buf *out)
{
    const struct told *t = context;
    (void)tool, (void)out;
    FUZZ_CHECK(command->max_output > 0 && command->max_output <= MAX_OUTPUT);
    buf_addstr(&run->output, t->answer.text);
    run->truncated = t->answer.truncated;
    run->status = t->status;
    run->signal = mem_strdup(t->signal);
    return SURFACE_DID;
}

static void check_result(const struct told *t)
{
    const struct tool_surface surface = {.run = run, .context = (void *)(uintptr_t)t};
    const struct tool_host host = {
        .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), .root = "/", .surface = &surface};
    const struct wakeup wakeup = {.fd = -1};
    const struct tool_context context = {
        .max_output = MAX_OUTPUT, .deadline_ms = clock_mono_ms() + 10000, .wakeup = &wakeup};
    struct toolset tools;
    struct tool_call call;
    AUTO(buf_release) struct buf out = BUF_INIT;
    toolset_init(&tools, tool_sources, &host);
    FUZZ_CHECK(tool_call_prepare(&call, &tools, "run_command", "{\"command\":\"x\"}", &out));
    bool failed = tool_call_run(&call, &context, &out);
    FUZZ_CHECK(failed == (t->signal || t->status != 0));
    FUZZ_CHECK(out.len <= MAX_OUTPUT && out.data[out.len - 1] == ']');
    FUZZ_CHECK(fuzz_is_clean(out.data, out.len, true));
    tool_call_release(&call);
    toolset_release(&tools);
    close(host.root_fd);
}

/* The next message in the form that rpc/peer.h passes on: valid UTF-8 without NULs. */
static struct json *next(const char **at, const char *end)
{
    size_t len = strlen(*at);
    bool fits = utf8_valid(*at, len) && !json_find_nul(*at, len);
    struct json *v = fits ? json_parse_foreign(*at, len, NULL) : NULL;
    *at += len;
    *at += *at < end;
    return v;
}

int fuzz_acp_answer(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_strndup((const char *)data, size);
    const char *at = text, *end = text + size;
    AUTO(json_free_local)
    struct json *exit = next(&at, end), *output = next(&at, end), *error = next(&at, end);
    struct told t = {.status = -1};
    acp_answer_exit(exit, &t.status, &t.signal);
    acp_answer_exit(json_get(output, "exitStatus"), &t.status, &t.signal);
    FUZZ_CHECK(t.status >= -1 && t.status <= UINT32_MAX && (!t.signal || *t.signal));
    t.answer.text = json_get_string(output, "output");
    t.answer.truncated = json_get_bool(output, "truncated", false);
    if (t.answer.text)
        check_result(&t);
    free(t.signal);
    const char *message = json_get_string(error, "message");
    const struct rpc_fault fault = {0, message ? message : "", json_get(error, "data")};
    auto_free char *why = acp_answer_refusal(error ? &fault : NULL, "fs/read_text_file");
    FUZZ_CHECK(*why && strlen(why) < 1100);
    return 0;
}
