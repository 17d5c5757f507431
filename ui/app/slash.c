#include "ui/app/slash.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "ui/view/sessions.h"

const char *slash_help(const struct slash_command *c, bool kept)
{
    static const char gone[] = N_("delete this session, since none is saved, and start a new one");
    return _(!kept && strcmp(c->name, "archive") == 0 ? gone : c->help);
}

char *slash_parting(const char *title, bool archived)
{
    return mem_printf(archived ? _("\"%s\" is archived; /sessions finds it again.")
                               : _("\"%s\" is closed and was not saved."),
                      title);
}

const struct slash_alias slash_aliases[] = {
    {"exit", "quit"}, {"clear", "new"}, {"undo", "uncompact"}, {0}};

const struct slash_command *slash_find(const char *name, size_t len)
{
    for (const struct slash_alias *a = slash_aliases; a->alias; a++)
        if (strlen(a->alias) == len && memcmp(a->alias, name, len) == 0)
            return slash_find(a->name, strlen(a->name));
    for (const struct slash_command *c = slash_commands; c->name; c++)
        if (strlen(c->name) == len && memcmp(c->name, name, len) == 0)
            return c;
    return NULL;
}

/* The one command that begins with these letters, or NULL. */
static const struct slash_command *find_abbreviated(const char *name, size_t len)
{
    const struct slash_command *only = NULL;
    for (const struct slash_command *c = slash_commands; len > 0 && c->name; c++)
        if (strncmp(c->name, name, len) == 0) {
            if (only)
                return NULL;
            only = c;
        }
    return only;
}

const char *slash_nearest(const char *name)
{
    VEC(const char *) words = {0};
    for (const struct slash_command *c = slash_commands; c->name; c++)
        vec_push(&words, c->name);
    const char *nearest = config_nearest(name, words.items, words.len);
    vec_release(&words);
    return nearest;
}

bool slash_needs_argument(const struct slash_command *c)
{
    return *c->arguments && *c->arguments != '[';
}

struct slash_line slash_parse(const char *text)
{
    if (text[0] != '/')
        return (struct slash_line){.kind = SLASH_TEXT};
    if (text[1] == '/')
        return (struct slash_line){.kind = SLASH_LITERAL};
    size_t name_len = strcspn(text + 1, " \t\n");
    size_t arguments = 1 + name_len;
    arguments += strspn(text + arguments, " \t\n");
    return (struct slash_line){SLASH_COMMAND, name_len, arguments};
}

/* "/resume, /rename, /retry" for a beginning that several share; nothing for any other. */
static void list_abbreviated(const char *name, struct buf *out)
{
    for (const struct slash_command *c = slash_commands; *name && c->name; c++)
        if (strncmp(c->name, name, strlen(name)) == 0)
            buf_addf(out, "%s/%s", out->len > 0 ? ", " : "", c->name);
}

static char *unknown(const char *name)
{
    struct buf several = BUF_INIT;
    const char *near = slash_nearest(name);
    char *text;
    list_abbreviated(name, &several);
    if (several.len > 0)
        text = mem_printf(_("/%s is the beginning of several commands: %s."), name, several.data);
    else if (near)
        text = mem_printf(_("There is no command /%s. Did you mean /%s? To send it as a message, "
                            "begin it with \"//\"."),
                          name, near);
    else
        text = mem_printf(_("There is no command /%s; /help lists the commands. To send it as a "
                            "message, begin it with \"//\"."),
                          name);
    buf_release(&several);
    return text;
}

/* What is wrong with what the command gets; NULL: nothing. */
static char *misfit(const struct slash_command *c, const char *arguments)
{
    if (!*arguments && slash_needs_argument(c))
        return mem_printf("/%s %s: %s", c->name, c->arguments, _(c->help));
    if (*arguments && !*c->arguments)
        return mem_printf(_("/%s takes no arguments."), c->name);
    return NULL;
}

struct slash_choice slash_choose(const char *text)
{
    struct slash_line line = slash_parse(text);
    struct slash_choice choice = {.command = slash_find(text + 1, line.name_len)};
    if (!choice.command)
        choice.command = find_abbreviated(text + 1, line.name_len);
    size_t len = strlen(text + line.arguments);
    while (len > 0 && strchr(" \t\n", text[line.arguments + len - 1]))
        len--;
    choice.arguments = mem_strndup(text + line.arguments, len);
    if (choice.command) {
        choice.complaint = misfit(choice.command, choice.arguments);
    } else {
        char *name = mem_strndup(text + 1, line.name_len);
        choice.complaint = unknown(name);
        free(name);
    }
    return choice;
}

void slash_choice_release(struct slash_choice *choice)
{
    free(choice->arguments);
    free(choice->complaint);
}

static char *in_home(const char *path)
{
    const char *home = getenv("HOME");
    bool there = home && *home && strncmp(path, "~/", 2) == 0;
    return there ? mem_printf("%s%s", home, path + 1) : mem_strdup(path);
}

char *slash_export_path(const char *arguments, const char *title)
{
    return *arguments ? in_home(arguments) : sessions_file_name(title);
}
