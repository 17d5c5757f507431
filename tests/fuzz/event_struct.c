/* Any event that the program may make: the written event reads back as the same. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chat/event.h"
#include "tests/fuzz/fuzz.h"

enum { STRINGS_MAX = 14 };

/* A figure that the program counts; beyond it a double is no counter. */
static int64_t figure(struct fuzz_input *in)
{
    int64_t n = fuzz_number(in), most = INT64_C(1) << 53;
    return n < 0 ? 0 : n > most ? most : n;
}

static int64_t known(struct fuzz_input *in)
{
    return fuzz_bool(in) ? -1 : figure(in);
}

static int count(struct fuzz_input *in)
{
    int64_t n = figure(in);
    return n > INT32_MAX ? INT32_MAX : (int)n;
}

static double amount(struct fuzz_input *in)
{
    return (double)figure(in) / (double)(1 + fuzz_byte(in));
}

/* A member of that struct which is a string, whether the event's type has it or not. */
static char **string_of(struct event *ev, size_t i)
{
    struct compaction *c = &ev->compaction;
    char **strings[STRINGS_MAX] = {&ev->text,   &ev->id,          &ev->name,  &ev->signature,
                                   &ev->model,  &ev->attachments, &ev->hits,  &c->mode,
                                   &c->stage,   &c->trigger,      &c->reason, &c->effective_mode,
                                   &c->history, &c->dropped};
    return strings[i];
}

static void fill(struct event *ev, struct fuzz_input *in)
{
    struct compaction *c = &ev->compaction;
    for (size_t i = 0; i < STRINGS_MAX; i++)
        *string_of(ev, i) = fuzz_string(in);
    ev->number = figure(in);
    ev->count = count(in);
    ev->limit = count(in);
    ev->flag = fuzz_bool(in);
    ev->stop_reason = (enum stop_reason)fuzz_below(in, STOP_OTHER + 1);
    ev->usage.input = known(in);
    ev->usage.output = known(in);
    ev->usage.cached = known(in);
    ev->usage.estimated = usage_known(&ev->usage) && fuzz_bool(in);
    ev->used = amount(in);
    ev->bound = amount(in);
    c->input_tokens = known(in);
    c->estimate = figure(in);
    c->threshold = figure(in);
    c->summary_tokens = figure(in);
    c->tokens_before = figure(in);
    c->tokens_after = figure(in);
    c->messages_before = count(in);
    c->messages_after = count(in);
    c->messages_dropped = count(in);
    c->messages_changed = count(in);
    c->entries_indexed = count(in);
    c->failures = count(in);
    c->suspended = fuzz_bool(in);
}

int fuzz_event_struct(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct event *read;
    struct error e = {0};
    /* Not made by event_new(), since no type frees all of these strings. */
    struct event ev = {.type = (enum event_type)fuzz_below(&in, EVENT_TYPE_COUNT)};
    fill(&ev, &in);
    auto_free char *payload = event_payload(&ev);
    bool ok =
        event_from_payload(ev.type, event_version(ev.type), payload, strlen(payload), &read, &e);
    FUZZ_CHECK_ERROR(ok, &e);
    auto_free char *again = event_payload(read);
    FUZZ_CHECK_SAME(payload, again);
    event_free(read);
    for (size_t i = 0; i < STRINGS_MAX; i++)
        free(*string_of(&ev, i));
    return 0;
}
