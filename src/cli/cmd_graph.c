#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/verb.h"
#include "ui/text/format.h"

/* --- graph list ------------------------------------------------------------------------------- */

enum { NAME_LEAST = 16, TYPE_LEAST = 8, PAGE = 20 };

/* --- list ------------------------------------------------------------------------------------- */

static const struct grid_column columns[] = {
    {.shrink = NAME_LEAST, .first = true}, {.shrink = TYPE_LEAST}, {0}, {0}};

static void add_counted(struct grid *g, const char *form, int count)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "%d %s", count, form);
    grid_add(g, text.data);
    buf_release(&text);
}

static void print_rows(const struct graph_part *part, size_t count)
{
    struct grid g = GRID(columns);
    for (size_t i = 0; i < count; i++) {
        const struct graph_entity *n = &part->entities.items[i];
        grid_add(&g, n->name);
        grid_add(&g, n->type);
        add_counted(&g, ngettext("observation", "observations", (unsigned long)n->observed),
                    n->observed);
        add_counted(&g, ngettext("relation", "relations", (unsigned long)n->relations),
                    n->relations);
    }
    grid_print(&g);
}

/* A terminal gets one page, a pipe or a file everything. */
static bool is_page(const struct verb_options *o)
{
    return o->limit == 0 && !o->json && isatty(STDOUT_FILENO);
}

static void print_list(const struct graph_part *part, const struct verb_options *o)
{
    size_t count = part->entities.len;
    bool more = is_page(o) && count > PAGE;
    if (o->json) {
        verb_print_json(&operation_graph_list, "entities", part);
    } else if (count == 0) {
        fprintf(stderr, "%s\n",
                _("the graph is empty; the model's tools, tiro graph add and tiro graph import add "
                  "to it"));
    } else {
        print_rows(part, more ? PAGE : count);
        fflush(stdout);
        if (more)
            fprintf(stderr, _("only the first %d are shown; --limit N shows more\n"), PAGE);
    }
}

static bool run_list(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct graph_list_params params = {.limit = is_page(o) ? PAGE + 1 : o->limit};
    struct graph_part part = {0};
    bool ok = operation_call(c, &operation_graph_list, &params, &part, e);
    if (ok)
        print_list(&part, o);
    graph_part_release(&part);
    return ok;
}

static const struct option list_options[] = {
    VERB_LIMIT('n', N_("at most N entities")), VERB_JSON, {0}};

static const struct verb verb_graph_list = VERB(
    operation_graph_list, run_list, .name = "list", .synopsis = "graph list [--limit N] [--json]",
    .help = N_("list the entities by name"), .options = list_options);

/* --- search and show -------------------------------------------------------------------------- */

/* A line of foreign text, cleaned. */
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

static void add_entity(struct buf *out, const struct graph_entity *n)
{
    add_text(out, "", n->name, "");
    add_text(out, " (", n->type, ")");
    add_source(out, &n->source);
    for (size_t i = 0; i < n->observations.len; i++) {
        add_text(out, "  - ", n->observations.items[i].content, "");
        add_source(out, &n->observations.items[i].source);
    }
}

static void print_part(const struct graph_part *part)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < part->entities.len; i++)
        add_entity(&text, &part->entities.items[i]);
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
    buf_release(&text);
}

static bool run_search(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    char *query = verb_join(o, 0);
    const struct graph_search params = {.query = query,
                                        .limit = o->limit > 0 ? o->limit : GRAPH_FOUND};
    struct graph_part part = {0};
    bool ok = operation_call(c, &operation_graph_search, &params, &part, e);
    if (ok && o->json)
        verb_print_json(&operation_graph_search, NULL, &part);
    else if (ok && part.entities.len == 0)
        fprintf(stderr, "%s\n", _("no matches in the graph"));
    else if (ok)
        print_part(&part);
    graph_part_release(&part);
    free(query);
    return ok;
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
    struct graph_names params = {0};
    struct graph_part part = {0};
    for (size_t i = 0; i < o->words.len; i++)
        vec_push(&params.names, o->words.items[i]);
    bool ok = operation_call(c, &operation_graph_open, &params, &part, e);
    if (ok && o->json)
        verb_print_json(&operation_graph_open, NULL, &part);
    else if (ok)
        print_part(&part);
    if (ok && (part.unknown.len > 0 || part.entities.len == 0))
        ok = err_set(e, ERR_MEMORY_NOT_FOUND,
                     _("there is no entity \"%.80s\"; tiro graph list shows their names"),
                     part.unknown.len > 0 ? part.unknown.items[0] : o->words.items[0]);
    graph_part_release(&part);
    vec_release(&params.names);
    return ok;
}

