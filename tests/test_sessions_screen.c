/* The sessions screen without terminal and engine: its requests, its drawing of made-up answers,
 * and its keys. */
#include "base/clock.h"
#include "base/utf8.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "tests/told.h"
#include "ui/view/sessions.h"

static void begin(const char *query)
{
    the.view = sessions_new(&the.host, query);
}

/* The filter of the list request since forget_sent(); "": all sessions; NULL: no request. */
static const char *listed(void)
{
    const struct session_filter *p = params_of(&operation_session_list);
    return p ? p->text : NULL;
}

static const char *searched(void)
{
    const struct session_search_params *p = params_of(&operation_session_search);
    return p ? p->query : NULL;
}

static const char *previewed(void)
{
    const struct session_history_params *p = params_of(&operation_session_history);
    return p ? p->session : NULL;
}

/* The row in the form in which the list is requested. */
#define OF(row, number)                                                                            \
    "?session/" row " session_id=\"01900000-0000-7000-8000-00000000000" number "\""

/* --- made-up answers --- */

static const char *id_of(int number)
{
    static char ids[4][UUID_LEN + 1];
    static int next;
    char *id = ids[next++ % 4];
    snprintf(id, sizeof ids[0], "01900000-0000-7000-8000-%012d", number);
    return id;
}

static struct session_info info_of(int number, const char *title)
{
    struct session_info info;
    session_info_init(&info);
    strcpy(info.id, id_of(number));
    free(info.title);
    info.title = mem_strdup(title);
    info.messages = number;
    info.updated_ms = clock_wall_ms();
    return info;
}

/* The list that is requested: its contents, then its end. */
static struct operation_answer *list;

static void add(struct session_info info)
{
    list = list ? list : answer_to(&operation_session_list);
    vec_push(&((struct session_list_result *)list->result)->sessions.items, info);
}

static void give_list(int64_t total)
{
    struct operation_answer *a = list ? list : answer_to(&operation_session_list);
    ((struct session_list_result *)a->result)->total = total;
    list = NULL;
    give_answer(a, NULL);
}

/* Sessions 1, 2, 3 … with these titles, up to a NULL. */
static void answer_list(int64_t total, const char *const *titles)
{
    for (int i = 0; titles[i]; i++)
        add(info_of(i + 1, titles[i]));
    give_list(total);
}

static bool refuse(const struct operation *o, const char *words)
{
    return give_answer(answer_to(o), words);
}

static const char *const three[] = {"Apple", "Banana", "Cherry", NULL};
static const char *const nothing[] = {NULL};

static void begin_with_three(void)
{
    begin("");
    answer_list(3, three);
    forget_sent();
}

static struct search_hit hit_of(int session, int64_t seq, const char *snippet, const char *match)
{
    struct search_hit hit = {.seq = seq, .role = ROLE_USER, .at_ms = clock_wall_ms()};
    strcpy(hit.session_id, id_of(session));
    hit.title = mem_strdup("Of a hit");
    hit.snippet = mem_strdup(snippet);
    const char *at = strstr(snippet, match);
    hit.match = at ? (size_t)(at - snippet) : 0;
    hit.len = at ? strlen(match) : 0;
    return hit;
}

static void answer_hits(bool more, struct search_hit hit)
{
    struct operation_answer *a = answer_to(&operation_session_search);
    struct session_search_result *found = a->result;
    found->more = more;
    vec_push(&found->matches.items, hit);
    give_answer(a, NULL);
}

static void answer_preview(const char *question, const char *answer)
{
    struct operation_answer *a = answer_to(&operation_session_history);
    struct session_history_result *page = a->result;
    session_info_release(&page->session);
    page->session = info_of(1, "Previewed");
    vec_push(&page->events.items, told_event(EVENT_TURN_STARTED, 1, question));
    vec_push(&page->events.items, told_event(EVENT_TEXT_COMPLETE, 2, answer));
    give_answer(a, NULL);
}

