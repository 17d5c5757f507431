/* Tools in the turn loop: where they come from, which are offered, and which the user is asked
 * about. */
#include <unistd.h>

#include "agent/tool.h"
#include "base/clock.h"
#include "tests/play.h"
#include "tests/suite.h"

/* A shop of tools whose list is a text: a letter a tool. */
static struct shop {
    const char *stock; /* the next list */
    const char *next;  /* the stock after the call that runs now; NULL: as it is */
    bool changed;
    const char *closed, *closes; /* why no tool can be had; from the call that runs now on */
    int lists;
    size_t bytes; /* of each result */
    bool dawdles; /* runs until it is stopped */
    bool rings;   /* the user presses Esc meanwhile */
    struct ware {
        char name[8];
        int calls;
    } wares[26];
} shop;

static const char *lacks(const void *self)
{
    (void)self;
    return shop.closed;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    struct ware *ware = context->self;
    (void)args;
    ware->calls++;
    if (shop.next) {
        shop.stock = shop.next;
        shop.changed = true;
    }
    if (shop.closes)
        shop.closed = shop.closes;
    if (shop.rings)
        play_press_escape();
    while (shop.dawdles)
        if (tool_stopped(context, out))
            return false;
    buf_addf(out, "sold %s", ware->name);
    for (size_t i = 0; i < shop.bytes; i++)
        buf_addch(out, 'x');
    return true;
}

static void list(struct tool_host *host, struct toolset *out)
{
    (void)host;
    shop.lists++;
    shop.changed = false;
    for (const char *letter = shop.stock; *letter; letter++) {
        struct ware *ware = &shop.wares[*letter - 'a'];
        snprintf(ware->name, sizeof ware->name, "shop_%c", *letter);
        const struct tool row = {.spec = {ware->name, "Buy it.", "{\"type\":\"object\"}", false},
                                 .class = TOOL_NETWORK,
                                 .timeout = CONFIG_TOOLS_TIMEOUT,
                                 .lacks = lacks,
                                 .run = run};
        toolset_add(out, &row, ware);
    }
}

static bool changed(struct tool_host *host)
{
    (void)host;
    return shop.changed;
}

static const struct tool_source source = {.name = "shop", .list = list, .changed = changed};

static const struct tool_source *const sources[] = {&tool_source_builtin, &source,
                                                    &tool_source_memory, NULL};
static const struct tool_source *const twice[] = {&source, &source, NULL};

#define BUILTIN " read_file list_directory search_files write_file edit_file run_command fetch_url"

static int setup(void **state)
{
    memset(&shop, 0, sizeof shop);
    shop.stock = "ab";
    if (play_setup(state) != 0)
        return -1;
    play.sources = sources;
    play.answer = APPROVAL_ALLOW;
    return 0;
}

#define BUY(letter)                                                                                \
    {                                                                                              \
        .tool = "shop_" letter, .args = "{}", .stop = STOP_TOOL_USE                                \
    }
#define DONE                                                                                       \
    {                                                                                              \
        .text = "Done.", .stop = STOP_END_TURN                                                     \
    }

static void check_result(int n, bool is_error, const char *text)
{
    const struct event *ev = play_event(EVENT_TOOL_EXECUTION_COMPLETED, n);
    assert_non_null(ev);
    assert_string_equal(ev->text, text);
    assert_int_equal(ev->flag, is_error);
    assert_false(ev->denied);
}

FIXTURES(toolset, setup, play_teardown);

TEST(a_list_changes_between_model_calls)
{
    shop.next = "bc";
    PLAY(BUY("a"), DONE);
    assert_string_equal(play.offered.data, BUILTIN " shop_b shop_c");
    check_result(0, false, "sold shop_a");
    assert_int_equal(shop.lists, 2); /* as the turn begins, and once changed */
}

