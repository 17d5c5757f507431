/* The ladder of a compaction with a scripted model, user and store: every result, the order of the
 * events, one commit at most, and a history that no failure touches. */
#include "base/clock.h"
#include "base/json_out.h"
#include "compact/compact.h"
#include "tests/program.h"
#include "tests/scripted_summary.h"
#include "tests/steps.h"
#include "tests/suite.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Sections as a model writes them for the mode structured. */
#define SECTIONS_OF(goal)                                                                          \
    "## Goal\n" goal "\n## Progress\nSome.\n## Key Decisions\n(none)\n## Next Steps\nOn."

static int64_t now_ms;

/* --- the stage ------------------------------------------------------------------------------- */

/* The user's answer to a draft. */
struct word {
    enum draft_answer answer;
    const char *text; /* NULL: none */
};

static struct stage {
    struct history history;
    struct compact_settings settings;
    struct compact_job job;
    struct scripted_summary script;
    struct summariser model;
    bool modelless; /* there is none */
    bool refuses;   /* a mode that would be applied */
    const struct word *words;
    size_t word_count, drafts;
    const char *last_draft; /* "mode, model, tokens afterwards: text" */
    enum commit_result commits_as;
    int commits;
    bool cancelled;
    size_t cancel_in; /* go_on() says no at this question, from 1; 0: never */
    size_t asked;
    const char *whole;       /* result of every tool; NULL: nobody knows */
    enum event_type lost_at; /* emit() fails; TURN_STARTED: never */
    struct buf trail;        /* names of the events */
    VEC(struct event *) events;
    char *before; /* the history as text */
    struct compact_outcome out;
} t;

static char *history_text(void)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < t.history.messages.len; i++) {
        struct json_out o = {.buf = &text};
        shape_write(&message_shape, &t.history.messages.items[i], &o);
        buf_addch(&text, '\n');
    }
    return buf_take(&text);
}

static int setup(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    history_init(&t.history);
    scripted_summary_init(&t.script, NULL, 0);
    buf_init(&t.trail, 0);
    t.script.cancelled = &t.cancelled;
    t.settings = (struct compact_settings){.mode = &mode_handoff,
                                           .auto_threshold = 1000,
                                           .threshold_percent = 0.95,
                                           .recent_turns = 1,
                                           .max_summary_tokens = 4096,
                                           .min_turns = 3,
                                           .target_percent = 0.5,
                                           .micro_bytes = 10000,
                                           .protect_head = 2,
                                           .protect_tail_min = 2,
                                           .tail_ratio = 0.05,
                                           .prune_chars = 200,
                                           .max_failures = 3};
    t.job = (struct compact_job){.history = &t.history,
                                 .settings = &t.settings,
                                 .mode = &mode_handoff,
                                 .trigger = TRIGGER_ESTIMATE,
                                 .system = "You are tiro."};
    t.model = (struct summariser){
        .model = "small", .label = "test/small", .price = {.input = 1, .output = 2, .cached = -1}};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    history_release(&t.history);
    scripted_summary_release(&t.script);
    buf_release(&t.trail);
    for (size_t i = 0; i < t.events.len; i++)
        event_free(t.events.items[i]);
    vec_release(&t.events);
    free(t.before);
    return 0;
}

static void anew(void)
{
    teardown(NULL);
    setup(NULL);
}

static void script(const struct summary_act *acts, size_t count)
{
    t.script.acts = acts;
    t.script.act_count = count;
}

static bool complete(void *context, const struct summariser *s, const struct request *request,
                     bool (*delta)(void *, const char *, size_t), void *delta_context,
                     struct response *response, struct failure *failure)
{
    assert_ptr_equal(context, &t);
    assert_ptr_equal(s, &t.model);
    assert_false(t.cancelled);
    return scripted_complete(&t.script, request, delta, delta_context, response, failure);
}

static bool progress(void *context, const char *text, size_t len, int part, int of)
{
    assert_ptr_equal(context, &t);
    return scripted_progress(&t.script, text, len, part, of);
}

static bool may_call(void *context, struct failure *failure)
{
    assert_ptr_equal(context, &t);
    return scripted_may_call(&t.script, failure);
}

static void record(struct event *ev)
{
    if (t.trail.len > 0)
        buf_addch(&t.trail, ' ');
    buf_addstr(&t.trail, event_name(ev->type) + strlen("compaction_"));
    vec_push(&t.events, ev);
}

