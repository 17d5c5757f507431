/* The memory pane without terminal and engine: what it asks, what it draws of made-up answers,
 * what its keys do. And what a call of memory_search looks like in the transcript. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/sent.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/app/screen.h"
#include "ui/term/glyph.h"
#include "ui/transcript/transcript.h"
#include "ui/view/memory_line.h"
#include "ui/view/memory_pane.h"

#define NOW ((int64_t)1800000000000)
#define DAY ((int64_t)86400000)

static struct {
    struct memory_pane *pane;
    struct keymap keymap;
    struct recalls recalls;
    sent_commands sent;
    int width, height;
} the;

static int64_t now_ms(void)
{
    return NOW;
}

static const char *title_of(void *context, const char *session_id)
{
    (void)context;
    return strcmp(session_id, "here") == 0    ? ""
           : strcmp(session_id, "other") == 0 ? "Kyoto\x1b[31m in November"
                                              : NULL;
}

static void forget_sent(void)
{
    sent_forget(&the.sent);
}

/* The last command of this type since forget_sent(); NULL: none. */
static const struct command *sent(enum command_type type)
{
    return sent_last(&the.sent, type);
}

/* --- made-up answers --- */

static struct memory_hit hit_of(const char *id, const char *text, const char *mark)
{
    struct memory_hit h = {0};
    const char *at = mark ? strstr(text, mark) : NULL;
    h.entry.id = mem_strdup(id);
    h.entry.session_id = mem_strdup("here");
    h.entry.turn = 3;
    h.entry.seq = 17;
    h.entry.role = ROLE_USER;
    h.entry.created_ms = NOW - 2 * DAY;
    h.entry.content = mem_strdup(text);
    h.score = 0.93;
    h.passage.len = strlen(text);
    if (at) {
        struct memory_span span = {(size_t)(at - text), strlen(mark)};
        vec_push(&h.marks, span);
    }
    return h;
}

static struct notice *answer(const char *query, const char *scope, int64_t total)
{
    struct notice *n = notice_new(NOTICE_MEMORY);
    n->text = mem_strdup(query);
    n->name = mem_strdup(scope);
    n->number = total;
    return n;
}

static void add(struct notice *n, struct memory_hit h)
{
    vec_push(&n->memory.items, h);
}

static void give(struct notice *n)
{
    memory_pane_take(the.pane, n);
    notice_free(n);
}

static void give_two(const char *query)
{
    struct notice *n = answer(query, "all", 1204);
    add(n, hit_of("a", "we liked the ryokan by the river", "ryokan"));
    add(n, hit_of("b", "booked from the 14th to the 17th", "booked"));
    n->memory.items.items[1].entry.role = ROLE_ASSISTANT;
    n->memory.items.items[1].entry.turn = 4;
    n->memory.items.items[1].score = 0.78;
    give(n);
}

static void give_entry(const char *id, const char *text)
{
    struct notice *n = notice_new(NOTICE_MEMORY_ENTRY);
    n->text = mem_strdup(id);
    add(n, hit_of(id, text, NULL));
    give(n);
}

static bool done(enum command_type command, const char *id, int64_t number)
{
    struct notice *n = notice_new(NOTICE_DONE);
    n->command = command;
    n->text = mem_strdup(id);
    n->number = number;
    bool mine = memory_pane_done(the.pane, n);
    notice_free(n);
    return mine;
}

static struct event *recall_event(int64_t seq, const char *query, const char *hits)
{
    struct event *ev = event_new(EVENT_MEMORY_RECALLED);
    ev->seq = seq;
    ev->wall_ms = NOW - 60000 * 5;
    ev->id = mem_strdup("call_1");
    ev->text = mem_strdup(query);
    ev->hits = mem_strdup(hits);
    return ev;
}

#define TWO_HITS                                                                                   \
    "[{\"id\":\"a\",\"score\":0.9,\"session_id\":\"here\",\"turn\":3,\"seq\":17,"                  \
    "\"role\":\"user\",\"speaker\":\"user\",\"created_at\":\"2026-03-09T14:05:07.000Z\","          \
    "\"content\":\"by the river\","                                                                \
    "\"why\":{\"words\":7.25,\"coverage\":0.5}},"                                                  \
    "{\"id\":\"b\",\"score\":0.5,\"session_id\":\"other\",\"turn\":4,\"role\":\"assistant\","      \
    "\"created_at\":\"2026-03-09T14:05:07.000Z\",\"content\":\"from the 14th\"}]"

static void recall(int64_t seq, const char *query, const char *hits, bool live)
{
    struct event *ev = recall_event(seq, query, hits);
    bool added = recalls_add(&the.recalls, ev, live);
    assert_true(added);
    if (live)
        memory_pane_recalled(the.pane, vec_last(&the.recalls.items));
    event_free(ev);
}

/* --- a person --- */

static int key(const struct key *k)
{
    return memory_pane_key(the.pane, keymap_find(&the.keymap, k), k);
}

static const struct rows *rows_now(void)
{
    memory_pane_resize(the.pane, the.width, the.height);
    const struct rows *rows = memory_pane_rows(the.pane);
    seen_check(rows, the.width, the.height);
    return rows;
}

static size_t find(const char *text)
{
    return seen_find(rows_now(), text);
}

static const struct person person = {key, rows_now, 2};

static int set_up(void **state)
{
    (void)state;
    seen_by(&person);
    memset(&the, 0, sizeof the);
    keymap_init(&the.keymap);
    the.width = 48;
    the.height = 30;
    clock_replace(now_ms, NULL);
    const struct memory_host host = {&the.keymap, sent_take,    title_of,
                                     &the.sent,   &the.recalls, "all"};
    the.pane = memory_pane_new(&host);
    memory_pane_show(the.pane, NULL);
    memory_pane_focus(the.pane, true);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    memory_pane_free(the.pane);
    recalls_release(&the.recalls);
    sent_release(&the.sent);
    keymap_release(&the.keymap);
    clock_replace(NULL, NULL);
    return 0;
}

/* Two hits of a query, and keys in them. */
static void search(void)
{
    act("ryokan");
    give_two("ryokan");
    act("<down>");
    forget_sent();
}

/* --- searching --- */

static int utf8_and_utc(void **state)
{
    setenv("TZ", "UTC", 1);
    tzset();
    return support_utf8(state);
}

BEFORE_ALL(utf8_and_utc);
FIXTURE(set_up, tear_down);

