/* Reviewing a summary before it counts: its opening, its keys, its drawing, and its end. */
#include "base/clock.h"
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/still_app.h"
#include "tests/suite.h"
#include "ui/app/app.h"
#include "ui/app/dispatch.h"
#include "ui/app/notices.h"
#include "ui/app/screen.h"
#include "ui/view/draft_review.h"

enum { NOW = 100000, DUE = NOW + DRAFT_LOOK_MS };

static const char summary[] = "# Progress\nThe bridge is booked.\n\n- pay by Friday";

static struct draft_review r;
static struct keymap keymap;

static struct notice *draft(const char *text)
{
    struct notice *n = notice_new(NOTICE_DRAFT);
    n->text = mem_strdup(text);
    n->name = mem_strdup("handoff");
    n->detail = mem_strdup("openai/m1");
    n->draft = (struct draft_figures){.tokens_before = 101204, .tokens_after = 6310};
    return n;
}

static void begin_with(struct notice *n)
{
    draft_review_begin(&r, n);
    notice_free(n);
}

static void begin(const char *text)
{
    begin_with(draft(text));
}

static void look(int width, int height)
{
    const struct rows *rows = draft_review_rows(&r, &keymap, width, height);
    assert_true(rows->list.len <= (size_t)height);
    for (size_t i = 0; i < rows->list.len; i++)
        assert_true(rows_width(rows, i) <= (size_t)width);
    assert_true(r.caret_row >= 0 && r.caret_row < height);
    assert_true(r.caret_col >= 0 && r.caret_col < width);
}

/* Opens the review after the pause, with the draft seen by the user. */
static void open_with(const char *text)
{
    begin(text);
    draft_review_advance(&r, true, NOW);
    draft_review_advance(&r, true, DUE);
    assert_int_equal(r.stage, DRAFT_TEXT);
    look(120, 20);
}

/* The summary, if the person has changed it. */
static const char *changed(void)
{
    const char *text = editor_text(r.text);
    return strcmp(text, r.original) == 0 ? NULL : text;
}

/* The effect of a key: it is not the review's, taken, or a decision. */
enum effect { PASS, TAKEN, KEEP, REFUSE, AGAIN, STOP, LEAVE, EXTERNAL };
static enum effect effect;
static char *sent; /* the text of the last decision */

static uint64_t decided(struct app *of, struct view *v, const struct operation *o,
                        const void *params, view_answer *take)
{
    const struct compaction_decide_params *p = params;
    (void)of, (void)v, (void)take;
    assert_ptr_equal(o, &operation_compaction_decide);
    free(sent);
    sent = mem_strdup(p->text);
    effect = p->decision == DRAFT_COMMIT ? KEEP : p->decision == DRAFT_REFUSE ? REFUSE : AGAIN;
    return 1;
}

static void run(struct app *of, enum action action)
{
    (void)of;
    effect = action == ACTION_LEAVE ? LEAVE : STOP;
}

static void edit_outside(struct app *of, struct editor *editor)
{
    (void)of;
    assert_ptr_equal(editor, r.text);
    effect = EXTERNAL;
}

static void touch(struct app *of)
{
    (void)of;
}

static const struct view_host host = {
    .keymap = &keymap, .ask = decided, .act = run, .edit_outside = edit_outside, .touch = touch};

static int key(const struct key *k)
{
    effect = TAKEN;
    return r.view.ops->key(&r.view, keymap_find(&keymap, k), k) ? (int)effect : PASS;
}

static struct {
    int width, height;
} size;

static const struct rows *draw(void)
{
    look(size.width, size.height);
    return &r.rows;
}

static void give(const char *file, int line, const char *step);
static const char *const effects[] = {"pass", "taken", "keep",    "refuse", "again",
                                      "stop", "leave", "outside", NULL};
static const struct person person = {.key = key, .rows = draw, .give = give, .effects = effects};

static void paste(const char *text)
{
    auto_free char *copy = mem_strdup(text);
    assert_int_equal(key(&(struct key){.code = K_PASTE, .text = copy}), TAKEN);
}

static int tear_down(void **state)
{
    (void)state;
    draft_review_release(&r.view);
    keymap_release(&keymap);
    free(sent);
    sent = NULL;
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    seen_by(&person);
    size.width = 80;
    size.height = 12;
    draft_review_init(&r, &host);
    keymap_init(&keymap);
    return 0;
}

/* All rows without the blanks at their ends; valid until the next call. */
static const char *seen(int width, int height)
{
    look(width, height);
    return seen_text(&r.rows);
}

