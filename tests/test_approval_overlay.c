/* The question before a tool runs: its text, the keys that count, and when they count. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/view/approval.h"

enum { NOW = 100000, ARMED = NOW + APPROVAL_LOOK_MS };

static struct approval a;
static struct keymap keymap;
static int64_t clock_ms;
static bool drafted; /* a text was begun */

static int tear_down(void **state)
{
    (void)state;
    approval_release(&a.view);
    keymap_release(&keymap);
    clock_replace(NULL, NULL);
    return 0;
}

static void ask(const char *id, const char *args, const char *preview)
{
    AUTO(notice_free_local) struct notice *n = notice_new(NOTICE_APPROVAL);
    n->text = mem_strdup(id);
    n->name = mem_strdup("run_command");
    n->detail = mem_strdup("execute");
    n->args = mem_strdup(args);
    n->preview = mem_strdup(preview);
    n->grant = mem_strdup("`make check …`");
    approval_ask(&a, n);
}

/* --- drawing --- */

static int64_t now(void)
{
    return clock_ms;
}

static const struct rows *draw(int width, int height, int64_t now_ms)
{
    clock_ms = now_ms;
    const struct rows *rows = view_draw(&a.view, width, height);
    assert_int_equal(rows->list.len, height);
    for (size_t i = 0; i < rows->list.len; i++)
        assert_true(rows_width(rows, i) <= (size_t)width);
    return rows;
}

/* All rows without the blanks at their ends; valid until the next call. */
static const char *seen(int width, int height, int64_t now_ms)
{
    return seen_text(draw(width, height, now_ms));
}

static enum style style_of(const struct rows *rows, size_t row)
{
    return (enum style)rows->spans.items[rows->list.items[row].spans + 1].style;
}

/* --- keys --- */

static enum approval_answer answer;

/* The effect of a key: it is not the question's, taken, text for the message, the wish to stop the
 * turn, an answer. */
enum effect { PASS, TAKEN, TEXT, STOP, ANSWERED };
static enum effect effect;

static uint64_t answered(struct app *app, struct view *v, const struct operation *o,
                         const void *params, view_answer *take)
{
    (void)app;
    (void)v;
    (void)take;
    assert_ptr_equal(o, &operation_approval_decide);
    answer = ((const struct approval_decide_params *)params)->decision;
    effect = ANSWERED;
    return 1;
}

static void write_text(struct app *app, enum action action, const struct key *k)
{
    (void)app;
    (void)action;
    (void)k;
    effect = TEXT;
}

static void stop(struct app *app, enum action action)
{
    (void)app;
    assert_int_equal(action, ACTION_CANCEL);
    effect = STOP;
}

static bool has_drafted(struct app *app)
{
    (void)app;
    return drafted;
}

static const struct view_host host = {
    .keymap = &keymap, .ask = answered, .act = stop, .write = write_text, .drafting = has_drafted};

static int key(const struct key *k)
{
    effect = TAKEN;
    return a.view.ops->key(&a.view, keymap_find(&keymap, k), k) ? (int)effect : PASS;
}

static const struct person person = {.key = key};

static int set_up(void **state)
{
    (void)state;
    seen_by(&person);
    clock_replace(NULL, now);
    drafted = false;
    approval_init(&a, &host);
    keymap_init(&keymap);
    return 0;
}

BEFORE_ALL(support_utf8);
FIXTURE(set_up, tear_down);

TEST(who_asks_what_and_the_keys_are_shown)
{
    ask("1", "{}", "make check\n(in /work)");
    assert_int_equal(a.view.ops->height(&a.view, 80, 1000), 4);
    draw(80, 4, NOW);
    assert_string_equal(
        seen(80, 4, ARMED),
        " The model wants to run a command (run_command)\n make check\n (in /work)\n"
        " a allow once · s allow `make check …` for this session · d decline\n");
    assert_string_equal(seen(40, 8, ARMED),
                        " The model wants to run a command (run_…\n make check\n (in /work)\n\n\n"
                        " a allow once\n s allow `make check …` for this session\n d decline\n");
    assert_string_equal(seen(30, 6, ARMED),
                        " The model wants to run a com…\n make check\n"
                        " (in /work)\n a allow once\n"
                        " s allow `make check …` for t…\n d decline\n");
}

