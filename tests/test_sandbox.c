/* The sandbox of run_command: attempts to get out of it, each a test, and work that it must let
 * through. An attempt is a command, or a function that runs confined; what it may not have done is
 * looked for after each. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/bounds.h"
#include "base/clock.h"
#include "tests/play.h"
#include "tests/suite.h"
#include "tests/workplace.h"

NEEDS(!sandbox_kernel().lack);

#define KEY "the-secret-key"

enum { PATIENCE_S = 20, OUT = 1, SOON_MS = 5000 };

static struct {
    char *former_tmpdir;
    int tcp, local, abstract, datagrams; /* who listens outside */
    int terminal, its_slave;
    in_port_t port;
} outside;

static volatile sig_atomic_t signalled;

static void note_signal(int number)
{
    (void)number;
    signalled = 1;
}

static struct sockaddr_un local_address(const char *name, bool abstract)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path + abstract, sizeof a.sun_path - 1, "%s", name);
    return a;
}

static int listen_at(int type, const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, address, size), 0);
    if (type == SOCK_STREAM)
        assert_int_equal(listen(fd, 8), 0);
    return fd;
}

static void open_outside(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof in;
    outside.tcp = listen_at(SOCK_STREAM, (struct sockaddr *)&in, sizeof in);
    assert_int_equal(getsockname(outside.tcp, (struct sockaddr *)&in, &size), 0);
    outside.port = in.sin_port;
    struct sockaddr_un local = local_address(support_path("docker.sock"), false);
    struct sockaddr_un datagrams = local_address(support_path("journal.sock"), false);
    struct sockaddr_un abstract = local_address(support_path("abstract"), true);
    outside.local = listen_at(SOCK_STREAM, (struct sockaddr *)&local, sizeof local);
    outside.datagrams = listen_at(SOCK_DGRAM, (struct sockaddr *)&datagrams, sizeof datagrams);
    outside.abstract = listen_at(SOCK_DGRAM, (struct sockaddr *)&abstract, sizeof abstract);
    outside.terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(outside.terminal >= 0 && grantpt(outside.terminal) == 0 &&
                unlockpt(outside.terminal) == 0);
    outside.its_slave = open(ptsname(outside.terminal), O_RDWR | O_NOCTTY);
}

/* Keys where they usually are, and where a link leads. */
static void hide_keys(void)
{
    static const char *const directories[] = {".ssh",    ".aws",         "vault",
                                              ".config", ".config/gh",   ".config/tiro",
                                              ".local",  ".local/share", ".local/share/tiro",
                                              ".cargo",  "src",          "src/other",
                                              "empty",   "tmp"};
    static const char *const keys[] = {".ssh/id",
                                       ".aws/credentials",
                                       "vault/ring",
                                       ".config/gh/hosts.yml",
                                       ".config/tiro/tiro.ini",
                                       ".local/share/tiro/tiro.db",
                                       ".cargo/credentials.toml",
                                       "src/other/.env",
                                       ".netrc",
                                       ".bash_history",
                                       "server.pem"};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        workplace_mkdir(directories[i]);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        workplace_put(keys[i], KEY);
    workplace_link("vault", ".gnupg");
    workplace_put("outside", "outside\n");
    workplace_put("src/other/readme", "readable\n");
}

/* In /tmp: of /dev, where tests have their files else, a command sees little. */
static int setup(void **state)
{
    const char *former = getenv("TMPDIR");
    outside.former_tmpdir = former ? mem_strdup(former) : NULL;
    setenv("TMPDIR", "/tmp", 1);
    if (workplace_setup(state) != 0)
        return -1;
    hide_keys();
    setenv("TMPDIR", support_path("tmp"), 1);
    open_outside();
    place.tools.host.sandbox = true;
    signal(SIGURG, note_signal);
    signalled = 0;
    return 0;
}

static int teardown(void **state)
{
    close(outside.tcp);
    close(outside.local);
    close(outside.abstract);
    close(outside.datagrams);
    close(outside.terminal);
    close(outside.its_slave);
    signal(SIGURG, SIG_DFL);
    if (outside.former_tmpdir)
        setenv("TMPDIR", outside.former_tmpdir, 1);
    else
        unsetenv("TMPDIR");
    free(outside.former_tmpdir);
    return workplace_teardown(state);
}

/* Nothing outside was changed, reached or told. */
static void look_outside(void)
{
    static const char *const new_ones[] = {"new", "elsewhere", "work/../work2"};
    struct stat status;
    char byte;
    assert_string_equal(support_read(support_path("outside")), "outside\n");
    assert_int_equal(stat(support_path("outside"), &status), 0);
    assert_int_equal(status.st_nlink, 1);
    assert_int_equal(stat(place.root, &status), 0);
    assert_int_equal(stat(support_path("empty"), &status), 0);
    for (size_t i = 0; i < sizeof new_ones / sizeof *new_ones; i++)
        assert_int_equal(access(support_path(new_ones[i]), F_OK), -1);
    assert_int_equal(accept(outside.tcp, NULL, NULL), -1);
    assert_int_equal(accept(outside.local, NULL, NULL), -1);
    assert_int_equal(recv(outside.datagrams, &byte, 1, 0), -1);
    assert_int_equal(recv(outside.abstract, &byte, 1, 0), -1);
    assert_false(signalled);
}

static const char *command_with(const char *command, const char *access, bool *failed)
{
    char *args = access ? workplace_args("command", command, "access", access, NULL)
                        : workplace_args("command", command, NULL);
    struct tool_call call;
    buf_clear(&place.out);
    assert_true(tool_call_prepare(&call, &place.tools, "run_command", args, &place.out));
    *failed = tool_call_run(&call, &place.context, &place.out);
    tool_call_release(&call);
    free(args);
    return place.out.data;
}

