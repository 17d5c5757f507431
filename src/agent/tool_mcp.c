#include "agent/tool_mcp.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/tool.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

struct server {
    struct mcp_client *client;
    uint64_t version; /* of the view that the list of tools is made from */
};

/* A tool that was listed. A failed server's tools leave the list; the others keep their places, so
 * that the prompt changes at its end only. */
struct offered {
    struct mcp_client *client;
    char *tool; /* the server's name */
    char *name; /* the model's */
    char *description, *schema;
    char *hints;    /* the server's own, for a person */
    int64_t tokens; /* estimate of what it takes of a request */
    int place;      /* in the prompt, from 1; 0: it is not there */
    bool found;     /* while a list is made */
};

struct tool_mcp {
    char *directory;
    const struct wakeup *wakeup;
    bool begun, waited;
    int64_t room;       /* tokens; 0: no limit */
    int places;         /* that were given */
    int search_place;   /* of tool_search, as struct offered */
    int read_place;     /* of mcp_read_resource */
    bool has_resources; /* a server does */
    bool has_found;     /* tools, since the last list */
    struct mcp_servers servers;
    VEC(struct server) started;
    VEC(struct offered *) tools;
    char *faults;
};

struct tool_mcp *tool_mcp_new(const char *directory, const struct wakeup *wakeup)
{
    struct tool_mcp *m = mem_alloc(sizeof *m);
    m->directory = mem_strdup(directory);
    m->wakeup = wakeup;
    return m;
}

void tool_mcp_begin(struct tool_mcp *m, struct mcp_servers *servers, const struct http_reach *reach,
                    unsigned elicits)
{
    m->begun = true;
    m->servers = *servers;
    *servers = (struct mcp_servers){0};
    for (size_t i = 0; i < m->servers.len; i++) {
        const struct mcp_server *s = &m->servers.items[i];
        if (!s->fault && !s->disabled)
            vec_push(&m->started,
                     (struct server){mcp_client_new(s, m->directory, reach, elicits), UINT64_MAX});
    }
}

void tool_mcp_set_room(struct tool_mcp *m, int64_t tokens)
{
    m->room = tokens;
}

bool tool_mcp_has_begun(const struct tool_mcp *m)
{
    return m->begun;
}

static void free_offered(struct offered *o)
{
    free(o->tool);
    free(o->name);
    free(o->description);
    free(o->schema);
    free(o->hints);
    free(o);
}

void tool_mcp_end(struct tool_mcp *m)
{
    if (!m || !m->begun)
        return;
    for (size_t i = 0; i < m->started.len; i++)
        mcp_client_end(m->started.items[i].client);
    for (size_t i = 0; i < m->started.len; i++)
        mcp_client_free(m->started.items[i].client);
    for (size_t i = 0; i < m->tools.len; i++) /* their texts may still be shown */
        m->tools.items[i]->client = NULL;
    vec_clear(&m->started);
    mcp_servers_release(&m->servers);
    mem_replace(&m->faults, NULL);
    m->begun = m->waited = false;
    m->search_place = m->read_place = 0;
    m->has_resources = false;
}

void tool_mcp_free(struct tool_mcp *m)
{
    if (!m)
        return;
    tool_mcp_end(m);
    for (size_t i = 0; i < m->tools.len; i++)
        free_offered(m->tools.items[i]);
    vec_release(&m->tools);
    vec_release(&m->started);
    free(m->directory);
    free(m);
}

struct mcp_client *tool_mcp_client(struct tool_mcp *m, const char *server)
{
    for (size_t i = 0; i < m->started.len; i++)
        if (strcmp(mcp_client_server(m->started.items[i].client)->name, server) == 0)
            return m->started.items[i].client;
    return NULL;
}

struct mcp_client *tool_mcp_client_at(struct tool_mcp *m, size_t i)
{
    return i < m->started.len ? m->started.items[i].client : NULL;
}

const char *tool_mcp_faults(const struct tool_mcp *m)
{
    return m->faults;
}

/* --- names ------------------------------------------------------------------------------------ */

