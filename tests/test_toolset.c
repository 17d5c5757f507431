/* Sources of tools: their order, lists that change, tools that go, and the rules that hold for the
 * calls of every source. */
#include <stdio.h>
#include <string.h>

#include "agent/tool.h"
#include "base/clock.h"
#include "base/mem.h"
#include "play.h"
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
        const struct tool row = {.spec = {ware->name, "Buy it.", "{\"type\":\"object\"}"},
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

#define BUILTIN " read_file list_directory search_files write_file run_command"

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

FIXTURE(setup, play_teardown);

TEST(they_are_in_the_order_of_rows_and_lists)
{
    shop.stock = "ba";
    PLAY(DONE);
    assert_string_equal(play.offered.data, BUILTIN " shop_b shop_a");
}

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

TEST(what_cannot_be_had_is_not_offered)
{
    shop.closed = "the shop has closed";
    PLAY(BUY("a"), DONE);
    assert_string_equal(play.offered.data, BUILTIN);
    check_result(0, true, "shop_a cannot be used now: the shop has closed");
    assert_int_equal(play.questions, 0);
    assert_int_equal(shop.wares[0].calls, 0);
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

TEST(a_source_goes_away_while_the_user_is_asked)
{
    struct tool_call call;
    AUTO(buf_release) struct buf out = BUF_INIT;
    const struct tool_context context = {.max_output = 1000};
    assert_true(tool_call_prepare(&call, play_tools(), "shop_a", "{}", &out));
    shop.closed = "the shop has closed";
    assert_true(tool_call_run(&call, &context, &out));
    assert_string_equal(out.data, "shop_a cannot be used now: the shop has closed");
    tool_call_release(&call);
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

TEST(its_arguments_are_checked)
{
    PLAY({.tool = "shop_a", .args = "{\"price\":1}", .stop = STOP_TOOL_USE}, DONE);
    check_result(0, true, "unknown argument \"price\"");
    assert_int_equal(shop.wares[0].calls, 0);
}

TEST(its_time_ends)
{
    struct tool_call call;
    AUTO(buf_release) struct buf out = BUF_INIT;
    const struct tool_context context = {
        .max_output = 1000, .deadline_ms = clock_mono_ms() - 1, .wakeup = &play.wakeup};
    shop.dawdles = true;
    assert_true(tool_call_prepare(&call, play_tools(), "shop_a", "{}", &out));
    assert_true(tool_call_run(&call, &context, &out));
    assert_string_equal(out.data, "timed out");
    tool_call_release(&call);
}

TEST(escape_ends_it)
{
    shop.dawdles = shop.rings = true;
    PLAY(BUY("a"));
    check_result(0, true, "interrupted");
    assert_int_equal(play_last()->type, EVENT_INTERRUPTED);
    play_check_history();
}
