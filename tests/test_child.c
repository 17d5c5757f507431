/* Programs started by ours: their output and input, what kills them, and that nothing is left. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "tests/suite.h"

enum { PATIENCE_MS = 20000, SOON_MS = 5000 };

static struct buf output;
static size_t most; /* bytes that take() accepts; 0: all */
static struct child_result result;
static struct error fault;

static int setup(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    buf_init(&output, 0);
    most = 0;
    return support_setup(state);
}

static int teardown(void **state)
{
    buf_release(&output);
    return support_teardown(state);
}

static bool take(void *context, const char *bytes, size_t len)
{
    (void)context;
    buf_add(&output, bytes, len);
    return most == 0 || output.len <= most;
}

static struct child_command plain(const char *const *argv, int timeout_ms)
{
    return (struct child_command){
        .argv = argv, .deadline_ms = clock_mono_ms() + timeout_ms, .take = take};
}

static enum child_end run(const struct child_command *c)
{
    buf_clear(&output);
    assert_ok(child_run(c, &result, &fault), fault);
    return result.end;
}

static enum child_end shell(const char *text, int timeout_ms)
{
    const struct child_command c = plain(TEXTS("/bin/sh", "-c", text), timeout_ms);
    return run(&c);
}

FIXTURE(setup, teardown);

TEST(tells_output_and_status)
{
    assert_int_equal(shell("echo one; echo noise >&2; cat; exit 3", PATIENCE_MS), CHILD_EXITED);
    assert_int_equal(result.status, 3);
    assert_string_equal(output.data, "one\n");
    assert_int_equal(shell("kill -15 $$", PATIENCE_MS), CHILD_SIGNALED);
    assert_int_equal(result.status, SIGTERM);

    struct child_command c =
        plain(TEXTS("/bin/sh", "-c", "echo a; echo b >&2; echo c"), PATIENCE_MS);
    c.with_errors = true;
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_string_equal(output.data, "a\nb\nc\n");
}

TEST(says_what_cannot_be_started)
{
    struct child_command c = plain(TEXTS("/nonexistent/x"), PATIENCE_MS);
    assert_false(child_run(&c, &result, &fault));
    assert_non_null(strstr(fault.text, "/nonexistent/x: No such file"));
    c.directory = "/";
    assert_false(child_run(&c, &result, &fault));
    assert_non_null(strstr(fault.text, "No such file"));
    c = plain(TEXTS("/bin/sh", "-c", ":"), PATIENCE_MS);
    c.directory = "/nonexistent";
    assert_false(child_run(&c, &result, &fault));
    assert_non_null(strstr(fault.text, "No such file"));
}

TEST(starts_where_and_with_what_it_is_told)
{
    char *places[] = {support_path("plain"), support_path("-with 'quotes' and $blanks")};
    char *environment[] = {(char[]){"COLOUR=green"}, NULL};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_int_equal(mkdir(places[i], 0700), 0);
        struct child_command c = plain(TEXTS("/bin/sh", "-c",
                                             "echo \"$COLOUR ${HOME-none} $PWD\" "
                                             "\"$1\"",
                                             "sh", "a  b"),
                                       PATIENCE_MS);
        c.directory = places[i];
        c.environment = environment;
        assert_int_equal(run(&c), CHILD_EXITED);
        assert_string_equal(output.data, support_text("green none %s a  b\n", places[i]));
        free(places[i]);
    }
}

/* More bytes than the pipes hold, both ways at once. */
TEST(feeds_and_reads_at_once)
{
    enum { SIZE = 3 * 1024 * 1024 };
    char *text = support_keep(mem_alloc(SIZE));
    memset(text, 'x', SIZE);
    struct child_command c = plain(TEXTS("/bin/cat"), PATIENCE_MS);
    c.input = text;
    c.input_len = SIZE;
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_int_equal(output.len, SIZE);
    assert_memory_equal(output.data, text, SIZE);

    c = plain(TEXTS("/bin/sh", "-c", "head -c 3; exit 4"), PATIENCE_MS);
    c.input = text;
    c.input_len = SIZE;
    assert_int_equal(run(&c), CHILD_EXITED); /* it did not want the rest */
    assert_int_equal(result.status, 4);
    assert_string_equal(output.data, "xxx");

    c.input_len = 0;
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_string_equal(output.data, "");
}