/* Answers the request with success. */
static void give_done(const struct operation *o)
{
    struct operation_answer *a = answer_to(o);
    const struct session_params *p = a->request->params; /* or others that begin so */
    strcpy(((struct session_changed *)a->result)->id, p->session);
    assert_true(give_answer(a, NULL));
}

/* --- a person --- */

/* All rows, each without its trailing blanks and with a newline. */
static const char *drawn(void)
{
    return seen_text(rows_now());
}

static const char *row_drawn(int index)
{
    static struct buf out = BUF_INIT;
    const char *at = drawn();
    for (; index > 0; index--)
        at = strchr(at, '\n') + 1;
    buf_clear(&out);
    buf_add(&out, at, strcspn(at, "\n"));
    return out.data;
}

/* Whether this text is drawn in this style somewhere. */
static bool styled(const char *text, enum style style)
{
    const struct rows *rows = rows_now();
    for (size_t i = 0; i < rows->list.len; i++) {
        const struct row *row = &rows->list.items[i];
        const char *at = rows->text.data + row->text;
        for (uint32_t j = 0; j < row->span_count; j++) {
            const struct span *span = &rows->spans.items[row->spans + j];
            auto_free char *piece = mem_strndup(at, span->len);
            bool found = span->style == (uint8_t)style && strstr(piece, text);
            if (found)
                return true;
            at += span->len;
        }
    }
    return false;
}

static void assert_row(int index, const char *want)
{
    assert_string_equal(row_drawn(index), want);
}

static void set_open(const char *id, bool live)
{
    memcpy(the.session.id, id, UUID_LEN);
    the.read_only = !live;
}

static void give_opened(void)
{
    struct notice *n = notice_new(NOTICE_SESSION);
    n->flag = true;
    give(n);
}

static void list_three(const char *total)
{
    answer_list(atoi(total), three);
}

static void list_none(void)
{
    answer_list(0, nothing);
}

static void list_one(const char *title)
{
    answer_list(1, (const char *const[]){title, NULL});
}

static void done(const char *operation)
{
    give_done(operation_find(operation));
}

static void is_row(const char *number_and_text)
{
    char *rest;
    int row = (int)strtol(number_and_text, &rest, 10);
    assert_row(row, rest + 1);
}

/* "": all of them */
static void is_listed(const char *text)
{
    assert_string_equal(listed(), text);
}

/* "": nothing */
static void is_searched(const char *query)
{
    assert_string_equal(searched() ? searched() : "", query);
}

static void asks_nothing(void)
{
    assert_true(!listed() && !searched() && !previewed());
}

static void is_previewed(const char *number)
{
    assert_string_equal(previewed(), id_of(atoi(number)));
}

static void open_live(const char *number)
{
    set_open(id_of(atoi(number)), true);
}

static void open_for_reading(const char *number)
{
    set_open(id_of(atoi(number)), false);
}

static void is_match(const char *text)
{
    assert_true(styled(text, STYLE_MATCH));
}

static void add_titled(const char *number_and_title)
{
    char *title;
    int number = (int)strtol(number_and_title, &title, 10);
    add(info_of(number, title + 1));
}

static void give_total(const char *total)
{
    give_list(atoll(total));
}

/* "SESSION SEQ MATCH|SNIPPET" */
static void give_hit(const char *what)
{
    char *rest;
    int number = (int)strtol(what, &rest, 10);
    int64_t seq = strtoll(rest, &rest, 10);
    size_t len = strcspn(++rest, "|");
    auto_free char *match = mem_strndup(rest, len);
    answer_hits(false, hit_of(number, seq, rest + len + 1, match));
}

/* "QUESTION|ANSWER" */
static void give_preview(const char *what)
{
    auto_free char *question = mem_strndup(what, strcspn(what, "|"));
    answer_preview(question, what + strlen(question) + 1);
}

