#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_PATH, memfd_create(), CLONE_NEWUSER */
#endif
#include "base/sandbox.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/paths.h"

#if defined __linux__ && defined HAVE_LIBSECCOMP

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- Landlock: the kernel's interface --------------------------------------------------------- */

/* The system's header may be older than the kernel, and is not used. */

enum {
    CREATE_RULESET = 444, /* the same numbers on every architecture */
    ADD_RULE,
    RESTRICT_SELF,
    CREATE_RULESET_VERSION = 1,
    RULE_PATH_BENEATH = 1
};

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_CHAR = 1 << 6,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_MAKE_SOCK = 1 << 9,
    FS_MAKE_FIFO = 1 << 10,
    FS_MAKE_BLOCK = 1 << 11,
    FS_MAKE_SYM = 1 << 12,
    FS_REFER = 1 << 13,     /* ABI 2 */
    FS_TRUNCATE = 1 << 14,  /* ABI 3 */
    FS_IOCTL_DEV = 1 << 15, /* ABI 5 */

    OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
    READS = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR,
    WRITES = READS | FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR |
             FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER,
    DEVICE = FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV,

    NET_TCP = 3,    /* ABI 4: bind and connect */
    SCOPE_BOTH = 3, /* ABI 6: abstract sockets, signals */

    ABI_REFER = 2,
    ABI_TRUNCATE,
    ABI_TCP,
    ABI_IOCTL_DEV,
    ABI_SCOPE
};

struct ruleset {
    uint64_t files, tcp, scope; /* a kernel refuses bits that it does not know */
};

struct path_beneath {
    uint64_t allowed;
    int32_t directory;
} __attribute__((packed));

static int landlock_abi(void)
{
    long abi = syscall(CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

static struct ruleset ruleset_of(int abi, bool network)
{
    return (struct ruleset){
        .files = (2 * FS_MAKE_SYM - 1) | (abi >= ABI_REFER ? FS_REFER : 0) |
                 (abi >= ABI_TRUNCATE ? FS_TRUNCATE : 0) |
                 (abi >= ABI_IOCTL_DEV ? FS_IOCTL_DEV : 0),
        .tcp = abi >= ABI_TCP && !network ? NET_TCP : 0,
        .scope = abi >= ABI_SCOPE ? SCOPE_BOTH : 0,
    };
}

/* --- files ------------------------------------------------------------------------------------ */

enum { MOST_RULES = 20000 };

struct making {
    int files;        /* the ruleset */
    uint64_t handled; /* rights that the kernel knows */
    const char *const *hidden;
    const char *except; /* one more hidden path; NULL: none */
    int rules;
};

/* Adds one rule; a failure leaves the path inaccessible. The path is resolved: a link in it was put
 * there meanwhile by a command, and is not followed. Kernels with Landlock have openat2(). */
static void grant_here(struct making *m, const char *path, uint64_t rights)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    struct stat status;
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (fd >= 0 && fstat(fd, &status) == 0 && m->rules < MOST_RULES) {
        uint64_t possible = S_ISDIR(status.st_mode) ? m->handled : m->handled & OF_FILES;
        const struct path_beneath rule = {rights & possible, fd};
        m->rules += syscall(ADD_RULE, m->files, RULE_PATH_BENEATH, &rule, 0) == 0;
    }
    if (fd >= 0)
        close(fd);
}

/* Grants the rights beneath the path, except in hidden places. A rule holds for all that is beneath
 * its directory; therefore a directory on the way to a hidden place gets no rule, but each of its
 * other entries does. */
static void grant(struct making *m, const char *path, uint64_t rights)
{
    const char *const *hidden = m->hidden;
    bool leads = m->except && paths_within(m->except, path);
    if (m->except && paths_within(path, m->except))
        return;
    for (; *hidden && !paths_within(path, *hidden); hidden++)
        leads = leads || paths_within(*hidden, path);
    if (*hidden)
        return;
    if (!leads) {
        grant_here(m, path, rights);
        return;
    }
    DIR *d = opendir(path);
    const struct dirent *entry;
    while (d && m->rules < MOST_RULES && (entry = readdir(d))) {
        auto_free char *inner = paths_join(path, entry->d_name);
        if (entry->d_type != DT_LNK && strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0)
            grant(m, inner, rights);
    }
    if (d) {
        closedir(d);
        return;
    }
    /* A directory that cannot be listed, as /home may be: only its entries on the way to a hidden
     * place are known. */
    for (hidden = m->hidden; *hidden; hidden++) {
        size_t len = strlen(path);
        if (!paths_within(*hidden, path))
            continue;
        auto_free char *inner = mem_strndup(*hidden, len + 1 + strcspn(*hidden + len + 1, "/"));
        grant(m, inner, rights);
    }
}

static const char devices_place[] = "/dev";

static bool make_rules(struct sandbox *s, const struct sandbox_rules *rules, int abi,
                       struct error *e)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom"};
    const struct ruleset set = ruleset_of(abi, rules->network);
    s->files = (int)syscall(CREATE_RULESET, &set, sizeof set, 0);
    if (s->files < 0)
        return err_set_errno(e, ERR_AGENT_ERROR, "the sandbox cannot be made");
    (void)fcntl(s->files, F_SETFD, FD_CLOEXEC);
    struct making m = {.files = s->files, .handled = set.files, .hidden = rules->hidden};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        grant_here(&m, devices[i], DEVICE);
    /* The names of hidden files can be seen: no rule could hide them without hiding their siblings.
     */
    grant_here(&m, "/", FS_READ_DIR);
    for (const char *const *path = rules->writable; *path; path++) {
        struct stat status;
        m.except = paths_within(*path, devices_place) ? NULL : devices_place;
        grant(&m, *path, WRITES);
        s->overrides = s->overrides || (stat(*path, &status) == 0 && status.st_uid != geteuid());
    }
    m.except = devices_place;
    grant(&m, "/", READS);
    return true;
}

