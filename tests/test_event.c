/* Events: payloads, stream-json lines and what reading them back gives. */
#include <float.h>
#include <math.h>

#include "base/entropy.h"
#include "chat/event.h"
#include "chat/usage.h"
#include "tests/suite.h"

/* An event with every field of any type set; what its type does not use must not get through. */
static struct event filled(enum event_type type)
{
    static char text[] = "te\"xt\n", id[] = "call_1", name[] = "name", signature[] = "sig";
    static char hits[] = "[{\"id\":\"E\"}]", pieces[] = "[4,2]";
    static char model[] = "m-1", attachments[] = "[{\"type\":\"image\",\"text\":\"/x.png\"}]";
    static char mode[] = "structured", effective_mode[] = "recency_preserving", stage[] = "summary";
    static char trigger[] = "manual", reason[] = "llm", history[] = "[[0,2]]",
                dropped[] = "[[3,9]]";
    return (struct event){
        .type = type,
        .seq = 42,
        .wall_ms = 1773065107123,
        .session_id = "01890a5d-ac96-774b-bcce-b302099a8057",
        .text = text,
        .id = id,
        .name = name,
        .signature = signature,
        .model = model,
        .attachments = attachments,
        .hits = hits,
        .pieces = pieces,
        .number = 7,
        .count = 2,
        .limit = 5,
        .flag = true,
        .denied = true,
        .stop_reason = STOP_TOOL_USE,
        .usage = {.input = 10, .output = 0, .cached = -1, .estimated = true},
        .summaries = {.input = 4, .output = 3, .cached = -1},
        .change = {.before = name, .after = text, .line = 3},
        .used = 0.25,
        .bound = 2.5,
        .compaction = {.mode = mode,
                       .effective_mode = effective_mode,
                       .stage = stage,
                       .trigger = trigger,
                       .reason = reason,
                       .history = history,
                       .dropped = dropped,
                       .input_tokens = 11,
                       .estimate = 12,
                       .threshold = 13,
                       .summary_tokens = 14,
                       .tokens_before = 15,
                       .tokens_after = 16,
                       .messages_before = 17,
                       .messages_after = 18,
                       .messages_dropped = 19,
                       .messages_changed = 20,
                       .request_before = 23,
                       .request_after = 24,
                       .entries_indexed = 21,
                       .failures = 22,
                       .suspended = true},
    };
}

#define TIME ",'at':'2026-03-09T14:05:07.123Z'"
#define USED "'usage':{'input_tokens':10,'output_tokens':0,'estimated':true}"