/* --- commands that try ------------------------------------------------------------------------ */

/* "OUT" in its output, and a key, are the proof. */
static const struct
try {
    const char *name, *command;
}
tries[] = {
    {"writes_beside", "echo x >>../outside"},
    {"writes_by_an_absolute_path", "echo x >>\"$HOME\"/outside"},
    {"writes_through_a_link", "ln -s ../outside l; echo x >>l"},
    {"writes_through_a_link_to_a_directory", "ln -s .. up; echo x >up/new; echo x >>up/outside"},
    {"writes_through_a_hard_link", "ln ../outside h && echo x >>h"},
    {"links_an_open_file", "exec 3<../outside; ln -L /proc/self/fd/3 h; echo x >>h"},
    {"opens_an_open_file_again", "exec 3<../outside; echo x >>/proc/self/fd/3"},
    {"writes_by_proc_self_root", "echo x >>/proc/self/root\"$HOME\"/outside"},
    {"writes_by_proc_self_cwd", "echo x >>/proc/self/cwd/../outside"},
    {"writes_by_the_root_of_another", "echo x >>/proc/$PPID/root\"$HOME\"/outside"},
    {"writes_by_the_root_of_init", "echo x >>/proc/1/root\"$HOME\"/outside"},
    {"reads_by_the_root_of_another", "cat /proc/$PPID/root\"$HOME\"/.ssh/id"},
    {"reads_files_of_another", "cat /proc/$PPID/fd/* && echo OUT"},
    {"reads_the_environment_of_another", "cat /proc/$PPID/environ && echo OUT"},
    {"reads_the_memory_of_another", "head -c 1 /proc/$PPID/mem && echo OUT"},
    {"reads_the_map_of_another", "grep . /proc/$PPID/maps && echo OUT"},
    {"writes_the_killing_score_of_another", "echo 500 >/proc/$PPID/oom_score_adj && echo OUT"},
    {"moves_a_file_in", "mv ../outside here; echo x >>here"},
    {"moves_the_project_away", "mv ../work ../elsewhere"},
    {"renames_a_directory_above", "mv \"$HOME\" \"$HOME\"2 && echo OUT; mv \"$HOME\"2 \"$HOME\""},
    {"moves_a_file_over", "echo x >f; mv f ../outside; cp f ../outside; cat f >../outside"},
    {"removes_a_file", "rm -f ../outside"},
    {"removes_a_directory", "rmdir ../empty"},
    {"makes_a_file", "touch ../new; echo x >../new"},
    {"makes_a_directory", "mkdir ../new"},
    {"makes_a_fifo", "mkfifo ../new"},
    {"makes_a_link", "ln -s x ../new; ln f ../new"},
    {"makes_a_device", "mknod zero c 1 5 && echo OUT; mknod ../new c 1 5"},
    {"makes_a_disk", "mknod disk b 8 0 && echo OUT; mknod disk b 254 0 && echo OUT"},
    {"truncates", "truncate -s 0 ../outside; : >../outside"},
    {"swaps_a_directory_for_a_link",
     "mkdir d; for i in 1 2 3 4 5 6 7 8; do (rm -rf d; ln -s .. d; rm -f d; mkdir d) 2>&- & "
     "echo x >>d/outside; echo x >d/new; done; wait"},
    {"renames_a_directory_over_a_link",
     "mkdir d e; ln -s .. d/l; mv d/l e/l; echo x >>e/l/outside"},
    {"unpacks_a_link_and_a_file",
     "mkdir p; ln -s ../.. p/l; tar cf t p; rm -r p; tar xf t; echo x >>p/l/outside"},
    {"git_outside", "git init -q ../new; git -C .. init -q; git clone -q . ../new"},
    {"reads_a_key", "cat ~/.ssh/id"},
    {"copies_keys", "cp -r ~/.ssh .; cat .ssh/id"},
    {"links_keys", "ln -s ../.ssh k; cat k/id; ln ../.ssh/id i; cat i"},
    {"moves_keys", "mv ../.ssh .; cat .ssh/id"},
    {"packs_keys", "tar cf - ~/.ssh ~/.aws | cat"},
    {"reads_keys_from_inside_their_place", "cd ~/.ssh && cat id"},
    {"reads_keys_by_dots", "cat ../tmp/../.ssh/../.ssh/id"},
    {"reads_keys_by_proc", "cat /proc/self/root\"$HOME\"/.ssh/id /proc/self/cwd/../.ssh/id"},
    {"reads_keys_behind_a_link", "cat ~/.gnupg/ring ~/vault/ring"},
    {"reads_keys_of_services", "cat ~/.aws/credentials ~/.config/gh/hosts.yml ~/.netrc"},
    {"reads_keys_of_packages", "cat ~/.cargo/credentials.toml ~/server.pem"},
    {"reads_the_history", "cat ~/.bash_history"},
    {"reads_keys_of_another_project", "cat ~/src/other/.env; grep -r . ~/src"},
    {"reads_the_configuration", "cat ~/.config/tiro/tiro.ini"},
    {"reads_the_conversations", "cat ~/.local/share/tiro/*"},
    {"changes_the_configuration", "echo x >~/.config/tiro/tiro.ini && echo OUT"},
    {"searches_for_keys", "grep -r " KEY " ~ 2>&1 | grep -v denied"},
    {"is_root_by_sudo", "sudo -n sh -c 'echo x >>../outside'"},
    {"is_root_by_su", "echo | su -c 'echo x >>../outside'"},
    {"reads_passwords", "cat /etc/shadow && echo OUT"},
    {"has_a_user_namespace", "unshare -r true && echo OUT"},
    {"has_a_mount_namespace", "unshare -m true && echo OUT"},
    {"has_a_network_namespace", "unshare -rn true && echo OUT"},
    {"enters_init", "nsenter -t 1 -m -n true && echo OUT"},
    {"mounts", "mkdir m; mount --bind .. m && echo OUT; mount -t tmpfs none m && echo OUT"},
    {"changes_the_root", "chroot / true && echo OUT"},
    {"has_capabilities", "grep -E 'Cap(Eff|Prm|Inh|Amb).*[1-9a-f]' /proc/self/status && echo OUT"},
    {"gains_privileges", "grep 'NoNewPrivs.*0' /proc/self/status && echo OUT"},
    {"kills_its_supervisor", "kill -KILL $PPID && echo OUT"},
    {"kills_its_supervisor_with_stop", "kill -STOP $PPID && echo OUT"},
    {"kills_the_group_above", "kill -URG -$PPID && echo OUT"},
    {"stays_in_a_session", "setsid sh -c 'exec 4>fifo; trap \"\" TERM HUP; sleep 60' & :"},
    {"stays_by_two_forks", "(setsid sh -c '(exec 4>fifo; sleep 60) & exit' & exit); sleep 0.1"},
    {"stays_by_nohup", "nohup sh -c 'exec 4>fifo; sleep 60' >/dev/null 2>&1 & disown 2>&-; :"},
    {"stays_as_many", "for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'exec 4>fifo; sleep 60' & done"},
    {"stays_by_a_race",
     "f() { setsid sh -c 'exec 4>fifo; sleep 0.01; sh ./f' & }; "
     "echo 'setsid sh -c \"exec 4>fifo; sh ./f\" &' >f; sh ./f"},
    {"inherits_files", "ls /proc/self/fd | grep -v '^[0123]$' && echo OUT"},
    {"opens_devices",
     "for d in /dev/* /dev/pts/* /dev/net/* /dev/dri/*; do case $d in "
     "/dev/null|/dev/zero|/dev/full|/dev/random|/dev/urandom|/dev/std*|/dev/fd) ;; "
     "*) [ -c $d ] || [ -b $d ] || continue; (exec 5<$d) 2>&- && echo OUT $d; "
     "(exec 5>>$d) 2>&- && echo OUT $d;; esac; done"},
    {"writes_into_shared_memory", "echo x >/dev/shm/tiro-out && echo OUT; rm -f /dev/shm/tiro-out"},
    {"writes_kernel_settings",
     "(exec 5>/proc/sys/kernel/core_pattern) && echo OUT; "
     "(exec 5>/proc/sys/vm/overcommit_memory) && echo OUT"},
    {"asks_the_kernel", "(exec 5>/proc/sysrq-trigger) && echo OUT"},
    {"leaves_its_cgroup",
     "for f in $(find /sys/fs/cgroup -name cgroup.procs 2>&- | head); do "
     "(exec 5>$f) 2>&- && echo OUT; done"},
    {"writes_where_all_may",
     "echo x >/var/tmp/tiro-out && echo OUT; echo x >/tmp/tiro-out && "
     "echo OUT; rm -f /var/tmp/tiro-out /tmp/tiro-out"},
    {"writes_where_programs_are",
     "for d in /bin /usr/bin /usr/local/bin /etc /var/spool/cron /root; do "
     "(: >$d/tiro-out) 2>&- && echo OUT; rm -f $d/tiro-out; done"},
    {"runs_a_copy_of_the_shell", "cp /bin/sh s; ./s -c 'echo x >>../outside; cat ~/.ssh/id'"},
    {"runs_through_the_loader",
     "for l in /lib64/ld-linux*.so.* /lib/ld-linux*.so.*; do "
     "$l /bin/sh -c 'echo x >>../outside; cat ~/.ssh/id'; done"},
};

