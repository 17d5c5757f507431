#include "knowledge/learned.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "knowledge/sentences.h"
#include "memory/content.h"
#include "store/event_log.h"
#include "store/health.h"
#include "store/language.h"
#include "store/salvage.h"
#include "store/sql.h"

/* --- rows ------------------------------------------------------------------------------------- */

#define ROWS                                                                                       \
    "SELECT id, scope, kind, state, origin, project, session, seq, replaced_by, created_ms,"       \
    " changed_ms, uses, used_ms, text, session IS NOT NULL AND NOT EXISTS"                         \
    " (SELECT 1 FROM session WHERE session.id = learned_item.session) FROM learned_item "

/* 0: the column has none of the words. */
static int value_of(const struct query *q, int column, const struct shape_names *names)
{
    const char *word = (const char *)sqlite3_column_text(q->handle, column);
    for (int i = 0; word && i < names->count; i++)
        if (strcmp(names->words[i], word) == 0)
            return i;
    return 0;
}

static struct learned_item read_row(const struct query *q)
{
    return (struct learned_item){
        .id = query_column_text(q, 0),
        .scope = (enum learned_scope)value_of(q, 1, &learned_scope_names),
        .kind = (enum learned_kind)value_of(q, 2, &learned_kind_names),
        .state = (enum learned_state)value_of(q, 3, &learned_state_names),
        .origin = (enum learned_origin)value_of(q, 4, &learned_origin_names),
        .project = query_column_text(q, 5),
        .session_id = query_column_text(q, 6),
        .seq = sqlite3_column_int64(q->handle, 7),
        .replaced_by = query_column_text(q, 8),
        .created_ms = sqlite3_column_int64(q->handle, 9),
        .changed_ms = sqlite3_column_int64(q->handle, 10),
        .uses = sqlite3_column_int64(q->handle, 11),
        .used_ms = sqlite3_column_int64(q->handle, 12),
        .text = query_column_text(q, 13),
        .session_gone = sqlite3_column_int(q->handle, 14),
    };
}

/* Adds the rows that are left and ends the query. */
static bool read_rows(struct query *q, struct learned_items *out)
{
    while (query_next(q))
        vec_push(&out->items, read_row(q));
    bool ok = query_end(q);
    if (!ok)
        learned_items_release(out);
    return ok;
}

static bool insert_row(struct store *s, const struct learned_item *item, struct error *e)
{
    return sql_exec(
        s, e,
        "INSERT INTO learned_item (id, scope, kind, state, origin, project, session, seq,"
        " replaced_by, created_ms, changed_ms, uses, used_ms, text)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        "tttttttktiiikt", item->id, learned_scope_word(item->scope), learned_kind_word(item->kind),
        learned_state_word(item->state), learned_origin_names.words[item->origin], item->project,
        item->session_id, item->seq > 0 ? item->seq : -1, item->replaced_by, item->created_ms,
        item->changed_ms, item->uses, item->used_ms > 0 ? item->used_ms : -1, item->text);
}

static bool set_state(struct store *s, const char *id, enum learned_state state, struct error *e)
{
    return sql_exec(
        s, e,
        "UPDATE learned_item SET state = ?2, replaced_by = NULL, changed_ms = ?3 WHERE id = ?1",
        "tti", id, learned_state_word(state), clock_wall_ms());
}

/* An item whose kind replaces makes the one before it history, of the same moment: lists have the
 * newer row first. */
