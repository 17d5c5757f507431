#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/verb.h"
#include "ui/app/lines.h"
#include "ui/text/format.h"

/* --- graph list ------------------------------------------------------------------------------- */

enum { NAME_LEAST = 16, TYPE_LEAST = 8, PAGE = 20 };

static const struct grid_column columns[] = {
    {.shrink = NAME_LEAST, .first = true}, {.shrink = TYPE_LEAST}, {0}, {0}};

static void print_rows(const struct graph_part *part, size_t count)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct grid g = GRID(columns);
    for (size_t i = 0; i < count; i++) {
        const struct graph_entity *n = &part->entities.items[i];
        grid_add(&g, n->name);
        grid_add(&g, n->type);
        buf_clear(&text);
        buf_addf(&text, "%d %s", n->observed,
                 ngettext("observation", "observations", (unsigned long)n->observed));
        grid_add(&g, text.data);
        buf_clear(&text);
        buf_addf(&text, "%d %s", n->relations,
                 ngettext("relation", "relations", (unsigned long)n->relations));
        grid_add(&g, text.data);
    }
    grid_print(&g);
}

static void print_list(const struct verb_call *v, const void *result)
{
    const struct graph_part *part = result;
    bool more = v->page && part->entities.len > PAGE;
    if (part->entities.len == 0)
        fprintf(stderr, "%s\n",
                _("the graph is empty; the model's tools, tiro graph add and tiro graph import add "
                  "to it"));
    else
        print_rows(part, more ? PAGE : part->entities.len);
    fflush(stdout);
    if (more)
        fprintf(stderr, _("only the first %d are shown; --limit N shows more\n"), PAGE);
}

/* Without --limit, a terminal shows one page; a pipe or a file gets everything. */
static bool run_list(struct verb_call *v, struct error *e)
{
    struct graph_list_params *p = v->params;
    v->page = p->limit == 0 && !v->json && isatty(STDOUT_FILENO);
    p->limit = v->page ? PAGE + 1 : p->limit;
    return verb_call(v, e);
}

/* --- search and show -------------------------------------------------------------------------- */

static void print_part(const struct graph_part *part)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    lines_graph(&text, part);
    fwrite(text.data, 1, text.len, stdout);
}

static void print_found(const struct verb_call *v, const void *result)
{
    const struct graph_part *part = result;
    (void)v;
    if (part->entities.len == 0)
        fprintf(stderr, "%s\n", _("no matches in the graph"));
    else
        print_part(part);
}

static bool run_show(struct verb_call *v, struct error *e)
{
    AUTO(graph_part_release) struct graph_part part = {0};
    if (!operation_call(v->context, &operation_graph_open, v->params, &part, e))
        return false;
    if (v->json)
        verb_print_json(&operation_graph_open, NULL, &part);
    else
        print_part(&part);
    return (part.unknown.len == 0 && part.entities.len > 0) ||
           err_set(e, ERR_MEMORY_NOT_FOUND,
                   _("there is no entity \"%.80s\"; tiro graph list shows their names"),
                   part.unknown.len > 0 ? part.unknown.items[0] : v->words.items[0]);
}

/* --- add and relate --------------------------------------------------------------------------- */

/* Creates the entity with its observations, all or nothing, unless the entity exists. */
static bool create(const struct verb_call *v, bool *is_new, size_t *added, struct error *e)
{
    struct graph_new_entity entity = {.name = v->words.items[0],
                                      .type = v->kind ? v->kind : "thing"};
    for (size_t i = 1; i < v->words.len; i++)
        vec_push(&entity.observations, v->words.items[i]);
    const struct graph_create params = {.entities = {.items = &entity, .len = 1}};
    struct graph_part created = {0};
    bool ok = operation_call(v->context, &operation_graph_create, &params, &created, e);
    *is_new = created.entities.len > 0;
    *added = *is_new ? created.entities.items[0].observations.len : 0;
    graph_part_release(&created);
    vec_release(&entity.observations);
    return ok;
}

/* The entity is the first word, its observations are the others. The caller releases them. */
static struct graph_new_observations observations_of(const struct verb_call *v)
{
    struct graph_new_observations n = {.entity = v->words.items[0]};
    for (size_t i = 1; i < v->words.len; i++)
        vec_push(&n.contents, v->words.items[i]);
    return n;
}

static bool observe(const struct verb_call *v, size_t *added, struct error *e)
{
    struct graph_new_observations observations = observations_of(v);
    const struct graph_observe params = {.observations = {.items = &observations, .len = 1}};
    struct graph_added result = {0};
    bool ok = operation_call(v->context, &operation_graph_observe, &params, &result, e);
    for (size_t i = 0; i < result.items.len; i++)
        *added += result.items.items[i].added.len;
    shape_release(&graph_added_shape, &result);
    vec_release(&observations.contents);
    return ok;
}

