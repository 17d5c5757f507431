/* Every hostile answer (tests/hostile/) in every dialect against the real program: the program ends
 * by itself or stops within a second of an interrupt, in bounded memory; the session can be read
 * and continued afterwards; no raw bytes of the server reach the terminal, and the key is written
 * to no file and no screen.
 *
 *     HOSTILE=all                       every combination, with every step of its mode
 *     HOSTILE=mode[/dialect[/surface]]  these combinations ("" for any), with every step */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "session/capability.h"
#include "tests/hostile/surface.h"
#include "tests/support.h"

/* Most of the visits are asleep most of the time. */
enum { AT_ONCE = 6, WORKER_S = 3600 };

struct job {
    const struct mode *mode;
    const struct form *form;
    const struct surface *surface;
    struct buf report; /* '!' if only of time, then the faults; empty: none */
    double began, took_ms;
    pid_t pid;
    int pipe;
};

struct campaign {
    VEC(struct job) jobs;
    size_t next; /* to be started */
    bool every_step, alone;
    const char *wanted;
};

/* --- which ------------------------------------------------------------------------------------ */

static bool has_target(const struct mode_table *table, const struct mode *mode, enum target target)
{
    return (table->targets & 1u << target) != 0 || (mode->flags & MODE_ALL);
}

static bool can_be(const struct form *form, const struct surface *surface)
{
    return surface->target != TARGET_EMBEDDING || form->dialect != DIALECT_ANTHROPIC;
}

static bool part_matches(const char **wanted, const char *name)
{
    size_t len = strcspn(*wanted, "/");
    bool matches = len == 0 || (strlen(name) == len && strncmp(*wanted, name, len) == 0);
    *wanted += len + ((*wanted)[len] == '/');
    return matches;
}

static bool is_wanted(const struct campaign *c, const struct job *job)
{
    const char *wanted = c->wanted;
    return strcmp(wanted, "all") == 0 ||
           (part_matches(&wanted, job->mode->name) && part_matches(&wanted, job->form->name) &&
            part_matches(&wanted, job->surface->name));
}

/* Unless some are wanted, each mode in each dialect on one of its surfaces, in turn. */
static void add_jobs(struct campaign *c, const struct mode_table *table, const struct mode *mode,
                     const struct form *form, size_t turn)
{
    VEC(struct job) fit = {0};
    for (size_t s = 0; s < SURFACE_COUNT; s++)
        if (has_target(table, mode, surfaces[s].target) && can_be(form, &surfaces[s]))
            vec_push(&fit,
                     (struct job){
                         .mode = mode, .form = form, .surface = &surfaces[s], .report = BUF_INIT});
    for (size_t i = 0; i < fit.len; i++)
        if (c->wanted == NULL ? i == turn % fit.len : is_wanted(c, &fit.items[i]))
            vec_push(&c->jobs, fit.items[i]);
    vec_release(&fit);
}

static size_t choose(struct campaign *c)
{
    size_t modes = 0;
    for (const struct mode_table *t = mode_tables; t->modes != NULL; t++)
        for (const struct mode *m = t->modes; m->name != NULL; m++, modes++)
            for (size_t f = 0; f < FORM_COUNT; f++)
                add_jobs(c, t, m, &forms[f], modes + f);
    return modes;
}

/* --- processes -------------------------------------------------------------------------------- */

static _Noreturn void work(const struct campaign *c, const struct job *job, int out)
{
    struct visit v = {.mode = job->mode,
                      .form = job->form,
                      .target = job->surface->target,
                      .every_step = c->every_step};
    alarm(WORKER_S);
    visit_begin(&v);
    job->surface->visit(&v);
    visit_end(&v);
    for (size_t at = 0; at < v.faults.len;) {
        ssize_t put = at == 0 ? write(out, v.only_late ? "!" : "?", 1) : 0;
        if (put >= 0)
            put = write(out, v.faults.data + at, v.faults.len - at);
        if (put < 0)
            break;
        at += (size_t)put;
    }
    _exit(0);
}