static bool emit(void *context, struct event *ev, struct error *e)
{
    assert_ptr_equal(context, &t);
    ev->seq = t.history.applied_seq + 1;
    if (ev->type == t.lost_at) {
        event_free(ev);
        return err_set(e, ERR_SESSION_STORE_ERROR, "the disk is full");
    }
    history_apply(&t.history, ev);
    record(ev);
    return true;
}

static enum commit_result commit(void *context, struct event *ev, struct error *e)
{
    struct history_backup backup;
    assert_ptr_equal(context, &t);
    t.commits++;
    if (t.commits_as != COMMIT_DONE) {
        err_set(e, ERR_SESSION_STORE_ERROR, "not today");
        return t.commits_as;
    }
    ev->seq = t.history.applied_seq + 1;
    assert_true(history_compact(&t.history, ev, &backup, e));
    history_settle(&backup);
    record(ev);
    return COMMIT_DONE;
}

static struct draft_verdict review(void *context, const struct draft *draft)
{
    assert_ptr_equal(context, &t);
    assert_false(t.cancelled);
    assert_true(t.drafts < t.word_count);
    const struct word *word = &t.words[t.drafts++];
    t.last_draft = support_text("%s, %s, %d: %s", draft->mode, draft->model,
                                (int)draft->tokens_after, draft->text);
    assert_int_equal(draft->messages_before, t.history.messages.len);
    assert_int_equal(draft->tokens_before, t.history.estimate);
    now_ms += 5000;
    return (struct draft_verdict){.answer = word->answer, .text = mem_strdup(word->text)};
}

static const struct summariser *find_model(void *context, struct error *e)
{
    assert_ptr_equal(context, &t);
    if (!t.modelless)
        return &t.model;
    err_set(e, ERR_CONFIG_ERROR, "no key for the summary's provider");
    return NULL;
}

static bool go_on(void *context)
{
    assert_ptr_equal(context, &t);
    if (++t.asked == t.cancel_in)
        t.cancelled = true;
    return !t.cancelled;
}

/* The full results of tools, which the history holds shortened. */
static char *whole_result(void *context, int64_t seq, const char *id)
{
    assert_ptr_equal(context, &t);
    assert_true(seq > 0);
    assert_non_null(id);
    return t.whole ? mem_strdup(t.whole) : NULL;
}

static bool refuse(void *context, struct error *e)
{
    assert_ptr_equal(context, &t);
    return err_set(e, ERR_FORBIDDEN, "kept");
}

static void run(void)
{
    const struct compact_host host = {.summary = {.complete = complete,
                                                  .progress = progress,
                                                  .may_call = may_call,
                                                  .go_on = go_on,
                                                  .context = &t},
                                      .emit = emit,
                                      .commit = commit,
                                      .admit = t.refuses ? refuse : NULL,
                                      .review = t.words ? review : NULL,
                                      .summariser = find_model,
                                      .tool_result = whole_result};
    free(t.before);
    t.before = history_text();
    compact_run(&t.job, &host, &t.out);
}

#define SCRIPT(...)                                                                                \
    static const struct summary_act acts[] = {__VA_ARGS__};                                        \
    script(acts, COUNT(acts))

#define USER(...)                                                                                  \
    static const struct word words[] = {__VA_ARGS__};                                              \
    t.words = words;                                                                               \
    t.word_count = COUNT(words);                                                                   \
    t.job.preview = true

static const struct event *last_event(void)
{
    assert_true(t.events.len > 0);
    return vec_last(&t.events);
}

/* The event has these members, in JSON with ' for ". */
static void assert_event(const struct event *ev, const char *members)
{
    assert_json(parse_json(support_keep(event_payload(ev))), members);
}

static void assert_untouched(void)
{
    assert_string_equal(support_keep(history_text()), t.before);
}

/* Runs; then so many requests were sent, and these are the names of all events. */
static void run_to(int result, size_t sent, const char *trail)
{
    run();
    assert_int_equal(t.out.result, result);
    assert_int_equal(t.script.sent.len, sent);
    assert_string_equal(t.trail.data, trail);
}

/* The attempt succeeds, with these members of its event. */
static void run_done(size_t sent, const char *members)
{
    run_to(COMPACT_DONE, sent, "started completed");
    assert_int_equal(t.commits, 1);
    assert_event(last_event(), members);
}

/* The attempt failed with this reason, was reported, and changed nothing. */
static void assert_failed(const char *reason, const char *text)
{
    assert_string_equal(t.trail.data, "started failed");
    assert_untouched();
    assert_string_equal(last_event()->compaction.reason, reason);
    assert_string_equal(last_event()->text, t.out.error.text);
    assert_text(t.out.error.text, text);
}

