/* memory_search: its description, its arguments, its result, and the notice to the screen. The
 * memory is a scripted one. */
#include <stdlib.h>
#include <string.h>

#include "agent/prompt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "play.h"
#include "tests/suite.h"
#include "tests/support.h"

/* The scripted memory: its number of entries, and its calls. */
static struct {
    int entries;
    size_t bytes; /* of each text; 0: short */
    const char *badge;
    bool fails, stops, part; /* part: hits have a passage */
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
                                    .created_ms = 1700000000000,
                                    .content = mem_printf("text “%d” über 日本%s", i, tail)};
    h.why.words = 3.5;
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

/* A turn in which the model calls the tool with these arguments. */
static const struct event *call(const char *args)
{
    const struct act acts[] = {{.tool = "memory_search", .args = args, .stop = STOP_TOOL_USE},
                               {.text = "Done.", .stop = STOP_END_TURN}};
    int before = 0;
    while (play_event(EVENT_TOOL_EXECUTION_COMPLETED, before))
        before++;
    assert_true(play_run(acts, 2, "hello", &(struct error){0}));
    const struct event *ev = play_event(EVENT_TOOL_EXECUTION_COMPLETED, before);
    assert_non_null(ev);
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_string_equal(play_last()->text, "Done.");
    return ev;
}

static struct json *list_of(const char *text)
{
    struct json *v = json_parse(text, strlen(text), NULL);
    assert_int_equal(json_type(v), JSON_ARRAY);
    return v;
}

/* --- descriptions for the model --------------------------------------------------------------- */

FIXTURE(setup, teardown);

TEST(it_is_described_as_specified)
{
    const struct tool *tool = toolset_find(play_tools(), "memory_search");
    const struct tool_spec *spec = &tool->spec;
    assert_string_equal(spec->description,
                        "Search semantic memory for past conversation content. Memory contains "
                        "text from earlier conversation turns that were compacted away to save "
                        "context space.");
    assert_int_equal(tool->class, TOOL_READ);
    AUTO(json_free_local)
    struct json *schema = json_parse(spec->schema, strlen(spec->schema), NULL);
    const struct json *properties = json_get(schema, "properties");
    const struct json *query = json_get(properties, "query");
    const struct json *limit = json_get(properties, "limit");
    assert_int_equal(json_len(properties), 6);
    assert_string_equal(json_get_string(query, "type"), "string");
    assert_non_null(strstr(json_get_string(query, "description"), "natural language"));
    assert_string_equal(json_get_string(limit, "type"), "integer");
    assert_non_null(strstr(json_get_string(limit, "description"), "default 5, at most 20"));
    assert_null(json_get(limit, "minimum"));
    assert_null(json_get(limit, "maximum"));
    assert_int_equal(json_len(json_get(schema, "required")), 1);
    assert_string_equal(json_string(json_at(json_get(schema, "required"), 0)), "query");
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
    const struct event *ev = call("{\"query\":\"x\"}");
    assert_true(ev->flag);
    assert_string_equal(ev->text, "memory_search cannot be used now: there is no memory here");
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
    static const char *const says[] = {"`memory_search`", "evidence, not truth", "Corroborate",
                                       "the summary itself is not in the memory",
                                       "Search when earlier content may matter"};
    const char *file = embedded_text("skills/memory-retrieval/SKILL.md");
    assert_int_equal(strncmp(file, "---\nname: memory-retrieval\ndescription: ", 40), 0);
    char *text = support_keep(skill_text("memory-retrieval"));
    assert_int_equal(strncmp(text, "# Memory\n", 9), 0);
    assert_null(strstr(text, "description:"));
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        assert_non_null(strstr(text, says[i]));
}

/* --- arguments -------------------------------------------------------------------------------- */

TEST(a_filter_is_handed_on)
{
    call("{\"query\":\"x\"}");
    assert_int_equal(script.filter.origin, 0);
    assert_int_equal(script.filter.after_ms, 0);
    assert_null(script.filter.project);
    call(
        "{\"query\":\"x\",\"after\":\"2023-05-08\",\"before\":\"2023-05-09T12:00:00Z\","
        "\"project\":\"garden\",\"origin\":\"dropped\"}");
    assert_int_equal(script.filter.origin, 1 + MEMORY_DROPPED);
    assert_int_equal(script.filter.after_ms, 1683504000000);
    assert_int_equal(script.filter.before_ms, 1683633600000);
    assert_string_equal(script.filter.project, "garden");
    int calls = script.calls;
    const struct event *ev = call("{\"query\":\"x\",\"after\":\"in May\"}");
    assert_true(ev->flag);
    assert_string_equal(ev->text,
                        "argument \"after\" is no date; give one as 2026-05-01 or "
                        "2026-05-01T14:00:00Z");
    assert_int_equal(script.calls, calls);
}

