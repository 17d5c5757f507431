#include "mcp/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/environment.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/shape.h"
#include "base/utf8.h"
#include "config/edit.h"
#include "mcp/plugins.h"

enum {
    TEXT_BYTES = 1 << 16, /* of a member, also after variables were replaced */
    LIST_LENGTH = 1024,   /* of args, env, headers and tools */
    VALUE_BYTES = 200     /* of a value without a variable, as it is shown */
};

/* --- the members of a server ------------------------------------------------------------------ */

static void release_pairs(void *at)
{
    struct mcp_pairs *pairs = at;
    for (size_t i = 0; i < pairs->len; i++) {
        free(pairs->items[i].name);
        free(pairs->items[i].value);
    }
    vec_release(pairs);
}

/* {"NAME": "value"}, or as editors write it: [{"name": "NAME", "value": "value"}]. */
static bool read_pairs(const struct json *v, void *at)
{
    struct mcp_pairs *pairs = at;
    bool listed = json_type(v) == JSON_ARRAY;
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        const char *name = listed ? json_get_string(m, "name") : json_name(m);
        const char *value = json_string(listed ? json_get(m, "value") : m);
        if (!name || !*name || !value || pairs->len == LIST_LENGTH)
            return false;
        vec_push(pairs, (struct mcp_pair){mem_strdup(name), mem_strdup(value)});
    }
    return listed || json_type(v) == JSON_OBJECT;
}

static const struct shape_codec pairs_codec = {.read = read_pairs,
                                               .release = release_pairs,
                                               .schema = "{\"type\":\"object\"}",
                                               .expected = "an object of strings"};

#define TEXTS_ROW(member)                                                                          \
    SHAPE_FIELD(#member, STRINGS, OPTIONAL, offsetof(struct mcp_server, member),                   \
                .most = LIST_LENGTH)
#define PAIRS_ROW(member)                                                                          \
    SHAPE_FIELD(#member, OWN, OPTIONAL, offsetof(struct mcp_server, member), .codec = &pairs_codec)
#define TEXT_ROW(member) SHAPE_OPT(mcp_server, member, NULL, .least = 1, .most = TEXT_BYTES)

/* A member that is not in the table is another program's, and ignored. */
static const struct shape server_shape = SHAPE_OF(
    "server", struct mcp_server, TEXT_ROW(type), TEXT_ROW(command), TEXTS_ROW(args), PAIRS_ROW(env),
    TEXT_ROW(cwd), TEXT_ROW(url), PAIRS_ROW(headers), TEXT_ROW(headers_command),
    SHAPE_OPT(mcp_server, timeout, NULL, .least = 1), TEXTS_ROW(enabled_tools),
    TEXTS_ROW(disabled_tools), SHAPE_OPT(mcp_server, disabled, NULL));

static void release_server(struct mcp_server *s)
{
    shape_release(&server_shape, s);
    free(s->name);
    free(s->definition);
    free(s->shown);
    free(s->fault);
}

void mcp_servers_release(struct mcp_servers *s)
{
    for (size_t i = 0; i < s->len; i++)
        release_server(&s->items[i]);
    vec_release(s);
    vec_free_each(&s->faults);
    vec_free_each(&s->unread);
}

/* --- one server ------------------------------------------------------------------------------- */

/* Where servers stand. */
struct source {
    const char *origin;
    const char *directory;       /* in which they work */
    const struct plugin *plugin; /* that brings them; NULL: none */
    const char *data;            /* of the plugin */
};

#define CLAUDE "CLAUDE_" /* in front of a plugin's variables, where it is Claude Code's */

static const char *variable(const struct source *from, const char *name)
{
    const size_t prefix = sizeof CLAUDE - 1;
    if (from->plugin && strncmp(name, CLAUDE "PLUGIN_", prefix + strlen("PLUGIN_")) == 0)
        name += prefix;
    if (from->plugin && strcmp(name, "PLUGIN_ROOT") == 0)
        return from->plugin->directory;
    return from->plugin && strcmp(name, "PLUGIN_DATA") == 0 ? from->data : environment_get(name);
}

/* Replaces ${NAME} and ${NAME:-default} in the text; other text stays. A default is not replaced
 * again. */
static bool replace_variables(const struct source *from, char **text, struct error *e)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *at = *text, *open;
    out.max = TEXT_BYTES;
    for (; (open = strstr(at, "${")); at = open) {
        size_t len = strspn(open + 2,
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                            "0123456789_");
        const char *end = open + 2 + len, *close = strchr(end, '}');
        bool has_default = strncmp(end, ":-", 2) == 0;
        if (!buf_try_add(&out, at, (size_t)(open - at)))
            break;
        if (len == 0 || !close || (!has_default && close != end)) {
            buf_addstr(&out, "${");
            open += 2;
            continue;
        }
        auto_free char *name = mem_strndup(open + 2, len);
        auto_free char *other =
            has_default ? mem_strndup(end + 2, (size_t)(close - end - 2)) : NULL;
        const char *value = variable(from, name);
        if (!value || (!*value && has_default))
            value = other;
        if (!value)
            return err_set(e, ERR_CONFIG_ERROR,
                           "the environment has no %.100s; set it, or write ${%.100s:-default}",
                           name, name);
        if (!buf_try_add(&out, value, strlen(value)))
            break;
        open = close + 1;
    }
    if (open || !buf_try_add(&out, at, strlen(at)))
        return err_set(e, ERR_CONFIG_ERROR, "a text is longer than %d bytes", TEXT_BYTES);
    mem_replace(text, buf_take(&out));
    return true;
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            return true;
    return false;
}

