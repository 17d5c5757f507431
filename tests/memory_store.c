#include "tests/memory_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "memory/sqlite_private.h"
#include "tests/suite.h"

void memory_check(bool ok, const struct error *e)
{
    if (!ok)
        fail_msg("%s: %s", err_info(e->code)->name, e->text);
}

struct memory_entry memory_said(const char *id, const char *content, int64_t created_ms)
{
    return (struct memory_entry){.id = mem_strdup(id),
                                 .role = ROLE_USER,
                                 .content = mem_strdup(content),
                                 .created_ms = created_ms};
}

char *memory_store_one(struct memory *m, const char *session_id, const char *id,
                       const char *content, int64_t created_ms)
{
    struct error e = {0};
    AUTO(memory_entry_release) struct memory_entry entry = memory_said(id, content, created_ms);
    int stored;
    memory_check(m->ops->index(m, session_id, 0, &entry, 1, &stored, &e), &e);
    return entry.id && memory_has(m, entry.id) ? mem_strdup(entry.id) : NULL;
}

struct contents {
    struct buf text;
    const char *session_id;
};

static bool add_content(void *context, const struct memory_entry *entry)
{
    struct contents *c = context;
    if (!c->session_id || strcmp(c->session_id, entry->session_id) == 0)
        buf_addf(&c->text, "%s\n", entry->content);
    return true;
}

char *memory_contents(struct memory *m, const char *session_id)
{
    struct error e = {0};
    struct contents c = {BUF_INIT, session_id};
    memory_check(m->ops->each(m, add_content, &c, &e), &e);
    return buf_take(&c.text);
}

static struct memory_scope scope_of(const char *session_id)
{
    return (struct memory_scope){.kind = session_id ? MEMORY_SCOPE_SESSION : MEMORY_SCOPE_ALL,
                                 .session_id = session_id};
}

char *memory_newest(struct memory *m, const char *session_id, int64_t after, int limit)
{
    struct error e = {0};
    struct memory_scope scope = scope_of(session_id);
    AUTO(memory_entries_release) struct memory_entries list = {0};
    struct contents c = {BUF_INIT, NULL};
    memory_check(m->ops->list(m, &scope, after, limit, &list, &e), &e);
    for (size_t i = 0; i < list.items.len; i++)
        add_content(&c, &list.items.items[i]);
    return buf_take(&c.text);
}

int64_t memory_total(struct memory *m)
{
    struct error e = {0};
    struct memory_scope scope = scope_of(NULL);
    int64_t count;
    memory_check(m->ops->count(m, &scope, &count, &e), &e);
    return count;
}

bool memory_has(struct memory *m, const char *id)
{
    struct error e = {0};
    AUTO(memory_entry_release) struct memory_entry entry = {0};
    bool found = m->ops->get(m, id, &entry, &e);
    memory_check(found || e.code == ERR_MEMORY_NOT_FOUND, &e);
    return found;
}
