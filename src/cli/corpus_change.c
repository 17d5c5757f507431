#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/signals.h"
#include "cli/verb.h"
#include "ui/text/format.h"

/* --- add and update --------------------------------------------------------------------------- */

struct watch {
    bool terminal;    /* standard error is one, to show progress on */
    const char *what; /* that stands on its last line; NULL: nothing */
};

static void end_line(struct watch *w)
{
    if (w->what)
        fputc('\n', stderr);
    w->what = NULL;
}

static bool tell(void *context, const char *what, int64_t done, int64_t of)
{
    struct watch *w = context;
    if (w->terminal && of > 0) {
        if (w->what && strcmp(w->what, what) != 0)
            end_line(w);
        fprintf(stderr, "\r%s %lld/%lld", strcmp(what, "files") == 0 ? _("files") : _("vectors"),
                (long long)done, (long long)of);
        w->what = what;
    }
    return signals_take() == 0;
}

/* "12 files: 3 new, 1 changed, 8 unchanged", what is 0 left out. */
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

static bool run_once(struct operation_context *c, const struct operation *o,
                     const struct corpus_add *params, struct corpus_progress *out, struct error *e)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct operation_stream stream = {
        .tell = tell, .wake_fd = signals_open(), .context = &watch};
    c->stream = &stream;
    bool ok = operation_call(c, o, params, out, e);
    c->stream = NULL;
    end_line(&watch);
    return ok;
}

static bool may_embed(bool yes, struct error *e)
{
    if (yes)
        return true;
    if (!confirm_possible())
        return err_set(e, ERR_USAGE,
                       _("more than 1,000 files or 100 MB would be sent to the embedding endpoint; "
                         "--yes does so without asking"));
    return confirm(_("More than 1,000 files or 100 MB would be sent to the embedding endpoint. Do "
                     "so? [y/N] ")) ||
           err_set(e, ERR_INTERRUPTED, _("not confirmed, so nothing was done"));
}

static bool run_ingest(struct operation_context *c, const struct operation *o,
                       const struct verb_options *options, struct corpus_add *params,
                       struct error *e)
{
    struct corpus_progress progress = {0};
    bool ok = run_once(c, o, params, &progress, e);
    if (ok && progress.asks) {
        shape_release(&corpus_progress_shape, &progress);
        params->consent = may_embed(options->yes, e);
        ok = params->consent && run_once(c, o, params, &progress, e);
    }
    if (ok && options->json)
        verb_print_json(o, NULL, &progress);
    else if (ok)
        print_progress(&progress);
    shape_release(&corpus_progress_shape, &progress);
    return ok;
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

const struct verb verb_corpus_add =
    VERB(operation_corpus_add, run_add, .name = "add",
         .synopsis = "corpus add [-y] [--json] NAME PATH...",
         .help = N_("add files and folders to a corpus, which is made where there is none"),
         .details = N_("Left out are what .gitignore says, names that begin with a dot and "
                       "symbolic links in folders."),
         .options = ingest_options, VERB_WORDS(2, CORPUS_PATHS + 1, OFFER_FILES));

static bool run_update(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct corpus_add params = {.name = o->words.len > 0 ? o->words.items[0] : NULL};
    return run_ingest(c, &operation_corpus_update, o, &params, e);
}

const struct verb verb_corpus_update =
    VERB(operation_corpus_update, run_update, .name = "update",
         .synopsis = "corpus update [-y] [--json] [NAME]",
         .help = N_("read what has changed of a corpus, or of all, and take out what is gone"),
         .options = ingest_options, VERB_WORDS(0, 1, OFFER_NOTHING));

/* --- remove ----------------------------------------------------------------------------------- */

static bool may_remove(const struct verb_options *o, struct error *e)
{
    struct buf text = BUF_INIT;
    const char *what = o->words.items[o->words.len - 1];
    utf8_clean(&text, what, strlen(what), UTF8_ONE_LINE);
    buf_addf(&text, ": %s",
             o->words.len > 1 ? _("remove it from the corpus? Files stay. [y/N] ")
                              : _("remove the corpus? Files stay. [y/N] "));
    bool ok = verb_may_delete(o->yes, &text, e);
    buf_release(&text);
    return ok;
}

/* A path as it is resolved where there is one; else as it is kept. The caller frees. */
static char *resolved(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : mem_strdup(path);
}

static bool run_remove(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    char *file = o->words.len > 1 ? resolved(o->words.items[1]) : NULL;
    const struct corpus_remove params = {o->words.items[0], file};
    struct corpus_removed out = {0};
    bool ok = may_remove(o, e) && operation_call(c, &operation_corpus_remove, &params, &out, e);
    if (ok)
        printf(ngettext("%lld document removed\n", "%lld documents removed\n",
                        (unsigned long)out.documents),
               (long long)out.documents);
    free(file);
    return ok;
}

static const struct option remove_options[] = {VERB_YES, {0}};

const struct verb verb_corpus_remove =
    VERB(operation_corpus_remove, run_remove, .name = "remove",
         .synopsis = "corpus remove [-y] NAME [PATH]",
         .help = N_("remove a corpus, or a file or folder of it; files stay"),
         .details = N_("Asks once; without a terminal, --yes is required."),
         .options = remove_options, VERB_WORDS(1, 2, OFFER_FILES));
