/* What an ingest is made of: the loaders and paths that are configured, and the files there are. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/environment.h"
#include "base/mem.h"
#include "knowledge/ingest_private.h"

/* --- what is configured ----------------------------------------------------------------------- */

/* Of one that is set again the last counts, as of all keys. */
static void take_loader(void *context, const char *section, const char *name, const char *value,
                        const char *source, int line)
{
    static const char prefix[] = "loader.";
    struct ingest *in = context;
    (void)source, (void)line;
    if (strcmp(section, "corpus") != 0 || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return;
    const char *extension = name + sizeof prefix - 1;
    size_t i = 0;
    while (i < in->commands.len && strcasecmp(in->commands.items[i].extension, extension) != 0)
        i++;
    if (i == in->commands.len)
        vec_push(&in->commands, (struct document_command){0});
    in->commands.items[i] = (struct document_command){.extension = extension, .command = value};
}

void ingest_read_loaders(struct ingest *in)
{
    config_visit(in->corpora->config, "corpus", take_loader, in);
    size_t kept = 0;
    for (size_t i = 0; i < in->commands.len; i++)
        if (*in->commands.items[i].command)
            in->commands.items[kept++] = in->commands.items[i];
    in->commands.len = kept;
}

static char *expanded(const char *path, size_t len)
{
    const char *home =
        len > 0 && path[0] == '~' && (len == 1 || path[1] == '/') ? environment_get("HOME") : NULL;
    return home ? mem_printf("%s%.*s", home, (int)len - 1, path + 1) : mem_strndup(path, len);
}

/* "NAME.paths" of the corpus. */
static void take_paths(void *context, const char *section, const char *name, const char *value,
                       const char *source, int line)
{
    struct ingest *in = context;
    size_t len = strlen(in->name);
    (void)source, (void)line;
    if (strcmp(section, "corpus") == 0 && strncmp(name, in->name, len) == 0 &&
        strcmp(name + len, ".paths") == 0)
        in->configured = value;
}

/* "PATH:PATH". */
void ingest_add_paths(struct ingest *in)
{
    config_visit(in->corpora->config, "corpus", take_paths, in);
    for (const char *at = in->configured; at && *at;) {
        size_t path = strcspn(at, ":");
        if (path > 0)
            vec_push(&in->roots, expanded(at, path));
        at += path + (at[path] == ':');
    }
}

static void take_name(void *context, const char *section, const char *name, const char *value,
                      const char *source, int line)
{
    static const char suffix[] = ".paths";
    struct text_list *out = context;
    size_t len = strlen(name), end = sizeof suffix - 1;
    (void)source, (void)line;
    if (strcmp(section, "corpus") != 0 || len <= end || strcmp(name + len - end, suffix) != 0 ||
        !*value)
        return;
    char *corpus = mem_strndup(name, len - end);
    for (size_t i = 0; i < out->items.len; i++)
        if (strcmp(out->items.items[i], corpus) == 0) {
            free(corpus);
            return;
        }
    vec_push(&out->items, corpus);
}

void corpora_configured(const struct config *config, struct text_list *out)
{
    *out = (struct text_list){0};
    config_visit(config, "corpus", take_name, out);
}

struct document_options ingest_options(const struct ingest *in, const struct wakeup *wakeup)
{
    return (struct document_options){.limits = document_limits,
                                     .commands = in->commands.items,
                                     .command_count = in->commands.len,
                                     .wakeup = wakeup};
}

/* --- the files there are ---------------------------------------------------------------------- */

static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static void add_found(struct ingest *in, const struct walk_file *file)
{
    vec_push(&in->files, (struct found){.path = mem_strdup(file->path),
                                        .size = file->stat.st_size,
                                        .modified_ns = nanoseconds(&file->stat.st_mtim),
                                        .changed_ns = nanoseconds(&file->stat.st_ctim),
                                        .named = strcmp(file->path, walk_root(in->walk)) == 0});
    in->progress.files++;
}

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order != 0 ? order : y->named - x->named;
}

static void end_scan(struct ingest *in)
{
    size_t kept = 0;
    vec_sort(&in->files, compare_found);
    for (size_t i = 0; i < in->files.len; i++) {
        if (kept > 0 && strcmp(in->files.items[kept - 1].path, in->files.items[i].path) == 0)
            free(in->files.items[i].path);
        else
            in->files.items[kept++] = in->files.items[i];
    }
    in->files.len = kept;
    in->progress.files = (int64_t)kept;
    in->phase = PHASE_LOAD;
}

static bool open_root(struct ingest *in, struct error *e)
{
    struct error cause;
    in->walk = walk_new(in->roots.items[in->root], &cause);
    return in->walk ||
           err_set(e, cause.code, "%.170s; nothing of it is taken out (tiro corpus remove does)",
                   cause.text);
}

bool ingest_is_stopped(const struct wakeup *wakeup)
{
    return wakeup && !wakeup->go_on(wakeup->context);
}

bool ingest_scan_some(struct ingest *in, const struct wakeup *wakeup, struct error *e)
{
    for (int i = 0; i < INGEST_FILES && !ingest_is_stopped(wakeup); i++) {
        struct walk_file file;
        bool found = false;
        if (in->root == in->roots.len) {
            end_scan(in);
            return true;
        }
        if ((!in->walk && !open_root(in, e)) || !walk_next(in->walk, &file, &found, e))
            return false;
        if (found) {
            add_found(in, &file);
            continue;
        }
        walk_free(in->walk);
        in->walk = NULL;
        in->root++;
    }
    return true;
}
