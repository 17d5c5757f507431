#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall() */
#endif
#include "base/thread.h"

#include <signal.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* As a login shell's limit is, and whatever the limit of this one. Only what is used takes memory.
 */
enum { STACK_BYTES = 8 << 20 };

bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                   pthread_create(thread, &attributes, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

void thread_give_way(void)
{
#ifdef __linux__
    enum { NICENESS = 10 };
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
#endif
}