/* Whether the members belong together. */
static bool check(const struct mcp_server *s, struct error *e)
{
    const char *type = s->type ? s->type : s->url ? "http" : "stdio";
    bool http = strcmp(type, "http") == 0 || strcmp(type, "streamable-http") == 0;
    size_t len = strlen(s->name);
    if (len == 0 || len > MCP_NAME_BYTES ||
        strspn(s->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != len)
        return err_set(e, ERR_CONFIG_ERROR,
                       "this is no name; use letters, digits, - and _, at most %d", MCP_NAME_BYTES);
    if (strcmp(type, "sse") == 0)
        return err_set(e, ERR_CONFIG_ERROR,
                       "the transport \"sse\" is not spoken; if the server has no \"http\", start "
                       "the command npx mcp-remote URL");
    if (!http && strcmp(type, "stdio") != 0)
        return err_set(e, ERR_CONFIG_ERROR, "there is no type \"%.50s\"; use stdio or http", type);
    if (!s->command == !s->url || http == !s->url)
        return err_set(e, ERR_CONFIG_ERROR, "give either a command or a url, as the type says");
    for (size_t i = 0; i < s->env.len; i++)
        if (strchr(s->env.items[i].name, '='))
            return err_set(e, ERR_CONFIG_ERROR, "an environment variable's name has no \"=\"");
    for (size_t i = 0; i < s->headers.len; i++)
        if (has_control(s->headers.items[i].name) || has_control(s->headers.items[i].value) ||
            strpbrk(s->headers.items[i].name, ": "))
            return err_set(e, ERR_CONFIG_ERROR, "a header has a character that none can have");
    if (s->url && ((strncmp(s->url, "http://", 7) != 0 && strncmp(s->url, "https://", 8) != 0) ||
                   has_control(s->url) || strchr(s->url, ' ')))
        return err_set(e, ERR_CONFIG_ERROR, "a url begins with http:// or https://");
    return true;
}

/* Appends a word as a shell would need it, so that its ends can be seen. */
static void show_word(struct buf *out, const char *word)
{
    bool plain = *word && strspn(word,
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789_-+=/.,:@%^${}") == strlen(word);
    if (!plain)
        buf_addch(out, '\'');
    for (; *word; word++)
        if (*word == '\'' && !plain)
            buf_addstr(out, "'\\''");
        else
            buf_addch(out, *word);
    if (!plain)
        buf_addch(out, '\'');
}

/* A value may be a key. It is shown where it has a variable, because the user sees then which one a
 * foreign project reads, and in an environment of a foreign file (`foreign`), because a value such
 * as that of LD_PRELOAD starts a program. */
static void show_pairs(struct buf *out, const char *title, const struct mcp_pairs *pairs,
                       bool foreign)
{
    for (size_t i = 0; i < pairs->len; i++) {
        const struct mcp_pair *p = &pairs->items[i];
        size_t len = strlen(p->value), some = utf8_cut_bytes(p->value, len, VALUE_BYTES);
        bool reads = strstr(p->value, "${");
        buf_addf(out, "%s%s", i == 0 ? title : ", ", p->name);
        if (reads)
            buf_addf(out, "=%s", p->value);
        else if (foreign)
            buf_addf(out, "=%.*s%s", (int)some, p->value, some < len ? "…" : "");
    }
}

static char *show(const struct mcp_server *s)
{
    bool foreign = strcmp(s->origin, "project") == 0 || strcmp(s->origin, "plugin") == 0;
    AUTO(buf_release) struct buf raw = BUF_INIT, out = BUF_INIT;
    if (s->url)
        (void)url_mask(&raw, s->url);
    if (s->command)
        show_word(&raw, s->command);
    for (size_t i = 0; i < s->args.len; i++) {
        buf_addch(&raw, ' ');
        show_word(&raw, s->args.items[i]);
    }
    if (s->headers_command)
        buf_addf(&raw, "; headers by the command: %s", s->headers_command);
    if (s->cwd)
        buf_addf(&raw, "; in %s", s->cwd);
    show_pairs(&raw, "; environment: ", &s->env, foreign);
    show_pairs(&raw, "; headers: ", &s->headers, false);
    utf8_reveal(&out, raw.data, raw.len, UTF8_ONE_LINE);
    return buf_take(&out);
}

/* Replaces variables in all texts that may have them. */
static bool replace_all(const struct source *from, struct mcp_server *s, struct error *e)
{
    char **texts[] = {&s->command, &s->cwd, &s->url};
    struct mcp_pairs *pairs[] = {&s->env, &s->headers};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] && !replace_variables(from, texts[i], e))
            return false;
    for (size_t i = 0; i < s->args.len; i++)
        if (!replace_variables(from, &s->args.items[i], e))
            return false;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        for (size_t i = 0; i < pairs[k]->len; i++)
            if (!replace_variables(from, &pairs[k]->items[i].value, e))
                return false;
    return true;
}

