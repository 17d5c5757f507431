/* memory_read: an entry in full and the messages around it, up to a limit; over a real memory. */
#include "base/json.h"
#include "memory/memory.h"
#include "play.h"
#include "tests/memory_store.h"
#include "tests/suite.h"

static struct store *store;
static struct memory *memory;
static struct memory_scope scope;
static struct error e;

static bool read_entry(void *context, const struct memory_place *place, struct memory_excerpt *out,
                       struct error *error)
{
    const struct memory_around around = {.place = *place, .scope = scope};
    (void)context;
    return memory_around(memory, &around, out, error);
}

static const struct tool_memory tool_memory = {.read = read_entry};

static int setup(void **state)
{
    if (play_setup(state) != 0)
        return -1;
    scope = (struct memory_scope){.kind = MEMORY_SCOPE_ALL};
    memory_check(store_open(support_path("tiro.db"), STORE_READ_WRITE, &store, &e), &e);
    memory = memory_open(store, NULL);
    play.memory = &tool_memory;
    return 0;
}

static int teardown(void **state)
{
    memory_close(memory);
    store_close(store);
    return play_teardown(state);
}

static void put(int64_t compaction, int i, const char *content)
{
    int stored;
    struct memory_entry entry = memory_said(support_text("e%d", i), content, i + 1);
    entry.seq = 10 * i;
    entry.turn = i / 2 + 1;
    entry.role = i % 2 ? ROLE_ASSISTANT : ROLE_USER;
    memory_check(memory->ops->index(memory, "s", compaction, &entry, 1, &stored, &e), &e);
    assert_int_equal(stored, 1);
    memory_entry_release(&entry);
}

/* "e1" … "e8", the second half first, as when a session from before comes in later. */
static void put_talk(void)
{
    for (int i = 5; i <= 8; i++)
        put(MEMORY_OF_SESSION, i, support_text("text %d", i));
    for (int i = 1; i <= 4; i++)
        put(i == 3 ? 99 : MEMORY_OF_SESSION, i, support_text("text %d", i));
}

/* Ids in their order, the one that was asked for in brackets. */
static void expect(const char *args, const char *ids)
{
    const struct event *ev = play_call("memory_read", args);
    if (ev->flag)
        fail_msg("%s: %s", args, ev->text);
    AUTO(json_free_local) struct json *v = json_parse(ev->text, strlen(ev->text), NULL);
    AUTO(buf_release) struct buf out = BUF_INIT;
    const struct json *list = json_get(v, "entries");
    for (size_t i = 0; i < json_len(list); i++) {
        const char *id = json_get_string(json_at(list, i), "id");
        bool asked = (int64_t)i == json_get_int(v, "asked", -1);
        buf_addf(&out, asked ? "%s[%s]" : "%s%s", i ? " " : "", id);
    }
    assert_string_equal(out.data, ids);
}

FIXTURE(setup, teardown);

TEST(it_gives_what_stands_around_an_entry)
{
    put_talk();
    expect("{'id':'e4'}", "e2 e3 [e4] e5 e6");
    expect("{'id':'e4','before':0,'after':0}", "[e4]");
    expect("{'id':'e4','before':1,'after':3}", "e3 [e4] e5 e6 e7");
    expect("{'id':'e1','before':9,'after':-3}", "[e1]");
    expect("{'id':'e8','before':500}", "e1 e2 e3 e4 e5 e6 e7 [e8]");
    expect("{'session_id':'s','turn':3,'before':0,'after':1}", "[e4] e5");
}

TEST(it_says_who_said_what_and_when)
{
    put_talk();
    play_gives("memory_read", "{'id':'e1','after':0}",
               "{'session_id':'s','asked':0,'entries':[{'id':'e1','turn':1,'speaker':'assistant',"
               "'created_at':'1970-01-01T00:00:00.002Z','content':'text 1'}]}");
}

