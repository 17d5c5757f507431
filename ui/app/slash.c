#include "ui/app/slash.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/keys.h"
#include "session/session_operations.h"
#include "ui/view/sessions.h"

/* Commands */

static struct {
    VEC(struct slash_command) rows;
} made;

static void add_known_skills(struct buf *out)
{
    for (size_t i = 0; i < made.rows.len; i++)
        if (made.rows.items[i].skill)
            buf_addf(out, "%s %s\n", made.rows.items[i].name, made.rows.items[i].help);
}

bool slash_know_skills(const struct skills *skills)
{
    AUTO(buf_release) struct buf before = BUF_INIT, after = BUF_INIT;
    (void)slash_commands();
    add_known_skills(&before);
    made.rows.len--;
    for (; vec_last(&made.rows).skill; made.rows.len--) {
        free((char *)vec_last(&made.rows).name);
        free((char *)vec_last(&made.rows).arguments);
        free((char *)vec_last(&made.rows).help);
    }
    vec_push(&made.rows, (struct slash_command){0});
    for (size_t i = 0; i < skills->items.len; i++) {
        const struct skill *s = &skills->items.items[i];
        if (s->state != SKILL_READY || s->taken || slash_find(s->name, strlen(s->name)))
            continue;
        vec_insert(
            &made.rows, made.rows.len - 1,
            (struct slash_command){.name = mem_strdup(s->name),
                                   .arguments = mem_strdup(s->arguments ? s->arguments : "[WORDS]"),
                                   .help = mem_strdup(s->description),
                                   .skill = true});
    }
    add_known_skills(&after);
    return strcmp(before.data, after.data) != 0;
}

const struct slash_command *slash_commands(void)
{
    if (made.rows.len > 0)
        return made.rows.items;
    for (const struct slash_command *c = slash_own; c->name || c->operation; c++) {
        vec_push(&made.rows, *c);
        if (!c->arguments)
            vec_last(&made.rows).arguments = "";
    }
    size_t own = made.rows.len;
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        size_t at = 0;
        while (at < own && made.rows.items[at].operation != o)
            at++;
        if (!o->slash)
            continue;
        if (at == own)
            vec_push(&made.rows, (struct slash_command){.operation = o});
        struct slash_command *c = &made.rows.items[at == own ? made.rows.len - 1 : at];
        c->name = o->slash;
        c->alias = o->alias;
        c->arguments = o->takes;
        c->help = o->about;
    }
    vec_push(&made.rows, (struct slash_command){0});
    return made.rows.items;
}

const char *slash_help(const struct slash_command *c, bool kept)
{
    static const char gone[] = N_("delete this session, since none is saved, and start a new one");
    return c->skill ? c->help : _(!kept && strcmp(c->name, "archive") == 0 ? gone : c->help);
}

char *slash_parting(const char *title, bool archived)
{
    return mem_printf(archived ? _("\"%s\" is archived; /sessions finds it again.")
                               : _("\"%s\" is closed and was not saved."),
                      title);
}

const struct slash_command *slash_find(const char *name, size_t len)
{
    for (const struct slash_command *c = slash_commands(); c->name; c++)
        if ((strlen(c->name) == len && memcmp(c->name, name, len) == 0) ||
            (c->alias && strlen(c->alias) == len && memcmp(c->alias, name, len) == 0))
            return c;
    return NULL;
}

void slash_list(struct app *app, struct list *list, const char *word)
{
    bool kept = app->options->engine->persist;
    size_t len = word ? strlen(word) : 0;
    for (const struct slash_command *c = slash_commands(); c->name; c++) {
        bool is_alias = len > 0 && c->alias && strncmp(c->alias, word, len) == 0;
        AUTO(buf_release) struct buf key = BUF_INIT;
        auto_free char *label = mem_printf("/%s %s", c->name, c->arguments);
        auto_free char *other = mem_printf("/%s → /%s", c->alias ? c->alias : "", c->name);
        if (word && c->action != ACTION_NONE)
            keymap_describe_first(&app->keymap, c->action, &key);
        if (strncmp(c->name, word ? word : "", len) == 0)
            list_add_key(list, label, slash_help(c, kept), word ? c->name : "", key.data);
        if (is_alias)
            list_add_key(list, other, slash_help(c, kept), c->alias, key.data);
    }
}

bool slash_needs_argument(const struct slash_command *c)
{
    return *c->arguments && *c->arguments != '[';
}

