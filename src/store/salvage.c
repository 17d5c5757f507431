#include "store/salvage.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/db_pages.h"

/* --- what rows look like --------------------------------------------------------------------- */

static const struct salvage_shape own_shapes[] = {
    {"event", "session, seq, at, type, version, payload", "iiitit", false},
    {"session",
     "key, id, title, title_set, directory, provider, model, last_line, created_ms, updated_ms,"
     " messages, turns, last_seq, input_tokens, output_tokens, cached_tokens, estimated, labels,"
     " parent, parent_seq, archived_ms, tool_calls, run_ms, cost, imported, system, draft",
     "IuTiTTTTIIIiIIIIiTUIIII#TTT", false},
    {"root", "type, name, tbl_name, rootpage, sql", "tttiT", false}, /* sqlite_schema */
    {"number", "session, seq, key", "iii", true},
    {"name", "id, key", "ti", true},
    {"setting", "session, name, value", "utt", true},
    {0},
};
#define EVENTS "sqlite_autoindex_event_1"
#define SESSIONS "sqlite_autoindex_session_1"
#define SETTINGS "session_setting" /* a table without rowids is an index */
static const char *const own_indexes[] = {EVENTS, SESSIONS, SETTINGS, NULL};

static const char *columns_in(const struct salvage_shape *shapes, const char *found)
{
    for (; shapes->table; shapes++)
        if (strcmp(shapes->table, found) == 0)
            return shapes->columns;
    return NULL;
}

const char *salvage_columns(const struct store_extension *const *extensions, const char *found)
{
    const char *columns = columns_in(own_shapes, found);
    for (; !columns && extensions && *extensions; extensions++)
        columns = columns_in((*extensions)->shapes, found);
    return columns;
}

static bool fits(char type, const struct db_value *v)
{
    if (v->type == DB_NULL)
        return strchr("nITU#", type);
    switch (type) {
    case 'i':
    case 'I':
        return v->type == DB_INT;
    case 't':
    case 'T':
        return v->type == DB_TEXT;
    case 'u':
    case 'U':
        return v->type == DB_TEXT && v->len == UUID_LEN;
    case '#':
        return v->type == DB_INT || v->type == DB_REAL;
    default:
        return false;
    }
}

/* --- tables ---------------------------------------------------------------------------------- */

struct search {
    struct store *to;
    struct db_pages pages;
    struct db_page page;
    struct buf record;
    unsigned char *free_pages; /* a bit each: pages that were given up */
    VEC(struct found_table {
        const struct salvage_shape *shape;
        sqlite3_stmt *insert;
    })
    tables;
    struct error *e;
};

/* The pages of the trees of indexes, as far as they can be read. */
static const char trees_sql[] =
    "PRAGMA found.secure_delete = OFF;"
    "CREATE TABLE found.link (page, child);"
    "CREATE TABLE found.readable (page INTEGER PRIMARY KEY);"
    "CREATE TABLE found.wanted (name);"
    "CREATE TABLE found.tree (name, page, PRIMARY KEY (name, page)) WITHOUT ROWID;";
static const char link_sql[] = "INSERT INTO found.link VALUES (?, ?)";

static bool make_tables(struct search *f, const struct salvage_shape *shape,
                        const char *const *indexes)
{
    for (; shape->table; shape++) {
        auto_free char *make =
            mem_printf("CREATE TABLE IF NOT EXISTS found.%s (page, free, whole, row, %s)",
                       shape->table, shape->columns);
        if (!store_exec(f->to, make, f->e))
            return false;
        AUTO(buf_release) struct buf sql = BUF_INIT;
        buf_addf(&sql, "INSERT INTO found.%s (page, free, whole, row, %s) VALUES (?, ?, ?, ?",
                 shape->table, shape->columns);
        for (size_t k = 0; k < strlen(shape->types); k++)
            buf_addstr(&sql, ", ?");
        buf_addch(&sql, ')');
        struct found_table table = {.shape = shape};
        int result = sqlite3_prepare_v2(f->to->db, sql.data, -1, &table.insert, NULL);
        vec_push(&f->tables, table);
        if (result != SQLITE_OK)
            return store_fault(f->to, result, f->e);
    }
    bool ok = true;
    for (; ok && *indexes; indexes++)
        ok = sql_exec(f->to, f->e, "INSERT INTO found.wanted VALUES (?)", "t", *indexes);
    return ok;
}

static bool bit(const unsigned char *set, uint32_t i)
{
    return set[i / 8] >> (i % 8) & 1;
}

static void set_bit(unsigned char *set, uint32_t i)
{
    set[i / 8] = (unsigned char)(set[i / 8] | 1u << (i % 8));
}

