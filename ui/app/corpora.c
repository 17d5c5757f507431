#include "ui/app/corpora.h"

#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "session/corpus_operations.h"
#include "ui/app/app.h"
#include "ui/transcript/transcript.h"
#include "ui/view/memory_view.h"

/* The first word; *rest: what follows it. The caller frees. */
static char *first_word(const char *text, const char **rest)
{
    size_t len = strcspn(text, " ");
    *rest = text + len + strspn(text + len, " ");
    return mem_strndup(text, len);
}

void corpora_order_read(const char *arguments, struct corpora_order *out)
{
    static const struct {
        const char *word;
        enum corpora_order_kind kind;
        bool consent;
    } rows[] = {{"add", CORPORA_ADD, false},
                {"add!", CORPORA_ADD, true},
                {"update", CORPORA_UPDATE, false},
                {"update!", CORPORA_UPDATE, true}};
    const char *rest, *path = "";
    auto_free char *word = first_word(arguments, &rest);
    *out = (struct corpora_order){.kind = CORPORA_SHOW, .query = arguments};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(word, rows[i].word) == 0) {
            out->kind = rows[i].kind;
            out->consent = rows[i].consent;
            out->name = first_word(rest, &path);
        }
    if (out->kind == CORPORA_UPDATE && !*out->name) {
        free(out->name);
        out->name = NULL; /* all corpora */
    }
    if (out->kind != CORPORA_ADD)
        return;
    /* "NAME PATH": the path is the rest of the line, so it may have blanks. */
    const char *home = strncmp(path, "~/", 2) == 0 ? environment_get("HOME") : NULL;
    out->path = home ? mem_printf("%s%s", home, path + 1) : mem_strdup(path);
    if (!*out->name || !*out->path)
        out->complaint = _("/corpus add NAME PATH: a file or a folder.");
}

void corpora_order_release(struct corpora_order *o)
{
    free(o->name);
    free(o->path);
}

const char *corpora_read_citation(const char *arguments, int *number)
{
    *number = atoi(arguments + (*arguments == '['));
    return *number > 0 ? NULL : _("A citation is a number: /cite 2 opens [2].");
}

/* Messages about an ingest */

char *corpora_begun_text(const struct corpus_progress *p)
{
    if (p->asks)
        return mem_strdup(
            _("More than 1,000 files or 100 MB would be sent to the embedding endpoint; "
              "\"/corpus add! NAME PATH\" or \"/corpus update! NAME\" does so."));
    return p->corpus
               ? mem_printf(_("Reading the files of corpus %s; a line here says when it is done."),
                            p->corpus)
               : mem_strdup(_("Looking for changed files in all corpora."));
}

char *corpora_state_text(const struct notice *n, const char *why)
{
    const struct corpus_progress *p = &n->progress;
    const char *corpus = p->corpus ? p->corpus : "";
    const struct {
        int64_t count;
        const char *name;
    } rows[] = {{p->added, _("new")},
                {p->changed, _("changed")},
                {p->unchanged, _("unchanged")},
                {p->removed, _("removed")},
                {p->failed, _("unreadable")},
                {p->files - p->added - p->changed - p->unchanged - p->failed, _("without text")}};
    if (n->flag)
        return NULL; /* progress of the vectors, which is not announced */
    if (n->error.code != ERR_OK)
        return mem_printf(_("The corpus %s could not be read: %s"), corpus, n->error.text);
    if (!p->finished)
        return NULL;
    struct buf text = BUF_INIT;
    buf_addf(&text,
             ngettext("Corpus %s is read: %lld file", "Corpus %s is read: %lld files",
                      (unsigned long)p->files),
             corpus, (long long)p->files);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count > 0)
            buf_addf(&text, ", %lld %s", (long long)rows[i].count, rows[i].name);
    if (p->failed > 0)
        buf_addf(&text, "; %s", why);
    buf_addch(&text, '.');
    return buf_take(&text);
}

/* Commands */

static void show(struct app *app, const char *query)
{
    if (!memory_view_open_tab(app->memory, "corpora", query))
        app_note(app, STYLE_WARNING, "%s",
                 _("Corpora are off. \"enabled = true\" in [corpus] of tiro.ini turns them on."));
}

void corpora_cite(struct app *app, const char *arguments)
{
    struct transcript_citation citation = {0};
    int given = transcript_passages(app->transcript, SIZE_MAX);
    const char *complaint = corpora_read_citation(arguments, &citation.number);
    if (!complaint && given > 0 && citation.number > given)
        complaint = _("The model was given no passage with this number.");
    if (complaint)
        app_note(app, STYLE_WARNING, "%s", complaint);
    else
        corpora_open_citation(app, &citation);
}

void corpora_open_citation(struct app *app, const struct transcript_citation *citation)
{
    auto_free char *query = citation->before > 0 ? mem_printf("[%d]@%lld", citation->number,
                                                              (long long)citation->before)
                                                 : mem_printf("[%d]", citation->number);
    show(app, query);
    (void)memory_view_focus(app->memory, false); /* a letter would act on the passage */
}

static bool begun(struct app *app, struct operation_answer *a, const char *words)
{
    const struct corpus_progress *p = a->result;
    if (words)
        return false;
    auto_free char *text = corpora_begun_text(p);
    app_note_briefly(app, p->asks ? STYLE_WARNING : STYLE_NOTE, "%s", text);
    return true;
}

void corpora_run(struct app *app, const char *arguments)
{
    AUTO(corpora_order_release) struct corpora_order o = {0};
    corpora_order_read(arguments, &o);
    const char *paths[] = {o.path};
    const struct corpus_add params = {
        .name = o.name, .paths = {paths, o.path != NULL, 1}, .consent = o.consent};
    if (o.kind == CORPORA_SHOW)
        show(app, o.query);
    else if (o.complaint)
        app_note(app, STYLE_WARNING, "%s", o.complaint);
    else
        (void)app_ask(app, o.kind == CORPORA_ADD ? &operation_corpus_add : &operation_corpus_update,
                      &params, begun);
}
