#include "store/scrub.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

enum {
    PAGE_MIN = 4096, /* SQLite's default, which tiro does not change */
    PAGE_MAX = 65536,
    FILE_HEADER = 100, /* before the page header of the first page */
    LARGEST_ROOT = 52, /* in the file header: not 0 if there are pages of pointers (auto_vacuum) */
    LEAF_HEADER = 8,
    INTERIOR_HEADER = 12,
    KINDS_OF_FILES = 4 /* that a VFS makes; a kind beyond these is not scrubbed */
};

/* The first byte tells pages of trees from overflow pages and free ones, which begin with the number
 * of a page in four bytes: the first of these is 0 or 1 in files below this size. */
#define FILE_MOST ((int64_t)1 << 36)

static unsigned number_at(const unsigned char *bytes)
{
    return (unsigned)bytes[0] << 8 | bytes[1];
}

void scrub_page(unsigned char *page, int len, int64_t at)
{
    if (len < PAGE_MIN || len > PAGE_MAX || (len & (len - 1)) || at % len)
        return;
    const unsigned char *header = page + (at == 0 ? FILE_HEADER : 0);
    bool leaf = header[0] == 0x0a || header[0] == 0x0d;
    if (!leaf && header[0] != 0x02 && header[0] != 0x05)
        return;
    size_t cells = number_at(header + 5), first = cells ? cells : PAGE_MAX;
    size_t pointers = (size_t)(header - page) + (leaf ? LEAF_HEADER : INTERIOR_HEADER) +
                      2 * (size_t)number_at(header + 3);
    if (pointers < first && first <= (size_t)len)
        memset(page + pointers, 0, first - pointers);
}

/* --- the VFS: its files are those of the default one, with another xWrite() ---------------------
 */

struct methods {
    sqlite3_io_methods own; /* the first member: a file's pMethods leads to all of it */
    const sqlite3_io_methods *real;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs layer, *below;
static struct methods kinds[KINDS_OF_FILES];

static int write_page(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    const struct methods *m = (const struct methods *)file->pMethods;
    unsigned char page[PAGE_MAX], root[4] = {0};
    sqlite3_int64 size;
    bool has_pointers = m->real->xRead(file, root, sizeof root, LARGEST_ROOT) == SQLITE_OK &&
                        memcmp(root, "\0\0\0", sizeof root) != 0;
    if (len >= PAGE_MIN && len <= PAGE_MAX && !has_pointers &&
        m->real->xFileSize(file, &size) == SQLITE_OK && size < FILE_MOST && at < FILE_MOST) {
        memcpy(page, bytes, (size_t)len);
        scrub_page(page, len, at);
        bytes = page;
    }
    return m->real->xWrite(file, bytes, len, at);
}

static const sqlite3_io_methods *scrubbing(const sqlite3_io_methods *real)
{
    pthread_mutex_lock(&lock);
    struct methods *m = kinds;
    while (m < kinds + KINDS_OF_FILES && m->real && m->real != real)
        m++;
    bool found = m < kinds + KINDS_OF_FILES;
    if (found && !m->real) {
        m->own = *real;
        m->own.xWrite = write_page;
        m->real = real;
    }
    pthread_mutex_unlock(&lock);
    return found ? &m->own : real;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    (void)vfs;
    int result = below->xOpen(below, name, file, flags, out_flags);
    if (result == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB))
        file->pMethods = scrubbing(file->pMethods);
    return result;
}

const char *scrub_vfs(void)
{
    pthread_mutex_lock(&lock);
    if (sqlite3_vfs_find(NULL) != below) {
        /* A test puts a VFS before the default one and takes it away: this one could be the next. */
        sqlite3_vfs_unregister(&layer);
        below = sqlite3_vfs_find(NULL);
        layer = *below;
        layer.pNext = NULL;
        layer.zName = "tiro";
        layer.xOpen = open_file;
        sqlite3_vfs_register(&layer, 0);
    }
    pthread_mutex_unlock(&lock);
    return layer.zName;
}
