#include "compact/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "compact/mode.h"

/* --- the input -------------------------------------------------------------------------------- */

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
        bool can_go = false;
        end = first;
        do {
            const struct message *m = &in->messages[end++];
            can_go = can_go || (!m->pinned && !m->summary && m->role != ROLE_SYSTEM);
        } while (end < complete && !begins_turn(in, end));
        if (can_go)
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

/* --- shorter tool results --------------------------------------------------------------------- */

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

bool compact_is_shortened(const struct block *b)
{
    const char *text = b->type == BLOCK_TOOL_RESULT && b->text ? b->text : "";
    const char *end = step_over(step_over(strrchr(text, '\n'), CUT_BEGIN), NULL);
    end = step_over(step_over(step_over(end, CUT_MIDDLE), NULL), CUT_END);
    return is_placeholder(text) || (end && !*end);
}

static char *leave_out_result(const struct compact_settings *s, const char *text)
{
    int chars = 0;
    for (const char *at = text; *at && chars <= s->prune_chars; at++)
        chars += ((unsigned char)*at & 0xC0) != 0x80;
    if (chars <= s->prune_chars || is_placeholder(text))
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
    bool found = false;
    if (i >= newest || in->messages[i].role != ROLE_TOOL || in->messages[i].pinned)
        return false;
    const struct message *m = message_whole(in->source, &in->messages[i], &room);
    for (size_t b = 0; b < m->blocks.len && !found; b++) {
        auto_free char *text = shorter(in, &m->blocks.items[b], shorten);
        found = text != NULL;
    }
    message_release(&room);
    return found;
}

