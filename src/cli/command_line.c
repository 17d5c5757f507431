#include "cli/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "config/config.h"

/* --- command line ----------------------------------------------------------------------------- */

const struct cli_command *const cli_commands[] = {
    &cmd_chat,   &cmd_run,    &cmd_sessions,   &cmd_memory, &cmd_learned,
    &cmd_graph,  &cmd_corpus, &cmd_import,     &cmd_space,  &cmd_permissions,
    &cmd_skills, &cmd_mcp,    &cmd_plugin,     &cmd_serve,  &cmd_hook,
    &cmd_config, &cmd_doctor, &cmd_completion, &cmd_help,   NULL,
};

static bool unknown(const char *what, const char *word, const char *const *known, size_t count,
                    const char *see, struct error *e)
{
    const char *nearest = config_nearest(word, known, count);
    if (nearest)
        return err_set(e, ERR_USAGE, _("unknown %s \"%s\"; did you mean \"%s\"?"), what, word,
                       nearest);
    return err_set(e, ERR_USAGE, _("unknown %s \"%s\"; see %s"), what, word, see);
}

bool cli_unknown(const char *what, const char *word, const char *const *known, size_t count,
                 struct error *e)
{
    return unknown(what, word, known, count, "tiro --help", e);
}

static const struct cli_command *find(const struct cli_command *const *table, const char *what,
                                      const char *name, const char *see, struct error *e)
{
    VEC(const char *) names = {0};
    const struct cli_command *found;
    for (size_t i = 0; (found = table[i]) && strcmp(found->name, name) != 0; i++)
        vec_push(&names, found->name);
    if (!found)
        unknown(what, name, names.items, names.len, see, e);
    vec_release(&names);
    return found;
}

const struct cli_command *cli_find(const char *name, struct error *e)
{
    return find(cli_commands, _("command"), name, "tiro --help", e);
}

const struct cli_command *cli_find_verb(const struct cli_command *command, const char *name,
                                        struct error *e)
{
    auto_free char *what = mem_printf(_("%s command"), command->name);
    auto_free char *see = mem_printf("tiro %s --help", command->name);
    return find(command->verbs(), what, name, see, e);
}

int cli_run_verb(const struct cli_command *self, int argc, char **argv)
{
    struct error e = {0};
    const char *word = argc > 1 ? argv[1] : "-";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        help_command(self);
        return 0;
    }
    bool named = word[0] != '-';
    const struct cli_command *verb = named ? cli_find_verb(self, word, &e) : self->verbs()[0];
    return verb ? verb->run(verb, argc - named, argv + named) : cli_fail(&e);
}

bool cli_number(const char *option, const char *value, int64_t max, int64_t *out, struct error *e)
{
    char *end;
    long long n = strtoll(value, &end, 10);
    if (end == value || *end || n < 1 || n > max)
        return err_set(e, ERR_USAGE, _("--%s takes a whole number, not \"%s\"; give one from 1"),
                       option, value);
    *out = n;
    return true;
}

bool cli_take_count(const struct option *self, void *at, const char *value, struct error *e)
{
    int64_t n;
    if (!cli_number(self->name, value, 1000000, &n, e))
        return false;
    *(int *)at = (int)n;
    return true;
}

int cli_fail(const struct error *e)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    utf8_clean(&line, e->text, strlen(e->text), UTF8_ONE_LINE);
    fflush(stdout);
    fprintf(stderr, "tiro: %s: %s\n", err_info(e->code)->name, line.data);
    return err_info(e->code)->exit_status;
}

static bool take_profile(const struct option *self, void *at, const char *value, struct error *e)
{
    bool named = paths_set_profile(value);
    auto_free char *path = paths_config_file();
    (void)at;
    if (!named)
        return err_set(e, ERR_USAGE, _("--%s takes a name without a slash, not \"%s\""), self->name,
                       value);
    return access(path, F_OK) == 0 ||
           err_set(e, ERR_USAGE,
                   _("there is no profile \"%s\"; write its settings into %s, or leave out --%s"),
                   value, path, self->name);
}

const struct option cli_common[CLI_COMMON + 1] = {
    {"profile", 0, OPTION_VALUE, "NAME", N_("use the settings of this profile before tiro.ini"),
     .take = take_profile, .offer = {.what = OFFER_PROFILES}},
    {"help", 'h', OPTION_FLAG, .help = N_("print this help")},
    {0},
};
static const struct option *const help_option = &cli_common[1];

