#include "store/salvage.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "store/db_cell.h"

enum { EVENT_COLUMNS = 6, SCHEMA_COLUMNS = 5, PAGES_BETWEEN_ASKING = 256 };

/* What is read from its root page on, so that its pages are known for its own. */
enum tree { EVENT_TREE, SESSION_TREE, TALK_TREE, ENTRY_TREE, FLAG_TREE, TREE_COUNT };

/* While rows are looked for. */
struct search {
    struct salvage *s;
    struct db_page page;
    struct buf record;
    unsigned char *free_pages; /* a bit each: pages that were given up */
    unsigned char *tree_of; /* pages to trees, each one more than its place in trees[]; 0: none */
    uint32_t roots[TREE_COUNT]; /* their first pages; 0: not known */
    bool whole[TREE_COUNT];     /* each page could be read */
};

static bool bit(const unsigned char *set, uint32_t i)
{
    return set[i / 8] >> (i % 8) & 1;
}

static void set_bit(unsigned char *set, uint32_t i)
{
    set[i / 8] = (unsigned char)(set[i / 8] | 1u << (i % 8));
}

/* --- pages that were given up ---------------------------------------------------------------- */

/* The header names the first of the pages that list the others. */
static void find_free_pages(struct search *f)
{
    const struct db_pages *pages = &f->s->pages;
    unsigned char *page = f->page.bytes;
    f->page.number = 0;
    bool header = db_pages_read(pages, 1, page) && memcmp(page, "SQLite format 3", 16) == 0;
    uint32_t trunk = header ? db_u32(page + 32) : 0;
    while (trunk && trunk <= pages->count && !bit(f->free_pages, trunk)) {
        if (!db_pages_read(pages, trunk, page) || db_u32(page + 4) > pages->usable / 4 - 2)
            return;
        set_bit(f->free_pages, trunk);
        for (uint32_t i = 0; i < db_u32(page + 4); i++) {
            uint32_t number = db_u32(page + 8 + 4 * i);
            if (number <= pages->count)
                set_bit(f->free_pages, number);
        }
        trunk = db_u32(page);
    }
}

/* --- rows ------------------------------------------------------------------------------------ */

static void take_event_number(struct salvage *s, const struct db_record *r)
{
    if (r->count == 3 && r->values[0].type == DB_INT && r->values[1].type == DB_INT &&
        r->values[0].there && r->values[1].there)
        vec_push(&s->expected, (struct event_number){r->values[0].number, r->values[1].number});
}

static void take_talk(struct salvage *s, const struct db_record *r)
{
    salvage_memory_talk(&s->memory, r);
}

static void take_entry_key(struct salvage *s, const struct db_record *r)
{
    salvage_memory_key(&s->memory, r);
}

static void take_flag(struct salvage *s, const struct db_record *r)
{
    salvage_memory_flag(&s->memory, r);
}

static const struct {
    const char *type, *name; /* in sqlite_schema */
    void (*take)(struct salvage *s, const struct db_record *r);
} trees[TREE_COUNT] = {
    [EVENT_TREE] = {"index", "sqlite_autoindex_event_1", take_event_number},
    [SESSION_TREE] = {"index", "sqlite_autoindex_session_1", NULL},
    [TALK_TREE] = {"index", "sqlite_autoindex_memory_session_1", take_talk},
    [ENTRY_TREE] = {"index", "sqlite_autoindex_memory_entry_1", take_entry_key},
    [FLAG_TREE] = {"table", "memory_flag", take_flag},
};

static bool text_is(const struct db_value *v, const char *text)
{
    return v->there && v->type == DB_TEXT && v->len == strlen(text) &&
           memcmp(v->text, text, v->len) == 0;
}

static bool event_likely(const struct db_record *r)
{
    static const enum db_type types[EVENT_COLUMNS] = {DB_INT,  DB_INT, DB_INT,
                                                      DB_TEXT, DB_INT, DB_TEXT};
    if (r->count != EVENT_COLUMNS)
        return false;
    for (size_t i = 0; i < EVENT_COLUMNS; i++)
        if (r->values[i].type != types[i])
            return false;
    return r->values[0].there && r->values[1].there && r->values[1].number > 0;
}

