#include "store/sql.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/* Bytes of a path in an error, which leave room for the advice behind it. */
#define PATH_SHOWN 100

static const struct {
    int result; /* primary code */
    enum err_code code;
    const char *text;
} faults[] = {
    {SQLITE_BUSY, ERR_SESSION_STORE_ERROR, "is locked by another process; close it or try again"},
    {SQLITE_FULL, ERR_SESSION_STORE_ERROR, "cannot grow, the disk is full; make room, try again"},
    {SQLITE_READONLY, ERR_SESSION_STORE_ERROR,
     "cannot be written; check the rights of the file "
     "and its directory"},
    {SQLITE_CANTOPEN, ERR_SESSION_STORE_ERROR,
     "cannot be opened; check the rights of the file "
     "and its directory"},
    {SQLITE_PERM, ERR_SESSION_STORE_ERROR, "cannot be opened; check its rights"},
    {SQLITE_IOERR, ERR_SESSION_STORE_ERROR,
     "cannot be read or written; check the disk and run "
     "'tiro doctor'"},
    {SQLITE_CORRUPT, ERR_SESSION_STORE_ERROR, "is damaged; keep a copy and run 'tiro doctor'"},
    {SQLITE_NOTADB, ERR_SESSION_STORE_ERROR,
     "is not a database; move it away or run "
     "'tiro doctor'"},
    {SQLITE_TOOBIG, ERR_SESSION_STORE_ERROR, "does not take a text this long; shorten it"},
    {SQLITE_INTERRUPT, ERR_INTERRUPTED, "was interrupted; try again"},
};

bool store_fault(const struct store *s, int result, struct error *e)
{
    if ((result & 0xff) == SQLITE_NOMEM)
        die("out of memory");
    if ((result & 0xff) == SQLITE_READONLY && s->refusal)
        return err_set(e, ERR_SESSION_PERSISTENCE_DISABLED, "%s", s->refusal);
    /* The end of a path, from the beginning of a character on. */
    size_t len = strlen(s->path);
    const char *path = s->path + (len > PATH_SHOWN ? len - PATH_SHOWN : 0);
    while ((*path & 0xc0) == 0x80)
        path++;
    const char *cut = path > s->path ? "…" : "";
    const char *detail = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(result);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].result == (result & 0xff))
            return err_set(e, faults[i].code, "the database %s%s %s (%s)", cut, path,
                           faults[i].text, detail);
    return err_set(e, ERR_SESSION_STORE_ERROR,
                   "the database %s%s has an error; run 'tiro doctor' (%s)", cut, path, detail);
}

/* The text with `tables` in the place of each #; NULL: the text as it is. The caller frees. */
static char *name_tables(const char *sql, const char *tables)
{
    struct buf out = BUF_INIT;
    for (const char *at = sql; *at; at++)
        if (*at == '#' && tables)
            buf_addstr(&out, tables);
        else
            buf_addch(&out, *at);
    return buf_take(&out);
}

static void fail(struct query *q, int result)
{
    q->fault = result;
    store_fault(q->store, result, q->error);
}

static struct query begin(struct store *s, const char *tables, const char *sql, struct error *e)
{
    struct query q = {.store = s, .error = e};
    for (size_t i = 0; i < s->statements.len; i++) {
        const struct statement *known = &s->statements.items[i];
        if (known->sql == sql && known->tables == tables) {
            assert(!sqlite3_stmt_busy(known->handle));
            q.handle = known->handle;
            return q;
        }
    }
    struct statement new = {.sql = sql, .tables = tables};
    auto_free char *text = name_tables(sql, tables);
    int result = sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, &new.handle, NULL);
    q.handle = new.handle;
    if (result == SQLITE_OK)
        vec_push(&s->statements, new);
    else
        fail(&q, result);
    return q;
}

struct query sql_query_in(struct store *s, const char *tables, struct error *e, const char *sql,
                          const char *types, va_list args)
{
    struct query q = begin(s, tables, sql, e);
    for (int i = 1; types[i - 1] && q.fault == SQLITE_OK; i++) {
        int result = SQLITE_OK;
        switch (types[i - 1]) {
        case 't': {
            const char *text = va_arg(args, const char *);
            result = text ? sqlite3_bind_text64(q.handle, i, text, strlen(text), SQLITE_STATIC,
                                                SQLITE_UTF8)
                          : sqlite3_bind_null(q.handle, i);
            break;
        }
        case 'i':
            result = sqlite3_bind_int64(q.handle, i, va_arg(args, int64_t));
            break;
        case 'k': {
            int64_t n = va_arg(args, int64_t);
            result = n >= 0 ? sqlite3_bind_int64(q.handle, i, n) : sqlite3_bind_null(q.handle, i);
            break;
        }
        case 'r': {
            double n = va_arg(args, double);
            result = n >= 0 ? sqlite3_bind_double(q.handle, i, n) : sqlite3_bind_null(q.handle, i);
            break;
        }
        case 'b': {
            const void *bytes = va_arg(args, const void *);
            result = sqlite3_bind_blob64(q.handle, i, bytes, va_arg(args, size_t), SQLITE_STATIC);
            break;
        }
        case 'p': {
            void *pointer = va_arg(args, void *);
            result = sqlite3_bind_pointer(q.handle, i, pointer, va_arg(args, const char *), NULL);
            break;
        }
        default:
            assert(false && "a type of a parameter is one of t i k r b p");
        }
        if (result != SQLITE_OK)
            fail(&q, result);
    }
    return q;
}

