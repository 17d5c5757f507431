#include "store/salvage_memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { TALK_COLUMNS = 3, INDEX_COLUMNS = 2, FLAG_COLUMNS = 3 };

enum kind {
    KEY, /* stands in the rowid; the record has NULL */
    TEXT,
    TEXT_OR_NULL,
    NUMBER,
    NUMBER_OR_NULL /* NULL is 0 */
};

struct column {
    const char *name;
    enum kind kind;
    size_t offset;
};

#define C(name, kind, member)                                                                      \
    {                                                                                              \
        name, kind, offsetof(struct salvaged_entry, member)                                        \
    }

static const struct column columns[] = {
    C("key", KEY, key),
    C("id", TEXT, id),
    C("id_number", NUMBER, id_is_number),
    C("session", NUMBER, session),
    C("turn", NUMBER, turn),
    C("seq", NUMBER_OR_NULL, seq),
    C("role", TEXT, role),
    C("speaker", TEXT_OR_NULL, speaker),
    C("created_ms", NUMBER, created_ms),
    C("pinned", NUMBER, pinned),
    C("edited", NUMBER, edited),
    C("compaction", NUMBER_OR_NULL, compaction),
    C("digest", NUMBER, digest),
    C("content", TEXT, content),
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

const char *salvage_memory_column(size_t i)
{
    return i < COLUMN_COUNT ? columns[i].name : NULL;
}

/* --- what looks like one of ours ------------------------------------------------------------- */

static bool type_fits(enum kind kind, enum db_type type)
{
    switch (kind) {
    case KEY:
        return type == DB_NULL;
    case TEXT:
        return type == DB_TEXT;
    case TEXT_OR_NULL:
        return type == DB_TEXT || type == DB_NULL;
    case NUMBER:
        return type == DB_INT;
    case NUMBER_OR_NULL:
        return type == DB_INT || type == DB_NULL;
    }
    return false;
}

static bool entry_likely(const struct db_record *r)
{
    if (r->count != COLUMN_COUNT)
        return false;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (!type_fits(columns[i].kind, r->values[i].type))
            return false;
    return true;
}

static bool is_plain(const struct db_value *v)
{
    return v->there && utf8_valid(v->text, v->len) && !memchr(v->text, '\0', v->len);
}

static bool talk_likely(const struct db_record *r)
{
    return r->count == TALK_COLUMNS && r->values[0].type == DB_NULL &&
           r->values[1].type == DB_TEXT && r->values[2].type == DB_INT && is_plain(&r->values[1]) &&
           r->values[2].there && r->values[2].number >= 0;
}

static void add_talk(struct salvaged_memory *m, int64_t number, const struct db_value *id,
                     int64_t next)
{
    struct memory_talk talk = {
        .number = number, .id = mem_strndup(id->text, id->len), .next = next};
    vec_push(&m->talks, talk);
}

bool salvage_memory_row(struct salvaged_memory *m, const struct db_cell *cell,
                        const struct db_record *r, struct memory_place place)
{
    if (entry_likely(r)) {
        place.key = cell->rowid;
        vec_push(&m->entries, place);
        return true;
    }
    if (!talk_likely(r))
        return false;
    if (!place.free) /* one that was deleted; what is not, the index has as well */
        add_talk(m, cell->rowid, &r->values[1], r->values[2].number);
    return true;
}

/* --- indexes --------------------------------------------------------------------------------- */

static bool index_fits(const struct db_record *r)
{
    return r->count == INDEX_COLUMNS && r->values[0].type == DB_TEXT &&
           r->values[1].type == DB_INT && r->values[1].there;
}

void salvage_memory_talk(struct salvaged_memory *m, const struct db_record *r)
{
    if (index_fits(r) && is_plain(&r->values[0]))
        add_talk(m, r->values[1].number, &r->values[0], 0);
}

void salvage_memory_key(struct salvaged_memory *m, const struct db_record *r)
{
    if (index_fits(r))
        vec_push(&m->expected, r->values[1].number);
}

void salvage_memory_flag(struct salvaged_memory *m, const struct db_record *r)
{
    if (r->count != FLAG_COLUMNS || r->values[0].type != DB_INT || r->values[1].type != DB_INT ||
        r->values[2].type != DB_TEXT || !is_plain(&r->values[2]))
        return;
    struct memory_flag flag = {.session = r->values[0].number,
                               .compaction = r->values[1].number,
                               .entry = mem_strndup(r->values[2].text, r->values[2].len)};
    vec_push(&m->flags, flag);
}

/* --- order ----------------------------------------------------------------------------------- */

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int number_order(const void *a, const void *b)
{
    return order(*(const int64_t *)a, *(const int64_t *)b);
}

/* Of one number those come first that know their next place, the later ones before. */
static int talk_order(const void *a, const void *b)
{
    const struct memory_talk *left = a;
    const struct memory_talk *right = b;
    return left->number != right->number ? order(left->number, right->number)
                                         : order(right->next, left->next);
}

/* Of one key those come first that are no leftovers. */
static int place_order(const void *a, const void *b)
{
    const struct memory_place *left = a;
    const struct memory_place *right = b;
    return left->key != right->key ? order(left->key, right->key)
                                   : (int)left->free - (int)right->free;
}

#define sort(v, by)                                                                                \
    do {                                                                                           \
        if ((v)->len > 0)                                                                          \
            qsort((v)->items, (v)->len, sizeof *(v)->items, by);                                   \
    } while (0)

static void choose_talks(struct salvaged_memory *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->talks.len; i++) {
        struct memory_talk *talk = &m->talks.items[i];
        if (kept > 0 && m->talks.items[kept - 1].number == talk->number)
            free(talk->id);
        else
            m->talks.items[kept++] = *talk;
    }
    m->talks.len = kept;
}