static void add_event(struct search *f, uint32_t cell, const struct db_record *r)
{
    struct event_place place = {.number = {r->values[0].number, r->values[1].number},
                                .page = f->page.number,
                                .cell = cell,
                                .free = bit(f->free_pages, f->page.number)};
    vec_push(&f->s->events, place);
}

static void add_session(struct search *f, const struct db_cell *cell)
{
    struct db_record r;
    struct session_row row;
    if (!db_cell_load(cell, &f->s->pages, &f->record) ||
        !db_record_read(f->record.data, f->record.len, f->record.len, &r) ||
        !session_row_read(&r, cell->rowid, &row))
        return;
    row.free = bit(f->free_pages, f->page.number);
    vec_push(&f->s->rows, row);
}

/* A row of sqlite_schema: what, its name, its table's name, root page, SQL. */
static void look_for_trees(struct search *f, const struct db_record *r)
{
    if (r->count != SCHEMA_COLUMNS || !r->values[3].there || r->values[3].number <= 0 ||
        r->values[3].number > UINT32_MAX)
        return;
    for (size_t i = 0; i < TREE_COUNT; i++)
        if (text_is(&r->values[0], trees[i].type) && text_is(&r->values[1], trees[i].name))
            f->roots[i] = (uint32_t)r->values[3].number;
}

static void read_table_cell(struct search *f, uint32_t i)
{
    struct db_cell cell;
    struct db_record r;
    if (!db_cell_read(&f->page, &f->s->pages, i, &cell) ||
        !db_record_read(cell.local, cell.local_len, cell.len, &r))
        return;
    if (event_likely(&r))
        add_event(f, i, &r);
    else if (session_row_likely(&r))
        add_session(f, &cell);
    else if (!salvage_memory_row(&f->s->memory, &cell, &r,
                                 (struct memory_place){
                                     .page = f->page.number,
                                     .cell = i,
                                     .free = bit(f->free_pages, f->page.number),
                                 }))
        look_for_trees(f, &r);
}

/* An entry of the index of sessions' ids. */
static void read_index_cell(struct search *f, uint32_t i)
{
    struct db_cell cell;
    struct db_record r;
    if (!db_cell_read(&f->page, &f->s->pages, i, &cell) ||
        !db_record_read(cell.local, cell.local_len, cell.len, &r) || r.count != 2)
        return;
    const struct db_value *id = &r.values[0];
    const struct db_value *key = &r.values[1];
    if (id->type != DB_TEXT || id->len != UUID_LEN || !id->there || key->type != DB_INT ||
        !key->there || bit(f->free_pages, f->page.number))
        return;
    struct session_id entry = {.key = key->number, .page = f->page.number};
    memcpy(entry.id, id->text, UUID_LEN);
    if (uuid_valid(entry.id))
        vec_push(&f->s->ids, entry);
}

static void read_page(struct search *f)
{
    bool table = f->page.type == DB_TABLE_LEAF;
    bool index = f->page.type == DB_INDEX_LEAF || f->page.type == DB_INDEX_INTERIOR;
    for (uint32_t i = 0; (table || index) && i < f->page.cells; i++)
        (table ? read_table_cell : read_index_cell)(f, i);
}

static bool read_pages(struct search *f, bool (*go_on)(void *context), void *context,
                       struct error *e)
{
    const struct db_pages *pages = &f->s->pages;
    uint32_t asked = 0;
    for (uint32_t i = db_pages_next(pages, 0); i; i = db_pages_next(pages, i)) {
        if (go_on && ++asked % PAGES_BETWEEN_ASKING == 0 && !go_on(context))
            return err_set(e, ERR_INTERRUPTED, "stopped; nothing was changed");
        if (db_page_load(&f->page, pages, i))
            read_page(f);
    }
    return true;
}

/* --- trees ----------------------------------------------------------------------------------- */

