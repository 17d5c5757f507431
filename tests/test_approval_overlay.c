/* The question before a tool runs: its text, the keys that count, and when they count. */
#include "base/clock.h"
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/suite.h"
#include "ui/view/approval.h"

enum { NOW = 100000, ARMED = NOW + APPROVAL_PAUSE_MS };

static struct approval a;
static struct keymap keymap;
static int64_t clock_ms;
static bool drafted; /* a text was begun */
static struct rows inside;

static int tear_down(void **state)
{
    (void)state;
    approval_release(&a.view);
    keymap_release(&keymap);
    rows_release(&inside);
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

/* Returns the rows inside the frame for this width and at most this height. */
static const struct rows *draw(int width, int height, int64_t now_ms)
{
    static const size_t corner = sizeof "┌" - 1;
    clock_ms = now_ms;
    const struct rows *rows = view_draw(&a.view, width + 2, height + 1);
    assert_int_equal(rows->list.len, height + 1);
    rows_clear(&inside);
    for (size_t i = 0; i < rows->list.len; i++) {
        assert_true(rows_width(rows, i) <= (size_t)width + 2);
        if (strncmp(rows->text.data + rows->list.items[i].text, "└", corner) == 0)
            continue;
        rows_begin(&inside);
        if (rows->list.items[i].len >= 2 * corner)
            rows_append_part(&inside, rows, i, corner, rows->list.items[i].len - corner,
                             ROWS_AS_THEY_LOOK);
    }
    return &inside;
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
static char reason[100]; /* "": none */

/* The effect of a key: it is not the question's, taken, text for the message, the wish to stop the
 * turn, an answer. */
enum effect { PASS, TAKEN, TEXT, STOP, ANSWERED };
static enum effect effect;

static uint64_t answered(struct app *app, struct view *v, const struct operation *o,
                         const void *params, view_answer *take)
{
    (void)app, (void)v, (void)take;
    effect = ANSWERED;
    if (o == &operation_elicitation_decide) {
        const struct elicitation_decide_params *form = params;
        snprintf(reason, sizeof reason, "%d %s", (int)form->action,
                 form->content ? form->content : "");
        return 1;
    }
    assert_ptr_equal(o, &operation_approval_decide);
    const struct approval_decide_params *p = params;
    answer = p->decision;
    snprintf(reason, sizeof reason, "%s", p->reason ? p->reason : "");
    effect = ANSWERED;
    return 1;
}

static void write_text(struct app *app, enum action action, const struct key *k)
{
    (void)app, (void)action, (void)k;
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

static struct {
    int width, height;
} size;

static const struct rows *draw_now(void)
{
    return draw(size.width, size.height, clock_ms);
}

static void ask_numbered(int count)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= count; i++)
        buf_addf(&text, "%sline %d", i > 1 ? "\n" : "", i);
    ask("1", "{}", text.data);
}

/* "asks TEXT": a new question; "numbered N": one of N lines; "draw W H N": it is drawn N times
 * APPROVAL_PAUSE_MS after NOW; "hidden"; "once": the answer. */
static void give(const char *file, int line, const char *step)
{
    int looks = 0;
    if (strncmp(step, "asks ", 5) == 0) {
        approval_forget(&a.view);
        ask("1", "{}", step + 5);
    } else if (strncmp(step, "numbered ", 9) == 0) {
        ask_numbered(atoi(step + 9));
    } else if (sscanf(step, "draw %d %d %d", &size.width, &size.height, &looks) == 3) {
        clock_ms = NOW + APPROVAL_PAUSE_MS * looks;
        (void)draw_now();
    } else if (strcmp(step, "hidden") == 0) {
        approval_hidden(&a);
    } else if (answer != ANSWER_ONCE) {
        print_error("does not hold: %s\n", step);
        _fail(file, line);
    }
}

static const char *const effects[] = {"pass", "taken", "text", "stop", "answered", NULL};
static const struct person person = {
    .key = key, .rows = draw_now, .give = give, .effects = effects};

static int set_up(void **state)
{
    (void)state;
    seen_by(&person);
    clock_replace(NULL, now);
    drafted = false;
    approval_init(&a, &host);
    rows_init(&inside);
    keymap_init(&keymap);
    return 0;
}

BEFORE_ALL(support_utf8);
FIXTURE(set_up, tear_down);

TEST(who_asks_what_and_the_keys_are_shown)
{
    ask("1", "{}", "make check\n(in /work)");
    assert_int_equal(a.view.ops->height(&a.view, 82, 1000), 6);
    draw(80, 5, NOW);
    clock_ms = ARMED;
    assert_string_equal(seen_text(view_draw(&a.view, 50, 7)),
                        "┌ The model wants to run a command (run_command) ┐\n"
                        "│ make check                                     │\n"
                        "│ (in /work)                                     │\n"
                        "│ d decline · r with a reason · a allow once     │\n"
                        "│ s allow `make check …` for this session        │\n"
                        "│ p always in this project                       │\n"
                        "└────────────────────────────────────────────────┘\n");
    assert_string_equal(
        seen(80, 5, ARMED),
        " The model wants to run a command (run_command) ────────────────────────────────\n"
        " make check\n (in /work)\n d decline · r with a reason · a allow once\n"
        " s allow `make check …` for this session · p always in this project\n");
    assert_string_equal(seen(30, 7, ARMED),
                        " The model wants to run a co…\n make check\n"
                        " (in /work)\n d decline · r with a reason\n"
                        " a allow once\n s allow `make check …` for t…\n"
                        " p always in this project\n");
}

/* Enter declines with it; until then it can be left. */
TEST(a_reason_is_written_in_a_line_of_its_own)
{
    play("=asks rm -r build", "=draw 80 5 0", "=draw 80 5 1", "=taken r",
         "why not:\n Enter declines, Esc goes back", "=taken asd p", "why not: asd p",
         "=taken <backspace><escape>", "d decline", "=taken ruse git clean", "why not: use git");
    (void)view_draw(&a.view, 82, 6);
    assert_true(a.view.caret.shown);
    assert_int_equal(a.view.caret.row, 3);
    assert_int_equal(a.view.caret.col, 2 + strlen("why not: use git clean"));
    approval_hidden(&a); /* another size keeps it */
    play("=taken !", "=draw 80 5 2", "why not: use git clean!", "=answered <enter>");
    assert_int_equal(answer, ANSWER_DENY);
    assert_string_equal(reason, "use git clean!");
    play("=asks rm -r build", "=draw 80 5 2", "=draw 80 5 3", "=taken r<ctrl-c>", "d decline",
         "=taken r", "=answered <enter>"); /* no reason is one, too */
    assert_string_equal(reason, "");
}

static void ask_form(bool over)
{
    AUTO(notice_free_local) struct notice *n = notice_new(NOTICE_ELICITATION);
    n->number = 7;
    n->name = mem_strdup("git\033hub");
    n->flag = over;
    n->args = mem_strdup(
        support_json("{'message':'Who\\u200b?','requestedSchema':{'properties':{'name':{"
                     "'type':'string','title':'Name','minLength':2},'age':{'type':'integer',"
                     "'default':30}},'required':['name']}}"));
    approval_ask(&a, n);
}

TEST(a_form_is_filled_in_one_field_after_the_other)
{
    ask_form(false);
    play("=draw 80 8 0", "The MCP server git", "Who<U+200B>?\n\n Name: (needed)\n age: 30",
         "=pass a<enter>", "=draw 80 8 1", "d decline · Enter fill in the form · Esc cancel",
         "=taken <enter>", "Name (1 of 2, needed)\n a text, at least 2 characters",
         "=taken x<enter>", " > x\n Name: at least 2 characters", "=taken y<enter>",
         "age (2 of 2, optional)", " > 30", "=taken <backspace><enter>", "Name: xy\n age: 3\n",
         "d decline · Enter fill in the form · a send it · Esc cancel", "=answered a");
    assert_string_equal(reason, support_json("0 {'name':'xy','age':3}"));
    assert_false(approval_open(&a.view));
}

TEST(a_form_is_declined_cancelled_and_taken_back)
{
    ask_form(false);
    play("=draw 40 8 0", "=draw 40 8 1", "=taken a", "Name (1 of 2", "=taken <escape>",
         "Name: (needed)", "=answered d");
    assert_string_equal(reason, "1 ");
    ask_form(false);
    play("=draw 80 8 0", "=answered <escape>");
    assert_string_equal(reason, "2 ");
    ask_form(false);
    play("=draw 80 8 0", "=draw 80 8 1", "=taken <enter>");
    ask_form(true);
    assert_false(approval_open(&a.view));
    assert_false(a.explains);
}

TEST(without_words_the_arguments_are_shown)
{
    ask("1", "{\"url\":\"http://x\"}", NULL);
    assert_says(seen(80, 8, NOW), "\"http://x\"");
    approval_forget(&a.view);
    ask("1", "{ no json \033[2J", "");
    assert_says(seen(80, 8, NOW), "{ no json ␛[2J");
}

TEST(keys_count_when_they_are_shown)
{
    play("=pass a", "=asks rm -r build", "=pass a<escape>"); /* before the first frame */
    assert_int_equal(approval_due(&a.view), 0);
    assert_says(seen(80, 4, NOW), "!allow");
    assert_int_equal(approval_due(&a.view), ARMED);
    lead_to(PASS, "a");
    assert_says(seen(80, 4, ARMED - 1), "!allow");
    play("=pass a", "=draw 80 4 1", "a allow once");
    assert_int_equal(approval_due(&a.view), 0);
    play("=text x<enter>", "=pass <ctrl-d>");
    for (const char *word = "aspd"; *word; word++) {
        approval_forget(&a.view);
        ask("1", "{}", "rm -r build");
        draw(80, 4, NOW);
        draw(80, 4, ARMED);
        lead_to(ANSWERED, support_text("%c", *word));
        assert_int_equal(answer, *word == 'a'   ? ANSWER_ONCE
                                 : *word == 's' ? ANSWER_SESSION
                                 : *word == 'p' ? ANSWER_PROJECT
                                                : ANSWER_DENY);
        assert_false(approval_open(&a.view));
    }
}

TEST(who_writes_goes_on_writing)
{
    approval_typed(&a, NOW - 10);
    play("=asks rm -r build", "=draw 80 4 0", "Tab answers the question, once you have stopped");
    approval_typed(&a, NOW + 200);
    int64_t pause = NOW + 200 + APPROVAL_PAUSE_MS;
    assert_int_equal(approval_due(&a.view), pause);
    assert_says(seen(80, 4, pause - 1), "Tab answers");
    lead_to(PASS, "a");
    assert_says(seen(80, 4, pause), "a allow once");
    lead_to(TEXT, "w");
    approval_typed(&a, pause + 1);
    lead_to(PASS, "a");
    assert_says(seen(80, 4, pause + 2), "Tab answers");
}

/* It completes a word when it comes as quickly as letters do. */
TEST(tab_leads_to_the_question_at_once_but_not_from_within_a_word)
{
    approval_typed(&a, NOW - 10);
    play("=asks rm -r build", "=pass <tab>", "=draw 80 4 0");
    clock_ms = NOW + APPROVAL_TAB_MS - 1;
    play("=pass <tab>");
    approval_typed(&a, clock_ms);
    clock_ms += APPROVAL_TAB_MS - 1;
    play("=pass <tab>a");
    clock_ms++;
    play("=taken <tab>", "=pass a", "=taken <tab>"); /* not drawn yet */
    assert_says(seen(80, 4, clock_ms), "a allow once");
    play("=taken <tab>", "=answered a");
}

/* A pause does not end a text that has been begun. */
TEST(a_text_that_was_begun_is_gone_on_with)
{
    drafted = true;
    play("=asks rm -r build", "=draw 80 4 0", "=pass <tab>", /* nobody has seen the question yet */
         "=draw 80 4 1", "Tab answers the question; other keys go on", "!allow once",
         "=text asdj<enter>", "=taken <tab>", "=draw 80 4 1", "a allow once", "=text w");
    approval_typed(&a, ARMED); /* back to the text */
    assert_says(seen(80, 4, ARMED + APPROVAL_PAUSE_MS), "Tab answers the question");
    play("=text a", "=taken <tab>", "=hidden"); /* another size */
    draw(80, 4, ARMED + APPROVAL_PAUSE_MS);
    assert_says(seen(80, 4, ARMED + 2 * APPROVAL_PAUSE_MS), "Tab answers the question");
    play("=taken <tab>", "=draw 80 4 3", "=answered a");
}

TEST(escape_stops_also_before_the_keys_count)
{
    play("=asks x", "=draw 80 4 0", "=stop <escape><ctrl-c>");
    assert_int_equal(key(&(struct key){.code = K_CLICK}), TAKEN);
}

/* A key that is held down answers neither the next question nor an invisible one. */
TEST(each_question_is_looked_at_anew)
{
    ask("1", "{}", "first");
    ask("2", "{}", "second");
    play("=draw 80 4 0", "=draw 80 4 1", "first");
    assert_string_equal(a.questions.items[0].id, "1");
    assert_false(approval_over(&a, "3"));
    assert_true(approval_over(&a, "1"));
    assert_string_equal(a.questions.items[0].id, "2");
    play("=pass a", "=draw 80 4 1", "second", "=pass a", "=draw 80 4 2", "=hidden", "=pass a");
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
    play("=asks x", "=draw 80 4 0", "=draw 80 3 1",
         " n decline · r with a reason · y allow once\n p allow `make check …` always in",
         "=text a", "=answered y", "=once", "=asks x", "=draw 80 4 0", "=draw 80 3 1",
         "=answered <f5>");
    assert_int_equal(keymap_find(&keymap, &(struct key){.code = K_CHAR, .cp = 'n'}), ACTION_NONE);
}

/* --- scrolling --- */

TEST(the_text_scrolls)
{
    ask_numbered(30);
    assert_int_equal(a.view.ops->height(&a.view, 82, 1000), 34);
    play("=draw 80 13 0", "=draw 80 13 1", "1-10/30",
         "\n line 10\n d decline · r with a reason · PageDown next page · a allow, after",
         "=taken kj<down>", "3-12/30", "=taken <pagedown>", "12-21/30", "=taken <ctrl-end> ",
         "\n line 30\n d decline · r with", "=draw 80 40 1", /* a larger screen shows all of it */
         "\n line 1\n", "=taken <wheel-up><wheel-down>", "=text Gg", "=draw 80 6 1",
         "line 1\n line 2\n line 3\n d decline");
}

/* --- nothing unseen is allowed --- */

PLAY(nothing_is_allowed_before_its_end_was_seen, "=numbered 30", "=draw 80 13 0", "=draw 80 13 1",
     "=taken asp", "!a allow once", "=taken  a", /* in the queue before the page was drawn */
     "!a allow once", "=taken  a", "!a allow once", "=taken  a",
     "\n line 30\n d decline · r with a reason · a allow once", "=taken g", "\n line 1\n",
     "=answered a", "=once");

/* Another size shows other rows, so the reading begins anew. */
PLAY(another_size_is_read_anew, "=numbered 30", "=draw 80 12 0", "=taken <ctrl-end>",
     "=draw 80 12 1", "a allow once", "=hidden", "=draw 40 10 1", "=draw 40 10 2", "\n line 1\n",
     "=taken a", "=hidden", "=draw 120 40 2", "=draw 120 40 3", "=answered a");

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
    assert_says(seen(40, 10, NOW), "\n echo hi\n─── 199 empty lines ─────", "─\n rm -rf x\n");
    assert_int_equal(a.view.ops->height(&a.view, 40, 1000), 9);
    ask_apart("echo hi\n", " \t \n", 5, "rm -rf x");
    assert_says(seen(40, 10, NOW), "─── 5 empty lines ─");
    ask_apart("echo hi\n", "\n", 3, "rm -rf x"); /* few lines are left unchanged */
    assert_says(seen(40, 10, NOW), "\n echo hi\n\n\n\n rm -rf x\n");
    ask_apart("echo hi", "\n", 50, ""); /* at the end */
    assert_says(seen(40, 10, NOW), "\n echo hi\n─── 49 empty lines ─");
    ask_apart("─── 5 empty lines ─────", "\n", 1, "x"); /* no text begins where a rule does */
    assert_says(seen(40, 10, NOW), "\n ─── 5 empty lines");
}

