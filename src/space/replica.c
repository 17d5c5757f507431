/* Changes of this memory as lines of the log, and lines of the log as changes of this memory. */

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/learned.h"
#include "knowledge/project.h"
#include "memory/content.h"
#include "space/space.h"
#include "store/sql.h"

/* Numbers in the database. */
enum space_state_of {
    OBJECT_HERE,
    OBJECT_FORGOTTEN, /* everywhere, for ever */
    OBJECT_HIDDEN     /* this machine forgot what another person wrote */
};

/* A push and a pull: bytes of bodies. */
enum { SEND_BYTES = 4 << 20, SEND_LINES = 2000 };
/* A turn waits for the transaction that applies a pull. */
enum { RECEIVE_BYTES = 512 << 10 };

/* An object as a space knows it. */
struct object {
    bool known;
    int64_t version, digest;
    int64_t state;
    char *owner, *author, *session;
};

static void object_release(struct object *o)
{
    free(o->owner);
    free(o->author);
    free(o->session);
    *o = (struct object){0};
}

static bool object_read(struct store *s, int64_t space, enum space_kind kind, const char *id,
                        struct object *out, struct error *e)
{
    struct query q = sql_query(s, e,
                               "SELECT version, digest, state, owner, author, session"
                               " FROM space_object WHERE space = ?1 AND kind = ?2 AND id = ?3",
                               "iit", space, (int64_t)kind, id);
    *out = (struct object){.known = query_next(&q)};
    if (out->known) {
        out->version = sqlite3_column_int64(q.handle, 0);
        out->digest = sqlite3_column_int64(q.handle, 1);
        out->state = sqlite3_column_int64(q.handle, 2);
        out->owner = query_column_text(&q, 3);
        out->author = query_column_text(&q, 4);
        out->session = query_column_text(&q, 5);
    }
    return query_end(&q);
}

static bool object_write(struct store *s, int64_t space, enum space_kind kind, const char *id,
                         const struct object *o, struct error *e)
{
    return sql_exec(s, e,
                    "INSERT OR REPLACE INTO space_object"
                    " (space, kind, id, version, digest, state, owner, author, session)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                    "iitiiittt", space, (int64_t)kind, id, o->version, o->digest, o->state,
                    o->owner, o->author, o->session ? o->session : "");
}

static int64_t digest_of(const char *text)
{
    return (int64_t)mem_hash(MEM_HASH, text, strlen(text));
}

/* A hash of the members that a version may change, after cleaning: another program that masks more
 * does not make a new version of each entry that it reads. */
static int64_t entry_digest(const struct memory_entry *entry)
{
    auto_free char *content = content_clean(entry->content);
    const char flags[] = {entry->pinned ? 'p' : '-', entry->edited ? 'e' : '-', 0};
    uint64_t hash = mem_hash(MEM_HASH, flags, 2);
    return (int64_t)(content ? mem_hash(hash, content, strlen(content)) : hash);
}

/* ---- bodies ---- */

/* The body of an entry. How the entry came into a memory is no part of it. The caller frees. */
static char *entry_body(const struct memory_entry *entry)
{
    struct buf body = BUF_INIT;
    struct json_out o = {.buf = &body};
    struct memory_entry plain = *entry;
    auto_free char *content = content_clean(entry->content);
    plain.origin = MEMORY_IMPORTED;
    plain.from = plain.author = NULL;
    plain.content = content ? content : (char *)"[secret]";
    shape_write(&memory_entry_shape, &plain, &o);
    return buf_take(&body);
}

/* False when the body is no entry with this id. */
static bool read_body(const struct space_line *line, struct memory_entry *out)
{
    struct error ignored;
    AUTO(json_free_local)
    struct json *v = json_parse_foreign(line->body.data, line->body.len, &ignored);
    if (!v || !memory_entry_read(v, out, &ignored))
        return false;
    char *content = content_clean(out->content);
    if (!out->id || out->id_is_number || strcmp(out->id, line->entry) != 0 || !content) {
        free(content);
        memory_entry_release(out);
        return false;
    }
    mem_replace(&out->content, content);
    out->origin = MEMORY_IMPORTED;
    return true;
}

/* ---- sessions that lost entries ---- */

