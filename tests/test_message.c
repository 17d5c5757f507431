/* Messages, session infos and usage as JSON, and back. */
#include "base/utf8.h"
#include "chat/message.h"
#include "chat/session_info.h"
#include "tests/suite.h"

static struct message sample(void)
{
    struct message m = {.role = ROLE_ASSISTANT, .partial = true, .seq = 12, .turn = 3};
    vec_push(&m.blocks, block_text("one \"two\"\n\tthree \x01 größer 漢字"));
    vec_push(&m.blocks, (struct block){.type = BLOCK_REASONING,
                                       .redacted = true,
                                       .text = mem_strdup(""),
                                       .signature = mem_strdup("c2ln")});
    vec_push(&m.blocks, (struct block){.type = BLOCK_TOOL_CALL,
                                       .id = mem_strdup("call_1"),
                                       .name = mem_strdup("read_file"),
                                       .text = mem_strdup("{\"path\": \"a\\\\b\"}")});
    vec_push(&m.blocks, (struct block){.type = BLOCK_TOOL_RESULT,
                                       .is_error = true,
                                       .id = mem_strdup("call_1"),
                                       .name = mem_strdup("read_file"),
                                       .text = mem_strdup("no such file")});
    vec_push(&m.blocks, (struct block){.type = BLOCK_IMAGE,
                                       .text = mem_strdup("/tmp/x.png"),
                                       .media_type = mem_strdup("image/png")});
    vec_push(&m.blocks, block_text("end"));
    return m;
}

static char *print(const struct message *m)
{
    AUTO(json_free_local) struct json *v = shape_to_json(&message_shape, m);
    char *text = json_print(v);
    return support_keep(text);
}

FIXTURE(support_setup, support_teardown);

TEST(test_json_is_as_documented)
{
    AUTO(message_release) struct message m = {.role = ROLE_USER, .seq = 1, .turn = 1};
    vec_push(&m.blocks, block_text("hi"));
    char *text = print(&m);
    assert_string_equal(text,
                        "{\"role\":\"user\",\"seq\":1,\"turn\":1,"
                        "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}");
}

TEST(test_json_round_trip)
{
    AUTO(message_release) struct message m = sample();
    AUTO(message_release) struct message back = {0};
    struct error e;
    AUTO(json_free_local) struct json *v = shape_to_json(&message_shape, &m);
    assert_true(message_from_json(v, &back, &e));
    assert_int_equal(back.role, ROLE_ASSISTANT);
    assert_true(back.partial);
    assert_int_equal(back.seq, 12);
    assert_int_equal(back.turn, 3);
    assert_int_equal(back.blocks.len, m.blocks.len);
    for (size_t i = 0; i < m.blocks.len; i++)
        assert_int_equal(back.blocks.items[i].type, m.blocks.items[i].type);
    assert_string_equal(back.blocks.items[0].text, m.blocks.items[0].text);
    assert_true(back.blocks.items[1].redacted);
    assert_string_equal(back.blocks.items[1].signature, "c2ln");
    assert_string_equal(back.blocks.items[2].text, "{\"path\": \"a\\\\b\"}");
    assert_true(back.blocks.items[3].is_error);
    assert_string_equal(back.blocks.items[4].media_type, "image/png");
    char *a = print(&m);
    assert_string_equal(a, print(&back));
}

TEST(test_clone_owns_its_strings)
{
    AUTO(message_release) struct message m = sample();
    AUTO(message_release) struct message copy = message_clone(&m);
    char *before = print(&m);
    assert_string_equal(before, print(&copy));
    AUTO(message_release) struct message bare = message_without_blocks(&copy);
    assert_int_equal(bare.blocks.len, 0);
    assert_int_equal(bare.seq, copy.seq);
    assert_true(bare.partial);
    vec_push(&bare.blocks, block_text("else"));
    assert_string_equal(before, print(&copy));
}

TEST(test_estimate_is_a_quarter_of_the_json)
{
    AUTO(message_release) struct message m = sample();
    char *text = print(&m);
    assert_int_equal(message_estimate_tokens(&m), strlen(text) / 4);
}