static bool is_dead(void *fifo)
{
    char byte;
    return read(*(int *)fifo, &byte, 1) == 0;
}

static void try_command(void **state)
{
    const struct try *t = *state;
    bool failed;
    assert_int_equal(mkfifoat(place.root_fd, "fifo", 0600), 0);
    int fifo = openat(place.root_fd, "fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const char *out = command_with(t->command, NULL, &failed);
    if (strstr(out, "OUT") || strstr(out, KEY))
        fail_msg("%s: %s", t->name, out);
    assert_true(support_wait_until(is_dead, &fifo, SOON_MS));
    close(fifo);
    look_outside();
}

FIXTURE(setup, teardown);

__attribute__((constructor)) static void add_tries(void)
{
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        suite_add(__FILE__, tries[i].name, try_command, &tries[i]);
}

/* --- functions that try ----------------------------------------------------------------------- */

/* They run in a confined process, which has descriptors of the test, and return whether they got
 * out. */

static bool opens(const char *name, int flags)
{
    int fd = open(name, flags, 0600);
    return fd >= 0;
}

static bool writes_to(int fd)
{
    return fd >= 0 && write(fd, "x", 1) == 1;
}

static bool connects(int fd, const struct sockaddr *address, socklen_t size)
{
    return fd >= 0 && connect(fd, address, size) == 0;
}

static bool sends_to(int fd, const char *name, bool abstract)
{
    const struct sockaddr_un a = local_address(name, abstract);
    return sendto(fd, "x", 1, MSG_DONTWAIT, (const struct sockaddr *)&a, sizeof a) == 1;
}

#define ATTEMPTS(X)                                                                                \
    X(truncates_by_name, truncate(support_path("outside"), 0) == 0)                                \
    X(truncates_as_it_reads, opens(support_path("outside"), O_RDONLY | O_TRUNC))                   \
    X(creates_anew, opens(support_path("outside"), O_WRONLY | O_CREAT | O_TRUNC))                  \
    X(appends, opens(support_path("outside"), O_RDWR | O_APPEND))                                  \
    X(makes_a_nameless_file, opens(support_dir(), O_TMPFILE | O_WRONLY))                           \
    X(writes_a_directory_opened_as_a_path, writes_by_path_descriptor())                            \
    X(reopens_a_path_descriptor, reopens_path_descriptor())                                        \
    X(links_a_nameless_file_out, links_nameless_out())                                             \
    X(links_by_descriptor, links_by_descriptor())                                                  \
    X(exchanges_files, exchanges())                                                                \
    X(shortens_what_it_reads, ftruncate(open(support_path("outside"), O_RDONLY), 0) == 0)          \
    X(maps_what_it_reads, maps_for_writing())                                                      \
    X(opens_by_openat2, opens_by_openat2())                                                        \
    X(opens_by_handle, opens_by_handle())                                                          \
    X(mounts_by_the_new_calls, mounts_by_new_calls())                                              \
    X(changes_the_root_by_call, syscall(SYS_chroot, "/") == 0)                                     \
    X(pivots, syscall(SYS_pivot_root, ".", ".") == 0)                                              \
    X(unshares_users, unshare(CLONE_NEWUSER) == 0)                                                 \
    X(unshares_all, unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID) == 0)       \
    X(clones_users, clones(CLONE_NEWUSER))                                                         \
    X(clones_by_clone3, clones_by_clone3())                                                        \
    X(enters_a_namespace, setns(open("/proc/self/ns/user", O_RDONLY), 0) == 0)                     \
    X(traces_its_parent, ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0)                        \
    X(seizes_its_parent, ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0)                         \
    X(reads_its_parents_memory, touches_parent(SYS_process_vm_readv))                              \
    X(writes_its_parents_memory, touches_parent(SYS_process_vm_writev))                            \
    X(takes_a_descriptor, takes_descriptor())                                                      \
    X(compares_with_its_parent, syscall(SYS_kcmp, getpid(), getppid(), 1, 0, 0) >= 0)              \
    X(limits_its_parent, prlimit(getppid(), RLIMIT_CORE, &(struct rlimit){0, 0}, NULL) == 0)       \
    X(joins_its_parents_group, setpgid(0, getpgid(getppid())) == 0 && false)                       \
    X(has_a_ring, syscall(SYS_io_uring_setup, 4, (char[256]){0}) >= 0)                             \
    X(handles_faults, syscall(SYS_userfaultfd, 1) >= 0)                                            \
    X(loads_a_program_of_the_kernel, loads_bpf())                                                  \
    X(counts_events, counts_events())                                                              \
    X(adds_a_key, syscall(SYS_add_key, "user", "tiro", "x", 1, -4) > 0)                            \
    X(asks_for_a_key, syscall(SYS_request_key, "user", "tiro", NULL, -4) > 0)                      \
    X(reads_keys_of_the_kernel, syscall(SYS_keyctl, 0, -4, 0) > 0)                                 \
    X(listens_to_files, syscall(SYS_fanotify_init, 0x200, 0) >= 0)                                 \
    X(shares_memory, shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT) >= 0)                             \
    X(queues_messages, syscall(SYS_msgget, IPC_PRIVATE, 0600 | IPC_CREAT) >= 0)                    \
    X(has_semaphores, syscall(SYS_semget, IPC_PRIVATE, 1, 0600 | IPC_CREAT) >= 0)                  \
    X(opens_a_queue, mq_open("/tiro", O_RDWR | O_CREAT, 0600, NULL) >= 0)                          \
    X(makes_a_memory_device, mknod("zero", S_IFCHR | 0600, makedev(1, 5)) == 0)                    \
    X(types_into_a_terminal, ioctl(outside.its_slave, TIOCSTI, "x") == 0)                          \
    X(types_with_a_wide_number,                                                                    \
      syscall(SYS_ioctl, outside.its_slave, UINT64_C(0x100000000) | TIOCSTI, "x") == 0)            \
    X(pastes_into_a_console, pastes())                                                             \
    X(opens_a_terminal, opens("/dev/ptmx", O_RDWR | O_NOCTTY))                                     \
    X(sees_the_kernels_log, syscall(SYS_syslog, 10, NULL, 0) >= 0)                                 \
    X(loads_a_module, syscall(SYS_init_module, NULL, 0, "") == 0 || errno != EPERM)                \
    X(loads_a_kernel, syscall(SYS_kexec_load, 0, 0, NULL, 0) == 0)                                 \
    X(swaps, syscall(SYS_swapoff, "x") == 0 || errno != EPERM)                                     \
    X(connects_by_tcp, connects_by_tcp())                                                          \
    X(connects_by_mptcp, socket(AF_INET, SOCK_STREAM, 262) >= 0)                                   \
    X(sends_by_udp, socket(AF_INET, SOCK_DGRAM, 0) >= 0)                                           \
    X(sends_raw, socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0)                                     \
    X(pings, socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP) >= 0)                                       \
    X(has_a_socket_of_ipv6, socket(AF_INET6, SOCK_STREAM, 0) >= 0)                                 \
    X(has_a_socket_of_a_path, socket(AF_UNIX, SOCK_STREAM, 0) >= 0)                                \
    X(has_datagrams_of_a_path, socket(AF_UNIX, SOCK_DGRAM, 0) >= 0)                                \
    X(has_a_socket_of_netlink, socket(AF_NETLINK, SOCK_RAW, 0) >= 0)                               \
    X(has_a_socket_of_packets, socket(AF_PACKET, SOCK_RAW, 0) >= 0)                                \
    X(has_a_socket_of_the_host, socket(40 /* AF_VSOCK */, SOCK_STREAM, 0) >= 0)                    \
    X(has_a_socket_of_ciphers, socket(38 /* AF_ALG */, SOCK_SEQPACKET, 0) >= 0)                    \
    X(has_a_socket_of_any_family, any_family())                                                    \
    X(has_a_socket_of_a_wide_number, syscall(SYS_socket, UINT64_C(0x100000002), 1, 0) >= 0)        \
    X(sends_from_a_pair, sends_from_pair(SOCK_DGRAM))                                              \
    X(sends_from_a_raw_pair, sends_from_pair(SOCK_RAW))                                            \
    X(sends_from_a_pair_of_packets, sends_from_pair(SOCK_SEQPACKET))                               \
    X(connects_a_pair, connects_pair())                                                            \
    X(listens_with_a_pair, listens_with_pair())                                                    \
    X(takes_off_no_new_privileges, prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0)                    \
    X(allows_itself_all, allows_all() && socket(AF_INET, SOCK_STREAM, 0) >= 0)                     \
    X(has_another_sandbox, has_another_sandbox())                                                  \
    X(runs_from_memory, runs_from_memory())                                                        \
    X(has_calls_of_x32, has_x32())                                                                 \
    X(has_calls_of_i386, has_i386())                                                               \
    X(has_new_calls, syscall(467, AT_FDCWD, "/", 1, NULL, 0) >= 0 || errno != ENOSYS)              \
    X(races_a_directory, races())                                                                  \
    X(reads_its_parents_ring, opens(support_text("/proc/%d/fd/0", (int)getppid()), O_RDONLY))

