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

/* Without --limit, a terminal shows one page; a pipe or a file gets everything. */
static bool run_list(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    bool page = o->limit == 0 && !o->json && isatty(STDOUT_FILENO);
    const struct graph_list_params params = {.limit = page ? PAGE + 1 : o->limit};
    AUTO(graph_part_release) struct graph_part part = {0};
    if (!operation_call(c, &operation_graph_list, &params, &part, e))
        return false;
    size_t count = part.entities.len;
    bool more = page && count > PAGE;
    if (o->json) {
        verb_print_json(&operation_graph_list, "entities", &part);
    } else if (count == 0) {
        fprintf(stderr, "%s\n",
                _("the graph is empty; the model's tools, tiro graph add and tiro graph import add "
                  "to it"));
    } else {
        print_rows(&part, more ? PAGE : count);
        fflush(stdout);
        if (more)
            fprintf(stderr, _("only the first %d are shown; --limit N shows more\n"), PAGE);
    }
    return true;
}

static const struct option list_options[] = {
    VERB_LIMIT('n', N_("at most N entities")), VERB_JSON, {0}};

static const struct verb verb_graph_list = VERB(
    operation_graph_list, run_list, .name = "list", .synopsis = "graph list [--limit N] [--json]",
    .help = N_("list the entities by name"), .options = list_options);

/* --- search and show -------------------------------------------------------------------------- */

static void add_text(struct buf *out, const char *before, const char *text, const char *after)
{
    buf_addstr(out, before);
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
    buf_addstr(out, after);
}

static void add_source(struct buf *out, const struct graph_source *s)
{
    buf_addstr(out, "  [");
    output_time(out, s->created_ms);
    if (s->session_id && s->deleted)
        buf_addf(out, ", %s", _("its session was deleted"));
    else if (s->session_id)
        buf_addf(out, ", %s %s", _("session"), output_short_id(s->session_id));
    buf_addstr(out, "]\n");
}

static void print_part(const struct graph_part *part)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (size_t i = 0; i < part->entities.len; i++) {
        const struct graph_entity *n = &part->entities.items[i];
        add_text(&text, "", n->name, "");
        add_text(&text, " (", n->type, ")");
        add_source(&text, &n->source);
        for (size_t k = 0; k < n->observations.len; k++) {
            add_text(&text, "  - ", n->observations.items[k].content, "");
            add_source(&text, &n->observations.items[k].source);
        }
    }
    if (part->relations.len > 0 && part->entities.len > 0)
        buf_addch(&text, '\n');
    for (size_t i = 0; i < part->relations.len; i++) {
        const struct graph_relation *r = &part->relations.items[i];
        add_text(&text, "", r->from, " -- ");
        add_text(&text, "", r->type, " -> ");
        add_text(&text, "", r->to, "\n");
    }
    if (part->relations_left > 0)
        buf_addf(&text,
                 ngettext("and %lld more relation\n", "and %lld more relations\n",
                          (unsigned long)part->relations_left),
                 (long long)part->relations_left);
    fwrite(text.data, 1, text.len, stdout);
}

static void print_found(const void *result)
{
    const struct graph_part *part = result;
    if (part->entities.len == 0)
        fprintf(stderr, "%s\n", _("no matches in the graph"));
    else
        print_part(part);
}

static bool run_search(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    auto_free char *query = verb_join(o, 0);
    const struct graph_search params = {.query = query,
                                        .limit = o->limit > 0 ? o->limit : GRAPH_FOUND};
    return verb_show(c, o, &operation_graph_search, &params, NULL, print_found, e);
}

static const struct option search_options[] = {
    VERB_LIMIT('n', N_("at most N entities (default 20)")), VERB_JSON, {0}};

static const struct verb verb_graph_search =
    VERB(operation_graph_search, run_search, .name = "search",
         .synopsis = "graph search [--limit N] [--json] QUERY...",
         .help = N_("search by words, or by a part of a text"), .options = search_options,
         VERB_WORDS(1, CLI_MANY, OFFER_NOTHING), .dashes = true);

