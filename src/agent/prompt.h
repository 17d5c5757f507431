/* The parts of a model call. The request is written from the parts that the context screen shows.
 * Among them are skills: advice on using a tool, sent where the tool is offered. */
#ifndef AGENT_PROMPT_H
#define AGENT_PROMPT_H

#include <stddef.h>
#include <stdint.h>

#include "chat/context.h"
#include "provider/provider.h"

/* The text of data/skills/NAME/SKILL.md below its front matter; the caller frees. NULL: there is no
 * such skill. */
char *skill_text(const char *name);

struct agent;
struct turn;

/* Adds the parts of the next request in its order, with their estimates: the system prompt,
 * files of instructions, the skills of the tools that are offered, the names of the skills that can
 * be opened, learned memory, what the graph has, the tools of each source, a summary and messages.
 * All in front of the tools have their texts, which are what is sent, and their caps: the system
 * prompt three quarters of a known window, a skill 8192 tokens, the others what is configured.
 * context_release() frees. */
void prompt_assemble(struct context *out, const struct agent *a);

/* Adds the texts of the other parts, for a person to read and not cleaned: tools with their
 * schemas, calls with their arguments. A message has the first 64 KiB of its text, and "…" behind
 * them, while all messages together have less than 4 MiB; those that follow have "…" alone. */
void prompt_describe(struct context *prompt, const struct agent *a);

/* The system prompt of the request, with the skills and learned memory behind it. The caller frees.
 * NULL: none. */
char *prompt_system(const struct context *prompt);

/* The tools of the request; the caller frees the array. */
size_t prompt_tools(const struct agent *a, struct tool_spec **out);

/* Which parts were cut, in English, or NULL: none. The caller frees. */
char *prompt_cut_warning(const struct context *prompt);

/* The warnings that a session was given: none is repeated until its text is another. */
struct prompt_told {
    char *cut, *tools, *faults;  /* owned */
    char *servers;               /* likewise: of MCP, with their faults */
    char *instructions, *skills; /* as they were last sent; owned; NULL: not yet */
};
void prompt_told_release(struct prompt_told *t);

/* Warns of parts that were cut, of files that were left out or have changed, and of tools that take
 * more than [tools] max_tokens. */
void prompt_warn(struct turn *t, const struct context *prompt);

/* Date, working directory, system and branch: text that goes with a message, because the system
 * prompt stays the same for as long as possible, which providers keep in a cache. The caller frees.
 */
char *prompt_surroundings(const char *directory);

/* Tokens of all parts but the messages. */
int64_t prompt_overhead(const struct agent *a);

#endif
