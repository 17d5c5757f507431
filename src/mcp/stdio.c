/* A server that is started as a program: one message in a line on its standard input and output. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/client_private.h"

extern char **environ;

struct stdio {
    struct mcp_client *c;
    struct child_command command;
    enum { LINE_BEGINS, LINE_OF_MESSAGE, LINE_OF_LOG } line; /* that is being read */
};

/* Lines that are no JSON are what programs print beside the protocol; they go to the log. */
static bool take(void *context, const char *bytes, size_t len)
{
    struct stdio *s = context;
    struct error e;
    bool ok = mcp_dialogue_heard(s->c, len);
    for (const char *end = bytes + len; ok && bytes < end;) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t piece = newline ? (size_t)(newline + 1 - bytes) : (size_t)(end - bytes);
        if (s->line == LINE_BEGINS && !strchr(" \t\r\n", *bytes))
            s->line = *bytes == '{' || *bytes == '[' ? LINE_OF_MESSAGE : LINE_OF_LOG;
        else if (s->line == LINE_BEGINS)
            piece = 1;
        if (s->line == LINE_OF_LOG)
            mcp_add_log(s->c, bytes, piece);
        else if (s->line == LINE_OF_MESSAGE && !rpc_peer_feed(s->c->peer, bytes, piece, &e)) {
            mcp_dialogue_close(s->c, "it sent a message of more than 32 MiB");
            ok = false;
        }
        if (newline && bytes + piece > newline)
            s->line = LINE_BEGINS;
        bytes += piece;
    }
    return ok;
}

static bool take_errors(void *context, const char *bytes, size_t len)
{
    struct stdio *s = context;
    mcp_add_log(s->c, bytes, len);
    return mcp_dialogue_heard(s->c, len);
}

static const char *output(void *context, size_t *len)
{
    struct mcp_client *c = ((struct stdio *)context)->c;
    const char *bytes = rpc_peer_output(c->peer, len);
    if (*len > RPC_OUTPUT_MAX)
        mcp_dialogue_close(c, "it does not read what it is sent");
    return c->closes && (*len == 0 || c->fault || c->afresh) ? NULL : bytes;
}

static void wrote(void *context, size_t len)
{
    rpc_peer_wrote(((struct stdio *)context)->c->peer, len);
}

/* At the end it has its time to go by itself, unless it is in the wrong. */
static int due(void *context)
{
    struct stdio *s = context;
    struct mcp_client *c = s->c;
    int ms = mcp_dialogue_due(c);
    if (!c->closes)
        return ms;
    s->command.deadline_ms = c->closes_ms + (c->fault || c->afresh ? 0 : MCP_GOODBYE_MS);
    int64_t left = s->command.deadline_ms - clock_mono_ms();
    return left > 0 ? (int)left : 0;
}

/* The variables that programs need to find their files, and those of the configuration. */
static void make_environment(const struct mcp_server *server, struct child_environment *e)
{
    child_environment_init(e, environ, CHILD_HELPER, "HOME USER LOGNAME SHELL TZ XDG_*");
    for (size_t i = 0; i < server->env.len; i++) {
        const struct mcp_pair *p = &server->env.items[i];
        size_t len = strlen(p->name), at = 0;
        char *variable = mem_printf("%s=%s", p->name, p->value);
        while (e->list.items[at] && strncmp(e->list.items[at], variable, len + 1) != 0)
            at++;
        if (e->list.items[at]) {
            free(e->list.items[at]);
            e->list.items[at] = variable;
        } else {
            vec_insert(&e->list, at, variable);
        }
    }
}

/* Why the program ended, with the last line of its log. */
static void explain(struct mcp_client *c, const struct child_result *r)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (r->end == CHILD_EXITED && r->status == 127)
        buf_addf(&text, "the command \"%s\" cannot be run", c->server->command);
    else if (r->end == CHILD_EXITED)
        buf_addf(&text, "it exited with status %d", r->status);
    else
        buf_addf(&text, "it was ended by signal %d", r->status);
    pthread_mutex_lock(&c->lock);
    size_t end = c->log.len;
    while (end > 0 && strchr(" \t\r\n", c->log.data[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && c->log.data[begin - 1] != '\n')
        begin--;
    if (end > begin)
        buf_addstr(&text, ": ");
    utf8_add_cut(&text, c->log.data + begin, end - begin, 160);
    pthread_mutex_unlock(&c->lock);
    c->fault = utf8_clean_line(text.data);
}

void mcp_run_stdio(struct mcp_client *c)
{
    const struct mcp_server *server = c->server;
    struct error e;
    struct child_result result;
    struct child_environment environment;
    AUTO(vec_release_local) VEC(const char *) argv = {0};
    /* The shell looks for the program in PATH. */
    static const char *const shell[] = {"/bin/sh", "-c", "exec \"$@\"", "sh"};
    for (size_t i = 0; i < sizeof shell / sizeof *shell; i++)
        vec_push(&argv, shell[i]);
    vec_push(&argv, server->command);
    for (size_t i = 0; i < server->args.len; i++)
        vec_push(&argv, server->args.items[i]);
    vec_push(&argv, NULL);
    make_environment(server, &environment);
    struct stdio s = {.c = c};
    s.command = (struct child_command){.argv = argv.items,
                                       .directory = server->cwd ? server->cwd : c->directory,
                                       .environment = environment.list.items,
                                       .output = output,
                                       .wrote = wrote,
                                       .take = take,
                                       .take_errors = take_errors,
                                       .due = due,
                                       .deadline_ms = INT64_MAX,
                                       .wakeup = &c->wakeup,
                                       .context = &s};
    if (!child_run(&s.command, &result, &e))
        mcp_dialogue_close(c, e.text);
    else if (!c->closes)
        explain(c, &result);
    child_environment_release(&environment);
}
