#include "index/words.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/language.h"
#include "store/sql.h"

static const char add_sql[] = "INSERT INTO memory_words (rowid, words) VALUES (?, ?)";
static const char remove_sql[] =
    "INSERT INTO memory_words (memory_words, rowid, words) VALUES ('delete', ?, ?)";
static const char schema_sql[] = "SELECT sql FROM sqlite_schema WHERE name = 'memory_words'";

/* "Tuesday 9 May 2023"; empty where it is not known. */
static void write_date(int64_t ms, char *out, size_t size)
{
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    out[0] = '\0';
    if (ms > 0 && gmtime_r(&seconds, &t))
        snprintf(out, size, "%s %d %s %d", days[t.tm_wday], t.tm_mday, months[t.tm_mon],
                 t.tm_year + 1900);
}

char *words_text(const struct memory_entry *m)
{
    char date[80];
    write_date(m->created_ms, date, sizeof date);
    struct buf text = BUF_INIT;
    buf_addstr(&text, memory_entry_speaker(m));
    buf_addch(&text, '\n');
    buf_addstr(&text, date);
    buf_addch(&text, '\n');
    buf_addstr(&text, m->content);
    return buf_take(&text);
}

static bool change(struct store *s, int64_t key, const struct memory_entry *m, bool add,
                   struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, add ? add_sql : remove_sql, e))
        return false;
    char *text = words_text(m);
    query_int(&q, key);
    query_text(&q, text);
    bool ok = query_run(&q, e) && words_next_change(s, key, text, add, e);
    free(text);
    return ok;
}

bool words_add(struct store *s, int64_t key, const struct memory_entry *m, struct error *e)
{
    return change(s, key, m, true, e);
}

bool words_remove(struct store *s, int64_t key, const struct memory_entry *m, struct error *e)
{
    return change(s, key, m, false, e);
}

/* ---- language ---- */

static char *find_language(const char *sql)
{
    static const char mark[] = "'tiro ";
    const char *at = sql ? strstr(sql, mark) : NULL;
    if (!at)
        return mem_strdup("none");
    at += sizeof mark - 1;
    return mem_strndup(at, strcspn(at, "'"));
}

bool words_language(struct store *s, char **out, struct error *e)
{
    struct query q;
    *out = NULL;
    if (!query_begin(&q, s, schema_sql, e))
        return false;
    enum query_result result = query_step(&q, e);
    if (result != QUERY_FAILED) {
        char *sql = result == QUERY_ROW ? query_column_text(&q, 0) : NULL;
        *out = find_language(sql);
        free(sql);
    }
    query_end(&q);
    return result != QUERY_FAILED;
}

bool words_reset(struct store *s, const char *language, struct error *e)
{
    bool began;
    assert(language_known(language));
    if (!store_step_begin(s, &began, e))
        return false;
    char *sql = mem_printf(
        "DROP TABLE memory_words; DROP TABLE IF EXISTS memory_words_next;"
        "DROP TABLE IF EXISTS memory_words_old;" WORDS_TABLE_SQL("memory_words"),
        language);
    bool ok = store_exec(s, sql, e);
    free(sql);
    return store_step_end(s, began, ok, e);
}

bool scope_has(const struct scope_sessions *scope, int64_t session)
{
    if (scope->all)
        return true;
    size_t low = 0, high = scope->numbers.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scope->numbers.items[middle] < session)
            low = middle + 1;
        else
            high = middle;
    }
    return low < scope->numbers.len && scope->numbers.items[low] == session;
}
