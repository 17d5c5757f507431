#include "serve/activation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_FD = 3, FDS_MAX = 64 };

/* 0: it is none. */
static long number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? strtol(text, NULL, 10) : 0;
}

static bool listens(int fd, bool unix_path)
{
    int value = 0;
    socklen_t len = sizeof value;
    struct sockaddr_storage address;
    socklen_t address_len = sizeof address;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &len) == 0 && value &&
           getsockname(fd, (struct sockaddr *)&address, &address_len) == 0 &&
           (address.ss_family == AF_UNIX) == unix_path;
}

int activation_take(bool unix_path)
{
    static bool taken[FDS_MAX];
    long count = number_of("LISTEN_PID") == (long)getpid() ? number_of("LISTEN_FDS") : 0;
    for (int i = 0; i < count && i < FDS_MAX; i++) {
        int fd = FIRST_FD + i;
        if (taken[i] || !listens(fd, unix_path))
            continue;
        taken[i] = true;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        return fd;
    }
    return -1;
}