struct slash_line slash_parse(const char *text)
{
    if (text[0] == '!' && text[1] && !strchr(" \t\n[", text[1]))
        return (struct slash_line){.kind = SLASH_SHELL};
    if (text[0] != '/')
        return (struct slash_line){.kind = SLASH_TEXT};
    if (text[1] == '/')
        return (struct slash_line){.kind = SLASH_LITERAL};
    size_t name_len = strcspn(text + 1, " \t\n");
    size_t arguments = 1 + name_len;
    arguments += strspn(text + arguments, " \t\n");
    return (struct slash_line){SLASH_COMMAND, name_len, arguments};
}

/* Complains of a name that no command has. `several`: the commands that begin with it. */
static char *unknown(const char *name, const struct buf *several)
{
    AUTO(vec_release_local) VEC(const char *) words = {0};
    for (const struct slash_command *c = slash_commands(); c->name; c++)
        vec_push(&words, c->name);
    const char *near = config_nearest(name, words.items, words.len);
    if (several->len > 0)
        return mem_printf(_("/%s is the beginning of several commands: %s."), name, several->data);
    if (near)
        return mem_printf(_("There is no command /%s. Did you mean /%s? To send it as a message, "
                            "begin it with \"//\"."),
                          name, near);
    return mem_printf(_("There is no command /%s; /help lists the commands. To send it as a "
                        "message, begin it with \"//\"."),
                      name);
}

struct slash_choice slash_choose(const char *text)
{
    struct slash_line line = slash_parse(text);
    auto_free char *name = mem_strndup(text + 1, line.name_len);
    AUTO(buf_release) struct buf several = BUF_INIT; /* "/resume, /rename, /retry" */
    const struct slash_command *c = slash_find(name, line.name_len), *begun = NULL;
    size_t count = 0;
    for (const struct slash_command *o = slash_commands(); !c && *name && o->name; o++)
        if (strncmp(o->name, name, line.name_len) == 0 &&
            !(o->skill && count > 0 && !begun->skill)) {
            buf_addf(&several, "%s/%s", count++ > 0 ? ", " : "", o->name);
            begun = o;
        }
    if (count == 1)
        c = begun;
    if (!c && count == 0 && skill_names_prompt(name)) { /* its server may not have started yet */
        static struct slash_command prompt = {.arguments = "[WORDS]", .help = "", .skill = true};
        free((char *)prompt.name);
        prompt.name = mem_strdup(name);
        c = &prompt;
    }

    size_t len = strlen(text + line.arguments);
    while (len > 0 && strchr(" \t\n", text[line.arguments + len - 1]))
        len--;
    struct slash_choice choice = {c, mem_strndup(text + line.arguments, len), NULL};
    if (!c)
        choice.complaint = unknown(name, &several);
    else if (!*choice.arguments && slash_needs_argument(c))
        choice.complaint = mem_printf("/%s %s: %s", c->name, c->arguments, _(c->help));
    else if (*choice.arguments && !*c->arguments)
        choice.complaint = mem_printf(_("/%s takes no arguments."), c->name);
    return choice;
}

void slash_choice_release(struct slash_choice *choice)
{
    free(choice->arguments);
    free(choice->complaint);
}

char *slash_value(const struct operation *o, const struct session_info *session)
{
    if (o == &operation_session_label)
        return session->labels ? mem_printf(_("Labels: %s\n"
                                              "/label +NAME adds one, -NAME removes one."),
                                            session->labels)
                               : mem_strdup(_("This session has no labels. /label +NAME adds one, "
                                              "-NAME removes one."));
    if (o == &operation_session_set_system)
        return session->system
                   ? mem_printf(_("System prompt of this session:\n%s"), session->system)
                   : mem_strdup(_("This session uses the configured system prompt. /system TEXT "
                                  "replaces it; /system default restores it."));
    return NULL;
}

char *slash_told(const struct operation_answer *a)
{
    const struct operation *o = a->request->operation;
    const struct session_export_params *export =
        o == &operation_session_export ? a->request->params : NULL;
    if (export)
        return mem_printf(_("Exported to %s."), export->path);
    char *lines = o->done ? mem_strdup(_(o->done)) : operation_lines(o, a->result, gettext);
    if (lines && !*lines && o->none)
        mem_replace(&lines, mem_strdup(_(o->none)));
    size_t len = lines ? strlen(lines) : 0;
    if (len > 0 && lines[len - 1] == '\n')
        lines[len - 1] = '\0';
    return lines;
}

