/* The carrier of a PostgreSQL server, or of one that speaks its protocol (postgresql_schema.c has
 * the tables). A push adds to the head of its space first and so waits for pushes before it: the
 * numbers of lines appear in their order, and a reader that asks for those behind its last one
 * misses none. A sequence would not do: a later number can commit earlier.
 *
 * Only what poolers in transaction mode and other engines have: no SET, LISTEN, advisory lock,
 * prepared statement or temporary table. A person is a role of the database. */
#include "space/postgresql_link.h"

#ifdef HAVE_LIBPQ

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "space/postgresql_schema.h"

enum {
    PUSH_ROWS = 200, /* of a statement */
    PUSH_BYTES = 4 << 20,
    PULL_ROWS = 10000,
    PULL_LINE_BYTES = 512, /* of a usual line */
    LINE_BYTES = 64,       /* of a line beside its key and body */
    MOST_MEMBERS = 10000,
    KEY_TEXT_BYTES = 64 << 10 /* of all machines of a member */
};

struct postgresql {
    struct carrier carrier;
    struct carrier_place place;
    struct pg pg;
    char *made; /* the id of a space that was made; NULL: it is the place's */
};

static struct postgresql *postgresql_of(struct carrier *c)
{
    return (struct postgresql *)c;
}

static bool postgresql_open(const struct carrier_place *place, struct carrier **out,
                            struct error *e)
{
    struct postgresql *p = mem_alloc(sizeof *p);
    p->carrier.ops = &carrier_postgresql;
    p->place = *place;
    bool ok = pg_open(&p->pg, &p->place, e);
    if (ok)
        *out = &p->carrier;
    else
        free(p);
    return ok;
}

static void postgresql_close(struct carrier *c)
{
    struct postgresql *p = postgresql_of(c);
    pg_close(&p->pg);
    free(p->made);
    free(p);
}

static bool postgresql_person(struct carrier *c, const char **out, struct error *e)
{
    struct pg *p = &postgresql_of(c)->pg;
    bool ok = p->person || pg_connect(p, e);
    *out = p->person;
    return ok;
}

/* ---- facts ---- */

static bool refuse_stranger(const struct pg *p, struct error *e)
{
    return err_set(e, ERR_FORBIDDEN,
                   "%s has no space %.40s for %.40s; an owner of it adds the role to its members",
                   p->name, p->place->space, p->person);
}

static bool postgresql_facts(struct carrier *c, struct space_facts *out, struct error *e)
{
    struct pg *p = &postgresql_of(c)->pg;
    AUTO(pg_rows_release) struct pg_rows r = {0};
    *out = (struct space_facts){0};
    if (!pg_ask(
            p,
            "SELECT name, CAST(schema AS text), CAST(min_client AS text), CAST(epoch AS text), "
            "CAST(retain_days AS text), CAST(lease_days AS text) FROM tiro.space WHERE space = $1",
            PG_VALUES(pg_text(p->place->space)), 6, &r, e))
        return false;
    bool there = pg_count(&r) > 0;
    if (there) {
        memcpy(out->id, p->place->space, strnlen(p->place->space, UUID_LEN));
        out->name = utf8_clean_line(pg_cell(&r, 0, 0));
        out->name[utf8_cut_bytes(out->name, strlen(out->name), SPACE_NAME_BYTES)] = '\0';
        out->schema = (int)pg_number(&r, 0, 1);
        out->min_client = (int)pg_number(&r, 0, 2);
        out->epoch = pg_number(&r, 0, 3);
        out->retain_days = (int)pg_number(&r, 0, 4);
        out->lease_days = (int)pg_number(&r, 0, 5);
    }
    return there || refuse_stranger(p, e);
}

