/* Summaries through the real providers: the three HTTP ones against the scripted server, and the
 * one without a model. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "compact/summary.h"
#include "provider/outgoing.h"
#include "provider/offline.h"
#include "tests/scripted_summary.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "tests/talk.h"

#define CANCEL_MS 100

/* A history that goes, and its summary by a provider. */
static struct bench {
    struct talk talk;
    struct history history;
    struct compact_plan plan;
    struct compact_mode mode;
    struct summariser model;
    struct summary summary;
    struct failure failure;
    struct buf streamed;
    bool stop_at_delta;
    size_t kept; /* messages at the end that stay */
} b;

static void start(const struct api *api)
{
    memset(&b, 0, sizeof b);
    talk_start(&b.talk, api);
    history_init(&b.history);
    buf_init(&b.streamed, 0);
    b.mode = mode_handoff;
    b.model = (struct summariser){.provider = api->provider,
                                  .model = "summary-model",
                                  .label = "test/summary-model",
                                  .price = {.input = -1, .output = -1, .cached = -1}};
}

static void end(void)
{
    talk_end(&b.talk);
    history_release(&b.history);
    vec_release(&b.plan.fates);
    summary_release(&b.summary);
    buf_release(&b.streamed);
}

struct listener {
    bool (*delta)(void *, const char *, size_t);
    void *context;
};

static bool hear(void *context, enum block_type type, const char *text, size_t len)
{
    const struct listener *l = context;
    return type != BLOCK_TEXT || l->delta(l->context, text, len);
}

static bool complete(void *context, const struct summariser *s, const struct request *request,
                     bool (*delta)(void *, const char *, size_t), void *delta_context,
                     struct response *response, struct failure *failure)
{
    struct listener listener = {.delta = delta, .context = delta_context};
    struct provider_call call = talk_call(context);
    call.delta = hear;
    call.context = &listener;
    return s->provider->complete(&call, request, response, failure);
}

static bool progress(void *context, const char *text, size_t len, int part, int of)
{
    (void)part;
    (void)of;
    buf_add(&b.streamed, text, len);
    if (b.stop_at_delta)
        talk_wake(context, true);
    return !b.stop_at_delta;
}

static bool may_call(void *context, struct failure *failure)
{
    (void)context;
    (void)failure;
    return true;
}

static enum summary_result make(void)
{
    const struct summary_host host = {
        .complete = complete, .progress = progress, .may_call = may_call, .context = &b.talk};
    vec_clear(&b.plan.fates);
    for (size_t i = 0; i < b.history.messages.len; i++)
        vec_push(&b.plan.fates, i + b.kept < b.history.messages.len ? FATE_GOES : FATE_STAYS);
    const struct compact_input input = {.messages = b.history.messages.items,
                                        .count = b.history.messages.len,
                                        .estimates = b.history.estimates.items,
                                        .open = b.history.messages.len};
    const struct summary_job job = {.mode = &b.mode,
                                    .input = &input,
                                    .plan = &b.plan,
                                    .system = "You are tiro.",
                                    .focus = "the anchor",
                                    .max_tokens = 600};
    return summary_make(&job, &b.model, &host, &b.summary, &b.failure);
}

static void talk_of_ships(void)
{
    static const struct said said[] = {{.user = "Read the log",
                                        .tool = "read_file",
                                        .args = "{\"path\":\"log.txt\"}",
                                        .result = "wind from the west",
                                        .answer = "It blows from the west."},
                                       {.user = "Set sail", .answer = "The sails are set."}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        history_say(&b.history, &said[i]);
}

static void talk_at_length(void)
{
    struct buf text = BUF_INIT;
    while (text.len < 14000)
        buf_addf(&text, "Line %zu of a long text.\n", text.len);
    history_say(&b.history, &(struct said){.user = text.data, .answer = "Noted."});
    buf_release(&text);
}

static const char *body(size_t i)
{
    const char *text = model_server_body(b.talk.server, i);
    assert_non_null(text);
    return text;
}

static void contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in \"%.2000s\"", part, text);
}

static void queue(struct reply reply)
{
    model_server_queue(b.talk.server, &reply);
}

/* --- the HTTP providers ---------------------------------------------------------------------- */

TEST(a_summary_is_asked_for_and_taken)
{
    EACH_API(api)
    {
        start(api);
        talk_of_ships();
        queue((struct reply){.text = "  We sail west.\n",
                             .reasoning = "Hm.",
                             .piece = 3,
                             .input_tokens = 400,
                             .output_tokens = 5});
        assert_int_equal(make(), SUMMARY_DONE);
        assert_string_equal(b.summary.text, "We sail west.");
        contains(b.streamed.data, "We sail west.");
        assert_null(strstr(b.streamed.data, "Hm."));
        assert_int_equal(b.summary.usage.input, 400);
        assert_int_equal(b.summary.usage.output, 5);
        static const char *const parts[] = {
            "summary-model",       "You are performing a CONTEXT COMPACTION",
            "the anchor",          "You are tiro.",
            "[called read_file {", "[result of read_file: wind from the west]",
            "The sails are set."};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            contains(body(0), parts[i]);
        assert_null(strstr(body(0), "\"tools\""));
        contains(body(0), "600");
        end();
    }
}

