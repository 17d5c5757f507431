/* The stack of views: the view that gets keys and notices, closing, and timers. The views are fakes
 * that record their input. */
#include "base/vec.h"
#include "tests/suite.h"
#include "ui/view/view.h"

struct fake {
    struct view view;
    bool shown, passes, takes, says; /* results of its functions */
    int keys, notices, ticks, freed, left, ran;
    int64_t due;
};

static struct fake fakes[VIEW_LAYERS];
static struct views stack;
static struct keymap keymap;
static struct view_host host;
static VEC(int) order; /* layers, as keys were offered to them */

static struct fake *of(struct view *view)
{
    return (struct fake *)view;
}

static const struct fake *of_const(const struct view *view)
{
    return (const struct fake *)view;
}

static bool key(struct view *view, enum action action, const struct key *k)
{
    (void)action, (void)k;
    of(view)->keys++;
    vec_push(&order, (int)view->ops->layer);
    return of(view)->takes;
}

static bool shown(const struct view *view)
{
    return of_const(view)->shown;
}

static const struct view *last_gone;

static void gone(struct app *app, const struct view *view, uint64_t id)
{
    (void)id, (void)app;
    last_gone = view;
}

static bool passes(const struct view *view)
{
    return of_const(view)->passes;
}

static void notice(struct view *view, struct notice *n)
{
    (void)n;
    of(view)->notices++;
}

static int64_t due(const struct view *view)
{
    return of_const(view)->due;
}

static void tick(struct view *view)
{
    of(view)->ticks++;
    of(view)->due = 0;
}

static void free_view(struct view *view)
{
    of(view)->freed++;
}

static void leave(struct view *view)
{
    of(view)->left++;
    of(view)->shown = false;
}

#define OPS(l, s, c)                                                                               \
    {                                                                                              \
        .layer = (l), .of_session = (s), .free = free_view, .close = (c), .key = key,              \
        .shown = shown, .passes = passes, .notice = notice, .due = due, .tick = tick,              \
        .due_with_keys = (l) == VIEW_DRAFT                                                         \
    }

/* The pane keeps its state; the cover is of the open session; the draft is due with the keys. */
static const struct view_ops all[VIEW_LAYERS] = {
    OPS(VIEW_DRAFT, false, leave),    OPS(VIEW_FIND, false, leave), OPS(VIEW_SELECT, false, leave),
    OPS(VIEW_PANE, false, leave),     OPS(VIEW_COVER, true, NULL),  OPS(VIEW_LIST, false, NULL),
    OPS(VIEW_QUESTION, false, leave), OPS(VIEW_BARE, false, NULL)};

