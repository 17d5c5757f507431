#include "base/child.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/child_start.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
    CHUNK = 16 * 1024,
    GRACE_MS = 500,
    /* What is read after the end: more than a pipe holds, less than what is poured in for ever. */
    MAX_REST = 1024 * 1024
};

enum phase { RUNNING, ASKED_TO_END, KILLED };

/* A child while it runs. */
struct run {
    const struct child_command *c;
    struct child_process process;
    const struct wakeup *wakeup; /* NULL once it said stop */
    int wake_fd;                 /* -1: nothing to poll */
    size_t fed;                  /* bytes of the input */
    enum phase phase;
    int64_t grace_end_ms; /* of ASKED_TO_END */
    bool dead;            /* the program, or given up */
    struct supervisor_news last;
    enum child_end end;
};

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Asks it to end. The reason of the first who wants that is the one that is told. */
static void end_softly(struct run *r, enum child_end why)
{
    if (r->phase != RUNNING)
        return;
    r->end = why;
    r->phase = ASKED_TO_END;
    r->grace_end_ms = clock_mono_ms() + GRACE_MS;
    child_ask_to_end(&r->process);
}

static void end_at_once(struct run *r, enum child_end why)
{
    if (r->phase == RUNNING)
        r->end = why;
    r->phase = KILLED;
    child_end_all(&r->process);
}

static void ask_wakeup(struct run *r)
{
    if (!r->wakeup || r->wakeup->go_on(r->wakeup->context))
        return;
    r->wakeup = NULL;
    r->wake_fd = -1;
    end_at_once(r, CHILD_STOPPED);
}

static void mind_the_time(struct run *r)
{
    int64_t now = clock_mono_ms();
    if (r->phase == RUNNING && now >= r->c->deadline_ms)
        end_softly(r, CHILD_LATE);
    else if (r->phase == ASKED_TO_END && now >= r->grace_end_ms)
        end_at_once(r, r->end);
    else if (r->phase == KILLED && now >= r->process.latest_ms)
        r->dead = true;
}

static int poll_timeout(const struct run *r)
{
    const int64_t ends[] = {[RUNNING] = r->c->deadline_ms,
                            [ASKED_TO_END] = r->grace_end_ms,
                            [KILLED] = r->process.latest_ms};
    int64_t ms = ends[r->phase] - clock_mono_ms();
    return wakeup_timeout(r->wakeup, ms > INT_MAX ? INT_MAX : ms > 0 ? (int)ms : 0);
}

static void feed(struct run *r)
{
    ssize_t n = write(r->process.in, r->c->input + r->fed, r->c->input_len - r->fed);
    if (n > 0)
        r->fed += (size_t)n;
    bool later = n < 0 && (errno == EAGAIN || errno == EINTR);
    if (r->fed == r->c->input_len || (n < 0 && !later))
        close_end(&r->process.in); /* all of it, or the child wants no more */
}

/* How many bytes there were; 0 when there are none now. Closes the pipe at its end. */
static size_t read_output(struct run *r)
{
    char chunk[CHUNK];
    ssize_t n;
    do
        n = read(r->process.out, chunk, sizeof chunk);
    while (n < 0 && errno == EINTR);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        close_end(&r->process.out);
    if (n <= 0)
        return 0;
    if (!r->c->take(r->c->context, chunk, (size_t)n)) {
        close_end(&r->process.out);
        end_softly(r, CHILD_REFUSED);
    }
    mem_wipe(chunk, (size_t)n); /* it may be a key */
    return (size_t)n;
}

static void wait_for_news(struct run *r)
{
    struct pollfd p[] = {{.fd = r->process.out, .events = POLLIN},
                         {.fd = r->process.in, .events = POLLOUT},
                         {.fd = r->dead ? -1 : r->process.news, .events = POLLIN},
                         {.fd = r->wake_fd, .events = POLLIN}};
    bool news = poll(p, sizeof p / sizeof *p, poll_timeout(r)) > 0;
    if (news && p[3].revents != 0 && !(p[3].revents & POLLIN))
        r->wake_fd = -1; /* hung up: it would be ready for ever */
    if ((news && (p[3].revents & POLLIN)) || wakeup_late(r->wakeup))
        ask_wakeup(r);
    if (news && p[2].revents != 0)
        r->dead = !child_hear(&r->process, &r->last) || r->last.event != SUPERVISOR_STARTED;
    if (news && p[1].revents != 0)
        feed(r);
    if (news && p[0].revents != 0)
        read_output(r);
}

/* One that is asked to end is given its time even when its first process went at once: those it
 * started have the output still. */
static bool over(const struct run *r)
{
    return r->dead && (r->phase != ASKED_TO_END || r->process.out < 0);
}

static void read_rest(struct run *r)
{
    size_t rest = 0, n = 1;
    while (r->process.out >= 0 && n > 0 && rest < MAX_REST) {
        n = read_output(r);
        rest += n;
    }
}

static bool finish(struct run *r, struct child_result *out, struct error *e)
{
    bool left_some, ok = child_reap(&r->process, &left_some, e);
    read_rest(r);
    close_end(&r->process.in);
    close_end(&r->process.out);
    if (r->last.event == SUPERVISOR_NOT_STARTED) {
        errno = r->last.number;
        return err_set_errno(e, ERR_AGENT_ERROR, "cannot run %s", r->c->argv[0]);
    }
    bool exited = r->last.event == SUPERVISOR_EXITED;
    *out = (struct child_result){
        .end = r->end,
        .status = exited || r->last.event == SUPERVISOR_SIGNALED ? r->last.number : SIGKILL,
        .left_some = ok && left_some};
    if (r->end == CHILD_EXITED && !exited)
        out->end = CHILD_SIGNALED;
    return ok;
}

bool child_run(const struct child_command *c, struct child_result *out, struct error *e)
{
    struct run r = {.c = c, .wakeup = c->wakeup, .wake_fd = c->wakeup ? c->wakeup->fd : -1};
    assert(!c->directory || c->directory[0] == '/');
    if (!child_start(c, &r.process, e))
        return false;
    while (!over(&r)) {
        wait_for_news(&r);
        if (!over(&r))
            mind_the_time(&r);
    }
    return finish(&r, out, e);
}
