/* Memory with and without compaction, and neither: the offered tools, the request, stored data,
 * hits, and errors where memory is off. */
#include "base/json.h"
#include "compact/discard.h"
#include "session/conversation_operations.h"
#include "session/memory_operations.h"
#include "tests/damage.h"
#include "tests/suite.h"
#include "tests/surface.h"

#define SUMMARY "a short summary"
#define FACT "We decided on the zeppelin of Friedrichshafen"

static struct engine *open_with(bool memory, bool compaction, bool persist)
{
    struct engine_options options = surface_options(NULL, persist);
    options.memory = memory;
    options.compaction = compaction;
    return engine_new(&options);
}

static struct engine *open_remembering(void)
{
    return open_with(true, true, true);
}

/* Long enough for a summary to be shorter. */
static void say_much(struct engine *s, const char *what)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addf(&text, "%s.", what);
    for (int i = 0; i < 60; i++)
        buf_addstr(&text, " And some more words.");
    surface_ask(s, text.data);
}

static void talk(struct engine *s)
{
    say_much(s, FACT);
    say_much(s, "Then we talked of the weather");
}

/* Compacts by hand and drops every turn. Returns memory_indexed, which the caller frees, or NULL if
 * memory was off. */
static struct notice *compact(struct engine *s, bool indexes)
{
    model_server_queue(surface_server(), &(struct reply){.text = SUMMARY});
    surface_send(s, &operation_compaction_run, NULL);
    struct notice *n = surface_expect_event(s, EVENT_COMPACTION_COMPLETED);
    int entries = n->event->compaction.entries_indexed;
    int64_t seq = n->event->seq;
    n = indexes ? surface_expect_event(s, EVENT_MEMORY_INDEXED) : NULL;
    if (n) {
        assert_int_equal(n->event->seq, seq + 1);
        assert_int_equal(n->event->number, seq);
        assert_int_equal(n->event->count, entries);
    }
    surface_expect_idle(s);
    return n;
}

static void compact_and_index(struct engine *s, int entries)
{
    assert_int_equal(compact(s, true)->event->count, entries);
}

/* Whether the newest request offered the tool. The skill's text names it as well, so only the list
 * counts. */
static bool was_offered(const char *tool)
{
    AUTO(json_free_local)
    struct json *body = json_parse(surface_last_body(), strlen(surface_last_body()), NULL);
    bool found = false;
    for (const struct json *t = json_first(json_get(body, "tools")); t; t = json_next(t))
        found = found || strcmp(json_get_string(json_get(t, "function"), "name"), tool) == 0;
    return found;
}

static bool had_skill(void)
{
    AUTO(json_free_local)
    struct json *body = json_parse(surface_last_body(), strlen(surface_last_body()), NULL);
    const struct json *system = json_first(json_get(body, "messages"));
    assert_string_equal(json_get_string(system, "role"), "system");
    const char *text = json_get_string(system, "content");
    bool found = strstr(text, "\n\n# Memory\n") && strstr(text, "evidence, not truth");
    assert_null(strstr(text, "name: memory-retrieval"));
    return found;
}

/* The number of entries that the surface finds; -1 if there is no memory. */
static int found(struct engine *s, const char *query, const char *scope)
{
    const struct memory_search search = {.query = query, .scope = scope, .limit = 10};
    struct operation_answer *a = surface_call(s, &operation_memory_search, &search);
    if (!a->result && a->error.code != ERR_MEMORY_DISABLED)
        fail_msg("%s", a->error.text);
    int count = a->result ? (int)((struct memory_found *)a->result)->hits.items.len : -1;
    return count;
}

/* The model searches in a turn; its tool's result, which the caller frees. */
static struct notice *let_model_search(struct engine *s, const char *args)
{
    model_server_queue(surface_server(),
                       &(struct reply){.tool_name = "memory_search", .tool_args = args});
    model_server_queue(surface_server(), &(struct reply){.text = "There."});
    surface_send(s, &operation_turn_start, "Look it up");
    struct notice *n = surface_expect_event(s, EVENT_TOOL_EXECUTION_COMPLETED);
    surface_expect_idle(s);
    return n;
}