/* The command of a plugin is a word or a file of the plugin. */
static bool place_in_plugin(const struct source *from, struct mcp_server *s, struct error *e)
{
    const char *root = from->plugin->directory;
    size_t len = strlen(root);
    if (s->cwd && s->cwd[0] != '/')
        mem_replace(&s->cwd, paths_join(root, s->cwd));
    if (s->command && strchr(s->command, '/')) {
        auto_free char *path =
            s->command[0] == '/' ? mem_strdup(s->command) : paths_join(root, s->command);
        char *real = realpath(path, NULL);
        if (!real || strncmp(real, root, len) != 0 || real[len] != '/') {
            free(real);
            return err_set(e, ERR_CONFIG_ERROR, "%.150s is no file of the plugin", s->command);
        }
        mem_replace(&s->command, real);
    }
    if (s->command) {
        const char *prefix = from->plugin->claude ? CLAUDE : "";
        vec_push(&s->env, (struct mcp_pair){mem_printf("%sPLUGIN_ROOT", prefix), mem_strdup(root)});
        vec_push(&s->env,
                 (struct mcp_pair){mem_printf("%sPLUGIN_DATA", prefix), mem_strdup(from->data)});
    }
    return true;
}

/* Fills a fresh struct. False with the fault. An editor has replaced variables itself. */
static bool read_server(struct mcp_server *s, const struct json *v, const struct source *from,
                        struct error *e)
{
    if (!shape_read(&server_shape, v, s, e))
        return false;
    s->definition = json_print(v);
    s->shown = show(s);
    s->timeout_s = 0;
    if (s->timeout > 0) {
        /* Other programs write milliseconds. Less than one second cannot be meant. */
        int64_t seconds = s->timeout < 1000 ? s->timeout : s->timeout / 1000;
        s->timeout_s = (int)(seconds < MCP_TIMEOUT_S ? seconds : MCP_TIMEOUT_S);
    }
    if (strcmp(from->origin, "editor") != 0 && !replace_all(from, s, e))
        return false;
    if (from->plugin && !place_in_plugin(from, s, e))
        return false;
    if (!s->cwd || s->cwd[0] != '/')
        mem_replace(&s->cwd,
                    s->cwd ? paths_join(from->directory, s->cwd) : mem_strdup(from->directory));
    return check(s, e);
}

