/* The vocabularies of the Agent Client Protocol: errors, stop reasons, answers; texts before a
 * change. */
#include "serve/acp_private.h"
#include "serve/acp_updates.h"
#include "tests/suite.h"

/* --- errors ----------------------------------------------------------------------------------- */

TEST(no_error_has_a_number_that_means_something_else_there)
{
    static const enum err_code not_found[] = {ERR_SESSION_NOT_FOUND, ERR_MEMORY_NOT_FOUND};
#define X(name, rpc, rest, status)                                                                 \
    if (ERR_##name != ERR_OK) {                                                                    \
        int code = acp_error_code(ERR_##name);                                                     \
        bool found = true;                                                                         \
        for (size_t i = 0; i < sizeof not_found / sizeof *not_found; i++)                          \
            found = found && not_found[i] != ERR_##name;                                           \
        assert_int_not_equal(code, ACP_AUTH_REQUIRED);                                             \
        assert_int_equal(code == ACP_NOT_FOUND, !found);                                           \
        assert_true(code < 0);                                                                     \
    }
    ERR_TABLE(X)
#undef X
    assert_int_equal(acp_error_code(ERR_USAGE), -32602);
    assert_int_equal(acp_error_code(ERR_SESSION_BUSY), -32600);
    assert_int_equal(acp_error_code(ERR_AGENT_ERROR), -32603);
    assert_int_equal(acp_error_code(ERR_INTERRUPTED), -32800);
    assert_int_equal(acp_error_code(ERR_SESSION_COMPACTION_DISABLED), -32004);
}

TEST(each_stop_reason_is_one_of_the_protocols)
{
    static const char *const known[] = {"end_turn", "max_tokens", "max_turn_requests", "refusal",
                                        "cancelled"};
    for (int r = 0; r <= STOP_OTHER; r++) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || strcmp(acp_stop_reason((enum stop_reason)r), known[i]) == 0;
        assert_true(found);
    }
    assert_string_equal(acp_stop_reason(STOP_CANCELLED), "cancelled");
    assert_string_equal(acp_stop_reason(STOP_REFUSAL), "refusal");
    assert_string_equal(acp_stop_reason(STOP_MAX_TOKENS), "max_tokens");
    assert_string_equal(acp_stop_reason(STOP_TOOL_USE), "max_turn_requests");
    assert_string_equal(acp_stop_reason(STOP_MAX_CALLS), "max_turn_requests");
    assert_string_equal(acp_stop_reason(STOP_REPEATED), "max_turn_requests");
}

/* --- answers ---------------------------------------------------------------------------------- */

TEST(only_what_was_offered_allows)
{
    struct acp_choices all = acp_approval_choices, guarded = {all.items, all.len - 1};
    assert_int_equal(acp_choice_answer(all, "once"), ANSWER_ONCE);
    assert_int_equal(acp_choice_answer(all, "session"), ANSWER_SESSION);
    assert_int_equal(acp_choice_answer(all, "deny"), ANSWER_DENY);
    assert_int_equal(acp_choice_answer(all, "always"), ANSWER_DENY);
    assert_int_equal(acp_choice_answer(all, NULL), ANSWER_DENY);
    assert_int_equal(acp_choice_answer(guarded, "once"), ANSWER_ONCE);
    assert_int_equal(acp_choice_answer(guarded, "session"), ANSWER_DENY);
    for (size_t i = 0; i < guarded.len; i++)
        assert_string_not_equal(guarded.items[i].kind, "allow_always");
}

TEST(a_draft_is_kept_by_the_users_word_alone)
{
    struct acp_choices drafts = acp_draft_choices;
    assert_int_equal(acp_choice_answer(drafts, "commit"), DRAFT_COMMIT);
    assert_int_equal(acp_choice_answer(drafts, "again"), DRAFT_AGAIN);
    assert_int_equal(acp_choice_answer(drafts, "x"), DRAFT_REFUSE);
    assert_int_equal(acp_choice_answer(drafts, NULL), DRAFT_REFUSE);
}

/* --- differences ------------------------------------------------------------------------------ */

#define NAMES "--- a.txt\n+++ a.txt\n"

TEST(a_difference_is_undone)
{
    static const struct {
        const char *difference, *after, *before; /* before NULL: it does not lead there */
    } rows[] = {
        {NAMES "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n", "one\nzwei\nthree\n",
         "one\ntwo\nthree\n"},
        {NAMES "@@ -2,0 +3 @@\n+new\n", "1\n2\nnew\n3\n", "1\n2\n3\n"},
        {NAMES "@@ -3 +2,0 @@\n-gone\n", "1\n2\n4\n", "1\n2\ngone\n4\n"},
        {NAMES "@@ -1 +1 @@\n-a\n+b\n@@ -5 +5 @@\n-e\n+f\n", "b\n2\n3\n4\nf\n6\n",
         "a\n2\n3\n4\ne\n6\n"},
        {NAMES "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a\n", "a"},
        {NAMES "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", "a", "a\n"},
        {NAMES "@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n", "b\nc", "a\nc"},
        {NAMES "@@ -1,2 +0,0 @@\n-a\n-b\n", "", "a\nb\n"},
        {NAMES "@@ -0,0 +1 @@\n+a\n", "a\n", ""},
        {"[no difference]\n", "same\n", "same\n"},
        /* another text, the beginning of a line, too far, no difference at all */
        {NAMES "@@ -1 +1 @@\n-a\n+b\n", "c\n", NULL},
        {NAMES "@@ -1 +1 @@\n-a\n+b\n", "bb\n", NULL},
        {NAMES "@@ -9 +9 @@\n-a\n+b\n", "b\n", NULL},
        {NAMES "@@ -9 +9", "b\n", NULL},
        {NAMES "@@ -1 +1 @@\nx", "b\n", NULL},
        {NAMES, "b\n", NULL},
        {"[diff is not installed; this is the whole new content of a]\nb\n", "b\n", NULL},
        {"", "", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_free char *before = NULL;
        bool ok = acp_difference_undo(rows[i].difference, rows[i].after, &before);
        if (ok != (rows[i].before != NULL))
            fail_msg("row %zu", i);
        if (ok)
            assert_string_equal(before, rows[i].before);
        else
            assert_null(before);
    }
}

TEST(a_new_file_had_no_text)
{
    char *before;
    assert_true(acp_difference_undo("--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+x\n", "x\n", &before));
    assert_null(before);
}
