#include "knowledge/learned.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/learned_private.h"
#include "memory/content.h"

static const char add_sql[] =
    "INSERT INTO learned_item (id, scope, kind, state, origin, project, session, seq, replaced_by,"
    " created_ms, changed_ms, uses, used_ms, text)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
static const char alike_sql[] = LEARNED_ROWS
    "WHERE scope = ?1 AND project IS ?2 AND state <> 'superseded' ORDER BY state = 'rejected'";
static const char state_sql[] =
    "UPDATE learned_item SET state = ?2, replaced_by = NULL, changed_ms = ?3 WHERE id = ?1";
static const char supersede_sql[] =
    "UPDATE learned_item SET state = 'superseded', replaced_by = ?1,"
    " changed_ms = (SELECT changed_ms FROM learned_item WHERE id = ?1)"
    " WHERE state = 'active' AND id <> ?1 AND scope = ?2 AND kind = ?3 AND project IS ?4";
/* An earlier wording of the same item is a row that came after it. */
static const char bring_back_sql[] =
    "UPDATE learned_item SET state = 'active', replaced_by = NULL, changed_ms = ?2"
    " WHERE replaced_by = ?1 AND id = (SELECT id FROM learned_item WHERE replaced_by = ?1"
    " AND number < (SELECT number FROM learned_item WHERE id = ?1)"
    " ORDER BY changed_ms DESC, number DESC LIMIT 1)";
static const char edit_sql[] = "UPDATE learned_item SET text = ?2, changed_ms = ?3 WHERE id = ?1";
static const char delete_sql[] = "DELETE FROM learned_item WHERE id = ?";
static const char use_sql[] = "UPDATE learned_item SET uses = uses + 1, used_ms = ?2 WHERE id = ?1";

/* Of a session that is deleted. */
static const char *const session_sql[] = {
    "DELETE FROM learned_item WHERE session = ? AND state = 'candidate'",
    "DELETE FROM learned_session WHERE session = ?",
    "DELETE FROM learned_tool WHERE session = ?",
    "DELETE FROM learned_access WHERE session = ?",
    "DELETE FROM learned_extract WHERE session = ?",
};

/* --- rows ------------------------------------------------------------------------------------- */

static char *new_id(void)
{
    struct fresh_ids ids = {.left = 0};
    return fresh_ids_next(&ids);
}

static bool insert(struct store *s, const struct learned_item *item, struct error *e)
{
    struct query q = query_begin(s, add_sql, e);
    query_text(&q, item->id);
    query_text(&q, learned_scope_word(item->scope));
    query_text(&q, learned_kind_word(item->kind));
    query_text(&q, learned_state_word(item->state));
    query_text(&q, learned_origin_names.words[item->origin]);
    query_text(&q, item->project);
    query_text(&q, item->session_id);
    query_known(&q, item->seq > 0 ? item->seq : -1);
    query_text(&q, item->replaced_by);
    query_int(&q, item->created_ms);
    query_int(&q, item->changed_ms);
    query_int(&q, item->uses);
    query_known(&q, item->used_ms > 0 ? item->used_ms : -1);
    query_text(&q, item->text);
    return query_run(&q);
}

static bool set_state(struct store *s, const char *id, enum learned_state state, struct error *e)
{
    struct query q = query_for(s, state_sql, id, e);
    query_text(&q, learned_state_word(state));
    query_int(&q, clock_wall_ms());
    return query_run(&q);
}

/* What it takes the place of is history, of the same moment: lists have the newer row first. */
static bool supersede(struct store *s, const struct learned_item *item, struct error *e)
{
    if (!learned_kind_replaces(item->kind))
        return true;
    struct query q = query_for(s, supersede_sql, item->id, e);
    query_text(&q, learned_scope_word(item->scope));
    query_text(&q, learned_kind_word(item->kind));
    query_text(&q, item->project);
    return query_run(&q);
}

/* --- adding ----------------------------------------------------------------------------------- */

