#include "store/migrate.h"

#include "base/mem.h"
#include "base/paths.h"

/* "tiro" in the file's header; file(1) shows it. */
#define APPLICATION_ID 0x7469726f

/* Of data/schema.sql. From the first release on, a newer schema is a step from the one before. */
enum { SCHEMA_VERSION = 1 };

int store_schema_version(void)
{
    return SCHEMA_VERSION;
}

static bool read_marks(struct store *s, int64_t *application, int64_t *version, int64_t *tables,
                       struct error *e)
{
    return store_number(s, "PRAGMA application_id", application, e) &&
           store_number(s, "PRAGMA user_version", version, e) &&
           store_number(s, "SELECT count(*) FROM sqlite_schema", tables, e);
}

/* In one transaction: another process that makes the schema just now does so wholly before or
 * wholly after. Between two looks an empty database would seem to have become a foreign one. */
bool migrate_inspect(struct store *s, enum schema_state *out, struct error *e)
{
    int64_t application, version, tables;
    bool began;
    if (!store_step_begin(s, &began, e) ||
        !store_step_end(s, began, read_marks(s, &application, &version, &tables, e), e))
        return false;
    if (application == 0 && version == 0 && tables == 0)
        *out = SCHEMA_EMPTY;
    else if (application != APPLICATION_ID || version < 1)
        *out = SCHEMA_FOREIGN;
    else
        *out = version > SCHEMA_VERSION ? SCHEMA_NEWER : SCHEMA_CURRENT;
    return true;
}

static bool make_schema(struct store *s, struct error *e)
{
    /* Read again: another process may have made it while this one waited for the lock. */
    int64_t version;
    if (!store_number(s, "PRAGMA user_version", &version, e))
        return false;
    if (version == SCHEMA_VERSION)
        return true;
    auto_free char *stamp = mem_printf("PRAGMA application_id = %d; PRAGMA user_version = %d",
                                       APPLICATION_ID, SCHEMA_VERSION);
    return store_exec(s, embedded_text("schema.sql"), e) && store_exec(s, stamp, e);
}

bool migrate_run(struct store *s, struct error *e)
{
    if (!store_begin(s, e))
        return false;
    if (make_schema(s, e))
        return store_commit(s, e);
    store_rollback(s);
    return false;
}