static struct meters opening_meters(struct engine *s)
{
    return surface_expect(s, NOTICE_SESSION)->meters;
}

/* --- each switch ------------------------------------------------------------------------------ */

static const struct profile {
    bool memory, compaction;
} profiles[] = {{true, true}, {true, false}, {false, true}, {false, false}};

#define EACH_PROFILE(p)                                                                            \
    for (const struct profile *p = profiles; p < profiles + sizeof profiles / sizeof *profiles; p++)

static bool remembers(const struct profile *p)
{
    return p->memory && capability_memory();
}

static bool compacts(const struct profile *p)
{
    return p->compaction && capability_compaction();
}

static int setup(void **state)
{
    if (surface_setup(state) != 0)
        return -1;
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "0"); /* every turn goes */
    return 0;
}

FIXTURE(setup, surface_teardown);

TEST(tool_and_skill_come_with_memory)
{
    EACH_PROFILE(p)
    {
        AUTO(engine_free_local) struct engine *s = open_with(p->memory, p->compaction, true);
        assert_int_equal(opening_meters(s).memory, remembers(p));
        surface_ask(s, "hello");
        assert_int_equal(was_offered("memory_search"), remembers(p));
        assert_int_equal(had_skill(), remembers(p));
        assert_true(was_offered("read_file"));
    }
}

TEST(the_parts_of_the_request_have_the_skill)
{
    EACH_PROFILE(p)
    {
        AUTO(engine_free_local) struct engine *s = open_with(p->memory, p->compaction, true);
        surface_ask(s, "hello");
        surface_send(s, &operation_context_read, NULL);
        struct notice *n = surface_expect_answer(s, &operation_context_read);
        int64_t sum = 0;
        for (size_t i = 0; i < surface_context(n)->parts.len; i++)
            sum += surface_context(n)->parts.items[i].tokens;
        assert_int_equal(surface_context(n)->tokens, sum);
        assert_int_equal(surface_context(n)->parts.items[1].kind == CONTEXT_SKILLS, remembers(p));
        if (remembers(p)) {
            assert_true(surface_context(n)->parts.items[1].tokens > 0);
            assert_int_equal(strncmp(surface_context(n)->parts.items[1].text, "# Memory\n", 9), 0);
        }
    }
}

TEST(what_goes_is_kept_with_both)
{
    EACH_PROFILE(p)
    {
        AUTO(engine_free_local) struct engine *s = open_with(p->memory, p->compaction, false);
        talk(s);
        if (compacts(p)) {
            struct notice *n = compact(s, remembers(p));
            if (n)
                assert_int_equal(n->event->count, 3);
        } else {
            surface_send(s, &operation_compaction_run, NULL);
            surface_expect_error(s, ERR_SESSION_COMPACTION_DISABLED, NULL);
        }
        int entries = compacts(p) ? 1 : 0;
        assert_int_equal(found(s, "zeppelin Friedrichshafen", NULL), remembers(p) ? entries : -1);
    }
}

TEST(the_model_searches_where_it_may)
{
    EACH_PROFILE(p)
    {
        AUTO(engine_free_local) struct engine *s = open_with(p->memory, p->compaction, false);
        struct notice *n = let_model_search(s, "{\"query\":\"zeppelin\"}");
        assert_int_equal(n->event->flag, !remembers(p));
        assert_string_equal(n->event->text,
                            remembers(p)
                                ? "Nothing was found."
                                : "memory_search cannot be used now: there is no memory here");
    }
}

