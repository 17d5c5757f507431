#define _GNU_SOURCE /* ST_NOEXEC */
#include "tests/suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "tests/default_signals.h"

extern char **environ;

enum { CHILD_DEADLINE_MS = 30000 };

static char *test_dir;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER; /* over the next */
static VEC(char *) kept;
static char *test_seed;

_Noreturn static void give_up(const char *what)
{
    fprintf(stderr, "support: %s: %s\n", what, strerror(errno));
    exit(99);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_leak(const char *variable)
{
    static const char *const prefixes[] = {"XDG_",    "TIRO_",      "LC_",
                                           "OLLAMA_", "ANTHROPIC_", "OPENAI_"};
    static const char *const suffixes[] = {"_API_KEY", "_AUTH_TOKEN", "_BASE_URL", "_proxy",
                                           "_PROXY"};
    static const char *const names[] = {"NO_COLOR", "LANG",   "LANGUAGE", "TEXTDOMAINDIR",
                                        "EDITOR",   "VISUAL"};

    size_t len = strcspn(variable, "=");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);
        if (len >= n && strncmp(variable + len - n, suffixes[i], n) == 0)
            return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (len == strlen(names[i]) && strncmp(variable, names[i], len) == 0)
            return true;
    return false;
}

static void remove_tree(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return;
    if (!S_ISDIR(st.st_mode)) {
        unlink(path);
        return;
    }
    chmod(path, 0700);
    DIR *d = opendir(path);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        auto_free char *child = mem_printf("%s/%s", path, entry->d_name);
        remove_tree(child);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

/* A place where a sync is free: on a disk, databases wait ten times as long as the tests compute.
 * The largest test has files of 100 MB, and several run at once. */
static const char *place(void)
{
    static const char memory[] = "/dev/shm";
    enum { ROOM = 500 * 1000 * 1000 };
    struct statvfs fs;
    const char *chosen = getenv("TMPDIR");
    if (chosen && *chosen)
        return chosen;
    bool fits = access(memory, W_OK) == 0 && statvfs(memory, &fs) == 0 &&
                !(fs.f_flag & ST_NOEXEC) && fs.f_bavail * fs.f_frsize > ROOM;
    return fits ? memory : "/tmp";
}

int support_setup(void **state)
{
    (void)state;
    test_dir = mem_printf("%s/tiro-test-XXXXXX", place());
    if (!mkdtemp(test_dir))
        give_up(test_dir);
    char *real = realpath(test_dir, NULL);
    if (!real)
        give_up(test_dir);
    free(test_dir);
    test_dir = real;
    if (!test_seed && getenv("TIRO_TEST_SEED"))
        test_seed = mem_strdup(getenv("TIRO_TEST_SEED"));
    for (size_t i = 0; environ[i];) {
        if (!is_leak(environ[i])) {
            i++;
            continue;
        }
        auto_free char *name = mem_strndup(environ[i], strcspn(environ[i], "="));
        unsetenv(name);
    }
    setenv("HOME", test_dir, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setlocale(LC_ALL, "C.UTF-8");
    return 0;
}

int support_teardown(void **state)
{
    (void)state;
    remove_tree(test_dir);
    free(test_dir);
    test_dir = NULL;
    return 0;
}

const char *support_dir(void)
{
    return test_dir;
}

char *support_keep(char *text)
{
    pthread_mutex_lock(&keeping);
    vec_push(&kept, text);
    pthread_mutex_unlock(&keeping);
    return text;
}

char *support_text(const char *format, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    return support_keep(buf_take(&text));
}

char *support_json(const char *text)
{
    char *json = support_keep(mem_strdup(text));
    for (char *c = json; (c = strchr(c, '\'')); c++)
        *c = '"';
    return json;
}

bool support_shape(const struct shape *s, const char *text, void *object, struct error *e)
{
    struct error cause = {0};
    AUTO(json_free_local) struct json *v = json_parse(text, strlen(text), &cause);
    return v ? shape_read(s, v, object, e) : err_set(e, ERR_USAGE, "%s", cause.text);
}

char *support_path(const char *name)
{
    return support_text("%s/%s", test_dir, name);
}

void support_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    size_t len = strlen(text);
    if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd) != 0)
        give_up(path);
}

