/* Which tools may run, which ask first, which never do; and places that a tool reaches only after a
 * question about that very call, whatever is allowed. Pure: the caller asks. */
#ifndef AGENT_APPROVAL_H
#define AGENT_APPROVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/tool.h"
#include "base/err.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/permissions.h"

/* Guarded places are those where keys usually are, and the program's own configuration,
 * conversations and log. The place that is opened counts, so a symbolic link hides nothing; a hard
 * link to such a file under another name cannot be told from any other file, nor can the deeds of a
 * command. */

/* Where keys usually are: the last names of a path; a star, at the beginning or the end of a name,
 * is any text. Upper case is lower case: some file systems do not tell them apart. Ends with NULL;
 * tiro.ini(5) lists them. */
extern const char *const guard_keys[];

struct guard {
    VEC(char *) own; /* resolved paths */
};

/* Looks where the program's own files are. */
void guard_init(struct guard *g);
void guard_release(struct guard *g);

/* Whether a guarded place is at this absolute, resolved path, or on the way to it. */
bool guard_covers(const struct guard *g, const char *path);

/* The same for the last name alone, where the way to it has been looked at before. */
bool guard_begins(const struct guard *g, const char *path);

/* guard_covers() of the places as they are now. */
bool guard_asks(const char *path);

enum approval_verdict { APPROVAL_ALLOW, APPROVAL_ASK, APPROVAL_DENY };

struct approval_names {
    char **items;
    size_t len, cap; /* grown as a VEC */
};

/* Words are names of tools or of classes. Of the three lists deny wins over ask and ask over allow,
 * but a tool's own name wins over its class: allow = run_command with ask = execute lets it run. A
 * tool that no list names asks. Where a tool has a consent of its own (tool.h), that stands in the
 * place of its class, unless the class is denied. Grants (tool_call_grant()) allow calls that would
 * ask, but no denied ones: `commands` are those of the configuration and the command line,
 * `session` those that the user gave for this session. */
struct approval_policy {
    struct approval_names allow, ask, deny, commands, session;
    struct permissions project; /* likewise, always in this project; the caller's to fill */
};

/* From [tools] allow, ask, deny, and `also_allow` (of the command line; NULL: none): words parted
 * by blanks or commas. What the command line allows does not ask, even if [tools] ask has the same
 * word. Between commas of the two that allow may also stand a command ("git status", see
 * simple_command.h): of a known program, or in back quotes. A word that names neither tool nor
 * class is CONFIG_ERROR with the nearest that does; the other words stand then, too. To be released
 * in either case. */
bool approval_policy_read(struct approval_policy *p, const struct config *config,
                          const struct toolset *tools, const char *also_allow, struct error *e);
void approval_policy_release(struct approval_policy *p);

/* [tools] ask has the word outside-sandbox: what would ask runs without a question while it stays
 * in the sandbox. */
bool approval_spares_sandbox(const struct approval_policy *p);

/* `grant`: of the call that is decided about (tool_call_grant()); NULL: none covers it. */
enum approval_verdict approval_decide(const struct approval_policy *p, const struct tool *tool,
                                      const char *grant);

/* "Allow for this session": all calls with that grant. */
void approval_allow_session(struct approval_policy *p, const char *grant);
void approval_forget_session(struct approval_policy *p);

#endif
