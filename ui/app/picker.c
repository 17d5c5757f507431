#include "ui/app/picker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"
#include "config/edit.h"
#include "session/session_operations.h"
#include "ui/app/faults.h"
#include "ui/app/slash.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/view/hints.h"

#define INPUTS_MAX 1000

/* Help: a heading has no value and no detail (list.h). */

static void heading(struct list *list, const char *text)
{
    list_add(list, "", NULL, "");
    list_add(list, text, NULL, NULL);
}

static void take_hint(void *context, const char *keys, const char *text)
{
    struct list *list = context;
    if (list_count(list) == 0)
        list_add(list, _("Here"), NULL, NULL);
    list_add(list, keys, text, "");
}

struct help_row {
    const char *keys, *help;
};
static const struct help_row in_messages[] = {
    {"/", N_("first in it: a command; \"//\" sends a text that begins with one slash")},
    {"!", N_("first in it: a command of the shell; its output comes into the conversation")},
    {"@", N_("before a name: a file, folder, corpus or skill goes with the message")}};

static const struct help_row in_lists[] = {
    {N_("letters"), N_("filter as you type")},
    {"/", N_("in the themes, the efforts and texts such as this one: begin a filter")},
    {"j k g G n N", N_("in the themes and efforts, before a filter: down, up, to the first, to the "
                       "last, down, up")},
    {"Space", N_("in a text such as this one: a page down")},
    {"Enter", N_("choose; in a text such as this one: close")},
    {"Esc", N_("close")}};

/* Each group begins with the action and has those before the next. */
static const struct {
    enum action first;
    const char *title;
} groups[] = {{ACTION_SEND, N_("Keys ([keys] in tiro.ini changes them)")},
              {ACTION_SESSIONS, N_("Sessions")},
              {ACTION_MEMORY, N_("Memory and context")},
              {ACTION_FIND, N_("Transcript")},
              {ACTION_UP, N_("Editing a message")},
              {ACTION_BACKGROUND, N_("While a tool runs or asks")},
              {ACTION_SELECT_COPY, N_("In selected messages")},
              {ACTION_CONTEXT_PIN, N_("In the context and in a compaction")},
              {ACTION_MEMORY_OPEN, N_("In the memory pane")}};

static const struct {
    enum glyph mark;
    const char *help;
} status_marks[] = {{GLYPH_GAUGE_FULL, N_("what the next request contains")},
                    {GLYPH_BAR, N_("where automatic compaction begins")},
                    {GLYPH_AGAIN, N_("number of compactions")}};

/* The keys of the view that has the keyboard come first, then groups of keys. */
void picker_help(struct app *app)
{
    struct list *list = list_new(LIST_READ, _("Help"));
    struct view *focus = views_holder(&app->views);
    if (focus && focus->ops->rows) {
        hints_collect(take_hint, list);
        (void)focus->ops->rows(focus);
        hints_collect(NULL, NULL);
    }
    if (list_count(list) > 0)
        list_add(list, "", NULL, "");
    list_add(list, _("Write a message and send it; the answer streams in above."), NULL, "");
    for (size_t i = 0; i < sizeof in_messages / sizeof *in_messages; i++)
        list_add(list, in_messages[i].keys, _(in_messages[i].help), "");
    for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
        AUTO(buf_release) struct buf keys = BUF_INIT;
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
            if (groups[i].first == (enum action)a)
                heading(list, _(groups[i].title));
        keymap_describe(&app->keymap, (enum action)a, &keys);
        if (keys.len > 0)
            list_add(list, keys.data, _(action_info((enum action)a)->help), "");
    }
    heading(list, _("Commands"));
    slash_list(app, list, NULL);
    heading(list, _("In lists"));
    AUTO(rows_release) struct rows unseen;
    rows_init(&unseen);
    hints_collect(take_hint, list);
    hints_rows(&unseen, &app->keymap,
               (struct hint_table){.common = COMMON_MOVE | COMMON_EMACS | COMMON_CLOSE}, 0, 0);
    hints_collect(NULL, NULL);
    for (size_t i = 0; i < sizeof in_lists / sizeof *in_lists; i++)
        list_add(list, _(in_lists[i].keys), _(in_lists[i].help), "");
    heading(list, _("Status line"));
    for (size_t i = 0; i < sizeof status_marks / sizeof *status_marks; i++)
        list_add(list, glyph(status_marks[i].mark), _(status_marks[i].help), "");
    list_add(list, "~", _("an estimate"), "");
    heading(list, _("Mouse"));
    list_add(list, _("wheel"), _("scrolls; with Shift held, text can be selected"), "");
    list_add(list, _("click"), _("opens and folds a tool call or reasoning, opens a compaction"),
             "");
    app_open_list(app, LIST_HELP, list, NULL);
}