/* A talk with a program: the next line is sent when the last one came back. */
struct talk {
    struct buf waits, errors;
    int sent;
};

static bool take_line(void *context, const char *bytes, size_t len)
{
    struct talk *t = context;
    buf_add(&output, bytes, len);
    if (memchr(bytes, '\n', len) && ++t->sent < 3)
        buf_addf(&t->waits, "%d\n", t->sent);
    return true;
}

static bool take_error(void *context, const char *bytes, size_t len)
{
    buf_add(&((struct talk *)context)->errors, bytes, len);
    return true;
}

static const char *what_waits(void *context, size_t *len)
{
    const struct talk *t = context;
    *len = t->waits.len;
    return t->sent < 3 ? t->waits.data : NULL;
}

static void was_written(void *context, size_t len)
{
    buf_consume(&((struct talk *)context)->waits, len);
}

TEST(talks_until_its_input_is_closed)
{
    struct talk t = {.waits = BUF_INIT, .errors = BUF_INIT};
    const char *text = "while read line; do echo \"got $line\"; echo bad >&2; done; echo end >&2";
    struct child_command c = plain(TEXTS("/bin/sh", "-c", text), PATIENCE_MS);
    c.take = take_line;
    c.take_errors = take_error;
    c.output = what_waits;
    c.wrote = was_written;
    c.context = &t;
    buf_addstr(&t.waits, "0\n");
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_string_equal(output.data, "got 0\ngot 1\ngot 2\n");
    assert_string_equal(t.errors.data, "bad\nbad\nbad\nend\n");
    buf_release(&t.waits);
    buf_release(&t.errors);
}