TEST(without_words_the_arguments_are_shown)
{
    ask("1", "{\"url\":\"http://x\"}", NULL);
    assert_non_null(strstr(seen(80, 8, NOW), "\"http://x\""));
    approval_forget(&a.view);
    ask("1", "{ no json \033[2J", "");
    assert_non_null(strstr(seen(80, 8, NOW), "{ no json ␛[2J"));
}

TEST(keys_count_when_they_are_shown)
{
    lead_to(PASS, "a");
    ask("1", "{}", "rm -r build");
    lead_to(PASS, "a<escape>"); /* before the first frame */
    assert_int_equal(approval_due(&a.view), 0);
    assert_null(strstr(seen(80, 4, NOW), "allow"));
    assert_int_equal(approval_due(&a.view), ARMED);
    lead_to(PASS, "a");
    assert_null(strstr(seen(80, 4, ARMED - 1), "allow"));
    lead_to(PASS, "a");
    assert_non_null(strstr(seen(80, 4, ARMED), "a allow once"));
    assert_int_equal(approval_due(&a.view), 0);
    lead_to(TEXT, "x<enter>");
    lead_to(PASS, "<ctrl-d>");
    for (const char *word = "asd"; *word; word++) {
        approval_forget(&a.view);
        ask("1", "{}", "rm -r build");
        draw(80, 4, NOW);
        draw(80, 4, ARMED);
        lead_to(ANSWERED, support_text("%c", *word));
        assert_int_equal(answer, *word == 'a'   ? ANSWER_ONCE
                                 : *word == 's' ? ANSWER_SESSION
                                                : ANSWER_DENY);
        assert_false(approval_open(&a.view));
    }
}

TEST(who_writes_goes_on_writing)
{
    approval_typed(&a, NOW - 10);
    ask("1", "{}", "rm -r build");
    assert_non_null(strstr(seen(80, 4, NOW), "you are typing"));
    approval_typed(&a, NOW + 200);
    int64_t pause = NOW + 200 + APPROVAL_PAUSE_MS;
    assert_int_equal(approval_due(&a.view), pause);
    assert_non_null(strstr(seen(80, 4, pause - 1), "you are typing"));
    lead_to(PASS, "a");
    assert_non_null(strstr(seen(80, 4, pause), "a allow once"));
    lead_to(TEXT, "w");
    approval_typed(&a, pause + 1);
    lead_to(PASS, "a");
    assert_non_null(strstr(seen(80, 4, pause + 2), "you are typing"));
    approval_typed(&a, 0); /* it was sent */
    assert_non_null(strstr(seen(80, 4, pause + 3), "a allow once"));
}

/* A pause does not end a text that has been begun. */
TEST(a_text_that_was_begun_is_gone_on_with)
{
    drafted = true;
    ask("1", "{}", "rm -r build");
    draw(80, 4, NOW);
    lead_to(PASS, "<tab>"); /* nobody has seen the question yet */
    assert_says(seen(80, 4, ARMED), "Tab goes to the question", "!allow once");
    lead_to(TEXT, "asdj<enter>");
    lead_to(TAKEN, "<tab>");
    assert_says(seen(80, 4, ARMED), "a allow once");
    lead_to(TEXT, "w"); /* back to the text */
    approval_typed(&a, ARMED);
    assert_says(seen(80, 4, ARMED + APPROVAL_PAUSE_MS), "Tab goes to the question");
    lead_to(TEXT, "a");
    lead_to(TAKEN, "<tab>");
    approval_hidden(&a); /* another size */
    draw(80, 4, ARMED + APPROVAL_PAUSE_MS);
    assert_says(seen(80, 4, ARMED + 2 * APPROVAL_PAUSE_MS), "Tab goes to the question");
    lead_to(TAKEN, "<tab>");
    lead_to(ANSWERED, "a");
}

TEST(escape_stops_also_before_the_keys_count)
{
    ask("1", "{}", "x");
    draw(80, 4, NOW);
    lead_to(STOP, "<escape><ctrl-c>");
    assert_int_equal(key(&(struct key){.code = K_CLICK}), TAKEN);
}

