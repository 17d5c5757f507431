#include "compact/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "compact/mode.h"

void compact_plan_release(struct compact_plan *p)
{
    vec_release(&p->fates);
    p->gone = 0;
}

static bool has_block(const struct message *m, enum block_type type)
{
    for (size_t i = 0; i < m->blocks.len; i++)
        if (m->blocks.items[i].type == type)
            return true;
    return false;
}

static bool is_content(const struct block *b)
{
    return (b->type == BLOCK_TEXT && b->text && *b->text) || b->type == BLOCK_IMAGE;
}

static bool has_content(const struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++)
        if (is_content(&m->blocks.items[i]))
            return true;
    return false;
}

bool compact_is_held(const struct compact_input *in, size_t i)
{
    const struct message *m = &in->messages[i];
    return m->pinned || m->role == ROLE_SYSTEM || i == in->open;
}

/* Nothing but calls was pinned: they stay, and so do their results. */
static void hold_with_results(const struct compact_input *in, size_t i, enum compact_fate *fates)
{
    fates[i] = FATE_STAYS;
    while (++i < in->count && in->messages[i].role == ROLE_TOOL)
        fates[i] = FATE_STAYS;
}

static void put_back(const struct compact_input *in, enum compact_fate *fates)
{
    for (size_t i = 0; i < in->count; i++) {
        const struct message *m = &in->messages[i];
        if (fates[i] == FATE_STAYS || !compact_is_held(in, i))
            continue;
        if (!has_block(m, BLOCK_TOOL_CALL))
            fates[i] = FATE_STAYS;
        else if (has_content(m))
            fates[i] = FATE_TEXT_STAYS;
        else
            hold_with_results(in, i, fates);
    }
}

/* There is one summary at most: an earlier one goes into the new one, wherever it stands. */
static void let_summaries_go(const struct compact_input *in, enum compact_fate *fates)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->messages[i].summary)
            fates[i] = FATE_GOES;
}

static size_t first_gone(const struct compact_input *in, const enum compact_fate *fates)
{
    size_t i = 0;
    while (i < in->count && fates[i] != FATE_GOES)
        i++;
    return i;
}

static bool are_alike(const struct message *a, const struct message *b)
{
    return a->role == b->role && !a->pinned && !b->pinned;
}

/* The rest of an answer whose beginning went: its results. */
static bool follows_gone(const struct compact_input *in, const enum compact_fate *fates, size_t i)
{
    return i > 0 && in->messages[i].role == ROLE_TOOL && fates[i - 1] == FATE_GOES;
}

static int64_t let_go(const struct compact_input *in, enum compact_fate *fates, size_t first,
                      size_t end, int64_t left)
{
    for (size_t i = first; i < end && (left > in->fit || follows_gone(in, fates, i)); i++) {
        if (fates[i] == FATE_STAYS && !compact_is_held(in, i))
            left -= in->estimates[i];
        fates[i] = FATE_GOES;
    }
    return left;
}

static void make_fit(const struct compact_mode *mode, const struct compact_input *in,
                     enum compact_fate *fates)
{
    int64_t left = 0;
    for (size_t i = 0; i < in->count; i++)
        left += fates[i] == FATE_GOES ? 0 : in->estimates[i];
    size_t gap = first_gone(in, fates);
    if (gap == in->count)
        gap = mode->head ? mode->head(in) : 0;
    left = let_go(in, fates, gap, in->count, left);
    let_go(in, fates, 0, gap, left);
}

/* Where a summary went from between two messages of one role, with the new one standing before
 * both, they would follow each other: what is kept begins with the second. */
static void close_gaps(const struct compact_input *in, enum compact_fate *fates)
{
    size_t first = first_gone(in, fates);
    size_t last = in->count, kept_from = first;
    bool parted = false;
    for (size_t i = first; i < in->count; i++) {
        if (fates[i] == FATE_GOES) {
            parted = parted || in->messages[i].summary;
            continue;
        }
        if (parted && last < i && are_alike(&in->messages[last], &in->messages[i]))
            kept_from = i;
        last = i;
        parted = false;
    }
    for (size_t i = first; i < kept_from; i++)
        fates[i] = FATE_GOES;
}

/* A summary made of summaries alone would be no gain. */
static size_t count_gone(const struct compact_input *in, const enum compact_fate *fates)
{
    size_t gone = 0;
    bool others = false;
    for (size_t i = 0; i < in->count; i++) {
        gone += fates[i] == FATE_GOES;
        others = others || (fates[i] == FATE_GOES && !in->messages[i].summary);
    }
    return others ? gone : 0;
}

static void keep_all(struct compact_plan *p)
{
    for (size_t i = 0; i < p->fates.len; i++)
        p->fates.items[i] = FATE_STAYS;
}

static bool any_prunes(const struct compact_input *in)
{
    size_t newest = compact_newest_turn(in);
    for (size_t i = 0; i < newest; i++)
        if (compact_prunes(in, i, newest))
            return true;
    return false;
}

