#include "session/corpus_operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/corpora_desk.h"
#include "session/lock.h"

#define READS (NEED_CORPORA | NEED_STORE)
#define WRITES (READS | NEED_WRITE)

/* For operations that only read; NULL: there is no store yet. */
static struct corpora *corpora_of(const struct operation_context *c)
{
    return c->corpora->store ? c->corpora : NULL;
}

/* --- reading ---------------------------------------------------------------------------------- */

OPERATION_RUN(run_list, !corpora_of(c) || corpora_list(corpora_of(c), result, e))

const struct operation operation_corpus_list = {
    OPERATION("corpus/list", CLIENT, CORPORA, "Lists the corpora with their paths and sizes."),
    COMMAND("corpus list", "", N_("list the corpora")),
    .result = &corpus_list_shape,
    .needs = READS,
    .run = run_list,
};

static bool nothing_there(struct error *e)
{
    return err_set(e, ERR_MEMORY_NOT_FOUND, "there is no corpus yet; 'tiro corpus add' makes one");
}

OPERATION_RUN(run_documents, corpora_of(c) ? corpora_documents(corpora_of(c), params, result, e)
                                           : nothing_there(e))

const struct operation operation_corpus_documents = {
    OPERATION("corpus/documents", CLIENT, CORPORA,
              "Lists the documents of a corpus, or the files of it that could not be read."),
    COMMAND("corpus show", "NAME [DOCUMENT]",
            N_("list the documents of a corpus, or show the passages of one")),
    .params = &corpus_documents_query_shape,
    .result = &corpus_documents_shape,
    .needs = READS,
    .run = run_documents,
};

OPERATION_RUN(run_passages,
              corpora_of(c) ? corpora_passages(corpora_of(c), params, result, e) : nothing_there(e))

const struct operation operation_corpus_passages = {
    OPERATION("corpus/passages", CLIENT, CORPORA, "Gives passages of a document, in their order."),
    .params = &corpus_passages_query_shape,
    .result = &corpus_passages_shape,
    .needs = READS,
    .run = run_passages,
};

static bool run_cited(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    const struct corpus_cited *p = params;
    return !corpora_of(c) || corpora_cited(corpora_of(c), p, result, e);
}

const struct operation operation_corpus_cited = {
    OPERATION("corpus/cited", CLIENT, CORPORA,
              "Gives, by number, the passages that the model last received in a session, or last "
              "before an event of the session."),
    SLASH("cite", "N", N_("open the passage that the model cites as [N]")),
    .params = &corpus_cited_shape,
    .result = &corpus_passages_shape,
    .needs = READS,
    .run = run_cited,
};

static bool run_search(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct corpus_search *p = params;
    if (corpora_of(c))
        return corpora_search(corpora_of(c), p, c->wakeup, result, e);
    return !p->corpus || nothing_there(e);
}

const struct operation operation_corpus_search = {
    OPERATION("corpus/search", CLIENT, CORPORA,
              "Searches one corpus or all; gives passages, best match first."),
    SLASH("corpus", "[QUERY | add NAME PATH | update [NAME]]",
          N_("search documents, or read a file or folder into a corpus")),
    COMMAND("corpus search", "QUERY...", N_("search passages of documents")),
    .dashes = true,
    .params = &corpus_search_shape,
    .result = &corpus_found_shape,
    .needs = READS,
    .run = run_search,
};

OPERATION_RUN(run_stats, !corpora_of(c) || corpora_stats(corpora_of(c), result, e))

const struct operation operation_corpus_stats = {
    OPERATION("corpus/stats", CLIENT, CORPORA, "Counts the contents of all corpora."),
    COMMAND("corpus stats", "", N_("show the size of the corpora")),
    .result = &corpus_stats_shape,
    .needs = READS,
    .run = run_stats,
};

/* --- ingest ----------------------------------------------------------------------------------- */