static void read_tree_cell(struct search *f, enum tree tree, const struct db_cell *cell)
{
    struct db_record r;
    if (cell->len > 0 && trees[tree].take &&
        db_record_read(cell->local, cell->local_len, cell->len, &r))
        trees[tree].take(f->s, &r);
}

static bool load_tree_page(struct search *f, uint32_t number)
{
    return db_page_load(&f->page, &f->s->pages, number) &&
           (f->page.type == DB_INDEX_LEAF || f->page.type == DB_INDEX_INTERIOR);
}

/* What is left of the tree below its root. Pages whose turn comes are a stack. */
static void read_tree(struct search *f, enum tree tree)
{
    VEC(uint32_t) next = {0};
    f->whole[tree] = f->roots[tree] > 0;
    vec_push(&next, f->roots[tree]);
    while (next.len > 0) {
        uint32_t number = vec_last(&next);
        next.len--;
        if (number == 0 || number > f->s->pages.count || f->tree_of[number])
            continue;
        f->tree_of[number] = (unsigned char)(tree + 1);
        if (!load_tree_page(f, number)) {
            f->whole[tree] = false;
            continue;
        }
        for (uint32_t i = 0; i < f->page.cells; i++) {
            struct db_cell cell;
            if (!db_cell_read(&f->page, &f->s->pages, i, &cell)) {
                f->whole[tree] = false;
                continue;
            }
            read_tree_cell(f, tree, &cell);
            vec_push(&next, cell.child);
        }
        vec_push(&next, f->page.last_child);
    }
    vec_release(&next);
}

/* --- order ----------------------------------------------------------------------------------- */

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int event_number_order(const void *a, const void *b)
{
    const struct event_number *left = a;
    const struct event_number *right = b;
    return left->key != right->key ? order(left->key, right->key) : order(left->seq, right->seq);
}

/* Of one number those come first that are no leftovers. */
static int place_order(const void *a, const void *b)
{
    const struct event_place *left = a;
    const struct event_place *right = b;
    int by_number = event_number_order(&left->number, &right->number);
    return by_number ? by_number : (int)left->free - (int)right->free;
}

static int id_order(const void *a, const void *b)
{
    return order(((const struct session_id *)a)->key, ((const struct session_id *)b)->key);
}

/* Of one key those come first that are no leftovers, then the newer ones. */
static int row_order(const void *a, const void *b)
{
    const struct session_row *left = a;
    const struct session_row *right = b;
    if (left->key != right->key)
        return order(left->key, right->key);
    if (left->free != right->free)
        return (int)left->free - (int)right->free;
    return order(right->info.updated_ms, left->info.updated_ms);
}

#define sort(v, by)                                                                                \
    do {                                                                                           \
        if ((v)->len > 0)                                                                          \
            qsort((v)->items, (v)->len, sizeof *(v)->items, by);                                   \
    } while (0)

/* Other indexes have entries that look the same: where the index of sessions' ids is whole, what
 * does not stand in it is none of its. */
static void choose_ids(struct search *f)
{
    struct salvage *s = f->s;
    size_t kept = 0;
    for (size_t i = 0; i < s->ids.len; i++) {
        unsigned char tree = f->tree_of[s->ids.items[i].page];
        if (tree == SESSION_TREE + 1 || (tree == 0 && !f->whole[SESSION_TREE]))
            s->ids.items[kept++] = s->ids.items[i];
    }
    s->ids.len = kept;
}

/* A row on a page that was given up was deleted, unless the index of ids still has it. */
static bool row_counts(const struct salvage *s, const struct session_row *row)
{
    const char *id = row->free ? salvage_id(s, row->key) : row->info.id;
    return id && strcmp(id, row->info.id) == 0;
}

static void choose_rows(struct salvage *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->rows.len; i++) {
        struct session_row *row = &s->rows.items[i];
        bool known = kept > 0 && s->rows.items[kept - 1].key == row->key;
        if (!known && row_counts(s, row))
            s->rows.items[kept++] = *row;
        else
            session_info_release(&row->info);
    }
    s->rows.len = kept;
}