/* Commands */

static void chose_command(struct app *app, const char *value)
{
    const struct slash_command *c = slash_find(value, strlen(value));
    auto_free char *line = mem_printf("/%s ", value);
    if (!c) /* a skill that was removed meanwhile */
        return;
    if (*editor_text(app->editor) == '\0' && slash_needs_argument(c))
        app_write(app, line);
    else if (slash_needs_argument(c))
        app_note(app, STYLE_NOTE, "/%s %s: %s", c->name, c->arguments, _(c->help));
    else
        slash_do(app, c, "");
}

void picker_palette(struct app *app)
{
    struct list *list = list_new(LIST_TYPE, _("Commands"));
    slash_list(app, list, "");
    app_open_list(app, LIST_PALETTE, list, chose_command);
}

/* Earlier messages */

static void fill_history(struct app *app)
{
    struct list *list = list_view_find(&app->views, LIST_HISTORY);
    if (!list)
        return;
    list_clear(list);
    const char *text;
    for (size_t i = 0; (text = editor_history_at(app->editor, i)); i++)
        list_add(list, text, NULL, text);
    app_touch_now(app, DIRTY_BODY);
}

static bool take_inputs(struct app *app, struct operation_answer *a, const char *words)
{
    const struct session_inputs_result *found = a->result;
    if (words)
        return false;
    editor_history_load(app->editor, found->texts.items, found->texts.len);
    fill_history(app);
    return true;
}

void picker_want_inputs(struct app *app)
{
    static const struct session_inputs_params newest = {.limit = INPUTS_MAX};
    if (!app->inputs_asked)
        (void)app_ask(app, &operation_session_inputs, &newest, take_inputs);
    app->inputs_asked = true;
}

void picker_history(struct app *app)
{
    picker_want_inputs(app);
    struct list *list = list_new(LIST_TYPE, _("Earlier messages"));
    list_set_empty(list, _("No message was sent yet."));
    app_open_list(app, LIST_HISTORY, list, app_write);
    fill_history(app);
}

/* Choices that are saved in tiro.ini for the next start */

struct saving {
    struct errand errand;
    struct kept {
        enum config_key key;
        char *value;
    } kept[2];
    char *what; /* "Theme: light" */
    bool saved;
    struct error fault;
};

static void save(struct errand *e)
{
    struct saving *s = (struct saving *)e;
    s->saved = true;
    for (size_t i = 0; i < 2 && s->saved && s->kept[i].value; i++) {
        const struct config_key_info *k = config_key_info(s->kept[i].key);
        s->saved = config_file_set(k->section, k->name, s->kept[i].value, &s->fault);
    }
}

