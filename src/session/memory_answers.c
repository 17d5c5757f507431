#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/memory_desk_private.h"

enum { DEFAULT_LIMIT = 50 };

static struct memory *memory_of(const struct memory_desk *a)
{
    return a->recall.memory;
}

static const struct memory_store *store_of(const struct memory_desk *a)
{
    return a->recall.memory->store;
}

static struct memory_desk *of(struct desk *d)
{
    return (struct memory_desk *)d;
}

/* --- search ----------------------------------------------------------------------------------- */

static bool find_scope(const struct memory_desk *a, const struct command *c,
                       struct memory_scope *out, struct error *e)
{
    *out = recall_scope(&a->recall, c->session, a->project);
    if (!c->name)
        return true;
    if (!memory_scope_parse(c->name, out))
        return err_set(e, ERR_USAGE, "unknown scope \"%.60s\"; give all, project or session",
                       c->name);
    if (out->kind == MEMORY_SCOPE_PROJECT)
        out->directory = a->project;
    if (out->kind == MEMORY_SCOPE_SESSION && !out->session_id)
        out->session_id = c->session;
    return true;
}

static void add_hit(struct memory_hits *hits, struct memory_entry entry)
{
    vec_push(&hits->items, (struct memory_hit){.entry = entry});
}

static bool browse(struct memory_desk *a, const struct memory_scope *scope, int limit,
                   struct memory_hits *out, struct error *e)
{
    struct memory_entries list = {0};
    if (!store_of(a)->list(memory_of(a), scope, 0, limit, &list, e))
        return false;
    for (size_t i = 0; i < list.items.len; i++)
        add_hit(out, list.items.items[i]);
    vec_release(&list.items);
    return true;
}

/* Newest first. */
static int by_date(const void *left, const void *right)
{
    const struct memory_hit *a = left, *b = right;
    return (a->entry.created_ms < b->entry.created_ms) -
           (a->entry.created_ms > b->entry.created_ms);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

static bool look_up(struct memory_desk *a, const struct command *c,
                    const struct memory_scope *scope, struct memory_hits *out, struct error *e)
{
    int limit = c->limit > 0 ? c->limit : DEFAULT_LIMIT;
    if (!c->text || is_blank(c->text))
        return browse(a, scope, limit, out, e);
    struct memory_query q = memory_query_for(a->config, c->text);
    q.limit = limit;
    q.typing = true;
    q.scope = *scope;
    if (!recall_search(&a->recall, &q, a->desk.wakeup, out, e))
        return false;
    if (c->number == MEMORY_BY_DATE && out->items.len > 0)
        qsort(out->items.items, out->items.len, sizeof *out->items.items, by_date);
    return true;
}

static bool answer_search(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    struct memory_desk *a = of(d);
    struct memory_scope scope;
    n->name = mem_strdup(c->name);
    n->flag = c->number == MEMORY_BY_DATE;
    return find_scope(a, c, &scope, e) && look_up(a, c, &scope, &n->memory, e) &&
           store_of(a)->count(memory_of(a), &scope, &n->number, e);
}

/* --- one entry -------------------------------------------------------------------------------- */

static void name_entry(struct notice *n, const char *id)
{
    free(n->text);
    n->text = mem_strdup(id);
}

static bool is_named(const struct command *c, struct error *e)
{
    return c->name || err_set(e, ERR_USAGE, "no entry is named; give its id");
}

static bool answer_show(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    struct memory_desk *a = of(d);
    struct memory_entry entry = {0};
    name_entry(n, c->name);
    if (!is_named(c, e) || !store_of(a)->get(memory_of(a), c->name, &entry, e))
        return false;
    add_hit(&n->memory, entry);
    return true;
}

/* --- changes ---------------------------------------------------------------------------------- */

static bool answer_edit(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    struct memory_desk *a = of(d);
    name_entry(n, c->name);
    if (!is_named(c, e) || !store_of(a)->edit(memory_of(a), c->name, c->text ? c->text : "", e))
        return false;
    memory_desk_want(a, CHORE_PURGE);
    memory_desk_want(a, CHORE_EMBED);
    return true;
}

static bool answer_pin(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    struct memory_desk *a = of(d);
    name_entry(n, c->name);
    return is_named(c, e) && store_of(a)->pin(memory_of(a), c->name, c->number != 0, e);
}

static bool answer_forget(struct desk *d, const struct command *c, struct notice *n,
                          struct error *e)
{
    struct memory_desk *a = of(d);
    struct memory_forgotten gone = {0};
    const char *const ids[] = {c->name};
    name_entry(n, c->name);
    if (!is_named(c, e) || !store_of(a)->forget(memory_of(a), ids, 1, &gone, e))
        return false;
    n->number = (int64_t)gone.summaries.len;
    vec_push(&a->forgotten, gone);
    memory_desk_want(a, CHORE_PURGE);
    return true;
}

/* What could not be put back may be tried again. */
static bool answer_restore(struct desk *d, const struct command *c, struct notice *n,
                           struct error *e)
{
    struct memory_desk *a = of(d);
    (void)c;
    if (a->forgotten.len == 0)
        return err_set(e, ERR_MEMORY_NOT_FOUND, "there is no forgotten entry to restore");
    struct memory_forgotten *last = &vec_last(&a->forgotten);
    if (!store_of(a)->restore(memory_of(a), last, e))
        return false;
    name_entry(n, last->items.len > 0 ? last->items.items[0].entry.id : NULL);
    n->number = (int64_t)last->summaries.len;
    memory_forgotten_release(last);
    a->forgotten.len--;
    memory_desk_want(a, CHORE_PURGE);
    memory_desk_want(a, CHORE_EMBED);
    return true;
}

static bool answer_state(struct desk *d, const struct command *c, struct notice *n, struct error *e)
{
    (void)c;
    return memory_work_state(of(d), d->wakeup, n, e);
}

const struct answer memory_answers[MEMORY_ANSWERS] = {
    {COMMAND_MEMORY_SEARCH, NOTICE_MEMORY, "memory", false, answer_search},
    {COMMAND_MEMORY_SHOW, NOTICE_MEMORY_ENTRY, NULL, false, answer_show},
    {COMMAND_MEMORY_EDIT, NOTICE_DONE, NULL, true, answer_edit},
    {COMMAND_MEMORY_PIN, NOTICE_DONE, NULL, true, answer_pin},
    {COMMAND_MEMORY_FORGET, NOTICE_DONE, NULL, true, answer_forget},
    {COMMAND_MEMORY_RESTORE, NOTICE_DONE, NULL, true, answer_restore},
    {COMMAND_MEMORY_STATE, NOTICE_MEMORY_STATE, NULL, false, answer_state},
};