static void choose_expected(struct salvaged_memory *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->expected.len; i++)
        if (kept == 0 || m->expected.items[kept - 1] != m->expected.items[i])
            m->expected.items[kept++] = m->expected.items[i];
    m->expected.len = kept;
}

static bool is_expected(const struct salvaged_memory *m, int64_t key)
{
    return m->expected.len > 0 && bsearch(&key, m->expected.items, m->expected.len,
                                          sizeof *m->expected.items, number_order);
}

/* A row on a page that was given up was forgotten, unless the index still has it. */
static void choose_entries(struct salvaged_memory *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->entries.len; i++) {
        struct memory_place *place = &m->entries.items[i];
        bool known = kept > 0 && m->entries.items[kept - 1].key == place->key;
        if (!known && (!place->free || is_expected(m, place->key)))
            m->entries.items[kept++] = *place;
    }
    m->entries.len = kept;
}

void salvage_memory_choose(struct salvaged_memory *m)
{
    sort(&m->talks, talk_order);
    sort(&m->entries, place_order);
    sort(&m->expected, number_order);
    choose_talks(m);
    choose_expected(m);
    choose_entries(m);
}

void salvaged_memory_release(struct salvaged_memory *m)
{
    for (size_t i = 0; i < m->talks.len; i++)
        free(m->talks.items[i].id);
    for (size_t i = 0; i < m->flags.len; i++)
        free(m->flags.items[i].entry);
    vec_release(&m->talks);
    vec_release(&m->entries);
    vec_release(&m->expected);
    vec_release(&m->flags);
}

/* --- an entry -------------------------------------------------------------------------------- */

void salvaged_entry_release(struct salvaged_entry *e)
{
    free(e->id);
    free(e->role);
    free(e->speaker);
    free(e->content);
    *e = (struct salvaged_entry){0};
}

static bool read_column(const struct column *c, const struct db_value *v,
                        struct salvaged_entry *out)
{
    void *member = (char *)out + c->offset;
    switch (c->kind) {
    case KEY:
        return true;
    case TEXT:
    case TEXT_OR_NULL:
        if (v->type == DB_NULL)
            return true;
        if (!is_plain(v))
            return false;
        *(char **)member = mem_strndup(v->text, v->len);
        return true;
    case NUMBER:
    case NUMBER_OR_NULL:
        *(int64_t *)member = v->type == DB_NULL ? 0 : v->number;
        return v->there;
    }
    return false;
}

static bool role_fits(const char *role)
{
    static const char *const roles[] = {"user", "assistant", "tool"};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(role, roles[i]) == 0)
            return true;
    return false;
}

static bool makes_sense(const struct salvaged_entry *e)
{
    return e->session > 0 && e->key >> SALVAGE_PLACE_BITS == e->session && role_fits(e->role) &&
           *e->id && *e->content;
}

bool salvage_memory_entry(const struct db_pages *pages, const struct memory_place *place,
                          struct salvaged_entry *out)
{
    struct db_page page;
    struct db_cell cell;
    struct db_record r;
    struct buf record = BUF_INIT;
    *out = (struct salvaged_entry){.key = place->key};
    db_page_init(&page, pages);
    bool ok = db_page_load(&page, pages, place->page) &&
              db_cell_read(&page, pages, place->cell, &cell) &&
              db_cell_load(&cell, pages, &record) &&
              db_record_read(record.data, record.len, record.len, &r) && entry_likely(&r);
    for (size_t i = 0; ok && i < COLUMN_COUNT; i++)
        ok = read_column(&columns[i], &r.values[i], out);
    ok = ok && makes_sense(out);
    if (!ok)
        salvaged_entry_release(out);
    buf_release(&record);
    db_page_release(&page);
    return ok;
}
