#include "session/reader.h"

#include <stdlib.h>

#include "base/mem.h"
#include "session/desk.h"
#include "session/session_operations.h"

struct reader {
    struct desk desk;
};

static bool call(struct desk *d, const struct operation *o, const void *params, void *result,
                 struct error *e)
{
    struct operation_context context = {.met = NEED_STORE, .wakeup = d->wakeup};
    catalog_borrow(&context.catalog, d->store, place_directory(d->place), "");
    bool ok = operation_call(&context, o, params, result, e);
    operation_close(&context);
    return ok;
}

/* The events before one, 0: of the end. */
static bool answer_with_events(struct desk *d, const char *session, const struct command *c,
                               struct notice *n, struct error *e)
{
    const struct session_history_params params = {
        .session = session, .newest = true, .before = c->number, .limit = c->limit};
    struct session_history_result page = {0};
    if (!call(d, &operation_session_history, &params, &page, e))
        return false;
    session_info_release(&n->info);
    n->info = page.session;
    n->events.items = page.events.items.items;
    n->events.len = page.events.items.len;
    n->events.cap = page.events.items.cap;
    n->number = c->number;
    n->flag = page.more;
    return true;
}

static bool answer_page(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    return answer_with_events(d, c->name, c, n, e);
}

static bool answer_preview(struct desk *d, const struct command *c, struct notice *n,
                           struct error *e)
{
    return answer_with_events(d, c->text, c, n, e);
}

static bool answer_list(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    const struct session_filter filter = {.text = c->text && *c->text ? c->text : NULL,
                                          .limit = c->limit};
    struct session_list_result found = {0};
    if (!call(d, &operation_session_list, &filter, &found, e))
        return false;
    n->sessions = found.sessions;
    n->number = found.total;
    return true;
}

static bool answer_search(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    const struct session_search_params params = {.query = c->text ? c->text : "",
                                                 .limit = c->limit};
    struct session_search_result found = {0};
    if (!call(d, &operation_session_search, &params, &found, e))
        return false;
    n->hits = found.matches;
    n->flag = found.more;
    return true;
}

static bool answer_export(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    const struct session_export_params params = {
        .session = c->name, .path = c->text, .format = (enum export_format)c->limit};
    n->detail = mem_strdup(c->text);
    free(n->text);
    n->text = mem_strdup(c->name);
    return call(d, &operation_session_export, &params, NULL, e);
}

static bool answer_inputs(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    const struct session_inputs_params params = {.limit = c->limit};
    struct session_inputs_result found = {0};
    if (!call(d, &operation_session_inputs, &params, &found, e))
        return false;
    n->texts.items = found.texts.items;
    n->texts.len = found.texts.len;
    n->texts.cap = found.texts.cap;
    return true;
}

/* A newer search ends one that runs. */
enum { SEARCHING = 1 };

static const struct desk_answer answers[] = {
    {COMMAND_PAGE, NOTICE_PAGE, 0, false, answer_page},
    {COMMAND_LIST, NOTICE_LIST, 0, false, answer_list},
    {COMMAND_SEARCH, NOTICE_SEARCH, SEARCHING, false, answer_search},
    {COMMAND_PREVIEW, NOTICE_PREVIEW, 0, false, answer_preview},
    {COMMAND_EXPORT, NOTICE_DONE, 0, true, answer_export},
    {COMMAND_INPUTS, NOTICE_INPUTS, 0, false, answer_inputs},
};

static bool call_request(struct desk *d, const struct operation_request *r, void *result,
                         struct error *e)
{
    return call(d, r->operation, r->params, result, e);
}

static const struct desk_role role = {.mode = STORE_READ_ONLY,
                                      .call = call_request,
                                      .answers = answers,
                                      .answer_count = sizeof answers / sizeof *answers};

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

void reader_start(struct reader *r, struct operation_request *request)
{
    desk_start(&r->desk, request);
}

void reader_withdraw(struct reader *r, uint64_t id)
{
    desk_withdraw(&r->desk, id);
}
