#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/mem.h"
#include "cli/output.h"
#include "cli/session_options.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "serve/acp.h"
#include "serve/describe.h"
#include "serve/http_service.h"
#include "serve/jsonrpc.h"
#include "serve/mcp.h"
#include "serve/socket.h"
#include "session/config_operations.h"

struct serve_options {
    struct session_options session;
    bool stdio, mcp, acp;
    unsigned rights;    /* of clients of the Model Context Protocol */
    enum mcp_guise as;  /* … and the tools that they are offered */
    const char *socket; /* NULL: none */
    const char *http;   /* address; "": the configured one; NULL: none */
    const char *describe;
};

/* --- surfaces: the protocols that clients connect to --- */

struct serving {
    const struct serve_options *options;
    struct server *server;
    int in, out; /* the files of a protocol on standard input and output; -1: none */
    struct jsonrpc *stdio;
    struct mcp *mcp;
    struct mcp_connection *mcp_client;
    struct acp *acp;
    struct socket_surface *socket;
    struct http_service *http;
};

static void client_gone(void *context)
{
    struct serving *s = context;
    server_unhold(s->server);
}

/* Opens each surface that an option asks for. The first error ends it; close_surfaces() closes what
 * is open. */
static bool open_surfaces(struct serving *s, struct error *e)
{
    const struct serve_options *o = s->options;
    if (o->mcp || o->acp || o->stdio) {
        /* Only the protocol may write to standard output: all other output goes to standard
         * error. */
        s->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        s->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (s->in < 0 || s->out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            return err_set_errno(e, ERR_FILE_ERROR, "%s",
                                 _("cannot take standard input and output"));
        server_hold(s->server);
    }
    if (o->mcp)
        s->mcp_client = mcp_connect(s->mcp, s->in, s->out, client_gone, s);
    if (o->acp)
        s->acp = acp_new(s->server, s->in, s->out, client_gone, s);
    if (o->stdio)
        s->stdio = jsonrpc_new(s->server, s->in, s->out, !o->socket && !o->http, client_gone, s);
    if (o->socket && !(s->socket = socket_open(s->server, o->socket, e)))
        return false;
    if (!o->http)
        return true;
    s->http = http_service_new(s->server, s->mcp, *o->http ? o->http : NULL, e);
    if (!s->http)
        return false;
    /* The token's file is printed first: a program that reads the address can connect at once. */
    if (s->http->token_path)
        fprintf(stderr, _("tiro: requests need the token in %s\n"), s->http->token_path);
    fprintf(stderr, _("tiro: serving %s\n"), s->http->urls);
    return true;
}

static void close_surfaces(struct serving *s)
{
    mcp_disconnect(s->mcp_client);
    acp_free(s->acp);
    jsonrpc_free(s->stdio);
    if (s->in >= 0)
        close(s->in);
    if (s->out >= 0)
        close(s->out);
    socket_free(s->socket);
    http_service_free(s->http);
    mcp_free(s->mcp);
}

/* --- the program ------------------------------------------------------------------------------ */

static void on_signal(void *context, short revents)
{
    struct serving *s = context;
    (void)revents;
    if (signals_take() != 0)
        server_stop(s->server);
}

static int serve(const struct serve_options *o, const struct setup *setup)
{
    /* config/get, capabilities/get and the offered tools show the switches of the command line. */
    const struct {
        enum config_key key;
        int wanted;
    } switches[] = {{CONFIG_SESSION_PERSIST, o->session.persist},
                    {CONFIG_COMPACTION_ENABLED, o->session.compaction},
                    {CONFIG_MEMORY_ENABLED, o->session.memory}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (switches[i].wanted >= 0)
            (void)config_set(setup->config, switches[i].key, switches[i].wanted ? "true" : "false",
                             &(struct error){0});
    struct engine_options options = session_options_service(&o->session, setup->config);
    options.can_ask = true;
    options.nobody_allows = !o->stdio && !o->acp && !o->socket && !(o->rights & MCP_OWNER);
    options.helps_tools = o->acp;
    options.serves = true;
    struct serving s = {.options = o, .in = -1, .out = -1};
    struct error cause, e = {0};
    int signal_fd = signals_open(), status;
    descriptors_raise(SERVER_DESCRIPTORS);
    s.server = server_new(&options);
    if (o->mcp || o->http)
        s.mcp = mcp_new(s.server, o->rights, o->as);
    struct watch *signals = server_watch(s.server, signal_fd, POLLIN, on_signal, &s);
    /* Clients rely on what is saved: without a store, tiro serves only with --no-persist. */
    bool ok = server_open_store(s.server, &cause) ||
              err_set(&e, cause.code, _("%s; with --no-persist tiro serves, but saves nothing"),
                      cause.text);
    status = ok && open_surfaces(&s, &e) ? server_run(s.server) : cli_fail(&e);
    close_surfaces(&s);
    server_unwatch(s.server, signals);
    server_free(s.server);
    return status;
}

static int describe(const char *format)
{
    struct error e;
    struct json *v = describe_contract(format);
    if (!v) {
        err_set(&e, ERR_USAGE, _("--describe takes one of: %s; not \"%s\""), describe_formats,
                format);
        return cli_fail(&e);
    }
    output_json(v);
    return 0;
}

static bool check_options(const struct serve_options *o, struct error *e)
{
    if (o->stdio + o->mcp + o->acp > 1)
        return err_set(e, ERR_USAGE,
                       _("standard input and output carry only one protocol; give one of --stdio, "
                         "--mcp and --acp"));
    return o->describe || o->stdio || o->mcp || o->acp || o->socket || o->http ||
           err_set(e, ERR_USAGE,
                   _("no protocol is given; give --stdio, --mcp, --acp, --socket PATH or --http"));
}

/* Words of --allow that nothing uses are an error, else they would be ignored in silence. */
static bool check_allow(const struct serve_options *o, const struct config *config, struct error *e)
{
#define X(right, bit, word) " " word
    static const char *const words = MCP_RIGHTS(X);
#undef X
    struct error fault;
    if (o->as && !o->mcp && !o->http)
        return err_set(e, ERR_USAGE, _("--as needs --mcp or --http"));
    if (o->rights && !o->mcp && !o->http)
        return err_set(e, ERR_USAGE, _("these words of --allow need --mcp or --http:%s"), words);
    if (!config_check_tools(config, NULL, e))
        return false;
    return config_check_tools(config, o->session.allow.data, &fault) ||
           err_set(e, fault.code, _("%s (words for other agents:%s)"), fault.text, words);
}

static int run_options(const struct serve_options *o)
{
    struct error e;
    struct setup setup;
    if (!check_options(o, &e))
        return cli_fail(&e);
    if (o->describe)
        return describe(o->describe);
    setup_load(&setup);
    setup_print_problems(&setup);
    int status = check_allow(o, setup.config, &e) ? serve(o, &setup) : cli_fail(&e);
    setup_release(&setup);
    return status;
}

static bool take_http(const struct option *o, void *at, const char *value, struct error *e)
{
    (void)o, (void)e;
    *(const char **)at = value ? value : "";
    return true;
}

#define X(guise, word) word,
static const char *const guises[] = {MCP_GUISES(X)};
#undef X
#define X(guise, word) " " word
static const char guise_words[] = MCP_GUISES(X);
#undef X

static bool take_guise(const struct option *self, void *at, const char *value, struct error *e)
{
    (void)self;
    for (size_t i = 0; i < sizeof guises / sizeof *guises; i++)
        if (strcmp(guises[i], value) == 0) {
            *(enum mcp_guise *)at = (enum mcp_guise)i;
            return true;
        }
    return err_set(e, ERR_USAGE, _("--as takes one of:%s; not \"%s\""), guise_words, value);
}

static const struct option options[] = {
    {"stdio", 0, OPTION_FLAG, NULL, N_("JSON-RPC on standard input and output, for one client"),
     .at = offsetof(struct serve_options, stdio)},
    {"mcp", 0, OPTION_FLAG, NULL,
     N_("tools and resources for another agent, by the Model Context Protocol"),
     .at = offsetof(struct serve_options, mcp)},
    {"as", 0, OPTION_VALUE, "NAME",
     N_("tools of --mcp: memory (those that find what was said), server-memory (those of that "
        "server)"),
     .at = offsetof(struct serve_options, as), .take = take_guise,
     .offer = {OFFER_CHOICES, .fixed = guise_words + 1}},
    {"acp", 0, OPTION_FLAG, NULL, N_("agent of the Agent Client Protocol, for an editor"),
     .at = offsetof(struct serve_options, acp)},
    {"socket", 0, OPTION_VALUE, "PATH", N_("JSON-RPC on a Unix socket, for many clients"),
     .at = offsetof(struct serve_options, socket), .offer = {.what = OFFER_FILES}},
    {"http", 0, OPTION_MAYBE, "ADDRESS:PORT",
     N_("HTTP at ADDRESS:PORT (default: [serve] address, for this machine only)"),
     .at = offsetof(struct serve_options, http), .take = take_http},
    {"describe", 0, OPTION_VALUE, "FORMAT",
     N_("print a description of all operations (openrpc, openapi or json-schema) and exit"),
     .at = offsetof(struct serve_options, describe),
     .offer = {OFFER_CHOICES, .fixed = describe_formats}},
    SESSION_SETTINGS(N_("words above, separated by commas; may be repeated")),
    {0},
};

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct serve_options o = {.session = SESSION_OPTIONS_INIT};
    int status;
    if (cli_parse(self, argc, argv, &o, &status)) {
        o.rights = mcp_take_rights(&o.session.allow);
        status = run_options(&o);
    }
    session_options_release(&o.session);
    return status;
}

const struct cli_command cmd_serve = {
    .name = "serve",
    .synopsis = "serve --stdio|--mcp|--acp|--socket PATH|--http [ADDRESS:PORT] [OPTION]...",
    .help = N_("serve conversations to other programs"),
    .details = N_("Other programs use all functions of tiro, in many conversations at once; "
                  "doc/protocols.md\n"
                  "describes the protocols. With --stdio, --mcp and --acp, tiro serve ends when "
                  "its input has ended\n"
                  "and every request is answered. SIGTERM ends it, too: a running turn is marked "
                  "as interrupted and\n"
                  "keeps the text that has arrived.\n"
                  "\n"
                  "Words of --allow:\n"
                  "  NAME of a tool, or read, write, execute, network (classes of tools): the "
                  "model may use these tools without asking\n"
                  "  run      other agents (--mcp, --http) may begin and continue sessions: "
                  "tiro_run, tiro_resume\n"
                  "  corpora  other agents may add documents: tiro_rag_ingest\n"
                  "  graph    other agents may change the graph of facts: "
                  "tiro_memory_create_entities and the like\n"
                  "  owner    clients of --mcp and --http may do all that clients of --stdio may: "
                  "delete, export,\n"
                  "           change settings, and allow tools that ask"),
    .options = options,
    .run = run,
};
