/* Searching by words in the programs' store: the hits, their order, their scores, and their places
 * in the text. */
#include <math.h>

#include "base/entropy.h"
#include "base/utf8.h"
#include "index/words.h"
#include "memory/sqlite_private.h"
#include "tests/memory_store.h"
#include "tests/suite.h"

#define memory lore_memory
#define e lore_error
#define query_of lore_query

static struct memory_hits hits;
static int64_t now;

static int set_up(void **state)
{
    now = 1683554160000; /* Monday 8 May 2023 */
    return lore_setup(state);
}

static int tear_down(void **state)
{
    memory_hits_release(&hits);
    return lore_teardown(state);
}

/* Indexes a text; `id` names it. */
static void put_as(enum role role, const char *session, const char *speaker, const char *id,
                   const char *content)
{
    AUTO(memory_entry_release)
    struct memory_entry entry = {.id = mem_strdup(id),
                                 .session_id = mem_strdup(session),
                                 .turn = 1,
                                 .role = role,
                                 .speaker = mem_strdup(speaker),
                                 .created_ms = now += 60000,
                                 .content = mem_strdup(content)};
    int stored;
    assert_ok(memory->ops->index(memory, session, 0, &entry, 1, &stored, &e), e);
    assert_int_equal(stored, 1);
}

static void put(const char *session, const char *speaker, const char *id, const char *content)
{
    put_as(ROLE_USER, session, speaker, id, content);
}

static void put_many(int count)
{
    static const char *const texts[] = {"the weather was grey all day", "dinner will be at eight",
                                        "that bus is always late", "they repaired the bridge"};
    for (int i = 0; i < count; i++)
        put("filler", "Zed", support_text("filler%d", i), support_text("%s (%d)", texts[i % 4], i));
}

static void search_with(struct memory_query query)
{
    memory_hits_release(&hits);
    assert_ok(memory->ops->search(memory, &query, &hits, &e), e);
}

/* The ids of the hits, best first, with a blank between. */
static const char *found(const char *text)
{
    struct buf ids = BUF_INIT;
    search_with(query_of(text));
    for (size_t i = 0; i < hits.items.len; i++)
        buf_addf(&ids, "%s%s", i > 0 ? " " : "", hits.items.items[i].entry.id);
    return support_keep(buf_take(&ids));
}

static void expect(const char *text, const char *ids)
{
    const char *got = found(text);
    if (strcmp(got, ids) != 0)
        fail_msg("\"%s\" finds \"%s\", not \"%s\"", text, got, ids);
}

static void expect_typed(const char *text, const char *id)
{
    struct memory_query query = query_of(text);
    query.typing = true;
    search_with(query);
    if (hits.items.len != (id ? 1 : 0))
        fail_msg("\"%s\" finds %zu", text, hits.items.len);
    if (id)
        assert_string_equal(hits.items.items[0].entry.id, id);
}

/* ---- hits ---- */

FIXTURE(set_up, tear_down);

TEST(scores_fall_with_the_rank)
{
    static const char *const words[] = {"river",  "lantern", "ryokan", "kyoto", "boat",
                                        "garden", "what",    "did",    "Ada",   "we like it"};
    static const char *const speakers[] = {"Ada", "Ben", NULL};
    entropy_seed(support_seed());
    for (int i = 0; i < 200; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        for (int n = 1 + (int)(entropy_unit() * 30); n > 0; n--)
            buf_addf(&text, "%s ", words[(int)(entropy_unit() * 10)]);
        put_as(i % 3 ? ROLE_USER : ROLE_ASSISTANT, support_text("s%d", i / 40),
               speakers[(int)(entropy_unit() * 3)], support_text("e%d", i),
               support_text("%s%d%s", text.data, i, i % 4 ? "" : "?"));
    }
    for (int i = 0; i < 100; i++) {
        struct memory_query query =
            query_of(support_text("%s %s %s", words[i % 10], words[(i / 10) % 10], words[i % 7]));
        query.limit = 30;
        search_with(query);
        for (size_t k = 1; k < hits.items.len; k++)
            if (hits.items.items[k].score > hits.items.items[k - 1].score)
                fail_msg("%s: %f before %f", query.text, hits.items.items[k - 1].score,
                         hits.items.items[k].score);
    }
}