static void note_session(struct text_list *sessions, const char *id)
{
    for (size_t i = 0; i < sessions->items.len; i++)
        if (strcmp(sessions->items.items[i], id) == 0)
            return;
    if (*id)
        vec_push(&sessions->items, mem_strdup(id));
}

/* The places of their other entries are those of a replica that never had the lost ones. */
static bool place_anew(struct memory *m, struct text_list *sessions, bool ok, struct error *e)
{
    for (size_t i = 0; i < sessions->items.len && ok; i++)
        ok = m->ops->replicate(m, sessions->items.items[i], NULL, 0, e);
    vec_free_each(&sessions->items);
    return ok;
}

/* ---- gathering ---- */

/* Ids of imports may be those of entries of another memory. */
enum { OWN_ID_BYTES = 12 };

struct gathering {
    struct store *store;
    struct memory *memory;
    const struct spaces *spaces;
    struct text_list shrunk; /* sessions that lost entries */
};

static bool enqueue(struct store *s, const struct space *space, int64_t version,
                    enum space_kind kind, const char *id, const char *project, const char *body,
                    struct error *e)
{
    return sql_exec(s, e,
                    "INSERT INTO space_outbox (space, version, kind, at, id, project, body)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    "iiiittt", space->number, version, (int64_t)kind, clock_wall_ms(), id, project,
                    body);
}

/* Tells the space what the session of an entry is, once for each title. */
static bool gather_session(struct store *s, const struct space *space, const char *session_id,
                           char **project, struct error *e)
{
    auto_free char *title = NULL, *directory = NULL;
    struct object known;
    *project = NULL;
    struct query q =
        sql_query(s, e, "SELECT title, directory FROM session WHERE id = ?", "t", session_id);
    if (query_next(&q)) {
        title = query_column_text(&q, 0);
        directory = query_column_text(&q, 1);
    }
    if (!query_end(&q))
        return false;
    *project = directory ? space_project(directory) : NULL;
    if (!title || !object_read(s, space->number, SPACE_SHARE, session_id, &known, e))
        return !title;
    struct buf body = BUF_INIT;
    struct json_out o = {.buf = &body};
    AUTO(buf_release) struct buf masked = BUF_INIT;
    secrets_mask(&masked, title, strlen(title));
    json_out_open(&o, '{');
    json_out_member(&o, "title", masked.data);
    json_out_member(&o, "project", *project);
    json_out_close(&o, '}');
    auto_free char *text = buf_take(&body);
    int64_t digest = digest_of(text);
    bool ok = true;
    if (!known.known || known.digest != digest) {
        struct object next = {.version = known.version + 1,
                              .digest = digest,
                              .owner = space->person,
                              .author = known.known ? known.author : space->person,
                              .session = (char *)(uintptr_t)session_id};
        ok = (known.known && strcmp(known.author, space->person) != 0) ||
             (enqueue(s, space, next.version, SPACE_SHARE, session_id, *project, text, e) &&
              object_write(s, space->number, SPACE_SHARE, session_id, &next, e));
    }
    object_release(&known);
    return ok;
}

/* A version that the space does not have yet. */
static bool gather_version(struct gathering *g, const struct space *space, struct object *o,
                           const struct memory_entry *entry, struct error *e)
{
    const char *author = o->known ? o->author : space->person;
    auto_free char *project = NULL;
    int64_t digest = entry_digest(entry);
    bool shared = o->known;
    if (o->known && (o->digest == digest || o->state != OBJECT_HERE))
        return true;
    if (!shared && !space_shares(g->store, space->number, entry->session_id, &shared, e))
        return false;
    if (!shared)
        return true;
    const struct object next = {.version = o->version + 1,
                                .digest = digest,
                                .owner = space->person,
                                .author = (char *)(uintptr_t)author,
                                .session = entry->session_id};
    auto_free char *body = entry_body(entry);
    return gather_session(g->store, space, entry->session_id, &project, e) &&
           enqueue(g->store, space, next.version, SPACE_ENTRY, entry->id, project, body, e) &&
           object_write(g->store, space->number, SPACE_ENTRY, entry->id, &next, e);
}

/* The memory does not have the object any more. An owner forgets for everybody, others what they
 * wrote; what else they forget is hidden here alone. */