#define SIGNALS(X)                                                                                 \
    X(signals_its_parent, kill(getppid(), SIGURG) == 0)                                            \
    X(signals_all, kill(-1, SIGURG) == 0 && false)                                                 \
    X(signals_a_thread, syscall(SYS_tgkill, getppid(), getppid(), SIGURG) == 0)                    \
    X(signals_with_a_word, sigqueue(getppid(), SIGURG, (union sigval){.sival_int = 1}) == 0)       \
    X(signals_by_a_descriptor,                                                                     \
      syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, getppid(), 0), SIGURG, NULL, 0) == 0) \
    X(signals_by_a_file, signals_by_file())

static bool writes_by_path_descriptor(void)
{
    int up = open("..", O_PATH);
    return opens(support_text("/proc/self/fd/%d/outside", up), O_WRONLY) ||
           openat(up, "outside", O_WRONLY) >= 0 || unlinkat(up, "outside", 0) == 0 ||
           (fchdir(up) == 0 && opens("outside", O_WRONLY));
}

static bool reopens_path_descriptor(void)
{
    int fd = open("../outside", O_PATH), key = open("../.ssh/id", O_PATH);
    return opens(support_text("/proc/self/fd/%d", fd), O_WRONLY) ||
           opens(support_text("/proc/self/fd/%d", key), O_RDONLY);
}

