/* `verbs` are "name:help" as _describe wants them, `specs` what _arguments wants. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "cli/completion.h"

/* Within single quotes, with a backslash before each of `special`. */
static void add_quoted(struct buf *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            buf_addch(out, '\\');
        if (*text == '\'')
            buf_addstr(out, "'\\''");
        else
            buf_addch(out, *text);
    }
}

static void add_action(struct buf *out, const struct cli_completion *c)
{
    static const char *const actions[] = {
        [OFFER_NOTHING] = " ",
        [OFFER_FILES] = "_files",
        [OFFER_DIRECTORIES] = "_directories",
        [OFFER_SESSIONS] = "_tiro_sessions",
        [OFFER_COMMANDS] = "_tiro_commands",
    };
    if (!c || c->offer != OFFER_CHOICES) {
        buf_addstr(out, actions[c ? c->offer : OFFER_NOTHING]);
        return;
    }
    char *choices = c->choices();
    buf_addf(out, "(%s)", choices);
    free(choices);
}

/* One way to write an option: "--model=" or "-m+". */
static void add_spelling(struct buf *out, const struct completion_place *place,
                         const struct option *o, const char *dashes, const char *name,
                         const char *joint)
{
    bool flag = o->kind == OPTION_FLAG;
    buf_addf(out, "            '%s%s%s%s[", flag ? "" : "*", dashes, name, flag ? "" : joint);
    add_quoted(out, _(o->help), "[]:\\");
    buf_addch(out, ']');
    if (!flag) {
        buf_addf(out, o->kind == OPTION_MAYBE ? "::" : ":");
        add_quoted(out, o->value, "[]:\\");
        buf_addch(out, ':');
        add_action(out, completion_for(place, o->id));
    }
    buf_addstr(out, "'\n");
}

static void add_options(struct buf *out, const struct completion_place *place)
{
    const struct option *o;
    for (size_t i = 0; (o = completion_option(place, i)); i++) {
        char letter[] = {o->letter, '\0'};
        add_spelling(out, place, o, "--", o->name, "=");
        if (o->letter)
            add_spelling(out, place, o, "-", letter, "+");
    }
}

static void add_words(struct buf *out, const struct completion_place *place)
{
    const struct cli_completion *words = completion_for(place, OPTION_WORD);
    if (!words)
        return;
    buf_addf(out, "            '%s: :", words->first ? "1" : "*");
    add_action(out, words);
    buf_addstr(out, "'\n");
}

static void add_place(struct buf *out, const struct completion_place *place)
{
    const struct cli_command *verb;
    buf_addf(out, "    '%s')\n        verbs=(\n", place->path);
    for (size_t i = 0; place->verb && (verb = place->verb(i)); i++) {
        buf_addf(out, "            '%s:", verb->name);
        add_quoted(out, _(verb->help), ":\\");
        buf_addstr(out, "'\n");
    }
    buf_addstr(out, "        )\n        specs=(\n");
    add_options(out, place);
    add_words(out, place);
    buf_addstr(out, "        )\n        ;;\n");
}

void completion_zsh(struct buf *out)
{
    buf_addstr(out,
               "#compdef tiro\n# made by tiro completion zsh\n\n_tiro_place() {\n    case $1 in\n");
    completion_places(add_place, out);
    buf_addstr(out, "    esac\n}\n\n");
    completion_add_file(out, "completion/engine.zsh");
}