bool cli_take_profile(int *argc, char **argv, struct error *e)
{
    const char *word = *argc > 1 ? argv[1] : "";
    size_t len = strlen("--profile");
    if (strncmp(word, "--profile", len) != 0 || (word[len] ? word[len] != '=' : *argc < 3))
        return true;
    int taken = word[len] ? 1 : 2;
    const char *name = word[len] ? word + len + 1 : argv[2];
    *argc -= taken;
    memmove(argv + 1, argv + 1 + taken, (size_t)*argc * sizeof *argv);
    return take_profile(cli_common, NULL, name, e) && cli_take_profile(argc, argv, e);
}

/* Finds an option by its letter, or by its name when the letter is 0. */
static const struct option *find_option(const struct option *table, const char *name, size_t len,
                                        char letter)
{
    const struct option *const tables[] = {table, cli_common};
    for (size_t i = 0; i < 2; i++)
        for (const struct option *o = tables[i]; o && o->name; o++)
            if (letter ? o->letter == letter
                       : strlen(o->name) == len && strncmp(o->name, name, len) == 0)
                return o;
    return NULL;
}

static bool unknown_option(const struct cli_command *command, const char *word, struct error *e)
{
    VEC(const char *) names = {0};
    const char *name = word + strspn(word, "-");
    auto_free char *plain = mem_strndup(name, strcspn(name, "="));
    for (const struct option *o = command->options; o && o->name; o++)
        vec_push(&names, o->name);
    vec_push(&names, cli_common->name);
    const char *nearest = config_nearest(plain, names.items, names.len);
    vec_release(&names);
    if (nearest)
        return err_set(e, ERR_USAGE, _("unknown option %s; did you mean --%s?"), word, nearest);
    /* The synopsis begins with the command's name: "memory show [--json] ID". */
    const char *synopsis = command->synopsis;
    size_t len = strspn(synopsis, "abcdefghijklmnopqrstuvwxyz ");
    while (synopsis[len] && len > 0 && synopsis[len] != ' ')
        len--;
    auto_free char *see = mem_printf("tiro %.*s%s--help", (int)len, synopsis, len > 0 ? " " : "");
    return err_set(e, ERR_USAGE, _("unknown option %s; see %s"), word, see);
}

struct parse {
    const struct cli_command *command;
    void *options;
    char **argv;
    int argc, next;
    bool words_only; /* "--" was read: no more options */
    bool help;
    size_t words;
    const char *extra; /* the first word beyond `most` */
};

static bool take_word(struct parse *p, const char *word, struct error *e)
{
    if (++p->words <= p->command->most)
        return p->command->word(p->options, word, e);
    p->extra = p->extra ? p->extra : word;
    return true;
}

/* Takes an option and its value: the rest of `word`, or the next word. */
static bool take_option(struct parse *p, const char *word, struct error *e)
{
    bool is_long = word[1] == '-';
    const char *name = is_long ? word + 2 : NULL, *value = NULL;
    size_t len = is_long ? strcspn(name, "=") : 0;
    const struct option *o = find_option(p->command->options, name, len, is_long ? '\0' : word[1]);
    if (!o)
        return unknown_option(p->command, word, e);
    if (is_long && name[len])
        value = name + len + 1;
    else if (!is_long && word[2])
        value = word + 2;
    const char *next = p->next < p->argc ? p->argv[p->next] : NULL;
    p->help = o == help_option;
    if (o->kind == OPTION_FLAG && value)
        return err_set(e, ERR_USAGE, _("option %s takes no value; leave it out"), word);
    if (o->kind == OPTION_VALUE && !value && !next)
        return err_set(e, ERR_USAGE, _("option %s needs a value; write %s after it"), word,
                       o->value);
    if (!value && (o->kind == OPTION_VALUE || (o->kind == OPTION_MAYBE && next && *next != '-'))) {
        value = next;
        p->next++;
    }
    if (p->help)
        return true;
    void *at = (char *)p->options + o->at;
    if (o->take)
        return o->take(o, at, value, e);
    if (o->kind == OPTION_FLAG)
        *(bool *)at = true;
    else
        *(const char **)at = value;
    return true;
}