static void run_failed(int result, const char *reason, const char *text)
{
    run();
    assert_int_equal(t.out.result, result);
    assert_failed(reason, text);
}

static void assert_message(size_t i, const char *text)
{
    assert_true(i < t.history.messages.len);
    assert_string_equal(support_keep(message_text(&t.history.messages.items[i])), text);
}

static void say(const char *user, const char *answer)
{
    history_say(&t.history, &(struct said){.user = user, .answer = answer});
}

static char *padded(const char *text, size_t bytes)
{
    struct buf out = BUF_INIT;
    buf_addstr(&out, text);
    while (out.len < bytes)
        buf_addstr(&out, " and so on");
    return buf_take(&out);
}

/* t1 … tN, each of some hundred bytes. */
static void talk(int turns)
{
    for (int i = 1; i <= turns; i++)
        say(support_text("t%d", i), support_keep(padded("answer", 400)));
}

static void use_tool(const char *user, size_t bytes)
{
    char *result = support_keep(padded("result", bytes));
    history_say(&t.history, &(struct said){.user = user, .tool = "read_file", .result = result});
}

/* --- the ordinary way ------------------------------------------------------------------------ */

FIXTURE(setup, teardown);

TEST(a_summary_takes_the_place_of_old_turns)
{
    SCRIPT({.text = "What was done.", .piece = 4});
    talk(3);
    t.job.focus = "the sea";
    t.history.last_input = 777;
    int64_t estimate = t.history.estimate;
    run_done(1, support_text("{'mode':'handoff','effective_mode':'handoff','stage':'summary',"
                             "'trigger':'estimate','summary':'What was done.','summary_tokens':4,"
                             "'messages_before':6,'messages_after':3,'messages_dropped':4,"
                             "'messages_changed':0,'model':'test/small',"
                             "'usage':{'input_tokens':100,'output_tokens':10},"
                             "'tokens_before':%d}",
                             (int)estimate));
    const struct event *started = t.events.items[0], *done = last_event();
    assert_event(started, support_text("{'mode':'handoff','stage':'summary','trigger':'estimate',"
                                       "'input_tokens':777,'threshold':1000,'message_count':6,"
                                       "'model':'test/small','estimated_history_tokens':%d}",
                                       (int)estimate));
    assert_int_equal(done->compaction.tokens_after, t.history.estimate);
    assert_true(done->used > 0.000119 && done->used < 0.000121);
    assert_false(started->flag || done->flag || done->name);
    assert_non_null(done->compaction.history);
    assert_int_equal(t.out.usage.input, 100);
    assert_true(t.out.cost > 0.000119 && t.out.cost < 0.000121);

    assert_int_equal(t.history.messages.len, 3);
    assert_message(0, COMPACT_PREFIX "\n\nWhat was done.");
    assert_true(t.history.messages.items[0].summary);
    assert_message(1, "t3");
    assert_string_equal(t.script.streamed.data, "What was done.");
    assert_text(sent_text(&t.script.sent.items[0], -1), "the sea");
    assert_string_equal(t.script.sent.items[0].system, "You are tiro.");
}

TEST(the_events_that_went_are_named)
{
    talk(2);
    int64_t second_turn = t.history.messages.items[2].seq;
    run_done(1, support_text("{'dropped':[[1,%d]]}", (int)second_turn - 1));
}

TEST(the_running_question_stays)
{
    talk(3);
    t.job.mode = &mode_llm_replace;
    history_begin(&t.history, "the question");
    run_done(1, "{}");
    assert_int_equal(t.history.messages.len, 2);
    assert_message(1, "the question");
}

/* --- micro ----------------------------------------------------------------------------------- */

TEST(short_results_are_enough)
{
    use_tool("read it", 60000);
    talk(2);
    t.settings.auto_threshold = 10000;
    run_done(0,
             "{'stage':'micro','effective_mode':'handoff','summary':'','summary_tokens':0,"
             "'messages_changed':1,'messages_dropped':0}");
    assert_string_equal(t.events.items[0]->compaction.stage, "micro");
    assert_null(t.events.items[0]->model);
    assert_true(last_event()->compaction.tokens_after < 1000);
    assert_int_equal(t.history.messages.len, 8);
}