static bool postgresql_set_facts(struct carrier *c, const struct space_facts *f, struct error *e)
{
    struct pg *p = &postgresql_of(c)->pg;
    AUTO(pg_rows_release) struct pg_rows r = {0};
    auto_free char *sql = mem_printf(
        "UPDATE tiro.space SET name = $2, schema = %d, min_client = %d, epoch = %lld, "
        "retain_days = %d, lease_days = %d WHERE space = $1 RETURNING name",
        f->schema, f->min_client, (long long)f->epoch, f->retain_days, f->lease_days);
    if (!pg_ask(p, sql, PG_VALUES(pg_text(p->place->space), pg_text(f->name)), 1, &r, e))
        return false;
    return pg_count(&r) > 0 ||
           err_set(e, ERR_FORBIDDEN, "%s: only an owner changes the facts of a space", p->name);
}

/* ---- members ---- */

static bool insert_member(struct pg *p, const struct space_member *m, struct error *e)
{
    auto_free char *sql = mem_printf(
        "INSERT INTO tiro.member (space, person, role, public_key, "
        "wrapped_key, epoch) VALUES ($1, $2, $3, $4, $5, %lld)",
        (long long)m->epoch);
    return pg_run(p, sql,
                  PG_VALUES(pg_text(p->place->space), pg_text(m->person),
                            pg_text(space_role_names.words[m->role]), pg_text(m->public_key),
                            pg_text(m->wrapped_key)),
                  0, NULL, e);
}

/* Adds to the head and gives what it was; *head is 0 where the person may not write. */
static bool advance(struct pg *p, size_t by, int64_t *head, struct error *e)
{
    AUTO(pg_rows_release) struct pg_rows r = {0};
    auto_free char *sql = mem_printf(
        "UPDATE tiro.head SET head = head + %zu WHERE space = $1 RETURNING "
        "CAST(head AS text)",
        by);
    if (!pg_run(p, sql, PG_VALUES(pg_text(p->place->space)), 1, &r, e))
        return false;
    *head = pg_count(&r) > 0 ? pg_number(&r, 0, 0) - (int64_t)by : 0;
    return true;
}

/* Adds the role that a person has from now on. The serial is behind all serials of the space: those
 * of others cannot be seen. Who gives up his own adds 1 to his last, so owners add 2 to the head.
 */
static bool grant(struct pg *p, const char *person, const char *role, struct error *e)
{
    int64_t head;
    if (strcmp(person, p->person) == 0 && strcmp(role, "none") == 0)
        return pg_run(
            p,
            "INSERT INTO tiro.access (space, serial, person, role) SELECT space, "
            "max(serial) + 1, person, 'none' FROM tiro.access WHERE space = $1 AND person "
            "= $2 GROUP BY space, person",
            PG_VALUES(pg_text(p->place->space), pg_text(person)), 0, NULL, e);
    if (!advance(p, 2, &head, e))
        return false;
    auto_free char *sql = mem_printf(
        "INSERT INTO tiro.access (space, serial, person, role) "
        "VALUES ($1, %lld, $2, $3)",
        (long long)head + 2);
    return pg_run(p, sql, PG_VALUES(pg_text(p->place->space), pg_text(person), pg_text(role)), 0,
                  NULL, e);
}

static bool put_member(struct pg *p, const void *context, struct error *e)
{
    const struct space_member *m = context;
    AUTO(pg_rows_release) struct pg_rows r = {0};
    auto_free char *sql = mem_printf(
        "UPDATE tiro.member SET epoch = %lld, public_key = $4, wrapped_key = $5 WHERE "
        "space = $1 AND person = $2 AND role = $3 RETURNING person",
        (long long)m->epoch);
    if (!pg_run(p, sql,
                PG_VALUES(pg_text(p->place->space), pg_text(m->person),
                          pg_text(space_role_names.words[m->role]), pg_text(m->public_key),
                          pg_text(m->wrapped_key)),
                1, &r, e))
        return false;
    /* A new member or another role. A role that stays is not granted again: what a member wrote
     * about himself must not become his right. */
    return pg_count(&r) > 0 ||
           (pg_run(p, "DELETE FROM tiro.member WHERE space = $1 AND person = $2",
                   PG_VALUES(pg_text(p->place->space), pg_text(m->person)), 0, NULL, e) &&
            insert_member(p, m, e) && grant(p, m->person, space_role_names.words[m->role], e));
}