TEST(words_in_any_form)
{
    put("a", "Caroline", "group", "I went to a support group yesterday, it was powerful.");
    put("b", "Melanie", "paint", "I painted that lake sunrise last year!");
    put_many(20);
    expect("When did she go to the support groups?", "group");
    expect("What has been PAINTED by the lakes?", "paint");
    expect("painting", "paint");
    expect("unicorns", "");
}

TEST(nothing_without_a_common_word)
{
    put("a", "Ann", "one", "alpha beta");
    put("a", "Ann", "two", "gamma delta");
    put("a", "Ann", "three", "epsilon");
    expect("beta", "one");
    expect("what is the of and", "");
    expect("", "");
    expect("?!* \"\" -", "");
    expect("-beta", "");
}

TEST(speaker_and_date_are_words)
{
    put("a", "Melanie", "m", "a lovely evening");
    put("b", "Caroline", "c", "another evening");
    expect("melanie", "m");
    expect("Monday", "c m");
    expect("May 2023 Caroline", "c m");
    expect("June", "");
}

TEST(other_scripts)
{
    put("a", "A", "ja", "昨日は東京タワーに行きました。黒猫がいた");
    put("a", "A", "de", "Die Größe der Häuser überraschte uns");
    put("a", "A", "smile", "that was fun 😀👍🏽");
    expect("東京タワー", "ja");
    expect("猫", "ja");
    expect("grosse hauser", "de");
    expect("👍", "smile");
    expect("😀", "smile");
}

TEST(phrases_and_exclusions)
{
    put("a", "A", "both", "the support group met in the red house");
    put("b", "B", "apart", "a group that gives support near the red barn");
    put("c", "C", "none", "the red car");
    expect("\"support group\"", "both");
    expect("\"group support\"", "");
    expect("red \"the house\"", "both");
    expect("red -house -barn", "none");
    expect("red -\"support group\" -car", "apart");
    expect("red \"the lighthouse keeper\"", "apart both none");
    expect("red \"group support\" -house", "apart none");
    expect("\"group support\" -house", "");
    expect("support 5\" -", "apart both");
    expect("red \"house", "both apart none");
}

TEST(the_last_word_may_go_on)
{
    put("a", "A", "paint", "she was painting happily");
    put_many(8);
    static const char *const found_by[] = {"pa", "painti", "painting", "paintin", "happil"};
    static const char *const not_by[] = {"paintzzz", "paintx", "happening", "xyzpain", "p", "pai "};
    expect_typed("pain", "paint");
    double score = hits.items.items[0].score;
    for (size_t i = 0; i < sizeof found_by / sizeof *found_by; i++) {
        expect_typed(found_by[i], "paint");
        assert_int_equal(hits.items.items[0].marks.len, 1);
        if (i == 1)
            assert_float_equal(hits.items.items[0].score, score, 1e-9);
    }
    for (size_t i = 0; i < sizeof not_by / sizeof *not_by; i++)
        expect_typed(not_by[i], NULL);
    expect("pai", "");
}

TEST(scope)
{
    put("a", "A", "in-a", "a red kite");
    put("b", "A", "in-b", "a red kite on the roof");
    struct memory_query query = query_of("kite");
    query.scope = (struct memory_scope){.kind = MEMORY_SCOPE_SESSION, .session_id = "b"};
    search_with(query);
    assert_int_equal(hits.items.len, 1);
    assert_string_equal(hits.items.items[0].entry.id, "in-b");
    query.scope.session_id = "nobody";
    search_with(query);
    assert_int_equal(hits.items.len, 0);
    struct memory_scope scope;
    assert_true(memory_scope_parse("session=x", &scope));
    assert_string_equal(scope.session_id, "x");
    assert_true(memory_scope_parse("project", &scope) && scope.kind == MEMORY_SCOPE_PROJECT);
    assert_false(memory_scope_parse("session=", &scope) || memory_scope_parse("al", &scope));
}

/* ---- order and score ---- */

TEST(neighbours_and_talk_count)
{
    put("a", "A", "a1", "how was the pottery class?");
    put("a", "B", "a2", "so much fun, I made a class bowl");
    now += 24 * 3600 * 1000;
    put("a", "A", "a3", "an evening class bowl");
    put_many(10);
    expect("pottery class bowl", "a2 a1 a3");
    const struct memory_why *near = &hits.items.items[0].why, *far = &hits.items.items[2].why;
    assert_true(near->before > 0 && near->session > far->session && near->window > far->window);
    assert_true(far->before == 0 && far->after == 0);
}

