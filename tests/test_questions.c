/* Whoever is typing when a tool asks answers nothing, and loses nothing. */
#include "base/clock.h"
#include "tests/steps.h"
#include "tests/still_app.h"
#include "tests/suite.h"
#include "ui/app/dispatch.h"
#include "ui/app/notices.h"

enum { ROUNDS = 1000, STEP_MS = 5, TYPISTS_MOST_MS = 250, TYPISTS_LEAST_MS = 84 };

static int64_t clock_ms;
static int answers;

static int64_t now(void)
{
    return clock_ms;
}

static int tear_down(void **state)
{
    clock_replace(NULL, NULL);
    return still_app_teardown(state);
}

FIXTURE(still_app_setup, tear_down);

static uint64_t answered(struct app *surface, struct view *v, const struct operation *o,
                         const void *params, view_answer *take)
{
    (void)surface, (void)v, (void)params, (void)take;
    answers += o == &operation_approval_decide;
    return 1;
}

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void ask(void)
{
    struct notice *n = notice_new(NOTICE_APPROVAL);
    n->text = mem_strdup("1");
    n->name = mem_strdup("run_command");
    n->detail = mem_strdup("execute");
    n->preview = mem_strdup("rm -r build");
    n->grant = mem_strdup("run_command");
    notices_take(&app, n);
}

/* As the loop draws it: when something is dirty, and when its keys are due. */
static void draw_if_due(void)
{
    int64_t due = approval_due(&app.approval.view);
    if (!approval_open(&app.approval.view) || (app.dirty == 0 && (due == 0 || clock_ms < due)))
        return;
    (void)view_draw(&app.approval.view, 80, 8);
    app.dirty = 0;
}

static void press(enum key_code code, uint32_t cp)
{
    struct key key = {.code = code, .cp = cp};
    dispatch_key(&app, &key);
}

/* A text at 4 to 12 keys a second, begun before the question came or within a pause after it. */
TEST(typing_into_a_question_that_opens_answers_nothing)
{
    static const char letters[] = "asdrpjkgG yno1-";
    uint64_t random = support_seed();
    clock_ms = 100000;
    clock_replace(NULL, now);
    app.host.ask = answered;
    for (int round = 0; round < ROUNDS; round++) {
        AUTO(buf_release) struct buf typed = BUF_INIT;
        int64_t asked_ms = clock_ms + 2000;
        int64_t key_ms = asked_ms - 1000 + (int64_t)(next(&random) % (1000 + APPROVAL_PAUSE_MS));
        int64_t most =
            TYPISTS_LEAST_MS + (int64_t)(next(&random) % (TYPISTS_MOST_MS - TYPISTS_LEAST_MS + 1));
        size_t keys = 1 + next(&random) % 40;
        for (; typed.len < keys || clock_ms <= asked_ms; clock_ms += STEP_MS) {
            if (typed.len < keys && clock_ms >= key_ms) {
                char letter = letters[next(&random) % (sizeof letters - 1)];
                if (typed.len > 0 && next(&random) % 8 == 0)
                    press(K_TAB, 0); /* nothing to complete */
                press(K_CHAR, (uint32_t)letter);
                buf_addch(&typed, letter);
                key_ms += most - (int64_t)(next(&random) % 20);
            }
            if (clock_ms >= asked_ms && !approval_open(&app.approval.view) && answers == 0)
                ask();
            draw_if_due();
        }
        assert_int_equal(answers, 0);
        assert_true(approval_open(&app.approval.view));
        assert_string_equal(editor_text(app.editor), typed.data);
        clock_ms += 5 * APPROVAL_PAUSE_MS; /* the text stays, so nothing but Tab leads there */
        draw_if_due();
        press(K_CHAR, 'a');
        assert_int_equal(answers, 0);
        editor_set(app.editor, "");
        approval_forget(&app.approval.view);
    }
}

/* A message that was just sent left the editor empty, but its writer goes on. */
TEST(a_text_after_a_message_that_was_sent_answers_nothing)
{
    clock_ms = 100000;
    clock_replace(NULL, now);
    app.host.ask = answered;
    ask();
    draw_if_due();
    clock_ms += APPROVAL_PAUSE_MS - 100;
    press(K_CHAR, 'x');
    press(K_BACKSPACE, 0);
    clock_ms += APPROVAL_PAUSE_MS - 1;
    draw_if_due();
    press(K_CHAR, 'a');
    assert_int_equal(answers, 0);
    assert_string_equal(editor_text(app.editor), "a");
    press(K_BACKSPACE, 0);
    clock_ms += APPROVAL_PAUSE_MS;
    draw_if_due();
    press(K_CHAR, 'a');
    assert_int_equal(answers, 1);
}
