/* `tiro completion` prints the tables of commands in a shell's language, and the script of
 * data/completion/ that uses them. For each place where a word may stand it calls the functions of
 * the shell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/command_line.h"

/* A place for a word: after "tiro", after a command, or after a command and its verb. */
struct place {
    const char *path;                       /* "", "sessions", "sessions list" */
    const struct cli_command *const *verbs; /* NULL: no verbs may follow */
    const struct cli_command *command;      /* its options and words may follow */
};

typedef void add_place(struct buf *out, const struct place *place);

static const struct option version_option = {"version", 'V', OPTION_FLAG,
                                             .help = N_("print the version")};

/* After a command without a verb, the options are those of the first verb. */
static void add_places(add_place *add, struct buf *out)
{
    const struct cli_command *command, *verb;
    add(out, &(struct place){"", cli_commands, &cmd_chat});
    for (size_t i = 0; (command = cli_commands[i]); i++) {
        const struct cli_command *const *verbs = command->verbs ? command->verbs() : NULL;
        verb = verbs ? verbs[0] : command;
        add(out, &(struct place){command->name, verbs, verb});
        for (size_t j = 0; verbs && (verb = verbs[j]); j++) {
            auto_free char *path = mem_printf("%s %s", command->name, verb->name);
            add(out, &(struct place){path, NULL, verb});
        }
    }
}

/* The options of a place, with those of all and --version; NULL after the last. */
static const struct option *option_at(const struct place *place, size_t index)
{
    const struct option *options = place->command->options;
    size_t count = 0;
    while (options && options[count].name)
        count++;
    if (index < count)
        return &options[index];
    if (index < count + CLI_COMMON)
        return &cli_common[index - count];
    return index == count + CLI_COMMON && !*place->path ? &version_option : NULL;
}

static const struct cli_command *verb_at(const struct place *place, size_t index)
{
    return place->verbs ? place->verbs[index] : NULL;
}

/* For a text in single quotes: writes `quote` for each single quote, and a backslash before each
 * character of `special`. */
static void add_escaped(struct buf *out, const char *text, const char *special, const char *quote)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            buf_addch(out, '\\');
        if (*text == '\'')
            buf_addstr(out, quote);
        else
            buf_addch(out, *text);
    }
}

/* Adds the shell's name for the offer, or the choices between `before` and `after`. */
static void add_offer(struct buf *out, const struct cli_offer *offer, const char *const *names,
                      const char *before, const char *after)
{
    if (offer->what != OFFER_CHOICES) {
        buf_addstr(out, names[offer->what]);
        return;
    }
    auto_free char *choices = offer->fixed ? NULL : offer->choices();
    buf_addf(out, "%s%s%s", before, offer->fixed ? offer->fixed : choices, after);
}

/* --- bash: a row of `options` is "--name -letter kind offer choices…", `words` is its end --- */

static void bash_offer(struct buf *out, const struct cli_offer *offer)
{
    static const char *const names[] = {
        [OFFER_NOTHING] = "nothing",         [OFFER_FILES] = "files",
        [OFFER_DIRECTORIES] = "directories", [OFFER_SESSIONS] = "sessions",
        [OFFER_PROFILES] = "profiles",       [OFFER_COMMANDS] = "commands",
    };
    add_offer(out, offer, names, "choices ", "");
}

static void bash_place(struct buf *out, const struct place *place)
{
    static const char *const kinds[] = {
        [OPTION_FLAG] = "flag", [OPTION_VALUE] = "value", [OPTION_MAYBE] = "maybe"};
    const struct cli_command *verb;
    const struct option *o;
    const struct cli_offer *words = &place->command->words;
    buf_addf(out, "    '%s')\n        verbs=(", place->path);
    for (size_t i = 0; (verb = verb_at(place, i)); i++)
        buf_addf(out, "%s%s", i > 0 ? " " : "", verb->name);
    buf_addstr(out, ")\n        options=(\n");
    for (size_t i = 0; (o = option_at(place, i)); i++) {
        char letter[] = {'-', o->letter, '\0'};
        buf_addf(out, "            '--%s %s %s ", o->name, letter, kinds[o->kind]);
        bash_offer(out, &o->offer);
        buf_addstr(out, "'\n");
    }
    buf_addstr(out, "        )\n        words='");
    bash_offer(out, words);
    buf_addf(out, "'\n        first=%s\n        ;;\n", words->first ? "yes" : "");
}

