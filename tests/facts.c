#include "tests/facts.h"

#include "base/json_out.h"
#include "store/sql.h"
#include "tests/suite.h"

struct facts facts;
const struct graph_by facts_nobody;

void facts_open_store(void)
{
    facts.graph.language = "english";
    assert_ok(store_open(facts.path, STORE_READ_WRITE, &facts.graph.store, &facts.e), facts.e);
}

int facts_setup(void **state)
{
    support_setup(state);
    facts.path = support_path("tiro.db");
    facts.e = (struct error){0};
    facts_open_store();
    return 0;
}

int facts_teardown(void **state)
{
    store_close(facts.graph.store);
    return support_teardown(state);
}

/* --- calls, as JSON with ' for " --- */

void facts_parse(const struct shape *shape, const char *json, void *out)
{
    const char *text = support_json(json);
    assert_ok(support_shape(shape, text, out, &facts.e), facts.e);
}

/* Texts of a part alone: "Kyoto (city): big; old\nKyoto -lies in-> Japan\n?Rome\n" */
const char *facts_told(struct graph_part *p)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < p->entities.len; i++) {
        const struct graph_entity *n = &p->entities.items[i];
        buf_addf(&out, "%s (%s)", n->name, n->type);
        for (size_t k = 0; k < n->observations.len; k++)
            buf_addf(&out, "%s %s", k > 0 ? ";" : ":", n->observations.items[k].content);
        buf_addch(&out, '\n');
    }
    for (size_t i = 0; i < p->relations.len; i++)
        buf_addf(&out, "%s -%s-> %s\n", p->relations.items[i].from, p->relations.items[i].type,
                 p->relations.items[i].to);
    for (size_t i = 0; i < p->unknown.len; i++)
        buf_addf(&out, "?%s\n", p->unknown.items[i]);
    graph_part_release(p);
    return support_keep(buf_take(&out));
}

/* NULL: it failed, with `e`. */
const char *facts_create(const char *json)
{
    struct graph_create p = {0};
    struct graph_part made;
    facts_parse(&graph_create_shape, json, &p);
    bool ok = graph_create(&facts.graph, &p, &facts_nobody, &made, &facts.e);
    shape_release(&graph_create_shape, &p);
    return ok ? facts_told(&made) : NULL;
}

const char *facts_relate(const char *json)
{
    struct graph_relate p = {0};
    struct graph_part made;
    facts_parse(&graph_relate_shape, json, &p);
    bool ok = graph_relate(&facts.graph, &p, &facts_nobody, &made, &facts.e);
    shape_release(&graph_relate_shape, &p);
    return ok ? facts_told(&made) : NULL;
}

const char *facts_observe(const char *json)
{
    struct graph_observe p = {0};
    struct graph_added added;
    struct buf out = BUF_INIT;
    facts_parse(&graph_observe_shape, json, &p);
    bool ok = graph_observe(&facts.graph, &p, &facts_nobody, &added, &facts.e);
    shape_release(&graph_observe_shape, &p);
    if (!ok)
        return NULL;
    for (size_t i = 0; i < added.items.len; i++) {
        buf_addstr(&out, added.items.items[i].entity);
        for (size_t k = 0; k < added.items.items[i].added.len; k++)
            buf_addf(&out, "+%s", added.items.items[i].added.items[k]);
        buf_addch(&out, '\n');
    }
    shape_release(&graph_added_shape, &added);
    return support_keep(buf_take(&out));
}

bool facts_delete_entities(const char *json, struct graph_part *gone)
{
    struct graph_names p = {0};
    facts_parse(&graph_entity_names_shape, json, &p);
    bool ok = graph_delete_entities(&facts.graph, &p, gone, &facts.e);
    shape_release(&graph_entity_names_shape, &p);
    return ok;
}

bool facts_delete_observations(const char *json, struct graph_part *gone)
{
    struct graph_unobserve p = {0};
    facts_parse(&graph_unobserve_shape, json, &p);
    bool ok = graph_delete_observations(&facts.graph, &p, gone, &facts.e);
    shape_release(&graph_unobserve_shape, &p);
    return ok;
}

bool facts_delete_relations(const char *json, struct graph_part *gone)
{
    struct graph_relate p = {0};
    facts_parse(&graph_relate_shape, json, &p);
    bool ok = graph_delete_relations(&facts.graph, &p, gone, &facts.e);
    shape_release(&graph_relate_shape, &p);
    return ok;
}