/* NULL with USAGE; the caller frees. */
static char *clean_text(const char *text, struct error *e)
{
    char *clean = content_clean(text ? text : "");
    size_t len = clean ? strlen(clean) : 0;
    if (len > 0 && len <= LEARNED_TEXT_BYTES && utf8_valid(clean, len))
        return clean;
    free(clean);
    if (len == 0)
        err_set(e, ERR_USAGE, "there is nothing to remember; give a text");
    else
        err_set(e, ERR_USAGE, "the text is too long or no UTF-8; give at most %d bytes",
                LEARNED_TEXT_BYTES);
    return NULL;
}

/* One of the same scope with this text; *found is false where there is none. */
static bool find_alike(struct store *s, const struct learned_item *item, const char *text,
                       struct learned_item *out, bool *found, struct error *e)
{
    *found = false;
    struct query q = query_begin(s, alike_sql, e);
    query_text(&q, learned_scope_word(item->scope));
    query_text(&q, item->project);
    while (!*found && query_next(&q)) {
        *out = learned_row_read(&q);
        *found = content_equal(out->text, text);
        if (!*found)
            learned_item_release(out);
    }
    return query_end(&q);
}

static bool add_row(struct store *s, const struct learned_item *item, char *text,
                    struct learned_item *out, struct error *e)
{
    int64_t now = clock_wall_ms();
    *out = (struct learned_item){
        .id = new_id(),
        .scope = item->scope,
        .kind = item->kind,
        .state = item->state,
        .origin = item->origin,
        .text = text,
        .project = mem_strdup(item->project),
        .session_id = mem_strdup(item->session_id),
        .seq = item->seq,
        .created_ms = now,
        .changed_ms = now,
    };
    return insert(s, out, e) && (out->state != LEARNED_ACTIVE || supersede(s, out, e));
}

/* One that is there: what the user adds by hand counts at once, what it was before aside. */
static bool meet(struct store *s, const struct learned_item *item, struct learned_item *there,
                 enum learned_added *how, struct error *e)
{
    bool unwanted = there->state == LEARNED_REJECTED && item->origin != LEARNED_ADDED;
    *how = unwanted ? LEARNED_IS_REJECTED : LEARNED_IS_KNOWN;
    if (unwanted || item->state != LEARNED_ACTIVE || there->state == LEARNED_ACTIVE)
        return true;
    there->state = LEARNED_ACTIVE;
    return set_state(s, there->id, LEARNED_ACTIVE, e) && supersede(s, there, e);
}

static bool add(struct store *s, const struct learned_item *item, char *text,
                struct learned_item *out, enum learned_added *how, struct error *e)
{
    bool found = false;
    *out = (struct learned_item){.id = NULL};
    *how = LEARNED_IS_NEW;
    bool looked = find_alike(s, item, text, out, &found, e);
    if (looked && !found)
        return add_row(s, item, text, out, e);
    free(text);
    return looked && meet(s, item, out, how, e);
}

bool learned_add(struct store *s, const struct learned_item *item, struct learned_item *out,
                 enum learned_added *how, struct error *e)
{
    bool began;
    char *text = clean_text(item->text, e);
    if (!text)
        return false;
    if (!store_enter(s, &began, e)) {
        free(text);
        return false;
    }
    bool ok = store_leave(s, began, add(s, item, text, out, how, e), e);
    if (!ok)
        learned_item_release(out);
    return ok;
}

/* --- changes ---------------------------------------------------------------------------------- */

static bool accept(struct store *s, const char *id, struct error *e)
{
    struct learned_item item;
    if (!learned_get(s, id, &item, e))
        return false;
    bool ok = set_state(s, id, LEARNED_ACTIVE, e) && supersede(s, &item, e);
    learned_item_release(&item);
    return ok;
}

bool learned_accept(struct store *s, const char *id, struct error *e)
{
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, accept(s, id, e), e);
}

