#include "base/i18n.h"
#include "cli/verb.h"

static const struct verb_more more[] = {{0}};

VERB_GROUP(mcp, "", N_("list, add and remove MCP servers, whose tools models get"),
           N_("Servers stand in mcp.json of your configuration and in .mcp.json of a project, as "
              "other programs\nwrite it. A project's servers are started after you have trusted "
              "the project."))
