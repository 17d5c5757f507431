#include "agent/bounds.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "agent/approval.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/vec.h"

enum { MOST_NAMES = 4096, LEVELS = 3 };

struct places {
    VEC(const char *) hidden; /* both borrow from `owned`, and get a NULL at the end */
    VEC(const char *) writable;
    VEC(char *) owned;
};

static void places_release(struct places *p)
{
    vec_release(&p->hidden);
    vec_release(&p->writable);
    vec_free_each(&p->owned);
}

bool bounds_hold(const struct tool_host *host)
{
    return host->sandbox && !sandbox_kernel().lack;
}

static const char *own(struct places *p, char *path)
{
    vec_push(&p->owned, path);
    return path;
}

/* Hides the path, whose directory is resolved. If it is a link, hides its target, too. */
static void hide(struct places *p, const char *path)
{
    char *found = realpath(path, NULL);
    vec_push(&p->hidden, own(p, mem_strdup(path)));
    if (found)
        vec_push(&p->hidden, own(p, found));
}

/* --- writable directories --------------------------------------------------------------------- */

static bool is_writable(const struct places *p, const char *path)
{
    bool within = false;
    for (size_t i = 0; i < p->writable.len; i++)
        within = within || paths_within(path, p->writable.items[i]);
    return within;
}

/* A directory that is within another one is left out before its links are followed: an earlier
 * command could have put a link in its place. */
static void find_writable(struct places *p, const struct tool_host *host, const char *home)
{
    const char *temporary = getenv("TMPDIR"), *word = host->sandbox_writes;
    VEC(char *) named = {0};
    vec_push(&named, mem_strdup(host->root)); /* a resolved path */
    vec_push(&named, mem_strdup(temporary && *temporary ? temporary : "/tmp"));
    for (size_t len; word && *(word += strspn(word, " \t\r\n,")); word += len) {
        len = strcspn(word, " \t\r\n,");
        auto_free char *name = mem_strndup(word, len);
        vec_push(&named,
                 strncmp(name, "~/", 2) == 0 ? paths_join(home, name + 2) : mem_strdup(name));
    }
    for (size_t i = 0; i < named.len; i++)
        for (char *end = strchr(named.items[i], '\0'); end - named.items[i] > 1 && *--end == '/';)
            *end = '\0';
    for (size_t i = 0; i < named.len; i++) {
        bool covered = named.items[i][0] != '/';
        for (size_t k = 0; k < named.len && !covered; k++)
            covered = k != i && paths_within(named.items[i], named.items[k]) &&
                      (k < i || strcmp(named.items[i], named.items[k]) != 0);
        char *found = covered  ? NULL
                      : i == 0 ? mem_strdup(host->root)
                               : realpath(named.items[i], NULL);
        if (found)
            vec_push(&p->writable, own(p, found));
    }
    vec_free_each(&named);
}

/* --- hidden places ---------------------------------------------------------------------------- */

static void hide_keys(struct places *p, const struct guard *guard, const char *home)
{
    size_t at = 0, names = 0;
    VEC(char *) directories = {0};
    vec_push(&directories, mem_strdup(home));
    for (const char *const *key = guard_keys; *key; key++) {
        const char *slash = strrchr(*key, '/');
        auto_free char *in = mem_strndup(*key, slash ? (size_t)(slash - *key) : 0);
        if (slash)
            vec_push(&directories, paths_join(home, in));
    }
    for (int level = 0; level < LEVELS; level++) {
        for (size_t end = directories.len; at < end && names < MOST_NAMES; at++) {
            DIR *d = opendir(directories.items[at]);
            const struct dirent *entry;
            while (d && names++ < MOST_NAMES && (entry = readdir(d))) {
                char *path = paths_join(directories.items[at], entry->d_name);
                if (guard_begins(guard, path))
                    hide(p, path);
                if (entry->d_type == DT_DIR && *entry->d_name != '.' && (level > 0 || at == 0) &&
                    !is_writable(p, path))
                    vec_push(&directories, path);
                else
                    free(path);
            }
            if (d)
                closedir(d);
        }
    }
    vec_free_each(&directories);
}

static void find_hidden(struct places *p, const char *home)
{
    static const char *const of_root[] = {"/etc/shadow",     "/etc/shadow-", "/etc/gshadow",
                                          "/etc/gshadow-",   "/etc/ssh",     "/etc/ssl/private",
                                          "/etc/krb5.keytab"};
    AUTO(guard_release) struct guard guard;
    guard_init(&guard);
    for (size_t i = 0; i < guard.own.len; i++)
        hide(p, guard.own.items[i]);
    if (home)
        hide_keys(p, &guard, home);
    for (size_t i = 0; geteuid() == 0 && i < sizeof of_root / sizeof *of_root; i++)
        hide(p, of_root[i]);
}

bool bounds_make(const struct tool_host *host, bool network, struct sandbox *out, struct error *e)
{
    const char *named = getenv("HOME");
    auto_free char *home = named && *named == '/' ? realpath(named, NULL) : NULL;
    AUTO(places_release) struct places places = {0};
    find_writable(&places, host, home ? home : "");
    find_hidden(&places, home);
    vec_push(&places.hidden, NULL);
    vec_push(&places.writable, NULL);
    const struct sandbox_rules rules = {
        .hidden = places.hidden.items, .writable = places.writable.items, .network = network};
    return sandbox_make(out, &rules, e);
}

void bounds_explain(const struct tool_host *host, bool network, struct buf *out)
{
    static const char *const words[] = {
        "ermission denied", "peration not permitted", "EACCES",       "EPERM",
        "ead-only file",    "etwork is unreachable",  "resolve host", "name resolution",
        "EAI_AGAIN"}; /* as in "Permission", "permission" */
    bool refused = false;
    for (size_t i = 0; i < sizeof words / sizeof *words && !refused; i++)
        refused = strstr(out->data, words[i]) != NULL;
    if (refused)
        buf_addf(
            out,
            "\n[the sandbox may have refused something: a command can change files only in %s and "
            "in the directory of temporary files; keys and tiro's own files are hidden, and "
            "their directories cannot be changed; there is no %s. If the command needs more, "
            "call again with access \"%sall\"; the user is asked.]",
            host->root, network ? "unix sockets" : "network", network ? "" : "network\" or \"");
}

void bounds_tell_lack(const struct tool_host *host, struct buf *out)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const char *lack = host->sandbox ? sandbox_kernel().lack : NULL;
    if (lack && !atomic_flag_test_and_set(&told))
        buf_addf(out, "\n[commands run without a sandbox: %s]", lack);
}
