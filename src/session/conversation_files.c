#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/conversation_private.h"

/* A surface that says nothing keeps a tool this long. */
enum { ANSWER_MS = 5000 };

static void ask_surface(struct conversation *c, const char *path)
{
    struct notice *n = notice_new(NOTICE_FILE);
    c->wanted_file =
        (struct wanted_file){.number = c->wanted_file.number + 1, .waits = true, .text = BUF_INIT};
    n->number = c->wanted_file.number;
    n->detail = mem_strdup(path);
    tell(c, n);
}

static void wait_for_answer(struct conversation *c, const struct tool_context *tool)
{
    int64_t end_ms = clock_mono_ms() + ANSWER_MS;
    while (c->wanted_file.waits && tool_stop(tool) == TOOL_GOES_ON) {
        int64_t left_ms = end_ms - clock_mono_ms();
        struct operation_request *r = left_ms > 0 ? mailbox_wait(c->requests, (int)left_ms) : NULL;
        if (!r)
            return;
        conversation_handle(c, r);
    }
}

static bool read_file(void *context, const struct tool_context *tool, const char *path,
                      struct buf *out)
{
    struct conversation *c = context;
    ask_surface(c, path);
    wait_for_answer(c, tool);
    struct wanted_file *wanted = &c->wanted_file;
    wanted->waits = false;
    if (wanted->has_text)
        buf_add(out, wanted->text.data, wanted->text.len);
    buf_release(&wanted->text);
    return wanted->has_text;
}

void conversation_know_files(struct conversation *c)
{
    c->tool_files = (struct tool_files){.read = read_file, .context = c};
}

bool run_answer_file(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct file_answer_params *p = params;
    struct wanted_file *wanted = &c->wanted_file;
    (void)result;
    if (!wanted->waits || p->number != wanted->number)
        return err_set(e, ERR_SESSION_NOT_RUNNING, "no tool waits for that file");
    wanted->waits = false;
    wanted->has_text = p->text != NULL;
    if (p->text)
        buf_addstr(&wanted->text, p->text);
    return true;
}