static const struct option show_options[] = {VERB_JSON, {0}};

static const struct verb verb_graph_show =
    VERB(operation_graph_open, run_show, .name = "show", .synopsis = "graph show [--json] NAME...",
         .help = N_("show entities with observations, relations and sources"),
         .options = show_options, VERB_WORDS(1, GRAPH_BATCH, OFFER_NOTHING));

/* --- stats ------------------------------------------------------------------------------------ */

static void print_stats(const struct graph_stats *s)
{
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
        struct buf number = BUF_INIT;
        format_exact(&number, rows[i].count);
        grid_add(&g, rows[i].name);
        grid_add(&g, number.data);
        buf_release(&number);
    }
    grid_print(&g);
}

static bool run_stats(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct graph_stats stats = {0};
    if (!operation_call(c, &operation_graph_stats, NULL, &stats, e))
        return false;
    if (o->json)
        verb_print_json(&operation_graph_stats, NULL, &stats);
    else
        print_stats(&stats);
    return true;
}

static const struct verb verb_graph_stats =
    VERB(operation_graph_stats, run_stats, .name = "stats", .synopsis = "graph stats [--json]",
         .help = N_("show the size of the graph"), .options = show_options);

static bool run_reindex(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    (void)o;
    return operation_call(c, &operation_graph_reindex, NULL, NULL, e);
}

static const struct verb verb_graph_reindex =
    VERB(operation_graph_reindex, run_reindex, .name = "reindex", .synopsis = "graph reindex",
         .help = N_("rebuild the graph's word index in the configured language"));

/* --- graph change ----------------------------------------------------------------------------- */

/* --- add and relate --------------------------------------------------------------------------- */

/* The observations behind the name. */
static void take_words(const struct verb_options *o, struct graph_new_observations *out)
{
    *out = (struct graph_new_observations){.entity = o->words.items[0]};
    for (size_t i = 1; i < o->words.len; i++)
        vec_push(&out->contents, o->words.items[i]);
}

/* With its observations, if it is new: all of that or nothing. */
static bool create(struct operation_context *c, const struct verb_options *o, bool *is_new,
                   size_t *added, struct error *e)
{
    struct graph_create params = {0};
    struct graph_new_entity entity = {.name = o->words.items[0],
                                      .type = o->kind ? o->kind : "thing"};
    struct graph_part made = {0};
    for (size_t i = 1; i < o->words.len; i++)
        vec_push(&entity.observations, o->words.items[i]);
    vec_push(&params.entities, entity);
    bool ok = operation_call(c, &operation_graph_create, &params, &made, e);
    *is_new = made.entities.len > 0;
    *added = *is_new ? made.entities.items[0].observations.len : 0;
    graph_part_release(&made);
    vec_release(&params.entities.items[0].observations);
    vec_release(&params.entities);
    return ok;
}

