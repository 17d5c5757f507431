/* The messages that each mode drops and keeps, and the messages that result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "compact/mode.h"
#include "compact/plan.h"
#include "tests/conversation.h"
#include "tests/suite.h"
#include "tests/support.h"

static struct place {
    struct conversation c;
    struct compact_settings s;
    int64_t threshold, fit;
    const bool *kept;
} place, *const p = &place;

static int setup(void **state)
{
    (void)state;
    place = (struct place){.threshold = 100000, .s = conversation_settings()};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    conversation_release(&p->c);
    return 0;
}

static void repair(struct rebuild *r)
{
    const struct compact_input in = conversation_input(&p->c, &p->s, p->threshold);
    compact_repair_pairs(&in, r);
}

static struct compact_input input(void)
{
    struct compact_input in = conversation_input(&p->c, &p->s, p->threshold);
    in.fit = p->fit;
    in.kept = p->kept;
    return in;
}

/* A text; "x*20" is 20 bytes of "x". */
static char *text_of(const char *word, size_t len)
{
    char *text = support_keep(mem_strndup(word, len)), *times = strchr(text, '*');
    struct buf out = BUF_INIT;
    if (!times)
        return text;
    *times = '\0';
    size_t bytes = (size_t)atol(times + 1);
    while (out.len + strlen(text) <= bytes)
        buf_addstr(&out, text);
    return support_keep(buf_take(&out));
}

/* One block: "[id]" is a call, "(id)" its result, "(id=text)" one with this text, "<x>" an image.
 */
static void add_block(const char *item, size_t len)
{
    struct message *m = &vec_last(&p->c.messages);
    const char *equals = memchr(item, '=', len);
    size_t id_len = equals ? (size_t)(equals - item) - 1 : len - 2;
    char *id = support_keep(mem_strndup(item + 1, id_len));
    if (*item == '[')
        conversation_call(&p->c, id, "read_file", "{}");
    else if (*item == '(')
        conversation_result(&p->c, id, equals ? text_of(equals + 1, len - id_len - 3) : "small");
    else if (*item == '<')
        vec_push(&m->blocks, (struct block){.type = BLOCK_IMAGE, .text = mem_strdup(id)});
    else
        vec_push(&m->blocks, block_text(text_of(item, len)));
}

static void add_message(const char *token, size_t len)
{
    const char *end = token + len, *item = memchr(token, ':', len);
    enum role role = *token == 'a' ? ROLE_ASSISTANT : *token == 't' ? ROLE_TOOL : ROLE_USER;
    bool plain = !strchr("[(<", item[1]);
    size_t first = plain ? strcspn(item + 1, ", ") : 0;
    conversation_add(&p->c, role, plain ? text_of(item + 1, first) : NULL);
    struct message *m = &vec_last(&p->c.messages);
    m->summary = *token == 'S';
    m->pinned = token[1] == '^';
    for (item += 1 + first + plain; item < end; item += strcspn(item, ", ") + 1)
        add_block(item, strcspn(item, ", "));
}

/* A conversation in the words of conversation_sketch(), with blocks as in add_block(); after ">"
 * comes the question of the running turn. */
static void scene(const char *sketch)
{
    size_t open = SIZE_MAX;
    conversation_release(&p->c);
    for (size_t len; *sketch; sketch += len + (sketch[len] == ' ')) {
        if (*sketch == '>') {
            open = p->c.messages.len;
            sketch++;
        }
        len = strcspn(sketch, " ");
        add_message(sketch, len);
    }
    p->c.open = open == SIZE_MAX ? p->c.messages.len : open;
}