static bool postgresql_put_member(struct carrier *c, const struct space_member *m, struct error *e)
{
    if (!*m->person || strlen(m->person) > SPACE_NAME_BYTES)
        return err_set(e, ERR_USAGE,
                       "a member is named as a role of the database, with %d bytes "
                       "at most",
                       SPACE_NAME_BYTES);
    return pg_transaction(&postgresql_of(c)->pg, put_member, m, e);
}

static bool drop_member(struct pg *p, const void *context, struct error *e)
{
    const char *person = context;
    return pg_run(p, "DELETE FROM tiro.seen WHERE space = $1 AND person = $2",
                  PG_VALUES(pg_text(p->place->space), pg_text(person)), 0, NULL, e) &&
           pg_run(p, "DELETE FROM tiro.member WHERE space = $1 AND person = $2",
                  PG_VALUES(pg_text(p->place->space), pg_text(person)), 0, NULL, e) &&
           grant(p, person, "none", e);
}

static bool postgresql_drop_member(struct carrier *c, const char *person, struct error *e)
{
    return pg_transaction(&postgresql_of(c)->pg, drop_member, person, e);
}

static int by_person(const void *a, const void *b)
{
    return strcmp(((const struct space_member *)a)->person,
                  ((const struct space_member *)b)->person);
}

static bool postgresql_members(struct carrier *c, struct space_members *out, struct error *e)
{
    struct pg *p = &postgresql_of(c)->pg;
    AUTO(pg_rows_release) struct pg_rows r = {0};
    *out = (struct space_members){0};
    auto_free char *sql = mem_printf(
        "SELECT person, role, CAST(epoch AS text), public_key, wrapped_key, CAST((SELECT min(at) "
        "FROM tiro.seen s WHERE s.space = m.space AND s.person = m.person) AS text) FROM "
        "tiro.member m WHERE space = $1 ORDER BY person LIMIT %d",
        MOST_MEMBERS);
    if (!pg_ask(p, sql, PG_VALUES(pg_text(p->place->space)), 6, &r, e))
        return false;
    for (int i = 0; i < pg_count(&r); i++) {
        const char *person = pg_cell(&r, i, 0);
        int role = 0;
        while (role < space_role_names.count &&
               strcmp(space_role_names.words[role], pg_cell(&r, i, 1)) != 0)
            role++;
        if (role == space_role_names.count || strlen(person) > SPACE_NAME_BYTES ||
            strlen(pg_cell(&r, i, 3)) > KEY_TEXT_BYTES ||
            strlen(pg_cell(&r, i, 4)) > KEY_TEXT_BYTES)
            continue;
        vec_push(&out->items, (struct space_member){.person = mem_strdup(person),
                                                    .role = (enum space_role)role,
                                                    .epoch = pg_number(&r, i, 2),
                                                    .public_key = pg_copy(&r, i, 3),
                                                    .wrapped_key = pg_copy(&r, i, 4),
                                                    .seen_ms = pg_number(&r, i, 5)});
    }
    vec_sort(&out->items, by_person);
    return out->items.len > 0 || refuse_stranger(p, e);
}

static bool postgresql_note_seen(struct carrier *c, int64_t at_ms, struct error *e)
{
    struct pg *p = &postgresql_of(c)->pg;
    AUTO(pg_rows_release) struct pg_rows r = {0};
    if (!pg_connect(p, e))
        return false;
    const struct pg_value values[] = {pg_text(p->place->space), pg_text(p->person),
                                      pg_text(p->place->writer)};
    auto_free char *update = mem_printf(
        "UPDATE tiro.seen SET at = %lld WHERE space = $1 AND "
        "person = $2 AND writer = $3 RETURNING writer",
        (long long)at_ms);
    auto_free char *insert = mem_printf(
        "INSERT INTO tiro.seen (space, person, writer, at) VALUES "
        "($1, $2, $3, %lld) ON CONFLICT DO NOTHING",
        (long long)at_ms);
    if (!pg_run(p, update, values, 3, 1, &r, e))
        return false;
    return pg_count(&r) > 0 || pg_run(p, insert, values, 3, 0, NULL, e);
}

