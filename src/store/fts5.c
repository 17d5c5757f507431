#include "store/fts5.h"

bool fts5_find(struct store *s, fts5_api **out, struct error *e)
{
    *out = NULL;
    struct query q = query_begin(s, "SELECT fts5(?)", e);
    sqlite3_bind_pointer(q.handle, 1, (void *)out, "fts5_api_ptr", NULL);
    return query_run(&q) && (*out || store_fault(s, SQLITE_ERROR, e));
}