static const struct step steps[] = {
    {"begin", .run = begin},          {"add", .run = add_titled},
    {"give", .run = give_total},      {"hit", .run = give_hit},
    {"preview", .run = give_preview}, {"three", .alone = begin_with_three},
    {"none", .alone = list_none},     {"opened", .alone = give_opened},
    {"quiet", .alone = asks_nothing}, {"list", .run = list_three},
    {"one", .run = list_one},         {"done", .run = done},
    {"row", .run = is_row},           {"listed", .run = is_listed},
    {"searched", .run = is_searched}, {"previewed", .run = is_previewed},
    {"live", .run = open_live},       {"read", .run = open_for_reading},
    {"match", .run = is_match},       {.name = NULL}};

static int set_up(void **state)
{
    (void)state;
    stage_set_up(steps, 60, 10);
    return 0;
}

/* --- asking --- */

BEFORE_ALL(support_utf8);
FIXTURE(set_up, stage_tear_down);

TEST(test_the_first_question)
{
    play("=begin", "=listed");
    assert_int_equal(((const struct session_filter *)params_of(&operation_session_list))->limit,
                     200);
    assert_null(previewed());
    play("=searched", "loading", "=none", "No session was saved yet.");
}

PLAY(test_a_query_is_asked_for_both, "=begin kyo", "=listed kyo", "=searched kyo", "=none",
     "loading", /* the search is not over */
     "=ok session/search", "no matches");

/* An older request is withdrawn, and known results are not requested again. */
PLAY(test_the_last_question_counts, "=three", ">kyoto", "Apple", "=listed kyoto", "=searched kyoto",
     "=forget", "=one Kyoto", "›Kyoto", "=quiet", "><ctrl-u>", "!In the transcripts", "=searched");
PLAY(test_a_failed_question_is_said_and_not_repeated, "=begin", "=forget",
     "=fails session/list The database cannot be used.\nbroken",
     "The database cannot be used. broken", "=quiet", ">a", "=listed a");

/* --- drawing --- */

/* The sessions of the project come first; a search, and a project without any, has those of all. */
TEST(test_the_project_comes_first)
{
    mem_replace(&the.session.directory, mem_strdup("/home/ada/shop"));
    begin("");
    const struct session_filter *p = params_of(&operation_session_list);
    assert_string_equal(p->project, "/home/ada/shop");
    answer_list(3, three);
    assert_non_null(strstr(row_drawn(0), "3 in this project"));
    play("=forget", "><alt-p>", "The sessions of all projects", "?session/list",
         "!?session/list project=\"/home/ada/shop\"", "=list 3", "=forget", "><alt-p>",
         "?session/list project=\"/home/ada/shop\"", "=list 3", "=forget", ">kyo",
         "?session/list text=\"kyo\"", "!?session/list project=\"/home/ada/shop\"");
}

TEST(test_a_new_project_has_the_sessions_of_all)
{
    mem_replace(&the.session.directory, mem_strdup("/home/ada/shop"));
    begin("");
    forget_sent();
    give_list(0);
    const struct session_filter *p = params_of(&operation_session_list);
    assert_null(p->project);
    answer_list(3, three);
    assert_null(strstr(row_drawn(0), "in this project"));
}

TEST(test_rows)
{
    begin("");
    struct session_info info = info_of(14, "Kyoto in November");
    info.updated_ms -= 2 * 24 * 3600 * 1000;
    info.usage.input = 57000;
    info.usage.output = 1000;
    info.labels = mem_strdup("travel");
    info.model = mem_strdup("claude-x");
    info.last_line = mem_strdup("We booked the ryokan.");
    add(info);
    info = info_of(1, "");
    info.archived_ms = 1;
    add(info);
    play("=give 2", "=live 14", "=width 99",
         "=row 0  Sessions /"
         "                                                               "
         "                       2",
         "=row 1 ›Kyoto in November  open      2 d  14 messages  58k tokens  claude-x  "
         "#travel — We booked the ryok…",
         "=row 2  (untitled)         archived  now  1 message", "=width 40",
         "=row 1 ›Kyoto in November  open      2 d", "=row 2  (untitled)         archived  now");
}