void facts_refused(const void *result, enum err_code code, const char *part)
{
    assert_null(result);
    assert_int_equal(facts.e.code, code);
    if (!strstr(facts.e.text, part))
        fail_msg("\"%s\" is not in: %s", part, facts.e.text);
}

void facts_sql(const char *sql)
{
    assert_ok(store_exec(facts.graph.store, sql, &facts.e), facts.e);
}

const char *facts_search(const char *query)
{
    const struct graph_search search = {.query = query, .limit = GRAPH_FOUND};
    struct graph_part found;
    assert_ok(graph_search(&facts.graph, &search, &found, &facts.e), facts.e);
    return facts_told(&found);
}

const char *facts_open_names(const char *json)
{
    struct graph_names p = {0};
    struct graph_part found;
    facts_parse(&graph_names_shape, json, &p);
    assert_ok(graph_open(&facts.graph, &p, &found, &facts.e), facts.e);
    shape_release(&graph_names_shape, &p);
    return facts_told(&found);
}

static bool keep_line(void *out, const char *line, size_t len, struct error *error)
{
    (void)error;
    buf_add(out, line, len);
    return true;
}

char *facts_lines(void)
{
    struct buf out = BUF_INIT;
    struct graph_counts counts;
    assert_ok(graph_export(&facts.graph, keep_line, &out, &counts, &facts.e), facts.e);
    return support_keep(buf_take(&out));
}

/* The line of the fault; 0: there was none. */
int64_t facts_import(const char *text)
{
    bool ok = true;
    int64_t line = 0;
    struct graph_import *in = graph_import_begin(&facts.graph);
    while (ok && *text) {
        size_t len = strcspn(text, "\n");
        ok = graph_import_line(in, ++line, text, len, &facts.e);
        text += len + (text[len] == '\n');
    }
    ok = ok && graph_import_end(in, NULL, NULL, &line, &facts.e);
    graph_import_free(in);
    return ok ? 0 : line > 0 ? line : -1;
}

int64_t facts_number(const char *sql)
{
    int64_t n = -1;
    assert_ok(store_number(facts.graph.store, sql, &n, &facts.e), facts.e);
    return n;
}

void facts_kyoto(void)
{
    assert_string_equal(
        facts_create(
            "{'entities':[{'name':'Kyoto','entity_type':'city','observations':['has ryokans by "
            "the river','was the capital']},{'name':'Japan','entity_type':'country'},"
            "{'name':'Ada','entity_type':'person','observations':['likes Kyoto in autumn']}]}"),
        "Kyoto (city): has ryokans by the river; was the capital\nJapan (country)\n"
        "Ada (person): likes Kyoto in autumn\n");
    assert_string_equal(
        facts_relate("{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'},"
                     "{'from':'Ada','to':'Kyoto','relation_type':'visits'}]}"),
        "Kyoto -lies in-> Japan\nAda -visits-> Kyoto\n");
}

static const char *random_text(uint64_t *seed, size_t most)
{
    static const char *const parts[] = {"a", "Z",  " ", "ß",    "東", "é", "\\", "\"",
                                        "'", "x ", "/", "🙂", "7",  "-", "{",  "line\n"};
    struct buf out = BUF_INIT;
    buf_addch(&out, 'o');
    size_t count = support_random(seed) % most;
    for (size_t i = 0; i < count; i++)
        buf_addstr(&out, parts[support_random(seed) % (sizeof parts / sizeof *parts)]);
    buf_addch(&out, 'o');
    return support_keep(buf_take(&out));
}

void facts_make_random(uint64_t *seed, int entities)
{
    for (int i = 0; i < entities; i++) {
        struct graph_create p = {0};
        struct graph_part made;
        struct graph_new_entity n = {.name = support_text("n%d", i), .type = "kind"};
        for (uint64_t k = support_random(seed) % 6; k > 0; k--)
            vec_push(&n.observations, random_text(seed, 40));
        vec_push(&p.entities, n);
        assert_true(graph_create(&facts.graph, &p, &facts_nobody, &made, &facts.e));
        graph_part_release(&made);
        vec_release(&p.entities.items[0].observations);
        vec_release(&p.entities);
        struct graph_relate r = {0};
        vec_push(&r.relations,
                 (struct graph_new_relation){
                     n.name, support_text("n%d", (int)(support_random(seed) % (uint64_t)(i + 1))),
                     support_text("r%d", (int)(support_random(seed) % 3))});
        assert_true(graph_relate(&facts.graph, &r, &facts_nobody, &made, &facts.e));
        graph_part_release(&made);
        vec_release(&r.relations);
    }
}

/* Exported, imported into another database, exported again: the same lines. */