static void say_saved(struct app *app, struct errand *e)
{
    const struct saving *s = (const struct saving *)e;
    auto_free char *variable = NULL; /* in the environment, and overrides a saved key */
    auto_free char *path = paths_config_file();
    const char *file = strrchr(path, '/') + 1;
    for (size_t i = 0; i < 2 && s->kept[i].value && !variable; i++)
        if (config_origin(app->config, s->kept[i].key) == CONFIG_FROM_ENVIRONMENT)
            variable = config_variable(s->kept[i].key);
    if (e->refused)
        app_note_briefly(app, STYLE_WARNING, _("%s. It could not be saved."), s->what);
    else if (!s->saved)
        app_note_briefly(app, STYLE_WARNING, _("%s. It could not be saved:\n%s"), s->what,
                         s->fault.text);
    else if (variable)
        app_note_briefly(app, STYLE_NOTE,
                         _("%s, saved in %s. The variable %s comes before that at the next start."),
                         s->what, file, variable);
    else
        app_note_briefly(app, STYLE_NOTE, _("%s, saved in %s."), s->what, file);
}

static void release_saving(struct errand *e)
{
    struct saving *s = (struct saving *)e;
    free(s->kept[0].value);
    free(s->kept[1].value);
    free(s->what);
    free(s);
}

void picker_keep(struct app *app, enum config_key key, const char *value, enum config_key other,
                 const char *other_value, char *what)
{
    struct saving *s = mem_alloc(sizeof *s);
    *s = (struct saving){
        .errand = {.run = save, .done = say_saved, .release = release_saving},
        .kept = {{key, mem_strdup(value)}, {other, other_value ? mem_strdup(other_value) : NULL}},
        .what = what};
    errand_start(app->errands, &s->errand);
}

/* Models and providers */

static bool next_provider(const char **at, char name[32])
{
    *at += strspn(*at, " ");
    size_t len = strcspn(*at, " ");
    snprintf(name, 32, "%.*s", (int)len, *at);
    *at += len;
    return len > 0;
}

char *picker_read_model(const char *text, struct session_model_params *out)
{
    size_t first = strcspn(text, "/");
    char *provider = mem_strndup(text, first), name[32];
    const char *rest = text[first] ? text + first + 1 : "";
    const char *at = config_key_info(CONFIG_PROVIDER_NAME)->choices;
    bool known = false;
    while (!known && next_provider(&at, name))
        known = strcmp(name, provider) == 0;
    *out = known ? (struct session_model_params){.provider = provider, .model = *rest ? rest : NULL}
                 : (struct session_model_params){.model = text};
    return provider;
}

/* Offline is never saved: it is the provider of last resort, not a choice. */
static bool took_model(struct app *app, struct operation_answer *a, const char *words)
{
    (void)a;
    if (!words && app->provider && app->model && strcmp(app->provider, "offline") != 0)
        picker_keep(app, CONFIG_PROVIDER_NAME, app->provider, CONFIG_PROVIDER_MODEL, app->model,
                    mem_printf(_("Model: %s/%s"), app->provider, app->model));
    return !words;
}

/* The value is PROVIDER/MODEL or "PROVIDER/". */
static void chose_model(struct app *app, const char *value)
{
    const char *slash = strchr(value, '/');
    auto_free char *provider = mem_strndup(value, (size_t)(slash - value));
    const struct session_model_params params = {.provider = provider,
                                                .model = slash[1] ? slash + 1 : NULL};
    (void)app_ask(app, &operation_session_set_model, &params, took_model);
}

/* NULL: the provider was not asked. */
static struct models_result *models_of(const struct app *app, const char *provider)
{
    for (size_t i = 0; i < app->models.len; i++)
        if (strcmp(app->models.items[i].provider, provider) == 0)
            return &app->models.items[i];
    return NULL;
}

static bool is_present(const struct app *app, const char *provider)
{
    return app->provider && strcmp(app->provider, provider) == 0;
}

/* The variable that must hold the provider's key, if models/list names one. */
static const char *wanted_by(const struct app *app, const char *provider)
{
    const struct models_result *m = app->models.len > 0 ? &vec_last(&app->models) : NULL;
    for (size_t i = 0; m && i < m->providers.len; i++)
        if (strcmp(m->providers.items[i].name, provider) == 0)
            return m->providers.items[i].wants;
    return NULL;
}

