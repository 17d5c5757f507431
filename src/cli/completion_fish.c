#include <stdlib.h>

#include "base/i18n.h"
#include "cli/completion.h"

static void add_quoted(struct buf *out, const char *text)
{
    buf_addch(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buf_addch(out, '\\');
        buf_addch(out, *text);
    }
    buf_addch(out, '\'');
}

/* "complete" as far as its condition, which goes on with `more`. */
static void begin(struct buf *out, const struct completion_place *place, const char *more)
{
    buf_addf(out, "complete -c tiro -n '__tiro_at \"%s\"%s'", place->path, more);
}

static void add_offer(struct buf *out, const struct cli_completion *c)
{
    static const char *const offers[] = {
        [OFFER_NOTHING] = " -f",
        [OFFER_FILES] = " -F",
        [OFFER_DIRECTORIES] = " -f -a '(__fish_complete_directories)'",
        [OFFER_SESSIONS] = " -f -k -a '(__tiro_sessions)'",
        [OFFER_COMMANDS] = " -f -a '(__tiro_commands)'",
    };
    if (!c || c->offer != OFFER_CHOICES) {
        buf_addstr(out, offers[c ? c->offer : OFFER_NOTHING]);
        return;
    }
    char *choices = c->choices();
    buf_addstr(out, " -f -a ");
    add_quoted(out, choices);
    free(choices);
}

/* fish knows no option whose value may be the next word or lack. */
static void add_next_word(struct buf *out, const struct completion_place *place,
                          const struct option *o, const struct cli_completion *c)
{
    struct buf condition = BUF_INIT;
    buf_addf(&condition, "; and __tiro_after --%s", o->name);
    if (o->letter)
        buf_addf(&condition, " -%c", o->letter);
    begin(out, place, condition.data);
    add_offer(out, c);
    buf_addch(out, '\n');
    buf_release(&condition);
}

static void add_option(struct buf *out, const struct completion_place *place,
                       const struct option *o)
{
    const struct cli_completion *c = completion_for(place, o->id);
    begin(out, place, "");
    buf_addf(out, " -l %s", o->name);
    if (o->letter)
        buf_addf(out, " -s %c", o->letter);
    if (o->kind == OPTION_VALUE) {
        buf_addstr(out, " -r");
        add_offer(out, c);
    }
    buf_addstr(out, " -d ");
    add_quoted(out, _(o->help));
    buf_addch(out, '\n');
    if (o->kind == OPTION_MAYBE)
        add_next_word(out, place, o, c);
}

static void add_place(struct buf *out, const struct completion_place *place)
{
    const struct cli_command *verb;
    const struct option *o;
    const struct cli_completion *words = completion_for(place, OPTION_WORD);
    buf_addch(out, '\n');
    for (size_t i = 0; place->verb && (verb = place->verb(i)); i++) {
        begin(out, place, "; and __tiro_next");
        buf_addf(out, " -f -a %s -d ", verb->name);
        add_quoted(out, _(verb->help));
        buf_addch(out, '\n');
    }
    for (size_t i = 0; (o = completion_option(place, i)); i++)
        add_option(out, place, o);
    if (words && !place->verb) {
        begin(out, place, words->first ? "; and __tiro_first" : "");
        add_offer(out, words);
        buf_addch(out, '\n');
    }
}

/* Which words are commands: "" and each command that has some. */
static void add_verbs(struct buf *out, const struct completion_place *place)
{
    const struct cli_command *verb;
    if (!place->verb)
        return;
    buf_addf(out, "    case '%s'\n        printf '%%s\\n'", place->path);
    for (size_t i = 0; (verb = place->verb(i)); i++)
        buf_addf(out, " %s", verb->name);
    buf_addch(out, '\n');
}

void completion_fish(struct buf *out)
{
    buf_addstr(out,
               "# tiro in fish: made by tiro completion fish\n"
               "function __tiro_verbs\n    switch \"$argv\"\n");
    completion_places(add_verbs, out);
    buf_addstr(out, "    end\nend\n\n");
    completion_add_file(out, "completion/engine.fish");
    completion_places(add_place, out);
}