static const char *const payloads[EVENT_TYPE_COUNT] = {
    [EVENT_TURN_STARTED] =
        "{'prompt':'te\\'xt\\n','retries':7,"
        "'attachments':[{'type':'image','text':'/x.png'}],'effort':'name'}",
    [EVENT_CALL_STARTED] = "{'turn':7,'call':2}",
    [EVENT_TEXT_DELTA] = "{'delta':'te\\'xt\\n','pieces':[4,2]}",
    [EVENT_REASONING_DELTA] = "{'delta':'te\\'xt\\n','pieces':[4,2]}",
    [EVENT_REASONING_COMPLETE] =
        "{'content':'te\\'xt\\n','signature':'sig',"
        "'redacted':true,'model':'m-1'}",
    [EVENT_TEXT_COMPLETE] = "{'content':'te\\'xt\\n','signature':'sig','partial':true}",
    [EVENT_TOOL_CALL_REQUESTED] =
        "{'id':'call_1','name':'name','args':'te\\'xt\\n','signature':'sig'}",
    [EVENT_TOOL_EXECUTION_COMPLETED] =
        "{'id':'call_1','name':'name',"
        "'content':'te\\'xt\\n','is_error':true,'signature':'sig',"
        "'attachments':[{'type':'image','text':'/"
        "x.png'}],'denied':true,'change':{'old':'name','new':'te\\'xt\\n','line':3},'duration_ms':"
        "7}",
    [EVENT_COMMAND_COMPLETED] = "{'content':'te\\'xt\\n','is_error':true,'duration_ms':7}",
    [EVENT_CALL_COMPLETED] = "{'stop_reason':'tool_use','model':'m-1'," USED ",'cost':0.25}",
    [EVENT_RETRYING] = "{'attempt':2,'of':5,'wait_ms':7,'reason':'te\\'xt\\n'}",
    [EVENT_COMPACTION_STARTED] =
        "{'mode':'structured','stage':'summary','trigger':'manual',"
        "'input_tokens':11,'estimated_history_tokens':12,'threshold':13,"
        "'request_tokens':23,'message_count':17,'model':'m-1','preview':true}",
    [EVENT_COMPACTION_DELTA] = "{'delta':'te\\'xt\\n','part':2,'of':5,'pieces':[4,2]}",
    [EVENT_COMPACTION_COMPLETED] =
        "{'mode':'structured','effective_mode':'recency_preserving','why':'name',"
        "'stage':'summary','trigger':'manual','summary':'te\\'xt\\n',"
        "'edited':true,'summary_tokens':14,'messages_before':17,'messages_after':18,"
        "'messages_dropped':19,'messages_changed':20,'tokens_before':15,"
        "'tokens_after':16,'request_tokens_before':23,'request_tokens_after':24,"
        "'entries_indexed':21,'history':[[0,2]],'dropped':[[3,9]],"
        "'consecutive_failures':22,'suspended':true,"
        "'model':'m-1'," USED ",'cost':0.25,'duration_ms':7}",
    [EVENT_COMPACTION_FAILED] =
        "{'mode':'structured','reason':'llm','code':'name','message':'te\\'xt\\n',"
        "'consecutive_failures':22,'suspended':true,'model':'m-1'," USED
        ",'cost':0.25,'duration_ms':7}",
    [EVENT_COMPACTION_UNDONE] = "{'of':7}",
    [EVENT_REWOUND] = "{'message':7}",
    [EVENT_REWIND_UNDONE] = "{'of':7}",
    [EVENT_FILE_RESTORED] =
        "{'path':'name','removed':true,'change':{'old':'name','new':'te\\'xt\\n','line':3}}",
    [EVENT_MESSAGE_PINNED] = "{'message':7,'pinned':true}",
    [EVENT_MEMORY_INDEXED] = "{'entries':2,'compaction':7}",
    [EVENT_MEMORY_RECALLED] =
        "{'id':'call_1','by':'m-1','query':'te\\'xt\\n','limit':5,"
        "'hits':[{'id':'E'}],'tokens':7,'badge':'name'}",
    [EVENT_MEMORY_LEFT_OUT] = "{'id':'call_1','left_out':true}",
    [EVENT_GRAPH_CHANGED] = "{'id':'call_1','facts':'te\\'xt\\n','more':7,'deleted':true}",
    [EVENT_LEARNED_NOTED] = "{'id':'call_1','kind':'name','text':'te\\'xt\\n','active':true}",
    [EVENT_LEARNED_EXTRACTED] = "{'proposals':2,'model':'m-1'," USED ",'cost':0.25}",
    [EVENT_SESSION_TITLED] = "{'title':'te\\'xt\\n','model':'m-1'," USED ",'cost':0.25}",
    [EVENT_WARNING] = "{'code':'name','detail':'te\\'xt\\n'}",
    [EVENT_TURN_COMPLETED] =
        "{'result':'te\\'xt\\n','usage':{'input_tokens':10,"
        "'output_tokens':0,'estimated':true,'summaries':{"
        "'input_tokens':4,'output_tokens':3}},'model_calls':2,"
        "'duration_ms':7,'stop_reason':'tool_use'}",
    [EVENT_TURN_FAILED] =
        "{'code':'name','message':'te\\'xt\\n'," USED ",'cost':0.25,'duration_ms':7}",
    [EVENT_BUDGET_WARNING] = "{'kind':'name','used':0.25,'limit':2.5,'percent':2}",
    [EVENT_INTERRUPTED] = "{" USED ",'cost':0.25,'duration_ms':7}",
};

FIXTURE(support_setup, support_teardown);

/* The event of a payload in today's version. The caller frees. */
static struct event *read_back(enum event_type type, const char *payload)
{
    struct event *back;
    struct error e = {0};
    if (!event_from_payload(type, event_version(type), payload, strlen(payload), &back, &e))
        fail_msg("%s of %s", e.text, payload);
    return back;
}

static struct event *written_and_read(const struct event *ev)
{
    return read_back(ev->type, support_keep(event_payload(ev)));
}

TEST(test_payload_and_back)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        struct event ev = filled((enum event_type)i);
        assert_string_equal(support_keep(event_payload(&ev)), support_json(payloads[i]));
        AUTO(event_free_local)
        struct event *back = written_and_read(&ev), *copy = event_clone(back);
        assert_string_equal(support_keep(event_payload(copy)), support_json(payloads[i]));
    }
}

