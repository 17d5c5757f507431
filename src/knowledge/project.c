#include "knowledge/project.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"

enum { GIT_LINE_BYTES = 4096 };

/* .git is a directory in a repository, a file in a worktree or a submodule. */
char *project_of(const char *directory)
{
    auto_free char *resolved = realpath(directory, NULL);
    char *own = mem_strdup(resolved ? resolved : directory), *at = mem_strdup(own);
    for (;;) {
        struct stat st;
        auto_free char *git = mem_printf("%s/.git", strcmp(at, "/") == 0 ? "" : at);
        char *slash = strrchr(at, '/');
        if (stat(git, &st) == 0) {
            free(own);
            return at;
        }
        if (!slash || slash[1] == '\0') {
            free(at);
            return own;
        }
        slash[slash == at ? 1 : 0] = '\0';
    }
}

/* The clean rest of the first line of a small file that begins with `prefix`; else NULL. */
static char *line_of(const char *path, const char *prefix)
{
    AUTO(buf_release) struct buf raw = BUF_INIT;
    struct buf line = BUF_INIT;
    struct error e;
    raw.max = GIT_LINE_BYTES;
    if (!paths_read_file(path, PATHS_FILE, &raw, &e) ||
        strncmp(raw.data, prefix, strlen(prefix)) != 0)
        return NULL;
    const char *rest = raw.data + strlen(prefix);
    utf8_clean(&line, rest, strcspn(rest, "\r\n"), UTF8_ONE_LINE);
    return buf_take(&line);
}

char *project_branch(const char *directory)
{
    auto_free char *top = project_of(directory);
    auto_free char *git = paths_join(top, ".git");
    auto_free char *elsewhere = line_of(git, "gitdir: "); /* of a worktree or a submodule */
    auto_free char *place = !elsewhere          ? mem_strdup(git)
                            : *elsewhere == '/' ? mem_strdup(elsewhere)
                                                : paths_join(top, elsewhere);
    auto_free char *head = paths_join(place, "HEAD");
    return line_of(head, "ref: refs/heads/");
}

/* --- instructions ----------------------------------------------------------------------------- */

void instructions_release(struct instructions *in)
{
    for (size_t i = 0; i < in->files.len; i++) {
        free(in->files.items[i].path);
        free(in->files.items[i].text);
    }
    vec_release(&in->files);
    free(in->faults);
    *in = (struct instructions){.faults = NULL};
}

static void add_fault(struct instructions *out, const char *text)
{
    char *all = out->faults ? mem_printf("%s; %s", out->faults, text) : mem_strdup(text);
    free(out->faults);
    out->faults = all;
}

static void read_file(struct instructions *out, const char *path)
{
    AUTO(buf_release) struct buf raw = BUF_INIT, text = BUF_INIT;
    struct error e;
    raw.max = INSTRUCTIONS_FILE_BYTES;
    for (size_t i = 0; i < out->files.len; i++)
        if (strcmp(out->files.items[i].path, path) == 0)
            return;
    if (paths_read_file(path, PATHS_FILE, &raw, &e))
        utf8_clean(&text, raw.data, raw.len, UTF8_MULTILINE);
    else
        add_fault(out, e.text);
    if (!utf8_is_blank(text.data))
        vec_push(&out->files, (struct instruction_file){mem_strdup(path), buf_take(&text)});
}

/* A link in a foreign project must not send the user's secrets to the model. `top` NULL: the
 * directory is the user's own. */
static void read_directory(struct instructions *out, const char *directory, const char *top)
{
    static const char *const names[] = {"AGENTS.md", "CLAUDE.md"}; /* the first that is there */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        auto_free char *path = paths_join(directory, names[i]);
        auto_free char *resolved = realpath(path, NULL);
        if (!resolved)
            continue;
        size_t len = !top || strcmp(top, "/") == 0 ? 0 : strlen(top), all = strlen(resolved);
        if (!top || (strncmp(resolved, top, len) == 0 && resolved[len] == '/' && all > 3 &&
                     strcmp(resolved + all - 3, ".md") == 0)) {
            read_file(out, resolved);
            return;
        }
        auto_free char *fault =
            mem_printf("%s leads to %s, which is no Markdown of the project", path, resolved);
        add_fault(out, fault);
        return;
    }
}

void instructions_read(const char *configuration, const char *directory, struct instructions *out)
{
    auto_free char *top = project_of(directory), *resolved = realpath(directory, NULL);
    const char *bottom = resolved ? resolved : top;
    size_t at = strlen(top), len = strlen(bottom);
    *out = (struct instructions){.faults = NULL};
    read_directory(out, configuration, NULL);
    read_directory(out, top, top);
    while (at < len) {
        at += 1 + strcspn(bottom + at + 1, "/");
        auto_free char *step = mem_strndup(bottom, at);
        if (strcmp(step, "/") != 0)
            read_directory(out, step, top);
    }
}
