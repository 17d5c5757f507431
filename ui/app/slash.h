/* The commands that begin with "/": what they are, and what a line of the editor says of them. The
 * table is in commands.c. */
#ifndef UI_SLASH_H
#define UI_SLASH_H

#include <stdbool.h>
#include <stddef.h>

struct app;

enum argument_kind {
    ARGUMENT_OTHER,
    ARGUMENT_THEME,
    ARGUMENT_MODEL,
    ARGUMENT_SESSION,
    ARGUMENT_TURN,
    ARGUMENT_FORK, /* a turn, or before the last compaction */
    ARGUMENT_COMPACT,
    ARGUMENT_COPY
};

struct slash_command {
    const char *name;      /* without the slash */
    const char *arguments; /* "" if it takes none; "[X]" may lack */
    enum argument_kind kind;
    const char *help; /* for gettext */
    void (*run)(struct app *app, const char *arguments);
};

extern const struct slash_command slash_commands[]; /* ends with a NULL name */

/* Names that other programs have for a command. */
struct slash_alias {
    const char *alias, *name;
};
extern const struct slash_alias slash_aliases[]; /* ends with a NULL alias */

/* Translated; what a command does where sessions are kept may be another thing than where not. */
const char *slash_help(const struct slash_command *c, bool kept);

/* What is said of the open session after /archive, or after it was deleted. The caller frees. */
char *slash_parting(const char *title, bool archived);

/* By its name or an alias. */
const struct slash_command *slash_find(const char *name, size_t len);

/* The nearest command's name, or NULL. */
const char *slash_nearest(const char *name);

/* Whether the command can do nothing without an argument. */
bool slash_needs_argument(const struct slash_command *c);

/* What a line of the editor is. A command: `name_len` bytes from text + 1, its arguments from
 * text + arguments on (blanks around them are not theirs). "//" begins a text of which the first
 * slash is dropped. */
enum slash_kind { SLASH_TEXT, SLASH_LITERAL, SLASH_COMMAND };
struct slash_line {
    enum slash_kind kind;
    size_t name_len;
    size_t arguments;
};
struct slash_line slash_parse(const char *text);

/* The command of a line that is one, or what is wrong with it, in words of the user's: there is no
 * such command, it lacks its argument or takes none. */
struct slash_choice {
    const struct slash_command *command;
    char *arguments;
    char *complaint; /* NULL: it can be run */
};
struct slash_choice slash_choose(const char *text);
void slash_choice_release(struct slash_choice *choice);

/* The file that /export writes: the one that is named, else one named by the title. The caller
 * frees. */
char *slash_export_path(const char *arguments, const char *title);

#endif