/* A cost of zero differs from an unknown cost. */
TEST(test_a_cost_is_known_or_not)
{
    AUTO(event_free_local) struct event *ev = event_new(EVENT_CALL_COMPLETED);
    assert_true(ev->used < 0);
    for (int known = 0; known <= 1; known++) {
        ev->used = known - 1;
        AUTO(event_free_local) struct event *back = written_and_read(ev);
        assert_true(back->used == known - 1);
        assert_int_equal(strstr(support_keep(event_payload(ev)), "\"cost\":0") != NULL, known);
    }
}

TEST(test_line)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        struct event ev = filled((enum event_type)i);
        char *line = support_keep(event_to_line(&ev));
        char *wanted = support_text("{'type':'%s','seq':42,'session_id':'%s'" TIME ",%s",
                                    event_name(ev.type), ev.session_id, payloads[i] + 1);
        assert_string_equal(line, support_json(wanted));
        assert_null(strchr(line, '\n'));
    }
}

TEST(test_line_and_back)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        struct event ev = filled((enum event_type)i);
        AUTO(event_free_local) struct event *back = NULL;
        struct error e;
        char *line = support_keep(event_to_line(&ev));
        AUTO(json_free_local) struct json *v = json_parse(line, strlen(line), &e);
        assert_ok(event_from_json(v, &back, &e), e);
        assert_int_equal(back->type, ev.type);
        assert_int_equal(back->seq, ev.seq);
        assert_int_equal(back->wall_ms, ev.wall_ms);
        assert_string_equal(back->session_id, ev.session_id);
        assert_string_equal(support_keep(event_to_line(back)), line);
    }
}

#define ID "'session_id':'01890a5d-ac96-774b-bcce-b302099a8057'"

TEST(test_lines_that_do_not_fit)
{
    static const struct {
        const char *line, *named;
    } cases[] = {
        {"[]", "no object"},
        {"{'seq':1," ID TIME ",'delta':''}", "type"},
        {"{'type':'tea','seq':1," ID TIME "}", "unknown type \"tea\""},
        {"{'type':'text_delta','version':2,'seq':1," ID TIME ",'delta':''}", "version 2"},
        {"{'type':'text_delta','version':0,'seq':1," ID TIME ",'delta':''}", "version 0"},
        {"{'type':'text_delta'," ID TIME ",'delta':''}", "\"seq\""},
        {"{'type':'text_delta','seq':-1," ID TIME ",'delta':''}", "\"seq\""},
        {"{'type':'text_delta','seq':1e300," ID TIME ",'delta':''}", "\"seq\""},
        {"{'type':'text_delta','seq':1" TIME ",'delta':''}", "session_id"},
        {"{'type':'text_delta','seq':1,'session_id':'x'" TIME ",'delta':''}", "session_id"},
        {"{'type':'text_delta','seq':1," ID ",'at':'now','delta':''}", "\"at\""},
        {"{'type':'text_delta','seq':1," ID TIME "}", "delta"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {0};
        struct event *ev;
        const char *line = support_json(cases[i].line);
        AUTO(json_free_local) struct json *v = json_parse(line, strlen(line), &e);
        assert_non_null(v);
        assert_false(event_from_json(v, &ev, &e));
        assert_null(ev);
        assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
        assert_non_null(strstr(e.text, cases[i].named));
    }
}

TEST(test_clone_keeps_the_envelope_and_owns)
{
    struct event ev = filled(EVENT_TOOL_EXECUTION_COMPLETED);
    AUTO(event_free_local) struct event *copy = event_clone(&ev);
    assert_int_equal(copy->seq, 42);
    assert_int_equal(copy->wall_ms, 1773065107123);
    assert_string_equal(copy->session_id, ev.session_id);
    assert_ptr_not_equal(copy->text, ev.text);
    assert_string_equal(copy->text, ev.text);
    assert_null(copy->model); /* not a field of this type: nobody would free it */
    event_free(NULL);
}

TEST(test_clone_owns_what_a_compaction_says)
{
    struct event ev = filled(EVENT_COMPACTION_STARTED);
    AUTO(event_free_local) struct event *copy = event_clone(&ev);
    assert_ptr_not_equal(copy->compaction.mode, ev.compaction.mode);
    assert_string_equal(copy->compaction.trigger, "manual");
    assert_null(copy->compaction.history);
    assert_null(copy->text);
}

/* An unknown count is left out, and is unknown again when it is read. */
TEST(test_unknown_input_tokens)
{
    struct event ev = filled(EVENT_COMPACTION_STARTED);
    ev.compaction.input_tokens = -1;
    assert_null(strstr(support_keep(event_payload(&ev)), "input_tokens"));
    AUTO(event_free_local) struct event *back = written_and_read(&ev);
    assert_int_equal(back->compaction.input_tokens, -1);
}

TEST(test_between_runs)
{
    static char estimate[] = "estimate";
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        struct event ev = filled((enum event_type)i);
        bool by_hand = ev.type == EVENT_COMPACTION_STARTED || ev.type == EVENT_COMPACTION_COMPLETED;
        bool changes = ev.type == EVENT_COMPACTION_UNDONE || ev.type == EVENT_REWOUND ||
                       ev.type == EVENT_REWIND_UNDONE || ev.type == EVENT_FILE_RESTORED;
        assert_int_equal(event_between_turns(&ev), by_hand || changes);
        ev.compaction.trigger = estimate;
        assert_int_equal(event_between_turns(&ev), changes);
        ev.compaction.trigger = NULL;
        assert_int_equal(event_between_turns(&ev), changes);
    }
}

