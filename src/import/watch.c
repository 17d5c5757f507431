#include "import/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_INOTIFY_INIT1
#include <sys/inotify.h>
#endif

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "import/private.h"

/* Folders beyond the limit are not watched. Changes are joined while they come within QUIET_MS, for
 * LATE_MS. POLL_MS: between two scans where not all is watched; a scan takes at most a POLL_SHARE
 * of the time. REPEAT_MS: between two scans of everything in any case, for what no event tells. */
enum {
    FOLDERS_MAX = 8192,
    CHANGES_MAX = 256,
    QUIET_MS = 250,
    LATE_MS = 1000,
    POLL_MS = 3000,
    POLL_SHARE = 40,
    REPEAT_MS = 60 * 60 * 1000
};

struct place_watched {
    char *path;
    const struct import_source *source; /* NULL: a person gave the path */
};

struct folder {
    int id; /* of inotify */
    char *path;
};

struct import_watch {
    struct import_watch_options o;
    int fd; /* of inotify; -1: there is none */
    VEC(struct place_watched) places;
    VEC(struct folder) folders; /* by id */
    bool partly;                /* not all folders are watched */
    struct text_list changed;
    bool all;         /* everything may have changed */
    int64_t first_ms; /* clock_mono_ms() of the first change; 0: nothing changed */
    int64_t look_ms;  /* events are looked at from then on, so that many are one */
    int64_t all_ms;   /* of the next scan of everything */
    int64_t told_ms;  /* of the last one, until its end; else 0 */
};

struct import_watch *import_watch_new(const struct import_watch_options *o)
{
    struct import_watch *w = mem_alloc(sizeof *w);
    *w = (struct import_watch){.o = *o, .fd = -1};
    w->o.folders = o->folders == 0 ? FOLDERS_MAX : o->folders;
    w->o.poll_ms = o->poll_ms > 0 ? o->poll_ms : POLL_MS;
#ifdef HAVE_INOTIFY_INIT1
    if (w->o.folders > 0)
        w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
#endif
    return w;
}

static void forget_places(struct import_watch *w)
{
    for (size_t i = 0; i < w->places.len; i++)
        free(w->places.items[i].path);
    vec_clear(&w->places);
}

void import_watch_free(struct import_watch *w)
{
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    forget_places(w);
    vec_release(&w->places);
    for (size_t i = 0; i < w->folders.len; i++)
        free(w->folders.items[i].path);
    vec_release(&w->folders);
    vec_free_each(&w->changed.items);
    free(w);
}

/* --- folders ---------------------------------------------------------------------------------- */

#ifdef HAVE_INOTIFY_INIT1

enum { COMES = IN_CREATE | IN_MOVED_TO, GROWS = COMES | IN_MODIFY | IN_CLOSE_WRITE };