/* A key that is held down answers neither the next question nor an invisible one. */
TEST(each_question_is_looked_at_anew)
{
    ask("1", "{}", "first");
    ask("2", "{}", "second");
    draw(80, 4, NOW);
    assert_non_null(strstr(seen(80, 4, ARMED), "first"));
    assert_string_equal(a.questions.items[0].id, "1");
    assert_false(approval_over(&a, "3"));
    assert_true(approval_over(&a, "1"));
    assert_string_equal(a.questions.items[0].id, "2");
    lead_to(PASS, "a");
    assert_non_null(strstr(seen(80, 4, ARMED), "second"));
    lead_to(PASS, "a");
    draw(80, 4, ARMED + APPROVAL_LOOK_MS);
    approval_hidden(&a);
    lead_to(PASS, "a");
    assert_int_equal(approval_due(&a.view), 0);
    assert_true(approval_over(&a, "2"));
    assert_false(approval_open(&a.view));
}

TEST(keys_can_be_bound)
{
    struct error e;
    assert_true(keymap_bind(&keymap, "allow_once", "y f5", &e));
    assert_true(keymap_bind(&keymap, "allow_session", "none", &e));
    assert_false(keymap_bind(&keymap, "decline", "y", &e));
    assert_true(keymap_bind(&keymap, "decline", "n", &e));
    ask("1", "{}", "x");
    draw(80, 4, NOW);
    assert_non_null(strstr(seen(80, 3, ARMED), " y allow once · n decline\n"));
    lead_to(TEXT, "a");
    lead_to(ANSWERED, "y");
    assert_int_equal(answer, ANSWER_ONCE);
    ask("2", "{}", "x");
    draw(80, 4, NOW);
    draw(80, 3, ARMED);
    lead_to(ANSWERED, "<f5>");
    assert_int_equal(keymap_find(&keymap, &(struct key){.code = K_CHAR, .cp = 'n'}), ACTION_NONE);
}

/* --- scrolling --- */

static void ask_numbered(int count)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= count; i++)
        buf_addf(&text, "%sline %d", i > 1 ? "\n" : "", i);
    ask("1", "{}", text.data);
}

TEST(the_text_scrolls)
{
    ask_numbered(30);
    assert_int_equal(a.view.ops->height(&a.view, 80, 1000), 32);
    draw(80, 12, NOW);
    assert_says(seen(80, 12, ARMED), "1-10/30", "\n line 10\n PageDown next page · a allow, after");
    lead_to(TAKEN, "kj<down>");
    assert_non_null(strstr(seen(80, 12, ARMED), "3-12/30"));
    lead_to(TAKEN, "<pagedown>");
    assert_non_null(strstr(seen(80, 12, ARMED), "12-21/30"));
    lead_to(TAKEN, "<ctrl-end> ");
    assert_non_null(strstr(seen(80, 12, ARMED), "\n line 30\n a allow"));
    draw(80, 40, ARMED); /* a larger screen shows all of it */
    assert_non_null(strstr(seen(80, 40, ARMED), "\n line 1\n"));
    lead_to(TAKEN, "<wheel-up><wheel-down>Gg");
    assert_non_null(strstr(seen(80, 5, ARMED), "line 1\n line 2\n line 3\n a allow"));
}

/* --- nothing unseen is allowed --- */

TEST(nothing_is_allowed_before_its_end_was_seen)
{
    ask_numbered(30);
    draw(80, 12, NOW);
    draw(80, 12, ARMED);
    lead_to(TAKEN, "as");
    for (int page = 0; page < 3; page++) {
        assert_null(strstr(seen(80, 12, ARMED), "a allow once"));
        lead_to(TAKEN, " a"); /* in the queue before the page was drawn */
    }
    assert_non_null(strstr(seen(80, 12, ARMED), "\n line 30\n a allow once"));
    lead_to(TAKEN, "g");
    assert_non_null(strstr(seen(80, 12, ARMED), "\n line 1\n"));
    lead_to(ANSWERED, "a");
    assert_int_equal(answer, ANSWER_ONCE);
}

