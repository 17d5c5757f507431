/* A rebuilt history as data: writing and reading, the dropped messages, and hostile texts. */
#include "base/entropy.h"
#include "chat/rebuild.h"
#include "tests/suite.h"

static struct message message_of(int64_t seq, const char *text)
{
    struct message m = {.role = ROLE_USER, .seq = seq, .turn = 1};
    vec_push(&m.blocks, block_text(text));
    return m;
}

static void assert_written(const struct rebuild *r, const char *wanted)
{
    assert_string_equal(support_keep(rebuild_to_json(r)), wanted);
}

FIXTURE(support_setup, support_teardown);

TEST(test_keeping_joins)
{
    struct rebuild r = {0};
    rebuild_keep(&r, 0, 2);
    rebuild_keep(&r, 2, 3);
    rebuild_keep(&r, 5, 0);
    assert_written(&r, "[[0,5]]");
    rebuild_keep(&r, 6, 1);
    rebuild_make(&r, message_of(40, "x"));
    rebuild_keep(&r, 7, 1);
    assert_int_equal(r.parts.len, 4);
    assert_int_equal(rebuild_count(&r), 8);
    rebuild_release(&r);
    assert_int_equal(rebuild_count(&r), 0);
    assert_written(&r, "[]");
}

TEST(test_written_and_read)
{
    AUTO(rebuild_release) struct rebuild r = {0}, back;
    struct error e = {0};
    rebuild_make(&r, message_of(3, "[Context compacted]\n„größer“ \\u0000"));
    rebuild_keep(&r, 4, 2);
    rebuild_rewrite(&r, 6, message_of(20, "short"));
    rebuild_keep(&r, 7, 3);
    char *text = support_keep(rebuild_to_json(&r));
    assert_true(rebuild_from_json(text, 10, &back, &e));
    assert_written(&back, text);
    assert_int_equal(rebuild_rewritten(&back), 1);
    assert_int_equal(rebuild_count(&back), 7);
    rebuild_release(&back);
    assert_false(rebuild_from_json(text, 9, &back, &e));
    assert_int_equal(back.parts.len, 0);
}

#define MESSAGE "{\"role\":\"user\",\"content\":[]}"

TEST(test_hostile_texts)
{
    static const char *const texts[] = {
        "",
        "{}",
        "7",
        "null",
        "[7]",
        "[null]",
        "[[0]]",
        "[[0,1,2]]",
        "[[0,0]]",
        "[[-1,1]]",
        "[[0,-1]]",
        "[[0,6]]",
        "[[5,1]]",
        "[[4,2]]",
        "[[0.5,1]]",
        "[[0,1.5]]",
        "[[0,1e300]]",
        "[[1e300,1]]",
        "[[0,18446744073709551615]]",
        "[[9007199254740993,1]]",
        "[[\"0\",\"1\"]]",
        "[[1,2],[0,1]]",
        "[[0,2],[1,1]]",
        "[[0,2],[0,2]]",
        "[{}]",
        "[{\"message\":7}]",
        "[{\"message\":{\"role\":\"system\",\"content\":[]}}]",
        "[{\"message\":{\"role\":\"user\"}}]",
        "[{\"of\":-1,\"message\":" MESSAGE "}]",
        "[{\"of\":5,\"message\":" MESSAGE "}]",
        "[{\"of\":\"1\",\"message\":" MESSAGE "}]",
        "[{\"of\":1.5,\"message\":" MESSAGE "}]",
        "[{\"of\":1,\"message\":" MESSAGE "},[1,1]]",
        "[[0,2],{\"of\":1,\"message\":" MESSAGE "}]",
        "[[0,5],{\"of\":5,\"message\":" MESSAGE "}]",
        "[[0,5]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rebuild r;
        struct error e = {0};
        if (rebuild_from_json(texts[i], 5, &r, &e))
            fail_msg("taken: %s", texts[i]);
        assert_int_equal(r.parts.len, 0);
        assert_true(e.text[0]);
    }
}

