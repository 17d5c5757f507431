#include "session/engine.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/die.h"
#include "base/mem.h"
#include "base/thread.h"
#include "config/config.h"
#include "provider/choose.h"
#include "session/conversation.h"

struct engine {
    struct mailbox *commands, *notices;
    struct conversation *conversation; /* the agent thread's */
    pthread_t thread;
};

static void free_command(void *item)
{
    command_free(item);
}

static void free_notice(void *item)
{
    notice_free(item);
}

static void *agent_main(void *arg)
{
    conversation_run(arg);
    return NULL;
}

void engine_hide_keys(void)
{
    config_hide_environment();
    choose_hide_keys();
}

struct engine *engine_new(const struct engine_options *options)
{
    struct engine *s = mem_alloc(sizeof *s);
    s->commands = mailbox_new(free_command);
    s->notices = mailbox_new(free_notice);
    s->conversation = conversation_new(options, s->commands, s->notices);
    if (!thread_start(&s->thread, agent_main, s->conversation))
        die("cannot start a thread");
    return s;
}

void engine_free(struct engine *s)
{
    if (!s)
        return;
    mailbox_push(s->commands, command_new(COMMAND_QUIT, NULL));
    pthread_join(s->thread, NULL);
    conversation_free(s->conversation);
    mailbox_free(s->commands);
    mailbox_free(s->notices);
    free(s);
}

void engine_send(struct engine *s, struct command *c)
{
    mailbox_push(s->commands, c);
}

struct mailbox *engine_notices(struct engine *s)
{
    return s->notices;
}
