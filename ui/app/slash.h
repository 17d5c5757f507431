/* The commands that begin with "/": the operations that have one (session/operation.h), and those
 * of the screen alone; how a line of the editor is parsed, and the arguments of /compact. */
#ifndef UI_APP_SLASH_H
#define UI_APP_SLASH_H

#include <stdbool.h>
#include <stddef.h>

#include "session/conversation_operations.h"
#include "ui/app/app.h"

enum argument_kind {
    ARGUMENT_OTHER,
    ARGUMENT_THEME,
    ARGUMENT_MODEL,
    ARGUMENT_EFFORT,
    ARGUMENT_SESSION,
    ARGUMENT_TURN,
    ARGUMENT_FORK, /* a turn, or before the last compaction */
    ARGUMENT_COMPACT,
    ARGUMENT_COPY,
    ARGUMENT_FILE
};

struct slash_command {
    const struct operation *operation; /* has the next three and the help in its row; NULL: none */
    const char *name;                  /* without the slash */
    const char *alias;                 /* what other programs call it; NULL: as this one */
    const char *arguments; /* "" if it takes none (slash_own: or NULL); "[X]" may lack */
    enum argument_kind kind;
    const char *help; /* for gettext */
    /* Without these three, a command asks for its operation and shows the result. */
    void (*run)(struct app *app, const char *arguments);
    void (*act)(struct app *app); /* in place of run where no argument is taken */
    /* The key's action that does the same. Without run and act the command opens its view. */
    enum action action;
    bool skill; /* a skill or a command of the person: sent as a message */
};

/* All, ending with a NULL name; skills are the last. */
const struct slash_command *slash_commands(void);

/* The skills and commands that can be opened from now on: those whose names no command has. Ends
 * the life of the table. Returns whether they are others than before. */
bool slash_know_skills(const struct skills *skills);

/* Commands that the screen completes or runs in its own way (commands.c), in the order of the help;
 * an empty row ends the table. The other operations with SLASH() follow. */
extern const struct slash_command slash_own[];

/* The translated help, which may depend on whether sessions are saved (`kept`). */
const char *slash_help(const struct slash_command *c, bool kept);

/* The note after the open session was archived or deleted. The caller frees. */
char *slash_parting(const char *title, bool archived);

/* By its name or an alias. */
const struct slash_command *slash_find(const char *name, size_t len);

/* Adds the commands that begin with the word, each with its key, and behind a command its alias
 * where that begins with a word that is not "". NULL: all, without keys, to be read only. */
void slash_list(struct app *app, struct list *list, const char *word);

/* Whether the command can do nothing without an argument. */
bool slash_needs_argument(const struct slash_command *c);

/* The kind of a line in the editor. A command: `name_len` bytes from text + 1, its arguments from
 * text + arguments on (blanks around them are not theirs). "//" begins a text of which the first
 * slash is dropped. "!" begins a command for the shell, unless a blank or "[" (an image in
 * Markdown) follows. */
enum slash_kind { SLASH_TEXT, SLASH_LITERAL, SLASH_SHELL, SLASH_COMMAND };
struct slash_line {
    enum slash_kind kind;
    size_t name_len;
    size_t arguments;
};
struct slash_line slash_parse(const char *text);

/* The command of such a line, of which a beginning is enough that no other command shares; or a
 * complaint for the person: there is no such command, its argument is missing, or it takes none. */
struct slash_choice {
    const struct slash_command *command;
    char *arguments;
    char *complaint; /* NULL: it can be run */
};
struct slash_choice slash_choose(const char *text);
void slash_choice_release(struct slash_choice *choice);

/* The path that /export writes: the argument, else one made of the title. The caller frees. */
char *slash_export_path(const char *arguments, const char *title);

/* Fills `out` with strings that point into `arguments` and returns NULL; or returns a complaint for
 * the person, which the caller frees. */
char *compact_read(const char *arguments, struct compaction_run_params *out);

void compact_send(struct app *app, const char *arguments);

/* Explains why the mode (NULL: the configured one) shortens nothing: because of its settings, or
 * because no messages are left. The caller frees. */
char *compact_all_stays(const struct config *config, const char *asked);

/* Adds the modes and options that begin with `word` and may follow `before`, the text between the
 * command and the word. */
void compact_list(struct list *list, const char *before, const char *word);

/* The value that the operation's command shows without arguments; NULL: none. The caller frees. */
char *slash_value(const struct operation *o, const struct session_info *session);

/* The note about an answer without an error: the path of an export, or the lines of the result or
 * that it was done, as the operation's row says; NULL: none. The caller frees. */
char *slash_told(const struct operation_answer *a);

#define BEFORE_COMPACTION "~before-compaction" /* an argument of /fork */

/* The parameters that the operation's row makes of the arguments, in the open session; the caller
 * frees the struct, the texts are borrowed. */
void *slash_params(const struct operation *o, const char *session, const char *arguments);

void slash_do(struct app *app, const struct slash_command *c, const char *arguments);

/* Runs the command of that line (commands.c). False, with a note, if there is no such command, if
 * an argument is missing or if it takes none: the text stays in the editor. */
bool slash_run(struct app *app, const char *text);

#endif
