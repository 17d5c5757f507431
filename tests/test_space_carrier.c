/* The contract of every carrier of a shared space: a folder, and a PostgreSQL server where one can
 * be started. */
#include "base/clock.h"
#include "space/carrier.h"
#include "tests/pg_server.h"
#include "tests/suite.h"

/* A carrier under test; `state` of each test. */
struct kind {
    const char *name;
    bool (*there)(void);
    char *(*url)(const char *person);
};

/* The space of a test: each is a new one. */
static char space[UUID_LEN + 1];
static struct pg_server *server;

static bool always(void)
{
    return true;
}

static char *folder_url(const char *person)
{
    (void)person;
    return support_text("folder:%s/%s", support_dir(), space);
}

static void stop_server(void)
{
    pg_server_stop(server);
}

static bool server_there(void)
{
#ifdef HAVE_LIBPQ
    return pg_server_there();
#else
    return false;
#endif
}

static char *server_url(const char *person)
{
    if (!server) {
        server = pg_server_start();
        atexit(stop_server);
    }
    return pg_server_url(server, person);
}

static const struct kind kinds[] = {{"folder", always, folder_url},
                                    {"postgresql", server_there, server_url}};

static struct carrier *join(void **state, const char *person, const char *writer)
{
    const struct kind *kind = *state;
    struct carrier_place *place = mem_alloc(sizeof *place);
    struct carrier *c;
    struct error e;
    *place = (struct carrier_place){
        .url = kind->url(person), .space = space, .person = person, .writer = writer};
    support_keep((char *)place);
    assert_ok(carrier_open(place, &c, &e), e);
    return c;
}

/* anna makes the space, ben writes to it and carl reads. */
static struct carrier *make_space(void **state)
{
    struct error e;
    uuid_new(space);
    struct carrier *c = join(state, "anna", "anna-1");
    struct space_facts facts = {.name = (char *)(uintptr_t) "Team",
                                .schema = SPACE_SCHEMA,
                                .min_client = SPACE_SCHEMA,
                                .lease_days = 90};
    memcpy(facts.id, space, sizeof space);
    assert_ok(c->ops->make(
                  c, &facts,
                  &(struct space_member){.person = (char *)(uintptr_t) "anna", .role = SPACE_OWNER},
                  &e),
              e);
    assert_ok(c->ops->put_member(
                  c,
                  &(struct space_member){.person = (char *)(uintptr_t) "ben", .role = SPACE_WRITER},
                  &e),
              e);
    assert_ok(c->ops->put_member(c,
                                 &(struct space_member){.person = (char *)(uintptr_t) "carl",
                                                        .role = SPACE_READER},
                                 &e),
              e);
    return c;
}

static struct space_line line_of(const char *owner, const char *entry, const char *body)
{
    return (struct space_line){.entry = (char *)(uintptr_t)entry,
                               .version = 1,
                               .kind = SPACE_ENTRY,
                               .owner = (char *)(uintptr_t)owner,
                               .project = (char *)(uintptr_t) "host/team/shop",
                               .at_ms = 1772359200000,
                               .key = BUF_INIT,
                               .body = buf_borrow(body)};
}

static void push(struct carrier *c, const struct space_line *lines, size_t count)
{
    struct error e;
    assert_ok(c->ops->push(c, lines, count, &e), e);
}

static void push_text(struct carrier *c, const char *owner, const char *entry, const char *body)
{
    push(c, &(struct space_line){0}, 0);
    struct space_line line = line_of(owner, entry, body);
    push(c, &line, 1);
}

/* All lines behind the cursor, each as "owner entry version body" with a blank behind it. */
static char *pull_all(struct carrier *c, struct buf *cursor, size_t most)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    bool more = true;
    int64_t skipped = 0;
    while (more) {
        struct space_lines lines;
        struct error e;
        assert_ok(c->ops->pull(c, cursor, most, &lines, &more, &skipped, &e), e);
        for (size_t i = 0; i < lines.items.len; i++) {
            const struct space_line *l = &lines.items.items[i];
            buf_addf(&text, "%s/%s/%lld=%s ", l->owner, l->entry, (long long)l->version,
                     l->body.data);
        }
        space_lines_release(&lines);
    }
    assert_int_equal(skipped, 0);
    return support_text("%s", text.data);
}