/* False at the end of the file. */
static bool read_some(int fd, struct buf *out)
{
    char chunk[4096];
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n > 0)
        buf_add(out, chunk, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

char *support_read(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        fail_msg("%s: %s", path, strerror(errno));
    struct buf text = BUF_INIT;
    while (read_some(fd, &text))
        ;
    close(fd);
    return support_keep(buf_take(&text));
}

bool support_wait_until(bool (*holds)(void *context), void *context, int timeout_ms)
{
    int64_t deadline = now_ms() + timeout_ms;
    while (!holds(context)) {
        if (now_ms() >= deadline)
            return holds(context);
        poll(NULL, 0, 1);
    }
    return true;
}

uint64_t support_seed(void)
{
    const char *given = test_seed ? test_seed : getenv("TIRO_TEST_SEED");
    uint64_t seed = ((uint64_t)time(NULL) << 16) ^ (uint64_t)getpid();
    if (given)
        seed = strtoull(given, NULL, 0);
    printf("TIRO_TEST_SEED=%" PRIu64 "\n", seed);
    return seed;
}

uint64_t support_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

int support_utf8(void **state)
{
    (void)state;
    return setlocale(LC_ALL, "C.UTF-8") ? 0 : -1;
}

const char *support_program(void)
{
    const char *program = getenv("TIRO");
    return program ? program : "build/tiro";
}

static void make_pipe(int fds[2])
{
    if (pipe(fds) != 0)
        give_up("pipe");
    for (int i = 0; i < 2; i++)
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
}

_Noreturn static void become(const char *const *argv, int in, int out, int err)
{
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    default_signals();
    execv(argv[0], (char *const *)(uintptr_t)argv);
    fprintf(stderr, "support: %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

void support_start(struct support_child *c, const char *const *argv)
{
    int in[2], out[2], err[2];
    make_pipe(in);
    make_pipe(out);
    make_pipe(err);
    signal(SIGPIPE, SIG_IGN);
    fflush(NULL);
    c->pid = fork();
    if (c->pid < 0)
        give_up("fork");
    if (c->pid == 0)
        become(argv, in[0], out[1], err[1]);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    c->in = in[1];
    c->out = out[0];
    c->err = err[0];
    buf_init(&c->out_text, 0);
    buf_init(&c->err_text, 0);
}

static void drain(int *fd, struct buf *text, short revents)
{
    if (revents && !read_some(*fd, text)) {
        close(*fd);
        *fd = -1;
    }
}

/* One round of poll() over both outputs. False when nothing came before the deadline. */
static bool read_outputs(struct support_child *c, int64_t deadline)
{
    struct pollfd fds[] = {{.fd = c->out, .events = POLLIN}, {.fd = c->err, .events = POLLIN}};
    int64_t left = deadline - now_ms();
    if (left <= 0 || poll(fds, 2, (int)left) == 0)
        return false;
    drain(&c->out, &c->out_text, fds[0].revents);
    drain(&c->err, &c->err_text, fds[1].revents);
    return true;
}

bool support_read_until(struct support_child *c, const char *text, int timeout_ms)
{
    int64_t deadline = now_ms() + timeout_ms;
    while (!strstr(c->out_text.data, text))
        if (c->out < 0 || !read_outputs(c, deadline))
            return false;
    return true;
}

static void feed(struct support_child *c, const char *input)
{
    size_t len = input ? strlen(input) : 0;
    while (len > 0) {
        ssize_t n = write(c->in, input, len);
        if (n < 0 && errno != EINTR)
            break;
        input += n < 0 ? 0 : n;
        len -= n < 0 ? 0 : (size_t)n;
    }
    if (c->in >= 0)
        close(c->in);
    c->in = -1;
}

struct ending {
    pid_t pid;
    int status;
};

static bool has_ended(void *context)
{
    struct ending *e = context;
    return waitpid(e->pid, &e->status, WNOHANG) == e->pid;
}

int support_patience(void)
{
    const char *factor = getenv("TEST_PATIENCE");
    return factor ? (int)strtol(factor, NULL, 10) : 1;
}

int support_finish(struct support_child *c, const char *input)
{
    feed(c, input);
    int64_t deadline = now_ms() + (int64_t)CHILD_DEADLINE_MS * support_patience();
    bool in_time = true;
    while (in_time && (c->out >= 0 || c->err >= 0))
        in_time = read_outputs(c, deadline);

    struct ending e = {.pid = c->pid};
    int left = (int)(deadline - now_ms());
    if (!support_wait_until(has_ended, &e, left > 0 ? left : 0)) {
        kill(c->pid, SIGKILL);
        waitpid(c->pid, &e.status, 0);
        fail_msg("the program did not end; it wrote: %s%s", c->out_text.data, c->err_text.data);
    }
    return WIFSIGNALED(e.status) ? 128 + WTERMSIG(e.status) : WEXITSTATUS(e.status);
}

void support_release(struct support_child *c)
{
    int fds[] = {c->in, c->out, c->err};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    buf_release(&c->out_text);
    buf_release(&c->err_text);
}

int support_run(const char *const *args, const char *input, char **out, char **err)
{
    size_t count = 0;
    while (args[count])
        count++;
    const char **argv = mem_alloc((count + 2) * sizeof *argv);
    argv[0] = support_program();
    memcpy(argv + 1, args, count * sizeof *argv);

    struct support_child c;
    support_start(&c, argv);
    free(argv);
    int status = support_finish(&c, input);
    if (out)
        *out = buf_take(&c.out_text);
    if (err)
        *err = buf_take(&c.err_text);
    support_release(&c);
    return status;
}
