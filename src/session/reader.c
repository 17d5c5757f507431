#include "session/reader.h"

#include <stdlib.h>

#include "base/mem.h"
#include "session/desk.h"
#include "session/export.h"
#include "session/reader_dropped.h"
#include "store/event_log.h"
#include "index/transcripts.h"
#include "store/sessions.h"

struct reader {
    struct desk desk;
};

static void take_events(struct notice *n, struct event_list *list)
{
    n->events.items = list->items.items;
    n->events.len = list->items.len;
    n->events.cap = list->items.cap;
}

static bool answer_page(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    struct event_list list = {0};
    n->number = c->number;
    if (!event_log_tail(d->store, c->name, c->number, c->limit, &list, &n->flag, e))
        return false;
    take_events(n, &list);
    return true;
}

static bool answer_list(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    const struct session_filter filter = {.text = c->text && *c->text ? c->text : NULL,
                                          .limit = c->limit};
    return sessions_list(d->store, &filter, &n->sessions, &n->number, e);
}

static bool answer_search(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    return transcripts_search(d->store, c->text ? c->text : "", NULL, c->limit, &n->hits, &n->flag, e);
}

static bool answer_preview(struct desk *d, const struct command *c, struct notice *n,
                           struct error *e)
{
    struct event_list list = {0};
    session_info_release(&n->info);
    if (!sessions_get(d->store, c->text, &n->info, e) ||
        !event_log_tail(d->store, c->text, c->number, c->limit, &list, &n->flag, e))
        return false;
    take_events(n, &list);
    return true;
}

static bool answer_export(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    struct catalog catalog;
    n->detail = mem_strdup(c->text);
    free(n->text);
    n->text = mem_strdup(c->name);
    catalog_borrow(&catalog, d->store, place_directory(d->place), "");
    bool ok = export_to_file(&catalog, c->name, (enum export_format)c->limit, c->text, false, e);
    catalog_release(&catalog);
    return ok;
}

static bool answer_inputs(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    struct text_list list = {0};
    if (!event_log_inputs(d->store, c->limit, &list, e))
        return false;
    n->texts.items = list.items.items;
    n->texts.len = list.items.len;
    n->texts.cap = list.items.cap;
    return true;
}

static bool answer_dropped(struct desk *d, const struct command *c, struct notice *n,
                           struct error *e)
{
    return reader_dropped(d->store, c, n, e);
}

static const struct answer answers[] = {
    {COMMAND_PAGE, NOTICE_PAGE, NULL, false, answer_page},
    {COMMAND_LIST, NOTICE_LIST, NULL, false, answer_list},
    {COMMAND_SEARCH, NOTICE_SEARCH, "search", false, answer_search},
    {COMMAND_PREVIEW, NOTICE_PREVIEW, NULL, false, answer_preview},
    {COMMAND_EXPORT, NOTICE_DONE, NULL, true, answer_export},
    {COMMAND_INPUTS, NOTICE_INPUTS, NULL, false, answer_inputs},
    {COMMAND_DROPPED, NOTICE_DROPPED, NULL, false, answer_dropped},
};

static const struct desk_role role = {
    .mode = STORE_READ_ONLY, .answers = answers, .answer_count = sizeof answers / sizeof *answers};

struct reader *reader_new(struct place *place, struct mailbox *notices)
{
    struct reader *r = mem_alloc(sizeof *r);
    desk_init(&r->desk, &role, place, notices);
    return r;
}

void reader_free(struct reader *r)
{
    if (!r)
        return;
    desk_release(&r->desk);
    free(r);
}

bool reader_answers(enum command_type type)
{
    return desk_find_answer(&role, type) != NULL;
}

void reader_ask(struct reader *r, struct command *c)
{
    desk_ask(&r->desk, c);
}
