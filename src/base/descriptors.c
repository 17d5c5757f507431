#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4() and pipe2(), where they exist */
#endif
#include "base/descriptors.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined __linux__ || (defined __BSD_VISIBLE && __BSD_VISIBLE) || defined _NETBSD_SOURCE
#define HAS_EXTENSIONS 1 /* they are declared */
#else
#define HAS_EXTENSIONS 0
#endif

static struct rlimit before;
static bool raised;

void descriptors_raise(size_t want)
{
    struct rlimit limit;
    if (raised || getrlimit(RLIMIT_NOFILE, &before) != 0 || before.rlim_cur == RLIM_INFINITY ||
        before.rlim_cur >= want)
        return;
    limit = before;
    limit.rlim_cur =
        limit.rlim_max == RLIM_INFINITY || limit.rlim_max > want ? (rlim_t)want : limit.rlim_max;
    raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

size_t descriptors_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return _POSIX_OPEN_MAX;
    return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > SIZE_MAX ? SIZE_MAX
                                                                        : (size_t)limit.rlim_cur;
}

void descriptors_lower(void)
{
    if (raised)
        (void)setrlimit(RLIMIT_NOFILE, &before);
}

#if !defined SOCK_CLOEXEC || !defined HAVE_ACCEPT4 || !defined HAVE_PIPE2 || !HAS_EXTENSIONS
static int close_on_exec(int fd)
{
    if (fd >= 0)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}
#endif

int descriptors_socket(int family, int type, int protocol)
{
#ifdef SOCK_CLOEXEC
    return socket(family, type | SOCK_CLOEXEC, protocol);
#else
    return close_on_exec(socket(family, type, protocol));
#endif
}

int descriptors_accept(int fd, struct sockaddr *from, socklen_t *size)
{
#if defined SOCK_CLOEXEC && defined HAVE_ACCEPT4 && HAS_EXTENSIONS
    return accept4(fd, from, size, SOCK_CLOEXEC);
#else
    return close_on_exec(accept(fd, from, size));
#endif
}

bool descriptors_pipe(int ends[2])
{
#if defined HAVE_PIPE2 && HAS_EXTENSIONS
    return pipe2(ends, O_CLOEXEC) == 0;
#else
    bool ok = pipe(ends) == 0;
    for (int i = 0; i < 2 && ok; i++)
        (void)close_on_exec(ends[i]);
    return ok;
#endif
}
