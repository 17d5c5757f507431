#include "base/i18n.h"
#include "cli/verb.h"

static const struct verb_more more[] = {{0}};

VERB_GROUP(
    skills, "", N_("list skills: instructions that the model or you open for a task"),
    N_("A skill is a folder with a SKILL.md in .agents/skills or .claude/skills, of your home\n"
       "directory or of a project, or in ~/.config/tiro/skills."))