/* --- system calls ----------------------------------------------------------------------------- */

#define LIBSECCOMP_FUNCTIONS(X)                                                                    \
    X(seccomp_init)                                                                                \
    X(seccomp_rule_add_array)                                                                      \
    X(seccomp_export_bpf)                                                                          \
    X(seccomp_release)

struct libseccomp {
#define X(name) __typeof__(name) *name;
    LIBSECCOMP_FUNCTIONS(X)
#undef X
};

#ifdef LIBSECCOMP_FILE
static bool load(struct libseccomp *library, struct error *e)
{
    static const struct late_function functions[] = {
#define X(name) {#name, offsetof(struct libseccomp, name)},
        LIBSECCOMP_FUNCTIONS(X)
#undef X
    };
    return late_library_load(library, "libseccomp", LIBSECCOMP_FILE, functions,
                             sizeof functions / sizeof *functions, e);
}
#else
static bool load(struct libseccomp *library, struct error *e)
{
    (void)e;
#define X(name) library->name = name;
    LIBSECCOMP_FUNCTIONS(X)
#undef X
    return true;
}
#endif

static const struct libseccomp *libseccomp(struct error *e)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct libseccomp library;
    static bool loaded;
    pthread_mutex_lock(&lock);
    loaded = loaded || load(&library, e);
    bool usable = loaded;
    pthread_mutex_unlock(&lock);
    return usable ? &library : NULL;
}

/* Refused with any arguments; ENOSYS where programs have a replacement then. ptrace() and similar
 * calls are allowed: Landlock lets a process trace only processes of its own sandbox. */
