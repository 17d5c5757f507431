/* A row of `options` is "--name -letter kind offer choices…", of `words` "offer choices…". */
#include <stdlib.h>

#include "cli/completion.h"

static const char *const kinds[] = {
    [OPTION_FLAG] = "flag", [OPTION_VALUE] = "value", [OPTION_MAYBE] = "maybe"};

static void add_offer(struct buf *out, const struct cli_completion *c)
{
    static const char *const names[] = {
        [OFFER_NOTHING] = "nothing",         [OFFER_FILES] = "files",
        [OFFER_DIRECTORIES] = "directories", [OFFER_SESSIONS] = "sessions",
        [OFFER_COMMANDS] = "commands",       [OFFER_CHOICES] = "choices",
    };
    buf_addstr(out, names[c ? c->offer : OFFER_NOTHING]);
    if (c && c->offer == OFFER_CHOICES) {
        char *choices = c->choices();
        buf_addf(out, " %s", choices);
        free(choices);
    }
}

static void add_verbs(struct buf *out, const struct completion_place *place)
{
    const struct cli_command *verb;
    buf_addstr(out, "        verbs=(");
    for (size_t i = 0; place->verb && (verb = place->verb(i)); i++)
        buf_addf(out, "%s%s", i > 0 ? " " : "", verb->name);
    buf_addstr(out, ")\n");
}

static void add_place(struct buf *out, const struct completion_place *place)
{
    const struct option *o;
    const struct cli_completion *words = completion_for(place, OPTION_WORD);
    buf_addf(out, "    '%s')\n", place->path);
    add_verbs(out, place);
    buf_addstr(out, "        options=(\n");
    for (size_t i = 0; (o = completion_option(place, i)); i++) {
        char letter[] = {'-', o->letter, '\0'};
        buf_addf(out, "            '--%s %s %s ", o->name, letter, kinds[o->kind]);
        add_offer(out, o->kind == OPTION_FLAG ? NULL : completion_for(place, o->id));
        buf_addstr(out, "'\n");
    }
    buf_addstr(out, "        )\n        words='");
    add_offer(out, words);
    buf_addf(out, "'\n        first=%s\n        ;;\n", words && words->first ? "yes" : "");
}

void completion_bash(struct buf *out)
{
    buf_addstr(out,
               "# tiro in bash: made by tiro completion bash\n_tiro_place() {\n    case $1 in\n");
    completion_places(add_place, out);
    buf_addstr(out, "    esac\n}\n\n");
    completion_add_file(out, "completion/engine.bash");
}
