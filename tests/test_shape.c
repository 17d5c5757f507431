/* Shapes: writing, reading back, and refusals. */
#include <math.h>

#include "base/entropy.h"
#include "base/shape.h"
#include "base/vec.h"
#include "tests/steps.h"
#include "tests/suite.h"

enum colour { RED, NOBODYS, BLUE };

struct point {
    int64_t x;
    char *name;
};

struct thing {
    char *text, *json, *words;
    VEC(char *) strings;
    char id[UUID_LEN + 1];
    int64_t whole, known, at_ms;
    int count;
    double real, share;
    bool flag;
    enum colour colour;
    struct point point;
    VEC(struct point) points;
    char *own;
};

static const char *const colour_words[] = {[RED] = "red", [BLUE] = "blue"};
static const struct shape_names colours = {colour_words, 3, -1};

static const struct shape_field point_fields[] = {
    SHAPE_FIELD("x", INTEGER, REQUIRED, SHAPE_AT(int64_t, struct point, x), .least = -10,
                .most = 10),
    SHAPE_FIELD("name", STRING, OPTIONAL, SHAPE_AT_TEXT(struct point, name)),
    {0},
};
static const struct shape point = {
    .name = "point", .size = sizeof(struct point), .fields = point_fields};

static void own_write(struct json_out *o, const void *object)
{
    const struct thing *t = object;
    json_out_string(o, t->own ? t->own : "none");
}

static bool own_read(const struct json *v, void *object)
{
    struct thing *t = object;
    t->own = mem_strdup(json_string(v));
    return t->own;
}

static void own_release(void *object)
{
    struct thing *t = object;
    free(t->own);
    t->own = NULL;
}

static const struct shape_codec own = {own_write, own_read, own_release, "{\"type\":\"string\"}",
                                       "anything of its own"};

#define AT(T, member) SHAPE_AT(T, struct thing, member)
#define TEXT(member) SHAPE_AT_TEXT(struct thing, member)

static const struct shape_field fields[] = {
    SHAPE_FIELD("text", STRING, REQUIRED, TEXT(text), .most = 20, .help = "What it says."),
    SHAPE_FIELD("json", JSON, OPTIONAL, TEXT(json)),
    SHAPE_FIELD("words", WORDS, DEFAULT, TEXT(words)),
    SHAPE_FIELD("strings", STRINGS, OPTIONAL, offsetof(struct thing, strings), .most = 3),
    SHAPE_FIELD("id", UUID, OPTIONAL, offsetof(struct thing, id)),
    SHAPE_FIELD("whole", INTEGER, OPTIONAL, AT(int64_t, whole), .most = 1000, .nearest = true),
    SHAPE_FIELD("known", INTEGER, OPTIONAL, AT(int64_t, known), .absent = -1),
    SHAPE_FIELD("at", TIME, OPTIONAL, AT(int64_t, at_ms)),
    SHAPE_FIELD("count", COUNT, DEFAULT, AT(int, count), .least = 1, .absent = 5),
    SHAPE_FIELD("real", NUMBER, OPTIONAL, AT(double, real), .absent = -1),
    SHAPE_FIELD("share", NUMBER, OPTIONAL, AT(double, share), .least = -1, .most = 1,
                .decimals = 4),
    SHAPE_FIELD("flag", BOOLEAN, DEFAULT, AT(bool, flag)),
    SHAPE_FIELD("colour", ENUM, DEFAULT, AT(enum colour, colour), .names = &colours),
    SHAPE_FIELD("point", OBJECT, DEFAULT, AT(struct point, point), .of = &point),
    SHAPE_FIELD("points", LIST, OPTIONAL, offsetof(struct thing, points), .of = &point),
    SHAPE_FIELD("own", OWN, OPTIONAL, 0, .codec = &own),
    {0},
};
static const struct shape thing = {
    .name = "thing", .size = sizeof(struct thing), .fields = fields, .closed = true};

static char *written(const struct thing *t)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(&thing, t, &o);
    return support_keep(buf_take(&text));
}

#define POINT ",'point':{'x':1}"

FIXTURE(support_setup, support_teardown);

TEST(test_absent_members)
{
    struct thing t = {0};
    shape_init(&thing, &t);
    char *text = written(&t);
    assert_string_equal(text, support_json("{'text':'','words':[],'count':5,'flag':false,"
                                           "'colour':'red','point':{'x':0},'own':'none'}"));
    struct error e = {0};
    const char *least = support_json("{'text':'','flag':null" POINT "}");
    assert_ok(support_shape(&thing, least, &t, &e), e);
    assert_int_equal(t.count, 5);
    assert_int_equal(t.known, -1);
    assert_int_equal(t.point.x, 1);
    assert_null(t.words);
    shape_release(&thing, &t);
    assert_null(t.text);
}

