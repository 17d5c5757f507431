#include "agent/simple_command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

enum { LINE_MOST = 200 /* bytes */ };

/* --- the table -------------------------------------------------------------------------------- */

enum operands { OPERANDS_ANY, OPERANDS_INSIDE, OPERANDS_NONE };

/* A program that does only what its name says, unless an option starts another program or writes a
 * file that the option names. A program that runs code of the project (tests, targets) lists the
 * options that are accepted; other programs list the options that are refused. The table has no
 * program that runs other programs by nature (env, sudo, xargs, sh, awk) or writes a file that an
 * operand names (uniq, tee), and no sub-command that does so (git config, npm install). */
struct program {
    const char *name;
    const char *subs; /* its sub-commands; NULL: it has none; "*": any word (a target) */
    const char *deep; /* sub-commands whose first operand belongs to the name of the set */
    const char *accepts, *refuses; /* options; accepts NULL: all options but the refused ones */
    enum operands operands;        /* INSIDE: the text of a path does not leave the directory */
    const char *skips;             /* options that may stand before the sub-command */
};

static const char git_subs[] =
    "status log diff show branch blame shortlog describe rev-parse rev-list ls-files ls-tree "
    "reflog tag add commit stash checkout switch restore mv rm grep merge-base name-rev diff-tree "
    "diff-index for-each-ref show-ref check-ignore";
static const char scripts[] = "test run run-script";

static const struct program programs[] = {
    {"git", git_subs,
     .refuses = "-O -x --output --ext-diff --textconv --exec --open-files-in-pager --extcmd",
     .skips = "--no-pager"},
    {"make", "*", .accepts = "-j -k -s -n -i -B -w", .operands = OPERANDS_NONE,
     .skips = "-j -k -s -n -i -B -w"},
    {"npm", scripts, "run run-script", .accepts = "", .operands = OPERANDS_INSIDE},
    {"pnpm", scripts, "run run-script", .accepts = "", .operands = OPERANDS_INSIDE},
    {"yarn", "test run", "run", .accepts = "", .operands = OPERANDS_INSIDE},
    {"cargo", "build check test clippy doc tree fmt",
     .accepts = "-q -v -p -j --release --workspace --all --all-targets --all-features --features "
                "--no-default-features --lib --bins --tests --locked --offline --package --check",
     .operands = OPERANDS_INSIDE},
    {"go", "build test vet list version",
     .accepts = "-v -run -count -race -short -timeout -bench -cover -failfast -json",
     .operands = OPERANDS_INSIDE},
    {"dotnet", "build test", .accepts = "", .operands = OPERANDS_INSIDE},
    {"pytest", .accepts = "-v -q -x -k -m -s -l --tb --lf --ff --maxfail --no-header",
     .operands = OPERANDS_INSIDE},
    {"docker", "ps images logs inspect version info top port stats", .refuses = "-H --host"},
    {"kubectl", "get describe logs version explain",
     .accepts = "-n -o -A -l --namespace --output --all-namespaces --selector --tail"},
    {"systemctl", "status list-units list-timers is-active is-enabled show cat",
     .refuses = "-H -M --host --machine"},
    {"apt", "list search show policy", .accepts = "--installed --upgradable"},
    {"apt-cache", "search show policy depends rdepends", .accepts = ""},
    {"pip", "list show freeze check", .accepts = ""},
    {"pip3", "list show freeze check", .accepts = ""},
    {"brew", "list info search outdated", .accepts = ""},
    {"find",
     .refuses = "-exec -ok -delete -fprint -fls"}, /* as beginnings: -execdir, -fprint0, … */
    {"sort", .refuses = "-o -T --output --compress-program --temporary-directory"},
    {"rg", .refuses = "-z --pre --hostname-bin --search-zip"},
    {"fd", .refuses = "-x -X --exec --exec-batch"},
    {"tree", .refuses = "-o -R --output"},
    {"file", .refuses = "-C -z -Z --compile --uncompress --uncompress-noreport"},
    {"diff", .refuses = "-l --paginate"},
};

/* Programs that only print, with any options. */
static const char printers[] =
    "ls cat head tail wc grep egrep fgrep cut tr nl tac rev fold paste join comm cmp stat du df "
    "pwd echo printf true seq sleep basename dirname realpath id whoami uname nproc which "
    "readlink ps free uptime jq od hexdump strings sha256sum sha1sum md5sum cksum printenv";

/* Whether the blank-separated list has the word. */
static bool has_word(const char *list, const char *word, size_t len)
{
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, " ");
        if (n == len && strncmp(p, word, len) == 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

static const struct program *find_program(const char *name)
{
    static const struct program printer = {.name = NULL};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, name) == 0)
            return &programs[i];
    return has_word(printers, name, strlen(name)) ? &printer : NULL;
}

/* --- the part of the shell's grammar whose meaning is certain --------------------------------- */

struct words {
    VEC(char *) list;
    size_t plain; /* number of first words that are names: letters, digits, "_-.+:", no quotes */
};

static void words_release(struct words *w)
{
    vec_free_each(&w->list);
}

static bool is_reserved(const char *word)
{
    return has_word(
        "if then else elif fi do done case esac while until for in select function "
        "coproc time",
        word, strlen(word));
}

/* Appends the word at *text without its quotes, and moves *text behind it. Returns false for a word
 * that the shell may change, except for a pattern that does not begin the word: a file that a
 * pattern at the beginning finds could have the name of an option. */
