#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/grid.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "ui/text/format.h"

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
                _("the graph is empty: the model's tools, tiro graph add and import fill it"));
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

const struct verb verb_graph_list = VERB(
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
        buf_addf(out, ", %s %s", _("session"), sessions_short_id(s->session_id));
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

const struct verb verb_graph_search =
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

const struct verb verb_graph_show =
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

const struct verb verb_graph_stats =
    VERB(operation_graph_stats, run_stats, .name = "stats", .synopsis = "graph stats [--json]",
         .help = N_("show the size of the graph"), .options = show_options);

static bool run_reindex(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    (void)o;
    return operation_call(c, &operation_graph_reindex, NULL, NULL, e);
}

const struct verb verb_graph_reindex =
    VERB(operation_graph_reindex, run_reindex, .name = "reindex", .synopsis = "graph reindex",
         .help = N_("rebuild the graph's word index in the configured language"));