static bool gather_forgotten(struct gathering *g, const struct space *space, enum space_kind kind,
                             struct object *o, const char *id, struct error *e)
{
    if (!o->known || o->state != OBJECT_HERE)
        return true;
    bool everywhere = space->role == SPACE_OWNER || strcmp(o->author, space->person) == 0;
    o->state = everywhere ? OBJECT_FORGOTTEN : OBJECT_HIDDEN;
    o->version += everywhere;
    if (everywhere) /* texts that were not sent never leave the machine */
        if (!sql_exec(g->store, e, "DELETE FROM space_outbox WHERE space = ?1 AND id = ?2", "it",
                      space->number, id) ||
            !enqueue(g->store, space, o->version, SPACE_FORGET, id, NULL, NULL, e))
            return false;
    return object_write(g->store, space->number, kind, id, o, e);
}

/* A learned item goes out while it is active and its project is shared. */
static bool gather_item_for(struct gathering *g, const struct space *space,
                            const struct learned_item *item, bool active, struct error *e)
{
    struct object o;
    auto_free char *project = active ? space_project(item->project) : NULL;
    int64_t shared = 0, digest = active ? digest_of(item->text) : 0;
    if (!object_read(g->store, space->number, SPACE_LEARNED, item->id, &o, e))
        return false;
    bool ok = !project || (space_note_directory(g->store, item->project, project, e) &&
                           sql_number(g->store, &shared, e,
                                      "SELECT shared FROM space_share WHERE space = ?1"
                                      " AND what = 'project:' || ?2",
                                      "it", space->number, project));
    if (ok && !active)
        ok = gather_forgotten(g, space, SPACE_LEARNED, &o, item->id, e);
    else if (ok && (o.known ? o.state == OBJECT_HERE && o.digest != digest : shared > 0)) {
        const char *author = o.known ? o.author : space->person;
        struct buf body = BUF_INIT;
        struct json_out out = {.buf = &body};
        const struct object next = {.version = o.version + 1,
                                    .digest = digest,
                                    .owner = space->person,
                                    .author = (char *)(uintptr_t)author,
                                    .session = item->id};
        json_out_pack(&out, "{kind:s text:s}", learned_kind_word(item->kind), item->text);
        ok = enqueue(g->store, space, next.version, SPACE_LEARNED, item->id, project, body.data,
                     e) &&
             object_write(g->store, space->number, SPACE_LEARNED, item->id, &next, e);
        buf_release(&body);
    }
    object_release(&o);
    return ok;
}

static bool gather_item(struct gathering *g, const char *id, struct error *e)
{
    AUTO(learned_item_release) struct learned_item item = {.id = NULL};
    struct error missing;
    bool there = learned_get(g->store, id, &item, &missing), of_others = false;
    bool ok =
        (there || missing.code == ERR_MEMORY_NOT_FOUND ||
         err_set(e, missing.code, "%s", missing.text)) &&
        sql_any(g->store, &of_others, e,
                "SELECT 1 FROM space_object WHERE session = ?1 AND kind = 1 AND id <> ?1", "t", id);
    if (!there)
        item.id = mem_strdup(id);
    bool active = there && item.state == LEARNED_ACTIVE && item.scope == LEARNED_PROJECT &&
                  item.project && item.origin != LEARNED_SHARED;
    for (size_t i = 0; i < g->spaces->items.len && ok && !of_others; i++) {
        const struct space *space = &g->spaces->items.items[i];
        if (space->role != SPACE_READER && space->form <= SPACE_SCHEMA)
            ok = gather_item_for(g, space, &item, active, e);
    }
    return ok;
}

/* Entries of a session went. */
static bool gather_shrunk(struct gathering *g, const char *session_id, struct error *e)
{
    bool any, ok = sql_any(g->store, &any, e, "SELECT 1 FROM space_object WHERE session = ?", "t",
                           session_id);
    for (size_t i = 0; i < g->spaces->items.len && ok && !any; i++)
        ok = space_shares(g->store, g->spaces->items.items[i].number, session_id, &any, e);
    if (!ok)
        return false;
    if (any)
        note_session(&g->shrunk, session_id);
    return true;
}