TEST(long_runs_of_blanks_are_counted)
{
    ask_apart("echo hi", " ", 9000, "; rm -rf x");
    assert_says(seen(60, 7, NOW), "\n echo hi<U+0020 x 9000>; rm -rf x\n");
    ask_apart("echo hi", "\t", 900, "; rm -rf x");
    assert_says(seen(60, 7, NOW), "\n echo hi<U+0009 x 900>; rm -rf x\n");
    ask_apart("echo hi", "\u00A0", 2, "; rm -rf x");
    assert_says(seen(60, 7, NOW), "\n echo hi<U+00A0><U+00A0>; rm -rf x\n");
}

TEST(what_cannot_be_seen_is_marked)
{
    play("=asks r\u200Bm \U000E0072\u202E x\r\ny", "=draw 60 7 0",
         "\n r<U+200B>m <U+E0072><U+202E> x\u240D\n y\n");
    approval_forget(&a.view);
    ask("1", "{\"url\":\"http://x\u200B\"}", NULL);
    assert_says(seen(80, 8, NOW), "\"http://x\\u200b\"");
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
    play("=draw 60 8 0", "=draw 60 8 1",
         "\n! keys or tiro's own files: /home/u/.ssh/id<U+200B>_rsa\n {\n",
         "\n d decline · r with a reason · a allow once\n", "=taken sp", "=answered a");
}

