/* Decides which tools may run, which ask first and which never run. Knows the guarded places, which
 * a tool reaches only after a question about that call, whatever is allowed. Pure: the caller asks.
 */
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
 * conversations and log. A path counts by the place to which its links lead. A hard link under
 * another name is not recognised, and the files that a command opens are not checked here. */

/* Where keys usually are: the last names of a path. A star at the beginning or the end of a name
 * stands for any text. Case is ignored, as some file systems do. Ends with NULL;
 * tiro.ini(5) lists them. */
extern const char *const guard_keys[];

struct guard {
    VEC(char *) own; /* resolved paths */
};

/* Looks where the program's own files are. */
void guard_init(struct guard *g);
void guard_release(struct guard *g);

/* Whether this absolute, resolved path is a guarded place, or is beneath one. It may also be a word
 * of a command, whose patterns (*, ?, []) then count if they can find such a place. */
bool guard_covers(const struct guard *g, const char *path);

/* As guard_covers(), for a path whose directory is known to be on no guarded way: looks at the end
 * of the path alone. */
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
 * tool that no list names asks. A consent of the tool's own (tool.h) replaces the verdict of its
 * class, unless the class is denied. Grants (tool_call_grant()) allow calls that would ask, but no
 * denied calls. */
struct approval_policy {
    struct approval_names allow, ask, deny;
    struct approval_names commands; /* grants of the configuration and the command line */
    struct approval_names session;  /* grants that the user gave for this session */
    struct permissions project; /* grants that hold always in this project; the caller fills them */
};

/* From [tools] allow, ask, deny, and `also_allow` (of the command line; NULL: none): words
 * separated by blanks or commas. A word of the command line does not ask, even if [tools] ask has
 * it, too. `allow` and `also_allow` may also have commands between commas ("git status", see
 * simple_command.h): commands of a known program, or any command in back quotes; and hosts
 * ("fetch_url example.org"). CONFIG_ERROR: a
 * word is neither a tool nor a class (the error names the nearest one), or a command cannot be
 * allowed; the other words are in the policy all the same. Release the policy in either case. */
bool approval_policy_read(struct approval_policy *p, const struct config *config,
                          const struct toolset *tools, const char *also_allow, struct error *e);
void approval_policy_release(struct approval_policy *p);

/* Whether [tools] ask has the word outside-sandbox: a call that would ask runs without a question
 * if it stays in the sandbox. */
bool approval_spares_sandbox(const struct approval_policy *p);

/* Whether a call of the tool that would ask does so because of its class alone: neither [tools] ask
 * names the tool, nor does its source ask. */
bool approval_asks_by_class(const struct approval_policy *p, const struct tool *tool);

/* `grant`: the grant that would allow the call (tool_call_grant()); NULL: no grant does. */
enum approval_verdict approval_decide(const struct approval_policy *p, const struct tool *tool,
                                      const char *grant);

/* "Allow for this session": all calls with that grant. */
void approval_allow_session(struct approval_policy *p, const char *grant);
void approval_forget_session(struct approval_policy *p);

#endif