static bool links_nameless_out(void)
{
    int fd = open(".", O_TMPFILE | O_WRONLY, 0600);
    return linkat(AT_FDCWD, support_text("/proc/self/fd/%d", fd), AT_FDCWD, "../new",
                  AT_SYMLINK_FOLLOW) == 0 ||
           linkat(fd, "", AT_FDCWD, "../new", AT_EMPTY_PATH) == 0;
}

static bool links_by_descriptor(void)
{
    int fd = open("../outside", O_RDONLY);
    return linkat(AT_FDCWD, support_text("/proc/self/fd/%d", fd), AT_FDCWD, "in",
                  AT_SYMLINK_FOLLOW) == 0 ||
           linkat(fd, "", AT_FDCWD, "in", AT_EMPTY_PATH) == 0;
}

static bool exchanges(void)
{
    (void)opens("in", O_WRONLY | O_CREAT);
    return syscall(SYS_renameat2, AT_FDCWD, "in", AT_FDCWD, "../outside", 2 /* exchange */) == 0;
}

static bool maps_for_writing(void)
{
    int fd = open("../outside", O_RDONLY);
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED;
}

static bool opens_by_openat2(void)
{
    uint64_t how[3] = {O_WRONLY, 0, 0}, shorten[3] = {O_RDONLY | O_TRUNC, 0, 0};
    return syscall(SYS_openat2, AT_FDCWD, "../outside", how, sizeof how) >= 0 ||
           syscall(SYS_openat2, AT_FDCWD, "../outside", shorten, sizeof shorten) >= 0;
}

static bool opens_by_handle(void)
{
    union {
        struct file_handle handle;
        char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } h = {.handle.handle_bytes = MAX_HANDLE_SZ};
    int mount_id, root = open("/", O_RDONLY);
    (void)name_to_handle_at(AT_FDCWD, "../.ssh/id", &h.handle, &mount_id, 0);
    return open_by_handle_at(root, &h.handle, O_RDONLY) >= 0;
}

static bool mounts_by_new_calls(void)
{
    return syscall(SYS_open_tree, AT_FDCWD, "..", 1 /* clone */) >= 0 ||
           syscall(SYS_fsopen, "tmpfs", 0) >= 0 || syscall(SYS_fspick, AT_FDCWD, "/", 0) >= 0 ||
           syscall(SYS_move_mount, AT_FDCWD, "..", AT_FDCWD, ".", 0) == 0 ||
           syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, (uint64_t[4]){0}, 32) == 0;
}

static bool clones(uint64_t flags)
{
    long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        _exit(0);
    return pid > 0;
}

static bool clones_by_clone3(void)
{
    uint64_t arguments[11] = {CLONE_NEWUSER, [4] = SIGCHLD};
    long pid = syscall(SYS_clone3, arguments, sizeof arguments);
    if (pid == 0)
        _exit(0);
    return pid > 0;
}

static char shared_byte;

static bool touches_parent(long call)
{
    char byte = 'x';
    struct iovec here = {&byte, 1}, there = {&shared_byte, 1};
    return syscall(call, getppid(), &here, 1, &there, 1, 0) == 1;
}

