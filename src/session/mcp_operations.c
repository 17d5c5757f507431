/* mcp/list, mcp/test, mcp/add and mcp/remove. */
#include "session/mcp_operations.h"

#include <stdlib.h>
#include <string.h>

#include "agent/mcp_prompts.h"
#include "agent/tool_mcp.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/project.h"
#include "knowledge/trust.h"
#include "mcp/config.h"
#include "session/conversation_private.h"

/* --- the list --------------------------------------------------------------------------------- */

#define SERVER_LINE "{name}  {_state}  ({origin})  {about}"

static const char *const use_words[] = {
    [MCP_USE_UNREAD] = N_("not read"),   [MCP_USE_FAULTY] = N_("unusable"),
    [MCP_USE_OFF] = N_("off"),           [MCP_USE_WAITS] = N_("waits"),
    [MCP_USE_STARTING] = N_("starting"), [MCP_USE_READY] = N_("ready"),
    [MCP_USE_ENDED] = N_("ended"),       [MCP_USE_FAILED] = N_("failed")};
static const struct shape_names uses = {use_words, MCP_USE_FAILED + 1, -1};

static const struct shape listed_shape = SHAPE_OF(
    "server", struct mcp_listed,
    SHAPE_REQ(mcp_listed, name, "Name of the server, or path of a file."),
    SHAPE_REQ_WORD(mcp_listed, state, uses,
                   "Whether it can be used: \"waits\" until a turn needs it; of a file that is not "
                   "read, or has a fault, the file's."),
    SHAPE_REQ(mcp_listed, origin, "Whose configuration names it: user, project, editor, plugin."),
    SHAPE_OPT(mcp_listed, transport, "\"stdio\" or \"http\"."),
    SHAPE_OPT(mcp_listed, shown, "Its command line or address, as the file has it."),
    SHAPE_REQ(mcp_listed, about, "More, for people."),
    SHAPE_OPT(mcp_listed, tools, "Tools that models get.", .least = 1),
    SHAPE_OPT(mcp_listed, tokens, "Estimated size of their descriptions.", .least = 1));

static const struct shape list_shape = SHAPE_OF(
    "servers", struct mcp_list,
    SHAPE_REQ_LIST("servers", mcp_list, servers, listed_shape,
                   "In the order in which the configuration is read, then files that are not."));

/* Reads the servers, those of a project that is not trusted with that fault. `c` NULL: without a
 * session. */
static void read_servers(const char *directory, const struct conversation *c,
                         struct mcp_servers *out)
{
    struct project_parts parts;
    auto_free char *project = project_of(directory);
    mcp_servers_read(project, c ? c->editor_servers : NULL, out);
    if (c && c->trust.decided) {
        trust_mark_servers(conversation_trusted_parts(c), c->trust.trusted, out);
        return;
    }
    project_parts_gather(directory, &parts);
    trust_mark_servers(&parts, trust_holds(&parts), out);
    project_parts_release(&parts);
}

static void add_file(struct mcp_list *out, const char *path, enum mcp_use state, const char *about)
{
    vec_push(&out->servers, (struct mcp_listed){.name = mem_strdup(path),
                                                .state = state,
                                                .origin = mem_strdup("file"),
                                                .about = mem_strdup(about)});
}

/* Unless it can be used now, `about` has its fault. */
static void add_server(struct mcp_list *out, const struct mcp_server *s)
{
    vec_push(&out->servers,
             (struct mcp_listed){.name = mem_strdup(s->name),
                                 .state = s->disabled ? MCP_USE_OFF
                                          : s->fault  ? MCP_USE_FAULTY
                                                      : MCP_USE_WAITS,
                                 .origin = mem_strdup(s->origin),
                                 .transport = mem_strdup(!s->definition ? NULL
                                                         : s->url       ? "http"
                                                                        : "stdio"),
                                 .shown = mem_strdup(s->shown),
                                 .about = mem_strdup(s->fault ? s->fault : s->shown)});
    AUTO(buf_release) struct buf off = BUF_INIT;
    for (size_t i = 0; i < s->disabled_tools.len; i++)
        buf_addf(&off, "%s%s", i > 0 ? ", " : "", s->disabled_tools.items[i]);
    char **about = &vec_last(&out->servers).about;
    if (off.len > 0 && !s->fault)
        mem_replace(about, mem_printf("%s; tools that are off: %s", *about, off.data));
}

