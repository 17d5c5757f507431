#include "session/reader.h"

#include <stdlib.h>

#include "base/mem.h"
#include "session/desk.h"

struct reader {
    struct desk desk;
};

static bool call(struct desk *d, const struct operation_request *r, void *result, struct error *e)
{
    struct operation_context context = {.met = NEED_STORE, .wakeup = d->wakeup};
    catalog_borrow(&context.catalog, d->store, place_directory(d->place), "");
    bool ok = operation_call(&context, r->operation, r->params, result, e);
    operation_close(&context);
    return ok;
}

static const struct desk_role role = {.mode = STORE_READ_ONLY, .call = call};

struct reader *reader_new(struct place *place, struct mailbox *notices)
{
    struct reader *r = mem_alloc(sizeof *r);
    desk_init(&r->desk, &role, place, notices);
    return r;
}

void reader_free(struct reader *r)
{
    if (!r)
        return;
    desk_release(&r->desk);
    free(r);
}

void reader_start(struct reader *r, struct operation_request *request)
{
    desk_start(&r->desk, request);
}

void reader_withdraw(struct reader *r, uint64_t id)
{
    desk_withdraw(&r->desk, id);
}
