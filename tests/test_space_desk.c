/* A running engine keeps its replica of a shared space current. */
#include "session/memory_operations.h"
#include "session/space_operations.h"
#include "tests/memory_store.h"
#include "tests/suite.h"
#include "tests/surface.h"

FIXTURE(surface_setup, surface_teardown);

static struct error e;

/* The machine of another person, bob, who writes an entry with this text into the log. */
static void write_entry(struct store *s, struct memory *m, struct space_link *l, const char *text)
{
    struct space_shared out;
    bool more;
    free(memory_store_one(m, "session-of-bob", NULL, text, 1000));
    assert_ok(space_share(s, &l->space, "session", "session-of-bob", true, false, &out, &e), e);
    space_shared_release(&out);
    assert_ok(space_gather(s, m, 100, &more, &e), e);
    assert_ok(space_send(s, &l->space, l->carrier, &more, &e), e);
}

static const char *asked;

static struct engine *open_engine(void)
{
    struct engine_options options = surface_options(NULL, true);
    options.memory = true;
    return engine_new(&options);
}

static bool is_found(void *engine)
{
    const struct memory_search params = {.query = asked, .limit = 5};
    const struct operation_answer *a = surface_call(engine, &operation_memory_search, &params);
    const struct memory_hits *hits = a->result;
    assert_int_equal(a->error.code, ERR_OK);
    return hits->items.len > 0;
}

TEST(what_another_machine_writes_is_found_without_a_request)
{
    struct engine *s = open_engine();
    char *url = support_text("folder:%s", support_path("team"));
    const struct space_init_params init = {.url = url, .name = "team", .person = "anna"};
    const struct space_invite_params invite = {.person = "bob"};
    assert_int_equal(surface_call(s, &operation_space_init, &init)->error.code, ERR_OK);
    const struct operation_answer *a = surface_call(s, &operation_space_invite, &invite);
    assert_int_equal(a->error.code, ERR_OK);

    struct store *store;
    struct space_link bob = {0};
    const struct space_rows *rows = surface_call(s, &operation_space_status, NULL)->result;
    assert_int_equal(rows->items.len, 1);
    assert_ok(store_open(support_path("bob/tiro.db"), STORE_READ_WRITE, &store, &e), e);
    struct memory *memory = memory_open(store, NULL);
    struct space_facts facts = {0};
    struct carrier *c;
    assert_ok(carrier_open(&(struct carrier_place){.url = url, .space = ""}, &c, &e), e);
    assert_ok(c->ops->facts(c, &facts, &e), e);
    carrier_close(c);
    bob.space = (struct space){.name = mem_strdup("team"),
                               .id = mem_strdup(facts.id),
                               .url = mem_strdup(url),
                               .person = mem_strdup("bob"),
                               .writer = mem_strdup("laptop"),
                               .role = SPACE_WRITER,
                               .form = SPACE_SCHEMA};
    space_facts_release(&facts);
    assert_ok(space_add(store, &bob.space, &e), e);
    assert_ok(space_link_open(&bob, store, NULL, &e), e);
    asked = "crane";
    assert_false(is_found(s));
    write_entry(store, memory, &bob, "the harbour crane lifts forty tons");
    assert_true(support_wait_until(is_found, s, 10000 * support_patience()));

    /* The next start needs no request for it. */
    engine_free(s);
    s = open_engine();
    write_entry(store, memory, &bob, "a violet umbrella");
    asked = "violet";
    assert_true(support_wait_until(is_found, s, 10000 * support_patience()));
    engine_free(s);
    space_link_close(&bob);
    memory_close(memory);
    store_close(store);
}
