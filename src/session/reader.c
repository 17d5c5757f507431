#include "session/reader.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/die.h"
#include "base/mem.h"
#include "session/export.h"
#include "session/notice.h"
#include "session/reader_dropped.h"
#include "store/event_log.h"
#include "store/search.h"
#include "store/sessions.h"

struct reader {
    char *store_path, *directory;
    struct mailbox *notices;
    struct mailbox *questions;
    pthread_t thread;
    bool started;
    struct store *store; /* the thread's own once it has started; NULL: see `fault` */
    struct error fault;
};

static void free_command(void *item)
{
    command_free(item);
}

struct reader *reader_new(const char *store_path, const char *directory, struct mailbox *notices)
{
    struct reader *r = mem_alloc(sizeof *r);
    r->store_path = mem_strdup(store_path);
    r->directory = mem_strdup(directory);
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
        if (r->store)
            store_interrupt(r->store);
        pthread_join(r->thread, NULL);
    }
    store_close(r->store);
    mailbox_free(r->questions);
    free(r->store_path);
    free(r->directory);
    free(r);
}

static void take_events(struct notice *n, struct event_list *list)
{
    n->events.items = list->items.items;
    n->events.len = list->items.len;
    n->events.cap = list->items.cap;
}

static bool answer_page(struct reader *r, const struct command *c, struct notice *n,
                        struct error *e)
{
    struct event_list list = {0};
    n->number = c->number;
    if (!event_log_tail(r->store, c->name, c->number, c->limit, &list, &n->flag, e))
        return false;
    take_events(n, &list);
    return true;
}

static bool answer_list(struct reader *r, const struct command *c, struct notice *n,
                        struct error *e)
{
    const struct session_filter filter = {.text = c->text && *c->text ? c->text : NULL,
                                          .limit = c->limit};
    return sessions_list(r->store, &filter, &n->sessions, &n->number, e);
}

static bool answer_search(struct reader *r, const struct command *c, struct notice *n,
                          struct error *e)
{
    return search_texts(r->store, c->text ? c->text : "", NULL, c->limit, &n->hits, &n->flag, e);
}

static bool answer_preview(struct reader *r, const struct command *c, struct notice *n,
                           struct error *e)
{
    struct event_list list = {0};
    session_info_release(&n->info);
    if (!sessions_get(r->store, c->text, &n->info, e) ||
        !event_log_tail(r->store, c->text, c->number, c->limit, &list, &n->flag, e))
        return false;
    take_events(n, &list);
    return true;
}

static bool answer_export(struct reader *r, const struct command *c, struct notice *n,
                          struct error *e)
{
    struct catalog catalog;
    n->command = COMMAND_EXPORT;
    n->detail = mem_strdup(c->text);
    free(n->text);
    n->text = mem_strdup(c->name);
    catalog_borrow(&catalog, r->store, r->directory, "");
    bool ok = export_to_file(&catalog, c->name, (enum export_format)c->limit, c->text, false, e);
    catalog_release(&catalog);
    return ok;
}

static bool answer_inputs(struct reader *r, const struct command *c, struct notice *n,
                          struct error *e)
{
    struct text_list list = {0};
    if (!event_log_inputs(r->store, c->limit, &list, e))
        return false;
    n->texts.items = list.items.items;
    n->texts.len = list.items.len;
    n->texts.cap = list.items.cap;
    return true;
}

static bool answer_dropped(struct reader *r, const struct command *c, struct notice *n,
                           struct error *e)
{
    return reader_dropped(r->store, c, n, e);
}

static const struct question {
    enum command_type command;
    enum notice_type notice;
    bool (*answer)(struct reader *r, const struct command *c, struct notice *n, struct error *e);
} questions[] = {
    {COMMAND_PAGE, NOTICE_PAGE, answer_page},
    {COMMAND_LIST, NOTICE_LIST, answer_list},
    {COMMAND_SEARCH, NOTICE_SEARCH, answer_search},
    {COMMAND_PREVIEW, NOTICE_PREVIEW, answer_preview},
    {COMMAND_EXPORT, NOTICE_DONE, answer_export},
    {COMMAND_INPUTS, NOTICE_INPUTS, answer_inputs},
    {COMMAND_DROPPED, NOTICE_DROPPED, answer_dropped},
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
    struct notice *n = notice_new(q->notice);
    n->text = mem_strdup(c->text);
    n->error = r->fault;
    if (!r->store || !q->answer(r, c, n, &n->error)) {
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
    (void)store_open(r->store_path, STORE_READ_ONLY, &r->store, &r->fault);
    if (pthread_create(&r->thread, NULL, reader_main, r) != 0)
        die("cannot start a thread");
    r->started = true;
}