/* The indices that go, as "0 1 4". */
static void assert_goes(const struct compact_mode *mode, const char *expected)
{
    struct compact_input in = input();
    AUTO(compact_plan_release) struct compact_plan plan = {0};
    AUTO(buf_release) struct buf gone = BUF_INIT;
    bool any = compact_plan_make(mode, &in, &plan);
    for (size_t i = 0; i < plan.fates.len; i++)
        if (plan.fates.items[i] == FATE_GOES)
            buf_addf(&gone, "%s%zu", gone.len > 0 ? " " : "", i);
    assert_string_equal(gone.data, expected);
    assert_int_equal(plan.gone > 0, *expected != '\0');
    assert_int_equal(plan.fates.len, in.count);
    assert_true(any);
}

static void assert_nothing_goes(const struct compact_mode *mode)
{
    struct compact_input in = input();
    AUTO(compact_plan_release) struct compact_plan plan = {0};
    assert_false(compact_plan_make(mode, &in, &plan));
    assert_int_equal(plan.gone, 0);
    for (size_t i = 0; i < plan.fates.len; i++)
        assert_int_equal(plan.fates.items[i], FATE_STAYS);
}

/* The messages after a rebuild, which must be valid. */
static char *sketch_after(const struct rebuild *r)
{
    AUTO(conversation_release) struct conversation after = {0};
    conversation_rebuilt(&p->c, r, &after);
    char *sketch = support_keep(conversation_sketch(&after));
    assert_null(conversation_fault(&after));
    return sketch;
}

static char *planned_sketch(const struct compact_mode *mode, const struct compact_plan *plan,
                            const char *text)
{
    struct compact_input in = input();
    struct rebuild r;
    compact_plan_rebuild(mode, &in, plan, text, &r);
    char *sketch = sketch_after(&r);
    rebuild_release(&r);
    return sketch;
}

/* The history afterwards; "new" is the summary of a model. */
static void assert_becomes(const struct compact_mode *mode, const char *expected)
{
    struct compact_input in = input();
    AUTO(compact_plan_release) struct compact_plan plan = {0};
    assert_true(compact_plan_make(mode, &in, &plan));
    char *text = support_keep(plan.gone == 0 ? NULL
                              : mode->text   ? mode->text(&in, &plan)
                                             : mem_strdup("new"));
    assert_string_equal(planned_sketch(mode, &plan, text), expected);
}

/* --- dropped messages ------------------------------------------------------------------------ */

#define TWO "u:t1 a:a1 u:t2 a:a2"
#define THREE TWO " u:t3 a:a3"
#define FOUR THREE " u:t4 a:a4"
#define FIVE FOUR " u:t5 a:a5"
#define MARK_END "\n\nRecent messages are preserved verbatim below."
#define MARK_6                                                                                     \
    "S:[Context compacted] 6 earlier messages were dropped: 3 user, 3 assistant, 0 tool." MARK_END
#define ROUNDS                                                                                     \
    "u:t1 a:a1 >u:now a:[a] t:(a=x*800) a:[b] t:(b=x*800) a:[c] t:(c=x*800)" /* of 240             \
                                                                              */
#define UNSEEN "u:t1 a:a1 >u:now a:[a] t:(a) a:[b] t:(b)"
#define ANSWER_BEHIND TWO " S:old a:a9 u:t10 a:a10"
#define SUMMARY_AND_PIN "S:old u^:pin >u:now"