static struct message shortened(const struct compact_input *in, size_t i, shorten_result *shorten)
{
    struct message room;
    const struct message *old = message_whole(in->source, &in->messages[i], &room);
    struct message m = message_without_blocks(old);
    bool dropped = false; /* the images behind a result go with what it loses */
    for (size_t b = 0; b < old->blocks.len; b++) {
        struct block block = old->blocks.items[b];
        char *text = shorter(in, &block, shorten);
        if (block.type == BLOCK_IMAGE && dropped)
            continue;
        dropped = text != NULL;
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

/* --- calls and their results ------------------------------------------------------------------ */

/* A message of the rebuilt history and where it comes from. */
struct slot {
    const struct message *m;
    struct rebuild_part *part;
    size_t old;          /* its index, where the part is kept or a rewrite */
    struct message room; /* holds blocks that were read */
};

/* An answer of the model with the tool messages right behind it. */
struct group {
    struct slot *answer; /* NULL: results that nothing called */
    struct slot *results;
    size_t count; /* of result messages */
    int64_t next; /* number of the message behind it; INT64_MAX: none */
    VEC(struct call {
        const struct block *block;
        bool answered;
    })
    calls;
    size_t open; /* calls without a result */
    size_t at;   /* where the call of the next result is likely to be */
};

static const char *id_of(const struct block *b)
{
    return b->id ? b->id : "";
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
        g->open--;
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

/* Error results for the calls that have none. */
static void add_missing_results(const struct group *g, struct message *m)
{
    for (size_t i = 0; i < g->calls.len; i++) {
        const struct call *c = &g->calls.items[i];
        if (!c->answered)
            vec_push(&m->blocks, (struct block){.type = BLOCK_TOOL_RESULT,
                                                .is_error = true,
                                                .id = mem_strdup(id_of(c->block)),
                                                .name = mem_strdup(c->block->name),
                                                .text = mem_strdup("There is no result.")});
    }
}

/* The last message of results also answers the calls that are still open. */
static void mend_results(struct group *g, size_t i, struct rebuild *out)
{
    const struct slot *s = &g->results[i];
    size_t all = s->m->blocks.len, count = 0;
    auto_free bool *stays = mem_alloc(all + 1);
    for (size_t b = 0; b < all; b++) {
        const struct block *block = &s->m->blocks.items[b];
        stays[b] =
            block->type == BLOCK_TOOL_RESULT ? answers_call(g, block) : b == 0 || stays[b - 1];
        count += stays[b];
    }
    bool adds = i + 1 == g->count && g->open > 0;
    if (count == all && !adds) {
        add_unchanged(out, s);
        return;
    }
    if (count == 0 && !adds)
        return;
    struct message m = message_without_blocks(s->m);
    for (size_t b = 0; b < all; b++)
        if (stays[b])
            vec_push(&m.blocks, block_clone(&s->m->blocks.items[b]));
    if (adds)
        add_missing_results(g, &m);
    if (s->part->count > 0 || s->part->rewrites)
        rebuild_rewrite(out, s->old, m);
    else
        rebuild_make(out, m);
}

static void mend_group(struct group *g, struct rebuild *out)
{
    const struct message *answer = g->answer ? g->answer->m : NULL;
    for (size_t i = 0; answer && answer->role == ROLE_ASSISTANT && i < answer->blocks.len; i++)
        if (answer->blocks.items[i].type == BLOCK_TOOL_CALL)
            vec_push(&g->calls, (struct call){.block = &answer->blocks.items[i]});
    g->open = g->calls.len;
    if (answer)
        add_unchanged(out, g->answer);
    for (size_t i = 0; i < g->count; i++)
        mend_results(g, i, out);
    if (g->count > 0 || g->open == 0)
        return;
    struct message m = {
        .role = ROLE_TOOL, .seq = answer->seq + (answer->seq + 1 < g->next), .turn = answer->turn};
    add_missing_results(g, &m);
    rebuild_make(out, m);
}

void compact_repair_pairs(const struct compact_input *in, struct rebuild *r)
{
    VEC(struct slot) slots = {0};
    struct rebuild mended = {.parts = {0}};
    vec_reserve(&slots, rebuild_count(r));
    for (size_t i = 0; i < r->parts.len; i++) {
        struct rebuild_part *p = &r->parts.items[i];
        if (p->count == 0)
            vec_push(&slots, (struct slot){.m = &p->made, .part = p, .old = p->first});
        for (size_t k = p->first; k < p->first + p->count; k++)
            vec_push(&slots, (struct slot){.m = &in->messages[k], .part = p, .old = k});
    }
    for (size_t i = 0; i < slots.len;) {
        size_t first = i;
        struct group g = {.next = INT64_MAX};
        if (slots.items[i].m->role != ROLE_TOOL)
            g.answer = &slots.items[i++];
        g.results = slots.items + i;
        for (; i < slots.len && slots.items[i].m->role == ROLE_TOOL; i++)
            g.count++;
        if (i < slots.len)
            g.next = slots.items[i].m->seq;
        for (size_t k = first; k < i; k++)
            slots.items[k].m = message_whole(in->source, slots.items[k].m, &slots.items[k].room);
        mend_group(&g, &mended);
        vec_release(&g.calls);
        for (size_t k = first; k < i; k++)
            message_release(&slots.items[k].room);
    }
    vec_release(&slots);
    rebuild_release(r);
    *r = mended;
}

/* --- fates ------------------------------------------------------------------------------------ */

void compact_plan_release(struct compact_plan *p)
{
    vec_release(&p->fates);
    p->gone = 0;
}

bool compact_is_held(const struct compact_input *in, size_t i)
{
    const struct message *m = &in->messages[i];
    return m->pinned || m->role == ROLE_SYSTEM || i == in->open || (in->kept && in->kept[i]);
}

/* Keeps what no mode may let go. A message with tool calls keeps its text and images; one that only
 * calls stays with its results, and so does one whose results are pinned. */
static void keep_held(const struct compact_input *in, enum compact_fate *fates)
{
    for (size_t i = 0; i < in->count; i++) {
        const struct message *m = &in->messages[i];
        bool calls = false, has_content = false;
        if (fates[i] == FATE_STAYS || !compact_is_held(in, i))
            continue;
        if (i > in->open && in->kept && in->kept[i]) { /* its results are kept too */
            fates[i] = FATE_STAYS;
            continue;
        }
        for (size_t k = 0; k < m->blocks.len; k++) {
            const struct block *b = &m->blocks.items[k];
            calls = calls || b->type == BLOCK_TOOL_CALL;
            has_content = has_content || b->type == BLOCK_IMAGE ||
                          (b->type == BLOCK_TEXT && b->text && *b->text);
        }
        bool whole = !has_content || (i + 1 < in->count && in->messages[i + 1].pinned &&
                                      in->messages[i + 1].role == ROLE_TOOL);
        fates[i] = calls && !whole ? FATE_TEXT_STAYS : FATE_STAYS;
        for (size_t k = i + 1; calls && whole && k < in->count; k++) {
            if (in->messages[k].role != ROLE_TOOL)
                break;
            fates[k] = FATE_STAYS;
        }
    }
}

static size_t first_gone(const struct compact_input *in, const enum compact_fate *fates)
{
    size_t i = 0;
    while (i < in->count && fates[i] != FATE_GOES)
        i++;
    return i;
}

/* Lets messages of first..end go until `left` tokens fit; results go with the answer before them.
 * Returns what is left. */
static int64_t let_go(const struct compact_input *in, enum compact_fate *fates, size_t first,
                      size_t end, int64_t left)
{
    for (size_t i = first; i < end; i++) {
        bool is_rest = i > 0 && in->messages[i].role == ROLE_TOOL && fates[i - 1] == FATE_GOES;
        if (left <= in->fit && !is_rest)
            break;
        if (fates[i] == FATE_STAYS && !compact_is_held(in, i))
            left -= in->estimates[i];
        fates[i] = FATE_GOES;
    }
    return left;
}

/* A summary may go from between two messages of one role, and the new one stands before both: they
 * would follow each other. Keep from the second of them on. */
static void close_gaps(const struct compact_input *in, enum compact_fate *fates)
{
    size_t first = first_gone(in, fates);
    size_t last = in->count, kept_from = first;
    bool parted = false;
    for (size_t i = first; i < in->count; i++) {
        const struct message *m = &in->messages[i];
        if (fates[i] == FATE_GOES) {
            parted = parted || m->summary;
            continue;
        }
        if (parted && last < i && in->messages[last].role == m->role && !m->pinned &&
            !in->messages[last].pinned)
            kept_from = i;
        last = i;
        parted = false;
    }
    for (size_t i = first; i < kept_from; i++)
        fates[i] = FATE_GOES;
}

bool compact_plan_make(const struct compact_mode *mode, const struct compact_input *in,
                       struct compact_plan *p)
{
    bool any_but_summaries = false, prunes = false;
    *p = (struct compact_plan){.gone = 0};
    vec_reserve(&p->fates, in->count);
    p->fates.len = in->count;
    for (size_t i = 0; i < in->count; i++)
        p->fates.items[i] = FATE_STAYS;
    enum compact_fate *fates = p->fates.items;
    mode->cut(in, fates);
    for (size_t i = 0; i < in->count; i++) /* an earlier summary goes into the new one */
        if (in->messages[i].summary)
            fates[i] = FATE_GOES;
    if (in->fit > 0) { /* more goes behind the gap, then before it */
        int64_t left = 0;
        for (size_t i = 0; i < in->count; i++)
            left += fates[i] == FATE_GOES ? 0 : in->estimates[i];
        size_t gap = first_gone(in, fates);
        if (gap == in->count)
            gap = mode->head ? mode->head(in) : 0;
        left = let_go(in, fates, gap, in->count, left);
        let_go(in, fates, 0, gap, left);
    }
    close_gaps(in, fates);
    keep_held(in, fates);
    for (size_t i = 0; i < in->count; i++) {
        bool goes = fates[i] == FATE_GOES;
        p->gone += goes;
        any_but_summaries = any_but_summaries || (goes && !in->messages[i].summary);
    }
    if (any_but_summaries)
        return true;
    p->gone = 0;
    for (size_t i = 0; i < in->count; i++)
        fates[i] = FATE_STAYS;
    size_t newest = compact_newest_turn(in);
    for (size_t i = 0; mode->prunes && i < newest && !prunes; i++)
        prunes = gets_shorter(in, i, newest, leave_out_result);
    return prunes;
}

/* --- the messages after it -------------------------------------------------------------------- */

void compact_plan_rebuild(const struct compact_mode *mode, const struct compact_input *in,
                          const struct compact_plan *p, const char *text, struct rebuild *out)
{
    size_t newest = compact_newest_turn(in);
    size_t first = first_gone(in, p->fates.items), begin = 0;
    while (begin < in->count &&
           (p->fates.items[begin] == FATE_GOES || in->messages[begin].role == ROLE_SYSTEM))
        begin++;
    /* An answer must not come first. */
    if (!text && first < in->count && (begin == in->count || in->messages[begin].role != ROLE_USER))
        text = COMPACT_PREFIX;
    *out = (struct rebuild){.parts = {0}};
    for (size_t i = 0; i < in->count; i++) {
        const struct message *old = &in->messages[i];
        if (i == first && text) {
            struct message m = {
                .role = ROLE_USER, .summary = true, .seq = old->seq, .turn = old->turn};
            vec_push(&m.blocks, block_text(text));
            rebuild_make(out, m);
        }
        if (p->fates.items[i] == FATE_TEXT_STAYS) {
            struct message m = message_without_blocks(old);
            for (size_t k = 0; k < old->blocks.len; k++) {
                const struct block *b = &old->blocks.items[k];
                if (b->type == BLOCK_TEXT || b->type == BLOCK_IMAGE)
                    vec_push(&m.blocks, block_clone(b));
            }
            rebuild_rewrite(out, i, m);
        } else if (p->fates.items[i] == FATE_STAYS) {
            if (mode->prunes && gets_shorter(in, i, newest, leave_out_result))
                rebuild_rewrite(out, i, shortened(in, i, leave_out_result));
            else
                rebuild_keep(out, i, 1);
        }
    }
    compact_repair_pairs(in, out);
}