TEST(test_all_members)
{
    const char *all = support_json(
        "{'text':'te\\'xt','json':{'a':[1,null]},'words':['+a','b'],"
        "'strings':['one',''],'id':'01890a5d-ac96-774b-bcce-b302099a8057','whole':7,"
        "'known':0,'at':'2026-03-09T14:05:07.123Z','count':2,'real':0.5,"
        "'share':-0.1235,'flag':true,'colour':'blue','point':{'x':-3,'name':'p'},"
        "'points':[{'x':1},{'x':2,'name':'q'}],'own':'mine'}");
    struct thing t = {0}, copy = {0};
    struct error e = {0};
    assert_ok(support_shape(&thing, all, &t, &e), e);
    assert_string_equal(t.words, "+a b");
    assert_int_equal(t.at_ms, 1773065107123);
    assert_int_equal(t.colour, BLUE);
    assert_string_equal(written(&t), all);
    shape_copy(&thing, &copy, &t);
    copy.own = mem_strdup("mine");
    shape_release(&thing, &t);
    assert_string_equal(written(&copy), all);
    shape_release(&thing, &copy);
}

TEST(test_one_member)
{
    struct thing t = {.words = (char[]){"a b"}};
    AUTO(buf_release) struct buf text = BUF_INIT;
    shape_write_value(&thing, "words", &t, &(struct json_out){.buf = &text});
    assert_string_equal(text.data, "[\"a\",\"b\"]");
}

/* A value out of bounds is written as the nearest valid one, so that it can be read. */
TEST(test_bounds_when_written)
{
    static const struct {
        double real, share;
        int64_t whole;
        int count;
        const char *wanted;
    } cases[] = {
        {NAN, NAN, INT64_MAX, -4, "'whole':1000,'known':0,'count':1,'real':0,'flag'"},
        {INFINITY, 2, 1001, 0, "'whole':1000,'known':0,'count':1,'real':1e+18,'share':1"},
        {-2, 0.00001, -7, INT32_MAX, "'known':0,'count':2147483647,'flag'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct thing t = {.real = cases[i].real,
                          .share = cases[i].share,
                          .whole = cases[i].whole,
                          .count = cases[i].count};
        char *text = written(&t);
        if (!strstr(text, support_json(cases[i].wanted)))
            fail_msg("case %zu: %s", i, text);
    }
}