TEST(it_asks_at_once)
{
    const struct command *c = sent(COMMAND_MEMORY_SEARCH);
    assert_non_null(c);
    assert_string_equal(c->text, "");
    assert_string_equal(c->name, "all");
    assert_int_equal(c->number, MEMORY_BY_SCORE);
    assert_int_equal(c->limit, 50);
    assert_non_null(sent(COMMAND_MEMORY_STATE));
    see("loading");
}

TEST(it_looks_as_specified)
{
    act("ryokan");
    give_two("ryokan");
    see(" Memory \xc2\xb7 all \xc2\xb7 1,204 entries", " / ryokan",
        "0.93 \u2587\u2587\u2587\u2587\u2587\u2587\u2587\u2587\u2587\u2591 you \xc2\xb7 "
        "t3 \xc2\xb7 2 d",
        "  we liked the ryokan by the river",
        "0.78 \u2587\u2587\u2587\u2587\u2587\u2587\u2587\u2587\u2591\u2591 tiro \xc2\xb7 "
        "t4");
    assert_int_equal(find("0.93"), 2);
    assert_int_equal(find("0.78"), 4);
}

TEST(ascii_has_its_own_signs)
{
    glyph_set_ascii(true);
    search();
    size_t row = find("0.93 #########. you - t3 - 2 d");
    glyph_set_ascii(false);
    assert_int_equal(row, 2);
}

TEST(every_edit_is_asked)
{
    forget_sent();
    act("ab");
    assert_int_equal(sent_count(&the.sent, COMMAND_MEMORY_SEARCH), 2);
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "ab");
    act("<backspace>");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "a");
    act("<left>");
    assert_int_equal(sent_count(&the.sent, COMMAND_MEMORY_SEARCH), 3);
    char pasted[] = "x\ny\x1b";
    struct key paste = {.code = K_PASTE, .text = pasted};
    memory_pane_key(the.pane, ACTION_NONE, &paste);
    assert_int_equal(sent_count(&the.sent, COMMAND_MEMORY_SEARCH), 4);
    assert_int_equal(strchr(sent(COMMAND_MEMORY_SEARCH)->text, '\n') != NULL, false);
}

TEST(late_answers_change_nothing)
{
    act("ryokan");
    give_two("ryo");
    see("!0.93");
    struct notice *n = answer("ryokan", "session", 3);
    add(n, hit_of("z", "of another scope", NULL));
    give(n);
    see("!another scope");
    give_two("ryokan");
    see("0.93");
}

TEST(newest_first_has_no_scores)
{
    give_two("");
    see("!0.93", " you \xc2\xb7 t3 \xc2\xb7 2 d", "newest first");
}

TEST(what_there_is_not_is_said)
{
    give(answer("", "all", 0));
    see("Memory is empty.", "0 entries");
    act("x");
    give(answer("x", "all", 12));
    see("No matches in memory.");
}

TEST(sessions_have_their_names)
{
    struct notice *n = answer("", "all", 2);
    add(n, hit_of("a", "one", NULL));
    add(n, hit_of("b", "two", NULL));
    free(n->memory.items.items[0].entry.session_id);
    n->memory.items.items[0].entry.session_id = mem_strdup("other");
    free(n->memory.items.items[1].entry.session_id);
    n->memory.items.items[1].entry.session_id = mem_strdup("conv-26");
    n->memory.items.items[1].entry.speaker = mem_strdup("Caroline");
    give(n);
    see("2 d \xc2\xb7 Kyoto", "Caroline \xc2\xb7 t3 \xc2\xb7 2 d \xc2\xb7 conv-26");
}

TEST(scope_and_order_change)
{
    search();
    act("s");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->name, "project");
    act("s");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->name, "session");
    see("Memory \xc2\xb7 session");
    act("s");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->name, "all");
    act("t");
    assert_int_equal(sent(COMMAND_MEMORY_SEARCH)->number, MEMORY_BY_DATE);
    see("by date");
    act("t");
    assert_int_equal(sent(COMMAND_MEMORY_SEARCH)->number, MEMORY_BY_SCORE);
}

TEST(letters_are_text_in_the_query)
{
    forget_sent();
    act("oipedust/jkgG");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "oipedust/jkgG");
    assert_null(sent(COMMAND_MEMORY_FORGET));
}

TEST(keys_lead_to_the_hits_and_back)
{
    int row, col;
    act("ryokan");
    give_two("ryokan");
    rows_now();
    assert_true(memory_pane_caret(the.pane, &row, &col));
    assert_int_equal(row, 1);
    assert_int_equal(col, 9);
    memory_pane_focus(the.pane, false);
    assert_false(memory_pane_caret(the.pane, &row, &col));
    see("Tab to the memory");
    memory_pane_focus(the.pane, true);
    act("<enter>");
    rows_now();
    assert_false(memory_pane_caret(the.pane, &row, &col));
    lead_to(MEMORY_STAYS, "/");
    rows_now();
    assert_true(memory_pane_caret(the.pane, &row, &col));
    act("<down><escape>");
    rows_now();
    assert_true(memory_pane_caret(the.pane, &row, &col));
    lead_to(MEMORY_CLOSED, "<escape><f2>");
    lead_to(MEMORY_WRITE, "<tab>");
    lead_to(MEMORY_PASS, "<f1><f3>");
}

/* What the query has no use for may not reach the message behind it. */
/* What is typed after it is still the query's. */
TEST(the_wheel_leaves_the_query)
{
    act("a");
    struct notice *n = answer("a", "all", 50);
    for (int i = 1; i <= 50; i++) {
        char id[16], text[32];
        snprintf(id, sizeof id, "%d", i);
        snprintf(text, sizeof text, "entry %02d", i);
        add(n, hit_of(id, text, NULL));
    }
    give(n);
    forget_sent();
    see("entry 01");
    act("<wheel-down>", "!entry 01", "entry 02");
    act("<wheel-up>", "entry 01");
    act("<wheel-up>");
    for (int i = 0; i < 100; i++) {
        act("<wheel-down>");
        rows_now();
    }
    see("entry 50");
    assert_int_equal(sent(COMMAND_MEMORY_SEARCH)->limit, 100);
    act("d");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "ad");
    assert_null(sent(COMMAND_MEMORY_FORGET));
}

TEST(no_key_slips_through)
{
    static const char keys[] = "<left><right><up><ctrl-k><ctrl-y><backspace><ctrl-d><ctrl-t>";
    lead_to(MEMORY_STAYS, keys);
    search();
    lead_to(MEMORY_STAYS, keys);
    act("<down>x");
    lead_to(MEMORY_STAYS, "q");
    act("/<ctrl-j>s");
    assert_null(strchr(sent(COMMAND_MEMORY_SEARCH)->text, '\n'));
}

