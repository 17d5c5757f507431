#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "cli/grid.h"
#include "cli/signals.h"
#include "cli/verb.h"
#include "ui/text/format.h"

enum { NAME_LEAST = 12, REMARK_LEAST = 8 };

static const struct grid_column columns[] = {
    {.shrink = NAME_LEAST}, {0}, {.shrink = REMARK_LEAST, .first = true}};

static void add_text(struct grid *g, const char *name, const char *value, const char *remark)
{
    grid_add(g, name);
    grid_add(g, value);
    grid_add(g, remark);
}

static void add_count(struct grid *g, const char *name, int64_t n, const char *remark)
{
    struct buf number = BUF_INIT;
    format_exact(&number, n);
    add_text(g, name, number.data, remark);
    buf_release(&number);
}

static void add_vectors(struct grid *g, const struct memory_stats *s)
{
    if (s->model) {
        add_text(g, _("embedding model"), s->model, NULL);
        if (s->dimension > 0)
            add_count(g, _("dimensions"), s->dimension, NULL);
        add_count(g, _("with a vector"), s->embedded, s->graph ? _("in a graph") : NULL);
        add_count(g, _("without a vector"), s->missing,
                  s->missing > 0 ? _("tiro memory reindex computes them") : NULL);
    }
    if (s->stale > 0)
        add_count(g, _("vectors of other models"), s->stale, NULL);
}

static void print_stats(const struct memory_stats *s)
{
    struct grid g = GRID(columns);
    add_count(&g, _("entries"), s->entries, NULL);
    add_count(&g, _("dropped by compactions"), s->dropped, NULL);
    add_count(&g, _("of conversations that were left"), s->left, NULL);
    add_count(&g, _("imported"), s->entries - s->dropped - s->left, NULL);
    add_count(&g, _("sessions"), s->sessions, NULL);
    add_count(&g, _("pinned"), s->pinned, NULL);
    if (s->deferred > 0)
        add_count(&g, _("messages to be indexed"), s->deferred,
                  _("a conversation indexes them in the background"));
    if (s->backlog > s->backlog_done)
        add_count(&g, _("conversations to be indexed"), s->backlog - s->backlog_done,
                  _("a conversation indexes them in the background"));
    if (s->unasked > 0)
        add_count(&g, _("conversations that are not in memory"), s->unasked,
                  _("tiro memory index indexes them"));
    add_count(&g, _("summaries that quote deleted text"), s->flagged, NULL);
    add_count(&g, _("bytes"), s->bytes, s->bytes > 0 ? _("texts, words and vectors") : NULL);
    if (s->language)
        add_text(&g, _("language"), s->language,
                 s->language_stale ? _("another language is configured; run tiro memory reindex")
                                   : NULL);
    add_vectors(&g, s);
    grid_print(&g);
}

static bool run_stats(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct memory_stats stats = {0};
    bool ok = operation_call(c, &operation_memory_stats, NULL, &stats, e);
    if (ok && o->json)
        verb_print_json(&operation_memory_stats, NULL, &stats);
    else if (ok)
        print_stats(&stats);
    memory_stats_release(&stats);
    return ok;
}

static const struct option stats_options[] = {VERB_JSON, {0}};

const struct verb verb_memory_stats =
    VERB(operation_memory_stats, run_stats, .name = "stats", .synopsis = "memory stats [--json]",
         .help = N_("show the size of the memory"), .options = stats_options);

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

static const char *words_for(const char *what)
{
    return strcmp(what, "words") == 0      ? _("words")
           : strcmp(what, "sessions") == 0 ? _("conversations")
                                           : _("vectors");
}

static bool tell(void *context, const char *what, int64_t done, int64_t of)
{
    struct watch *w = context;
    if (w->terminal && of > 0) {
        if (w->what && strcmp(w->what, what) != 0)
            end_line(w);
        fprintf(stderr, "\r%s %" PRId64 "/%" PRId64, words_for(what), done, of);
        w->what = what;
    }
    return signals_take() == 0;
}

static bool run_reindex(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct operation_stream stream = {
        .tell = tell, .wake_fd = signals_open(), .context = &watch};
    (void)o;
    c->stream = &stream;
    bool ok = operation_call(c, &operation_memory_reindex, NULL, NULL, e);
    end_line(&watch);
    return ok;
}

const struct verb verb_memory_reindex =
    VERB(operation_memory_reindex, run_reindex, .name = "reindex", .synopsis = "memory reindex",
         .help = N_("rebuild the word index in the configured language, and compute "
                    "missing vectors"));

static bool choose(const char *word, enum memory_index_choice *out, struct error *e)
{
    *out = word && strcmp(word, "none") == 0 ? MEMORY_INDEX_NONE : MEMORY_INDEX_ALL;
    return !word || strcmp(word, "all") == 0 || *out == MEMORY_INDEX_NONE ||
           err_set(e, ERR_USAGE, _("give all or none, not \"%.40s\""), word);
}

static void print_indexed(const struct memory_index_result *r, enum memory_index_choice choice)
{
    struct buf number = BUF_INIT;
    format_exact(&number, r->sessions);
    unsigned long n = (unsigned long)r->sessions;
    if (choice == MEMORY_INDEX_ALL && n == 0)
        puts(_("every conversation is in memory already"));
    else if (choice == MEMORY_INDEX_ALL)
        printf(ngettext("%s conversation was indexed\n", "%s conversations were indexed\n", n),
               number.data);
    else
        printf(ngettext("%s conversation stays out of memory\n",
                        "%s conversations stay out of memory\n", n),
               number.data);
    buf_release(&number);
}

static bool run_index(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct operation_stream stream = {
        .tell = tell, .wake_fd = signals_open(), .context = &watch};
    struct memory_index_params params;
    struct memory_index_result result = {0};
    if (!choose(o->words.len > 0 ? o->words.items[0] : NULL, &params.sessions, e))
        return false;
    c->stream = &stream;
    bool ok = operation_call(c, &operation_memory_index, &params, &result, e);
    end_line(&watch);
    if (ok)
        print_indexed(&result, params.sessions);
    return ok;
}

const struct verb verb_memory_index =
    VERB(operation_memory_index, run_index, .name = "index", .synopsis = "memory index [all|none]",
         .help = N_("index the conversations that memory does not have yet"),
         .details = N_("Conversations are indexed when they are left. Those that were left before "
                       "tiro did so wait\nfor this command; none leaves them out of memory."),
         VERB_WORDS(0, 1, OFFER_NOTHING));