TEST(what_is_off_is_an_error)
{
    const struct operation *o;
    AUTO(engine_free_local) struct engine *s = open_with(false, true, true);
    for (size_t i = 0; (o = operation_at(i)); i++) {
        if (!(o->needs & NEED_MEMORY))
            continue;
        (void)engine_start(s, o, NULL);
        struct notice *n = surface_expect(s, NOTICE_ANSWER);
        assert_string_equal(err_info(n->answer->error.code)->name, "MEMORY_DISABLED");
        assert_non_null(strstr(n->answer->error.text, capability_memory() ? "enabled" : "built"));
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

TEST_IF(capability_memory() && capability_compaction(), it_finds_what_went)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    assert_int_equal(found(s, "zeppelin", NULL), 0); /* it is still in the context */
    compact_and_index(s, 3);
    struct notice *n = let_model_search(s, "{\"query\":\"the zeppelin\",\"limit\":3}");
    assert_false(n->event->flag);
    struct json *hits = json_parse(n->event->text, strlen(n->event->text), NULL);
    const struct json *hit = json_first(hits);
    assert_non_null(strstr(json_get_string(hit, "content"), FACT));
    assert_int_equal(json_get_int(hit, "turn", 0), 1);
    assert_true(json_get_number(hit, "score", 0) > 0.5);
    char *session = support_keep(mem_strdup(json_get_string(hit, "session_id")));
    assert_string_equal(session, n->event->session_id);
    json_free(hits);
    assert_null(strstr(surface_last_body(), SUMMARY "\n" FACT));
    assert_non_null(strstr(surface_last_body(), "zeppelin")); /* the result went to the model */
}

/* --- what is sent with a message -------------------------------------------------------------- */

#define SENT "[From memory, for the message below."
#define ABOUT_IT "Is the zeppelin of Friedrichshafen decided?"

TEST_IF(capability_memory() && capability_compaction(), a_message_is_sent_with_what_memory_has)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    surface_ask(s, ABOUT_IT);
    assert_null(strstr(surface_last_body(), SENT)); /* the request has it anyway */
    compact_and_index(s, 4);
    surface_send(s, &operation_turn_start, ABOUT_IT);
    struct notice *n = surface_expect_event(s, EVENT_MEMORY_RECALLED);
    assert_string_equal(n->event->model, "turn");
    assert_string_equal(n->event->text, ABOUT_IT);
    assert_null(n->event->id);
    assert_in_range(n->event->number, 10, 1000);
    assert_non_null(strstr(n->event->hits, FACT));
    surface_expect_idle(s);
    const char *sent = strstr(surface_last_body(), SENT);
    assert_non_null(sent);
    assert_non_null(strstr(sent, FACT));
    assert_non_null(strstr(strstr(sent, FACT), ABOUT_IT)); /* the message comes after it */
    surface_ask(s, "And why was that?");
    sent = strstr(surface_last_body(), SENT);
    assert_true(sent && strstr(sent, FACT)); /* for the question before */
    surface_ask(s, "Tell me a joke about penguins.");
    assert_null(strstr(surface_last_body(), SENT)); /* neither again, nor for this message */
    surface_ask(s, "And why was that?");
    assert_null(strstr(surface_last_body(), SENT));
    const char *text = let_model_search(s, "{\"query\":\"zeppelin\"}")->event->text;
    assert_non_null(strstr(text, FACT));
    assert_null(strstr(text, " user in \"")); /* the session's own title tells nothing */
}

/* In two sessions; within one, memory keeps equal texts once. */
TEST_IF(capability_memory() && capability_store(), a_text_that_was_said_twice_is_sent_once)
{
    struct engine *s = NULL;
    for (int times = 0; times < 2; times++) {
        s = open_remembering();
        surface_ask(s, "Hello there."); /* the title */
        say_much(s, FACT);
        engine_free(s);
    }
    s = open_remembering();
    surface_ask(s, ABOUT_IT);
    const char *first = strstr(surface_last_body(), SENT);
    assert_true(first && (first = strstr(first, FACT)));
    assert_null(strstr(first + 1, FACT));
    engine_free(s);
}