/* The place of the folder in the list, or where it belongs. */
static size_t find_folder(const struct import_watch *w, int id)
{
    size_t low = 0, high = w->folders.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->folders.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* False: there is no such folder, or it cannot be watched. */
static bool add_folder(struct import_watch *w, const char *path, uint32_t events)
{
    bool room = w->folders.len < (size_t)w->o.folders;
    int id =
        room ? inotify_add_watch(w->fd, path,
                                 events | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR | IN_MASK_ADD)
             : -1;
    w->partly = w->partly || !room || (id < 0 && errno == ENOSPC);
    if (id < 0)
        return false;
    size_t at = find_folder(w, id);
    if (at == w->folders.len || w->folders.items[at].id != id)
        vec_insert(&w->folders, at, (struct folder){.id = id});
    mem_replace(&w->folders.items[at].path, mem_strdup(path));
    return true;
}

#endif

void import_watch_folder(struct import_watch *w, const char *path)
{
    (void)w, (void)path;
#ifdef HAVE_INOTIFY_INIT1
    if (w->fd >= 0)
        add_folder(w, path, GROWS);
#endif
}

static void add_place(struct import_watch *w, char *path, const struct import_source *source)
{
    vec_push(&w->places, (struct place_watched){path, source});
#ifdef HAVE_INOTIFY_INIT1
    /* A file is watched by its folder; a missing path by the folder in which it, or a parent, may
     * come. */
    struct stat st;
    bool there = stat(path, &st) == 0;
    auto_free char *above = mem_strdup(path);
    char *slash = strrchr(above, '/');
    for (bool added = there && S_ISDIR(st.st_mode); w->fd >= 0 && !added && slash && slash > above;
         slash = strrchr(above, '/')) {
        *slash = '\0';
        added = add_folder(w, above, there ? GROWS : COMES);
    }
#endif
}

/* Agents may have come since the last time. */
static void find_places(struct import_watch *w)
{
    forget_places(w);
    w->partly = w->fd < 0;
    for (size_t i = 0; w->o.paths && i < w->o.paths->items.len; i++)
        add_place(w, mem_strdup(w->o.paths->items.items[i]), NULL);
    for (size_t i = 0; !(w->o.paths && w->o.paths->items.len > 0) && import_sources[i]; i++) {
        struct text_list places = {0};
        if (import_is_wanted(w->o.from, import_sources[i]->name))
            import_sources[i]->places(&places);
        for (size_t j = 0; j < places.items.len; j++)
            add_place(w, places.items.items[j], import_sources[i]);
        vec_release(&places.items);
    }
}

/* --- events ----------------------------------------------------------------------------------- */

#ifdef HAVE_INOTIFY_INIT1

static void note_change(struct import_watch *w, const char *path)
{
    for (size_t i = 0; i < w->changed.items.len; i++)
        if (paths_within(path, w->changed.items.items[i]))
            return;
    if (w->changed.items.len < CHANGES_MAX)
        vec_push(&w->changed.items, mem_strdup(path));
    else
        w->all = true;
}

/* Something is new, or was written to. A database changes in its journal, too. */
static bool note_event(struct import_watch *w, const char *folder, const char *name, bool is_folder)
{
    auto_free char *path = paths_join(folder, name);
    size_t len = strlen(path), journal = strlen("-wal");
    bool ours = false;
    if (!is_folder && len > journal && strcmp(path + len - journal, "-wal") == 0)
        path[len - journal] = '\0';
    for (size_t i = 0; i < w->places.len; i++) {
        const struct place_watched *p = &w->places.items[i];
        if (is_folder && paths_within(p->path, path)) {
            ours = w->all = true;
        } else if (paths_within(path, p->path) &&
                   (is_folder || (!p->source && strcmp(path, p->path) == 0) ||
                    import_fits(path, p->source, w->o.from))) {
            note_change(w, path);
            ours = true;
        }
    }
    return ours;
}

/* Takes the events that have come. Returns whether one concerns the places. */
static bool take_events(struct import_watch *w)
{
    union {
        struct inotify_event first;
        char bytes[16384];
    } events;
    bool ours = false;
    for (ssize_t len; (len = read(w->fd, &events, sizeof events)) > 0;) {
        w->look_ms = clock_mono_ms() + QUIET_MS;
        const struct inotify_event *ev;
        for (ssize_t at = 0; at < len; at += (ssize_t)(sizeof *ev + ev->len)) {
            ev = (const void *)(events.bytes + at);
            size_t i = find_folder(w, ev->wd);
            bool known = i < w->folders.len && w->folders.items[i].id == ev->wd;
            if (known && (ev->mask & IN_IGNORED)) {
                free(w->folders.items[i].path);
                vec_remove(&w->folders, i, 1);
            } else if (ev->mask & (IN_Q_OVERFLOW | IN_MOVE_SELF | IN_DELETE_SELF)) {
                ours = w->all = true; /* it, or another of its name, may be there again */
                if (ev->mask & IN_MOVE_SELF)
                    inotify_rm_watch(w->fd, ev->wd);
            } else if (known && ev->len > 0) {
                ours =
                    note_event(w, w->folders.items[i].path, ev->name, ev->mask & IN_ISDIR) || ours;
            }
        }
    }
    return ours;
}

#else

static bool take_events(struct import_watch *w)
{
    (void)w;
    return false;
}

#endif

static enum import_event tell_changes(struct import_watch *w, struct text_list *out)
{
    if (w->all) {
        vec_free_each(&w->changed.items);
        find_places(w);
        w->told_ms = clock_mono_ms();
        w->all_ms = w->told_ms + REPEAT_MS;
    }
    w->all = false;
    w->first_ms = 0;
    *out = w->changed;
    w->changed = (struct text_list){0};
    return IMPORT_CHANGED;
}

enum import_event import_watch_wait(struct import_watch *w, const struct wakeup *wakeup,
                                    int timeout_ms, struct text_list *changed)
{
    int64_t now = clock_mono_ms(), end_ms = timeout_ms < 0 ? INT64_MAX : now + timeout_ms;
    if (w->told_ms > 0 && w->partly) {
        int64_t pause = (now - w->told_ms) * POLL_SHARE;
        w->all_ms = now + (pause > w->o.poll_ms ? pause : w->o.poll_ms);
    }
    w->told_ms = 0;
    for (;;) {
        bool looks = w->first_ms == 0 && now >= w->look_ms;
        int64_t until = w->first_ms > 0 || w->all_ms > end_ms ? end_ms : w->all_ms;
        if (!looks && w->look_ms < until)
            until = w->look_ms;
        struct pollfd fds[] = {{.fd = looks ? w->fd : -1, .events = POLLIN},
                               {.fd = wakeup->fd, .events = POLLIN}};
        poll(fds, 2, until > now ? (int)(until - now) : 0);
        if (fds[1].revents && !wakeup->go_on(wakeup->context))
            return IMPORT_STOPPED;
        now = clock_mono_ms();
        if (w->fd >= 0 && now >= w->look_ms) {
            bool ours = take_events(w);
            if (w->first_ms > 0 && (!ours || now - w->first_ms >= LATE_MS))
                return tell_changes(w, changed);
            w->first_ms = w->first_ms == 0 && ours ? now : w->first_ms;
        }
        if (w->first_ms == 0 && now >= w->all_ms) {
            w->all = true;
            return tell_changes(w, changed);
        }
        if (now >= end_ms)
            return IMPORT_QUIET;
    }
}

bool import_watch_came(struct import_watch *w)
{
    if (w->first_ms == 0 && w->fd >= 0 && take_events(w))
        w->first_ms = clock_mono_ms();
    return w->first_ms > 0;
}

void import_watch_again(struct import_watch *w, int timeout_ms)
{
    w->told_ms = 0;
    w->all_ms = clock_mono_ms() + timeout_ms;
}
