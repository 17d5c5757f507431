#include <stdlib.h>
#include <string.h>

#include "session/memories_lines.h"
#include "session/memories_private.h"

/* A character of two or four bytes may be written as six or twelve ("\u00e4"): three times as many.
 * Besides the line there is a tree as large, and the entries of a step. */
#define LINE_BYTES ((size_t)3 * MEMORY_CONTENT_BYTES + 65536)

enum { STEP_ENTRIES = 1000, STEP_BYTES = 16 * 1024 * 1024 };

/* What is read for the next transaction. */
struct step {
    VEC(struct memory_entry) entries;
    VEC(int64_t) lines; /* where each stood */
    size_t bytes;
};

struct import {
    struct memories *m;
    struct memories_lines lines;
    const char *name;
    struct step step;
    int64_t stored;
};

/* --- a step ----------------------------------------------------------------------------------- */

static void step_clear(struct step *s)
{
    for (size_t i = 0; i < s->entries.len; i++)
        memory_entry_release(&s->entries.items[i]);
    vec_clear(&s->entries);
    vec_clear(&s->lines);
    s->bytes = 0;
}

static void step_release(struct step *s)
{
    step_clear(s);
    vec_release(&s->entries);
    vec_release(&s->lines);
}

static void step_add(struct step *s, const struct memory_entry *entry, int64_t line)
{
    vec_push(&s->entries, *entry);
    vec_push(&s->lines, line);
    s->bytes += strlen(entry->content);
}

static bool step_full(const struct step *s)
{
    return s->entries.len >= STEP_ENTRIES || s->bytes >= STEP_BYTES;
}

struct placed {
    struct memory_entry entry;
    int64_t line;
};

static int by_line(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    return (a->line > b->line) - (a->line < b->line);
}

static int by_session(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    int order = strcmp(a->entry.session_id, b->entry.session_id);
    return order ? order : by_line(left, right);
}

static void step_sort(struct step *s, int (*compare)(const void *, const void *))
{
    VEC(struct placed) order = {0};
    for (size_t i = 0; i < s->entries.len; i++)
        vec_push(&order, (struct placed){s->entries.items[i], s->lines.items[i]});
    if (order.len > 0)
        qsort(order.items, order.len, sizeof *order.items, compare);
    for (size_t i = 0; i < order.len; i++) {
        s->entries.items[i] = order.items[i].entry;
        s->lines.items[i] = order.items[i].line;
    }
    vec_release(&order);
}

/* --- keeping it ------------------------------------------------------------------------------- */

static bool fault_at(const struct import *in, int64_t line, const struct error *cause,
                     struct error *e)
{
    return err_set(e, cause->code, "%s:%lld: %s", in->name, (long long)line, cause->text);
}

static bool index_entries(const struct import *in, size_t first, size_t count, int64_t *stored,
                          struct error *e)
{
    struct memory_entry *entries = in->step.entries.items + first;
    int added = 0;
    if (!memories_store(in->m)->index(in->m->recall.memory, entries->session_id, 0, entries, count,
                                      &added, e))
        return false;
    *stored += added;
    return true;
}

static size_t same_session(const struct step *s, size_t first)
{
    const char *id = s->entries.items[first].session_id;
    size_t end = first + 1;
    while (end < s->entries.len && strcmp(s->entries.items[end].session_id, id) == 0)
        end++;
    return end - first;
}

static bool index_sessions(struct import *in, int64_t *stored, struct error *e)
{
    bool ok = true;
    step_sort(&in->step, by_session);
    for (size_t i = 0; ok && i < in->step.entries.len;) {
        size_t count = same_session(&in->step, i);
        ok = index_entries(in, i, count, stored, e);
        i += count;
    }
    return ok;
}

/* One after the other as they stand in the file, up to the one that is refused: `refused` says
 * where and why. False with `e` when the store failed. */