static bool run_add(struct verb_call *v, struct error *e)
{
    size_t added;
    bool is_new;
    if (!create(v, &is_new, &added, e) || (!is_new && v->words.len > 1 && !observe(v, &added, e)))
        return false;
    if (is_new)
        puts(_("1 entity created"));
    else if (v->kind)
        fprintf(stderr, "%s\n", _("the entity exists already; its type stays"));
    if (v->words.len > 1 || !is_new)
        printf(
            ngettext("%zu observation added\n", "%zu observations added\n", (unsigned long)added),
            added);
    return true;
}

static const struct option add_options[] = {
    {"type", 't', OPTION_VALUE, "TYPE", N_("type of a new entity (default thing)"), VERB_AT(kind)},
    {0}};

static struct graph_new_relation relation_of(const struct verb_call *v)
{
    return (struct graph_new_relation){.from = v->words.items[0],
                                       .type = v->relation ? v->relation : v->words.items[1],
                                       .to = v->to ? v->to : v->words.items[2]};
}

static bool run_relate(struct verb_call *v, struct error *e)
{
    struct graph_new_relation relation = relation_of(v);
    const struct graph_relate params = {.relations = {.items = &relation, .len = 1}};
    AUTO(graph_part_release) struct graph_part created = {0};
    if (!operation_call(v->context, &operation_graph_relate, &params, &created, e))
        return false;
    puts(created.relations.len > 0 ? _("1 relation created") : _("the relation exists already"));
    return true;
}

/* --- forget ----------------------------------------------------------------------------------- */

static bool run_forget(struct verb_call *v, struct error *e)
{
    AUTO(buf_release) struct buf question = BUF_INIT;
    struct graph_counts gone;
    bool ok;
    if (!v->relation != !v->to || (v->relation && v->words.len > 1))
        return err_set(e, ERR_USAGE, _("a relation needs exactly --relation TYPE and --to NAME"));
    utf8_clean(&question, v->words.items[0], strlen(v->words.items[0]), UTF8_ONE_LINE);
    buf_addf(&question, ": %s",
             v->relation ? _("delete this relation for good? [y/N] ")
             : v->words.len > 1
                 ? _("delete these observations for good? [y/N] ")
                 : _("delete the entity, its observations and relations for good? [y/N] "));
    if (!verb_may_delete(v, &question, e))
        return false;
    if (v->relation) {
        struct graph_new_relation relation = relation_of(v);
        const struct graph_relate params = {.relations = {.items = &relation, .len = 1}};
        ok = operation_call(v->context, &operation_graph_unrelate, &params, &gone, e);
    } else if (v->words.len > 1) {
        struct graph_new_observations words = observations_of(v);
        const struct graph_unobserve params = {.deletions = {.items = &words, .len = 1}};
        ok = operation_call(v->context, &operation_graph_unobserve, &params, &gone, e);
        vec_release(&words.contents);
    } else {
        const struct graph_names params = {.names = {.items = v->words.items, .len = v->words.len}};
        ok = operation_call(v->context, &operation_graph_delete, &params, &gone, e);
    }
    if (ok)
        printf(_("deleted: entities %lld, observations %lld, relations %lld\n"),
               (long long)gone.entities, (long long)gone.observations, (long long)gone.relations);
    return ok;
}

static const struct option forget_options[] = {
    {"relation", 0, OPTION_VALUE, "TYPE", N_("delete the relation of this type"),
     VERB_AT(relation)},
    {"to", 0, OPTION_VALUE, "NAME", N_("… and that leads to this entity"), VERB_AT(to)},
    {0}};

/* --- import ----------------------------------------------------------------------------------- */

static void print_imported(const struct verb_call *v, const void *result)
{
    const struct graph_counts *added = result;
    (void)v;
    printf(_("added: entities %lld, observations %lld, relations %lld\n"),
           (long long)added->entities, (long long)added->observations, (long long)added->relations);
    if (added->made > 0)
        printf(_("%lld of these entities are named by relations alone; they have the type "
                 "\"unknown\"\n"),
               (long long)added->made);
}

/* --- the command --- */

static const struct verb_more more[] = {
    {&operation_graph_list, .run = run_list, .print = print_list, .member = "entities"},
    {&operation_graph_search, .print = print_found},
    {&operation_graph_open, .options = verb_json_options, .run = run_show},
    {&operation_graph_create, .options = add_options, .most = GRAPH_OBSERVATIONS + 1,
     .run = run_add},
    {&operation_graph_relate, .run = run_relate},
    {&operation_graph_delete, .options = forget_options, .most = GRAPH_OBSERVATIONS + 1,
     .asks = true, .run = run_forget},
    {&operation_graph_export, .options = verb_export_options},
    {&operation_graph_import, .print = print_imported},
    {&operation_graph_stats, .print = verb_print_figures},
    {0},
};

VERB_GROUP(graph, "[NAME]", N_("search, list and change the graph of facts"),
           N_("The default command is list. For details: tiro graph COMMAND --help."))