static bool gather_entry(struct gathering *g, const char *id, struct error *e)
{
    struct memory_entry entry = {0};
    struct error missing;
    bool there = g->memory->ops->get(g->memory, id, &entry, &missing);
    bool ok = there || missing.code == ERR_MEMORY_NOT_FOUND ||
              err_set(e, missing.code, "%s", missing.text);
    for (size_t i = 0; i < g->spaces->items.len && ok; i++) {
        const struct space *space = &g->spaces->items.items[i];
        struct object o;
        if (space->role == SPACE_READER || space->form > SPACE_SCHEMA)
            continue;
        ok = object_read(g->store, space->number, SPACE_ENTRY, id, &o, e);
        if (!ok)
            break;
        if (!there)
            ok = gather_forgotten(g, space, SPACE_ENTRY, &o, id, e);
        else if (!entry.id_is_number && strlen(id) >= OWN_ID_BYTES)
            ok = gather_version(g, space, &o, &entry, e);
        object_release(&o);
    }
    if (there)
        memory_entry_release(&entry);
    return ok;
}

bool space_gather(struct store *s, struct memory *m, int most, bool *more, struct error *e)
{
    AUTO(spaces_release) struct spaces spaces = {0};
    VEC(struct noted {
        char *id;
        enum space_kind kind;
    })
    ids = {0};
    int64_t last = 0;
    bool began, any;
    *more = false;
    if (!sql_any(s, &any, e, "SELECT 1 FROM space_changed", ""))
        return false;
    if (!any)
        return true;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = spaces_read(s, &spaces, e);
    struct gathering g = {.store = s, .memory = m, .spaces = &spaces};
    if (ok) {
        struct query q = sql_query(s, e,
                                   "SELECT id, number, kind FROM space_changed"
                                   " ORDER BY number LIMIT ?",
                                   "i", (int64_t)most);
        while (query_next(&q)) {
            vec_push(&ids, (struct noted){query_column_text(&q, 0),
                                          (enum space_kind)sqlite3_column_int(q.handle, 2)});
            last = sqlite3_column_int64(q.handle, 1);
        }
        ok = query_end(&q);
    }
    for (size_t i = 0; i < ids.len; i++) {
        const struct noted *n = &ids.items[i];
        ok = ok && (n->kind == SPACE_SHARE     ? gather_shrunk(&g, n->id, e)
                    : n->kind == SPACE_LEARNED ? gather_item(&g, n->id, e)
                                               : gather_entry(&g, n->id, e));
        free(ids.items[i].id);
    }
    ok = place_anew(m, &g.shrunk, ok, e);
    ok = ok && sql_exec(s, e, "DELETE FROM space_changed WHERE number <= ?", "i", last) &&
         sql_any(s, more, e, "SELECT 1 FROM space_changed", "");
    vec_release(&ids);
    return store_leave(s, began, ok, e);
}

/* ---- sending ---- */

bool space_send(struct store *s, const struct space *space, struct carrier *c, bool *more,
                struct error *e)
{
    AUTO(space_lines_release) struct space_lines lines = {0};
    VEC(const char *) forgotten = {0};
    int64_t last = 0;
    *more = false;
    if (space->role == SPACE_READER || space->form > SPACE_SCHEMA ||
        (space->sealed && (!space->ring || key_ring_epoch(space->ring) == 0)))
        return true;
    struct query q = sql_query(s, e,
                               "SELECT id, version, kind, at, project, body, number FROM"
                               " space_outbox WHERE space = ?1 ORDER BY number",
                               "i", space->number);
    while (!*more && query_next(&q)) {
        struct space_line line = {.entry = query_column_text(&q, 0),
                                  .version = sqlite3_column_int64(q.handle, 1),
                                  .kind = (enum space_kind)sqlite3_column_int(q.handle, 2),
                                  .at_ms = sqlite3_column_int64(q.handle, 3),
                                  .owner = mem_strdup(space->person),
                                  .project = query_column_text(&q, 4),
                                  .key = BUF_INIT,
                                  .body = BUF_INIT};
        auto_free char *body = query_column_text(&q, 5);
        if (body)
            buf_addstr(&line.body, body);
        last = sqlite3_column_int64(q.handle, 6);
        lines.bytes += line.body.len + 64;
        vec_push(&lines.items, line);
        *more = lines.bytes >= SEND_BYTES || lines.items.len >= SEND_LINES;
    }
    bool ok = query_end(&q);
    for (size_t i = 0; i < lines.items.len; i++) {
        struct space_line *line = &lines.items.items[i];
        if (line->kind == SPACE_FORGET)
            vec_push(&forgotten, line->entry);
        ok = ok && (!space->sealed || key_ring_seal(space->ring, line, e));
    }
    /* The bodies go after the line that tells why. If this stops in between, both are repeated. */
    ok = ok && (lines.items.len == 0 ||
                (c->ops->push(c, lines.items.items, lines.items.len, e) &&
                 (forgotten.len == 0 || c->ops->erase(c, forgotten.items, forgotten.len, e)) &&
                 sql_exec(s, e, "DELETE FROM space_outbox WHERE space = ?1 AND number <= ?2", "ii",
                          space->number, last)));
    vec_release(&forgotten);
    return ok;
}