bool compact_plan_make(const struct compact_mode *mode, const struct compact_input *in,
                       struct compact_plan *p)
{
    *p = (struct compact_plan){.gone = 0};
    vec_reserve(&p->fates, in->count);
    p->fates.len = in->count;
    keep_all(p);
    mode->cut(in, p->fates.items);
    let_summaries_go(in, p->fates.items);
    if (in->fit > 0)
        make_fit(mode, in, p->fates.items);
    close_gaps(in, p->fates.items);
    put_back(in, p->fates.items);
    p->gone = count_gone(in, p->fates.items);
    if (p->gone > 0)
        return true;
    keep_all(p);
    return mode->prunes && any_prunes(in);
}

static struct message summary_message(const struct message *first, const char *text)
{
    struct message m = {.role = ROLE_USER, .summary = true, .seq = first->seq, .turn = first->turn};
    vec_push(&m.blocks, block_text(text));
    return m;
}

static struct message text_alone(const struct message *old)
{
    struct message m = message_without_blocks(old);
    for (size_t i = 0; i < old->blocks.len; i++) {
        const struct block *b = &old->blocks.items[i];
        if (b->type == BLOCK_TEXT || b->type == BLOCK_IMAGE)
            vec_push(&m.blocks, block_clone(b));
    }
    return m;
}

/* Would an answer come first if nothing stood for what went? */
static bool needs_user(const struct compact_input *in, const struct compact_plan *p)
{
    for (size_t i = 0; i < in->count; i++)
        if (p->fates.items[i] != FATE_GOES && in->messages[i].role != ROLE_SYSTEM)
            return in->messages[i].role != ROLE_USER;
    return true;
}

static void add_kept(const struct compact_mode *mode, const struct compact_input *in, size_t i,
                     size_t newest, struct rebuild *out)
{
    if (mode->prunes && compact_prunes(in, i, newest))
        rebuild_rewrite(out, i, compact_pruned(in, i));
    else
        rebuild_keep(out, i, 1);
}

void compact_plan_rebuild(const struct compact_mode *mode, const struct compact_input *in,
                          const struct compact_plan *p, const char *text, struct rebuild *out)
{
    size_t newest = compact_newest_turn(in);
    size_t first = first_gone(in, p->fates.items);
    if (!text && first < in->count && needs_user(in, p))
        text = COMPACT_PREFIX;
    *out = (struct rebuild){.parts = {0}};
    for (size_t i = 0; i < in->count; i++) {
        if (i == first && text)
            rebuild_make(out, summary_message(&in->messages[i], text));
        if (p->fates.items[i] == FATE_STAYS)
            add_kept(mode, in, i, newest, out);
        else if (p->fates.items[i] == FATE_TEXT_STAYS)
            rebuild_rewrite(out, i, text_alone(&in->messages[i]));
    }
    compact_repair_pairs(in, out);
}

struct compact_input compact_input_of(const struct history *h, const struct compact_settings *s,
                                      const struct compact_limits *l)
{
    return (struct compact_input){
        .messages = h->messages.items,
        .count = h->messages.len,
        .source = h->source,
        .estimates = h->estimates.items,
        .open = h->running ? h->turn_first : h->messages.len,
        .settings = s,
        .threshold = compact_threshold(s, l),
    };
}

static bool begins_turn(const struct compact_input *in, size_t i)
{
    const struct message *m = &in->messages[i];
    return i == 0 || (m->role == ROLE_USER && !m->summary) || m->turn != in->messages[i - 1].turn;
}

static bool can_go(const struct message *m)
{
    return !m->pinned && !m->summary && m->role != ROLE_SYSTEM;
}

static bool any_can_go(const struct compact_input *in, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (can_go(&in->messages[i]))
            return true;
    return false;
}

int64_t compact_tokens(const struct compact_input *in, size_t first, size_t end)
{
    int64_t tokens = 0;
    for (size_t i = first; i < end; i++)
        if (!in->messages[i].summary)
            tokens += in->estimates[i];
    return tokens;
}

void compact_turns(const struct compact_input *in, struct turn_spans *out)
{
    *out = (struct turn_spans){.items = {0}};
    size_t complete = in->open < in->count ? in->open : in->count;
    for (size_t first = 0, end; first < complete; first = end) {
        for (end = first + 1; end < complete && !begins_turn(in, end);)
            end++;
        if (any_can_go(in, first, end))
            vec_push(&out->items, (struct turn_span){.first = first,
                                                     .end = end,
                                                     .tokens = compact_tokens(in, first, end)});
    }
}

size_t compact_newest_turn(const struct compact_input *in)
{
    if (in->open < in->count || in->count == 0)
        return in->open;
    size_t i = in->count - 1;
    while (!begins_turn(in, i))
        i--;
    return i;
}