char *tool_mcp_name(const char *server, const char *tool, bool hashed)
{
    enum { HASH_LEN = 9 /* "_1234abcd" */ };
    char *name = mem_printf("mcp__%s__%s", server, tool);
    size_t len = strlen(name);
    uint32_t hash = 0x811C9DC5U; /* FNV-1a */
    for (char *p = name; *p; p++) {
        hash = (hash ^ (unsigned char)*p) * 0x01000193U;
        *p = isascii((unsigned char)*p) && (isalnum((unsigned char)*p) || *p == '-') ? *p : '_';
    }
    if (len > MCP_TOOL_NAME_MAX || hashed) {
        size_t keep = len < MCP_TOOL_NAME_MAX - HASH_LEN ? len : MCP_TOOL_NAME_MAX - HASH_LEN;
        mem_replace(&name, mem_printf("%.*s_%08" PRIx32, (int)keep, name, hash));
    }
    return name;
}

static const struct offered *find_named(const struct tool_mcp *m, const char *name)
{
    for (size_t i = 0; i < m->tools.len; i++)
        if (strcmp(m->tools.items[i]->name, name) == 0)
            return m->tools.items[i];
    return NULL;
}

/* --- a call ----------------------------------------------------------------------------------- */

struct showing {
    const struct tool_context *context;
    int64_t begun_ms, shown_ms;
};

static void show_progress(void *context, const char *line)
{
    enum { PAUSE_MS = 100 };
    struct showing *s = context;
    int64_t now = clock_mono_ms();
    if (!s->context->show || now - s->shown_ms < PAUSE_MS)
        return;
    s->shown_ms = now;
    auto_free char *text = mem_printf("%s\n", line);
    s->context->show(s->context->tell_context,
                     &(struct tool_output){.text = text, .ran_ms = now - s->begun_ms});
}

static char *ask_person(void *context, const struct json *params, bool (*waits)(void *client),
                        void *client)
{
    const struct tool_context *c = ((const struct showing *)context)->context;
    const char *server = mcp_client_server(client)->name;
    return c->elicit(c->tell_context, server, params, waits, client);
}

/* Calls the server, and appends its result or why there is none. */
static bool ask(const struct tool_context *context, struct mcp_client *client, enum mcp_ask what,
                const char *name, const struct json *args, struct buf *out)
{
    const struct mcp_server *server = mcp_client_server(client);
    struct showing showing = {.context = context, .begun_ms = clock_mono_ms()};
    struct mcp_outcome outcome = {0};
    struct head_tail kept;
    struct error e;
    int64_t deadline = server->timeout_s > 0 ? showing.begun_ms + 1000 * (int64_t)server->timeout_s
                                             : context->deadline_ms;
    mcp_client_set_asker(client,
                         &(struct mcp_asker){context->elicit ? ask_person : NULL, &showing});
    bool called = mcp_client_call(client, what, name, args, deadline, context->wakeup,
                                  show_progress, &showing, &outcome, &e);
    mcp_client_set_asker(client, NULL);
    if (!called) {
        buf_addstr(out, e.text);
        return false;
    }
    head_tail_init(&kept, context->max_output);
    head_tail_add(&kept, outcome.text, strlen(outcome.text));
    head_tail_show(&kept, out);
    head_tail_release(&kept);
    if (context->images) {
        *context->images = outcome.images;
        outcome.images = NULL;
    }
    bool ok = !outcome.is_error;
    mcp_outcome_release(&outcome);
    return ok;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const struct offered *o = context->self;
    return ask(context, o->client, MCP_CALL_TOOL, o->tool, args, out);
}

static bool preview(const struct tool_context *context, const struct json *args,
                    struct tool_sight *sight, struct buf *out)
{
    const struct offered *o = context->self;
    const struct mcp_server *server = mcp_client_server(o->client);
    (void)sight;
    auto_free char *json = json_print(args);
    buf_addf(out, "%s of %s: %s\n", o->tool, server->name,
             server->shown ? server->shown : server->name);
    json_out_pretty(json, out);
    if (o->hints)
        buf_addf(out, "\nThe server says of it: %s.", o->hints);
    return true;
}