/* "draw W H"; "paste TEXT"; "begins": a draft comes, "advance N": to N times DRAFT_LOOK_MS after
 * NOW; "opens TEXT", "summary": it is open with this text; "text", "focus": what is edited, whose
 * text this is; "changed TEXT", "unchanged", "open", "shut". */
static void give(const char *file, int line, const char *step)
{
    const char *rest = strchr(step, ' ') ? strchr(step, ' ') + 1 : "";
    bool holds = true;
    if (sscanf(step, "draw %d %d", &size.width, &size.height) == 2)
        (void)draw();
    else if (strncmp(step, "paste ", 6) == 0)
        paste(rest);
    else if (strcmp(step, "begins") == 0)
        begin(summary);
    else if (strncmp(step, "advance ", 8) == 0)
        draft_review_advance(&r, true, NOW + DRAFT_LOOK_MS * atoi(rest));
    else if (strcmp(step, "summary") == 0 || strncmp(step, "opens ", 6) == 0)
        open_with(*step == 's' ? summary : rest);
    else if (strcmp(step, "open") == 0 || strcmp(step, "shut") == 0)
        holds = draft_review_open(&r) == (*step == 'o');
    else if (strncmp(step, "changed ", 8) == 0)
        holds = changed() && strncmp(changed(), rest, strlen(rest)) == 0;
    else if (strcmp(step, "unchanged") == 0)
        holds = !changed();
    else if (strncmp(step, "text", 4) == 0)
        holds = r.stage == DRAFT_TEXT && strcmp(editor_text(r.text), rest) == 0;
    else
        holds = r.stage == DRAFT_FOCUS && strcmp(editor_text(r.focus), rest) == 0;
    if (!holds) {
        print_error("does not hold: %s\n", step);
        _fail(file, line);
    }
}

/* --- when it opens --- */

BEFORE_ALL(support_utf8);
FIXTURE(set_up, tear_down);

TEST(it_is_announced_then_it_opens)
{
    assert_false(draft_review_pending(&r.view));
    assert_int_equal(draft_review_due(&r.view), 0);
    begin(summary);
    assert_true(draft_review_pending(&r.view));
    assert_false(draft_review_open(&r));
    assert_int_equal(draft_review_due(&r.view), 0); /* not before somebody can have seen it */
    draft_review_advance(&r, true, NOW);
    assert_int_equal(draft_review_due(&r.view), DUE);
    draft_review_advance(&r, true, DUE - 1);
    play("=shut", "=advance 1", "=open");
    assert_int_equal(draft_review_due(&r.view), 0);
}

TEST(it_does_not_open_while_somebody_writes)
{
    r.typed_ms = NOW - 1;
    play("=begins", "=advance 0");
    assert_int_equal(draft_review_due(&r.view), NOW - 1 + DRAFT_PAUSE_MS);
    r.typed_ms = DUE;
    assert_int_equal(draft_review_due(&r.view), DUE + DRAFT_PAUSE_MS);
    draft_review_advance(&r, true, DUE + DRAFT_PAUSE_MS - 1);
    assert_false(draft_review_open(&r));
    r.typed_ms = 0; /* sent */
    draft_review_advance(&r, true, DUE + 1);
    assert_true(draft_review_open(&r));
}

TEST(it_does_not_open_behind_something_else)
{
    begin(summary);
    draft_review_advance(&r, false, NOW);
    draft_review_advance(&r, false, DUE + 5000);
    assert_false(draft_review_open(&r));
    draft_review_advance(&r, true, DUE + 5000);
    assert_true(draft_review_open(&r));
}

/* Before the review is open every key goes to the message; before it is drawn no key decides. */
TEST(what_was_typed_ahead_decides_nothing)
{
    play("=begins", "=pass <enter>", "=advance 0", "=pass <enter><escape>", "=advance 1",
         "=taken <enter><escape><alt-g>");
    assert_int_equal(r.stage, DRAFT_TEXT);
    play("=draw 80 10", "=keep <enter>");
}

TEST(another_size_is_looked_at_anew)
{
    play("=summary", "=taken x");
    draft_review_hidden(&r);
    play("=open", "=taken <enter><escape>", "=draw 40 6", "=keep <enter>");
    draft_review_end(&r);
    play("=begins", /* … also while it waits */
         "=advance 0");
    draft_review_hidden(&r);
    assert_int_equal(draft_review_due(&r.view), 0);
    play("=advance 1", "=shut");
}

/* --- the person's word --- */