/* --- all servers ------------------------------------------------------------------------------ */

const struct mcp_server *mcp_servers_find(const struct mcp_servers *s, const char *name)
{
    for (size_t i = 0; i < s->len; i++)
        if (strcmp(s->items[i].name, name) == 0)
            return &s->items[i];
    return NULL;
}

static bool has_text(const struct mcp_texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->len; i++)
        if (strcmp(texts->items[i], text) == 0)
            return true;
    return false;
}

bool mcp_server_offers(const struct mcp_server *s, const char *tool)
{
    return (s->enabled_tools.len == 0 || has_text(&s->enabled_tools, tool)) &&
           !has_text(&s->disabled_tools, tool);
}

static bool is_server(const struct json *v)
{
    return json_get(v, "command") || json_get(v, "url");
}

/* Applies the user's changes of another origin's server: an entry without command and url. */
static void apply(const struct json *own, struct mcp_server *s)
{
    struct mcp_server changes = {.name = NULL};
    if (is_server(own) || !shape_read(&server_shape, own, &changes, NULL))
        return;
    s->disabled = json_get_bool(own, "disabled", s->disabled);
    if (changes.enabled_tools.len > 0) {
        struct mcp_texts theirs = s->enabled_tools;
        s->enabled_tools = changes.enabled_tools;
        changes.enabled_tools = theirs;
    }
    for (size_t i = 0; i < changes.disabled_tools.len; i++)
        vec_push(&s->disabled_tools, mem_strdup(changes.disabled_tools.items[i]));
    shape_release(&server_shape, &changes);
}

/* Adds servers of a file or an editor. `own`: the user's servers. */
static void add_servers(struct mcp_servers *out, const struct json *servers,
                        const struct source *from, const struct json *own)
{
    size_t count = 0;
    for (const struct json *v = json_first(servers); v; v = json_next(v)) {
        bool listed = json_type(servers) == JSON_ARRAY;
        const char *name = listed ? json_get_string(v, "name") : json_name(v);
        struct mcp_server s = {.origin = from->origin};
        struct error e;
        if (servers == own && json_type(v) == JSON_OBJECT && !is_server(v))
            continue;
        if (count++ == MCP_SERVERS) {
            vec_push(&out->faults,
                     mem_printf("%s: at most %d servers are read", from->origin, MCP_SERVERS));
            return;
        }
        s.name = utf8_clean_line(name);
        if (!read_server(&s, v, from, &e))
            s.fault = utf8_clean_line(e.text);
        const struct mcp_server *other = mcp_servers_find(out, s.name);
        if (servers != own)
            apply(json_get(own, s.name), &s);
        if (other && !s.fault)
            s.fault =
                mem_printf("hidden by the server of this name of origin \"%s\"", other->origin);
        vec_push(out, s);
    }
}

