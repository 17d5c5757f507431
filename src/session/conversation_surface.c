/* What the surface does for tools: it reads and writes files that it has open, and runs commands.
 * Tools of a conversation run one after another, so there is one thing at a time that is wanted. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/conversation_private.h"

enum {
    TEXT_MS = 5000, /* a surface that says nothing keeps a tool that reads this long */
    END_MS = 3000,  /* … and one that was told that a command is to end */
    REASON_BYTES = 500
};

static void forget_answer(struct wanted *w)
{
    shape_release(&surface_answer_shape, &w->answer);
    w->waits = w->answered = false;
}

static struct notice *want(struct conversation *c, enum notice_type type)
{
    struct notice *n = notice_new(type);
    forget_answer(&c->wanted);
    c->wanted.waits = true;
    n->number = ++c->wanted.number;
    return n;
}

/* Nobody waits for it any more, but for what is left to say. */
static void tell_enough(struct conversation *c)
{
    struct notice *n = notice_new(NOTICE_ENOUGH);
    n->number = c->wanted.number;
    tell(c, n);
}

/* Whether it was answered by then. A stop ends the wait, too, unless it was `told`. */
static bool await_answer(struct conversation *c, int64_t until_ms, bool told)
{
    while (c->wanted.waits && (told || conversation_go_on(c))) {
        int64_t left = until_ms - clock_mono_ms();
        if (left <= 0 || !c->wanted.waits)
            break;
        int ms = left < INT_MAX ? (int)left : INT_MAX;
        struct operation_request *r =
            mailbox_wait(c->requests, told ? ms : wakeup_timeout(&c->wakeup, ms));
        if (r)
            conversation_handle(c, r);
    }
    return c->wanted.answered;
}

/* What a surface says is foreign. */
static void add_reason(const struct conversation *c, struct buf *out)
{
    struct buf clean = BUF_INIT;
    const char *text = c->wanted.answer.text ? c->wanted.answer.text : "";
    utf8_clean(&clean, text, strnlen(text, 4 * REASON_BYTES), UTF8_ONE_LINE);
    utf8_add_cut(out, clean.data, clean.len, REASON_BYTES);
    buf_release(&clean);
}

/* No answer came. */
static enum surface_outcome fail_silent(struct conversation *c, const char *what, struct buf *out)
{
    bool stopped = !conversation_go_on(c);
    c->wanted.waits = false;
    tell_enough(c);
    buf_addf(out, "%s; %s", stopped ? "interrupted" : "the editor did not answer in time", what);
    return SURFACE_FAILED;
}

static enum surface_outcome conclude(struct conversation *c, struct buf *out)
{
    enum surface_outcome outcome = c->wanted.answer.outcome;
    if (outcome == SURFACE_FAILED)
        add_reason(c, out);
    forget_answer(&c->wanted); /* it may have 30 MB */
    return outcome;
}

/* --- files ------------------------------------------------------------------------------------ */

static enum surface_outcome read_text(void *context, const struct tool_context *tool,
                                      const char *path, struct buf *out)
{
    struct conversation *c = context;
    struct notice *n = want(c, NOTICE_READ);
    int64_t until_ms = clock_mono_ms() + TEXT_MS;
    n->detail = mem_strdup(path);
    tell(c, n);
    if (!await_answer(c, until_ms < tool->deadline_ms ? until_ms : tool->deadline_ms, false))
        return fail_silent(c, "its text is not known", out);
    const char *text = c->wanted.answer.text;
    if (c->wanted.answer.outcome == SURFACE_DID)
        buf_addstr(out, text ? text : "");
    return conclude(c, out);
}

static enum surface_outcome write_text(void *context, const struct tool_context *tool,
                                       const char *path, const char *content, struct buf *out)
{
    struct conversation *c = context;
    struct notice *n = want(c, NOTICE_WRITE);
    n->detail = mem_strdup(path);
    n->text = mem_strdup(content);
    tell(c, n);
    if (!await_answer(c, tool->deadline_ms, false))
        return fail_silent(c, "whether it was written is not known, so read it again", out);
    return conclude(c, out);
}

/* --- commands --------------------------------------------------------------------------------- */

static void take_run(const struct wanted *w, struct surface_run *run)
{
    const struct surface_answer_params *answer = &w->answer;
    if (answer->text)
        buf_addstr(&run->output, answer->text);
    run->truncated = answer->truncated;
    run->status = answer->exit_status;
    run->signal = mem_strdup(answer->signal);
}

/* What is said in place of what it printed. */
static void note_reason(const struct conversation *c, struct surface_run *run)
{
    buf_addch(&run->output, '[');
    if (c->wanted.answered)
        add_reason(c, &run->output);
    else
        buf_addstr(&run->output, "the editor says nothing of it");
    buf_addstr(&run->output, "]\n");
}

static void tell_command(struct conversation *c, const struct surface_command *command)
{
    struct notice *n = want(c, NOTICE_RUN);
    n->text = mem_strdup(command->text);
    n->args = mem_strdup(command->first);
    n->detail = mem_strdup(command->directory);
    n->limit = (int64_t)command->max_output;
    tell(c, n);
}

/* What it has printed by then is worth a moment. */
static void end_command(struct conversation *c)
{
    tell_enough(c);
    await_answer(c, clock_mono_ms() + END_MS, true);
    c->wanted.waits = false;
}

static enum surface_outcome run_command(void *context, const struct tool_context *tool,
                                        const struct surface_command *command,
                                        struct surface_run *run, struct buf *out)
{
    struct conversation *c = context;
    (void)tool; /* its deadline is not before the command's */
    tell_command(c, command);
    bool ended = await_answer(c, command->deadline_ms, false);
    run->end = ended ? SURFACE_ENDED : conversation_go_on(c) ? SURFACE_LATE : SURFACE_INTERRUPTED;
    if (!ended)
        end_command(c);
    if (c->wanted.answered && c->wanted.answer.outcome == SURFACE_DID)
        take_run(&c->wanted, run);
    else if (!ended)
        note_reason(c, run);
    if (ended)
        return conclude(c, out);
    forget_answer(&c->wanted);
    return SURFACE_DID;
}

/* --- for the conversation --------------------------------------------------------------------- */

void conversation_know_surface(struct conversation *c)
{
    c->tool_surface = (struct tool_surface){
        .read = read_text, .write = write_text, .run = run_command, .context = c};
}

void conversation_forget_surface(struct conversation *c)
{
    forget_answer(&c->wanted);
}

bool run_answer_tool(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct surface_answer_params *p = params;
    struct wanted *w = &c->wanted;
    (void)result;
    if (!w->waits || p->number != w->number)
        return err_set(e, ERR_SESSION_NOT_RUNNING, "no tool waits for that answer");
    forget_answer(w);
    shape_copy(&surface_answer_shape, &w->answer, p);
    w->answered = true;
    return true;
}
