#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* setgroups() */
#endif
#include "tests/pg_server.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/paths.h"
#include "tests/suite.h"

#define PROGRAMS "/usr/lib/postgresql/15/bin/"

_Noreturn static void give_up(const char *what)
{
    fprintf(stderr, "pg_server: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Whom the server runs as; NULL: as ourselves. */
static const struct passwd *user(void)
{
    const struct passwd *found = NULL;
    if (geteuid() == 0)
        found = getpwnam("postgres") ? getpwnam("postgres") : getpwnam("nobody");
    return found;
}

bool pg_server_there(void)
{
    return access(PROGRAMS "postgres", X_OK) == 0 && access(PROGRAMS "initdb", X_OK) == 0 &&
           access(PROGRAMS "psql", X_OK) == 0 && (geteuid() != 0 || user());
}

/* In the child: it dies with the test program. */
_Noreturn static void become(const struct pg_server *s, const char *const *argv)
{
    const struct passwd *as = user();
    int log = open("/dev/null", O_RDWR);
    dup2(log, 0);
    if (as && (setgroups(0, NULL) != 0 || setgid(as->pw_gid) != 0 || setuid(as->pw_uid) != 0))
        _exit(126);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
#endif
    if (chdir(s->directory) != 0)
        _exit(126);
    log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, 1);
    dup2(log, 2);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

pid_t pg_server_run(const struct pg_server *s, const char *const *argv)
{
    pid_t pid = fork();
    if (pid < 0)
        give_up("fork");
    if (pid == 0)
        become(s, argv);
    return pid;
}

/* Runs a program to its end. */
static bool run(const struct pg_server *s, const char *const *argv)
{
    int status;
    pid_t pid = pg_server_run(s, argv);
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static struct pg_server *new_server(void)
{
    struct pg_server *s = mem_alloc(sizeof *s);
    const struct passwd *as = user();
    s->directory = mem_strdup(access("/dev/shm", W_OK) == 0 ? "/dev/shm/tiro-pg-XXXXXX"
                                                            : "/tmp/tiro-pg-XXXXXX");
    if (!mkdtemp(s->directory) || (as && chown(s->directory, as->pw_uid, as->pw_gid) != 0) ||
        chmod(s->directory, 0755) != 0)
        give_up(s->directory);
    return s;
}

static bool answers(void *context)
{
    const struct pg_server *s = context;
    return pg_server_sql(s, "admin", "SELECT 1") != NULL;
}

void pg_server_again(struct pg_server *s)
{
    /* After a kill the processes of the old server must first see that it is gone. */
    for (int tries = 0; tries < 200 * support_patience(); tries++) {
        int status;
        s->pid = pg_server_run(s, TEXTS(PROGRAMS "postgres", "-D", "data", "-k", s->directory));
        while (waitpid(s->pid, &status, WNOHANG) == 0)
            if (answers(s))
                return;
        usleep(50000);
    }
    auto_free char *log = paths_join(s->directory, "log");
    fprintf(stderr, "%s", support_read(log));
    give_up("postgres does not start");
}

static void add_settings(const struct pg_server *s, const char *file, const char *text)
{
    auto_free char *path = mem_printf("%s/data/%s", s->directory, file);
    int fd = open(path, O_WRONLY | O_APPEND);
    if (fd < 0 || !paths_write_all(fd, text, strlen(text)) || close(fd) != 0)
        give_up(path);
}

struct pg_server *pg_server_start(void)
{
    struct pg_server *s = new_server();
    if (!run(s, TEXTS(PROGRAMS "initdb", "-D", "data", "-U", "admin", "-A", "trust", "-N",
                      "--no-instructions", "-E", "UTF8", "--locale=C")))
        give_up("initdb");
    add_settings(s, "postgresql.conf",
                 "listen_addresses = ''\nfsync = off\n"
                 "full_page_writes = off\nshared_buffers = 32MB\nmax_connections = 60\n"
                 "autovacuum = off\nwal_retrieve_retry_interval = 100ms\nmax_wal_size = 128MB\n");
    auto_free char *rules = mem_printf("%s/data/pg_hba.conf", s->directory);
    int fd = open(rules, O_WRONLY | O_TRUNC);
    static const char text[] =
        "local all locked scram-sha-256\nlocal all all trust\n"
        "local replication all trust\n";
    if (fd < 0 || !paths_write_all(fd, text, strlen(text)) || close(fd) != 0)
        give_up(rules);
    pg_server_again(s);
    if (!pg_server_sql(s, "admin",
                       "CREATE ROLE anna LOGIN; CREATE ROLE ben LOGIN; CREATE ROLE carl LOGIN; "
                       "CREATE ROLE locked LOGIN PASSWORD 'sesame'; "
                       "GRANT CREATE ON DATABASE postgres TO anna"))
        give_up("psql");
    return s;
}

struct pg_server *pg_server_replica(const struct pg_server *of)
{
    struct pg_server *s = new_server();
    if (!run(s, TEXTS(PROGRAMS "pg_basebackup", "-D", "data", "-R", "-X", "stream", "-c", "fast",
                      "-h", of->directory, "-U", "admin")))
        give_up("pg_basebackup");
    pg_server_again(s);
    return s;
}

void pg_server_promote(const struct pg_server *s)
{
    if (!run(s, TEXTS(PROGRAMS "pg_ctl", "promote", "-w", "-D", "data")))
        give_up("pg_ctl promote");
}

void pg_server_kill(struct pg_server *s)
{
    if (s->pid > 0) {
        kill(s->pid, SIGKILL);
        waitpid(s->pid, NULL, 0);
    }
    s->pid = 0;
}

void pg_server_stop(struct pg_server *s)
{
    if (!s)
        return;
    if (s->pid > 0) {
        kill(s->pid, SIGQUIT);
        waitpid(s->pid, NULL, 0);
    }
    auto_free char *command = mem_printf("rm -rf %s", s->directory);
    if (system(command) != 0)
        give_up(command);
    free(s->directory);
    free(s);
}

char *pg_server_url(const struct pg_server *s, const char *role)
{
    return support_text("postgresql://%s@/postgres?host=%s", role, s->directory);
}

char *pg_server_sql(const struct pg_server *s, const char *role, const char *sql)
{
    struct support_child c;
    support_start(&c, TEXTS(PROGRAMS "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", s->directory,
                            "-U", role, "-d", "postgres", "-c", sql));
    bool ok = support_finish(&c, NULL) == 0;
    char *out = support_text("%s", c.out_text.data);
    support_release(&c);
    return ok ? out : NULL;
}
