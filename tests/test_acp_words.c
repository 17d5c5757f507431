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
    struct acp_choices all = acp_approval_choices, guarded = {all.items, all.len - 3};
    assert_int_equal(acp_choice_answer(all, "once"), ANSWER_ONCE);
    assert_int_equal(acp_choice_answer(all, "session"), ANSWER_SESSION);
    assert_int_equal(acp_choice_answer(all, "project"), ANSWER_PROJECT);
    assert_int_equal(acp_choice_answer(all, "deny"), ANSWER_DENY);
    assert_int_equal(acp_choice_answer(all, "never"), ANSWER_DENY);
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