TEST(the_same_text_scores_one)
{
    put("a", "A", "exact", "The  bridge was\nrepaired");
    put("a", "A", "longer", "The bridge was repaired bridge repaired bridge repaired");
    put("a", "A", "little", "to be or not to be");
    search_with(query_of("The bridge was repaired"));
    assert_int_equal(hits.items.len, 2);
    assert_string_equal(hits.items.items[0].entry.id, "exact");
    assert_true(hits.items.items[0].score == 1.0 && hits.items.items[0].why.exact);
    assert_true(hits.items.items[1].score < 1.0 && !hits.items.items[1].why.exact);
    expect("to be or not to be", "little");
    assert_true(hits.items.items[0].score == 1.0);
    struct memory_query query = query_of("The bridge was repaired");
    query.min_score = 1;
    search_with(query);
    assert_int_equal(hits.items.len, 1);
}

/* Among any number of entries that have all of the question's words. */
TEST(the_same_text_is_found_among_many)
{
    put("a", "A", "exact", "the heron");
    for (int i = 0; i < 200; i++)
        put("a", "A", support_text("other%d", i),
            support_text("heron, heron, a fish, heron %d", i));
    search_with(query_of(" the\nheron"));
    assert_string_equal(hits.items.items[0].entry.id, "exact");
    assert_true(hits.items.items[0].why.exact);
    put("b", "B", "same", "where is the -heron now");
    search_with(query_of("where is the -heron now"));
    assert_int_equal(hits.items.len, 1);
    assert_true(hits.items.items[0].why.exact);
    put("b", "B", "little", "who is it?");
    search_with(query_of("who is it?"));
    assert_int_equal(hits.items.len, 1);
    assert_true(hits.items.items[0].why.exact);
}

/* Beside so many texts with all of its words that only some are compared with it. */
TEST(the_same_text_is_found_whatever_its_words_are)
{
    static const char *const texts[] = {
        "heron bridge",
        "what of the heron and of the bridge?",
        "der heron und die bridge, das ist es",
        "l'heron d'argent, l\u2019heron d\u2019or",
        "readFile of heron_bridge and parseHTTPHeader",
        "bridge heron bridge bridge",
        "\u9dfa\u306f heron \u6a4b\u306e\u4e0a",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        AUTO(buf_release) struct buf apart = BUF_INIT;
        for (const char *at = texts[k]; *at; at++)
            if (*at == ' ')
                buf_addstr(&apart, " stone moss water sand cliff reed wind rain ");
            else
                buf_addch(&apart, *at);
        put("a", "Heron Bridge of the heron", support_text("exact%zu", k), texts[k]);
        for (int i = 0; i < 70; i++)
            put("a", "Bridge Heron", support_text("apart%zu-%d", k, i),
                support_text("%s %d", apart.data, i));
    }
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        search_with(query_of(texts[k]));
        assert_string_equal(hits.items.items[0].entry.id, support_text("exact%zu", k));
        assert_true(hits.items.items[0].why.exact);
        assert_false(hits.items.items[1].why.exact);
    }
}

/* ---- statistics of many entries ---- */

static void put_any(int i)
{
    static const char *const ends[] = {"", "?", "? :)", "?\u061f", "\uff1f", "? no way"};
    static const enum role roles[] = {ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL};
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int k = i % 7 == 0 ? 300 : i % 23; k >= 0; k--)
        buf_addf(&text, "stone%d ", k * i % 50);
    buf_addf(&text, "heron%s", ends[i % 6]);
    put_as(roles[i % 3], support_text("s%d", i / 100), i % 4 == 0 ? "Ann" : NULL,
           support_text("any%d", i), text.data);
}

/* Random entries, some of them deleted or changed. */
static void put_any_many(void)
{
    const char *gone[] = {"any17", "any42"};
    AUTO(memory_forgotten_release) struct memory_forgotten forgotten = {0};
    memory->lazy = true; /* nothing is merged */
    for (int i = 0; i < 600; i++)
        put_any(i);
    lore_do(forget, gone, 2, &forgotten);
    lore_do(edit, "any30", "a heron at last?");
    lore_do(edit, "any31", "stone7 and stonemason");
}

