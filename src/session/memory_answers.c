#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/memory_desk_private.h"

enum { DEFAULT_LIMIT = 50 };

static struct memory *memory_of(const struct memory_answers *a)
{
    return a->recall.memory;
}

static const struct memory_store *store_of(const struct memory_answers *a)
{
    return a->recall.memory->store;
}

void memory_answers_release(struct memory_answers *a)
{
    for (size_t i = 0; i < a->forgotten.len; i++)
        memory_forgotten_release(&a->forgotten.items[i]);
    vec_release(&a->forgotten);
}

/* --- search ----------------------------------------------------------------------------------- */

static bool find_scope(const struct memory_answers *a, const struct command *c,
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

static bool browse(struct memory_answers *a, const struct memory_scope *scope, int limit,
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

static bool look_up(struct memory_answers *a, const struct command *c,
                    const struct memory_scope *scope, struct memory_hits *out, struct error *e)
{
    int limit = c->limit > 0 ? c->limit : DEFAULT_LIMIT;
    if (!c->text || is_blank(c->text))
        return browse(a, scope, limit, out, e);
    struct memory_query q = memory_query_for(a->config, c->text);
    q.limit = limit;
    q.typing = true;
    q.scope = *scope;
    if (!recall_search(&a->recall, &q, &a->wakeup, out, e))
        return false;
    if (c->number == MEMORY_BY_DATE && out->items.len > 0)
        qsort(out->items.items, out->items.len, sizeof *out->items.items, by_date);
    return true;
}

static bool answer_search(struct memory_answers *a, const struct command *c, struct notice *n,
                          struct error *e)
{
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

static bool answer_show(struct memory_answers *a, const struct command *c, struct notice *n,
                        struct error *e)
{
    struct memory_entry entry = {0};
    name_entry(n, c->name);
    if (!store_of(a)->get(memory_of(a), c->name, &entry, e))
        return false;
    add_hit(&n->memory, entry);
    return true;
}

static bool answer_edit(struct memory_answers *a, const struct command *c, struct notice *n,
                        struct error *e)
{
    if (!store_of(a)->edit(memory_of(a), c->name, c->text ? c->text : "", e))
        return false;
    name_entry(n, c->name);
    return true;
}

static bool answer_pin(struct memory_answers *a, const struct command *c, struct notice *n,
                       struct error *e)
{
    name_entry(n, c->name);
    return store_of(a)->pin(memory_of(a), c->name, c->number != 0, e);
}

static bool answer_forget(struct memory_answers *a, const struct command *c, struct notice *n,
                          struct error *e)
{
    struct memory_forgotten gone = {0};
    const char *const ids[] = {c->name};
    name_entry(n, c->name);
    if (!store_of(a)->forget(memory_of(a), ids, 1, &gone, e))
        return false;
    n->number = (int64_t)gone.summaries.len;
    vec_push(&a->forgotten, gone);
    return true;
}

/* What could not be put back may be tried again. */
static bool answer_restore(struct memory_answers *a, const struct command *c, struct notice *n,
                           struct error *e)
{
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
    return true;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct answer {
    enum command_type command;
    enum notice_type notice;
    bool names;   /* an entry */
    bool changes; /* vectors may be missing afterwards */
    bool (*run)(struct memory_answers *a, const struct command *c, struct notice *n,
                struct error *e);
} answers[] = {
    {COMMAND_MEMORY_SEARCH, NOTICE_MEMORY, false, false, answer_search},
    {COMMAND_MEMORY_SHOW, NOTICE_MEMORY_ENTRY, true, false, answer_show},
    {COMMAND_MEMORY_EDIT, NOTICE_DONE, true, true, answer_edit},
    {COMMAND_MEMORY_PIN, NOTICE_DONE, true, false, answer_pin},
    {COMMAND_MEMORY_FORGET, NOTICE_DONE, true, false, answer_forget},
    {COMMAND_MEMORY_RESTORE, NOTICE_DONE, false, true, answer_restore},
};

static const struct answer *find_answer(enum command_type type)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].command == type)
            return &answers[i];
    return NULL;
}

static bool run(struct memory_answers *a, const struct answer *answer, const struct command *c,
                struct notice *n)
{
    if (answer->names && !c->name)
        return err_set(&n->error, ERR_USAGE, "no entry is named; give its id");
    return answer->run(a, c, n, &n->error);
}

struct notice *memory_answer_fault(const struct command *c, const struct error *fault)
{
    struct notice *n = notice_new(NOTICE_ERROR);
    n->command = c->type;
    n->text = mem_strdup(c->text);
    n->error = *fault;
    return n;
}

struct notice *memory_answer(struct memory_answers *a, const struct command *c, bool *changed)
{
    const struct answer *answer = find_answer(c->type);
    struct notice *n = notice_new(answer->notice);
    n->command = c->type;
    n->text = mem_strdup(c->text);
    *changed = false;
    if (run(a, answer, c, n)) {
        *changed = answer->changes;
        return n;
    }
    struct notice *fault = memory_answer_fault(c, &n->error);
    notice_free(n);
    return fault;
}