TEST(what_was_not_changed_is_not_sent)
{
    static const struct {
        const char *keys, *sent;
    } cases[] = {{"<enter>", NULL},
                 {"x<enter>", "x# Progress\nThe bridge is booked.\n\n- pay by Friday"},
                 {"x<backspace><enter>", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_with(summary);
        act(cases[i].keys);
        assert_int_equal(effect, KEEP);
        assert_false(draft_review_pending(&r.view));
        if (cases[i].sent)
            assert_string_equal(sent, cases[i].sent);
        else
            assert_null(sent);
    }
}

/* A text that is only cleaned for display does not count as edited by the person. */
TEST(a_hostile_text_is_cleaned_and_kept)
{
    open_with("one\033[2J\xff two\r\nthree");
    assert_null(strchr(seen(80, 12), '\033'));
    assert_null(changed());
    struct notice *n = draft("");
    free(n->name);
    n->name = mem_strdup("hand\033[2Joff");
    begin_with(n);
    assert_null(strchr(seen(80, 12), '\033'));
    play("=opens one\033[2J\xff two\r\nthree", "><ctrl-e>!");
    assert_non_null(strstr(changed(), "two!"));
    assert_null(strchr(changed(), '\033'));
}

TEST(the_person_s_characters_are_sent_as_they_are)
{
    play("=opens old", "=taken 漢",
         "=paste e\xcc\x81 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac\nand\tmore");
    assert_string_equal(changed(),
                        "漢e\xcc\x81 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac\nand\tmoreold");
}

PLAY(an_emptied_summary_is_not_kept, "=summary", "=taken <ctrl-c>", "> <ctrl-j>", "=taken <enter>",
     "an empty summary cannot be accepted", "=draw 40 6", "an empty summary cannot be accepted",
     "=taken x", "=draw 80 12", "!cannot be accepted", "=keep <enter>", "=opens ", "=taken <enter>",
     "=refuse <escape>");

/* Ctrl-C goes step by step, as it does in the editor of messages. */
PLAY(control_c_clears_before_it_stops, "=summary", "=taken <ctrl-c>", "=text",
     "><ctrl-_><ctrl-_>", /* undone, and not further than the summary */
     "=unchanged", "><ctrl-c>", "=stop <ctrl-c>");
PLAY(control_d_leaves_when_nothing_is_there, "=opens ab", "=taken <ctrl-d>", "=text b",
     "=taken <ctrl-d>", "=leave <ctrl-d>");

TEST(the_focus_is_asked_for_in_a_line)
{
    play("=summary", "=taken mine <alt-g>", "=focus", "=taken <enter>", /* not seen yet */
         "=focus", "focus on:", ">the bridge<ctrl-j>", "=paste  and\033 Friday\nand all",
         "=focus the bridge and␛ Friday and all", "=changed mine # P", "=again <enter>");
    assert_string_equal(sent, "the bridge and␛ Friday and all");
}

static void open_focus(void)
{
    act("<alt-g>");
    look(80, 12);
}

TEST(the_focus_leads_back_to_the_text)
{
    static const char *const ways[] = {"<escape>", "<enter>"};
    play("=summary", "=taken mine ");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        open_focus();
        lead_to(TAKEN, "  ");
        lead_to(TAKEN, ways[i]);
        assert_int_equal(r.stage, DRAFT_TEXT);
        lead_to(TAKEN, ways[i]); /* of the same blow */
        play("mine # P", "=changed mine # P");
    }
    open_focus();
    lead_to(TAKEN, "x<ctrl-c>");
    assert_int_equal(r.stage, DRAFT_FOCUS);
    lead_to(TAKEN, "<ctrl-c>");
    assert_int_equal(r.stage, DRAFT_TEXT);
    see("mine # P");
    open_focus();
    play(">not that<escape>", "mine # P", "><alt-g>", "=focus");
    size_t caret = editor_caret(r.text);
    act("<down><pagedown>");
    assert_int_equal(editor_caret(r.text), caret);
}

/* --- editing --- */

PLAY(it_is_an_editor, "=opens one two\nthree", "><ctrl-j>", "=text \none two\nthree",
     "><alt-enter>", "=text \n\none two\nthree", "><ctrl-k><ctrl-y><down><ctrl-a><alt-f>!",
     "three!", "><ctrl-_>", "!three!", "=outside <ctrl-g>");

TEST(pages_go_through_a_long_text)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 100; i++)
        buf_addf(&text, "line %d\n", i);
    open_with(text.data);
    play("line 0\n", "><pagedown*3>", "!line 0\n", "><pageup*3>", "line 0\n", "><ctrl-end>",
         "line 99", "><ctrl-home>");
    assert_int_equal(editor_caret(r.text), 0);
    act("<wheel-down>");
    assert_int_equal(editor_caret(r.text), strlen("line 0\n") * 3);
    play("><up*4>", /* the history of messages is not this text's */
         "=unchanged");
}

