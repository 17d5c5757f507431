/* Invariants of any compaction of any conversation, in every mode. */
#include "base/json_out.h"
#include "base/utf8.h"
#include "compact/mode.h"
#include "compact/plan.h"
#include "tests/conversation.h"
#include "tests/suite.h"

#define HISTORIES suite_sample(1500, 10000)
#define FAKE                                                                                       \
    "[Context compacted]\n\nWhat was said: café \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB"

/* One compaction, with the data to report a fault. */
struct trial {
    const struct compact_mode *mode; /* NULL: micro */
    const struct conversation *before;
    struct compact_input in;
    struct compact_plan plan;
    char *text;
    struct rebuild rebuild;
    struct conversation after;
    uint64_t seed;
};

/* Role and number of each message, S: a summary, ^: pinned. */
static char *shape(const struct conversation *c)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < c->messages.len; i++) {
        const struct message *m = &c->messages.items[i];
        buf_addf(&out, "%c%s%lld%s ", role_name(m->role)[0], m->summary ? "S" : "",
                 (long long)m->seq, m->pinned ? "^" : "");
    }
    buf_addf(&out, "open %zu", c->open);
    return buf_take(&out);
}

static void fault(const struct trial *t, const char *what)
{
    char *before = shape(t->before);
    char *after = shape(&t->after);
    fail_msg("%s, history %llu: %s\n%s\n->\n%s", t->mode ? t->mode->name : "micro",
             (unsigned long long)t->seed, what, before, after);
}

