/* A disk that fails when a test wants it to: a layer over SQLite's own file system, through which
 * every database of the process goes that is opened while it is there. */
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

/* As a result: the process ends there, half of what it would write written. */
enum { FAULT_DEATH = -1, FAULT_DEATH_STATUS = 77 };

void fault_vfs_install(void);
void fault_vfs_remove(void); /* after the last of its databases was closed */

/* The n-th call of this kind from now on (from 1) fails with this result of SQLite's, and with
 * `lasting` every one after it. Any thread's calls count. */
void fault_vfs_arm(enum fault_point point, int result, long n, bool lasting);

/* Nothing fails any more. Whether something did. */
bool fault_vfs_disarm(void);

#endif