static bool run_show(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    AUTO(vec_release_local) struct graph_names params = {0};
    AUTO(graph_part_release) struct graph_part part = {0};
    for (size_t i = 0; i < o->words.len; i++)
        vec_push(&params.names, o->words.items[i]);
    if (!operation_call(c, &operation_graph_open, &params, &part, e))
        return false;
    if (o->json)
        verb_print_json(&operation_graph_open, NULL, &part);
    else
        print_part(&part);
    return (part.unknown.len == 0 && part.entities.len > 0) ||
           err_set(e, ERR_MEMORY_NOT_FOUND,
                   _("there is no entity \"%.80s\"; tiro graph list shows their names"),
                   part.unknown.len > 0 ? part.unknown.items[0] : o->words.items[0]);
}

static const struct verb verb_graph_show =
    VERB(operation_graph_open, run_show, .name = "show", .synopsis = "graph show [--json] NAME...",
         .help = N_("show entities with observations, relations and sources"),
         .options = verb_json_options, VERB_WORDS(1, GRAPH_BATCH, OFFER_NOTHING));

/* --- stats ------------------------------------------------------------------------------------ */

static void print_stats(const void *result)
{
    const struct graph_stats *s = result;
    const struct {
        const char *name;
        int64_t count;
    } rows[] = {{_("entities"), s->entities},
                {_("observations"), s->observations},
                {_("relations"), s->relations},
                {_("observations whose session was deleted"), s->orphans},
                {_("bytes"), s->bytes}};
    static const struct grid_column two[] = {{.shrink = NAME_LEAST}, {.right = true}};
    struct grid g = GRID(two);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(buf_release) struct buf number = BUF_INIT;
        format_exact(&number, rows[i].count);
        grid_add(&g, rows[i].name);
        grid_add(&g, number.data);
    }
    grid_print(&g);
}

static bool run_stats(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    return verb_show(c, o, &operation_graph_stats, NULL, NULL, print_stats, e);
}

static const struct verb verb_graph_stats =
    VERB(operation_graph_stats, run_stats, .name = "stats", .synopsis = "graph stats [--json]",
         .help = N_("show the size of the graph"), .options = verb_json_options);

static bool run_reindex(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    (void)o;
    return operation_call(c, &operation_graph_reindex, NULL, NULL, e);
}

static const struct verb verb_graph_reindex =
    VERB(operation_graph_reindex, run_reindex, .name = "reindex", .synopsis = "graph reindex",
         .help = N_("rebuild the graph's word index in the configured language"));

/* --- add and relate --------------------------------------------------------------------------- */

/* Creates the entity with its observations, all or nothing, unless the entity exists. */
static bool create(struct operation_context *c, const struct verb_options *o, bool *is_new,
                   size_t *added, struct error *e)
{
    struct graph_new_entity entity = {.name = o->words.items[0],
                                      .type = o->kind ? o->kind : "thing"};
    for (size_t i = 1; i < o->words.len; i++)
        vec_push(&entity.observations, o->words.items[i]);
    const struct graph_create params = {.entities = {.items = &entity, .len = 1}};
    struct graph_part created = {0};
    bool ok = operation_call(c, &operation_graph_create, &params, &created, e);
    *is_new = created.entities.len > 0;
    *added = *is_new ? created.entities.items[0].observations.len : 0;
    graph_part_release(&created);
    vec_release(&entity.observations);
    return ok;
}

/* The entity is the first word, its observations are the others. The caller releases them. */
static struct graph_new_observations observations_of(const struct verb_options *o)
{
    struct graph_new_observations n = {.entity = o->words.items[0]};
    for (size_t i = 1; i < o->words.len; i++)
        vec_push(&n.contents, o->words.items[i]);
    return n;
}