static const struct {
    int call, error;
} refused_calls[] = {
    /* ways around the filter */
    {SCMP_SYS(clone3), ENOSYS}, /* its flags are in memory */
    {SCMP_SYS(io_uring_setup), ENOSYS},
    {SCMP_SYS(io_uring_enter), ENOSYS},
    {SCMP_SYS(io_uring_register), ENOSYS},
    {SCMP_SYS(pidfd_getfd), EPERM},
    /* files without a path, and other trees of paths */
    {SCMP_SYS(open_by_handle_at), EPERM},
    {SCMP_SYS(mount), EPERM},
    {SCMP_SYS(umount2), EPERM},
    {SCMP_SYS(pivot_root), EPERM},
    {SCMP_SYS(chroot), EPERM},
    {SCMP_SYS(open_tree), EPERM},
    {SCMP_SYS(move_mount), EPERM},
    {SCMP_SYS(fsopen), EPERM},
    {SCMP_SYS(fsconfig), EPERM},
    {SCMP_SYS(fsmount), EPERM},
    {SCMP_SYS(fspick), EPERM},
    {SCMP_SYS(mount_setattr), EPERM},
    {SCMP_SYS(setns), EPERM},
    {SCMP_SYS(fanotify_init), EPERM},
    /* memory and messages of other processes, and keys */
    {SCMP_SYS(shmget), EPERM},
    {SCMP_SYS(shmat), EPERM},
    {SCMP_SYS(shmctl), EPERM},
    {SCMP_SYS(msgget), EPERM},
    {SCMP_SYS(msgsnd), EPERM},
    {SCMP_SYS(msgrcv), EPERM},
    {SCMP_SYS(msgctl), EPERM},
    {SCMP_SYS(semget), EPERM},
    {SCMP_SYS(semop), EPERM},
    {SCMP_SYS(semtimedop), EPERM},
    {SCMP_SYS(semctl), EPERM},
    {SCMP_SYS(mq_open), EPERM},
    {SCMP_SYS(mq_unlink), EPERM},
    {SCMP_SYS(add_key), EPERM},
    {SCMP_SYS(request_key), EPERM},
    {SCMP_SYS(keyctl), EPERM},
    /* the kernel itself; most of these need capabilities that even root does not keep */
    {SCMP_SYS(bpf), EPERM},
    {SCMP_SYS(perf_event_open), EPERM},
    {SCMP_SYS(userfaultfd), EPERM},
    {SCMP_SYS(kexec_load), EPERM},
    {SCMP_SYS(kexec_file_load), EPERM},
    {SCMP_SYS(init_module), EPERM},
    {SCMP_SYS(finit_module), EPERM},
    {SCMP_SYS(delete_module), EPERM},
    {SCMP_SYS(swapon), EPERM},
    {SCMP_SYS(swapoff), EPERM},
    {SCMP_SYS(quotactl), EPERM},
    {SCMP_SYS(reboot), EPERM},
    {SCMP_SYS(syslog), EPERM},
    {SCMP_SYS(vhangup), EPERM},
};

enum {
    LAST_KNOWN_CALL = 462, /* mseal(), of Linux 6.10 */
    CALLS_AFTER = 50,
    FAMILIES = 64,     /* of sockets, more than there are */
    SOCKET_TYPE = 0xf, /* without its flags */
    TIOCSTI_CALL = 0x5412,
    TIOCLINUX_CALL = 0x541C
};

/* Place holders for the parent's number, above every number that the kernel gives to a process. */
#define PARENT UINT32_C(0x7fe1d2c3)
#define PARENTS_GROUP (0 - PARENT)

#define LOW_HALF UINT64_C(0xffffffff) /* all that the kernel reads of a 32-bit argument */

struct filter {
    const struct libseccomp *library;
    scmp_filter_ctx rules;
    bool ok;
};

static void refuse(struct filter *f, int call, int error, const struct scmp_arg_cmp *when,
                   unsigned count)
{
    int result = f->library->seccomp_rule_add_array(f->rules, SCMP_ACT_ERRNO((uint32_t)error), call,
                                                    count, when);
    f->ok = f->ok && (result == 0 || result == -EDOM); /* EDOM: the architecture lacks the call */
}

static void refuse_if(struct filter *f, int call, int error, unsigned argument, uint64_t mask,
                      uint64_t value)
{
    refuse(f, call, error, &(struct scmp_arg_cmp){argument, SCMP_CMP_MASKED_EQ, mask, value}, 1);
}