/* The payload of a new event of each type. */
static const char *const fresh[EVENT_TYPE_COUNT] = {
    [EVENT_TURN_STARTED] = "{'prompt':''}",
    [EVENT_CALL_STARTED] = "{'turn':0,'call':0}",
    [EVENT_TEXT_DELTA] = "{'delta':''}",
    [EVENT_REASONING_DELTA] = "{'delta':''}",
    [EVENT_REASONING_COMPLETE] = "{'content':''}",
    [EVENT_TEXT_COMPLETE] = "{'content':''}",
    [EVENT_TOOL_CALL_REQUESTED] = "{'id':'','name':''}",
    [EVENT_TOOL_EXECUTION_COMPLETED] =
        "{'id':'','name':'','content':'','is_error':false,'duration_ms':0}",
    [EVENT_COMMAND_COMPLETED] = "{'content':'','is_error':false,'duration_ms':0}",
    [EVENT_CALL_COMPLETED] = "{'stop_reason':'end_turn'}",
    [EVENT_RETRYING] = "{'attempt':0,'of':0,'wait_ms':0,'reason':''}",
    [EVENT_COMPACTION_STARTED] =
        "{'mode':'','stage':'','trigger':'','estimated_history_tokens':0,"
        "'threshold':0,'message_count':0}",
    [EVENT_COMPACTION_DELTA] = "{'delta':''}",
    [EVENT_COMPACTION_COMPLETED] =
        "{'mode':'','effective_mode':'','stage':'','trigger':'','summary':'',"
        "'summary_tokens':0,'messages_before':0,'messages_after':0,'messages_dropped':0,"
        "'messages_changed':0,'tokens_before':0,'tokens_after':0,'entries_indexed':0,"
        "'duration_ms':0}",
    [EVENT_COMPACTION_FAILED] =
        "{'mode':'','reason':'','message':'','consecutive_failures':0,'suspended':"
        "false}",
    [EVENT_COMPACTION_UNDONE] = "{'of':0}",
    [EVENT_REWOUND] = "{'message':0}",
    [EVENT_REWIND_UNDONE] = "{'of':0}",
    [EVENT_FILE_RESTORED] = "{'path':''}",
    [EVENT_MESSAGE_PINNED] = "{'message':0,'pinned':false}",
    [EVENT_MEMORY_INDEXED] = "{'entries':0,'compaction':0}",
    [EVENT_MEMORY_RECALLED] = "{'query':'','limit':0}",
    [EVENT_MEMORY_LEFT_OUT] = "{'id':'','left_out':false}",
    [EVENT_BUDGET_WARNING] = "{'kind':'','used':0,'limit':0,'percent':0}",
    [EVENT_GRAPH_CHANGED] = "{'id':'','facts':''}",
    [EVENT_LEARNED_NOTED] = "{'id':'','kind':'','text':'','active':false}",
    [EVENT_LEARNED_EXTRACTED] = "{'proposals':0}",
    [EVENT_SESSION_TITLED] = "{}",
    [EVENT_WARNING] = "{'code':'','detail':''}",
    [EVENT_TURN_COMPLETED] =
        "{'result':'','model_calls':0,'duration_ms':0,'stop_reason':'end_turn'}",
    [EVENT_TURN_FAILED] = "{'code':'','message':''}",
    [EVENT_INTERRUPTED] = "{}",
};

