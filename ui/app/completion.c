#include "ui/app/completion.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/corpus_operations.h"
#include "session/session_operations.h"
#include "ui/app/picker.h"
#include "ui/app/slash.h"
#include "ui/app/turns.h"

enum { PATH_ENTRIES_MAX = 2000 }; /* of one directory; the rest is left out */

/* Reads a directory on a worker, so that a slow disk never blocks the keyboard. */
struct path_listing {
    struct errand errand;
    char *directory;   /* as it was asked for; "": the working directory */
    VEC(char *) names; /* sorted; directories end in "/". None where it cannot be read */
};

static void release_listing(struct errand *e)
{
    struct path_listing *l = (struct path_listing *)e;
    vec_free_each(&l->names);
    free(l->directory);
    free(l);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_directory(struct errand *e)
{
    struct path_listing *l = (struct path_listing *)e;
    DIR *dir = opendir(*l->directory ? l->directory : ".");
    if (!dir)
        return;
    for (struct dirent *entry; l->names.len < PATH_ENTRIES_MAX && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        struct stat status;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        auto_free char *path = mem_printf("%s%s", l->directory, name);
        bool directory = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
        vec_push(&l->names, mem_printf("%s%s", name, directory ? "/" : ""));
    }
    closedir(dir);
    if (l->names.len > 0)
        qsort(l->names.items, l->names.len, sizeof *l->names.items, by_name);
}

/* "@corpus:NAME" in a message names a corpus. */
#define CORPUS_MARK "corpus:"

/* The word before the caret that a completion replaces. */
enum place { PLACE_NONE, PLACE_COMMAND, PLACE_ARGUMENT, PLACE_CORPUS, PLACE_PATH };
struct target {
    enum place place;
    size_t from;  /* first byte that a completion replaces; it ends at the caret */
    char *word;   /* from there to the caret */
    char *before; /* earlier arguments of a command that takes several; NULL: none */
    const struct slash_command *command;
};

static struct target find_target(const struct app *app)
{
    const char *text = editor_text(app->editor);
    size_t caret = editor_caret(app->editor), from = caret;
    struct slash_line line = slash_parse(text);
    struct target t = {0};
    while (from > 0 && !strchr(" \t\n", text[from - 1]))
        from--;
    if (line.kind == SLASH_COMMAND && caret <= 1 + line.name_len) {
        t.place = PLACE_COMMAND;
        t.from = 1;
    } else if (text[from] == '@' && from < caret) {
        bool corpus = strncmp(text + from + 1, CORPUS_MARK, sizeof CORPUS_MARK - 1) == 0;
        t.place = corpus ? PLACE_CORPUS : PLACE_PATH;
        t.from = from + 1;
    } else if (line.kind == SLASH_COMMAND && caret >= line.arguments) {
        t.command = slash_find(text + 1, line.name_len);
        t.place = t.command && t.command->kind != ARGUMENT_OTHER ? PLACE_ARGUMENT : PLACE_NONE;
        t.from = line.arguments;
        if (t.place == PLACE_ARGUMENT && t.command->kind == ARGUMENT_COMPACT &&
            from > line.arguments) { /* it takes several words */
            t.from = from;
            t.before = mem_strndup(text + line.arguments, from - line.arguments);
        }
    }
    if (t.place != PLACE_NONE && caret >= t.from)
        t.word = mem_strndup(text + t.from, caret - t.from);
    else
        t.place = PLACE_NONE;
    return t;
}

static void release(struct target *t)
{
    free(t->word);
    free(t->before);
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A path that ends in a slash, or the mark of corpora, is continued; all else is complete. */
static void replace(struct app *app, const struct target *t, const char *text)
{
    bool done = t->place != PLACE_PATH || !strchr("/:", text[strlen(text) - 1]);
    auto_free char *whole = mem_printf("%s%s", text, done ? " " : "");
    editor_replace(app->editor, t->from, editor_caret(app->editor), whole);
    app_edited(app);
}

/* Takes the chosen row into the message. */
static void accept(struct app *app, const char *value)
{
    AUTO(release) struct target t = find_target(app);
    if (t.place != PLACE_NONE)
        replace(app, &t, value);
}

static void leave(struct app *app)
{
    app->completion_closed = true;
}

/* Takes the list. If Tab asked for it, a single row is chosen at once; no row closes the popup. */
static void offer(struct app *app, const struct target *t, struct list *list, bool asked)
{
    size_t count = list_count(list);
    if (count > 1 || (count == 1 && !asked)) {
        const struct list_view_host to = {accept, leave, t->place == PLACE_COMMAND};
        views_open(&app->views, list_view_new(&app->host, LIST_COMPLETION, list, &to));
        app_touch_now(app, DIRTY_BODY);
        return;
    }
    auto_free char *only = count == 1 ? mem_strdup(list_value(list)) : NULL;
    list_free(list);
    if (list_view_find(&app->views, LIST_COMPLETION))
        app_close_list(app);
    if (only)
        replace(app, t, only);
}

static void offer_commands(struct app *app, const struct target *t, bool asked)
{
    struct list *list = list_new(LIST_POPUP, NULL);
    slash_list(app, list, t->word);
    offer(app, t, list, asked);
}

static bool take_skills(struct app *app, struct operation_answer *a, const char *words)
{
    const char *text = editor_text(app->editor);
    if (words)
        return true;
    bool others = slash_know_skills(a->result);
    if (others && *text == '/' && text[1] && !views_holder(&app->views)) {
        struct list *list = list_view_find(&app->views, LIST_COMPLETION);
        auto_free char *marked = list ? mem_strdup(list_value(list)) : NULL;
        completion_follow(app);
        list = list_view_find(&app->views, LIST_COMPLETION);
        if (list)
            list_mark(list, marked);
    }
    return true;
}

void completion_ask_skills(struct app *app)
{
    if (app->engine) /* some tests have none */
        (void)app_ask(app, &operation_skill_list, NULL, take_skills);
}

static bool take_models(struct app *app, struct operation_answer *a, const char *words)
{
    bool told = picker_take_models(app, a, words);
    if (told)
        completion_listed(app);
    return told;
}

bool completion_take_sessions(struct app *app, struct operation_answer *a, const char *words)
{
    if (words)
        return false;
    struct session_list_result *found = a->result;
    session_list_release(&app->sessions);
    app->sessions = found->sessions;
    found->sessions = (struct session_list){0};
    app->sessions_known = true;
    completion_listed(app);
    return true;
}

static void add_sessions(struct app *app, struct list *list, const char *prefix)
{
    static const struct session_filter every = {0};
    const struct session_list *sessions = &app->sessions;
    if (!app->sessions_known) {
        app->completion_wanted = true;
        (void)app_ask(app, &operation_session_list, &every, completion_take_sessions);
    }
    for (size_t i = 0; i < sessions->items.len; i++) {
        const struct session_info *s = &sessions->items.items[i];
        int same = 0; /* a title that two sessions share does not name one */
        for (size_t j = 0; j < sessions->items.len; j++)
            same += strcmp(sessions->items.items[j].title, s->title) == 0;
        const char *name = *s->title && same == 1 ? s->title : s->id;
        list_add_match(list, prefix, name, name == s->id ? s->title : NULL);
    }
}

static void offer_arguments(struct app *app, const struct target *t)
{
    const struct models_result *m = &app->models;
    struct list *list = list_new(LIST_POPUP, NULL);
    struct theme_names themes;
    switch (t->command->kind) {
    case ARGUMENT_THEME:
        theme_names(&themes);
        for (size_t i = 0; i < themes.items.len; i++)
            list_add_match(list, t->word, themes.items.items[i], NULL);
        vec_free_each(&themes.items);
        break;
    case ARGUMENT_MODEL:
        app->completion_wanted = !app->models_known;
        if (!app->models_known)
            (void)app_ask(app, &operation_models_list, NULL, take_models);
        for (size_t i = 0; i < m->models.len; i++)
            list_add_match(list, t->word, m->models.items[i], NULL);
        for (size_t i = 0; i < m->providers.len; i++)
            if (!m->providers.items[i].wants)
                list_add_match(list, t->word, m->providers.items[i].name,
                               _("switch to this provider"));
        break;
    case ARGUMENT_SESSION:
        add_sessions(app, list, t->word);
        break;
    case ARGUMENT_TURN:
    case ARGUMENT_FORK:
        turns_list(app, list, t->word, t->command->kind == ARGUMENT_FORK);
        break;
    case ARGUMENT_COMPACT:
        compact_list(list, t->before ? t->before : "", t->word);
        break;
    case ARGUMENT_COPY:
        list_add_match(list, t->word, "code", NULL);
        break;
    case ARGUMENT_OTHER:
        break;
    }
    offer(app, t, list, true);
}

/* The part of the word up to its last slash. */
static char *directory_of(const char *word)
{
    const char *slash = strrchr(word, '/');
    return mem_strndup(word, slash ? (size_t)(slash - word) + 1 : 0);
}

static void offer_paths(struct app *app, struct errand *e)
{
    const struct path_listing *listing = (const struct path_listing *)e;
    AUTO(release) struct target t = find_target(app);
    auto_free char *directory = t.place == PLACE_PATH ? directory_of(t.word) : NULL;
    if (directory && strcmp(directory, listing->directory) == 0) {
        const char *prefix = t.word + strlen(directory);
        struct list *list = list_new(LIST_POPUP, NULL);
        for (size_t i = 0; i < listing->names.len; i++) {
            const char *name = listing->names.items[i];
            if (!begins(name, prefix) || (*name == '.' && *prefix != '.'))
                continue;
            auto_free char *path = mem_printf("%s%s", directory, name);
            list_add(list, name, NULL, path);
        }
        if (!*directory && *t.word)
            list_add_match(list, t.word, CORPUS_MARK, _("a corpus"));
        offer(app, &t, list, true);
    }
}

static bool take_corpora(struct app *app, struct operation_answer *a, const char *words)
{
    const struct corpus_list *listed = a->result;
    vec_free_each(&app->corpora);
    for (size_t i = 0; !words && i < listed->items.len; i++)
        vec_push(&app->corpora, mem_printf(CORPUS_MARK "%s", listed->items.items[i].name));
    completion_listed(app);
    return true;
}

bool completion_start(struct app *app)
{
    AUTO(release) struct target t = find_target(app);
    bool wanted = app->completion_wanted; /* the names have come */
    app->completion_wanted = false;
    app->completion_closed = false;
    if (t.place == PLACE_COMMAND) {
        offer_commands(app, &t, true);
    } else if (t.place == PLACE_ARGUMENT) {
        offer_arguments(app, &t);
    } else if (t.place == PLACE_CORPUS && wanted) {
        struct list *list = list_new(LIST_POPUP, NULL);
        for (size_t i = 0; i < app->corpora.len; i++)
            list_add_match(list, t.word, app->corpora.items[i], NULL);
        offer(app, &t, list, true);
    } else if (t.place == PLACE_CORPUS) { /* listed anew each time: others may have been added */
        app->completion_wanted = true;
        (void)app_ask(app, &operation_corpus_list, NULL, take_corpora);
    } else if (t.place == PLACE_PATH) {
        struct path_listing *l = mem_alloc(sizeof *l);
        l->errand =
            (struct errand){.run = read_directory, .done = offer_paths, .release = release_listing};
        l->directory = directory_of(t.word);
        errand_start(app->errands, &l->errand);
    }
    return t.place != PLACE_NONE;
}

void completion_follow(struct app *app)
{
    AUTO(release) struct target t = find_target(app);
    app->completion_wanted = false;
    if (t.place == PLACE_COMMAND && !*t.word)
        completion_ask_skills(app); /* others may have been added */
    if (t.place == PLACE_COMMAND && !app->completion_closed)
        offer_commands(app, &t, false);
    else if (list_view_find(&app->views, LIST_COMPLETION))
        app_close_list(app);
}

void completion_listed(struct app *app)
{
    if (app->completion_wanted && !views_holder(&app->views)) /* keys go to the editor */
        (void)completion_start(app);
}