/* Adds lines with what the server has besides tools. */
static void add_offers(struct buf *out, struct mcp_client *client)
{
    enum { SHOWN = 40 }; /* resources */
    AUTO(skills_release) struct skills prompts = {.items = {0}};
    AUTO(mcp_offers_release) struct mcp_offers offers;
    mcp_prompts_of(client, &prompts);
    mcp_client_offers(client, &offers);
    for (size_t i = 0; i < prompts.items.len; i++) {
        const struct skill *p = &prompts.items.items[i];
        buf_addf(out, "  /%s%s%s  %s\n", p->name, *p->arguments ? " " : "", p->arguments,
                 p->description);
    }
    for (size_t i = 0; i < offers.resources.len && i < SHOWN; i++) {
        const struct mcp_resource_info *r = &offers.resources.items[i];
        buf_addf(out, "  %s %s%s%s\n", r->is_template ? "template" : "resource", r->uri,
                 r->name ? "  " : "", r->name ? r->name : "");
    }
    if (offers.resources.len > SHOWN)
        buf_addf(out, "  and %zu more resources\n", offers.resources.len - SHOWN);
}

/* Tells how the server is. `whole`: with its tools and its newest error output. */
static void tell_client(struct mcp_listed *out, struct mcp_client *client, bool whole)
{
    static const enum mcp_use states[] = {[MCP_STARTING] = MCP_USE_STARTING,
                                          [MCP_READY] = MCP_USE_READY,
                                          [MCP_ENDED] = MCP_USE_ENDED,
                                          [MCP_FAILED] = MCP_USE_FAILED};
    AUTO(mcp_view_release) struct mcp_view view;
    AUTO(buf_release) struct buf about = BUF_INIT, raw = BUF_INIT;
    mcp_client_view(client, &view);
    out->state = states[view.state];
    out->tools = out->tokens = 0;
    if (whole)
        buf_addf(&raw, "%s\n", out->shown);
    if (whole && view.protocol)
        buf_addf(&raw, "  %s%s%s, protocol %s\n", view.name ? view.name : "a server without a name",
                 view.server_version ? " " : "", view.server_version ? view.server_version : "",
                 view.protocol);
    for (size_t i = 0; i < view.tools.len; i++) {
        const struct mcp_tool_info *t = &view.tools.items[i];
        size_t bytes =
            strlen(t->name) + strlen(t->description ? t->description : "") + strlen(t->schema);
        int64_t tokens = (int64_t)bytes / MESSAGE_BYTES_A_TOKEN;
        out->tools += !t->off;
        out->tokens += t->off ? 0 : tokens;
        if (whole)
            buf_addf(&raw, "  %s  %lld tokens%s\n", t->name, (long long)tokens,
                     t->off ? "  off" : "");
    }
    if (whole)
        add_offers(&raw, client);
    const char *before = whole ? "  " : "";
    if (view.state == MCP_READY || out->tools > 0) {
        buf_addf(&raw, "%s%lld tool%s, about %lld tokens", before, (long long)out->tools,
                 out->tools == 1 ? "" : "s", (long long)out->tokens);
        before = "; ";
    }
    if (view.error) {
        buf_addf(&raw, "%s%s", before, view.error);
        before = "; ";
    }
    if (view.left_out > 0)
        buf_addf(&raw, "%s%zu tools with a fault are left out", before, view.left_out);
    if (whole && *view.log)
        buf_addf(&raw, "\n  error output:\n%s", view.log);
    buf_trim_end(&raw, "\n");
    utf8_clean(&about, raw.data, raw.len, UTF8_MULTILINE);
    if (about.len > 0)
        mem_replace(&out->about, buf_take(&about));
}

