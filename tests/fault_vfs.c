#include "tests/fault_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* The VFS file, in front of the real file, in memory that SQLite provides for both. */
struct fault_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static struct {
    pthread_mutex_t lock;
    bool armed, lasting, struck;
    enum fault_point point;
    int result;
    long left; /* calls until it fails */
} fault = {.lock = PTHREAD_MUTEX_INITIALIZER};

static sqlite3_vfs layer, *below;

/* The error that this call must return; SQLITE_OK for none. */
static int strike(enum fault_point point)
{
    int result = SQLITE_OK;
    pthread_mutex_lock(&fault.lock);
    if (fault.armed && fault.point == point && fault.left > 0)
        fault.left--;
    if (fault.armed && fault.point == point && fault.left == 0 &&
        (fault.lasting || !fault.struck)) {
        fault.struck = true;
        result = fault.result;
    }
    pthread_mutex_unlock(&fault.lock);
    if (result == FAULT_DEATH && point != FAULT_WRITE)
        _exit(FAULT_DEATH_STATUS);
    return result;
}

/* --- files ------------------------------------------------------------------------------------ */

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct fault_file *)file)->real;
}

#define REAL(call, ...) real_of(file)->pMethods->call(real_of(file), __VA_ARGS__)

static int close_file(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

/* A short read fills the rest with zeros. */
static int read_file(sqlite3_file *file, void *out, int len, sqlite3_int64 at)
{
    int result = strike(FAULT_READ);
    if (result == SQLITE_IOERR_SHORT_READ)
        memset(out, 0, (size_t)len);
    return result != SQLITE_OK ? result : REAL(xRead, out, len, at);
}

/* Half of it arrives. */
static int write_file(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    int result = strike(FAULT_WRITE);
    if (result == SQLITE_OK)
        return REAL(xWrite, bytes, len, at);
    if (len > 1)
        REAL(xWrite, bytes, len / 2, at);
    if (result == FAULT_DEATH)
        _exit(FAULT_DEATH_STATUS);
    return result;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 len)
{
    int result = strike(FAULT_TRUNCATE);
    return result != SQLITE_OK ? result : REAL(xTruncate, len);
}

static int sync_file(sqlite3_file *file, int flags)
{
    int result = strike(FAULT_SYNC);
    return result != SQLITE_OK ? result : REAL(xSync, flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *len)
{
    return REAL(xFileSize, len);
}

static int lock_file(sqlite3_file *file, int level)
{
    return REAL(xLock, level);
}

static int unlock_file(sqlite3_file *file, int level)
{
    return REAL(xUnlock, level);
}

static int check_lock(sqlite3_file *file, int *held)
{
    return REAL(xCheckReservedLock, held);
}

static int control(sqlite3_file *file, int op, void *arg)
{
    return REAL(xFileControl, op, arg);
}

static int sector_size(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int characteristics(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    int result = strike(FAULT_SHM_MAP);
    if (result == SQLITE_OK)
        return REAL(xShmMap, page, size, extend, out);
    *out = NULL;
    return result;
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return REAL(xShmLock, offset, count, flags);
}

static void shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shm_unmap(sqlite3_file *file, int remove)
{
    return REAL(xShmUnmap, remove);
}

static int fetch(sqlite3_file *file, sqlite3_int64 at, int len, void **out)
{
    return REAL(xFetch, at, len, out);
}

static int unfetch(sqlite3_file *file, sqlite3_int64 at, void *page)
{
    return REAL(xUnfetch, at, page);
}

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
    .xFetch = fetch,
    .xUnfetch = unfetch,
};

/* --- the layer -------------------------------------------------------------------------------- */

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    (void)vfs;
    struct fault_file *f = (struct fault_file *)file;
    f->base.pMethods = NULL;
    f->real = (sqlite3_file *)(f + 1);
    f->real->pMethods = NULL;
    int result = strike(FAULT_OPEN);
    if (result == SQLITE_OK)
        result = below->xOpen(below, name, f->real, flags, out_flags);
    if (result == SQLITE_OK)
        f->base.pMethods = &methods;
    else if (f->real->pMethods) /* it wants to be closed even so */
        f->real->pMethods->xClose(f->real);
    return result;
}

void fault_vfs_install(void)
{
    /* Looked up by name: after fault_vfs_remove(), the default can be the VFS of store/scrub.c,
     * which calls this one. */
    below = sqlite3_vfs_find("unix");
    layer = *below;
    layer.pNext = NULL;
    layer.zName = "fault";
    layer.szOsFile = (int)sizeof(struct fault_file) + below->szOsFile;
    layer.xOpen = open_file;
    sqlite3_vfs_register(&layer, 1);
}

void fault_vfs_remove(void)
{
    sqlite3_vfs_unregister(&layer);
}

void fault_vfs_arm(enum fault_point point, int result, long n, bool lasting)
{
    pthread_mutex_lock(&fault.lock);
    fault.armed = true;
    fault.struck = false;
    fault.point = point;
    fault.result = result;
    fault.left = n;
    fault.lasting = lasting;
    pthread_mutex_unlock(&fault.lock);
}

bool fault_vfs_disarm(void)
{
    pthread_mutex_lock(&fault.lock);
    bool struck = fault.struck;
    fault.armed = fault.struck = false;
    pthread_mutex_unlock(&fault.lock);
    return struck;
}
