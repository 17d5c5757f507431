#include <cjson/cJSON.h>
#include <math.h>
#include <time.h>

#include "base/entropy.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "tests/suite.h"

static struct json *parse(const char *text)
{
    struct error e = {0};
    struct json *v = json_parse(text, strlen(text), &e);
    if (!v)
        fail_msg("%s: %s", text, e.text);
    return v;
}

static void assert_printed(const struct json *v, const char *expected)
{
    auto_free char *text = json_print(v);
    assert_string_equal(text, expected);
}

TEST(only_one_whole_value_is_accepted)
{
    static const char *const good[] = {"{}", " [1, 2] \r\n\t", "\"x\"", "-1.5e3", "true", "null"};
    static const char *const bad[] = {"",        " ",   "{} x",  "{}{}",    "{\"a\":}",
                                      "[1,",     "nul", "\"abc", "{a:1}",   "[1 2]",
                                      "{} \x01", "'x'", "[1,]",  "\"\\x\"", "\"\\ud800\""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        json_free(parse(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error e = {0};
        assert_null(json_parse(bad[i], strlen(bad[i]), &e));
        assert_int_equal(e.code, ERR_AGENT_ERROR);
        assert_non_null(strstr(e.text, "byte"));
    }
    assert_null(json_parse("{}\0", 3, NULL));
}

/* The text need not end with a NUL, and nothing beyond its length is read. */
TEST(the_length_counts)
{
    auto_free char *text = malloc(6);
    memcpy(text, "[1,23]", 6);
    struct json *v = json_parse(text, 6, NULL);
    assert_int_equal(json_len(v), 2);
    json_free(v);
    assert_null(json_parse(text, 5, NULL));
    text[0] = '7';
    v = json_parse(text, 1, NULL);
    assert_true(json_number(v, 0) == 7);
    json_free(v);
}

/* The parser's own idea of where it stopped: at the fault or at the token around it. */
static void assert_fault_near(const char *text, int from, int to)
{
    struct error e;
    int at = -1;
    assert_null(json_parse(text, strlen(text), &e));
    const char *place = strstr(e.text, "near byte ");
    assert_non_null(place);
    assert_int_equal(sscanf(place, "near byte %d", &at), 1);
    assert_in_range(at, from, to);
}

TEST(the_error_tells_where)
{
    assert_fault_near("{\"a\": 1, ?}", 8, 10);
    assert_fault_near("[] !", 3, 3);
    assert_fault_near("[1, 2, 3, 4, x]", 12, 13);
}

TEST(nesting_is_limited)
{
    AUTO(buf_release) struct buf deep = BUF_INIT;
    for (int i = 0; i < 100000; i++)
        buf_addch(&deep, '[');
    assert_null(json_parse(deep.data, deep.len, NULL));
}

TEST(reading_never_trips)
{
    AUTO(json_free_local)
    struct json *v = parse(
        "{\"s\":\"t\",\"n\":2.5,\"i\":-7,\"b\":true,\"z\":null,\"l\":[1,\"x\"],"
        "\"big\":1e300,\"S\":\"other case\"}");
    assert_int_equal(json_type(v), JSON_OBJECT);
    assert_int_equal(json_type(json_get(v, "z")), JSON_NULL);
    assert_int_equal(json_type(NULL), JSON_NULL);
    assert_string_equal(json_get_string(v, "s"), "t");
    assert_string_equal(json_get_string(v, "S"), "other case");
    assert_null(json_get_string(v, "n"));
    assert_null(json_get_string(v, "missing"));
    assert_null(json_get_string(NULL, "s"));
    assert_null(json_get(json_get(v, "s"), "s"));
    assert_int_equal(json_get_int(v, "i", 1), -7);
    assert_int_equal(json_get_int(v, "n", 1), 2);
    assert_int_equal(json_get_int(v, "s", 1), 1);
    assert_true(json_get_int(v, "big", 1) == INT64_MAX);
    assert_true(json_get_number(v, "n", 0) == 2.5);
    assert_true(json_get_number(v, "b", -1) == -1);
    assert_true(json_get_bool(v, "b", false));
    assert_true(json_get_bool(v, "i", true));
    assert_false(json_bool(json_get(v, "i"), false));
    assert_int_equal(json_len(v), 8);
    assert_int_equal(json_len(json_get(v, "s")), 0);
    assert_null(json_at(json_get(v, "l"), 2));
    assert_null(json_at(v, 0));
    assert_string_equal(json_string(json_at(json_get(v, "l"), 1)), "x");
    json_free(NULL);
}

TEST(members_are_walked_in_order)
{
    AUTO(json_free_local) struct json *v = parse("{\"b\":1,\"a\":2,\"c\":3}");
    char names[4] = "";
    for (const struct json *m = json_first(v); m; m = json_next(m))
        strcat(names, json_name(m));
    assert_string_equal(names, "bac");
    assert_null(json_first(json_get(v, "a")));
    assert_null(json_next(NULL));
}

TEST(building_and_printing)
{
    AUTO(json_free_local) struct json *v = json_new_object();
    json_set_string(v, "text", "a\"\\\n\x01");
    json_set_string(v, "absent", NULL);
    json_set_bool(v, "yes", true);
    json_set_number(v, "half", 0.5);
    struct json *list = json_new_array();
    json_push(list, json_new_string("x"));
    json_push(list, json_new_string(NULL));
    json_set(v, "list", list);
    assert_printed(v,
                   "{\"text\":\"a\\\"\\\\\\n\\u0001\",\"yes\":true,\"half\":0.5,"
                   "\"list\":[\"x\",null]}");
    json_set_int(v, "yes", 4);
    assert_int_equal(json_get_int(v, "yes", 0), 4);
    assert_int_equal(json_len(v), 4);
    AUTO(json_free_local) struct json *copy = json_clone(v);
    assert_string_equal(json_string(json_at(json_get(copy, "list"), 0)), "x");
    assert_printed(NULL, "null");
}

TEST(hidden_characters_are_escapes)
{
    static const char text[] =
        "größer \xC2\x85\u061C\u200B\u200D\uFE0F\u202E\u2028\uFEFF"
        "\U000E0072\U000E01EF \U0001F600 12345678\u2066";
    static const char expected[] =
        "[\"größer \\u0085\\u061c\\u200b\u200D\uFE0F\\u202e\\u2028\\ufeff"
        "\\udb40\\udc72\\udb40\\uddef \U0001F600 12345678\\u2066\"]";
    struct json *v = json_new_array();
    json_push(v, json_new_string(text));
    assert_printed(v, expected);
    json_free(v);
    struct buf written = BUF_INIT;
    struct json_out o = {.buf = &written};
    json_out_open(&o, '[');
    json_out_string(&o, text);
    json_out_close(&o, ']');
    assert_string_equal(written.data, expected);
    assert_int_equal(o.len, written.len);
    v = json_out_tree(&written);
    assert_string_equal(json_string(json_at(v, 0)), text);
    json_free(v);
}

/* A value of any kind, with members that have such values. */
static struct json *random_value(uint64_t *seed, int depth)
{
    static const char *const texts[] = {"",         "plain",       "a\"b\\c", "{[,:]}",
                                        "\n\t\x01", "größer 東京", "\\"};
    uint64_t kind = support_random(seed) % (depth > 0 ? 7 : 4);
    uint64_t len = kind >= 4 ? support_random(seed) % 4 : 0;
    if (kind == 0)
        return json_new_string(texts[support_random(seed) % (sizeof texts / sizeof *texts)]);
    if (kind < 4) {
        AUTO(buf_release) struct buf number = BUF_INIT;
        buf_addf(&number,
                 kind == 1   ? "true"
                 : kind == 2 ? "null"
                             : "-%d.5",
                 (int)(support_random(seed) % 1000));
        struct json *v = json_parse(number.data, number.len, NULL);
        return v;
    }
    struct json *v = kind == 4 ? json_new_array() : json_new_object();
    for (uint64_t i = 0; i < len; i++)
        if (kind == 4)
            json_push(v, random_value(seed, depth - 1));
        else
            json_set(v, (const char *[]){"a", "b\"", "c:", "{"}[i], random_value(seed, depth - 1));
    return v;
}

TEST(json_is_laid_out_as_cjson_does_it)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 2000; round++) {
        AUTO(json_free_local) struct json *v = random_value(&seed, 5);
        auto_free char *compact = json_print(v), *expected = cJSON_Print((const cJSON *)v);
        AUTO(buf_release) struct buf found = BUF_INIT;
        json_out_pretty(compact, &found);
        assert_string_equal(found.data, expected);
    }
}

