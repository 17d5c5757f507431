/* Entries and hits of semantic memory as JSON, and back; times of imports. */
#include <math.h>

#include "base/clock.h"
#include "chat/memory.h"
#include "tests/suite.h"

static struct error e;

static void expect_json(struct json *v, const char *want)
{
    assert_string_equal(support_keep(json_print(v)), support_json(want));
    json_free(v);
}

static bool read_entry(const char *text, struct memory_entry *out)
{
    AUTO(json_free_local) struct json *v = json_parse(text, strlen(text), &e);
    if (!v)
        fail_msg("%s: %s", text, e.text);
    e = (struct error){0};
    return memory_entry_read(v, out, &e);
}

/* --- entries ---------------------------------------------------------------------------------- */

#define SMALL "'session_id':'s','role':'user','created_at':'2026-03-09','content':'c'"

TEST(test_whole_entry_both_ways)
{
    static const char line[] =
        "{\"id\":\"a1\",\"session_id\":\"conv-1\",\"turn\":7,\"seq\":42,\"role\":\"assistant\","
        "\"speaker\":\"Käthe 漢字 🦊\",\"created_at\":\"2026-03-09T14:05:07.123Z\","
        "\"content\":\"  one \\\"two\\\"\\n\\t\\u0001\",\"pinned\":true,\"edited\":true}";
    AUTO(memory_entry_release) struct memory_entry m = {0};
    if (!read_entry(line, &m))
        fail_msg("%s", e.text);
    assert_string_equal(m.id, "a1");
    assert_false(m.id_is_number);
    assert_int_equal(m.turn, 7);
    assert_int_equal(m.seq, 42);
    assert_int_equal(m.role, ROLE_ASSISTANT);
    assert_string_equal(m.content, "  one \"two\"\n\t\x01");
    int64_t at;
    assert_true(rfc3339_parse_exact("2026-03-09T14:05:07.123Z", &at));
    assert_int_equal(m.created_ms, at);
    expect_json(shape_to_json(&memory_entry_shape, &m), line);
}

TEST(test_what_may_lack)
{
    static const char *const lines[] = {
        "{" SMALL "}",
        "{\"id\":null,\"turn\":null,\"seq\":null,\"speaker\":null,\"pinned\":null,\"edited\":null,"
        "\"more\":{}," SMALL "}",
        "{\"speaker\":\"\",\"turn\":0,\"seq\":0,\"pinned\":false," SMALL "}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        AUTO(memory_entry_release) struct memory_entry m = {0};
        if (!read_entry(support_json(lines[i]), &m))
            fail_msg("%s: %s", lines[i], e.text);
        assert_null(m.id);
        assert_null(m.speaker);
        assert_string_equal(memory_entry_speaker(&m), "user");
        expect_json(shape_to_json(&memory_entry_shape, &m),
                    "{\"session_id\":\"s\",\"turn\":0,\"role\":\"user\","
                    "\"created_at\":\"2026-03-09T00:00:00.000Z\",\"content\":\"c\"}");
    }
}

TEST(test_id_that_is_a_number)
{
    AUTO(memory_entry_release) struct memory_entry m = {0};
    assert_true(read_entry(support_json("{'id':9007199254740992," SMALL "}"), &m));
    assert_true(m.id_is_number);
    assert_string_equal(m.id, "9007199254740992");
    AUTO(json_free_local) struct json *v = shape_to_json(&memory_entry_shape, &m);
    assert_int_equal(json_type(json_get(v, "id")), JSON_NUMBER);
}

#define SESSION "'session_id':'s'"
#define USER "'role':'user'"
#define DAY "'created_at':'2026-03-09'"
#define TEXT "'content':'c'"

/* Entries with one member that is wrong or missing, and the name that the error must contain. */
static const char *const wrong[][2] = {
    {"[]", "no JSON object"},
    {"'x'", "no JSON object"},
    {"{'id':1.5," SMALL "}", "'id'"},
    {"{'id':1e300," SMALL "}", "'id'"},
    {"{'id':''," SMALL "}", "'id'"},
    {"{'id':true," SMALL "}", "'id'"},
    {"{'turn':-1," SMALL "}", "'turn'"},
    {"{'turn':'3'," SMALL "}", "'turn'"},
    {"{'turn':1.5," SMALL "}", "'turn'"},
    {"{'seq':1e18," SMALL "}", "'seq'"},
    {"{'speaker':5," SMALL "}", "'speaker'"},
    {"{'pinned':1," SMALL "}", "'pinned'"},
    {"{'edited':'yes'," SMALL "}", "'edited'"},
    {"{" USER "," DAY "," TEXT "}", "'session_id'"},
    {"{'session_id':''," USER "," DAY "," TEXT "}", "'session_id'"},
    {"{'session_id':1," USER "," DAY "," TEXT "}", "'session_id'"},
    {"{" SESSION "," DAY "," TEXT "}", "'role'"},
    {"{" SESSION ",'role':'system'," DAY "," TEXT "}", "'role'"},
    {"{" SESSION "," USER "," TEXT "}", "'created_at'"},
    {"{" SESSION "," USER ",'created_at':5," TEXT "}", "'created_at'"},
    {"{" SESSION "," USER ",'created_at':'today'," TEXT "}", "'created_at'"},
    {"{" SESSION "," USER "," DAY "}", "'content'"},
    {"{" SESSION "," USER "," DAY ",'content':[]}", "'content'"},
};

