#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "chat/attached_file.h"
#include "knowledge/folded_words.h"
#include "knowledge/learned_private.h"
#include "memory/secrets.h"
#include "store/event_log.h"
#include "store/token_fold.h"

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
static const char begin_sql[] =
    "SELECT id FROM learned_item WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id = ?1 DESC LIMIT "
    "2";
static const char count_sql[] =
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
    struct query q = query_for(s, begin_sql, reference, e);
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
    struct query q = query_begin(s, count_sql, e);
    query_text(&q, project);
    while (query_next(&q))
        *counts[value_of(&q, 0, &learned_state_names)] += sqlite3_column_int64(q.handle, 1);
    return query_end(&q);
}
