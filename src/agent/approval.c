#include "agent/approval.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/simple_command.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/vec.h"

const char *const guard_keys[] = {".ssh",
                                  ".gnupg",
                                  ".aws",
                                  ".azure",
                                  ".kube",
                                  ".oci",
                                  ".password-store",
                                  ".config/gh",
                                  ".config/gcloud",
                                  ".config/op",
                                  ".config/git/credentials",
                                  ".local/share/keyrings",
                                  ".docker/config.json",
                                  ".cargo/credentials*",
                                  ".gem/credentials",
                                  ".git-credentials",
                                  ".netrc",
                                  "_netrc",
                                  ".authinfo*",
                                  ".pgpass",
                                  ".my.cnf",
                                  ".npmrc",
                                  ".pypirc",
                                  ".htpasswd",
                                  ".vault-token",
                                  ".env",
                                  ".env.*",
                                  ".envrc",
                                  "*_history",
                                  "id_rsa*",
                                  "id_dsa*",
                                  "id_ecdsa*",
                                  "id_ed25519*",
                                  "*.pem",
                                  "*.key",
                                  "*.p12",
                                  "*.pfx",
                                  "*.jks",
                                  "*.keystore",
                                  "*.kdbx",
                                  NULL};

/* Whether a name fits both: the pattern of a place of keys, and a name or a pattern of the shell,
 * in which brackets are taken as any character. The shell finds no name with a dot at its beginning
 * by a pattern without it, and all places that are directories have that dot. */
static bool name_fits(const char *pattern, size_t pattern_len, const char *name, size_t len)
{
    uint32_t at = 1; /* bit i: the name so far can have used i characters of the pattern */
    if (strchr("*?[", *name) && (*pattern == '.' || name[len] == '/'))
        return false;
    if (*name == '*' && pattern[pattern_len - 1] == '*')
        pattern_len--; /* "*.c" could find id_rsa.c, which is no key */
    for (size_t n = 0; n < len; n++) {
        uint32_t next = 0;
        bool reached = false, any = name[n] == '?' || name[n] == '[';
        for (size_t i = 0; i <= pattern_len; i++) {
            bool here = at >> i & 1, star = i < pattern_len && pattern[i] == '*';
            reached = reached || here;
            if (here && star)
                at |= UINT32_C(2) << i;
            if ((reached && name[n] == '*') || (here && star))
                next |= UINT32_C(1) << i;
            else if (here && i < pattern_len && (any || strncasecmp(name + n, pattern + i, 1) == 0))
                next |= UINT32_C(2) << i;
        }
        const char *close = name[n] == '[' ? memchr(name + n, ']', len - n) : NULL;
        n = close ? (size_t)(close - name) : n;
        if (!(at = next))
            return false;
    }
    return at >> pattern_len & 1 ||
           (pattern[pattern_len - 1] == '*' && at >> (pattern_len - 1) & 1);
}

/* Where the last name of the path begins. */
static size_t last_name(const char *path, size_t len)
{
    while (len > 0 && path[len - 1] != '/')
        len--;
    return len;
}

static bool is_key_place(const char *path, size_t path_len)
{
    for (size_t i = 0; guard_keys[i]; i++) {
        const char *pattern = guard_keys[i];
        size_t len = path_len, left = strlen(pattern);
        for (;;) { /* the last names first */
            size_t name = last_name(path, len), wanted = last_name(pattern, left);
            if (len == name || !name_fits(pattern + wanted, left - wanted, path + name, len - name))
                break;
            if (wanted == 0)
                return true;
            if (name == 0)
                break;
            len = name - 1;
            left = wanted - 1;
        }
    }
    return false;
}

static bool is_own(const struct guard *g, const char *path)
{
    for (size_t i = 0; i < g->own.len; i++) {
        size_t len = strlen(g->own.items[i]);
        if (strncasecmp(path, g->own.items[i], len) == 0 && (path[len] == '\0' || path[len] == '/'))
            return true;
    }
    return false;
}

bool guard_begins(const struct guard *g, const char *path)
{
    return is_key_place(path, strlen(path)) || is_own(g, path);
}

bool guard_covers(const struct guard *g, const char *path)
{
    for (const char *end = path; *end; end += strcspn(end, "/")) {
        end += *end == '/';
        if (is_key_place(path, (size_t)(end - path) + strcspn(end, "/")))
            return true;
    }
    return is_own(g, path);
}

/* Resolves the part of the path that exists; the rest stays as it is named. */
static char *resolve(const char *path)
{
    auto_free char *head = mem_strdup(path);
    auto_free char *found = NULL;
    size_t len = strlen(head);
    while (len > 1 && !(found = realpath(head, NULL))) {
        while (len > 1 && head[len - 1] != '/')
            len--;
        head[--len] = '\0';
    }
    const char *rest = path + len + (path[len] == '/');
    return found && *rest ? paths_join(found, rest) : mem_strdup(found ? found : path);
}

