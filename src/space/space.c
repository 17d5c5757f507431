#include "space/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "memory/content.h"
#include "store/sql.h"

/* ---- rows ---- */

void space_release(struct space *s)
{
    free(s->name);
    free(s->id);
    free(s->url);
    free(s->person);
    free(s->writer);
    free(s->command);
    free(s->cursor);
    key_ring_close(s->ring);
    *s = (struct space){0};
}

void spaces_release(struct spaces *s)
{
    for (size_t i = 0; i < s->items.len; i++)
        space_release(&s->items.items[i]);
    vec_release(&s->items);
}

static enum space_role role_of(const char *word)
{
    for (int i = 0; word && i < space_role_names.count; i++)
        if (strcmp(space_role_names.words[i], word) == 0)
            return (enum space_role)i;
    return SPACE_READER;
}

bool spaces_read(struct store *s, struct spaces *out, struct error *e)
{
    *out = (struct spaces){0};
    struct query q = sql_query(s, e,
                               "SELECT number, name, id, url, person, writer, role, form, kinds,"
                               " lease_days, read_ms, command, cursor, sealed, locked FROM space"
                               " ORDER BY name",
                               "");
    while (query_next(&q))
        vec_push(&out->items, ((struct space){
                                  .number = sqlite3_column_int64(q.handle, 0),
                                  .name = query_column_text(&q, 1),
                                  .id = query_column_text(&q, 2),
                                  .url = query_column_text(&q, 3),
                                  .person = query_column_text(&q, 4),
                                  .writer = query_column_text(&q, 5),
                                  .role = role_of((const char *)sqlite3_column_text(q.handle, 6)),
                                  .form = sqlite3_column_int(q.handle, 7),
                                  .kinds = sqlite3_column_int64(q.handle, 8),
                                  .lease_days = sqlite3_column_int(q.handle, 9),
                                  .read_ms = sqlite3_column_int64(q.handle, 10),
                                  .command = query_column_text(&q, 11),
                                  .cursor = query_column_text(&q, 12),
                                  .sealed = sqlite3_column_int(q.handle, 13) != 0,
                                  .locked = sqlite3_column_int64(q.handle, 14),
                              }));
    bool ok = query_end(&q);
    if (!ok)
        spaces_release(out);
    return ok;
}

bool spaces_any(struct store *s)
{
    bool any = false;
    return sql_any(s, &any, NULL, "SELECT 1 FROM space", "") && any;
}

bool space_find(struct store *s, const char *name, struct space *out, struct error *e)
{
    AUTO(spaces_release) struct spaces all = {0};
    *out = (struct space){0};
    if (!spaces_read(s, &all, e))
        return false;
    if (all.items.len == 0)
        return err_set(e, ERR_USAGE,
                       "this machine shares no space; tiro space init or tiro space join");
    if (!name && all.items.len > 1)
        return err_set(e, ERR_USAGE, "there are several spaces; name one (tiro space status)");
    for (size_t i = 0; i < all.items.len; i++)
        if (!name || strcmp(all.items.items[i].name, name) == 0) {
            *out = all.items.items[i];
            all.items.items[i] = (struct space){0};
            return true;
        }
    return err_set(e, ERR_USAGE, "there is no space %.60s; tiro space status lists them", name);
}

bool space_add(struct store *s, struct space *space, struct error *e)
{
    bool taken;
    if (!sql_any(s, &taken, e, "SELECT 1 FROM space WHERE name = ?1 OR id = ?2", "tt", space->name,
                 space->id))
        return false;
    if (taken)
        return err_set(e, ERR_USAGE, "this machine has the space %.60s already", space->name);
    bool ok =
        sql_exec(s, e,
                 "INSERT INTO space (name, id, url, person, writer, role, sealed, locked, form,"
                 " kinds, lease_days, read_ms, command, cursor)"
                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, -1, ?8, ?9, ?10, 0, ?11, '')",
                 "ttttttiiiit", space->name, space->id, space->url, space->person, space->writer,
                 space_role_names.words[space->role], (int64_t)space->sealed, (int64_t)space->form,
                 (int64_t)SPACE_KINDS, (int64_t)space->lease_days, space->command);
    space->number = sqlite3_last_insert_rowid(s->db);
    mem_replace(&space->cursor, mem_strdup(""));
    space->kinds = SPACE_KINDS;
    space->locked = -1;
    return ok;
}