/* ---- receiving ---- */

struct receiving {
    struct store *store;
    struct memory *memory;
    const struct space *space;
    struct space_news *news;
    VEC(struct memory_entry) entries; /* of one session, to be put */
    VEC(const char *) forgotten;      /* objects of lines that told it; borrowed */
    struct text_list shrunk;          /* sessions that lost entries */
};

/* Puts the collected entries into memory. */
static bool put_entries(struct receiving *r, struct error *e)
{
    bool ok =
        r->entries.len == 0 || r->memory->ops->replicate(r->memory, r->entries.items[0].session_id,
                                                         r->entries.items, r->entries.len, e);
    for (size_t i = 0; i < r->entries.len; i++)
        memory_entry_release(&r->entries.items[i]);
    vec_clear(&r->entries);
    return ok;
}

/* Whether the version of the line is newer than the one that is known. */
static bool is_newer(const struct object *o, const struct space_line *line)
{
    return !o->known || line->version > o->version ||
           (line->version == o->version && strcmp(line->owner, o->owner) > 0);
}

static bool is_owner(struct receiving *r, const char *person, bool *out, struct error *e)
{
    return sql_any(r->store, out, e,
                   "SELECT 1 FROM space_member WHERE space = ?1 AND person = ?2 AND role = 'owner'",
                   "it", r->space->number, person);
}

static bool receive_forget(struct receiving *r, const struct space_line *line, struct error *e)
{
    struct object o;
    bool owner = false, here = false, learned = false;
    if (!sql_any(r->store, &learned, e,
                 "SELECT 1 FROM space_object WHERE space = ?1 AND kind = 1 AND id = ?2", "it",
                 r->space->number, line->entry))
        return false;
    enum space_kind kind = learned ? SPACE_LEARNED : SPACE_ENTRY;
    if (!object_read(r->store, r->space->number, kind, line->entry, &o, e))
        return false;
    bool ok = is_owner(r, line->owner, &owner, e);
    bool author = o.known && strcmp(o.author, line->owner) == 0;
    /* The line may come before those that it is about: then it is believed of its author alone, who
     * is not known yet. */
    if (ok && o.known && !author && !owner) {
        r->news->refused++;
        object_release(&o);
        return true;
    }
    vec_push(&r->forgotten, line->entry);
    /* The words of a person stay in the own memory when an owner takes them out of the space. */
    bool mine = o.known && strcmp(o.author, r->space->person) == 0 && !author;
    ok = ok && put_entries(r, e) &&
         (!o.known || o.state != OBJECT_HERE || mine ||
          (learned ? sql_any(r->store, &here, e, "SELECT 1 FROM learned_item WHERE id = ?", "t",
                             o.session)
                   : sql_any(r->store, &here, e, "SELECT 1 FROM memory_entry WHERE id = ?", "t",
                             line->entry)));
    if (ok && o.state != OBJECT_FORGOTTEN) {
        const struct object next = {.version = o.known && o.version > line->version ? o.version
                                                                                    : line->version,
                                    .state = OBJECT_FORGOTTEN,
                                    .owner = line->owner,
                                    .author = o.known ? o.author : line->owner,
                                    .session = o.session};
        const char *const id[] = {learned ? o.session : line->entry};
        struct learned_items gone = {0};
        ok = object_write(r->store, r->space->number, kind, line->entry, &next, e) &&
             (!here || (learned ? learned_forget(r->store, id, 1, &gone, e)
                                : r->memory->ops->forget(r->memory, id, 1, NULL, e)));
        learned_items_release(&gone);
        r->news->applied += here;
        if (here && !learned)
            note_session(&r->shrunk, o.session);
        ok = ok && sql_exec(r->store, e, /* the object may be what a session is */
                            "DELETE FROM space_session WHERE space = ?1 AND session = ?2"
                            " AND owner = ?3",
                            "itt", r->space->number, line->entry, line->owner);
    }
    object_release(&o);
    return ok;
}