static void begin(const struct campaign *c, struct job *job)
{
    int fds[2];
    fflush(NULL);
    buf_clear(&job->report);
    job->began = screen_clock();
    if (pipe(fds) != 0 || (job->pid = fork()) < 0) {
        perror("campaign_hostile");
        exit(99);
    }
    if (job->pid == 0) {
        close(fds[0]);
        work(c, job, fds[1]);
    }
    close(fds[1]);
    job->pipe = fds[0];
}

/* Reads the report; returns true at the job's end. */
static bool read_report(struct job *job)
{
    char bytes[4096];
    ssize_t got = read(job->pipe, bytes, sizeof bytes);
    if (got > 0) {
        buf_add(&job->report, bytes, (size_t)got);
        return false;
    }
    int status = 0;
    close(job->pipe);
    waitpid(job->pid, &status, 0);
    if (status != 0)
        buf_addf(&job->report, "?the test itself ended with %d\n", status);
    job->took_ms = screen_clock() - job->began;
    job->pid = 0;
    return true;
}

static void tell(const struct campaign *c, const struct job *job)
{
    bool verbose = getenv("HOSTILE_VERBOSE") != NULL;
    if (verbose)
        printf("%zu/%zu %s/%s/%s: %.1f s\n", c->next, c->jobs.len, job->mode->name, job->form->name,
               job->surface->name, job->took_ms / 1000);
    if (job->report.len > 0)
        printf("HOSTILE=%s/%s/%s (%s)%s\n%s\n", job->mode->name, job->form->name,
               job->surface->name, job->mode->says,
               job->report.data[0] == '!' && !c->alone ? ", beside others" : "",
               job->report.data + 1);
    fflush(stdout);
}

/* Runs all jobs, or alone those that were late beside others. */
static void run_jobs(struct campaign *c, bool alone)
{
    size_t at_once = alone ? 1 : AT_ONCE;
    size_t running = 0;
    c->next = 0;
    c->alone = alone;
    for (;;) {
        VEC(struct pollfd) polls = {0};
        VEC(struct job *) waiting = {0};
        while (running < at_once && c->next < c->jobs.len) {
            struct job *job = &c->jobs.items[c->next++];
            if (alone && job->report.data[0] != '!')
                continue;
            begin(c, job);
            running++;
        }
        for (size_t i = 0; i < c->jobs.len; i++)
            if (c->jobs.items[i].pid > 0) {
                vec_push(&polls, (struct pollfd){.fd = c->jobs.items[i].pipe, .events = POLLIN});
                vec_push(&waiting, &c->jobs.items[i]);
            }
        if (polls.len > 0)
            (void)poll(polls.items, polls.len, -1);
        for (size_t i = 0; i < polls.len; i++)
            if (polls.items[i].revents != 0 && read_report(waiting.items[i])) {
                tell(c, waiting.items[i]);
                running--;
            }
        vec_release(&polls);
        vec_release(&waiting);
        if (running == 0 && c->next == c->jobs.len)
            return;
    }
}

/* The table at the end: how to repeat each. */
static size_t tell_faults(const struct campaign *c)
{
    size_t faults = 0;
    for (size_t i = 0; i < c->jobs.len; i++) {
        const struct job *job = &c->jobs.items[i];
        if (job->report.len == 0)
            continue;
        faults++;
        printf("HOSTILE=%s/%s/%s: %.*s\n", job->mode->name, job->form->name, job->surface->name,
               (int)strcspn(job->report.data + 1, "\n"), job->report.data + 1);
    }
    return faults;
}

int main(void)
{
    struct campaign c = {.wanted = getenv("HOSTILE")};
    double began = screen_clock();
    if (c.wanted != NULL && *c.wanted == '\0')
        c.wanted = NULL;
    c.every_step = c.wanted != NULL;
    if (!capability_store() || !capability_memory()) {
        printf("campaign_hostile: not in a build without sessions or memory\n");
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    size_t modes = choose(&c);
    run_jobs(&c, false);
    run_jobs(&c, true); /* jobs that were late beside others, alone */
    size_t faults = tell_faults(&c);
    printf("%zu modes in %d dialects: %zu visits, %zu with faults, %.0f s\n", modes, FORM_COUNT,
           c.jobs.len, faults, (screen_clock() - began) / 1000);
    for (size_t i = 0; i < c.jobs.len; i++)
        buf_release(&c.jobs.items[i].report);
    vec_release(&c.jobs);
    return faults > 0;
}
