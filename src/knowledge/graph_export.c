/* The graph written as lines of JSON (graph.h says in which form). */
#include "base/json_out.h"
#include "knowledge/graph_private.h"

struct export
{
    const struct graph *g;
    bool (*write)(void *context, const char *line, size_t len, struct error *e);
    void *context;
    struct buf line;
    struct graph_counts counts;
};

static bool end_line(struct export *x, struct json_out *o, struct error *e)
{
    json_out_close(o, '}');
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
    json_out_member(&o, "type", "entity");
    json_out_member(&o, "name", entity.name);
    json_out_member(&o, "entityType", entity.type);
    json_out_name(&o, "observations");
    json_out_open(&o, '[');
    for (size_t i = 0; i < entity.observations.len; i++)
        json_out_string(&o, entity.observations.items[i].content);
    json_out_close(&o, ']');
    x->counts.entities++;
    x->counts.observations += (int64_t)entity.observations.len;
    shape_release(&graph_entity_shape, &entity);
    return end_line(x, &o, e);
}

static bool write_entities(struct export *x, struct error *e)
{
    struct query q = query_begin(x->g->store, "SELECT key FROM graph_entry ORDER BY key", e);
    bool ok = true;
    while (ok && query_next(&q))
        ok = write_entity(x, sqlite3_column_int64(q.handle, 0), e);
    return query_end(&q) && ok;
}

static bool write_relations(struct export *x, struct error *e)
{
    static const char sql[] =
        "SELECT a.name, b.name, r.type FROM graph_relation AS r"
        " CROSS JOIN graph_entry AS a ON a.key = source"
        " CROSS JOIN graph_entry AS b ON b.key = target ORDER BY r.number";
    static const char *const names[] = {"from", "to", "relationType"};
    struct query q = query_begin(x->g->store, sql, e);
    bool ok = true;
    while (ok && query_next(&q)) {
        struct json_out o = {.buf = &x->line};
        json_out_open(&o, '{');
        json_out_member(&o, "type", "relation");
        for (int i = 0; i < 3; i++)
            json_out_member(&o, names[i], (const char *)sqlite3_column_text(q.handle, i));
        x->counts.relations++;
        ok = end_line(x, &o, e);
    }
    return query_end(&q) && ok;
}

bool graph_export(const struct graph *g,
                  bool (*write)(void *context, const char *line, size_t len, struct error *e),
                  void *context, struct graph_counts *out, struct error *e)
{
    struct export x = {.g = g, .write = write, .context = context, .line = BUF_INIT};
    bool began;
    bool ok = store_step_begin(g->store, &began, e) &&
              store_step_end(g->store, began, write_entities(&x, e) && write_relations(&x, e), e);
    buf_release(&x.line);
    *out = x.counts;
    return ok;
}