TEST(moving_chooses)
{
    search();
    see("\u203a0.93");
    act("j", "\u203a0.78");
    act("k", "\u203a0.93");
    act("G", "\u203a0.78");
    act("g", "\u203a0.93");
    act("<up>s");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "ryokans");
}

TEST(the_end_of_many_asks_for_more)
{
    struct notice *n = answer("", "all", 500);
    for (int i = 0; i < 50; i++) {
        char *id = mem_printf("id%d", i), *text = mem_printf("entry %d of many", i);
        add(n, hit_of(id, text, NULL));
        free(id);
        free(text);
    }
    give(n);
    act("<down>");
    forget_sent();
    act("<end>");
    assert_non_null(sent(COMMAND_MEMORY_SEARCH));
    assert_int_equal(sent(COMMAND_MEMORY_SEARCH)->limit, 100);
    see("\u203aentry 49 of many");
    act("<end>");
    assert_int_equal(sent_count(&the.sent, COMMAND_MEMORY_SEARCH), 1); /* it is on its way */
}

TEST(the_chosen_entry_stays_chosen)
{
    search();
    act("j");
    struct notice *n = answer("ryokan", "all", 1205);
    add(n, hit_of("new", "a new first ryokan", "ryokan"));
    add(n, hit_of("a", "we liked the ryokan by the river", "ryokan"));
    add(n, hit_of("b", "booked from the 14th to the 17th", "booked"));
    give(n);
    see("\u203abooked");
    act("/s");
    give_two("ryokans");
    act("<down>", "\u203aliked");
}

TEST(badges_tell_what_is_in_the_way)
{
    struct notice *n = answer("", "all", 1204);
    n->memory.badge = "words only: the embedding endpoint is down";
    add(n, hit_of("a", "one", NULL));
    give(n);
    see("words only: the embedding endpoint is down");
    n = notice_new(NOTICE_MEMORY_STATE);
    n->stats.entries = 1204;
    n->stats.pending = 204;
    give(n);
    see("computing vectors: 1,000 of 1,204");
    n = notice_new(NOTICE_MEMORY_STATE);
    n->stats.entries = 1204;
    n->stats.pending = 204;
    n->stats.waits_for = mem_strdup("no answer from localhost");
    give(n);
    see("computing vectors: 1,000 of 1,204 \xc2\xb7 no");
    n = notice_new(NOTICE_MEMORY_STATE);
    give(n);
    see("!making vectors");
}

/* --- the line of a hit --- */

static char *line_of(const struct memory_hit *h, size_t columns, const char **marked)
{
    static char mark[64];
    struct styled line;
    styled_init(&line);
    memory_line(&line, h, columns, STYLE_OVERLAY);
    size_t at = 0;
    *mark = '\0';
    for (size_t i = 0; i < line.spans.len; i++) {
        const struct span *span = &line.spans.items[i];
        if (span->style == STYLE_MATCH) {
            assert_true(span->attrs & ATTR_UNDERLINE); /* where there are no colours */
            snprintf(mark, sizeof mark, "%.*s", (int)span->len, line.text.data + at);
        }
        at += span->len;
    }
    assert_int_equal(at, line.text.len);
    char *text = mem_strdup(line.text.data);
    styled_release(&line);
    if (marked)
        *marked = mark;
    return text;
}

TEST(the_line_shows_the_first_mark)
{
    struct buf text = BUF_INIT;
    const char *marked;
    for (int i = 0; i < 200; i++)
        buf_addf(&text, "word%d \n", i);
    struct memory_hit h = hit_of("a", text.data, "word150");
    char *line = line_of(&h, 40, &marked);
    size_t at = (size_t)(strstr(line, "word150") - line);
    assert_string_equal(marked, "word150");
    assert_true(at < 30);
    assert_int_equal(strncmp(line, "\xe2\x80\xa6 word14", 9), 0);
    assert_null(strchr(line, '\n'));
    free(line);
    h.passage = (struct memory_span){(size_t)(strstr(text.data, "word149") - text.data), 60};
    line = line_of(&h, 40, &marked);
    assert_int_equal(strncmp(line, "word149 word150 ", 16), 0);
    free(line);
    memory_hit_release(&h);
    buf_release(&text);
}