static void test_lines_arrive_in_order_and_once(void **state)
{
    struct carrier *anna = make_space(state), *carl = join(state, "carl", "carl-1");
    AUTO(buf_release) struct buf cursor = BUF_INIT, again = BUF_INIT;
    const struct space_line two[] = {line_of("anna", "a", "1"), line_of("anna", "b", "2")};
    assert_string_equal(pull_all(carl, &cursor, 1000), "");
    push(anna, two, 2);
    assert_string_equal(pull_all(carl, &cursor, 1000), "anna/a/1=1 anna/b/1=2 ");
    assert_string_equal(pull_all(carl, &cursor, 1000), "");
    struct space_line edit = line_of("anna", "a", "3");
    edit.version = 2;
    push(anna, &edit, 1);
    assert_string_equal(pull_all(carl, &cursor, 1000), "anna/a/2=3 ");
    carrier_close(carl);
    /* The cursor is all that a reader keeps. */
    carl = join(state, "carl", "carl-1");
    assert_string_equal(pull_all(carl, &cursor, 1000), "");
    assert_string_equal(pull_all(carl, &again, 1), "anna/a/1=1 anna/b/1=2 anna/a/2=3 ");
    carrier_close(carl);
    carrier_close(anna);
}

static void test_pushing_again_changes_no_line(void **state)
{
    struct carrier *anna = make_space(state), *carl = join(state, "carl", "carl-1");
    AUTO(buf_release) struct buf cursor = BUF_INIT;
    push_text(anna, "anna", "a", "1");
    push_text(anna, "anna", "a", "1");
    push_text(anna, "anna", "b", "2");
    const char *text = pull_all(carl, &cursor, 1000);
    assert_true(strncmp(text, "anna/a/1=1 ", 11) == 0);
    assert_non_null(strstr(text, "anna/b/1=2 "));
    carrier_close(carl);
    carrier_close(anna);
}

/* Both are kept, since nobody knows which one was first. */
static void test_two_owners_may_write_the_same_version(void **state)
{
    struct carrier *anna = make_space(state), *ben = join(state, "ben", "ben-1");
    AUTO(buf_release) struct buf cursor = BUF_INIT;
    push_text(anna, "anna", "a", "1");
    push_text(ben, "ben", "a", "2");
    const char *text = pull_all(ben, &cursor, 1000);
    assert_non_null(strstr(text, "anna/a/1=1 "));
    assert_non_null(strstr(text, "ben/a/1=2 "));
    carrier_close(ben);
    carrier_close(anna);
}

static void test_a_pull_is_bounded(void **state)
{
    struct carrier *anna = make_space(state), *carl = join(state, "carl", "carl-1");
    AUTO(buf_release) struct buf cursor = BUF_INIT;
    auto_free char *body = mem_alloc(10001);
    memset(body, 'x', 10000);
    for (int i = 0; i < 20; i++)
        push_text(anna, "anna", support_text("e%02d", i), body);
    bool more = true;
    int64_t skipped = 0;
    int count = 0, pulls = 0;
    for (; more; pulls++) {
        struct space_lines lines;
        struct error e;
        assert_ok(carl->ops->pull(carl, &cursor, 25000, &lines, &more, &skipped, &e), e);
        assert_true(lines.bytes <= 36000);
        for (size_t i = 0; i < lines.items.len; i++)
            assert_string_equal(lines.items.items[i].entry, support_text("e%02d", count++));
        space_lines_release(&lines);
    }
    assert_int_equal(count, 20);
    assert_true(pulls >= 7);
    carrier_close(carl);
    carrier_close(anna);
}