bool space_connect(const struct space *space, const struct wakeup *wakeup, struct carrier **out,
                   struct error *e)
{
    const struct carrier_place place = {.url = space->url,
                                        .space = space->id,
                                        .person = space->person,
                                        .writer = space->writer,
                                        .password_command = space->command,
                                        .wakeup = wakeup};
    return carrier_open(&place, out, e);
}

/* The ring of a sealed space is read anew: another process may have changed it. */
static bool refresh_ring(struct space *space, struct carrier *c, struct error *e)
{
    struct key_tended tended = {0};
    key_ring_close(space->ring);
    space->ring = NULL;
    if (!space->sealed)
        return true;
    if (!key_ring_open(space->id, &space->ring, e) ||
        !key_ring_tend(space->ring, c, space->person, clock_wall_ms(), &tended, e))
        return false;
    return !tended.removed ||
           err_set(e, ERR_FORBIDDEN,
                   "an owner has ended the membership of this machine in the space %.60s",
                   space->name);
}

bool space_refresh(struct store *s, struct space *space, struct carrier *c, struct error *e)
{
    AUTO(space_facts_release) struct space_facts facts = {0};
    AUTO(space_members_release) struct space_members members = {0};
    const struct space_member *me = NULL;
    bool began;
    if (!c->ops->facts(c, &facts, e) || !c->ops->members(c, &members, e))
        return false;
    if (strcmp(facts.id, space->id) != 0)
        return err_set(e, ERR_USAGE, "%.100s is another space than %.60s now; leave it and join it",
                       space->url, space->name);
    if (facts.min_client > SPACE_SCHEMA)
        return err_set(e, ERR_USAGE, "the space %.60s needs a newer tiro; update this one",
                       space->name);
    if (!store_enter(s, &began, e))
        return false;
    bool ok = sql_exec(s, e, "DELETE FROM space_member WHERE space = ?", "i", space->number);
    for (size_t i = 0; i < members.items.len && ok; i++) {
        const struct space_member *m = &members.items.items[i];
        if (strcmp(m->person, space->person) == 0)
            me = m;
        ok = sql_exec(s, e, "INSERT OR REPLACE INTO space_member VALUES (?1, ?2, ?3)", "itt",
                      space->number, m->person, space_role_names.words[m->role]);
    }
    if (ok && me) {
        space->role = me->role;
        space->form = facts.schema;
        space->lease_days = facts.lease_days;
        ok = sql_exec(s, e,
                      "UPDATE space SET role = ?2, form = ?3, lease_days = ?4 WHERE number = ?1",
                      "itii", space->number, space_role_names.words[me->role],
                      (int64_t)facts.schema, (int64_t)facts.lease_days);
    }
    if (!store_leave(s, began, ok, e))
        return false;
    if (!me)
        return err_set(e, ERR_FORBIDDEN,
                       "%.60s is no member of the space %.60s; ask one of its owners",
                       space->person, space->name);
    return refresh_ring(space, c, e);
}

bool space_note_read(struct store *s, struct space *space, struct carrier *c, struct error *e)
{
    enum { NOTE_EVERY_MS = 60 * 1000 };
    int64_t now = clock_wall_ms();
    if (now - space->read_ms < NOTE_EVERY_MS && now >= space->read_ms)
        return true;
    space->read_ms = now;
    return c->ops->note_seen(c, now, e) &&
           sql_exec(s, e, "UPDATE space SET read_ms = ?2 WHERE number = ?1", "ii", space->number,
                    now);
}

