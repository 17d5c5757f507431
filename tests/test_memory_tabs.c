/* The tabs of the memory pane: their order, the keys between them, and the tab with the keyboard.
 * The tab beside memory's own is a fake view that records its calls. */
#include "session/memory_operations.h"
#include "tests/seen.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "ui/view/memory_view.h"

/* --- a tab --- */

static struct {
    struct view view;
    struct rows rows;
    int notices;
    bool takes; /* every key */
} fake;

static bool memory_is_off, fake_is_off;

static void free_fake(struct view *v)
{
    (void)v;
    rows_release(&fake.rows);
}

static bool fake_key(struct view *v, enum action action, const struct key *key)
{
    (void)v, (void)action;
    if (fake.takes)
        buf_addf(&the.asked, "key %c\n", key->code == K_CHAR ? (char)key->cp : '?');
    return fake.takes;
}

static void fake_click(struct view *v, int row, int col)
{
    (void)v;
    buf_addf(&the.asked, "click %d %d\n", row, col);
}

static const struct rows *fake_rows(struct view *v)
{
    v->caret.shown = true;
    rows_clear(&fake.rows);
    for (int i = 0; i < fake.view.height; i++) {
        rows_begin(&fake.rows);
        rows_addstr(&fake.rows, i == 0 ? "the fake" : "", STYLE_OVERLAY, 0);
        rows_pad(&fake.rows, (size_t)fake.view.width - (i == 0 ? strlen("the fake") : 0),
                 STYLE_OVERLAY);
    }
    return &fake.rows;
}

static void fake_notice(struct view *v, struct notice *n)
{
    (void)v, (void)n;
    fake.notices++;
}

static const struct view_ops fake_ops = {.free = free_fake,
                                         .key = fake_key,
                                         .click = fake_click,
                                         .rows = fake_rows,
                                         .notice = fake_notice};

static struct view *make_fake(const struct view_host *host)
{
    fake.view = (struct view){.ops = &fake_ops, .host = host};
    rows_init(&fake.rows);
    return &fake.view;
}

static void show_fake(struct view *v, const char *query)
{
    (void)v;
    buf_addf(&the.asked, "shown %s\n", query ? query : "as it was");
}

static const struct view_tab tabs[] = {{"fake", &operation_memory_stats, make_fake, show_fake},
                                       {.name = NULL}};

/* --- the host --- */

static bool offers(struct app *app, const struct operation *o)
{
    (void)app;
    return !(o == &operation_memory_search ? memory_is_off : fake_is_off);
}

static bool has_memory(struct app *app)
{
    (void)app;
    if (memory_is_off)
        buf_addstr(&the.asked, "off\n");
    return !memory_is_off;
}

static void came(struct app *app, struct view *v)
{
    (void)app, (void)v;
}

static bool beside(struct app *app)
{
    (void)app;
    return true;
}

static void gone(struct app *app, const struct view *v, uint64_t id)
{
    (void)app;
    if (id == 0 && v)
        buf_addstr(&the.asked, v == &fake.view ? "fake gone\n" : "gone\n");
}

static struct pane_host pane;

static void open_pane(void)
{
    memory_view_toggle(the.view);
    forget_sent();
}

static void give_busy(void)
{
    give(notice_new(NOTICE_BUSY));
}

static void focus(const char *yes)
{
    (void)memory_view_focus(the.view, *yes == 'y');
}

static const struct step steps[] = {{"focus", .run = focus},
                                    {"pane", .alone = open_pane},
                                    {"busy", .alone = give_busy},
                                    {.name = NULL}};

static int set_up(void **state)
{
    (void)state;
    stage_set_up(steps, 80, 22);
    memory_is_off = fake_is_off = false;
    memset(&fake, 0, sizeof fake);
    pane.tabs = tabs;
    pane.offers = offers;
    pane.has_memory = has_memory;
    pane.came = came;
    pane.beside = beside;
    the.host.withdraw = gone;
    pane.memory_scope = "all";
    the.view = memory_view_new(&the.host, &pane);
    (void)rows_now();
    return 0;
}

/* --- tests --- */

BEFORE_ALL(support_utf8);
FIXTURE(set_up, stage_tear_down);

TEST(names_stand_above_where_there_is_more_than_one)
{
    play("=pane", " memory    fake", "Memory");
    fake_is_off = true;
    see("!fake", "Memory");
}

/* While the user types a line, digits are text. */
PLAY(names_have_digits_where_these_are_keys, "=pane", "!1 memory", "] recalled", ">a",
     "!] recalled", "><backspace>", "=ok memory/search", "><down>", "1 memory  2 fake",
     "] recalled", "=focus no", " memory    fake", "!2 fake", "!] recalled", "=focus yes", "><f6>",
     "the fake", "!2 fake"); /* it has a caret */
PLAY(a_low_pane_has_no_row_for_names, "=pane", "=height 7", "!fake", "=height 8",
     " memory    fake");

TEST(a_key_leads_to_the_next_tab_and_round)
{
    play("=pane", "><f6>", "the fake", "?shown as it was");
    assert_int_equal(fake.view.height, the.height - 1);
    act("<f6>", "!the fake");
}

/* In the query, digits are text. */
PLAY(digits_choose_where_nothing_is_written, "=pane", ">2", "!the fake", "/ 2", "=ok memory/search",
     "><down>2", "the fake", ">1", "!the fake");

TEST(the_tab_gets_its_keys_first)
{
    play("=pane", "><f6>");
    fake.takes = true;
    act("1", "?key 1", "the fake");
    fake.takes = false;
    act("1", "!the fake");
}

PLAY(escape_that_the_tab_does_not_take_closes_the_pane, "=pane", "><f6>", "=forget", "><escape>",
     "?close");

TEST(clicks_are_told_by_the_rows_of_the_tab)
{
    play("=pane", "=draw");
    the.view->ops->click(the.view, 0, 12);
    see("the fake");
    the.view->ops->click(the.view, 3, 5);
    see("?click 2 5");
    the.view->ops->click(the.view, 0, 2);
    see("!the fake");
}

PLAY(the_caret_stands_below_the_names, "=pane", "><f6>", "=caret 1 0");

TEST(every_tab_that_was_made_hears_notices)
{
    play("=pane", "=busy");
    assert_int_equal(fake.notices, 0);
    play("><f6><f6>", "=busy");
    assert_int_equal(fake.notices, 1);
}

TEST(without_memory_the_pane_opens_at_what_there_is)
{
    memory_is_off = true;
    play("=pane", "the fake", "!?off", "!1 memory");
}

TEST(without_any_tab_it_says_that_memory_is_off)
{
    memory_is_off = fake_is_off = true;
    memory_view_toggle(the.view);
    assert_false(memory_view_is_open(the.view));
    assert_non_null(strstr(the.asked.data, "off"));
}

TEST(a_command_opens_a_tab_with_a_query)
{
    assert_true(memory_view_open_tab(the.view, "fake", "river"));
    see("the fake", "?shown river");
    assert_false(memory_view_open_tab(the.view, "other", ""));
    fake_is_off = true;
    assert_false(memory_view_open_tab(the.view, "fake", ""));
}

TEST(it_opens_again_at_the_tab_where_it_was_left)
{
    play("=pane", "><f6>", "=pane");
    assert_false(memory_view_is_open(the.view));
    play("=pane", "the fake");
}

TEST(tabs_are_freed_with_the_pane)
{
    play("=pane", "><f6>");
    the.view->ops->free(the.view);
    the.view = NULL;
    assert_non_null(strstr(the.asked.data, "fake gone"));
}