/* ---- making a space ---- */

/* Makes the tables where there are none. */
static bool make_tables(struct pg *p, struct error *e)
{
    AUTO(buf_release) struct buf sql = BUF_INIT;
    AUTO(pg_rows_release) struct pg_rows r = {0};
    if (pg_ask(p, "SELECT entry FROM tiro.erased LIMIT 0", PG_NOTHING, 1, &r, e))
        return true;
    if (e->code != ERR_USAGE)
        return false;
    /* Together, so that no cut leaves tables without policies; alone where an engine has none. */
    buf_addstr(&sql, postgresql_tables);
    postgresql_policies(&sql);
    if (pg_run(p, sql.data, NULL, 0, 0, NULL, e) ||
        ((strcmp(p->state, "42601") == 0 || strncmp(p->state, "0A", 2) == 0) &&
         pg_run(p, postgresql_tables, NULL, 0, 0, NULL, e)))
        return true;
    return e->code != ERR_FORBIDDEN ||
           err_set(e, ERR_FORBIDDEN,
                   "%s: the role may not make tables; let an administrator of the database run "
                   "what `tiro space sql` prints",
                   p->name);
}

struct making {
    const struct space_facts *facts;
    const struct space_member *owner;
};

static bool make_rows(struct pg *p, const void *context, struct error *e)
{
    const struct making *m = context;
    const struct space_facts *f = m->facts;
    auto_free char *facts = mem_printf(
        "INSERT INTO tiro.space (space, name, schema, min_client, epoch, retain_days, "
        "lease_days) VALUES ($1, $2, %d, %d, %lld, %d, %d)",
        f->schema, f->min_client, (long long)f->epoch, f->retain_days, f->lease_days);
    return pg_run(
               p,
               "INSERT INTO tiro.access (space, serial, person, role) VALUES ($1, 1, $2, 'owner')",
               PG_VALUES(pg_text(p->place->space), pg_text(m->owner->person)), 0, NULL, e) &&
           pg_run(p, facts, PG_VALUES(pg_text(p->place->space), pg_text(f->name)), 0, NULL, e) &&
           pg_run(p, "INSERT INTO tiro.head (space, head) VALUES ($1, 1)",
                  PG_VALUES(pg_text(p->place->space)), 0, NULL, e) &&
           insert_member(p, m->owner, e);
}

static bool postgresql_make(struct carrier *c, const struct space_facts *facts,
                            const struct space_member *owner, struct error *e)
{
    struct postgresql *made = postgresql_of(c);
    struct pg *p = &made->pg;
    struct error cause;
    mem_replace(&made->made, mem_strdup(facts->id));
    made->place.space = made->made;
    if (make_tables(p, &cause) &&
        pg_transaction(p, make_rows, &(struct making){facts, owner}, &cause))
        return true;
    if (strcmp(p->state, "23505") == 0)
        return err_set(e, ERR_USAGE, "%s has the space %s already; join it", p->name, facts->id);
    return err_set(e, cause.code, "%s", cause.text);
}

/* ---- writing ---- */

struct batch {
    const struct space_line *lines;
    size_t count;
};

/* A statement for lines from `from` on; returns the first one that it does not take. */
static size_t insert_lines(const struct pg *p, const struct batch *b, size_t from, int64_t head,
                           struct buf *sql, struct pg_value *values, size_t *count)
{
    size_t bytes = 0, i = from;
    values[0] = pg_text(p->place->space);
    *count = 1;
    buf_addstr(sql,
               "INSERT INTO tiro.log (space, seq, version, at, entry, kind, owner, project, "
               "key, body) VALUES ");
    for (; i < b->count && i - from < PUSH_ROWS && bytes < PUSH_BYTES; i++) {
        const struct space_line *line = &b->lines[i];
        const struct pg_value row[] = {
            pg_text(line->entry), pg_text(space_kind_names.words[line->kind]),
            pg_text(line->owner), pg_text(line->project),
            pg_bytes(&line->key), pg_bytes(&line->body)};
        buf_addf(sql, "%s($1, %lld, %lld, %lld", i > from ? ", " : "",
                 (long long)(head + 1 + (int64_t)i), (long long)line->version,
                 (long long)line->at_ms);
        for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
            values[(*count)++] = row[k];
            buf_addf(sql, ", $%zu", *count);
        }
        buf_addch(sql, ')');
        bytes += line->key.len + line->body.len;
    }
    buf_addstr(sql, " ON CONFLICT DO NOTHING");
    return i;
}

