/* The memory pane without terminal and engine: its requests, its drawing of made-up answers, and
 * its keys. */
#include <time.h>

#include "base/clock.h"
#include "session/memory_operations.h"
#include "tests/seen.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "ui/term/rows.h"
#include "ui/transcript/item.h"
#include "ui/view/memory_view.h"

#define NOW ((int64_t)1800000000000)
#define DAY ((int64_t)86400000)

/* --- the surface around it --- */

static struct {
    char *inserted; /* into the message, last */
    int outside, older, replayed;
    bool narrow;
} host;

static int64_t wall_ms(void)
{
    return NOW;
}

static int64_t mono_ms(void)
{
    return the.now_ms;
}

static bool yes(struct app *app)
{
    (void)app;
    return true;
}

static bool beside(struct app *app)
{
    (void)app;
    return !host.narrow;
}

static void came(struct app *app, struct view *v)
{
    (void)app, (void)v;
}

static bool under(struct app *app, const struct view *v, const struct key *key)
{
    (void)app, (void)v, (void)key;
    return true;
}

static const char *title_of(struct app *app, const char *session_id)
{
    (void)app;
    return strcmp(session_id, "here") == 0    ? ""
           : strcmp(session_id, "other") == 0 ? "Kyoto\x1b[31m in November"
                                              : NULL;
}

static void insert(struct app *app, const char *text)
{
    (void)app;
    free(host.inserted);
    host.inserted = mem_strdup(text);
}

static void edit_outside(struct app *app, struct editor *editor)
{
    (void)app;
    assert_non_null(editor);
    host.outside++;
}

static int64_t want_older(struct app *app)
{
    (void)app;
    return ++host.older;
}

static void type_again(struct app *app, struct view *v, const struct key *key)
{
    (void)app;
    host.replayed++;
    if (memory_view_focused(v)) /* else it is the message's */
        assert_true(v->ops->key(v, keymap_find(&the.keymap, key), key));
}

static void open_session(void)
{
    struct notice *n = notice_new(NOTICE_SESSION);
    n->flag = true;
    give(n);
    (void)memory_view_focus(the.view, true);
}

static int take(const struct key *key)
{
    the.closed = false;
    the.jumped = 0;
    return the.view->ops->key(the.view, keymap_find(&the.keymap, key), key);
}

static void check_asked(const char *file, int line, const char *wanted);

static const struct person person = {
    .key = take, .rows = rows_now, .entry_rows = 2, .give = stage_step, .look_asked = check_asked};

/* --- requests --- */

static const struct memory_search *searched(void)
{
    return params_of(&operation_memory_search);
}

/* Requests since forget_sent() that were not withdrawn, as lines without quotation marks:
 * "memory/pin {id:a,pinned:true}". */
static char *all_asked(void)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < the.requests.len; i++) {
        const struct operation_request *r = the.requests.items[i].request;
        struct json_out o = {.buf = &text};
        if (the.requests.items[i].seen)
            continue;
        buf_addf(&text, "%s ", r->operation->name);
        if (r->params)
            shape_write(r->operation->params, r->params, &o);
        buf_addch(&text, '\n');
    }
    for (size_t i = 0; i < text.len;)
        if (text.data[i] == '"')
            buf_splice(&text, i, 1, NULL, 0);
        else
            i++;
    return buf_take(&text);
}

