#include "session/import_desk.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/import_follow.h"

/* PATIENCE_MS: another process may import for long, and nobody else waits for this thread. */
enum { PATIENCE_MS = 15000, TELL_EVERY_MS = 250, REST_MS = 10 };

struct import_desk {
    struct desk desk;
    const struct config *config;

    struct memory_desk *memory; /* borrowed */
    bool indexes;               /* what is followed comes into memory */
    bool serves;                /* a person answers in the configuration alone */

    /* The thread's own. */
    struct import_follow *follow;       /* NULL: nothing is followed yet */
    char *from;                         /* the sources that the person chose here; NULL: none */
    const struct import_report *report; /* of the present request, which grows */
    int64_t told_at_ms;
};

/* Comes between two transactions: the rest lets other connections, which try every few ms, write.
 */
static bool tell(void *desk, const char *counter, int64_t done, int64_t of)
{
    struct import_desk *d = desk;
    (void)counter;
    if (of > 0 && clock_mono_ms() - d->told_at_ms >= TELL_EVERY_MS) {
        struct notice *n = notice_new(NOTICE_IMPORT_STATE);
        n->import = (struct import_progress){.files = done, .of = of};
        import_report_sum(d->report, &n->import);
        n->text = import_report_labels(d->report);
        d->told_at_ms = clock_mono_ms();
        mailbox_push(d->desk.notices, n);
    }
    return wakeup_sleep(d->desk.wakeup, REST_MS);
}

/* --- following -------------------------------------------------------------------------------- */

/* Waits for what the agents write, until a request comes. */
static int follow_some(void *desk, const struct wakeup *wakeup)
{
    struct import_desk *d = desk;
    struct error e;
    const struct import_params p = {.from = d->from ? d->from : import_chosen(d->config)};
    if (!d->desk.store || !d->desk.place->directory || !p.from)
        return CHORE_DONE;
    if (!d->follow) {
        struct operation_context c = {.config = d->config};
        catalog_borrow(&c.catalog, d->desk.store, d->desk.place->directory, "");
        d->follow = import_follow_new(&c, &p, d->indexes, true, &e);
        operation_close(&c);
        if (!d->follow) {
            log_line(LOG_ERROR, "histories of other agents: %s", e.text);
            return CHORE_DONE;
        }
    }
    struct import_report report;
    if (import_follow_step(d->follow, wakeup, &report)) {
        import_report_release(&report);
        memory_desk_work(d->memory); /* vectors, and sessions that are not indexed yet */
    }
    return 0;
}

static const struct chore chores[] = {{"following agents", follow_some, false}};

static void want(struct import_desk *d)
{
    struct error e;
    if (d->desk.place->kind != PLACE_READS && !worker_want(d->desk.worker, 0, &e))
        log_line(LOG_ERROR, "following agents: %s", e.text);
}

void import_desk_follow(struct import_desk *d)
{
    if (import_chosen(d->config))
        want(d);
}

/* --- requests --------------------------------------------------------------------------------- */

/* The answer to the offer is this request: it becomes valid for other programs by the file. */
static void take_choice(struct import_desk *d, const struct import_params *p)
{
    if (d->serves || d->follow || !p || !p->from || p->paths.len > 0 || p->since || p->project ||
        p->dry_run)
        return;
    mem_replace(&d->from, mem_strdup(p->from));
    want(d);
}

static bool call(struct desk *desk, const struct operation_request *r, void *result,
                 struct error *e)
{
    struct import_desk *d = (struct import_desk *)desk;
    const struct operation_stream stream = {.tell = tell, .wake_fd = -1, .context = d};
    struct operation_context c = {.config = d->config,
                                  .met = NEED_STORE | NEED_WRITE,
                                  .stream = &stream,
                                  .wakeup = desk->wakeup};
    d->report = result;
    catalog_borrow(&c.catalog, desk->store, desk->place->directory, "");
    bool ok = operation_call(&c, r->operation, r->params, result, e);
    operation_close(&c);
    if (r->operation == &operation_import_run)
        memory_desk_follow(d->memory); /* also what came before a failure */
    if (r->operation == &operation_import_run && ok)
        take_choice(d, r->params);
    return ok;
}

static void begin(struct desk *desk)
{
    thread_give_way(); /* an import takes all of a processor */
    store_set_patience(desk->store, PATIENCE_MS, 0, worker_ends, desk->worker);
}

static void end(struct desk *desk)
{
    struct import_desk *d = (struct import_desk *)desk;
    import_follow_free(d->follow);
    mem_replace(&d->from, NULL);
}

static const struct desk_role role = {.mode = STORE_READ_WRITE,
                                      .call = call,
                                      .opened = begin,
                                      .closes = end,
                                      .chores = chores,
                                      .chore_count = 1};

struct import_desk *import_desk_new(const struct config *config, struct place *place,
                                    struct memory_desk *memory, bool indexes, bool serves,
                                    struct mailbox *notices)
{
    struct import_desk *d = mem_alloc(sizeof *d);
    *d = (struct import_desk){
        .config = config, .memory = memory, .indexes = indexes, .serves = serves};
    desk_init(&d->desk, &role, place, notices);
    return d;
}

void import_desk_free(struct import_desk *d)
{
    if (!d)
        return;
    desk_release(&d->desk);
    free(d);
}