static bool takes_descriptor(void)
{
    long parent = syscall(SYS_pidfd_open, getppid(), 0);
    return syscall(SYS_pidfd_getfd, parent, 0, 0) >= 0;
}

static bool loads_bpf(void)
{
    const uint32_t map[18] = {2 /* array */, 4, 8, 1};
    return syscall(SYS_bpf, 0, map, sizeof map) >= 0;
}

static bool counts_events(void)
{
    const uint32_t event[32] = {1 /* software */, 128};
    return syscall(SYS_perf_event_open, event, 0, -1, -1, 0) >= 0;
}

static bool pastes(void)
{
    char paste = 3;
    errno = 0;
    return ioctl(outside.its_slave, 0x541C /* TIOCLINUX */, &paste) == 0 || errno != EPERM;
}

static bool connects_by_tcp(void)
{
    const struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = outside.port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int inherited = outside.tcp;
    return connects(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&in, sizeof in) ||
           connects(inherited, (const struct sockaddr *)&in, sizeof in);
}

static bool any_family(void)
{
    bool any = false;
    for (int family = 0; family < 70; family++)
        for (int type = SOCK_STREAM; type <= SOCK_SEQPACKET; type++)
            any = any || socket(family, type, 0) >= 0;
    return any;
}

static bool sends_from_pair(int type)
{
    int fds[2] = {-1, -1};
    return socketpair(AF_UNIX, type, 0, fds) == 0 &&
           (sends_to(fds[0], support_path("journal.sock"), false) ||
            sends_to(fds[0], support_path("abstract"), true)) &&
           type != SOCK_SEQPACKET; /* the other end has it: look_outside() sees */
}

static bool connects_pair(void)
{
    int fds[2] = {-1, -1};
    const struct sockaddr_un a = local_address(support_path("docker.sock"), false);
    (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    close(fds[1]);
    shutdown(fds[0], SHUT_RDWR);
    (void)!connect(fds[0], &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr));
    return connects(fds[0], (const struct sockaddr *)&a, sizeof a);
}

static bool listens_with_pair(void)
{
    int fds[2] = {-1, -1};
    const struct sockaddr_un a = local_address("listening", false);
    (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    return bind(fds[0], (const struct sockaddr *)&a, sizeof a) == 0 && listen(fds[0], 1) == 0;
}

struct instruction { /* as the kernel's sock_filter */
    uint16_t code;
    uint8_t yes, no;
    uint32_t k;
};

static bool allows_all(void)
{
    struct instruction allow = {6, 0, 0, 0x7fff0000};
    const struct {
        unsigned short len;
        struct instruction *list;
    } program = {1, &allow};
    return prctl(PR_SET_SECCOMP, 2, &program) == 0;
}

/* A second one that grants all takes nothing off. */
static bool has_another_sandbox(void)
{
    struct {
        uint64_t files;
    } attributes = {1 << 1};
    int set = (int)syscall(444, &attributes, sizeof attributes, 0);
    struct {
        uint64_t allowed;
        int32_t directory;
    } __attribute__((packed)) all = {1 << 1, open("/", O_PATH)};
    (void)!syscall(445, set, 1, &all, 0);
    (void)!syscall(446, set, 0);
    return opens("../outside", O_WRONLY);
}

static bool runs_from_memory(void)
{
    char bytes[65536];
    ssize_t n;
    int from = open("/bin/sh", O_RDONLY), to = (int)syscall(SYS_memfd_create, "sh", 0);
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        (void)!write(to, bytes, (size_t)n);
    pid_t pid = fork();
    if (pid == 0) {
        char name[] = "sh", option[] = "-c", text[] = "echo x >>../outside && exit 1";
        char *const argv[] = {name, option, text, NULL};
        fexecve(to, argv, (char *[]){NULL});
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static bool has_x32(void)
{
#ifdef __x86_64__
    return syscall(0x40000000 | SYS_getpid) > 0;
#else
    return false;
#endif
}

static bool has_i386(void)
{
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L /* getpid */) : "memory");
    return result > 0;
#else
    return false;
#endif
}

static void *swap_names(void *stop)
{
    while (!*(volatile bool *)stop) {
        (void)!rename("d", "e");
        (void)!symlink("..", "d");
        unlink("d");
        (void)!rename("e", "d");
    }
    return NULL;
}

static bool races(void)
{
    bool stop = false, out = false;
    pthread_t swapper;
    mkdir("d", 0700);
    pthread_create(&swapper, NULL, swap_names, &stop);
    for (int i = 0; i < 20000 && !out; i++)
        out = writes_to(open("d/outside", O_WRONLY));
    stop = true;
    pthread_join(swapper, NULL);
    return out;
}

static bool signals_by_file(void)
{
    int ends[2] = {-1, -1};
    (void)!pipe(ends);
    (void)fcntl(ends[0], F_SETOWN, getppid());
    (void)fcntl(ends[0], F_SETSIG, SIGURG);
    (void)fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    (void)!write(ends[1], "x", 1);
    return false; /* look_outside() sees */
}

static void confine(struct sandbox *s, bool network)
{
    struct error e = {0};
    assert_ok(bounds_make(&place.tools.host, network, s, &e), e);
}

static void run_attempt(bool (*out)(void))
{
    struct sandbox sandbox;
    int status;
    confine(&sandbox, false);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(PATIENCE_S);
        _exit(chdir(place.root) == 0 && sandbox_enter(&sandbox, sandbox.files) ? out() * OUT : 99);
    }
    sandbox_release(&sandbox);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        assert_int_equal(WTERMSIG(status), SIGSYS);
    else
        assert_int_equal(WEXITSTATUS(status), 0);
    look_outside();
}

