/* Foreign sessions, in our format or OpenAI's: an accepted session survives export and import, each
 * exported format can be read, and a refused session leaves nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/transcripts.h"
#include "session/export.h"
#include "store/sessions.h"
#include "tests/fuzz/fuzz.h"
#include "tests/imported.h"

/* One database in memory for all inputs; each leaves it empty. */
static struct store *open_store(void)
{
    static struct store *store;
    struct error e = {0};
    if (!store) {
        auto_free char *path = store_memory_path();
        FUZZ_CHECK_ERROR(store_open(path, STORE_READ_WRITE, &store, &e), &e);
    }
    return store;
}

static bool add_bytes(void *context, const char *bytes, size_t len, struct error *e)
{
    (void)e;
    buf_add(context, bytes, len);
    return true;
}

static struct buf export_as(struct catalog *c, const char *id, enum export_format format)
{
    struct buf out = BUF_INIT;
    struct error e = {0};
    FUZZ_CHECK_ERROR(export_session(c, id, format, add_bytes, &out, &e), &e);
    FUZZ_CHECK(utf8_valid(out.data, out.len));
    return out;
}

static void check_empty(struct catalog *c)
{
    struct session_filter all = {0};
    AUTO(session_list_release) struct session_list list = {0};
    struct error e = {0};
    int64_t total;
    FUZZ_CHECK_ERROR(catalog_list(c, &all, &list, &total, &e), &e);
    FUZZ_CHECK(total == 0);
}

/* The id is free again, since the session had no files to remove. */
static void forget(struct catalog *c, struct session_info *info)
{
    struct error e = {0};
    FUZZ_CHECK_ERROR(transcripts_delete(c->store, info->id, &e), &e);
    FUZZ_CHECK_ERROR(removals_strike(c->store, info->id, &e), &e);
    session_info_release(info);
}

/* Exported in one form and imported again, a session gives the same text. */
static void check_again(struct catalog *c, const struct buf *json, const struct buf *form)
{
    struct session_info info;
    struct error e = {0};
    FUZZ_CHECK_ERROR(imported_text(c, form->data, form->len, NULL, "/", &info, &e), &e);
    AUTO(buf_release) struct buf again = export_as(c, info.id, EXPORT_JSON);
    FUZZ_CHECK_SAME(json->data, again.data);
    forget(c, &info);
}

int fuzz_import(const uint8_t *data, size_t size)
{
    struct catalog c;
    struct session_info info;
    struct error e = {0};
    catalog_borrow(&c, open_store(), NULL, "");
    if (!imported_text(&c, (const char *)data, size, NULL, "/", &info, &e)) {
        fuzz_check_error(&e);
        check_empty(&c);
        catalog_release(&c);
        return 0;
    }
    AUTO(buf_release) struct buf json = export_as(&c, info.id, EXPORT_JSON);
    AUTO(buf_release) struct buf lines = export_as(&c, info.id, EXPORT_JSONL);
    AUTO(buf_release) struct buf markdown = export_as(&c, info.id, EXPORT_MARKDOWN);
    forget(&c, &info);
    check_again(&c, &json, &json);
    check_again(&c, &json, &lines);
    check_empty(&c);
    catalog_release(&c);
    return 0;
}