TEST(test_errors_name_the_member)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct memory_entry m;
        if (read_entry(support_json(wrong[i][0]), &m))
            fail_msg("taken: %s", wrong[i][0]);
        assert_int_equal(e.code, ERR_USAGE);
        if (!strstr(e.text, support_json(wrong[i][1])))
            fail_msg("%s: %s", wrong[i][0], e.text);
        assert_null(m.session_id);
        assert_null(m.content);
    }
}

static bool read_with(const char *name, size_t len)
{
    static const struct {
        const char *name, *text;
    } others[] = {
        {"session_id", "s"}, {"role", "tool"}, {"created_at", "2026-03-09"}, {"content", "c"}};
    AUTO(json_free_local) struct json *v = json_new_object();
    char *text = support_keep(mem_alloc(len + 1));
    memset(text, 'x', len);
    json_set_string(v, name, text);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) != 0)
            json_set_string(v, others[i].name, others[i].text);
    AUTO(memory_entry_release) struct memory_entry m = {0};
    return memory_entry_read(v, &m, &e);
}

TEST(test_lengths)
{
    static const struct {
        const char *name;
        size_t most;
    } members[] = {{"id", MEMORY_ID_BYTES},
                   {"session_id", MEMORY_ID_BYTES},
                   {"speaker", MEMORY_SPEAKER_BYTES},
                   {"content", MEMORY_CONTENT_BYTES}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        assert_true(read_with(members[i].name, members[i].most));
        assert_err(read_with(members[i].name, members[i].most + 1), e, ERR_USAGE);
        assert_non_null(strstr(e.text, members[i].name));
    }
}

/* --- hits ------------------------------------------------------------------------------------- */

static struct memory_hit sample_hit(void)
{
    struct memory_hit h = {.score = 0.93456, .rank = 12};
    h.entry = (struct memory_entry){.id = mem_strdup("7"),
                                    .id_is_number = true,
                                    .session_id = mem_strdup("s"),
                                    .turn = 3,
                                    .role = ROLE_USER,
                                    .created_ms = 1000,
                                    .content = mem_strdup("first part\n\nsecond part")};
    h.why = (struct memory_why){.words = 2.5,
                                .before = 0.00001,
                                .weight = 0.75,
                                .length = 0.75,
                                .asks = 1,
                                .named = 1,
                                .user = 1,
                                .held = 0.5,
                                .coverage = 1.0 / 3};
    return h;
}

TEST(test_hit_says_why)
{
    struct memory_hit h = sample_hit();
    expect_json(shape_to_json(&memory_hit_shape, &h),
                "{\"id\":7,\"content\":\"first part\\n\\nsecond part\",\"score\":0.9346,"
                "\"session_id\":\"s\",\"turn\":3,\"role\":\"user\",\"speaker\":\"user\","
                "\"created_at\":\"1970-01-01T00:00:01.000Z\","
                "\"why\":{\"words\":2.5,\"weight\":0.75,\"length\":0.75,"
                "\"held\":0.5,\"coverage\":0.3333}}");
    h.why = (struct memory_why){.before = 1,
                                .after = 2,
                                .session = 3,
                                .window = 4,
                                .passage = true,
                                .proximity = 5,
                                .weight = 1.56,
                                .asks = 0.8,
                                .named = 1.5,
                                .user = 1.3,
                                .has_vector = true,
                                .cosine = 0,
                                .exact = true};
    h.score = NAN;
    AUTO(json_free_local) struct json *v = shape_to_json(&memory_hit_shape, &h);
    expect_json(
        json_clone(json_get(v, "why")),
        "{\"passage\":true,\"proximity\":5,\"before\":1,\"after\":2,\"session\":3,\"window\":4,"
        "\"weight\":1.56,\"asks\":0.8,\"named\":1.5,\"user\":1.3,\"cosine\":0,\"exact\":true}");
    assert_true(json_get_number(v, "score", -1) == 0);
    memory_hit_release(&h);
}

/* People and programs get the question of a long answer; the members for the model stay. */
TEST(test_hit_shows_its_question)
{
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    vec_push(&hits.items, sample_hit());
    hits.items.items[0].question = mem_strdup("what were the parts?");
    AUTO(json_free_local) struct json *v = shape_to_json(&memory_hit_shape, &hits.items.items[0]);
    assert_string_equal(json_get_string(v, "question"), "what were the parts?");
    assert_null(strstr(support_keep(memory_hits_json(&hits, false)), "question"));
}

