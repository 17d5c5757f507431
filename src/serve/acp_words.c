#include "serve/acp_words.h"

#include <string.h>

#include "base/i18n.h"
#include "rpc/peer.h"

/* Where there is no row: the number of base/err.h. */
static const struct {
    enum err_code code;
    int number;
} errors[] = {
    {ERR_SESSION_NOT_FOUND, ACP_NOT_FOUND},  {ERR_MEMORY_NOT_FOUND, ACP_NOT_FOUND},
    {ERR_SESSION_BUSY, RPC_INVALID_REQUEST}, {ERR_SESSION_STORE_ERROR, RPC_INTERNAL_ERROR},
    {ERR_AGENT_ERROR, RPC_INTERNAL_ERROR},   {ERR_CONFIG_ERROR, RPC_INTERNAL_ERROR},
    {ERR_FILE_ERROR, RPC_INTERNAL_ERROR},    {ERR_BUDGET_EXHAUSTED, RPC_INTERNAL_ERROR},
    {ERR_INTERRUPTED, ACP_CANCELLED},
};

int acp_error_code(enum err_code code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return errors[i].number;
    return err_info(code)->rpc;
}

const char *acp_stop_reason(enum stop_reason reason)
{
    static const char *const words[] = {
        [STOP_END_TURN] = "end_turn",
        [STOP_MAX_TOKENS] = "max_tokens",
        [STOP_SEQUENCE] = "end_turn",
        [STOP_TOOL_USE] = "max_turn_requests", /* it still calls tools: it was let no further */
        [STOP_PAUSE] = "max_turn_requests",
        [STOP_REFUSAL] = "refusal",
        [STOP_CONTEXT_EXCEEDED] = "max_tokens",
        [STOP_CANCELLED] = "cancelled",
        [STOP_OTHER] = "end_turn",
    };
    return words[reason];
}

static const struct acp_choice approval_choices[] = {
    {"once", "allow_once", N_("Allow"), ANSWER_ONCE},
    {"deny", "reject_once", N_("Deny"), ANSWER_DENY},
    {"session", "allow_always", N_("Allow for this session"), ANSWER_SESSION},
};

struct acp_choices acp_approval_choices(bool granting)
{
    size_t len = sizeof approval_choices / sizeof *approval_choices;
    return (struct acp_choices){approval_choices, granting ? len : len - 1};
}

static const struct acp_choice draft_choices[] = {
    {"commit", "allow_once", N_("Use this summary"), DRAFT_COMMIT},
    {"refuse", "reject_once", N_("Leave the conversation as it is"), DRAFT_REFUSE},
    {"again", "reject_once", N_("Write another summary"), DRAFT_AGAIN},
};

struct acp_choices acp_draft_choices(void)
{
    return (struct acp_choices){draft_choices, sizeof draft_choices / sizeof *draft_choices};
}

static const struct acp_choice *find_choice(struct acp_choices choices, const char *id)
{
    for (size_t i = 0; id && i < choices.len; i++)
        if (strcmp(choices.items[i].id, id) == 0)
            return &choices.items[i];
    return NULL;
}

int acp_choice_answer(struct acp_choices choices, const char *id)
{
    const struct acp_choice *chosen = find_choice(choices, id);
    for (size_t i = 0; !chosen && i < choices.len; i++)
        if (strcmp(choices.items[i].kind, "reject_once") == 0)
            chosen = &choices.items[i];
    return chosen->answer;
}
