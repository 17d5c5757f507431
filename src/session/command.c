#include "session/command.h"

#include <stdlib.h>

#include "base/mem.h"

struct command *command_new(enum command_type type, const char *text)
{
    struct command *c = mem_alloc(sizeof *c);
    c->type = type;
    c->text = mem_strdup(text);
    return c;
}

void command_free(struct command *c)
{
    if (!c)
        return;
    free(c->text);
    free(c->name);
    free(c->attachments);
    free(c->session);
    free(c);
}

bool command_begins_turn(enum command_type type)
{
    return type == COMMAND_START_TURN || type == COMMAND_RETRY || type == COMMAND_COMPACT;
}