TEST(an_import_is_in_the_order_of_its_lines)
{
    int stored;
    struct memory_entry given[] = {memory_said("a", "one", 1), memory_said("b", "two", 2),
                                   memory_said("c", "three", 3)};
    given[0].seq = given[1].seq = given[2].seq = 4;
    memory_check(memory->ops->index(memory, "s", 0, given, 3, &stored, &e), &e);
    put(MEMORY_OF_SESSION, 1, "said here");
    expect("{'id':'b'}", "a [b] c");
    for (size_t i = 0; i < 3; i++)
        memory_entry_release(&given[i]);
}

TEST(what_cannot_be_read_is_an_error_of_the_tool)
{
    put_talk();
    play_refuses("memory_read", "{'id':'nowhere'}", "no entry nowhere in memory");
    play_refuses("memory_read", "{'session_id':'s','turn':77}", "no entry of turn 77");
    play_refuses("memory_read", "{'session_id':'unknown','turn':1}", "no entry of turn 1");
    play_refuses("memory_read", "{'session_id':'s'}", "give 'id'");
    play_refuses("memory_read", "{'turn':1}", "give 'id'");
    play_refuses("memory_read", "{'id':' '}", "give 'id'");
    play_refuses("memory_read", "{}", "give 'id'");
    play_refuses("memory_read", "{'id':'e1','before':'two'}", "must be of type number");
    play_refuses("memory_read", "{'id':'e1','path':'x'}", "unknown argument 'path'");
    scope = (struct memory_scope){.kind = MEMORY_SCOPE_SESSION, .session_id = "another"};
    play_refuses("memory_read", "{'id':'e1'}", "may not be read here");
}

TEST(it_says_what_the_window_has_no_room_for)
{
    for (int i = 1; i <= 3; i++)
        put(MEMORY_OF_SESSION, i, support_text("%05000d", i));
    play.compacts = true;
    play.compact.auto_threshold = 3000;
    const char *given = play_call("memory_read", "{'id':'e2'}")->text;
    const char *end = strrchr(given, '\n');
    long long left_out = 0;
    assert_in_range(strlen(given), 10000, 12000);
    assert_int_equal(
        sscanf(end, "\n[%lld bytes left out: the context has no more room]", &left_out), 1);
    assert_in_range(left_out, 5000, 6000);
    play.compacts = false;
    assert_null(strstr(play_call("memory_read", "{'id':'e2'}")->text, "left out"));
}

/* Neighbours are left out before the entry itself is cut, and the text names the omission. */
TEST(it_gives_as_much_as_fits)
{
    char *text = support_keep(mem_alloc(3001));
    memset(text, '"', 3000); /* two bytes each as JSON */
    assert_true(config_set(play.config, CONFIG_TOOLS_MAX_OUTPUT, "4096", NULL));
    put(MEMORY_OF_SESSION, 1, "first");
    put(MEMORY_OF_SESSION, 2, support_text("2%.1000s", text));
    put(MEMORY_OF_SESSION, 3, "third");
    put(MEMORY_OF_SESSION, 4, support_text("4%s", text));
    put(MEMORY_OF_SESSION, 5, "fifth");
    expect("{'id':'e2'}", "e1 [e2] e3");
    const struct event *ev = play_call("memory_read", "{'id':'e4'}");
    assert_true(strlen(ev->text) <= 4096);
    AUTO(json_free_local) struct json *v = json_parse(ev->text, strlen(ev->text), NULL);
    assert_non_null(v);
    const struct json *asked = json_at(json_get(v, "entries"), (size_t)json_get_int(v, "asked", 0));
    assert_string_equal(json_get_string(asked, "id"), "e4");
    size_t given = strlen(json_get_string(asked, "content"));
    assert_true(given > 0 && given < 3001);
    assert_int_equal(json_get_int(v, "bytes_cut", 0), 3001 - given);
    assert_int_equal(json_get_int(v, "left_out", 0), 3 - (json_len(json_get(v, "entries")) - 1));
}

TEST(without_a_memory_it_cannot_be_used)
{
    play.memory = NULL;
    play_refuses("memory_read", "{'id':'e1'}", "there is no memory here");
}