TEST(test_bytes_that_are_no_utf8_stay_json)
{
    AUTO(message_release) struct message m = {.role = ROLE_USER};
    vec_push(&m.blocks, block_text("a\xff\xc3\"b\xe2\x82"));
    char *text = print(&m);
    assert_non_null(
        strstr(text, "\"text\":\"a\xef\xbf\xbd\xef\xbf\xbd\\\"b\xef\xbf\xbd\xef\xbf\xbd\""));
    assert_true(utf8_valid(text, strlen(text)));
    assert_int_equal(message_estimate_tokens(&m), strlen(text) / 4);
}

/* Texts are looked at by eight bytes. */
TEST(test_any_byte_at_any_place)
{
    for (size_t at = 0; at < 20; at++) {
        for (int byte = 1; byte < 256; byte++) {
            char text[] = "abcdefghijklmnopqrst";
            text[at] = (char)byte;
            AUTO(message_release) struct message m = {.role = ROLE_USER};
            vec_push(&m.blocks, block_text(text));
            AUTO(json_free_local) struct json *v = shape_to_json(&message_shape, &m);
            const char *back = json_get_string(json_first(json_get(v, "content")), "text");
            assert_int_equal(utf8_valid(text, strlen(text)), byte < 0x80);
            if (byte < 0x80)
                assert_string_equal(back, text);
            else
                assert_memory_equal(back + at, "\xef\xbf\xbd", 3);
        }
    }
}

TEST(test_summaries_and_pins)
{
    AUTO(message_release)
    struct message m = {.role = ROLE_USER, .summary = true, .pinned = true}, back = {0};
    struct error e;
    vec_push(&m.blocks, block_text("x"));
    AUTO(message_release) struct message copy = message_clone(&m);
    assert_true(copy.summary && copy.pinned);
    assert_ptr_not_equal(copy.blocks.items, m.blocks.items);
    AUTO(json_free_local) struct json *v = shape_to_json(&message_shape, &copy);
    assert_true(message_from_json(v, &back, &e));
    assert_true(back.summary && back.pinned);
}

TEST(test_text_joins_text_blocks)
{
    struct message m = sample();
    vec_push(&m.blocks, block_text(""));
    char *text = support_keep(message_text(&m));
    assert_string_equal(text, "one \"two\"\n\tthree \x01 größer 漢字\n\nend");
    message_release(&m);
    text = support_keep(message_text(&m));
    assert_string_equal(text, "");
}

static void refuse(const char *text, const char *named)
{
    struct error e = {0};
    struct message m;
    AUTO(json_free_local) struct json *v = json_parse(text, strlen(text), &e);
    assert_non_null(v);
    assert_error(message_from_json(v, &m, &e), e, ERR_AGENT_ERROR, named);
    assert_int_equal(m.blocks.len, 0);
}

TEST(test_refuses_what_does_not_fit)
{
    refuse("[]", "object");
    refuse("{\"role\":\"wizard\",\"content\":[]}", "role");
    refuse("{\"role\":\"user\"}", "content");
    refuse("{\"role\":\"user\",\"content\":\"x\"}", "content");
    refuse("{\"role\":\"user\",\"turn\":-1,\"content\":[]}", "turn");
    refuse("{\"role\":\"user\",\"seq\":-1,\"content\":[]}", "seq");
    refuse(
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"tune\"}]}",
        "type");
    refuse("{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}", "text");
    refuse(
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_call\",\"name\":\"x\",\"text\":\"\"}]}",
        "id");
    refuse("{\"role\":\"user\",\"content\":[{\"type\":\"tool_call\",\"id\":\"x\",\"text\":\"\"}]}",
           "name");
    refuse("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\",\"signature\":5}]}",
           "signature");
}

static void check_title(const char *text, const char *title)
{
    assert_string_equal(support_keep(session_title_from(text, "")), title);
}

TEST(test_title)
{
    check_title("", "");
    check_title(" \n\t\n", "");
    check_title("\n  Hello there  \nsecond", "Hello there");
    check_title("a\tb\x1b[31mc", "a b\u241b[31mc");
    check_title("123456789 123456789 123456789 123456789 123456789 1234567890",
                "123456789 123456789 123456789 123456789 123456789 1234567890");
    check_title("123456789 123456789 123456789 123456789 123456789 123456789 1",
                "123456789 123456789 123456789 123456789 123456789 123456789…");

    char *wide = support_keep(mem_alloc(3 * 100000 + 1));
    for (size_t i = 0; i < 100000; i++)
        memcpy(wide + 3 * i, "漢", 3);
    char *title = support_keep(session_title_from(wide, ""));
    assert_int_equal(utf8_width(title, strlen(title)), 59);
    assert_string_equal(title + strlen(title) - 3, "…");
}