static bool take_word(const char **text, struct buf *out, bool *plain)
{
    static const char unquoted[] = "_-./:+,@%^=", pattern[] = "*?[]";
    const char *p = *text;
    *plain = true;
    for (; *p && *p != ' ' && *p != '\t'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '\'' || c == '"') {
            const char *bad = c == '"' ? "\"$`\\" : "'";
            size_t len = strcspn(++p, bad);
            if (p[len] != (char)c)
                return false;
            for (size_t i = 0; i < len; i++)
                if ((unsigned char)p[i] < ' ' || p[i] == 0x7F)
                    return false;
            buf_add(out, p, len);
            p += len;
            *plain = false;
            continue;
        }
        bool letter = c < 0x80 && isalnum(c);
        bool first = out->len == 0, option = !first && *out->data == '-';
        bool tilde = c == '~' && !first && !strchr(":=", out->data[out->len - 1]);
        bool finds = strchr(pattern, c) && !first && !option;
        if (!letter && !strchr(unquoted, c) && !tilde && !finds)
            return false;
        *plain = *plain && (letter || strchr("_-.+:", c));
        buf_addch(out, (char)c);
    }
    *text = p;
    return true;
}

static bool parse(struct words *w, const char *text)
{
    bool names = true;
    *w = (struct words){.plain = 0};
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
        AUTO(buf_release) struct buf word = BUF_INIT;
        bool plain;
        if (!take_word(&text, &word, &plain))
            return false;
        names = names && plain && word.len > 0;
        w->plain += names;
        vec_push(&w->list, mem_strdup(word.data));
    }
    /* An assignment has '=' in the first word, and a pattern may find another program tomorrow. */
    return w->list.len > 0 && *w->list.items[0] && !strpbrk(w->list.items[0], "=*?[]~") &&
           !is_reserved(w->list.items[0]);
}

/* --- sets ------------------------------------------------------------------------------------- */

/* A long option may be shortened, and letters may share a dash. A name behind one dash ("-exec") in
 * the list refuses every word that begins with it. */
static bool is_refused(const char *list, const char *word)
{
    size_t name = strcspn(word, "=");
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, " ");
        bool letter = n == 2, longer = p[1] == '-';
        if (letter   ? word[1] != '-' && strchr(word + 1, p[1]) != NULL
            : longer ? name > 2 && name <= n && strncmp(p, word, name) == 0
                     : strncmp(p, word, n) == 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

static bool is_accepted(const char *list, const char *word)
{
    if (has_word(list, word, strcspn(word, "=")))
        return true;
    if (word[1] == '-')
        return false;
    for (const char *letter = word + 1; *letter; letter++)
        if (!isdigit((unsigned char)*letter) && !has_word(list, (char[]){'-', *letter, 0}, 2))
            return false;
    return true;
}

/* Whether the path can lead out of the directory. The shell may find ".." by a pattern that begins
 * with a dot (".*"). */
static bool leaves(const char *path)
{
    for (const char *p = path; (p = strchr(p, '.')); p++) {
        size_t name = strcspn(p, "/");
        if ((p == path || p[-1] == '/' || p[-1] == '=') &&
            ((name == 2 && p[1] == '.') || strcspn(p, "*?[") < name))
            return true;
    }
    return *path == '/' || strstr(path, "=/");
}

/* Returns the number of first words that name the set of calls; 0: the command is in no set.
 * Removes the options between these words. */
static size_t count_prefix(struct words *w)
{
    const struct program *p = find_program(w->list.items[0]);
    size_t count = 1;
    if (!p || w->plain < 1)
        return 0;
    while (p->skips && w->plain > 1 && w->list.items[1][0] == '-' && w->list.items[1][1] &&
           is_accepted(p->skips, w->list.items[1])) {
        free(w->list.items[1]);
        vec_remove(&w->list, 1, 1);
        w->plain--;
    }
    if (p->subs) {
        const char *sub = w->plain > 1 ? w->list.items[1] : "-";
        if (*sub == '-' || (strcmp(p->subs, "*") != 0 && !has_word(p->subs, sub, strlen(sub))))
            return 0;
        count = 2;
        if (has_word(p->deep, sub, strlen(sub))) {
            if (w->plain < 3 || *w->list.items[2] == '-')
                return 0;
            count = 3;
        }
    }
    for (size_t i = count; i < w->list.len; i++) {
        const char *word = w->list.items[i];
        bool option = word[0] == '-' && word[1];
        if (option && (p->accepts ? !is_accepted(p->accepts, word) : is_refused(p->refuses, word)))
            return 0;
        if (!option &&
            (p->operands == OPERANDS_NONE || (p->operands == OPERANDS_INSIDE && leaves(word))))
            return 0;
    }
    return count;
}

bool simple_command_grant(const char *text, struct buf *out)
{
    AUTO(words_release) struct words words;
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    if (!parse(&words, text))
        return false;
    size_t count = count_prefix(&words);
    if (count == 0 && len > LINE_MOST)
        return false;
    buf_addch(out, '`');
    for (size_t i = 0; i < count; i++)
        buf_addf(out, "%s ", words.list.items[i]);
    if (count > 0)
        buf_addstr(out, "…`");
    else
        buf_addf(out, "%.*s`", (int)len, text);
    return true;
}

bool simple_command_is_known(const char *text)
{
    auto_free char *name = mem_strndup(text, strcspn(text, " \t"));
    return find_program(name) != NULL;
}

const char *simple_command_subcommands(const char *program)
{
    const struct program *p = find_program(program);
    return p ? p->subs : NULL;
}