void guard_init(struct guard *g)
{
    const struct {
        char *dir;
        const char *file; /* may be a link to elsewhere */
    } places[] = {{paths_dir(PATHS_CONFIG), "tiro.ini"},
                  {paths_dir(PATHS_DATA), "tiro.db"},
                  {paths_dir(PATHS_STATE), "tiro.log"}};
    *g = (struct guard){0};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        auto_free char *dir = places[i].dir;
        auto_free char *file = paths_join(dir, places[i].file);
        vec_push(&g->own, resolve(dir));
        vec_push(&g->own, resolve(file));
    }
}

void guard_release(struct guard *g)
{
    vec_free_each(&g->own);
}

bool guard_asks(const char *path)
{
    AUTO(guard_release) struct guard guard;
    guard_init(&guard);
    return guard_covers(&guard, path);
}

/* --- approval --------------------------------------------------------------------------------- */

#define BETWEEN_WORDS " \t\r\n,"

/* A word of [tools] ask alone. */
static const char outside_sandbox[] = "outside-sandbox";

static bool contains(const struct approval_names *names, const char *word)
{
    for (size_t i = 0; i < names->len; i++)
        if (strcmp(names->items[i], word) == 0)
            return true;
    return false;
}

static bool is_granted(const struct approval_policy *p, const char *grant)
{
    bool granted = contains(&p->commands, grant) || contains(&p->session, grant);
    for (size_t i = 0; i < p->project.len; i++)
        granted = granted || strcmp(p->project.items[i], grant) == 0;
    return granted;
}

static void add(struct approval_names *names, const char *word)
{
    if (!contains(names, word))
        vec_push(names, mem_strdup(word));
}

void approval_policy_release(struct approval_policy *p)
{
    vec_free_each(&p->allow);
    vec_free_each(&p->ask);
    vec_free_each(&p->deny);
    vec_free_each(&p->commands);
    vec_free_each(&p->session);
    permissions_release(&p->project);
}

static bool unknown_word(const struct toolset *tools, const char *source, const char *word,
                         struct error *e)
{
#define X(id, name) " " name
    static const char *const classes = TOOL_CLASSES(X);
#undef X
    VEC(const char *) known = {0};
    for (size_t i = 0; i < tools->tools.len; i++)
        vec_push(&known, tools->tools.items[i].spec.name);
    for (int i = 0; i < TOOL_CLASS_COUNT; i++)
        vec_push(&known, tool_class_name((enum tool_class)i));
    const char *nearest = config_nearest(word, known.items, known.len);
    vec_release(&known);
    if (nearest)
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s: unknown tool or class \"%s\"; did you mean \"%s\"?", source, word,
                       nearest);
    return err_set(e, ERR_CONFIG_ERROR, "%s: unknown tool or class \"%.64s\"; the classes are%s",
                   source, word, classes);
}

/* Adds the grant of a command line, which may be in back quotes: as tool_call_grant() writes it, or
 * as a person does. */
static bool read_command(struct approval_names *grants, const char *source, const char *text,
                         size_t len, struct error *e)
{
    static const char rest[] = " …`";
    AUTO(buf_release) struct buf grant = BUF_INIT;
    auto_free char *line = mem_strndup(text, len);
    size_t end = strlen(line);
    bool quoted = false; /* this line alone */
    if (end >= sizeof rest && strcmp(line + end - (sizeof rest - 1), rest) == 0)
        line[end - (sizeof rest - 1)] = '\0';
    else if ((quoted = *line == '`' && line[end - 1] == '`'))
        line[end - 1] = '\0';
    const char *command = line + (*line == '`');
    if (!quoted && simple_command_subcommands(command))
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s: \"%.64s\" alone allows nothing; name a sub-command, too", source,
                       command);
    if (!simple_command_grant(command, &grant))
        return err_set(e, ERR_CONFIG_ERROR, "%s: \"%.64s\" is not one simple command of the shell",
                       source, command);
    add(grants, grant.data);
    return true;
}

/* Adds the grant of the pages of a host, "example.org:8080", or "http://example.org" without TLS.
 */
static bool read_host(struct approval_names *grants, const struct tool *fetch, const char *source,
                      const char *host, struct error *e)
{
    AUTO(buf_release) struct buf grant = BUF_INIT;
    AUTO(json_free_local) struct json *args = json_new_object();
    const char *scheme = strstr(host, "://");
    auto_free char *url = mem_printf("%s%s", scheme ? "" : "https://", host);
    json_set_string(args, "url", url);
    if (!strpbrk(scheme ? scheme + 3 : host, "/?#"))
        fetch->grant(args, &grant);
    if (grant.len == 0)
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s: \"%.64s\" is no host that fetch_url can fetch from", source, host);
    add(grants, grant.data);
    return true;
}

static bool is_known(const struct toolset *tools, const char *word, const char *also)
{
    /* Tools of servers are listed later. */
    bool known = toolset_find(tools, word) || strncmp(word, "mcp_", strlen("mcp_")) == 0 ||
                 (also && strcmp(word, also) == 0);
    for (int i = 0; i < TOOL_CLASS_COUNT; i++)
        known = known || strcmp(tool_class_name((enum tool_class)i), word) == 0;
    return known;
}