TEST(integers_are_printed_exactly)
{
    static const int64_t numbers[] = {0,
                                      -1,
                                      2147483648,
                                      -2147483649,
                                      1772000000123,
                                      999999999999999,
                                      1000000000000000,
                                      -1000000000000000,
                                      9007199254740992,
                                      -9007199254740992};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        AUTO(json_free_local) struct json *v = json_new_object();
        json_set_int(v, "n", numbers[i]);
        assert_int_equal(json_type(json_get(v, "n")), JSON_NUMBER);
        assert_true(json_get_int(v, "n", 5) == numbers[i]);
        char expected[48];
        snprintf(expected, sizeof expected, "{\"n\":%lld}", (long long)numbers[i]);
        assert_printed(v, expected);
        auto_free char *text = json_print(v);
        AUTO(json_free_local) struct json *back = parse(text), *copy = json_clone(v);
        assert_true(json_get_int(back, "n", 5) == numbers[i]);
        assert_true(json_get_int(copy, "n", 5) == numbers[i]);
    }
    AUTO(json_free_local) struct json *v = json_new_object();
    json_set_number(v, "nan", NAN);
    assert_printed(v, "{\"nan\":null}");
}

/* Randomly damaged texts are refused or parsed, and a parsed one can be printed and parsed
 * again. */
