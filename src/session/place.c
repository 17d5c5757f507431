#include "session/place.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct place {
    char *asked;
    bool kept;
    pthread_mutex_t
        lock; /* over the rest, which once it is settled changes no more but for `first` */
    bool settled;
    char *path, *directory;
    struct store *first; /* of a file: for whoever opens it next; in memory: what keeps it there */
    struct error fault;
};

struct place *place_new(const char *path, bool kept)
{
    struct place *p = mem_alloc(sizeof *p);
    p->asked = mem_strdup(path);
    p->kept = path && kept;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void place_free(struct place *p)
{
    if (!p)
        return;
    store_close(p->first);
    pthread_mutex_destroy(&p->lock);
    free(p->asked);
    free(p->path);
    free(p->directory);
    free(p);
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return mem_strdup(".");
    return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static void settle_in_memory(struct place *p)
{
    struct error e;
    p->path = store_memory_path();
    if (!store_open(p->path, STORE_READ_WRITE, &p->first, &e))
        die(e.text);
}

/* False: it may be otherwise next time. */
static bool settle(struct place *p)
{
    if (p->asked && store_open(p->asked, STORE_READ_WRITE, &p->first, &p->fault)) {
        p->path = mem_strdup(p->asked);
        p->directory = directory_of(p->asked);
    } else if (!p->kept) {
        settle_in_memory(p);
    }
    p->settled = p->path != NULL;
    return p->settled;
}

/* NULL: there is none to be had. */
static struct store *take_first(struct place *p, enum store_mode mode)
{
    struct store *first = p->first;
    if (mode != STORE_READ_WRITE || !p->directory)
        return NULL;
    p->first = NULL;
    return first;
}

bool place_open(struct place *p, enum store_mode mode, struct store **out, struct error *e)
{
    pthread_mutex_lock(&p->lock);
    bool settled = p->settled || settle(p);
    *out = settled ? take_first(p, mode) : NULL;
    if (!settled)
        *e = p->fault;
    pthread_mutex_unlock(&p->lock);
    return *out || (settled && store_open(p->path, mode, out, e));
}

bool place_settle(struct place *p, struct error *e)
{
    pthread_mutex_lock(&p->lock);
    if (!p->settled)
        settle(p);
    *e = p->fault;
    pthread_mutex_unlock(&p->lock);
    return e->code == ERR_OK;
}

const char *place_directory(const struct place *p)
{
    return p->directory;
}

bool place_take_fault(struct place *p, struct error *e)
{
    pthread_mutex_lock(&p->lock);
    *e = p->fault;
    p->fault = (struct error){0};
    pthread_mutex_unlock(&p->lock);
    return e->code != ERR_OK;
}

const char *place_path(const struct place *p)
{
    return p->asked;
}
