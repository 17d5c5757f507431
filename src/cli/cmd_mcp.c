#include "base/i18n.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "session/mcp_operations.h"

/* Fails, too, if the server does not start. */
static bool run_test(struct verb_call *v, struct error *e)
{
    const struct operation *o = v->verb->operation;
    struct mcp_list listed;
    if (!verb_call_watched(v->context, o, v->params, &listed, e))
        return false;
    auto_free char *lines = operation_lines(o, &listed, gettext);
    bool ready = listed.servers.items[0].state == MCP_USE_READY;
    if (v->json)
        verb_print_json(o, NULL, &listed);
    else
        output_text(lines);
    shape_release(o->result, &listed);
    return ready || err_set(e, ERR_AGENT_ERROR, _("the server is not ready"));
}

static bool run_on(struct verb_call *v, struct error *e)
{
    ((struct mcp_switch_params *)v->params)->on = true;
    return verb_call(v, e);
}

static const struct verb_more more[] = {
    {&operation_mcp_switch, .words = "mcp on", .help = N_("turn a server or a tool on again"),
     .run = run_on},
    {&operation_mcp_test, .run = run_test},
    {0},
};

VERB_GROUP(mcp, "", N_("list, test, add, remove and switch MCP servers, whose tools models get"),
           N_("Servers stand in mcp.json of your configuration and in .mcp.json of a project, as "
              "other programs\nwrite it. A project's servers are started after you have trusted "
              "the project."))
