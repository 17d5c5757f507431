/* A disk that fails on demand: a layer over SQLite's own file system for every database of the
 * process that is opened while the layer is installed. */
#ifndef TESTS_FAULT_VFS_H
#define TESTS_FAULT_VFS_H

#include <stdbool.h>

enum fault_point {
    FAULT_OPEN, /* of the database, its journal, … */
    FAULT_READ,
    FAULT_WRITE,
    FAULT_TRUNCATE,
    FAULT_SYNC,
    FAULT_SHM_MAP,
    FAULT_POINT_COUNT
};

/* As a result: the process ends at this call, which has written half of its data. */
enum { FAULT_DEATH = -1, FAULT_DEATH_STATUS = 77 };

void fault_vfs_install(void);
void fault_vfs_remove(void); /* Call it after the last database was closed. */

/* The n-th call of this kind from now on (from 1) fails with this SQLite result; with `lasting`, so
 * do all later ones. Calls of any thread count. */
void fault_vfs_arm(enum fault_point point, int result, long n, bool lasting);

/* Ends the faults. Returns whether a call has failed. */
bool fault_vfs_disarm(void);

#endif