static void refuse_sockets(struct filter *f, bool network)
{
    const struct scmp_arg_cmp not_local = {0, SCMP_CMP_NE, AF_UNIX, 0};
    refuse(f, SCMP_SYS(socketpair), EACCES, &not_local, 1);
    /* A datagram socket of a pair can still send to any path; for AF_UNIX, raw sockets are such. */
    refuse_if(f, SCMP_SYS(socketpair), EACCES, 1, SOCKET_TYPE, SOCK_DGRAM);
    refuse_if(f, SCMP_SYS(socketpair), EACCES, 1, SOCKET_TYPE, SOCK_RAW);
    if (!network) {
        refuse(f, SCMP_SYS(socket), EACCES, NULL, 0);
        return;
    }
    /* A unix socket leads to services that act for the user, such as Docker; Landlock does not
     * confine its path. The resolver asks netlink for addresses. */
    for (uint64_t family = 0; family < FAMILIES; family++)
        if (family != AF_INET && family != AF_INET6 && family != AF_NETLINK)
            refuse(f, SCMP_SYS(socket), EACCES, &(struct scmp_arg_cmp){0, SCMP_CMP_EQ, family, 0},
                   1);
    const struct scmp_arg_cmp beyond = {0, SCMP_CMP_GE, FAMILIES, 0};
    const struct scmp_arg_cmp not_route[] = {{0, SCMP_CMP_EQ, AF_NETLINK, 0},
                                             {2, SCMP_CMP_NE, 0, 0}};
    refuse(f, SCMP_SYS(socket), EACCES, &beyond, 1);
    refuse(f, SCMP_SYS(socket), EACCES, not_route, 2);
}

/* Without Landlock's scope of signals, keeps signals from the parent, which ends the processes that
 * the program leaves. sandbox_enter() replaces the place holder by the number of the parent. */
static void refuse_signals(struct filter *f)
{
    static const int by_number[] = {SCMP_SYS(kill),
                                    SCMP_SYS(tkill),
                                    SCMP_SYS(tgkill),
                                    SCMP_SYS(rt_sigqueueinfo),
                                    SCMP_SYS(rt_tgsigqueueinfo),
                                    SCMP_SYS(pidfd_open)};
    static const uint64_t owners[] = {F_SETOWN, F_SETSIG, F_SETOWN_EX};
    for (size_t i = 0; i < sizeof by_number / sizeof *by_number; i++)
        refuse_if(f, by_number[i], EPERM, 0, LOW_HALF, PARENT);
    refuse_if(f, SCMP_SYS(kill), EPERM, 0, LOW_HALF, PARENTS_GROUP);
    refuse_if(f, SCMP_SYS(kill), EPERM, 0, LOW_HALF, LOW_HALF); /* all processes */
    refuse(f, SCMP_SYS(pidfd_send_signal), EPERM, NULL, 0);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        refuse_if(f, SCMP_SYS(fcntl), EPERM, 1, LOW_HALF, owners[i]);
}

static void refuse_all(struct filter *f, int abi, bool network)
{
    for (size_t i = 0; i < sizeof refused_calls / sizeof *refused_calls; i++)
        refuse(f, refused_calls[i].call, refused_calls[i].error, NULL, 0);
    refuse_sockets(f, network);
    refuse_if(f, SCMP_SYS(clone), EPERM, 0, CLONE_NEWUSER, CLONE_NEWUSER);
    refuse_if(f, SCMP_SYS(unshare), EPERM, 0, CLONE_NEWUSER, CLONE_NEWUSER);
    /* These put text into a terminal as if it had been typed there. */
    refuse_if(f, SCMP_SYS(ioctl), EPERM, 1, LOW_HALF, TIOCSTI_CALL);
    refuse_if(f, SCMP_SYS(ioctl), EPERM, 1, LOW_HALF, TIOCLINUX_CALL);
    /* The limits of another process. */
    const struct scmp_arg_cmp another = {0, SCMP_CMP_NE, 0, 0};
    refuse(f, SCMP_SYS(prlimit64), EPERM, &another, 1);
    if (abi < ABI_SCOPE)
        refuse_signals(f);
    if (abi < ABI_TRUNCATE) { /* Landlock does not see that a file is cut */
        const uint64_t mode = O_TRUNC | O_ACCMODE;
        refuse(f, SCMP_SYS(truncate), EACCES, NULL, 0);
        refuse(f, SCMP_SYS(truncate64), EACCES, NULL, 0);
        refuse(f, SCMP_SYS(openat2), ENOSYS, NULL, 0); /* its flags are in memory */
        refuse_if(f, SCMP_SYS(open), EACCES, 1, mode, O_TRUNC);
        refuse_if(f, SCMP_SYS(openat), EACCES, 2, mode, O_TRUNC);
    }
    /* Calls newer than this list. Nearly all architectures give them the same numbers. */
    for (int i = 1; SCMP_SYS(clone3) == 435 && i <= CALLS_AFTER; i++)
        refuse(f, LAST_KNOWN_CALL + i, ENOSYS, NULL, 0);
}