TEST(test_refused)
{
    static const struct {
        const char *text, *named;
    } cases[] = {
        {"[]", "no JSON object"},
        {"{'text':''", "byte"},
        {"{" POINT "}", "byte"},
        {"{'point':{'x':1}}", "'text' is missing; give a string of at most 20 bytes"},
        {"{'text':null" POINT "}", "'text' does not fit; give a string of"},
        {"{'text':5" POINT "}", "'text'"},
        {"{'text':'123456789012345678901'" POINT "}", "'text' does not fit"},
        {"{'text':'','words':['a b']" POINT "}", "'words'"},
        {"{'text':'','words':['']" POINT "}", "'words'"},
        {"{'text':'','words':'a'" POINT "}", "'words' does not fit; give a list of words"},
        {"{'text':'','strings':[1]" POINT "}", "'strings[0]' is no string"},
        {"{'text':'','strings':['','','','']" POINT "}", "at most 3 elements"},
        {"{'text':'','id':'x'" POINT "}", "'id'"},
        {"{'text':'','whole':-1" POINT "}", "from 0 to 1000"},
        {"{'text':'','known':1.5" POINT "}", "'known'"},
        {"{'text':'','known':1e300" POINT "}", "'known'"},
        {"{'text':'','known':'1'" POINT "}", "'known'"},
        {"{'text':'','at':'now'" POINT "}", "a time like"},
        {"{'text':'','count':0" POINT "}", "a whole number from 1"},
        {"{'text':'','count':3e9" POINT "}", "'count'"},
        {"{'text':'','real':1e999" POINT "}", "'real'"},
        {"{'text':'','flag':1" POINT "}", "true or false, or leave it out"},
        {"{'text':'','colour':'green'" POINT "}", "'red' or 'blue'"},
        {"{'text':'','colour':''" POINT "}", "'colour'"},
        {"{'text':'','point':[]}", "'point' does not fit; give an object"},
        {"{'text':'','point':{'x':11}}", "'point.x'"},
        {"{'text':'','points':[{'x':1},{'name':3,'x':1}]" POINT "}", "'points[1].name'"},
        {"{'text':'','points':[[]]" POINT "}", "'points[0]' is no object"},
        {"{'text':'','own':4" POINT "}", "give anything of its own"},
        {"{'text':'','txt':4" POINT "}", "'txt' is unknown here"},
        {"{'text':'','text':''" POINT "}", "'text' is there twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct thing t = {0};
        struct error e = {0};
        assert_err(support_shape(&thing, support_json(cases[i].text), &t, &e), e, ERR_USAGE);
        if (!strstr(e.text, support_json(cases[i].named)))
            fail_msg("%s: %s", cases[i].text, e.text);
        assert_null(t.text);
        assert_null(t.points.items);
    }
}

/* A point is not closed: a newer program may say more. */
TEST(test_open_shapes_pass_over)
{
    const char *text =
        "{\"text\":\"\",\"point\":{\"x\":1,\"x\":5,\"y\":{\"z\":[]}},\"whole\":5000}";
    struct thing t = {0};
    struct error e = {0};
    assert_ok(support_shape(&thing, text, &t, &e), e);
    assert_int_equal(t.point.x, 1);
    assert_int_equal(t.whole, 1000); /* the nearest */
    shape_release(&thing, &t);
}

TEST(test_too_deep)
{
    AUTO(buf_release) struct buf deep = BUF_INIT;
    struct thing t = {0};
    struct error e = {0};
    buf_addstr(&deep, "{\"text\":\"\",\"point\":");
    for (int i = 0; i < 5000; i++)
        buf_addstr(&deep, "{\"x\":");
    assert_false(support_shape(&thing, deep.data, &t, &e));
}

/* --- random ----------------------------------------------------------------------------------- */

static size_t below(size_t n)
{
    return (size_t)(entropy_unit() * (double)n);
}

static char *random_text(void)
{
    static const char *const pieces[] = {"a", "ü", "\n", "\"", "\\", "🦊", "\x01", " "};
    struct buf out = BUF_INIT;
    for (size_t left = below(5); left > 0; left--)
        buf_addstr(&out, pieces[below(sizeof pieces / sizeof *pieces)]);
    return buf_take(&out);
}

static struct thing random_thing(void)
{
    struct thing t = {0};
    shape_init(&thing, &t);
    t.text = random_text();
    t.own = mem_strdup("o");
    t.json = below(2) ? mem_strdup("[1,{\"a\":null}]") : NULL;
    static const char *const some[] = {NULL, "a", "a b", "-x ü z"};
    t.words = mem_strdup(some[below(4)]);
    for (size_t left = below(4); left > 0; left--)
        vec_push(&t.strings, random_text());
    if (below(2))
        uuid_new(t.id);
    t.whole = (int64_t)below(1001);
    t.known = (int64_t)below(3) - 1;
    t.at_ms = (int64_t)(entropy_unit() * 4e12);
    t.count = 1 + (int)below(1000);
    t.real = (double)below(1000) / 8;
    t.flag = below(2);
    t.colour = below(2) ? RED : BLUE;
    t.point = (struct point){.x = (int64_t)below(21) - 10, .name = random_text()};
    for (size_t left = below(4); left > 0; left--)
        vec_push(&t.points, (struct point){.x = (int64_t)below(21) - 10, .name = NULL});
    return t;
}

TEST(test_random_round_trips)
{
    entropy_seed(support_seed());
    for (int i = 0; i < 3000; i++) {
        struct thing t = random_thing(), back = {0};
        struct error e = {0};
        char *text = written(&t);
        if (!support_shape(&thing, text, &back, &e))
            fail_msg("%s: %s", text, e.text);
        assert_string_equal(written(&back), text);
        shape_release(&thing, &back);
        shape_release(&thing, &t);
    }
}

/* Any bytes give a value or an error, without a leak. */
TEST(test_random_damage)
{
    entropy_seed(support_seed());
    for (int i = 0; i < 20000; i++) {
        struct thing t = random_thing(), back = {0};
        struct error e = {0};
        char *text = written(&t);
        size_t len = strlen(text);
        for (size_t left = 1 + below(3); left > 0; left--)
            text[below(len)] = "{}[]\",:0-e.tn\\ x"[below(16)];
        if (support_shape(&thing, text, &back, &e))
            shape_release(&thing, &back);
        else
            assert_int_equal(e.code, ERR_USAGE);
        shape_release(&thing, &t);
    }
}

/* --- schemas ---------------------------------------------------------------------------------- */

TEST(test_schema)
{
    AUTO(json_free_local) struct json *v = shape_schema(&thing);
    char *text = support_keep(json_print(v));
    static const char *const parts[] = {
        "'text':{'type':'string','maxLength':20,'description':'What it says.'}",
        "'json':{}",
        "'words':{'type':'array','items':{'type':'string'}}",
        "'strings':{'type':'array','items':{'type':'string'},'maxItems':3}",
        "'id':{'type':'string','format':'uuid'}",
        "'whole':{'type':'integer','minimum':0,'maximum':1000}",
        "'at':{'type':'string','format':'date-time'}",
        "'flag':{'type':'boolean'}",
        "'colour':{'type':'string','enum':['red','blue']}",
        "'points':{'type':'array','items':{'type':'object','title':'point'",
        "'own':{'type':'string'}",
        "'required':['text']",
        "'additionalProperties':false}",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, support_json(parts[i])))
            fail_msg("no %s in %s", parts[i], text);
}

TEST(test_expected)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (const struct shape_field *f = thing.fields; f->name; f++) {
        buf_addf(&out, "%s: ", f->name);
        shape_add_expected(f, &out);
        buf_addch(&out, '\n');
    }
    assert_says(out.data, "text: a string of at most 20 bytes\n", "colour: \"red\" or \"blue\"\n");
}
