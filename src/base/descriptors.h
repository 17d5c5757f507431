/* How many descriptors this process may have open. What it raised is its own: programs that it runs
 * get the limit as it was, which they may be made for (select(), loops over all). */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

#include <stddef.h>

/* To `want`, or as far as the system allows. Before there is a second thread. */
void descriptors_raise(size_t want);

/* How many there may be. */
size_t descriptors_limit(void);

/* In a child that fork() made: as it was before. Safe there. */
void descriptors_lower(void);

#endif