static bool supersede(struct store *s, const struct learned_item *item, struct error *e)
{
    return !learned_kind_replaces(item->kind) ||
           sql_exec(s, e,
                    "UPDATE learned_item SET state = 'superseded', replaced_by = ?1,"
                    " changed_ms = (SELECT changed_ms FROM learned_item WHERE id = ?1)"
                    " WHERE state = 'active' AND id <> ?1 AND scope = ?2 AND kind = ?3"
                    " AND project IS ?4",
                    "tttt", item->id, learned_scope_word(item->scope),
                    learned_kind_word(item->kind), item->project);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool not_found(const char *id, struct error *e)
{
    return err_set(e, ERR_MEMORY_NOT_FOUND,
                   "nothing that was learned has the id %.60s; tiro learned list shows them", id);
}

bool learned_get(struct store *s, const char *id, struct learned_item *out, struct error *e)
{
    struct query q = sql_query(s, e, ROWS "WHERE id = ?", "t", id);
    bool found = query_next(&q);
    *out = found ? read_row(&q) : (struct learned_item){.id = NULL};
    return query_end(&q) && (found || not_found(id, e));
}

bool learned_history(struct store *s, const char *id, struct learned_items *out, struct error *e)
{
    struct query q =
        sql_query(s, e,
                  "WITH RECURSIVE chain (id) AS (VALUES (?1) UNION SELECT i.id FROM learned_item i"
                  " JOIN chain ON i.replaced_by = chain.id) " ROWS
                  "WHERE id IN chain ORDER BY id = ?1 DESC, changed_ms DESC, number DESC",
                  "t", id);
    size_t before = out->items.len;
    return read_rows(&q, out) && (out->items.len > before || not_found(id, e));
}

bool learned_resolve(struct store *s, const char *reference, char **id, struct error *e)
{
    struct text_list found = {0};
    *id = NULL;
    if (!reference || !*reference)
        return err_set(e, ERR_USAGE, "no item is named; give its id");
    struct query q = sql_query(s, e,
                               "SELECT id FROM learned_item WHERE substr(id, 1, length(?1)) = ?1"
                               " ORDER BY id = ?1 DESC LIMIT 2",
                               "t", reference);
    if (!query_texts(&q, &found))
        return false;
    bool several = found.items.len > 1 && strcmp(found.items.items[0], reference) != 0;
    if (found.items.len > 0 && !several)
        *id = mem_strdup(found.items.items[0]);
    vec_free_each(&found.items);
    if (several)
        return err_set(e, ERR_USAGE, "several items begin with \"%.40s\"; give more of the id",
                       reference);
    return *id || not_found(reference, e);
}

bool learned_count(struct store *s, const char *project, struct learned_counts *out,
                   struct error *e)
{
    int64_t *const counts[] = {[LEARNED_CANDIDATE] = &out->candidates,
                               [LEARNED_ACTIVE] = &out->active,
                               [LEARNED_SUPERSEDED] = &out->superseded,
                               [LEARNED_REJECTED] = &out->rejected};
    *out = (struct learned_counts){0};
    struct query q = sql_query(s, e,
                               "SELECT state, count(*) FROM learned_item WHERE ?1 IS NULL"
                               " OR project IS NULL OR project = ?1 GROUP BY state",
                               "t", project);
    while (query_next(&q))
        *counts[value_of(&q, 0, &learned_state_names)] += sqlite3_column_int64(q.handle, 1);
    return query_end(&q);
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool fits_mask(unsigned mask, int value)
{
    return mask == 0 || (mask & (1U << (unsigned)value));
}

static bool has_tag(const char *text, const char *tag)
{
    static const char ends[] = " \t\n,.;:!?()[]{}<>\"'#";
    AUTO(buf_release) struct buf wanted = BUF_INIT, found = BUF_INIT;
    tag += *tag == '#';
    token_fold(&wanted, tag, strlen(tag));
    for (const char *at = strchr(text, '#'); at; at = strchr(at + 1, '#')) {
        buf_clear(&found);
        token_fold(&found, at + 1, strcspn(at + 1, ends));
        if (found.len == wanted.len && memcmp(found.data, wanted.data, wanted.len) == 0)
            return true;
    }
    return false;
}

struct ranked {
    struct learned_item item;
    int words; /* of the query */
    size_t place;
};

static int by_words(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->words != y->words)
        return x->words > y->words ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* Leaves the items that have a word of the query, or have it within a word, most words first. */
static void rank(struct learned_items *items, const char *query)
{
    AUTO(folded_words_release) struct folded_words words = {0};
    VEC(struct ranked) found = {0};
    folded_words_read(query, strlen(query), &words);
    for (size_t i = 0; i < items->items.len; i++) {
        struct learned_item *item = &items->items.items[i];
        AUTO(folded_words_release) struct folded_words text = {0};
        struct ranked r = {.item = *item, .place = i};
        folded_words_read(item->text, strlen(item->text), &text);
        for (size_t w = 0; w < words.items.len; w++) {
            bool found_word = false;
            for (size_t k = 0; k < text.items.len && !found_word; k++)
                found_word = strstr(text.items.items[k].text, words.items.items[w].text);
            r.words += found_word;
        }
        if (r.words > 0)
            vec_push(&found, r);
        else
            learned_item_release(item);
    }
    vec_sort(&found, by_words);
    vec_clear(&items->items);
    for (size_t i = 0; i < found.len; i++)
        vec_push(&items->items, found.items[i].item);
    vec_release(&found);
}

void learned_filter_items(struct learned_items *items, const struct learned_filter *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < items->items.len; i++) {
        struct learned_item *item = &items->items.items[i];
        if (fits_mask(f->states, (int)item->state) && fits_mask(f->scopes, (int)item->scope) &&
            fits_mask(f->kinds, (int)item->kind) && (!f->tag || has_tag(item->text, f->tag)))
            items->items.items[kept++] = *item;
        else
            learned_item_release(item);
    }
    items->items.len = kept;
    if (f->query && !utf8_is_blank(f->query))
        rank(items, f->query);
    while (f->limit > 0 && items->items.len > (size_t)f->limit)
        learned_item_release(&items->items.items[--items->items.len]);
}

bool learned_list(struct store *s, const struct learned_filter *filter, struct learned_items *out,
                  struct error *e)
{
    struct query q = sql_query(
        s, e,
        ROWS
        "WHERE (?1 IS NULL OR project IS NULL OR project = ?1)"
        " AND (?2 IS NULL OR session = ?2) AND (?3 = 0 OR (uses = 0 AND state = 'active'))"
        " ORDER BY changed_ms DESC, number DESC",
        "tti", filter->project, filter->session, (int64_t)filter->unused);
    if (!read_rows(&q, out))
        return false;
    learned_filter_items(out, filter);
    return true;
}

/* A line around the words, without files and secrets. The caller frees. */
static char *quote(const char *message, const char *words)
{
    enum { QUOTE_BYTES = 160, QUOTE_BEFORE = 40 };
    AUTO(buf_release) struct buf masked = BUF_INIT, cut = BUF_INIT;
    struct buf out = BUF_INIT;
    const char *typed = attached_files_end(message), *at = strstr(typed, words);
    size_t before = at ? (size_t)(at - typed) : 0;
    if (before > QUOTE_BEFORE) {
        typed += utf8_cut_bytes(typed, before, before - QUOTE_BEFORE);
        buf_addstr(&masked, "\u2026");
    }
    (void)secrets_mask(&masked, typed, strlen(typed));
    utf8_add_cut(&cut, masked.data, masked.len, QUOTE_BYTES);
    utf8_clean(&out, cut.data, cut.len, UTF8_ONE_LINE);
    return buf_take(&out);
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
        if (!said.text)
            continue;
        item->said = quote(said.text, item->text);
        item->said_ms = said.wall_ms;
        item->said_origin = said.origin;
        free(said.text);
        struct query q =
            sql_query(s, e, "SELECT title FROM session WHERE id = ?", "t", item->session_id);
        if (query_next(&q))
            item->title = query_column_text(&q, 0);
        if (!query_end(&q) || (item->state == LEARNED_CANDIDATE && /* it counts all turns before */
                               !event_log_turn(s, item->session_id, item->seq + 1, &item->turn, e)))
            return false;
    }
    return true;
}