static bool receive_share(struct receiving *r, const struct space_line *line, struct error *e)
{
    struct object o;
    struct error ignored;
    AUTO(json_free_local)
    struct json *v = json_parse_foreign(line->body.data, line->body.len, &ignored);
    const char *title = json_get_string(v, "title"), *project = json_get_string(v, "project");
    if (line->body.len == 0) /* it was erased; the line that says so follows */
        return true;
    if (!object_read(r->store, r->space->number, SPACE_SHARE, line->entry, &o, e))
        return false;
    bool ok = true;
    if (!title || (o.known && strcmp(o.author, line->owner) != 0)) {
        r->news->refused++;
    } else if (is_newer(&o, line)) {
        const struct object next = {.version = line->version,
                                    .digest = digest_of(line->body.data),
                                    .owner = line->owner,
                                    .author = line->owner,
                                    .session = line->entry};
        ok = object_write(r->store, r->space->number, SPACE_SHARE, line->entry, &next, e) &&
             sql_exec(r->store, e,
                      "INSERT OR REPLACE INTO space_session (space, session, owner, project, title)"
                      " VALUES (?1, ?2, ?3, ?4, ?5)",
                      "itttt", r->space->number, line->entry, line->owner, project, title);
    }
    object_release(&o);
    return ok;
}

/* Whether an entry that the space does not know may come: another person has nothing to add to a
 * session of this machine, and its id is not that of a private entry with another text, which a
 * member could overwrite. */
static bool may_come(struct receiving *r, const struct memory_entry *entry, const char *owner,
                     bool *out, struct error *e)
{
    struct memory_entry mine;
    struct error missing;
    bool own_session = false;
    if (strcmp(owner, r->space->person) != 0 &&
        !sql_any(r->store, &own_session, e, "SELECT 1 FROM session WHERE id = ?", "t",
                 entry->session_id))
        return false;
    *out = !own_session;
    if (own_session)
        return true;
    if (!r->memory->ops->get(r->memory, entry->id, &mine, &missing)) {
        *out = true;
        return missing.code == ERR_MEMORY_NOT_FOUND || err_set(e, missing.code, "%s", missing.text);
    }
    *out = strcmp(mine.session_id, entry->session_id) == 0 &&
           strcmp(mine.content, entry->content) == 0;
    memory_entry_release(&mine);
    return true;
}

/* An entry that was emptied tells its author, whose forget follows: a version of another person may
 * have come before. */
static bool receive_erased(struct receiving *r, const struct space_line *line, struct error *e)
{
    struct object o;
    if (line->version != 1)
        return true;
    if (!object_read(r->store, r->space->number, SPACE_ENTRY, line->entry, &o, e))
        return false;
    struct object next = o;
    next.author = line->owner;
    if (!o.known)
        next.owner = line->owner; /* of no version yet */
    bool ok = (o.known && strcmp(o.author, line->owner) == 0) ||
              object_write(r->store, r->space->number, SPACE_ENTRY, line->entry, &next, e);
    object_release(&o);
    return ok;
}