static bool works(struct app *app, const char *session_id, bool *waits)
{
    (void)app;
    *waits = strcmp(session_id, id_of(3)) == 0;
    return *waits || strcmp(session_id, id_of(2)) == 0;
}

TEST(test_other_conversations_that_go_on_are_marked)
{
    the.host.works = works;
    play("=three", "=live 1", "=width 80", "=row 1 ›Apple   open           now  1 message",
         "=row 2  Banana  working        now  2 messages",
         "=row 3  Cherry  waits for you  now  3 messages");
}

/* Sessions with titles, models and last lines as long as they come. */
static void begin_with_long_ones(void)
{
    begin("");
    for (int i = 1; i <= 3; i++) {
        struct session_info info =
            info_of(i, "A title of sixty columns, as long as any, that pushes all else out");
        info.updated_ms -= (int64_t)12 * 24 * 3600 * 1000;
        info.messages = 142;
        info.usage.input = 57000;
        info.usage.output = 1000;
        info.archived_ms = i == 2;
        if (i == 3) {
            free(info.title);
            info.title = mem_strdup("A title of sixty columns, cut to make room for … (fork)");
            strcpy(info.parent, id_of(1));
        }
        info.model = mem_strdup("claude-sonnet-4-5-20250929");
        info.labels = mem_strdup("travel japan family november");
        info.last_line = mem_strdup("We booked the ryokan by the river.");
        add(info);
    }
    give_list(3);
}

TEST(test_an_imported_session_names_its_source)
{
    begin("");
    struct session_info info = info_of(1, "Tax");
    info.imported = mem_strdup("claude");
    info.labels = mem_strdup("fruit");
    add(info);
    play("=give 1", "=width 99", "=line 1|Tax|from:claude #fruit");
}

TEST(test_long_titles_leave_room_for_the_columns)
{
    begin_with_long_ones();
#define USUAL "A title of|archived|142 messages|58k tokens"
    play("=width 80", "=height 24", "=line 2|" USUAL, "=line 3|(fork)", "=width 120", "=height 40",
         "=line 2|" USUAL "|claude-sonnet|— We booked", "=line 3|(fork)", "=width 160",
         "=height 50", "=line 2|" USUAL "|claude-son|— We booked", "=line 3|(fork)", "=width 200",
         "=line 2|" USUAL "|claude-son|— We booked", "=line 3|(fork)");
}

PLAY(test_the_count_and_that_there_are_more, "=begin", "=list 10000", "=line 0|10,000",
     "9,997 more; type to narrow them down", "=height 5", /* three rows of the list */
     "!more; type", "><end>", "=row 3  9,997 more; type to narrow them down", "›Cherry", ">a",
     "=list 2", "=hit 1 5 a|an", "=line 0|2 of 10,000");

/* If there is room the keys have two rows, and a message takes no more, so that nothing jumps. */
PLAY(test_all_keys_are_shown_where_there_is_room, "=three", "=width 80", "!Alt-e export",
     "=height 20", "=line 18|Enter resume", "=line 19|Alt-e export", "><alt-x>",
     "=line 18|Delete \"Apple\" for good?", "=row 19 ", "><escape><alt-r>",
     "=line 18|Enter save  Esc cancel");

/* However far the text goes, its end is seen. */
TEST(test_a_line_that_goes_on_to_the_left_says_so)
{
    play("=three", "=width 40", "><alt-e>", "=row 0  Export to: Apple.md",
         "> and a name that is longer than the row", "=line 0| Export to: …");
    for (int i = 0; i < 80; i++) {
        act("x");
        assert_true(strstr(row_drawn(0), "xx") || i < 2);
    }
}

PLAY(test_nothing_selected_has_no_preview, "=three", "=width 120", "=draw",
     "=preview Apple|what was said", "what was said", ">zz", "=none", "!what was said");