static bool observe(struct operation_context *c, const struct verb_options *o, size_t *added,
                    struct error *e)
{
    struct graph_new_observations observations = observations_of(o);
    const struct graph_observe params = {.observations = {.items = &observations, .len = 1}};
    struct graph_added result = {0};
    bool ok = operation_call(c, &operation_graph_observe, &params, &result, e);
    for (size_t i = 0; i < result.items.len; i++)
        *added += result.items.items[i].added.len;
    shape_release(&graph_added_shape, &result);
    vec_release(&observations.contents);
    return ok;
}

static bool run_add(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    size_t added;
    bool is_new;
    if (!create(c, o, &is_new, &added, e) ||
        (!is_new && o->words.len > 1 && !observe(c, o, &added, e)))
        return false;
    if (is_new)
        puts(_("1 entity created"));
    else if (o->kind)
        fprintf(stderr, "%s\n", _("the entity exists already; its type stays"));
    if (o->words.len > 1 || !is_new)
        printf(
            ngettext("%zu observation added\n", "%zu observations added\n", (unsigned long)added),
            added);
    return true;
}

static const struct option add_options[] = {
    {"type", 't', OPTION_VALUE, "TYPE", N_("type of a new entity (default thing)"), VERB_AT(kind)},
    {0}};

static const struct verb verb_graph_add =
    VERB(operation_graph_create, run_add, .name = "add",
         .synopsis = "graph add [--type TYPE] NAME [OBSERVATION]...",
         .help = N_("create an entity, or add observations to one"), .options = add_options,
         VERB_WORDS(1, GRAPH_OBSERVATIONS + 1, OFFER_NOTHING));

static struct graph_new_relation relation_of(const struct verb_options *o)
{
    return (struct graph_new_relation){.from = o->words.items[0],
                                       .type = o->relation ? o->relation : o->words.items[1],
                                       .to = o->to ? o->to : o->words.items[2]};
}

static bool run_relate(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct graph_new_relation relation = relation_of(o);
    const struct graph_relate params = {.relations = {.items = &relation, .len = 1}};
    AUTO(graph_part_release) struct graph_part created = {0};
    if (!operation_call(c, &operation_graph_relate, &params, &created, e))
        return false;
    puts(created.relations.len > 0 ? _("1 relation created") : _("the relation exists already"));
    return true;
}

static const struct verb verb_graph_relate = VERB(
    operation_graph_relate, run_relate, .name = "relate", .synopsis = "graph relate FROM TYPE TO",
    .help = N_("relate one entity to another: tiro graph relate Ada \"works at\" Acme"),
    VERB_WORDS(3, 3, OFFER_NOTHING));

/* --- forget ----------------------------------------------------------------------------------- */