/* --- adding ----------------------------------------------------------------------------------- */

static char *new_id(void)
{
    struct fresh_ids ids = {.left = 0};
    return fresh_ids_next(&ids);
}

/* NULL with USAGE. The caller frees. */
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

/* An item that the user adds by hand counts at once, even if an equal one was rejected. */
static bool add(struct store *s, const struct learned_item *item, const char *text,
                struct learned_item *out, enum learned_added *how, struct error *e)
{
    int64_t now = clock_wall_ms();
    bool found = false;
    *out = (struct learned_item){.id = NULL};
    *how = LEARNED_IS_NEW;
    struct query q = sql_query(s, e,
                               ROWS
                               "WHERE scope = ?1 AND project IS ?2 AND state <> 'superseded'"
                               " ORDER BY state = 'rejected'",
                               "tt", learned_scope_word(item->scope), item->project);
    while (!found && query_next(&q)) {
        learned_item_release(out);
        *out = read_row(&q);
        found = content_equal(out->text, text);
    }
    if (!query_end(&q))
        return false;
    if (found) {
        bool unwanted = out->state == LEARNED_REJECTED && item->origin != LEARNED_ADDED;
        *how = unwanted ? LEARNED_IS_REJECTED : LEARNED_IS_KNOWN;
        if (unwanted || item->state != LEARNED_ACTIVE || out->state == LEARNED_ACTIVE)
            return true;
        out->state = LEARNED_ACTIVE;
        return set_state(s, out->id, LEARNED_ACTIVE, e) && supersede(s, out, e);
    }
    learned_item_release(out);
    *out = (struct learned_item){
        .id = new_id(),
        .scope = item->scope,
        .kind = item->kind,
        .state = item->state,
        .origin = item->origin,
        .text = mem_strdup(text),
        .project = mem_strdup(item->project),
        .session_id = mem_strdup(item->session_id),
        .seq = item->seq,
        .created_ms = now,
        .changed_ms = now,
    };
    return insert_row(s, out, e) && (out->state != LEARNED_ACTIVE || supersede(s, out, e));
}