TEST(test_hits)
{
    play("=begin needle", "=one A needle");
    answer_hits(true, hit_of(2, 9, "in the hay there is a needle, they say", "needle"));
    play("In the transcripts: 1 match, and more", "=match needle",
         "=row 3  in the hay there is a needle, they say   you  now  Of a hit", "><enter>",
         "=found", "=fails session/open no", "><down><enter>",
         "=found needle",                       /* to be looked for there */
         "=fails session/open no", "=width 40", /* the match is seen where the snippet is cut */
         ">s", "=none");
    answer_hits(false,
                hit_of(2, 9, support_text("%*s%s", 80, "hay", " a needle at the end"), "needle"));
    play("=match needle", "›…", "><escape>", "!In the transcripts");
}

TEST(test_hostile_texts)
{
    static const char bad[] = "a\033]0;owned\007\n\u202eb\xff";
    begin("x");
    struct session_info info = info_of(1, bad);
    info.labels = mem_strdup("\033[2J");
    info.model = mem_strdup(bad);
    info.directory = mem_strdup(bad);
    info.last_line = mem_strdup(bad);
    add(info);
    give_list(1);
    struct search_hit hit = hit_of(1, 3, bad, "owned");
    hit.match = 100; /* beyond its text */
    answer_hits(false, hit);
    play("><down><alt-v>", "=found");
    refuse(&operation_session_open, bad);
    for (the.width = 40; the.width < 130; the.width += 30) {
        const char *text = drawn();
        assert_null(strpbrk(text, "\033\007\xff"));
        assert_null(strstr(text, "\u202e"));
    }
}

/* --- moving --- */

PLAY(test_moving, "=three", "›Apple", "><down>", "›Banana", "><end>", "›Cherry", "><down>",
     "›Cherry", "><pageup>", "›Apple", "><ctrl-n>", "›Banana", "><ctrl-p><up>", "›Apple");

TEST(test_the_selection_stays_in_view)
{
    const char *titles[51] = {0};
    char texts[50][8]; /* in the chosen order */
    begin("");
    for (int i = 0; i < 50; i++) {
        snprintf(texts[i], sizeof texts[i], "›t%02d", i);
        titles[i] = texts[i] + strlen("›");
    }
    answer_list(50, titles);
    the.height = 7;
    for (int i = 0; i < 50; i++, press("down"))
        see(texts[i]);
    play("><home>", "=row 1 ›t00  now  1 message");
}

PLAY(test_a_new_listing_keeps_the_chosen_one, "=three", "=draw", "><down>", "›Banana", "><alt-a>",
     "=done session/archive", "=listed", "=add 2 Blueberry", "=add 1 Apple", "=give 2",
     "›Blueberry", "><alt-x>y", "=done session/delete", "›Apple",
     "!Blueberry", /* the other session is gone, whatever a list says */
     "=one Apple", "›Apple", ">a", "=list 3", "›Apple");
PLAY(test_a_click, "=three", "=draw", "=click 3", "›Cherry", "!?session/open",
     "=click 6", /* below the list */
     "=click 0", "›Cherry", "=click 3", OF("open", "3"));
PLAY(test_leaving, "=three", ">ap<escape>", "=open",
     "=row 0  Sessions /                                               3", "><escape>", "=closed",
     ">ap<ctrl-c>", "=closed", "><f3>", "=closed");

TEST(test_the_query_is_edited_as_text)
{
    play("=three", ">pears<left><backspace>R<ctrl-w>",
         "=row 0  Sessions / s                                        3 of 3", "=paste two\nlines",
         "><ctrl-j>", "=line 0| / two liness ");
    for (int i = 0; i < 600; i++)
        act("é");
    assert_in_range(strlen(listed()), 200, 260);
}

/* --- the preview --- */