/* The words of `command`. */
struct order {
    char *text;                     /* owned */
    const char *verb, *name, *tool; /* NULL: not given */
};

static void order_release(struct order *o)
{
    free(o->text);
}

static bool order_read(const char *command, struct order *out, struct error *e)
{
    static const char *const verbs[] = {"on", "off", "restart"};
    char *words[4] = {0}, *rest = NULL;
    size_t count = 0, verb = 0;
    *out = (struct order){.text = mem_strdup(command ? command : "")};
    for (char *w = strtok_r(out->text, " \t\n", &rest); w && count < 4;
         w = strtok_r(NULL, " \t\n", &rest))
        words[count++] = w;
    while (count > 1 && verb < 3 && strcmp(verbs[verb], words[0]) != 0)
        verb++;
    if (count > 3 || (count > 1 && verb == 3) || (count > 2 && verb == 2))
        return err_set(e, ERR_USAGE,
                       "give the name of a server, or \"off\", \"on\" or \"restart\" and a name");
    out->verb = count > 1 ? verbs[verb] : NULL;
    out->name = words[count > 1];
    out->tool = words[2];
    return true;
}

/* Makes the session's servers be those of the configuration: at once, or after the turn. */
static void reload(struct conversation *c)
{
    c->servers_changed = true;
    if (c->doing == IDLE && c->mcp && tool_mcp_has_begun(c->mcp))
        conversation_start_servers(c);
}

/* Does what the command says, and lists. `c` NULL: without a session. */
static bool list_after(const char *directory, struct conversation *c, const char *command,
                       struct mcp_list *out, struct error *e)
{
    AUTO(order_release) struct order order = {0};
    AUTO(mcp_servers_release) struct mcp_servers servers = {0};
    if (!order_read(command, &order, e))
        return false;
    read_servers(directory, c, &servers);
    if (order.name && !mcp_servers_find(&servers, order.name))
        return err_set(e, ERR_USAGE, "there is no server \"%.80s\"; list them first", order.name);
    struct tool_mcp *running = c ? c->mcp : NULL;
    struct mcp_client *client = running && order.name ? tool_mcp_client(running, order.name) : NULL;
    if (order.verb && strcmp(order.verb, "restart") == 0) {
        const char *now = mcp_servers_find(&servers, order.name)->definition;
        if (!c)
            return err_set(e, ERR_USAGE, "no server runs here");
        if (client && now && strcmp(now, mcp_client_server(client)->definition) == 0)
            mcp_client_restart(client);
        else
            reload(c);
    } else if (order.verb) {
        if (!mcp_config_switch(order.name, order.tool, strcmp(order.verb, "on") == 0, e))
            return false;
        mcp_servers_release(&servers);
        read_servers(directory, c, &servers);
        if (c)
            reload(c);
    }
    for (size_t i = 0; i < servers.len; i++) {
        const struct mcp_server *s = &servers.items[i];
        if (order.name && strcmp(order.name, s->name) != 0)
            continue;
        add_server(out, s);
        if (running && !s->fault && !s->disabled && (client = tool_mcp_client(running, s->name)))
            tell_client(&vec_last(&out->servers), client, order.name && !order.verb);
    }
    for (size_t i = 0; i < servers.faults.len && !order.name; i++)
        add_file(out, "configuration", MCP_USE_FAULTY, servers.faults.items[i]);
    for (size_t i = 0; i < servers.unread.len && !order.name; i++)
        add_file(out, servers.unread.items[i], MCP_USE_UNREAD,
                 "found; what tiro reads is .mcp.json");
    return true;
}

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct mcp_list_params *p = params;
    return list_after(c->project ? c->project : ".", NULL, p->command, result, e);
}