/* --- tools that are not in the prompt --------------------------------------------------------- */

static bool always(const void *self)
{
    (void)self;
    return true;
}

/* How many words of the query the tool has, by parts of words. */
static int count_matches(const struct offered *o, const char *query)
{
    static const char between[] = " \t\r\n,;:._/-";
    int count = 0;
    for (size_t len; *(query += strspn(query, between)); query += len) {
        len = strcspn(query, between);
        auto_free char *word = mem_strndup(query, len);
        count += utf8_contains_folded(o->name, word) || utf8_contains_folded(o->description, word);
    }
    return count;
}

/* Gives those with the most words of the query a place. */
static bool run_search(const struct tool_context *context, const struct json *args, struct buf *out)
{
    enum { FOUND_MAX = 8, SHOWN_MAX = 200 /* bytes of a description */ };
    struct tool_mcp *m = context->self;
    const char *query = json_get_string(args, "query");
    int found = 0;
    for (; found < FOUND_MAX; found++) {
        struct offered *best = NULL;
        int most = 0;
        for (size_t i = 0; i < m->tools.len; i++) {
            struct offered *o = m->tools.items[i];
            int matches = o->place == 0 ? count_matches(o, query) : 0;
            best = matches > most ? o : best;
            most = matches > most ? matches : most;
        }
        if (!best)
            break;
        best->place = ++m->places;
        buf_addf(out, "%s%s: ", found > 0 ? "\n" : "", best->name);
        utf8_add_cut(out, best->description, strlen(best->description), SHOWN_MAX);
    }
    m->has_found = found > 0;
    if (found > 0)
        buf_addstr(out, "\n\nThey can be called from your next answer on.");
    else
        buf_addstr(out, "no further tool has these words; try others");
    return true;
}

static const struct tool tool_search = {
    .spec = {.name = "tool_search",
             .description = "Find more tools: those of connected servers that are not listed here. "
                            "Say in a few words what the tool is to do, such as \"create issue\".",
             .schema = TOOL_SCHEMA("\"query\":{\"type\":\"string\"}", TOOL_NEEDS("\"query\""))},
    .class = TOOL_EXECUTE, /* offered where the tools are */
    .consent = CONSENT_GIVEN,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .run = run_search,
};

/* All new tools get a place, or none does. */
static void give_places(struct tool_mcp *m)
{
    int64_t tokens = 0;
    bool is_new = false;
    for (size_t i = 0; i < m->tools.len; i++) {
        tokens += m->tools.items[i]->tokens;
        is_new = is_new || m->tools.items[i]->place == 0;
    }
    if (!is_new)
        return;
    bool fits = m->room == 0 || tokens <= m->room;
    if (!fits && m->search_place == 0)
        m->search_place = ++m->places;
    for (size_t i = 0; i < m->tools.len && m->search_place == 0; i++)
        if (m->tools.items[i]->place == 0)
            m->tools.items[i]->place = ++m->places;
}

/* --- resources -------------------------------------------------------------------------------- */

/* Names the server's resources for the model. */
static bool list_resources(const struct tool_context *context, struct mcp_client *client,
                           struct buf *out)
{
    AUTO(mcp_offers_release) struct mcp_offers offers;
    mcp_client_offers(client, &offers);
    for (size_t i = 0; i < offers.resources.len; i++) {
        const struct mcp_resource_info *r = &offers.resources.items[i];
        buf_addf(out, "%s%s%s", out->len > 0 ? "\n" : "", r->uri,
                 r->is_template ? "  (fill in what is in braces)" : "");
        buf_addf(out, "%s%s", r->name ? "  " : "", r->name ? r->name : "");
        buf_addf(out, "%s%s", r->description ? ": " : "", r->description ? r->description : "");
    }
    if (out->len == 0)
        buf_addstr(out, "the server lists no resources");
    head_tail_cut(out, context->max_output);
    return true;
}