/* The filter kills a process that makes a call of another architecture (i386, x32). */
static bool make_filter(struct sandbox *s, int abi, bool network, struct error *e)
{
    struct filter f = {.library = libseccomp(e)};
    struct stat status;
    if (!f.library)
        return false;
    f.rules = f.library->seccomp_init(SCMP_ACT_ALLOW);
    f.ok = f.rules != NULL;
    if (f.ok)
        refuse_all(&f, abi, network);
    int fd = f.ok ? memfd_create("filter", MFD_CLOEXEC) : -1;
    bool ok = fd >= 0 && f.library->seccomp_export_bpf(f.rules, fd) == 0 &&
              fstat(fd, &status) == 0 && lseek(fd, 0, SEEK_SET) == 0 && status.st_size > 0 &&
              status.st_size <= (off_t)(BPF_MAXINSNS * sizeof *s->calls);
    if (ok) {
        s->calls = mem_alloc((size_t)status.st_size);
        s->calls_len = (unsigned short)((size_t)status.st_size / sizeof *s->calls);
        ok = read(fd, s->calls, (size_t)status.st_size) == status.st_size;
    }
    if (fd >= 0)
        close(fd);
    if (f.rules)
        f.library->seccomp_release(f.rules);
    return ok || err_set(e, ERR_AGENT_ERROR, "the sandbox's filter of system calls cannot be made");
}

/* --- all of it -------------------------------------------------------------------------------- */

struct sandbox_kernel sandbox_kernel(void)
{
    struct sandbox_kernel k = {.landlock = landlock_abi()};
    k.seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 && libseccomp(&(struct error){0});
    k.lack = k.landlock == 0 ? "the kernel has no Landlock"
             : !k.seccomp    ? "libseccomp cannot be used"
                             : NULL;
    return k;
}

bool sandbox_make(struct sandbox *s, const struct sandbox_rules *rules, struct error *e)
{
    const struct sandbox_kernel k = sandbox_kernel();
    *s = (struct sandbox){.files = -1};
    if (k.lack)
        return err_set(e, ERR_AGENT_ERROR, "there is no sandbox: %s", k.lack);
    if (make_rules(s, rules, k.landlock, e) && make_filter(s, k.landlock, rules->network, e))
        return true;
    sandbox_release(s);
    return false;
}

/* Root keeps no capability except, with `overrides`, CAP_DAC_OVERRIDE. Because of no_new_privs,
 * exec() gives none back. */
static bool drop_capabilities(bool overrides)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {0};
    if (syscall(SYS_capget, &head, sets) != 0)
        return false;
    uint32_t kept = overrides ? sets[0].permitted & 1U << CAP_DAC_OVERRIDE : 0;
    sets[0] = (struct __user_cap_data_struct){.effective = kept, .permitted = kept};
    sets[1] = (struct __user_cap_data_struct){0};
    return syscall(SYS_capset, &head, sets) == 0;
}

bool sandbox_enter(const struct sandbox *s, int files)
{
    const struct sock_fprog filter = {s->calls_len, s->calls};
    const uint32_t parent = (uint32_t)getppid();
    for (unsigned i = 0; i < s->calls_len; i++)
        if (s->calls[i].k == PARENT || s->calls[i].k == PARENTS_GROUP)
            s->calls[i].k = s->calls[i].k == PARENT ? parent : 0 - parent;
    return drop_capabilities(s->overrides) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(RESTRICT_SELF, files, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

void sandbox_release(struct sandbox *s)
{
    if (s->files >= 0)
        close(s->files);
    free(s->calls);
    *s = (struct sandbox){.files = -1};
}

#else

struct sandbox_kernel sandbox_kernel(void)
{
    return (struct sandbox_kernel){.lack =
                                       "this tiro was built without libseccomp, or not for Linux"};
}

bool sandbox_make(struct sandbox *s, const struct sandbox_rules *rules, struct error *e)
{
    (void)rules;
    *s = (struct sandbox){.files = -1};
    return err_set(e, ERR_AGENT_ERROR, "there is no sandbox: %s", sandbox_kernel().lack);
}

bool sandbox_enter(const struct sandbox *s, int files)
{
    (void)s, (void)files;
    return false;
}

void sandbox_release(struct sandbox *s)
{
    (void)s;
}

#endif