/* The tree of a file, which has an object "mcpServers"; a missing file is an empty one. */
static struct json *read_file(const char *path, enum paths_kind kind, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    AUTO(json_free_local) struct json *v = NULL;
    struct error why;
    struct stat st;
    text.max = MCP_FILE_BYTES;
    if (lstat(path, &st) != 0 && errno == ENOENT)
        buf_addstr(&text, "{}");
    else if (!paths_read_file(path, kind, &text, e))
        return NULL;
    if (json_find_nul(text.data, text.len)) {
        err_set(e, ERR_CONFIG_ERROR, "%s: it has a NUL character", path);
        return NULL;
    }
    if (!(v = json_parse_foreign(text.data, text.len, &why))) {
        err_set(e, ERR_CONFIG_ERROR, "%s: %s", path, why.text);
        return NULL;
    }
    if (json_type(v) == JSON_OBJECT && !json_get(v, "mcpServers"))
        json_set(v, "mcpServers", json_new_object());
    if (json_type(json_get(v, "mcpServers")) != JSON_OBJECT) {
        err_set(e, ERR_CONFIG_ERROR, "%s: \"mcpServers\" is no object", path);
        return NULL;
    }
    struct json *taken = v;
    v = NULL;
    return taken;
}

static void add_plugin(struct mcp_servers *out, const struct plugin *p, const char *project,
                       const struct json *own)
{
    struct error e;
    auto_free char *data = plugin_data(p);
    AUTO(json_free_local)
    struct json *servers =
        p->servers ? json_parse_foreign(p->servers, strlen(p->servers), &e) : NULL;
    add_servers(out, servers, &(struct source){"plugin", project, p, data}, own);
}

void mcp_servers_of_plugin(const struct plugin *p, struct mcp_servers *out)
{
    *out = (struct mcp_servers){.items = NULL};
    add_plugin(out, p, p->directory, NULL);
}

void mcp_servers_read(const char *project, const char *editor, struct mcp_servers *out)
{
    static const char *const others[] = {".cursor/mcp.json", ".vscode/mcp.json",
                                         ".agents/mcp_config.json"};
    struct error e;
    auto_free char *user_path = mcp_config_path(NULL), *project_path = mcp_config_path(project);
    AUTO(json_free_local) struct json *given = NULL, *user = NULL, *theirs = NULL;
    AUTO(plugins_release) struct plugins plugins = {.list = {0}};
    *out = (struct mcp_servers){.items = NULL};
    if (editor && !(given = json_parse_foreign(editor, strlen(editor), &e)))
        vec_push(&out->faults, mem_printf("editor: %s", e.text));
    if (!(user = read_file(user_path, PATHS_FILE, &e)))
        vec_push(&out->faults, utf8_clean_line(e.text));
    if (!(theirs = read_file(project_path, PATHS_FILE_NO_LINK, &e)))
        vec_push(&out->faults, utf8_clean_line(e.text));
    const struct json *own = json_get(user, "mcpServers");
    add_servers(out, given, &(struct source){.origin = "editor", .directory = project}, own);
    add_servers(out, own, &(struct source){.origin = "user", .directory = project}, own);
    if (!plugins_read(&plugins, &e))
        vec_push(&out->faults, utf8_clean_line(e.text));
    for (size_t i = 0; i < plugins.list.len; i++)
        add_plugin(out, &plugins.list.items[i], project, own);
    add_servers(out, json_get(theirs, "mcpServers"),
                &(struct source){.origin = "project", .directory = project}, own);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *path = paths_join(project, others[i]);
        if (access(path, F_OK) == 0)
            vec_push(&out->unread, path);
        else
            free(path);
    }
}

/* --- changes ---------------------------------------------------------------------------------- */

