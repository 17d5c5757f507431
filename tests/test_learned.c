/* Items of learned memory: what is kept, replaced, rejected, forgotten. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "knowledge/learned.h"
#include "store/sessions.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char ID[] = "01890a5d-ac96-774b-bcce-b302099a8057";
static const char HERE[] = "/home/a/app";

static char *path;
static struct store *store;
static struct error e;

static int set_up(void **state)
{
    struct session_info info;
    support_setup(state);
    path = support_path("tiro.db");
    if (!store_open(path, STORE_READ_WRITE, &store, &e))
        return -1;
    session_info_init(&info);
    memcpy(info.id, ID, sizeof ID);
    bool ok = sessions_put(store, &info, &e);
    session_info_release(&info);
    return ok ? 0 : -1;
}

static int tear_down(void **state)
{
    store_close(store);
    return support_teardown(state);
}

FIXTURE(set_up, tear_down);

/* The id, kept. */
static char *add_to(const char *project, enum learned_kind kind, enum learned_state state,
                    const char *text, enum learned_added expected)
{
    struct learned_item item = {.scope = learned_scope_of(kind),
                                .kind = kind,
                                .state = state,
                                .origin = LEARNED_TYPED,
                                .text = (char *)text,
                                .project = (char *)project,
                                .session_id = (char *)ID,
                                .seq = 3};
    struct learned_item kept;
    enum learned_added how;
    if (item.scope == LEARNED_USER)
        item.project = NULL;
    if (!learned_add(store, &item, &kept, &how, &e))
        fail_msg("%s", e.text);
    assert_int_equal(how, expected);
    char *id = support_keep(mem_strdup(kept.id));
    learned_item_release(&kept);
    return id;
}

static char *add(enum learned_kind kind, enum learned_state state, const char *text)
{
    return add_to(HERE, kind, state, text, LEARNED_IS_NEW);
}

/* "text:state …" in the order of the list. */
static void expect(const struct learned_filter *filter, const char *wanted)
{
    struct learned_items items = {0};
    struct buf out = BUF_INIT;
    if (!learned_list(store, filter, &items, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < items.items.len; i++)
        buf_addf(&out, "%s%s:%s", i > 0 ? ", " : "", items.items.items[i].text,
                 learned_state_word(items.items.items[i].state));
    learned_items_release(&items);
    assert_string_equal(out.data ? out.data : "", wanted);
    buf_release(&out);
}

static const struct learned_filter all = {.states = 0};
static const struct learned_filter active = {.states = 1U << LEARNED_ACTIVE};

TEST(an_item_is_kept_as_it_was_said)
{
    struct learned_item item;
    char *id = add(LEARNED_FACT, LEARNED_CANDIDATE, "  we deploy on Fridays ");
    assert_true(learned_get(store, id, &item, &e));
    assert_string_equal(item.text, "we deploy on Fridays");
    assert_string_equal(item.project, HERE);
    assert_string_equal(item.session_id, ID);
    assert_int_equal(item.seq, 3);
    assert_int_equal(item.scope, LEARNED_PROJECT);
    assert_int_equal(item.kind, LEARNED_FACT);
    assert_int_equal(item.state, LEARNED_CANDIDATE);
    assert_int_equal(item.uses, 0);
    assert_true(item.created_ms > 0);
    assert_false(item.session_gone);
    learned_item_release(&item);
}

TEST(a_preference_replaces_the_one_before_which_is_history)
{
    struct learned_items history = {0};
    add(LEARNED_LANGUAGE, LEARNED_ACTIVE, "Reply in French");
    add(LEARNED_TONE, LEARNED_ACTIVE, "Be formal");
    char *id = add(LEARNED_LANGUAGE, LEARNED_CANDIDATE, "Reply in German");
    expect(&active, "Be formal:active, Reply in French:active");
    assert_true(learned_accept(store, id, &e));
    expect(&active, "Reply in German:active, Be formal:active");
    assert_true(learned_history(store, id, &history, &e));
    assert_int_equal(history.items.len, 2);
    assert_string_equal(history.items.items[1].text, "Reply in French");
    assert_string_equal(history.items.items[1].replaced_by, id);
    learned_items_release(&history);
}

TEST(undoing_brings_back_what_was_replaced)
{
    add(LEARNED_LANGUAGE, LEARNED_ACTIVE, "Reply in French");
    char *id = add(LEARNED_LANGUAGE, LEARNED_ACTIVE, "Reply in German");
    assert_true(learned_reject(store, id, &e));
    expect(&active, "Reply in French:active");
}

TEST(facts_stand_beside_one_another)
{
    add(LEARNED_FACT, LEARNED_ACTIVE, "one thing");
    add(LEARNED_FACT, LEARNED_ACTIVE, "another thing");
    add(LEARNED_RULE, LEARNED_ACTIVE, "Always use tabs");
    expect(&active, "Always use tabs:active, another thing:active, one thing:active");
}

TEST(what_is_there_is_not_kept_twice)
{
    char *id = add(LEARNED_FACT, LEARNED_CANDIDATE, "one thing");
    assert_string_equal(
        add_to(HERE, LEARNED_FACT, LEARNED_CANDIDATE, "one  thing", LEARNED_IS_KNOWN), id);
    assert_string_equal(add_to(HERE, LEARNED_FACT, LEARNED_ACTIVE, "one thing", LEARNED_IS_KNOWN),
                        id);
    expect(&all, "one thing:active");
}
