#include "session/health.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "index/transcripts.h"
#include "knowledge/corpora.h"
#include "knowledge/graph.h"
#include "knowledge/learned.h"
#include "memory/memory.h"
#include "session/lock.h"
#include "session/projection.h"
#include "store/health.h"
#include "store/sessions.h"
#include "store/store.h"

const struct store_extension *const health_extensions[] = {&memory_extension, &learned_extension,
                                                           &graph_extension,  &corpora_extension,
                                                           &import_extension, NULL};

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

/* No process has a session of this store open. */
static bool nobody_talks(const char *path, struct error *e)
{
    static const char end[] = ".lock";
    const char *slash = strrchr(path, '/');
    auto_free char *locks = mem_printf("%.*slocks", slash ? (int)(slash + 1 - path) : 0, path);
    DIR *dir = opendir(locks);
    const struct dirent *entry;
    bool ok = true;
    while (dir && ok && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        size_t len = strlen(name), id = len > strlen(end) ? len - strlen(end) : 0;
        if (id > 0 && strcmp(name + id, end) == 0 && lock_is_held(dirfd(dir), name))
            ok = err_set(e, ERR_SESSION_BUSY,
                         "session %.8s is open in a tiro; quit every tiro and try again",
                         name + (id > 8 ? id - 8 : 0)); /* the part that listings show */
    }
    if (dir)
        closedir(dir);
    return ok;
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
    auto_free char *file = path ? mem_strdup(path) : store_default_path();
    *out = (struct recovery){0};
    if (!nobody_talks(file, e) || !health_recover(file, out, &help, e))
        return false;
    bool saved = out->sessions > 0 || out->entries > 0 || out->facts > 0 ||
                 err_set(e, ERR_SESSION_NOT_FOUND,
                         "no session can be read of %s; it stays as it is: move it away to begin "
                         "anew",
                         file);
    if (saved && nobody_talks(file, e) && health_replace(file, out, e))
        return true;
    recovery_discard(out);
    recovery_release(out);
    return false;
}

void health_rescue_release(struct recovery *r)
{
    recovery_release(r);
}

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* --- the ids and names that the database has -------------------------------------------------- */

struct known {
    struct text_list sessions, removals;     /* sorted */
    struct text_list models, corpora_models; /* of which there may be graphs */
};

static bool names_have(const struct text_list *n, const char *name)
{
    return n->items.len > 0 &&
           bsearch(&name, n->items.items, n->items.len, sizeof *n->items.items, vec_text_order);
}

static bool add_session(void *known, const char *id)
{
    struct known *k = known;
    vec_push(&k->sessions.items, mem_strdup(id));
    return true;
}

static bool read_known(void *known, struct store *s)
{
    struct known *k = known;
    struct error e;
    AUTO(vec_release_local) struct removals due = {0};
    if (!sessions_each(s, NULL, add_session, k, &e) || !removals_some(s, INT_MAX, &due, &e))
        return false;
    for (size_t i = 0; i < due.items.len; i++)
        vec_push(&k->removals.items, mem_strdup(due.items.items[i].id));
    return memory_files_read(s, &k->models, &e) && corpora_files_read(s, &k->corpora_models, &e);
}

/* --- names ------------------------------------------------------------------------------------ */

