#include "session/place.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct place {
    char *asked;
    bool kept, reads;
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

struct place *place_new_reading(const char *path)
{
    struct place *p = place_new(path, false);
    p->reads = true;
    return p;
}

bool place_reads(const struct place *p)
{
    return p->reads;
}

#define KEEPS_NOTHING "nothing is kept: sessions are not saved ([session] persist, --no-persist)"

bool place_may_write(const struct place *p, struct error *e)
{
    return !p->reads || err_set(e, ERR_SESSION_PERSISTENCE_DISABLED, KEEPS_NOTHING);
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
    enum store_mode mode = p->reads ? STORE_READ_ONLY : STORE_READ_WRITE;
    if (p->asked && store_open(p->asked, mode, &p->first, &p->fault)) {
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
    if (p->reads && p->directory)
        mode = STORE_READ_ONLY;
    *out = settled ? take_first(p, mode) : NULL;
    if (!settled)
        *e = p->fault;
    pthread_mutex_unlock(&p->lock);
    bool opened = *out || (settled && store_open(p->path, mode, out, e));
    if (opened && p->reads)
        store_set_refusal(*out, KEEPS_NOTHING);
    return opened;
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