/* --- zsh: `verbs` are "name:help" as _describe wants them, `specs` what _arguments wants --- */

static void zsh_quoted(struct buf *out, const char *text, const char *special)
{
    add_escaped(out, text, special, "'\\''");
}

static void zsh_action(struct buf *out, const struct cli_offer *offer)
{
    static const char *const actions[] = {
        [OFFER_NOTHING] = " ",
        [OFFER_FILES] = "_files",
        [OFFER_DIRECTORIES] = "_directories",
        [OFFER_SESSIONS] = "_tiro_sessions",
        [OFFER_PROFILES] = "_tiro_profiles",
        [OFFER_COMMANDS] = "_tiro_commands",
    };
    add_offer(out, offer, actions, "(", ")");
}

/* One way to write an option: "--model=" or "-m+". */
static void zsh_spelling(struct buf *out, const struct option *o, const char *dashes,
                         const char *name, const char *joint)
{
    bool flag = o->kind == OPTION_FLAG;
    buf_addf(out, "            '%s%s%s%s[", flag ? "" : "*", dashes, name, flag ? "" : joint);
    zsh_quoted(out, _(o->help), "[]:\\");
    buf_addch(out, ']');
    if (!flag) {
        buf_addstr(out, o->kind == OPTION_MAYBE ? "::" : ":");
        zsh_quoted(out, o->value, "[]:\\");
        buf_addch(out, ':');
        zsh_action(out, &o->offer);
    }
    buf_addstr(out, "'\n");
}

static void zsh_place(struct buf *out, const struct place *place)
{
    const struct cli_command *verb;
    const struct option *o;
    const struct cli_offer *words = &place->command->words;
    buf_addf(out, "    '%s')\n        verbs=(\n", place->path);
    for (size_t i = 0; (verb = verb_at(place, i)); i++) {
        buf_addf(out, "            '%s:", verb->name);
        zsh_quoted(out, _(verb->help), ":\\");
        buf_addstr(out, "'\n");
    }
    buf_addstr(out, "        )\n        specs=(\n");
    for (size_t i = 0; (o = option_at(place, i)); i++) {
        char letter[] = {o->letter, '\0'};
        zsh_spelling(out, o, "--", o->name, "=");
        if (o->letter)
            zsh_spelling(out, o, "-", letter, "+");
    }
    if (words->what != OFFER_NOTHING) {
        buf_addf(out, "            '%s: :", words->first ? "1" : "*");
        zsh_action(out, words);
        buf_addstr(out, "'\n");
    }
    buf_addstr(out, "        )\n        ;;\n");
}

/* --- fish: a complete command for each option and word of a place --- */

static void fish_quoted(struct buf *out, const char *text)
{
    buf_addch(out, '\'');
    add_escaped(out, text, "\\", "\\'");
    buf_addch(out, '\'');
}

/* The start of a complete command, with `more` at the end of its condition. */
static void fish_begin(struct buf *out, const struct place *place, const char *more)
{
    buf_addf(out, "complete -c tiro -n '__tiro_at \"%s\"%s'", place->path, more);
}

static void fish_offer(struct buf *out, const struct cli_offer *offer)
{
    static const char *const offers[] = {
        [OFFER_NOTHING] = " -f",
        [OFFER_FILES] = " -F",
        [OFFER_DIRECTORIES] = " -f -a '(__fish_complete_directories)'",
        [OFFER_SESSIONS] = " -f -k -a '(__tiro_sessions)'",
        [OFFER_PROFILES] = " -f -a '(__tiro_profiles)'",
        [OFFER_COMMANDS] = " -f -a '(__tiro_commands)'",
    };
    add_offer(out, offer, offers, " -f -a '", "'");
}

