#include "session/health.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/transcripts.h"
#include "knowledge/corpora.h"
#include "knowledge/graph.h"
#include "knowledge/learned.h"
#include "memory/memory.h"
#include "session/lock.h"
#include "store/store.h"

const struct store_extension *const health_extensions[] = {
    &memory_extension, &learned_extension, &graph_extension, &corpora_extension, NULL};

void health_report(const char *path, bool thorough, struct health_report *out)
{
    *out = (struct health_report){.path = path ? mem_strdup(path) : store_default_path()};
    health_check(out->path, thorough, health_extensions, &out->found);
    out->name = health_name(out->found.state);
    out->recoverable = health_recoverable(out->found.state);
}

void health_report_release(struct health_report *r)
{
    free(r->path);
    *r = (struct health_report){0};
}

static bool ends_with(const char *name, const char *end)
{
    size_t len = strlen(name);
    return len > strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

/* What listings show of the id that a lock file is named after. */
static const char *id_end(const char *name)
{
    size_t len = strlen(name) - strlen(".lock");
    return name + (len > 8 ? len - 8 : 0);
}

static bool none_is_held(DIR *locks, struct error *e)
{
    const struct dirent *entry;
    while ((entry = readdir(locks))) {
        if (!ends_with(entry->d_name, ".lock"))
            continue;
        if (lock_is_held(dirfd(locks), entry->d_name))
            return err_set(e, ERR_SESSION_BUSY,
                           "session %.8s is open in a tiro; quit every tiro and try again",
                           id_end(entry->d_name));
    }
    return true;
}

/* No process has a session of this store open. */
static bool nobody_talks(const char *path, struct error *e)
{
    const char *slash = strrchr(path, '/');
    char *locks = mem_printf("%.*slocks", slash ? (int)(slash + 1 - path) : 0, path);
    DIR *dir = opendir(locks);
    bool ok = !dir || none_is_held(dir, e);
    if (dir)
        closedir(dir);
    free(locks);
    return ok;
}

static bool something_was_saved(const char *path, const struct recovery *r, struct error *e)
{
    return r->sessions > 0 || r->entries > 0 || r->facts > 0 ||
           err_set(e, ERR_SESSION_NOT_FOUND,
                   "no session can be read of %s; it stays as it is: move it away to begin anew",
                   path);
}

struct rescue {
    const char *language;
    bool (*progress)(void *context, int64_t events);
    void *context;
    int64_t events; /* so far */
};

static bool tell(void *context, int64_t events)
{
    struct rescue *r = context;
    r->events = events;
    return !r->progress || r->progress(r->context, events);
}

static bool tell_indexing(void *context, int64_t done, int64_t of)
{
    struct rescue *r = context;
    (void)done;
    (void)of;
    return tell(r, r->events);
}

static bool make_indexes(void *context, struct store *s, struct error *e)
{
    struct rescue *r = context;
    struct memory *m = memory_open(s, &(struct memory_settings){.language = r->language});
    bool ok = m->ops->reindex(m, r->language, tell_indexing, r, e) && transcripts_reindex(s, e) &&
              graph_reindex(&(struct graph){s, r->language}, e) &&
              corpora_reindex(&(struct corpora){.store = s, .language = r->language}, e);
    memory_close(m);
    return ok;
}

bool health_rescue(const char *path, const char *language, struct recovery *out,
                   bool (*progress)(void *context, int64_t events), void *context, struct error *e)
{
    struct rescue rescue = {.language = language, .progress = progress, .context = context};
    const struct recovery_help help = {.progress = tell,
                                       .index = make_indexes,
                                       .context = &rescue,
                                       .extensions = health_extensions};
    char *file = path ? mem_strdup(path) : store_default_path();
    *out = (struct recovery){0};
    bool ok = nobody_talks(file, e) && health_recover(file, out, &help, e);
    if (ok && !(something_was_saved(file, out, e) && nobody_talks(file, e) &&
                health_replace(file, out, e))) {
        recovery_discard(out);
        recovery_release(out);
        ok = false;
    }
    free(file);
    return ok;
}

void health_rescue_release(struct recovery *r)
{
    recovery_release(r);
}