/* Content above the draft can be scrolled; lists that need the keyboard cannot be opened. */
TEST(other_keys)
{
    open_with(summary);
    assert_int_equal(key(&(struct key){.code = K_CLICK}), PASS);
    play("=pass <f1><ctrl-o>", "=taken <ctrl-r><ctrl-p><ctrl-f><tab><f3>", "=unchanged");
}

/* --- drawing --- */

TEST(the_heading_says_what_it_is_and_what_to_do)
{
    open_with("a summary");
    assert_string_equal(
        seen(120, 8),
        "draft summary · summary + last turns · 101,204 → ~6,310 tokens · Enter accepts · "
        "Esc rejects\nAlt-g asks again with a focus\n> a summary\n");
    assert_int_equal(draft_review_height(&r, &keymap, 120), 3);
    assert_string_equal(
        seen(80, 8),
        "draft summary · summary + last turns · 101,204 → ~6,310 tokens · Enter accepts\n"
        "Esc rejects · Alt-g asks again with a focus\n> a summary\n");
    assert_string_equal(seen(40, 6),
                        "draft summary · summary + last turns\n"
                        "101,204 → ~6,310 tokens · Enter accepts\n"
                        "Esc rejects · Alt-g focus\n> a summary\n");
    assert_string_equal(seen(40, 3),
                        "101,204 → ~6,310 tokens · Enter accepts\n"
                        "Esc rejects · Alt-g focus\n> a summary\n");
    assert_int_equal(r.caret_row, 2);
    assert_int_equal(r.caret_col, 2);
}

/* A draft that a program wrote would be the same again, so no new one is offered. */
TEST(without_a_model_nobody_is_asked_again)
{
    struct notice *n = draft("an extract");
    free(n->detail);
    n->detail = NULL;
    begin_with(n);
    play("=advance 0", "=advance 1");
    assert_string_equal(
        seen(120, 8),
        "draft summary · summary + last turns · 101,204 → ~6,310 tokens · Enter accepts · "
        "Esc rejects\n> an extract\n");
    lead_to(TAKEN, "<alt-g>");
    assert_int_equal(r.stage, DRAFT_TEXT);
}

TEST(the_figure_follows_the_text)
{
    play("=opens 12345678", "=draw 120 8", "=taken abcd", "~6,311 tokens", "><ctrl-c>",
         "~6,308 tokens");
    r.figures.tokens_after = 1;
    see("~0 tokens");
}

TEST(other_keys_are_named)
{
    struct error e;
    assert_true(keymap_bind(&keymap, "draft_focus", "f9", &e));
    assert_true(keymap_bind(&keymap, "send", "ctrl-s", &e));
    open_with("a summary");
    assert_says(seen(120, 8), "Ctrl-S accepts", "F9 asks again");
    assert_true(keymap_bind(&keymap, "draft_focus", "none", &e));
    assert_says(seen(120, 8), "!asks again");
}

TEST(the_question_for_a_focus)
{
    play("=opens a summary", "><alt-g>");
    assert_string_equal(seen(60, 6),
                        "focus on:                    Enter asks again, Esc goes back\n"
                        "> a summary\n");
    assert_int_equal(r.caret_row, 0);
    assert_int_equal(r.caret_col, 10);
    assert_string_equal(seen(40, 6), "focus on:\n> a summary\n");
    for (int i = 0; i < 60; i++) {
        lead_to(TAKEN, "x");
        look(60, 6);
    }
    assert_non_null(strstr(seen(60, 6), "focus on: "));
    assert_true(r.caret_col < 60 - 32);
}

TEST(every_size_holds_the_caret_and_some_text)
{
    open_with(
        "漢字 and e\xcc\x81 and \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac, "
        "a long line that has to be broken at every width there is\nmore");
    for (int stage = 0; stage < 2; stage++) {
        for (int width = 20; width < 140; width++)
            for (int height = 2; height < 12; height++)
                look(width, height);
        act("<ctrl-end><alt-g>");
    }
}

TEST(the_announcement)
{
    AUTO(rows_release) struct rows rows = {0};
    rows_init(&rows);
    play("=begins", "=advance 0");
    draft_review_announcement(&r, 40, &rows);
    r.typed_ms = NOW + 10;
    draft_review_announcement(&r, 80, &rows);
    draft_review_announcement(&r, 20, &rows);
    assert_string_equal(rows.text.data,
                        "a draft summary is readya draft summary is ready; stop typing to "
                        "review ita draft summary is …");
}

/* --- within the surface --- */

