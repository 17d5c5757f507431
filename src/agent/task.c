#include "agent/task.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/tool.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/worker.h"

extern char **environ;

/* A byte each. */
enum order { ORDER_KILL = 'k', ORDER_STOP = 's', ORDER_NO_LIMIT = 'n' };

struct task_thread {
    pthread_t id;
    int orders[2], end[2]; /* pipes; `end` is readable once the program has ended */
    void (*ended)(void *context);
    void *context;

    /* The thread's own until it has ended. */
    const char *argv[5];
    char *command, *directory;
    struct child_environment environment;
    struct sandbox sandbox;
    struct child_command child;
    struct child_result result;
    struct error fault;
    int64_t ended_ms;

    bool shown;
    size_t max_output;
    pthread_mutex_t lock; /* over the rest */
    struct head_tail output;
    struct buf unshown;
    bool left_out; /* of `unshown` */
};

/* --- on the task's thread --------------------------------------------------------------------- */

static bool take(void *context, const char *bytes, size_t len)
{
    struct task_thread *t = context;
    pthread_mutex_lock(&t->lock);
    head_tail_add(&t->output, bytes, len);
    if (t->shown)
        buf_add(&t->unshown, bytes, len);
    if (t->unshown.len > 2 * TASK_PIECE) {
        buf_consume(&t->unshown, t->unshown.len - TASK_PIECE);
        t->left_out = true;
    }
    pthread_mutex_unlock(&t->lock);
    return true;
}

/* A deadline that has passed makes child_run() end the program softly. */
static bool obey(void *context)
{
    struct task_thread *t = context;
    char order;
    while (read(t->orders[0], &order, 1) == 1) {
        if (order == ORDER_KILL)
            return false;
        if (order == ORDER_STOP)
            t->child.deadline_ms = 0;
        else if (t->child.deadline_ms > 0)
            t->child.deadline_ms = INT64_MAX;
    }
    return true;
}

static void *run(void *context)
{
    struct task_thread *t = context;
    const struct wakeup wakeup = {.fd = t->orders[0], .go_on = obey, .context = t};
    t->child.wakeup = &wakeup;
    (void)child_run(&t->child, &t->result, &t->fault);
    t->ended_ms = clock_mono_ms();
    (void)!write(t->end[1], "", 1);
    if (t->ended)
        t->ended(t->context);
    return NULL;
}

/* --- one task --------------------------------------------------------------------------------- */

