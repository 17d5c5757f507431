/* memory_search: its description, its arguments, its result, and the notice to the screen. The
 * memory is a scripted one. */
#include <stdlib.h>
#include <string.h>

#include "agent/prompt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "knowledge/skills.h"
#include "tests/play.h"
#include "tests/program.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "tests/support.h"

/* The scripted memory: its number of entries, and its calls. */
static struct {
    int entries;
    size_t bytes; /* of each text; 0: short */
    const char *badge;
    bool fails, stops, part, asked; /* hits have a passage; answers are long and have a question */
    int calls, limit;
    struct memory_filter filter;
    char *query;
} script;

static struct memory_hit hit_number(int i)
{
    struct memory_hit h = {.score = 1.0 - 0.01 * i,
                           .rank = 30 - i,
                           .title = mem_strdup("A journey"),
                           .project = mem_strdup("/home/ada/garden")};
    char *tail = support_keep(mem_alloc(script.bytes + 1));
    memset(tail, 'x', script.bytes);
    h.entry = (struct memory_entry){.id = mem_printf("E%d", i),
                                    .session_id = mem_strdup("s-1"),
                                    .turn = i + 1,
                                    .seq = 10 * i,
                                    .role = i % 2 ? ROLE_ASSISTANT : ROLE_USER,
                                    .created_ms = 1700000000000 + i / 2 * (int64_t)86400000,
                                    .content = mem_printf("text “%d” über 日本%s", i, tail)};
    h.why.words = 3.5;
    if (script.asked && i % 2)
        h.question = mem_strdup("why?");
    if (script.part)
        h.passage = (struct memory_span){.start = 5, .len = 7};
    return h;
}

static bool search(void *context, const char *query, int limit, const struct memory_filter *filter,
                   struct memory_hits *out, struct error *e)
{
    (void)context;
    script.filter = *filter;
    script.filter.project = support_keep(mem_strdup(filter->project));
    script.filter.from = support_keep(mem_strdup(filter->from));
    script.calls++;
    script.limit = limit;
    free(script.query);
    script.query = mem_strdup(query);
    if (script.stops)
        play_press_escape();
    if (script.fails || script.stops)
        return err_set(e, ERR_SESSION_STORE_ERROR, "the disk is gone");
    out->badge = script.badge;
    for (int i = 0; i < script.entries && i < limit; i++) {
        struct memory_hit h = hit_number(i);
        vec_push(&out->items, h);
    }
    return true;
}

static const struct tool_memory memory = {.search = search};

static int setup(void **state)
{
    memset(&script, 0, sizeof script);
    if (play_setup(state) != 0)
        return -1;
    play.memory = &memory;
    return 0;
}

static int teardown(void **state)
{
    free(script.query);
    return play_teardown(state);
}

#define call(args) play_call("memory_search", args)

/* --- descriptions for the model --------------------------------------------------------------- */

FIXTURE(setup, teardown);

TEST(it_is_described_as_specified)
{
    const struct tool *tool = toolset_find(play_tools(), "memory_search");
    const struct tool_spec *spec = &tool->spec;
    assert_text(spec->description, "Search what was said earlier");
    assert_int_equal(tool->class, TOOL_READ);
    const struct json *schema = parse_json(spec->schema),
                      *properties = json_get(schema, "properties");
    assert_json(schema,
                "{'required':['query'],'properties':{'query':{'type':'string'},"
                "'limit':{'type':'integer'}}}");
    assert_int_equal(json_len(properties), 7);
    const struct json *limit = json_get(properties, "limit");
    assert_text(json_get_string(json_get(properties, "query"), "description"),
                "words that were probably used");
    assert_text(json_get_string(limit, "description"), "1 to 20; default: as many as fit");
    assert_false(json_get(limit, "minimum") || json_get(limit, "maximum"));
}

