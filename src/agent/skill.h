/* Skills: advice on using a tool that joins the system prompt where the tool is offered. */
#ifndef AGENT_SKILL_H
#define AGENT_SKILL_H

/* What data/skills/NAME/SKILL.md says below its front matter; the caller frees. NULL: there is no
 * such skill. */
char *skill_text(const char *name);

/* The same of a text like that: a pure function. */
char *skill_body(const char *markdown);

#endif