/* The model was offered them, and asked for them at once. */
TEST(calls_of_one_answer_have_one_list)
{
    shop.next = "";
    PLAY({.tool = "shop_b", .args = "{}", .calls = 2, .stop = STOP_TOOL_USE}, BUY("b"), DONE);
    check_result(0, false, "sold shop_b");
    check_result(1, false, "sold shop_b");
    check_result(2, true, "there is no tool named \"shop_b\"");
    assert_string_equal(play.offered.data, BUILTIN);
    play_check_history();
}

TEST(a_source_goes_away_in_mid_answer)
{
    shop.closes = "the shop has burnt down";
    PLAY({.tool = "shop_a", .args = "{}", .calls = 2, .stop = STOP_TOOL_USE}, DONE);
    check_result(0, false, "sold shop_a");
    check_result(1, true, "shop_a cannot be used now: the shop has burnt down");
    assert_string_equal(play.offered.data, BUILTIN);
    assert_int_equal(shop.wares[0].calls, 1);
    play_check_history();
}

TEST(each_call_gets_the_self_of_its_tool)
{
    PLAY(BUY("b"), BUY("a"), BUY("b"), DONE);
    assert_int_equal(shop.wares[0].calls, 1);
    assert_int_equal(shop.wares[1].calls, 2);
    check_result(2, false, "sold shop_b");
}

TEST(a_name_that_is_taken_is_left_out)
{
    play.sources = twice;
    PLAY(BUY("a"), DONE);
    assert_string_equal(play.offered.data, " shop_a shop_b");
    check_result(0, false, "sold shop_a");
}

/* --- the rules of every call --- */

TEST(its_class_asks)
{
    PLAY(BUY("a"), DONE);
    assert_int_equal(play.questions, 1);
    assert_string_equal(play.asked_name, "shop_a");
    play_policy("shop_b", NULL, "network");
    PLAY(BUY("a"), BUY("b"), DONE);
    assert_int_equal(play.questions, 1);
    assert_true(play_event(EVENT_TOOL_EXECUTION_COMPLETED, 1)->denied);
    check_result(2, false, "sold shop_b");
    play.offer = "read";
    PLAY(DONE);
    assert_null(strstr(play.offered.data, "shop"));
}

TEST(its_output_is_bounded)
{
    assert_true(config_set(play.config, CONFIG_TOOLS_MAX_OUTPUT, "1024", NULL));
    shop.bytes = 5000;
    PLAY(BUY("a"), DONE);
    const struct event *ev = play_event(EVENT_TOOL_EXECUTION_COMPLETED, 0);
    assert_string_equal(ev->text + 1024, "\n[cut: 1024 of 5011 bytes shown]");
}

/* --- approval --- */

#define WRITE_NOTE                                                                                 \
    {                                                                                              \
        .tool = "write_file", .args = "{\"path\":\"note.txt\",\"content\":\"forty-two\\n\"}",      \
        .stop = STOP_TOOL_USE                                                                      \
    }

#define NOBODY                                                                                     \
    "not allowed: nobody could be asked; allow it with [tools] allow or --allow write_file"

static bool note_exists(void)
{
    return access(support_path("note.txt"), F_OK) == 0;
}

/* The newest tool result, which went to the model. */
static const struct event *result(int n)
{
    const struct event *ev = play_event(EVENT_TOOL_EXECUTION_COMPLETED, n);
    assert_non_null(ev);
    return ev;
}

static void assert_refused(int n, const char *text)
{
    assert_true(result(n)->flag);
    assert_string_equal(result(n)->text, text);
    assert_false(note_exists());
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_string_equal(play_last()->text, "Done.");
    play_check_history();
}

FIXTURES(asked, play_setup, play_teardown);

TEST(what_is_denied_is_not_offered)
{
    play_policy(NULL, NULL, "execute read_file");
    PLAY(DONE);
    assert_false(play_offered("run_command"));
    assert_false(play_offered("read_file"));
    assert_true(play_offered("list_directory"));
    assert_true(play_offered("write_file"));
}

TEST(without_a_directory_nothing_runs)
{
    play.rootless = true;
    play_policy("write", "execute", NULL);
    PLAY(WRITE_NOTE, DONE);
    assert_refused(0, "write_file cannot be used now: the working directory cannot be opened");
}

