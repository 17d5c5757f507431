#include "session/service.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/die.h"
#include "base/mem.h"
#include "session/worker.h"
#include "store/event_log.h"
#include "store/sessions.h"

struct service {
    struct mailbox *commands, *notices;
    struct worker *worker; /* the agent thread's */
    pthread_t thread;
};

static void free_command(void *item)
{
    command_free(item);
}

static void free_notice(void *item)
{
    notice_free(item);
}

static void *agent_main(void *arg)
{
    worker_run(arg);
    return NULL;
}

/* Signals are the surface's: the agent thread and those it starts see none. */
static void start_thread(struct service *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int fault = pthread_create(&s->thread, NULL, agent_main, s->worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fault != 0)
        die("cannot start a thread");
}

struct service *service_new(const struct service_options *options)
{
    struct service *s = mem_alloc(sizeof *s);
    s->commands = mailbox_new(free_command);
    s->notices = mailbox_new(free_notice);
    s->worker = worker_new(options, s->commands, s->notices);
    start_thread(s);
    return s;
}

void service_free(struct service *s)
{
    if (!s)
        return;
    mailbox_push(s->commands, command_new(COMMAND_QUIT, NULL));
    pthread_join(s->thread, NULL);
    worker_free(s->worker);
    mailbox_free(s->commands);
    mailbox_free(s->notices);
    free(s);
}

void service_send(struct service *s, struct command *c)
{
    mailbox_push(s->commands, c);
}

struct mailbox *service_notices(struct service *s)
{
    return s->notices;
}

/* `out` stays NULL where no store was ever written. */
static bool open_for_reading(const char *store_path, struct store **out, struct error *e)
{
    char *path = store_path ? mem_strdup(store_path) : store_default_path();
    bool ok = access(path, F_OK) != 0 || store_open(path, STORE_READ_ONLY, out, e);
    free(path);
    return ok;
}

bool service_list(const char *store_path, int limit, struct session_list *out, struct error *e)
{
    struct store *store = NULL;
    bool ok =
        open_for_reading(store_path, &store, e) && (!store || sessions_list(store, limit, out, e));
    store_close(store);
    return ok;
}

static bool read_session(struct store *store, const char *reference, struct session_info *info,
                         bool (*visit)(void *context, const struct event *ev), void *context,
                         struct error *e)
{
    char id[UUID_LEN + 1];
    return sessions_resolve(store, reference, id, e) && sessions_get(store, id, info, e) &&
           event_log_read(store, id, 0, visit, context, e);
}

bool service_read(const char *store_path, const char *reference, struct session_info *info,
                  bool (*visit)(void *context, const struct event *ev), void *context,
                  struct error *e)
{
    struct store *store = NULL;
    if (!open_for_reading(store_path, &store, e))
        return false;
    if (!store)
        return err_set(e, ERR_SESSION_NOT_FOUND, "no session \"%s\": nothing was kept yet",
                       reference);
    bool ok = read_session(store, reference, info, visit, context, e);
    store_close(store);
    return ok;
}