bool space_send_again(struct store *s, const struct space *space, struct error *e)
{
    bool began;
    return store_enter(s, &began, e) &&
           store_leave(
               s, began,
               sql_exec(s, e,
                        "INSERT INTO space_outbox (space, version, kind, at, id) SELECT space,"
                        " version, 3, ?2, id FROM space_object WHERE space = ?1 AND kind = 0"
                        " AND state = 1",
                        "ii", space->number, clock_wall_ms()) &&
                   sql_exec(s, e,
                            "INSERT OR IGNORE INTO space_changed (kind, id) SELECT kind, id FROM"
                            " space_object WHERE space = ?1 AND kind = 0 AND state = 0"
                            " AND owner = ?2",
                            "it", space->number, space->person) &&
                   /* they look like changed ones */
                   sql_exec(s, e,
                            "UPDATE space_object SET digest = 0 WHERE space = ?1 AND state = 0"
                            " AND owner = ?2",
                            "it", space->number, space->person),
               e);
}

bool space_state(struct store *s, const struct space *space, struct space_state *out,
                 struct error *e)
{
    *out = (struct space_state){0};
    return sql_number(
               s, &out->entries, e,
               "SELECT count(*) FROM space_object WHERE space = ? AND state = 0 AND kind = 0", "i",
               space->number) &&
           sql_number(s, &out->foreign, e,
                      "SELECT count(*) FROM space_object WHERE space = ?1 AND state = 0"
                      " AND kind = 0 AND author <> ?2",
                      "it", space->number, space->person) &&
           sql_number(s, &out->waiting, e, "SELECT count(*) FROM space_outbox WHERE space = ?", "i",
                      space->number) &&
           sql_number(s, &out->waiting_since_ms, e,
                      "SELECT ifnull(min(at), 0) FROM space_outbox WHERE space = ?", "i",
                      space->number) &&
           sql_number(s, &out->unlooked, e, "SELECT count(*) FROM space_changed", "");
}

/* ---- projects ---- */

char *space_project_of_remote(const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme ? scheme + 3 : url;
    const char *end = strpbrk(host, scheme ? "/" : ":/");
    if (!end || (!scheme && *end != ':') || strncmp(url, "file:", 5) == 0)
        return NULL;
    const char *path = end + 1;
    for (const char *p = host; p < end; p++)
        if (*p == '@')
            host = p + 1;
    size_t host_len = strcspn(host, scheme ? ":/" : ":");
    path += strspn(path, "/");
    size_t len = strcspn(path, "?# \t\r\n");
    while (len > 0 && path[len - 1] == '/')
        len--;
    if (len > 4 && strncmp(path + len - 4, ".git", 4) == 0)
        len -= 4;
    if (host_len == 0 || len == 0)
        return NULL;
    char *identity = mem_printf("%.*s/%.*s", (int)host_len, host, (int)len, path);
    for (size_t i = 0; i < host_len; i++)
        if (identity[i] >= 'A' && identity[i] <= 'Z')
            identity[i] = (char)(identity[i] - 'A' + 'a');
    return identity;
}

/* The URL of the remote "origin", else of the first one, in the text of a Git configuration. The
 * caller frees; NULL: there is none. */
static char *remote_of(const char *text)
{
    char *found = NULL;
    bool remote = false, origin = false;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        p += strspn(p, " \t");
        size_t len = strcspn(p, "\r\n");
        if (*p == '[') {
            remote = strncmp(p, "[remote ", 8) == 0;
            origin = strncmp(p, "[remote \"origin\"]", 17) == 0;
        } else if (remote && len > 3 && strncmp(p, "url", 3) == 0 &&
                   p[3 + strspn(p + 3, " \t")] == '=') {
            const char *value = strchr(p, '=') + 1;
            value += strspn(value, " \t");
            if (origin || !found)
                mem_replace(&found, mem_strndup(value, (size_t)(p + len - value)));
            if (origin)
                return found;
        }
    }
    return found;
}

/* The file of Git's configuration for what ".git" is: a directory, or a file of a worktree or
 * submodule that names one. */
