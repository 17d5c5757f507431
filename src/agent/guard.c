#include "agent/guard.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/paths.h"

const char *const guard_keys[] = {
    ".ssh",
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
    NULL,
};

static bool name_fits(const char *pattern, size_t pattern_len, const char *name, size_t len)
{
    if (pattern[0] == '*') {
        size_t tail = pattern_len - 1;
        return len >= tail && strncasecmp(name + len - tail, pattern + 1, tail) == 0;
    }
    if (pattern[pattern_len - 1] == '*')
        return len >= pattern_len - 1 && strncasecmp(name, pattern, pattern_len - 1) == 0;
    return len == pattern_len && strncasecmp(name, pattern, len) == 0;
}

/* Where the last name of the path begins. */
static size_t last_name(const char *path, size_t len)
{
    while (len > 0 && path[len - 1] != '/')
        len--;
    return len;
}

static bool path_ends_with(const char *path, size_t len, const char *pattern)
{
    size_t left = strlen(pattern);
    for (;;) {
        size_t name = last_name(path, len), wanted = last_name(pattern, left);
        if (len == name || !name_fits(pattern + wanted, left - wanted, path + name, len - name))
            return false;
        if (wanted == 0)
            return true;
        if (name == 0)
            return false;
        len = name - 1;
        left = wanted - 1;
    }
}

static bool is_key_place(const char *path, size_t len)
{
    for (size_t i = 0; guard_keys[i]; i++)
        if (path_ends_with(path, len, guard_keys[i]))
            return true;
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

/* As far as it exists; the rest stays as it is named. */
static char *resolve(const char *path)
{
    char *head = mem_strdup(path), *found = NULL, *whole;
    size_t len = strlen(head);
    while (len > 1 && !(found = realpath(head, NULL))) {
        while (len > 1 && head[len - 1] != '/')
            len--;
        head[--len] = '\0';
    }
    const char *rest = path + len + (path[len] == '/');
    whole = found && *rest ? paths_join(found, rest) : mem_strdup(found ? found : path);
    free(found);
    free(head);
    return whole;
}

/* A file of the directory may be a link to elsewhere. */
static void add_own(struct guard *g, char *dir, const char *file)
{
    char *path = file ? paths_join(dir, file) : mem_strdup(dir);
    vec_push(&g->own, resolve(path));
    free(path);
}

void guard_init(struct guard *g)
{
    char *config = paths_config_dir(), *data = paths_data_dir(), *state = paths_state_dir();
    *g = (struct guard){0};
    add_own(g, config, NULL);
    add_own(g, config, "tiro.ini");
    add_own(g, data, NULL);
    add_own(g, data, "tiro.db");
    add_own(g, state, NULL);
    add_own(g, state, "tiro.log");
    free(config);
    free(data);
    free(state);
}

void guard_release(struct guard *g)
{
    vec_free_each(&g->own);
}

bool guard_asks(const char *path)
{
    struct guard guard;
    guard_init(&guard);
    bool is = guard_covers(&guard, path);
    guard_release(&guard);
    return is;
}