TEST(test_where_the_preview_is)
{
    static const struct {
        int width, height;
        bool asked;
    } cases[] = {{40, 7, false}, {99, 14, false}, {99, 15, true}, {40, 15, true}, {100, 7, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        the.width = cases[i].width;
        the.height = cases[i].height;
        begin_with_three();
        drawn();
        assert_int_equal(previewed() != NULL, cases[i].asked);
        if (cases[i].asked) {
            assert_string_equal(previewed(), id_of(1));
            see("loading");
            answer_preview("a question", "an *answer*");
            see("Previewed", "an answer");
        }
        the.view->ops->free(the.view);
        the.view = NULL;
        forget_sent();
    }
}

PLAY(test_previews_follow_the_selection, "=width 100", "=three", "=draw", "=previewed 1",
     "><down*2>", "=previewed 3", /* alone */
     "=preview the third|three", "the third", "><up>", "=previewed 2",
     "=fails session/history gone", "gone", "><alt-a>", "=done session/archive",
     "=fails session/history gone", "Archived."); /* which the person wants to know rather */

TEST(test_a_hit_is_previewed_where_it_is)
{
    play("=width 120", "=begin needle", "=none", "=hit 2 900 needle|a needle", "=draw");
    const struct session_history_params *asked = params_of(&operation_session_history);
    assert_int_equal(asked->before, 920);
    assert_int_equal(asked->limit, 40);
    forget_sent();
    struct buf hay = BUF_INIT;
    for (int i = 0; i < 200; i++)
        buf_addstr(&hay, "hay\n\n");
    answer_preview("where is the needle?", support_keep(buf_take(&hay)));
    play("where is the needle?", "=match needle");
}

TEST(test_the_preview_is_scrolled)
{
    play("=width 100", "=three", "=draw");
    AUTO(buf_release) struct buf answer = BUF_INIT;
    for (int i = 0; i < 40; i++)
        buf_addf(&answer, "line %d.\n\n", i);
    answer_preview("q", answer.data);
    play("line 39.", "><tab>g", "!line 39.", "›Apple", "><end>", "line 39.", "><pageup>",
         "!line 39.", ">G", "line 39.", "><escape>", "=open", "><down>", "›Banana", "><tab>x",
         "Sessions / x", /* any other letter goes to the query */
         "=width 60",    /* no room for it any more */
         "=draw", "><tab><down>", "›Banana");
}

/* --- actions on a session --- */

TEST(test_resuming)
{
    play("=three", "=live 1", "><enter>", "?close",
         "=read 1", /* for reading alone: it is to be live */
         "><enter>", OF("open", "1"), "!?session/open read_only=true", "!?close", "opening",
         "><down><enter>", "!?session/open",                           /* one is enough */
         "=fails session/open That has to wait.", "=opened", "=open"); /* by somebody else */
    assert_true(styled("That has to wait.", STYLE_ERROR));
    play("><enter>", OF("open", "2"), "=opened", "=closed");
}

PLAY(test_reading_and_forking, "=three", "><alt-v>", OF("open", "1"),
     "?session/open read_only=true", "=fails session/open no", "><alt-n>", OF("fork", "1"),
     "opening", "=fails session/fork no", ">x", "=none", "=hit 2 77 x|x", "><alt-n>",
     OF("fork", "2"), "?session/fork at=77", /* up to the hit */
     "=ok session/fork", "=closed");
PLAY(test_renaming, "=three", "><alt-r>", " Title: Apple", ">s<enter>", OF("rename", "1"),
     "?session/rename title=\"Apples\"", "><enter>more", "!?session/rename", /* it is under way */
     "=fails session/rename too long", " Title: Apples", "too long",         /* nothing is lost */
     ">!<enter>", "?session/rename title=\"Apples!\"", "=done session/rename", "Sessions / ",
     "Renamed.", "=list 3", "><alt-r><escape>", "!?close", "Sessions / ", "><alt-r><enter>",
     "!?session/rename", "Sessions / "); /* as it was */

TEST(test_labels)
{
    begin("");
    struct session_info info = info_of(1, "Apple");
    info.labels = mem_strdup("fruit red");
    add(info);
    play("=give 1", "><alt-t>", " Labels: fruit red", "><ctrl-w>sweet<enter>", OF("label", "1"),
         "?session/label changes=\"-red fruit sweet\"", "=done session/label",
         "The labels are changed.");
}

TEST(test_archiving)
{
    play("=begin", "=add 1 Live");
    struct session_info info = info_of(2, "Put away");
    info.archived_ms = 5;
    add(info);
    play("=give 2", "=width 90", "Alt-a archive", "><alt-a>", OF("archive", "1"),
         "=done session/archive", "Archived.", "><down>", "Alt-a unarchive", "><alt-a>",
         OF("unarchive", "2"), "=done session/unarchive", "Moved out of the archive.");
}

PLAY(test_archived_ones_are_hidden_until_they_are_asked_for, "=begin",
     "?session/list state=\"live\"", "=add 1 Live", "=give 1", "=width 160", "Alt-z show archive",
     "=forget", "><alt-z>", "?session/list", "!?session/list state", "Archived sessions are shown.",
     "=forget", "><alt-z>", "?session/list state=\"live\"", "=forget", ">x",
     "?session/list text=\"x\"", "!?session/list state", "=give 3", "3", "!3 of 1");
PLAY(test_what_was_archived_is_so_before_the_list_comes_again, "=begin garden", "=width 120",
     "=add 1 The garden", "=give 1", "=hit 2 5 garden|a garden wall", "><alt-a>",
     "=done session/archive", "archived", "><alt-a>", OF("unarchive", "1"),
     "=done session/unarchive", "!archived", "><down><alt-a>", "=done session/archive", "archived");
PLAY(test_what_is_being_read_is_asked_anew_after_a_change, "=three", ">b<alt-a>", "=forget",
     "=done session/archive", "=listed b", /* alone */
     "=searched b");

TEST(test_archiving_in_memory_asks_as_deleting_does)
{
    the.host.persist = false;
    play("=three", "><alt-a>", "!?session/archive", "Delete \"Apple\" for good? y/n", ">y",
         OF("delete", "1"));
}

PLAY(test_deleting_is_asked_once, "=begin", "=list 10000", "><alt-x>",
     "Delete \"Apple\" for good? y/n", "><enter>xq", "y/n", ">n", "!y/n", "><alt-x><escape>",
     "!y/n", "!?session/delete", "><alt-x>y", OF("delete", "1"), "!y/n", "=done session/delete",
     "Deleted.", "!Apple", "=listed", "=list 9999", ">a", "=list 3", "3 of 9,999");

TEST(test_a_long_question_fits)
{
#define TEN "東京東京東京東京東京"
    begin("");
    answer_list(1, (const char *const[]){TEN TEN TEN, NULL});
    play("=width 40", "=height 7", "><alt-x>", "y/n");
}

TEST(test_exporting)
{
    static const struct {
        const char *title, *name;
    } names[] = {{"", "session.md"}, {"...", "session.md"}, {".x", "x.md"}, {"a/b", "a-b.md"}};
    play("=begin", "=one ../a/b: c", "><alt-e>", " Export to: -a-b: c.md", "><enter>",
         OF("export", "1"), "?session/export path=\"-a-b: c.md\"",
         "!?session/export format=\"json\"", "=fails session/export there is one already",
         "there is one already", "Export to: -a-b: c.md", "><ctrl-u>/tmp/x.json<enter>",
         "?session/export format=\"json\"", "=ok session/export", "Exported to /tmp/x.json.",
         "Sessions / ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        auto_free char *name = sessions_file_name(names[i].title);
        assert_string_equal(name, names[i].name);
    }
}

TEST(test_nothing_to_do_without_sessions)
{
    play("=begin", "=none", "=forget",
         "><enter><alt-v><alt-n><alt-r><alt-t><alt-a><alt-e><alt-x><down><tab>", "!?close");
    assert_string_equal(the.asked.data ? the.asked.data : "", "");
}

PLAY(test_keys_that_were_bound_otherwise, "=bind session_rename f7", "=three", "=width 90",
     "F7 rename", "><alt-r>", "Sessions / ", "><f7>", "Title: Apple");

/* --- anything at any size --- */

static uint64_t seed;

static unsigned dice(unsigned sides)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % sides;
}