/* An operation without run() works on the conversation in front, so it gets no session. */
void *slash_params(const struct operation *o, const char *session, const char *arguments)
{
    bool configured = o == &operation_session_set_system && strcmp(arguments, "default") == 0;
    bool before = o == &operation_session_fork && strcmp(arguments, BEFORE_COMPACTION) == 0;
    void *params =
        operation_slash_params(o, o->run ? session : NULL, configured || before ? "" : arguments);
    if (before)
        ((struct session_fork_params *)params)->before_compaction = true;
    return params;
}

char *slash_export_path(const char *arguments, const char *title)
{
    const char *home = getenv("HOME");
    if (!*arguments)
        return sessions_file_name(title);
    return home && *home && strncmp(arguments, "~/", 2) == 0
               ? mem_printf("%s%s", home, arguments + 1)
               : mem_strdup(arguments);
}

/* /compact */

static const struct {
    const char *name;
    bool keeps_ends;
    const char *help;
} modes[] = {
#define X(id, name, keeps_ends, help) {name, keeps_ends, help},
    COMPACTION_MODES(X)
#undef X
};

enum { MODES = sizeof modes / sizeof *modes };

static const char preview[] = COMPACT_PREVIEW;
static const char blanks[] = " \t\n";

char *compact_read(const char *arguments, struct compaction_run_params *out)
{
    struct compact_words words = compact_parse(arguments);
    const char *names[MODES];
    for (size_t i = 0; i < MODES; i++)
        names[i] = modes[i].name;
    /* A single word may be a misspelt mode. */
    bool alone = !words.mode && words.focus[strcspn(words.focus, blanks)] == '\0';
    const char *near = alone ? config_nearest(words.focus, names, MODES) : NULL;
    if (near)
        return mem_printf(
            _("There is no mode %s. Did you mean %s? To use it as the focus, write more than one "
              "word."),
            words.focus, near);
    if (words.unknown)
        return mem_printf(_("/compact has no option %.*s; %s shows the draft first."),
                          (int)strcspn(words.unknown, blanks), words.unknown, preview);
    *out = (struct compaction_run_params){
        .mode = words.mode, .focus = *words.focus ? words.focus : NULL, .preview = words.preview};
    return NULL;
}

void compact_send(struct app *app, const char *arguments)
{
    struct compaction_run_params params;
    auto_free char *complaint = compact_read(arguments, &params);
    app_follow(app);
    if (complaint)
        app_note(app, STYLE_WARNING, "%s", complaint);
    else
        (void)app_ask(app, &operation_compaction_run, &params, NULL);
}

char *compact_all_stays(const struct config *config, const char *asked)
{
    static const enum config_key keys[] = {CONFIG_COMPACTION_PROTECT_HEAD,
                                           CONFIG_COMPACTION_PROTECT_TAIL,
                                           CONFIG_COMPACTION_TAIL_RATIO};
    const char *mode = asked && *asked ? asked : config_string(config, CONFIG_COMPACTION_MODE);
    const char *keeps_less = "";
    bool keeps_ends = false;
    for (size_t i = MODES; i-- > 0;) {
        if (strcmp(modes[i].name, mode) == 0)
            keeps_ends = modes[i].keeps_ends;
        if (!modes[i].keeps_ends)
            keeps_less = modes[i].name;
    }
    if (!keeps_ends)
        return mem_printf(_("Nothing to compact: only summaries and pinned messages are left, "
                            "which %s does not shorten."),
                          mode);
    AUTO(buf_release) struct buf set = BUF_INIT;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        buf_addf(&set, "%s%s = %s", i > 0 ? ", " : "", config_key_info(keys[i])->name,
                 config_string(config, keys[i]));
    return mem_printf(_("Nothing to compact: %s keeps everything, because of [compaction] %s. "
                        "Lower these settings, or use a mode that keeps less: /compact %s."),
                      mode, set.data, keeps_less);
}

void compact_list(struct list *list, const char *before, const char *word)
{
    struct compact_words words = compact_parse(before);
    if (words.unknown || *words.focus)
        return;
    for (size_t i = 0; !words.mode && i < MODES; i++)
        list_add_match(list, word, modes[i].name, _(modes[i].help));
    if (!words.preview)
        list_add_match(list, word, preview,
                       _("show the summary first, to edit, accept or reject it"));
}