static void fish_option(struct buf *out, const struct place *place, const struct option *o)
{
    fish_begin(out, place, "");
    buf_addf(out, " -l %s", o->name);
    if (o->letter)
        buf_addf(out, " -s %c", o->letter);
    if (o->kind == OPTION_VALUE) {
        buf_addstr(out, " -r");
        fish_offer(out, &o->offer);
    }
    buf_addstr(out, " -d ");
    fish_quoted(out, _(o->help));
    buf_addch(out, '\n');
    if (o->kind != OPTION_MAYBE)
        return;
    /* fish has no options with an optional value in the next word: a condition offers the value. */
    AUTO(buf_release) struct buf condition = BUF_INIT;
    buf_addf(&condition, "; and __tiro_after --%s", o->name);
    if (o->letter)
        buf_addf(&condition, " -%c", o->letter);
    fish_begin(out, place, condition.data);
    fish_offer(out, &o->offer);
    buf_addch(out, '\n');
}

static void fish_place(struct buf *out, const struct place *place)
{
    const struct cli_command *verb;
    const struct option *o;
    const struct cli_offer *words = &place->command->words;
    buf_addch(out, '\n');
    for (size_t i = 0; (verb = verb_at(place, i)); i++) {
        fish_begin(out, place, "; and __tiro_next");
        buf_addf(out, " -f -a %s -d ", verb->name);
        fish_quoted(out, _(verb->help));
        buf_addch(out, '\n');
    }
    for (size_t i = 0; (o = option_at(place, i)); i++)
        fish_option(out, place, o);
    if (words->what != OFFER_NOTHING && !place->verbs) {
        fish_begin(out, place, words->first ? "; and __tiro_first" : "");
        fish_offer(out, words);
        buf_addch(out, '\n');
    }
}

/* The names of the commands or verbs that may follow. */
static void fish_verbs(struct buf *out, const struct place *place)
{
    const struct cli_command *verb;
    if (!place->verbs)
        return;
    buf_addf(out, "    case '%s'\n        printf '%%s\\n'", place->path);
    for (size_t i = 0; (verb = place->verbs[i]); i++)
        buf_addf(out, " %s", verb->name);
    buf_addch(out, '\n');
}

/* --- the command --- */

static const struct shell {
    const char *name, *head;
    add_place *places;
    const char *foot, *engine;
    add_place *behind_engine; /* after the engine's text; NULL: nothing */
} shells[] = {
    {"bash", "# tiro in bash: made by tiro completion bash\n_tiro_place() {\n    case $1 in\n",
     bash_place, "    esac\n}\n\n", "completion/engine.bash", NULL},
    {"zsh", "#compdef tiro\n# made by tiro completion zsh\n\n_tiro_place() {\n    case $1 in\n",
     zsh_place, "    esac\n}\n\n", "completion/engine.zsh", NULL},
    {"fish",
     "# tiro in fish: made by tiro completion fish\n"
     "function __tiro_verbs\n    switch \"$argv\"\n",
     fish_verbs, "    end\nend\n\n", "completion/engine.fish", fish_place},
};

enum { SHELL_COUNT = sizeof shells / sizeof *shells };

static bool take_shell(void *context, const char *name, struct error *e)
{
    const struct shell **shell = context;
    const char *names[SHELL_COUNT];
    for (size_t i = 0; i < SHELL_COUNT; i++) {
        names[i] = shells[i].name;
        if (strcmp(names[i], name) == 0)
            *shell = &shells[i];
    }
    return *shell || cli_unknown(_("shell"), name, names, SHELL_COUNT, e);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    const struct shell *shell = NULL;
    AUTO(buf_release) struct buf out = BUF_INIT;
    int status;
    if (!cli_parse(self, argc, argv, &shell, &status))
        return status;
    buf_addstr(&out, shell->head);
    add_places(shell->places, &out);
    buf_addstr(&out, shell->foot);
    buf_addstr(&out, embedded_text(shell->engine));
    if (shell->behind_engine)
        add_places(shell->behind_engine, &out);
    fwrite(out.data, 1, out.len, stdout);
    return 0;
}

const struct cli_command cmd_completion = {
    .name = "completion",
    .synopsis = "completion bash|zsh|fish",
    .help = N_("print a script that lets the shell complete tiro's commands"),
    .details = N_("bash   source <(tiro completion bash)      in ~/.bashrc\n"
                  "zsh    source <(tiro completion zsh)       in ~/.zshrc, after compinit\n"
                  "fish   tiro completion fish | source       in config.fish\n"
                  "An installed tiro needs none of these lines."),
    .least = 1,
    .most = 1,
    .words = {OFFER_CHOICES, .fixed = "bash zsh fish", .first = true},
    .word = take_shell,
    .run = run,
};