TEST(test_left_out_fields)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        AUTO(event_free_local) struct event *ev = event_new((enum event_type)i);
        assert_string_equal(support_keep(event_payload(ev)), support_json(fresh[i]));
        assert_false(usage_known(&ev->usage) || usage_known(&ev->summaries));
    }
}

/* Checks the arguments' form in the payload, and the arguments that reading returns. */
static void check_args(const char *args, const char *written, const char *wanted)
{
    struct event ev = {.type = EVENT_TOOL_CALL_REQUESTED, .text = (char *)(uintptr_t)args};
    assert_string_equal(support_keep(event_payload(&ev)),
                        support_text("{\"id\":\"\",\"name\":\"\",\"args\":%s}", written));
    AUTO(event_free_local) struct event *back = written_and_read(&ev);
    assert_string_equal(back->text, wanted);
}

TEST(test_args)
{
    check_args("{ \"a\" : [1, 2.5, \"x\"] }", "{\"a\":[1,2.5,\"x\"]}", "{\"a\":[1,2.5,\"x\"]}");
    check_args("{}", "{}", "{}");
    check_args("null", "null", "null");
    check_args("{\"a\":", "\"{\\\"a\\\":\"", "{\"a\":");
    check_args("", "\"\"", "");
    check_args("\"abc\"", "\"\\\"abc\\\"\"", "\"abc\"");
    /* A value that a double, a C string or the nesting limit would change is kept as text. */
    check_args("{\"id\":12345678901234567890}", "\"{\\\"id\\\":12345678901234567890}\"",
               "{\"id\":12345678901234567890}");
    check_args("[1e999]", "\"[1e999]\"", "[1e999]");
    check_args("[\"a\\u0000b\"]", "\"[\\\"a\\\\u0000b\\\"]\"", "[\"a\\u0000b\"]");
    check_args("[\"12345678901234567890 1e5\"]", "[\"12345678901234567890 1e5\"]",
               "[\"12345678901234567890 1e5\"]");
}

/* A value that would be too large a tree stays a text, and is unchanged when it is read. */
TEST(test_args_of_many_values)
{
    AUTO(buf_release) struct buf args = BUF_INIT;
    buf_addstr(&args, "[1");
    for (int i = 0; i < JSON_FOREIGN_VALUES; i++)
        buf_addstr(&args, ",1");
    buf_addstr(&args, "]");
    check_args(args.data, support_text("\"%s\"", args.data), args.data);
}

TEST(test_deep_args_can_be_read_again)
{
    for (size_t depth = 90; depth < 1100; depth += 7) {
        char *args = support_keep(mem_alloc(2 * depth + 1));
        memset(args, '[', depth);
        memset(args + depth, ']', depth);
        struct event ev = {.type = EVENT_TOOL_CALL_REQUESTED, .text = args};
        AUTO(event_free_local) struct event *back = written_and_read(&ev);
        assert_string_equal(back->text, args);
    }
}

static char *random_args(void)
{
    static const char *const words[] = {"{",  "}", "[", "]",     ",",      ":",       "\"",   "\\",
                                        "1",  "0", "-", "e5",    ".",      "true",    "null", " ",
                                        "\n", "ü", "a", "\"a\"", "\"b\":", "\\u0041", "\xff"};
    struct buf out = BUF_INIT;
    size_t count = (size_t)(entropy_unit() * 12);
    for (size_t i = 0; i < count; i++)
        buf_addstr(&out, words[(size_t)(entropy_unit() * (sizeof words / sizeof *words))]);
    return buf_take(&out);
}

/* For any arguments of the model, a second reading equals the first, and both parse. */
TEST(test_random_args_are_stable)
{
    entropy_seed(support_seed());
    for (int i = 0; i < 20000; i++) {
        struct event ev = {.type = EVENT_TOOL_CALL_REQUESTED, .text = support_keep(random_args())};
        AUTO(event_free_local)
        struct event *once = written_and_read(&ev), *twice = written_and_read(once);
        assert_string_equal(once->text, twice->text);
    }
}