static void test_any_bytes_survive(void **state)
{
    struct carrier *anna = make_space(state), *carl = join(state, "carl", "carl-1");
    AUTO(buf_release) struct buf cursor = BUF_INIT, body = BUF_INIT;
    uint64_t seed = 7;
    for (int i = 0; i < 300000; i++)
        buf_addch(&body, (char)support_random(&seed));
    struct space_line line = line_of("anna", "\xc3\xa9\xe2\x82\xac 'quoted' \"\\", "");
    line.body = body;
    line.key = (struct buf){.data = body.data, .len = SPACE_KEY_BYTES};
    line.project = NULL;
    line.kind = SPACE_LEARNED;
    push(anna, &line, 1);
    struct space_lines lines;
    bool more;
    int64_t skipped = 0;
    struct error e;
    assert_ok(carl->ops->pull(carl, &cursor, 1, &lines, &more, &skipped, &e), e);
    assert_int_equal(lines.items.len, 1);
    const struct space_line *got = &lines.items.items[0];
    assert_string_equal(got->entry, line.entry);
    assert_null(got->project);
    assert_int_equal(got->kind, SPACE_LEARNED);
    assert_int_equal(got->at_ms, line.at_ms);
    assert_int_equal(got->key.len, SPACE_KEY_BYTES);
    assert_memory_equal(got->key.data, body.data, SPACE_KEY_BYTES);
    assert_int_equal(got->body.len, body.len);
    assert_memory_equal(got->body.data, body.data, body.len);
    space_lines_release(&lines);
    carrier_close(carl);
    carrier_close(anna);
}

static void test_erased_lines_stay_without_their_text(void **state)
{
    struct carrier *anna = make_space(state), *ben = join(state, "ben", "ben-1");
    AUTO(buf_release) struct buf cursor = BUF_INIT;
    struct error e;
    for (int i = 0; i < 300; i++)
        push_text(ben, "ben", support_text("e%d", i), "text");
    const char *names[299];
    for (int i = 0; i < 299; i++)
        names[i] = support_text("e%d", i);
    struct space_line forget = line_of("ben", "e0", "seal");
    forget.kind = SPACE_FORGET;
    push(ben, &forget, 1);
    assert_ok(ben->ops->erase(ben, names, 299, &e), e);
    assert_ok(ben->ops->erase(ben, names, 299, &e), e);
    const char *text = pull_all(anna, &cursor, 1000);
    assert_non_null(strstr(text, "ben/e0/1= "));
    assert_non_null(strstr(text, "ben/e298/1= "));
    assert_non_null(strstr(text, "ben/e0/1=seal "));
    assert_non_null(strstr(text, "ben/e299/1=text "));
    carrier_close(ben);
    carrier_close(anna);
}

static const struct space_member *member(const struct space_members *all, const char *person)
{
    for (size_t i = 0; i < all->items.len; i++)
        if (strcmp(all->items.items[i].person, person) == 0)
            return &all->items.items[i];
    return NULL;
}