/* Of two messages with the same words of an entry, one that asks for what was, or for the writer's
 * own, is more likely about memory. */
TEST_IF(capability_memory() && capability_compaction(), a_message_about_the_past_is_sent_sooner)
{
    static const struct {
        const char *message;
        bool sent;
    } rows[] = {{"Can the weather be decided?", false},  {"Can our weather be decided?", true},
                {"Had the weather been decided?", true}, {"Is zeppelin weather safe?", false},
                {"WAR zeppelin weather safe?", true},    {"Is zeppelin weather été?", false}};
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    compact_and_index(s, 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        surface_ask(s, rows[i].message);
        if ((strstr(surface_last_body(), SENT) != NULL) != rows[i].sent)
            fail_msg("%s", rows[i].message);
    }
}

/* Of this session until it is taken back, also when the session is opened again. */
TEST_IF(capability_memory() && capability_store(), what_is_left_out_is_sent_no_more)
{
    struct engine *s = open_remembering();
    talk(s);
    engine_free(s);
    s = open_remembering();
    surface_ask(s, ABOUT_IT);
    assert_non_null(strstr(surface_last_body(), SENT));
    const struct memory_search search = {.query = FACT, .limit = 1};
    const struct memory_found *found = surface_call(s, &operation_memory_search, &search)->result;
    struct memory_leave_out_params out = {.id = found->hits.items.items[0].entry.id};
    assert_int_equal(surface_call(s, &operation_memory_leave_out, &out)->error.code, ERR_OK);
    assert_int_equal(surface_call(s, &operation_memory_leave_out, &out)->error.code, ERR_OK);
    surface_ask(s, ABOUT_IT);
    assert_null(strstr(surface_last_body(), SENT));
    const char *text = let_model_search(s, "{\"query\":\"zeppelin\"}")->event->text;
    assert_non_null(strstr(text, FACT));
    assert_non_null(strstr(text, " user in \"")); /* the title of another session */
    engine_free(s);

    struct engine_options options = surface_options("last", true);
    options.memory = true;
    s = engine_new(&options);
    surface_ask(s, ABOUT_IT);
    assert_null(strstr(surface_last_body(), SENT));
    out.back = true;
    assert_int_equal(surface_call(s, &operation_memory_leave_out, &out)->error.code, ERR_OK);
    surface_ask(s, ABOUT_IT);
    assert_non_null(strstr(surface_last_body(), SENT));
    out.id = "no entry";
    assert_int_equal(surface_call(s, &operation_memory_leave_out, &out)->error.code,
                     ERR_MEMORY_NOT_FOUND);
    surface_send(s, &operation_session_create, NULL);
    surface_expect(s, NOTICE_SESSION);
    out.id = found->hits.items.items[0].entry.id;
    assert_int_equal(surface_call(s, &operation_memory_leave_out, &out)->error.code, ERR_USAGE);
    surface_ask(s, ABOUT_IT);
    assert_non_null(strstr(surface_last_body(), SENT)); /* another session */
    engine_free(s);
}

static bool note_event(void *trail, const struct event *ev)
{
    if (ev->type == EVENT_TEXT_DELTA || ev->type == EVENT_MEMORY_LEFT_OUT)
        buf_addf(trail, "%s %s|", event_name(ev->type),
                 ev->type == EVENT_TEXT_DELTA ? ev->text : "");
    return true;
}