static bool run_read(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const char *name = json_get_string(args, "server"), *uri = json_get_string(args, "uri");
    struct mcp_client *client = tool_mcp_client(context->self, name);
    AUTO(mcp_view_release) struct mcp_view view = {.log = NULL};
    if (client)
        mcp_client_view(client, &view);
    if (!view.has_resources) {
        buf_addf(out, "there is no server \"%.64s\" with resources", name);
        return false;
    }
    if (!uri)
        return list_resources(context, client, out);
    auto_free char *line = utf8_clean_line(uri);
    if (!*uri || strlen(uri) > MCP_URI_MAX || strcmp(line, uri) != 0) {
        buf_addstr(out, "this is no URI; take one of a result, or of the list");
        return false;
    }
    return ask(context, client, MCP_READ_RESOURCE, uri, NULL, out);
}

/* One for all resources of a server. */
static void grant_read(const struct json *args, struct buf *out)
{
    buf_addf(out, "mcp_read_resource %.64s", json_get_string(args, "server"));
}

static bool has_none(const void *self)
{
    return !((const struct tool_mcp *)self)->has_resources;
}

static const struct tool read_resource = {
    .spec = {.name = "mcp_read_resource",
             .description =
                 "Read a resource of a server whose tools are mcp__SERVER__TOOL: a link of "
                 "a result, by its URI. Without `uri`: list the server's resources.",
             .schema = TOOL_SCHEMA("\"server\":{\"type\":\"string\"},"
                                   "\"uri\":{\"type\":\"string\"}",
                                   TOOL_NEEDS("\"server\""))},
    .class = TOOL_EXECUTE, /* the server may run anything for it */
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .idle = has_none,
    .grant = grant_read,
    .run = run_read,
};

/* --- the source ------------------------------------------------------------------------------- */

static char *hints_of(const struct mcp_tool_info *t)
{
    struct buf out = BUF_INIT;
    const struct {
        bool is;
        const char *text;
    } hints[] = {{t->reads_only, "it only reads"},
                 {t->destroys, "it may destroy"},
                 {t->repeats, "repeating it changes nothing"},
                 {t->open_world, "it reaches the outside world"}};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].is)
            buf_addf(&out, "%s%s", out.len > 0 ? ", " : "", hints[i].text);
    return out.len > 0 ? buf_take(&out) : NULL;
}

static void find_tool(struct tool_mcp *m, struct mcp_client *client, const struct mcp_tool_info *t)
{
    const char *server = mcp_client_server(client)->name;
    struct offered *o = NULL;
    for (size_t i = 0; i < m->tools.len && !o; i++)
        if (m->tools.items[i]->client == client && strcmp(m->tools.items[i]->tool, t->name) == 0)
            o = m->tools.items[i];
    if (!o) {
        o = mem_alloc(sizeof *o);
        *o = (struct offered){.client = client,
                              .tool = mem_strdup(t->name),
                              .name = tool_mcp_name(server, t->name, false)};
        if (find_named(m, o->name))
            mem_replace(&o->name, tool_mcp_name(server, t->name, true));
        vec_push(&m->tools, o);
    }
    o->found = true;
    mem_replace(&o->description, mem_strdup(t->description ? t->description : t->name));
    mem_replace(&o->schema, mem_strdup(t->schema));
    mem_replace(&o->hints, hints_of(t));
    o->tokens = (int64_t)(strlen(o->name) + strlen(o->description) + strlen(o->schema)) / 4;
}

static void add_fault(struct buf *faults, const char *name, const char *why)
{
    buf_addf(faults, "%s%s%s%s", faults->len > 0 ? "; " : "", name ? name : "", name ? ": " : "",
             why);
}

/* Brings `tools` and `faults` up to date. A project's servers that the user does not trust are told
 * where trust is asked for. */
