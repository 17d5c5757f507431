/* Recall without a model, as tiro(7) shows it: a dozen turns through a small window, then a
 * question about the first, in the real program. */
#include "base/json.h"
#include "session/capability.h"
#include "tests/program.h"
#include "tests/steps.h"
#include "tests/suite.h"

#define FACT                                                                                       \
    "In Kyoto we want to sleep in the ryokan by the river, from the 14th to the 17th of November."
#define QUESTION "Where did we want to sleep in Kyoto?"

static const char *const talk[] = {
    FACT,
    "The train from Osaka leaves at 9:12 and costs 580 yen.",
    "Anna eats no fish; she is glad of tofu and pickled plums.",
    "On the 15th we walk up to Fushimi Inari before breakfast.",
    "The budget for the whole journey is 1,900 euros for each of us.",
    "Ben wants to see the museum of trains; it is shut on Wednesdays.",
    "We take one suitcase each, and the grey rucksack.",
    "The flight back is on the 19th at 11:40 from Kansai.",
    "My sister gets a blue teapot, if we find one.",
    "The rail passes have to be ordered three weeks before.",
    "For rain we have the market of Nishiki and two cafés.",
    "Passports are in the drawer below the printer.",
};

/* Gives how often it was compacted. The threshold, in tokens, leaves room for the tools of a first
 * prompt: 1,000 tokens with memory, 400 without. */
static int hold_talk(const char *memory, int threshold)
{
    write_config(
        support_text("[provider]\nname = offline\n"
                     "[compaction]\nauto_compact_threshold = %d\n",
                     threshold));
    int compactions = 0;
    for (size_t i = 0; i < sizeof talk / sizeof *talk; i++) {
        struct result r = i == 0 ? RUN("run", memory, talk[i]) : RUN("run", memory, "-c", talk[i]);
        assert_int_equal(r.status, 0);
        compactions += strstr(r.err, "compacted (summary + last turns)") != NULL;
    }
    return compactions;
}

/* The id of the newest session; the caller frees. */
static char *newest_session(void)
{
    struct json *list = program_json(RUN("sessions", "list", "--json"));
    const struct json *sessions = json_type(list) == JSON_ARRAY ? list : json_get(list, "sessions");
    char *id = mem_strdup(json_get_string(json_first(sessions), "id"));
    assert_non_null(id);
    return support_keep(id);
}

NEEDS(capability_store() && capability_compaction() && capability_memory());
FIXTURE(support_setup, support_teardown);

/* The order of a real model's reply: a call, a search, a result, an answer. */
static void ask_as_stream(void)
{
    static const char *const order[] = {
        "\"type\":\"tool_call_requested\"",      "\"args\":{\"query\":\"" QUESTION "\"",
        "\"type\":\"memory_recalled\"",          "\"query\":\"" QUESTION "\"",
        "\"type\":\"tool_execution_completed\"", "\"type\":\"text_complete\"",
        "*memory: this conversation, turn 1*",
    };
    char *out = program_output(RUN("run", "-c", "--output-format", "stream-json", QUESTION));
    const char *at = out;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at = strstr(at, order[i]);
        if (!at)
            fail_msg("no %s in its place in: %s", order[i], out);
    }
}

TEST(what_was_compacted_away_is_quoted)
{
    assert_true(hold_talk("--memory", 1500) >= 1);
    ask_as_stream();
    char *id = newest_session();
    struct result r = RUN("run", "-c", QUESTION); /* may be compacted between its two calls */
    assert_int_equal(r.status, 0);
    assert_text(r.out, "> " FACT "\n>\n> — *memory: this conversation, turn 1*");
    assert_no_text(r.out, "found nothing");
    assert_text(program_output(RUN("run", QUESTION)),
                support_text("> " FACT "\n>\n> — *memory: session %s, turn 1*", id));
    run_ok(RUN("sessions", "delete", "--yes", id));
    char *gone = program_output(RUN("run", "Where is the ryokan by the river?"));
    assert_says(gone, "I found nothing", "in memory");
}

/* The talk is compacted all the same, and nothing of it is found again. */
TEST(without_memory_it_is_lost)
{
    assert_true(hold_talk("--no-memory", 1200) >= 1);
    char *out =
        program_output(RUN("run", "-c", "--no-memory", "--output-format", "stream-json", QUESTION));
    assert_says(out, "!memory_search", "!*memory:");
    out = program_output(RUN("run", QUESTION)); /* with memory, but nothing was kept */
    assert_text(out, "I found nothing");
}
