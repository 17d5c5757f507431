#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "ui/text/format.h"

/* --- corpus list ------------------------------------------------------------------------------ */

enum { NAME_LEAST = 12 };

static void add_number(struct grid *g, int64_t n)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    format_exact(&text, n);
    grid_add(g, text.data);
}

/* "12 documents". */
static void add_counted(struct grid *g, int64_t n, const char *noun)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    format_exact(&text, n);
    buf_addf(&text, " %s", noun);
    grid_add(g, text.data);
}

static void print_list(const void *result)
{
    const struct corpus_list *listed = result;
    static const struct grid_column columns[] = {
        {.shrink = NAME_LEAST, .first = true}, {.right = true}, {.right = true}, {0}};
    struct grid g = GRID(columns);
    if (listed->items.len == 0)
        fprintf(stderr, "%s\n", _("there is no corpus; tiro corpus add NAME PATH creates one"));
    for (size_t i = 0; i < listed->items.len; i++) {
        const struct corpus_info *n = &listed->items.items[i];
        AUTO(buf_release) struct buf state = BUF_INIT;
        grid_add(&g, n->name);
        add_counted(&g, n->documents,
                    ngettext("document", "documents", (unsigned long)n->documents));
        add_counted(&g, n->passages, ngettext("passage", "passages", (unsigned long)n->passages));
        if (n->failed > 0)
            buf_addf(&state, _("%lld unreadable"), (long long)n->failed);
        if (n->pending)
            buf_addf(&state, "%s%s", state.len > 0 ? ", " : "",
                     _("not all files are read; tiro corpus update continues"));
        grid_add(&g, state.data);
    }
    grid_print(&g);
}

static bool run_list(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    return verb_show(c, o, &operation_corpus_list, NULL, "corpora", print_list, e);
}

static const struct verb verb_corpus_list =
    VERB(operation_corpus_list, run_list, .name = "list", .synopsis = "corpus list [--json]",
         .help = N_("list the corpora"), .options = verb_json_options);

/* --- show ------------------------------------------------------------------------------------- */

static void print_documents(const struct corpus_documents *listed)
{
    static const struct grid_column columns[] = {
        {.right = true}, {.shrink = NAME_LEAST, .first = true}, {0}};
    struct grid g = GRID(columns);
    for (size_t i = 0; i < listed->items.len; i++) {
        const struct corpus_document *d = &listed->items.items[i];
        add_number(&g, d->id);
        grid_add(&g, d->file);
        if (d->error)
            grid_add(&g, d->error);
        else
            add_counted(&g, d->passages,
                        ngettext("passage", "passages", (unsigned long)d->passages));
    }
    grid_print(&g);
}

static bool show_documents(struct operation_context *c, const struct verb_options *o,
                           struct error *e)
{
    const struct corpus_documents_query params = {
        .name = o->words.items[0], .failed = o->failed, .limit = o->limit};
    struct corpus_documents listed;
    if (!operation_call(c, &operation_corpus_documents, &params, &listed, e))
        return false;
    int64_t shown = (int64_t)listed.items.len;
    if (o->json)
        verb_print_json(&operation_corpus_documents, NULL, &listed);
    else if (shown == 0)
        fprintf(stderr, "%s\n",
                o->failed ? _("all files of the corpus could be read")
                          : _("the corpus has no documents"));
    else
        print_documents(&listed);
    if (shown < listed.total && !o->json) {
        fflush(stdout);
        fprintf(stderr, _("only the first %lld of %lld are shown\n"), (long long)shown,
                (long long)listed.total);
    }
    shape_release(&corpus_documents_shape, &listed);
    return true;
}

