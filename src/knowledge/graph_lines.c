/* The graph as lines of JSON (graph.h has the form). An import reads all lines, checked and cleaned
 * in memory, and then writes them in steps. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "knowledge/graph_private.h"

/* Others who write wait for one step at most. */
enum { STEP_LINES = 1000, STEP_BYTES = 1024 * 1024 };

struct graph_import {
    const struct graph *g;
    VEC(struct entity_line {
        struct graph_line_entity entity;
        int64_t number;
        size_t bytes;
    })
    entities;
    VEC(struct relation_line {
        struct graph_line_relation relation;
        int64_t number;
    })
    relations;
    size_t bytes; /* of all lines */
    struct graph_counts counts;
};

struct graph_import *graph_import_begin(const struct graph *g)
{
    struct graph_import *in = mem_alloc(sizeof *in);
    *in = (struct graph_import){.g = g};
    return in;
}

void graph_import_free(struct graph_import *in)
{
    if (!in)
        return;
    for (size_t i = 0; i < in->entities.len; i++)
        shape_release(&graph_line_entity_shape, &in->entities.items[i].entity);
    for (size_t i = 0; i < in->relations.len; i++)
        shape_release(&graph_line_relation_shape, &in->relations.items[i].relation);
    vec_release(&in->entities);
    vec_release(&in->relations);
    free(in);
}

struct graph_counts graph_import_counts(const struct graph_import *in)
{
    return in->counts;
}

/* --- a line ----------------------------------------------------------------------------------- */

/* `clean` takes the place of the text. False: it is NULL. */
static bool replace(char **text, char *clean)
{
    if (!clean)
        return false;
    free(*text);
    *text = clean;
    return true;
}

static bool clean_line(char **text, size_t most, const char *member, struct error *e)
{
    return replace(text, graph_clean_line(*text, most, member, e));
}

static bool take_entity(struct graph_import *in, int64_t number, size_t bytes, const struct json *v,
                        struct error *e)
{
    struct entity_line line = {.number = number, .bytes = bytes};
    struct graph_line_entity *n = &line.entity;
    struct graph_load load = {0};
    if (!shape_read(&graph_line_entity_shape, v, n, e))
        return false;
    bool ok = clean_line(&n->name, GRAPH_NAME_BYTES, "name", e) &&
              clean_line(&n->type, GRAPH_TYPE_BYTES, "entityType", e);
    for (size_t i = 0; i < n->observations.len && ok; i++) {
        char **text = &n->observations.items[i];
        auto_free char *path = mem_printf("observations[%zu]", i);
        ok = replace(text, graph_clean_text(*text, path, e)) &&
             graph_load_add(&load, *text, path, e);
    }
    if (ok && in->entities.len >= GRAPH_ENTITIES)
        ok = err_set(e, ERR_USAGE,
                     "the graph can have %d entities, and there are more; take some out",
                     GRAPH_ENTITIES);
    if (ok)
        vec_push(&in->entities, line);
    else
        shape_release(&graph_line_entity_shape, n);
    return ok;
}

static bool take_relation(struct graph_import *in, int64_t number, const struct json *v,
                          struct error *e)
{
    struct relation_line line = {.number = number};
    struct graph_line_relation *r = &line.relation;
    if (!shape_read(&graph_line_relation_shape, v, r, e))
        return false;
    bool ok = clean_line(&r->from, GRAPH_NAME_BYTES, "from", e) &&
              clean_line(&r->to, GRAPH_NAME_BYTES, "to", e) &&
              clean_line(&r->type, GRAPH_TYPE_BYTES, "relationType", e);
    if (ok && in->relations.len >= GRAPH_RELATIONS)
        ok = err_set(e, ERR_USAGE,
                     "the graph can have %d relations, and there are more; take some out",
                     GRAPH_RELATIONS);
    if (ok)
        vec_push(&in->relations, line);
    else
        shape_release(&graph_line_relation_shape, r);
    return ok;
}