TEST(damaged_texts_do_no_harm)
{
    static const char sample[] = "{\"id\":\"m\\u00e9\",\"n\":[1,-2.5e3,true,null,{\"k\":\"v\"}]}";
    entropy_seed(support_seed());
    for (int round = 0; round < 5000; round++) {
        char text[sizeof sample];
        memcpy(text, sample, sizeof sample);
        for (int i = 0; i < 3; i++)
            entropy_fill(text + (size_t)(entropy_unit() * (sizeof sample - 1)), 1);
        AUTO(json_free_local)
        struct json *v = json_parse(text, (size_t)(entropy_unit() * sizeof sample), NULL);
        if (!v)
            continue;
        auto_free char *printed = json_print(v);
        json_free(parse(printed));
    }
}

static void assert_repaired(const char *text, const char *expected)
{
    auto_free char *repaired = json_repair_surrogates(text, strlen(text));
    if (!expected)
        assert_null(repaired);
    else
        assert_string_equal(repaired, expected);
}

TEST(half_pairs_are_repaired)
{
    assert_repaired("", NULL);
    assert_repaired("\\", NULL);
    assert_repaired("\\ud83", NULL);
    assert_repaired("\\u0041\\ud83d\\ude00\\uD83D\\uDE00\\\\ud800", NULL);
    assert_repaired("a\\ud83d", "a\\ufffd");
    assert_repaired("\\ud83d\\ud83d\\ude00!", "\\ufffd\\ud83d\\ude00!");
    assert_repaired("\\ude00\\uD83Dx\\udfff", "\\ufffd\\ufffdx\\ufffd");
    assert_repaired("\\ud83d\\ude0", "\\ufffd\\ude0");
    assert_repaired("\\u0000\\ud83d\\u0041", "\\u0000\\ufffd\\u0041");
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* A step that looks at the rest of the text at each escape takes minutes for this one. */
TEST(millions_of_escapes_are_repaired_at_once)
{
    enum { ESCAPES = 2600000 };
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < ESCAPES; i++)
        buf_addstr(&text, "\\u0041");
    buf_addstr(&text, "\\ud800");
    double begin = cpu_seconds();
    auto_free char *repaired = json_repair_surrogates(text.data, text.len);
    assert_true(cpu_seconds() - begin < 5);
    assert_string_equal(repaired + text.len - 12, "\\u0041\\ufffd");
}

/* The bound is exact but for empty arrays and objects, which count twice. */
static void assert_values(const char *text, size_t count)
{
    assert_true(json_has_at_most(text, strlen(text), count));
    assert_false(json_has_at_most(text, strlen(text), count - 1));
}

TEST(values_are_counted)
{
    assert_values("", 1);
    assert_values("\"[,{\\\"[,{\"", 1);
    assert_values("[1, 2, {\"a\": [true, \",\"]}]", 7);
    assert_values("[[], {}]", 5);
    assert_values("\"[,{\\", 1);
}

TEST(foreign_trees_are_bounded)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error e = {0};
    buf_addstr(&text, "[1");
    for (int i = 2; i < JSON_FOREIGN_VALUES; i++)
        buf_addstr(&text, ",1");
    buf_addstr(&text, "]");
    struct json *v = json_parse_foreign(text.data, text.len, &e);
    assert_int_equal(json_len(v), JSON_FOREIGN_VALUES - 1);
    json_free(v);
    buf_splice(&text, text.len - 1, 0, ",1", 2);
    assert_null(json_parse_foreign(text.data, text.len, &e));
    assert_non_null(strstr(e.text, "300000 values"));
    v = json_parse(text.data, text.len, &e);
    assert_int_equal(json_len(v), JSON_FOREIGN_VALUES);
    json_free(v);
}

TEST(a_format_makes_a_value)
{
    AUTO(json_free_local)
    struct json *v = json_pack(
        "{type:'text' text:s size:I n:i share:d on:b at:{list:[i i s] of:o}"
        " raw:r none:s null:S no:n}",
        "a \"b\"", INT64_C(1) << 40, -7, 0.5, true, 1, 2, (char *)NULL, json_new_array(), "[3]",
        (char *)NULL, (char *)NULL);
    assert_printed(v,
                   "{\"type\":\"text\",\"text\":\"a \\\"b\\\"\",\"size\":1099511627776,"
                   "\"n\":-7,\"share\":0.5,\"on\":true,\"at\":{\"list\":[1,2],\"of\":[]},"
                   "\"raw\":[3],\"null\":null,\"no\":null}");
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    json_out_pack(&o, "a:i b:[]", 1);
    json_out_pack(&o, "c:s", "x");
    json_out_close(&o, '}');
    assert_string_equal(text.data, "{\"a\":1,\"b\":[],\"c\":\"x\"}");
}
