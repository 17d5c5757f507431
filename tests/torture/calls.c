/* The calls that can fail: each asks first whether it does, and else goes on to the system's. */
#include "tests/torture/torture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- memory ----------------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static const int no_memory[] = {ENOMEM, 0};

/* The caller of the wrapper. */
#define CALLER ((uintptr_t)__builtin_return_address(0))

static void *taken(void *block, size_t size, uintptr_t caller)
{
    if (block && !torture_inside)
        torture_block_add(block, size, torture_caller(caller), torture_trace());
    return block;
}

void *malloc(size_t size)
{
    if (torture_cause(TORTURE_MALLOC, "malloc", no_memory))
        return NULL;
    return taken(__libc_malloc(size), size, CALLER);
}

void *calloc(size_t count, size_t size)
{
    if (torture_cause(TORTURE_MALLOC, "calloc", no_memory))
        return NULL;
    return taken(__libc_calloc(count, size), count * size, CALLER);
}

void *realloc(void *old, size_t size)
{
    if (torture_cause(TORTURE_MALLOC, "realloc", no_memory))
        return NULL;
    if (old)
        torture_block_remove(old);
    return taken(__libc_realloc(old, size), size, CALLER);
}

void *memalign(size_t alignment, size_t size)
{
    if (torture_cause(TORTURE_MALLOC, "memalign", no_memory))
        return NULL;
    return taken(__libc_memalign(alignment, size), size, CALLER);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = memalign(alignment, size);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

void free(void *block)
{
    if (block)
        torture_block_remove(block);
    __libc_free(block);
}

/* --- the others ------------------------------------------------------------------------------- */

/* The function of this name that the program would have got without us. */
#define NEXT(pointer, name)                                                                        \
    do {                                                                                           \
        void *found_ = dlsym(RTLD_NEXT, name);                                                     \
        memcpy(&(pointer), &found_, sizeof found_);                                                \
    } while (0)

/* A function that returns `bad` and sets errno, with the causes that it can have. */
#define CALL(type, name, class, parameters, arguments, bad, ...)                                   \
    type name parameters                                                                           \
    {                                                                                              \
        static const int causes[] = {__VA_ARGS__, 0};                                              \
        type(*next) parameters;                                                                    \
        if (torture_cause(class, #name, causes))                                                   \
            return bad;                                                                            \
        NEXT(next, #name);                                                                         \
        return next arguments;                                                                     \
    }

/* A wrapper of a function that returns its error number. */
#define CODE(name, class, parameters, arguments, ...)                                              \
    int name parameters                                                                            \
    {                                                                                              \
        static const int causes[] = {__VA_ARGS__, 0};                                              \
        int(*next) parameters;                                                                     \
        int cause = torture_cause(class, #name, causes);                                           \
        if (cause)                                                                                 \
            return cause;                                                                          \
        NEXT(next, #name);                                                                         \
        return next arguments;                                                                     \
    }

/* A pipe or a terminal has no disk that fails or fills. */
static const int *causes_at(int fd, const int *causes)
{
    static const int of_streams[] = {EINTR, TORTURE_SHORT, 0};
    struct stat file;
    int before = errno;
    bool is_file = syscall(SYS_fstat, fd, &file) == 0 && S_ISREG(file.st_mode);
    errno = before;
    return is_file ? causes : of_streams;
}

/* A wrapper of a function that transfers bytes, and may transfer fewer than `count`. */
#define BYTES(name, class, parameters, arguments, count, ...)                                      \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        static const int causes[] = {__VA_ARGS__, 0};                                              \
        ssize_t(*next) parameters;                                                                 \
        int cause =                                                                                \
            torture_cause(class, #name, class == TORTURE_FILE ? causes_at(fd, causes) : causes);   \
        if (cause && cause != TORTURE_SHORT)                                                       \
            return -1;                                                                             \
        if (cause == TORTURE_SHORT)                                                                \
            count = (count + 1) / 2;                                                               \
        NEXT(next, #name);                                                                         \
        return next arguments;                                                                     \
    }

/* A wrapper of a function with an argument after the named ones, the last of which is `last`. */
#define OPENING(name, parameters, last, whole, ...)                                                \
    int name parameters                                                                            \
    {                                                                                              \
        static const int causes[] = {__VA_ARGS__, 0};                                              \
        int(*next) parameters;                                                                     \
        va_list args;                                                                              \
        va_start(args, last);                                                                      \
        mode_t mode = last & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;                   \
        va_end(args);                                                                              \
        if (torture_cause(TORTURE_FILE, #name, causes))                                            \
            return -1;                                                                             \
        NEXT(next, #name);                                                                         \
        return next whole;                                                                         \
    }

#define IN_FILE(type, name, parameters, arguments, bad, ...)                                       \
    CALL(type, name, TORTURE_FILE, parameters, arguments, bad, __VA_ARGS__)

OPENING(open, (const char *path, int flags, ...), flags, (path, flags, mode), EMFILE, EACCES, EIO)
OPENING(open64, (const char *path, int flags, ...), flags, (path, flags, mode), EMFILE, EACCES, EIO)
OPENING(openat, (int at, const char *path, int flags, ...), flags, (at, path, flags, mode), EMFILE,
        EACCES, EIO)
OPENING(openat64, (int at, const char *path, int flags, ...), flags, (at, path, flags, mode),
        EMFILE, EACCES, EIO)
IN_FILE(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EMFILE, EACCES)
IN_FILE(FILE *, fopen64, (const char *path, const char *mode), (path, mode), NULL, EMFILE, EACCES)
IN_FILE(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL, ENOMEM)
IN_FILE(DIR *, opendir, (const char *path), (path), NULL, EMFILE, EACCES)
IN_FILE(DIR *, fdopendir, (int fd), (fd), NULL, ENOMEM)
IN_FILE(struct dirent *, readdir, (DIR * d), (d), NULL, EIO)
IN_FILE(struct dirent64 *, readdir64, (DIR * d), (d), NULL, EIO)

BYTES(read, TORTURE_FILE, (int fd, void *to, size_t count), (fd, to, count), count, EIO, EINTR,
      TORTURE_SHORT)
BYTES(pread, TORTURE_FILE, (int fd, void *to, size_t count, off_t at), (fd, to, count, at), count,
      EIO, EINTR, TORTURE_SHORT)
BYTES(pread64, TORTURE_FILE, (int fd, void *to, size_t count, off64_t at), (fd, to, count, at),
      count, EIO, EINTR, TORTURE_SHORT)
BYTES(write, TORTURE_FILE, (int fd, const void *from, size_t count), (fd, from, count), count,
      ENOSPC, EIO, EINTR, TORTURE_SHORT)
BYTES(pwrite, TORTURE_FILE, (int fd, const void *from, size_t count, off_t at),
      (fd, from, count, at), count, ENOSPC, EIO, EINTR, TORTURE_SHORT)
BYTES(pwrite64, TORTURE_FILE, (int fd, const void *from, size_t count, off64_t at),
      (fd, from, count, at), count, ENOSPC, EIO, EINTR, TORTURE_SHORT)

IN_FILE(int, fsync, (int fd), (fd), -1, EIO, ENOSPC)
IN_FILE(int, fdatasync, (int fd), (fd), -1, EIO, ENOSPC)
IN_FILE(int, ftruncate, (int fd, off_t size), (fd, size), -1, EIO, EINTR)
IN_FILE(int, ftruncate64, (int fd, off64_t size), (fd, size), -1, EIO, EINTR)
IN_FILE(off_t, lseek, (int fd, off_t at, int whence), (fd, at, whence), -1, EINVAL)
IN_FILE(int, fstat, (int fd, struct stat *out), (fd, out), -1, EIO)
IN_FILE(int, fstat64, (int fd, struct stat64 *out), (fd, out), -1, EIO)
IN_FILE(int, stat, (const char *path, struct stat *out), (path, out), -1, EACCES, EIO)
IN_FILE(int, stat64, (const char *path, struct stat64 *out), (path, out), -1, EACCES, EIO)
IN_FILE(int, lstat, (const char *path, struct stat *out), (path, out), -1, EACCES, EIO)
IN_FILE(int, lstat64, (const char *path, struct stat64 *out), (path, out), -1, EACCES, EIO)
IN_FILE(int, fstatat, (int at, const char *path, struct stat *out, int flags),
        (at, path, out, flags), -1, EACCES, EIO)
IN_FILE(int, fstatat64, (int at, const char *path, struct stat64 *out, int flags),
        (at, path, out, flags), -1, EACCES, EIO)
IN_FILE(int, access, (const char *path, int rights), (path, rights), -1, EACCES, EIO)
IN_FILE(int, faccessat, (int at, const char *path, int rights, int flags),
        (at, path, rights, flags), -1, EACCES, EIO)
IN_FILE(int, rename, (const char *from, const char *to), (from, to), -1, EACCES, ENOSPC)
IN_FILE(int, renameat, (int from_at, const char *from, int to_at, const char *to),
        (from_at, from, to_at, to), -1, EACCES, ENOSPC)
IN_FILE(int, link, (const char *from, const char *to), (from, to), -1, EPERM, ENOSPC)
IN_FILE(int, unlink, (const char *path), (path), -1, EACCES, EIO)
IN_FILE(int, unlinkat, (int at, const char *path, int flags), (at, path, flags), -1, EACCES, EIO)
IN_FILE(int, rmdir, (const char *path), (path), -1, EACCES)
IN_FILE(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, EACCES, ENOSPC)
IN_FILE(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), -1, EACCES, ENOSPC)
IN_FILE(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EPERM)
IN_FILE(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1, EPERM)
IN_FILE(int, flock, (int fd, int operation), (fd, operation), -1, ENOLCK, EINTR)
IN_FILE(int, mkstemp, (char *pattern), (pattern), -1, EMFILE, EACCES)
IN_FILE(int, mkstemps, (char *pattern, int suffix), (pattern, suffix), -1, EMFILE, EACCES)
IN_FILE(ssize_t, readlink, (const char *path, char *out, size_t size), (path, out, size), -1, EIO)
IN_FILE(ssize_t, readlinkat, (int at, const char *path, char *out, size_t size),
        (at, path, out, size), -1, EIO)
IN_FILE(char *, realpath, (const char *path, char *out), (path, out), NULL, EACCES, EIO)
IN_FILE(char *, getcwd, (char *out, size_t size), (out, size), NULL, ENOENT)
IN_FILE(void *, mmap, (void *at, size_t size, int rights, int flags, int fd, off_t from),
        (at, size, rights, flags, fd, from), MAP_FAILED, ENOMEM)
IN_FILE(void *, mmap64, (void *at, size_t size, int rights, int flags, int fd, off64_t from),
        (at, size, rights, flags, fd, from), MAP_FAILED, ENOMEM)

/* A failing close() closes the descriptor all the same, as the system does. */
int close(int fd)
{
    static const int causes[] = {EIO, EINTR, 0};
    int (*next)(int);
    int cause = torture_cause(TORTURE_FILE, "close", causes);
    NEXT(next, "close");
    int done = next(fd);
    if (!cause)
        return done;
    errno = cause;
    return -1;
}

/* --- fcntl(): by command ---------------------------------------------------------------------- */

/* A lock is always given back. */
static const int *fcntl_causes(int command, const void *argument)
{
    static const int duplicate[] = {EMFILE, 0}, lock[] = {ENOLCK, EAGAIN, EINTR, 0};
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return duplicate;
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        return ((const struct flock *)argument)->l_type == F_UNLCK ? NULL : lock;
    default:
        return NULL;
    }
}

#define CONTROL(name)                                                                              \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        int (*next)(int fd, int command, ...);                                                     \
        va_list args;                                                                              \
        va_start(args, command);                                                                   \
        void *argument = va_arg(args, void *);                                                     \
        va_end(args);                                                                              \
        const int *causes = fcntl_causes(command, argument);                                       \
        if (causes && torture_cause(TORTURE_FILE, #name, causes))                                  \
            return -1;                                                                             \
        NEXT(next, #name);                                                                         \
        return next(fd, command, argument);                                                        \
    }

CONTROL(fcntl)
CONTROL(fcntl64)

/* --- network and processes -------------------------------------------------------------------- */

#define IN_NETWORK(type, name, parameters, arguments, bad, ...)                                    \
    CALL(type, name, TORTURE_NETWORK, parameters, arguments, bad, __VA_ARGS__)

IN_NETWORK(int, socket, (int family, int type, int protocol), (family, type, protocol), -1, EMFILE,
           EACCES)
IN_NETWORK(int, socketpair, (int family, int type, int protocol, int fds[2]),
           (family, type, protocol, fds), -1, EMFILE)
IN_NETWORK(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t size), (fd, to, size), -1,
           ECONNREFUSED, ENETUNREACH, ETIMEDOUT)
IN_NETWORK(int, getsockopt, (int fd, int level, int option, void *out, socklen_t *size),
           (fd, level, option, out, size), -1, ENOBUFS)
IN_NETWORK(int, setsockopt, (int fd, int level, int option, const void *value, socklen_t size),
           (fd, level, option, value, size), -1, ENOBUFS)
IN_NETWORK(int, getsockname, (int fd, __SOCKADDR_ARG out, socklen_t *size), (fd, out, size), -1,
           ENOBUFS)
IN_NETWORK(int, getpeername, (int fd, __SOCKADDR_ARG out, socklen_t *size), (fd, out, size), -1,
           ENOTCONN)
IN_NETWORK(int, poll, (struct pollfd * fds, nfds_t count, int ms), (fds, count, ms), -1, EINTR,
           ENOMEM)
BYTES(send, TORTURE_NETWORK, (int fd, const void *from, size_t count, int flags),
      (fd, from, count, flags), count, EPIPE, ECONNRESET, EINTR, EAGAIN, TORTURE_SHORT)
BYTES(recv, TORTURE_NETWORK, (int fd, void *to, size_t count, int flags), (fd, to, count, flags),
      count, ECONNRESET, EINTR, EAGAIN, TORTURE_SHORT)

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    static const int causes[] = {EAGAIN, 0};
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (torture_cause(TORTURE_NETWORK, "getaddrinfo", causes))
        return EAI_AGAIN;
    NEXT(next, "getaddrinfo");
    return next(node, service, hints, out);
}

#define IN_PROCESS(type, name, parameters, arguments, bad, ...)                                    \
    CALL(type, name, TORTURE_PROCESS, parameters, arguments, bad, __VA_ARGS__)

IN_PROCESS(int, pipe, (int fds[2]), (fds), -1, EMFILE)
IN_PROCESS(int, pipe2, (int fds[2], int flags), (fds, flags), -1, EMFILE)
IN_PROCESS(pid_t, fork, (void), (), -1, EAGAIN, ENOMEM)
IN_PROCESS(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), -1, EINTR)
IN_PROCESS(int, waitid, (idtype_t type, id_t id, siginfo_t *out, int options),
           (type, id, out, options), -1, EINTR)
CODE(pthread_create, TORTURE_PROCESS,
     (pthread_t * out, const pthread_attr_t *attributes, void *(*run)(void *), void *context),
     (out, attributes, run, context), EAGAIN)