static const struct {
    const char *why, *before, *settings; /* as set() reads them */
    const struct compact_mode *mode;     /* NULL: every one */
    const char *goes, *after; /* the indices that go; the history afterwards; NULL: any */
} cuts[] = {
    {"check 2: recent turns stay", FOUR, "recent=2", &mode_handoff, "0 1 2 3",
     "S:new u:t3 a:a3 u:t4 a:a4"},
    {"check 3: the oldest turn always goes", THREE, "recent=10", &mode_handoff, "0 1", NULL},
    {"check 4: an earlier summary goes into the new one", "S:old " TWO, "recent=1", &mode_handoff,
     "0 1 2", "S:new u:t2 a:a2"},
    {"check 5: a turn too large is summarised", "u:t1 a:a1 u:t2 a:[c] t:(c=x*200000) a:a2", "",
     &mode_handoff, "0 1 2 3 4 5", NULL},
    {"what is kept begins behind the newest large turn", TWO " u:t3 a:x*2000 u:t4 a:a4",
     "threshold=900", &mode_handoff, "0 1 2 3 4 5", NULL},
    {"it is not large any more", TWO " u:t3 a:x*2000 u:t4 a:a4", "threshold=2000", &mode_handoff,
     "0 1", NULL},
    {"budget 0 leaves the summary alone", FOUR, "recent=0", &mode_handoff, NULL, "S:new"},
    {"budget 0 leaves the question", FOUR " >u:now", "recent=0", &mode_handoff, NULL,
     "S:new u:now"},
    {"the running turn is kept besides", FOUR " >u:now a:[c] t:(c)", "recent=1", &mode_handoff,
     NULL, "S:new u:t4 a:a4 u:now a:[c] t:(c)"},
    {"running work too large is summarised", TWO " >u:now a:[c] t:(c=x*2500)", "threshold=1000",
     &mode_handoff, NULL, "S:new u:t2 a:a2 u:now"},
    {"a question alone stays", ">u:now", "", &mode_handoff, "", NULL},
    {"running work goes if it is all there is", ">u:now a:[c] t:(c)", "", &mode_handoff, NULL,
     "u:now S:new"},
    /* The model has not seen the results of its newest calls yet. */
    {"two rounds are kept", ROUNDS, "threshold=1000", &mode_handoff, "0 1 3 4", NULL},
    {"one round is kept", ROUNDS, "threshold=900", &mode_handoff, "0 1 3 4 5 6", NULL},
    {"no round is kept", ROUNDS, "threshold=400", &mode_handoff, "0 1 3 4 5 6 7 8", NULL},
    {"all rounds are kept", ROUNDS, "threshold=1500", &mode_handoff, "0 1", NULL},
    {"without other turns the oldest round goes", ">u:now a:[a] t:(a) a:[b] t:(b)", "",
     &mode_handoff, NULL, "u:now S:new a:[b] t:(b)"},
    {"and what was said of rounds before", ">u:now S:before a:[c] t:(c) a:[d] t:(d)", "",
     &mode_handoff, NULL, "u:now S:new a:[d] t:(d)"},
    {"results that nobody has seen stay", UNSEEN, "", &mode_deterministic, "0 1 3 4", NULL},
    {"results that nobody has seen stay", UNSEEN, "", &mode_llm_replace, "0 1 3 4",
     "S:new u:now a:[b] t:(b)"},
    {"unless they are most of it", UNSEEN " a:[c] t:(c=x*2500)", "threshold=1000",
     &mode_deterministic, "0 1 3 4 5 6 7 8", NULL},
    {"unless they are most of it", UNSEEN " a:[c] t:(c=x*2500)", "threshold=1000",
     &mode_llm_replace, "0 1 3 4 5 6 7 8", NULL},
    {"or have been seen", UNSEEN " a:[c] t:(c=x*2500) a:seen", "", &mode_deterministic,
     "0 1 3 4 5 6 7 8 9", NULL},
    {"or have been seen", UNSEEN " a:[c] t:(c=x*2500) a:seen", "", &mode_llm_replace,
     "0 1 3 4 5 6 7 8 9", NULL},
    {"kept turns and rounds share three quarters, half is for rounds",
     "u:t1 a:a1 u:t2 a:x*800 u:t3 a:x*800 >u:now a:[a] t:(a=x*800) a:[b] t:(b=x*800)",
     "threshold=1100", &mode_handoff, "0 1 2 3", NULL},
    {"remains of a turn are no turn", "S:old u^:pin u:t3 a:a3 u:t4 a:a4", "recent=10",
     &mode_handoff, NULL, "S:new u^:pin u:t4 a:a4"},
    /* Head, middle and tail. */
    {"check 8: a mark says how many went", FIVE, "head=2 tail=2 threshold=1",
     &mode_recency_preserving, NULL, "u:t1 a:a1 " MARK_6 " u:t5 a:a5"},
    {"check 9: structured cuts where recency does", FIVE, "head=2 tail=2 threshold=1",
     &mode_structured, "2 3 4 5 6 7", "u:t1 a:a1 S:new u:t5 a:a5"},
    {"check 9: with a summary, too", "u:t1 a:a1 S:t2 a:a2 u:t3 a:a3 u:t4 a:a4 u:t5 a:a5",
     "head=2 tail=2 threshold=1", &mode_structured, "2 3 4 5 6 7", NULL},
    {"borders do not part calls from results", "u:t1 a:[c] t:(c) u:t2 a:a2 u:t3 a:[d] t:(d)",
     "head=2 tail=1 threshold=1", &mode_structured, "3 4 5", "u:t1 a:[c] t:(c) S:new a:[d] t:(d)"},
    {"the head ends before an earlier summary", "u:t1 a:a1 S:old " FOUR,
     "head=5 tail=2 threshold=1", &mode_structured, "2 3 4 5 6 7 8", "u:t1 a:a1 S:new u:t4 a:a4"},
    {"a summary that went leaves no two answers in a row", ANSWER_BEHIND, "recent=9", &mode_handoff,
     NULL, "S:new a:a9 u:t10 a:a10"},
    {"a summary that went leaves no two answers in a row", ANSWER_BEHIND,
     "head=0 tail=5 threshold=1", &mode_structured, NULL, "S:new a:a9 u:t10 a:a10"},
    /* Pins. */
    {"pins stay behind the summary", "u:t1 a:a1 u^:t2 a:a2 u:t3 a^:a3 u:t4 a:a4", "recent=1",
     &mode_handoff, NULL, "S:new u^:t2 a^:a3 u:t4 a:a4"},
    {"pins stay behind the summary", "u:t1 a:a1 u^:t2 a:a2 u:t3 a^:a3 u:t4 a:a4", "recent=1",
     &mode_llm_replace, NULL, "S:new u^:t2 a^:a3"},
    {"a pinned answer keeps its words", "u:t1 a^:words,[c] t:(c) u:t2 a:a2", "", &mode_handoff,
     NULL, "S:new a^:words u:t2 a:a2"},
    {"a pinned answer keeps its words", "u:t1 a^:words,[c] t:(c) u:t2 a:a2",
     "head=2 tail=1 threshold=1", &mode_structured, NULL, "u:t1 a^:words,[c] t:(c) S:new a:a2"},
    {"pinned calls without words keep their results", "u:t1 a^:[c] t:(c) u:t2 a:a2", "",
     &mode_llm_replace, NULL, "S:new a^:[c] t:(c)"},
    {"a pinned result stays with its answer", "u:t1 a^:words,[c] t^:(c=x*2000) u:t2 a:a2", "",
     &mode_llm_replace, NULL, "S:new a^:words,[c] t^:(c)"},
    {"a pinned result stays with its answer", "u:t1 a^:words,[c],[d] t^:(c),(d=x*2000) u:t2 a:a2",
     "head=2 tail=1 threshold=1", &mode_structured, NULL,
     "u:t1 a^:words,[c],[d] t^:(c),(d) S:new a:a2"},
    {"a pinned answer keeps its images", "u:t1 a^:[c],<cat.png> t:(c) u:t2 a:a2", "",
     &mode_llm_replace, NULL, "S:new a^:<cat.png>"},
    {"a pin may stand before an answer", "u:t1 a:a1 u:t2 a^:a2 S:old a:a9 u:t10 a:a10", "recent=9",
     &mode_handoff, NULL, "S:new u:t2 a^:a2 a:a9 u:t10 a:a10"},
    {"what came without pairs leaves with them", "u:t1 a:a1 u:t2 a:[c]", "", &mode_handoff, NULL,
     "S:new u:t2 a:[c] t:(c)"},
    {"a mode that does not prune has nothing to do", "u^:t1 a^:[c] t:(c=x*2000) >u:now", "",
     &mode_deterministic, "", NULL},
    {"a mode that does not prune has nothing to do", "u^:t1 a^:[c] t:(c=x*2000) >u:now", "",
     &mode_handoff, "", NULL},
    /* A summary of a summary alone is none. */
    {"an empty history", "", "", NULL, "", NULL},
    {"only a summary and pins", SUMMARY_AND_PIN, "", NULL, "", NULL},
    /* The prunable part is too small. */
    {"characters count, not bytes", "u:t1 a:[c] t:(c=é*400) u:t2 a:a2", "",
     &mode_recency_preserving, "", NULL},
    {"no more than may stay", "u:t1 a:[c] t:(c=x*200) u:t2 a:a2", "", &mode_recency_preserving, "",
     NULL},
    {"no more than may stay", "u:t1 a:[c] t:(c=x*200) u:t2 a:a2", "", &mode_structured, "", NULL},
    {"the newest turn is not pruned", "u:t1 a:a1 u:t2 a:[c] t:(c=x*20000)", "",
     &mode_recency_preserving, "", NULL},
    {"nor the running one", "u:t1 a:a1 >u:t2 a:[c] t:(c=x*20000)", "", &mode_recency_preserving, "",
     NULL},
};