static void free_thread(struct task_thread *t)
{
    const int ends[] = {t->orders[0], t->orders[1], t->end[0], t->end[1]};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    free(t->command);
    free(t->directory);
    child_environment_release(&t->environment);
    if (t->child.sandbox)
        sandbox_release(&t->sandbox);
    head_tail_release(&t->output);
    buf_release(&t->unshown);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

struct task *task_start(struct tasks *tasks, const struct task_command *c, struct error *e)
{
    struct task_thread *t = mem_alloc(sizeof *t);
    *t = (struct task_thread){.orders = {-1, -1},
                              .end = {-1, -1},
                              .ended = tasks->ended,
                              .context = tasks->context,
                              .command = mem_strdup(c->text),
                              .directory = mem_strdup(c->directory),
                              .shown = c->shown,
                              .max_output = c->max_output,
                              .unshown = BUF_INIT};
    if (c->sandbox)
        t->sandbox = *c->sandbox;
    pthread_mutex_init(&t->lock, NULL);
    head_tail_init(&t->output, c->max_output);
    child_environment_init(&t->environment, environ, CHILD_OF_MODEL, c->environment);
    t->argv[0] = "/bin/sh";
    t->argv[1] = "-c";
    t->argv[2] = "--";
    t->argv[3] = t->command;
    t->child = (struct child_command){.argv = t->argv,
                                      .directory = t->directory,
                                      .environment = t->environment.list.items,
                                      .with_errors = true,
                                      .deadline_ms = c->deadline_ms,
                                      .sandbox = c->sandbox ? &t->sandbox : NULL,
                                      .take = take,
                                      .context = t};
    struct task *task = mem_alloc(sizeof *task);
    *task = (struct task){.command = mem_strdup(c->text),
                          .confined = c->sandbox != NULL,
                          .network = c->network,
                          .started_ms = clock_mono_ms(),
                          .thread = t};
    if (!descriptors_pipe(t->orders) || !descriptors_pipe(t->end) ||
        fcntl(t->orders[0], F_SETFL, O_NONBLOCK) != 0)
        err_set_errno(e, ERR_AGENT_ERROR, "cannot run %s", t->argv[0]);
    else if (!thread_start(&t->id, run, t))
        err_set(e, ERR_AGENT_ERROR, "the system cannot start another thread");
    else
        return task;
    free_thread(t);
    free(task->command);
    free(task);
    return NULL;
}

bool task_is_over(struct task *task)
{
    struct task_thread *t = task->thread;
    struct pollfd end = {.fd = t->end[0], .events = POLLIN};
    if (task->over || poll(&end, 1, 0) <= 0)
        return task->over;
    pthread_join(t->id, NULL);
    task->over = true;
    task->ended_ms = t->ended_ms;
    task->fault = t->fault;
    task->result = t->result;
    return true;
}

bool task_wait(struct task *task, const struct wakeup *wakeup, int64_t until_ms)
{
    int64_t left = until_ms - clock_mono_ms();
    int timeout = wakeup_timeout(wakeup, left > INT_MAX ? INT_MAX : left > 0 ? (int)left : 0);
    struct pollfd p[] = {{.fd = task->thread->end[0], .events = POLLIN},
                         {.fd = wakeup ? wakeup->fd : -1, .events = POLLIN}};
    bool woken = !task->over && poll(p, 2, timeout) > 0 && (p[1].revents & POLLIN);
    if (p[1].revents != 0 && !woken) /* hung up: it would be ready for ever */
        (void)poll(p, 1, timeout);
    return !(woken || wakeup_late(wakeup)) || wakeup->go_on(wakeup->context);
}

static void give_order(struct task *task, enum order order)
{
    const char byte = (char)order;
    (void)!write(task->thread->orders[1], &byte, 1);
}

void task_kill(struct task *task)
{
    give_order(task, ORDER_KILL);
}

void task_stop(struct task *task)
{
    if (!task_is_over(task))
        task->stopped = task->announced = true;
    give_order(task, ORDER_STOP);
}

void task_free(struct task *task)
{
    if (!task_is_over(task)) {
        task_kill(task);
        pthread_join(task->thread->id, NULL);
    }
    free_thread(task->thread);
    free(task->command);
    free(task);
}

void task_take_output(struct task *task, struct buf *out)
{
    struct task_thread *t = task->thread;
    pthread_mutex_lock(&t->lock);
    head_tail_show(&t->output, out);
    head_tail_release(&t->output);
    head_tail_init(&t->output, t->max_output);
    pthread_mutex_unlock(&t->lock);
}

bool task_unshown(struct task *task, struct buf *out)
{
    struct task_thread *t = task->thread;
    pthread_mutex_lock(&t->lock);
    bool left_out = t->left_out;
    if (left_out)
        buf_clear(out);
    buf_add(out, t->unshown.data, t->unshown.len);
    buf_clear(&t->unshown);
    t->left_out = false;
    pthread_mutex_unlock(&t->lock);
    return left_out;
}

/* --- the background --------------------------------------------------------------------------- */

static void forget(struct tasks *t, size_t index)
{
    task_free(t->items[index]);
    t->count--;
    memmove(t->items + index, t->items + index + 1, (t->count - index) * sizeof *t->items);
}

bool tasks_have_room(struct tasks *t, struct error *e)
{
    for (size_t i = 0; i < t->count && t->count == TASKS_MOST; i++)
        if (task_is_over(t->items[i]))
            forget(t, i);
    return t->count < TASKS_MOST ||
           err_set(e, ERR_AGENT_ERROR, "%d commands run in the background already; end one",
                   TASKS_MOST);
}

void tasks_put_aside(struct tasks *t, struct task *task)
{
    struct task_thread *thread = task->thread;
    pthread_mutex_lock(&thread->lock);
    thread->shown = false;
    buf_release(&thread->unshown);
    pthread_mutex_unlock(&thread->lock);
    give_order(task, ORDER_NO_LIMIT);
    task->number = ++t->last;
    t->items[t->count++] = task;
}

size_t tasks_running(struct tasks *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        count += !task_is_over(t->items[i]);
    return count;
}

size_t tasks_end(struct tasks *t)
{
    size_t running = tasks_running(t);
    int64_t until_ms = clock_mono_ms() + TASK_GRACE_MS;
    for (size_t i = 0; i < t->count; i++)
        task_stop(t->items[i]);
    for (size_t i = 0; i < t->count; i++)
        (void)task_wait(t->items[i], NULL, until_ms);
    while (t->count > 0)
        forget(t, t->count - 1);
    t->last = 0;
    return running;
}
