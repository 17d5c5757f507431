#include <stdlib.h>

#include "base/mem.h"
#include "session/memory_desk_private.h"
#include "session/memory_operations.h"

enum { DEFAULT_LIMIT = 50 };

static struct memory_desk *of(struct desk *d)
{
    return (struct memory_desk *)d;
}

static bool call(struct desk *d, const struct command *c, const struct operation *o,
                 const void *params, void *result, struct error *e)
{
    struct memory_desk *a = of(d);
    a->memories->session = c->session;
    a->memories->wakeup = d->wakeup;
    return operation_call(&a->context, o, params, result, e);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool answer_search(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    const struct memory_search search = {.query = c->text ? c->text : "",
                                         .scope = c->name,
                                         .limit = c->limit > 0 ? c->limit : DEFAULT_LIMIT,
                                         .order = (enum memory_order)c->number,
                                         .typing = true};
    struct memory_found found;
    n->name = mem_strdup(c->name);
    n->flag = search.order == MEMORY_BY_DATE;
    if (!call(d, c, &operation_memory_search, &search, &found, e))
        return false;
    n->memory = found.hits;
    n->number = found.total;
    return true;
}

static void name_entry(struct notice *n, const char *id)
{
    free(n->text);
    n->text = mem_strdup(id);
}

static bool is_named(const struct command *c, struct notice *n, struct error *e)
{
    name_entry(n, c->name);
    return c->name || err_set(e, ERR_USAGE, "no entry is named; give its id");
}

static bool answer_show(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    const struct memory_read_params params = {.id = c->name};
    struct memory_hit hit = {.score = 0};
    if (!is_named(c, n, e) || !call(d, c, &operation_memory_read, &params, &hit.entry, e))
        return false;
    vec_push(&n->memory.items, hit);
    return true;
}

static bool answer_state(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    if (!call(d, c, &operation_memory_stats, NULL, &n->stats, e))
        return false;
    memory_work_add(of(d), &n->stats);
    return true;
}

/* --- changes ---------------------------------------------------------------------------------- */

static bool answer_edit(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    const struct memory_edit_params params = {.id = c->name, .content = c->text ? c->text : ""};
    if (!is_named(c, n, e) || !call(d, c, &operation_memory_edit, &params, NULL, e))
        return false;
    memory_desk_want(of(d), CHORE_PURGE);
    memory_desk_want(of(d), CHORE_EMBED);
    return true;
}

static bool answer_pin(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    const struct memory_pin_params params = {.id = c->name, .pinned = c->number != 0};
    return is_named(c, n, e) && call(d, c, &operation_memory_pin, &params, NULL, e);
}

static bool answer_forget(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    const char *ids[] = {c->name};
    const struct memory_forget_params params = {.ids = {.items = ids, .len = 1}};
    struct memory_forget_result gone;
    if (!is_named(c, n, e) || !call(d, c, &operation_memory_forget, &params, &gone, e))
        return false;
    n->number = gone.summaries;
    memory_desk_want(of(d), CHORE_PURGE);
    return true;
}

static bool answer_restore(struct desk *d, const struct command *c, struct notice *n,
                           struct error *e)
{
    struct memory_restore_result back;
    if (!call(d, c, &operation_memory_restore, NULL, &back, e))
        return false;
    name_entry(n, back.id);
    n->number = back.summaries;
    shape_release(operation_memory_restore.result, &back);
    memory_desk_want(of(d), CHORE_PURGE);
    memory_desk_want(of(d), CHORE_EMBED);
    return true;
}

/* A newer search ends one that runs. */
enum { SEARCHING = 1 };

const struct desk_answer memory_answers[MEMORY_ANSWERS] = {
    {COMMAND_MEMORY_SEARCH, NOTICE_MEMORY, SEARCHING, false, answer_search},
    {COMMAND_MEMORY_SHOW, NOTICE_MEMORY_ENTRY, 0, false, answer_show},
    {COMMAND_MEMORY_EDIT, NOTICE_DONE, 0, true, answer_edit},
    {COMMAND_MEMORY_PIN, NOTICE_DONE, 0, true, answer_pin},
    {COMMAND_MEMORY_FORGET, NOTICE_DONE, 0, true, answer_forget},
    {COMMAND_MEMORY_RESTORE, NOTICE_DONE, 0, true, answer_restore},
    {COMMAND_MEMORY_STATE, NOTICE_MEMORY_STATE, 0, false, answer_state},
};