TEST(wrong_places_do_no_harm)
{
    struct memory_hit h =
        hit_of("a", "\xe4\xba\xac\xe9\x83\xbd\xe3\x81\xae\xe5\xae\xbf \x1b[31m!", NULL);
    const struct memory_span spans[] = {{1, 1}, {2, 500}, {400, 3}, {3, SIZE_MAX}, {0, 0}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        vec_push(&h.marks, spans[i]);
    const struct memory_span passages[] = {{0, 0}, {1, 3}, {100, 3}, {3, SIZE_MAX}, {0, 9}};
    for (size_t i = 0; i < sizeof passages / sizeof *passages; i++)
        for (size_t columns = 1; columns < 20; columns++) {
            h.passage = passages[i];
            char *line = line_of(&h, columns, NULL);
            assert_true(utf8_valid(line, strlen(line)));
            assert_null(strchr(line, '\x1b'));
            free(line);
        }
    memory_hit_release(&h);
}

/* --- the preview --- */

TEST(the_preview_has_all_of_it_and_why)
{
    act("ryokan");
    struct notice *n = answer("ryokan", "all", 7);
    add(n, hit_of("a", "we liked the ryokan by the river", "ryokan"));
    n->memory.items.items[0].why = (struct memory_why){.words = 7.5,
                                                       .before = 1,
                                                       .after = 0.25,
                                                       .session = 0.4,
                                                       .window = 2,
                                                       .weight = 1.2,
                                                       .coverage = 0.62,
                                                       .has_vector = true,
                                                       .cosine = 0.81};
    give(n);
    act("<enter>");
    forget_sent();
    act("<enter>");
    assert_string_equal(sent(COMMAND_MEMORY_SHOW)->name, "a");
    the.width = 200;
    see("score 0.93 \xc2\xb7 matches: words 7.50, neighbours 1.25, nearby 2.00",
        "conversation 0.40 \xc2\xb7 length and speaker \xc3\x97 1.20", "covers 62 % of the query",
        "vectors: cosine 0.81");
    give_entry("a", "we liked the ryokan by the river\nand its bath");
    see(" and its bath");
    lead_to(MEMORY_STAYS, "<escape>");
    see("!and its bath");
}

/* Of a long entry what was found is in view, until one goes elsewhere. */
TEST(the_preview_begins_at_what_was_found)
{
    struct buf text = BUF_INIT;
    for (int i = 1; i <= 100; i++)
        buf_addf(&text, "line %03d \x1b[31m\n%s", i, i == 20 ? "stray ryokan\n" : "");
    buf_addstr(&text, "the ryokan by the river\nthe last");
    act("ryokan");
    struct notice *n = answer("ryokan", "all", 2);
    add(n, hit_of("a", text.data, "stray"));
    add(n, hit_of("b", "a short one", NULL));
    struct memory_hit *h = &n->memory.items.items[0];
    struct memory_span mark = {text.len - 28, 6};
    vec_push(&h->marks, mark);
    h->passage = (struct memory_span){text.len - 32, 23};
    give(n);
    act("<down><enter>");
    give_entry("a", text.data);
    see("the last", "!stray");
    the.height = 20;
    see("the last");
    act("g", "line 001");
    act("j", "!the last");
    act("n", "a short one");
    act("N");
    give_entry("a", text.data);
    see("the last");
    buf_release(&text);
}

/* However small it was before. */
TEST(a_larger_preview_is_full)
{
    search();
    act("<enter>");
    give_entry("a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine");
    the.height = 8;
    act("G", "nine", "! one");
    the.height = 40;
    see("nine", " one");
}

TEST(the_preview_scrolls)
{
    struct buf text = BUF_INIT;
    for (int i = 1; i <= 100; i++)
        buf_addf(&text, "line %03d\n", i);
    give_two("");
    act("<down> ");
    give_entry("a", text.data);
    see("line 001", "!line 020");
    act("<pagedown>", "line 013", "!line 012");
    act("G", "line 100", "!line 001");
    act("<j*200>", "line 100");
    act("n", "!line 100");
    give_entry("b", text.data);
    see("line 001"); /* from its beginning */
    act("G", "!line 001");
    act("g", "line 001");
    act("N", "liked the ryokan");
    buf_release(&text);
}

TEST(an_answer_for_another_entry_is_not_shown)
{
    search();
    act("<enter>n");
    give_entry("a", "text of the first one");
    see("!text of the first one");
    give_entry("b", "text of the second one");
    see("text of the second one");
}

/* --- what can be done --- */

TEST(p_pins_and_unpins)
{
    search();
    act("p");
    assert_string_equal(sent(COMMAND_MEMORY_PIN)->name, "a");
    assert_int_equal(sent(COMMAND_MEMORY_PIN)->number, 1);
    assert_true(done(COMMAND_MEMORY_PIN, "a", 0));
    see("pinned");
    assert_non_null(sent(COMMAND_MEMORY_SEARCH));
    struct notice *n = answer("ryokan", "all", 3);
    add(n, hit_of("a", "we liked the ryokan", "ryokan"));
    n->memory.items.items[0].entry.pinned = true;
    give(n);
    see("\u25c6 you");
    act("p");
    assert_int_equal(sent(COMMAND_MEMORY_PIN)->number, 0);
}

TEST(p_twice_is_as_before)
{
    search();
    act("p", "\u25c6 you");
    act("p");
    assert_int_equal(sent_count(&the.sent, COMMAND_MEMORY_PIN), 2);
    assert_int_equal(sent(COMMAND_MEMORY_PIN)->number, 0);
    see("!\u25c6 you");
    act("<enter>");
    give_entry("a", "we liked it");
    act("p", "\xc2\xb7 pinned");
    act("p");
    assert_int_equal(sent(COMMAND_MEMORY_PIN)->number, 0);
    forget_sent();
    assert_true(memory_pane_failed(the.pane, COMMAND_MEMORY_PIN, "There is no such entry."));
    assert_non_null(sent(COMMAND_MEMORY_SEARCH));
}

TEST(d_forgets_and_u_puts_back)
{
    search();
    act("jd");
    assert_string_equal(sent(COMMAND_MEMORY_FORGET)->name, "b");
    assert_true(done(COMMAND_MEMORY_FORGET, "b", 0));
    see("forgotten; u restores it");
    assert_non_null(sent(COMMAND_MEMORY_SEARCH));
    struct notice *n = answer("ryokan", "all", 1203);
    add(n, hit_of("a", "we liked the ryokan", "ryokan"));
    give(n);
    see("\u203awe liked");
    act("u");
    assert_non_null(sent(COMMAND_MEMORY_RESTORE));
    assert_true(done(COMMAND_MEMORY_RESTORE, "b", 0));
    give_two("ryokan");
    see("\u203abooked");
    act("d");
    assert_true(done(COMMAND_MEMORY_FORGET, "b", 2));
    see("forgotten; u restores it; 2 summaries quote");
}

/* Keys may be faster than the engine. */
TEST(each_d_means_another_entry)
{
    search();
    act("d");
    assert_string_equal(sent(COMMAND_MEMORY_FORGET)->name, "a");
    see("!we liked", "1,203 entries", "\u203abooked");
    act("d");
    assert_string_equal(sent(COMMAND_MEMORY_FORGET)->name, "b");
    see("1,202 entries");
    forget_sent();
    act("d");
    assert_null(sent(COMMAND_MEMORY_FORGET));
    see("No entry is selected.");
    act(" ", "/ search  s scope");
    act("<escape>s");
    give_two("ryokans");
    act("<down><enter>d", "booked from the 14th", "!we liked"); /* in the preview, too */
}

TEST(what_is_said_is_said_whole)
{
    search();
    the.width = 40;
    memory_pane_say(the.pane, STYLE_ERROR,
                    "The database cannot be used. It is locked by another program, which is slow");
    see(" The database cannot be used. It is");
    assert_int_equal(find("locked by another program, which is slow"), SIZE_MAX);
    see(" slow", "we liked");
    the.height = 5;
    see(" The database cannot be used. It is loc\u2026");
    act(" ", "Esc back");
}

TEST(a_remark_ends_with_its_session)
{
    memory_pane_say(the.pane, STYLE_NOTE, "opened for reading");
    see("opened for reading");
    memory_pane_session(the.pane);
    see("!opened for reading");
}

TEST(what_fails_is_said)
{
    search();
    act("d");
    forget_sent();
    assert_true(memory_pane_failed(the.pane, COMMAND_MEMORY_FORGET, "There is no such entry."));
    see("There is no such entry.");
    assert_non_null(sent(COMMAND_MEMORY_SEARCH));
    give_two("ryokan");
    see("\u203awe liked the ryokan");
    assert_false(memory_pane_failed(the.pane, COMMAND_PIN, "no"));
    assert_false(done(COMMAND_RENAME, "x", 0));
}

TEST(nothing_is_done_with_nothing)
{
    give(answer("", "all", 0));
    act("<down>");
    forget_sent();
    lead_to(MEMORY_STAYS, "oiped<enter>");
    assert_int_equal(the.sent.len, 0);
    assert_null(memory_pane_entry(the.pane));
    assert_null(memory_pane_quotation(the.pane));
}

TEST(o_and_i_are_the_hosts)
{
    search();
    lead_to(MEMORY_OPEN, "o");
    assert_int_equal(memory_pane_entry(the.pane)->seq, 17);
    lead_to(MEMORY_INSERT, "i");
    char *quote = memory_pane_quotation(the.pane);
    assert_string_equal(quote,
                        "> we liked the ryokan by the river\n"
                        "> \xe2\x80\x94 you \xc2\xb7 t3 \xc2\xb7 2027-01-13\n");
    free(quote);
}

TEST(a_quotation_has_all_lines)
{
    char *quote = memory_quote("one\n\ntwo\n", 9, "me");
    assert_string_equal(quote, "> one\n>\n> two\n> \xe2\x80\x94 me\n");
    free(quote);
}

/* Of a long entry the best passage, but all of what was opened. */
TEST(a_long_entry_is_quoted_in_part)
{
    struct notice *n = answer("", "all", 1);
    add(n, hit_of("a", "first part\n\nsecond part", NULL));
    n->memory.items.items[0].passage = (struct memory_span){12, 11};
    give(n);
    act("<down>");
    char *quote = memory_pane_quotation(the.pane);
    assert_int_equal(strncmp(quote, "> second part\n> \xe2\x80\x94", 18), 0);
    free(quote);
    act("<enter>");
    give_entry("a", "first part\n\nsecond part");
    quote = memory_pane_quotation(the.pane);
    assert_int_equal(strncmp(quote, "> first part\n>\n> second part\n", 29), 0);
    free(quote);
}

/* --- changing an entry --- */

static void begin_change(void)
{
    search();
    act("e");
    assert_string_equal(sent(COMMAND_MEMORY_SHOW)->name, "a");
    give_entry("a", "we liked it");
    see("edit entry");
}

TEST(e_changes_an_entry)
{
    begin_change();
    act("Yes ", "Yes we liked it");
    act("<ctrl-j>");
    lead_to(MEMORY_EXTERNAL, "<ctrl-g>");
    assert_ptr_not_equal(memory_pane_editor(the.pane), NULL);
    act("<enter>");
    assert_string_equal(sent(COMMAND_MEMORY_EDIT)->name, "a");
    assert_string_equal(sent(COMMAND_MEMORY_EDIT)->text, "Yes \nwe liked it");
    see("saving");
    act("x", "!xwe liked it"); /* no longer */
    act("<enter>");
    assert_int_equal(sent_count(&the.sent, COMMAND_MEMORY_EDIT), 1);
    assert_true(done(COMMAND_MEMORY_EDIT, "a", 0));
    see("!saving", "changed");
}

TEST(escape_loses_no_change)
{
    begin_change();
    act("Yes <escape>");
    assert_null(sent(COMMAND_MEMORY_EDIT));
    see("not saved; e continues editing");
    act("je", "another entry has unsaved changes", "Yes we liked it");
    act("<ctrl-c>", " we liked it", "!Yes we");
    act("<escape>", "!not saved; e");
}

TEST(a_refused_change_stays)
{
    begin_change();
    act("Yes <enter>");
    assert_true(memory_pane_failed(the.pane, COMMAND_MEMORY_EDIT, "The database cannot be used."));
    see("The database cannot be used.", "Yes we liked it");
    act("<enter>");
    assert_int_equal(sent_count(&the.sent, COMMAND_MEMORY_EDIT), 2);
}

TEST(an_empty_text_is_not_kept)
{
    begin_change();
    act("<ctrl-k><enter>");
    assert_null(sent(COMMAND_MEMORY_EDIT));
    see("an empty text cannot be saved");
    act("<ctrl-_><enter>"); /* as it was: nothing to send */
    assert_null(sent(COMMAND_MEMORY_EDIT));
    see("!edit entry");
}

TEST(a_late_text_does_not_take_the_keys)
{
    search();
    act("e<escape>");
    give_entry("a", "we liked it");
    see("!edit entry");
    act("s");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "ryokans");
}

