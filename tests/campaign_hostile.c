/* Every hostile answer (tests/hostile/) in every dialect against the real program: the program ends
 * by itself or stops within a second of an interrupt, in bounded memory; the session can be read
 * and continued afterwards; no raw bytes of the server reach the terminal, and the key is written
 * to no file and no screen.
 *
 *     HOSTILE=all                       every combination, with every step of its mode
 *     HOSTILE=mode[/dialect[/surface]]  these combinations ("" for any), with every step */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "session/capability.h"
#include "tests/hostile/visit.h"
#include "tests/support.h"

struct surface {
    const char *name;
    enum target target;
    void (*visit)(struct visit *v);
};

enum { SURFACE_COUNT = 5 };
extern const struct surface surfaces[SURFACE_COUNT];

/* An endless answer may go on for so long before it is stopped. */
enum { PATIENCE_MS = 1200 };
enum { SAMPLE = 16 };
/* Twice the descriptors of a session on the screen: a leak in each of 50 requests would exceed
 * it. */
enum { MOST_DESCRIPTORS = 64 };

static long peak_of_children(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_CHILDREN, &usage) == 0 ? usage.ru_maxrss : 0;
}

/* --- tiro run --------------------------------------------------------------------------------- */

static void check_outcome(struct visit *v, const struct ending *e)
{
    if (e->stopped)
        return;
    if ((v->mode->flags & MODE_WELL) && v->target == TARGET_CHAT && e->status != 0)
        visit_fault(v, "the turn failed: %.300s", e->text);
    if ((v->mode->flags & MODE_FAILS) && v->target == TARGET_CHAT && e->status == 0)
        visit_fault(v, "the turn did not fail: %.300s", e->text);
    if (e->status != 0 && strstr(e->text, "tiro: ") == NULL)
        visit_fault(v, "it ended with %d and no reason: %.300s", e->status, e->text);
}

static void run_once(struct visit *v, const char *file)
{
    int patience = v->mode->flags & MODE_ENDLESS ? PATIENCE_MS : 0;
    struct ending e = visit_run(v, VALUES("run", "--file", file, "What is in the file?"), patience);
    check_outcome(v, &e);
    free(e.text);
}

static void visit_by_run(struct visit *v)
{
    char *file = support_path("long.txt");
    AUTO(buf_release) struct buf text = BUF_INIT;
    while ((v->mode->flags & MODE_LONG) && text.len < 900000)
        buf_addstr(&text, "The secretary took dictation in a shorthand of his own.\n");
    support_write(file, text.len > 0 ? text.data : "A note.\n");
    run_once(v, file);
    visit_check_memory(v, peak_of_children());
    /* Runs each step of a mode that has steps, or a seeded sample of them. */
    uint64_t seed = 1;
    long steps = hostile_server_steps(v->server);
    for (long i = 1; i < (v->every_step || steps < SAMPLE ? steps : SAMPLE); i++) {
        long step =
            v->every_step || steps < SAMPLE ? i : (long)(support_random(&seed) % (uint64_t)steps);
        size_t before = v->faults.len;
        hostile_server_set_step(v->server, step);
        run_once(v, file);
        if (v->faults.len > before)
            visit_late(v, "at step %ld", step);
    }
    /* A turn that was interrupted before it began has no session yet. */
    hostile_server_behave(v->server, true);
    if (v->target == TARGET_LISTING)
        visit_expect(v, VALUES("run", "hello"), HOSTILE_WELL);
    visit_check_session(v);
}

/* --- the screen ------------------------------------------------------------------------------- */

static bool prompt_is_ready(struct screen *s, void *context)
{
    int row, col;
    bool visible;
    (void)context;
    screen_cursor(s, &row, &col, &visible);
    return visible && screen_alternate(s) && screen_cell_is(s, row, 0, '>');
}

static bool is_idle(struct screen *s, void *context)
{
    return strstr(screen_text(s), "Esc stops") == NULL && prompt_is_ready(s, context);
}

