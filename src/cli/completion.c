#include "cli/completion.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/i18n.h"
#include "base/mem.h"

static const struct option help_option = {-1,          "help", 'h',
                                          OPTION_FLAG, NULL,   N_("print this help")};
static const struct option version_option = {-1,          "version", 'V',
                                             OPTION_FLAG, NULL,      N_("print the version")};

static const struct cli_command *command_at(size_t index)
{
    return cli_commands[index];
}

static void visit_place(void (*visit)(struct buf *out, const struct completion_place *place),
                        struct buf *out, char *path, const struct cli_command *(*verb)(size_t),
                        const struct cli_command *command)
{
    struct completion_place place = {.path = path, .verb = verb, .command = command};
    visit(out, &place);
    free(path);
}

/* Where a command's command may lack, the first is meant. */
void completion_places(void (*visit)(struct buf *out, const struct completion_place *place),
                       struct buf *out)
{
    const struct cli_command *command, *verb;
    visit_place(visit, out, mem_strdup(""), command_at, &cmd_chat);
    for (size_t i = 0; (command = cli_commands[i]); i++) {
        visit_place(visit, out, mem_strdup(command->name), command->verb,
                    command->verb ? command->verb(0) : command);
        for (size_t j = 0; command->verb && (verb = command->verb(j)); j++)
            visit_place(visit, out, mem_printf("%s %s", command->name, verb->name), NULL, verb);
    }
}

const struct option *completion_option(const struct completion_place *place, size_t index)
{
    size_t count = 0;
    while (place->command->options[count].name)
        count++;
    if (index < count)
        return &place->command->options[index];
    if (index == count)
        return &help_option;
    return index == count + 1 && !*place->path ? &version_option : NULL;
}

const struct cli_completion *completion_for(const struct completion_place *place, int id)
{
    const struct cli_completion *c = place->command->completions;
    while (c && c->offer != OFFER_NOTHING && c->id != id)
        c++;
    return c && c->offer != OFFER_NOTHING ? c : NULL;
}

void completion_add_file(struct buf *out, const char *name)
{
    const char *text = embedded_text(name);
    assert(text);
    buf_addstr(out, text);
}