/* A crash after it would lose no more than before. */
TEST_IF(capability_memory() && capability_compaction() && capability_store(),
        what_is_left_out_while_an_answer_streams_cuts_nothing)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    AUTO(buf_release) struct buf trail = BUF_INIT;
    struct session_info info;
    struct error e;
    talk(s);
    compact_and_index(s, 3);
    const struct memory_search search = {.query = FACT, .limit = 1};
    const struct memory_found *found = surface_call(s, &operation_memory_search, &search)->result;
    const struct memory_leave_out_params out = {.id = found->hits.items.items[0].entry.id};
    QUEUE(surface_server(), .fault = REPLY_STALL, .text = "Half an answer");
    surface_send(s, &operation_turn_start, "Tell me of penguins");
    surface_expect_event(s, EVENT_TEXT_DELTA);
    assert_int_equal(surface_call(s, &operation_memory_leave_out, &out)->error.code, ERR_OK);
    assert_true(surface_read("last", &info, note_event, &trail, &e));
    session_info_release(&info);
    assert_string_equal(trail.data, "text_delta Half an answer|memory_left_out |");
    model_server_release(surface_server());
    struct notice *n = surface_expect_event(s, EVENT_TEXT_COMPLETE);
    assert_string_equal(n->event->text, "Half an answer");
    surface_expect_idle(s);
}

TEST_IF(capability_memory() && capability_compaction(), memory_is_not_asked_where_it_is_off)
{
    static const struct {
        const char *recall;
        enum memory_access access;
        bool sent, offered;
    } rows[] = {{"auto", MEMORY_ACCESS_WRITE, true, true},
                {"auto", MEMORY_ACCESS_OFF, false, false},
                {"tool", MEMORY_ACCESS_WRITE, false, true},
                {"off", MEMORY_ACCESS_WRITE, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        surface_set(CONFIG_MEMORY_RECALL, rows[i].recall);
        AUTO(engine_free_local) struct engine *s = open_with(true, true, false);
        talk(s);
        compact_and_index(s, 3);
        const struct session_memory_params access = {.access = rows[i].access};
        assert_int_equal(surface_call(s, &operation_session_set_memory, &access)->error.code,
                         ERR_OK);
        surface_ask(s, ABOUT_IT);
        assert_int_equal(strstr(surface_last_body(), SENT) != NULL, rows[i].sent);
        assert_int_equal(was_offered("memory_search"), rows[i].offered);
    }
}

/* Without a limit, short texts that were said around a hit come with it, once. */
TEST_IF(capability_memory() && capability_compaction(), hits_come_with_what_was_said_around_them)
{
    static const char *const around[] = {"The captain is called Miso", "It shall be green",
                                         "Nothing with bells"};
    AUTO(engine_free_local) struct engine *s = open_remembering();
    surface_ask(s, around[0]);
    say_much(s, FACT);
    surface_ask(s, around[1]);
    surface_ask(s, "Or a little blue");
    surface_ask(s, around[2]);
    compact_and_index(s, 6);
    const char *text = let_model_search(s, "{\"query\":\"zeppelin\"}")->event->text;
    const char *fact = strstr(text, FACT), *last = strstr(text, around[1]);
    assert_true(fact && last && fact < last && strstr(text, around[0]));
    assert_null(strstr(last + 1, around[1]));
    assert_null(strstr(text, around[2])); /* too far away */
    text = let_model_search(s, "{\"query\":\"zeppelin\",\"limit\":5}")->event->text;
    assert_true(strstr(text, FACT) && !strstr(text, around[1]));
}

TEST_IF(capability_memory() && capability_compaction(), the_limit_holds)
{
    static const struct {
        const char *args;
        int entries;
    } rows[] = {{"{\"query\":\"zeppelin\",\"limit\":2}", 2},
                {"{\"query\":\"zeppelin\",\"limit\":20}", 3}};
    AUTO(engine_free_local) struct engine *s = open_remembering();
    say_much(s, "A red zeppelin");
    say_much(s, "The zeppelin was blue");
    say_much(s, "No zeppelin is green");
    compact_and_index(s, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct notice *n = let_model_search(s, rows[i].args);
        AUTO(json_free_local)
        struct json *hits = json_parse(n->event->text, strlen(n->event->text), NULL);
        assert_int_equal(json_len(hits), rows[i].entries);
    }
}

TEST_IF(capability_memory() && capability_compaction(), each_search_of_the_model_is_told)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    compact_and_index(s, 3);
    model_server_queue(surface_server(), &(struct reply){.tool_name = "memory_search",
                                                         .tool_args = "{\"query\":\"zeppelin\"}"});
    surface_send(s, &operation_turn_start, "Look it up");
    struct notice *n = surface_expect_event(s, EVENT_MEMORY_RECALLED);
    assert_string_equal(n->event->text, "zeppelin");
    assert_int_equal(n->event->limit, 60);
    struct json *hits = json_parse(n->event->hits, strlen(n->event->hits), NULL);
    assert_string_equal(json_get_string(json_first(hits), "role"), "user");
    assert_non_null(json_get_string(json_first(hits), "id"));
    assert_int_equal(json_get_int(json_first(hits), "seq", 0), 1);
    json_free(hits);
    surface_expect_idle(s);
}