char *mcp_config_path(const char *project)
{
    auto_free char *directory = paths_dir(PATHS_CONFIG);
    return project ? paths_join(project, ".mcp.json") : paths_join(directory, "mcp.json");
}

/* A file while it is changed. */
struct file {
    char *path;
    struct json *root;
    int lock; /* -1: none */
};

static void file_release(struct file *f)
{
    free(f->path);
    json_free(f->root);
    if (f->lock >= 0)
        close(f->lock);
}

/* The file's servers; NULL with an error. */
static const struct json *file_read(struct file *f, const char *project, struct error *e)
{
    f->path = mcp_config_path(project);
    f->lock = config_file_lock(e);
    f->root = read_file(f->path, project ? PATHS_FILE_NO_LINK : PATHS_FILE, e);
    return json_get(f->root, "mcpServers");
}

/* Writes the file with this server, which is taken, in place of the one of its name; NULL: without
 * it. */
static bool file_put(struct file *f, const char *name, struct json *server, struct error *e)
{
    struct json *servers = json_new_object();
    const struct json *m = json_first(json_get(f->root, "mcpServers"));
    for (; m; m = json_next(m))
        if (server || strcmp(json_name(m), name) != 0)
            json_set(servers, json_name(m), json_clone(m));
    if (server)
        json_set(servers, name, server);
    json_set(f->root, "mcpServers", servers);
    auto_free char *compact = json_print(f->root);
    auto_free char *directory = paths_parent(f->path);
    AUTO(buf_release) struct buf text = BUF_INIT;
    json_out_pretty(compact, &text);
    buf_trim_end(&text, "\n");
    buf_addch(&text, '\n');
    return paths_make_dir(directory, e) && paths_write_file(f->path, text.data, text.len, e);
}

bool mcp_config_add(const char *project, const char *name, struct json *server, struct error *e)
{
    AUTO(file_release) struct file f = {.lock = -1};
    const struct json *servers = file_read(&f, project, e);
    struct mcp_server s = {.name = mem_strdup(name), .origin = "user"};
    struct error why;
    bool ok =
        servers &&
        (read_server(&s, server, &(struct source){.origin = s.origin, .directory = "."}, &why) ||
         err_set(e, ERR_USAGE, "%s", why.text));
    if (servers && is_server(json_get(servers, name)))
        ok = err_set(e, ERR_USAGE, "%s has a server \"%.100s\"; remove it first", f.path, name);
    release_server(&s);
    if (ok)
        return file_put(&f, name, server, e);
    json_free(server);
    return false;
}

bool mcp_config_remove(const char *project, const char *name, struct error *e)
{
    AUTO(file_release) struct file f = {.lock = -1};
    const struct json *servers = file_read(&f, project, e);
    if (!servers)
        return false;
    if (!json_get(servers, name))
        return err_set(e, ERR_USAGE, "%s has no server \"%.100s\"", f.path, name);
    return file_put(&f, name, NULL, e);
}

/* The array without or with a text. */
static struct json *switch_text(const struct json *texts, const char *text, bool there)
{
    struct json *out = json_new_array();
    for (const struct json *t = json_first(texts); t; t = json_next(t))
        if (json_string(t) && strcmp(json_string(t), text) != 0)
            json_push(out, json_clone(t));
    if (there)
        json_push(out, json_new_string(text));
    return out;
}

bool mcp_config_switch(const char *name, const char *tool, bool on, struct error *e)
{
    AUTO(file_release) struct file f = {.lock = -1};
    const struct json *servers = file_read(&f, NULL, e);
    if (!servers)
        return false;
    const struct json *old = json_get(servers, name);
    struct json *v = json_type(old) == JSON_OBJECT ? json_clone(old) : json_new_object();
    if (tool)
        json_set(v, "disabled_tools", switch_text(json_get(v, "disabled_tools"), tool, !on));
    else
        json_set_bool(v, "disabled", !on);
    return file_put(&f, name, v, e);
}
