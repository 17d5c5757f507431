#include "knowledge/learned.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "knowledge/learned_private.h"
#include "knowledge/sentences.h"
#include "memory/content.h"
#include "memory/secrets.h"
#include "store/event_log.h"
#include "store/health.h"
#include "store/language.h"
#include "store/salvage.h"
#include "store/sql.h"

#define TAG_ENDS " \t\n,.;:!?()[]{}<>\"'#"

static const char list_sql[] = LEARNED_ROWS
    "WHERE (?1 IS NULL OR project IS NULL OR project = ?1)"
    " AND (?2 IS NULL OR session = ?2) AND (?3 = 0 OR (uses = 0 AND state = 'active'))"
    " ORDER BY changed_ms DESC, number DESC";
static const char get_sql[] = LEARNED_ROWS "WHERE id = ?";
static const char history_sql[] =
    "WITH RECURSIVE chain (id) AS (VALUES (?1)"
    " UNION SELECT i.id FROM learned_item i JOIN chain ON i.replaced_by = chain.id) " LEARNED_ROWS
    "WHERE id IN chain ORDER BY id = ?1 DESC, changed_ms DESC, number DESC";
static const char id_begins_sql[] =
    "SELECT id FROM learned_item WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id = ?1 DESC LIMIT "
    "2";
static const char states_sql[] =
    "SELECT state, count(*) FROM learned_item WHERE ?1 IS NULL OR project IS NULL OR project = ?1"
    " GROUP BY state";

/* --- rows ------------------------------------------------------------------------------------- */

static int value_of(const struct query *q, int column, const struct shape_names *names)
{
    const char *word = (const char *)sqlite3_column_text(q->handle, column);
    for (int i = 0; word && i < names->count; i++)
        if (strcmp(names->words[i], word) == 0)
            return i;
    return 0;
}

struct learned_item learned_row_read(const struct query *q)
{
    enum {
        ID,
        SCOPE,
        KIND,
        STATE,
        ORIGIN,
        PROJECT,
        SESSION,
        SEQ,
        REPLACED_BY,
        CREATED,
        CHANGED,
        USES,
        USED,
        TEXT,
        GONE
    };
    return (struct learned_item){
        .id = query_column_text(q, ID),
        .scope = (enum learned_scope)value_of(q, SCOPE, &learned_scope_names),
        .kind = (enum learned_kind)value_of(q, KIND, &learned_kind_names),
        .state = (enum learned_state)value_of(q, STATE, &learned_state_names),
        .origin = (enum learned_origin)value_of(q, ORIGIN, &learned_origin_names),
        .project = query_column_text(q, PROJECT),
        .session_id = query_column_text(q, SESSION),
        .seq = sqlite3_column_int64(q->handle, SEQ),
        .replaced_by = query_column_text(q, REPLACED_BY),
        .created_ms = sqlite3_column_int64(q->handle, CREATED),
        .changed_ms = sqlite3_column_int64(q->handle, CHANGED),
        .uses = sqlite3_column_int64(q->handle, USES),
        .used_ms = sqlite3_column_int64(q->handle, USED),
        .text = query_column_text(q, TEXT),
        .session_gone = sqlite3_column_int(q->handle, GONE),
    };
}

bool learned_rows_read(struct query *q, struct learned_items *out)
{
    while (query_next(q))
        vec_push(&out->items, learned_row_read(q));
    bool ok = query_end(q);
    if (!ok)
        learned_items_release(out);
    return ok;
}

/* --- what fits a query ------------------------------------------------------------------------ */

static bool has_word(const struct folded_words *text, const char *word)
{
    for (size_t i = 0; i < text->items.len; i++)
        if (strstr(text->items.items[i].text, word))
            return true;
    return false;
}

static int words_in(const char *text, const struct folded_words *query)
{
    struct folded_words words = {0};
    int count = 0;
    folded_words_read(text, strlen(text), &words);
    for (size_t i = 0; i < query->items.len; i++)
        count += has_word(&words, query->items.items[i].text);
    folded_words_release(&words);
    return count;
}