static bool parse_next(struct parse *p, struct error *e)
{
    const char *word = p->argv[p->next++];
    if (!p->words_only && strcmp(word, "--") == 0) {
        p->words_only = true;
        return true;
    }
    bool is_word = p->words_only || word[0] != '-' || !word[1] ||
                   (p->command->dashes && p->words > 0 && word[1] != '-');
    return is_word ? take_word(p, word, e) : take_option(p, word, e);
}

bool cli_parse(const struct cli_command *command, int argc, char **argv, void *options, int *status)
{
    struct parse p = {
        .command = command, .options = options, .argv = argv, .argc = argc, .next = 1};
    struct error e = {0};
    bool ok = true;
    while (ok && !p.help && p.next < argc)
        ok = parse_next(&p, &e);
    if (ok && p.help)
        help_command(command);
    else if (ok && p.words < command->least)
        ok = err_set(&e, ERR_USAGE, _("an argument is missing; use: tiro %s"), command->synopsis);
    else if (ok && p.extra)
        ok = err_set(&e, ERR_USAGE, _("unexpected argument \"%.60s\"; use: tiro %s"), p.extra,
                     command->synopsis);
    *status = ok ? 0 : cli_fail(&e);
    return ok && !p.help;
}

/* --- help ------------------------------------------------------------------------------------- */

enum { HELP_COLUMN = 28 };

/* "  left      help", or the help on the next line when the left part is too wide. */
static void print_row(const char *left, const char *help)
{
    size_t width = utf8_width(left, strlen(left)) + 2;
    if (width + 2 > HELP_COLUMN)
        printf("  %s\n%*s%s\n", left, HELP_COLUMN, "", help);
    else
        printf("  %s%*s%s\n", left, HELP_COLUMN - (int)width, "", help);
}

static void print_option(const struct option *o)
{
    AUTO(buf_release) struct buf left = BUF_INIT;
    if (o->letter)
        buf_addf(&left, "-%c, ", o->letter);
    buf_addf(&left, "--%s", o->name);
    if (o->value)
        buf_addf(&left, o->kind == OPTION_MAYBE ? " [%s]" : " %s", o->value);
    print_row(left.data, _(o->help));
}

static void print_commands(const struct cli_command *const *commands)
{
    printf("%s\n", _("Commands:"));
    for (size_t i = 0; commands[i]; i++)
        print_row(commands[i]->name, _(commands[i]->help));
}

void help_command(const struct cli_command *command)
{
    printf(_("Usage: tiro %s\n"), command->synopsis);
    printf("\n%s\n", _(command->help));
    if (command->details)
        printf("\n%s\n", _(command->details));
    if (command->verbs) {
        putchar('\n');
        print_commands(command->verbs());
    }
    printf("\n%s\n", _("Options:"));
    for (const struct option *o = command->options; o && o->name; o++)
        print_option(o);
    for (const struct option *o = cli_common; o->name; o++)
        print_option(o);
}

void help_overview(void)
{
    printf("%s\n", _("Usage: tiro [COMMAND] [OPTION]..."));
    printf("\n%s\n\n",
           _("Chat with a language model in the terminal. The default command is chat."));
    print_commands(cli_commands);
    printf("\n%s\n", _("Options:"));
    for (const struct option *o = cmd_chat.options; o->name; o++)
        if (o->letter && strchr("crm", o->letter))
            print_option(o);
    print_option(cli_common);
    print_row("-h, --help", _("print this help; for one command: tiro help COMMAND"));
    print_row("-V, --version", _("print the version"));
    printf("\n%s\n", _("Examples:"));
    print_row("tiro -c", _("continue the newest session of this project"));
    print_row("tiro -r kyoto -m gpt-4.1",
              _("open the session with \"kyoto\" in its title, with another model"));
    print_row("git diff | tiro run 'review this'", _("one answer, for scripts"));
}

static bool take_help_word(void *context, const char *word, struct error *e)
{
    const struct cli_command **about = context;
    *about = *about && (*about)->verbs ? cli_find_verb(*about, word, e) : cli_find(word, e);
    return *about != NULL;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    const struct cli_command *about = NULL;
    int status;
    if (!cli_parse(self, argc, argv, &about, &status))
        return status;
    if (about)
        help_command(about);
    else
        help_overview();
    return 0;
}

const struct cli_command cmd_help = {
    .name = "help",
    .synopsis = "help [COMMAND [VERB]]",
    .help = N_("explain a command"),
    .most = CLI_MANY,
    .words = {.what = OFFER_COMMANDS},
    .word = take_help_word,
    .run = run,
};