static bool receive_entry(struct receiving *r, const struct space_line *line, struct error *e)
{
    struct memory_entry entry = {0};
    struct object o = {0};
    bool ok = true, fits = true;
    if (line->body.len == 0)
        return receive_erased(r, line, e);
    if (!read_body(line, &entry)) {
        r->news->skipped++;
        return true;
    }
    ok = object_read(r->store, r->space->number, SPACE_ENTRY, line->entry, &o, e);
    if (ok && o.state == OBJECT_FORGOTTEN && !o.session[0] && line->version == 1 &&
        strcmp(o.author, line->owner) != 0) {
        bool owner; /* else the forget came first, of somebody who may not */
        ok = is_owner(r, o.author, &owner, e);
        if (ok && !owner) {
            object_release(&o);
            r->news->refused++;
        }
    }
    if (ok && !o.known)
        ok = may_come(r, &entry, line->owner, &fits, e);
    fits = fits && (!o.known || !o.session[0] || strcmp(o.session, entry.session_id) == 0);
    r->news->refused += ok && !fits;
    bool newer = fits && is_newer(&o, line);
    if (ok && fits && (newer || (line->version == 1 && strcmp(o.author, line->owner) != 0))) {
        struct object next = o;
        if (newer)
            next = (struct object){.version = line->version,
                                   .digest = entry_digest(&entry),
                                   .state = o.state,
                                   .owner = line->owner};
        /* The author wrote the first version, which may come after a later one of another person.
         */
        next.author = line->version == 1 || !o.known ? line->owner : o.author;
        next.session = entry.session_id;
        bool shows = newer && o.state == OBJECT_HERE && (!o.known || o.digest != next.digest);
        ok = object_write(r->store, r->space->number, SPACE_ENTRY, line->entry, &next, e);
        if (ok && shows && r->entries.len > 0 &&
            (o.known || strcmp(r->entries.items[0].session_id, entry.session_id) != 0))
            ok = put_entries(r, e); /* another session, or perhaps a version of one of them */
        if (ok && shows) {
            vec_push(&r->entries, entry);
            entry = (struct memory_entry){0};
            r->news->applied++;
        }
    }
    object_release(&o);
    memory_entry_release(&entry);
    return ok;
}

/* The kind with this word; false: there is none that a project has. */
static bool kind_of(const char *word, enum learned_kind *out)
{
    for (int i = 0; word && i < learned_kind_names.count; i++)
        if (learned_kind_names.words[i] && strcmp(learned_kind_names.words[i], word) == 0 &&
            learned_scope_of((enum learned_kind)i) == LEARNED_PROJECT) {
            *out = (enum learned_kind)i;
            return true;
        }
    return false;
}

/* A learned item of another person becomes a proposal, for the person here to accept: it
 * could be an instruction. It waits for a directory of its project. */
static bool receive_item(struct receiving *r, const struct space_line *line, struct error *e)
{
    struct error ignored;
    struct object o;
    auto_free char *directory = NULL, *root = NULL;
    struct learned_item item = {
        .scope = LEARNED_PROJECT, .state = LEARNED_CANDIDATE, .origin = LEARNED_SHARED};
    AUTO(json_free_local)
    struct json *v = json_parse_foreign(line->body.data, line->body.len, &ignored);
    const char *text = json_get_string(v, "text");
    if (line->body.len == 0)
        return true;
    if (!text || strlen(text) > LEARNED_TEXT_BYTES || !line->project ||
        !kind_of(json_get_string(v, "kind"), &item.kind)) {
        r->news->skipped++;
        return true;
    }
    if (!object_read(r->store, r->space->number, SPACE_LEARNED, line->entry, &o, e))
        return false;
    const char *by = o.known ? o.author : line->owner;
    bool ok = true, mine = strcmp(by, r->space->person) == 0;
    if (is_newer(&o, line) && (!o.known || o.state == OBJECT_HERE)) {
        AUTO(learned_item_release) struct learned_item kept = {.id = NULL};
        enum learned_added how = LEARNED_IS_KNOWN;
        struct query q = sql_query(r->store, e,
                                   "SELECT directory FROM space_directory WHERE project = ?"
                                   " ORDER BY length(directory) LIMIT 1",
                                   "t", line->project);
        if (query_next(&q))
            directory = query_column_text(&q, 0);
        ok = query_end(&q);
        root = directory ? project_of(directory) : NULL;
        item.text = (char *)(uintptr_t)text;
        item.project = root;
        if (ok && root && !mine)
            ok = learned_add(r->store, &item, &kept, &how, e);
        const struct object next = {.version = root || mine ? line->version : 0,
                                    .digest = digest_of(text),
                                    .owner = line->owner,
                                    .author = (char *)(uintptr_t)by,
                                    .session = how == LEARNED_IS_NEW ? kept.id : (char *)""};
        /* An earlier version that still waits makes way. */
        ok = ok &&
             sql_exec(r->store, e,
                      "DELETE FROM learned_item WHERE id = ?1 AND state = 'candidate'"
                      " AND origin = 'shared'",
                      "t", o.known && how == LEARNED_IS_NEW ? o.session : "") &&
             object_write(r->store, r->space->number, SPACE_LEARNED, line->entry, &next, e);
        r->news->applied += how == LEARNED_IS_NEW;
        r->news->proposed += how == LEARNED_IS_NEW;
    }
    object_release(&o);
    return ok;
}