struct ranked {
    struct learned_item item;
    int words;
    size_t place;
};

static int by_words(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->words != y->words)
        return x->words > y->words ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* Leaves those with a word of the query, most words first. */
static void rank(struct learned_items *items, const char *query)
{
    struct folded_words words = {0};
    VEC(struct ranked) found = {0};
    folded_words_read(query, strlen(query), &words);
    for (size_t i = 0; i < items->items.len; i++) {
        struct learned_item *item = &items->items.items[i];
        struct ranked r = {.item = *item, .words = words_in(item->text, &words), .place = i};
        if (r.words > 0)
            vec_push(&found, r);
        else
            learned_item_release(item);
    }
    if (found.len > 0)
        qsort(found.items, found.len, sizeof *found.items, by_words);
    vec_clear(&items->items);
    for (size_t i = 0; i < found.len; i++)
        vec_push(&items->items, found.items[i].item);
    vec_release(&found);
    folded_words_release(&words);
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool fits_mask(unsigned mask, int value)
{
    return mask == 0 || (mask & (1U << (unsigned)value));
}

static bool is_same_word(const char *text, size_t len, const char *word)
{
    struct buf a = BUF_INIT, b = BUF_INIT;
    token_fold(&a, text, len);
    token_fold(&b, word, strlen(word));
    bool same = a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
    buf_release(&a);
    buf_release(&b);
    return same;
}

static bool has_tag(const char *text, const char *tag)
{
    tag += *tag == '#';
    for (const char *at = strchr(text, '#'); at; at = strchr(at + 1, '#'))
        if (is_same_word(at + 1, strcspn(at + 1, TAG_ENDS), tag))
            return true;
    return false;
}

static bool fits(const struct learned_filter *f, const struct learned_item *item)
{
    return fits_mask(f->states, (int)item->state) && fits_mask(f->scopes, (int)item->scope) &&
           fits_mask(f->kinds, (int)item->kind) && (!f->tag || has_tag(item->text, f->tag));
}

static void leave_fitting(struct learned_items *list, const struct learned_filter *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->items.len; i++) {
        struct learned_item *item = &list->items.items[i];
        if (fits(f, item))
            list->items.items[kept++] = *item;
        else
            learned_item_release(item);
    }
    list->items.len = kept;
}

static void cut(struct learned_items *list, int limit)
{
    while (limit > 0 && list->items.len > (size_t)limit)
        learned_item_release(&list->items.items[--list->items.len]);
}

void learned_leave_fitting(struct learned_items *items, const struct learned_filter *filter)
{
    leave_fitting(items, filter);
    if (filter->query && !utf8_is_blank(filter->query))
        rank(items, filter->query);
    cut(items, filter->limit);
}

bool learned_list(struct store *s, const struct learned_filter *filter, struct learned_items *out,
                  struct error *e)
{
    struct query q = query_begin(s, list_sql, e);
    query_text(&q, filter->project);
    query_text(&q, filter->session);
    query_int(&q, filter->unused);
    if (!learned_rows_read(&q, out))
        return false;
    learned_leave_fitting(out, filter);
    return true;
}

/* --- their messages --------------------------------------------------------------------------- */

enum { QUOTE_BYTES = 160, QUOTE_BEFORE = 40 };

/* A line around the words, without files and secrets. The caller frees. */
static char *quote(const char *message, const char *words)
{
    struct buf masked = BUF_INIT, out = BUF_INIT;
    const char *typed = attached_files_end(message), *at = strstr(typed, words);
    size_t before = at ? (size_t)(at - typed) : 0;
    if (before > QUOTE_BEFORE) {
        typed += utf8_cut_bytes(typed, before, before - QUOTE_BEFORE);
        buf_addstr(&masked, "\u2026");
    }
    (void)secrets_mask(&masked, typed, strlen(typed));
    utf8_add_cut(&out, masked.data ? masked.data : "", masked.len, QUOTE_BYTES);
    buf_release(&masked);
    utf8_clean(&masked, out.data ? out.data : "", out.len, UTF8_ONE_LINE);
    buf_release(&out);
    return masked.len > 0 ? buf_take(&masked) : mem_strdup("");
}