TEST(test_large_text)
{
    size_t len = 8 << 20;
    char *text = support_keep(mem_alloc(len + 1));
    for (size_t i = 0; i < len; i++)
        text[i] = i % 64 ? 'x' : '\n';
    struct event ev = {.type = EVENT_TEXT_COMPLETE, .text = text};
    AUTO(event_free_local) struct event *back = written_and_read(&ev);
    assert_true(strcmp(back->text, text) == 0);
}

TEST(test_refuses_what_does_not_fit)
{
    static const struct {
        enum event_type type;
        int version;
        const char *payload, *named;
    } cases[] = {
        {EVENT_TYPE_COUNT, 1, "{}", "unknown"},
        {EVENT_WARNING, 2, "{'code':'a','detail':'b'}", "version 2"},
        {EVENT_WARNING, 0, "{'code':'a','detail':'b'}", "version 0"},
        {EVENT_WARNING, 1, "{'code':'a'", "no JSON"},
        {EVENT_WARNING, 1, "[]", "no JSON object"},
        {EVENT_WARNING, 1, "{'code':'a'}", "detail"},
        {EVENT_WARNING, 1, "{'code':1,'detail':''}", "code"},
        {EVENT_CALL_STARTED, 1, "{'turn':1}", "call"},
        {EVENT_CALL_STARTED, 1, "{'turn':1,'call':3e9}", "call"},
        {EVENT_CALL_STARTED, 1, "{'turn':-1,'call':1}", "turn"},
        {EVENT_TEXT_COMPLETE, 1, "{'content':'','partial':1}", "partial"},
        {EVENT_INTERRUPTED, 1, "{'usage':3}", "usage"},
        {EVENT_CALL_COMPLETED, 1, "{'usage':{}}", "stop_reason"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *payload = support_json(cases[i].payload);
        struct event *ev;
        struct error e = {0};
        assert_err(
            event_from_payload(cases[i].type, cases[i].version, payload, strlen(payload), &ev, &e),
            e, ERR_SESSION_STORE_ERROR);
        assert_null(ev);
        assert_non_null(strstr(e.text, cases[i].named));
    }
}

/* ---- figures that nobody can mean ---- */

static const int64_t wholes[] = {INT64_MIN,
                                 -1,
                                 0,
                                 1,
                                 INT32_MAX,
                                 999999999999999,
                                 1000000000000001,
                                 FIGURE_MAX - 1,
                                 FIGURE_MAX,
                                 FIGURE_MAX + 1,
                                 9000000000000000000,
                                 INT64_MAX};
static const double reals[] = {-INFINITY, -1,   0,       DBL_TRUE_MIN, 0.25, 999999999999999,
                               1e16,      1e18, DBL_MAX, INFINITY,     NAN};

enum { WHOLES = sizeof wholes / sizeof *wholes, REALS = sizeof reals / sizeof *reals };

/* Puts the n-th extreme into a figure of the event; the other fields of a struct at the offset
 * stay. False for a field that is no figure. */
static bool put_extreme(struct event *ev, const struct shape_field *f, size_t n)
{
    void *at = (char *)ev + f->offset;
    int64_t whole = wholes[n % WHOLES];
    switch (f->type) {
    case SHAPE_INTEGER:
        *(int64_t *)at = whole;
        return true;
    case SHAPE_COUNT:
        *(int *)at = whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : (int)whole;
        return true;
    case SHAPE_NUMBER:
        *(double *)at = reals[n % REALS];
        return true;
    case SHAPE_OBJECT:
        if (f->of == &change_shape)
            return false;
        *(struct usage *)at = (struct usage){whole, wholes[(n + 1) % WHOLES],
                                             wholes[(n + 5) % WHOLES], n % 3 ? 0 : 7, n % 2};
        ev->summaries = (struct usage){whole, wholes[(n + 3) % WHOLES], -1, 0, n % 2};
        return true;
    default:
        return false;
    }
}

/* A written event can be read, and is unchanged when it is written again. */
TEST(test_every_figure_reads_back)
{
    for (int type = 0; type < EVENT_TYPE_COUNT; type++)
        for (const struct shape_field *f = event_shapes[type].fields; f->name; f++)
            for (size_t n = 0; n < WHOLES + REALS; n++) {
                struct event ev = filled((enum event_type)type);
                if (!put_extreme(&ev, f, n))
                    continue;
                AUTO(event_free_local)
                struct event *back = written_and_read(&ev), *line_back = NULL;
                assert_string_equal(support_keep(event_payload(back)),
                                    support_keep(event_payload(&ev)));
                struct error e = {0};
                char *line = support_keep(event_to_line(&ev));
                AUTO(json_free_local) struct json *v = json_parse(line, strlen(line), &e);
                if (!v || !event_from_json(v, &line_back, &e))
                    fail_msg("%s, case %zu: %s: %s", f->name, n, e.text, line);
            }
}

/* A figure that fits is neither changed nor lost; one that does not becomes the nearest. */
TEST(test_figures_are_kept)
{
    for (size_t n = 0; n < WHOLES; n++) {
        struct event ev = filled(EVENT_COMPACTION_STARTED);
        ev.compaction.input_tokens = ev.compaction.threshold = wholes[n];
        ev.compaction.messages_before = wholes[n] > INT32_MAX ? INT32_MAX : (int)wholes[n];
        AUTO(event_free_local) struct event *back = written_and_read(&ev);
        assert_int_equal(back->compaction.input_tokens, figure_known(wholes[n]));
        assert_int_equal(back->compaction.threshold, figure_bounded(wholes[n], FIGURE_MAX));
        assert_int_equal(back->compaction.messages_before,
                         figure_bounded(ev.compaction.messages_before, INT32_MAX));
    }
}

/* An older program stored a server's figures unchecked. */
TEST(test_reads_figures_beyond_the_bound)
{
    AUTO(event_free_local)
    struct event *ev =
        read_back(EVENT_COMPACTION_STARTED,
                  "{\"mode\":\"handoff\",\"stage\":\"summary\",\"trigger\":\"input_tokens\","
                  "\"input_tokens\":9000000000000000000,\"estimated_history_tokens\":1,"
                  "\"threshold\":9223372036854775807,\"message_count\":2}");
    assert_int_equal(ev->compaction.input_tokens, FIGURE_MAX);
    assert_int_equal(ev->compaction.threshold, FIGURE_MAX);
}

TEST(test_names)
{
    enum event_type type;
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        assert_true(event_type_from_name(event_name((enum event_type)i), &type));
        assert_int_equal(type, i);
    }
    assert_false(event_type_from_name("tea_break", &type));
    assert_string_equal(stop_reason_names.words[STOP_END_TURN], "end_turn");
    AUTO(event_free_local)
    struct event *ev = read_back(EVENT_CALL_COMPLETED, "{\"stop_reason\":\"full_moon\"}");
    assert_int_equal(ev->stop_reason, STOP_OTHER);
}