/* Adds the known words; the error is about the first other one. `grants` gets the grants of the
 * commands between commas, and of hosts behind fetch_url; NULL: the list takes none. `also`: one
 * more known word; NULL: none. */
static bool read_words(struct approval_names *names, struct approval_names *grants,
                       const struct toolset *tools, const char *source, const char *text,
                       const char *also, struct error *e)
{
    bool ok = true, begins = true; /* a part */
    for (;;) {
        size_t between = strspn(text, BETWEEN_WORDS);
        for (size_t i = 0; i < between; i++)
            begins = begins || text[i] == ',';
        text += between;
        if (!*text)
            return ok;
        size_t len = strcspn(text, BETWEEN_WORDS);
        auto_free char *word = mem_strndup(text, len);
        const struct tool *tool = toolset_find(tools, word);
        bool fetches = grants && tool && tool->run == tool_fetch_url.run;
        size_t gap = fetches ? strspn(text + len, " \t") : 0;
        auto_free char *host =
            mem_strndup(text + len + gap, gap > 0 ? strcspn(text + len + gap, BETWEEN_WORDS) : 0);
        if (*host && !is_known(tools, host, also)) {
            ok = read_host(grants, tool, source, host, ok ? e : NULL) && ok;
            len += gap + strlen(host);
        } else if (is_known(tools, word, also)) {
            add(names, word);
        } else if (grants && begins && (*word == '`' || simple_command_is_known(word))) {
            const char *closing = *word == '`' ? strchr(text + 1, '`') : NULL;
            len = closing ? (size_t)(closing - text) + 1 : strcspn(text, ",\r\n");
            while (len > 0 && strchr(" \t", text[len - 1]))
                len--;
            ok = read_command(grants, source, text, len, ok ? e : NULL) && ok;
        } else if (ok) {
            ok = unknown_word(tools, source, word, e);
        }
        begins = false;
        text += len;
    }
}

bool approval_policy_read(struct approval_policy *p, const struct config *config,
                          const struct toolset *tools, const char *also_allow, struct error *e)
{
    *p = (struct approval_policy){0};
    const struct {
        struct approval_names *names;
        const char *source;
        enum config_key key;
    } lists[] = {
        {&p->allow, "[tools] allow", CONFIG_TOOLS_ALLOW},
        {&p->ask, "[tools] ask", CONFIG_TOOLS_ASK},
        {&p->deny, "[tools] deny", CONFIG_TOOLS_DENY},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        ok = read_words(lists[i].names, lists[i].names == &p->allow ? &p->commands : NULL, tools,
                        lists[i].source, config_string(config, lists[i].key),
                        lists[i].names == &p->ask ? outside_sandbox : NULL, ok ? e : NULL) &&
             ok;
    struct approval_names also = {0};
    if (also_allow)
        ok = read_words(&also, &p->commands, tools, "--allow", also_allow, NULL, ok ? e : NULL) &&
             ok;
    for (size_t i = 0; i < also.len; i++) {
        add(&p->allow, also.items[i]);
        for (size_t k = p->ask.len; k > 0; k--) {
            if (strcmp(p->ask.items[k - 1], also.items[i]) != 0)
                continue;
            free(p->ask.items[k - 1]);
            vec_remove(&p->ask, k - 1, 1);
        }
    }
    vec_free_each(&also);
    return ok;
}

bool approval_spares_sandbox(const struct approval_policy *p)
{
    return contains(&p->ask, outside_sandbox);
}

bool approval_asks_by_class(const struct approval_policy *p, const struct tool *tool)
{
    return tool->consent != CONSENT_ASKED && !contains(&p->ask, tool->spec.name);
}

static bool decided(const struct approval_policy *p, const char *word, enum approval_verdict *out)
{
    if (contains(&p->deny, word))
        *out = APPROVAL_DENY;
    else if (contains(&p->ask, word))
        *out = APPROVAL_ASK;
    else if (contains(&p->allow, word))
        *out = APPROVAL_ALLOW;
    else
        return false;
    return true;
}

enum approval_verdict approval_decide(const struct approval_policy *p, const struct tool *tool,
                                      const char *grant)
{
    enum approval_verdict verdict = APPROVAL_ASK;
    if (!decided(p, tool->spec.name, &verdict)) {
        /* As its class is, unless its source says otherwise. */
        decided(p, tool_class_name(tool->class), &verdict);
        if (verdict != APPROVAL_DENY && tool->consent != CONSENT_BY_CLASS)
            verdict = tool->consent == CONSENT_GIVEN ? APPROVAL_ALLOW : APPROVAL_ASK;
    }
    if (verdict == APPROVAL_ASK && grant && is_granted(p, grant))
        return APPROVAL_ALLOW;
    return verdict;
}

void approval_allow_session(struct approval_policy *p, const char *grant)
{
    add(&p->session, grant);
}

void approval_forget_session(struct approval_policy *p)
{
    vec_free_each(&p->session);
}