bool learned_find_messages(struct store *s, struct learned_items *items, struct error *e)
{
    for (size_t i = 0; i < items->items.len; i++) {
        struct learned_item *item = &items->items.items[i];
        struct said said;
        if (!item->session_id || item->session_gone || item->seq == 0)
            continue;
        if (!event_log_said(s, item->session_id, item->seq, &said, e))
            return false;
        if (said.text) {
            struct query q =
                query_for(s, "SELECT title FROM session WHERE id = ?", item->session_id, e);
            if (query_next(&q))
                item->title = query_column_text(&q, 0);
            item->said = quote(said.text, item->text);
            item->said_ms = said.wall_ms;
            item->said_origin = said.origin;
            free(said.text);
            if (!query_end(&q) ||
                (item->state == LEARNED_CANDIDATE && /* it counts all turns before */
                 !event_log_turn(s, item->session_id, item->seq + 1, &item->turn, e)))
                return false;
        }
    }
    return true;
}

static bool not_found(const char *id, struct error *e)
{
    return err_set(e, ERR_MEMORY_NOT_FOUND,
                   "nothing that was learned has the id %.60s; tiro learned list shows them", id);
}

bool learned_get(struct store *s, const char *id, struct learned_item *out, struct error *e)
{
    struct query q = query_for(s, get_sql, id, e);
    bool found = query_next(&q);
    *out = found ? learned_row_read(&q) : (struct learned_item){.id = NULL};
    return query_end(&q) && (found || not_found(id, e));
}

bool learned_history(struct store *s, const char *id, struct learned_items *out, struct error *e)
{
    struct query q = query_for(s, history_sql, id, e);
    size_t before = out->items.len;
    return learned_rows_read(&q, out) && (out->items.len > before || not_found(id, e));
}

bool learned_resolve(struct store *s, const char *reference, char **id, struct error *e)
{
    struct text_list found = {0};
    *id = NULL;
    if (!reference || !*reference)
        return err_set(e, ERR_USAGE, "no item is named; give its id");
    struct query q = query_for(s, id_begins_sql, reference, e);
    if (!query_texts(&q, &found))
        return false;
    bool several = found.items.len > 1 && strcmp(found.items.items[0], reference) != 0;
    if (found.items.len > 0 && !several)
        *id = mem_strdup(found.items.items[0]);
    bool none = found.items.len == 0;
    vec_free_each(&found.items);
    if (several)
        return err_set(e, ERR_USAGE, "several items begin with \"%.40s\"; give more of the id",
                       reference);
    return !none || not_found(reference, e);
}

bool learned_count(struct store *s, const char *project, struct learned_counts *out,
                   struct error *e)
{
    int64_t *const counts[] = {[LEARNED_CANDIDATE] = &out->candidates,
                               [LEARNED_ACTIVE] = &out->active,
                               [LEARNED_SUPERSEDED] = &out->superseded,
                               [LEARNED_REJECTED] = &out->rejected};
    *out = (struct learned_counts){0};
    struct query q = query_begin(s, states_sql, e);
    query_text(&q, project);
    while (query_next(&q))
        *counts[value_of(&q, 0, &learned_state_names)] += sqlite3_column_int64(q.handle, 1);
    return query_end(&q);
}

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

static bool insert_row(struct store *s, const struct learned_item *item, struct error *e)
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
    return insert_row(s, out, e) && (out->state != LEARNED_ACTIVE || supersede(s, out, e));
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
        ok = insert_row(s, &old, e);
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
        ok = insert_row(s, &items->items.items[i], e);
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