static void look(struct tool_mcp *m)
{
    struct buf faults = BUF_INIT;
    for (size_t i = 0; i < m->servers.faults.len; i++)
        add_fault(&faults, NULL, m->servers.faults.items[i]);
    for (size_t i = 0; i < m->servers.len; i++) {
        const struct mcp_server *s = &m->servers.items[i];
        if (s->fault && !s->disabled && strcmp(s->origin, "project") != 0)
            add_fault(&faults, s->name, s->fault);
    }
    for (size_t i = 0; i < m->tools.len; i++)
        m->tools.items[i]->found = false;
    m->has_resources = false;
    for (size_t i = 0; i < m->started.len; i++) {
        struct server *s = &m->started.items[i];
        AUTO(mcp_view_release) struct mcp_view view;
        mcp_client_view(s->client, &view);
        s->version = view.version;
        m->has_resources = m->has_resources || view.has_resources;
        for (size_t t = 0; t < view.tools.len; t++)
            if (!view.tools.items[t].off)
                find_tool(m, s->client, &view.tools.items[t]);
        if (view.state == MCP_FAILED)
            add_fault(&faults, mcp_client_server(s->client)->name, view.error);
    }
    for (size_t i = m->tools.len; i-- > 0;)
        if (!m->tools.items[i]->found) {
            free_offered(m->tools.items[i]);
            vec_remove(&m->tools, i, 1);
        }
    mem_replace(&m->faults, faults.len > 0 ? buf_take(&faults) : NULL);
}

static void add_tool(struct toolset *out, struct offered *o)
{
    const struct tool row = {
        .spec = {.name = o->name, .description = o->description, .schema = o->schema},
        .class = mcp_client_server(o->client)->url ? TOOL_NETWORK : TOOL_EXECUTE,
        .timeout = CONFIG_TOOLS_TIMEOUT,
        .check = CHECK_OBJECT,
        .idle = o->place == 0 ? always : NULL,
        .run = run,
        .preview = preview,
    };
    toolset_add(out, &row, o);
}

static int place_order(const void *a, const void *b)
{
    const struct offered *const *one = a, *const *two = b;
    return ((*one)->place > (*two)->place) - ((*one)->place < (*two)->place);
}

/* Adds the tools of this file whose places are between these two. */
static void add_own(struct toolset *out, struct tool_mcp *m, int from, int to)
{
    const struct {
        const struct tool *tool;
        int place;
    } own[] = {{&tool_search, m->search_place}, {&read_resource, m->read_place}};
    for (int place = from + 1; place < to; place++)
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            if (own[i].place == place)
                toolset_add(out, own[i].tool, m);
}

/* In the order in which they got their places, then those without one. */
static void list(struct tool_host *host, struct toolset *out)
{
    struct tool_mcp *m = host->mcp;
    int place = 0;
    if (!m)
        return;
    look(m);
    give_places(m);
    if (m->has_resources && m->read_place == 0)
        m->read_place = ++m->places;
    m->has_found = false;
    vec_sort(&m->tools, place_order);
    for (size_t i = 0; i < m->tools.len; i++) {
        struct offered *o = m->tools.items[i];
        if (o->place == 0)
            continue;
        add_own(out, m, place, o->place);
        add_tool(out, o);
        place = o->place;
    }
    add_own(out, m, place, m->places + 1);
    for (size_t i = 0; i < m->tools.len; i++)
        if (m->tools.items[i]->place == 0)
            add_tool(out, m->tools.items[i]);
}

static bool changed(struct tool_host *host)
{
    struct tool_mcp *m = host->mcp;
    bool news = m && (m->has_found || (!m->begun && m->tools.len > 0));
    if (!m)
        return false;
    const int64_t deadline = clock_mono_ms() + MCP_FIRST_WAIT_MS;
    for (size_t i = 0; i < m->started.len && !m->waited; i++)
        m->waited = !mcp_client_wait(m->started.items[i].client, deadline, m->wakeup);
    m->waited = m->begun;
    for (size_t i = 0; i < m->started.len; i++)
        news =
            news || mcp_client_version(m->started.items[i].client) != m->started.items[i].version;
    return news;
}

const struct tool_source tool_source_mcp = {.name = "MCP", .list = list, .changed = changed};