TEST(a_long_history_is_folded)
{
    EACH_API(api)
    {
        start(api);
        talk_at_length();
        b.model.window = 4800;
        queue((struct reply){.text = "First half.", .input_tokens = 4000, .output_tokens = 3});
        queue((struct reply){.text = "Both halves.", .input_tokens = 1500, .output_tokens = 3});
        assert_int_equal(make(), SUMMARY_DONE);
        assert_int_equal(model_server_requests(b.talk.server), 2);
        assert_string_equal(b.summary.text, "Both halves.");
        assert_int_equal(b.summary.usage.input, 5500);
        contains(body(0), "part 1 of 2");
        contains(body(0), "Line 0 of");
        contains(body(1), "First half.");
        contains(body(1), "Noted.");
        end();
    }
}

TEST(faults_are_told_apart)
{
    static const struct {
        struct reply reply;
        enum summary_result result;
    } cases[] = {
        {{.fault = REPLY_STATUS,
          .status = 400,
          .error_type = "invalid_request_error",
          .error_message = "prompt is too long: 9 tokens > 8 maximum"},
         SUMMARY_OVERFLOW},
        {{.fault = REPLY_STATUS, .status = 500, .error_type = "api_error", .error_message = "oops"},
         SUMMARY_FAILED},
        {{.fault = REPLY_ERROR_EVENT,
          .text = "Half",
          .error_type = "api_error",
          .error_message = "oops"},
         SUMMARY_FAILED},
        {{.fault = REPLY_DISCONNECT, .text = "Half"}, SUMMARY_FAILED},
        {{.fault = REPLY_MALFORMED_JSON}, SUMMARY_FAILED},
        {{.fault = REPLY_EMPTY}, SUMMARY_FAILED},
        {{.text = " \n "}, SUMMARY_EMPTY},
    };
    EACH_API(api)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(api);
        talk_of_ships();
        queue(cases[i].reply);
        if (make() != cases[i].result)
            fail_msg("%s, case %zu: %s", api->provider->name, i, b.failure.text);
        assert_null(b.summary.text);
        assert_int_equal(b.summary.calls, 1);
        end();
    }
}

/* A server that silently drops the front of a prompt has not read the messages to summarise. */
TEST(a_prompt_that_was_cut_is_an_overflow)
{
    start(&apis[API_OLLAMA]);
    talk_at_length();
    queue((struct reply){.text = "All I saw.", .input_tokens = 500, .output_tokens = 3});
    assert_int_equal(make(), SUMMARY_OVERFLOW);
    assert_int_equal(b.failure.kind, FAILURE_OVERFLOW);
    end();
}

TEST(it_stops_at_once)
{
    EACH_API(api)
    {
        start(api);
        talk_of_ships();
        b.stop_at_delta = true;
        queue((struct reply){.fault = REPLY_STALL, .text = "It goes on and on."});
        assert_int_equal(make(), SUMMARY_CANCELLED);
        assert_true(clock_mono_ms() - b.talk.stopped_ms < CANCEL_MS);
        assert_null(b.summary.text);
        model_server_release(b.talk.server);
        end();
    }
}

TEST(an_answer_without_end_is_stopped)
{
    struct buf text = BUF_INIT;
    while (text.len < (size_t)4 * 1024 * 1024)
        buf_addstr(&text, "It goes on and on. ");
    EACH_API(api)
    {
        start(api);
        talk_of_ships();
        queue((struct reply){.text = text.data, .piece = 1000});
        assert_int_equal(make(), SUMMARY_DONE);
        assert_true(strlen(b.summary.text) <= 4800);
        assert_true(strlen(b.summary.text) > 4000);
        assert_true(b.streamed.len <= 4800);
        end();
    }
    buf_release(&text);
}

/* --- without a model ------------------------------------------------------------------------- */

static void start_offline(void)
{
    static const struct api offline = {&provider_offline, ""};
    start(&offline);
}

/* Each summary prompt reaches the extract, not the offline model's answers to questions. */
TEST(offline_each_prompt_is_understood)
{
    static const struct compact_mode *const modes[] = {&mode_handoff, &mode_structured,
                                                       &mode_llm_replace};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        start_offline();
        b.mode = *modes[i];
        talk_of_ships();
        b.history.messages.items[0].summary = true; /* the update prompt too */
        assert_int_equal(make(), SUMMARY_DONE);
        contains(b.summary.text, "## Extract, made without a model");
        contains(b.summary.text, "The sails are set.");
        contains(b.summary.text, OFFLINE_MARK);
        end();
    }
}

TEST(offline_results_are_no_requests)
{
    start_offline();
    talk_of_ships();
    assert_int_equal(make(), SUMMARY_DONE);
    contains(b.summary.text, "6 messages: 2 user, 3 assistant, 1 tool.");
    contains(b.summary.text, "## Last requests\n\n- Read the log\n- Set sail\n");
    contains(b.summary.text, "- tool: [result of read_file: wind from the west]");
    end();
}

TEST(offline_what_stays_is_not_extracted)
{
    start_offline();
    talk_of_ships();
    b.kept = 2;
    assert_int_equal(make(), SUMMARY_DONE);
    contains(b.summary.text, "4 messages: 1 user, 2 assistant, 1 tool.");
    assert_null(strstr(b.summary.text, "Set sail"));
    end();
}
