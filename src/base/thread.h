/* A thread of the engine's: signals are the surface's, so that it sees none. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* False: the system has no thread to give. */
bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* From now on the calling thread gives way to others of the program, where the system gives threads
 * a priority each (Linux). */
void thread_give_way(void);

#endif