/* "FILE:12  HEADING" or "FILE, page 3  HEADING", and the text on the lines below. */
static void add_passage(struct buf *out, const struct corpus_passage *p)
{
    utf8_clean(out, p->file, strlen(p->file), UTF8_ONE_LINE);
    if (p->line > 0)
        buf_addf(out, ":%lld", (long long)p->line);
    if (p->page > 0)
        buf_addf(out, _(", page %lld"), (long long)p->page);
    if (p->heading && *p->heading) {
        buf_addstr(out, "  ");
        utf8_clean(out, p->heading, strlen(p->heading), UTF8_ONE_LINE);
    }
    buf_addch(out, '\n');
    utf8_clean(out, p->content, strlen(p->content), UTF8_MULTILINE);
    buf_addch(out, '\n');
}

static bool run_show(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    char *end = NULL;
    if (o->words.len == 1)
        return show_documents(c, o, e);
    long long id = strtoll(o->words.items[1], &end, 10);
    if (*end || id <= 0)
        return err_set(e, ERR_USAGE,
                       _("\"%.80s\" is not a document; tiro corpus show %.64s lists "
                         "their numbers"),
                       o->words.items[1], o->words.items[0]);
    const struct corpus_passages_query params = {.document = id, .limit = o->limit};
    struct corpus_passages listed;
    AUTO(buf_release) struct buf out = BUF_INIT;
    if (!operation_call(c, &operation_corpus_passages, &params, &listed, e))
        return false;
    if (o->json)
        verb_print_json(&operation_corpus_passages, NULL, &listed);
    for (size_t i = 0; !o->json && i < listed.items.len; i++) {
        buf_addf(&out, "%s[%lld] ", i > 0 ? "\n" : "", (long long)listed.items.items[i].chunk);
        add_passage(&out, &listed.items.items[i]);
    }
    fwrite(out.data, 1, out.len, stdout);
    shape_release(&corpus_passages_shape, &listed);
    return true;
}

static const struct option show_options[] = {{"failed", 0, OPTION_FLAG, NULL,
                                              N_("list the files that could not be read, and why"),
                                              VERB_AT(failed)},
                                             VERB_LIMIT('n', N_("at most N documents or passages")),
                                             VERB_JSON,
                                             {0}};

static const struct verb verb_corpus_show =
    VERB(operation_corpus_documents, run_show, .name = "show",
         .synopsis = "corpus show [--failed] [--limit N] [--json] NAME [DOCUMENT]",
         .help = N_("list the documents of a corpus, or show the passages of one"),
         .options = show_options, VERB_WORDS(1, 2, OFFER_NOTHING));

/* --- search ----------------------------------------------------------------------------------- */

static void print_found(const void *result)
{
    const struct corpus_found *found = result;
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (size_t i = 0; i < found->items.len; i++) {
        const struct corpus_passage *p = &found->items.items[i];
        buf_addf(&out, "%s[%zu] %.2f  ", i > 0 ? "\n" : "", i + 1, p->score);
        add_passage(&out, p);
    }
    fwrite(out.data, 1, out.len, stdout);
    fflush(stdout);
    if (found->badge)
        fprintf(stderr, "%s\n", found->badge);
    if (found->items.len == 0)
        fprintf(stderr,
                ngettext("nothing found in %lld passage\n", "nothing found in %lld passages\n",
                         (unsigned long)found->searched),
                (long long)found->searched);
}

static bool run_search(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    auto_free char *query = verb_join(o, 0);
    const struct corpus_search params = {.corpus = o->in,
                                         .query = query,
                                         .top_k = o->limit,
                                         .hybrid_weight = o->weight,
                                         .filter = o->filter};
    return verb_show(c, o, &operation_corpus_search, &params, NULL, print_found, e);
}

static bool take_weight(const struct option *self, void *at, const char *value, struct error *e)
{
    double *out = at;
    if (config_value_real(value, out) && *out >= 0 && *out <= 1)
        return true;
    return err_set(e, ERR_USAGE, _("--%s takes a number from 0 to 1, not \"%.40s\""), self->name,
                   value);
}