static const char *random_text(void)
{
    static const char *const texts[] = {"",
                                        "a",
                                        "東京都",
                                        "e\u0301e\u0301",
                                        "\U0001f468\u200d\U0001f469 family",
                                        "\033[31mred",
                                        "a rather long title that goes on and on",
                                        "\xff\xfe",
                                        "tab\tand\nline"};
    return texts[dice(sizeof texts / sizeof *texts)];
}

static void add_anything(const struct operation *o, void *result)
{
    struct session_list_result *all = result;
    struct session_search_result *found = result;
    struct session_history_result *page = result;
    for (unsigned i = dice(30); o == &operation_session_list && i > 0; i--) {
        struct session_info info = info_of((int)dice(60), random_text());
        info.last_line = mem_strdup(random_text());
        info.archived_ms = dice(2);
        vec_push(&all->sessions.items, info);
        all->total = dice(20000);
    }
    for (unsigned i = dice(20); o == &operation_session_search && i > 0; i--) {
        struct search_hit hit = hit_of((int)dice(60), dice(1000), random_text(), "");
        hit.match = dice(20);
        hit.len = dice(20);
        vec_push(&found->matches.items, hit);
    }
    if (o == &operation_session_history) {
        session_info_release(&page->session);
        page->session = info_of(1, random_text());
        vec_push(&page->events.items, told_event(EVENT_TURN_STARTED, 1 + dice(5), random_text()));
        vec_push(&page->events.items, told_event(EVENT_TEXT_COMPLETE, 6 + dice(5), random_text()));
    }
}

