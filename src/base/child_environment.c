#include "base/child_environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/mem.h"
#include "base/url.h"

#define BETWEEN_NAMES " \t\r\n,"

/* A star at the end is any text. tiro.ini(5) lists those of a model's command. */
static const char helper_names[] = "PATH TMPDIR LANG LANGUAGE LC_*";

static const char model_names[] =
    "PATH HOME USER LOGNAME SHELL TMPDIR TZ LANG LANGUAGE LC_* XDG_* DISPLAY WAYLAND_DISPLAY "
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy "
    "CC CXX CPPFLAGS CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS PKG_CONFIG_PATH LD_LIBRARY_PATH "
    "CCACHE_DIR CARGO_HOME RUSTUP_HOME GOPATH GOROOT JAVA_HOME NODE_PATH PYTHONPATH VIRTUAL_ENV";

static const struct {
    const char *names;
    const char *settings[3]; /* end with NULL */
} kinds[] = {
    [CHILD_HELPER] = {.names = helper_names},
    [CHILD_OF_MODEL] = {.names = model_names, .settings = {"TERM=dumb", "PAGER=cat"}},
};

static size_t name_len(const char *variable)
{
    return strcspn(variable, "=");
}

static bool fits(const char *word, size_t len, const char *variable)
{
    if (len > 0 && word[len - 1] == '*')
        return strncmp(variable, word, len - 1) == 0;
    return len == name_len(variable) && strncmp(variable, word, len) == 0;
}

static bool is_named(const char *names, const char *variable)
{
    for (names += strspn(names, BETWEEN_NAMES); *names; names += strspn(names, BETWEEN_NAMES)) {
        size_t len = strcspn(names, BETWEEN_NAMES);
        if (fits(names, len, variable))
            return true;
        names += len;
    }
    return false;
}

static bool is_set_by(const char *const *settings, const char *variable)
{
    for (; *settings; settings++)
        if (fits(*settings, name_len(*settings), variable))
            return true;
    return false;
}

void child_environment_init(struct child_environment *e, char *const *from, enum child_kind kind,
                            const char *also)
{
    const char *const *settings = kinds[kind].settings;
    *e = (struct child_environment){0};
    for (; *from; from++) {
        bool listed = is_named(kinds[kind].names, *from) && !url_has_secret(*from);
        if ((listed || is_named(also ? also : "", *from)) && !is_set_by(settings, *from))
            vec_push(&e->list, mem_strdup(*from));
    }
    for (; *settings; settings++)
        vec_push(&e->list, mem_strdup(*settings));
    vec_push(&e->list, NULL);
}

/* --- the same in a shell -----------------------------------------------------------------------
 */

/* Of those names in a list that can be a variable's of a shell, alternatives of a pattern. */
static void add_alternatives(struct buf *out, const char *names)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    for (names += strspn(names, BETWEEN_NAMES); *names; names += strspn(names, BETWEEN_NAMES)) {
        size_t len = strcspn(names, BETWEEN_NAMES), plain = strspn(names, letters);
        if (plain == len || (plain + 1 == len && names[plain] == '*'))
            buf_addf(out, "|%.*s", (int)len, names);
        names += len;
    }
}

static const char before_hidden[] =
    "set -f\n"
    "IFS='\n'\n"
    "for tiro_line in $(export -p); do\n"
    "case $tiro_line in 'export '*) ;; *) continue ;; esac\n"
    "tiro_name=${tiro_line#export }\n"
    "tiro_name=${tiro_name%%=*}\n"
    "case $tiro_name in ''|[0-9]*|*[!A-Za-z0-9_]*) continue ;; esac\n"
    "case $tiro_name in ''";

static const char before_ours[] =
    ") ;; *)\n"
    "case $tiro_name in ''";

/* As url_has_secret(), and a little more. */
static const char before_also[] =
    ") eval \"tiro_value=\\$$tiro_name\"\n"
    "case $tiro_value in *://*@*|*://*\\?*=*) ;; *) continue ;; esac ;; esac\n"
    "case $tiro_name in ''";

/* What cannot be taken away (a shell may have such) is not passed on either. */
static const char after_also[] =
    ") continue ;; esac ;; esac\n"
    "command unset \"$tiro_name\" || exit 126\n"
    "done\n"
    "unset IFS tiro_line tiro_name tiro_value\n"
    "set +f\n";

void child_environment_script(struct buf *out, enum child_kind kind, const char *also)
{
    buf_addstr(out, before_hidden);
    add_alternatives(out, CHILD_SCRIPT_VARIABLE);
    for (size_t i = 0; environment_hidden(i); i++)
        add_alternatives(out, environment_hidden(i));
    buf_addstr(out, before_ours);
    add_alternatives(out, kinds[kind].names);
    buf_addstr(out, before_also);
    add_alternatives(out, also ? also : "");
    buf_addstr(out, after_also);
    for (const char *const *setting = kinds[kind].settings; *setting; setting++)
        buf_addf(out, "%s\nexport %.*s\n", *setting, (int)name_len(*setting), *setting);
    buf_addstr(out, "exec /bin/sh -c -- \"$1\" </dev/null\n");
}

void child_environment_release(struct child_environment *e)
{
    vec_free_each(&e->list);
}