/* "head=2 tail=1". */
static void set(const char *settings)
{
    char name[16];
    int value, read;
    for (; sscanf(settings, "%15[a-z]=%d%n", name, &value, &read) == 2;
         settings += read + (int)strspn(settings + read, " ")) {
        if (strcmp(name, "threshold") == 0)
            p->threshold = value;
        else
            *(strcmp(name, "recent") == 0 ? &p->s.recent_turns
              : strcmp(name, "head") == 0 ? &p->s.protect_head
                                          : &p->s.protect_tail_min) = value;
    }
    assert_string_equal(settings, "");
}

FIXTURE(setup, teardown);

static void check_cut(size_t i, const struct compact_mode *mode)
{
    setup(NULL);
    scene(cuts[i].before);
    set(cuts[i].settings);
    if (cuts[i].goes && !*cuts[i].goes)
        assert_nothing_goes(mode);
    else if (cuts[i].goes)
        assert_goes(mode, cuts[i].goes);
    if (cuts[i].after)
        assert_becomes(mode, cuts[i].after);
    teardown(NULL);
}

TEST(each_mode_cuts_where_it_should)
{
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        print_message("%s\n", cuts[i].why); /* the last case failed */
        for (size_t m = 0; compact_modes[m]; m++)
            if (!cuts[i].mode || cuts[i].mode == compact_modes[m])
                check_cut(i, compact_modes[m]);
    }
}