/* Nobody is asked about shortened results: no message is lost. */
TEST(only_a_mode_is_refused)
{
    use_tool("read it", 60000);
    talk(2);
    t.refuses = true;
    t.settings.auto_threshold = 10000;
    run_done(0, "{'stage':'micro'}");
    talk(30);
    t.job.trigger = TRIGGER_MANUAL;
    run();
    assert_int_equal(t.out.result, COMPACT_NOT_WORTH);
    assert_string_equal(t.out.error.text, "kept");
}

/* Shortened results are not enough, so the mode works on the original messages. */
TEST(short_results_that_are_not_enough_are_not_kept)
{
    use_tool("read it", 20000);
    talk(3);
    run_done(1, "{'stage':'summary'}");
    assert_true(strlen(sent_text(&t.script.sent.items[0], 2)) > 20000);
}

TEST(micro_alone_at_the_first_turn)
{
    use_tool("read it", 60000);
    history_begin(&t.history, "and now");
    t.job.micro_only = true;
    t.settings.auto_threshold = 10; /* any result is enough */
    run_done(0, "{}");
    run_to(COMPACT_NOTHING, 0, "started completed");
}

/* A result that an earlier compaction cut or shortened is read in full from the log. */
TEST(a_summary_reads_whole_results)
{
    static const struct {
        const struct compact_mode *first;
        const char *whole;
    } cases[] = {{&mode_handoff, "all that the tool said"},
                 {&mode_recency_preserving, "all that the tool said"},
                 {&mode_handoff, NULL}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        anew();
        t.whole = cases[i].whole;
        t.settings.protect_tail_min = 20;
        use_tool("read it", 60000);
        talk(1);
        t.settings.auto_threshold = 10000;
        t.job.mode = cases[i].first;
        run_done(0, "{}");
        t.job.mode = &mode_llm_replace;
        t.job.trigger = TRIGGER_MANUAL;
        run_to(COMPACT_DONE, 1, "started completed started completed");
        const struct sent_summary *sent = &t.script.sent.items[0];
        int at = 0;
        while (strncmp(sent_text(sent, at), "[result of", 10) != 0)
            at++;
        bool whole = strstr(sent_text(sent, at), "all that the tool said");
        assert_int_equal(whole, cases[i].whole != NULL);
        assert_int_equal(strstr(sent_text(sent, at), "[cut: the first 1000 of") != NULL, !whole);
    }
}

/* A compaction by hand uses the mode even where micro would do, as does one after an overflow of an
 * unknown window. */
