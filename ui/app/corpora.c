#include "ui/app/corpora.h"

#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "session/corpus_operations.h"
#include "ui/app/app.h"
#include "ui/app/asked.h"
#include "ui/transcript/transcript.h"
#include "ui/view/memory_view.h"

/* --- the tab ---------------------------------------------------------------------------------- */

static void show(struct app *app, const char *query)
{
    if (!memory_view_open_tab(app->memory, "corpora", query))
        app_note(app, STYLE_WARNING, "%s",
                 _("Corpora are off. \"enabled = true\" in [corpus] of tiro.ini turns them on."));
}

void corpora_cite(struct app *app, const char *arguments)
{
    const char *digits = arguments + (*arguments == '[');
    int number = atoi(digits);
    if (number <= 0) {
        app_note(app, STYLE_WARNING, "%s", _("A citation is a number: /cite 2 opens [2]."));
        return;
    }
    char *query = mem_printf("[%d]", number);
    show(app, query);
    free(query);
}

void corpora_open_citation(struct app *app, const struct transcript_citation *citation)
{
    char *query = mem_printf("[%d]@%lld", citation->number, (long long)citation->before);
    show(app, query);
    free(query);
}

/* --- add and update --------------------------------------------------------------------------- */

static bool begun(struct app *app, struct operation_answer *a, const char *words)
{
    const struct corpus_progress *p = a->result;
    if (words)
        return false;
    if (p->asks)
        app_note(app, STYLE_WARNING, "%s",
                 _("More than 1,000 files or 100 MB would be sent to the embedding endpoint; "
                   "\"/corpus add! NAME PATH\" or \"/corpus update! NAME\" does so."));
    else
        app_note(app, STYLE_NOTE, _("Reading the files of the corpus %s; F2 shows how far it is."),
                 p->corpus ? p->corpus : "");
    return true;
}

/* The first word; *rest: what follows it. The caller frees. */
static char *first_word(const char *text, const char **rest)
{
    size_t len = strcspn(text, " ");
    *rest = text + len + strspn(text + len, " ");
    return mem_strndup(text, len);
}

static char *with_home(const char *path)
{
    const char *home = strncmp(path, "~/", 2) == 0 ? environment_get("HOME") : NULL;
    return home ? mem_printf("%s%s", home, path + 1) : mem_strdup(path);
}

/* "NAME PATH": the path is all that follows, so that it may have blanks. */
static void add(struct app *app, const char *words, bool consent)
{
    const char *rest;
    char *name = first_word(words, &rest), *path = with_home(rest);
    const char *paths[] = {path};
    if (*name && *path)
        (void)app_ask(
            app, &operation_corpus_add,
            &(struct corpus_add){.name = name, .paths = {paths, 1, 1}, .consent = consent}, begun);
    else
        app_note(app, STYLE_WARNING, "%s", _("/corpus add NAME PATH: a file or a folder."));
    free(path);
    free(name);
}

static void update(struct app *app, const char *words, bool consent)
{
    const char *rest;
    char *name = first_word(words, &rest);
    (void)app_ask(app, &operation_corpus_update,
                  &(struct corpus_add){.name = *name ? name : NULL, .consent = consent}, begun);
    free(name);
}

void corpora_run(struct app *app, const char *arguments)
{
    static const struct {
        const char *word;
        void (*run)(struct app *app, const char *words, bool consent);
        bool consent;
    } rows[] = {{"add", add, false},
                {"add!", add, true},
                {"update", update, false},
                {"update!", update, true}};
    const char *rest;
    char *word = first_word(arguments, &rest);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(word, rows[i].word) == 0) {
            rows[i].run(app, rest, rows[i].consent);
            free(word);
            return;
        }
    free(word);
    show(app, arguments);
}