/* Lines that are there already leave gaps in the numbers, which nobody minds. */
static bool push_lines(struct pg *p, const void *context, struct error *e)
{
    const struct batch *b = context;
    int64_t head;
    if (!advance(p, b->count, &head, e))
        return false;
    if (head == 0)
        return err_set(e, ERR_FORBIDDEN, "%s: %.40s may not write to the space %.40s", p->name,
                       p->person, p->place->space);
    for (size_t next = 0; next < b->count;) {
        AUTO(buf_release) struct buf sql = BUF_INIT;
        struct pg_value values[1 + 6 * PUSH_ROWS];
        size_t count;
        next = insert_lines(p, b, next, head, &sql, values, &count);
        if (!pg_run(p, sql.data, values, count, 0, NULL, e))
            return false;
    }
    return true;
}

static bool postgresql_push(struct carrier *c, const struct space_line *lines, size_t count,
                            struct error *e)
{
    return count == 0 ||
           pg_transaction(&postgresql_of(c)->pg, push_lines, &(struct batch){lines, count}, e);
}

/* ---- reading ---- */

/* A hash of a line's identity, by which a cursor knows the line that it stands at. */
static uint64_t identity(const struct pg_rows *r, int row)
{
    uint64_t hash = MEM_HASH;
    for (int column = 1; column <= 4; column++) {
        const char *text = pg_cell(r, row, column);
        hash = mem_hash(hash, text, strlen(text) + 1);
    }
    return hash;
}

/* False for a line that cannot be taken. */
static bool take_line(const struct pg_rows *r, int row, struct space_lines *out)
{
    struct space_line line = {.version = pg_number(r, row, 2),
                              .at_ms = pg_number(r, row, 6),
                              .key = BUF_INIT,
                              .body = BUF_INIT};
    int kind = 0;
    while (kind < SPACE_KINDS && strcmp(space_kind_names.words[kind], pg_cell(r, row, 3)) != 0)
        kind++;
    if (*pg_cell(r, row, 9) == 'y')
        return false;
    for (int column = 1; column <= 5; column++) {
        const char *text = pg_cell(r, row, column);
        if (!utf8_valid(text, strlen(text)))
            return false;
    }
    if (kind == SPACE_KINDS || pg_length(r, row, 7) > SPACE_KEY_BYTES ||
        pg_length(r, row, 8) > SPACE_BODY_BYTES)
        return false;
    line.kind = (enum space_kind)kind;
    line.entry = mem_strdup(pg_cell(r, row, 1));
    line.owner = mem_strdup(pg_cell(r, row, 4));
    line.project = pg_copy(r, row, 5);
    buf_add(&line.key, pg_cell(r, row, 7), pg_length(r, row, 7));
    buf_add(&line.body, pg_cell(r, row, 8), pg_length(r, row, 8));
    if (!space_line_fits(&line)) {
        space_line_release(&line);
        return false;
    }
    out->bytes += line.key.len + line.body.len + LINE_BYTES;
    vec_push(&out->items, line);
    return true;
}

/* The line of the number `from` without its bytes, and lines behind it: their bodies are added up
 * before any is read, since each may have megabytes, and one that is too long is not read. */