static bool index_each(struct import *in, int64_t *stored, struct error *refused, struct error *e)
{
    step_sort(&in->step, by_line);
    for (size_t i = 0; i < in->step.entries.len; i++) {
        struct error cause = {0};
        if (index_entries(in, i, 1, stored, &cause))
            continue;
        if (cause.code != ERR_USAGE)
            return err_set(e, cause.code, "%s", cause.text);
        fault_at(in, in->step.lines.items[i], &cause, refused);
        return true;
    }
    return true;
}

static bool end_step(struct import *in, int64_t stored, struct error *e)
{
    if (!store_commit(in->m->store, e))
        return false;
    in->stored += stored;
    return true;
}

static bool keep_up_to_refused(struct import *in, struct error *e)
{
    int64_t stored = 0;
    struct error refused = {0};
    if (!store_begin(in->m->store, e))
        return false;
    if (!index_each(in, &stored, &refused, e)) {
        store_rollback(in->m->store);
        return false;
    }
    return end_step(in, stored, e) &&
           (refused.code == ERR_OK || err_set(e, refused.code, "%s", refused.text));
}

static bool keep_step(struct import *in, struct error *e)
{
    int64_t stored = 0;
    struct error cause = {0};
    if (in->step.entries.len == 0)
        return true;
    if (!store_begin(in->m->store, e))
        return false;
    bool ok = index_sessions(in, &stored, &cause);
    if (ok) {
        ok = end_step(in, stored, e);
    } else {
        store_rollback(in->m->store);
        ok = cause.code == ERR_USAGE ? keep_up_to_refused(in, e)
                                     : err_set(e, cause.code, "%s", cause.text);
    }
    step_clear(&in->step);
    return ok;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_entry(const struct import *in, struct memory_entry *out, struct error *e)
{
    struct error cause = {0};
    struct json *v = json_parse_foreign(in->lines.line.data, in->lines.line.len, &cause);
    bool ok = v && memory_entry_read(v, out, &cause);
    json_free(v);
    cause.code = ERR_USAGE;
    return ok || fault_at(in, in->lines.number, &cause, e);
}

/* Reads until a step is full. *more: there may be further lines. */
static bool read_step(struct import *in, bool *more, struct error *e)
{
    struct error cause = {0};
    *more = true;
    while (!step_full(&in->step)) {
        struct memory_entry entry;
        switch (memories_lines_next(&in->lines, &cause)) {
        case LINES_NEXT:
            if (!read_entry(in, &entry, e))
                return false;
            step_add(&in->step, &entry, in->lines.number);
            break;
        case LINES_END:
            *more = false;
            return true;
        case LINES_BAD:
            return fault_at(in, in->lines.number, &cause, e);
        case LINES_FAILED:
            return err_set(e, cause.code, "%s: %s", in->name, cause.text);
        }
    }
    return true;
}

static bool import_all(struct import *in, const struct import_progress *progress, struct error *e)
{
    bool more = true;
    while (more) {
        struct error fault = {0};
        bool whole = read_step(in, &more, &fault);
        if (!keep_step(in, e))
            return false;
        if (!whole)
            return err_set(e, fault.code, "%s", fault.text);
        if (!progress->tell(progress->context, in->lines.number, in->stored) && more)
            return err_set(e, ERR_INTERRUPTED,
                           "stopped after line %lld; what was read is kept, and to import the "
                           "file again takes the rest",
                           (long long)in->lines.number);
    }
    return true;
}

bool memories_import(struct memories *m, FILE *in, const char *name,
                     const struct import_progress *progress, int64_t *lines, int64_t *stored,
                     struct error *e)
{
    struct import import = {.m = m, .name = name};
    memories_lines_init(&import.lines, in, LINE_BYTES);
    bool ok = import_all(&import, progress, e);
    *lines = import.lines.number;
    *stored = import.stored;
    step_release(&import.step);
    memories_lines_release(&import.lines);
    return ok;
}