bool learned_add(struct store *s, const struct learned_item *item, struct learned_item *out,
                 enum learned_added *how, struct error *e)
{
    bool began;
    auto_free char *text = clean_text(item->text, e);
    if (!text || !store_enter(s, &began, e))
        return false;
    bool ok = store_leave(s, began, add(s, item, text, out, how, e), e);
    if (!ok)
        learned_item_release(out);
    return ok;
}

/* --- changes ---------------------------------------------------------------------------------- */

bool learned_accept(struct store *s, const char *id, struct error *e)
{
    AUTO(learned_item_release) struct learned_item item = {.id = NULL};
    bool began;
    return store_enter(s, &began, e) &&
           store_leave(s, began,
                       learned_get(s, id, &item, e) && set_state(s, id, LEARNED_ACTIVE, e) &&
                           supersede(s, &item, e),
                       e);
}

/* The item that it replaced is active again. A row that came later is an earlier wording of the
 * same item. */
bool learned_reject(struct store *s, const char *id, struct error *e)
{
    AUTO(learned_item_release) struct learned_item item = {.id = NULL};
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = learned_get(s, id, &item, e) && set_state(s, id, LEARNED_REJECTED, e);
    if (ok && item.state == LEARNED_ACTIVE && learned_kind_replaces(item.kind))
        ok = sql_exec(s, e,
                      "UPDATE learned_item SET state = 'active', replaced_by = NULL,"
                      " changed_ms = ?2 WHERE replaced_by = ?1 AND id ="
                      " (SELECT id FROM learned_item WHERE replaced_by = ?1"
                      " AND number < (SELECT number FROM learned_item WHERE id = ?1)"
                      " ORDER BY changed_ms DESC, number DESC LIMIT 1)",
                      "ti", id, clock_wall_ms());
    return store_leave(s, began, ok, e);
}

/* Only an active item keeps its earlier text as history. */
bool learned_edit(struct store *s, const char *id, const char *text, struct error *e)
{
    AUTO(learned_item_release) struct learned_item old = {.id = NULL};
    auto_free char *clean = clean_text(text, e);
    bool began;
    if (!clean || !store_enter(s, &began, e))
        return false;
    bool ok = learned_get(s, id, &old, e);
    if (ok && old.state == LEARNED_ACTIVE && !content_equal(old.text, clean)) {
        free(old.replaced_by);
        old.replaced_by = old.id;
        old.id = new_id();
        old.state = LEARNED_SUPERSEDED;
        ok = insert_row(s, &old, e);
    }
    ok = ok && sql_exec(s, e, "UPDATE learned_item SET text = ?2, changed_ms = ?3 WHERE id = ?1",
                        "tti", id, clean, clock_wall_ms());
    return store_leave(s, began, ok, e);
}

