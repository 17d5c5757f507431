#include "index/search_place.h"

#include "store/fts5.h"

/* Going through a text by tokens to the `want`ed one and `size` on. */
struct seek {
    int want, size;
    int token;
    sqlite3_int64 start, end;
};

static int pass_token(void *context, int flags, const char *token, int len, int start, int end)
{
    struct seek *seek = context;
    (void)token;
    (void)len;
    if (flags & FTS5_TOKEN_COLOCATED)
        return SQLITE_OK;
    if (seek->token == seek->want)
        seek->start = start;
    if (++seek->token < seek->want + seek->size)
        return SQLITE_OK;
    seek->end = end;
    return SQLITE_DONE;
}

static int first_match(const Fts5ExtensionApi *api, Fts5Context *found, struct seek *seek)
{
    int count = 0;
    int phrase = 0;
    int column;
    int result = api->xInstCount(found, &count);
    if (result == SQLITE_OK && count > 0)
        result = api->xInst(found, 0, &phrase, &column, &seek->want);
    seek->size = result == SQLITE_OK && count > 0 ? api->xPhraseSize(found, phrase) : 0;
    return result;
}

static void match_place(const Fts5ExtensionApi *api, Fts5Context *found, sqlite3_context *out,
                        int count, sqlite3_value **values)
{
    struct seek seek = {0};
    int result = count == 1 ? first_match(api, found, &seek) : SQLITE_MISUSE;
    const char *text = result == SQLITE_OK ? (const char *)sqlite3_value_text(values[0]) : NULL;
    if (text && seek.size > 0)
        result = api->xTokenize(found, text, sqlite3_value_bytes(values[0]), &seek, pass_token);
    if (result != SQLITE_OK && result != SQLITE_DONE)
        sqlite3_result_error_code(out, result);
    else if (seek.end > seek.start)
        sqlite3_result_int64(out, seek.start << 32 | (seek.end - seek.start));
}

bool search_place_register(struct store *s, struct error *e)
{
    fts5_api *api;
    if (s->searchable)
        return true;
    if (!fts5_find(s, &api, e))
        return false;
    int result = api->xCreateFunction(api, "match_place", NULL, match_place, NULL);
    s->searchable = result == SQLITE_OK;
    return s->searchable || store_fault(s, result, e);
}
