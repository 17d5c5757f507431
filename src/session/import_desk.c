#include "session/import_desk.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/import_operations.h"

enum { PATIENCE_MS = 5000, TELL_EVERY_MS = 250, REST_MS = 10 };

struct import_desk {
    struct desk desk;
    const struct config *config;

    struct memory_desk *memory; /* borrowed */

    /* The thread's own. */
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
    return ok;
}

static void begin(struct desk *desk)
{
    thread_give_way(); /* an import takes all of a processor */
    store_set_patience(desk->store, PATIENCE_MS, 0, worker_ends, desk->worker);
}

static const struct desk_role role = {.mode = STORE_READ_WRITE, .call = call, .opened = begin};

struct import_desk *import_desk_new(const struct config *config, struct place *place,
                                    struct memory_desk *memory, struct mailbox *notices)
{
    struct import_desk *d = mem_alloc(sizeof *d);
    *d = (struct import_desk){.config = config, .memory = memory};
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
