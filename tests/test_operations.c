/* Rules for every operation, derived from its row. */
#include "base/entropy.h"
#include "session/capability.h"
#include "session/operation.h"
#include "tests/suite.h"

static struct config *config;
static char *path;

static int set_up(void **state)
{
    support_setup(state);
    config = config_new();
    path = support_path("tiro.db");
    return 0;
}

static int tear_down(void **state)
{
    config_free(config);
    free(path);
    return support_teardown(state);
}

/* --- the rows --------------------------------------------------------------------------------- */

FIXTURE(set_up, tear_down);

TEST(test_names)
{
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        const char *slash = strchr(o->name, '/');
        assert_true(slash && slash > o->name && slash[1]);
        assert_int_equal(strspn(o->name, "abcdefghijklmnopqrstuvwxyz_/"), strlen(o->name));
        assert_ptr_equal(operation_find(o->name), o); /* nor is it there twice */
        assert_int_equal(o->summary[strlen(o->summary) - 1], '.');
        assert_true(o->run || o->executor == OPERATION_CONVERSATION);
    }
    assert_null(operation_find("session"));
    assert_null(operation_find("session/tea"));
}

/* --- params and results ----------------------------------------------------------------------- */

static size_t below(size_t n)
{
    return (size_t)(entropy_unit() * (double)n);
}

static struct json *random_object(const struct shape *s);

static struct json *random_list(const struct shape_field *f)
{
    struct json *v = json_new_array();
    for (size_t left = 1 + below(3); left > 0; left--)
        json_push(v, f->type == SHAPE_LIST ? random_object(f->of) : json_new_string("word"));
    return v;
}

static struct json *random_word(const struct shape_names *names)
{
    int i = (int)below((size_t)names->count);
    while (!names->words[i])
        i = (int)below((size_t)names->count);
    return json_new_string(names->words[i]);
}

/* A value that the field takes. */
static struct json *random_value(const struct shape_field *f)
{
    struct json *v, *object = json_new_object();
    switch (f->type) {
    case SHAPE_STRING:
        v = json_new_string("te\"xt ü");
        break;
    case SHAPE_UUID:
        v = json_new_string("01890a5d-ac96-774b-bcce-b302099a8057");
        break;
    case SHAPE_TIME:
        v = json_new_string("2026-03-09T14:05:07.123Z");
        break;
    case SHAPE_ENUM:
        v = random_word(f->names);
        break;
    case SHAPE_WORDS:
    case SHAPE_STRINGS:
    case SHAPE_LIST:
        v = random_list(f);
        break;
    case SHAPE_OBJECT:
        v = random_object(f->of);
        break;
    case SHAPE_BOOLEAN:
        json_set_bool(object, "v", below(2));
        v = json_clone(json_get(object, "v"));
        break;
    default:
        json_set_number(object, "v", f->least + (double)below(2));
        v = json_clone(json_get(object, "v"));
    }
    json_free(object);
    return v;
}

/* Members with a codec are left out; the codec's own tests cover them. */
static struct json *random_object(const struct shape *s)
{
    struct json *v = json_new_object();
    for (const struct shape_field *f = s->fields; f->name; f++)
        if (f->type != SHAPE_OWN && (f->presence == SHAPE_REQUIRED || below(3) > 0))
            json_set(v, f->name, random_value(f));
    return v;
}

static void check_round_trip(const char *name, const struct shape *s)
{
    AUTO(json_free_local) struct json *v = random_object(s);
    auto_free char *asked = json_print(v);
    auto_free void *first = mem_alloc(s->size), *second = mem_alloc(s->size);
    struct error e = {0};
    if (!support_shape(s, asked, first, &e))
        fail_msg("%s: %s: %s", name, asked, e.text);
    AUTO(json_free_local) struct json *told = shape_to_json(s, first);
    if (!shape_read(s, told, second, &e))
        fail_msg("%s: %s", name, e.text);
    AUTO(json_free_local) struct json *again = shape_to_json(s, second);
    auto_free char *once = json_print(told), *twice = json_print(again);
    assert_string_equal(once, twice);
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        const struct json *kept = json_get(told, json_name(m));
        auto_free char *was = json_print(m),
                       *is = kept ? json_print(kept) : mem_strdup(was); /* its default */
        if (json_type(m) != JSON_ARRAY && json_type(m) != JSON_OBJECT)
            assert_string_equal(is, was);
    }
    shape_release(s, first);
    shape_release(s, second);
}