/* Rounds of the running turn that have found something, here the first one, stay in each mode,
 * whatever must fit; older turns go before them. */
TEST(what_was_found_stays)
{
    static const bool kept[12] = {[5] = true, [6] = true};
    for (size_t m = 0; compact_modes[m]; m++)
        for (int64_t fit = 0; fit < 2; fit++) {
            scene(TWO " >u:now a:I_look,[a] t:(a=x*1200) a:[b] t:(b=x*1200) a:seen");
            set("threshold=1000 head=1 tail=1");
            p->fit = fit;
            p->kept = kept;
            AUTO(compact_plan_release) struct compact_plan plan = {0};
            const struct compact_input in = input();
            assert_true(compact_plan_make(compact_modes[m], &in, &plan));
            for (size_t i = 4; i <= 6; i++)
                assert_int_equal(plan.fates.items[i], FATE_STAYS);
            assert_int_equal(plan.fates.items[2], FATE_GOES);
            p->kept = NULL;
        }
    p->fit = 0;
    scene("u:t1 a:a1 u:t2 a:x*1600 u:t3 a:x*400 >u:now a:[a] t:(a=x*2000) a:[b] t:(b=x*1200)");
    set("threshold=1000 recent=4");
    assert_goes(&mode_handoff, "0 1 2 3 7 8");
    p->kept = (const bool[11]){[7] = true, [8] = true};
    assert_goes(&mode_handoff, "0 1 2 3 4 5");
}