static char *git_config(const char *git)
{
    AUTO(buf_release) struct buf text = {.data = buf_empty, .max = 4096};
    struct error ignored;
    char *config = paths_join(git, "config");
    if (!paths_read_file(git, PATHS_FILE_NO_LINK, &text, &ignored) ||
        strncmp(text.data, "gitdir: /", 9) != 0)
        return config;
    buf_trim_end(&text, " \t\r\n");
    char *shared = strstr(text.data, "/worktrees/");
    if (shared)
        *shared = 0;
    mem_replace(&config, paths_join(text.data + 8, "config"));
    return config;
}

char *space_project(const char *directory)
{
    char *at = mem_strdup(directory);
    char *identity = NULL;
    while (at && !identity && at[0] == '/' && at[1]) {
        auto_free char *git = paths_join(at, ".git");
        auto_free char *config = git_config(git);
        AUTO(buf_release) struct buf text = {.data = buf_empty, .max = 1 << 20};
        struct error ignored;
        if (paths_read_file(config, PATHS_FILE_NO_LINK, &text, &ignored)) {
            auto_free char *url = remote_of(text.data);
            identity = url ? space_project_of_remote(url) : NULL;
            break;
        }
        mem_replace(&at, paths_parent(at));
    }
    free(at);
    return identity;
}

/* ---- sharing ---- */

bool space_note_directory(struct store *s, const char *directory, const char *project,
                          struct error *e)
{
    bool known;
    return sql_any(s, &known, e, "SELECT 1 FROM space_directory WHERE project = ?", "t", project) &&
           sql_exec(s, e, "INSERT OR REPLACE INTO space_directory VALUES (?1, ?2)", "tt", directory,
                    project) &&
           (known || sql_exec(s, e,
                              "UPDATE space SET kinds = 0 WHERE number IN"
                              " (SELECT space FROM space_object WHERE kind = 1 AND version = 0)",
                              ""));
}

/* Sets *out for a stored session: the identity of its directory's project, which is noted, so that
 * a search finds what others said about the project of a directory. NULL: none. */
static bool project_of(struct store *s, const char *session_id, char **out, struct error *e)
{
    auto_free char *directory = NULL;
    struct query q = sql_query(s, e, "SELECT directory FROM session WHERE id = ?", "t", session_id);
    if (query_next(&q))
        directory = query_column_text(&q, 0);
    *out = directory ? space_project(directory) : NULL;
    return query_end(&q) && (!*out || space_note_directory(s, directory, *out, e));
}

bool space_shares(struct store *s, int64_t space, const char *session_id, bool *out,
                  struct error *e)
{
    int64_t shared = -1;
    auto_free char *project = NULL;
    *out = false;
    if (!sql_number(s, &shared, e,
                    "SELECT shared FROM space_share WHERE space = ?1 AND what = 'session:' || ?2",
                    "it", space, session_id))
        return false;
    if (shared < 0 && (!project_of(s, session_id, &project, e) ||
                       (project && !sql_number(s, &shared, e,
                                               "SELECT shared FROM space_share WHERE space = ?1"
                                               " AND what = 'project:' || ?2",
                                               "it", space, project))))
        return false;
    *out = shared > 0;
    return true;
}

/* The sessions of memory in projects of this identity, and without a decision of their own. */
static bool sessions_of(struct store *s, int64_t space, const char *project, struct text_list *out,
                        struct error *e)
{
    struct text_list all = {0};
    *out = (struct text_list){0};
    struct query q =
        sql_query(s, e,
                  "SELECT memory_session.id FROM memory_session JOIN session USING (id)"
                  " WHERE NOT EXISTS (SELECT 1 FROM space_share WHERE space = ?1"
                  " AND what = 'session:' || memory_session.id) ORDER BY number",
                  "i", space);
    bool ok = query_texts(&q, &all);
    for (size_t i = 0; i < all.items.len && ok; i++) {
        auto_free char *identity = NULL;
        ok = project_of(s, all.items.items[i], &identity, e);
        if (ok && identity && strcmp(identity, project) == 0)
            vec_push(&out->items, mem_strdup(all.items.items[i]));
    }
    vec_free_each(&all.items);
    return ok;
}

/* Takes back what this person wrote of a session: the outbox gets a forget for each object, and
 * loses what was not sent. */
