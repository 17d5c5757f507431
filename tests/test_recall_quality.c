/* The conversations of bench/recall, bench/friends and bench/assistant, with the questions of `make
 * bench BENCH=recall`: recall must not fall. */
#include <math.h>

#include "bench/exam.h"
#include "bench/exam_score.h"
#include "bench/exam_store.h"
#include "session/capability.h"
#include "store/store.h"
#include "tests/suite.h"

/* ---- the questions ---- */
static struct exam read_set(const char *name)
{
    struct exam x;
    struct error e;
    const char *source = getenv("SOURCE_DIR");
    char *directory = support_text("%s/bench/%s", source ? source : ".", name);
    assert_ok(exam_read(&x, directory, exam_questions, &e), e);
    return x;
}

static size_t count_turns(const struct exam *x)
{
    size_t out = 0;
    for (size_t i = 0; i < x->conversations.len; i++)
        out += x->conversations.items[i].turns.items.len;
    return out;
}

TEST(set_is_whole)
{
    AUTO(exam_release) struct exam x = read_set("recall");
    assert_true(x.conversations.len >= 8);
    assert_true(count_turns(&x) >= 900);
    assert_true(x.questions.len >= 160);
    assert_int_equal(x.categories.len, 5);
    for (size_t i = 0; i < x.questions.len; i++)
        assert_in_range(x.questions.items[i].evidence[EXAM_MESSAGE].items.len, 1, 4);
}

#define TURN                                                                                       \
    "{\"id\":\"a/1\",\"session_id\":\"a\",\"turn\":1,\"role\":\"user\","                           \
    "\"created_at\":\"2024-01-02T03:04:05Z\",\"content\":\"Hello there\"}\n"

static void write_file(const char *name, const char *text)
{
    support_write(support_path(name), text);
}

FIXTURE(support_setup, support_teardown);