/* --- by what messages weigh ------------------------------------------------------------------ */

/* The messages from `first` on, before `end`. */
static int64_t weight(size_t first, size_t end)
{
    int64_t tokens = 0;
    for (size_t i = first; i < end; i++)
        tokens += p->c.estimates.items[i];
    return tokens;
}

TEST(a_turn_of_half_the_threshold_is_kept)
{
    scene(TWO);
    p->threshold = weight(2, 4) * 2;
    assert_goes(&mode_handoff, "0 1");
    p->threshold--;
    assert_goes(&mode_handoff, "0 1 2 3");
}

TEST(kept_turns_leave_room_below_the_threshold)
{
    scene(FOUR);
    p->threshold = weight(6, 8) * 4; /* three of them are three quarters */
    assert_goes(&mode_handoff, "0 1");
    p->threshold--;
    assert_goes(&mode_handoff, "0 1 2 3");
}

/* Four turns, as far as they leave room, and older ones up to the share. */
TEST(auto_keeps_as_many_turns_as_fit)
{
    static const struct {
        size_t kept; /* first message of the tail */
        const char *goes;
    } rows[] = {{6, "0 1 2 3 4 5"}, {4, "0 1 2 3"}, {2, "0 1"}};
    scene(support_text("u:%04000d a:a1 u:t2 a:a2 u:t3 a:a3 u:t4 a:a4 u:t5 a:a5 u:t6 a:a6 u:t7 a:a7",
                       0)); /* the share of the whole history would be larger */
    p->s.recent_turns = COMPACT_AUTO;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        p->threshold = (int64_t)((double)weight(rows[i].kept, 14) / COMPACT_AUTO_SHARE) + 2;
        assert_goes(&mode_handoff, rows[i].goes);
    }
}

/* Oldest messages first after the gap, results with their call, then the head; held messages
 * never. */
TEST(what_must_fit_lets_more_go)
{
    scene(FOUR);
    set("head=1 tail=7");
    assert_nothing_goes(&mode_recency_preserving);
    p->fit = weight(0, 1) + weight(6, 8);
    assert_goes(&mode_recency_preserving, "1 2 3 4 5");
    p->fit = weight(7, 8);
    assert_goes(&mode_recency_preserving, "1 2 3 4 5 6 7");
    p->fit = 1;
    assert_goes(&mode_recency_preserving, "0 1 2 3 4 5 6 7");
    scene("u:t1 a:[c] t:(c) u:t2 a:a2");
    p->fit = weight(0, 1) + weight(2, 5);
    assert_goes(&mode_recency_preserving, "1 2");
}

TEST(the_tail_takes_what_its_budget_allows)
{
    scene(FIVE);
    set("head=1 tail=1");
    p->s.tail_ratio = 0.5;
    p->threshold = weight(6, 10) * 2;
    assert_goes(&mode_structured, "1 2 3 4 5");
    p->threshold--;
    assert_goes(&mode_structured, "1 2 3 4 5 6");
    set("tail=7"); /* the floor holds for any budget */
    assert_goes(&mode_structured, "1 2");
    set("tail=0 threshold=1");
    assert_goes(&mode_structured, "1 2 3 4 5 6 7 8"); /* never empty */
}

/* --- turns and marks ------------------------------------------------------------------------- */