TEST(test_texts_that_fit)
{
    static const char *const texts[] = {"[]",
                                        "[[0,5]]",
                                        "[[4,1]]",
                                        "[[0,1],[1,4]]",
                                        "[{\"message\":" MESSAGE "},{\"message\":" MESSAGE "}]",
                                        "[{\"of\":4,\"message\":" MESSAGE "}]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        AUTO(rebuild_release) struct rebuild r = {0};
        struct error e = {0};
        if (!rebuild_from_json(texts[i], 5, &r, &e))
            fail_msg("%s: %s", texts[i], e.text);
    }
    struct rebuild r;
    struct error e = {0};
    assert_true(rebuild_from_json("[]", 0, &r, &e));
    assert_false(rebuild_from_json("[[0,1]]", 0, &r, &e));
}

TEST(test_what_goes)
{
    struct rebuild r = {0};
    struct index_list gone;
    rebuild_keep(&r, 1, 2);
    rebuild_make(&r, message_of(9, "s"));
    rebuild_rewrite(&r, 4, message_of(12, "short"));
    rebuild_dropped(&r, 7, &gone);
    static const size_t wanted[] = {0, 3, 5, 6};
    assert_int_equal(gone.items.len, 4);
    assert_memory_equal(gone.items.items, wanted, sizeof wanted);
    vec_release(&gone.items);
    rebuild_release(&r);
    rebuild_dropped(&r, 2, &gone);
    assert_int_equal(gone.items.len, 2);
    vec_release(&gone.items);
}

static void assert_events(const struct rebuild *r, const struct message *old, size_t count,
                          const char *wanted)
{
    assert_string_equal(support_keep(rebuild_dropped_events(r, old, count, 99)), wanted);
}

TEST(test_the_events_of_what_goes)
{
    struct message old[6];
    struct rebuild r = {0};
    for (int i = 0; i < 6; i++)
        old[i] = message_of(10 * (i + 1), "x");
    old[0].summary = true;
    assert_events(&r, old, 6, "[[20,99]]");
    rebuild_keep(&r, 2, 1);
    assert_events(&r, old, 6, "[[20,29],[40,99]]");
    rebuild_keep(&r, 4, 2);
    assert_events(&r, old, 6, "[[20,29],[40,49]]");
    rebuild_release(&r);
    rebuild_keep(&r, 1, 5);
    assert_events(&r, old, 6, "[]");
    rebuild_release(&r);
    for (int i = 0; i < 6; i++)
        message_release(&old[i]);
}

TEST(test_estimate)
{
    static const int64_t estimates[] = {1, 20, 300, 4000};
    struct rebuild r = {0};
    struct message m = message_of(5, "a summary of some length, so that it counts");
    int64_t made = message_estimate_tokens(&m);
    rebuild_make(&r, m);
    rebuild_keep(&r, 1, 2);
    assert_int_equal(rebuild_estimate(&r, estimates), 320 + made);
    rebuild_release(&r);
    assert_int_equal(rebuild_estimate(&r, estimates), 0);
}

/* Bytes changed anywhere in a text that fits: it is taken or refused, nothing else. */
TEST(test_damaged_texts)
{
    static const char text[] =
        "[[0,2],{\"message\":{\"role\":\"user\",\"seq\":7,\"turn\":1,"
        "\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}},[4,1]]";
    static const char bytes[] = "0123456789-.eE[]{},:\"ntf ";
    entropy_seed(support_seed());
    for (int i = 0; i < 20000; i++) {
        char damaged[sizeof text];
        AUTO(rebuild_release) struct rebuild r = {0};
        struct error e = {0};
        memcpy(damaged, text, sizeof text);
        for (int k = 0; k < 1 + i % 3; k++)
            damaged[(size_t)(entropy_unit() * (double)(sizeof text - 1))] =
                bytes[(size_t)(entropy_unit() * (double)(sizeof bytes - 1))];
        if (!rebuild_from_json(damaged, 5, &r, &e))
            continue;
        struct index_list gone;
        rebuild_dropped(&r, 5, &gone);
        assert_true(gone.items.len <= 5);
        vec_release(&gone.items);
    }
}
