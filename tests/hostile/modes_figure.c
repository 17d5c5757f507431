/* Figures, reasons to stop and names: the small things of an answer. */
#include "tests/hostile/mode.h"

/* `text` for every count of tokens. */
static void tokens(struct peer *p)
{
    if (answer_begin_as(p, "m", p->mode->text) && answer_text(p, "an answer"))
        (void)answer_end_as(p, p->form->stop, p->mode->text, p->mode->text);
}

/* Counts that change with every event. */
static void tokens_change(struct peer *p)
{
    static const char *const counts[] = {"1", "9e18", "-9e18", "0", "1e308", "\"7\"", "null"};
    if (!answer_begin(p) || !answer_text(p, "an answer"))
        return;
    for (size_t i = 0; i < 70000; i++)
        if (!peer_events(p, p->form->begin, VALUES("m", counts[i % 7])))
            return;
    (void)answer_end_as(p, p->form->stop, "-5", "9223372036854775807");
}

/* `text` again and again for the reason to stop. */
static void stop(struct peer *p)
{
    auto_free char *reason = answer_repeat(p->mode->text, p->mode->number);
    if (answer_begin(p) && answer_text(p, "an answer"))
        (void)answer_end_as(p, reason, "5", "5");
}

static void model(struct peer *p)
{
    auto_free char *name = answer_repeat(p->mode->text, p->mode->number);
    if (answer_begin_as(p, name, "5") && answer_text(p, "an answer"))
        (void)answer_end(p);
}

/* Only anthropic has signatures; the other dialects ignore this event. */
static void signature(struct peer *p)
{
    auto_free char *event = mem_printf(
        "{\"type\":\"content_block_start\",\"index\":7,"
        "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n"
        "{\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"thinking_delta\","
        "\"thinking\":\"hm\"}}\n");
    auto_free char *part = answer_repeat("c2lnbmF0dXJl", 80000);
    bool ok = answer_begin(p) && peer_events(p, event, VALUES(NULL));
    for (long i = 0; ok && i < p->mode->number; i++)
        ok = peer_events(p,
                         "{\"type\":\"content_block_delta\",\"index\":7,\"delta\":{"
                         "\"type\":\"signature_delta\",\"signature\":\"@1\"}}\n",
                         VALUES(part));
    if (ok)
        (void)answer_end(p);
}

const struct mode figure_modes[] = {
    {"tokens-huge", "9e18 tokens", tokens, "9e18"},
    {"tokens-largest", "2^63 - 1 tokens", tokens, "9223372036854775807"},
    {"tokens-past", "2^64 tokens", tokens, "18446744073709551616"},
    {"tokens-negative", "-1 tokens", tokens, "-1"},
    {"tokens-least", "-2^63 tokens", tokens, "-9223372036854775808"},
    {"tokens-infinite", "1e999 tokens", tokens, "1e999"},
    {"tokens-nan", "NaN tokens", tokens, "NaN"},
    {"tokens-fraction", "0.5 tokens", tokens, "0.5"},
    {"tokens-text", "tokens in words", tokens, "\"many\""},
    {"tokens-null", "null tokens", tokens, "null"},
    {"tokens-object", "tokens in an object", tokens, "{\"n\":[1]}"},
    {"tokens-million", "a million tokens, past every window", tokens, "1000000"},
    {"tokens-change", "counts that change with every event", tokens_change},
    {"stop-unknown", "an unknown reason to stop", stop, "hostile", 1},
    {"stop-empty", "an empty reason to stop", stop, "", 1},
    {"stop-controls", "escape sequences for a reason", stop, "\\u001b]0;hostile\\u0007", 3},
    {"stop-long", "a reason of 1 MB", stop, "hostile ", 130000},
    {"stop-context", "the window is full, says an answer", stop, "model_context_window_exceeded",
     1},
    {"stop-pause", "a pause, again and again", stop, "pause_turn", 1},
    {"stop-refusal", "a refusal after an answer", stop, "refusal", 1},
    {"stop-length", "the limit of one answer", stop, "length", 1},
    {"stop-tools", "a reason of tools without a tool", stop, "tool_use", 1},
    {"model-controls", "escape sequences for the model's name", model,
     "\\u001b]0;hostile\\u0007\\u009b31337m\\r\\n\\t", 3},
    {"model-long", "a model's name of 1 MB", model, "hostile", 150000},
    {"model-path", "a path for the model's name", model, "../../../../etc/passwd%00%0a", 1},
    {"model-empty", "no model's name", model, "", 1},
    {"model-bidi", "a model's name with overrides", model, "\\u202egpt\\u2066\\u200b", 3},
    {"signature-20m", "a signature of 20 MB", signature, NULL, 20, .kept_mib = 4},
    {"signature-past-all", "a signature past every limit", signature, NULL, 100, .kept_mib = 4},
    {.name = NULL},
};