static void check_suffix(const char *title, const char *suffix, const char *wanted)
{
    assert_string_equal(support_keep(session_title_from(title, suffix)), wanted);
}

TEST(test_title_with_a_suffix)
{
    check_suffix("Kyoto", " (fork)", "Kyoto (fork)");
    check_suffix("123456789 123456789 123456789 123456789 123456789 1234567890", " (fork)",
                 "123456789 123456789 123456789 123456789 123456789 12… (fork)");
}

static void check_named(const char *first_message, const char *title)
{
    AUTO(session_info_release) struct session_info s = {0};
    session_info_init(&s);
    session_tally_name(&s, first_message);
    assert_string_equal(s.title, title);
}

TEST(test_files_do_not_name_a_session)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    attached_file_add(&text, "notes.txt", "a\n", 2);
    check_named(text.data, "notes.txt:"); /* there is nothing else */
    attached_file_add(&text, "more.md", "\n```\nit has a fence\n```", 23);
    attached_file_add(&text, "empty", "", 0);
    assert_string_equal(attached_files_skip(text.data), text.data);
    buf_addstr(&text, "Summarise these\n");
    check_named(text.data, "Summarise these");
    check_named("Look:\n```c\nint a;\n```\n\nWhy?", "Look:"); /* not one of ours */
    check_named("Look:\n```\nnever closed\nWhy?", "Look:");
    check_named("Look:", "Look:");
}

TEST(test_info_json)
{
    AUTO(session_info_release) struct session_info s = {0};
    session_info_init(&s);
    AUTO(session_info_release) struct session_info copy = session_info_clone(&s);
    struct json *v = shape_to_json(&session_info_shape, &copy);
    assert_string_equal(json_get_string(v, "title"), "");
    assert_null(json_get(v, "usage"));
    assert_null(json_get(v, "draft"));
    json_free(v);
    copy.draft = mem_strdup("half a thou");
    copy.usage.input = 7;
    copy.updated_ms = 1773065107123;
    v = shape_to_json(&session_info_shape, &copy);
    assert_string_equal(json_get_string(v, "draft"), "half a thou");
    assert_string_equal(json_get_string(v, "updated"), "2026-03-09T14:05:07.123Z");
    assert_int_equal(json_get_int(json_get(v, "usage"), "input_tokens", 0), 7);
    assert_null(json_get(json_get(v, "usage"), "output_tokens"));
    json_free(v);
}

/* Bytes that programs read. */
static void expect_bytes(struct json *v, const char *wanted)
{
    assert_string_equal(support_keep(json_print(v)), wanted);
    json_free(v);
}

