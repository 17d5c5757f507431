/* Files that are written beside the ones that they will replace. Who writes one holds its lock, so
 * that one without a lock is what a killed process left, which the next writer takes away. */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

/* Locks one that was just made. False when another process took it away before: make another.
 * A file system without locks is not swept either. */
bool temporary_claim(int fd);

/* Removes the abandoned ones of the directory: regular files of ours whose names begin like this
 * and have so many more bytes. What cannot be removed stays. -1: no directory. */
void temporary_sweep(int directory, const char *beginning, size_t more);

#endif