/* A message of the rebuilt history and where it comes from. */
struct slot {
    const struct message *m;
    struct rebuild_part *part;
    size_t old;          /* its index, where the part is kept or a rewrite */
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

#define MICRO_KEPT 1000
#define CUT_BEGIN "\n[cut: the first "
#define CUT_MIDDLE " of "
#define CUT_END " bytes]"
#define PLACEHOLDER_BEGIN "[tool result of "
#define PLACEHOLDER_END " bytes left out]"

/* The shorter text of a tool result, or NULL where it stays as it is; the caller frees. */
typedef char *shorten_result(const struct compact_settings *s, const char *text);

static char *cut_result(const struct compact_settings *s, const char *text)
{
    size_t len = strlen(text);
    if (len <= (size_t)s->micro_bytes)
        return NULL;
    size_t kept = utf8_cut_bytes(text, len, MICRO_KEPT);
    struct buf out = BUF_INIT;
    buf_add(&out, text, kept);
    buf_addf(&out, CUT_BEGIN "%zu" CUT_MIDDLE "%zu" CUT_END, kept, len);
    return buf_take(&out);
}

static bool has_more_chars(const char *text, size_t max)
{
    size_t chars = 0;
    for (; *text && chars <= max; text++)
        chars += ((unsigned char)*text & 0xC0) != 0x80;
    return chars > max;
}

/* Steps over the word, or over digits where it is NULL; NULL where they are not there. */
static const char *step_over(const char *at, const char *word)
{
    size_t len = at && word ? strlen(word) : 0;
    if (!at || (word && strncmp(at, word, len) != 0))
        return NULL;
    return at + (word ? len : strspn(at, "0123456789"));
}

static bool is_placeholder(const char *text)
{
    const char *end =
        step_over(step_over(step_over(text, PLACEHOLDER_BEGIN), NULL), PLACEHOLDER_END);
    return end && !*end;
}

static bool is_cut(const char *text)
{
    const char *note = strrchr(text, '\n');
    const char *end = step_over(step_over(note, CUT_BEGIN), NULL);
    end = step_over(step_over(step_over(end, CUT_MIDDLE), NULL), CUT_END);
    return end && !*end;
}

bool compact_is_shortened(const char *text)
{
    return is_placeholder(text) || is_cut(text);
}

static char *leave_out_result(const struct compact_settings *s, const char *text)
{
    if (!has_more_chars(text, (size_t)s->prune_chars) || is_placeholder(text))
        return NULL;
    size_t len = strlen(text);
    char *placeholder = mem_printf(PLACEHOLDER_BEGIN "%zu" PLACEHOLDER_END, len);
    if (strlen(placeholder) < len)
        return placeholder;
    free(placeholder);
    return NULL;
}

static char *shorter(const struct compact_input *in, const struct block *b, shorten_result *shorten)
{
    return b->type == BLOCK_TOOL_RESULT && b->text ? shorten(in->settings, b->text) : NULL;
}

static bool gets_shorter(const struct compact_input *in, size_t i, size_t newest,
                         shorten_result *shorten)
{
    struct message room;
    bool shorter_one = false;
    if (i >= newest || in->messages[i].role != ROLE_TOOL || in->messages[i].pinned)
        return false;
    const struct message *m = message_whole(in->source, &in->messages[i], &room);
    for (size_t b = 0; b < m->blocks.len && !shorter_one; b++) {
        char *text = shorter(in, &m->blocks.items[b], shorten);
        shorter_one = text != NULL;
        free(text);
    }
    message_release(&room);
    return shorter_one;
}

static struct message shortened(const struct compact_input *in, size_t i, shorten_result *shorten)
{
    struct message room;
    const struct message *old = message_whole(in->source, &in->messages[i], &room);
    struct message m = message_without_blocks(old);
    for (size_t b = 0; b < old->blocks.len; b++) {
        struct block block = old->blocks.items[b];
        char *text = shorter(in, &block, shorten);
        if (text)
            block.text = NULL;
        block = block_clone(&block);
        if (text)
            block.text = text;
        vec_push(&m.blocks, block);
    }
    message_release(&room);
    return m;
}

bool compact_prunes(const struct compact_input *in, size_t i, size_t newest)
{
    return gets_shorter(in, i, newest, leave_out_result);
}

struct message compact_pruned(const struct compact_input *in, size_t i)
{
    return shortened(in, i, leave_out_result);
}

bool compact_micro_useful(const struct compact_input *in)
{
    size_t newest = compact_newest_turn(in);
    for (size_t i = 0; i < newest; i++)
        if (gets_shorter(in, i, newest, cut_result))
            return true;
    return false;
}

bool compact_micro(const struct compact_input *in, struct rebuild *out)
{
    size_t newest = compact_newest_turn(in);
    *out = (struct rebuild){.parts = {0}};
    if (!compact_micro_useful(in))
        return false;
    for (size_t i = 0; i < newest; i++) {
        if (gets_shorter(in, i, newest, cut_result))
            rebuild_rewrite(out, i, shortened(in, i, cut_result));
        else
            rebuild_keep(out, i, 1);
    }
    rebuild_keep(out, newest, in->count - newest);
    return true;
}

bool compact_micro_enough(const struct compact_input *in, int64_t effective_window,
                          int64_t estimate_after)
{
    int64_t whole = effective_window > 0 ? effective_window : in->threshold;
    double target = in->settings->target_percent * (double)whole;
    return (double)estimate_after <= target && estimate_after < in->threshold;
}
