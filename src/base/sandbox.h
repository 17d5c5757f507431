/* A sandbox for a child process: Landlock confines files, TCP and signals; seccomp refuses sockets
 * and the system calls that get around Landlock. It holds for all processes that the child starts,
 * and cannot be left. It is made before the fork, and entered between fork and exec. Linux only. */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct sock_filter;

/* The means of this kernel and this build. */
struct sandbox_kernel {
    int landlock;     /* version of its ABI; 0: the kernel has no Landlock */
    bool seccomp;     /* the kernel's filters and libseccomp */
    const char *lack; /* why no sandbox can be made, in English; NULL: one can. Static */
};
struct sandbox_kernel sandbox_kernel(void);

/* Absolute, resolved paths; lists end with NULL. The program may read and execute all files that
 * are not hidden, list every directory, and change files in the writable directories. In /dev it
 * may open null, zero, full, random and urandom. If a writable directory contains a hidden place,
 * nothing can be made in the directories on the way to that place. */
struct sandbox_rules {
    const char *const *hidden;
    const char *const *writable;
    bool network; /* IPv4 and IPv6 sockets; else only pairs of sockets */
};

struct sandbox {
    int files; /* descriptor of the rules; -1: none */
    struct sock_filter *calls;
    unsigned short calls_len;
    bool overrides; /* root keeps CAP_DAC_OVERRIDE: a writable directory is another user's */
};

/* Takes up to 20,000 rules; paths that would need more stay inaccessible. AGENT_ERROR: the sandbox
 * cannot be made. To be released only after success. */
bool sandbox_make(struct sandbox *s, const struct sandbox_rules *rules, struct error *e);
void sandbox_release(struct sandbox *s);

/* Confines the calling thread, which must be the only one of a forked process. If Landlock does not
 * confine signals (before ABI 6), the filter keeps them from the parent process. `files` is a
 * duplicate of s->files. Async-signal-safe. False with errno: the process must not run the program.
 */
bool sandbox_enter(const struct sandbox *s, int files);

#endif
