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

/* --- what the database refers to -------------------------------------------------------------- */

struct names {
    VEC(char *) items; /* sorted */
};

struct known {
    struct names sessions, removals;
    struct text_list models, corpora_models; /* of which there may be graphs */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool names_have(const struct names *n, const char *name)
{
    return n->items.len > 0 &&
           bsearch(&name, n->items.items, n->items.len, sizeof *n->items.items, by_name);
}

static void names_sort(struct names *n)
{
    if (n->items.len > 0)
        qsort(n->items.items, n->items.len, sizeof *n->items.items, by_name);
}

static void names_release(struct names *n)
{
    for (size_t i = 0; i < n->items.len; i++)
        free(n->items.items[i]);
    vec_release(&n->items);
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
    AUTO(removals_release) struct removals due = {0};
    if (!sessions_each(s, add_session, k, &e) || !removals_some(s, INT_MAX, &due, &e))
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

/* As mkstemp() names what is to be `name`. */
static bool is_begun(const char *file, const char *name)
{
    size_t len = strlen(name);
    return begins_with(file, name) && file[len] == '.' && strlen(file + len) == strlen(".XXXXXX");
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

/* Names are gathered before the database is read: who makes files for a session has it there first.
 */
static void list_names(int parent, const char *folder, struct names *out)
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

/* True if another process writes the files: it has the directory locked. */
static bool is_written(int dir)
{
    return flock(dir, LOCK_SH | LOCK_NB) != 0;
}

static void look_into_session(struct search *s, int folder, const char *id)
{
    struct names names = {0};
    char *path = mem_printf("sessions/%s", id);
    int dir = openat(folder, id, FOLDER_FLAGS);
    list_names(folder, id, &names);
    for (size_t i = 0; i < names.items.len; i++) {
        const char *name = names.items.items[i];
        if (projection_has(name, false))
            continue;
        if (!projection_has(name, true))
            add(s, ORPHAN_UNKNOWN, path, name);
        else if (dir >= 0 && !is_written(dir))
            add(s, ORPHAN_TEMPORARY, path, name);
    }
    if (dir >= 0)
        close(dir);
    names_release(&names);
    free(path);
}

static bool is_there(int folder, const char *name)
{
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void look_at_session(struct search *s, int folder, const char *name)
{
    if (names_have(&s->known->sessions, name))
        look_into_session(s, folder, name);
    else if (!uuid_valid(name))
        add(s, ORPHAN_UNKNOWN, "sessions", name);
    else if (is_there(folder, name))
        add(s, names_have(&s->known->removals, name) ? ORPHAN_REMOVAL : ORPHAN_SESSION, "sessions",
            name);
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

static bool is_of_database(const struct search *s, const char *name)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    const char *rest = name + strlen(s->database);
    return begins_with(name, s->database) &&
           is_one_of(rest, endings, sizeof endings / sizeof *endings);
}

static void look_at_file(struct search *s, const char *name)
{
    static const char *const folders[] = {"sessions", "locks"};
    static const enum orphan_kind graphs[] = {[GRAPH_FILE_LEFT] = ORPHAN_GRAPH,
                                              [GRAPH_FILE_DAMAGED] = ORPHAN_COPY,
                                              [GRAPH_FILE_BEGUN] = ORPHAN_TEMPORARY};
    const char *rest = begins_with(name, s->database) ? name + strlen(s->database) : "";
    enum graph_file_kind graph = memory_file_kind(&s->known->models, name);
    if (graph == GRAPH_FILE_NONE)
        graph = corpora_file_kind(&s->known->corpora_models, name);
    if (is_of_database(s, name) || is_one_of(name, folders, 2) || graph == GRAPH_FILE_USED)
        return;
    if (graph != GRAPH_FILE_NONE)
        add(s, graphs[graph], "", name);
    else if (begins_with(rest, ".damaged-"))
        add(s, ORPHAN_COPY, "", name);
    else if (begins_with(rest, ".recovered-") || is_begun(name, "import"))
        add(s, ORPHAN_TEMPORARY, "", name);
    else
        add(s, ORPHAN_UNKNOWN, "", name);
}

/* ---------------------------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct orphan *)a)->path, ((const struct orphan *)b)->path);
}

static void look_in_folder(struct search *s, int root, const char *folder,
                           const struct names *names,
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
    char *path = store_path ? mem_strdup(store_path) : store_default_path();
    const char *slash = strrchr(path, '/');
    char *directory = mem_strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    struct search s = {.database = slash ? slash + 1 : path, .out = out};
    *out = (struct orphans){0};
    int root = open(*directory ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root >= 0) {
        struct known known = {0};
        struct names files = {0}, sessions = {0}, locks = {0};
        list_names(root, ".", &files);
        list_names(root, "sessions", &sessions);
        list_names(root, "locks", &locks);
        s.known = &known;
        if (health_visit(path, read_known, &known)) {
            names_sort(&known.sessions);
            names_sort(&known.removals);
            for (size_t i = 0; i < files.items.len; i++)
                look_at_file(&s, files.items.items[i]);
            look_in_folder(&s, root, "sessions", &sessions, look_at_session);
            look_in_folder(&s, root, "locks", &locks, look_at_lock);
        }
        names_release(&files);
        names_release(&sessions);
        names_release(&locks);
        names_release(&known.sessions);
        names_release(&known.removals);
        vec_free_each(&known.models.items);
        vec_free_each(&known.corpora_models.items);
        close(root);
    }
    if (out->items.len > 0)
        qsort(out->items.items, out->items.len, sizeof *out->items.items, by_path);
    free(directory);
    free(path);
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