#define X(name, does)                                                                              \
    static bool does_##name(void)                                                                  \
    {                                                                                              \
        return does;                                                                               \
    }                                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        run_attempt(does_##name);                                                                  \
    }
ATTEMPTS(X)
SIGNALS(X)
#undef X

__attribute__((constructor)) static void add_attempts(void)
{
#define X(name, does) suite_add(__FILE__, #name, test_##name, NULL);
    ATTEMPTS(X)
    SIGNALS(X)
#undef X
}

/* --- what it must let through ----------------------------------------------------------------- */

static bool has(const char *program)
{
    return system(support_text("command -v %s >/dev/null 2>&1", program)) == 0;
}

TEST(ordinary_work_succeeds)
{
    static const struct {
        const char *needs, *command; /* NULL: every system has it */
    } work[] = {
        {NULL, "ls ~ && ls / && cat /etc/passwd >/dev/null && id && date"},
        {NULL, "cat ~/outside ~/src/other/readme"},
        {NULL, "mkdir -p a/b && echo x >a/b/c && mv a/b/c a/c && ln a/c a/d && rm -r a"},
        {NULL, "seq 1 200000 | sort -R -S 1M | sort -n -S 1M | tail -1"},
        {NULL, "f=$(mktemp) && echo x >\"$f\" && mv \"$f\" here && cp here \"$TMPDIR\" && rm here"},
        {NULL,
         "cat <<EOF\nx\nEOF\nhead -c 8 /dev/urandom | wc -c; dd if=/dev/zero of=/dev/null "
         "bs=1k count=1"},
        {NULL, "echo e >/dev/stderr; echo o >/dev/stdout; (sleep 0.01 & wait); kill -0 $$"},
        {NULL, "touch x && chmod 700 x && touch -d yesterday x && : >x && [ -x x ]"},
        {NULL, "sleep 60 & kill $!; wait $!; [ $? -gt 128 ]"},
        {"tar",
         "mkdir -p t && echo x >t/f && tar czf t.tgz t && rm -r t && tar xzf t.tgz && cat t/f"},
        {"cc", "echo 'int main(void){return 0;}' >m.c && cc -o m m.c && ./m"},
        {"make", "printf 'all: o\\no:\\n\\techo x >$@\\n' >Makefile && make -j2 && cat o"},
        {"git",
         "git init -q . && git config user.email a@b && git config user.name a && "
         "touch g && git add g && git commit -qm g && git status --short && git log --oneline"},
        {"python3",
         "python3 -c 'import tempfile, subprocess; tempfile.TemporaryFile(); "
         "subprocess.check_call([\"true\"])'"},
        {"perl", "perl -e 'open(F, \">p\") or die; print F 1; print `cat p`'"},
        {"node",
         "node -e 'require(\"fs\").writeFileSync(\"n\", \"1\");"
         "require(\"child_process\").execSync(\"true\")'"},
        {"strace", "strace -o s true"},
    };
    place.context.deadline_ms = clock_mono_ms() + 1000 * 120 * support_patience();
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
        bool failed = false;
        const char *out = !work[i].needs || has(work[i].needs)
                              ? command_with(work[i].command, NULL, &failed)
                              : "";
        if (failed)
            fail_msg("%s: %s", work[i].command, out);
    }
    look_outside();
}

TEST(says_how_to_get_what_it_refused)
{
    bool failed;
    const char *out = command_with("echo x >>../outside", NULL, &failed);
    assert_true(failed);
    assert_non_null(strstr(out, "[the sandbox may have refused something"));
    assert_non_null(strstr(out, "access \"network\" or \"all\""));
    out = command_with("exit 3", NULL, &failed);
    assert_null(strstr(out, "sandbox"));
    out = command_with("echo permission denied", NULL, &failed);
    assert_false(failed);
    assert_null(strstr(out, "sandbox"));
    command_with("echo x >>../outside", "all", &failed);
    assert_false(failed);
    assert_string_equal(support_read(support_path("outside")), "outside\nx\n");
}