/* During a transaction, FTS5 is queried in place of its pages, and tables are read one by one. */
static void expect_as_in_transaction(struct memory_query query, size_t count)
{
    query.limit = 700;
    search_with(query);
    AUTO(memory_hits_release) struct memory_hits plain = hits;
    hits = (struct memory_hits){0};
    assert_true(store_begin(lore_store, &e));
    search_with(query);
    store_rollback(lore_store);
    assert_int_equal(hits.items.len, count);
    assert_int_equal(plain.items.len, count);
    for (size_t i = 0; i < hits.items.len; i++) {
        const struct memory_hit *a = &hits.items.items[i], *b = &plain.items.items[i];
        assert_string_equal(a->entry.id, b->entry.id);
        assert_true(a->rank == b->rank && a->why.weight == b->why.weight);
        assert_true(a->why.asks == b->why.asks && a->why.user == b->why.user);
        assert_true(a->why.proximity == b->why.proximity);
    }
}

TEST(facts_and_beginnings_are_read_as_fts5_finds_them)
{
    struct memory_query query = query_of("heron st");
    put_any_many();
    expect_as_in_transaction(query_of("heron"), 597);
    query.typing = true;
    expect_as_in_transaction(query, 598);
    query.text = "stone1";
    expect_as_in_transaction(query, 483);
    for (int rounds = 0; rounds < 3; rounds++) {
        bool more = true;
        while (more)
            lore_do(tidy, &more);
    }
    query.text = "heron stone";
    expect_as_in_transaction(query, 598);
    query.text = "stoneHeron";
    put("a", "A", "identifier", "stoneHeron stone heron");
    expect_as_in_transaction(query, 598);
}

TEST(score_is_the_part_that_is_there)
{
    put_many(12);
    put("a", "A", "one", "a kangaroo jumps");
    search_with(query_of("kangaroo"));
    const double alone = hits.items.items[0].score;
    search_with(query_of("kangaroo unknown words here too"));
    assert_true(hits.items.items[0].score < alone && hits.items.items[0].score > 0);
    assert_true(alone > 0.7 && alone < 1);
}

TEST(long_texts_count_less)
{
    static const int words[] = {130, 120, 20000, 40000};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        char *id = support_text("w%d", words[i]);
        for (int k = 0; k < words[i]; k++)
            buf_addf(&text, "%s ", k == 9 ? "walrus" : "filler");
        put(id, "A", id, text.data);
    }
    expect("walrus", "w120 w130 w20000 w40000");
}

TEST(short_texts_count_less)
{
    put("a", "A", "short", "A walrus, really?!");
    put("b", "B", "whole",
        "On the last evening before the ferry left we saw a walrus, asleep between the stones "
        "below the lighthouse, as large as our car and quite as loud");
    expect("walrus", "whole short");
}

/* A word counts more as the speaker's name than in the text. */
TEST(who_is_named_counts_more)
{
    put("a", "Ruth", "ruth", "we went to the lake by train and swam until the evening came");
    put("b", "Emeka", "emeka", "we went to the lake by train and swam, said Ruth when she came");
    expect("How did Ruth go to the lake?", "ruth emeka");
    expect("How did Emeka go to the lake?", "emeka ruth");
}

/* A role is no name: the word means itself. */
TEST(a_role_names_nobody)
{
    put("a", NULL, "mine", "the lake was cold and the water clear when we swam there at noon");
    put("b", NULL, "other", "the lake was cold and the water clear, so the user swam at noon");
    expect("user lake", "other mine");
}

/* In a conversation with a model; the role of a named speaker does not count. */
TEST(the_users_own_message_counts_more)
{
    static const char text[] = "the lake was cold and the water clear when we swam there at noon";
    put_as(ROLE_USER, "a", NULL, "told", text);
    put_as(ROLE_USER, "b", "user", "named", text);
    put_as(ROLE_ASSISTANT, "c", NULL, "said", text);
    expect("lake water", "told said named");
    const struct memory_why *told = &hits.items.items[0].why, *named = &hits.items.items[2].why;
    assert_true(told->user == 1.3 && named->user == 1);
    assert_true(fabs(told->weight - 1.3 * named->weight) < 1e-9);
}

/* The text after a question about the term ranks as its answer. */
TEST(an_answer_follows_its_question)
{
    put("a", "A", "asked", "And what became of the zeppelin that your uncle had bought at Lindau?");
    put("a", "B", "answer", "The zeppelin burned down, he came away with a scratch and a story");
    put("b", "A", "told", "And so they told us of the zeppelin that your uncle bought at Lindau.");
    put("b", "B", "more", "The zeppelin burned down, he came away with a scratch and a story");
    expect("zeppelin", "answer more told asked");
}