static bool run_forget(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    AUTO(buf_release) struct buf question = BUF_INIT;
    struct graph_counts gone;
    bool ok;
    if (!o->relation != !o->to || (o->relation && o->words.len > 1))
        return err_set(e, ERR_USAGE, _("a relation needs exactly --relation TYPE and --to NAME"));
    utf8_clean(&question, o->words.items[0], strlen(o->words.items[0]), UTF8_ONE_LINE);
    buf_addf(&question, ": %s",
             o->relation ? _("delete this relation for good? [y/N] ")
             : o->words.len > 1
                 ? _("delete these observations for good? [y/N] ")
                 : _("delete the entity, its observations and relations for good? [y/N] "));
    if (!verb_may_delete(o->yes, &question, e))
        return false;
    if (o->relation) {
        struct graph_new_relation relation = relation_of(o);
        const struct graph_relate params = {.relations = {.items = &relation, .len = 1}};
        ok = operation_call(c, &operation_graph_unrelate, &params, &gone, e);
    } else if (o->words.len > 1) {
        struct graph_new_observations words = observations_of(o);
        const struct graph_unobserve params = {.deletions = {.items = &words, .len = 1}};
        ok = operation_call(c, &operation_graph_unobserve, &params, &gone, e);
        vec_release(&words.contents);
    } else {
        const struct graph_names params = {.names = {.items = o->words.items, .len = o->words.len}};
        ok = operation_call(c, &operation_graph_delete, &params, &gone, e);
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
    VERB_YES,
    {0}};

static const struct verb verb_graph_forget =
    VERB(operation_graph_delete, run_forget, .name = "forget",
         .synopsis = "graph forget [-y] NAME [OBSERVATION]... | NAME --relation TYPE --to NAME",
         .help = N_("delete an entity, some of its observations, or a relation"),
         .details = N_("Asks once; without a terminal, --yes is required."),
         .options = forget_options, VERB_WORDS(1, GRAPH_OBSERVATIONS + 1, OFFER_NOTHING));

/* --- export and import ------------------------------------------------------------------------ */

static bool run_export(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->words.len > 0 ? o->words.items[0] : "-";
    struct graph_counts written;
    return strcmp(path, "-") == 0
               ? verb_write_output(c, &operation_graph_export, NULL, &written, e)
               : verb_write_file(c, &operation_graph_export, path, o->force, &written, e);
}

static const struct option export_options[] = {VERB_FORCE, {0}};

static const struct verb verb_graph_export =
    VERB(operation_graph_export, run_export, .name = "export",
         .synopsis = "graph export [--force] [FILE]",
         .help = N_("export the graph in the format of server-memory, one JSON object per line"),
         .options = export_options, VERB_WORDS(0, 1, OFFER_FILES, .first = true));

static bool go_on(void *context, const char *what, int64_t done, int64_t of)
{
    (void)context, (void)what, (void)done, (void)of;
    return signals_take() == 0;
}

static bool run_import(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->words.items[0];
    struct operation_stream stream = {.in = input_open(path, e), .tell = go_on};
    struct graph_counts added;
    if (!stream.in)
        return false;
    stream.name = stream.in == stdin ? _("standard input") : path;
    stream.wake_fd = signals_open();
    c->stream = &stream;
    bool ok = operation_call(c, &operation_graph_import, NULL, &added, e);
    c->stream = NULL;
    input_close(stream.in);
    if (!ok)
        return false;
    printf(_("added: entities %lld, observations %lld, relations %lld\n"),
           (long long)added.entities, (long long)added.observations, (long long)added.relations);
    if (added.skipped > 0)
        printf(_("left out: relations %lld, whose entities are neither in the file nor in the "
                 "graph\n"),
               (long long)added.skipped);
    return true;
}

static const struct verb verb_graph_import = VERB(
    operation_graph_import, run_import, .name = "import", .synopsis = "graph import FILE|-",
    .help = N_("import a graph, one JSON object per line"),
    .details = N_(
        "A line is {\"type\":\"entity\", \"name\", \"entityType\", \"observations\"} "
        "or\n{\"type\":\"relation\", \"from\", \"to\", \"relationType\"}. Existing entities stay "
        "and\nget what is new; if a line is wrong, nothing is imported. - is standard input."),
    VERB_WORDS(1, 1, OFFER_FILES, .first = true));

/* --- the command --- */

static const struct cli_command *const verbs[] = {
    &verb_graph_list.command,
    &verb_graph_search.command,
    &verb_graph_show.command,
    &verb_graph_add.command,
    &verb_graph_relate.command,
    &verb_graph_forget.command,
    &verb_graph_export.command,
    &verb_graph_import.command,
    &verb_graph_stats.command,
    &verb_graph_reindex.command,
    NULL,
};

const struct cli_command cmd_graph = {
    .name = "graph",
    .synopsis = "graph [COMMAND] [OPTION]... [NAME]",
    .help = N_("search, list and change the graph of facts"),
    .details = N_("The default command is list. For details: tiro graph COMMAND --help."),
    .verbs = verbs,
    .run = cli_run_verb,
};