char *picker_model_text(const struct model_offer *m)
{
    struct buf text = BUF_INIT;
    if (m->window > 0)
        format_short(&text, m->window);
    if (m->input_price >= 0 && m->output_price >= 0) {
        auto_free char *price = mem_printf(_("$%g in, $%g out"), m->input_price, m->output_price);
        buf_addf(&text, "%s%s%s", text.len > 0 ? " " : "", text.len > 0 ? glyph(GLYPH_DOT) : "",
                 text.len > 0 ? " " : "");
        buf_addstr(&text, price);
        if (m->price_date)
            buf_addf(&text, " %s %s", glyph(GLYPH_DOT), m->price_date);
    }
    return text.len > 0 ? buf_take(&text) : mem_strdup("");
}

static void add_models(const struct app *app, struct list *list, const char *provider)
{
    const struct models_result *m = models_of(app, provider);
    for (size_t i = 0; m && i < m->models.len; i++) {
        const struct model_offer *offer = &m->models.items[i];
        bool in_use =
            is_present(app, provider) && app->model && strcmp(offer->name, app->model) == 0;
        auto_free char *value = mem_printf("%s/%s", provider, offer->name);
        auto_free char *facts = picker_model_text(offer);
        AUTO(buf_release) struct buf detail = BUF_INIT;
        buf_addstr(&detail, provider);
        if (in_use)
            buf_addf(&detail, ", %s", _("in use"));
        if (*facts)
            buf_addf(&detail, " %s %s", glyph(GLYPH_DOT), facts);
        list_add(list, offer->name, detail.data, value);
    }
}

/* The text of a provider's row; the caller frees it. */
static char *provider_text(const struct app *app, const char *provider)
{
    const struct models_result *m = models_of(app, provider);
    const char *wants = wanted_by(app, provider);
    size_t len = strlen(provider);
    if (wants)
        return mem_printf(_("no key: set %s"), wants);
    if (m && m->fault.code != ERR_OK) {
        bool named = strncmp(m->fault.text, provider, len) == 0 &&
                     strncmp(m->fault.text + len, ": ", 2) == 0;
        return mem_strdup(m->fault.text + (named ? len + 2 : 0));
    }
    return mem_strdup(is_present(app, provider) ? _("in use") : _("switch to this provider"));
}

/* Fills the list, if it is open: the models of the present provider, of the others, the providers.
 */
static void fill_models(struct app *app)
{
    struct list *list = list_view_find(&app->views, LIST_MODELS);
    const char *choices = config_key_info(CONFIG_PROVIDER_NAME)->choices, *at = choices;
    char provider[32];
    if (!list)
        return;
    auto_free char *marked = mem_strdup(list_value(list));
    list_clear(list);
    if (app->provider)
        add_models(app, list, app->provider);
    while (next_provider(&at, provider))
        if (!is_present(app, provider))
            add_models(app, list, provider);
    for (at = choices; next_provider(&at, provider);) {
        auto_free char *value = mem_printf("%s/", provider);
        auto_free char *detail = provider_text(app, provider);
        list_add(list, provider, detail, value);
    }
    list_mark(list, marked);
    auto_free char *first = mem_printf("%.*s/", (int)strcspn(choices, " "), choices);
    auto_free char *used =
        mem_printf("%s/%s", app->provider ? app->provider : "", app->model ? app->model : "");
    if (!marked || strcmp(marked, first) == 0) /* the person has moved nowhere */
        list_mark(list, used);
    app_touch_now(app, DIRTY_BODY);
}

void picker_list_models(const struct app *app, struct list *list, const char *word)
{
    const char *at = config_key_info(CONFIG_PROVIDER_NAME)->choices;
    char provider[32];
    for (size_t i = 0; i < app->models.len; i++) {
        const struct models_result *m = &app->models.items[i];
        for (size_t k = 0; k < m->models.len; k++) {
            const char *name = m->models.items[k].name;
            auto_free char *whole = mem_printf("%s/%s", m->provider, name);
            list_add_match(list, word, is_present(app, m->provider) ? name : whole, NULL);
        }
    }
    while (app->models.len > 0 && next_provider(&at, provider))
        if (!wanted_by(app, provider))
            list_add_match(list, word, provider, _("switch to this provider"));
}