static bool begins_with(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

struct search {
    const char *database; /* its name there */
    const struct known *known;
    struct orphans *out;
};

static void add(struct search *s, enum orphan_kind kind, const char *folder, const char *name)
{
    struct buf shown = BUF_INIT;
    char *path = *folder ? paths_join(folder, name) : mem_strdup(name);
    utf8_clean(&shown, path, strlen(path), UTF8_ONE_LINE);
    vec_push(&s->out->items, (struct orphan){.kind = kind, .path = buf_take(&shown)});
    free(path);
}

/* Names are listed before the database is read: a session is in the database before its files are
 * made. */
static void list_names(int parent, const char *folder, struct text_list *out)
{
    int fd = openat(parent, folder, FOLDER_FLAGS);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            vec_push(&out->items, mem_strdup(entry->d_name));
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

/* --- sessions/ -------------------------------------------------------------------------------- */

static bool is_there(int folder, const char *name)
{
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void look_at_session(struct search *s, int folder, const char *id)
{
    if (!names_have(&s->known->sessions, id)) {
        if (!uuid_valid(id))
            add(s, ORPHAN_UNKNOWN, "sessions", id);
        else if (is_there(folder, id))
            add(s, names_have(&s->known->removals, id) ? ORPHAN_REMOVAL : ORPHAN_SESSION,
                "sessions", id);
        return;
    }
    struct text_list names = {0};
    auto_free char *path = mem_printf("sessions/%s", id);
    int dir = openat(folder, id, FOLDER_FLAGS);
    list_names(folder, id, &names);
    for (size_t i = 0; i < names.items.len; i++) {
        const char *name = names.items.items[i];
        if (projection_has(name, false))
            continue;
        if (!projection_has(name, true))
            add(s, ORPHAN_UNKNOWN, path, name);
        else if (dir >= 0 && flock(dir, LOCK_SH | LOCK_NB) == 0) /* no process writes there */
            add(s, ORPHAN_TEMPORARY, path, name);
    }
    if (dir >= 0)
        close(dir);
    vec_free_each(&names.items);
}

/* --- locks/ ----------------------------------------------------------------------------------- */

static void look_at_lock(struct search *s, int folder, const char *name)
{
    static const char ending[] = ".lock";
    size_t len = strlen(name);
    char *id = mem_strndup(name, len > strlen(ending) ? len - strlen(ending) : 0);
    bool ends = strcmp(name + strlen(id), ending) == 0;
    if (!ends || (!uuid_valid(id) && !lock_is_of_work(id)))
        add(s, ORPHAN_UNKNOWN, "locks", name);
    else if (!lock_is_of_work(id) && !names_have(&s->known->sessions, id) &&
             !lock_is_held(folder, name) && is_there(folder, name))
        add(s, names_have(&s->known->removals, id) ? ORPHAN_REMOVAL : ORPHAN_LOCK, "locks", name);
    free(id);
}

/* --- beside the database ---------------------------------------------------------------------- */

static void look_at_file(struct search *s, const char *name)
{
    static const char *const ours[] = {"sessions", "locks", "permissions.json", "plugins.json",
                                       "plugins"};
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    static const char begun[] = "import."; /* then six letters of mkstemp() */
    static const enum orphan_kind graphs[] = {[GRAPH_FILE_LEFT] = ORPHAN_GRAPH,
                                              [GRAPH_FILE_DAMAGED] = ORPHAN_COPY,
                                              [GRAPH_FILE_BEGUN] = ORPHAN_TEMPORARY};
    bool of_database = begins_with(name, s->database);
    const char *rest = of_database ? name + strlen(s->database) : "";
    enum graph_file_kind graph = memory_file_kind(&s->known->models, name);
    if (graph == GRAPH_FILE_NONE)
        graph = corpora_file_kind(&s->known->corpora_models, name);
    if ((of_database && is_one_of(rest, endings, sizeof endings / sizeof *endings)) ||
        is_one_of(name, ours, sizeof ours / sizeof *ours) || graph == GRAPH_FILE_USED)
        return;
    if (graph != GRAPH_FILE_NONE)
        add(s, graphs[graph], "", name);
    else if (begins_with(rest, ".damaged-"))
        add(s, ORPHAN_COPY, "", name);
    else if (begins_with(rest, ".recovered-") ||
             (begins_with(name, begun) && strlen(name) == strlen(begun) + strlen("XXXXXX")))
        add(s, ORPHAN_TEMPORARY, "", name);
    else
        add(s, ORPHAN_UNKNOWN, "", name);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct orphan *)a)->path, ((const struct orphan *)b)->path);
}

static void look_in_folder(struct search *s, int root, const char *folder,
                           const struct text_list *names,
                           void (*look)(struct search *s, int folder, const char *name))
{
    int fd = openat(root, folder, FOLDER_FLAGS);
    for (size_t i = 0; fd >= 0 && i < names->items.len; i++)
        look(s, fd, names->items.items[i]);
    if (fd >= 0)
        close(fd);
}

void orphans_find(const char *store_path, struct orphans *out)
{
    auto_free char *path = store_path ? mem_strdup(store_path) : store_default_path();
    const char *slash = strrchr(path, '/');
    auto_free char *directory = mem_strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    struct search s = {.database = slash ? slash + 1 : path, .out = out};
    *out = (struct orphans){0};
    int root = open(*directory ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root >= 0) {
        struct known known = {0};
        struct text_list files = {0}, sessions = {0}, locks = {0};
        list_names(root, ".", &files);
        list_names(root, "sessions", &sessions);
        list_names(root, "locks", &locks);
        s.known = &known;
        if (health_visit(path, read_known, &known)) {
            vec_sort(&known.sessions.items, vec_text_order);
            vec_sort(&known.removals.items, vec_text_order);
            for (size_t i = 0; i < files.items.len; i++)
                look_at_file(&s, files.items.items[i]);
            look_in_folder(&s, root, "sessions", &sessions, look_at_session);
            look_in_folder(&s, root, "locks", &locks, look_at_lock);
        }
        vec_free_each(&files.items);
        vec_free_each(&sessions.items);
        vec_free_each(&locks.items);
        vec_free_each(&known.sessions.items);
        vec_free_each(&known.removals.items);
        vec_free_each(&known.models.items);
        vec_free_each(&known.corpora_models.items);
        close(root);
    }
    vec_sort(&out->items, by_path);
}

void orphans_release(struct orphans *o)
{
    for (size_t i = 0; i < o->items.len; i++)
        free(o->items.items[i].path);
    vec_release(&o->items);
}

const char *orphan_word(enum orphan_kind kind)
{
    static const char *const words[] = {
#define X(name, word) [ORPHAN_##name] = word,
        ORPHAN_KINDS(X)
#undef X
    };
    return words[kind];
}

static bool survey(void *report, struct store *s)
{
    struct error e;
    bool ok = import_survey(s, &(struct import_options){0}, report, &e);
    if (!ok)
        import_report_release(report);
    return ok;
}

void health_histories(const char *store_path, struct import_report *out)
{
    auto_free char *path = store_path ? mem_strdup(store_path) : store_default_path();
    auto_free char *empty = store_memory_path();
    struct store *s;
    struct error e;
    *out = (struct import_report){0};
    if (health_visit(path, survey, out) || !store_open(empty, STORE_READ_WRITE, &s, &e))
        return;
    (void)survey(out, s);
    store_close(s);
}
