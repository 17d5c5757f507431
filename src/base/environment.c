#include "base/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"

struct variable {
    char *name, *value; /* value NULL: it was not set */
};

static VEC(struct variable) hidden; /* until the program ends */

static struct variable *find(const char *name)
{
    for (size_t i = 0; i < hidden.len; i++)
        if (strcmp(hidden.items[i].name, name) == 0)
            return &hidden.items[i];
    return NULL;
}

void environment_hide(const char *name)
{
    struct variable *variable = find(name);
    if (!variable) {
        vec_push(&hidden, ((struct variable){.name = mem_strdup(name)}));
        variable = &vec_last(&hidden);
    }
    char *value = getenv(name);
    if (!value)
        return;
    key_command_free(variable->value);
    variable->value = mem_strdup(value);
    mem_wipe(value, strlen(value));
    unsetenv(name);
}

char *environment_get(const char *name)
{
    const struct variable *found = find(name);
    char *value = getenv(name);
    return value || !found ? value : found->value;
}

/* --- URLs ------------------------------------------------------------------------------------- */

#define AFTER_URL " \t\r\n\"'<>"

/* Appends the text up to the secret and "****"; *rest moves after it. False, and nothing appended,
 * for an empty secret and for one within a part that is already masked. */
static bool hide(struct buf *out, const char **rest, const char *secret, size_t len)
{
    if (secret < *rest || len == 0)
        return false;
    if (out) {
        buf_add(out, *rest, (size_t)(secret - *rest));
        buf_addstr(out, "****");
    }
    *rest = secret + len;
    return true;
}

bool url_mask(struct buf *out, const char *text)
{
    bool found = false;
    const char *rest = text, *value;
    for (const char *at = text; (at = strstr(at, "://"));) {
        at += strlen("://");
        size_t host = strcspn(at, "/?#" AFTER_URL), login = host;
        while (login > 0 && at[login] != '@')
            login--;
        found |= hide(out, &rest, at, login < host ? login : 0);
        for (value = at + strcspn(at, "?" AFTER_URL);
             *(value += strcspn(value, "=" AFTER_URL)) == '=';) {
            size_t len = strcspn(++value, "&;#" AFTER_URL);
            found |= hide(out, &rest, value, len);
            value += len;
        }
    }
    if (out)
        buf_addstr(out, rest);
    return found;
}

char *url_escape(const char *text)
{
    static const char unreserved[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        "0123456789-._~";
    struct buf out = BUF_INIT;
    for (const char *at = text; *at != '\0'; at++) {
        if (strchr(unreserved, *at) != NULL)
            buf_addch(&out, *at);
        else
            buf_addf(&out, "%%%02X", (unsigned)(unsigned char)*at);
    }
    return buf_take(&out);
}

int url_escaped_byte(const char *text, size_t len)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *high = len > 2 && text[0] == '%' && text[1] ? strchr(digits, text[1]) : NULL;
    const char *low = high && text[2] ? strchr(digits, text[2]) : NULL;
    return low ? (int)((high - digits) % 16 * 16 + (low - digits) % 16) : -1;
}

/* --- the environment of a child --------------------------------------------------------------- */

#define BETWEEN_NAMES " \t\r\n,"

/* A star at the end is any text. tiro.ini(5) lists the variables of a model's command. */
static const struct {
    const char *names;
    const char *settings[3]; /* end with NULL */
} kinds[] = {
    [CHILD_HELPER] = {.names = "PATH TMPDIR LANG LANGUAGE LC_*"},
    [CHILD_OF_MODEL] =
        {.names =
             "PATH HOME USER LOGNAME SHELL TMPDIR TZ LANG LANGUAGE LC_* XDG_* DISPLAY "
             "WAYLAND_DISPLAY "
             "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy "
             "CC CXX CPPFLAGS CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS PKG_CONFIG_PATH LD_LIBRARY_PATH "
             "CCACHE_DIR CARGO_HOME RUSTUP_HOME GOPATH GOROOT JAVA_HOME NODE_PATH PYTHONPATH "
             "VIRTUAL_ENV",
         .settings = {"TERM=dumb", "PAGER=cat"}},
};

/* Moves *at to the next name of a list and returns its length; 0 at the end. */
static size_t next_name(const char **at)
{
    *at += strspn(*at, BETWEEN_NAMES);
    return strcspn(*at, BETWEEN_NAMES);
}

static bool is_named(const char *names, const char *variable)
{
    for (size_t len; (len = next_name(&names)) > 0; names += len) {
        bool star = names[len - 1] == '*';
        if (strncmp(variable, names, len - star) == 0 && (star || strchr("=", variable[len])))
            return true;
    }
    return false;
}

void child_environment_init(struct child_environment *e, char *const *from, enum child_kind kind,
                            const char *also)
{
    const char *const *settings = kinds[kind].settings;
    *e = (struct child_environment){0};
    for (; *from; from++) {
        bool listed = is_named(kinds[kind].names, *from) && !url_mask(NULL, *from);
        bool set = false;
        for (size_t i = 0; settings[i]; i++)
            set = set || strncmp(settings[i], *from, strcspn(settings[i], "=") + 1) == 0;
        if ((listed || is_named(also ? also : "", *from)) && !set)
            vec_push(&e->list, mem_strdup(*from));
    }
    for (; *settings; settings++)
        vec_push(&e->list, mem_strdup(*settings));
    vec_push(&e->list, NULL);
}