static void answer_all(void)
{
    for (size_t i = 0; i < the.requests.len; i++) {
        const struct operation *o = the.requests.items[i].request->operation;
        if (the.requests.items[i].answered)
            continue;
        struct operation_answer *a = answer_to(o);
        if (o->result && (o->needs & NEED_WRITE) && o != &operation_session_fork)
            strcpy(((struct session_changed *)a->result)->id, id_of((int)dice(60)));
        add_anything(o, a->result);
        give_answer(a, dice(3) ? NULL : random_text());
    }
}

TEST(test_anything)
{
    static const char *const keys[] = {"up",     "down",  "pageup",    "pagedown", "home",
                                       "end",    "enter", "alt-v",     "alt-n",    "alt-r",
                                       "alt-t",  "alt-a", "alt-e",     "alt-x",    "tab",
                                       "escape", "left",  "backspace", "ctrl-u"};
    seed = support_seed();
    begin("");
    for (int i = 0; i < (int)suite_sample(2000, 6000); i++) {
        if (dice(3) == 0)
            type(dice(2) ? random_text() : "y");
        else
            press(keys[dice(sizeof keys / sizeof *keys)]);
        if (dice(4) == 0)
            answer_all();
        if (dice(20) == 0) {
            the.width = 40 + (int)dice(100);
            the.height = 1 + (int)dice(30);
        }
        if (dice(10) == 0)
            the.view->ops->click(the.view, (int)dice(40) - 2, (int)dice(140));
        assert_null(strpbrk(drawn(), "\033\xff"));
    }
}

/* --- help --- */

KEYS_HOLD(keys_of_sessions, set_up, "=three", "=width 120", "><down>");
KEYS_HOLD(keys_of_a_preview, set_up, "=width 120", "=three", "=draw",
          "=preview Apple|1\n\n2\n\n3\n\n4\n\n5\n\n6\n\n7\n\n8\n\n9", "><tab><up*5>");