static bool prompt_lacks(struct screen *s, void *context)
{
    int row, col;
    bool visible;
    screen_cursor(s, &row, &col, &visible);
    return strstr(screen_row_text(s, row), context) == NULL;
}

static bool prompt_shows(struct screen *s, void *context)
{
    return !prompt_lacks(s, context);
}

/* screen_wait() without a report, since the condition need not become true. */
static bool comes(struct screen *s, bool (*holds)(struct screen *, void *), void *context, int ms)
{
    double until = screen_clock() + ms;
    while (!holds(s, context) && screen_status(s) < 0 && screen_clock() < until)
        (void)screen_pump(s, (int)(until - screen_clock()) + 1);
    return holds(s, context);
}

static bool is_busy(struct screen *s, void *context)
{
    return !is_idle(s, context);
}

/* A screen that is drawn in parts can look idle for a moment after Enter. */
static bool becomes_idle(struct screen *s, int ms)
{
    double until = screen_clock() + ms;
    while (comes(s, is_idle, NULL, (int)(until - screen_clock())))
        if (!comes(s, is_busy, NULL, 100))
            return true;
    return false;
}

static struct screen *open_screen(struct visit *v)
{
    const char *const argv[] = {support_program(), NULL};
    struct screen *s = screen_start(argv, support_dir(), 30, 100);
    if (!comes(s, prompt_is_ready, NULL, visit_ms(VISIT_END_MS)))
        visit_late(v, "the program does not start: %s", screen_text(s));
    return s;
}

static void say(struct visit *v, struct screen *s, char *text)
{
    screen_type(s, text);
    (void)comes(s, prompt_shows, text, visit_ms(10 * VISIT_STOP_MS));
    screen_key(s, SCREEN_ENTER);
    double asked = screen_clock();
    if (!comes(s, prompt_lacks, text, visit_ms(10 * VISIT_STOP_MS)))
        visit_late(v, "Enter does nothing: %s", screen_text(s));
    else if (screen_clock() - asked > visit_ms(VISIT_STOP_MS))
        visit_late(v, "Enter took %.0f ms", screen_clock() - asked);
}

static void press_escape(struct visit *v, struct screen *s)
{
    double asked = screen_clock();
    screen_key(s, SCREEN_ESCAPE);
    if (!comes(s, is_idle, NULL, visit_ms(10 * VISIT_STOP_MS)))
        visit_late(v, "Esc does nothing within %d s: %s", 10 * VISIT_STOP_MS / 1000,
                   screen_text(s));
    else if (screen_clock() - asked > visit_ms(VISIT_STOP_MS))
        visit_late(v, "Esc took %.0f ms", screen_clock() - asked);
}

static bool has_well(struct screen *s, void *context)
{
    (void)context;
    return strstr(screen_text(s), HOSTILE_WELL) != NULL;
}

static long status_field(pid_t pid, const char *name)
{
    char path[64], line[256];
    long value = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name) + 1, NULL, 10);
    if (f != NULL)
        fclose(f);
    return value;
}

static int descriptors(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    while (d != NULL && readdir(d) != NULL)
        count++;
    if (d != NULL)
        closedir(d);
    return count;
}

/* Continues in the same program, with a server that behaves well. */
static void go_on(struct visit *v, struct screen *s)
{
    static char question[] = "and now?";
    hostile_server_behave(v->server, true);
    say(v, s, question);
    if (!comes(s, has_well, NULL, visit_ms(VISIT_END_MS)))
        visit_fault(v, "the next turn does not succeed: %s", screen_text(s));
    (void)comes(s, is_idle, NULL, visit_ms(10 * VISIT_STOP_MS));
}

static void leave(struct visit *v, struct screen *s)
{
    int count = descriptors(screen_pid(s));
    if (count > MOST_DESCRIPTORS)
        visit_fault(v, "%d descriptors are open", count);
    visit_check_memory(v, status_field(screen_pid(s), "VmHWM"));
    screen_ctrl(s, 'd');
    double until = screen_clock() + visit_ms(VISIT_END_MS);
    while (screen_status(s) < 0 && screen_clock() < until)
        (void)screen_pump(s, 100);
    if (screen_status(s) != 0)
        visit_fault(v, "the screen ended with %d: %s", screen_status(s), screen_text(s));
    if (screen_alternate(s) || !screen_settings_restored(s))
        visit_fault(v, "the terminal was left in disorder");
    visit_inspect_screen(v, s);
    screen_free(s);
}