/* Ids that went with the history of another item are passed over. */
bool learned_forget(struct store *s, const char *const *ids, size_t count,
                    struct learned_items *out, struct error *e)
{
    bool began, ok = true;
    if (!store_enter(s, &began, e))
        return false;
    for (size_t i = 0; ok && i < count; i++) {
        size_t first = out->items.len;
        bool gone = false;
        for (size_t k = 0; k < first && !gone; k++)
            gone = strcmp(out->items.items[k].id, ids[i]) == 0;
        ok = gone || learned_history(s, ids[i], out, e);
        for (size_t k = first; ok && k < out->items.len; k++)
            ok = sql_exec(s, e, "DELETE FROM learned_item WHERE id = ?", "t",
                          out->items.items[k].id);
    }
    if (!ok)
        learned_items_release(out);
    return store_leave(s, began, ok, e);
}

bool learned_restore(struct store *s, const struct learned_items *items, struct error *e)
{
    bool began, ok = store_enter(s, &began, e);
    if (!ok)
        return false;
    for (size_t i = 0; ok && i < items->items.len; i++)
        ok = insert_row(s, &items->items.items[i], e);
    return store_leave(s, began, ok, e);
}

bool learned_forget_session(struct store *s, const char *session_id, struct error *e)
{
    static const char *const statements[] = {
        "DELETE FROM learned_item WHERE session = ? AND state = 'candidate'",
        "DELETE FROM learned_session WHERE session = ?",
        "DELETE FROM learned_tool WHERE session = ?",
        "DELETE FROM learned_access WHERE session = ?",
        "DELETE FROM learned_extract WHERE session = ?",
    };
    bool began, ok = store_enter(s, &began, e);
    if (!ok)
        return false;
    for (size_t i = 0; ok && i < sizeof statements / sizeof *statements; i++)
        ok = sql_exec(s, e, statements[i], "t", session_id);
    return store_leave(s, began, ok, e);
}

bool learned_note_use(struct store *s, const struct learned_items *items, struct error *e)
{
    bool began, ok = true;
    if (items->items.len == 0 || !store_step_begin(s, &began, e))
        return items->items.len == 0;
    for (size_t i = 0; ok && i < items->items.len; i++)
        ok = sql_exec(s, e, "UPDATE learned_item SET uses = uses + 1, used_ms = ?2 WHERE id = ?1",
                      "ti", items->items.items[i].id, clock_wall_ms());
    return store_step_end(s, began, ok, e);
}

/* --- access ----------------------------------------------------------------------------------- */

/* Each change of a session's access begins a row and ends the one before, so that the access at the
 * time of each message is known. WRITE has no row. */

bool learned_access_read(struct store *s, const char *session_id, enum memory_access *out,
                         struct error *e)
{
    *out = MEMORY_ACCESS_WRITE;
    struct query q =
        sql_query(s, e, "SELECT access FROM learned_access WHERE session = ? AND until IS NULL",
                  "t", session_id);
    if (query_next(&q)) {
        const char *word = (const char *)sqlite3_column_text(q.handle, 0);
        *out = strcmp(word, "off") == 0 ? MEMORY_ACCESS_OFF : MEMORY_ACCESS_READ;
    }
    return query_end(&q);
}

/* A row is deleted where no message came meanwhile. */
bool learned_access_write(struct store *s, const char *session_id, enum memory_access access,
                          struct error *e)
{
    enum memory_access now;
    int64_t last = 0;
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = learned_access_read(s, session_id, &now, e);
    if (ok && now != access)
        ok = event_log_last(s, session_id, &last, e) &&
             sql_exec(s, e,
                      "UPDATE learned_access SET until = ?2 WHERE session = ?1 AND until IS NULL",
                      "ti", session_id, last) &&
             sql_exec(s, e, "DELETE FROM learned_access WHERE session = ? AND until <= since", "t",
                      session_id) &&
             (access == MEMORY_ACCESS_WRITE ||
              sql_exec(s, e, "INSERT INTO learned_access VALUES (?, ?, ?, NULL)", "tit", session_id,
                       last, memory_access_names.words[access]));
    return store_leave(s, began, ok, e);
}