static const struct option search_options[] = {
    {"in", 0, OPTION_VALUE, "NAME", N_("search only this corpus"), VERB_AT(in)},
    VERB_LIMIT('n', N_("at most N passages (default 5, at most 20)")),
    {"weight", 0, OPTION_VALUE, "W", N_("weight of words in the score, 0 to 1 (default 0.3)"),
     VERB_AT(weight), .take = take_weight},
    {"filter", 0, OPTION_VALUE, "FILES",
     N_("only files whose path contains FILES, or matches it as a glob"), VERB_AT(filter)},
    VERB_JSON,
    {0}};

static const struct verb verb_corpus_search =
    VERB(operation_corpus_search, run_search, .name = "search",
         .synopsis =
             "corpus search [--in NAME] [--limit N] [--weight W] [--filter FILES] [--json] "
             "QUERY...",
         .help = N_("search passages of documents"), .options = search_options,
         VERB_WORDS(1, CLI_MANY, OFFER_NOTHING), .dashes = true);

/* --- stats ------------------------------------------------------------------------------------ */

static void print_stats(const void *result)
{
    const struct corpus_stats *s = result;
    const struct {
        const char *name;
        int64_t count;
    } rows[] = {{_("corpora"), s->corpora},
                {_("documents"), s->documents},
                {_("unreadable files"), s->failed},
                {_("passages"), s->passages},
                {_("bytes of text"), s->bytes},
                {_("bytes of the index"), s->index},
                {_("passages with a vector"), s->embedded},
                {_("passages without a vector"), s->missing}};
    static const struct grid_column two[] = {{.shrink = NAME_LEAST}, {.right = true}};
    size_t count = sizeof rows / sizeof *rows - (s->model ? 0 : 2);
    struct grid g = GRID(two);
    for (size_t i = 0; i < count; i++) {
        grid_add(&g, rows[i].name);
        add_number(&g, rows[i].count);
    }
    if (s->model) {
        grid_add(&g, _("model"));
        grid_add(&g, s->model);
    }
    grid_print(&g);
}

static bool run_stats(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    return verb_show(c, o, &operation_corpus_stats, NULL, NULL, print_stats, e);
}

static const struct verb verb_corpus_stats =
    VERB(operation_corpus_stats, run_stats, .name = "stats", .synopsis = "corpus stats [--json]",
         .help = N_("show the size of the corpora"), .options = verb_json_options);

/* --- add and update --------------------------------------------------------------------------- */

/* "12 files: 3 new, 1 changed, 8 unchanged", without counts of 0. */
static void print_progress(const struct corpus_progress *p)
{
    const struct {
        int64_t count;
        const char *name;
    } rows[] = {{p->added, _("new")},
                {p->changed, _("changed")},
                {p->unchanged, _("unchanged")},
                {p->removed, _("removed")},
                {p->failed, _("unreadable")},
                {p->files - p->added - p->changed - p->unchanged - p->failed, _("without text")}};
    bool any = false;
    printf(ngettext("%lld file", "%lld files", (unsigned long)p->files), (long long)p->files);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count > 0) {
            printf("%s %lld %s", any ? "," : ":", (long long)rows[i].count, rows[i].name);
            any = true;
        }
    putchar('\n');
    if (p->failed > 0)
        fprintf(stderr, "%s\n", _("tiro corpus show --failed NAME says why"));
}

static bool may_embed(bool yes, struct error *e)
{
    if (yes)
        return true;
    if (!confirm_possible())
        return err_set(e, ERR_USAGE,
                       _("more than 1,000 files or 100 MB would be sent to the embedding endpoint; "
                         "--yes does so without asking"));
    return confirm(_("More than 1,000 files or 100 MB would be sent to the embedding endpoint. "
                     "Send them? [y/N] ")) ||
           err_set(e, ERR_INTERRUPTED, _("not confirmed, so nothing was done"));
}

