#include "ui/path_lister.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

/* Shared with the threads that read; the last one to leave frees. */
struct path_lister {
    struct mailbox *answers;
    atomic_int users;
};

struct request {
    struct path_lister *lister;
    char *directory;
};

void path_listing_free(struct path_listing *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->names.len; i++)
        free(l->names.items[i]);
    vec_release(&l->names);
    free(l->directory);
    free(l);
}

static void free_item(void *item)
{
    path_listing_free(item);
}

struct path_lister *path_lister_new(void)
{
    struct path_lister *p = mem_alloc(sizeof *p);
    p->answers = mailbox_new(free_item);
    atomic_init(&p->users, 1);
    return p;
}

void path_lister_free(struct path_lister *p)
{
    if (!p || atomic_fetch_sub(&p->users, 1) > 1)
        return;
    mailbox_free(p->answers);
    free(p);
}

struct mailbox *path_lister_answers(struct path_lister *p)
{
    return p->answers;
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

static void read_directory(struct path_listing *l)
{
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

static void *work(void *argument)
{
    struct request *r = argument;
    struct path_listing *l = mem_alloc(sizeof *l);
    l->directory = r->directory;
    read_directory(l);
    mailbox_push(r->lister->answers, l);
    path_lister_free(r->lister);
    free(r);
    return NULL;
}

void path_lister_ask(struct path_lister *p, const char *directory)
{
    struct request *r = mem_alloc(sizeof *r);
    r->lister = p;
    r->directory = mem_strdup(directory);
    atomic_fetch_add(&p->users, 1);
    sigset_t all, before; /* signals are the screen's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    bool started = pthread_create(&thread, NULL, work, r) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_detach(thread);
        return;
    }
    struct path_listing *none = mem_alloc(sizeof *none); /* no thread to be had: no answer */
    none->directory = r->directory;
    mailbox_push(p->answers, none);
    path_lister_free(p);
    free(r);
}
