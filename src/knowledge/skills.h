/* Skills: folders with instructions for a kind of task, in the Agent Skills format (SKILL.md with a
 * front matter), and commands: Markdown files that only a person opens. */
#ifndef KNOWLEDGE_SKILLS_H
#define KNOWLEDGE_SKILLS_H

#include "base/buf.h"
#include "base/err.h"
#include "chat/knowledge.h"

struct plugin;

enum {
    SKILLS_MAX = 200,          /* that are listed, of all places; the others are left out */
    SKILL_BYTES = 256 * 1024,  /* of a skill's Markdown file; more is a fault */
    SKILL_NAME_BYTES = 64,     /* a longer name is a fault, and so is a longer */
    SKILL_DESCRIPTION = 1024,  /* description (characters) */
    SKILL_COMPATIBILITY = 500, /* or compatibility */
    SKILL_FILES_MAX = 100      /* of a folder that are named */
};

/* The part of a SKILL.md below its front matter; the caller frees. Pure. */
char *skill_body(const char *markdown);

/* Reads a front matter into the skill's description, license, compatibility and allowed_tools, and
 * its name into *name; each is one line, and NULL where the front matter has none. It is read as
 * YAML without nesting: plain, quoted, folded and literal values. False: there is no front matter,
 * or it does not end. Pure. */
bool skill_read_front(const char *markdown, char **name, struct skill *out);

/* Appends the skills of a directory: of its folders with a SKILL.md, or with `commands` of its
 * files NAME.md; those that cannot be used with their fault. A skill has the name of its folder.
 * `top` NULL: the place is the user's own, and links are followed. Else nothing is read that lies
 * outside of `top`. A SKILL.md is never read through a link. A skill whose name an earlier place
 * has is shadowed; the same file in a later place is left out. Waits for no writer of a pipe. */
void skills_add_place(struct skills *out, const char *place, const char *top, bool commands);

/* Appends those of the project's .agents and .claude, from the directory up to the project's top.
 * `home` (NULL: unknown) is not a project's. */
void skills_add_project(struct skills *out, const char *directory, const char *home);

/* Appends those of a plugin. */
void skills_add_plugin(struct skills *out, const struct plugin *p);

/* Appends those of the user's places: `home`'s .agents and .claude, skills/ in `configuration`, and
 * of the plugins that the user has added. */
void skills_add_own(struct skills *out, const char *home, const char *configuration);

/* The skill of that name that can be opened; NULL: there is none. */
const struct skill *skills_find(const struct skills *s, const char *name);

/* Whether the model can open any. */
bool skills_offered(const struct skills *s);

/* The names and descriptions of those that the model can open, for its prompt; the caller frees.
 * NULL: there is none. */
char *skills_prompt(const struct skills *s);

/* The folder of a skill; of a command the directory that it is in. The caller frees. */
char *skill_folder(const struct skill *s);

/* Appends the text of a skill as it is on the disk now, cleaned, marked with its name and folder,
 * and the names of the folder's other files. "$ARGUMENTS" in it is replaced by `arguments`; NULL:
 * it stays. */
bool skill_open(const struct skill *s, const char *arguments, struct buf *out, struct error *e);

/* Whether skill_open() made this text of the skill of that name (NULL: of any), not of a command.
 */
bool skill_opened_in(const char *text, const char *name);

#endif
