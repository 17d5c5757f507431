#include "session/reader.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/die.h"
#include "base/mem.h"
#include "session/notice.h"
#include "store/event_log.h"
#include "store/sessions.h"

struct reader {
    char *store_path;
    struct mailbox *notices;
    struct mailbox *questions;
    pthread_t thread;
    bool started;
    struct store *store; /* the thread's own */
};

static void free_command(void *item)
{
    command_free(item);
}

struct reader *reader_new(const char *store_path, struct mailbox *notices)
{
    struct reader *r = mem_alloc(sizeof *r);
    r->store_path = mem_strdup(store_path);
    r->notices = notices;
    r->questions = mailbox_new(free_command);
    return r;
}

void reader_free(struct reader *r)
{
    if (!r)
        return;
    if (r->started) {
        mailbox_push(r->questions, command_new(COMMAND_QUIT, NULL));
        pthread_join(r->thread, NULL);
    }
    store_close(r->store);
    mailbox_free(r->questions);
    free(r->store_path);
    free(r);
}

/* A store that was never written is an empty one. */
static bool open_store(struct reader *r, struct error *e)
{
    if (r->store || !r->store_path || access(r->store_path, F_OK) != 0)
        return true;
    return store_open(r->store_path, STORE_READ_ONLY, &r->store, e);
}

static bool answer_page(struct reader *r, const struct command *c, struct notice *n,
                        struct error *e)
{
    struct event_list list = {0};
    n->type = NOTICE_PAGE;
    n->number = c->number;
    if (!event_log_tail(r->store, c->name, c->number, c->limit, &list, &n->flag, e))
        return false;
    n->events.items = list.items.items;
    n->events.len = list.items.len;
    n->events.cap = list.items.cap;
    return true;
}

static bool answer_list(struct reader *r, const struct command *c, struct notice *n,
                        struct error *e)
{
    n->type = NOTICE_LIST;
    return sessions_list(r->store, c->limit, &n->sessions, e);
}

static bool answer_inputs(struct reader *r, const struct command *c, struct notice *n,
                          struct error *e)
{
    struct text_list list = {0};
    n->type = NOTICE_INPUTS;
    if (!event_log_inputs(r->store, c->limit, &list, e))
        return false;
    n->texts.items = list.items.items;
    n->texts.len = list.items.len;
    n->texts.cap = list.items.cap;
    return true;
}

static const struct question {
    enum command_type command;
    enum notice_type empty; /* the answer where nothing is kept */
    bool (*answer)(struct reader *r, const struct command *c, struct notice *n, struct error *e);
} questions[] = {
    {COMMAND_PAGE, NOTICE_PAGE, answer_page},
    {COMMAND_LIST, NOTICE_LIST, answer_list},
    {COMMAND_INPUTS, NOTICE_INPUTS, answer_inputs},
};

static const struct question *find_question(enum command_type type)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (questions[i].command == type)
            return &questions[i];
    return NULL;
}

static void answer(struct reader *r, const struct command *c)
{
    const struct question *q = find_question(c->type);
    struct notice *n = notice_new(q->empty);
    n->number = c->number;
    bool ok = open_store(r, &n->error) && (!r->store || q->answer(r, c, n, &n->error));
    if (!ok) {
        n->type = NOTICE_ERROR;
        n->command = c->type;
    }
    mailbox_push(r->notices, n);
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    for (;;) {
        struct command *c = mailbox_wait(r->questions, -1);
        bool quit = c->type == COMMAND_QUIT;
        if (!quit)
            answer(r, c);
        command_free(c);
        if (quit)
            return NULL;
    }
}

void reader_ask(struct reader *r, struct command *c)
{
    mailbox_push(r->questions, c);
    if (r->started)
        return;
    if (pthread_create(&r->thread, NULL, reader_main, r) != 0)
        die("cannot start a thread");
    r->started = true;
}