TEST(recent_and_pinned_win_ties)
{
    for (int i = 0; i < 9; i++)
        put(support_text("s%d", i), "A", support_text("t%d", i), "the very same words");
    put_many(5);
    expect("same words", "t8 t7 t6 t5 t4");
    lore_do(pin, "t2", true);
    expect("same words", "t2 t8 t7 t6 t5");
}

TEST(what_has_nothing_in_common_changes_no_order)
{
    for (int i = 0; i < 6; i++)
        put(support_text("s%d", i), "A", support_text("e%d", i),
            support_text("copper %s %s", i % 2 ? "kettle" : "pot", i > 3 ? "copper" : "lid"));
    const char *before = found("copper kettle");
    put_many(40);
    expect("copper kettle", before);
}

TEST(limit)
{
    for (int i = 0; i < 40; i++)
        put("a", "A", support_text("l%d", i), support_text("lemon number %d", i));
    const int limits[] = {1, 3, 20, 39};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct memory_query query = query_of("lemon");
        query.limit = limits[i];
        search_with(query);
        assert_int_equal(hits.items.len, limits[i]);
    }
}

/* ---- where ---- */

static void expect_mark(size_t hit, size_t i, const char *text)
{
    const struct memory_hit *h = &hits.items.items[hit];
    assert_true(i < h->marks.len);
    assert_int_equal(h->marks.items[i].len, strlen(text));
    assert_memory_equal(h->entry.content + h->marks.items[i].start, text, strlen(text));
}

TEST(marks)
{
    put("a", "A", "m", "Painting the painters' café: a 東京タワー");
    search_with(query_of("painted CAFE 京タワ"));
    assert_int_equal(hits.items.items[0].marks.len, 3);
    expect_mark(0, 0, "Painting");
    expect_mark(0, 1, "café");
    expect_mark(0, 2, "京タワ");
    assert_int_equal(hits.items.items[0].passage.start, 0);
    assert_int_equal(hits.items.items[0].passage.len, strlen(hits.items.items[0].entry.content));
}

TEST(parts_of_identifiers)
{
    put("a", "A", "camel", "computeRetryDelay() is called twice");
    put("b", "B", "snake", "the field retry_delay_ms is called twice");
    put("c", "C", "plain", "compute the delay of a retry first");
    put("d", "D", "other", "HTTPServerError is called twice");
    assert_int_equal(strlen(found("where is the retry delay computed?")),
                     strlen("camel snake plain"));
    expect("retry_delay_ms", "snake plain camel");
    expect("computeRetryDelay", "camel plain snake");
    expect_mark(0, 0, "computeRetryDelay");
    expect("server errors", "other");
    expect_mark(0, 0, "ServerError");
    expect("\"computeRetryDelay is called\"", "camel");
    expect("\"retry delay is called\"", "camel");
    expect("twice -retryDelay", "other");
    struct memory_query typed = query_of("computeRetryDel");
    typed.typing = true;
    search_with(typed);
    assert_string_equal(hits.items.items[0].entry.id, "camel");
}

TEST(the_best_passage)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 60; i++)
        buf_addf(&text, "Paragraph %d speaks of clouds and rain.\n\n%s", i,
                 i == 40  ? "Here the copper kettle whistles.\n\n"
                 : i == 7 ? "A kettle kettle kettle kettle.\n\n"
                          : "");
    put("a", "A", "long", text.data);
    search_with(query_of("copper kettle"));
    const struct memory_hit *h = &hits.items.items[0];
    char *passage = support_keep(mem_strndup(h->entry.content + h->passage.start, h->passage.len));
    assert_non_null(strstr(passage, "Here the copper kettle whistles."));
    assert_true(h->passage.len <= MEMORY_PASSAGE && h->passage.len > MEMORY_PASSAGE / 2);
    assert_int_equal(strncmp(passage, "Paragraph ", strlen("Paragraph ")), 0);
    assert_int_equal(passage[h->passage.len - 1], '.');
    assert_int_equal(h->marks.len, 6);
}

static void add_weather(struct buf *text, int paragraphs)
{
    for (int i = 0; i < paragraphs; i++)
        buf_addf(text, "Paragraph %d speaks of clouds and rain over the hills and the sea.\n\n", i);
}