static bool take_back(struct store *s, const struct space *space, const char *session_id,
                      int64_t *entries, struct error *e)
{
    int64_t now = clock_wall_ms();
    return sql_exec(s, e,
                    "DELETE FROM space_outbox WHERE space = ?1 AND kind <> 3 AND id IN (SELECT id"
                    " FROM space_object WHERE session = ?2 AND space = ?1 AND author = ?3)",
                    "itt", space->number, session_id, space->person) &&
           sql_number(s, entries, e,
                      "SELECT ?4 + count(*) FROM space_object WHERE session = ?2 AND space = ?1"
                      " AND author = ?3 AND state = 0 AND kind = 0",
                      "itti", space->number, session_id, space->person, *entries) &&
           sql_exec(s, e,
                    "INSERT INTO space_outbox (space, version, kind, at, id) SELECT space,"
                    " version + 1, 3, ?4, id FROM space_object WHERE session = ?2 AND space = ?1"
                    " AND author = ?3 AND state = 0",
                    "itti", space->number, session_id, space->person, now) &&
           sql_exec(s, e,
                    "UPDATE space_object SET state = 1, version = version + 1"
                    " WHERE session = ?2 AND space = ?1 AND author = ?3 AND state = 0",
                    "itt", space->number, session_id, space->person);
}

/* The learned items of a project, which are compared again or taken back. */
static bool share_items(struct store *s, const struct space *space, const char *project,
                        bool shared, struct error *e)
{
    struct text_list ids = {0};
    if (shared)
        return sql_exec(s, e,
                        "INSERT OR IGNORE INTO space_changed (kind, id) SELECT 1, id FROM"
                        " learned_item WHERE state = 'active' AND scope = 'project'",
                        "");
    struct query q = sql_query(s, e,
                               "SELECT o.id FROM space_object AS o JOIN learned_item ON"
                               " learned_item.id = o.id JOIN space_directory ON directory ="
                               " learned_item.project WHERE space = ?1 AND o.kind = 1 AND"
                               " author = ?2 AND space_directory.project = ?3",
                               "itt", space->number, space->person, project);
    bool ok = query_texts(&q, &ids);
    int64_t ignored = 0;
    for (size_t i = 0; i < ids.items.len && ok; i++)
        ok = take_back(s, space, ids.items.items[i], &ignored, e);
    vec_free_each(&ids.items);
    return ok;
}

void space_shared_release(struct space_shared *s)
{
    vec_free_each(&s->samples.items);
    s->entries = 0;
}

/* The beginnings of the newest entries of a session, up to ten in all. */
static bool add_samples(struct store *s, const char *session_id, struct text_list *out,
                        struct error *e)
{
    enum { SAMPLES = 10, SAMPLE_BYTES = 200 };
    struct query q = sql_query(s, e,
                               "SELECT substr(content, 1, ?3) FROM memory_entry WHERE key BETWEEN"
                               " (SELECT number << 24 FROM memory_session WHERE id = ?1) AND"
                               " (SELECT number << 24 | 0xffffff FROM memory_session WHERE id = ?1)"
                               " ORDER BY key DESC LIMIT ?2",
                               "tii", session_id, (int64_t)(SAMPLES - (int)out->items.len),
                               (int64_t)SAMPLE_BYTES);
    while (query_next(&q)) {
        auto_free char *text = query_column_text(&q, 0);
        char *clean = content_clean(text);
        if (clean)
            vec_push(&out->items, clean);
    }
    return query_end(&q);
}