bool space_receive(struct store *s, struct memory *m, struct space *space, struct carrier *c,
                   bool *more, struct space_news *news, struct error *e)
{
    AUTO(space_lines_release) struct space_lines lines = {0};
    AUTO(buf_release) struct buf cursor = BUF_INIT;
    struct receiving r = {.store = s, .memory = m, .space = space, .news = news};
    bool began;
    /* Another connection asks for a new reading, for learned items of a project that came. */
    if (!sql_number(s, &space->kinds, e, "SELECT kinds FROM space WHERE number = ?", "i",
                    space->number))
        return false;
    /* A newer program knows kinds that this cursor has passed over, a newer ring may open lines. */
    int64_t epoch = space->ring ? key_ring_epoch(space->ring) : 0, locked = space->locked;
    bool anew = space->kinds < SPACE_KINDS || (locked >= 0 && locked < epoch);
    if (anew)
        locked = -1;
    else
        buf_addstr(&cursor, space->cursor);
    if (!c->ops->pull(c, &cursor, RECEIVE_BYTES, &lines, more, &news->skipped, e))
        return false;
    news->lines += (int64_t)lines.items.len;
    if (lines.anew && !space_send_again(s, space, e))
        return false;
    if (lines.items.len == 0 && strcmp(cursor.data, space->cursor) == 0 && !anew)
        return true;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = true;
    for (size_t i = 0; i < lines.items.len && ok; i++) {
        struct space_line *line = &lines.items.items[i];
        enum line_opened opened = !space->sealed ? LINE_OPENED
                                  : space->ring  ? key_ring_open_line(space->ring, line)
                                                 : LINE_LOCKED;
        news->sealed += opened == LINE_LOCKED;
        if (opened == LINE_LOCKED && locked < 0)
            locked = epoch;
        news->skipped += opened == LINE_FORGED;
        if (opened != LINE_OPENED && opened != LINE_ERASED)
            continue;
        ok = line->kind == SPACE_ENTRY    ? receive_entry(&r, line, e)
             : line->kind == SPACE_FORGET ? receive_forget(&r, line, e)
             : line->kind == SPACE_SHARE  ? receive_share(&r, line, e)
                                          : receive_item(&r, line, e);
    }
    ok = ok && put_entries(&r, e);
    static const char moved_sql[] =
        "UPDATE space SET cursor = ?2, kinds = ?3, locked = ?4 WHERE number = ?1";
    bool erases = r.forgotten.len > 0 && c->ops->each_erases;
    ok = place_anew(m, &r.shrunk, ok, e) &&
         (erases || sql_exec(s, e, moved_sql, "itii", space->number, cursor.data,
                             (int64_t)SPACE_KINDS, locked));
    put_entries(&r, NULL);
    vec_release(&r.entries);
    ok = store_leave(s, began, ok, e);
    /* Files are not written within the transaction. If this stops here, the lines are read again.
     */
    if (ok && erases)
        ok = c->ops->erase(c, r.forgotten.items, r.forgotten.len, e) &&
             sql_exec(s, e, moved_sql, "itii", space->number, cursor.data, (int64_t)SPACE_KINDS,
                      locked);
    vec_release(&r.forgotten);
    if (!ok)
        return false;
    mem_replace(&space->cursor, buf_take(&cursor));
    space->kinds = SPACE_KINDS;
    space->locked = locked;
    return true;
}