struct query sql_query(struct store *s, struct error *e, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    struct query q = sql_query_in(s, NULL, e, sql, types, args);
    va_end(args);
    return q;
}

bool sql_exec(struct store *s, struct error *e, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    struct query q = sql_query_in(s, NULL, e, sql, types, args);
    va_end(args);
    return query_run(&q);
}

bool sql_number(struct store *s, int64_t *out, struct error *e, const char *sql, const char *types,
                ...)
{
    va_list args;
    va_start(args, types);
    struct query q = sql_query_in(s, NULL, e, sql, types, args);
    va_end(args);
    return query_number(&q, out);
}

bool sql_any(struct store *s, bool *out, struct error *e, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    struct query q = sql_query_in(s, NULL, e, sql, types, args);
    va_end(args);
    return query_any(&q, out);
}

bool query_next(struct query *q)
{
    int result = q->fault == SQLITE_OK ? sqlite3_step(q->handle) : SQLITE_DONE;
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        fail(q, result);
    return result == SQLITE_ROW;
}

bool query_end(struct query *q)
{
    if (q->handle) {
        sqlite3_reset(q->handle); /* repeats the step's error, which has been told */
        sqlite3_clear_bindings(q->handle);
    }
    return q->fault == SQLITE_OK;
}

bool query_run(struct query *q)
{
    while (query_next(q))
        ;
    return query_end(q);
}

bool query_number(struct query *q, int64_t *out)
{
    if (query_next(q))
        *out = sqlite3_column_int64(q->handle, 0);
    return query_end(q);
}

bool query_any(struct query *q, bool *out)
{
    *out = query_next(q);
    return query_end(q);
}

bool query_texts(struct query *q, struct text_list *out)
{
    while (query_next(q))
        vec_push(&out->items, query_column_text(q, 0));
    bool ok = query_end(q);
    if (!ok)
        vec_free_each(&out->items);
    return ok;
}

char *query_column_text(const struct query *q, int i)
{
    return mem_strdup((const char *)sqlite3_column_text(q->handle, i));
}

int64_t query_column_known(const struct query *q, int i)
{
    return sqlite3_column_type(q->handle, i) == SQLITE_NULL ? -1
                                                            : sqlite3_column_int64(q->handle, i);
}

bool store_number(struct store *s, const char *sql, int64_t *out, struct error *e)
{
    *out = 0;
    return sql_number(s, out, e, sql, "");
}

bool store_exec(struct store *s, const char *sql, struct error *e)
{
    int result = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return result == SQLITE_OK || store_fault(s, result, e);
}

bool store_exec_in(struct store *s, const char *tables, const char *sql, struct error *e)
{
    auto_free char *text = name_tables(sql, tables);
    return store_exec(s, text, e);
}

bool store_enter(struct store *s, bool *began, struct error *e)
{
    *began = sqlite3_get_autocommit(s->db);
    return !*began || store_begin(s, e);
}

bool store_leave(struct store *s, bool began, bool ok, struct error *e)
{
    if (!began)
        return ok;
    if (ok)
        return store_commit(s, e);
    store_rollback(s);
    return false;
}

bool store_step_begin(struct store *s, bool *began, struct error *e)
{
    *began = sqlite3_get_autocommit(s->db);
    return !*began || store_exec(s, "BEGIN", e);
}

bool store_step_end(struct store *s, bool began, bool ok, struct error *e)
{
    if (!began || (ok && store_exec(s, "COMMIT", e)))
        return ok;
    if (!sqlite3_get_autocommit(s->db)) /* some faults end it by themselves */
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

bool store_fts5(struct store *s, fts5_api **out, struct error *e)
{
    *out = NULL;
    return sql_exec(s, e, "SELECT fts5(?)", "p", (void *)out, "fts5_api_ptr") &&
           (*out || store_fault(s, SQLITE_ERROR, e));
}

bool store_fts5_function(struct store *s, const char *name, fts5_extension_function call,
                         bool *known, struct error *e)
{
    fts5_api *api;
    if (*known)
        return true;
    if (!store_fts5(s, &api, e))
        return false;
    int result = api->xCreateFunction(api, name, NULL, call, NULL);
    *known = result == SQLITE_OK;
    return *known || store_fault(s, result, e);
}