TEST(what_is_allowed_runs_without_a_question)
{
    play_policy("write", "execute", NULL);
    PLAY(WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 0);
    assert_false(result(0)->flag);
    assert_true(note_exists());
    play_check_history();
}

TEST(the_user_allows_a_call)
{
    play.answer = APPROVAL_ALLOW;
    PLAY(WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 1);
    assert_string_equal(play.asked_id, result(0)->id);
    assert_string_equal(play.asked_name, "write_file");
    assert_string_equal(play.asked_args, "{\"path\":\"note.txt\",\"content\":\"forty-two\\n\"}");
    assert_non_null(strstr(play.asked_preview, "+forty-two"));
    assert_false(result(0)->flag);
    assert_true(note_exists());
    play_check_history();
}

TEST(the_user_declines_a_call_and_the_turn_goes_on)
{
    play.answer = APPROVAL_DENY;
    PLAY(WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 1);
    assert_refused(0, "the user declined this call");
    assert_int_equal(play.last_message_count, 3);
}

/* The user sees a warning, and the model a note after the last result. */
TEST(refused_calls_are_told)
{
    struct act acts = {
        .tool = "list_directory", .args = "{}", .calls = 2, .refused = true, .stop = STOP_TOOL_USE};
    PLAY(acts, DONE);
    assert_string_equal(play_event(EVENT_WARNING, 0)->name, "calls_refused");
    assert_null(strstr(result(0)->text, "refused"));
    assert_non_null(strstr(result(1)->text, "an answer may have 128 tool calls"));
    assert_false(result(1)->flag);
    play_check_history();
}

TEST(allowed_for_the_session_is_asked_once)
{
    struct act acts = WRITE_NOTE;
    acts.calls = 2;
    play.answer = APPROVAL_ALLOW;
    play.for_session = true;
    PLAY(acts, WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 1);
    assert_false(result(2)->flag);
}

TEST(nobody_can_be_asked)
{
    play.answer = APPROVAL_ASK;
    PLAY(WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 1);
    assert_refused(0, NOBODY);
}

/* A call that cannot succeed asks for no approval. */
TEST(what_the_preview_refuses_is_not_asked)
{
    play.answer = APPROVAL_ALLOW;
    PLAY({.tool = "write_file",
          .args = "{\"path\":\"../note.txt\",\"content\":\"\"}",
          .stop = STOP_TOOL_USE},
         DONE);
    assert_int_equal(play.questions, 0);
    assert_true(result(0)->flag);
    assert_true(*result(0)->text != '\0');
    assert_string_equal(play_last()->text, "Done.");
}

/* An interrupt runs no tool, whatever the answer to the question is. */
TEST(an_interrupt_while_asked_runs_nothing)
{
    static const enum approval_verdict answers[] = {APPROVAL_DENY, APPROVAL_ALLOW};
    struct act acts = WRITE_NOTE;
    acts.calls = 2;
    play.escapes = true;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        play.answer = answers[i];
        play.stop = false;
        PLAY(acts);
        assert_int_equal(play.questions, i + 1);
        assert_int_equal(play_last()->type, EVENT_INTERRUPTED);
        assert_null(play_event(EVENT_TOOL_EXECUTION_COMPLETED, 0));
        assert_false(note_exists());
        play_check_history();
    }
    const struct message *results = &vec_last(&play.history.messages);
    assert_string_equal(results->blocks.items[0].text, "Not executed: the turn was cut off.");
}

TEST(a_tool_has_its_own_time)
{
    assert_true(config_set(play.config, CONFIG_TOOLS_COMMAND_TIMEOUT, "1", NULL));
    play_policy("execute", "write", NULL);
    PLAY({.tool = "run_command", .args = "{\"command\":\"sleep 600\"}", .stop = STOP_TOOL_USE},
         DONE);
    assert_true(result(0)->flag);
    assert_in_range(result(0)->number, 900, 60000);
    assert_string_equal(play_last()->text, "Done.");
}