static bool insert(struct search *f, sqlite3_stmt *q, const struct db_cell *cell, bool whole,
                   const struct db_record *r)
{
    sqlite3_bind_int64(q, 1, f->page.number);
    sqlite3_bind_int(q, 2, bit(f->free_pages, f->page.number));
    sqlite3_bind_int(q, 3, whole);
    sqlite3_bind_int64(q, 4, cell->rowid);
    for (size_t k = 0; k < r->count; k++) {
        const struct db_value *v = &r->values[k];
        int i = (int)k + 5;
        if (!v->there || v->type == DB_NULL || v->type == DB_BLOB)
            sqlite3_bind_null(q, i);
        else if (v->type == DB_INT)
            sqlite3_bind_int64(q, i, v->number);
        else if (v->type == DB_REAL)
            sqlite3_bind_double(q, i, v->real);
        else
            sqlite3_bind_text64(q, i, v->text, v->len, SQLITE_STATIC, SQLITE_UTF8);
    }
    sqlite3_step(q);
    int result = sqlite3_reset(q);
    return result == SQLITE_OK || store_fault(f->to, result, f->e);
}

/* --- pages ----------------------------------------------------------------------------------- */

/* The header has the number of the first page of the list of free pages. */
static void find_free_pages(struct search *f)
{
    unsigned char *page = f->page.bytes;
    f->page.number = 0;
    bool header = db_pages_read(&f->pages, 1, page) && memcmp(page, "SQLite format 3", 16) == 0;
    uint32_t trunk = header ? db_u32(page + 32) : 0;
    while (trunk && trunk <= f->pages.count && !bit(f->free_pages, trunk)) {
        if (!db_pages_read(&f->pages, trunk, page) || db_u32(page + 4) > f->pages.usable / 4 - 2)
            return;
        set_bit(f->free_pages, trunk);
        for (uint32_t i = 0; i < db_u32(page + 4); i++) {
            uint32_t number = db_u32(page + 8 + 4 * i);
            if (number <= f->pages.count)
                set_bit(f->free_pages, number);
        }
        trunk = db_u32(page);
    }
}

/* Puts a row of ours into its table, which the bytes within the page tell. */
static bool take_record(struct search *f, const struct db_cell *cell, bool index)
{
    struct db_record r;
    if (cell->len == 0 || !db_record_read(cell->local, cell->local_len, cell->len, &r))
        return true;
    for (size_t i = 0; i < f->tables.len; i++) {
        const struct salvage_shape *shape = f->tables.items[i].shape;
        bool ours = shape->index == index && strlen(shape->types) == r.count;
        for (size_t k = 0; ours && k < r.count; k++)
            ours = fits(shape->types[k], &r.values[k]);
        if (!ours)
            continue;
        bool whole =
            !cell->overflow || (db_cell_load(cell, &f->pages, &f->record) &&
                                db_record_read(f->record.data, f->record.len, f->record.len, &r));
        return insert(f, f->tables.items[i].insert, cell, whole, &r);
    }
    return true;
}

static bool add_link(struct search *f, uint32_t child)
{
    return child == 0 || child > f->pages.count ||
           sql_exec(f->to, f->e, link_sql, "ii", (int64_t)f->page.number, (int64_t)child);
}

static bool read_page(struct search *f)
{
    bool index = f->page.type == DB_INDEX_LEAF || f->page.type == DB_INDEX_INTERIOR;
    bool readable = index;
    bool ok = true;
    if (!index && f->page.type != DB_TABLE_LEAF)
        return true;
    for (uint32_t i = 0; ok && i < f->page.cells; i++) {
        struct db_cell cell;
        if (db_cell_read(&f->page, &f->pages, i, &cell))
            ok = take_record(f, &cell, index) && add_link(f, cell.child);
        else
            readable = false;
    }
    return ok && add_link(f, f->page.last_child) &&
           (!readable || sql_exec(f->to, f->e, "INSERT OR IGNORE INTO found.readable VALUES (?)",
                                  "i", (int64_t)f->page.number));
}

/* --- what counts ----------------------------------------------------------------------------- */