TEST(a_summary_within_a_turn_begins_none)
{
    scene("u:t1 a:a1 u:t2 S:old a:a2 u:t3 a:a3");
    for (size_t i = 3; i < 7; i++)
        p->c.messages.items[i].turn--;
    set("recent=2");
    assert_becomes(&mode_handoff, "S:new u:t2 a:a2 u:t3 a:a3");
}

TEST(a_turn_without_its_question_is_one)
{
    scene("u:t1 a:a1 S:old a:a9 u:t10 a:a10");
    for (size_t i = 3; i < 6; i++)
        p->c.messages.items[i].turn += 6;
    set("recent=2");
    assert_becomes(&mode_handoff, "S:new a:a9 u:t10 a:a10");
}

/* A summary with this text, and five turns. */
static void summary_with(const char *text, bool behind_a_turn)
{
    scene(behind_a_turn ? "u:t1 a:a1 S:x " FIVE : "S:x " FIVE);
    struct block *b = &p->c.messages.items[behind_a_turn ? 2 : 0].blocks.items[0];
    free(b->text);
    b->text = mem_strdup(text);
    conversation_weigh(&p->c);
}

TEST(marks_add_up)
{
    summary_with(
        "[Context compacted] 6 earlier messages were dropped: 3 user, 2 assistant, 1 "
        "tool." MARK_END,
        true);
    set("head=2 tail=2 threshold=1");
    assert_becomes(&mode_recency_preserving,
                   "u:t1 a:a1 S:[Context compacted] 14 earlier messages were dropped: 7 user, "
                   "6 assistant, 1 tool." MARK_END " u:t5 a:a5");
}

TEST(a_mark_carries_what_a_summary_said)
{
#define UNCOUNTED " 1 earlier message was dropped: 9999999999 user, 0 assistant, 0 tool."
    static const char *const rows[][2] = {
        {"\n\nWe build a boat.", "We build a boat."},
        {UNCOUNTED, UNCOUNTED}, /* numbers that nobody counted are not added */
    };
    for (size_t i = 0; i < 2; i++) {
        summary_with(support_text("[Context compacted]%s", rows[i][0]), false);
        set("head=0 tail=9 threshold=1");
        assert_becomes(&mode_recency_preserving,
                       support_text("S:[Context compacted] 1 earlier message was dropped: 1 user, "
                                    "0 assistant, 0 tool.\n\n## Earlier highlights\n\n%s" MARK_END
                                    " a:a1 u:t2 a:a2 u:t3 a:a3 u:t4 a:a4 u:t5 a:a5",
                                    rows[i][1]));
    }
}

/* --- pruning and micro-compaction ------------------------------------------------------------ */

/* The text of the only result in the message at `i` after a rebuild. */
static char *result_after(const struct rebuild *r, size_t i)
{
    AUTO(conversation_release) struct conversation after = {0};
    conversation_rebuilt(&p->c, r, &after);
    assert_true(i < after.messages.len);
    const struct message *m = &after.messages.items[i];
    assert_int_equal(m->role, ROLE_TOOL);
    return support_keep(mem_strdup(m->blocks.items[0].text));
}

/* Once is enough. */
TEST(what_was_pruned_is_not_pruned_again)
{
    p->s.prune_chars = 0;
    conversation_add(&p->c, ROLE_USER, "t1");
    conversation_add(&p->c, ROLE_ASSISTANT, NULL);
    conversation_call(&p->c, "c", "read_file", "{}");
    conversation_add(&p->c, ROLE_TOOL, NULL);
    conversation_result(&p->c, "c", "[tool result of 2000 bytes left out]");
    conversation_add(&p->c, ROLE_USER, "t2");
    conversation_add(&p->c, ROLE_ASSISTANT, "a2");
    assert_nothing_goes(&mode_recency_preserving);
}

