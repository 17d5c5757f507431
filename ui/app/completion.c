#include "ui/app/completion.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/session_operations.h"
#include "ui/app/mentions.h"
#include "ui/app/picker.h"
#include "ui/app/slash.h"
#include "ui/app/turns.h"

/* The word before the caret that a completion replaces. */
enum place { PLACE_NONE, PLACE_COMMAND, PLACE_ARGUMENT, PLACE_MENTION };
struct target {
    enum place place;
    size_t from;  /* first byte that a completion replaces; it ends at the caret */
    char *word;   /* from there to the caret; of a mention: its name so far */
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
    } else if (mentions_at_caret(app, &t.from, &t.word)) {
        t.place = PLACE_MENTION;
        return t;
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

/* A folder is continued, unless its whole name was typed already. */
static void replace(struct app *app, const struct target *t, const char *text)
{
    AUTO(buf_release) struct buf whole = BUF_INIT;
    bool mention = t->place == PLACE_MENTION, folder = text[strlen(text) - 1] == '/';
    bool goes_on = mention && folder && strcmp(text, t->word) != 0;
    if (mention)
        mention_add(&whole, text);
    else
        buf_addstr(&whole, text);
    if (goes_on)
        buf_trim_end(&whole, "\""); /* the quote is closed behind the file's name */
    else
        buf_addch(&whole, ' ');
    editor_replace(app->editor, t->from, editor_caret(app->editor), whole.data);
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
            (void)app_ask(app, &operation_models_list, &(struct models_params){0}, take_models);
        picker_list_models(app, list, t->word);
        break;
    case ARGUMENT_EFFORT:
        picker_list_efforts(app, list, t->word);
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
    case ARGUMENT_FILE:
        app->completion_wanted = !mentions_list(app, list, t->word);
        break;
    case ARGUMENT_OTHER:
        break;
    }
    offer(app, t, list, true);
}

/* The list is offered at each key, and once it has been read. A name that is complete needs none,
 * so that Enter sends the message. */
static void offer_mentions(struct app *app, const struct target *t, bool asked)
{
    struct list *list = list_new(LIST_POPUP, NULL);
    bool known = mentions_list(app, list, t->word);
    bool complete = !asked && list_count(list) == 1 && strcmp(list_value(list), t->word) == 0;
    app->completion_wanted = asked && !known;
    if (complete)
        list_clear(list);
    offer(app, t, list, asked && known);
}

bool completion_start(struct app *app)
{
    AUTO(release) struct target t = find_target(app);
    app->completion_wanted = false;
    app->completion_closed = false;
    if (t.place == PLACE_COMMAND) {
        offer_commands(app, &t, true);
    } else if (t.place == PLACE_ARGUMENT) {
        offer_arguments(app, &t);
    } else if (t.place == PLACE_MENTION) {
        offer_mentions(app, &t, true);
    }
    return t.place != PLACE_NONE;
}

void completion_follow(struct app *app)
{
    AUTO(release) struct target t = find_target(app);
    app->completion_wanted = false;
    app->completion_closed =
        app->completion_closed && (t.place == PLACE_MENTION || *editor_text(app->editor) == '/');
    if (t.place == PLACE_COMMAND && !*t.word)
        completion_ask_skills(app); /* others may have been added */
    if (t.place == PLACE_COMMAND && !app->completion_closed)
        offer_commands(app, &t, false);
    else if (t.place == PLACE_MENTION && !app->completion_closed)
        offer_mentions(app, &t, false);
    else if (list_view_find(&app->views, LIST_COMPLETION))
        app_close_list(app);
    mentions_follow(app);
}

void completion_listed(struct app *app)
{
    AUTO(release) struct target t = find_target(app);
    if (views_holder(&app->views)) /* keys do not go to the editor */
        return;
    if (app->completion_wanted)
        (void)completion_start(app);
    else if (t.place == PLACE_MENTION && !app->completion_closed)
        offer_mentions(app, &t, false);
}