TEST_IF(capability_memory() && capability_compaction() && capability_store(),
        another_session_finds_it_by_scope)
{
    static const struct {
        const char *scope;
        int entries;
    } rows[] = {{"all", 1}, {"project", 1}, {"session", 0}};
    struct engine *s = open_remembering();
    talk(s);
    compact_and_index(s, 3);
    engine_free(s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        surface_set(CONFIG_MEMORY_SCOPE, rows[i].scope);
        s = open_remembering();
        struct notice *n = let_model_search(s, "{\"query\":\"zeppelin\",\"limit\":5}");
        struct json *hits = json_parse(n->event->text, strlen(n->event->text), NULL);
        assert_int_equal(json_len(hits), rows[i].entries);
        json_free(hits);
        assert_int_equal(found(s, "zeppelin", "all"), 1);
        assert_int_equal(found(s, "zeppelin", "session"), 0);
        engine_free(s);
    }
}

TEST_IF(capability_memory() && capability_compaction(), undoing_takes_it_out_again)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    compact_and_index(s, 3);
    assert_int_equal(found(s, "zeppelin", NULL), 1);
    surface_send(s, &operation_compaction_undo, NULL);
    surface_expect_event(s, EVENT_COMPACTION_UNDONE);
    assert_int_equal(found(s, "zeppelin", NULL), 0);
    compact_and_index(s, 3);
    assert_int_equal(found(s, "zeppelin", NULL), 1);
}

TEST_IF(capability_memory() && capability_compaction(), a_second_compaction_keeps_no_summary)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    compact_and_index(s, 3);
    say_much(s, "Of trains we spoke");
    compact_and_index(s, 1); /* the answer was remembered before */
    assert_int_equal(found(s, "summary", NULL), 0);
    assert_int_equal(found(s, "trains", NULL), 1);
    assert_int_equal(found(s, "zeppelin", NULL), 1);
}

TEST_IF(capability_memory() && capability_compaction() && capability_store(),
        a_deleted_session_is_forgotten)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    compact_and_index(s, 3);
    engine_free(s);
    s = open_remembering();
    say_much(s, "A zeppelin of another kind");
    say_much(s, "More of it");
    assert_int_equal(found(s, "Friedrichshafen", NULL), 1);
    surface_send_for(s, &operation_session_delete, "~2", NULL, 0);
    surface_expect_changed(s);
    assert_int_equal(found(s, "Friedrichshafen", NULL), 0);
    compact_and_index(s, 3);
    assert_int_equal(found(s, "zeppelin", NULL), 1);
    surface_send(s, &operation_session_delete, NULL); /* the open one */
    surface_expect_changed(s);
    assert_int_equal(found(s, "zeppelin", NULL), 0);
    assert_int_equal(found(s, "", "all"), 0);
}

TEST_IF(capability_memory() && capability_compaction(), a_fork_finds_what_its_parent_lost)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    compact_and_index(s, 3);
    surface_send(s, &operation_session_fork, NULL);
    surface_expect_changed(s);
    assert_int_equal(found(s, "zeppelin", "session"), 1);
    assert_int_equal(found(s, "zeppelin", "all"), 1); /* nothing is there twice */
}