static bool read_lines(struct pg *p, int64_t from, size_t most, int limit, struct pg_rows *out,
                       struct error *e)
{
    auto_free char *sql = mem_printf(
        "SELECT CAST(seq AS text) AS number, entry, CAST(version AS text), kind, owner, project, "
        "CAST(at AS text), key, body, long FROM (SELECT seq, entry, version, kind, owner, project, "
        "at, key, body, long, %d + coalesce(octet_length(key), 0) + coalesce(octet_length(body), "
        "0) "
        "AS size, sum(%d + coalesce(octet_length(key), 0) + coalesce(octet_length(body), 0)) OVER "
        "(ORDER BY seq) AS total FROM (SELECT seq, entry, version, kind, owner, project, at, "
        "CASE WHEN seq > %lld AND octet_length(key) <= %d THEN key END AS key, "
        "CASE WHEN seq > %lld AND octet_length(body) <= %d THEN body END AS body, "
        "CASE WHEN octet_length(key) > %d OR octet_length(body) > %d THEN 'yes' ELSE 'no' END AS "
        "long FROM tiro.log WHERE space = $1 AND seq >= %lld ORDER BY seq LIMIT %d) AS next) AS "
        "sized WHERE total - size < %zu ORDER BY seq",
        LINE_BYTES, LINE_BYTES, (long long)from, SPACE_KEY_BYTES, (long long)from, SPACE_BODY_BYTES,
        SPACE_KEY_BYTES, SPACE_BODY_BYTES, (long long)from, limit, most + LINE_BYTES);
    return pg_ask(p, sql, PG_VALUES(pg_text(p->place->space)), 10, out, e);
}

static bool postgresql_pull(struct carrier *c, struct buf *cursor, size_t most,
                            struct space_lines *out, bool *more, int64_t *skipped, struct error *e)
{
    struct pg *p = &postgresql_of(c)->pg;
    char *end = cursor->data;
    int64_t from = strtoll(cursor->data, &end, 10);
    uint64_t last = strtoull(end, NULL, 16);
    AUTO(pg_rows_release) struct pg_rows r = {0};
    *out = (struct space_lines){0};
    *more = false;
    /* The server looks at so many lines, also at those that are too much. */
    int limit =
        most / PULL_LINE_BYTES < PULL_ROWS ? (int)(most / PULL_LINE_BYTES) + 100 : PULL_ROWS;
    if (!read_lines(p, from, most, limit, &r, e))
        return false;
    int rows = pg_count(&r), row = 0;
    if (rows == 0) {
        struct space_facts facts; /* who is no member sees an empty log */
        if (!postgresql_facts(c, &facts, e))
            return false;
        space_facts_release(&facts);
        out->anew = from > 0;
        *more = from > 0;
        buf_clear(cursor);
        return true;
    }
    if (from > 0) {
        row = 1;
        if (pg_number(&r, 0, 0) != from || identity(&r, 0) != last) {
            buf_clear(cursor);
            out->anew = *more = true;
            return true;
        }
    }
    size_t bytes = 0; /* as the statement counted them */
    for (; row < rows; row++) {
        bytes += LINE_BYTES + pg_length(&r, row, 7) + pg_length(&r, row, 8);
        if (!take_line(&r, row, out))
            ++*skipped;
    }
    *more = rows == limit || bytes >= most;
    buf_clear(cursor);
    buf_addf(cursor, "%lld %llx", (long long)pg_number(&r, rows - 1, 0),
             (unsigned long long)identity(&r, rows - 1));
    return true;
}

/* ---- erasing ---- */

struct erasing {
    const char *const *entries;
    size_t count;
};