/* Appends those names of a list that a shell variable can have, as alternatives of a pattern. */
static void add_alternatives(struct buf *out, const char *names)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    for (size_t len; (len = next_name(&names)) > 0; names += len) {
        size_t plain = strspn(names, letters);
        if (plain == len || (plain + 1 == len && names[plain] == '*'))
            buf_addf(out, "|%.*s", (int)len, names);
    }
}

void child_environment_script(struct buf *out, enum child_kind kind, const char *also)
{
    buf_addstr(out,
               "set -f\n"
               "IFS='\n'\n"
               "for tiro_line in $(export -p); do\n"
               "case $tiro_line in 'export '*) ;; *) continue ;; esac\n"
               "tiro_name=${tiro_line#export }\n"
               "tiro_name=${tiro_name%%=*}\n"
               "case $tiro_name in ''|[0-9]*|*[!A-Za-z0-9_]*) continue ;; esac\n"
               "case $tiro_name in ''");
    add_alternatives(out, CHILD_SCRIPT_VARIABLE);
    for (size_t i = 0; i < hidden.len; i++)
        add_alternatives(out, hidden.items[i].name);
    buf_addstr(out,
               ") ;; *)\n"
               "case $tiro_name in ''");
    add_alternatives(out, kinds[kind].names);
    /* The test for a secret is that of url_mask(), and a little wider. */
    buf_addstr(out,
               ") eval \"tiro_value=\\$$tiro_name\"\n"
               "case $tiro_value in *://*@*|*://*\\?*=*) ;; *) continue ;; esac ;; esac\n"
               "case $tiro_name in ''");
    add_alternatives(out, also ? also : "");
    /* A variable that the shell refuses to unset must not reach the command. */
    buf_addstr(out,
               ") continue ;; esac ;; esac\n"
               "command unset \"$tiro_name\" || exit 126\n"
               "done\n"
               "unset IFS tiro_line tiro_name tiro_value\n"
               "set +f\n");
    for (const char *const *setting = kinds[kind].settings; *setting; setting++)
        buf_addf(out, "%s\nexport %.*s\n", *setting, (int)strcspn(*setting, "="), *setting);
    buf_addstr(out, "exec /bin/sh -c -- \"$1\" </dev/null\n");
}

void child_environment_release(struct child_environment *e)
{
    vec_free_each(&e->list);
}

/* --- a key from a command --------------------------------------------------------------------- */

struct first_line {
    char bytes[8192];
    size_t len;
    bool ended; /* its newline came */
};

void key_command_free(char *key)
{
    if (key)
        mem_wipe(key, strlen(key));
    free(key);
}

static bool take_bytes(void *context, const char *bytes, size_t len)
{
    struct first_line *line = context;
    const char *newline = memchr(bytes, '\n', len);
    size_t wanted = newline ? (size_t)(newline - bytes) : len;
    if (line->ended)
        return true;
    if (wanted > sizeof line->bytes - line->len)
        return false;
    memcpy(line->bytes + line->len, bytes, wanted);
    line->len += wanted;
    line->ended = newline != NULL;
    return true;
}

static bool run(const char *name, const char *command, int timeout_ms, const struct wakeup *wakeup,
                struct first_line *line, struct error *e)
{
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    const struct child_command child = {.argv = argv,
                                        .deadline_ms = clock_mono_ms() + timeout_ms,
                                        .wakeup = wakeup,
                                        .spares_daemons = true,
                                        .take = take_bytes,
                                        .context = line};
    struct child_result result;
    struct error fault = {0};
    if (!child_run(&child, &result, &fault))
        return err_set(e, ERR_CONFIG_ERROR, "cannot run %s: %s", name, fault.text);
    switch (result.end) {
    case CHILD_STOPPED:
        return err_set(e, ERR_INTERRUPTED, "%s was interrupted; send it again", name);
    case CHILD_REFUSED:
        return err_set(e, ERR_CONFIG_ERROR,
                       "the first line of %s's output is longer than 8 KiB; it must "
                       "print nothing but the key there",
                       name);
    case CHILD_LATE:
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s did not end in time and was stopped; run it in a shell to "
                       "see what it waits for",
                       name);
    case CHILD_SIGNALED:
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s was ended by signal %d; run it in a shell to see why", name,
                       result.status);
    case CHILD_EXITED:
        break;
    }
    return result.status == 0 ||
           err_set(e, ERR_CONFIG_ERROR,
                   "%s failed with exit status %d; run it in a shell to see why", name,
                   result.status);
}

bool key_command_run(const char *name, const char *command, int timeout_ms,
                     const struct wakeup *wakeup, char **key, struct error *e)
{
    struct first_line line = {.len = 0};
    bool ok = run(name, command, timeout_ms, wakeup, &line, e);
    const char *from = line.bytes, *to = from + line.len;
    while (from < to && memchr(" \t\r", *from, 3))
        from++;
    while (to > from && memchr(" \t\r", to[-1], 3))
        to--;
    if (ok && from == to)
        ok = err_set(e, ERR_CONFIG_ERROR,
                     "%s printed nothing on its first line; the key belongs there", name);
    else if (ok && memchr(from, '\0', (size_t)(to - from)))
        ok = err_set(e, ERR_CONFIG_ERROR,
                     "%s printed a NUL character on its first line; it must print "
                     "nothing but the key there",
                     name);
    if (ok)
        *key = mem_strndup(from, (size_t)(to - from));
    mem_wipe(&line, sizeof line);
    return ok;
}