/* --- sessions that were left ------------------------------------------------------------------ */

static size_t recalled(struct engine *s, const char *args)
{
    struct notice *n = let_model_search(s, args);
    assert_false(n->event->flag);
    AUTO(json_free_local)
    struct json *hits = json_parse(n->event->text, strlen(n->event->text), NULL);
    return json_len(hits);
}

TEST_IF(capability_memory() && capability_store(), what_was_left_is_recalled_and_read)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    engine_free(s);
    s = open_remembering();
    assert_int_equal(found(s, "Friedrichshafen", NULL), 1);
    const char *text = let_model_search(s, "{\"query\":\"zeppelin\"}")->event->text;
    assert_int_equal(*text, '#'); /* the number of the entry */
    char *id = support_keep(mem_strndup(text, strcspn(text, " ")));
    model_server_queue(surface_server(),
                       &(struct reply){.tool_name = "memory_read",
                                       .tool_args = support_text("{\"id\":\"%s\"}", id)});
    model_server_queue(surface_server(), &(struct reply){.text = "There."});
    surface_send(s, &operation_turn_start, "Read it");
    struct notice *n = surface_expect_event(s, EVENT_TOOL_EXECUTION_COMPLETED);
    assert_false(n->event->flag);
    assert_non_null(strstr(n->event->text, FACT));
    assert_non_null(strstr(n->event->text, "Then we talked of the weather"));
    surface_expect_idle(s);
}

TEST_IF(capability_memory() && capability_store(), what_the_request_holds_is_passed_over)
{
    struct engine *s = open_remembering();
    talk(s);
    engine_free(s);
    struct engine_options options = surface_options("last", true);
    options.memory = true;
    s = engine_new(&options);
    assert_int_equal(found(s, "zeppelin", NULL), 1); /* people see all */
    assert_int_equal(recalled(s, "{\"query\":\"zeppelin\",\"limit\":1}"), 0);
    surface_send(s, &operation_session_create, NULL);
    surface_expect(s, NOTICE_SESSION);
    assert_int_equal(recalled(s, "{\"query\":\"zeppelin\",\"limit\":1}"), 1);
    engine_free(s);
}

/* The words beside the call take the conversation past the threshold, behind the search. */
TEST_IF(capability_memory() && capability_compaction() && capability_store(),
        what_was_passed_over_outlives_the_turns_compaction)
{
    struct engine *s = open_remembering();
    talk(s);
    talk(s);
    engine_free(s);
    surface_set(CONFIG_COMPACTION_AUTO_THRESHOLD, "2000");
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "1");
    struct engine_options options = surface_options("last", true);
    options.memory = true;
    s = engine_new(&options);
    model_server_queue(surface_server(), &(struct reply){.text = support_text("%04000d", 0),
                                                         .tool_name = "memory_search",
                                                         .tool_args = "{\"query\":\"zeppelin\"}"});
    model_server_queue(surface_server(), &(struct reply){.text = SUMMARY});
    surface_ask(s, "Look it up");
    assert_non_null(strstr(surface_last_body(), SUMMARY));
    assert_non_null(strstr(surface_last_body(), FACT));
    engine_free(s);
}

TEST_IF(capability_memory() && capability_store(), what_a_fork_of_a_fork_holds_is_passed_over)
{
    struct engine *s = open_remembering();
    talk(s);
    for (int i = 0; i < 2; i++) {
        surface_send(s, &operation_session_fork, NULL);
        surface_expect_changed(s);
        say_much(s, "And more");
    }
    engine_free(s);
    struct engine_options options = surface_options("last", true);
    options.memory = true;
    s = engine_new(&options);
    assert_int_equal(found(s, "zeppelin", "all"), 1);
    assert_int_equal(recalled(s, "{\"query\":\"zeppelin\",\"limit\":1}"), 0);
    engine_free(s);
}