static void hold(const struct trial *t, bool holds, const char *what)
{
    if (!holds)
        fault(t, what);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* --- single messages ------------------------------------------------------------------------- */

/* "[cut: …]" after 900 to 1,000 bytes of whole graphemes. */
static bool is_cut(const char *old, const char *text)
{
    size_t len = strlen(old), border = 0;
    for (size_t kept = 0; kept <= 1000 && kept <= len; kept = border) {
        if (kept > 900 && strncmp(old, text, kept) == 0 && text[kept] == '\n' &&
            strcmp(text + kept, support_text("\n[cut: the first %zu of %zu bytes]", kept, len)) ==
                0)
            return true;
        border = kept < len ? utf8_next(old, len, kept) : len + 1;
    }
    return false;
}

static void check_shortened(const struct trial *t, const struct message *old,
                            const struct message *made)
{
    hold(t, old->blocks.len == made->blocks.len, "a block of results is missing");
    for (size_t i = 0; i < old->blocks.len; i++) {
        const struct block *a = &old->blocks.items[i], *b = &made->blocks.items[i];
        hold(t, a->type == b->type && same_text(a->id, b->id) && a->is_error == b->is_error,
             "a result is another one");
        if (!same_text(a->text, b->text))
            hold(t,
                 t->mode ? strcmp(b->text, support_text("[tool result of %zu bytes left out]",
                                                        strlen(a->text))) == 0
                         : is_cut(a->text, b->text),
                 "a result was changed");
    }
}

/* Words and images of a pin are all there, and nothing else. */
static void check_words(const struct trial *t, const struct message *old,
                        const struct message *made)
{
    size_t at = 0;
    for (size_t i = 0; i < old->blocks.len; i++) {
        const struct block *a = &old->blocks.items[i];
        if (a->type != BLOCK_TEXT && a->type != BLOCK_IMAGE)
            continue;
        hold(t, at < made->blocks.len, "words of a pin are missing");
        const struct block *b = &made->blocks.items[at++];
        hold(t, a->type == b->type && same_text(a->text, b->text), "words of a pin changed");
    }
    hold(t, at == made->blocks.len && made->pinned, "a pin is more than its words");
}

static void check_rewrite(const struct trial *t, size_t of, const struct message *made)
{
    const struct message *old = &t->in.messages[of];
    hold(t, of != t->in.open, "the open message was rewritten");
    hold(t, made->seq == old->seq && made->turn == old->turn && made->role == old->role,
         "a rewrite is another message");
    if (old->pinned) {
        hold(t, t->plan.fates.items[of] == FATE_TEXT_STAYS, "a pin was rewritten");
        check_words(t, old, made);
        return;
    }
    hold(t, of < compact_newest_turn(&t->in), "the newest turn was shortened");
    hold(t, !t->mode || t->mode->prunes, "a mode that does not prune shortened");
    check_shortened(t, old, made);
}

static void check_made(const struct trial *t, const struct message *made)
{
    size_t first = 0;
    while (first < t->in.count && t->plan.fates.items[first] != FATE_GOES)
        first++;
    hold(t, first < t->in.count && made->summary && made->role == ROLE_USER && !made->pinned,
         "something else was made than a summary");
    hold(t, made->seq == t->in.messages[first].seq && made->turn == t->in.messages[first].turn,
         "the summary does not stand where the first stood");
    hold(t, made->blocks.len == 1 && same_text(made->blocks.items[0].text, t->text),
         "the summary is another text");
}

/* --- whole histories ------------------------------------------------------------------------- */

static void check_parts(const struct trial *t)
{
    size_t made = 0;
    for (size_t i = 0; i < t->rebuild.parts.len; i++) {
        const struct rebuild_part *p = &t->rebuild.parts.items[i];
        if (p->rewrites)
            check_rewrite(t, p->first, &p->made);
        else if (p->count == 0)
            check_made(t, &p->made);
        made += p->count == 0 && !p->rewrites;
    }
    hold(t, made == (t->plan.gone > 0), "not just one summary was made");
}

/* Dropped and kept messages together are all messages, each part in order. */
static void check_dropped(const struct trial *t)
{
    struct index_list dropped;
    size_t at = 0;
    rebuild_dropped(&t->rebuild, t->in.count, &dropped);
    hold(t, dropped.items.len == t->plan.gone, "another number goes than was planned");
    for (size_t i = 0; i < t->in.count; i++) {
        if (t->plan.fates.items[i] != FATE_GOES)
            continue;
        hold(t, at < dropped.items.len && dropped.items.items[at] == i, "another message goes");
        at++;
    }
    vec_release(&dropped.items);
}

static void check_held(const struct trial *t)
{
    for (size_t i = 0; i < t->in.count; i++) {
        bool held = t->in.messages[i].pinned || i == t->in.open;
        hold(t, !held || t->plan.fates.items[i] != FATE_GOES, "a held message goes");
        hold(t, i != t->in.open || t->plan.fates.items[i] == FATE_STAYS, "the open one changes");
    }
    hold(t, t->plan.gone == 0 || t->plan.gone < t->in.count || t->after.messages.len == 1,
         "what goes and what is left are not all");
}

/* A pin, the open message, or the results of a pin that has nothing but calls. */
static bool must_stay(const struct trial *t, size_t i)
{
    while (i > 0 && t->in.messages[i].role == ROLE_TOOL)
        i--;
    return t->in.messages[i].pinned || i == t->in.open;
}

static void check_fit(const struct trial *t)
{
    int64_t stays = 0;
    for (size_t i = 0; i < t->in.count; i++)
        if (t->plan.fates.items[i] != FATE_GOES && !must_stay(t, i))
            stays += t->in.estimates[i];
    hold(t, t->in.fit == 0 || t->plan.gone == 0 || stays <= t->in.fit, "what stays does not fit");
}

static bool may_repeat(const struct message *m)
{
    return m->summary || m->pinned;
}

/* Two messages of one role follow each other only where they did before, except for pins and the
 * summary. */
static void check_roles(const struct trial *t)
{
    const struct message *after = t->after.messages.items;
    for (size_t i = 1, k = 1; i < t->after.messages.len; i++) {
        if (after[i].role != after[i - 1].role || may_repeat(&after[i]) ||
            may_repeat(&after[i - 1]) || i == t->after.open || i - 1 == t->after.open)
            continue;
        while (k < t->in.count && t->in.messages[k].seq != after[i].seq)
            k++;
        hold(t, k < t->in.count && t->in.messages[k - 1].seq == after[i - 1].seq,
             "two messages of one role follow each other");
    }
}

static void check_json(const struct trial *t)
{
    AUTO(rebuild_release) struct rebuild again = {0};
    struct error e;
    char *one = support_keep(rebuild_to_json(&t->rebuild));
    hold(t, rebuild_from_json(one, t->in.count, &again, &e), "the log cannot be read");
    hold(t, strcmp(one, support_keep(rebuild_to_json(&again))) == 0, "the log says something else");
}

static void check(const struct trial *t)
{
    char *what = conversation_fault(&t->after);
    hold(t, !what, what ? what : "");
    check_parts(t);
    check_dropped(t);
    check_held(t);
    check_fit(t);
    check_roles(t);
    check_json(t);
}

/* --- trials ---------------------------------------------------------------------------------- */

static void trial_release(struct trial *t)
{
    free(t->text);
    rebuild_release(&t->rebuild);
    compact_plan_release(&t->plan);
    conversation_release(&t->after);
}

/* False: nothing can go. */
static bool trial_run(struct trial *t)
{
    if (!compact_plan_make(t->mode, &t->in, &t->plan)) {
        hold(t, t->plan.gone == 0, "nothing can go, but something does");
        return false;
    }
    if (t->plan.gone > 0)
        t->text = t->mode->text ? t->mode->text(&t->in, &t->plan) : mem_strdup(FAKE);
    compact_plan_rebuild(t->mode, &t->in, &t->plan, t->text, &t->rebuild);
    conversation_rebuilt(t->before, &t->rebuild, &t->after);
    return true;
}

static void same_twice(const struct trial *t)
{
    struct trial again = {.mode = t->mode, .before = t->before, .in = t->in, .seed = t->seed};
    hold(t, trial_run(&again), "the second time nothing goes");
    char *one = support_keep(rebuild_to_json(&t->rebuild)),
         *two = support_keep(rebuild_to_json(&again.rebuild));
    hold(t, strcmp(one, two) == 0, "two runs differ");
    trial_release(&again);
}

/* A conversation, compacted, and that again, as long as something can go. */
static size_t compact_repeatedly(const struct conversation *c, const struct trial *as, int depth)
{
    struct trial t = {.mode = as->mode, .before = c, .seed = as->seed};
    size_t done = 0;
    t.in = conversation_input(c, as->in.settings, as->in.threshold);
    t.in.fit = as->in.fit;
    if (trial_run(&t)) {
        check(&t);
        same_twice(&t);
        done = 1 + (depth > 1 ? compact_repeatedly(&t.after, as, depth - 1) : 0);
    }
    trial_release(&t);
    return done;
}

static void run_micro(const struct conversation *c, const struct trial *as)
{
    struct trial t = {.before = c, .seed = as->seed};
    t.in = conversation_input(c, as->in.settings, as->in.threshold);
    vec_reserve(&t.plan.fates, c->messages.len + 1);
    while (t.plan.fates.len < c->messages.len)
        vec_push(&t.plan.fates, FATE_STAYS);
    bool useful = compact_micro_useful(&t.in);
    hold(&t, compact_micro(&t.in, &t.rebuild) == useful, "micro is useful or not");
    if (useful) {
        conversation_rebuilt(c, &t.rebuild, &t.after);
        check(&t);
        struct compact_input after =
            conversation_input(&t.after, as->in.settings, as->in.threshold);
        hold(&t, !compact_micro_useful(&after), "micro does not end");
    }
    trial_release(&t);
}

static struct compact_settings random_settings(struct dice *d)
{
    return (struct compact_settings){.mode = &mode_handoff,
                                     .threshold_percent = 0.95,
                                     .target_percent = 0.5,
                                     .recent_turns = (int)dice_below(d, 6),
                                     .micro_bytes = 1200,
                                     .protect_head = (int)dice_below(d, 5),
                                     .protect_tail_min = (int)dice_below(d, 8),
                                     .tail_ratio = 0.05 + 0.25 * (double)dice_below(d, 4),
                                     .prune_chars = (int)dice_below(d, 300)};
}

TEST(any_conversation_stays_one_in_every_mode)
{
    uint64_t seed = support_seed();
    size_t done[5] = {0};
    for (uint64_t i = 0; i < HISTORIES; i++) {
        struct dice d = {.state = seed + i * 1000003};
        AUTO(conversation_release) struct conversation c = {.open = 0};
        struct compact_settings s = random_settings(&d);
        conversation_random(&c, &d, dice_below(&d, 9));
        struct trial t = {.before = &c, .seed = i};
        t.in.settings = &s;
        t.in.threshold = 50 + (int64_t)dice_below(&d, 4000);
        t.in.fit = dice_one_in(&d, 2) ? 0 : 1 + (int64_t)dice_below(&d, 4000);
        char *what = conversation_fault(&c);
        hold(&t, !what, what ? what : "");
        run_micro(&c, &t);
        for (size_t m = 0; compact_modes[m]; m++) {
            t.mode = compact_modes[m];
            done[m] += compact_repeatedly(&c, &t, 2);
        }
    }
    for (size_t m = 0; compact_modes[m]; m++)
        assert_true(done[m] > HISTORIES / 4); /* else nothing was tried */
}

/* Results lose their calls and calls their results. */
static void break_pairs(struct conversation *c, struct dice *d)
{
    for (size_t i = c->messages.len; i-- > 0;) {
        struct message *m = &c->messages.items[i];
        for (size_t b = m->blocks.len; b-- > 0 && m->blocks.len > 1;) {
            enum block_type type = m->blocks.items[b].type;
            if ((type == BLOCK_TOOL_CALL || type == BLOCK_TOOL_RESULT) && dice_one_in(d, 3)) {
                block_release(&m->blocks.items[b]);
                vec_remove(&m->blocks, b, 1);
            }
        }
        if (m->role == ROLE_TOOL && dice_one_in(d, 4)) {
            message_release(m);
            vec_remove(&c->messages, i, 1);
        }
    }
    c->open = c->messages.len;
    conversation_weigh(c);
}

TEST(any_pairs_are_repaired)
{
    uint64_t seed = support_seed();
    for (uint64_t i = 0; i < HISTORIES / 4; i++) {
        struct dice d = {.state = seed + i * 7919};
        AUTO(conversation_release) struct conversation c = {.open = 0}, after = {0};
        AUTO(rebuild_release) struct rebuild r = {.parts = {0}};
        conversation_random(&c, &d, 1 + dice_below(&d, 6));
        break_pairs(&c, &d);
        rebuild_keep(&r, 0, c.messages.len);
        const struct compact_input in = {.messages = c.messages.items, .count = c.messages.len};
        compact_repair_pairs(&in, &r);
        conversation_rebuilt(&c, &r, &after);
        char *what = conversation_fault(&after);
        if (what)
            fail_msg("history %llu: %s", (unsigned long long)i, what);
    }
}
