/* A sandbox for programs that we start: Landlock confines files, TCP and signals, seccomp refuses
 * sockets and the system calls that lead out. It holds for all that the program starts, and nothing
 * takes it off. It is made before the fork, and entered between fork and exec. Linux alone. */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct sock_filter;

/* What this kernel and this build can confine. */
struct sandbox_kernel {
    int landlock;     /* its ABI; 0: there is none */
    bool seccomp;     /* the kernel's filters and libseccomp */
    const char *lack; /* why there can be no sandbox, English; NULL: there can */
};
struct sandbox_kernel sandbox_kernel(void);

/* Absolute, resolved paths; lists end with NULL. The program may read and execute what is not
 * hidden, list every directory, and change what is in the writable directories. Of /dev it has
 * null, zero, full, random and urandom. Where a hidden place is in a writable directory, nothing
 * can be made in the directories that lead to it. */
struct sandbox_rules {
    const char *const *hidden;
    const char *const *writable;
    bool network; /* IPv4 and IPv6; else no sockets but pairs */
};

struct sandbox {
    int files; /* descriptor of the rules; -1: none */
    struct sock_filter *calls;
    unsigned short calls_len;
    bool overrides; /* a writable directory is another user's, for which root needs a capability */
};

/* AGENT_ERROR: there can be none. To be released only after success. */
bool sandbox_make(struct sandbox *s, const struct sandbox_rules *rules, struct error *e);
void sandbox_release(struct sandbox *s);

/* Confines the calling thread, in a process of its own: where Landlock does not confine signals,
 * its parent gets none. `files` is s->files under another number. Async-signal-safe. False
 * with errno: the process must not go on. */
bool sandbox_enter(const struct sandbox *s, int files);

#endif
