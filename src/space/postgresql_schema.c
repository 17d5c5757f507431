/* Every key begins with the space, so that an engine of several servers keeps a space together.
 *
 * The rights of a person are the last line of `access` for that role. The server decides by
 * `access` alone; `member` has what members tell one another. A policy of a table cannot read the
 * same table by a policy that reads it again, so each sees only his own lines of `access`, and
 * lines are added, never changed. The first line of a space (serial 1) makes its owner. */
#include "space/postgresql_schema.h"

const char postgresql_tables[] =
    "CREATE SCHEMA IF NOT EXISTS tiro;\n"
    "CREATE TABLE IF NOT EXISTS tiro.access (space text NOT NULL, serial bigint NOT NULL,\n"
    "  person text NOT NULL, role text NOT NULL, PRIMARY KEY (space, serial));\n"
    "CREATE TABLE IF NOT EXISTS tiro.space (space text NOT NULL PRIMARY KEY, name text NOT NULL,\n"
    "  schema integer NOT NULL, min_client integer NOT NULL, epoch bigint NOT NULL,\n"
    "  retain_days integer NOT NULL, lease_days integer NOT NULL);\n"
    "CREATE TABLE IF NOT EXISTS tiro.head (space text NOT NULL PRIMARY KEY,\n"
    "  head bigint NOT NULL);\n"
    "CREATE TABLE IF NOT EXISTS tiro.member (space text NOT NULL, person text NOT NULL,\n"
    "  role text NOT NULL, epoch bigint NOT NULL, public_key text, wrapped_key text,\n"
    "  PRIMARY KEY (space, person));\n"
    "CREATE TABLE IF NOT EXISTS tiro.seen (space text NOT NULL, person text NOT NULL,\n"
    "  writer text NOT NULL, at bigint NOT NULL, PRIMARY KEY (space, person, writer));\n"
    "CREATE TABLE IF NOT EXISTS tiro.log (space text NOT NULL, seq bigint NOT NULL,\n"
    "  entry text NOT NULL, version bigint NOT NULL, kind text NOT NULL, owner text NOT NULL,\n"
    "  project text, at bigint NOT NULL, key bytea, body bytea, PRIMARY KEY (space, seq),\n"
    "  UNIQUE (space, entry, version, kind, owner));\n"
    "CREATE TABLE IF NOT EXISTS tiro.erased (space text NOT NULL, entry text NOT NULL,\n"
    "  at bigint NOT NULL, person text NOT NULL, PRIMARY KEY (space, entry));\n";

/* The spaces in which the user has one of the roles: a table that is read once a statement. */
#define WITH_ROLE(roles)                                                                           \
    "space IN (SELECT a.space FROM tiro.access a WHERE a.person = current_user AND a.role IN\n"    \
    "  (" roles                                                                                    \
    ") AND NOT EXISTS (SELECT 1 FROM tiro.access b WHERE b.space = a.space AND\n"                  \
    "  b.person = a.person AND b.serial > a.serial))"
#define MEMBER WITH_ROLE("'reader', 'writer', 'owner'")
#define WRITER WITH_ROLE("'writer', 'owner'")
#define OWNER WITH_ROLE("'owner'")
#define SELF "person = current_user"

#define OWN_LINE "(owner = current_user AND " WRITER ") OR " OWNER

static const char *const tables[] = {"access", "space", "head", "member", "seen", "log", "erased"};

static const struct {
    const char *table, *action, *condition;
} policies[] = {
    /* an owner gives roles, and everybody may give up his own */
    {"access", "SELECT", "USING (" SELF ")"},
    {"access", "INSERT",
     "WITH CHECK (" OWNER " OR (" SELF " AND role = 'none' AND " MEMBER ") OR (" SELF
     " AND role = 'owner' AND serial = 1))"},
    {"space", "SELECT", "USING (" MEMBER ")"},
    {"space", "INSERT", "WITH CHECK (" OWNER ")"},
    {"space", "UPDATE", "USING (" OWNER ")"},
    {"head", "SELECT", "USING (" MEMBER ")"},
    {"head", "INSERT", "WITH CHECK (" OWNER ")"},
    {"head", "UPDATE", "USING (" WRITER ")"},
    /* each tells his own keys */
    {"member", "SELECT", "USING (" MEMBER ")"},
    {"member", "INSERT", "WITH CHECK (" OWNER ")"},
    {"member", "UPDATE", "USING (" SELF " OR " OWNER ")"},
    {"member", "DELETE", "USING (" SELF " OR " OWNER ")"},
    {"seen", "SELECT", "USING (" MEMBER ")"},
    {"seen", "INSERT", "WITH CHECK (" SELF " AND " MEMBER ")"},
    {"seen", "UPDATE", "USING (" SELF ")"},
    {"seen", "DELETE", "USING (" SELF " OR " OWNER ")"},
    /* a line has its writer's name, and changes only by being emptied */
    {"log", "SELECT", "USING (" MEMBER ")"},
    {"log", "INSERT", "WITH CHECK (owner = current_user AND " WRITER ")"},
    {"log", "UPDATE",
     "USING (" OWN_LINE ") WITH CHECK (key IS NULL AND body IS NULL AND (" OWN_LINE "))"},
    {"erased", "SELECT", "USING (" MEMBER ")"},
    {"erased", "INSERT", "WITH CHECK (" SELF " AND " WRITER ")"},
};

static const char grants[] =
    "GRANT USAGE ON SCHEMA tiro TO PUBLIC;\n"
    "GRANT SELECT, INSERT ON tiro.access, tiro.space, tiro.head, tiro.member, tiro.seen, "
    "tiro.log,\n"
    "  tiro.erased TO PUBLIC;\n"
    "GRANT UPDATE ON tiro.space, tiro.head TO PUBLIC;\n"
    "GRANT UPDATE (epoch, public_key, wrapped_key) ON tiro.member TO PUBLIC;\n"
    "GRANT UPDATE (at) ON tiro.seen TO PUBLIC;\n"
    "GRANT UPDATE (key, body) ON tiro.log TO PUBLIC;\n"
    "GRANT DELETE ON tiro.member, tiro.seen TO PUBLIC;\n";

void postgresql_policies(struct buf *out)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        buf_addf(out,
                 "ALTER TABLE tiro.%s ENABLE ROW LEVEL SECURITY;\n"
                 "ALTER TABLE tiro.%s FORCE ROW LEVEL SECURITY;\n",
                 tables[i], tables[i]);
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        buf_addf(out,
                 "DROP POLICY IF EXISTS may_%s ON tiro.%s;\n"
                 "CREATE POLICY may_%s ON tiro.%s FOR %s\n  %s;\n",
                 policies[i].action, policies[i].table, policies[i].action, policies[i].table,
                 policies[i].action, policies[i].condition);
    buf_addstr(out, grants);
}