static void test_members_and_how_far_they_read(void **state)
{
    struct carrier *anna = make_space(state);
    struct carrier *one = join(state, "ben", "ben-1"), *two = join(state, "ben", "ben-2");
    struct space_members all;
    struct error e;
    struct space_member keys = {.person = (char *)(uintptr_t) "ben",
                                .role = SPACE_WRITER,
                                .epoch = 3,
                                .public_key = (char *)(uintptr_t) "cHVibGlj",
                                .wrapped_key = (char *)(uintptr_t) "d3JhcHBlZA=="};
    assert_ok(anna->ops->put_member(anna, &keys, &e), e);
    assert_ok(one->ops->note_seen(one, 7000, &e), e);
    assert_ok(two->ops->note_seen(two, 5000, &e), e);
    assert_ok(two->ops->note_seen(two, 6000, &e), e);
    assert_ok(anna->ops->members(anna, &all, &e), e);
    assert_int_equal(all.items.len, 3);
    assert_string_equal(all.items.items[0].person, "anna");
    assert_int_equal(all.items.items[0].role, SPACE_OWNER);
    assert_int_equal(all.items.items[0].seen_ms, 0);
    const struct space_member *ben = member(&all, "ben");
    assert_int_equal(ben->role, SPACE_WRITER);
    assert_int_equal(ben->epoch, 3);
    assert_string_equal(ben->public_key, "cHVibGlj");
    assert_string_equal(ben->wrapped_key, "d3JhcHBlZA==");
    assert_int_equal(ben->seen_ms, 6000); /* the replica that is farthest behind */
    space_members_release(&all);
    keys.role = SPACE_READER;
    assert_ok(anna->ops->put_member(anna, &keys, &e), e);
    assert_ok(anna->ops->drop_member(anna, "carl", &e), e);
    assert_ok(anna->ops->members(anna, &all, &e), e);
    assert_int_equal(all.items.len, 2);
    assert_int_equal(member(&all, "ben")->role, SPACE_READER);
    space_members_release(&all);
    carrier_close(one);
    carrier_close(two);
    carrier_close(anna);
}

static void test_facts_and_making_twice(void **state)
{
    struct carrier *anna = make_space(state), *carl = join(state, "carl", "carl-1");
    struct space_facts facts;
    struct error e;
    assert_ok(carl->ops->facts(carl, &facts, &e), e);
    assert_string_equal(facts.id, space);
    assert_string_equal(facts.name, "Team");
    assert_int_equal(facts.schema, SPACE_SCHEMA);
    assert_int_equal(facts.lease_days, 90);
    facts.epoch = 4;
    facts.retain_days = 30;
    assert_err(anna->ops->make(anna, &facts,
                               &(struct space_member){.person = (char *)(uintptr_t) "anna",
                                                      .role = SPACE_OWNER},
                               &e),
               e, ERR_USAGE);
    assert_ok(anna->ops->set_facts(anna, &facts, &e), e);
    space_facts_release(&facts);
    assert_ok(carl->ops->facts(carl, &facts, &e), e);
    assert_int_equal(facts.epoch, 4);
    assert_int_equal(facts.retain_days, 30);
    space_facts_release(&facts);
    carrier_close(carl);
    carrier_close(anna);
}

static void test_the_person(void **state)
{
    struct carrier *anna = make_space(state);
    const char *person = NULL;
    struct error e;
    assert_ok(anna->ops->person(anna, &person, &e), e);
    assert_string_equal(person, "anna");
    carrier_close(anna);
}

TEST(test_urls)
{
    const char *const urls[] = {"",
                                "folder",
                                "folder:team",
                                "ftp://u:sesame@host/x",
                                "postgresql://u:sesame@[host/x",
                                "postgresql://u:sesame@host/x",
                                "postgres://host/x?password=sesame",
                                NULL};
    (void)state;
    for (size_t i = 0; urls[i]; i++) {
        struct carrier *c;
        struct error e;
        assert_err(carrier_open(&(struct carrier_place){.url = urls[i], .space = ""}, &c, &e), e,
                   ERR_USAGE);
        assert_null(strstr(e.text, "sesame"));
    }
}

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }
static const struct {
    const char *name;
    CMUnitTestFunction run;
} cases[] = {CASE(test_lines_arrive_in_order_and_once),
             CASE(test_pushing_again_changes_no_line),
             CASE(test_two_owners_may_write_the_same_version),
             CASE(test_a_pull_is_bounded),
             CASE(test_any_bytes_survive),
             CASE(test_erased_lines_stay_without_their_text),
             CASE(test_members_and_how_far_they_read),
             CASE(test_facts_and_making_twice),
             CASE(test_the_person)};

FIXTURE(support_setup, support_teardown);

__attribute__((constructor)) static void add_cases(void)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            suite_add(__FILE__, support_text("%s_%s", cases[i].name, kinds[k].name),
                      kinds[k].there() ? cases[i].run : NULL, &kinds[k]);
}