/* Another size shows other rows, so the reading begins anew. */
TEST(another_size_is_read_anew)
{
    ask_numbered(30);
    draw(80, 12, NOW);
    lead_to(TAKEN, "<ctrl-end>");
    assert_non_null(strstr(seen(80, 12, ARMED), "a allow once"));
    approval_hidden(&a);
    draw(40, 10, ARMED);
    assert_non_null(strstr(seen(40, 10, ARMED + APPROVAL_LOOK_MS), "\n line 1\n"));
    lead_to(TAKEN, "a");
    approval_hidden(&a);
    draw(120, 40, ARMED + APPROVAL_LOOK_MS);
    draw(120, 40, ARMED + 2 * APPROVAL_LOOK_MS);
    lead_to(ANSWERED, "a");
}

static void ask_apart(const char *before, const char *what, int count, const char *behind)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addstr(&text, before);
    for (int i = 0; i < count; i++)
        buf_addstr(&text, what);
    buf_addstr(&text, behind);
    approval_forget(&a.view);
    ask("1", "{}", text.data);
}

TEST(empty_lines_are_folded_into_a_rule)
{
    ask_apart("echo hi", "\n", 200, "rm -rf x");
    assert_says(seen(40, 7, NOW), "\n echo hi\n─── 199 empty lines ─────", "─\n rm -rf x\n");
    assert_int_equal(a.view.ops->height(&a.view, 40, 1000), 7);
    ask_apart("echo hi\n", " \t \n", 5, "rm -rf x");
    assert_non_null(strstr(seen(40, 7, NOW), "─── 5 empty lines ─"));
    ask_apart("echo hi\n", "\n", 3, "rm -rf x"); /* few lines are left unchanged */
    assert_non_null(strstr(seen(40, 10, NOW), "\n echo hi\n\n\n\n rm -rf x\n"));
    ask_apart("echo hi", "\n", 50, ""); /* at the end */
    assert_non_null(strstr(seen(40, 7, NOW), "\n echo hi\n─── 49 empty lines ─"));
    ask_apart("─── 5 empty lines ─────", "\n", 1, "x"); /* no text begins where a rule does */
    assert_non_null(strstr(seen(40, 7, NOW), "\n ─── 5 empty lines"));
}

TEST(long_runs_of_blanks_are_counted)
{
    ask_apart("echo hi", " ", 9000, "; rm -rf x");
    assert_non_null(strstr(seen(60, 7, NOW), "\n echo hi<U+0020 x 9000>; rm -rf x\n"));
    ask_apart("echo hi", "\t", 900, "; rm -rf x");
    assert_non_null(strstr(seen(60, 7, NOW), "\n echo hi<U+0009 x 900>; rm -rf x\n"));
    ask_apart("echo hi", "\u00A0", 2, "; rm -rf x");
    assert_non_null(strstr(seen(60, 7, NOW), "\n echo hi<U+00A0><U+00A0>; rm -rf x\n"));
}

TEST(what_cannot_be_seen_is_marked)
{
    ask("1", "{}", "r\u200Bm \U000E0072\u202E x\r\ny");
    assert_non_null(strstr(seen(60, 7, NOW), "\n r<U+200B>m <U+E0072><U+202E> x\u240D\n y\n"));
    approval_forget(&a.view);
    ask("1", "{\"url\":\"http://x\u200B\"}", NULL);
    assert_non_null(strstr(seen(80, 8, NOW), "\"http://x\\u200b\""));
}

/* A place of keys is named, in a row that no text can forge, and asked about each time. */
TEST(a_guarded_place_is_named_and_never_for_the_session)
{
    struct notice *n = notice_new(NOTICE_APPROVAL);
    n->text = mem_strdup("1");
    n->name = mem_strdup("read_file");
    n->detail = mem_strdup("read");
    n->args = mem_strdup("{\"path\":\"x\"}");
    n->guarded = mem_strdup("/home/u/.ssh/id\u200B_rsa");
    approval_ask(&a, n);
    notice_free(n);
    draw(60, 8, NOW);
    assert_says(seen(60, 8, ARMED),
                "\n! keys or tiro's own files: /home/u/.ssh/id<U+200B>_rsa\n {\n",
                "\n a allow once · d decline\n");
    lead_to(TAKEN, "s");
    lead_to(ANSWERED, "a");
}

/* --- differences --- */