static bool observe(struct operation_context *c, const struct verb_options *o, size_t *added,
                    struct error *e)
{
    struct graph_observe params = {0};
    struct graph_new_observations words;
    struct graph_added result = {0};
    take_words(o, &words);
    vec_push(&params.observations, words);
    bool ok = operation_call(c, &operation_graph_observe, &params, &result, e);
    for (size_t i = 0; i < result.items.len; i++)
        *added += result.items.items[i].added.len;
    shape_release(&graph_added_shape, &result);
    vec_release(&params.observations.items[0].contents);
    vec_release(&params.observations);
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

static void name_relation(const struct verb_options *o, struct graph_relate *out)
{
    *out = (struct graph_relate){0};
    vec_push(&out->relations,
             (struct graph_new_relation){.from = o->words.items[0],
                                         .type = o->relation ? o->relation : o->words.items[1],
                                         .to = o->to ? o->to : o->words.items[2]});
}

static bool run_relate(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct graph_relate params;
    struct graph_part made = {0};
    name_relation(o, &params);
    bool ok = operation_call(c, &operation_graph_relate, &params, &made, e);
    if (ok)
        puts(made.relations.len > 0 ? _("1 relation created") : _("the relation exists already"));
    graph_part_release(&made);
    vec_release(&params.relations);
    return ok;
}

static const struct verb verb_graph_relate = VERB(
    operation_graph_relate, run_relate, .name = "relate", .synopsis = "graph relate FROM TYPE TO",
    .help = N_("relate one entity to another: tiro graph relate Ada \"works at\" Acme"),
    VERB_WORDS(3, 3, OFFER_NOTHING));

/* --- forget ----------------------------------------------------------------------------------- */

static bool forget_entity(struct operation_context *c, const struct verb_options *o,
                          struct graph_counts *gone, struct error *e)
{
    struct graph_names params = {0};
    vec_push(&params.names, o->words.items[0]);
    bool ok = operation_call(c, &operation_graph_delete, &params, gone, e);
    vec_release(&params.names);
    return ok;
}

static bool forget_observations(struct operation_context *c, const struct verb_options *o,
                                struct graph_counts *gone, struct error *e)
{
    struct graph_unobserve params = {0};
    struct graph_new_observations words;
    take_words(o, &words);
    vec_push(&params.deletions, words);
    bool ok = operation_call(c, &operation_graph_unobserve, &params, gone, e);
    vec_release(&params.deletions.items[0].contents);
    vec_release(&params.deletions);
    return ok;
}

static bool forget_relation(struct operation_context *c, const struct verb_options *o,
                            struct graph_counts *gone, struct error *e)
{
    struct graph_relate params;
    name_relation(o, &params);
    bool ok = operation_call(c, &operation_graph_unrelate, &params, gone, e);
    vec_release(&params.relations);
    return ok;
}

static bool may_forget(const struct verb_options *o, struct error *e)
{
    struct buf text = BUF_INIT;
    utf8_clean(&text, o->words.items[0], strlen(o->words.items[0]), UTF8_ONE_LINE);
    buf_addstr(&text, ": ");
    if (o->relation)
        buf_addstr(&text, _("delete this relation for good? [y/N] "));
    else if (o->words.len > 1)
        buf_addstr(&text, _("delete these observations for good? [y/N] "));
    else
        buf_addstr(&text, _("delete the entity, its observations and relations for good? [y/N] "));
    bool ok = verb_may_delete(o->yes, &text, e);
    buf_release(&text);
    return ok;
}

static bool run_forget(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct graph_counts gone = {0};
    if (!o->relation != !o->to || (o->relation && o->words.len > 1))
        return err_set(e, ERR_USAGE, _("a relation needs exactly --relation TYPE and --to NAME"));
    if (!may_forget(o, e) || !(o->relation        ? forget_relation
                               : o->words.len > 1 ? forget_observations
                                                  : forget_entity)(c, o, &gone, e))
        return false;
    printf(_("deleted: entities %lld, observations %lld, relations %lld\n"),
           (long long)gone.entities, (long long)gone.observations, (long long)gone.relations);
    return true;
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

static bool tell(void *context, const char *what, int64_t done, int64_t of)
{
    (void)context, (void)what, (void)done, (void)of;
    return signals_take() == 0;
}

static bool import_stream(struct operation_context *c, FILE *in, const char *name, struct error *e)
{
    const struct operation_stream stream = {
        .in = in, .name = name, .tell = tell, .wake_fd = signals_open()};
    struct graph_counts added = {0};
    c->stream = &stream;
    if (!operation_call(c, &operation_graph_import, NULL, &added, e))
        return false;
    printf(_("added: entities %lld, observations %lld, relations %lld\n"),
           (long long)added.entities, (long long)added.observations, (long long)added.relations);
    if (added.skipped > 0)
        printf(_("left out: relations %lld, whose entities are neither in the file nor in the "
                 "graph\n"),
               (long long)added.skipped);
    return true;
}

static bool run_import(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const char *path = o->words.items[0];
    FILE *in = input_open(path, e);
    bool ok = in && import_stream(c, in, in == stdin ? _("standard input") : path, e);
    if (in)
        input_close(in);
    return ok;
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