TEST(test_parameters_round_trip)
{
    const struct operation *o;
    entropy_seed(support_seed());
    for (size_t i = 0; (o = operation_at(i)); i++)
        for (int n = 0; o->params && n < 50; n++)
            check_round_trip(o->name, o->params);
}

static void refuse(const struct operation *o, const struct json *v, const char *member)
{
    auto_free void *params = mem_alloc(o->params->size);
    struct error e = {0};
    if (shape_read(o->params, v, params, &e))
        fail_msg("%s takes a wrong \"%s\"", o->name, member);
    assert_int_equal(e.code, ERR_USAGE);
    if (!strstr(e.text, member))
        fail_msg("%s: %s does not name \"%s\"", o->name, e.text, member);
}

/* A copy of the object without one member, or with another value for it. */
static struct json *with(const struct json *v, const char *name, struct json *value)
{
    struct json *copy = json_new_object();
    for (const struct json *m = json_first(v); m; m = json_next(m))
        if (strcmp(json_name(m), name) != 0)
            json_set(copy, json_name(m), json_clone(m));
    if (value)
        json_set(copy, name, value);
    return copy;
}

TEST(test_wrong_parameters_are_refused)
{
    const struct operation *o;
    entropy_seed(support_seed());
    for (size_t i = 0; (o = operation_at(i)); i++) {
        if (!o->params)
            continue;
        AUTO(json_free_local) struct json *good = random_object(o->params);
        struct json *more = with(good, "nobody_knows_it", json_new_string("x"));
        refuse(o, more, "nobody_knows_it");
        json_free(more);
        for (const struct shape_field *f = o->params->fields; f->name; f++) {
            AUTO(json_free_local) struct json *wrong = with(good, f->name, json_new_object());
            if (f->type != SHAPE_JSON) /* which is any value */
                refuse(o, wrong, f->name);
            AUTO(json_free_local) struct json *less = with(good, f->name, NULL);
            if (f->presence == SHAPE_REQUIRED)
                refuse(o, less, f->name);
        }
    }
}

/* Each member must be in the schema, with a type and a description. */
static void check_contract(const char *name, const struct shape *s)
{
    AUTO(json_free_local) struct json *schema = shape_schema(s);
    assert_string_equal(json_get_string(schema, "type"), "object");
    for (const struct shape_field *f = s->fields; f->name; f++) {
        const struct json *member = json_get(json_get(schema, "properties"), f->name);
        if (!member || !f->help || !json_get_string(member, "description"))
            fail_msg("%s: nothing is said of \"%s\"", name, f->name);
        if (f->type != SHAPE_JSON)
            assert_non_null(json_get(member, "type"));
    }
}

TEST(test_schemas)
{
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        if (o->params) {
            check_contract(o->name, o->params);
            assert_true(o->params->closed);
        }
        if (o->result)
            check_contract(o->name, o->result);
    }
}

/* --- needs ------------------------------------------------------------------------------------ */

/* Runs with parameters of zeroes: a need that is not met is found before they are looked at. */
static void expect_refused(struct operation_context *c, const struct operation *o,
                           enum err_code code)
{
    auto_free void *params = o->params ? mem_alloc(o->params->size) : NULL;
    auto_free void *result = o->result ? mem_alloc(o->result->size) : NULL;
    struct error e = {0};
    if (o->result)
        memset(result, 0xa5, o->result->size); /* random bytes of the stack */
    if (operation_call(c, o, params, result, &e))
        fail_msg("%s runs", o->name);
    if (o->result)
        shape_release(o->result, result);
    if (e.code != code)
        fail_msg("%s: %s: %s", o->name, err_info(e.code)->name, e.text);
}

