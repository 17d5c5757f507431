#include "ui/app/path_lister.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

static void release(struct errand *e)
{
    struct path_listing *l = (struct path_listing *)e;
    for (size_t i = 0; i < l->names.len; i++)
        free(l->names.items[i]);
    vec_release(&l->names);
    free(l->directory);
    free(l);
}

static bool is_directory(const char *directory, const char *name)
{
    struct stat status;
    char *path = mem_printf("%s%s", directory, name);
    bool yes = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    free(path);
    return yes;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_directory(struct errand *e)
{
    struct path_listing *l = (struct path_listing *)e;
    DIR *dir = opendir(*l->directory ? l->directory : ".");
    if (!dir)
        return;
    for (struct dirent *entry; l->names.len < PATH_ENTRIES_MAX && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        vec_push(&l->names, mem_printf("%s%s", name, is_directory(l->directory, name) ? "/" : ""));
    }
    closedir(dir);
    if (l->names.len > 0)
        qsort(l->names.items, l->names.len, sizeof *l->names.items, by_name);
}

void path_lister_ask(struct errands *errands, const char *directory,
                     void (*take)(struct app *app, struct errand *listing))
{
    struct path_listing *l = mem_alloc(sizeof *l);
    l->errand = (struct errand){.run = read_directory, .done = take, .release = release};
    l->directory = mem_strdup(directory);
    errand_start(errands, &l->errand);
}