bool space_share(struct store *s, const struct space *space, const char *kind, const char *what,
                 bool shared, bool dry, struct space_shared *out, struct error *e)
{
    struct text_list sessions = {0};
    auto_free char *name = mem_printf("%s:%s", kind, what);
    bool began;
    *out = (struct space_shared){0};
    if (shared && space->role == SPACE_READER)
        return err_set(e, ERR_FORBIDDEN, "%.60s may only read the space %.60s; ask an owner",
                       space->person, space->name);
    if (!store_enter(s, &began, e))
        return false;
    bool ok = sql_exec(s, e, "INSERT OR REPLACE INTO space_share VALUES (?1, ?2, ?3, ?4)", "itii",
                       space->number, name, (int64_t)shared, clock_wall_ms());
    if (strcmp(kind, "session") == 0)
        vec_push(&sessions.items, mem_strdup(what));
    else
        ok = ok && sessions_of(s, space->number, what, &sessions, e) &&
             share_items(s, space, what, shared, e);
    for (size_t i = sessions.items.len; i-- > 0 && ok;) /* newest first */
        ok = add_samples(s, sessions.items.items[i], &out->samples, e);
    for (size_t i = 0; i < sessions.items.len && ok; i++) {
        const char *session = sessions.items.items[i];
        if (!shared) {
            ok = take_back(s, space, session, &out->entries, e);
            continue;
        }
        ok = sql_exec(
                 s, e,
                 "INSERT OR IGNORE INTO space_changed (kind, id) SELECT 0, id FROM"
                 " memory_entry WHERE key BETWEEN"
                 " (SELECT number << 24 FROM memory_session WHERE id = ?1) AND"
                 " (SELECT number << 24 | 0xffffff FROM memory_session WHERE id = ?1) ORDER BY key",
                 "t", session) &&
             sql_number(s, &out->entries, e,
                        "SELECT ?2 + count(*) FROM memory_entry WHERE key BETWEEN"
                        " (SELECT number << 24 FROM memory_session WHERE id = ?1) AND"
                        " (SELECT number << 24 | 0xffffff FROM memory_session WHERE id = ?1)",
                        "ti", session, out->entries);
    }
    vec_free_each(&sessions.items);
    bool kept = store_leave(s, began, ok && !dry, e);
    if (!ok || (!dry && !kept))
        space_shared_release(out);
    return ok && (dry || kept);
}

/* ---- leaving ---- */

/* Removes what others wrote from memory. The space knows nothing of it from then on. */
static bool erase_foreign(struct store *s, struct memory *m, const struct space *space,
                          struct error *e)
{
    struct text_list foreign = {0};
    struct query q = sql_query(s, e,
                               "SELECT id FROM space_object WHERE space = ?1 AND kind = 0"
                               " AND state = 0 AND author <> ?2 AND id IN"
                               " (SELECT id FROM memory_entry)",
                               "it", space->number, space->person);
    bool ok =
        query_texts(&q, &foreign) &&
        sql_exec(s, e, "DELETE FROM space_object WHERE space = ?1 AND author <> ?2 AND state = 0",
                 "it", space->number, space->person) &&
        (foreign.items.len == 0 ||
         m->ops->forget(m, (const char *const *)foreign.items.items, foreign.items.len, NULL, e));
    vec_free_each(&foreign.items);
    return ok && sql_exec(s, e, "DELETE FROM space_session WHERE space = ?", "i", space->number);
}

bool space_expire(struct store *s, struct memory *m, struct space *space, struct error *e)
{
    const int64_t lease_ms = (int64_t)space->lease_days * 24 * 60 * 60 * 1000;
    bool began;
    if (lease_ms == 0 || space->read_ms == 0 || clock_wall_ms() - space->read_ms <= lease_ms)
        return true;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = erase_foreign(s, m, space, e) &&
              sql_exec(s, e, "UPDATE space SET cursor = '', read_ms = 0 WHERE number = ?", "i",
                       space->number);
    if (!store_leave(s, began, ok, e))
        return false;
    mem_replace(&space->cursor, mem_strdup(""));
    space->read_ms = 0;
    return true;
}

bool space_leave(struct store *s, struct memory *m, const struct space *space, bool erase,
                 struct error *e)
{
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    bool ok =
        (!erase || erase_foreign(s, m, space, e)) &&
        sql_exec(s, e, "DELETE FROM space WHERE number = ?", "i", space->number) &&
        sql_exec(s, e, "DELETE FROM space_changed WHERE NOT EXISTS (SELECT 1 FROM space)", "");
    return store_leave(s, began, ok, e);
}
