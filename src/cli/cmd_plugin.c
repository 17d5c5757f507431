#include <stdio.h>

#include "base/i18n.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "session/plugin_operations.h"

static bool may_add(const struct verb_call *v, struct error *e)
{
    if (v->yes)
        return true;
    if (!confirm_possible())
        return err_set(e, ERR_USAGE,
                       _("the servers above would be started as you; --yes adds the "
                         "plugin without asking"));
    return confirm(_("Its servers would be started as you, without further questions. Add the "
                     "plugin? [y/N] ")) ||
           err_set(e, ERR_INTERRUPTED, _("not confirmed, so nothing was done"));
}

/* Shows what the plugin brings, asks, and adds what was shown. */
static bool run_add(struct verb_call *v, struct error *e)
{
    const struct operation *o = v->verb->operation;
    struct plugin_add_params *params = v->params;
    struct plugin_info seen, added;
    if (!operation_call(v->context, o, params, &seen, e))
        return false;
    auto_free char *lines = operation_lines(o, &seen, gettext);
    if (!v->json)
        output_text(lines);
    fflush(stdout);
    params->seen = seen.servers ? seen.servers : "";
    bool ok = may_add(v, e) && operation_call(v->context, o, params, &added, e);
    params->seen = NULL;
    if (ok && v->json)
        verb_print_json(o, NULL, &added);
    if (ok)
        shape_release(o->result, &added);
    shape_release(o->result, &seen);
    return ok;
}

static const struct verb_more more[] = {{&operation_plugin_add, .asks = true, .run = run_add}, {0}};

VERB_GROUP(plugin, "", N_("list, add and remove plugins: folders with skills and MCP servers"),
           N_("A plugin is a folder on your disk with a plugin.json (Agent Plugins 1.0)."))