TEST(limits_are_bounded)
{
    static const struct {
        const char *args;
        int limit;
    } rows[] = {
        {"{\"query\":\"x\"}", 5},
        {"{\"query\":\"x\",\"limit\":3}", 3},
        {"{\"query\":\"x\",\"limit\":20}", 20},
        {"{\"query\":\"x\",\"limit\":21}", 20},
        {"{\"query\":\"x\",\"limit\":50}", 20},
        {"{\"query\":\"x\",\"limit\":1e300}", 20},
        {"{\"query\":\"x\",\"limit\":1}", 1},
        {"{\"query\":\"x\",\"limit\":0}", 1},
        {"{\"query\":\"x\",\"limit\":-7}", 1},
        {"{\"query\":\"x\",\"limit\":-1e300}", 1},
        {"{\"query\":\"x\",\"limit\":2.9}", 2},
        {"{\"query\":\"x\",\"limit\":0.5}", 1},
    };
    script.entries = 30;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct event *ev = call(rows[i].args);
        assert_false(ev->flag);
        assert_int_equal(script.limit, rows[i].limit);
        AUTO(json_free_local) struct json *hits = list_of(ev->text);
        assert_int_equal(json_len(hits), rows[i].limit);
    }
}

TEST(wrong_arguments_are_errors_of_the_tool)
{
    static const char *const rows[][2] = {
        {"{}", "argument \"query\" is missing"},
        {"", "argument \"query\" is missing"},
        {"{\"limit\":3}", "argument \"query\" is missing"},
        {"{\"query\":\"\"}", "\"query\" must not be empty"},
        {"{\"query\":\" \\n\\t\"}", "\"query\" must not be empty"},
        {"{\"query\":7}", "argument \"query\" must be of type string"},
        {"{\"query\":null}", "argument \"query\" must be of type string"},
        {"{\"query\":\"x\",\"limit\":\"many\"}", "argument \"limit\" must be of type number"},
        {"{\"query\":\"x\",\"limit\":\"3\"}", "argument \"limit\" must be of type number"},
        {"{\"query\":\"x\",\"limit\":null}", "argument \"limit\" must be of type number"},
        {"{\"query\":\"x\",\"limit\":true}", "argument \"limit\" must be of type number"},
        {"{\"query\":\"x\",\"scope\":\"all\"}", "unknown argument \"scope\""},
        {"[\"x\"]", "one JSON object"},
        {"{\"query\":", "no valid JSON"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct event *ev = call(rows[i][0]);
        assert_true(ev->flag);
        if (!strstr(ev->text, rows[i][1]))
            print_error("%s: %s\n", rows[i][0], ev->text);
        assert_non_null(strstr(ev->text, rows[i][1]));
    }
    assert_int_equal(script.calls, 0);
    assert_null(play_event(EVENT_MEMORY_RECALLED, 0));
}

TEST(the_query_goes_through_as_it_is)
{
    script.entries = 1;
    call("{\"query\":\"  wo wollten wir schlafen? 🏯 \"}");
    assert_string_equal(script.query, "  wo wollten wir schlafen? 🏯 ");
}

/* --- results ---------------------------------------------------------------------------------- */

TEST(hits_are_what_the_model_gets)
{
    script.entries = 2;
    const struct event *ev = call("{\"query\":\"x\"}");
    assert_string_equal(
        ev->text,
        "[{\"content\":\"text “0” über 日本\",\"score\":1,\"session_id\":\"s-1\",\"turn\":1,"
        "\"id\":\"E0\",\"speaker\":\"user\",\"created_at\":\"2023-11-14T22:13:20.000Z\","
        "\"title\":\"A journey\",\"project\":\"/home/ada/garden\"},{\"content\":\"text “1” über "
        "日本\",\"score\":0.99,\"session_id\":\"s-1\",\"turn\":2,"
        "\"id\":\"E1\",\"speaker\":\"assistant\",\"created_at\":\"2023-11-14T22:13:20.000Z\","
        "\"title\":\"A journey\",\"project\":\"/home/ada/garden\"}]");
}

TEST(nothing_found_is_an_empty_list)
{
    const struct event *ev = call("{\"query\":\"x\"}");
    assert_false(ev->flag);
    assert_string_equal(ev->text, "[]");
    assert_string_equal(play_event(EVENT_MEMORY_RECALLED, 0)->hits, "[]");
}

/* Too much for one result: the worst give way, and it is still JSON. */
TEST(a_long_result_has_fewer_hits)
{
    script.entries = 20;
    script.bytes = 600;
    assert_true(config_set(play.config, CONFIG_TOOLS_MAX_OUTPUT, "4096", NULL));
    const struct event *ev = call("{\"query\":\"x\",\"limit\":20}");
    assert_false(ev->flag);
    assert_true(strlen(ev->text) <= 4096);
    struct json *hits = list_of(ev->text);
    assert_int_equal(json_len(hits), 5);
    assert_int_equal(json_get_int(json_at(hits, 0), "turn", 0), 1);
    json_free(hits);
    AUTO(json_free_local) struct json *told = list_of(play_event(EVENT_MEMORY_RECALLED, 0)->hits);
    assert_int_equal(json_len(told), 5);
}

TEST(a_store_that_fails_is_an_error_of_the_tool)
{
    script.fails = true;
    const struct event *ev = call("{\"query\":\"x\"}");
    assert_true(ev->flag);
    assert_string_equal(ev->text, "the memory could not be searched: the disk is gone");
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
    call("{\"query\":\"who\",\"limit\":3}");
    const struct event *ev = play_event(EVENT_MEMORY_RECALLED, 0);
    const struct event *asked = play_event(EVENT_TOOL_CALL_REQUESTED, 0);
    const struct event *done = play_event(EVENT_TOOL_EXECUTION_COMPLETED, 0);
    assert_non_null(ev);
    assert_true(ev->seq > asked->seq && ev->seq < done->seq);
    assert_string_equal(ev->id, asked->id);
    assert_string_equal(ev->text, "who");
    assert_int_equal(ev->limit, 3);
    assert_string_equal(ev->name, "words only: the endpoint is down");
    AUTO(json_free_local) struct json *hits = list_of(ev->hits);
    assert_int_equal(json_len(hits), 1);
    const struct json *hit = json_at(hits, 0);
    assert_string_equal(json_get_string(hit, "id"), "E0");
    assert_string_equal(json_get_string(hit, "content"), "text “0” über 日本");
    assert_string_equal(json_get_string(hit, "session_id"), "s-1");
    assert_string_equal(json_get_string(hit, "role"), "user");
    assert_string_equal(json_get_string(hit, "speaker"), "user");
    assert_non_null(json_get_string(hit, "created_at"));
    assert_int_equal(json_get_int(hit, "turn", 0), 1);
    assert_true(json_get_number(json_get(hit, "why"), "words", 0) > 3.4);
    assert_null(play_event(EVENT_MEMORY_RECALLED, 1));
}

TEST(the_event_names_the_message_and_its_best_part)
{
    script.entries = 2;
    script.part = true;
    const struct event *done = call("{\"query\":\"who\"}");
    AUTO(json_free_local) struct json *list = list_of(play_event(EVENT_MEMORY_RECALLED, 0)->hits);
    AUTO(json_free_local) struct json *given = list_of(done->text);
    assert_int_equal(json_get_int(json_at(list, 1), "seq", 0), 10);
    assert_null(json_get(json_at(list, 0), "seq")); /* of an import */
    assert_string_equal(json_get_string(json_at(list, 1), "content"), "“1”");
    assert_string_equal(json_get_string(json_at(given, 1), "content"), "text “1” über 日本");
}

/* An entry longer than a passage is marked as such, with the way to get all of it. */
TEST(a_long_entry_is_a_passage_that_says_so)
{
    script.entries = 1;
    script.part = true;
    script.bytes = 801;
    AUTO(json_free_local) struct json *given = list_of(call("{\"query\":\"who\"}")->text);
    assert_string_equal(json_get_string(json_at(given, 0), "content"),
                        "“0”\n[a part of 826 bytes; memory_read gives the whole]");
}

TEST(the_event_changes_no_history)
{
    script.entries = 1;
    call("{\"query\":\"who\"}");
    play_check_history();
    assert_int_equal(play.history.messages.len, 4);
    assert_int_equal(play.history.messages.items[2].role, ROLE_TOOL);
    assert_int_equal(play.history.messages.items[2].blocks.len, 1);
}