/* --- keys that come before their answer --- */

/* As the screen does it: what waited is given again. Returns what the last of them led to. */
static enum memory_result replay(void)
{
    enum memory_result result = MEMORY_STAYS;
    struct key key;
    while (memory_pane_typed_ahead(the.pane, &key)) {
        result = memory_pane_key(the.pane, keymap_find(&the.keymap, &key), &key);
        free(key.text);
    }
    return result;
}

/* Old hits are there, the query is another one. */
static void begin_behind(void)
{
    act("old");
    struct notice *n = answer("old", "all", 7);
    add(n, hit_of("x", "of the old query", NULL));
    add(n, hit_of("y", "of it, too", NULL));
    give(n);
    act("<ctrl-u>ryokan<enter>");
    forget_sent();
}

TEST(keys_mean_the_hits_of_what_was_typed)
{
    begin_behind();
    act("jd");
    assert_null(sent(COMMAND_MEMORY_FORGET));
    assert_int_equal(replay(), MEMORY_STAYS);
    assert_null(sent(COMMAND_MEMORY_FORGET)); /* the answer has not come */
    give_two("ryo");
    replay();
    assert_null(sent(COMMAND_MEMORY_FORGET));
    give_two("ryokan");
    replay();
    assert_string_equal(sent(COMMAND_MEMORY_FORGET)->name, "b");
    assert_int_equal(sent_count(&the.sent, COMMAND_MEMORY_FORGET), 1);
}

TEST(each_acting_key_waits)
{
    static const struct {
        const char *key;
        enum memory_result result;
        enum command_type sends;
    } keys[] = {
        {"o", MEMORY_OPEN, COMMAND_QUIT},         {"i", MEMORY_INSERT, COMMAND_QUIT},
        {"p", MEMORY_STAYS, COMMAND_MEMORY_PIN},  {"e", MEMORY_STAYS, COMMAND_MEMORY_SHOW},
        {" ", MEMORY_STAYS, COMMAND_MEMORY_SHOW}, {"d", MEMORY_STAYS, COMMAND_MEMORY_FORGET}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        begin_behind();
        lead_to(MEMORY_STAYS, keys[i].key);
        assert_int_equal(the.sent.len, 0);
        give_two("ryokan");
        assert_int_equal(replay(), keys[i].result);
        if (keys[i].sends != COMMAND_QUIT)
            assert_string_equal(sent(keys[i].sends)->name, "a");
        else
            assert_string_equal(memory_pane_entry(the.pane)->id, "a");
        tear_down(state);
        set_up(state);
    }
}

