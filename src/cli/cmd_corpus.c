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
#include "ui/app/lines.h"
#include "ui/text/format.h"

/* --- corpus list ------------------------------------------------------------------------------ */

enum { NAME_LEAST = 12 };

/* "12 documents". */
static void add_counted(struct grid *g, int64_t n, const char *noun)
{
    auto_free char *number = format_exact(n), *text = mem_printf("%s %s", number, noun);
    grid_add(g, text);
}

static void print_list(const struct verb_call *v, const void *result)
{
    const struct corpus_list *listed = result;
    static const struct grid_column columns[] = {
        {.shrink = NAME_LEAST, .first = true}, {.right = true}, {.right = true}, {0}};
    struct grid g = GRID(columns);
    (void)v;
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

/* --- show ------------------------------------------------------------------------------------- */

static void print_listed(const struct verb_call *v, const void *result)
{
    static const struct grid_column columns[] = {
        {.right = true}, {.shrink = NAME_LEAST, .first = true}, {0}};
    struct grid g = GRID(columns);
    const struct corpus_documents *listed = result;
    const struct corpus_documents_query *p = v->params;
    int64_t shown = (int64_t)listed->items.len;
    for (size_t i = 0; i < listed->items.len; i++) {
        const struct corpus_document *d = &listed->items.items[i];
        auto_free char *text = format_exact(d->id);
        grid_add(&g, text);
        grid_add(&g, d->file);
        if (d->error)
            grid_add(&g, d->error);
        else
            add_counted(&g, d->passages,
                        ngettext("passage", "passages", (unsigned long)d->passages));
    }
    grid_print(&g);
    if (shown == 0)
        fprintf(stderr, "%s\n",
                p->failed ? _("all files of the corpus could be read")
                          : _("the corpus has no documents"));
    fflush(stdout);
    if (shown < listed->total)
        fprintf(stderr, _("only the first %lld of %lld are shown\n"), (long long)shown,
                (long long)listed->total);
}

static bool run_show(struct verb_call *v, struct error *e)
{
    char *end = NULL;
    struct corpus_documents_query *p = v->params;
    p->after = NULL; /* the second word is a document */
    if (v->words.len == 1)
        return verb_call(v, e);
    long long id = strtoll(v->words.items[1], &end, 10);
    if (*end || id <= 0)
        return err_set(e, ERR_USAGE,
                       _("\"%.80s\" is not a document; tiro corpus show %.64s lists "
                         "their numbers"),
                       v->words.items[1], v->words.items[0]);
    const struct corpus_passages_query params = {.document = id, .limit = p->limit};
    struct corpus_passages listed;
    AUTO(buf_release) struct buf out = BUF_INIT;
    if (!operation_call(v->context, &operation_corpus_passages, &params, &listed, e))
        return false;
    if (v->json)
        verb_print_json(&operation_corpus_passages, NULL, &listed);
    for (size_t i = 0; !v->json && i < listed.items.len; i++) {
        buf_addf(&out, "%s[%lld] ", i > 0 ? "\n" : "", (long long)listed.items.items[i].chunk);
        lines_passage(&out, &listed.items.items[i]);
    }
    fwrite(out.data, 1, out.len, stdout);
    shape_release(&corpus_passages_shape, &listed);
    return true;
}

/* --- search ----------------------------------------------------------------------------------- */

static void print_found(const struct verb_call *v, const void *result)
{
    const struct corpus_found *found = result;
    (void)v;
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (size_t i = 0; i < found->items.len; i++) {
        const struct corpus_passage *p = &found->items.items[i];
        buf_addf(&out, "%s[%zu] %.2f  ", i > 0 ? "\n" : "", i + 1, p->score);
        lines_passage(&out, p);
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

/* --- add and update --------------------------------------------------------------------------- */

/* "12 files: 3 new, 1 changed, 8 unchanged", without counts of 0. */
static void print_progress(const struct verb_call *v, const void *result)
{
    const struct corpus_progress *p = result;
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
    (void)v;
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
static bool run_ingest(struct verb_call *v, struct error *e)
{
    const struct operation *o = v->verb->operation;
    struct corpus_add *params = v->params;
    struct corpus_progress progress;
    bool ok = verb_call_watched(v->context, o, params, &progress, e);
    if (ok && progress.asks) {
        shape_release(&corpus_progress_shape, &progress);
        params->consent = may_embed(v->yes, e);
        ok = params->consent && verb_call_watched(v->context, o, params, &progress, e);
    }
    if (!ok)
        return false;
    if (v->json)
        verb_print_json(o, NULL, &progress);
    else
        print_progress(v, &progress);
    shape_release(&corpus_progress_shape, &progress);
    return true;
}

/* --- remove ----------------------------------------------------------------------------------- */

static bool run_remove(struct verb_call *v, struct error *e)
{
    AUTO(buf_release) struct buf question = BUF_INIT;
    struct corpus_remove *p = v->params;
    bool whole = !p->file;
    const char *name = whole ? p->name : p->file;
    utf8_clean(&question, name, strlen(name), UTF8_ONE_LINE);
    buf_addf(&question, ": %s",
             whole ? _("remove the corpus? Files stay. [y/N] ")
                   : _("remove it from the corpus? Files stay. [y/N] "));
    if (!verb_may_delete(v, &question, e))
        return false;
    /* A path that is gone is compared as it was written. */
    auto_free char *real = whole ? NULL : realpath(name, NULL);
    p->file = real ? real : p->file;
    return verb_call(v, e);
}

static void print_removed(const struct verb_call *v, const void *result)
{
    const struct corpus_removed *removed = result;
    (void)v;
    printf(ngettext("%lld document removed\n", "%lld documents removed\n",
                    (unsigned long)removed->documents),
           (long long)removed->documents);
}

/* --- the command --- */

static const struct verb_more more[] = {
    {&operation_corpus_list, .print = print_list, .member = "corpora"},
    {&operation_corpus_add, .asks = true, .run = run_ingest, .print = print_progress},
    {&operation_corpus_update, .asks = true, .run = run_ingest, .print = print_progress},
    {&operation_corpus_documents, .run = run_show, .print = print_listed},
    {&operation_corpus_search, .print = print_found},
    {&operation_corpus_remove, .asks = true, .run = run_remove, .print = print_removed},
    {&operation_corpus_stats, .print = verb_print_figures},
    {0},
};

VERB_GROUP(corpus, "[NAME]", N_("add, search and list documents"),
           N_("The default command is list. For details: tiro corpus COMMAND --help."))