TEST(faults_name_their_line)
{
    static const struct {
        const char *turns, *questions, *fault;
    } cases[] = {
        {TURN, "{\"question\":\"Who?\",\"evidence\":[\"a/2\"]}\n", "questions.jsonl:1: no turn"},
        {TURN, "\n{\"question\":\"Who?\"}\n", "questions.jsonl:2: a question needs"},
        {TURN, "{\"evidence\":[\"a/1\"]}\n", "questions.jsonl:1: a line needs"},
        {TURN "{\n", "", "a.jsonl:2: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct exam x;
        struct error e;
        write_file("a.jsonl", cases[i].turns);
        write_file("questions.jsonl", cases[i].questions);
        assert_false(exam_read(&x, support_dir(), exam_questions, &e));
        if (!strstr(e.text, cases[i].fault))
            fail_msg("\"%s\" does not say \"%s\"", e.text, cases[i].fault);
    }
}

#define SAID(ID, SESSION, ROLE)                                                                    \
    "{\"id\":\"" ID "\",\"session_id\":\"" SESSION "\",\"turn\":1,\"role\":\"" ROLE                \
    "\","                                                                                          \
    "\"created_at\":\"2024-01-02T03:04:05Z\",\"content\":\"Hello\"}\n"

static void holds(const struct exam_target *target, const char *ids)
{
    AUTO(buf_release) struct buf all = BUF_INIT;
    for (size_t i = 0; i < target->ids.len; i++)
        buf_addf(&all, "%s ", target->ids.items[i]);
    assert_string_equal(all.data, ids);
}

/* A question of the user and its answers are one exchange; an assistant's first message stands
 * alone. */
TEST(exchanges_are_messages_with_their_answers)
{
    struct exam x;
    struct error e;
    write_file("a.jsonl", SAID("1", "s", "user") SAID("2", "s", "assistant") SAID("3", "s", "user")
                              SAID("4", "s", "assistant") SAID("5", "s", "assistant")
                                  SAID("6", "t", "assistant"));
    write_file("questions.jsonl", "{\"question\":\"?\",\"evidence\":[\"2\",\"4\",\"3\",\"6\"]}\n");
    write_file("held.jsonl", "{\"question\":\"!\",\"evidence\":[\"1\"]}\n");
    assert_ok(exam_read(&x, support_dir(), exam_questions, &e), e);
    assert_int_equal(x.conversations.len, 1);
    const struct exam_targets *found = x.questions.items[0].evidence;
    assert_int_equal(found[EXAM_MESSAGE].items.len, 4);
    holds(&found[EXAM_MESSAGE].items.items[1], "4 ");
    assert_int_equal(found[EXAM_EXCHANGE].items.len, 3);
    holds(&found[EXAM_EXCHANGE].items.items[0], "1 2 ");
    holds(&found[EXAM_EXCHANGE].items.items[1], "3 4 5 ");
    holds(&found[EXAM_EXCHANGE].items.items[2], "6 ");
    exam_release(&x);
    assert_true(exam_read(&x, support_dir(), exam_held, &e));
    assert_string_equal(x.questions.items[0].text, "!");
    exam_release(&x);
}

FIXTURES(plain, NULL, NULL);

TEST(sessions_are_joined)
{
    AUTO(exam_release) struct exam x = read_set("recall");
    exam_join_sessions(&x);
    for (size_t i = 0; i < x.conversations.len; i++) {
        const struct exam_conversation *c = &x.conversations.items[i];
        for (size_t j = 0; j < c->turns.items.len; j++) {
            assert_string_equal(c->turns.items.items[j].session_id, c->name);
            assert_int_equal(c->turns.items.items[j].seq, j + 1);
        }
    }
}

/* ---- scores ---- */

/* Each piece of evidence is a text with one letter for each id that counts. */
static struct exam_score score_of(const char *const *evidence, const char *const *found)
{
    static const char *const ids[] = {"a", "b", "c", "x"};
    struct exam_targets targets = {0};
    struct exam_found f = {0};
    for (; *evidence; evidence++) {
        struct exam_target target = {0};
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
            if (strstr(*evidence, ids[i]))
                vec_push(&target.ids, ids[i]);
        vec_push(&targets.items, target);
    }
    for (; *found; found++)
        vec_push(&f.ids, mem_strdup(*found));
    struct exam_score out = exam_score(&targets, &f);
    for (size_t i = 0; i < targets.items.len; i++)
        vec_release(&targets.items.items[i].ids);
    vec_release(&targets.items);
    exam_found_release(&f);
    return out;
}

static void is_about(double value, double wanted)
{
    assert_true(fabs(value - wanted) < 1e-9);
}

TEST(scores_are_parts_of_the_evidence)
{
    static const char *const both[] = {"a", "b", NULL}, *const one[] = {"c", NULL};
    static const char *const found[] = {"x", "b", "x", "x", "x", "a",
                                        "x", "x", "x", "x", "c", NULL};
    struct exam_score s = score_of(both, found);
    is_about(s.at5, 0.5);
    is_about(s.at10, 1);
    is_about(s.first, 0.5);
    s = score_of(one, found);
    is_about(s.at5 + s.at10 + s.first, 0);
    assert_int_equal(s.questions, 1);
    s = score_of((const char *const[]){"ac", "cb", NULL}, found);
    is_about(s.at5, 0.5);
    is_about(s.at10, 1);
    is_about(s.first, 0.5);
    is_about(exam_mean(3, 4), 0.75);
    is_about(exam_mean(0, 0), 0);
}

/* ---- hits ---- */

static struct exam_store *open_store(const struct exam *x, size_t first, size_t count)
{
    struct error e;
    struct exam_store *out;
    char *path = support_keep(store_memory_path());
    assert_ok(exam_store_new(&out, path, x, first, count, &e), e);
    return out;
}

/* Asks the questions about conversations `first` … */
static void ask(const struct exam *x, struct exam_store *s, size_t first, size_t count,
                const struct exam_way *way, struct exam_score *sum)
{
    struct exam_found found = {0};
    struct error e;
    for (size_t i = 0; i < x->questions.len; i++) {
        const struct exam_question *q = &x->questions.items[i];
        if (q->conversation < first || q->conversation >= first + count)
            continue;
        if (!exam_store_ask(s, way, q, &found, &e))
            fail_msg("%s: %s", q->text, e.text);
        struct exam_score score = exam_score(&q->evidence[EXAM_MESSAGE], &found);
        exam_score_add(sum, &score);
    }
    exam_found_release(&found);
}

static struct exam_score ask_together(const struct exam *x, const struct exam_way *way)
{
    struct exam_score sum = {0};
    struct exam_store *s = open_store(x, 0, x->conversations.len);
    ask(x, s, 0, x->conversations.len, way, &sum);
    exam_store_free(s);
    return sum;
}

static struct exam_score ask_alone(const struct exam *x, const struct exam_way *way)
{
    struct exam_score sum = {0};
    for (size_t i = 0; i < x->conversations.len; i++) {
        struct exam_store *s = open_store(x, i, 1);
        ask(x, s, i, 1, way, &sum);
        exam_store_free(s);
    }
    return sum;
}

static void is_at_least(const char *what, const struct exam_score *s, double at5, double first)
{
    double found = exam_mean(s->at5, s->questions), place = exam_mean(s->first, s->questions);
    print_message("%s: R@5 %.3f, MRR %.3f\n", what, found, place);
    if (found < at5 || place < first)
        fail_msg("%s: R@5 %.3f (at least %.3f), MRR %.3f (at least %.3f)", what, found, at5, place,
                 first);
}

FIXTURES(support, support_setup, support_teardown);

/* Minutes of a build with sanitizers: TEST_WHOLE alone runs them. */
#define TEST_WHOLE(f) TEST_IF(capability_memory() && getenv("TEST_WHOLE"), f)

TEST_IF(capability_memory(), evidence_is_found)
{
    struct exam_way way = exam_way_default();
    AUTO(exam_release) struct exam x = read_set("recall");
    struct exam_score alone = ask_alone(&x, &way), together = ask_together(&x, &way);
    is_at_least("one conversation", &alone, 0.55, 0.45);
    is_at_least("one store", &together, 0.55, 0.44);
    if (suite_sample(0, 1)) {
        exam_join_sessions(&x);
        alone = ask_alone(&x, &way);
        together = ask_together(&x, &way);
        is_at_least("one conversation, one session each", &alone, 0.55, 0.45);
        is_at_least("one store, one session each", &together, 0.55, 0.44);
    }
}

TEST_WHOLE(evidence_is_found_in_friends)
{
    struct exam_way way = exam_way_default();
    AUTO(exam_release) struct exam x = read_set("friends");
    struct exam_score alone = ask_alone(&x, &way), together = ask_together(&x, &way);
    is_at_least("friends, one conversation", &alone, 0.59, 0.49);
    is_at_least("friends, one store", &together, 0.58, 0.48);
}

/* Long talk with a model; what each part does there is in doc/decisions.md. */
TEST_WHOLE(evidence_is_found_in_talk_with_a_model)
{
    struct exam_way way = exam_way_default(), bare = way;
    AUTO(exam_release) struct exam x = read_set("assistant");
    bare.rank.user = 1;
    bare.rank.passages = false;
    bare.rank.talk = HUGE_VAL;
    struct exam_score alone = ask_alone(&x, &way), together = ask_together(&x, &way),
                      without = ask_together(&x, &bare);
    is_at_least("with a model, one conversation", &alone, 0.71, 0.65);
    is_at_least("with a model, one store", &together, 0.65, 0.58);
    assert_true(together.at5 > 1.1 * without.at5);
}

/* Each part of the ranking improves recall; without all of them it is BM25. */
TEST_IF(capability_memory(), each_part_helps)
{
    struct exam_way whole = exam_way_default(), bare = whole, unshared = whole, unweighed = whole;
    AUTO(exam_release) struct exam x = read_set("recall");
    unshared.rank.before = unshared.rank.answer = unshared.rank.after = 0;
    unshared.rank.session = unshared.rank.window = 0;
    unweighed.rank.named = unweighed.rank.asks = 1;
    unweighed.rank.half = 0;
    bare.rank = unshared.rank;
    bare.rank.named = bare.rank.asks = 1;
    bare.rank.half = 0;
    struct exam_score all = ask_together(&x, &whole), shares = ask_together(&x, &unweighed),
                      weights = ask_together(&x, &unshared), none = ask_together(&x, &bare);
    print_message("R@5 %.3f, with shares alone %.3f, with weights alone %.3f, with none %.3f\n",
                  exam_mean(all.at5, all.questions), exam_mean(shares.at5, shares.questions),
                  exam_mean(weights.at5, weights.questions), exam_mean(none.at5, none.questions));
    assert_true(all.at5 > 1.05 * shares.at5 && all.at5 > 1.05 * weights.at5);
    assert_true(shares.at5 > 1.1 * none.at5 && weights.at5 > 1.08 * none.at5);
}

/* ---- vectors ---- */

typedef struct exam_score ask_somewhere(const struct exam *x, const struct exam_way *way);

static void finds_what_words_find(const char *set, const struct exam *x, ask_somewhere *ask_all)
{
    struct exam_way way = exam_way_default();
    struct exam_score words = ask_all(x, &way);
    way.ranking = MEMORY_BOTH;
    struct exam_score both = ask_all(x, &way);
    is_at_least(set, &both, exam_mean(words.at5, words.questions) - 0.002,
                exam_mean(words.first, words.questions) - 0.005);
}

/* A weak model takes nothing away from words. */
TEST_IF(capability_memory(), words_and_hashed_vectors_find_what_words_find)
{
    static const char *const sets[] = {"recall", "friends", "assistant"};
    for (size_t i = 0; i < suite_sample(1, sizeof sets / sizeof *sets); i++) {
        AUTO(exam_release) struct exam x = read_set(sets[i]);
        if (suite_sample(0, 1))
            finds_what_words_find(sets[i], &x, ask_alone);
        finds_what_words_find(sets[i], &x, ask_together);
    }
}

/* Synthetic encoders (bench/exam_encoder.h): the better one is, the more both find; noise and
 * latent semantic analysis, which repeats words, take nothing away. */
TEST_IF(capability_memory(), words_and_vectors_find_more_with_a_better_encoder)
{
    static const struct {
        const char *name;
        struct exam_mixture mixture;
        double more; /* R@5 than words alone */
    } cases[] = {
        {"latent", {1, 0, 0}, -0.003},
        {"noise", {0, 1, 0}, -0.003},
        {".3 of the evidence", {0, 1, 0.3}, 0.02},
        {".6 of the evidence", {0, 1, 0.6}, 0.12},
    };
    struct exam_way way = exam_way_default();
    AUTO(exam_release) struct exam x = read_set("recall");
    struct exam_store *s = open_store(&x, 0, x.conversations.len);
    struct exam_score words = {0};
    ask(&x, s, 0, x.conversations.len, &way, &words);
    way.ranking = MEMORY_BOTH;
    way.vectors = EXAM_SYNTHETIC;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct exam_score both = {0};
        way.mixture = cases[i].mixture;
        ask(&x, s, 0, x.conversations.len, &way, &both);
        is_at_least(cases[i].name, &both, exam_mean(words.at5, words.questions) + cases[i].more, 0);
    }
    exam_store_free(s);
}

TEST_WHOLE(hashed_vectors_answer)
{
    struct exam_way way = exam_way_default();
    AUTO(exam_release) struct exam x = read_set("recall");
    way.ranking = MEMORY_VECTORS;
    struct exam_score vectors = ask_together(&x, &way);
    is_at_least("hashed vectors", &vectors, 0.11, 0.08);
}