TEST(what_is_left_is_not_done_later)
{
    static const char *const leaving[] = {"<escape>",    "<ctrl-c>", "<f2>", "<tab>",
                                          "<shift-tab>", "<f1>",     "<f3>"};
    struct key key;
    for (size_t i = 0; i < sizeof leaving / sizeof *leaving; i++) {
        begin_behind();
        act("d");
        act(leaving[i]);
        give_two("ryokan");
        replay();
        assert_null(sent(COMMAND_MEMORY_FORGET));
        tear_down(state);
        set_up(state);
    }
    begin_behind();
    act("d");
    memory_pane_show(the.pane, "another");
    give_two("another");
    assert_false(memory_pane_typed_ahead(the.pane, &key));
    begin_behind();
    act("d");
    memory_pane_focus(the.pane, false);
    give_two("ryokan");
    replay();
    assert_null(sent(COMMAND_MEMORY_FORGET));
}

/* Another scope or order is another question, too, and so is another session. */
TEST(keys_wait_for_scope_and_order)
{
    search();
    act("sd");
    assert_null(sent(COMMAND_MEMORY_FORGET));
    give_two("ryokan"); /* of the scope that it was */
    replay();
    assert_null(sent(COMMAND_MEMORY_FORGET));
    struct notice *n = answer("ryokan", "project", 3);
    add(n, hit_of("c", "of this project", NULL));
    give(n);
    replay();
    assert_string_equal(sent(COMMAND_MEMORY_FORGET)->name, "c");
    act("td");
    n = answer("ryokan", "project", 3);
    add(n, hit_of("e", "by score", NULL));
    give(n);
    replay();
    assert_int_equal(sent_count(&the.sent, COMMAND_MEMORY_FORGET), 1);
    n = answer("ryokan", "project", 3);
    n->flag = true;
    add(n, hit_of("f", "by date", NULL));
    give(n);
    replay();
    assert_string_equal(sent(COMMAND_MEMORY_FORGET)->name, "f");
    act("s");
    n = answer("ryokan", "session", 3);
    n->flag = true;
    give(n);
    memory_pane_session(the.pane);
    forget_sent();
    act("d", "No matches in this scope.");
    n = answer("ryokan", "session", 3);
    n->flag = true;
    add(n, hit_of("g", "of the other session", NULL));
    give(n);
    replay();
    assert_string_equal(sent(COMMAND_MEMORY_FORGET)->name, "g");
}

/* Who asks once more for the same may go on with what is there. */
TEST(keys_do_not_wait_for_the_same)
{
    search();
    memory_pane_changed(the.pane);
    act("d");
    assert_string_equal(sent(COMMAND_MEMORY_FORGET)->name, "a");
}

TEST(without_an_answer_nothing_is_done)
{
    begin_behind();
    act("d");
    memory_pane_failed(the.pane, COMMAND_MEMORY_SEARCH, "The database cannot be used.");
    see("The database cannot be used.", "!of the old query");
    replay();
    act("d");
    give_two("ryokan");
    replay();
    assert_null(sent(COMMAND_MEMORY_FORGET));
    see("we liked");
    memory_pane_failed(the.pane, COMMAND_MEMORY_SEARCH, "The database cannot be used.");
    see("we liked"); /* it still answers what is asked */
}

/* Letters behind "e" are text, not keys of the list. */
TEST(what_follows_e_is_text)
{
    char pasted[] = "pasted ";
    struct key paste = {.code = K_PASTE, .text = pasted};
    begin_behind();
    act("eds/ ");
    memory_pane_key(the.pane, ACTION_NONE, &paste);
    assert_int_equal(the.sent.len, 0);
    give_two("ryokan");
    replay();
    assert_string_equal(sent(COMMAND_MEMORY_SHOW)->name, "a");
    see("loading");
    act("u");
    give_two("ryokan");
    replay();
    give_entry("a", "we liked it");
    replay();
    see("ds/ pasted uwe liked it");
    assert_null(sent(COMMAND_MEMORY_FORGET));
    assert_null(sent(COMMAND_MEMORY_RESTORE));
}

/* What is typed while a change is kept is no part of it. */
TEST(what_follows_a_change_waits_for_it)
{
    begin_change();
    act("Yes <enter>d");
    assert_int_equal(replay(), MEMORY_STAYS);
    see("Yes we liked it");
    assert_null(sent(COMMAND_MEMORY_FORGET));
    assert_true(done(COMMAND_MEMORY_EDIT, "a", 0));
    replay();
    assert_string_equal(sent(COMMAND_MEMORY_FORGET)->name, "a");
    forget_sent();
    act("e");
    give_entry("b", "booked");
    act("Yes <enter>dd");
    memory_pane_failed(the.pane, COMMAND_MEMORY_EDIT, "The database cannot be used.");
    replay();
    assert_null(sent(COMMAND_MEMORY_FORGET));
    see("Yes booked");
}

/* Other hits do not take the entry away that is to be changed. */
TEST(an_edit_survives_other_hits)
{
    search();
    act("e");
    struct notice *n = answer("ryokan", "all", 3);
    add(n, hit_of("new", "a new one", NULL));
    give(n);
    give_entry("a", "we liked it");
    see("edit entry", "we liked it");
    act("<end>!<enter>");
    assert_string_equal(sent(COMMAND_MEMORY_EDIT)->name, "a");
}

TEST(no_more_than_a_few_keys_wait)
{
    struct key key;
    int count = 0;
    (void)state;
    begin_behind();
    act("<j*1000>");
    give_two("ryokan");
    while (memory_pane_typed_ahead(the.pane, &key))
        count++;
    assert_int_equal(count, 64);
}

/* What needs no hits waits for none. */
TEST(other_keys_are_not_kept_waiting)
{
    begin_behind();
    act("u");
    assert_non_null(sent(COMMAND_MEMORY_RESTORE));
    act("s");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->name, "project");
    act("]", "Model's searches");
    act("[<up>s");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "ryokans");
    act("<down>");
    rows_now();
    memory_pane_click(the.pane, 2); /* on an old hit, twice */
    memory_pane_click(the.pane, 2);
    assert_null(sent(COMMAND_MEMORY_SHOW));
}

