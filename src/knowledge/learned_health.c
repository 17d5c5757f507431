#include "knowledge/learned.h"
#include "store/health_rows.h"
#include "store/sql.h"

static const char nonsense_sql[] =
    "SELECT count(*) FROM learned_item WHERE id = '' OR text = ''"
    " OR scope NOT IN ('project', 'user')"
    " OR state NOT IN ('candidate', 'active', 'superseded', 'rejected')"
    " OR (scope = 'project') <> (project IS NOT NULL)";

static bool check(struct store *s, bool thorough, struct health *out)
{
    int64_t rows = 0;
    return !thorough || (health_count(s, nonsense_sql, &rows, out) &&
                         (rows == 0 || health_found(out, HEALTH_INCONSISTENT,
                                                    "learned memory: %lld items make no sense",
                                                    (long long)rows)));
}

static const struct salvage_shape shapes[] = {
    {"learned",
     "number, id, scope, kind, state, origin, project, session, seq, replaced_by, created_ms,"
     " changed_ms, uses, used_ms, text",
     "ntttttTTITiiiIt", false},
    {0},
};
static const char *const indexes[] = {NULL};

static const char choose_sql[] =
    "DELETE FROM found.learned WHERE free OR NOT whole OR plain(id) IS NULL OR plain(id) = ''"
    " OR plain(text) IS NULL OR plain(text) = '' OR scope NOT IN ('project', 'user')"
    " OR state NOT IN ('candidate', 'active', 'superseded', 'rejected')"
    " OR (scope = 'project') <> (plain(project) IS NOT NULL);";

static const char put_sql[] =
    "INSERT OR IGNORE INTO learned_item (number, id, scope, kind, state, origin, project, session,"
    " seq, replaced_by, created_ms, changed_ms, uses, used_ms, text)"
    " SELECT row, id, scope, plain(kind), state, plain(origin), project, plain(session), seq,"
    " plain(replaced_by), created_ms, changed_ms, uses, used_ms, text FROM found.learned"
    " WHERE plain(kind) IS NOT NULL AND plain(origin) IS NOT NULL ORDER BY row";

static bool recover(struct store *to, struct recovery *out, struct error *e)
{
    (void)out;
    return store_exec(to, put_sql, e);
}

const struct store_extension learned_extension = {
    .check = check, .shapes = shapes, .indexes = indexes, .choose = choose_sql, .recover = recover};