/* Adds or updates; runs again with consent when the operation asks for it. */
static bool run_ingest(struct operation_context *c, const struct operation *o,
                       const struct verb_options *options, struct corpus_add *params,
                       struct error *e)
{
    struct corpus_progress progress;
    bool ok = verb_call_watched(c, o, params, &progress, e);
    if (ok && progress.asks) {
        shape_release(&corpus_progress_shape, &progress);
        params->consent = may_embed(options->yes, e);
        ok = params->consent && verb_call_watched(c, o, params, &progress, e);
    }
    if (!ok)
        return false;
    if (options->json)
        verb_print_json(o, NULL, &progress);
    else
        print_progress(&progress);
    shape_release(&corpus_progress_shape, &progress);
    return true;
}

static bool run_add(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct corpus_add params = {.name = o->words.items[0]};
    for (size_t i = 1; i < o->words.len; i++)
        vec_push(&params.paths, o->words.items[i]);
    bool ok = run_ingest(c, &operation_corpus_add, o, &params, e);
    vec_release(&params.paths);
    return ok;
}

static const struct option ingest_options[] = {VERB_YES, VERB_JSON, {0}};

static const struct verb verb_corpus_add =
    VERB(operation_corpus_add, run_add, .name = "add",
         .synopsis = "corpus add [-y] [--json] NAME PATH...",
         .help = N_("add files and folders to a corpus; creates the corpus if needed"),
         .details = N_("In folders, it skips files that .gitignore names, names that begin with a "
                       "dot, and symbolic links."),
         .options = ingest_options, VERB_WORDS(2, CORPUS_PATHS + 1, OFFER_FILES));

static bool run_update(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct corpus_add params = {.name = o->words.len > 0 ? o->words.items[0] : NULL};
    return run_ingest(c, &operation_corpus_update, o, &params, e);
}

static const struct verb verb_corpus_update = VERB(
    operation_corpus_update, run_update, .name = "update",
    .synopsis = "corpus update [-y] [--json] [NAME]",
    .help = N_("read new and changed files of a corpus or of all corpora, and drop deleted ones"),
    .options = ingest_options, VERB_WORDS(0, 1, OFFER_NOTHING));

/* --- remove ----------------------------------------------------------------------------------- */

static bool run_remove(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    AUTO(buf_release) struct buf question = BUF_INIT;
    bool whole = o->words.len == 1;
    const char *name = o->words.items[o->words.len - 1];
    utf8_clean(&question, name, strlen(name), UTF8_ONE_LINE);
    buf_addf(&question, ": %s",
             whole ? _("remove the corpus? Files stay. [y/N] ")
                   : _("remove it from the corpus? Files stay. [y/N] "));
    if (!verb_may_delete(o->yes, &question, e))
        return false;
    /* A path that is gone is compared as it was written. */
    auto_free char *real = whole ? NULL : realpath(name, NULL);
    const struct corpus_remove params = {o->words.items[0], whole ? NULL : real ? real : name};
    struct corpus_removed removed;
    if (!operation_call(c, &operation_corpus_remove, &params, &removed, e))
        return false;
    printf(ngettext("%lld document removed\n", "%lld documents removed\n",
                    (unsigned long)removed.documents),
           (long long)removed.documents);
    return true;
}

static const struct verb verb_corpus_remove =
    VERB(operation_corpus_remove, run_remove, .name = "remove",
         .synopsis = "corpus remove [-y] NAME [PATH]",
         .help = N_("remove a corpus, or a file or folder of it; files stay"),
         .details = N_("Asks once; without a terminal, --yes is required."),
         .options = verb_yes_options, VERB_WORDS(1, 2, OFFER_FILES));

/* --- the command --- */

static const struct cli_command *const verbs[] = {
    &verb_corpus_list.command,   &verb_corpus_add.command,
    &verb_corpus_update.command, &verb_corpus_show.command,
    &verb_corpus_search.command, &verb_corpus_remove.command,
    &verb_corpus_stats.command,  NULL,
};

const struct cli_command cmd_corpus = {
    .name = "corpus",
    .synopsis = "corpus [COMMAND] [OPTION]... [NAME]",
    .help = N_("add, search and list documents"),
    .details = N_("The default command is list. For details: tiro corpus COMMAND --help."),
    .verbs = verbs,
    .run = cli_run_verb,
};