/* --- a slow answer --- */

static int64_t mono_ms;

static int64_t mono_now(void)
{
    return mono_ms;
}

static bool is_dim(const char *text)
{
    const struct rows *rows = rows_now();
    size_t at = seen_find(rows, text);
    assert_true(at != SIZE_MAX);
    const struct row *row = &rows->list.items[at];
    return row->span_count > 0 && rows->spans.items[row->spans].style == STYLE_DIM;
}

/* Quick answers change nothing but the hits: neither the count nor the looks of old ones. */
TEST(old_hits_do_not_look_like_an_answer)
{
    mono_ms = 1000;
    clock_replace(now_ms, mono_now);
    act("ryokan");
    give_two("ryokan");
    see("2 by score");
    assert_int_equal(memory_pane_due(the.pane), 0);
    act("s", "2 by score");
    assert_false(is_dim("we liked"));
    int64_t due = memory_pane_due(the.pane);
    assert_int_equal(due, 1250);
    mono_ms = 1249;
    act("?", "2 by score");
    mono_ms = 1250;
    see("searching");
    assert_true(is_dim("we liked"));
    assert_int_equal(memory_pane_due(the.pane), 0);
    give_two("ryokans?");
    see("2 by score");
    assert_false(is_dim("we liked"));
    mono_ms = 9000;
    memory_pane_changed(the.pane);
    assert_int_equal(memory_pane_due(the.pane), 0);
    see("2 by score");
}

/* --- what the model asked --- */

TEST(the_models_questions_have_their_tab)
{
    give_two("");
    recall(40, "sleep kyoto", TWO_HITS, false);
    recall(60, "river", "[]", false);
    see("] searches 2");
    act("<down>]", "Model's searches \xc2\xb7 2", "\u201criver\u201d \u2192 0 matches",
        "\u201csleep kyoto\u201d \u2192 2 matches \xc2\xb7 5 min");
    assert_true(find("river") < find("sleep kyoto")); /* newest first */
    see("0.90 you \xc2\xb7 t3", "from the 14th");
    act("<down*2><enter>");
    assert_string_equal(sent(COMMAND_MEMORY_SHOW)->name, "a");
    see("matches: words 7.25");
    lead_to(MEMORY_OPEN, "o");
    act("<escape>[", "Memory \xc2\xb7 all");
}

TEST(a_question_can_be_asked_again)
{
    recall(40, "sleep kyoto", TWO_HITS, false);
    act("<down>]");
    forget_sent();
    act("<enter>");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "sleep kyoto");
    see("Memory \xc2\xb7 all");
    act("<right>", "Model's searches");
    act("<end>");
    lead_to(MEMORY_OLDER, "<down>");
}

TEST(a_recall_is_shown_as_it_happens)
{
    memory_pane_focus(the.pane, false);
    recall(40, "sleep kyoto", TWO_HITS, true);
    see("Model's searches", "model's search, 2 matches: \"sleep kyoto\"", "by the river",
        "\xc2\xb7 new");
}

TEST(a_recall_does_not_disturb)
{
    search();
    recall(40, "sleep kyoto", TWO_HITS, true);
    see("Memory", "] searches 1 new", "model's search, 2 matches: \"sleep kyoto\"");
    act("]");
    rows_now();
    act("[", "!searches 1 new");
}

TEST(what_is_chosen_there_stays)
{
    recall(40, "sleep kyoto", TWO_HITS, false);
    act("<down>]<down>", "\u203aby the river");
    recall(60, "again", "[]", true);
    see("\u203a  0.90", "again");
}

TEST(recalls_come_in_any_order)
{
    recall(60, "second", TWO_HITS, false);
    recall(40, "first\x1b[2J", "no JSON", false);
    recall(80, "third", "[1,{\"id\":3},null]", false);
    struct event *again = recall_event(60, "second", TWO_HITS), *other = event_new(EVENT_WARNING);
    assert_false(recalls_add(&the.recalls, again, false));
    assert_false(recalls_add(&the.recalls, other, false));
    event_free(again);
    event_free(other);
    assert_int_equal(the.recalls.items.len, 3);
    assert_string_equal(the.recalls.items.items[1]->query, "second");
    assert_int_equal(the.recalls.items.items[1]->hits.items.len, 2);
    assert_int_equal(the.recalls.items.items[0]->hits.items.len, 0);
    assert_int_equal(the.recalls.items.items[2]->hits.items.len, 0);
    assert_null(strchr(the.recalls.items.items[0]->query, '\x1b'));
}

/* --- a narrow query --- */

TEST(a_long_query_is_seen_around_the_caret)
{
    int row, col;
    the.width = 39;
    act("train hotel river sleep wo"); /* with as many columns as there are beside its state */
    give_two("train hotel river sleep wo");
    see(" / train hotel river sleep wo");
    act("rd1 more of it", "river sleep word1 more of it");
    assert_true(memory_pane_caret(the.pane, &row, &col));
    assert_int_equal(col, 38);
    act("<home>", " / train hotel river sleep word1 more");
    assert_true(memory_pane_caret(the.pane, &row, &col));
    assert_int_equal(col, 3);
}

TEST(a_query_is_one_line_of_a_bounded_length)
{
    char *much = mem_alloc(2001);
    memset(much, 'x', 2000);
    memory_pane_show(the.pane, "two\nlines\x1b[2J");
    assert_null(strchr(sent(COMMAND_MEMORY_SEARCH)->text, '\n'));
    see(" / two lines");
    for (int i = 0; i < 3; i++) {
        struct key key = {.code = K_PASTE, .text = much};
        assert_int_equal(memory_pane_key(the.pane, ACTION_NONE, &key), MEMORY_STAYS);
    }
    assert_int_equal(strlen(sent(COMMAND_MEMORY_SEARCH)->text), 1024);
    free(much);
}

TEST(a_long_name_leaves_room)
{
    struct notice *n = answer("", "all", 1);
    add(n, hit_of("a", "text", NULL));
    n->memory.items.items[0].entry.speaker = mem_strdup("Somebody with a very long name indeed");
    give(n);
    see(" Somebody with a\u2026 \u00b7 t3 \u00b7 2 d");
    act("<down><enter>", " Somebody with a very long name indeed");
}

/* --- any size, any text --- */

