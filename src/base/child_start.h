/* The beginning and the end of a child: its pipes, its process, and a thread that waits for its
 * end, so that poll() can. For child.c alone. */
#ifndef BASE_CHILD_START_H
#define BASE_CHILD_START_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/child.h"
#include "base/err.h"

struct child_process {
    pid_t pid;       /* and its process group; ours until child_reap() */
    int in, out;     /* our ends of its pipes, not blocking; -1: none, or closed */
    int ended;       /* ready once the first process has ended */
    int watcher_end; /* of the thread, which closes it */
    pthread_t watcher;
};

/* `p` must stay where it is until child_reap(). */
bool child_start(const struct child_command *c, struct child_process *p, struct error *e);

/* Waits for the end of the first process and closes what is open. `status` as waitpid() tells it.
 */
bool child_reap(struct child_process *p, int *status, struct error *e);

#endif
