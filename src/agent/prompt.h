/* What a model call is made of. The request is written from the parts that the context screen
 * shows. */
#ifndef AGENT_PROMPT_H
#define AGENT_PROMPT_H

#include "agent/agent.h"
#include "chat/context.h"

/* Adds the parts of the next request in its order, with their estimates: the system prompt, the
 * skills of the tools that are offered, the tools of each source, a summary and messages. The
 * system prompt and skills have their texts, which are what is sent. context_release() frees. */
void prompt_assemble(struct context *out, const struct agent *a);

/* Adds the texts of the other parts, for a person to read and not cleaned: tools with their
 * schemas, calls with their arguments. */
void prompt_describe(struct context *prompt, const struct agent *a);

/* The system prompt of the request, with the skills behind it. The caller frees. NULL: none. */
char *prompt_system(const struct context *prompt);

/* The tools of the request; the caller frees the array. */
size_t prompt_tools(const struct agent *a, struct tool_spec **out);

/* Tokens of all parts before the messages. */
int64_t prompt_overhead(const struct agent *a);

#endif