bool converse_list_servers(struct conversation *c, const void *params, void *result,
                           struct error *e)
{
    const struct mcp_list_params *p = params;
    return list_after(c->root ? c->root : ".", c, p->command, result, e);
}

const struct operation operation_mcp_list = {
    OPERATION("mcp/list", OWNER, CONVERSATION,
              "Lists the MCP servers whose tools models get, with their state, and turns a server "
              "or a tool off or on."),
    SLASH("mcp", "[NAME]",
          N_("list MCP servers; with a name: its tools and errors; off, on, restart NAME")),
    COMMAND("mcp list", "[NAME]", N_("list the MCP servers of the configuration and the project")),
    .lines = "servers",
    .line = SERVER_LINE,
    .none = N_("There is no MCP server; tiro mcp add NAME -- COMMAND adds one."),
    .params = PARAMETERS(
        mcp_list_params,
        SHAPE_OPT(mcp_list_params, command,
                  "\"NAME\": more of this server; \"off NAME [TOOL]\", \"on NAME [TOOL]\": change "
                  "the user's configuration first; \"restart NAME\"; absent: all are listed.",
                  .most = 1000),
        SHAPE_OPT_AS(SESSION_MEMBER, mcp_list_params, session,
                     "The session; absent: only what the configuration says.", .least = 1)),
    .result = &list_shape,
    .lasting = true,
    .run = run_list,
    CONVERSE(list_servers, NOW, READING),
};

/* --- prompts ---------------------------------------------------------------------------------- */

bool conversation_open_prompt(struct conversation *c, const char *name, const char *words,
                              struct buf *out, struct error *e)
{
    AUTO(mcp_servers_release) struct mcp_servers servers = {0};
    auto_free char *server = mem_strndup(name, strcspn(name, ":"));
    read_servers(c->root ? c->root : ".", c, &servers);
    const struct mcp_server *s = mcp_servers_find(&servers, server);
    if (!s)
        return err_set(
            e, ERR_USAGE,
            "there is no MCP server \"%.64s\" with such a prompt; /mcp lists the servers. "
            "To send the text as it is, begin it with a blank",
            server);
    if (s->fault)
        return err_set(e, ERR_USAGE, "%s: %s", s->name, s->fault);
    conversation_start_servers(c);
    struct mcp_client *client = c->mcp ? tool_mcp_client(c->mcp, server) : NULL;
    if (!client)
        return err_set(e, ERR_USAGE, "%s: %s", s->name,
                       s->disabled ? "it is off; /mcp on turns it on"
                                   : "this session uses no tools, so no server is started");
    return mcp_prompt_open(client, name, words, &c->wakeup, out, e);
}

/* --- the client of a session ------------------------------------------------------------------ */

unsigned conversation_elicits(const struct conversation *c)
{
    bool asks = c->engine->options.can_ask && !c->engine->options.nobody_allows;
    return asks ? MCP_ELICITS_FORMS | MCP_ELICITS_PAGES : 0;
}

bool converse_set_client(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_client_params *p = params;
    (void)result, (void)e;
    c->elicits = conversation_elicits(c) &
                 ((p->forms ? MCP_ELICITS_FORMS : 0U) | (p->pages ? MCP_ELICITS_PAGES : 0U));
    if (p->servers && (!c->editor_servers || strcmp(c->editor_servers, p->servers) != 0)) {
        mem_replace(&c->editor_servers, mem_strdup(p->servers));
        reload(c);
    }
    return true;
}

const struct operation operation_session_set_client = {
    OPERATION("session/set_client", TERMINAL, CONVERSATION,
              "Tells what the client of a session answers, and its MCP servers."),
    .params = PARAMETERS(
        session_client_params,
        SHAPE_REQ_AS(SESSION_MEMBER, session_client_params, session, "The session.", .least = 1),
        SHAPE_OPT(session_client_params, servers, "The servers, a JSON text."),
        SHAPE_OPT(session_client_params, forms, "It shows forms of servers."),
        SHAPE_OPT(session_client_params, pages, "It shows addresses of pages.")),
    CONVERSE(set_client, NOW, WRITING),
};