static int set_up(void **state)
{
    (void)state;
    memset(fakes, 0, sizeof fakes);
    stack = (struct views){0};
    vec_clear(&order);
    keymap_init(&keymap);
    host = (struct view_host){.keymap = &keymap, .withdraw = gone};
    for (int i = 0; i < VIEW_LAYERS; i++) {
        fakes[i] =
            (struct fake){.view = {.ops = &all[i], .host = &host}, .shown = true, .passes = true};
        views_open(&stack, &fakes[i].view);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    keymap_release(&keymap);
    vec_release(&order);
    return 0;
}

static bool press(enum view_layer *by)
{
    const struct key k = {.code = K_CHAR, .cp = 'x'};
    return views_key(&stack, ACTION_NONE, &k, by);
}

FIXTURE(set_up, tear_down);

TEST(keys_go_down_until_one_is_taken)
{
    enum view_layer by = VIEW_LAYERS;
    assert_false(press(&by));
    assert_int_equal(by, VIEW_LAYERS);
    assert_int_equal(order.len, VIEW_LAYERS);
    for (int i = 0; i < VIEW_LAYERS; i++)
        assert_int_equal(order.items[i], VIEW_LAYERS - 1 - i);
    vec_clear(&order);
    fakes[VIEW_COVER].takes = true;
    fakes[VIEW_LIST].shown = false; /* it is not asked */
    assert_true(press(&by));
    assert_int_equal(by, VIEW_COVER);
    assert_int_equal(order.len, 3);
    assert_int_equal(fakes[VIEW_LIST].keys, 1);
    assert_int_equal(fakes[VIEW_PANE].keys, 1);
}

TEST(the_highest_that_does_not_pass_has_the_keyboard)
{
    assert_null(views_holder(&stack));
    fakes[VIEW_FIND].passes = fakes[VIEW_PANE].passes = false;
    assert_ptr_equal(views_holder(&stack), &fakes[VIEW_PANE].view);
    fakes[VIEW_PANE].shown = false;
    assert_ptr_equal(views_holder(&stack), &fakes[VIEW_FIND].view);
}

/* A question that waits is not answered by opening something. */
TEST(what_is_opened_closes_what_stands_over_it)
{
    static struct fake another;
    another = (struct fake){.view = {.ops = &all[VIEW_COVER], .host = &host}, .shown = true};
    views_open(&stack, &another.view);
    assert_int_equal(fakes[VIEW_COVER].freed, 1);
    assert_int_equal(fakes[VIEW_LIST].freed, 1);
    assert_null(stack.at[VIEW_LIST]);
    assert_ptr_equal(stack.at[VIEW_COVER], &another.view);
    assert_true(fakes[VIEW_QUESTION].shown);
    assert_int_equal(fakes[VIEW_PANE].left, 0);
    views_close_from(&stack, VIEW_PANE + 1);
    assert_int_equal(another.freed, 1);
    assert_ptr_equal(last_gone, &another.view);
    assert_null(views_shown(&stack, VIEW_COVER));
}

TEST(one_that_keeps_its_state_stays_on_the_stack)
{
    views_close(&stack, &fakes[VIEW_PANE].view);
    assert_int_equal(fakes[VIEW_PANE].left, 1);
    assert_int_equal(fakes[VIEW_PANE].freed, 0);
    assert_null(views_shown(&stack, VIEW_PANE));
    assert_ptr_equal(stack.at[VIEW_PANE], &fakes[VIEW_PANE].view);
    views_close(&stack, NULL);
    views_release(&stack);
    for (int i = 0; i < VIEW_LAYERS; i++)
        assert_int_equal(fakes[i].freed, 1);
}

TEST(another_session_closes_what_showed_the_last)
{
    views_close_session(&stack);
    for (int i = 0; i < VIEW_LAYERS; i++)
        assert_int_equal(fakes[i].freed, i == VIEW_COVER);
}

/* The closed pane of memory counts the model's requests. */
TEST(all_hear_all_notices)
{
    fakes[VIEW_PANE].shown = false;
    AUTO(notice_free_local) struct notice *n = notice_new(NOTICE_BUSY);
    views_notice(&stack, n);
    for (int i = 0; i < VIEW_LAYERS; i++)
        assert_int_equal(fakes[i].notices, 1);
}

TEST(what_is_due_is_done_once)
{
    assert_int_equal(views_due(&stack), 0);
    fakes[VIEW_COVER].due = 700;
    fakes[VIEW_PANE].due = 500;
    fakes[VIEW_LIST].due = 100;
    fakes[VIEW_LIST].shown = false; /* nobody sees it */
    assert_int_equal(views_due(&stack), 500);
    assert_false(views_tick(&stack, 499));
    assert_true(views_tick(&stack, 500));
    assert_int_equal(fakes[VIEW_PANE].ticks, 1);
    assert_int_equal(fakes[VIEW_COVER].ticks, 0);
    assert_int_equal(views_due(&stack), 700);
    assert_true(views_tick(&stack, 9000));
    assert_int_equal(fakes[VIEW_LIST].ticks, 0);
    assert_int_equal(views_due(&stack), 0);
}

TEST(a_view_that_needs_the_keys_is_due_with_them)
{
    fakes[VIEW_DRAFT].due = 500;
    assert_int_equal(views_due(&stack), 500);
    fakes[VIEW_PANE].passes = false;
    assert_int_equal(views_due(&stack), 0);
    assert_false(views_tick(&stack, 500));
    fakes[VIEW_PANE].shown = false;
    assert_true(views_tick(&stack, 500));
    assert_int_equal(fakes[VIEW_DRAFT].ticks, 1);
}

TEST(letters_of_the_configuration_come_before_actions)
{
    const struct view *view = &fakes[VIEW_COVER].view;
    const struct key o = {.code = K_CHAR, .cp = 'o'}, x = {.code = K_CHAR, .cp = 'x'};
    assert_int_equal(view_action(view, ACTION_NONE, &o),
                     ACTION_JUMP); /* as [keys] has it at first */
    assert_int_equal(view_action(view, ACTION_NONE, &x), ACTION_NONE);
    assert_int_equal(view_action(view, ACTION_CANCEL, &x), ACTION_CANCEL);
    assert_int_equal(view_action(view, ACTION_CANCEL, &o), ACTION_JUMP);
}