TEST(the_trigger_decides_whether_micro_may_do)
{
    static const struct {
        enum compact_trigger trigger;
        int64_t window;
        const char *stage;
    } cases[] = {{TRIGGER_MANUAL, 0, "summary"},
                 {TRIGGER_OVERFLOW, 0, "summary"},
                 {TRIGGER_OVERFLOW, 16000, "micro"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        anew();
        t.settings.auto_threshold = 10000;
        use_tool("read it", 60000);
        talk(2);
        t.job.trigger = cases[i].trigger;
        t.job.limits.window = cases[i].window;
        bool summary = strcmp(cases[i].stage, "summary") == 0;
        run_done(summary, support_text("{'stage':'%s'}", cases[i].stage));
    }
}

/* --- nothing to do --------------------------------------------------------------------------- */

TEST(an_empty_history_has_nothing_to_compact)
{
    t.job.trigger = TRIGGER_MANUAL;
    for (size_t i = 0; compact_modes[i]; i++) {
        t.job.mode = compact_modes[i];
        run_to(COMPACT_NOTHING, 0, "");
        assert_string_equal(t.out.error.text, "nothing to compact; say something first");
        assert_int_equal(t.out.error.code, ERR_NOTHING_TO_COMPACT);
        assert_int_equal(t.commits, 0);
    }
}

TEST(all_kept_is_too_small)
{
    t.job.mode = &mode_recency_preserving;
    t.settings.protect_tail_min = 20;
    talk(2);
    for (int overflow = 0; overflow < 2; overflow++) {
        t.job.trigger = overflow ? TRIGGER_OVERFLOW : TRIGGER_MANUAL;
        run_to(COMPACT_NOTHING, 0, overflow ? "started failed" : "");
        assert_int_equal(t.out.error.code, ERR_TOO_SMALL_TO_COMPACT);
        assert_untouched();
    }
    assert_event(last_event(), "{'reason':'too_small','consecutive_failures':0}");
}

TEST(what_frees_too_little_is_not_begun)
{
    /* Of 20 messages, beside the head: all but one of them, or all. */
    static const int tails[] = {16, 20};
    t.job.mode = &mode_structured;
    talk(10);
    t.settings.auto_threshold = t.history.estimate;
    t.settings.protect_head = 3;
    for (size_t i = 0; i < 4; i++) {
        t.job.trigger = i % 2 ? TRIGGER_ESTIMATE : TRIGGER_INPUT_TOKENS;
        t.settings.protect_tail_min = tails[i / 2];
        run_to(COMPACT_NOT_WORTH, 0, "");
        assert_says(t.out.error.text, "structured", "protect_tail_min");
        assert_untouched();
    }
}

TEST(tool_results_are_pruned_where_nothing_can_go)
{
    t.job.mode = &mode_structured;
    t.settings.protect_tail_min = 20;
    use_tool("read it", 3000);
    talk(2);
    run_done(0,
             "{'stage':'micro','effective_mode':'structured','summary':'',"
             "'messages_changed':1}");
    assert_null(t.events.items[0]->model);
    assert_string_equal(t.events.items[0]->compaction.stage, "micro");
    assert_int_equal(t.history.messages.len, 8);
}

/* A summary longer than the messages that it replaces. */
TEST(what_would_not_become_shorter_is_refused)
{
    SCRIPT({.text = "A very long summary. ", .times = 500});
    talk(2);
    run_failed(COMPACT_FAILED, "too_small", "would not become shorter");
    assert_string_equal(last_event()->name, "TOO_SMALL_TO_COMPACT");
    assert_int_equal(t.commits, 0);
    assert_event(last_event(), /* a call was paid for */
                 "{'usage':{'input_tokens':100},'consecutive_failures':1}");
}

/* --- failures of the model ------------------------------------------------------------------- */

/* Check 6: the summariser fails: compaction_failed, and the history is byte-identical. */
TEST(a_failed_summary_leaves_the_history_alone)
{
    static const struct compact_mode *const modes[] = {&mode_handoff, &mode_llm_replace};
    SCRIPT({.failure = FAILURE_STATUS, .why = "it is down", .input = 30, .output = 2});
    for (size_t i = 0; i < COUNT(modes); i++) {
        anew();
        script(acts, COUNT(acts));
        t.job.mode = modes[i];
        talk(3);
        run_failed(COMPACT_FAILED, "llm", "it is down");
        assert_event(last_event(),
                     support_text("{'mode':'%s','model':'test/small','usage':{'input_tokens':30},"
                                  "'consecutive_failures':1,'suspended':false}",
                                  modes[i]->name));
        assert_true(last_event()->used > 0);
        assert_int_equal(t.commits, 0);
        assert_int_equal(t.script.sent.len, 1);
        assert_int_equal(t.out.usage.input, 30);
    }
}

TEST(failures_in_a_row_suspend_and_a_success_clears)
{
    SCRIPT({.failure = FAILURE_CUT}, {.text = ""}, {.failure = FAILURE_STATUS},
           {.text = "At last."});
    talk(3);
    for (int i = 1; i <= 3; i++) {
        run();
        assert_event(last_event(), support_text("{'consecutive_failures':%d,'suspended':%s}", i,
                                                i == 3 ? "true" : "false"));
    }
    assert_true(compact_suspended(&t.history.compaction, "handoff", "test/small"));
    assert_false(compact_suspended(&t.history.compaction, "handoff", "test/large"));
    run();
    assert_int_equal(t.out.result, COMPACT_DONE);
    assert_false(t.history.compaction.suspended);
}

/* An attempt that ends before a model is asked must not reset the breaker's count of failures. */
TEST(an_attempt_that_asks_nobody_keeps_the_count)
{
    SCRIPT({.failure = FAILURE_CUT}, {.failure = FAILURE_CUT}, {.failure = FAILURE_CUT});
    t.job.label = "test/small";
    use_tool("read it", 60000);
    talk(3);
    t.settings.auto_threshold = 10000;
    t.job.trigger = TRIGGER_MANUAL;
    for (int i = 1; i <= 2; i++)
        run();
    t.job.trigger = TRIGGER_ESTIMATE; /* micro, and cancelled */
    t.cancel_in = t.asked + 1;
    run();
    assert_int_equal(t.out.result, COMPACT_CANCELLED);
    assert_int_equal(t.script.sent.len, 2);
    assert_event(last_event(), "{'consecutive_failures':2}");
    t.cancelled = false;
    t.job.trigger = TRIGGER_MANUAL;
    run();
    assert_event(last_event(), "{'consecutive_failures':3,'suspended':true}");
}

/* Check 9: structured with an empty summary equals recency_preserving, and is reported so; on the
 * second compaction the first summary reaches the summariser. */
TEST(check_9_structured_falls_back_to_recency_preserving)
{
    static const struct {
        struct summary_act act;
        bool modelless;
        const char *why;
    } cases[] = {
        {{.text = ""}, false, "empty"},
        {{.text = "Half a sum", .failure = FAILURE_CUT, .why = "cut off"}, false, "cut off"},
        {{.text = "No.", .stop = STOP_REFUSAL}, false, "refused"},
        {{.text = NULL}, true, "no key"}};
    talk(10);
    t.job.mode = &mode_recency_preserving;
    run();
    char *expected = support_keep(history_text());
    char *marker = support_keep(mem_strdup(last_event()->text));
    for (size_t i = 0; i < COUNT(cases); i++) {
        anew();
        script(&cases[i].act, 1);
        t.modelless = cases[i].modelless;
        t.job.mode = &mode_structured;
        talk(10);
        run_done(cases[i].modelless ? 0 : 1,
                 "{'mode':'structured','effective_mode':'recency_preserving'}");
        assert_string_equal(support_keep(history_text()), expected);
        assert_string_equal(last_event()->text, marker);
        assert_text(last_event()->name, cases[i].why);
        assert_int_equal(last_event()->compaction.failures, cases[i].modelless ? 0 : 1);
        assert_int_equal(t.history.compaction.failures, cases[i].modelless ? 0 : 1);
        assert_int_equal(t.out.usage.input, cases[i].modelless ? -1 : 100);
    }
}

/* The sections that it lacks are those of the summary before. */
TEST(a_structured_summary_is_completed)
{
    SCRIPT({.text = SECTIONS_OF("To sail.") "\n## Relevant Files\nlog.txt"},
           {.text = "Here it is.\n" SECTIONS_OF("To sail on.")});
    t.job.mode = &mode_structured;
    talk(10);
    run();
    talk(10);
    run();
    assert_int_equal(t.script.sent.len, 2);
    assert_string_equal(last_event()->compaction.effective_mode, "structured");
    assert_string_equal(last_event()->text,
                        "## Goal\nTo sail on.\n\n## Constraints & Preferences\n(none)\n\n"
                        "## Progress\nSome.\n\n## Key Decisions\n(none)\n\n"
                        "## Relevant Files\nlog.txt\n\n## Next Steps\nOn.\n\n"
                        "## Critical Context\n(none)");
}

TEST(too_few_sections_are_asked_for_once_more)
{
    SCRIPT({.text = "## Goal\nTo sail."}, {.text = SECTIONS_OF("To sail on.")});
    t.job.mode = &mode_structured;
    talk(10);
    run_done(2, "{'effective_mode':'structured'}");
    assert_says(sent_text(&t.script.sent.items[0], -1), "!asked for this before");
    assert_says(sent_text(&t.script.sent.items[1], -1), "asked for this before");
    assert_text(last_event()->text, "To sail on.");
    assert_int_equal(t.out.usage.input, 200);
}

/* The extract replaces the summary in any mode; the mode's cut stays. */
TEST(an_overflow_of_the_summary_is_answered_by_the_extract)
{
    static const struct compact_mode *const modes[] = {&mode_handoff, &mode_structured,
                                                       &mode_llm_replace};
    static const struct summary_act acts[] = {{.failure = FAILURE_OVERFLOW, .why = "9 tokens > 8"}};
    for (size_t i = 0; i < COUNT(modes); i++) {
        anew();
        script(acts, COUNT(acts));
        t.job.mode = modes[i];
        talk(20);
        run_done(1, support_text("{'mode':'%s','effective_mode':'deterministic'}", modes[i]->name));
        assert_text(last_event()->name, "9 tokens > 8");
        assert_text(last_event()->text, "messages omitted");
        if (modes[i] == &mode_handoff)
            assert_message(1, "t20");
    }
}

/* --- the store ------------------------------------------------------------------------------- */

/* Check 7: memory refuses: the history still holds the first message, and no completed event. */
TEST(check_7_a_memory_or_store_that_refuses_leaves_the_history_alone)
{
    for (int memory = 0; memory < 2; memory++) {
        anew();
        talk(3);
        t.commits_as = memory ? COMMIT_REFUSED_BY_MEMORY : COMMIT_FAILED;
        run_failed(COMPACT_FAILED, memory ? "memory_indexing" : "store", "not today");
        assert_message(0, "t1");
        assert_int_equal(t.commits, 1);
        assert_event(last_event(), "{'consecutive_failures':1,'usage':{'input_tokens':100}}");
    }
}

TEST(a_lost_record_ends_it)
{
    static const struct {
        enum event_type at;
        int calls;
    } cases[] = {{EVENT_COMPACTION_STARTED, 0}, {EVENT_COMPACTION_FAILED, 1}};
    static const struct summary_act acts[] = {{.text = ""}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        anew();
        script(acts, 1);
        t.lost_at = cases[i].at;
        talk(3);
        run();
        assert_int_equal(t.out.result, COMPACT_LOST);
        assert_string_equal(t.out.error.text, "the disk is full");
        assert_int_equal(t.script.sent.len, cases[i].calls);
        assert_int_equal(t.commits, 0);
        assert_untouched();
    }
}

/* --- cancelling ------------------------------------------------------------------------------ */

/* The provider need not hear of it: the ladder asks at each delta itself. */
TEST(it_asks_at_every_delta)
{
    SCRIPT({.text = "Some long words.", .piece = 2});
    t.script.stop_at = 2;
    t.script.goes_on = true;
    talk(3);
    run();
    assert_int_equal(t.out.result, COMPACT_CANCELLED);
    assert_int_equal(t.script.deltas, 2);
}

/* Wherever go_on() is asked, its no ends the attempt, without a commit. */
TEST(it_can_be_cancelled_wherever_it_asks)
{
    static const struct word words[] = {{DRAFT_AGAIN, "more"}, {DRAFT_COMMIT, "Mine."}};
    for (size_t mode = 0; compact_modes[mode]; mode++) {
        size_t asked = 1;
        for (size_t at = 1; at <= asked; at++) {
            anew();
            t.cancel_in = at;
            t.job.mode = compact_modes[mode];
            t.words = words;
            t.word_count = COUNT(words);
            t.job.preview = true;
            talk(10);
            run();
            assert_true(t.out.result == COMPACT_CANCELLED || t.out.result == COMPACT_DONE);
            assert_int_equal(t.commits, t.out.result == COMPACT_DONE ? 1 : 0);
            if (t.out.result == COMPACT_CANCELLED) {
                assert_failed("cancelled", "cancelled");
                asked = at + 1;
            }
        }
        assert_true(asked > 4);
    }
}

/* --- the draft ------------------------------------------------------------------------------- */

TEST(a_draft_is_shown_and_committed_as_it_is)
{
    SCRIPT({.text = "A draft."});
    USER({DRAFT_COMMIT, NULL});
    talk(3);
    run_done(1, "{}");
    assert_true(t.events.items[0]->flag);
    assert_string_equal(t.last_draft, support_text("handoff, test/small, %d: A draft.",
                                                   (int)last_event()->compaction.tokens_after));
    assert_false(last_event()->flag);
    assert_message(0, COMPACT_PREFIX "\n\nA draft.");
}

TEST(the_users_words_are_committed)
{
    USER({DRAFT_COMMIT, "  My own\x1B[31m words.\n"});
    talk(3);
    run_done(1, "{}");
    assert_true(last_event()->flag);
    assert_string_equal(last_event()->text, "My own\xE2\x90\x9B[31m words.");
    assert_message(0, COMPACT_PREFIX "\n\nMy own\xE2\x90\x9B[31m words.");
}

TEST(a_refused_draft_is_no_failure_that_counts)
{
    static const struct word no[] = {{DRAFT_REFUSE, NULL}}, blank[] = {{DRAFT_COMMIT, " \n"}};
    static const struct word *const cases[] = {no, blank};
    for (size_t i = 0; i < COUNT(cases); i++) {
        anew();
        t.words = cases[i];
        t.word_count = 1;
        t.job.preview = true;
        talk(3);
        run_failed(COMPACT_CANCELLED, "cancelled", "cancelled");
        assert_event(last_event(), "{'consecutive_failures':0,'usage':{'input_tokens':100}}");
        assert_int_equal(t.commits, 0);
    }
}

TEST(a_draft_is_made_again_as_often_as_wanted)
{
    SCRIPT({.text = "Draft one."}, {.text = "Draft two."}, {.text = "Draft three."});
    USER({DRAFT_AGAIN, "the anchor"}, {DRAFT_AGAIN, NULL}, {DRAFT_COMMIT, NULL});
    t.job.focus = "the sails";
    talk(3);
    run_done(3, "{'summary':'Draft three.','usage':{'input_tokens':300}}");
    assert_int_equal(t.drafts, 3);
    assert_text(t.last_draft, ": Draft three.");
    assert_says(sent_text(&t.script.sent.items[0], -1), "!Draft");
    assert_says(sent_text(&t.script.sent.items[1], -1), "Draft one.", "the sails\nthe anchor");
    assert_says(sent_text(&t.script.sent.items[2], -1), "Draft two.", "!Draft one.", "the anchor");
}

/* --- time ------------------------------------------------------------------------------------ */

static int64_t ticking(void)
{
    return now_ms += 100;
}

TEST(the_users_time_is_not_the_attempts)
{
    int64_t took[2];
    for (int reviewed = 0; reviewed < 2; reviewed++) {
        anew();
        if (reviewed) {
            USER({DRAFT_COMMIT, NULL});
        }
        talk(3);
        clock_replace(NULL, ticking);
        run();
        clock_replace(NULL, NULL);
        took[reviewed] = last_event()->number;
    }
    assert_true(took[0] > 0 && took[1] - took[0] < 1000);
}

/* --- messages that must stay do not fit ------------------------------------------------------ */

static void too_long_for(int64_t window, enum compact_trigger trigger)
{
    t.job.must_fit = true;
    t.job.trigger = trigger;
    t.job.limits.window = window;
}

/* No model is asked and all messages stay. The reason is told once, until something changes. */
TEST(nothing_goes_for_pins_beyond_the_window)
{
    static const struct {
        enum compact_trigger trigger;
        int64_t window;
        const char *trail;
    } cases[] = {{TRIGGER_REQUEST, 1500, "started failed"},
                 {TRIGGER_OVERFLOW, 1500, ""},
                 {TRIGGER_REQUEST, 1500, ""},
                 {TRIGGER_REQUEST, 1600, "started failed"}};
    char *pinned = support_keep(padded("keep this", 8000));
    talk(2);
    say(pinned, "yes");
    t.history.messages.items[4].pinned = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        buf_clear(&t.trail);
        too_long_for(cases[i].window, cases[i].trigger);
        run_to(COMPACT_NOTHING, 0, cases[i].trail);
        assert_untouched();
        assert_text(t.out.error.text, "unpin some");
    }
}