/* --- a test ----------------------------------------------------------------------------------- */

static bool run_test(struct operation_context *c, const void *params, void *result, struct error *e)
{
    enum { LOOK_MS = 100, OFFERS_MS = 5000 };
    const struct mcp_test_params *p = params;
    const struct operation_stream *stream = c->stream;
    const char *directory = c->project ? c->project : ".";
    AUTO(mcp_servers_release) struct mcp_servers servers;
    struct mcp_list *out = result;
    bool goes_on = true;
    read_servers(directory, NULL, &servers);
    const struct mcp_server *s = mcp_servers_find(&servers, p->name);
    if (!s)
        return err_set(e, ERR_USAGE, "there is no server \"%.80s\"; list them first", p->name);
    if (s->fault)
        return err_set(e, ERR_USAGE, "%s: %s", s->name, s->fault);
    const struct http_reach reach = http_reach_of(c->config);
    struct mcp_client *client = mcp_client_new(s, directory, &reach, 0);
    while (goes_on && !mcp_client_wait(client, clock_mono_ms() + LOOK_MS, NULL))
        goes_on = !stream || !stream->tell || stream->tell(stream->context, "server", 0, 0);
    if (goes_on)
        (void)mcp_client_wait_offers(client, clock_mono_ms() + OFFERS_MS, NULL);
    add_server(out, s);
    tell_client(&vec_last(&out->servers), client, true);
    mcp_client_free(client);
    return goes_on || err_set(e, ERR_INTERRUPTED, "interrupted");
}

const struct operation operation_mcp_test = {
    OPERATION("mcp/test", TERMINAL, CALLER, "Starts an MCP server, lists its tools and ends it."),
    COMMAND("mcp test", "NAME", N_("start a server and show its version, tools and errors")),
    .lines = "servers",
    .line = SERVER_LINE,
    .params = PARAMETERS(mcp_test_params,
                         SHAPE_REQ(mcp_test_params, name, "Name of the server.", .least = 1)),
    .result = &list_shape,
    .lasting = true,
    .run = run_test,
};

/* --- off and on ------------------------------------------------------------------------------- */

static bool run_switch(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct mcp_switch_params *p = params;
    auto_free char *command = mem_printf("%s %s%s%s", p->on ? "on" : "off", p->name,
                                         p->tool ? " " : "", p->tool ? p->tool : "");
    return list_after(c->project ? c->project : ".", NULL, command, result, e);
}

const struct operation operation_mcp_switch = {
    OPERATION("mcp/switch", TERMINAL, CALLER,
              "Turns an MCP server, or one of its tools, off or on in the user's configuration."),
    COMMAND("mcp off", "NAME [TOOL]", N_("turn a server off, or one of its tools")),
    .lines = "servers",
    .line = SERVER_LINE,
    .params = PARAMETERS(
        mcp_switch_params, SHAPE_REQ(mcp_switch_params, name, "Name of the server.", .least = 1),
        SHAPE_OPT(mcp_switch_params, tool, "Name of the tool; absent: the server.", .least = 1),
        SHAPE_OPT(mcp_switch_params, on, "On, not off.")),
    .result = &list_shape,
    .lasting = true,
    .run = run_switch,
};

/* --- changes ---------------------------------------------------------------------------------- */