static const char *passage_shown(void)
{
    return support_keep(memory_hit_passage(&hits.items.items[0]));
}

/* A rare word counts more than a common one, as in the ranking. */
TEST(the_passage_is_that_of_the_ranking)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addstr(&text, "A copper kettle stands there.\n\n");
    add_weather(&text, 30);
    buf_addstr(&text, "The platypus whistled.\n\n");
    add_weather(&text, 30);
    put("a", "A", "long", text.data);
    for (int i = 0; i < 40; i++)
        put("b", "B", support_text("other%d", i),
            support_text("copper kettle number %d of the shop", i));
    search_with(query_of("\"platypus\" copper kettle"));
    assert_string_equal(hits.items.items[0].entry.id, "long");
    assert_non_null(strstr(passage_shown(), "The platypus whistled."));
    assert_true(hits.items.items[0].why.passage);
}

/* … and shown whole, where it reaches over the end of a paragraph that would fit better. */
TEST(a_passage_is_not_cut)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    add_weather(&text, 12);
    buf_addstr(&text,
               "The copper lid rattles on the stove, while it rains outside, and "
               "nobody in all the house minds.\n\n");
    for (int i = 0; i < 20; i++)
        buf_addf(&text, "The %s and clouds went over hill %d, and %s sang. ",
                 i == 3 ? "kettle" : "rain", i, i == 3 ? "platypus" : "nobody");
    buf_addstr(&text, "\n\n");
    add_weather(&text, 12);
    put("a", "A", "long", text.data);
    search_with(query_of("copper kettle platypus"));
    assert_non_null(strstr(passage_shown(), "copper lid"));
    assert_non_null(strstr(passage_shown(), "platypus"));
    assert_true(hits.items.items[0].passage.len <= MEMORY_PASSAGE);
}

TEST(a_huge_entry)
{
    enum { BYTES = 8 * 1024 * 1024 - 100 };
    AUTO(buf_release) struct buf text = BUF_INIT;
    while (text.len < BYTES)
        buf_addf(&text, "word%zu of many é ", text.len % 5000);
    buf_addstr(&text, "platypus");
    put("a", "A", "huge", text.data);
    put("b", "B", "small",
        "a platypus swims evening after evening down our small river, dives under bridges, comes "
        "up beside boats, and looks wherever fishermen threw their bread");
    expect("platypus", "small huge");
    const struct memory_hit *h = &hits.items.items[1];
    assert_int_equal(h->marks.len, 1);
    expect_mark(1, 0, "platypus");
    assert_true(h->passage.start + h->passage.len == text.len && h->passage.len < 5000);
}

/* Any text is a query. */
TEST(any_text)
{
    static const char *const parts[] = {"\"",  "-", "red", " ",    "*",  "'", "NEAR(",
                                        "AND", ")", "{",   "kite", "東", "👍", "\xff",
                                        ":",   "^", "+",   "\n",   "OR", "\\"};
    uint64_t seed = support_seed();
    put("a", "A", "one", "a red kite AND 東京 👍");
    for (int round = 0; round < (int)suite_sample(500, 1500); round++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        for (uint32_t left = (uint32_t)(seed >> 33) % 12; left > 0; left--) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            buf_addstr(&text, parts[(seed >> 33) % (sizeof parts / sizeof *parts)]);
        }
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        struct memory_query query = query_of(text.data);
        query.typing = seed >> 63;
        search_with(query);
        for (size_t i = 0; i < hits.items.len; i++)
            assert_true(hits.items.items[i].score >= 0 && hits.items.items[i].score <= 1);
    }
}

/* ---- languages ---- */