const char *picker_next_models(const struct operation_answer *a, const char *present)
{
    const struct models_params *asked = a->request->params;
    const struct models_result *m = a->result;
    size_t i = 0;
    while (asked->provider && i < m->providers.len &&
           strcmp(m->providers.items[i++].name, asked->provider) != 0)
        ;
    for (; i < m->providers.len; i++) {
        const char *name = m->providers.items[i].name;
        if (!m->providers.items[i].wants && strcmp(name, "offline") != 0 &&
            strcmp(name, present ? present : "") != 0)
            return name;
    }
    return NULL;
}

/* The next provider is asked when the one before has answered, so that a message never waits for
 * more than one of them. */
bool picker_take_models(struct app *app, struct operation_answer *a, const char *words)
{
    struct models_result *came = words ? NULL : a->result;
    bool open = list_view_find(&app->views, LIST_MODELS);
    if (!came)
        return false;
    const char *next = open ? picker_next_models(a, app->provider) : NULL;
    if (next)
        (void)app_ask(app, &operation_models_list, &(struct models_params){.provider = next},
                      picker_take_models);
    app->models_known = true;
    if (came->fault.code != ERR_OK && (!open || !came->provider))
        faults_say(app, &came->fault);
    if (!came->provider)
        return true;
    struct models_result *old = models_of(app, came->provider);
    if (old) {
        shape_release(operation_models_list.result, old);
        vec_remove(&app->models, (size_t)(old - app->models.items), 1);
    }
    vec_push(&app->models, *came);
    *came = (struct models_result){.fault = {.code = ERR_OK}};
    fill_models(app);
    return true;
}

void picker_models(struct app *app, const char *arguments)
{
    struct session_model_params params;
    auto_free char *provider = *arguments ? picker_read_model(arguments, &params) : NULL;
    if (provider) {
        (void)app_ask(app, &operation_session_set_model, &params, took_model);
        return;
    }
    app_open_list(app, LIST_MODELS, list_new(LIST_TYPE, _("Models")), chose_model);
    fill_models(app);
    (void)app_ask(app, &operation_models_list, &(struct models_params){0}, picker_take_models);
}

/* Effort */

void picker_list_efforts(const struct app *app, struct list *list, const char *word)
{
    const char *effort = app->effort ? app->effort : "default";
    for (const char *at = app->efforts ? app->efforts : ""; *(at += strspn(at, " "));) {
        size_t len = strcspn(at, " ");
        auto_free char *name = mem_strndup(at, len);
        list_add_match(list, word, name, strcmp(name, effort) == 0 ? _("in use") : NULL);
        at += len;
    }
    if (app->efforts)
        list_add_match(list, word, "default",
                       app->effort ? _("as the provider has it") : _("in use"));
}

static bool took_effort(struct app *app, struct operation_answer *a, const char *words)
{
    const struct session_effort_params *p = a->request->params;
    bool none = strcmp(p->effort, "default") == 0;
    if (!words)
        picker_keep(app, CONFIG_PROVIDER_EFFORT, none ? "" : p->effort, CONFIG_PROVIDER_EFFORT,
                    NULL, mem_printf(_("Effort: %s"), p->effort));
    return !words;
}

static void chose_effort(struct app *app, const char *word)
{
    const struct session_effort_params params = {.effort = word};
    (void)app_ask(app, &operation_session_set_effort, &params, took_effort);
}

void picker_efforts(struct app *app, const char *arguments)
{
    if (*arguments) {
        chose_effort(app, arguments);
    } else if (!app->efforts) {
        app_note_briefly(app, STYLE_WARNING, _("No effort is known for the model %s."),
                         app->model ? app->model : "");
    } else {
        struct list *list = list_new(LIST_PICK, _("Effort"));
        picker_list_efforts(app, list, "");
        list_mark(list, app->effort ? app->effort : "default");
        app_open_list(app, LIST_EFFORTS, list, chose_effort);
    }
}