static void visit_by_screen(struct visit *v)
{
    static char question[] = "What is it?";
    struct screen *s = open_screen(v);
    say(v, s, question);
    if (!becomes_idle(s, visit_ms(PATIENCE_MS)))
        press_escape(v, s);
    go_on(v, s);
    leave(v, s);
    visit_check_session(v);
}

/* --- listings --------------------------------------------------------------------------------- */

static bool has_list(struct screen *s, void *context)
{
    (void)context;
    return strstr(screen_text(s), "Models") != NULL;
}

static void visit_by_picker(struct visit *v)
{
    static char command[] = "/model";
    setenv("TIRO_PROVIDER_MODEL", "good-model", 1);
    struct screen *s = open_screen(v);
    say(v, s, command);
    (void)comes(s, has_list, NULL, PATIENCE_MS);
    if (!is_idle(s, NULL))
        press_escape(v, s);
    go_on(v, s);
    leave(v, s);
    visit_check_session(v);
}

/* --- vectors ---------------------------------------------------------------------------------- */

static const char entries[] =
    "{\"id\":1,\"session_id\":\"talk\",\"turn\":1,\"role\":\"user\","
    "\"created_at\":\"2026-03-01T10:00:00.000Z\",\"content\":\"the river Arno in November\"}\n"
    "{\"id\":2,\"session_id\":\"talk\",\"turn\":1,\"role\":\"assistant\","
    "\"created_at\":\"2026-03-01T10:01:00.000Z\",\"content\":\"a bridge of stone\"}\n";

static void expect_found(struct visit *v)
{
    struct ending e = visit_run(v, VALUES("memory", "search", "river"), 0);
    if (!e.stopped && (e.status != 0 || strstr(e.text, "Arno") == NULL))
        visit_fault(v, "memory search ended with %d: %.300s", e.status, e.text);
    free(e.text);
}

static void visit_by_memory(struct visit *v)
{
    auto_free char *path = support_path("entries.jsonl");
    support_write(path, entries);
    hostile_server_behave(v->server, true);
    visit_expect(v, VALUES("run", "hello"), HOSTILE_WELL);
    visit_expect(v, VALUES("memory", "import", path), "2 entries");
    visit_expect(v, VALUES("memory", "reindex"), NULL);
    hostile_server_behave(v->server, false);
    expect_found(v);
    visit_check_memory(v, peak_of_children());
    free(visit_run(v, VALUES("memory", "reindex"), PATIENCE_MS).text);
    hostile_server_behave(v->server, true);
    expect_found(v);
    visit_check_session(v);
}

const struct surface surfaces[SURFACE_COUNT] = {
    {"run", TARGET_CHAT, visit_by_run},
    {"screen", TARGET_CHAT, visit_by_screen},
    {"start", TARGET_LISTING, visit_by_run},
    {"picker", TARGET_LISTING, visit_by_picker},
    {"memory", TARGET_EMBEDDING, visit_by_memory},
};

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

/* HOSTILE_DIALECTS: dialects of each mode, in turn (default: all). */
static size_t choose(struct campaign *c)
{
    const char *number = getenv("HOSTILE_DIALECTS");
    size_t modes = 0, dialects = number && !c->wanted ? (size_t)atoi(number) : FORM_COUNT;
    for (const struct mode_table *t = mode_tables; t->modes != NULL; t++)
        for (const struct mode *m = t->modes; m->name != NULL; m++, modes++)
            for (size_t f = 0; f < FORM_COUNT; f++)
                if ((modes + f) % FORM_COUNT < dialects)
                    add_jobs(c, t, m, &forms[f],
                             dialects < FORM_COUNT ? modes / FORM_COUNT : modes + f);
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