/* Messages of a German conversation, and questions whose words stand there in other forms. */
static const char *const german[] = {
    "Wir haben uns gestern zwei alte Häuser am Fluss angesehen.",
    "Die Gärten hinter der Schule sind im Frühling am schönsten.",
    "Mein Bruder arbeitet seit drei Jahren als Koch in einem Hotel.",
    "Ich habe die Kündigungen für beide Verträge schon geschrieben.",
    "Kannst du mir bitte die Rechnungen vom Zahnarzt schicken?",
    "Unsere Nachbarn wollen ihre Zäune im Herbst erneuern.",
    "Das Auto war schon wieder in der Werkstatt, diesmal wegen der Bremsen.",
    "Am Wochenende backe ich zwei Kuchen für den Geburtstag meiner Tante.",
    "Der Arzt hat mir neue Tabletten gegen die Allergie verschrieben.",
    "Die Prüfungen an der Universität beginnen erst im Februar.",
    "Wir fliegen im Sommer nach Portugal und mieten dort ein Boot.",
    "Ihre Bücher stehen immer noch in Kisten im Keller.",
    "Die Kinder haben im Wald drei verletzte Vögel gefunden.",
    "Er sammelt seit seiner Jugend alte Uhren und Münzen.",
    "Beim Umzug sind leider vier Gläser und ein Spiegel zerbrochen.",
    "Ich möchte im nächsten Jahr weniger arbeiten und mehr lesen.",
    "Die Heizung macht nachts so laute Geräusche, dass ich nicht schlafe.",
    "Sie hat auf dem Markt Äpfel, Birnen und Nüsse gekauft.",
    "Der Zug nach Hamburg hatte wieder fast eine Stunde Verspätung.",
    "Meine Großeltern wohnten früher in einem kleinen Dorf an der Ostsee.",
    "Die Wände im Flur müssen noch gestrichen werden.",
    "Wir suchen noch Plätze in einem Kurs für Anfänger.",
    "Ich habe mir gestern beim Laufen den linken Fuß verstaucht.",
    "Die Bäume vor dem Rathaus werden im Winter gefällt.",
    "Mein Chef ist mit den letzten Berichten sehr zufrieden.",
    "Das Konzert war toll, aber die Stühle waren unbequem.",
    "Die Katze schläft am liebsten auf dem warmen Fensterbrett.",
    "Unser Kühlschrank ist kaputt, und die Garantie ist abgelaufen.",
    "Zu Weihnachten wünscht sie sich ein Paar rote Handschuhe.",
    "Die Lehrer haben uns die Regeln für Ausflüge erklärt.",
};
static const struct {
    const char *question;
    int answer;
} german_questions[] = {
    {"Welches Haus gefiel uns?", 0},         {"Wo ist ein schöner Garten?", 1},
    {"Was ist mit meiner Kündigung?", 3},    {"Wo ist die Rechnung?", 4},
    {"Welchen Zaun meinte er?", 5},          {"Welche Tablette nehme ich?", 8},
    {"Wann ist meine Prüfung?", 9},          {"Wo ist mein Buch?", 11},
    {"Was war mit dem Vogel?", 12},          {"Welche Münze fehlt ihm?", 13},
    {"Wer hat das Glas fallen lassen?", 14}, {"Woher kam dieses Geräusch?", 16},
    {"Wer hat den Apfel mitgebracht?", 17},  {"Welche Wand ist noch weiß?", 20},
    {"Wer hat den Bericht gelesen?", 24},
};

/* How many of the questions have their answer as the first hit. */
static int answered(const char *language)
{
    int count = 0;
    lore_do(reindex, language, NULL, NULL);
    for (size_t i = 0; i < sizeof german_questions / sizeof *german_questions; i++) {
        search_with(query_of(german_questions[i].question));
        count += hits.items.len > 0 &&
                 atoi(hits.items.items[0].entry.id + 1) == german_questions[i].answer;
    }
    print_message("%s: %d\n", language, count);
    return count;
}

TEST(german_questions_have_their_answers)
{
    put_many(30);
    for (size_t i = 0; i < sizeof german / sizeof *german; i++)
        put("s", NULL, support_text("g%zu", i), german[i]);
    int english = answered("english"), one = answered("german"), each = answered("auto");
    assert_true(each >= 13 && each >= one && each >= english + 8);
}

/* One conversation may have several languages, and a question words of another. */
TEST(languages_side_by_side)
{
    put("a", NULL, "en", "the children were painting the old houses");
    put("a", NULL, "de", "die Kinder haben in den alten Häusern gespielt");
    put("a", NULL, "fr", "les enfants sont dans les écoles de la ville");
    put("a", NULL, "tr", "Bu kitaplar için çok teşekkür ederim");
    put("a", NULL, "short", "Zwei Gärten");
    expect("what did he paint", "en");
    expect("ist das Haus alt", "de");
    expect("où est l'école", "fr");
    expect("bu kitap nerede", "tr");
    expect("Garten", "short");
    expect("where are the Kinder", "de");
    expect("\"alten Häusern\"", "de");
    expect("houses -painting", "");
}