/* With the network there are the internet's sockets alone, and files as before. */
TEST(the_network_is_no_way_out)
{
    struct sandbox sandbox;
    int status;
    confine(&sandbox, true);
    pid_t pid = fork();
    if (pid == 0) {
        const struct sockaddr_in in = {.sin_family = AF_INET,
                                       .sin_port = outside.port,
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        if (chdir(place.root) != 0 || !sandbox_enter(&sandbox, sandbox.files))
            _exit(90);
        int result = 0;
        if (!connects(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&in, sizeof in) ||
            socket(AF_INET, SOCK_DGRAM, 0) < 0 || socket(AF_NETLINK, SOCK_RAW, 0) < 0)
            result = 91;
        for (int family = 0; family < 70; family++)
            if (family != AF_INET && family != AF_INET6 && family != AF_NETLINK &&
                socket(family, SOCK_STREAM, 0) >= 0)
                result = 92;
        if (socket(AF_NETLINK, SOCK_RAW, 12 /* netfilter */) >= 0 ||
            opens("../outside", O_WRONLY) || opens("../.ssh/id", O_RDONLY) ||
            does_sends_from_a_pair())
            result = 93;
        _exit(result);
    }
    sandbox_release(&sandbox);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    int fd = accept(outside.tcp, NULL, NULL);
    assert_true(fd >= 0);
    close(fd);
}

/* In the home directory, keys and tiro's own files stay closed, and nothing is made beside them. */
TEST(a_project_with_keys_keeps_them)
{
    bool failed;
    toolset_release(&place.tools);
    const struct tool_host host = {.root_fd = open(support_dir(), O_RDONLY | O_DIRECTORY),
                                   .root = support_dir(),
                                   .sandbox = true};
    toolset_init(&place.tools, tool_sources, &host);
    const char *out = command_with(
        "echo x >>outside; cat .ssh/id .netrc; mv .ssh s; echo x >new; "
        "echo x >.config/tiro/tiro.ini; mkdir -p .config/tiro/new; "
        "echo y >work/file; cat work/file",
        NULL, &failed);
    assert_null(strstr(out, KEY));
    assert_non_null(strstr(out, "y\n"));
    assert_string_equal(support_read(support_path("outside")), "outside\nx\n");
    assert_string_equal(support_read(support_path(".config/tiro/tiro.ini")), KEY);
    assert_int_equal(access(support_path("new"), F_OK), -1);
    assert_int_equal(access(support_path("s"), F_OK), -1);
    close(host.root_fd);
}

TEST(more_directories_can_be_written)
{
    bool failed;
    place.tools.host.sandbox_writes = "/nowhere, ~/src";
    const char *out = command_with("echo x >~/src/made && cat ~/src/made", NULL, &failed);
    assert_false(failed);
    assert_string_equal(out, "x\n[exit status 0]");
}

/* A command leaves a link in the place of a directory that the next one may change. */
TEST(a_link_does_not_widen_it)
{
    bool failed;
    workplace_mkdir("work/tmp");
    setenv("TMPDIR", support_path("work/tmp"), 1);
    command_with("rmdir tmp && ln -s .. tmp", NULL, &failed);
    assert_false(failed);
    command_with("echo x >>tmp/outside; echo x >../new", NULL, &failed);
    assert_true(failed);
    setenv("TMPDIR", support_path("tmp"), 1);
    workplace_mkdir("tmp/more");
    place.tools.host.sandbox_writes = "~/tmp/more";
    command_with("rmdir ~/tmp/more && ln -s .. ~/tmp/more", NULL, &failed);
    assert_false(failed);
    command_with("echo x >>~/outside; echo x >~/new", NULL, &failed);
    assert_true(failed);
    look_outside();
}

/* The working directory in the directory of temporary files, moved away while the rules are made.
 */
TEST(a_link_for_the_project_gets_nothing)
{
    struct sandbox sandbox;
    int status;
    assert_int_equal(rename(place.root, support_path("work2")), 0);
    workplace_link("src", "work");
    confine(&sandbox, false);
    pid_t pid = fork();
    if (pid == 0)
        _exit(sandbox_enter(&sandbox, sandbox.files)
                  ? opens(support_path("src/new"), O_WRONLY | O_CREAT)
                  : 99);
    sandbox_release(&sandbox);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(without_the_setting_nothing_is_confined)
{
    bool failed;
    place.tools.host.sandbox = false;
    command_with("echo x >>../outside", "project", &failed);
    assert_false(failed);
    assert_null(
        strstr(workplace_preview("run_command", "{\"command\":\"ls\",\"access\":\"all\"}", false),
               "sandbox"));
}

TEST(a_question_says_where_it_runs)
{
    static const char *const rows[][2] = {
        {"project", ""}, {"network", "with the network, "}, {"all", "OUTSIDE the sandbox, "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *args = support_text("{\"command\":\"ls\",\"access\":\"%s\"}", rows[i][0]);
        assert_string_equal(workplace_preview("run_command", args, false),
                            support_text("%sin %s:\nls", rows[i][1], place.root));
    }
}

/* --- questions -------------------------------------------------------------------------------- */

FIXTURES(plays, play_setup, play_teardown);

#define COMMAND(text)                                                                              \
    {                                                                                              \
        .tool = "run_command", .args = "{\"command\":" text "}"                                    \
    }
#define DONE                                                                                       \
    {                                                                                              \
        .text = "Done.", .stop = STOP_END_TURN                                                     \
    }

static const char *result_of(int n)
{
    return play_event(EVENT_TOOL_EXECUTION_COMPLETED, n)->text;
}

TEST(inside_no_question_is_asked)
{
    play.sandbox = true;
    play_policy(NULL, "write, outside-sandbox", NULL);
    play.absent = true;
    PLAY(COMMAND("\"echo ran; echo x >>/etc/passwd\""), COMMAND("\"ls\",\"access\":\"network\""),
         COMMAND("\"ls\",\"access\":\"all\""), DONE);
    assert_non_null(strstr(result_of(0), "ran\n"));
    assert_non_null(strstr(result_of(0), "[the sandbox may have refused"));
    assert_non_null(strstr(result_of(1), "about each command that leaves the sandbox"));
    assert_non_null(strstr(result_of(2), "about each command that leaves the sandbox"));
}

TEST(outside_a_question_is_asked_each_time)
{
    play.sandbox = true;
    play_policy("run_command execute", "", NULL);
    play.answer = APPROVAL_ALLOW;
    play.for_session = true;
    PLAY(COMMAND("\"echo ran\""), COMMAND("\"echo ran\",\"access\":\"all\""),
         COMMAND("\"echo ran\",\"access\":\"all\""), DONE);
    assert_int_equal(play.questions, 2);
    assert_non_null(strstr(play.asked_preview, "OUTSIDE the sandbox, in "));
    for (int i = 0; i < 3; i++)
        assert_string_equal(result_of(i), "ran\n[exit status 0]");
}

TEST(without_a_sandbox_the_word_spares_nothing)
{
    play_policy(NULL, "outside-sandbox", NULL);
    play.answer = APPROVAL_DENY;
    PLAY(COMMAND("\"echo ran\""), DONE);
    assert_int_equal(play.questions, 1);
}

TEST(what_is_denied_stays_denied)
{
    play.sandbox = true;
    play_policy(NULL, "outside-sandbox", "execute");
    PLAY(COMMAND("\"echo ran\""), DONE);
    assert_int_equal(play.questions, 0);
    assert_null(strstr(result_of(0), "ran\n"));
}
