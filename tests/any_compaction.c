#include "tests/any_compaction.h"

#include <stdlib.h>

#include "base/entropy.h"
#include "base/mem.h"

static bool maybe(double chance)
{
    return entropy_unit() < chance;
}

/* A question goes with all of its turn, an answer with its results. */
static void choose(const struct history *h, bool *goes)
{
    double share = entropy_unit();
    bool turn = false;
    for (size_t i = 0; i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        bool results = m->role == ROLE_TOOL;
        bool fixed = m->pinned || (h->running && i == h->turn_first);
        turn = m->role == ROLE_USER ? !fixed && maybe(share) : turn;
        bool lucky = m->role == ROLE_USER ? turn : turn || maybe(share);
        goes[i] = results ? goes[i - 1] : !fixed && lucky;
    }
}

static bool any_goes(const bool *goes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (goes[i])
            return true;
    return false;
}

static struct message summary_of(const struct message *first, const char *text)
{
    struct message m = {.role = ROLE_USER, .summary = true, .seq = first->seq, .turn = first->turn};
    vec_push(&m.blocks, block_text(text));
    return m;
}

static struct message shortened(const struct message *m)
{
    struct message copy = message_clone(m);
    for (size_t i = 0; i < copy.blocks.len; i++) {
        free(copy.blocks.items[i].text);
        copy.blocks.items[i].text = mem_strdup("…");
    }
    return copy;
}

void any_rebuild(const struct history *h, const char *summary, struct rebuild *out)
{
    size_t count = h->messages.len;
    bool *goes = mem_alloc(count + 1);
    bool made = false;
    *out = (struct rebuild){0};
    choose(h, goes);
    if (any_goes(goes, count)) {
        for (size_t i = 0; i < h->messages.len; i++)
            goes[i] = goes[i] || h->messages.items[i].summary;
    }
    for (size_t i = 0; i < count; i++) {
        const struct message *m = &h->messages.items[i];
        if (goes[i] && !made)
            rebuild_make(out, summary_of(m, summary));
        else if (!goes[i] && m->role == ROLE_TOOL && maybe(0.3))
            rebuild_rewrite(out, i, shortened(m));
        else if (!goes[i])
            rebuild_keep(out, i, 1);
        made = made || goes[i];
    }
    free(goes);
}

struct event *compaction_of(const struct history *h, const struct rebuild *r, const char *summary)
{
    struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    struct compaction *c = &ev->compaction;
    c->mode = mem_strdup("handoff");
    c->effective_mode = mem_strdup("handoff");
    c->stage = mem_strdup("summary");
    c->trigger = mem_strdup(h->running ? "estimate" : "manual");
    c->history = rebuild_to_json(r);
    c->messages_before = (int)h->messages.len;
    c->messages_after = (int)rebuild_count(r);
    c->tokens_before = h->estimate;
    ev->text = mem_strdup(summary);
    ev->model = mem_strdup("scripted/small");
    ev->usage = (struct usage){.input = 700, .output = 30, .cached = -1};
    ev->used = 0.25;
    return ev;
}

struct event *any_compaction(const struct history *h, const char *summary)
{
    AUTO(rebuild_release) struct rebuild r = {0};
    any_rebuild(h, summary, &r);
    return compaction_of(h, &r, summary);
}