/* The programs of a project: no reason is asked for, and one answer holds always. */
TEST(a_project_is_trusted_or_not)
{
    struct notice *n = notice_new(NOTICE_APPROVAL);
    n->text = mem_strdup(QUESTION_OF_TRUST);
    n->name = mem_strdup(QUESTION_OF_TRUST);
    n->detail = mem_strdup(QUESTION_OF_PROJECT);
    n->args = mem_strdup("{}");
    n->preview = mem_strdup("/work\n\nhook Stop:\n    make\u202e check");
    approval_ask(&a, n);
    play(
        "=draw 70 6 0", "=draw 70 6 1", " Do you trust the programs of this project? ─",
        "\n hook Stop:\n     make<U+202E> check\n d not now · a run them in this session · p trust "
        "this directory\n",
        "=taken rs", "=answered p");
    assert_int_equal(answer, ANSWER_PROJECT);
    approval_ask(&a, n);
    play("=draw 70 4 0", "=draw 70 4 2",
         "\n d not now · PageDown next page · p trust, after the last page\n", "=taken p",
         "=taken <pagedown>", "=taken <pagedown>", "=taken <pagedown>", "=draw 70 4 2",
         "=answered a");
    assert_int_equal(answer, ANSWER_ONCE);
    approval_ask(&a, n);
    play("=draw 70 6 0", "=draw 70 6 3", "=answered d");
    assert_int_equal(answer, ANSWER_DENY);
    approval_ask(&a, n);
    notice_free(n);
    n = notice_new(NOTICE_EVENT);
    n->event = event_new(EVENT_TURN_STARTED); /* another surface has answered */
    a.view.ops->notice(&a.view, n);
    notice_free(n);
    assert_false(approval_open(&a.view));
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
    const struct rows *rows = draw(80, 11, NOW);
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        enum style wanted = styles[i];
        if (wanted == STYLE_OVERLAY) /* one span with the margin */
            assert_int_equal(rows->spans.items[rows->list.items[i + 1].spans].style, wanted);
        else
            assert_int_equal(style_of(rows, i + 1), wanted);
    }
    assert_says(seen(80, 11, NOW), "\n --- old\n +++ new\n");
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
    assert_int_equal(a.view.ops->height(&a.view, 14, 1000), 9);
    assert_says(seen(12, 7, NOW), "\n echo aaaaaa\n›aaaa; rm b\n");
    approval_forget(&a.view);
    play("=asks 日本語日本語", "=draw 10 7 0", "\n 日本語日\n›本語\n");
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