/* A text longer than a passage is shortened (test_memory_tool.c). */
TEST(test_model_gets_short_texts_whole)
{
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    assert_string_equal(support_keep(memory_hits_json(&hits, false)), "[]");
    struct memory_hit part = sample_hit(), whole = sample_hit(), odd = sample_hit();
    part.passage = (struct memory_span){12, 11};
    odd.passage = (struct memory_span){2, 10};
    odd.entry.content[5] = '\0';
    vec_push(&hits.items, part);
    vec_push(&hits.items, whole);
    vec_push(&hits.items, odd);
#define ABOUT                                                                                      \
    ",\"score\":0.9346,\"session_id\":\"s\",\"turn\":3,\"id\":7,\"speaker\":\"user\","             \
    "\"created_at\":\"1970-01-01T00:00:01.000Z\"}"
    assert_string_equal(support_keep(memory_hits_json(&hits, false)),
                        "[{\"content\":\"first part\\n\\nsecond part\"" ABOUT
                        ",{\"content\":\"first part\\n\\nsecond part\"" ABOUT
                        ",{\"content\":\"first\"" ABOUT "]");
#undef ABOUT
}

TEST(test_stats)
{
    AUTO(memory_stats_release)
    struct memory_stats s = {.entries = 1,
                             .sessions = 2,
                             .pinned = 3,
                             .embedded = 4,
                             .missing = 5,
                             .stale = 6,
                             .flagged = 7,
                             .bytes = 8,
                             .language = mem_strdup("english"),
                             .language_stale = true,
                             .model = mem_strdup("openai/x"),
                             .dimension = 9,
                             .graph = true};
    expect_json(shape_to_json(&memory_stats_shape, &s),
                "{\"entries\":1,\"sessions\":2,\"pinned\":3,\"flagged\":7,\"bytes\":8,"
                "\"language\":\"english\",\"language_stale\":true,\"model\":\"openai/x\","
                "\"dimension\":9,\"embedded\":4,\"missing\":5,\"stale\":6,\"graph\":true}");
}

/* --- times ------------------------------------------------------------------------------------ */

TEST(test_times_that_are_read)
{
    static const struct {
        const char *text, *means;
    } rows[] = {
        {"2026-03-09T14:05:07.123Z", "2026-03-09T14:05:07.123Z"},
        {"2026-03-09T14:05:07Z", "2026-03-09T14:05:07.000Z"},
        {"2026-03-09t14:05:07z", "2026-03-09T14:05:07.000Z"},
        {"2026-03-09 14:05:07", "2026-03-09T14:05:07.000Z"},
        {"2026-03-09T14:05", "2026-03-09T14:05:00.000Z"},
        {"2026-03-09", "2026-03-09T00:00:00.000Z"},
        {"2026-03-09T14:05:07.1Z", "2026-03-09T14:05:07.100Z"},
        {"2026-03-09T14:05:07.123456789Z", "2026-03-09T14:05:07.123Z"},
        {"2026-03-09T14:05:07.999999", "2026-03-09T14:05:07.999Z"},
        {"2026-03-09T00:30:00+01:00", "2026-03-08T23:30:00.000Z"},
        {"2026-12-31T23:30:00.5-05:45", "2027-01-01T05:15:00.500Z"},
        {"2026-03-09T14:05:07+0530", "2026-03-09T08:35:07.000Z"},
        {"2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"},
        {"2000-02-29", "2000-02-29T00:00:00.000Z"},
        {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"},
        {"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"},
        {"1848-03-18", "1848-03-18T00:00:00.000Z"},
        {"0000-01-01", "0000-01-01T00:00:00.000Z"},
        {"0000-12-31", "0000-12-31T00:00:00.000Z"},
        {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
        {"9999-12-31T23:59:59.999-01:00", "9999-12-31T23:59:59.999Z"}, /* as far as it goes */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t ms;
        char again[25];
        if (!rfc3339_parse(rows[i].text, &ms))
            fail_msg("not read: %s", rows[i].text);
        rfc3339_format(ms, again);
        if (strcmp(again, rows[i].means) != 0)
            fail_msg("%s became %s, not %s", rows[i].text, again, rows[i].means);
    }
}

TEST(test_times_that_are_none)
{
    static const char *const bad[] = {
        "",
        "today",
        "2026",
        "2026-03",
        "2026-3-9",
        "2026-13-01",
        "2026-00-01",
        "2026-01-00",
        "2026-04-31",
        "2023-02-29",
        "1900-02-29",
        "20260309",
        "2026-03-09T",
        "2026-03-09T14",
        "2026-03-09T24:00:00Z",
        "2026-03-09T14:60:00Z",
        "2026-03-09T14:05:61Z",
        "2026-03-09T14:05:07.Z",
        "2026-03-09T14:05:07+",
        "2026-03-09T14:05:07+1",
        "2026-03-09T14:05:07+24:00",
        "2026-03-09T14:05:07 CET",
        "2026-03-09T14:05:07ZZ",
        "2026-03-09Z",
        " 2026-03-09",
        "2026-03-09 ",
        "-2026-03-09",
        "12026-03-09",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t ms;
        if (rfc3339_parse(bad[i], &ms))
            fail_msg("read: \"%s\"", bad[i]);
    }
}
