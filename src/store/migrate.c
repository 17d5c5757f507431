#include "store/migrate.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/paths.h"

/* "tiro" in the file's header; file(1) shows it. */
#define APPLICATION_ID 0x7469726f

/* Files of data/ that lead from version i to i + 1. A step that has been released is never changed;
 * a new schema is a new step. */
static const char *const steps[] = {
    "schema.sql",    "schema-2.sql",  "schema-3.sql",  "schema-4.sql", "schema-5.sql",
    "schema-6.sql",  "schema-7.sql",  "schema-8.sql",  "schema-9.sql", "schema-10.sql",
    "schema-11.sql", "schema-12.sql", "schema-13.sql", "schema-14.sql"};

int store_schema_version(void)
{
    return (int)(sizeof steps / sizeof *steps);
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
    else if (version > store_schema_version())
        *out = SCHEMA_NEWER;
    else
        *out = version < store_schema_version() ? SCHEMA_OLDER : SCHEMA_CURRENT;
    return true;
}

static bool apply_steps(struct store *s, struct error *e)
{
    /* Read again: another process may have migrated while we waited for the lock. */
    int64_t version;
    if (!store_number(s, "PRAGMA user_version", &version, e))
        return false;
    for (; version < store_schema_version(); version++) {
        const char *sql = embedded_text(steps[version]);
        assert(sql);
        if (!store_exec(s, sql, e))
            return false;
    }
    char *stamp = mem_printf("PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
                             store_schema_version());
    bool ok = store_exec(s, stamp, e);
    free(stamp);
    return ok;
}

bool migrate_run(struct store *s, struct error *e)
{
    if (!store_begin(s, e))
        return false;
    if (apply_steps(s, e))
        return store_commit(s, e);
    store_rollback(s);
    return false;
}