TEST(test_bytes_of_listings)
{
    static char title[] = "A \"title\"", directory[] = "/home/u", provider[] = "anthropic";
    static char model[] = "m-1", prompt[] = "Be brief.", draft[] = "half a thou", last[] = "Yes.";
    static char labels[] = "+a b", found[] = "found \n it";
    const struct session_info s = {.id = "01890a5d-ac96-774b-bcce-b302099a8057",
                                   .title = title,
                                   .title_set = true,
                                   .directory = directory,
                                   .provider = provider,
                                   .model = model,
                                   .system = prompt,
                                   .draft = draft,
                                   .last_line = last,
                                   .labels = labels,
                                   .parent = "01890a5d-ac96-774b-bcce-b302099a8058",
                                   .created_ms = 1773065107123,
                                   .updated_ms = 1773065107124,
                                   .archived_ms = 1773065107125,
                                   .messages = 4,
                                   .turns = 2,
                                   .last_seq = 31,
                                   .tool_calls = 3,
                                   .run_ms = 5600,
                                   .usage = {10, 20, -1, 0, true},
                                   .cost = 0.25};
    AUTO(session_info_release) struct session_info fresh = {0};
    const struct search_hit hit = {.session_id = "01890a5d-ac96-774b-bcce-b302099a8057",
                                   .title = title,
                                   .seq = 5,
                                   .at_ms = 1773065107123,
                                   .role = ROLE_ASSISTANT,
                                   .archived = true,
                                   .snippet = found};
    const struct search_hit bare = {.role = ROLE_USER};
    expect_bytes(
        shape_to_json(&session_info_shape, &s),
        "{\"id\":\"01890a5d-ac96-774b-bcce-b302099a8057\",\"title\":\"A \\\"title\\\"\",\"directo"
        "ry\":\"/home/u\",\"provider\":\"anthropic\",\"model\":\"m-1\",\"system\":\"Be brief.\",\""
        "draft\":\"half a thou\",\"last_line\":\"Yes.\",\"labels\":[\"+a\",\"b\"],\"parent\":\"01"
        "890a5d-ac96-774b-bcce-b302099a8058\",\"parent_seq\":0,\"created\":\"2026-03-09T14:05:07."
        "123Z\",\"updated\":\"2026-03-09T14:05:07.124Z\",\"archived\":\"2026-03-09T14:05:07.125Z\""
        ",\"messages\":4,\"turns\":2,\"last_seq\":31,\"tool_calls\":3,\"run_ms\":5600,\"usage\":{"
        "\"input_tokens\":10,\"output_tokens\":20,\"estimated\":true},\"cost\":0.25}");
    session_info_init(&fresh);
    expect_bytes(
        shape_to_json(&session_info_shape, &fresh),
        "{\"id\":\"\",\"title\":\"\",\"labels\":[],\"created\":\"1970-01-01T00:00:00.000Z\",\"upd"
        "ated\":\"1970-01-01T00:00:00.000Z\",\"messages\":0,\"turns\":0,\"last_seq\":0,\"tool_cal"
        "ls\":0,\"run_ms\":0}");
    expect_bytes(
        shape_to_json(&search_hit_shape, &hit),
        "{\"session_id\":\"01890a5d-ac96-774b-bcce-b302099a8057\",\"title\":\"A "
        "\\\"title\\\"\",\"seq\":5,\"at\""
        ":\"2026-03-09T14:05:07.123Z\",\"role\":\"assistant\",\"archived\":true,\"snippet\":\"fou"
        "nd \\n it\"}");
    expect_bytes(
        shape_to_json(&search_hit_shape, &bare),
        "{\"session_id\":\"\",\"seq\":0,\"at\":\"1970-01-01T00:00:00.000Z\",\"role\":\"user\"}");
}

TEST(test_usage_absent_is_not_zero)
{
    struct usage total = USAGE_UNKNOWN;
    assert_false(usage_known(&total));
    usage_add(&total, &USAGE_UNKNOWN);
    assert_int_equal(total.input, -1);
    usage_add(&total, &(struct usage){.input = 5, .output = 2, .cached = -1});
    usage_add(&total, &(struct usage){.input = -1, .output = 1, .cached = 4, .estimated = true});
    assert_int_equal(total.input, 5);
    assert_int_equal(total.output, 3);
    assert_int_equal(total.cached, 4);
    assert_true(total.estimated);
}

static bool near(double a, double b)
{
    return a - b < 1e-12 && b - a < 1e-12;
}

TEST(test_cost)
{
    struct usage u = {.input = 1000000, .output = 500000, .cached = 400000};
    struct price p = {.input = 3, .output = 15, .cached = 0.3};
    assert_true(near(usage_cost(&u, &p), 0.6 * 3 + 0.4 * 0.3 + 7.5));
    p.cached = -1;
    assert_true(near(usage_cost(&u, &p), 3 + 7.5));
    u.cached = -1;
    assert_true(near(usage_cost(&u, &p), 3 + 7.5));
    u.searches = 3;
    p.search = 10;
    assert_true(near(usage_cost(&u, &p), 3 + 7.5 + 0.03));
    p.search = -1;
    assert_true(near(usage_cost(&u, &p), -1));
    u.searches = 0;
    assert_true(near(usage_cost(&u, &p), 3 + 7.5));
    p.output = -1;
    assert_true(near(usage_cost(&u, &p), -1));
    p.output = 1;
    u.input = -1;
    assert_true(near(usage_cost(&u, &p), -1));
}
