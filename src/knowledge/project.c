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

/* A directory in a repository, a file in a worktree or a submodule. */
static bool has_git(const char *directory)
{
    struct stat st;
    char *path = mem_printf("%s/.git", strcmp(directory, "/") == 0 ? "" : directory);
    bool there = stat(path, &st) == 0;
    free(path);
    return there;
}

/* "/a/b" becomes "/a", that "/"; false: there is none above. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash[1] == '\0')
        return false;
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

char *project_of(const char *directory)
{
    char *resolved = realpath(directory, NULL);
    char *own = mem_strdup(resolved ? resolved : directory);
    char *at = mem_strdup(own);
    free(resolved);
    bool found = has_git(at);
    while (!found && go_up(at))
        found = has_git(at);
    free(found ? own : at);
    return found ? at : own;
}

static const char *const names[] = {"AGENTS.md", "CLAUDE.md"}; /* the first that is there */

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

static bool has(const struct instructions *in, const char *path)
{
    for (size_t i = 0; i < in->files.len; i++)
        if (strcmp(in->files.items[i].path, path) == 0)
            return true;
    return false;
}

static void add_fault(struct instructions *out, const char *text)
{
    char *all = out->faults ? mem_printf("%s; %s", out->faults, text) : mem_strdup(text);
    free(out->faults);
    out->faults = all;
}

static void read_file(struct instructions *out, const char *path)
{
    struct buf raw, text = BUF_INIT;
    struct error e;
    if (has(out, path))
        return;
    buf_init(&raw, INSTRUCTIONS_FILE_BYTES);
    if (!paths_read_regular(path, &raw, &e))
        add_fault(out, e.text);
    else
        utf8_clean(&text, raw.data ? raw.data : "", raw.len, UTF8_MULTILINE);
    if (text.len > 0 && !utf8_is_blank(text.data))
        vec_push(&out->files, (struct instruction_file){mem_strdup(path), buf_take(&text)});
    buf_release(&text);
    buf_release(&raw);
}

static bool is_within(const char *path, const char *top)
{
    size_t len = strcmp(top, "/") == 0 ? 0 : strlen(top);
    return strncmp(path, top, len) == 0 && path[len] == '/';
}

static bool is_markdown(const char *path)
{
    size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".md") == 0;
}

/* Who sends a project must not have a link in it send our keys on. `top` NULL: it is our own. */
static bool may_lead(const char *resolved, const char *top)
{
    return !top || (is_within(resolved, top) && is_markdown(resolved));
}

static void read_found(struct instructions *out, const char *path, const char *resolved,
                       const char *top)
{
    if (may_lead(resolved, top)) {
        read_file(out, resolved);
        return;
    }
    char *fault = mem_printf("%s leads to %s, which is no Markdown of the project", path, resolved);
    add_fault(out, fault);
    free(fault);
}

static void read_directory(struct instructions *out, const char *directory, const char *top)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = paths_join(directory, names[i]);
        char *resolved = realpath(path, NULL);
        bool found = resolved != NULL;
        if (found)
            read_found(out, path, resolved, top);
        free(path);
        free(resolved);
        if (found)
            return;
    }
}

/* From `top` down to `directory`, both resolved, which is within it. */
static void read_down(struct instructions *out, const char *top, const char *directory)
{
    size_t at = strlen(top), len = strlen(directory);
    read_directory(out, top, top);
    while (at < len) {
        at += 1 + strcspn(directory + at + 1, "/");
        char *step = mem_strndup(directory, at);
        if (strcmp(step, "/") != 0)
            read_directory(out, step, top);
        free(step);
    }
}

void instructions_read(const char *configuration, const char *directory, struct instructions *out)
{
    char *top = project_of(directory), *resolved = realpath(directory, NULL);
    *out = (struct instructions){.faults = NULL};
    read_directory(out, configuration, NULL);
    read_down(out, top, resolved ? resolved : top);
    free(resolved);
    free(top);
}