static bool erase_entries(struct pg *p, const void *context, struct error *e)
{
    const struct erasing *all = context;
    for (size_t from = 0; from < all->count; from += PUSH_ROWS) {
        AUTO(buf_release) struct buf empty = BUF_INIT, note = BUF_INIT;
        struct pg_value values[1 + PUSH_ROWS] = {pg_text(p->place->space)};
        size_t count = 1;
        buf_addstr(&empty,
                   "UPDATE tiro.log SET key = NULL, body = NULL WHERE space = $1 AND "
                   "entry IN (");
        buf_addstr(&note, "INSERT INTO tiro.erased (space, entry, at, person) VALUES ");
        for (size_t i = from; i < all->count && i - from < PUSH_ROWS; i++) {
            values[count++] = pg_text(all->entries[i]);
            buf_addf(&empty, "%s$%zu", i > from ? ", " : "", count);
            buf_addf(&note, "%s($1, $%zu, %lld, current_user)", i > from ? ", " : "", count,
                     (long long)clock_wall_ms());
        }
        buf_addstr(&empty, ") AND kind <> 'forget' AND (key IS NOT NULL OR body IS NOT NULL)");
        buf_addstr(&note, " ON CONFLICT DO NOTHING");
        if (!pg_run(p, empty.data, values, count, 0, NULL, e) ||
            !pg_run(p, note.data, values, count, 0, NULL, e))
            return false;
    }
    return true;
}

static bool postgresql_erase(struct carrier *c, const char *const *entries, size_t count,
                             struct error *e)
{
    return pg_transaction(&postgresql_of(c)->pg, erase_entries, &(struct erasing){entries, count},
                          e);
}

/* ---- who sees too much ---- */

static bool postgresql_doctor(struct carrier *c, struct text_list *warnings, struct error *e)
{
    static const struct {
        const char *sql; /* the number of reasons; may fail on an engine without such tables */
        const char *warning;
    } checks[] = {
        {"SELECT CAST(count(*) AS text) FROM pg_catalog.pg_roles WHERE rolname = current_user AND "
         "rolsuper",
         "the role is a superuser"},
        {"SELECT CAST(count(*) AS text) FROM pg_catalog.pg_roles WHERE rolname = current_user AND "
         "rolbypassrls AND NOT rolsuper",
         "the role has BYPASSRLS"},
        {"SELECT CAST(count(*) AS text) FROM pg_catalog.pg_tables WHERE schemaname = 'tiro' AND "
         "tableowner = current_user",
         "the role owns the tables and can remove their policies"},
        {"SELECT CAST(count(*) AS text) FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles "
         "r ON r.oid = m.roleid WHERE r.rolname = current_user",
         "other roles may act as this role, so it is not one person's"},
    };
    struct pg *p = &postgresql_of(c)->pg;
    size_t before = warnings->items.len;
    if (!pg_connect(p, e))
        return false;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        AUTO(pg_rows_release) struct pg_rows r = {0};
        if (!pg_ask(p, checks[i].sql, PG_NOTHING, 1, &r, e) && !p->state[0])
            return false;
        if (pg_count(&r) > 0 && pg_number(&r, 0, 0) > 0)
            vec_push(&warnings->items, mem_strdup(checks[i].warning));
    }
    static const char secured[] =
        "SELECT CAST(count(*) AS text) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n "
        "ON n.oid = c.relnamespace WHERE n.nspname = 'tiro' AND c.relrowsecurity AND "
        "c.relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_catalog.pg_policies y WHERE "
        "y.schemaname = 'tiro' AND y.tablename = c.relname)";
    AUTO(pg_rows_release) struct pg_rows r = {0};
    if (!pg_ask(p, secured, PG_NOTHING, 1, &r, e) && !p->state[0])
        return false;
    if (pg_count(&r) == 0 || pg_number(&r, 0, 0) < POSTGRESQL_TABLES)
        vec_push(&warnings->items, mem_strdup("row level security is not on for all tables"));
    if (warnings->items.len > before)
        vec_push(&warnings->items,
                 mem_strdup("so visibility is a convention there, not a protection"));
    return true;
}

const struct carrier_ops carrier_postgresql = {
    .scheme = "postgresql",
    .open = postgresql_open,
    .close = postgresql_close,
    .person = postgresql_person,
    .make = postgresql_make,
    .facts = postgresql_facts,
    .set_facts = postgresql_set_facts,
    .members = postgresql_members,
    .put_member = postgresql_put_member,
    .drop_member = postgresql_drop_member,
    .note_seen = postgresql_note_seen,
    .push = postgresql_push,
    .pull = postgresql_pull,
    .erase = postgresql_erase,
    .doctor = postgresql_doctor,
};

#endif