TEST(gives_the_extra_descriptor)
{
    char *path = support_path("file");
    support_write(path, "of the file");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct child_command c = plain(TEXTS("/bin/sh", "-c", "cat; cat <&3"), PATIENCE_MS);
    c.extra = fd;
    c.input = "input, ";
    c.input_len = strlen(c.input);
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_string_equal(output.data, "input, of the file");
    close(fd);
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static bool is_inherited(long fd)
{
    int flags = fcntl((int)fd, F_GETFD);
    return flags >= 0 && !(flags & FD_CLOEXEC);
}

/* Descriptors leak neither into this process nor into the child, however the child ends. */
TEST(leaves_no_descriptor)
{
    size_t before = open_descriptors();
    struct child_command broken = plain(TEXTS("/nonexistent"), PATIENCE_MS);
    for (int i = 0; i < 20; i++) {
        shell("exit 0", PATIENCE_MS);
        assert_false(child_run(&broken, &result, &fault));
    }
    shell("sleep 60", 1);
    assert_int_equal(open_descriptors(), before);

    int ours = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct child_command c = plain(TEXTS("/bin/sh", "-c",
                                         "[ -e /proc/self/fd/0 ] || exit; "
                                         "for f in /proc/$$/fd/*; do echo ${f##*/}; done"),
                                   PATIENCE_MS);
    c.input = "";
    run(&c);
    for (char *line = strtok(output.data, "\n"); line; line = strtok(NULL, "\n"))
        if (strtol(line, NULL, 10) > 3) /* 3 is the shell's own, for the directory */
            assert_true(is_inherited(strtol(line, NULL, 10)));
    close(ours);
}

#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
/* Descriptors without close-on-exec, such as those of a library, are not inherited either. */
TEST(inherits_three_descriptors)
{
    int careless = open("/dev/null", O_RDONLY), given = open("/dev/null", O_RDONLY);
    static const char *const probe[] = {
        "/bin/sh", "-c",
        "for n in 3 4 5 6 7 8 9; do (: <&$n) 2>/dev/null && echo $n; done; :", NULL};
    struct child_command c = plain(probe, PATIENCE_MS);
    assert_in_range(careless, 3, 9);
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_string_equal(output.data, "");
    c.extra = given;
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_string_equal(output.data, "3\n");
    close(careless);
    close(given);
}
#endif

/* Looks for descriptors that a child of another thread would inherit. */
struct onlooker {
    atomic_bool done;
    int open; /* bits: inherited before */
    int seen; /* the first that came; -1: none */
};

enum { LOOKED_AT = 30 };

static int inherited_descriptors(void)
{
    int bits = 0;
    for (int fd = 0; fd < LOOKED_AT; fd++)
        bits |= (int)is_inherited(fd) << fd;
    return bits;
}

static void *look_on(void *arg)
{
    struct onlooker *o = arg;
    while (!atomic_load(&o->done) && o->seen < 0)
        for (int fd = 0; fd < LOOKED_AT && o->seen < 0; fd++)
            if (!(o->open >> fd & 1) && is_inherited(fd))
                o->seen = fd;
    return NULL;
}

/* A listening socket, both ends of a connection to it, and a pipe. */
static void open_each_kind(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", support_path("socket"));
    unlink(address.sun_path);
    int fds[5] = {descriptors_socket(AF_UNIX, SOCK_STREAM, 0),
                  descriptors_socket(AF_UNIX, SOCK_STREAM, 0)};
    assert_int_equal(bind(fds[0], (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fds[0], 1), 0);
    assert_int_equal(connect(fds[1], (struct sockaddr *)&address, sizeof address), 0);
    fds[2] = descriptors_accept(fds[0], NULL, NULL);
    assert_true(descriptors_pipe(fds + 3));
    for (int i = 0; i < 5; i++) {
        assert_false(is_inherited(fds[i]));
        close(fds[i]);
    }
}

/* A leak may go unnoticed where threads share one processor, but every reported leak is real. */
TEST(other_threads_children_inherit_nothing)
{
    struct onlooker o = {.open = inherited_descriptors(), .seen = -1};
    pthread_t thread;
#ifndef __linux__
    skip(); /* perhaps there is no pipe2() */
#endif
    atomic_init(&o.done, false);
    assert_int_equal(pthread_create(&thread, NULL, look_on, &o), 0);
    for (int i = 0; i < (int)suite_sample(60, 300); i++) {
        struct child_command c = plain(TEXTS("/nonexistent"), PATIENCE_MS);
        c.input = "";
        assert_false(child_run(&c, &result, &fault));
        open_each_kind();
    }
    atomic_store(&o.done, true);
    pthread_join(thread, NULL);
    assert_int_equal(o.seen, -1);
}

/* Every process of the group holds the writing end; the reader gets the end of file when all are
 * gone. */
static bool is_dead(void *fifo)
{
    char byte;
    return read(*(int *)fifo, &byte, 1) == 0;
}

static char *make_fifo(int *reader)
{
    char *path = support_path("fifo");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    *reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(*reader >= 0);
    return path;
}

TEST(a_grandchild_neither_hangs_it_nor_survives)
{
    int reader;
    char *text = support_text("sleep 60 4>'%s' & echo started", support_keep(make_fifo(&reader)));
    int64_t start = clock_mono_ms();
    assert_int_equal(shell(text, PATIENCE_MS), CHILD_EXITED);
    assert_string_equal(output.data, "started\n");
    assert_true(clock_mono_ms() - start < SOON_MS);
    assert_true(support_wait_until(is_dead, &reader, SOON_MS));
    close(reader);
}

/* The time is over when the first output came. */
static bool take_and_be_late(void *context, const char *bytes, size_t len)
{
    struct child_command *c = context;
    c->deadline_ms = clock_mono_ms();
    return take(NULL, bytes, len);
}

static enum child_end late_shell(const char *text, const char *argument)
{
    struct child_command c = plain(TEXTS("/bin/sh", "-c", text, "sh", argument), PATIENCE_MS);
    c.take = take_and_be_late;
    c.context = &c;
    return run(&c);
}

TEST(the_deadline_kills_the_group)
{
    static const char *const texts[] = {
        "exec 4>\"$1\"; echo up; sleep 60",
        "exec 4>\"$1\"; echo up; exec >&-; sleep 60",
        "trap '' TERM; exec 4>\"$1\"; echo up; while :; do sleep 1; done",
        "(trap '' TERM; exec 4>\"$1\"; echo up; while :; do sleep 1; done) & sleep 60",
        "exec 4>\"$1\"; echo up; kill -STOP $$",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int reader;
        char *fifo = support_keep(make_fifo(&reader));
        int64_t start = clock_mono_ms();
        assert_int_equal(late_shell(texts[i], fifo), CHILD_LATE);
        assert_string_equal(output.data, "up\n");
        assert_true(clock_mono_ms() - start < SOON_MS);
        assert_true(support_wait_until(is_dead, &reader, SOON_MS));
        close(reader);
    }
}

TEST(the_asked_may_say_goodbye)
{
    assert_int_equal(late_shell("trap 'echo goodbye; exit 0' TERM; echo here; "
                                "while :; do sleep .01; done",
                                ""),
                     CHILD_LATE);
    assert_string_equal(output.data, "here\ngoodbye\n");
    /* The first of the group is gone at once, the one that has work to do is not. */
    assert_int_equal(late_shell("(trap 'sleep .1; echo goodbye; exit 0' TERM; echo here; "
                                "while :; do sleep .01; done) & exec sleep 60",
                                ""),
                     CHILD_LATE);
    assert_string_equal(output.data, "here\ngoodbye\n");
}

TEST(output_can_be_refused)
{
    most = 100000;
    int64_t start = clock_mono_ms();
    assert_int_equal(shell("yes", PATIENCE_MS), CHILD_REFUSED);
    assert_true(output.len > most);
    assert_true(clock_mono_ms() - start < SOON_MS);
}

/* --- processes that leave the group ---------------------------------------------------------- */

/* Each process holds the writing end of the FIFO and then reports it: in a session of its own,
 * without a parent and deaf to SIGTERM, forked twice, a chain that restarts itself, a stopped
 * one. */
static const char *const leavers[] = {
    "setsid sh -c 'exec 4>\"$0\"; echo; exec sleep 60' \"$1\" & read -r line",
    "setsid sh -c 'exec 4>\"$0\"; echo; (trap \"\" TERM HUP; sleep 60) &' \"$1\" & read -r line",
    "(setsid sh -c '(setsid sh -c \"exec 4>\\\"\\$0\\\"; echo; exec sleep 60\" \"$0\" &)' \"$1\" "
    "&); "
    "read -r line",
    "setsid sh -c 'exec 4>\"$0\"; echo; f() { (f) & exit; }; f' \"$1\" & read -r line",
    "setsid sh -c 'exec 4>\"$0\"; echo; trap \"\" TERM; kill -STOP $$' \"$1\" & read -r line",
};
enum { LEAVERS = sizeof leavers / sizeof *leavers };

struct leaving {
    char *fifo;  /* held by what leaves */
    char *start; /* it says here that it holds it */
    int reader;
};

static void leaving_init(struct leaving *l)
{
    l->fifo = make_fifo(&l->reader);
    l->start = support_path("started");
    unlink(l->start);
    assert_int_equal(mkfifo(l->start, 0600), 0);
}

static void leaving_release(struct leaving *l)
{
    close(l->reader);
    free(l->start);
    free(l->fifo);
}

/* The program waits until the other holds the FIFO, and then does what `then` says. */
static char *leave(const struct leaving *l, size_t which, const char *then)
{
    return support_text("exec 5<>'%s'; set -- '%s'; { %s; } <&5 >&5; %s", l->start, l->fifo,
                        leavers[which], then);
}

static void assert_all_gone(struct leaving *l)
{
    assert_true(support_wait_until(is_dead, &l->reader, SOON_MS));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left, no zombie either */
    assert_false(result.left_some);
}

static void need_subreapers(void)
{
    if (access("/proc/thread-self/children", R_OK) != 0)
        skip();
}

TEST(what_leaves_the_group_dies_with_the_program)
{
    need_subreapers();
    for (size_t i = 0; i < LEAVERS; i++) {
        struct leaving l;
        leaving_init(&l);
        char *text = leave(&l, i, "echo done; exit 5");
        int64_t start = clock_mono_ms();
        assert_int_equal(shell(text, PATIENCE_MS), CHILD_EXITED);
        assert_int_equal(result.status, 5);
        assert_string_equal(output.data, "done\n");
        assert_true(clock_mono_ms() - start < SOON_MS);
        assert_all_gone(&l);
        leaving_release(&l);
    }
}

TEST(it_dies_at_the_deadline)
{
    need_subreapers();
    for (size_t i = 0; i < LEAVERS; i++) {
        struct leaving l;
        leaving_init(&l);
        char *text = leave(&l, i, "echo up; sleep 60");
        assert_int_equal(late_shell(text, ""), CHILD_LATE);
        assert_all_gone(&l);
        leaving_release(&l);
    }
}

static bool take_apart(void *context, const char *bytes, size_t len)
{
    buf_add(context, bytes, len);
    return true;
}

/* No caller waits for another's children, even when several run at once. */
static void *run_many(void *failures)
{
    for (int i = 0; i < (int)suite_sample(12, 50); i++) {
        struct child_result own;
        AUTO(buf_release) struct buf text = BUF_INIT;
        struct child_command c =
            plain(TEXTS("/bin/sh", "-c", "(sleep 60) & echo x; exit 7"), PATIENCE_MS);
        c.take = take_apart;
        c.context = &text;
        if (!child_run(&c, &own, NULL) || own.end != CHILD_EXITED || own.status != 7 ||
            own.left_some || strcmp(text.data, "x\n") != 0)
            atomic_fetch_add((atomic_int *)failures, 1);
    }
    return NULL;
}

TEST(several_at_once_are_apart)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    atomic_int failures;
    atomic_init(&failures, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, &failures), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&failures), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* A daemon of a password manager, say: it is not waited for, and lives on, also with the pipe. */
TEST(a_daemon_can_be_spared)
{
    char *pid_file = support_path("pid");
    char *fifo = support_path("up");
    char *text = support_text(
        "setsid sh -c 'echo $$ >\"$1\"; echo >\"$2\"; exec yes' sh '%s' '%s' & "
        "read line <'%s'",
        pid_file, fifo, fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int64_t start = clock_mono_ms();
    struct child_command c = plain(TEXTS("/bin/sh", "-c", text), PATIENCE_MS);
    c.spares_daemons = true;
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_true(clock_mono_ms() - start < SOON_MS);
    char *pid = support_read(pid_file);
    assert_true(strtol(pid, NULL, 10) > 1);
    assert_int_equal(kill((pid_t)strtol(pid, NULL, 10), SIGKILL), 0);
}

static bool is_there(void *path)
{
    return access(path, F_OK) == 0;
}

/* False while nobody has it open to read. */
static bool wrote(void *fifo)
{
    int fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, "\n", 1) == 1;
    if (fd >= 0)
        close(fd);
    return done;
}

/* Acts as xclip: it stays in its group and holds the text until somebody pastes. */
TEST(a_keeper_can_be_spared)
{
    char *up = support_path("up"), *wanted = support_path("wanted"), *given = support_path("given");
    char *text = support_text("{ echo >'%s'; read line <'%s'; echo >'%s'; } & read line <'%s'", up,
                              wanted, given, up);
    assert_int_equal(mkfifo(up, 0600), 0);
    assert_int_equal(mkfifo(wanted, 0600), 0);
    struct child_command c = plain(TEXTS("/bin/sh", "-c", text), PATIENCE_MS);
    c.spares_daemons = c.spares_group = true;
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_true(support_wait_until(wrote, wanted, PATIENCE_MS));
    assert_true(support_wait_until(is_there, given, PATIENCE_MS));
    free(given);
}

/* A program that works against its supervisor neither hangs us nor keeps its group. */
TEST(without_its_supervisor_it_ends)
{
    static const char *const texts[] = {"kill -KILL $PPID; sleep 60", "kill -STOP $PPID; exit 0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t start = clock_mono_ms();
        shell(texts[i], 100);
        assert_true(result.left_some);
        assert_true(clock_mono_ms() - start < 2 * SOON_MS);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
}

static bool tell_up(void *context, const char *bytes, size_t len)
{
    return len == 0 || write(*(int *)context, bytes, 1) == 1;
}

/* Killed without a word, we cannot end anything ourselves. */
TEST(nothing_outlives_us)
{
    for (size_t i = 0; i < LEAVERS; i++) {
        struct leaving l;
        leaving_init(&l);
        char *text = leave(&l, i, "echo up; sleep 60");
        int up[2];
        assert_int_equal(pipe(up), 0);
        pid_t us = fork();
        if (us == 0) {
            struct child_command c = plain(TEXTS("/bin/sh", "-c", text), PATIENCE_MS);
            c.take = tell_up;
            c.context = &up[1];
            child_run(&c, &result, &fault);
            _exit(1);
        }
        char byte;
        assert_int_equal(read(up[0], &byte, 1), 1);
        assert_int_equal(kill(us, SIGKILL), 0);
        assert_int_equal(waitpid(us, NULL, 0), us);
        assert_true(support_wait_until(is_dead, &l.reader, SOON_MS));
        close(up[0]);
        close(up[1]);
        leaving_release(&l);
    }
}

/* --- the wakeup ------------------------------------------------------------------------------ */

struct waker {
    int ends[2];
    int asked;
    int stop_at; /* the question that is answered with no */
    int64_t woken_ms;
    struct wakeup wakeup;
};

static bool go_on(void *context)
{
    struct waker *w = context;
    char byte;
    if (read(w->ends[0], &byte, 1) < 0)
        byte = 0; /* it asks for the time */
    return ++w->asked < w->stop_at;
}

static void waker_init(struct waker *w, int stop_at)
{
    *w = (struct waker){.stop_at = stop_at};
    assert_int_equal(pipe(w->ends), 0);
    fcntl(w->ends[0], F_SETFL, O_NONBLOCK);
    w->wakeup = (struct wakeup){.fd = w->ends[0], .go_on = go_on, .context = w};
}

static void waker_release(struct waker *w)
{
    close(w->ends[0]);
    close(w->ends[1]);
}

static bool wake_and_take(void *context, const char *bytes, size_t len)
{
    struct waker *w = context;
    buf_add(&output, bytes, len);
    w->woken_ms = clock_mono_ms();
    return write(w->ends[1], "x", 1) == 1;
}

/* A child that ignores SIGTERM gets SIGKILL. */
TEST(an_interrupt_kills_at_once)
{
    struct waker w;
    int reader;
    char *fifo = support_keep(make_fifo(&reader));
    char *text = support_text("trap '' TERM; exec 4>'%s'; sleep 60 & echo up; sleep 60", fifo);
    waker_init(&w, 1);
    struct child_command c = plain(TEXTS("/bin/sh", "-c", text), PATIENCE_MS);
    c.wakeup = &w.wakeup;
    c.take = wake_and_take;
    c.context = &w;
    assert_int_equal(run(&c), CHILD_STOPPED);
    assert_true(clock_mono_ms() - w.woken_ms < 450); /* no time to say goodbye */
    assert_true(support_wait_until(is_dead, &reader, SOON_MS));
    assert_int_equal(w.asked, 1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    waker_release(&w);
    close(reader);
}

TEST(an_interrupt_kills_what_left_the_group)
{
    need_subreapers();
    for (size_t i = 0; i < LEAVERS; i++) {
        struct waker w;
        struct leaving l;
        leaving_init(&l);
        waker_init(&w, 1);
        char *text = leave(&l, i, "echo up; sleep 60");
        struct child_command c = plain(TEXTS("/bin/sh", "-c", text), PATIENCE_MS);
        c.wakeup = &w.wakeup;
        c.take = wake_and_take;
        c.context = &w;
        assert_int_equal(run(&c), CHILD_STOPPED);
        assert_true(clock_mono_ms() - w.woken_ms < 450);
        assert_all_gone(&l);
        waker_release(&w);
        leaving_release(&l);
    }
}

TEST(other_wakes_do_not_disturb_it)
{
    struct waker w;
    waker_init(&w, 100);
    struct child_command c =
        plain(TEXTS("/bin/sh", "-c", "echo a; sleep .05; echo b; sleep .05"), PATIENCE_MS);
    c.wakeup = &w.wakeup;
    c.take = wake_and_take;
    c.context = &w;
    assert_int_equal(run(&c), CHILD_EXITED);
    assert_string_equal(output.data, "a\nb\n");
    assert_true(w.asked >= 1);
    close(w.ends[1]); /* hung up */
    w.ends[1] = open("/dev/null", O_WRONLY);
    assert_int_equal(run(&c), CHILD_EXITED);
    waker_release(&w);
}

TEST(the_deadline_of_the_wakeup_counts)
{
    struct waker w;
    waker_init(&w, 1);
    w.wakeup.deadline_ms = clock_mono_ms() + 100;
    struct child_command c = plain(TEXTS("/bin/sh", "-c", "sleep 60"), PATIENCE_MS);
    c.wakeup = &w.wakeup;
    int64_t start = clock_mono_ms();
    assert_int_equal(run(&c), CHILD_STOPPED);
    assert_true(clock_mono_ms() - start >= 100);
    assert_true(clock_mono_ms() - start < SOON_MS);
    assert_int_equal(w.asked, 1);
    waker_release(&w);
}

TEST(has_no_terminal)
{
    assert_int_equal(shell("(: </dev/tty) 2>/dev/null && echo terminal; exit 0", PATIENCE_MS),
                     CHILD_EXITED);
    assert_string_equal(output.data, "");
}
