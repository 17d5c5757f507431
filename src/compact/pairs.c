#include "compact/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A message of the rebuilt history and where it comes from. */
struct slot {
    const struct message *m;
    struct rebuild_part *part;
    size_t old; /* its index, where the part is kept or a rewrite */
    struct message room; /* of blocks that were read */
};

struct call {
    const struct block *block;
    bool answered;
};

/* An answer of the model with the tool messages right behind it. */
struct group {
    struct slot *answer; /* NULL: results that nothing called */
    struct slot *results;
    size_t count; /* of result messages */
    int64_t next; /* number of the message behind it; INT64_MAX: none */
    VEC(struct call) calls;
    size_t at; /* where the call of the next result is likely to be */
};

static const char *id_of(const struct block *b)
{
    return b->id ? b->id : "";
}

static void read_calls(struct group *g)
{
    const struct message *m = g->answer ? g->answer->m : NULL;
    for (size_t i = 0; m && m->role == ROLE_ASSISTANT && i < m->blocks.len; i++)
        if (m->blocks.items[i].type == BLOCK_TOOL_CALL)
            vec_push(&g->calls, (struct call){.block = &m->blocks.items[i]});
}

/* Results mostly come in the order of their calls. */
static bool answers_call(struct group *g, const struct block *result)
{
    for (size_t i = 0; i < g->calls.len; i++) {
        size_t at = (g->at + i) % g->calls.len;
        struct call *c = &g->calls.items[at];
        if (c->answered || strcmp(id_of(c->block), id_of(result)) != 0)
            continue;
        c->answered = true;
        g->at = at + 1;
        return true;
    }
    return false;
}

static void add_unchanged(struct rebuild *out, const struct slot *s)
{
    if (s->part->count > 0) {
        rebuild_keep(out, s->old, 1);
        return;
    }
    vec_push(&out->parts, *s->part);
    s->part->made = (struct message){.seq = 0};
}

static void add_changed(struct rebuild *out, const struct slot *s, struct message changed)
{
    if (s->part->count > 0 || s->part->rewrites)
        rebuild_rewrite(out, s->old, changed);
    else
        rebuild_make(out, changed);
}

static void add_stubs(struct group *g, struct message *m)
{
    for (size_t i = 0; i < g->calls.len; i++) {
        const struct call *c = &g->calls.items[i];
        if (c->answered)
            continue;
        vec_push(&m->blocks, (struct block){.type = BLOCK_TOOL_RESULT,
                                            .is_error = true,
                                            .id = mem_strdup(id_of(c->block)),
                                            .name = mem_strdup(c->block->name),
                                            .text = mem_strdup("There is no result.")});
    }
}

static size_t count_open(const struct group *g)
{
    size_t open = 0;
    for (size_t i = 0; i < g->calls.len; i++)
        open += !g->calls.items[i].answered;
    return open;
}

/* The blocks that stay: one flag each. Returns how many. */
static size_t mark_blocks(struct group *g, const struct message *m, bool *stays)
{
    size_t count = 0;
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        stays[i] = b->type != BLOCK_TOOL_RESULT || answers_call(g, b);
        count += stays[i];
    }
    return count;
}

/* Whatever is still open is answered in the last message of results. */
static void mend_results(struct group *g, size_t i, struct rebuild *out)
{
    const struct slot *s = &g->results[i];
    size_t all = s->m->blocks.len;
    bool *stays = mem_alloc(all + 1);
    size_t count = mark_blocks(g, s->m, stays);
    bool stubs = i + 1 == g->count && count_open(g) > 0;
    if (count == all && !stubs) {
        add_unchanged(out, s);
    } else if (count > 0 || stubs) {
        struct message m = message_without_blocks(s->m);
        for (size_t b = 0; b < all; b++)
            if (stays[b])
                vec_push(&m.blocks, block_clone(&s->m->blocks.items[b]));
        if (stubs)
            add_stubs(g, &m);
        add_changed(out, s, m);
    }
    free(stays);
}

static void answer_all(struct group *g, struct rebuild *out)
{
    struct message m = {.role = ROLE_TOOL, .seq = g->answer->m->seq, .turn = g->answer->m->turn};
    if (m.seq + 1 < g->next)
        m.seq++;
    add_stubs(g, &m);
    rebuild_make(out, m);
}

static void open_slot(struct slot *s, struct message_source *source)
{
    if (s)
        s->m = message_whole(source, s->m, &s->room);
}

static void open_group(struct group *g, struct message_source *source)
{
    open_slot(g->answer, source);
    for (size_t i = 0; i < g->count; i++)
        open_slot(&g->results[i], source);
}

static void close_group(struct group *g)
{
    vec_release(&g->calls);
    if (g->answer)
        message_release(&g->answer->room);
    for (size_t i = 0; i < g->count; i++)
        message_release(&g->results[i].room);
}

static void mend_group(struct group *g, struct rebuild *out)
{
    read_calls(g);
    if (g->answer)
        add_unchanged(out, g->answer);
    for (size_t i = 0; i < g->count; i++)
        mend_results(g, i, out);
    if (g->count == 0 && g->calls.len > 0)
        answer_all(g, out);
}

struct slots {
    VEC(struct slot) items;
};

static void read_slots(const struct message *old, struct rebuild *r, struct slots *out)
{
    vec_reserve(&out->items, rebuild_count(r));
    for (size_t i = 0; i < r->parts.len; i++) {
        struct rebuild_part *p = &r->parts.items[i];
        if (p->count == 0)
            vec_push(&out->items, (struct slot){.m = &p->made, .part = p, .old = p->first});
        for (size_t k = p->first; k < p->first + p->count; k++)
            vec_push(&out->items, (struct slot){.m = &old[k], .part = p, .old = k});
    }
}

/* The group that begins at `i`; returns where the next one does. */
static size_t find_group(const struct slots *slots, size_t i, struct group *g)
{
    struct slot *s = slots->items.items;
    *g = (struct group){.next = INT64_MAX};
    if (s[i].m->role != ROLE_TOOL)
        g->answer = &s[i++];
    g->results = s + i;
    while (i < slots->items.len && s[i].m->role == ROLE_TOOL)
        i++;
    g->count = (size_t)(s + i - g->results);
    if (i < slots->items.len)
        g->next = s[i].m->seq;
    return i;
}

void compact_repair_pairs(const struct compact_input *in, struct rebuild *r)
{
    struct slots slots = {.items = {0}};
    struct rebuild mended = {.parts = {0}};
    read_slots(in->messages, r, &slots);
    for (size_t i = 0; i < slots.items.len;) {
        struct group g;
        i = find_group(&slots, i, &g);
        open_group(&g, in->source);
        mend_group(&g, &mended);
        close_group(&g);
    }
    vec_release(&slots.items);
    rebuild_release(r);
    *r = mended;
}