static void look_at_all_sizes(void)
{
    for (the.height = 1; the.height < 34; the.height++)
        for (the.width = 2; the.width < 130; the.width += 1 + the.width / 7)
            rows_now();
    the.width = 48;
    the.height = 30;
}

TEST(it_fits_any_size)
{
    const char *hostile =
        "\x1b]0;x\x07\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xf0\x9f\x91\xa9\xe2\x80"
        "\x8d\xf0\x9f\x92\xbb e\xcc\x81\t\xff\xfe\r\nend \xe2\x80\xae rtl";
    look_at_all_sizes();
    struct notice *n = answer("", "all", 123456789);
    for (int i = 0; i < 30; i++) {
        add(n, hit_of("a", hostile, "end"));
        struct memory_entry *e = &vec_last(&n->memory.items).entry;
        e->speaker = mem_strdup(hostile);
        e->pinned = true;
        free(e->session_id);
        e->session_id = mem_strdup("other");
    }
    n->memory.badge = "words only";
    give(n);
    look_at_all_sizes();
    act("<down>");
    look_at_all_sizes();
    act("<enter>");
    give_entry("a", hostile);
    look_at_all_sizes();
    act("e");
    give_entry("a", hostile);
    look_at_all_sizes();
    act("<escape*2>");
    recall(40, hostile, TWO_HITS, true);
    act("]");
    look_at_all_sizes();
    act("<down><enter>");
    look_at_all_sizes();
}

TEST(a_low_pane_shows_one_thing_at_a_time)
{
    the.width = 40;
    the.height = 7; /* of a terminal of 40 x 10 */
    search();
    see("Memory", "/ ryokan", "we liked", "booked");
    act("<enter>", "!0.93 \u2587", "by the river");
}

TEST(clicks_choose)
{
    int row, col;
    search();
    rows_now();
    memory_pane_click(the.pane, 5);
    see("\u203a0.78");
    memory_pane_click(the.pane, 1);
    rows_now();
    assert_true(memory_pane_caret(the.pane, &row, &col));
    memory_pane_click(the.pane, 4);
    rows_now();
    assert_false(memory_pane_caret(the.pane, &row, &col));
    memory_pane_click(the.pane, 4);
    assert_non_null(sent(COMMAND_MEMORY_SHOW));
    memory_pane_click(the.pane, 400);
    memory_pane_click(the.pane, 0);
    see("Model's searches");
}

TEST(it_comes_back_as_it_was_left)
{
    search();
    memory_pane_hide(the.pane);
    forget_sent();
    memory_pane_changed(the.pane);
    assert_int_equal(the.sent.len, 0); /* nobody sees it */
    memory_pane_show(the.pane, NULL);
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "ryokan");
    memory_pane_show(the.pane, "bath");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "bath");
    memory_pane_show_session(the.pane);
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->name, "session");
}

TEST(the_query_of_before_comes_back_with_up)
{
    forget_sent();
    act("<up>"); /* there is none */
    assert_null(sent(COMMAND_MEMORY_SEARCH));
    search();
    memory_pane_hide(the.pane);
    memory_pane_show(the.pane, "");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "");
    act("<up>");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "ryokan");
    forget_sent();
    act("<up>"); /* not in place of what is there */
    assert_null(sent(COMMAND_MEMORY_SEARCH));
    memory_pane_show(the.pane, "");
    memory_pane_hide(the.pane);
    memory_pane_show(the.pane, ""); /* nothing was typed meanwhile */
    act("<up>");
    assert_string_equal(sent(COMMAND_MEMORY_SEARCH)->text, "ryokan");
}

/* --- in the transcript --- */

static struct event *tool_event(enum event_type type, int64_t seq, const char *text)
{
    struct event *ev = event_new(type);
    ev->seq = seq;
    ev->id = mem_strdup("call_1");
    ev->name = mem_strdup("memory_search");
    ev->text = mem_strdup(text);
    ev->number = 12;
    return ev;
}

static void apply(struct transcript *t, struct event *ev)
{
    transcript_apply(t, ev);
    event_free(ev);
}

static void expect_in(struct transcript *t, const char *text, bool there)
{
    char *seen = seen_transcript(t);
    if ((strstr(seen, text) != NULL) != there)
        fail_msg("%s \"%s\" in\n%s", there ? "no" : "a", text, seen);
    free(seen);
}

TEST(its_call_tells_the_hits)
{
    struct transcript *t = transcript_new();
    transcript_resize(t, 80, 40);
    apply(t, tool_event(EVENT_TOOL_CALL_REQUESTED, 2, "{\"query\":\"sleep kyoto\"}"));
    apply(t, recall_event(3, "sleep kyoto", TWO_HITS));
    apply(t, tool_event(EVENT_TOOL_EXECUTION_COMPLETED, 4, "[{},{}]"));
    expect_in(t, "\u2315 memory_search \u201csleep kyoto\u201d \u2192 2 matches", true);
    expect_in(t, "by the river", false);
    transcript_toggle_all(t);
    expect_in(t, "by the river", true);
    expect_in(t, "0.90 you \xc2\xb7 t3", true);
    expect_in(t, "[{},{}]", false);
    transcript_free(t);
}

/* The request is on an older page. */
TEST(a_call_across_pages_tells_them_too)
{
    struct transcript *t = transcript_new();
    transcript_resize(t, 80, 40);
    struct event *newer[] = {recall_event(3, "sleep kyoto", TWO_HITS),
                             tool_event(EVENT_TOOL_EXECUTION_COMPLETED, 4, "[{},{}]")};
    struct event *run = event_new(EVENT_TURN_STARTED);
    run->seq = 1;
    run->text = mem_strdup("where?");
    struct event *older[] = {
        run, tool_event(EVENT_TOOL_CALL_REQUESTED, 2, "{\"query\":\"sleep kyoto\"}")};
    transcript_prepend(t, newer, 2, true);
    expect_in(t, "2 matches", true);
    transcript_prepend(t, older, 2, false);
    expect_in(t, "memory_search \u201csleep kyoto\u201d \u2192 2 matches", true);
    for (int i = 0; i < 2; i++) {
        event_free(newer[i]);
        event_free(older[i]);
    }
    transcript_free(t);
}

TEST(a_pane_takes_its_columns)
{
    struct layout l = layout_make(24, 120, 1, false);
    assert_int_equal(l.body_cols, 120);
    layout_add_pane(&l, 48);
    assert_int_equal(l.body_cols, 71);
    assert_int_equal(l.pane_cols, 48);
    layout_add_pane(&l, 0);
    assert_int_equal(l.body_cols, 120);
}
