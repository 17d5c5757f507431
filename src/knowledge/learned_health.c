#include "knowledge/learned.h"
#include "store/health_rows.h"
#include "store/salvage.h"
#include "store/sql.h"

static const char nonsense_sql[] =
    "SELECT count(*) FROM learned_item WHERE id = '' OR text = ''"
    " OR scope NOT IN ('project', 'user')"
    " OR state NOT IN ('candidate', 'active', 'superseded', 'rejected')"
    " OR (scope = 'project') <> (project IS NOT NULL)";

static const char active_sql[] = "SELECT count(*) FROM learned_item WHERE state = 'active'";
static const char waiting_sql[] = "SELECT count(*) FROM learned_item WHERE state = 'candidate'";

static bool check(struct store *s, bool thorough, struct health *out)
{
    int64_t rows = 0;
    return health_count(s, active_sql, &out->learned, out) &&
           health_count(s, waiting_sql, &out->waiting, out) &&
           (!thorough || (health_count(s, nonsense_sql, &rows, out) &&
                          (rows == 0 || health_found(out, HEALTH_INCONSISTENT,
                                                     "learned memory: %lld items make no sense",
                                                     (long long)rows))));
}

static const struct salvage_shape shapes[] = {
    {"learned",
     "number, id, scope, kind, state, origin, project, session, seq, replaced_by, created_ms,"
     " changed_ms, uses, used_ms, text",
     "ntttttTTITiiiIt", false},
    {"access", "session, since, access, until", "titI", true},
    {0},
};
#define ACCESS "learned_access"
static const char *const indexes[] = {ACCESS, NULL};

static const char choose_sql[] =
    "DELETE FROM found.learned WHERE free;"
    "DELETE FROM found.access WHERE NOT whole OR plain(session) IS NULL OR page NOT "
    "IN " SALVAGE_PAGES_OF(ACCESS) ";";

static const char put_sql[] =
    "INSERT OR IGNORE INTO learned_item (number, id, scope, kind, state, origin, project, session,"
    " seq, replaced_by, created_ms, changed_ms, uses, used_ms, text)"
    " SELECT row, id, scope, plain(kind), state, plain(origin), project, plain(session), seq,"
    " plain(replaced_by), created_ms, changed_ms, uses, used_ms, text FROM found.learned"
    " WHERE whole AND plain(id) <> '' AND plain(text) <> '' AND plain(kind) <> ''"
    " AND plain(origin) <> '' AND scope IN ('project', 'user')"
    " AND state IN ('candidate', 'active', 'superseded', 'rejected')"
    " AND (scope = 'project') = (plain(project) IS NOT NULL) ORDER BY row";

static const char put_access_sql[] =
    "INSERT OR IGNORE INTO learned_access SELECT session, since, access, until FROM found.access"
    " WHERE session IN (SELECT id FROM session) AND access IN ('off', 'read')";

static const char lost_sql[] =
    "SELECT count(DISTINCT row) FROM found.learned"
    " WHERE row NOT IN (SELECT number FROM learned_item)";

static bool recover(struct store *to, struct recovery *out, struct error *e)
{
    int64_t lost = 0;
    bool ok = store_exec(to, put_sql, e) && store_exec(to, put_access_sql, e) &&
              store_number(to, "SELECT count(*) FROM learned_item", &out->learned, e) &&
              store_number(to, lost_sql, &lost, e);
    out->lost += lost;
    return ok;
}

const struct store_extension learned_extension = {
    .check = check, .shapes = shapes, .indexes = indexes, .choose = choose_sql, .recover = recover};