static void take_draft(void)
{
    notices_take(&app, draft(summary));
    assert_true(draft_review_pending(&app.draft.view));
    screen_advance_draft(&app, NOW);
    screen_advance_draft(&app, DUE);
    assert_true(draft_review_open(&app.draft));
}

FIXTURES(still_app, still_app_setup, still_app_teardown);

/* Any end of the draft's compaction ends the review, and the message is unchanged. */
TEST(reviews_close)
{
    static const enum event_type ends[] = {EVENT_COMPACTION_COMPLETED, EVENT_COMPACTION_FAILED,
                                           EVENT_TURN_COMPLETED, EVENT_TURN_FAILED,
                                           EVENT_INTERRUPTED};
    editor_set(app.editor, "my own words");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        take_draft();
        still_app_event(event_new(EVENT_TEXT_DELTA));
        assert_true(draft_review_open(&app.draft));
        still_app_event(event_new(ends[i]));
        assert_false(draft_review_pending(&app.draft.view));
    }
    take_draft();
    notices_take(&app, notice_new(NOTICE_BUSY));
    assert_false(draft_review_pending(&app.draft.view));
    memcpy(app.session.id, "first", 6);
    take_draft();
    still_app_session("second", "two", false, true);
    assert_false(draft_review_pending(&app.draft.view));
    assert_string_equal(editor_text(app.editor), "my own words");
}

/* The review does not open while a list has the keyboard, and then sets no timer either. */
TEST(it_waits_for_the_keyboard)
{
    app.find.active = true;
    notices_take(&app, draft(summary));
    screen_advance_draft(&app, NOW);
    assert_int_equal(views_due(&app.views), 0);
    screen_advance_draft(&app, DUE);
    assert_false(draft_review_open(&app.draft));
    app.find.active = false;
    assert_int_equal(views_due(&app.views), DUE);
    app.drawn_ms = DUE;
    app.dirty = 0;
    app.urgent = false;
    assert_int_equal(app_timeout(&app, NOW), DRAFT_LOOK_MS);
    app_timers(&app, DUE);
    assert_true(app_frame_due(&app, DUE));
}

TEST(the_summary_is_never_the_draft_that_is_saved)
{
    editor_set(app.editor, "my own words");
    take_draft();
    struct key x = {.code = K_CHAR, .cp = 'x'};
    enum view_layer by;
    assert_true(views_key(&app.views, ACTION_NONE, &x, &by));
    assert_string_equal(editor_text(app.editor), "my own words");
    assert_int_equal(app.draft_at, 0);
    app.draft_at = 0;
}

/* Ctrl-D where nothing is left ends the program, not the summary alone. */
TEST(leaving_is_the_surfaces)
{
    struct key ctrl_d = {.code = K_CHAR, .cp = 'd', .ctrl = true};
    enum view_layer by;
    take_draft();
    (void)draft_review_rows(&app.draft, &app.keymap, 80, 10);
    editor_set(app.draft.text, "x");
    assert_true(views_key(&app.views, ACTION_LEAVE, &ctrl_d, &by));
    assert_true(views_key(&app.views, ACTION_TEXT_START, &ctrl_d, &by));
    assert_true(views_key(&app.views, ACTION_LEAVE, &ctrl_d, &by));
    assert_false(app.leaving);
    assert_true(views_key(&app.views, ACTION_LEAVE, &ctrl_d, &by));
    assert_true(app.leaving);
    assert_true(draft_review_pending(&app.draft.view));
}

/* Text that is typed while the draft waits goes into the message and puts the draft off. */
TEST(writing_puts_it_off)
{
    struct key x = {.code = K_CHAR, .cp = 'x'};
    notices_take(&app, draft(summary));
    screen_advance_draft(&app, 1);
    assert_int_equal(views_due(&app.views), 1 + DRAFT_LOOK_MS);
    dispatch_key(&app, &x);
    assert_string_equal(editor_text(app.editor), "x");
    assert_true(views_due(&app.views) >= clock_mono_ms());
}

/* A list that was opened over it has the keys until it is closed. */
TEST(help_goes_before_it)
{
    take_draft();
    app_open_list(&app, LIST_HELP, list_new(LIST_READ, "Help"), NULL);
    struct key enter = {.code = K_ENTER};
    enum view_layer by;
    assert_true(views_key(&app.views, ACTION_SEND, &enter, &by));
    assert_int_equal(by, VIEW_LIST);
    assert_true(draft_review_open(&app.draft));
    app_close_list(&app);
    assert_true(views_key(&app.views, ACTION_SEND, &enter, &by)); /* not drawn, so not kept */
    assert_true(draft_review_open(&app.draft));
}