TEST(micro_keeps_the_first_bytes)
{
    scene("u:t1 a:[c] t:(c=e\xCC\x81*10002) u:t2 a:a2"); /* three bytes a grapheme */
    struct compact_input in = input();
    AUTO(rebuild_release) struct rebuild r = {0};
    assert_true(compact_micro_useful(&in));
    assert_true(compact_micro(&in, &r));
    assert_int_equal(rebuild_count(&r), in.count);
    assert_int_equal(rebuild_rewritten(&r), 1);
    assert_string_equal(result_after(&r, 2),
                        support_text("%s\n[cut: the first 999 of 10002 bytes]",
                                     text_of("e\xCC\x81*999", strlen("e\xCC\x81*999"))));
}

/* The images of a result go with what it loses; those of another stay. */
TEST(images_go_with_a_cut_result)
{
    scene("u:t1 a:[c],[d] t:(c=x*2000),<i>,<j>,(d),<k> u:t2 a:a2");
    p->s.micro_bytes = 1999;
    struct compact_input in = input();
    AUTO(rebuild_release) struct rebuild r = {0};
    AUTO(conversation_release) struct conversation after = {0};
    assert_true(compact_micro(&in, &r));
    conversation_rebuilt(&p->c, &r, &after);
    const struct message *m = &after.messages.items[2];
    assert_int_equal(m->blocks.len, 3);
    assert_string_equal(m->blocks.items[1].id, "d");
    assert_string_equal(m->blocks.items[2].text, "k");
}

TEST(micro_is_enough_at_the_target_and_below_the_threshold)
{
    struct compact_input in = input();
    in.threshold = 1000;
    assert_true(compact_micro_enough(&in, 1600, 800));
    assert_false(compact_micro_enough(&in, 1600, 801));
    assert_true(compact_micro_enough(&in, 9000, 999));
    assert_false(compact_micro_enough(&in, 9000, 1000));
    assert_true(compact_micro_enough(&in, 0, 500));
    assert_false(compact_micro_enough(&in, 0, 501));
}

/* Without a summary nothing replaces the dropped messages, unless an answer would come first. */
TEST(the_user_comes_first_without_a_text_too)
{
    static const char *const heads[] = {"head=2 tail=1 threshold=1", "head=0"},
                             *const left[] = {"u:t1 a:a1 a:a2", "S:[Context compacted] a:a2"};
    scene(TWO);
    for (size_t i = 0; i < 2; i++) {
        AUTO(compact_plan_release) struct compact_plan plan = {0};
        set(heads[i]);
        struct compact_input in = input();
        assert_true(compact_plan_make(&mode_structured, &in, &plan));
        assert_string_equal(planned_sketch(&mode_structured, &plan, NULL), left[i]);
    }
}

/* --- pairs ----------------------------------------------------------------------------------- */

TEST(calls_and_results_are_paired)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"u:t1 a:[c],[d]", "u:t1 a:[c],[d] t:(c),(d)"}, /* calls without results get one */
        {"u:t1 a:[c],[d] u:t2 a:a2", "u:t1 a:[c],[d] t:(c),(d) u:t2 a:a2"},
        {"u:t1 a:[c],[c],[d] t:(c),(gone)", "u:t1 a:[c],[c],[d] t:(c),(c),(d)"},
        {"u:t1 t:(c) a:a1 t:(c) a:[d] t:(d),(d=twice)", "u:t1 a:a1 a:[d] t:(d)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(rebuild_release) struct rebuild r = {.parts = {0}};
        scene(cases[i].before);
        rebuild_keep(&r, 0, p->c.messages.len);
        repair(&r);
        assert_string_equal(sketch_after(&r), cases[i].after);
    }
}

TEST(what_is_paired_is_left_alone)
{
    AUTO(rebuild_release) struct rebuild r = {.parts = {0}};
    scene("u:t1 a:[c] t:(c) u:t2 a:a2");
    rebuild_keep(&r, 0, 5);
    repair(&r);
    assert_int_equal(r.parts.len, 1);
    assert_int_equal(r.parts.items[0].count, 5);
}