bool graph_import_line(struct graph_import *in, int64_t number, const char *text, size_t len,
                       struct error *e)
{
    in->bytes += len;
    if (in->bytes > GRAPH_IMPORT_BYTES)
        return err_set(e, ERR_USAGE, "the text is longer than %d bytes; divide it",
                       GRAPH_IMPORT_BYTES);
    struct json *v = json_parse_foreign(text, len, e);
    const char *type = v ? json_get_string(v, "type") : NULL;
    bool ok = v != NULL;
    if (ok && type && strcmp(type, "entity") == 0)
        ok = take_entity(in, number, len, v, e);
    else if (ok && type && strcmp(type, "relation") == 0)
        ok = take_relation(in, number, v, e);
    else if (ok)
        ok = err_set(e, ERR_USAGE, "\"type\" does not fit; give \"entity\" or \"relation\"");
    json_free(v);
    return ok;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* An entity that is known stays, and gets the new observations. */
static bool put_entity(const struct graph_import *in, const struct graph_line_entity *n,
                       struct graph_counts *counts, struct error *e)
{
    const struct graph_source source = {.created_ms = clock_wall_ms()};
    bool is_new = false;
    struct graph_load load;
    int64_t key;
    if (!graph_put_entity(in->g, n->name, n->type, &source, &key, &is_new, e) ||
        (!is_new && !graph_unindex(in->g->store, key, e)) ||
        !graph_load_of(in->g->store, key, &load, e))
        return false;
    counts->entities += is_new;
    for (size_t i = 0; i < n->observations.len; i++) {
        auto_free char *path = mem_printf("observations[%zu]", i);
        if (!graph_put_observation(in->g, key, n->observations.items[i], &source, &load, path,
                                   &is_new, e))
            return false;
        counts->observations += is_new;
    }
    return graph_index(in->g, key, e);
}

/* server-memory does not need the ends of a relation to exist: one that is missing is made. */
static bool put_relation(const struct graph_import *in, const struct graph_line_relation *r,
                         struct graph_counts *counts, struct error *e)
{
    const struct graph_source source = {.created_ms = clock_wall_ms()};
    bool is_new = false;
    const char *const names[] = {r->from, r->to};
    int64_t ends[2];
    for (int i = 0; i < 2; i++) {
        if (!graph_put_entity(in->g, names[i], GRAPH_TYPE_UNKNOWN, &source, &ends[i], &is_new, e) ||
            (is_new && !graph_index(in->g, ends[i], e)))
            return false;
        counts->entities += is_new;
        counts->made += is_new;
    }
    bool ok = graph_put_relation(in->g, ends[0], ends[1], r->type, &source, &is_new, e);
    counts->relations += is_new;
    return ok;
}

/* Writes some lines from *place on: the entities come first, then the relations. */
static bool write_step(struct graph_import *in, size_t *place, int64_t *line, struct error *e)
{
    const size_t all = in->entities.len + in->relations.len, first = *place;
    struct graph_counts counts = in->counts;
    size_t bytes = 0;
    bool began, ok = true;
    if (!store_enter(in->g->store, &began, e))
        return false;
    while (ok && *place < all && *place - first < STEP_LINES && bytes < STEP_BYTES) {
        size_t at = (*place)++;
        if (at < in->entities.len) {
            const struct entity_line *n = &in->entities.items[at];
            *line = n->number;
            bytes += n->bytes;
            ok = put_entity(in, &n->entity, &counts, e);
        } else {
            const struct relation_line *r = &in->relations.items[at - in->entities.len];
            *line = r->number;
            ok = put_relation(in, &r->relation, &counts, e);
        }
    }
    ok = store_leave(in->g->store, began, ok, e);
    if (ok)
        in->counts = counts;
    return ok;
}

bool graph_import_end(struct graph_import *in,
                      bool (*go_on)(void *context, int64_t done, int64_t of), void *context,
                      int64_t *line, struct error *e)
{
    const size_t all = in->entities.len + in->relations.len;
    size_t place = 0;
    bool ok = true;
    *line = 0;
    while (ok && place < all) {
        *line = 0;
        ok = (!go_on || go_on(context, (int64_t)place, (int64_t)all) ||
              err_set(e, ERR_INTERRUPTED, "stopped")) &&
             write_step(in, &place, line, e);
    }
    return ok;
}

/* --- export ----------------------------------------------------------------------------------- */

struct export
{
    const struct graph *g;
    bool (*write)(void *context, const char *line, size_t len, struct error *e);
    void *context;
    struct buf line;
    struct graph_counts counts;
};

static bool write_line(struct export *x, struct error *e)
{
    buf_addch(&x->line, '\n');
    bool ok = x->write(x->context, x->line.data, x->line.len, e);
    buf_clear(&x->line);
    return ok;
}

static bool write_entity(struct export *x, int64_t key, struct error *e)
{
    struct graph_entity entity;
    struct json_out o = {.buf = &x->line};
    if (!graph_read_entity(x->g->store, key, true, &entity, e))
        return false;
    json_out_open(&o, '{');
    json_out_pack(&o, "type:'entity' name:s entityType:s", entity.name, entity.type);
    json_out_name(&o, "observations");
    json_out_open(&o, '[');
    for (size_t i = 0; i < entity.observations.len; i++)
        json_out_string(&o, entity.observations.items[i].content);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    x->counts.entities++;
    x->counts.observations += (int64_t)entity.observations.len;
    shape_release(&graph_entity_shape, &entity);
    return write_line(x, e);
}

bool graph_export(const struct graph *g,
                  bool (*write)(void *context, const char *line, size_t len, struct error *e),
                  void *context, struct graph_counts *out, struct error *e)
{
    struct export x = {.g = g, .write = write, .context = context, .line = BUF_INIT};
    bool began, ok = store_step_begin(g->store, &began, e);
    *out = x.counts;
    if (!ok)
        return false;
    struct query q = sql_query(g->store, e, "SELECT key FROM graph_entry ORDER BY key", "");
    while (ok && query_next(&q))
        ok = write_entity(&x, sqlite3_column_int64(q.handle, 0), e);
    ok = query_end(&q) && ok;
    struct query r = sql_query(g->store, e,
                               "SELECT a.name, b.name, r.type FROM graph_relation AS r"
                               " CROSS JOIN graph_entry AS a ON a.key = source"
                               " CROSS JOIN graph_entry AS b ON b.key = target ORDER BY r.number",
                               "");
    while (ok && query_next(&r)) {
        struct json_out o = {.buf = &x.line};
        json_out_pack(&o, "{type:'relation' from:s to:s relationType:s}",
                      (const char *)sqlite3_column_text(r.handle, 0),
                      (const char *)sqlite3_column_text(r.handle, 1),
                      (const char *)sqlite3_column_text(r.handle, 2));
        x.counts.relations++;
        ok = write_line(&x, e);
    }
    ok = store_step_end(g->store, began, query_end(&r) && ok, e);
    buf_release(&x.line);
    *out = x.counts;
    return ok;
}