static bool is_expected(const struct salvage *s, const struct event_number *n)
{
    return s->expected.len > 0 && bsearch(n, s->expected.items, s->expected.len,
                                          sizeof *s->expected.items, event_number_order);
}

static void choose_events(struct salvage *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->events.len; i++)
        if (!s->events.items[i].free || is_expected(s, &s->events.items[i].number))
            s->events.items[kept++] = s->events.items[i];
    s->events.len = kept;
}

/* --------------------------------------------------------------------------------------------- */

bool salvage_open(struct salvage *s, const char *path, bool (*go_on)(void *context), void *context,
                  struct error *e)
{
    *s = (struct salvage){0};
    if (!db_pages_open(&s->pages, path, e))
        return false;
    struct search f = {.s = s,
                       .record = BUF_INIT,
                       .free_pages = mem_alloc(s->pages.count / 8 + 1),
                       .tree_of = mem_alloc((size_t)s->pages.count + 1)};
    db_page_init(&f.page, &s->pages);
    find_free_pages(&f);
    bool ok = read_pages(&f, go_on, context, e);
    for (size_t i = 0; ok && i < TREE_COUNT; i++)
        read_tree(&f, (enum tree)i);
    choose_ids(&f);
    db_page_release(&f.page);
    buf_release(&f.record);
    free(f.free_pages);
    free(f.tree_of);
    sort(&s->expected, event_number_order);
    sort(&s->ids, id_order);
    sort(&s->rows, row_order);
    sort(&s->events, place_order);
    choose_rows(s);
    choose_events(s);
    salvage_memory_choose(&s->memory);
    if (!ok)
        salvage_release(s);
    return ok;
}

void salvage_release(struct salvage *s)
{
    for (size_t i = 0; i < s->rows.len; i++)
        session_info_release(&s->rows.items[i].info);
    vec_release(&s->rows);
    vec_release(&s->ids);
    vec_release(&s->events);
    vec_release(&s->expected);
    salvaged_memory_release(&s->memory);
    db_pages_close(&s->pages);
}

const char *salvage_id(const struct salvage *s, int64_t key)
{
    const struct session_id wanted = {.key = key};
    const struct session_id *found = NULL;
    if (s->ids.len > 0)
        found = bsearch(&wanted, s->ids.items, s->ids.len, sizeof wanted, id_order);
    return found ? found->id : NULL;
}

/* The text of a row is NUL-terminated in the buffer, and has no other NUL. */
static struct event *decode(const struct db_record *r)
{
    const struct db_value *name = &r->values[3];
    const struct db_value *version = &r->values[4];
    const struct db_value *payload = &r->values[5];
    enum event_type type;
    struct event *ev = NULL;
    if (!event_likely(r) || version->number < 1 || version->number > INT32_MAX ||
        !utf8_valid(payload->text, payload->len) || memchr(payload->text, '\0', payload->len))
        return NULL;
    char *type_name = mem_strndup(name->text, name->len);
    if (event_type_from_name(type_name, &type))
        event_from_payload(type, (int)version->number, payload->text, payload->len, &ev, NULL);
    free(type_name);
    if (!ev)
        return NULL;
    ev->seq = r->values[1].number;
    ev->wall_ms = r->values[2].number;
    return ev;
}

struct event *salvage_event(const struct salvage *s, const struct event_place *place,
                            struct buf *payload, int *version)
{
    struct db_page page;
    struct db_cell cell;
    struct db_record r;
    struct buf record = BUF_INIT;
    struct event *ev = NULL;
    db_page_init(&page, &s->pages);
    if (db_page_load(&page, &s->pages, place->page) &&
        db_cell_read(&page, &s->pages, place->cell, &cell) &&
        db_cell_load(&cell, &s->pages, &record) &&
        db_record_read(record.data, record.len, record.len, &r))
        ev = decode(&r);
    if (ev) {
        buf_clear(payload);
        buf_add(payload, r.values[5].text, r.values[5].len);
        *version = (int)r.values[4].number;
    }
    buf_release(&record);
    db_page_release(&page);
    return ev;
}