static const char choose_sql[] =
    "CREATE INDEX found.link_page ON link (page);"
    "INSERT INTO found.tree WITH RECURSIVE down (name, page) AS ("
    " SELECT name, rootpage FROM found.root WHERE NOT free AND name IN found.wanted"
    " UNION SELECT name, child FROM down JOIN found.link USING (page)) SELECT * FROM down;"

    "CREATE TABLE found.expected (session, seq, PRIMARY KEY (session, seq)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO found.expected SELECT session, seq FROM found.number"
    " WHERE whole AND page IN " SALVAGE_PAGES_OF(EVENTS) ";"

    /* Other indexes have entries that look the same: where the index of sessions' ids is whole, what
     * does not stand in it is none of its. */
    "CREATE TABLE found.id (key INTEGER PRIMARY KEY, id);"
    "INSERT OR IGNORE INTO found.id SELECT key, id FROM found.name"
    " WHERE whole AND NOT free AND is_uuid(id) AND (page IN " SALVAGE_PAGES_OF(SESSIONS)
    " OR (page NOT IN (SELECT page FROM found.tree)"
    " AND (NOT EXISTS (SELECT 1 FROM found.tree WHERE name = '" SESSIONS "')"
    " OR EXISTS (SELECT 1 FROM found.tree WHERE name = '" SESSIONS "'"
    " AND page NOT IN (SELECT page FROM found.readable)))));"

    "DELETE FROM found.setting WHERE NOT whole OR NOT is_uuid(session)"
    " OR page NOT IN " SALVAGE_PAGES_OF(SETTINGS) ";"

    "DELETE FROM found.session WHERE NOT whole OR NOT is_uuid(id) OR NOT is_uuid(coalesce(parent, id))"
    " OR turns NOT BETWEEN 0 AND 0x7fffffff"
    " OR (free AND id IS NOT (SELECT i.id FROM found.id i WHERE i.key = row));"
    "DELETE FROM found.event WHERE coalesce(session, seq) IS NULL OR coalesce(seq, 0) < 1"
    " OR (free AND (session, seq) NOT IN (SELECT session, seq FROM found.expected));"
    "CREATE INDEX found.session_row ON session (row);"
    "CREATE INDEX found.event_number ON event (session, seq, free);";

bool salvage_read(struct store *to, const char *path,
                  const struct store_extension *const *extensions, struct error *e)
{
    const struct store_extension *const *x;
    struct search f = {.to = to, .record = BUF_INIT, .e = e};
    if (!db_pages_open(&f.pages, path, e))
        return false;
    f.free_pages = mem_alloc(f.pages.count / 8 + 1);
    f.page.bytes = mem_alloc(f.pages.page_size);
    bool ok = store_exec(to, trees_sql, e) && make_tables(&f, own_shapes, own_indexes);
    for (x = extensions; ok && x && *x; x++)
        ok = make_tables(&f, (*x)->shapes, (*x)->indexes);
    if (ok)
        find_free_pages(&f);
    for (uint32_t i = ok ? db_pages_next(&f.pages, 0) : 0; ok && i; i = db_pages_next(&f.pages, i))
        ok = !db_page_load(&f.page, &f.pages, i) || read_page(&f);
    ok = ok && store_exec(to, choose_sql, e);
    for (x = extensions; ok && x && *x; x++)
        ok = store_exec(to, (*x)->choose, e);

    for (size_t i = 0; i < f.tables.len; i++)
        sqlite3_finalize(f.tables.items[i].insert);
    vec_release(&f.tables);
    buf_release(&f.record);
    free(f.page.bytes);
    free(f.free_pages);
    db_pages_close(&f.pages);
    return ok;
}

/* --- functions ------------------------------------------------------------------------------- */

/* UTF-8 without a NUL; false for NULL. */
static bool is_plain(sqlite3_value *v)
{
    const char *text = (const char *)sqlite3_value_text(v);
    size_t len = (size_t)sqlite3_value_bytes(v);
    return text && utf8_valid(text, len) && !memchr(text, '\0', len);
}

static void is_uuid(sqlite3_context *c, int count, sqlite3_value **values)
{
    const char *text = (const char *)sqlite3_value_text(values[0]);
    (void)count;
    sqlite3_result_int(c, text && sqlite3_value_bytes(values[0]) == UUID_LEN && uuid_valid(text));
}

static void plain(sqlite3_context *c, int count, sqlite3_value **values)
{
    (void)count;
    if (is_plain(values[0]))
        sqlite3_result_value(c, values[0]);
}

static void cleaned(sqlite3_context *c, int count, sqlite3_value **values)
{
    const char *text = (const char *)sqlite3_value_text(values[0]);
    (void)count;
    if (!text || is_plain(values[0])) {
        sqlite3_result_value(c, values[0]);
        return;
    }
    AUTO(buf_release) struct buf clean = BUF_INIT;
    utf8_clean(&clean, text, (size_t)sqlite3_value_bytes(values[0]), UTF8_MULTILINE);
    sqlite3_result_text64(c, clean.data, clean.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void new_uuid(sqlite3_context *c, int count, sqlite3_value **values)
{
    char id[UUID_LEN + 1];
    (void)count;
    (void)values;
    uuid_new(id);
    sqlite3_result_text(c, id, UUID_LEN, SQLITE_TRANSIENT);
}

bool salvage_register(struct store *to, struct error *e)
{
    static const struct {
        const char *name;
        int values;
        void (*call)(sqlite3_context *c, int count, sqlite3_value **values);
    } functions[] = {{"is_uuid", 1, is_uuid},
                     {"plain", 1, plain},
                     {"cleaned", 1, cleaned},
                     {"new_uuid", 0, new_uuid}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        int result = sqlite3_create_function(to->db, functions[i].name, functions[i].values,
                                             SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                             functions[i].call, NULL, NULL);
        if (result != SQLITE_OK)
            return store_fault(to, result, e);
    }
    return true;
}