TEST_IF(capability_memory() && capability_store(), the_index_is_what_is_configured)
{
    static const char *const rows[] = {"dropped", "off"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        surface_set(CONFIG_MEMORY_INDEX, rows[i]);
        AUTO(engine_free_local) struct engine *s = open_remembering();
        talk(s);
        engine_free(s);
        s = open_remembering();
        assert_int_equal(found(s, "", "all"), 0);
    }
}

static bool has_come(void *engine)
{
    return found(engine, "zeppelin", "all") == 1;
}

/* The entries arrive before the program ends, even if sessions are not kept. */
TEST_IF(capability_memory(), a_session_comes_in_as_it_is_left)
{
    for (int persist = 0; persist < 2; persist++) {
        AUTO(engine_free_local)
        struct engine *s = open_with(true, true, persist && capability_store());
        talk(s);
        assert_int_equal(found(s, "zeppelin", "all"), 0);
        surface_send(s, &operation_session_create, NULL);
        assert_true(support_wait_until(has_come, s, SURFACE_MS));
    }
}

TEST_IF(capability_memory(), what_is_not_offered_has_no_skill)
{
    static const struct {
        const char *tools, *deny;
    } rows[] = {{"none", ""}, {"read", "memory_search"}, {"full", "read"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct engine_options options = surface_options(NULL, true);
        surface_set(CONFIG_TOOLS_DENY, rows[i].deny);
        options.memory = true;
        options.tools = rows[i].tools;
        AUTO(engine_free_local) struct engine *s = engine_new(&options);
        surface_ask(s, "hello");
        assert_false(was_offered("memory_search"));
        assert_false(had_skill());
        assert_int_equal(found(s, "zeppelin", NULL), 0); /* the user may */
    }
}

static int handed_over;

static bool take(void *context, struct store *s, const struct discard *d, int *entries,
                 struct error *e)
{
    (void)context, (void)s, (void)e;
    handed_over += (int)d->count;
    *entries = 7;
    return true;
}

TEST_IF(capability_memory() && capability_compaction(), a_sink_of_ones_own_takes_its_place)
{
    static const struct discard_sink sink = {.index = take};
    struct engine_options options = surface_options(NULL, true);
    options.memory = true;
    options.sink = &sink;
    AUTO(engine_free_local) struct engine *s = engine_new(&options);
    handed_over = 0;
    talk(s);
    compact_and_index(s, 7);
    assert_int_equal(handed_over, 4);
    assert_int_equal(found(s, "zeppelin", NULL), 0);
}

TEST_IF(capability_memory() && capability_compaction() && capability_store(),
        it_is_there_after_a_restart)
{
    AUTO(engine_free_local) struct engine *s = open_remembering();
    talk(s);
    compact_and_index(s, 3);
    engine_free(s);
    s = open_with(false, true, true); /* without it, nothing is kept, and nothing lost */
    say_much(s, "A secret zeppelin");
    say_much(s, "And more");
    assert_null(compact(s, false));
    engine_free(s);
    s = open_remembering();
    assert_int_equal(found(s, "zeppelin", "all"), 1);
}

static bool is_indexed(void *unused)
{
    (void)unused;
    return damage_number(surface_store(), "SELECT count(*) FROM memory_deferred") == 0;
}

/* The program was killed before it had indexed the messages that a compaction dropped; the next
 * program indexes them. */
TEST_IF(capability_memory() && capability_compaction() && capability_store(),
        what_is_deferred_is_indexed_after_a_restart)
{
    struct engine *s = open_with(false, true, true);
    talk(s);
    engine_free(s);
    damage_sql(surface_store(),
               "INSERT INTO memory_deferred SELECT id, 9, 1, '[[1,1]]' FROM session RETURNING 1");
    s = open_remembering();
    assert_true(support_wait_until(is_indexed, NULL, 20000));
    assert_int_equal(found(s, "zeppelin", "all"), 1);
    engine_free(s);
}