static bool stopped(struct error *e)
{
    return err_set(e, ERR_INTERRUPTED, "stopped; 'tiro corpus update' continues");
}

static bool tell(const struct operation_context *c, const char *what, int64_t done, int64_t of,
                 struct error *e)
{
    const struct operation_stream *s = c->stream;
    return !s || !s->tell || s->tell(s->context, what, done, of) || stopped(e);
}

static bool purge(struct operation_context *c, struct error *e)
{
    bool more = true;
    while (more)
        if (!corpora_purge(c->corpora, &more, e))
            return false;
    return true;
}

struct ingesting {
    const struct operation_context *c;
    const struct ingest *in;
    bool stopped; /* the stream returned false: it is not called again */
};

static bool ingest_goes_on(void *context)
{
    struct ingesting *i = context;
    struct corpus_progress p;
    if (i->stopped)
        return false;
    ingest_progress(i->in, &p);
    i->stopped = !tell(i->c, "files", p.done, p.files, &(struct error){0});
    shape_release(&corpus_progress_shape, &p);
    return !i->stopped;
}

static bool run_to_end(struct operation_context *c, struct ingest *in, struct error *e)
{
    struct corpora_turn turn = {c->catalog.directory, -1};
    struct ingesting ingesting = {.c = c, .in = in};
    const struct wakeup of_stream = {
        .fd = c->stream ? c->stream->wake_fd : -1, .go_on = ingest_goes_on, .context = &ingesting};
    const struct wakeup *wakeup = c->wakeup || !c->stream ? c->wakeup : &of_stream;
    bool ok = true, more = true, waits;
    while (ok && more)
        ok = corpora_turn_ingest(&turn, in, wakeup, &more, &waits, e) &&
             (ingest_goes_on(&ingesting) || stopped(e)) &&
             (!waits || wakeup_sleep(c->wakeup, CORPORA_TURN_MS) || stopped(e));
    lock_drop(&turn.lock);
    return ok && purge(c, e);
}

static bool ingest(struct operation_context *c, const char *name, const struct corpus_add *p,
                   struct corpus_progress *sum, struct error *e)
{
    struct ingest *in;
    struct corpus_progress done;
    bool asks = false;
    if (!ingest_begin(c->corpora, name, p->paths.items, p->paths.len, &in, e))
        return false;
    bool ok = p->consent || ingest_asks(in, c->wakeup, &asks, e);
    if (ok) {
        ok = asks || (c->corpora->alone ? run_to_end(c, in, e) : ingest_start(in, e));
        ingest_progress(in, &done);
        free(sum->corpus);
        sum->corpus = mem_strdup(done.corpus);
        sum->files += done.files;
        sum->done += done.done;
        sum->added += done.added;
        sum->changed += done.changed;
        sum->unchanged += done.unchanged;
        sum->removed += done.removed;
        sum->failed += done.failed;
        sum->passages += done.passages;
        sum->bytes += done.bytes;
        sum->finished = done.finished;
        sum->asks = sum->asks || asks;
        shape_release(&corpus_progress_shape, &done);
    }
    ingest_free(in);
    return ok;
}

/* Makes the vectors. Those that the endpoint cannot make now are made by the next update. */
static bool end(struct operation_context *c, bool ok, struct corpus_progress *sum, struct error *e)
{
    const struct corpora_turn turn = {c->catalog.directory, -1};
    struct error why;
    enum corpora_work did = c->corpora->alone && !sum->asks ? CORPORA_WORKED : CORPORA_IDLE;
    int64_t left, most = 0;
    int retry_ms;
    while (ok && did != CORPORA_IDLE) {
        did = corpora_turn_embed(&turn, c->corpora, c->wakeup, &left, &retry_ms, &why);
        if (why.code != ERR_OK) {
            ok =
                err_set(e, why.code, "the documents are there, but vectors lack: %.180s", why.text);
            break;
        }
        most = left > most ? left : most;
        ok = (most == 0 || tell(c, "vectors", most - left, most, e)) &&
             (did != CORPORA_WAITS || wakeup_sleep(c->wakeup, CORPORA_TURN_MS) || stopped(e));
    }
    if (!ok)
        shape_release(&corpus_progress_shape, sum);
    return ok;
}

