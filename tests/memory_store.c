#include "tests/memory_store.h"

#include "memory/sqlite_private.h"
#include "tests/suite.h"

char *lore_path;
struct store *lore_store;
struct memory *lore_memory;
struct error lore_error;

void lore_open(void)
{
    memory_check(store_open(lore_path, STORE_READ_WRITE, &lore_store, &lore_error), &lore_error);
    lore_memory = memory_open(lore_store, NULL);
}

void lore_close(void)
{
    memory_close(lore_memory);
    store_close(lore_store);
}

int lore_setup(void **state)
{
    support_setup(state);
    lore_path = support_path("tiro.db");
    lore_open();
    return 0;
}

int lore_teardown(void **state)
{
    lore_close();
    return support_teardown(state);
}

int lore_index(const char *session_id, int64_t compaction, const struct lore_entry *given,
               size_t count)
{
    AUTO(memory_entries_release) struct memory_entries entries = {0};
    int stored;
    for (size_t i = 0; i < count; i++) {
        struct memory_entry entry = memory_said(given[i].id, given[i].text, given[i].at);
        entry.seq = given[i].seq;
        entry.pinned = given[i].pinned;
        vec_push(&entries.items, entry);
    }
    lore_do(index, session_id, compaction, entries.items.items, count, &stored);
    return stored;
}

void lore_say(const char *session_id, const char *id, const char *content, int64_t created_ms)
{
    char *given = support_keep(memory_store_one(lore_memory, session_id, id, content, created_ms));
    assert_non_null(given);
    if (id)
        assert_string_equal(given, id);
}

void lore_forget(const char *id)
{
    lore_do(forget, &id, 1, NULL);
}

void lore_run(const char *sql)
{
    memory_check(store_exec(lore_store, sql, &lore_error), &lore_error);
}

int64_t lore_number(const char *sql)
{
    int64_t n;
    memory_check(store_number(lore_store, sql, &n, &lore_error), &lore_error);
    return n;
}

struct memory_query lore_query(const char *text)
{
    return (struct memory_query){.text = text, .limit = 5, .rank = rank_settings_for(1.2, 0.75)};
}

int lore_hits(const char *text, struct memory_scope scope)
{
    AUTO(memory_hits_release) struct memory_hits found = {0};
    struct memory_query query = lore_query(text);
    query.limit = 20;
    query.scope = scope;
    lore_do(search, &query, &found);
    return (int)found.items.len;
}

void lore_expect_found(const char *text, const char *contents)
{
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    AUTO(buf_release) struct buf got = BUF_INIT;
    struct memory_query query = lore_query(text);
    lore_do(search, &query, &hits);
    for (size_t i = 0; i < hits.items.len; i++)
        buf_addf(&got, "%s\n", hits.items.items[i].entry.content);
    assert_string_equal(got.data, contents);
}

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