TEST(differences_are_told_by_sign_and_style)
{
    static const char diff[] =
        "--- a/notes\n+++ b/notes\n@@ -1,3 +1,3 @@\n same\n--- old\n+++ new\n"
        "\\ No newline at end of file\n";
    static const enum style styles[] = {STYLE_DIM,     STYLE_DIM,          STYLE_DIM,
                                        STYLE_OVERLAY, STYLE_DIFF_REMOVED, STYLE_DIFF_ADDED,
                                        STYLE_DIM};
    ask("1", "{}", diff);
    const struct rows *rows = draw(80, 9, NOW);
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        enum style wanted = styles[i];
        if (wanted == STYLE_OVERLAY) /* one span with the margin */
            assert_int_equal(rows->spans.items[rows->list.items[i + 1].spans].style, wanted);
        else
            assert_int_equal(style_of(rows, i + 1), wanted);
    }
    assert_non_null(strstr(seen(80, 9, NOW), "\n --- old\n +++ new\n"));
}

/* --- text of others --- */

TEST(hostile_text_is_cleaned)
{
    struct notice *n = notice_new(NOTICE_APPROVAL);
    n->text = mem_strdup("1");
    n->name = mem_strdup("evil\n\033]0;owned\007");
    n->detail = mem_strdup("exe\033[2Jcute");
    n->preview = mem_strdup(
        "echo \033[31m\r\n\xff\xe2\x80\xae"
        "abc\x9b"
        "2J");
    approval_ask(&a, n);
    notice_free(n);
    const char *text = seen(80, 6, NOW);
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p >= 0x20 || *p == '\n');
    assert_true(utf8_valid(text, strlen(text)));
    assert_says(text, "!\xe2\x80\xae", "evil ");
}

/* A row that goes on cannot be taken for a line: it is marked. */
TEST(long_lines_go_on_in_marked_rows)
{
    ask("1", "{}", "echo aaaaaaaaaa; rm b");
    assert_int_equal(a.view.ops->height(&a.view, 12, 1000), 6);
    assert_non_null(strstr(seen(12, 7, NOW), "\n echo aaaaaa\n›aaaa; rm b\n"));
    approval_forget(&a.view);
    ask("1", "{}", "日本語日本語");
    assert_non_null(strstr(seen(10, 7, NOW), "\n 日本語日\n›本語\n"));
}

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static char *random_text(uint64_t *state)
{
    static const char *const pieces[] = {"a", " ",  "-",  "+",    "@@ ", "日",
                                         "é", "\n", "\n", "🙂", "x y"};
    struct buf text = BUF_INIT;
    for (uint64_t n = next(state) % 60; n > 0; n--)
        buf_addstr(&text, pieces[next(state) % (sizeof pieces / sizeof *pieces)]);
    return buf_take(&text);
}

static void add_ink(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != '\n' && text[i] != ' ')
            buf_addch(out, text[i]);
}

/* The rows, without margins, marks and rules, hold the whole text except for blanks. */
static void assert_whole(const char *text, const struct rows *rows)
{
    AUTO(buf_release) struct buf held = BUF_INIT, wanted = BUF_INIT;
    for (size_t i = 0; i < rows->list.len; i++) {
        const struct row *row = &rows->list.items[i];
        const char *held_text = rows->text.data + row->text;
        size_t margin = *held_text == ' ' ? 1 : strlen("›");
        if (strncmp(held_text, "─", strlen("─")) != 0)
            add_ink(&held, held_text + margin, row->len - margin);
    }
    add_ink(&wanted, text, strlen(text));
    assert_string_equal(held.data, wanted.data);
}

TEST(nothing_of_the_text_is_left_out)
{
    uint64_t random = support_seed();
    for (int round = 0; round < 2000; round++) {
        auto_free char *text = random_text(&random);
        int width = 20 + (int)(next(&random) % 60), height = 1 + (int)(next(&random) % 30);
        ask("1", NULL, *text ? text : "x");
        draw(width, height, NOW);
        assert_whole(*text ? text : "x", &a.text);
        for (int i = 0; i < 8; i++) {
            static const char *const moves[] = {"<up>",       "<down>",      "<pageup>",
                                                "<pagedown>", "<ctrl-home>", "<ctrl-end>"};
            act(moves[next(&random) % 6]);
            draw(width, height + (int)(next(&random) % 3), NOW);
        }
        approval_forget(&a.view);
    }
}
