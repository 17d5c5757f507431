/* A text that is given, not read from a file. */
#include <stdlib.h>
#include <string.h>

#include "knowledge/corpora_private.h"
#include "knowledge/document.h"

static bool check_given(const struct corpus_ingest *t, struct error *e)
{
    size_t len = strlen(t->text), name = strlen(t->filename);
    if (name == 0 || name > CORPUS_FILE_BYTES)
        return err_set(e, ERR_USAGE, "\"filename\" is empty or longer than %d bytes",
                       CORPUS_FILE_BYTES);
    return len <= CORPUS_TEXT_BYTES ||
           err_set(e, ERR_USAGE, "\"text\" is larger than %d bytes; give it in parts",
                   CORPUS_TEXT_BYTES);
}

static bool load_given(const struct corpus_ingest *t, const struct wakeup *wakeup,
                       struct chunks *out, struct error *e)
{
    const struct document_options options = {.limits = document_limits, .wakeup = wakeup};
    struct loaded_document d;
    struct error why = {0};
    switch (document_load_text(&d, t->filename, t->text, strlen(t->text), &options, &why)) {
    case DOCUMENT_LOADED:
        chunks_make(out, &d, CHUNK_CHARACTERS);
        loaded_document_release(&d);
        return out->items.len > 0 ||
               err_set(e, ERR_USAGE, "\"text\" has nothing that could be found");
    case DOCUMENT_STOPPED:
        return err_set(e, ERR_INTERRUPTED, "stopped; nothing was kept");
    default:
        return err_set(e, ERR_USAGE, "\"text\": %.200s", why.text);
    }
}

static bool write_given(struct corpora *c, const struct corpus_ingest *t, struct writing *w,
                        struct error *e)
{
    struct document_row row = {.file = t->filename,
                               .given = true,
                               .size = (int64_t)strlen(t->text),
                               .loader = DOCUMENT_RULES};
    struct chunks chunks = w->chunks;
    bool more = true;
    bool ok = corpora_make(c->store, t->corpus, &row.corpus, e) && writing_begin(c, &row, w, e);
    w->chunks = chunks;
    if (!ok)
        return false;
    while (more)
        if (!writing_step(w, &more, e))
            return false;
    return true;
}

bool corpora_ingest_text(struct corpora *c, const struct corpus_ingest *text,
                         const struct wakeup *wakeup, struct corpus_ingested *out, struct error *e)
{
    struct writing w = {0};
    *out = (struct corpus_ingested){0};
    bool ok = check_given(text, e) && load_given(text, wakeup, &w.chunks, e) &&
              write_given(c, text, &w, e);
    if (ok)
        *out = (struct corpus_ingested){w.row.number, (int64_t)w.chunks.items.len};
    writing_release(&w);
    return ok;
}