static bool bring_back(struct store *s, const char *id, struct error *e)
{
    struct query q = query_for(s, bring_back_sql, id, e);
    query_int(&q, clock_wall_ms());
    return query_run(&q);
}

static bool reject(struct store *s, const char *id, struct error *e)
{
    struct learned_item item;
    if (!learned_get(s, id, &item, e))
        return false;
    bool replaced = item.state == LEARNED_ACTIVE && learned_kind_replaces(item.kind);
    learned_item_release(&item);
    return set_state(s, id, LEARNED_REJECTED, e) && (!replaced || bring_back(s, id, e));
}

bool learned_reject(struct store *s, const char *id, struct error *e)
{
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, reject(s, id, e), e);
}

static bool change_text(struct store *s, const char *id, const char *text, struct error *e)
{
    struct query q = query_for(s, edit_sql, id, e);
    query_text(&q, text);
    query_int(&q, clock_wall_ms());
    return query_run(&q);
}

/* What a candidate said before is of no interest. */
static bool edit(struct store *s, const char *id, const char *text, struct error *e)
{
    struct learned_item old;
    if (!learned_get(s, id, &old, e))
        return false;
    bool ok = true;
    if (old.state == LEARNED_ACTIVE && !content_equal(old.text, text)) {
        free(old.replaced_by);
        old.replaced_by = old.id;
        old.id = new_id();
        old.state = LEARNED_SUPERSEDED;
        ok = insert(s, &old, e);
    }
    learned_item_release(&old);
    return ok && change_text(s, id, text, e);
}

bool learned_edit(struct store *s, const char *id, const char *text, struct error *e)
{
    bool began;
    char *clean = clean_text(text, e);
    bool ok = clean && store_enter(s, &began, e) && store_leave(s, began, edit(s, id, clean, e), e);
    free(clean);
    return ok;
}

static bool has_id(const struct learned_items *items, const char *id)
{
    for (size_t i = 0; i < items->items.len; i++)
        if (strcmp(items->items.items[i].id, id) == 0)
            return true;
    return false;
}

static bool forget_one(struct store *s, const char *id, struct learned_items *out, struct error *e)
{
    size_t first = out->items.len;
    bool ok = learned_history(s, id, out, e);
    for (size_t i = first; ok && i < out->items.len; i++) {
        struct query q = query_for(s, delete_sql, out->items.items[i].id, e);
        ok = query_run(&q);
    }
    return ok;
}

/* One that went with the history of another is gone by then. */
static bool forget(struct store *s, const char *const *ids, size_t count, struct learned_items *out,
                   struct error *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = has_id(out, ids[i]) || forget_one(s, ids[i], out, e);
    if (!ok)
        learned_items_release(out);
    return ok;
}

bool learned_forget(struct store *s, const char *const *ids, size_t count,
                    struct learned_items *out, struct error *e)
{
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, forget(s, ids, count, out, e), e);
}

static bool insert_all(struct store *s, const struct learned_items *items, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < items->items.len; i++)
        ok = insert(s, &items->items.items[i], e);
    return ok;
}

bool learned_restore(struct store *s, const struct learned_items *items, struct error *e)
{
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, insert_all(s, items, e), e);
}

static bool forget_session(struct store *s, const char *session_id, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof session_sql / sizeof *session_sql; i++) {
        struct query q = query_for(s, session_sql[i], session_id, e);
        ok = query_run(&q);
    }
    return ok;
}

bool learned_forget_session(struct store *s, const char *session_id, struct error *e)
{
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, forget_session(s, session_id, e), e);
}

static bool note_all(struct store *s, const struct learned_items *items, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < items->items.len; i++) {
        struct query q = query_for(s, use_sql, items->items.items[i].id, e);
        query_int(&q, clock_wall_ms());
        ok = query_run(&q);
    }
    return ok;
}

bool learned_note_use(struct store *s, const struct learned_items *items, struct error *e)
{
    bool began;
    return items->items.len == 0 ||
           (store_step_begin(s, &began, e) && store_step_end(s, began, note_all(s, items, e), e));
}