/* The body may be longer than our count, with its images: the excess counts. */
TEST(a_body_with_too_many_bytes_is_made_to_fit)
{
    static const struct {
        int64_t body_bytes, max_bytes; /* parts of the estimate in bytes, in percent */
        int64_t most;                  /* percent of the history that may stay */
    } cases[] = {{100, 50, 25}, {100, 90, 45}, {1000, 500, 25}, {0, 20, 10}, {100, 200, 50}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        anew();
        t.settings.recent_turns = 30;
        t.settings.auto_threshold = 1000000;
        talk(40);
        int64_t bytes = t.history.estimate * 4;
        too_long_for(0, TRIGGER_OVERFLOW);
        t.job.body_bytes = bytes * cases[i].body_bytes / 100;
        t.job.limits.max_bytes = bytes * cases[i].max_bytes / 100;
        run_done(1, "{}");
        int64_t kept = t.history.estimate - message_estimate_tokens(&t.history.messages.items[0]);
        assert_in_range(kept, 1, bytes / 4 * cases[i].most / 100);
    }
}

TEST(nothing_goes_for_what_is_beyond_the_limits_by_itself)
{
    static const struct {
        enum compact_trigger trigger;
        int64_t overhead, window, bytes;
    } cases[] = {{TRIGGER_OVERFLOW, 0, 0, 6000},
                 {TRIGGER_REQUEST, 0, 1500, 0},
                 {TRIGGER_REQUEST, 1500, 1500, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        anew();
        talk(2);
        if (cases[i].overhead == 0)
            history_begin(&t.history, support_keep(padded("look at this", 8000)));
        t.job.overhead = cases[i].overhead;
        t.job.limits.max_bytes = cases[i].bytes;
        too_long_for(cases[i].window, cases[i].trigger);
        run_failed(COMPACT_NOTHING, "too_small", "unpin");
        assert_int_equal(t.script.sent.len, 0);
    }
}

/* The history is too long as well, so an ordinary compaction runs. */
TEST(at_the_threshold_it_is_an_ordinary_one)
{
    SCRIPT({.text = "What was done."});
    talk(3);
    t.job.overhead = 1500;
    too_long_for(1500, TRIGGER_ESTIMATE);
    run_done(1, "{}");
    assert_message(1, "t3");
}