static bool run_add(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct corpus_add *p = params;
    if (!p->name)
        return err_set(e, ERR_USAGE, "\"corpus_id\" is missing; name the corpus");
    return end(c, ingest(c, p->name, p, result, e), result, e);
}

const struct operation operation_corpus_add = {
    OPERATION("corpus/add", OWNER, CORPORA,
              "Adds files and folders to a corpus; creates the corpus if needed."),
    COMMAND("corpus add", "NAME PATH...",
            N_("add files and folders to a corpus; creates the corpus if needed")),
    .details = N_("In folders, it skips files that .gitignore names, names that begin with a "
                  "dot, and symbolic links."),
    .params = &corpus_add_shape,
    .result = &corpus_progress_shape,
    .needs = WRITES,
    .run = run_add,
};

/* Without a name: the saved corpora that have paths, and those of tiro.ini. */
static bool run_update(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct corpus_add *p = params;
    struct corpus_list listed;
    struct text_list names;
    if (p->paths.len > 0)
        return err_set(e, ERR_USAGE, "an update takes no paths; corpus/add does");
    if (p->name)
        return end(c, ingest(c, p->name, p, result, e), result, e);
    corpora_configured(c->config, &names);
    bool ok = corpora_list(c->corpora, &listed, e);
    for (size_t i = 0; ok && i < listed.items.len; i++) {
        const struct corpus_info *info = &listed.items.items[i];
        bool known = info->paths.len == 0; /* it has given texts only */
        for (size_t k = 0; k < names.items.len && !known; k++)
            known = strcmp(names.items.items[k], info->name) == 0;
        if (!known)
            vec_push(&names.items, mem_strdup(info->name));
    }
    if (ok)
        shape_release(&corpus_list_shape, &listed);
    for (size_t i = 0; ok && i < names.items.len; i++)
        ok = ingest(c, names.items.items[i], p, result, e);
    vec_free_each(&names.items);
    return end(c, ok, result, e);
}

const struct operation operation_corpus_update = {
    OPERATION("corpus/update", OWNER, CORPORA,
              "Reads new and changed files of a corpus, and drops deleted ones."),
    COMMAND("corpus update", "[NAME]",
            N_("read new and changed files of a corpus or of all corpora, and drop deleted ones")),
    .params = &corpus_add_shape,
    .result = &corpus_progress_shape,
    .needs = WRITES,
    .run = run_update,
};

OPERATION_RUN(run_ingest, corpora_ingest_text(c->corpora, params, c->wakeup, result, e) &&
                              (!c->corpora->alone || purge(c, e)))

const struct operation operation_corpus_ingest = {
    OPERATION("corpus/ingest", OWNER, CORPORA,
              "Adds a text to a corpus; it replaces a text of the same name."),
    .params = &corpus_ingest_shape,
    .result = &corpus_ingested_shape,
    .needs = WRITES,
    .run = run_ingest,
};

/* --- taking out ------------------------------------------------------------------------------- */

OPERATION_RUN(run_remove,
              corpora_remove(c->corpora, params, result, e) && (!c->corpora->alone || purge(c, e)))

const struct operation operation_corpus_remove = {
    OPERATION("corpus/remove", OWNER, CORPORA,
              "Removes a corpus, or a document or folder of a corpus; the files stay."),
    COMMAND("corpus remove", "NAME [PATH]",
            N_("remove a corpus, or a file or folder of it; files stay")),
    .details = ASKS_ONCE,
    .params = &corpus_remove_shape,
    .result = &corpus_removed_shape,
    .needs = WRITES,
    .run = run_remove,
};