/* "?" and a request since the last such step; "?": none. */
static void check_asked(const char *file, int line, const char *wanted)
{
    auto_free char *all = all_asked();
    bool as_wanted = *wanted ? strstr(all, wanted) != NULL : *all == '\0';
    if (!as_wanted)
        print_error("asked: %s\nnot: %s\n", all, wanted);
    forget_sent();
    if (!as_wanted)
        _fail(file, line);
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

static struct operation_answer *answer(int64_t total)
{
    struct operation_answer *a = answer_to(&operation_memory_search);
    ((struct memory_found *)a->result)->total = total;
    return a;
}

static struct memory_hit *add(struct operation_answer *a, struct memory_hit h)
{
    struct memory_found *found = a->result;
    vec_push(&found->hits.items, h);
    return &vec_last(&found->hits.items);
}

static void tell(struct operation_answer *a)
{
    assert_true(give_answer(a, NULL));
}

static void give_two(void)
{
    struct operation_answer *a = answer(1204);
    add(a, hit_of("a", "we liked the ryokan by the river", "ryokan"));
    struct memory_hit *b = add(a, hit_of("b", "booked from the 14th to the 17th", "booked"));
    b->entry.role = ROLE_ASSISTANT;
    b->entry.turn = 4;
    b->score = 0.78;
    tell(a);
}

static void give_foreign(void)
{
    struct operation_answer *a = answer(1);
    add(a, hit_of("a", "we liked the ryokan", "ryokan"))->entry.from = mem_strdup("claude");
    struct memory_hit *answered = add(a, hit_of("b", "booked", NULL));
    answered->entry.from = mem_strdup("claude");
    answered->entry.role = ROLE_ASSISTANT;
    tell(a);
}

static void give_none(void)
{
    tell(answer(0));
}

/* Gives an entry: the first character of `text` is its id, and a "*" after it means pinned. */
static void give_one(const char *text)
{
    const char id[] = {text[0], '\0'};
    struct operation_answer *a = answer(3);
    add(a, hit_of(id, text + 2, NULL))->entry.pinned = text[1] == '*';
    tell(a);
}

static void give_fifty(void)
{
    struct operation_answer *a = answer(500);
    for (int i = 1; i <= 50; i++) {
        auto_free char *id = mem_printf("%d", i), *text = mem_printf("entry %02d", i);
        add(a, hit_of(id, text, NULL));
    }
    tell(a);
}

static void give_text(const char *text)
{
    struct operation_answer *a = answer_to(&operation_memory_read);
    const struct memory_read_params *read = a->request->params;
    struct memory_hit h = hit_of(read->id, text, NULL);
    *(struct memory_entry *)a->result = h.entry;
    vec_release(&h.marks);
    tell(a);
}

static void give_forgotten(const char *summaries)
{
    struct operation_answer *a = answer_to(&operation_memory_forget);
    ((struct memory_forget_result *)a->result)->summaries = atoi(summaries);
    tell(a);
}

static void give_restored(const char *id)
{
    struct operation_answer *a = answer_to(&operation_memory_restore);
    ((struct memory_restore_result *)a->result)->id = mem_strdup(id);
    tell(a);
}

static void give_stats(int64_t entries, int64_t pending, const char *waits_for)
{
    struct notice *n = notice_new(NOTICE_MEMORY_STATE);
    n->stats.entries = entries;
    n->stats.pending = pending;
    n->stats.waits_for = mem_strdup(waits_for);
    give(n);
}

/* Memory has other entries. */
static void give_news(void)
{
    give_event(EVENT_MEMORY_INDEXED);
}

static void give_focus(const char *yes_or_no)
{
    assert_true(memory_view_focus(the.view, strcmp(yes_or_no, "yes") == 0));
}

static struct event *recall_event(int64_t seq, const char *query, const char *hits)
{
    struct event *ev = event_new(EVENT_MEMORY_RECALLED);
    memcpy(ev->session_id, "here", sizeof "here");
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

/* `live`: it happens now, else it is on a page. */
static void recall(int64_t seq, const char *query, const char *hits, bool live)
{
    struct notice *n = notice_new(live ? NOTICE_EVENT : NOTICE_PAGE);
    if (live)
        n->event = recall_event(seq, query, hits);
    else
        vec_push(&n->events, recall_event(seq, query, hits));
    give(n);
}

/* --- a person --- */

/* A query with two hits, and the keys in the list. */
static void search(void)
{
    play(">ryokan", "=two", "><down>", "=forget");
}

static void begin_change(void)
{
    search();
    play(">e", "?memory/read {id:a}", "=text we liked it", "edit entry", ">Yes ",
         "Yes we liked it");
}

/* Old hits are there, the query is another one. */
static void begin_behind(void)
{
    play(">old", "=one x of the old query", "><ctrl-u>ryokan<enter>", "=forget");
}

static void hide(void)
{
    the.view->ops->close(the.view);
    forget_sent();
}

static void reopen(const char *query)
{
    memory_view_open(the.view, query);
}

static void check_replayed(const char *keys)
{
    assert_int_equal(host.replayed, atoi(keys));
}

static void check_quoted(const char *text)
{
    assert_string_equal(host.inserted ? host.inserted : "", text);
}

/* The model searches now, or has searched on a page, with TWO_HITS. */
static void recalls(const char *query)
{
    recall(40, query, TWO_HITS, true);
}

static void earlier(const char *query)
{
    recall(40, query, TWO_HITS, false);
}

/* "SEQ ID", on a page. */
static void leave(const char *seq_and_id, bool left_out)
{
    struct notice *n = notice_new(NOTICE_PAGE);
    struct event *ev = event_new(EVENT_MEMORY_LEFT_OUT);
    memcpy(ev->session_id, "here", sizeof "here");
    ev->seq = atoi(seq_and_id);
    ev->id = mem_strdup(strchr(seq_and_id, ' ') + 1);
    ev->flag = left_out;
    vec_push(&n->events, ev);
    give(n);
}

static void left(const char *seq_and_id)
{
    leave(seq_and_id, true);
}

static void back(const char *seq_and_id)
{
    leave(seq_and_id, false);
}

static const struct step steps[] = {{"left", .run = left},
                                    {"back", .run = back},
                                    {"two", .alone = give_two},
                                    {"none", .alone = give_none},
                                    {"foreign", .alone = give_foreign},
                                    {"one", .run = give_one},
                                    {"fifty", .alone = give_fifty},
                                    {"text", .run = give_text},
                                    {"forgotten", .run = give_forgotten},
                                    {"restored", .run = give_restored},
                                    {"news", .alone = give_news},
                                    {"session", .alone = open_session},
                                    {"focus", .run = give_focus},
                                    {"search", .alone = search},
                                    {"change", .alone = begin_change},
                                    {"behind", .alone = begin_behind},
                                    {"hide", .alone = hide},
                                    {"reopen", .run = reopen},
                                    {"replayed", .run = check_replayed},
                                    {"quoted", .run = check_quoted},
                                    {"recalls", .run = recalls},
                                    {"earlier", .run = earlier},
                                    {.name = NULL}};

static struct pane_host pane;

static int set_up(void **state)
{
    (void)state;
    stage_set_up(steps, 48, 30);
    seen_by(&person);
    free(host.inserted); /* of a stage that this one replaces */
    memset(&host, 0, sizeof host);
    clock_replace(wall_ms, mono_ms);
    memcpy(the.session.id, "here", sizeof "here");
    pane.memory_scope = "all";
    pane.has_memory = yes;
    pane.beside = beside;
    pane.came = came;
    pane.under = under;
    the.host.title = title_of;
    pane.insert = insert;
    the.host.edit_outside = edit_outside;
    pane.want_older = want_older;
    pane.type = type_again;
    the.view = memory_view_new(&the.host, &pane);
    open_session();
    memory_view_open(the.view, "");
    return 0;
}

static int tear_down(void **state)
{
    free(host.inserted);
    host.inserted = NULL;
    return stage_tear_down(state);
}

static void begin_again(void **state)
{
    tear_down(state);
    set_up(state);
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

PLAY(it_asks_at_once, "?memory/stats \nmemory/search {query:,scope:all,limit:50,typing:true}",
     "loading");

TEST(it_looks_as_specified)
{
#define EIGHT "▇▇▇▇▇▇▇▇"
    static const char *const rows[] = {
        " Memory · all · 1,204 entries", " / ryokan", "0.93 " EIGHT "▇░ you · turn 3 · 2 d",
        "  we liked the ryokan by the river", "0.78 " EIGHT "░░ tiro · turn 4"};
    play(">ryokan", "=two");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(find(rows[i]), i);
}

TEST(ascii_has_its_own_signs)
{
    glyph_set_up(true);
    search();
    size_t row = find("0.93 #########. you - turn 3 - 2 d");
    glyph_set_up(false);
    assert_int_equal(row, 2);
}

/* Only the answer to the newest query is wanted; answers to older queries never come. */
TEST(every_edit_is_asked_anew)
{
    size_t waiting = 0;
    play("=forget", ">ab", "?{query:ab,", "><backspace>", "?{query:a,", "><left>", "?", ">s",
         "?{query:sa,", "=paste x\ny\x1b");
    assert_null(strchr(searched()->query, '\n'));
    for (size_t i = 0; i < the.requests.len; i++)
        waiting += the.requests.items[i].request->operation == &operation_memory_search;
    assert_int_equal(waiting, 1);
}

PLAY(newest_first_has_no_scores, "=two", " you · turn 3 · 2 d", "!0.93", "newest first");
PLAY(the_agent_that_it_was_said_to_is_a_badge, "=foreign", " claude you · turn 3",
     " claude · turn 3", "!tiro", ">from:cl", "?query:from:cl", "=foreign", " claude you", "!0.93",
     "newest first", "> ryokan", "?query:from:cl ryokan", "=foreign", "0.93");
PLAY(what_there_is_not_is_said, "=none", "Memory is empty.", "0 entries", ">x", "=none",
     "No matches in memory. The open", "Ctrl-F");

static void name_session(struct memory_hit *h, const char *id)
{
    free(h->entry.session_id);
    h->entry.session_id = mem_strdup(id);
}

TEST(sessions_have_their_names)
{
    struct operation_answer *a = answer(2);
    name_session(add(a, hit_of("a", "one", NULL)), "other");
    struct memory_hit *h = add(a, hit_of("b", "two", NULL));
    name_session(h, "conv-26");
    h->entry.speaker = mem_strdup("Caroline");
    tell(a);
    play("2 d · Kyoto", "Caroline · turn 3 · 2 d · conv-26");
}

PLAY(scope_and_order_change, "=search", ">s", "?scope:project", ">s", "?scope:session",
     "Memory · session", ">s", "?scope:all", ">t", "?limit:50,order:date", "by date", ">t",
     "?limit:50,typing");

TEST(letters_are_text_in_the_query)
{
    play("=forget", ">oipedust/jkgG");
    auto_free char *all = all_asked();
    assert_non_null(strstr(all, "{query:oipedust/jkgG,"));
    assert_null(strstr(all, "forget"));
}

TEST(keys_lead_to_the_hits_and_back)
{
    play(">ryokan", "=two", "=caret 1 9", "=focus no", "Tab to the memory", "=caret none",
         "=focus yes", "><enter>", "=caret none", ">/", "=caret 1 9", "><down><escape>",
         "=caret 1 9", "><escape>", "=closed", "><f2>", "=closed", "><tab>");
    assert_false(memory_view_focused(the.view));
    give_focus("yes");
    lead_to(false, "<f1><f3>");
}

/* Text that is typed after turning the wheel still goes to the query. */
TEST(the_wheel_leaves_the_query)
{
    play(">a", "=fifty", "entry 01", "=forget", "><wheel-down>", "!entry 01", "entry 02",
         "><wheel-up>", "entry 01", "><wheel-up>", "?");
    for (int i = 0; i < 100; i++) {
        act("<wheel-down>");
        rows_now();
    }
    play("entry 50", "?limit:100", ">d", "?{query:ad,");
}

/* Keys that the query does not use must not reach the message below it. */
TEST(no_key_slips_through)
{
    static const char all[] = "<left><right><up><ctrl-k><ctrl-y><backspace><ctrl-d><ctrl-t>";
    lead_to(true, all);
    search();
    lead_to(true, all);
    act("<down>xq/<ctrl-j>s");
    assert_null(strchr(searched()->query, '\n'));
}

PLAY(moving_chooses, "=search", "›0.93", ">j", "›0.78", ">k", "›0.93", ">G", "›0.78", ">g", "›0.93",
     "><up>s", "?{query:ryokans,");
PLAY(the_end_of_many_asks_for_more, "=fifty", "=forget", "><down>", "?", "><end>", "?limit:100",
     "›entry 50", "><end>", "?"); /* it is on its way */

TEST(the_chosen_entry_stays_chosen)
{
    play("=search", ">j", "=news");
    struct operation_answer *a = answer(1205);
    add(a, hit_of("new", "a new first ryokan", "ryokan"));
    add(a, hit_of("a", "we liked the ryokan by the river", "ryokan"));
    add(a, hit_of("b", "booked from the 14th to the 17th", "booked"));
    tell(a);
    play("›booked", ">/s", "=two", "><down>", "›liked");
}

TEST(badges_tell_what_is_in_the_way)
{
    struct operation_answer *a = answer(1204);
    ((struct memory_found *)a->result)->hits.badge = "words only: the embedding endpoint is down";
    add(a, hit_of("a", "one", NULL));
    tell(a);
    see("words only: the embedding endpoint is down");
    give_stats(1204, 204, NULL);
    see("computing vectors: 1,000 of 1,204");
    give_stats(1204, 204, "no answer from localhost");
    see("computing vectors: 1,000 of 1,204 · no");
    give_stats(0, 0, NULL);
    see("!computing vectors");
    a = answer_to(&operation_memory_stats);
    *(struct memory_stats *)a->result = (struct memory_stats){.entries = 7, .pending = 3};
    tell(a);
    see("computing vectors: 4 of 7");
    struct notice *n = notice_new(NOTICE_MEMORY_STATE);
    n->stats.pending = 3;
    n->stats.backlog = 12;
    n->stats.backlog_done = 3;
    give(n);
    see("indexing conversations: 3 of 12", "!computing vectors");
}

PLAY(v_shows_how_entries_came, "=search", ">v", "all · imported", "?memory/search", ">v",
     "all · compacted", ">v", "all · earlier session", ">v", "!earlier session", "!imported");

/* --- the preview --- */

TEST(the_preview_has_all_of_it_and_why)
{
    act("ryokan");
    struct operation_answer *a = answer(7);
    add(a, hit_of("a", "we liked the ryokan by the river", "ryokan"))->why =
        (struct memory_why){.words = 7.5,
                            .before = 1,
                            .after = 0.25,
                            .session = 0.4,
                            .window = 2,
                            .passage = true,
                            .proximity = 0.3,
                            .length = 0.8,
                            .named = 1.5,
                            .user = 1.3,
                            .asks = 1,
                            .weight = 1.56,
                            .held = 0.62,
                            .coverage = 0.4,
                            .has_vector = true,
                            .cosine = 0.81};
    tell(a);
    play("=width 200", "><enter><enter>", "?memory/read {id:a}",
         "contains ryokan · your own message · the query names who said it ·", "!score 0.93",
         "!a short text", "w figures", ">w",
         "score 0.93 · matches: best passage 7.50, close together 0.30, neighbours 1.25, ",
         "nearby 2.00, conversation 0.40 · your own message × 1.30 · ",
         "the query names who said it × 1.50", "a short text × 0.80", "covers 62 % of the query",
         "!mere question", "vectors: cosine 0.81",
         "=text we liked the ryokan by the river\nand its bath", " and its bath", ">w",
         "contains ryokan", "!0.80", "><escape>", "?", "!and its bath");
}

TEST(the_preview_shows_what_an_answer_answers)
{
    act("ryokan");
    struct operation_answer *a = answer(7);
    add(a, hit_of("a", "the ryokan by the river", "ryokan"))->question =
        mem_strdup("where did\x1b[31m we sleep?");
    tell(a);
    play("><enter><enter>", " > where did", " we sleep?", "!\x1b[31m", "the ryokan by the river");
}

/* "line 001" and so on; the caller frees. */
static char *hundred_lines(const char *end)
{
    struct buf text = BUF_INIT;
    for (int i = 1; i <= 100; i++)
        buf_addf(&text, "line %03d %s\n%s", i, end, *end && i == 20 ? "stray ryokan\n" : "");
    return buf_take(&text);
}

/* In a long entry the preview begins at the match, until the user scrolls. */
TEST(the_preview_begins_at_what_was_found)
{
    auto_free char *lines = hundred_lines("\x1b[31m");
    auto_free char *text = mem_printf("%sthe ryokan by the river\nthe last", lines);
    size_t len = strlen(text);
    act("ryokan");
    struct operation_answer *a = answer(2);
    struct memory_hit *h = add(a, hit_of("a", text, "stray"));
    struct memory_span mark = {len - 28, 6};
    vec_push(&h->marks, mark);
    h->passage = (struct memory_span){len - 32, 23};
    add(a, hit_of("b", "a short one", NULL));
    tell(a);
    act("<down><enter>");
    give_text(text);
    play("the last", "!stray ryokan", "=height 20", "the last", ">g", "line 001", ">j", "!the last",
         ">n", "a short one", ">N");
    give_text(text);
    see("the last");
}

/* However small it was before. */
PLAY(a_larger_preview_is_full, "=search", "><enter>",
     "=text one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine", "=height 8", ">G", "nine",
     "! one", "=height 40", "nine", " one");

TEST(the_preview_scrolls)
{
    auto_free char *text = hundred_lines("");
    play("=two", "><down>", "> ");
    give_text(text);
    play("line 001", "!line 020", "><pagedown>", "line 011", "!line 010", ">G", "line 100",
         "!line 001", "><j*200>", "line 100", ">n", "!line 100");
    give_text(text);
    play("line 001", ">G", "!line 001", ">g", "line 001", ">N",
         "liked the ryokan"); /* from its beginning */
}

/* The request is withdrawn. */
TEST(the_text_of_another_entry_is_not_waited_for)
{
    play("=search", "><enter>n", "?memory/read {id:b}", "=text of the second", "of the second",
         "><escape>");
    for (size_t i = 0; i < the.requests.len; i++)
        if (the.requests.items[i].request->operation == &operation_memory_read)
            assert_true(the.requests.items[i].answered);
}

/* --- actions --- */

PLAY(p_pins_and_unpins, "=search", ">p", "?memory/pin {id:a,pinned:true}", "=ok memory/pin",
     "pinned", "?memory/search", "=one a*we liked the ryokan", "◆ you", ">p",
     "?memory/pin {id:a,pinned:false}", "=ok memory/pin", "no longer pinned");
PLAY(p_twice_is_as_before, "=search", ">p", "?pinned:true", "◆ you", ">p", "?pinned:false",
     "!◆ you", "><enter>", "=text we liked it", ">p", "· pinned", "?pinned:true", ">p",
     "?pinned:false", "=fails memory/pin There is no such entry.", "There is no such entry.",
     "?memory/search");
PLAY(d_forgets_and_u_puts_back, "=search", ">jd", "?memory/forget {ids:[b]}", "=forgotten 0",
     "forgotten; u restores it", "?memory/search", "=one a we liked the ryokan", "›we liked", ">u",
     "?memory/restore", "=restored b", "restored", "=two", "›booked", ">d", "=forgotten 2",
     "forgotten; u restores it; 2 summaries quote", ">u",
     "=fails memory/restore There is nothing to restore.", "There is nothing to restore.");

/* Keys may be faster than the engine. */
PLAY(each_d_means_another_entry, "=search", ">d", "?memory/forget {ids:[a]}", "!we liked",
     "1,203 entries", "›booked", ">d", "?memory/forget {ids:[b]}", "1,202 entries", ">d", "?",
     "No entry is selected.", "> ", "/ search  s scope", "><escape>s", "=two", "><down><enter>d",
     "booked from the 14th", "!we liked"); /* in the preview, too */
PLAY(what_is_said_is_said_whole, "=search", "=width 40", ">d",
     "=fails memory/forget The database cannot be used. It is locked by another program, which is "
     "slow",
     "=two", " The database cannot be used. It is", "!locked by another program, which is slow",
     " slow", "we liked", "=height 5", " The database cannot be used. It is loc…", "> ",
     "Esc back");
PLAY(a_remark_ends_with_its_session, "=search", ">d", "=forgotten 0", "forgotten", "=session",
     "!forgotten");
PLAY(what_fails_is_said, "=search", ">d", "?memory/forget",
     "=fails memory/forget There is no such entry.", "There is no such entry.", "=two",
     "›we liked the ryokan");

/* A failure is reported elsewhere while the pane is not visible. */
TEST(what_fails_unseen_is_not_told_here)
{
    play("=search", ">d", "=focus no");
    host.narrow = true;
    assert_false(give_answer(answer_to(&operation_memory_forget), "The database cannot be used."));
    play("=focus yes", "!The database cannot be used.");
}

PLAY(nothing_is_done_with_nothing, "=none", "=forget", "><down>oiped<enter>", "?", "=quoted",
     "=jumped 0");

TEST(o_and_i_are_the_hosts)
{
    play("=search", ">o", "=jumped 17", ">i",
         "=quoted > we liked the ryokan by the river\n"
         "> — you · turn 3 · 2027-01-13\n");
    assert_false(memory_view_focused(the.view)); /* the message has the keys */
}

/* A long entry is quoted by its best passage; an opened entry is quoted in full. */
TEST(a_long_entry_is_quoted_in_part)
{
    struct operation_answer *a = answer(1);
    add(a, hit_of("a", "first part\n\nsecond part", NULL))->passage = (struct memory_span){12, 11};
    tell(a);
    play("><down>i", "=quoted > second part\n> — you · turn 3 · 2027-01-13\n", "=focus yes",
         "><enter>", "=text first part\n\nsecond part", ">i",
         "=quoted > first part\n>\n> second part\n> — you · turn 3 · 2027-01-13\n");
}

/* --- changing an entry --- */

TEST(e_changes_an_entry)
{
    play("=change", "><ctrl-j><ctrl-g>");
    assert_int_equal(host.outside, 1);
    play("><enter>", "?memory/edit {id:a,content:Yes \\nwe liked it}", "saving", "=ok memory/edit",
         "!saving", "changed");
}

/* The preview reads an entry again after it was changed. */
PLAY(a_change_is_seen_in_the_preview, "=search", "><enter>", "=text we liked it", ">e",
     "=text we liked it", ">Yes <enter>", "?memory/edit", "=ok memory/edit", "?memory/read {id:a}",
     "=text Yes we liked it", "Yes we liked it");
PLAY(escape_loses_no_change, "=change", "><escape>", "?", "not saved; e continues editing", ">je",
     "another entry has unsaved changes", "Yes we liked it", "><ctrl-c>", " we liked it", "!Yes we",
     "><escape>", "!not saved; e", "?");
PLAY(a_refused_change_stays, "=change", "><enter>", "?memory/edit",
     "=fails memory/edit The database cannot be used.", "The database cannot be used.",
     "Yes we liked it", "><enter>", "?memory/edit");
PLAY(an_empty_text_is_not_kept, "=change", "><ctrl-c><ctrl-u><enter>", "?",
     "an empty text cannot be saved", "><ctrl-_><enter>", "?",
     "!edit entry"); /* as it was: nothing to send */

/* The text comes too late, or not at all. */
TEST(a_late_text_does_not_take_the_keys)
{
    play("=search", ">e", "loading", "?memory/read", "><escape>", "!loading", "?", ">s",
         "?{query:ryokans,");
    for (size_t i = 0; i < the.requests.len; i++)
        assert_ptr_not_equal(the.requests.items[i].request->operation, &operation_memory_read);
    play("=two", "><down>e", "?memory/read", "=fails memory/read The database cannot be used.",
         "The database cannot be used.", "!loading", ">j", "›booked");
}

/* --- keys that come before their answer --- */

PLAY(keys_mean_the_hits_of_what_was_typed, "=behind", ">jd", "?", "=two",
     "?memory/forget {ids:[b]}", "=replayed 2");

TEST(each_acting_key_waits)
{
    static const char *const acts[][2] = {{"o", ""},
                                          {"i", ""},
                                          {"p", "memory/pin {id:a,"},
                                          {"e", "memory/read {id:a}"},
                                          {"<enter>", "memory/read {id:a}"},
                                          {"d", "memory/forget {ids:[a]}"}};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        begin_behind();
        act(acts[i][0]);
        play("?");
        assert_true(the.jumped == 0 && !host.inserted);
        give_two();
        check_asked(__FILE__, __LINE__, acts[i][1]);
        assert_int_equal(the.jumped, i == 0 ? 17 : 0);
        assert_int_equal(host.inserted != NULL, i == 1);
        begin_again(state);
    }
}

TEST(what_is_left_is_not_done_later)
{
    static const char *const ways[] = {"<escape>",    "<ctrl-c>", "<f2>", "<tab>",
                                       "<shift-tab>", "<f1>",     "<f3>"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        begin_behind();
        act("d");
        act(ways[i]);
        give_two();
        play("?");
        assert_int_equal(host.replayed, 0);
        begin_again(state);
    }
    play("=behind", ">d", "=focus no", "Tab to the memory", "=two", "?");
    begin_again(state);
    play("=behind", ">d", "=reopen another", "=two", "=replayed 0");
}

/* Text that is typed after a quotation goes behind it in the message. */
TEST(what_leads_to_the_message_takes_the_rest_along)
{
    play("=behind", ">ixd", "=two", "?");
    assert_non_null(host.inserted);
    assert_int_equal(host.replayed, 3);
}

/* Another scope or order makes a new query, as does another session. */
PLAY(keys_wait_for_scope_and_order, "=search", ">sd", "?scope:project", "=one c of this project",
     "?memory/forget {ids:[c]}", ">td", "?order:date", "=one f by date", "?memory/forget {ids:[f]}",
     ">s", "?scope:session", "=none", "=session", "?memory/search", ">d", "?",
     "No matches in this scope.", "=one g of the other session", "?memory/forget {ids:[g]}");

/* A repeated query does not delay keys: they act on the entries that are there. */
PLAY(keys_do_not_wait_for_the_same, "=search", "=news", "?memory/search", ">d",
     "?memory/forget {ids:[a]}");
PLAY(without_an_answer_nothing_is_done, "=behind", ">d",
     "=fails memory/search The database cannot be used.", "The database cannot be used.",
     "!of the old query", ">d", "?", "=news", "?memory/search", "=two", "?", "we liked", "=news",
     "=fails memory/search The database cannot be used.", "we liked"); /* it answers the same */

/* Letters behind "e" are text, not keys of the list. */
PLAY(what_follows_e_is_text, "=behind", ">eds/ ", "=paste pasted ", "?", "=two",
     "?memory/read {id:a}", "loading", "=news", "?memory/search", ">u", "=two", "=text we liked it",
     "ds/ pasted uwe liked it", "?");

/* Text that is typed while a change is being saved is no part of the change. */
PLAY(what_follows_a_change_waits_for_it, "=change", "><enter>", "?memory/edit", ">d", "?",
     "Yes we liked it", "=ok memory/edit", "?memory/forget {ids:[a]}", ">e", "=text booked",
     ">Yes <enter>", "?memory/edit", ">dd", "?", "=fails memory/edit The database cannot be used.",
     "Yes booked", "=replayed 1");

/* New hits do not remove the entry that is being edited. */
PLAY(an_edit_survives_other_hits, "=search", ">e", "=news", "=one n a new one", "=text we liked it",
     "edit entry", "><end>!", "we liked it!", "><enter>", "?memory/edit {id:a,");
PLAY(no_more_than_a_few_keys_wait, "=behind", "><j*1000>", "=two", "=replayed 64");

/* Keys that need no hits do not wait for them. */
PLAY(other_keys_are_not_kept_waiting, "=behind", ">u", "?memory/restore", ">s", "?scope:project",
     ">]", "Recalled", ">[<up>s", "?{query:ryokans,", "><down>", "=draw",
     "=click 2", /* on an old hit, twice */
     "=click 2", "?");

/* --- a slow answer --- */

static void look(const char *state_of_query, bool dim, int64_t due)
{
    const struct rows *rows = rows_now();
    const struct row *row = &rows->list.items[seen_find(rows, "we liked")];
    assert_int_equal(rows->spans.items[row->spans].style == STYLE_DIM, dim);
    see(state_of_query);
    assert_int_equal(the.view->ops->due(the.view), due);
}

/* Quick answers change nothing but the hits: neither the count nor the looks of old ones. */
TEST(old_hits_do_not_look_like_an_answer)
{
    play("=now 1000", ">ryokan", "=two");
    look("2 by score", false, 0);
    act("s");
    look("2 by score", false, 1250);
    play("=now 1249", ">?");
    look("2 by score", false, 1250);
    play("=now 1250", "=draw");
    look("searching", true, 0);
    give_two();
    look("2 by score", false, 0);
    play("=now 9000", "=news");
    look("2 by score", false, 0);
}

/* Each word of the entry is named once. */
TEST(reasons_are_words)
{
    act("ryokan");
    struct operation_answer *a = answer(2);
    struct memory_hit *h = add(a, hit_of("a", "Ryokan by ryokan", "Ryokan"));
    vec_push(&h->marks, ((struct memory_span){10, 6}));
    add(a, hit_of("b", "an inn", NULL))->why = (struct memory_why){.has_vector = true};
    tell(a);
    play("><down><enter>", "contains Ryokan ·", ">n", "similar in meaning");
}

TEST(a_high_pane_shows_three_rows_of_each_entry)
{
    act("ryokan");
    struct operation_answer *a = answer(2);
    auto_free char *text = hundred_lines("and so on");
    add(a, hit_of("a", text, NULL));
    add(a, hit_of("b", "we liked the ryokan", "ryokan"));
    tell(a);
    play("line 001", "!line 003", "=height 38");
    size_t first = find("line 001");
    assert_int_equal(find("line 007"), first + 2);
    assert_int_equal(find("we liked"), first + 4);
    see("!line 012", "…");
    the.view->ops->click(the.view, (int)first + 5, 3);
    assert_int_equal(find("›"), first + 3);
}

PLAY(no_key_is_left_out_where_there_is_room, "=two", "=height 38", "to the message",
     "exact phrase, without word", "><down>", "d forget", "t sort", "/ search", "=height 19",
     "o go to message", "!t sort");

/* --- what was recalled --- */

TEST(the_models_questions_have_their_tab)
{
    play("=two", "=earlier sleep kyoto");
    recall(60, "river", "[]", false);
    play("] recalled 2", ">old", "! ] recalled", "=none", "><down>", "] recalled 2", ">]",
         "Recalled · 2", "“river” → 0 matches", "“sleep kyoto” → 2 matches · 5 min",
         "0.90 you · turn 3", "from the 14th");
    assert_true(find("river") < find("sleep kyoto")); /* newest first */
    play("><down><down><enter>", "?memory/read {id:a}", ">w", "matches: words 7.25", ">o",
         "=jumped 17", "><escape>[", "Memory · all");
}

TEST(a_question_can_be_asked_again)
{
    play("=earlier sleep kyoto", "><down>]<enter>", "?{query:sleep kyoto,", "Memory · all",
         "><right>", "Recalled", "><end><down>", "?");
    assert_true(host.older > 0);
}

PLAY(a_recall_is_shown_as_it_happens, "=focus no", "=recalls sleep kyoto", "Recalled",
     "model's search, 2 matches: \"sleep kyoto\"", "by the river", "· new");
PLAY(a_recall_does_not_disturb, "=search", "=recalls sleep kyoto", "Memory", "] recalled 1 new",
     "model's search, 2 matches: \"sleep kyoto\"", ">]", "sleep kyoto", ">[", "!recalled 1 new");

PLAY(x_leaves_a_passage_out_and_takes_it_back, "=earlier sleep kyoto", "><down>]<down>",
     "x leave out", "!left out", ">x", "?memory/leave_out {session_id:,id:a}",
     "›  0.90 left out · you", "left out of this session's messages; x undoes", "=left 50 a",
     "0.90 left out", ">[", "=two", "><down>", " left out · you · turn 3", ">]x",
     "?memory/leave_out {session_id:,id:a,back:true}", "!0.90 left out", "=earlier again",
     "!0.90 left out");
PLAY(what_was_left_out_is_marked_in_any_order, "=left 50 b", "=earlier sleep kyoto", "><down>]",
     "0.50 left out", "!0.90 left out", "=back 20 b", "0.50 left out", "=back 60 b",
     "!0.50 left out");
PLAY(what_was_not_left_out_is_not_marked, "=earlier sleep kyoto", "><down>]<down>x",
     "0.90 left out", "=fails memory/leave_out The database cannot be used.",
     "The database cannot be used.", "!0.90 left out");

/* With a message, without a search of the model. */
TEST(passages_of_a_message_are_there_too)
{
    struct notice *n = notice_new(NOTICE_EVENT);
    n->event = recall_event(70, "where did we sleep?", TWO_HITS);
    mem_replace(&n->event->id, NULL);
    n->event->number = 480;
    play("=focus no");
    give(n);
    play("2 passages were sent with", "=focus yes", "“where did we sleep?” → 2 sent · 5 min");
}

PLAY(the_other_list_has_its_key_beside_an_empty_query, "=earlier sleep kyoto", "=caret 1 3",
     "] recalled 1", ">]", "sleep kyoto", ">]/a]", "=none", "a]", "Memory · all");

TEST(what_is_chosen_there_stays)
{
    play("=earlier sleep kyoto", "><down>]<down>", "›by the river");
    recall(60, "again", "[]", true);
    play("›  0.90", "again");
}

TEST(recalls_come_in_any_order)
{
    static const struct {
        int64_t seq;
        const char *query, *hits;
        bool added;
    } events[] = {{60, "second", TWO_HITS, true},
                  {40, "first\x1b[2J", "no JSON", true},
                  {80, "third", "[1,{\"id\":3},null]", true},
                  {60, "second", TWO_HITS, false}};
    struct recalls all = {0};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        AUTO(event_free_local)
        struct event *ev = recall_event(events[i].seq, events[i].query, events[i].hits);
        assert_int_equal(recalls_add(&all, ev, false), events[i].added);
    }
    AUTO(event_free_local) struct event *other = event_new(EVENT_WARNING);
    assert_false(recalls_add(&all, other, false));
    assert_int_equal(all.items.len, 3);
    assert_string_equal(all.items.items[1]->query, "second");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(all.items.items[i]->hits.items.len, i == 1 ? 2 : 0);
    assert_null(strchr(all.items.items[0]->query, '\x1b'));
    recalls_clear(&all);
    vec_release(&all.items);
}

/* --- a narrow query --- */

PLAY(a_long_query_is_seen_around_the_caret, "=width 39",
     ">train hotel river sleep wo", /* with as many columns as there are beside its state */
     "=two", " / train hotel river sleep wo", ">rd1 more of it", "river sleep word1 more of it",
     "=caret 1 38", "><home>", " / train hotel river sleep word1 more", "=caret 1 3");

TEST(a_query_is_one_line_of_a_bounded_length)
{
    auto_free char *much = mem_alloc(2001);
    memset(much, 'x', 2000);
    memory_view_open(the.view, "two\nlines\x1b[2J");
    assert_null(strchr(searched()->query, '\n'));
    see(" / two lines");
    for (int i = 0; i < 3; i++)
        paste(much);
    assert_int_equal(strlen(searched()->query), 1024);
}

TEST(a_long_name_leaves_room)
{
    struct operation_answer *a = answer(1);
    add(a, hit_of("a", "text", NULL))->entry.speaker =
        mem_strdup("Somebody with a very long name indeed");
    tell(a);
    play(" Somebody with a… · turn 3 · 2 d", "><down><enter>",
         " Somebody with a very long name indeed");
}

/* --- any size, any text --- */

TEST(it_fits_any_size)
{
#define HOSTILE                                                                                    \
    "\x1b]0;x\x07\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xf0\x9f\x91\xa9\xe2\x80"                     \
    "\x8d\xf0\x9f\x92\xbb e\xcc\x81\t\xff\xfe\r\nend \xe2\x80\xae rtl"
    play("=sizes");
    struct operation_answer *a = answer(123456789);
    for (int i = 0; i < 30; i++) {
        struct memory_hit *h = add(a, hit_of("a", HOSTILE, "end"));
        h->entry.speaker = mem_strdup(HOSTILE);
        h->entry.pinned = true;
        name_session(h, "other");
    }
    ((struct memory_found *)a->result)->hits.badge = "words only";
    tell(a);
    play("=sizes", "><down>", "=sizes", "><enter>", "=text " HOSTILE, "=sizes", ">e",
         "=text " HOSTILE, "=sizes", "><escape><escape>", "=recalls " HOSTILE, ">]", "=sizes",
         "><down><enter>", "=sizes");
}

PLAY(a_low_pane_shows_one_thing_at_a_time, "=width 40", "=height 7", /* of a terminal of 40 x 10 */
     "=search", "Memory", "/ ryokan", "we liked", "booked", "><enter>", "!0.93 ▇", "by the river");
PLAY(clicks_choose, "=search", "ryokan", "=click 5", "›0.78", "=click 1", "=caret 1 9", "=click 4",
     "=caret none", "=click 4", "?memory/read", "=click 400", "=click 0", "Recalled");

TEST(who_leaves_waits_for_nothing)
{
    play("=search", "=news", ">e", "?memory/read", "=hide");
    for (size_t i = 0; i < the.requests.len; i++)
        assert_true(the.requests.items[i].answered ||
                    the.requests.items[i].request->operation == &operation_memory_stats);
}

TEST(it_comes_back_as_it_was_left)
{
    play("=search", "=hide", "=news", "?"); /* nobody sees it */
    memory_view_return(the.view, true);
    play("?{query:ryokan,", "=reopen bath", "?{query:bath,");
    memory_view_open_session(the.view);
    play("?{query:,scope:session");
}

PLAY(the_query_of_before_comes_back_with_up, "=forget", "><up>", "?", /* there is none */
     "=search", "=hide", "=reopen", "?{query:,", "><up>", "?{query:ryokan,", "><up>",
     "?",                           /* does not replace the query */
     "=reopen", "=hide", "=reopen", /* nothing was typed meanwhile */
     "><up>", "?{query:ryokan,");

/* --- help --- */

KEYS_HOLD(keys_of_memory, set_up, "=fifty", "><down>jj");
KEYS_HOLD(keys_of_a_memory_query, set_up, "=fifty");
#define LONG_TEXT "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22"
KEYS_HOLD(keys_of_a_memory_preview, set_up, "=height 14", "=search", "=recalls x", ">]j<enter>",
          "=text " LONG_TEXT LONG_TEXT, ">j");
KEYS_HOLD(keys_of_what_was_recalled, set_up, "=search", "=recalls x", ">]j");
