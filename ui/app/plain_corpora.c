/* Corpora in lines: /corpus and /cite. */
#include <stdlib.h>

#include "base/i18n.h"
#include "session/corpus_operations.h"
#include "ui/app/corpora.h"
#include "ui/app/plain_private.h"

/* --- what there is ---------------------------------------------------------------------------- */

static void write_corpus(struct plain *p, const struct corpus_info *n)
{
    plain_writef(&p->out, _("%s: documents %lld, passages %lld, unreadable %lld%s"), n->name,
                 (long long)n->documents, (long long)n->passages, (long long)n->failed,
                 n->pending ? _(" (being read)") : "");
}

static void take_list(struct plain *p, struct operation_answer *a)
{
    const struct corpus_list *list = a->result;
    int64_t failed = 0;
    for (size_t i = 0; i < list->items.len; i++) {
        write_corpus(p, &list->items.items[i]);
        failed += list->items.items[i].failed;
    }
    if (failed > 0)
        plain_write(&p->out,
                    _("'tiro corpus show --failed NAME' says what could not be read and why."));
    if (list->items.len == 0)
        plain_write(&p->out, _("There is no corpus. /corpus add NAME PATH makes one."));
    else
        plain_write(
            &p->out,
            _("@corpus:NAME in a message lets the model search it; /corpus QUERY does so here."));
}

/* --- passages --------------------------------------------------------------------------------- */

/* "[2] /d/kyoto.md:12 (Travel > Sleeping)", then the text. */
static void write_passage(struct plain *p, const struct corpus_passage *n, int number)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "[%d] %s", number, n->file);
    if (n->page > 0)
        buf_addf(&text, _(" p. %lld"), (long long)n->page);
    else if (n->line > 0)
        buf_addf(&text, ":%lld", (long long)n->line);
    if (n->heading && *n->heading)
        buf_addf(&text, " (%s)", n->heading);
    buf_addf(&text, "\n%s", n->content);
    plain_write(&p->out, text.data);
    buf_release(&text);
}

static void take_found(struct plain *p, struct operation_answer *a)
{
    const struct corpus_found *found = a->result;
    for (size_t i = 0; i < found->items.len; i++)
        write_passage(p, &found->items.items[i], (int)i + 1);
    if (found->badge)
        plain_write(&p->out, found->badge);
    plain_writef(
        &p->out,
        ngettext("%lld passage searched", "%lld passages searched", (unsigned long)found->searched),
        (long long)found->searched);
}

static void take_cited(struct plain *p, struct operation_answer *a)
{
    const struct corpus_passages *given = a->result;
    for (size_t i = 0; i < given->items.len; i++)
        if (given->items.items[i].number == p->cited) {
            write_passage(p, &given->items.items[i], p->cited);
            return;
        }
    plain_write(&p->out, _("The model was given no passage with this number."));
}

void plain_cite(struct plain *p, const char *arguments)
{
    p->cited = corpora_citation_number(arguments);
    if (p->cited > 0)
        plain_ask(p, &operation_corpus_cited, &(struct corpus_cited){p->session.id, 0}, take_cited);
    else
        plain_write(&p->out, corpora_citation_complaint());
}

/* --- /corpus ---------------------------------------------------------------------------------- */

static void take_begun(struct plain *p, struct operation_answer *a)
{
    char *text = corpora_begun_text(a->result);
    plain_write(&p->out, text);
    free(text);
}

void plain_take_corpora_state(struct plain *p, struct notice *n)
{
    char *text = corpora_state_text(n, _("'tiro corpus show --failed NAME' says why"));
    if (text)
        plain_write(&p->out, text);
    free(text);
}

void plain_corpus(struct plain *p, const char *arguments)
{
    struct corpora_order o;
    corpora_order_read(arguments, &o);
    const char *paths[] = {o.path};
    const struct corpus_add change = {
        .name = o.name, .paths = {paths, o.path != NULL, 1}, .consent = o.consent};
    const struct corpus_search search = {.query = o.query, .hybrid_weight = -1};
    if (o.kind == CORPORA_INCOMPLETE)
        plain_write(&p->out, corpora_order_complaint());
    else if (o.kind == CORPORA_ADD)
        plain_ask(p, &operation_corpus_add, &change, take_begun);
    else if (o.kind == CORPORA_UPDATE)
        plain_ask(p, &operation_corpus_update, &change, take_begun);
    else if (*o.query)
        plain_ask(p, &operation_corpus_search, &search, take_found);
    else
        plain_ask(p, &operation_corpus_list, NULL, take_list);
    corpora_order_release(&o);
}