static void expect_disabled(const struct operation *o, enum err_code code)
{
    struct operation_context c = {0};
    struct error e = {0};
    assert_err(operation_open(&c, o, config, path, "/", &e), e, code);
    operation_close(&c);
    expect_refused(&c, o, code);
}

static void set(enum config_key key, const char *value)
{
    struct error e;
    assert_true(config_set(config, key, value, &e));
}

TEST(test_what_is_off_is_said)
{
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        if (!o->run) /* it is the engine that does not offer it */
            continue;
        set(CONFIG_MEMORY_ENABLED, "false");
        if (o->needs & NEED_MEMORY)
            expect_disabled(o, ERR_MEMORY_DISABLED);
        set(CONFIG_MEMORY_ENABLED, "true");
        set(CONFIG_GRAPH_ENABLED, "false");
        if (o->needs & NEED_GRAPH)
            expect_disabled(o, ERR_MEMORY_DISABLED);
        set(CONFIG_GRAPH_ENABLED, "true");
        set(CONFIG_CORPUS_ENABLED, "false");
        if (o->needs & NEED_CORPORA)
            expect_disabled(o, ERR_MEMORY_DISABLED);
        set(CONFIG_CORPUS_ENABLED, "true");
        set(CONFIG_LEARNED_ENABLED, "false");
        if (o->needs & NEED_LEARNED)
            expect_disabled(o, ERR_MEMORY_DISABLED);
        set(CONFIG_LEARNED_ENABLED, "true");
        set(CONFIG_SESSION_PERSIST, "false");
        bool layer = o->needs & (NEED_MEMORY | NEED_GRAPH | NEED_CORPORA);
        if ((o->needs & NEED_STORE) && layer && !capability_memory())
            expect_disabled(o, ERR_MEMORY_DISABLED);
        else if ((o->needs & NEED_STORE) && layer && !(o->needs & NEED_WRITE) && capability_store())
            assert_true(operation_offered(o, config, NULL)); /* kept data can be read */
        else if (o->needs & NEED_STORE)
            expect_disabled(o, ERR_SESSION_PERSISTENCE_DISABLED);
        set(CONFIG_SESSION_PERSIST, "true");
    }
}

TEST_IF(capability_store() && capability_memory(), test_who_reads_does_not_write)
{
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        struct operation_context c = {.config = config,
                                      .met = NEED_STORE | NEED_MEMORY | NEED_LEARNED | NEED_GRAPH |
                                             NEED_CORPORA};
        if (o->needs & NEED_WRITE)
            expect_refused(&c, o, ERR_SESSION_STORE_ERROR);
        c.met |= NEED_WRITE;
        if (o->needs & NEED_STREAM)
            expect_refused(&c, o, ERR_USAGE);
    }
}

TEST(test_what_needs_an_engine_says_so)
{
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        struct operation_context c = {0};
        struct error e = {0};
        if (o->executor == OPERATION_CONVERSATION)
            assert_non_null(o->converse);
        if (o->run)
            continue;
        assert_error(operation_open(&c, o, config, path, "/", &e), e, ERR_USAGE, o->name);
        operation_close(&c);
        expect_refused(&c, o, ERR_USAGE);
    }
}

/* If nothing was ever kept, reading finds nothing and makes no file. */
TEST_IF(capability_store() && capability_memory(), test_reading_makes_no_store)
{
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        struct operation_context c;
        struct error e = {0};
        if ((o->needs & NEED_WRITE) || !o->run)
            continue;
        if (!operation_open(&c, o, config, path, "/", &e))
            fail_msg("%s: %s", o->name, e.text);
        assert_null(c.catalog.store);
        operation_close(&c);
    }
}