static void assert_rest(const char *pieces, int64_t after, const char *text, const char *left)
{
    AUTO(event_free_local) struct event *ev = event_new(EVENT_TEXT_DELTA);
    ev->seq = 9;
    ev->text = mem_strdup("one two three");
    ev->pieces = mem_strdup(pieces);
    event_pieces_skip(ev, after);
    assert_string_equal(ev->text, text);
    if (left)
        assert_string_equal(ev->pieces, left);
    else
        assert_null(ev->pieces);
}

TEST(test_pieces_that_were_seen_are_left_out)
{
    AUTO(event_pieces_release) struct event_pieces p = {0};
    event_pieces_add(&p, 7, 4);
    assert_null(event_pieces_json(&p));
    event_pieces_add(&p, 8, 1);
    event_pieces_add(&p, 8, 3);
    event_pieces_add(&p, 9, 5);
    auto_free char *json = event_pieces_json(&p);
    assert_string_equal(json, "[4,4,5]");
    assert_int_equal(p.last, 9);
    assert_rest(json, 0, "one two three", json);
    assert_rest(json, 6, "one two three", json);
    assert_rest(json, 7, "two three", "[4,5]");
    assert_rest(json, 8, "three", NULL);
    assert_rest(json, 9, "one two three", json); /* it is no event behind that */
}

TEST(test_pieces_that_are_not_the_texts_cut_nothing)
{
    static const char *const wrong[] = {
        "[4,4,4]",  "[4,4,6]", "[4,-4,13]", "{}",        "\"x\"",
        "[9e99,4]", "[]",      "[4,4,",     "[4,4,5,1]", "[18446744073709551615,14]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_rest(wrong[i], 8, "one two three", wrong[i]);
    assert_rest(NULL, 8, "one two three", NULL);
}