/* "NAME=VALUE" or "Name: value" as members of an object. */
static bool add_pairs(struct json *server, const char *member, char *const *texts, size_t len,
                      char sign, struct error *e)
{
    struct json *pairs = json_new_object();
    for (size_t i = 0; i < len; i++) {
        const char *at = strchr(texts[i], sign);
        if (!at || at == texts[i]) {
            json_free(pairs);
            return err_set(e, ERR_USAGE, "\"%.80s\" has no \"%c\" after a name", texts[i], sign);
        }
        auto_free char *name = mem_strndup(texts[i], (size_t)(at - texts[i]));
        json_set_string(pairs, name, at + 1 + strspn(at + 1, sign == ':' ? " " : ""));
    }
    if (len > 0)
        json_set(server, member, pairs);
    else
        json_free(pairs);
    return true;
}

static bool run_add(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct mcp_add_params *p = params;
    auto_free char *project = p->project ? project_of(c->project ? c->project : ".") : NULL;
    struct json *server = json_new_object(), *args = json_new_array();
    (void)result;
    if (p->command.len > 0)
        json_set_string(server, "command", p->command.items[0]);
    for (size_t i = 1; i < p->command.len; i++)
        json_push(args, json_new_string(p->command.items[i]));
    if (p->command.len > 0)
        json_set(server, "args", args);
    else
        json_free(args);
    if (p->url)
        json_set_string(server, "type", "http");
    json_set_string(server, "url", p->url);
    if (add_pairs(server, "env", p->env.items, p->env.len, '=', e) &&
        add_pairs(server, "headers", p->headers.items, p->headers.len, ':', e))
        return mcp_config_add(project, p->name, server, e);
    json_free(server);
    return false;
}

static bool run_remove(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct mcp_remove_params *p = params;
    auto_free char *project = p->project ? project_of(c->project ? c->project : ".") : NULL;
    (void)result;
    return mcp_config_remove(project, p->name, e);
}

#define IN_PROJECT                                                                                 \
    SHAPE_OPTION("--project", N_("in .mcp.json of the project, not in your mcp.json"))
#define TEXTS_OF(S, member, ...)                                                                   \
    SHAPE_FIELD(#member, STRINGS, OPTIONAL, offsetof(struct S, member), .help = __VA_ARGS__)

const struct operation operation_mcp_add = {
    OPERATION("mcp/add", TERMINAL, CALLER, "Adds an MCP server to the configuration."),
    COMMAND("mcp add", "NAME [COMMAND...]", N_("add a server")),
    .details = N_("COMMAND is the program and its arguments, after --. ${NAME} in a text is a "
                  "variable of the\nenvironment, as in -e 'TOKEN=${TOKEN}': so the file holds no "
                  "key."),
    .params = PARAMETERS(
        mcp_add_params, SHAPE_REQ(mcp_add_params, name, "Name: letters, digits, - and _."),
        TEXTS_OF(mcp_add_params, command, "A program and its arguments."),
        SHAPE_OPT(mcp_add_params, url, "Address of a server that speaks HTTP.", .least = 1,
                  SHAPE_OPTION("--url URL", N_("address of a server that is reached by HTTP"))),
        TEXTS_OF(mcp_add_params, env, "Variables of its environment, NAME=VALUE.",
                 SHAPE_OPTION("-e, --env NAME=VALUE",
                              N_("give the program a variable; may be repeated"))),
        TEXTS_OF(
            mcp_add_params, headers, "Headers of requests, \"Name: value\".",
            SHAPE_OPTION("--header HEADER", N_("send a header, 'Name: value'; may be repeated"))),
        SHAPE_OPT(mcp_add_params, project, "In the project's file, not the user's.", IN_PROJECT)),
    .lasting = true,
    .run = run_add,
};

const struct operation operation_mcp_remove = {
    OPERATION("mcp/remove", TERMINAL, CALLER, "Removes an MCP server from the configuration."),
    COMMAND("mcp remove", "NAME", N_("remove a server")),
    .params = PARAMETERS(mcp_remove_params,
                         SHAPE_REQ(mcp_remove_params, name, "Name of the server.", .least = 1),
                         SHAPE_OPT(mcp_remove_params, project,
                                   "From the project's file, not the user's.", IN_PROJECT)),
    .lasting = true,
    .run = run_remove,
};