TEST(it_is_offered_where_there_is_a_memory)
{
    static const struct {
        bool memory, rootless;
        const char *offer, *deny;
        bool offered;
    } rows[] = {
        {true, false, "read", "", true},      {true, false, "full", "", true},
        {true, true, "read", "", true},       {false, false, "full", "", false},
        {true, false, "none", "", false},     {true, false, "read", "memory_search", false},
        {true, false, "read", "read", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play.memory = rows[i].memory ? &memory : NULL;
        play.rootless = rows[i].rootless;
        play.offer = rows[i].offer;
        play_policy(NULL, NULL, rows[i].deny);
        PLAY({.text = "Done.", .stop = STOP_END_TURN});
        assert_int_equal(play_offered("memory_search"), rows[i].offered);
    }
}

TEST(nothing_is_searched_without_a_memory)
{
    play.memory = NULL;
    play_refuses("memory_search", "{'query':'x'}",
                 "memory_search cannot be used now: there is no memory here");
    assert_int_equal(script.calls, 0);
}

TEST(its_skill_follows_the_system_prompt)
{
    static const struct {
        const char *prompt;
        bool memory;
        const char *begins, *ends;
    } rows[] = {
        {"Be brief.", true, "Be brief.\n\n# Memory\n", NULL},
        {"Be brief.", false, "Be brief.", ""},
        {"", true, "# Memory\n", NULL},
        {NULL, false, "(none)", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play.prompt = rows[i].prompt;
        play.memory = rows[i].memory ? &memory : NULL;
        PLAY({.text = "Done.", .stop = STOP_END_TURN});
        size_t len = strlen(rows[i].begins);
        assert_int_equal(strncmp(play.system.data, rows[i].begins, len), 0);
        if (rows[i].ends)
            assert_string_equal(play.system.data + len, rows[i].ends);
    }
}

TEST(the_skill_has_no_front_matter)
{
    static const char *const rows[][2] = {
        {"---\nname: a\n---\n# A\n\ntext\n", "# A\n\ntext\n"},
        {"---\nname: a\n---\n\n# A\n", "# A\n"},
        {"# A\n---\nb\n", "# A\n---\nb\n"},
        {"---\nno end\n", "---\nno end\n"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(support_keep(skill_body(rows[i][0])), rows[i][1]);
    }
    assert_null(skill_text("nothing"));
}

TEST(the_skill_says_what_it_must)
{
    const char *file = embedded_text("skills/memory-retrieval/SKILL.md");
    assert_int_equal(strncmp(file, "---\nname: memory-retrieval\ndescription: ", 40), 0);
    char *text = support_keep(skill_text("memory-retrieval"));
    assert_int_equal(strncmp(text, "# Memory\n", 9), 0);
    assert_says(text, "!description:", "`memory_search`", "evidence, not truth", "Corroborate",
                "which is not in memory itself", "Search when the user refers to");
}

/* --- arguments -------------------------------------------------------------------------------- */

TEST(a_filter_is_handed_on)
{
    call("{'query':'x'}");
    assert_int_equal(script.filter.origin, 0);
    assert_int_equal(script.filter.after_ms, 0);
    assert_null(script.filter.project);
    assert_null(script.filter.from);
    call(
        "{'query':'x','after':'2023-05-08','before':'2023-05-09T12:00:00Z',"
        "'project':'garden','origin':'dropped','from':'claude'}");
    assert_int_equal(script.filter.origin, 1 + MEMORY_DROPPED);
    assert_int_equal(script.filter.after_ms, 1683504000000);
    assert_int_equal(script.filter.before_ms, 1683633600000);
    assert_string_equal(script.filter.project, "garden");
    assert_string_equal(script.filter.from, "claude");
    int calls = script.calls;
    play_refuses("memory_search", "{'query':'x','after':'in May'}",
                 "argument 'after' is no date; give one as 2026-05-01 or 2026-05-01T14:00:00Z");
    assert_int_equal(script.calls, calls);
}

TEST(limits_are_bounded)
{
    static const struct {
        const char *args;
        int limit;
    } rows[] = {{",'limit':3", 3},      {",'limit':20", 20}, {",'limit':21", 20},
                {",'limit':1e300", 20}, {",'limit':1", 1},   {",'limit':0", 1},
                {",'limit':-1e300", 1}, {",'limit':2.9", 2}, {",'limit':0.5", 1}};
    script.entries = 30;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct event *ev = call(support_text("{'query':'x'%s}", rows[i].args));
        assert_false(ev->flag);
        assert_int_equal(script.limit, rows[i].limit);
        assert_int_equal(json_len(parse_json(ev->text)), rows[i].limit);
    }
}

/* Each hit has its number, speaker and title, and its date where the hit above is of another day; a
 * last line tells what did not fit. */
TEST(without_a_limit_the_hits_fill_the_budget)
{
    static const char first[] =
        "E0 2023-11-14 user in \"A journey\"\ntext “0” über 日本\n"
        "E1 assistant in \"A journey\"\ntext “1” über 日本\n"
        "E2 2023-11-15 user in";
    script.entries = 70;
    struct tool_memory small = memory;
    small.search_bytes = 400;
    play.memory = &small;
    const struct event *ev = call("{'query':'x'}");
    assert_int_equal(script.limit, 60);
    assert_int_equal(strncmp(ev->text, first, sizeof first - 1), 0);
    assert_in_range(strlen(ev->text), 250, 400);
    assert_text(ev->text, "more of about");
    const struct event *told = play_event(EVENT_MEMORY_RECALLED, 0);
    size_t given = 0;
    for (const char *at = ev->text; (at = strstr(at, "in \"A journey\"")); at++)
        given++;
    assert_int_equal(json_len(parse_json(told->hits)), given);
    small.search_bytes = 100000;
    assert_no_text(call("{'query':'x'}")->text, "did not fit");
    script.entries = 0;
    assert_string_equal(call("{'query':'x'}")->text, "Nothing was found.");
}

/* The first long answer stands whole if it takes at most half of the room; the others are passages,
 * and take no more than a third of it, so that messages behind them have a place. */
TEST(long_answers_leave_room_for_messages)
{
    static const struct {
        bool part;
        size_t room;
        int wholes, parts;
    } rows[] = {{true, 6000, 5, 3}, {true, 2000, 1, 4}, {false, 6000, 5, 0}};
    script.entries = 8;
    script.bytes = 1000;
    script.asked = true;
    struct tool_memory small = memory;
    play.memory = &small;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        script.part = rows[i].part;
        small.search_bytes = rows[i].room;
        const char *text = call("{'query':'x'}")->text;
        int wholes = 0, parts = 0;
        for (const char *at = text; (at = strstr(at, "xxx\n")); at++)
            wholes++;
        for (const char *at = text; (at = strstr(at, "why?\n“")); at++)
            parts++;
        assert_int_equal(wholes, rows[i].wholes);
        assert_int_equal(parts, rows[i].parts);
    }
}

/* --- the room of the window ------------------------------------------------------------------- */

static const struct act search_all = {
    .tool = "memory_search", .args = "{\"query\":\"x\",\"limit\":20}", .stop = STOP_TOOL_USE};

/* The result that begins with the best hit stands in the history. */
static bool holds_hits(void)
{
    for (size_t i = 0; i < play.history.messages.len; i++) {
        const struct message *m = &play.history.messages.items[i];
        for (size_t k = 0; k < m->blocks.len; k++)
            if (m->blocks.items[k].type == BLOCK_TOOL_RESULT &&
                strstr(m->blocks.items[k].text, "\"E0\""))
                return true;
    }
    return false;
}

/* Two results of another tool take more than the compaction leaves to the newest rounds. */
TEST(a_compaction_keeps_what_the_turn_found)
{
    const struct act read = {
        .tool = "read_file", .args = "{\"path\":\"big.txt\"}", .stop = STOP_TOOL_USE};
    support_write(support_path("big.txt"), support_text("%04000d", 0));
    script.entries = 3;
    play.compacts = true;
    play.compact.auto_threshold = 3000;
    PLAY({.text = "hello"});
    PLAY(search_all, read, read, read, {.text = "What was said."}, {.text = "done"});
    assert_int_equal(play.summaries, 1);
    assert_true(play.history.estimate < 3000);
    assert_true(holds_hits());
    play_check_history();
}

/* The result takes what a compaction can free, and names what it left out; the next one gets what
 * is left then. */
TEST(a_search_takes_the_room_that_there_is)
{
    script.entries = 20;
    script.bytes = 600;
    play.compacts = true;
    play.compact.auto_threshold = 2000;
    PLAY({.text = "hello"});
    PLAY(search_all, search_all, {.text = "done"});
    const char *first = play_event(EVENT_TOOL_EXECUTION_COMPLETED, 0)->text;
    const char *second = play_event(EVENT_TOOL_EXECUTION_COMPLETED, 1)->text;
    assert_in_range(strlen(first), 4000, 8000);
    assert_in_range(strlen(second), 20, 1200);
    assert_text(first, " hits left out: the context has no more room]");
    assert_text(second, "[20 hits left out: the context has no more room]");
    assert_int_equal(play.summaries, 0);
    assert_true(holds_hits());
}

TEST(wrong_arguments_are_errors_of_the_tool)
{
    static const char *const rows[][2] = {
        {"{}", "argument 'query' is missing"},
        {"", "argument 'query' is missing"},
        {"{'query':''}", "'query' must not be empty"},
        {"{'query':' \\n\\t'}", "'query' must not be empty"},
        {"{'query':7}", "argument 'query' must be of type string"},
        {"{'query':null}", "argument 'query' must be of type string"},
        {"{'query':'x','limit':'3'}", "argument 'limit' must be of type number"},
        {"{'query':'x','limit':null}", "argument 'limit' must be of type number"},
        {"{'query':'x','limit':true}", "argument 'limit' must be of type number"},
        {"{'query':'x','scope':'all'}", "unknown argument 'scope'"},
        {"['x']", "one JSON object"},
        {"{'query':", "no valid JSON"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        play_refuses("memory_search", rows[i][0], rows[i][1]);
    assert_int_equal(script.calls, 0);
    assert_null(play_event(EVENT_MEMORY_RECALLED, 0));
}

TEST(the_query_goes_through_as_it_is)
{
    script.entries = 1;
    call("{'query':'  wo wollten wir schlafen? 🏯 '}");
    assert_string_equal(script.query, "  wo wollten wir schlafen? 🏯 ");
}

/* --- results ---------------------------------------------------------------------------------- */

TEST(hits_are_what_the_model_gets)
{
    play_gives("memory_search", "{'query':'x','limit':5}", "[]");
    assert_string_equal(play_event(EVENT_MEMORY_RECALLED, 0)->hits, "[]");
    script.entries = 2;
    play_gives("memory_search", "{'query':'x','limit':5}",
               "[{'content':'text “0” über 日本','score':1,'session_id':'s-1','turn':1,'id':'E0',"
               "'speaker':'user','created_at':'2023-11-14T22:13:20.000Z','title':'A journey',"
               "'project':'/home/ada/garden'},{'content':'text “1” über 日本','score':0.99,"
               "'session_id':'s-1','turn':2,'id':'E1','speaker':'assistant',"
               "'created_at':'2023-11-14T22:13:20.000Z','title':'A journey',"
               "'project':'/home/ada/garden'}]");
}

/* Too much for one result: the worst give way, and it is still JSON. */
TEST(a_long_result_has_fewer_hits)
{
    script.entries = 20;
    script.bytes = 600;
    assert_true(config_set(play.config, CONFIG_TOOLS_MAX_OUTPUT, "4096", NULL));
    const struct event *ev = call("{'query':'x','limit':20}");
    assert_false(ev->flag);
    assert_true(strlen(ev->text) <= 4096);
    assert_json(parse_json(ev->text), "[{'turn':1},{},{},{},{}]");
    assert_json(parse_json(play_event(EVENT_MEMORY_RECALLED, 0)->hits), "[{},{},{},{},{}]");
}

TEST(a_store_that_fails_is_an_error_of_the_tool)
{
    script.fails = true;
    play_refuses("memory_search", "{'query':'x'}",
                 "the memory could not be searched: the disk is gone");
    assert_null(play_event(EVENT_MEMORY_RECALLED, 0));
}

TEST(an_interrupt_ends_the_turn)
{
    script.stops = true;
    const struct act acts[] = {
        {.tool = "memory_search", .args = "{\"query\":\"x\"}", .stop = STOP_TOOL_USE}};
    assert_true(play_run(acts, 1, "hello", &(struct error){0}));
    assert_int_equal(play_last()->type, EVENT_INTERRUPTED);
    play_check_history();
}

/* --- notices to the screen -------------------------------------------------------------------- */

TEST(each_search_is_an_event)
{
    script.entries = 1;
    script.badge = "words only: the endpoint is down";
    call("{'query':'who','limit':3}");
    const struct event *ev = play_event(EVENT_MEMORY_RECALLED, 0);
    const struct event *asked = play_event(EVENT_TOOL_CALL_REQUESTED, 0);
    const struct event *done = play_event(EVENT_TOOL_EXECUTION_COMPLETED, 0);
    assert_non_null(ev);
    assert_true(ev->seq > asked->seq && ev->seq < done->seq);
    assert_string_equal(ev->id, asked->id);
    assert_string_equal(ev->text, "who");
    assert_int_equal(ev->limit, 3);
    assert_string_equal(ev->name, "words only: the endpoint is down");
    const struct json *hits = parse_json(ev->hits), *hit = json_at(hits, 0);
    assert_json(hits,
                "[{'id':'E0','content':'text “0” über 日本','session_id':'s-1','role':'user',"
                "'speaker':'user','turn':1}]");
    assert_non_null(json_get_string(hit, "created_at"));
    assert_true(json_get_number(json_get(hit, "why"), "words", 0) > 3.4);
    assert_null(play_event(EVENT_MEMORY_RECALLED, 1));
}

TEST(the_event_names_the_message_and_its_best_part)
{
    script.entries = 2;
    script.part = true;
    const struct event *done = call("{'query':'who','limit':5}");
    const struct json *list = parse_json(play_event(EVENT_MEMORY_RECALLED, 0)->hits);
    assert_json(list, "[{},{'seq':10,'content':'“1”'}]");
    assert_null(json_get(json_at(list, 0), "seq")); /* of an import */
    assert_json(parse_json(done->text), "[{},{'content':'text “1” über 日本'}]");
}

/* An entry longer than a passage is marked as such, with the way to get all of it. */
TEST(a_long_entry_is_a_passage_that_says_so)
{
    script.entries = 1;
    script.part = true;
    script.bytes = 801;
    assert_json(parse_json(call("{'query':'who','limit':5}")->text),
                "[{'content':'“0”\\n[a part of 826 bytes; memory_read gives the whole]'}]");
}

TEST(the_event_changes_no_history)
{
    script.entries = 1;
    call("{'query':'who','limit':5}");
    play_check_history();
    assert_int_equal(play.history.messages.len, 4);
    assert_int_equal(play.history.messages.items[2].role, ROLE_TOOL);
    assert_int_equal(play.history.messages.items[2].blocks.len, 1);
}
