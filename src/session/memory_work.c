#include "session/memory_work.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Between two steps other connections must find the database free, who look every few ms. */
enum { TELL_EVERY_MS = 250, PURGE_AGAIN_MS = 1000, REST_MS = 20 };

/* --- the state -------------------------------------------------------------------------------- */

static bool is_heard(struct memory_work *w, struct error *e)
{
    return !errands_say_leave(w->errands) || err_set(e, ERR_INTERRUPTED, "the program ends");
}

struct notice *memory_work_state(struct memory_work *w, struct error *e)
{
    const struct wakeup wakeup = errands_until_leave(w->errands);
    struct notice *n = notice_new(NOTICE_MEMORY_STATE);
    const struct memory_chore *chore = &w->chore;
    bool waits = chore->why.code != ERR_OK;
    if (!is_heard(w, e) || !recall_stats(w->recall, &wakeup, &n->stats, e)) {
        notice_free(n);
        return NULL;
    }
    n->number = !chore->wanted ? -1 : chore->left > 0 ? chore->left : n->stats.missing;
    n->detail = waits ? mem_strdup(chore->why.text) : NULL;
    return n;
}

/* A state that cannot be read is not told; who asks for it is told why. */
static void tell_state(struct memory_work *w)
{
    struct error e;
    struct notice *n = memory_work_state(w, &e);
    w->chore.told = w->chore.wanted;
    w->chore.told_at_ms = clock_mono_ms();
    if (n)
        mailbox_push(w->notices, n);
}

/* --- vectors and the graph -------------------------------------------------------------------- */

static void chore_done(struct memory_work *w)
{
    bool told = w->chore.told;
    w->chore = (struct memory_chore){.told_at_ms = w->chore.told_at_ms};
    if (told)
        tell_state(w);
}

static void chore_goes_well(struct memory_work *w, int64_t left)
{
    struct memory_chore *chore = &w->chore;
    bool waited = chore->why.code != ERR_OK;
    chore->left = left;
    chore->at_ms = 0;
    chore->why = (struct error){0};
    if (waited || !chore->told || clock_mono_ms() - chore->told_at_ms >= TELL_EVERY_MS)
        tell_state(w);
}

static void chore_waits(struct memory_work *w, int retry_ms, const struct error *why)
{
    struct memory_chore *chore = &w->chore;
    bool news = strcmp(chore->why.text, why->text) != 0;
    chore->at_ms = clock_mono_ms() + retry_ms;
    chore->why = *why;
    if (news)
        tell_state(w);
}

static void do_chore(struct memory_work *w)
{
    const struct wakeup wakeup = errands_until_any(w->errands);
    int64_t left = 0;
    int retry_ms = 0;
    struct error why = {0};
    switch (recall_work(w->recall, &wakeup, &left, &retry_ms, &why)) {
    case RECALL_IDLE:
        chore_done(w);
        break;
    case RECALL_WORKED:
        chore_goes_well(w, left);
        break;
    case RECALL_WAITS:
        chore_waits(w, retry_ms, &why);
        break;
    }
}

/* --- forgotten texts -------------------------------------------------------------------------- */

/* Whether it goes on at once. */
static bool purge_some(struct memory_work *w)
{
    struct memory *m = w->recall->memory;
    struct error e;
    bool more = false, ok = m->store->purge(m, &more, &e);
    w->purge = (struct memory_purge){.wanted = more || !ok,
                                     .at_ms = ok ? 0 : clock_mono_ms() + PURGE_AGAIN_MS};
    return ok && more;
}

void memory_work_finish(struct memory_work *w)
{
    for (bool more = w->purge.wanted; more;)
        more = purge_some(w);
}

/* --- the index -------------------------------------------------------------------------------- */

static void tidy_some(struct memory_work *w)
{
    struct memory *m = w->recall->memory;
    struct error e;
    bool more = false, ok = m->store->tidy(m, &more, &e);
    w->purge.wanted = more || !ok;
    w->purge.at_ms = ok && !more ? 0 : clock_mono_ms() + (ok ? REST_MS : PURGE_AGAIN_MS);
}

/* --- what is due ------------------------------------------------------------------------------ */

static int time_until(bool wanted, int64_t at_ms)
{
    int64_t left = at_ms - clock_mono_ms();
    if (!wanted)
        return -1;
    return left > 0 ? (int)left : 0;
}

int memory_work_due(const struct memory_work *w)
{
    int purge = time_until(w->purge.wanted, w->purge.at_ms);
    int chore = time_until(w->chore.wanted, w->chore.at_ms);
    return purge < 0 || (chore >= 0 && chore < purge) ? chore : purge;
}

void memory_work_step(struct memory_work *w)
{
    if (time_until(w->purge.wanted, w->purge.at_ms) == 0) {
        purge_some(w);
        if (!w->purge.wanted)
            tidy_some(w);
    } else if (time_until(w->chore.wanted, w->chore.at_ms) == 0) {
        do_chore(w);
    }
}