/* Themes */

/* An unknown name changes nothing. */
static void choose_theme(struct app *app, const char *name)
{
    if (app_set_theme(app, name))
        picker_keep(app, CONFIG_UI_THEME, name, CONFIG_UI_THEME, NULL,
                    mem_printf(_("Theme: %s"), name));
}

void picker_themes(struct app *app, const char *arguments)
{
    struct theme_names names;
    if (*arguments) {
        choose_theme(app, arguments);
        return;
    }
    theme_names(&names);
    struct list *list = list_new(LIST_PICK, _("Themes"));
    for (size_t i = 0; i < names.items.len; i++) {
        const char *name = names.items.items[i];
        bool current = app->theme_name && strcmp(name, app->theme_name) == 0;
        list_add(list, name, current ? _("in use") : NULL, name);
    }
    vec_free_each(&names.items);
    app_open_list(app, LIST_THEMES, list, choose_theme);
}

/* Configuration */

void picker_config(struct app *app, const char *arguments)
{
    static const char *const origins[] = {[CONFIG_FROM_DEFAULT] = N_("default"),
                                          [CONFIG_FROM_FILE] = N_("file"),
                                          [CONFIG_FROM_ENVIRONMENT] = N_("environment"),
                                          [CONFIG_FROM_COMMAND_LINE] = N_("command line")};
    struct list *list = list_new(LIST_READ, _("Configuration"));
    auto_free char *path = paths_config_file();
    list_add(list, path, NULL, "");
    list_add(list, _("Changes apply from the next start on."), NULL, "");
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        enum config_key key = (enum config_key)i;
        const struct config_key_info *info = config_key_info(key);
        if (config_key_is_free(info))
            continue;
        AUTO(buf_release) struct buf detail = BUF_INIT;
        auto_free char *label = mem_printf("[%s] %s", info->section, info->name);
        buf_addf(&detail, "%s (%s) %s %s",
                 !config_is_set(app->config, key) ? _("not set")
                 : info->type == CONFIG_SECRET    ? "********"
                                                  : config_string(app->config, key),
                 _(origins[config_origin(app->config, key)]), glyph(GLYPH_DASH), info->help);
        list_add(list, label, detail.data, "");
    }
    app_open_list(app, LIST_CONFIG, list, NULL);
    if (*arguments)
        list_filter(list, arguments);
}

/* The report of /doctor */

static bool take_report(struct app *app, struct operation_answer *a, const char *words)
{
    struct list *list = list_view_find(&app->views, LIST_REPORT);
    const struct report_result *r = a->result;
    if (words || !list)
        return false;
    list_clear(list);
    for (size_t i = 0; i < r->facts.len; i++) {
        auto_free char *line =
            mem_printf("%s: %s", r->facts.items[i].name, r->facts.items[i].value);
        list_add(list, line, NULL, "");
    }
    return true;
}

static bool take_check(struct app *app, struct operation_answer *a, const char *words)
{
    struct list *list = list_view_find(&app->views, LIST_REPORT);
    const struct provider_check_result *r = a->result;
    if (words || !list)
        return true; /* the report tells why no provider can be asked */
    auto_free char *line =
        r->fault.code != ERR_OK ? mem_printf(_("server: %s"), r->fault.text)
        : r->url ? mem_printf(_("server: answers after %lld ms; models that it lists: %d"),
                              (long long)r->ms, r->models)
                 : NULL;
    if (line)
        list_add(list, line, NULL, "");
    return true;
}

void picker_report(struct app *app)
{
    struct list *list = list_new(LIST_READ, _("Doctor"));
    list_set_empty(list, _("checking"));
    app_open_list(app, LIST_REPORT, list, NULL);
    (void)app_ask(app, &operation_doctor_report, NULL, take_report);
    (void)app_ask(app, &operation_provider_check, NULL, take_check);
}
