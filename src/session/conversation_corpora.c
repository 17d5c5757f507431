/* The agent thread's part of corpora: what the model searches and adds. The surface's part is the
 * desk's. */
#include <string.h>

#include "knowledge/corpora.h"
#include "session/conversation_private.h"

/* --- what the user named ---------------------------------------------------------------------- */

/* The names in the session's messages; looked for again when there is another one. */
static void know_named(struct conversation *c)
{
    struct named_corpora *n = &c->named_corpora;
    int64_t turn = c->journal.history.last_turn_seq;
    struct error e;
    if (n->known && n->turn == turn && strcmp(n->session, c->journal.info.id) == 0)
        return;
    vec_free_each(&n->names.items);
    n->known = c->store && corpora_named(c->corpora, c->journal.info.id, &n->names, &e);
    n->turn = turn;
    memcpy(n->session, c->journal.info.id, sizeof n->session);
    c->cited = 0;
}

static bool any_named(void *conversation)
{
    struct conversation *c = conversation;
    know_named(c);
    return c->named_corpora.names.items.len > 0;
}

static bool is_named(struct conversation *c, const char *name)
{
    know_named(c);
    for (size_t i = 0; i < c->named_corpora.names.items.len; i++)
        if (strcmp(c->named_corpora.names.items.items[i], name) == 0)
            return true;
    return false;
}

/* --- the tools -------------------------------------------------------------------------------- */

static bool search(void *conversation, const struct corpus_search *what, struct corpus_found *out,
                   struct error *e)
{
    struct conversation *c = conversation;
    if (!what->corpus || !is_named(c, what->corpus))
        return err_set(e, ERR_USAGE,
                       "\"corpus_id\": the user has not named the corpus \"%.80s\" in this "
                       "session; one is named as @corpus:NAME in a message",
                       what->corpus ? what->corpus : "");
    return corpora_search(c->corpora, what, &c->wakeup, out, e);
}

static bool ingest(void *conversation, const struct corpus_ingest *text,
                   struct corpus_ingested *out, struct error *e)
{
    struct conversation *c = conversation;
    if (!corpora_ingest_text(c->corpora, text, &c->wakeup, out, e))
        return false;
    c->named_corpora.known = false; /* a name may have become one */
    corpora_desk_work(c->engine->corpora_desk);
    return true;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* What a killed program has left is gone on with; where nothing waits, no thread is started. */
static void catch_up(struct conversation *c)
{
    bool pending = false;
    struct error e;
    if (corpora_pending(c->corpora, &pending, &e) && pending)
        corpora_desk_work(c->engine->corpora_desk);
}

void conversation_open_corpora(struct conversation *c)
{
    if (!c->engine->corpora)
        return;
    c->corpora = corpora_open(c->config, c->lasting, place_directory(c->engine->lasting));
    c->corpora->alone = c->lasting != c->store;
    c->tool_corpora = (struct tool_corpora){.search = search,
                                            .ingest = ingest,
                                            .any_named = any_named,
                                            .cited = &c->cited,
                                            .context = c};
    catch_up(c);
}

void conversation_close_corpora(struct conversation *c)
{
    corpora_close(c->corpora);
    c->corpora = NULL;
    vec_free_each(&c->named_corpora.names.items);
    c->named_corpora = (struct named_corpora){0};
}
