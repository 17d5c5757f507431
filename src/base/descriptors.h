/* The descriptors of this process: how many there may be, and those that no program which it runs
 * inherits. A raised limit is its own: programs that it runs get the limit as it was, which they
 * may be made for (select(), loops over all). */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* To `want`, or as far as the system allows. Before there is a second thread. */
void descriptors_raise(size_t want);

/* How many there may be. */
size_t descriptors_limit(void);

/* In a child that fork() made: as it was before. Safe there. */
void descriptors_lower(void);

/* As socket(), accept() and pipe(), with errno. Descriptors are closed on exec from the beginning
 * where the system can do that; elsewhere a program that another thread starts at that very moment
 * inherits them. */
int descriptors_socket(int family, int type, int protocol);
int descriptors_accept(int fd, struct sockaddr *from, socklen_t *size);
bool descriptors_pipe(int ends[2]);

#endif
