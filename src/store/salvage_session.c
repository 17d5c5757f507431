#include "store/salvage_session.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

enum kind {
    KEY, /* stands in the rowid; the record has NULL */
    ID,
    PARENT,
    TEXT,
    FLAG,
    NUMBER,  /* int64_t; NULL is 0 */
    COUNT,   /* int */
    MEASURE, /* int64_t; NULL is -1 */
    PRICE    /* double; NULL is -1 */
};

struct column {
    const char *name;
    enum kind kind;
    size_t offset;
};

#define C(name, kind, member)                                                                      \
    {                                                                                              \
        name, kind, offsetof(struct session_info, member)                                          \
    }

static const struct column columns[] = {
    {"key", KEY, 0},
    C("id", ID, id),
    C("title", TEXT, title),
    C("title_set", FLAG, title_set),
    C("directory", TEXT, directory),
    C("provider", TEXT, provider),
    C("model", TEXT, model),
    C("last_line", TEXT, last_line),
    C("created_ms", NUMBER, created_ms),
    C("updated_ms", NUMBER, updated_ms),
    C("messages", NUMBER, messages),
    C("turns", COUNT, turns),
    C("last_seq", NUMBER, last_seq),
    C("input_tokens", MEASURE, usage.input),
    C("output_tokens", MEASURE, usage.output),
    C("cached_tokens", MEASURE, usage.cached),
    C("estimated", FLAG, usage.estimated),
    C("labels", TEXT, labels),
    C("parent", PARENT, parent),
    C("parent_seq", NUMBER, parent_seq),
    C("archived_ms", NUMBER, archived_ms),
    C("tool_calls", NUMBER, tool_calls),
    C("run_ms", NUMBER, run_ms),
    C("cost", PRICE, cost),
    C("system", TEXT, system),
    C("draft", TEXT, draft),
};

/* Version 1 had the first of them and, behind those, the last ones. */
enum { COLUMN_COUNT = sizeof columns / sizeof *columns, SINCE_2 = 17, UNTIL_2 = 24 };
enum { COLUMN_COUNT_1 = COLUMN_COUNT - (UNTIL_2 - SINCE_2) };

const char *session_row_column(size_t i)
{
    return i < COLUMN_COUNT ? columns[i].name : NULL;
}

static const struct column *column_of(const struct db_record *r, size_t i)
{
    return &columns[r->count == COLUMN_COUNT_1 && i >= SINCE_2 ? i + UNTIL_2 - SINCE_2 : i];
}

static bool type_fits(enum kind kind, const struct db_value *v)
{
    switch (kind) {
    case KEY:
        return v->type == DB_NULL || v->type == DB_INT;
    case ID:
        return v->type == DB_TEXT && v->len == UUID_LEN;
    case PARENT:
        return v->type == DB_NULL || (v->type == DB_TEXT && v->len == UUID_LEN);
    case TEXT:
        return v->type == DB_NULL || v->type == DB_TEXT;
    case FLAG:
    case COUNT:
        return v->type == DB_INT;
    case NUMBER:
    case MEASURE:
        return v->type == DB_NULL || v->type == DB_INT;
    case PRICE:
        return v->type != DB_TEXT && v->type != DB_BLOB;
    }
    return false;
}

bool session_row_likely(const struct db_record *r)
{
    if (r->count != COLUMN_COUNT && r->count != COLUMN_COUNT_1)
        return false;
    for (size_t i = 0; i < r->count; i++)
        if (!type_fits(column_of(r, i)->kind, &r->values[i]))
            return false;
    return true;
}

static bool read_id(const struct db_value *v, char out[UUID_LEN + 1])
{
    memset(out, 0, UUID_LEN + 1);
    if (v->type == DB_NULL)
        return true;
    memcpy(out, v->text, UUID_LEN);
    return uuid_valid(out);
}

static char *read_text(const struct db_value *v)
{
    if (v->type == DB_NULL)
        return NULL;
    if (utf8_valid(v->text, v->len) && !memchr(v->text, '\0', v->len))
        return mem_strndup(v->text, v->len);
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, v->text, v->len, UTF8_MULTILINE);
    return buf_take(&clean);
}

static bool read_count(const struct db_value *v, int *out)
{
    if (v->number < 0 || v->number > INT32_MAX)
        return false;
    *out = (int)v->number;
    return true;
}

static bool read_column(const struct column *c, const struct db_value *v, struct session_info *out)
{
    void *member = (char *)out + c->offset;
    switch (c->kind) {
    case KEY:
        return true;
    case ID:
    case PARENT:
        return read_id(v, member);
    case TEXT:
        free(*(char **)member);
        *(char **)member = read_text(v);
        return true;
    case FLAG:
        *(bool *)member = v->number != 0;
        return true;
    case COUNT:
        return read_count(v, member);
    case NUMBER:
        *(int64_t *)member = v->number > 0 ? v->number : 0;
        return true;
    case MEASURE:
        *(int64_t *)member = v->type == DB_NULL ? -1 : v->number;
        return true;
    case PRICE:
        *(double *)member = v->type == DB_NULL || !(v->real >= 0) ? -1 : v->real;
        return true;
    }
    return false;
}

/* Labels are sorted words: what was damaged may be none. */
static void check_labels(struct session_info *info)
{
    char *labels = NULL;
    if (info->labels)
        session_labels_change(NULL, info->labels, &labels, NULL);
    free(info->labels);
    info->labels = labels;
}

bool session_row_read(const struct db_record *r, int64_t key, struct session_row *out)
{
    *out = (struct session_row){.key = key};
    session_info_init(&out->info);
    bool ok = session_row_likely(r);
    for (size_t i = 0; ok && i < r->count; i++)
        ok = r->values[i].there && read_column(column_of(r, i), &r->values[i], &out->info);
    if (!ok) {
        session_info_release(&out->info);
        return false;
    }
    if (!out->info.title)
        out->info.title = mem_strdup("");
    check_labels(&out->info);
    return true;
}
