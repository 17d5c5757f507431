/* Transcripts of Claude Code as sessions. */
#include "store/sessions.h"
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

#define PLACE ".claude/projects/-home-u-shop/11111111-aaaa-4aaa-8aaa-111111111111.jsonl"

static const char *const turns[] = {
    "== Find the tax rate | /home/u/shop | claude-opus-4-5 | claude",
    "user: Where is the tax rate kept?",
    "assistant: I look for it.",
    "call Grep {\"pattern\":\"tax_rate\",\"path\":\"src\"}",
    "call Read {\"file_path\":\"src/tax.c\"}",
    "result Grep: src/tax.c:12",
    "result Read: static const double tax_rate = 0.19;",
    "assistant: In src/tax.c, line 12.",
    "user: [image]\\n\\nAnd this?",
    "assistant: A receipt.",
    NULL};

TEST(test_a_transcript_becomes_a_session)
{
    import_case_copy("claude/turns.jsonl", PLACE);
    struct import_counts counts = import_case_scan(NULL);
    assert_string_equal(counts.name, "claude");
    assert_int_equal(counts.files, 1);
    assert_int_equal(counts.conversations, 1);
    assert_int_equal(counts.not_understood, 0);
    import_case_expect(turns);

    struct session_list all;
    struct error e;
    assert_ok(sessions_list(import_case_store, &(struct session_filter){0}, &all, NULL, &e), e);
    const struct session_info *s = &all.items.items[0];
    assert_int_equal(s->usage.input, 115 + 20 + 30); /* a response counts once */
    assert_int_equal(s->usage.cached, 100);
    assert_int_equal(s->usage.output, 7 + 9 + 3);
    assert_int_equal(s->created_ms, 1772359200000);
    assert_int_equal(s->updated_ms, 1772359262000);
    session_list_release(&all);
}

TEST(test_to_read_it_again_adds_nothing)
{
    import_case_copy("claude/turns.jsonl", PLACE);
    import_case_scan(NULL);
    assert_int_equal(import_case_scan(NULL).read, 0);
    import_case_copy("claude/turns.jsonl", "copy/elsewhere.jsonl");
    struct import_counts counts = import_case_scan("copy");
    assert_int_equal(counts.read, 1);
    assert_int_equal(counts.messages, 0);
    import_case_expect(turns);
}
