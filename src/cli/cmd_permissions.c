#include "base/i18n.h"
#include "cli/verb.h"

static const struct verb_more more[] = {{0}};

VERB_GROUP(permissions, "", N_("list what tools may always do in this project, or take it back"),
           N_("They are given as an answer to a question of a tool. The project is that of the "
              "working\ndirectory."))
