#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "store/db_copy.h"
#include "store/db_lock.h"
#include "store/health.h"
#include "store/recover.h"

enum { NAMES_MAX = 100 };

static bool go_on(void *context)
{
    const struct recovery_help *help = context;
    return !help->progress || help->progress(help->context, 0);
}

/* --- files ----------------------------------------------------------------------------------- */

/* Something is there, or what would belong to a database of this name. */
static bool is_taken(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    struct stat st;
    bool taken = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *name = mem_printf("%s%s", path, suffixes[i]);
        taken = taken || lstat(name, &st) == 0;
        free(name);
    }
    return taken;
}

/* Two names with the time in them that are not taken. */
static bool choose_names(const char *path, struct recovery *out, struct error *e)
{
    char stamp[32];
    struct tm utc;
    time_t now = (time_t)(clock_wall_ms() / 1000);
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
    for (int i = 1; i <= NAMES_MAX; i++) {
        char again[16] = "";
        if (i > 1)
            snprintf(again, sizeof again, "-%d", i);
        out->copy = mem_printf("%s.damaged-%s%s", path, stamp, again);
        out->recovered = mem_printf("%s.recovered-%s%s", path, stamp, again);
        if (!is_taken(out->copy) && !is_taken(out->recovered)) {
            die_unlinks(out->copy, db_copy_endings);
            die_unlinks(out->recovered, db_copy_endings);
            return true;
        }
        recovery_release(out);
    }
    return err_set(e, ERR_FILE_ERROR,
                   "%s.damaged-%s and others are there already; try again in a second", path,
                   stamp);
}

static bool in_use(struct error *e)
{
    return err_set(e, ERR_SESSION_BUSY, "another process has the database open; leave it first");
}

/* The new database must be one file, on the disk, and without a fault. */
static bool finish(const char *recovered, const struct store_extension *const *extensions,
                   struct error *e)
{
    struct health found;
    struct stat st;
    char *wal = mem_printf("%s-wal", recovered);
    bool folded = stat(wal, &st) != 0 || st.st_size == 0;
    free(wal);
    if (!folded)
        return err_set(e, ERR_SESSION_STORE_ERROR, "%s could not be closed in order; try again",
                       recovered);
    db_copy_remove_beside(recovered);
    if (!db_copy_sync(recovered, e))
        return false;
    paths_sync_parent(recovered);
    health_check(recovered, true, extensions, &found);
    return found.state == HEALTH_GOOD ||
           err_set(e, ERR_SESSION_STORE_ERROR, "what was saved is %s: %s; try again",
                   health_name(found.state), found.detail);
}

static bool save(struct recovery *out, const struct recovery_help *help, struct error *e)
{
    struct store *to;
    char *scratch = mem_printf("%s-rows", out->recovered);
    bool ok = store_open(out->recovered, STORE_READ_WRITE, &to, e) &&
              recover_rows(out->copy, to, scratch, help, out, e) &&
              help->index(help->context, to, e);
    store_close(to);
    free(scratch);
    return ok && finish(out->recovered, help->extensions, e);
}

/* Who has it open may go on writing, which would be lost. */
static bool is_idle(const char *file, struct error *e)
{
    struct db_lock lock;
    if (!db_lock_look(file, &lock))
        return err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", file);
    return !(lock.open || lock.locked) || in_use(e);
}

bool health_recover(const char *path, struct recovery *out, const struct recovery_help *help,
                    struct error *e)
{
    *out = (struct recovery){0};
    char *file = realpath(path, NULL);
    if (!file)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot open %s", path);
    bool ok = is_idle(file, e) && choose_names(file, out, e) &&
              db_copy(file, out->copy, go_on, (void *)help, e) && save(out, help, e);
    free(file);
    if (!ok) {
        recovery_discard(out);
        recovery_release(out);
    }
    return ok;
}

void recovery_release(struct recovery *r)
{
    die_keeps(r->copy);
    die_keeps(r->recovered);
    free(r->copy);
    free(r->recovered);
    r->copy = r->recovered = NULL;
}

void recovery_discard(const struct recovery *r)
{
    if (r->copy)
        db_copy_remove(r->copy);
    if (r->recovered)
        db_copy_remove(r->recovered);
}

/* --- the place of the damaged one ------------------------------------------------------------ */

/* The old log would be played into the new database: it goes first, and the copy has it. */
static bool put_in_place(int fd, const char *file, const struct recovery *r, struct error *e)
{
    if (!db_copy_same(fd, file, r->copy))
        return err_set(e, ERR_SESSION_BUSY,
                       "the database was written to while it was read; quit every tiro and try "
                       "again");
    die_keeps(r->copy);
    db_copy_remove_beside(file);
    if (rename(r->recovered, file) != 0)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot put %s in the place of the damaged one",
                             r->recovered);
    paths_sync_parent(file);
    return true;
}

bool health_replace(const char *path, const struct recovery *r, struct error *e)
{
    char *file = realpath(path, NULL);
    int fd = file ? db_lock_take(file) : -1;
    bool ok;
    if (fd >= 0)
        ok = put_in_place(fd, file, r, e);
    else if (errno == EBUSY)
        ok = in_use(e);
    else
        ok = err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", path);
    if (fd >= 0)
        close(fd);
    free(file);
    return ok;
}
