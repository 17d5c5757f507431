#include "store/fts5.h"

bool fts5_find(struct store *s, fts5_api **out, struct error *e)
{
    struct query q;
    *out = NULL;
    if (!query_begin(&q, s, "SELECT fts5(?)", e))
        return false;
    sqlite3_bind_pointer(q.handle, 1, (void *)out, "fts5_api_ptr", NULL);
    return query_run(&q, e) && (*out || store_fault(s, SQLITE_ERROR, e));
}