/* What sessions may do with memory. Each change of it begins a row, and ends the one before: so it
 * is known of each message what held when it was said. */

static const char now_sql[] =
    "SELECT access FROM learned_access WHERE session = ? AND until IS NULL";
static const char end_sql[] =
    "UPDATE learned_access SET until = ?2 WHERE session = ?1 AND until IS NULL";
/* Nothing was said meanwhile. */
static const char empty_sql[] = "DELETE FROM learned_access WHERE session = ? AND until <= since";
static const char access_begin_sql[] = "INSERT INTO learned_access VALUES (?, ?, ?, NULL)";
static const char spans_sql[] =
    "SELECT since, until FROM learned_access WHERE session = ? ORDER BY since";
static const char copy_sql[] =
    "INSERT INTO learned_access SELECT ?2, since, access, min(ifnull(until, ?3), ?3)"
    " FROM learned_access WHERE session = ?1 AND since < ?3";

bool learned_access_read(struct store *s, const char *session_id, enum memory_access *out,
                         struct error *e)
{
    *out = MEMORY_ACCESS_WRITE;
    struct query q = query_for(s, now_sql, session_id, e);
    if (query_next(&q)) {
        const char *word = (const char *)sqlite3_column_text(q.handle, 0);
        *out = strcmp(word, "off") == 0 ? MEMORY_ACCESS_OFF : MEMORY_ACCESS_READ;
    }
    return query_end(&q);
}

static bool end_span(struct store *s, const char *session_id, int64_t last, struct error *e)
{
    struct query q = query_for(s, end_sql, session_id, e);
    query_int(&q, last);
    if (!query_run(&q))
        return false;
    struct query empty = query_for(s, empty_sql, session_id, e);
    return query_run(&empty);
}

static bool begin_span(struct store *s, const char *session_id, int64_t last,
                       enum memory_access access, struct error *e)
{
    struct query q = query_for(s, access_begin_sql, session_id, e);
    query_int(&q, last);
    query_text(&q, memory_access_names.words[access]);
    return query_run(&q);
}

static bool change(struct store *s, const char *session_id, enum memory_access access,
                   struct error *e)
{
    enum memory_access now;
    int64_t last = 0;
    if (!learned_access_read(s, session_id, &now, e))
        return false;
    if (now == access)
        return true;
    return event_log_last(s, session_id, &last, e) && end_span(s, session_id, last, e) &&
           (access == MEMORY_ACCESS_WRITE || begin_span(s, session_id, last, access, e));
}

bool learned_access_write(struct store *s, const char *session_id, enum memory_access access,
                          struct error *e)
{
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, change(s, session_id, access, e), e);
}

bool learned_access_copy(struct store *s, const char *from, int64_t last, const char *to,
                         struct error *e)
{
    struct query q = query_for(s, copy_sql, from, e);
    query_text(&q, to);
    query_int(&q, last);
    return query_run(&q);
}

bool learned_closed_read(struct store *s, const char *session_id, struct learned_closed *out,
                         struct error *e)
{
    *out = (struct learned_closed){0};
    struct query q = query_for(s, spans_sql, session_id, e);
    while (query_next(&q)) {
        bool open = sqlite3_column_type(q.handle, 1) == SQLITE_NULL;
        vec_push(&out->spans, (struct learned_closed_span){
                                  sqlite3_column_int64(q.handle, 0),
                                  open ? INT64_MAX : sqlite3_column_int64(q.handle, 1)});
    }
    return query_end(&q);
}

bool learned_closed_has(const struct learned_closed *c, int64_t seq)
{
    for (size_t i = 0; i < c->spans.len; i++)
        if (seq > c->spans.items[i].since && seq <= c->spans.items[i].until)
            return true;
    return false;
}

void learned_closed_release(struct learned_closed *c)
{
    vec_release(&c->spans);
}

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