bool learned_access_copy(struct store *s, const char *from, int64_t last, const char *to,
                         struct error *e)
{
    return sql_exec(s, e,
                    "INSERT INTO learned_access SELECT ?2, since, access, min(ifnull(until, ?3),"
                    " ?3) FROM learned_access WHERE session = ?1 AND since < ?3",
                    "tti", from, to, last);
}

bool learned_locked_read(struct store *s, const char *session_id, struct learned_locked *out,
                         struct error *e)
{
    *out = (struct learned_locked){0};
    struct query q =
        sql_query(s, e, "SELECT since, until FROM learned_access WHERE session = ? ORDER BY since",
                  "t", session_id);
    while (query_next(&q)) {
        bool open = sqlite3_column_type(q.handle, 1) == SQLITE_NULL;
        vec_push(&out->spans, (struct learned_locked_span){
                                  sqlite3_column_int64(q.handle, 0),
                                  open ? INT64_MAX : sqlite3_column_int64(q.handle, 1)});
    }
    return query_end(&q);
}

bool learned_locked_has(const struct learned_locked *l, int64_t seq)
{
    for (size_t i = 0; i < l->spans.len; i++)
        if (seq > l->spans.items[i].since && seq <= l->spans.items[i].until)
            return true;
    return false;
}

void learned_locked_release(struct learned_locked *l)
{
    vec_release(&l->spans);
}

/* --- health and recovery ---------------------------------------------------------------------- */

static bool check(struct store *s, bool thorough, struct health *out)
{
    int64_t rows = 0;
    return health_count(s, "SELECT count(*) FROM learned_item WHERE state = 'active'",
                        &out->learned, out) &&
           health_count(s, "SELECT count(*) FROM learned_item WHERE state = 'candidate'",
                        &out->waiting, out) &&
           (!thorough ||
            (health_count(s,
                          "SELECT count(*) FROM learned_item WHERE id = '' OR text = ''"
                          " OR scope NOT IN ('project', 'user')"
                          " OR state NOT IN ('candidate', 'active', 'superseded', 'rejected')"
                          " OR (scope = 'project') <> (project IS NOT NULL)",
                          &rows, out) &&
             (rows == 0 ||
              health_found(out, HEALTH_INCONSISTENT, "learned memory: %lld items make no sense",
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

static const char recover_sql[] =
    "INSERT OR IGNORE INTO learned_item (number, id, scope, kind, state, origin, project, session,"
    " seq, replaced_by, created_ms, changed_ms, uses, used_ms, text)"
    " SELECT row, id, scope, plain(kind), state, plain(origin), project, plain(session), seq,"
    " plain(replaced_by), created_ms, changed_ms, uses, used_ms, text FROM found.learned"
    " WHERE whole AND plain(id) <> '' AND plain(text) <> '' AND plain(kind) <> ''"
    " AND plain(origin) <> '' AND scope IN ('project', 'user')"
    " AND state IN ('candidate', 'active', 'superseded', 'rejected')"
    " AND (scope = 'project') = (plain(project) IS NOT NULL) ORDER BY row;"
    "INSERT OR IGNORE INTO learned_access SELECT session, since, access, until FROM found.access"
    " WHERE session IN (SELECT id FROM session) AND access IN ('off', 'read');";

static bool recover(struct store *to, struct recovery *out, struct error *e)
{
    int64_t lost = 0;
    bool ok = store_exec(to, recover_sql, e) &&
              store_number(to, "SELECT count(*) FROM learned_item", &out->learned, e) &&
              store_number(to,
                           "SELECT count(DISTINCT row) FROM found.learned"
                           " WHERE row NOT IN (SELECT number FROM learned_item)",
                           &lost, e);
    out->lost += lost;
    return ok;
}

const struct store_extension learned_extension = {
    .check = check, .shapes = shapes, .indexes = indexes, .choose = choose_sql, .recover = recover};
