/* Full-text search: the meaning of any text as a query, the hits and their order, and the line that
 * shows a hit. */
#include "base/entropy.h"
#include "base/utf8.h"
#include "index/transcripts.h"
#include "store/language.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/steps.h"
#include "tests/suite.h"

static const char *const IDS[] = {"01890a5d-ac96-774b-bcce-b302099a8057",
                                  "01890a5d-ac97-7111-8000-0000deadbeef",
                                  "01890a5d-ac98-7222-8000-00001234abcd"};
enum { SESSIONS = sizeof IDS / sizeof *IDS };

static struct store *store;
static struct error e;
static int64_t last[SESSIONS];

static void put(size_t session, bool archived)
{
    AUTO(session_info_release) struct session_info info = {0};
    session_info_init(&info);
    memcpy(info.id, IDS[session], UUID_LEN + 1);
    free(info.title);
    info.title = mem_printf("session %zu", session);
    info.archived_ms = archived ? 5 : 0;
    assert_true(sessions_put(store, &info, &e));
}

static int set_up(void **state)
{
    support_setup(state);
    bool ok = store_open(support_path("tiro.db"), STORE_READ_WRITE, &store, &e);
    for (size_t i = 0; ok && i < SESSIONS; i++) {
        last[i] = 0;
        put(i, false);
    }
    return ok ? 0 : -1;
}

static int tear_down(void **state)
{
    store_close(store);
    return support_teardown(state);
}

static void say(size_t session, enum event_type type, const char *text)
{
    AUTO(event_free_local) struct event *ev = event_new(type);
    memcpy(ev->session_id, IDS[session], UUID_LEN);
    ev->seq = ++last[session];
    ev->wall_ms = 1000 + ev->seq;
    ev->text = mem_strdup(text);
    if (type == EVENT_TOOL_EXECUTION_COMPLETED) {
        ev->id = mem_strdup("c1");
        ev->name = mem_strdup("read_file");
    }
    assert_ok(transcripts_append(store, ev, &e), e);
}

static void ask(size_t session, const char *text)
{
    say(session, EVENT_TURN_STARTED, text);
}

static void answer(size_t session, const char *text)
{
    say(session, EVENT_TEXT_COMPLETE, text);
}

static struct search_hits search_in(const char *query, const char *session_id, int limit,
                                    bool *more)
{
    struct search_hits hits;
    if (!transcripts_search(store, query, session_id, limit, &hits, more, &e))
        fail_msg("\"%s\": %s", query, e.text);
    return hits;
}

static size_t number_of(const char *id)
{
    for (size_t i = 0; i < SESSIONS; i++)
        if (strcmp(IDS[i], id) == 0)
            return i;
    fail_msg("no session %s", id);
    return SESSIONS;
}

/* "session/seq session/seq" in the order of the hits, with "more" or "end". */
static char *sketch(const char *query, const char *session_id, int limit)
{
    bool more;
    struct buf out = BUF_INIT;
    AUTO(search_hits_release) struct search_hits hits = search_in(query, session_id, limit, &more);
    for (size_t i = 0; i < hits.items.len; i++)
        buf_addf(&out, "%zu/%lld ", number_of(hits.items.items[i].session_id),
                 (long long)hits.items.items[i].seq);
    buf_addstr(&out, more ? "more" : "end");
    return buf_take(&out);
}

static void finds(const char *query, const char *wanted)
{
    char *got = support_keep(sketch(query, NULL, 100));
    if (strcmp(got, wanted) != 0)
        fail_msg("\"%s\" found %s, not %s", query, got, wanted);
}

/* Steps: "N? TEXT" and "N! TEXT", a question and an answer in session N; "N- ": it is deleted;
 * "=QUERY|SESSION/NUMBER …": the hits of a query in their order, "-" for none. */
static void play_steps(const char *const *steps)
{
    for (; *steps; steps++) {
        const char *step = *steps, *hits = strrchr(step, '|');
        size_t session = (size_t)(*step - '0');
        if (*step == '=')
            finds(support_text("%.*s", (int)(hits - step - 1), step + 1),
                  hits[1] == '-' ? "end" : support_text("%s end", hits + 1));
        else if (step[1] == '-')
            assert_ok(transcripts_delete(store, IDS[session], &e), e);
        else
            say(session, step[1] == '?' ? EVENT_TURN_STARTED : EVENT_TEXT_COMPLETE, step + 3);
    }
}

#define play(...) play_steps(TEXTS(__VA_ARGS__))
#define PLAY(name, ...) STEPS_TEST(true, name, play, __VA_ARGS__)

FIXTURE(set_up, tear_down);

PLAY(test_words, "0? Which harvest did the letters mean?",
     "0! The harvest of 1780, say the letters.", "1! Letters about nothing.",
     "=letters|1/1 0/2 0/1", "=harvest letters|0/2 0/1", "=letters harvest mean|0/1",
     "=harvest nowhere|-", "=1780|0/2");

PLAY(test_phrases, "0! the old red barn", "1! the red old barn", "=old red|1/1 0/1",
     "=\"old red\"|0/1", "=\"red old\" the|1/1", "=\"old barn\"the|1/1",
     "=\"old re|0/1", /* still being typed */
     "=\"old re\"|-" /* closed: whole words */);

PLAY(test_the_last_word_may_go_on, "0! Harvesters harvested.", "=h|0/1", "=harv|0/1",
     "=harvester|0/1", "=harv harvested|-", /* only the last one may */
     "=harvested harv|0/1", "=arvest|-");

PLAY(test_case_and_accents, "0! GRÖSSE und Müller, café",
     "1! cafe\xcc\x81 ΑΘΉΝΑ Москва", /* e with a combining accent */
     "=größe|0/1", "=grosse|0/1", "=müller|0/1", "=MULLER|0/1", "=cafe|1/1 0/1", "=CAFÉ|1/1 0/1",
     "=αθήνα МОСКВА|1/1");

TEST(test_what_is_looked_at)
{
    play("0? asked");
    say(0, EVENT_TEXT_DELTA, "streamed");
    say(0, EVENT_REASONING_COMPLETE, "thought");
    say(0, EVENT_TOOL_EXECUTION_COMPLETED, "fetched");
    play("0! answered");
    say(0, EVENT_TURN_COMPLETED, "finished");
    play("=asked|0/1", "=answered|0/5", "=streamed|-", "=thought|-", "=fetched|-", "=finished|-");
}

TEST(test_newest_first_up_to_the_limit)
{
    for (int i = 0; i < 3; i++)
        for (size_t session = 0; session < SESSIONS; session++)
            answer(session, "again");
    play("=again|2/3 2/2 2/1 1/3 1/2 1/1 0/3 0/2 0/1");
    char *got = support_keep(sketch("again", NULL, 9));
    assert_string_equal(got, "2/3 2/2 2/1 1/3 1/2 1/1 0/3 0/2 0/1 end");
    got = support_keep(sketch("again", NULL, 4));
    assert_string_equal(got, "2/3 2/2 2/1 1/3 more");
    got = support_keep(sketch("again", IDS[1], 2));
    assert_string_equal(got, "1/3 1/2 more");
    got = support_keep(sketch("again", IDS[0], 3));
    assert_string_equal(got, "0/3 0/2 0/1 end");
    got = support_keep(sketch("again", "01890a5d-0000-7222-8000-00001234abcd", 3));
    assert_string_equal(got, "end");
    got = support_keep(sketch("again", NULL, 0));
    assert_string_equal(got, "end");
}

TEST(test_what_a_hit_says)
{
    bool more;
    play("0? a question", "1! an answer to a question");
    put(1, true);
    AUTO(search_hits_release) struct search_hits hits = search_in("question", NULL, 9, &more);
    assert_int_equal(hits.items.len, 2);
    const struct search_hit *hit = &hits.items.items[0];
    assert_string_equal(hit->session_id, IDS[1]);
    assert_string_equal(hit->title, "session 1");
    assert_int_equal(hit->at_ms, 1001);
    assert_int_equal(hit->role, ROLE_ASSISTANT);
    assert_true(hit->archived);
    assert_string_equal(hit->snippet, "an answer to a question");
    assert_int_equal(hit->match, 15);
    assert_int_equal(hit->len, 8);
    hit++;
    assert_int_equal(hit->role, ROLE_USER);
    assert_false(hit->archived);
}

/* ---- any text is a query ---- */

PLAY(test_operators_are_words,
     "0! this AND that OR not NEAR (the) text: col^umn a-b c*d it's \"so\" f.g", "=AND|0/1",
     "=this AND that|0/1", "=this OR nothing|-", "=NEAR(the text, 2)|-", "=NEAR (the text|0/1",
     "=text:col|0/1", "=text : col|0/1", "=^col|0/1", "=col*|0/1", "=-that|0/1", "=a-b|0/1",
     "=b-a|-", "=it's|0/1", "=so\"|0/1", "=\"\"so|0/1", "=f.g|0/1", "=NOT OR|0/1");

TEST(test_without_a_word)
{
    static const char *const queries[] = {
        "",    " ", "\"",   "\"\"",    "\" \"", "\"\"\"", "*",        "()",
        "...", "-", "\t\n", "\"(\" *", "\x01",  "\xff",   "\xc3\x28", "\xe2\x80\xae"};
    play("0! some text");
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        finds(queries[i], "end");
    play("=text ...|0/1", /* a text without words does not matter */
         "=... text|0/1", "=\"...\" text \"\"|0/1",
         "=\xff text\x01"
         "|0/1",
         "=some\ntext|0/1");
}

TEST(test_hostile_queries_are_no_error)
{
    static const char *const pieces[] = {"\"",   "(",  ")",    "NEAR", "*", "AND", "OR",   "NOT",
                                         "text", ":",  "^",    "+",    "{", "}",   ",",    "2",
                                         " ",    " ",  "-",    "'",    ";", "--",  "\xff", "\xc3",
                                         "é",    "漢", "\x1b", "\\",   "%", "_",   "\n"};
    entropy_seed(support_seed());
    play("0! some text");
    for (int i = 0; i < 3000; i++) {
        AUTO(buf_release) struct buf query = BUF_INIT;
        int count = (int)(entropy_unit() * 12);
        for (int j = 0; j < count; j++)
            buf_addstr(&query,
                       pieces[(size_t)(entropy_unit() * (double)(sizeof pieces / sizeof *pieces))]);
        free(sketch(query.data, NULL, 3));
    }
}

TEST(test_long_queries)
{
    static const char *const pieces[] = {"a ", "\"", "x", "\" ", "é", "\xff", "("};
    play("0! a");
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        AUTO(buf_release) struct buf query = BUF_INIT;
        while (query.len < 10000)
            buf_addstr(&query, pieces[i]);
        free(sketch(query.data, NULL, 3));
    }
    AUTO(buf_release) struct buf query = BUF_INIT;
    while (query.len < 10000)
        buf_addstr(&query, "a ");
    finds(query.data, "0/1 end");
}

/* ---- random texts: the hits equal those of a plain scan ---- */

static const char *const vocabulary[] = {"ant", "bee", "cow", "dog", "elk", "anthill", "beehive"};
enum { WORDS = sizeof vocabulary / sizeof *vocabulary, TEXTS = 60, TEXT_WORDS = 6 };

struct said {
    size_t session;
    int64_t seq;
    size_t words[TEXT_WORDS];
    size_t count;
};

static size_t pick(size_t n)
{
    return (size_t)(entropy_unit() * (double)n);
}

static struct said say_something(void)
{
    struct said s = {.session = pick(SESSIONS), .count = 1 + pick(TEXT_WORDS)};
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (size_t i = 0; i < s.count; i++) {
        s.words[i] = pick(WORDS);
        buf_addf(&text, "%s%s", i > 0 ? ", " : "", vocabulary[s.words[i]]);
    }
    if (pick(2))
        ask(s.session, text.data);
    else
        answer(s.session, text.data);
    s.seq = last[s.session];
    return s;
}

static bool has(const struct said *s, size_t word, bool may_go_on)
{
    for (size_t i = 0; i < s->count; i++) {
        const char *said = vocabulary[s->words[i]];
        if (may_go_on ? strncmp(said, vocabulary[word], strlen(vocabulary[word])) == 0
                      : s->words[i] == word)
            return true;
    }
    return false;
}

static bool follows(const struct said *s, size_t first, size_t second)
{
    for (size_t i = 0; i + 1 < s->count; i++)
        if (s->words[i] == first && s->words[i + 1] == second)
            return true;
    return false;
}

/* Newest first: by session, then by number. */
static void check_found(const struct said *said, size_t a, size_t b, bool phrase)
{
    AUTO(buf_release) struct buf wanted = BUF_INIT;
    for (size_t session = SESSIONS; session-- > 0;)
        for (size_t i = TEXTS; i-- > 0;)
            if (said[i].session == session &&
                (phrase ? follows(&said[i], a, b)
                        : has(&said[i], a, false) && has(&said[i], b, true)))
                buf_addf(&wanted, "%zu/%lld ", session, (long long)said[i].seq);
    buf_addstr(&wanted, "end");
    finds(support_text(phrase ? "\"%s %s\"" : "%s %s", vocabulary[a], vocabulary[b]), wanted.data);
}

TEST(test_random_texts)
{
    struct said said[TEXTS];
    entropy_seed(support_seed());
    for (size_t i = 0; i < TEXTS; i++)
        said[i] = say_something();
    for (size_t a = 0; a < WORDS; a++) {
        for (size_t b = 0; b < WORDS; b++) {
            check_found(said, a, b, false);
            check_found(said, a, b, true);
        }
    }
    play("1- ");
    for (size_t i = 0; i < TEXTS; i++)
        if (said[i].session == 1)
            said[i].count = 0;
    for (size_t a = 0; a < WORDS; a++)
        check_found(said, a, 0, false);
}

/* ---- the line that shows it ---- */

static void check_line(const char *text, const char *query, const char *wanted_match)
{
    bool more;
    answer(0, text);
    AUTO(search_hits_release) struct search_hits hits = search_in(query, IDS[0], 1, &more);
    assert_int_equal(hits.items.len, 1);
    const struct search_hit *hit = &hits.items.items[0];
    size_t len = strlen(hit->snippet);
    assert_true(len <= 240);
    assert_true(utf8_valid(hit->snippet, len));
    assert_null(strchr(hit->snippet, '\n'));
    assert_true(hit->match + hit->len <= len);
    char *match = support_keep(mem_strndup(hit->snippet + hit->match, hit->len));
    assert_string_equal(match, wanted_match);
}

static void check_snippet(const char *text, const char *query, const char *wanted)
{
    bool more;
    answer(0, text);
    AUTO(search_hits_release) struct search_hits hits = search_in(query, IDS[0], 1, &more);
    assert_int_equal(hits.items.len, 1);
    assert_string_equal(hits.items.items[0].snippet, wanted);
}

TEST(test_snippets)
{
    check_snippet("one\n\n   two\tthree", "two", "one two three");
    check_snippet("\n\n one two \n", "one", "one two");
    check_snippet("a\x1b[31m red \xe2\x80\xae mark", "red", "a␛[31m red � mark");
    check_line("Die Häuser sind GROẞ", "hauser", "Häuser");
    check_line("the old red barn, old", "red old", "old");
    check_line("the old red barn", "\"old red\"", "old red");
    check_line("harvesters", "harv", "harvesters");
    check_line("cafe\xcc\x81 noir", "café", "cafe\xcc\x81");
}

static char *padded(const char *before, const char *word, const char *after, size_t bytes)
{
    struct buf text = BUF_INIT;
    while (text.len < bytes)
        buf_addstr(&text, before);
    buf_addstr(&text, word);
    for (size_t i = 0; i < bytes; i += strlen(after))
        buf_addstr(&text, after);
    return support_keep(buf_take(&text));
}

TEST(test_long_texts_have_the_match_in_the_middle)
{
    bool more;
    char *text = padded("früher ", "needle", " später", 100000);
    check_line(text, "needle", "needle");
    struct search_hits hits = search_in("needle", NULL, 1, &more);
    const struct search_hit *hit = &hits.items.items[0];
    size_t len = strlen(hit->snippet);
    assert_true(len > 200);
    assert_true(hit->match > len / 2 - 20 && hit->match < len / 2 + 20);
    assert_int_equal(strncmp(hit->snippet, "…", 3), 0);
    assert_string_equal(hit->snippet + len - 3, "…");
    search_hits_release(&hits);
    text = padded("x ", "y", " ", 3000); /* no text after it: all the room is for the text before */
    check_line(text, "y", "y");
    hits = search_in("y", NULL, 1, &more);
    assert_true(hits.items.items[0].match > 200);
    search_hits_release(&hits);
    text = padded("\n", "needle", "\n", 5000);
    check_line(text, "needle", "needle");
    AUTO(buf_release) struct buf word = BUF_INIT;
    while (word.len < 3000)
        buf_addstr(&word, "é");
    answer(0, word.data);
    hits = search_in("eee", NULL, 1, &more);
    assert_true(strlen(hits.items.items[0].snippet) <= 240);
    assert_int_equal(hits.items.items[0].match, 0);
    assert_true(hits.items.items[0].len > 100);
    search_hits_release(&hits);
}

TEST(test_random_snippets)
{
    static const char *const pieces[] = {" ",           "\n",   "a",    "é",
                                         "e\xcc\x81",   "漢字", "\x02", "word",
                                         "👩‍👧", ". ",   "   ",  "\xe2\x80\xa8"};
    entropy_seed(support_seed());
    for (int round = 0; round < 300; round++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        size_t before = pick(400);
        size_t after = pick(400);
        for (size_t i = 0; i < before + after; i++) {
            if (i == before)
                buf_addstr(&text, " NÉEDLE ");
            buf_addstr(&text, pieces[pick(sizeof pieces / sizeof *pieces)]);
        }
        if (after == 0)
            buf_addstr(&text, " NÉEDLE ");
        check_line(text.data, "needle", "NÉEDLE");
    }
}

/* ---- keeping the index ---- */

TEST(test_deleted_sessions_are_forgotten)
{
    play("0? shared word", "2? shared word", "2- ", "=shared|0/1");
    last[2] = 0;
    put(2, false); /* in the place of the deleted one */
    play("2? other words", "=shared|0/1", "=other|2/1");
}

/* SQLite 3.40 gives an index a layer more each time that it is merged whole, and reads no more than
 * 2,000 of them. */
TEST(test_very_many_are_deleted)
{
    enum { DELETED = 2100, KEPT = 600 };
    assert_true(store_begin(store, &e));
    for (int i = 0; i < KEPT; i++) {
        ask(0, support_text("quincunx number%d of the badgers", i));
    }
    for (int i = 0; i < DELETED; i++) {
        play("1? wombat");
        if (!transcripts_delete(store, IDS[1], &e))
            fail_msg("%d: %s", i, e.text);
        last[1] = 0;
        put(1, false);
    }
    assert_true(store_commit(store, &e));
    play("=number77|0/78", "=wombat|-");
}

/* Another process that does not wait writes between the steps; the last step leaves nothing. */
TEST(test_what_was_deleted_is_purged_in_steps)
{
    enum { MANY = 200, WORDS_A_TEXT = 600, FEWEST_STEPS = 5 };
    struct store *other;
    char *path = support_path("tiro.db");
    int steps = 0;
    bool more = true;
    entropy_seed(support_seed());
    play("1? the zqxjkvwombat of old");
    for (int i = 0; i < MANY; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        for (int k = 0; k < WORDS_A_TEXT; k++)
            buf_addf(&text, "w%08x ", (unsigned)(entropy_unit() * 0xffffffff));
        ask((size_t)i % 2, text.data);
    }
    assert_true(store_open(path, STORE_READ_WRITE, &other, &e));
    store_set_patience(other, 0, 0, NULL, NULL);
    play("1- ", "=zqxjkvwombat|-");
    assert_true(damage_on_disk(path, "xjkvwomb"));
    for (; more; steps++) {
        assert_true(transcripts_purge(store, &more, &e));
        assert_true(store_begin(other, &e) && store_commit(other, &e));
    }
    assert_true(steps >= FEWEST_STEPS);
    assert_false(damage_on_disk(path, "xjkvwomb"));
    assert_true(transcripts_purge(other, &more, &e)); /* nothing is left to do */
    assert_false(more);
    store_close(other);
}

/* If the process died before the purge, the chore that tidies the index completes it. */
TEST(test_a_purge_that_waits_is_not_lost)
{
    char *path = support_path("tiro.db");
    play("1? the zqxjkvwombat of old", "0? others stay", "1- ");
    store_close(store);
    assert_true(store_open(path, STORE_READ_WRITE, &store, &e));
    assert_true(damage_on_disk(path, "xjkvwomb"));
    for (bool more = true; more;)
        assert_true(transcripts_tidy(store, &more, &e));
    assert_false(damage_on_disk(path, "xjkvwomb"));
    play("=others|0/1");
}

TEST(test_copies_are_found)
{
    play("0? first", "0! second", "0? third");
    assert_true(transcripts_copy(store, IDS[0], 2, IDS[1], &e));
    play("=first|1/1 0/1", "=second|1/2 0/2", "=third|0/3", "0- ", "=first|1/1");
}

TEST(test_a_log_that_is_filled_is_found)
{
    struct event *events[] = {event_new(EVENT_TURN_STARTED), event_new(EVENT_TEXT_COMPLETE)};
    for (size_t i = 0; i < 2; i++) {
        events[i]->seq = (int64_t)i + 1;
        events[i]->text = mem_strdup(i == 0 ? "a question" : "an answer");
        memcpy(events[i]->session_id, IDS[1], sizeof events[i]->session_id);
    }
    assert_true(transcripts_fill(store, events, 0, &e));
    assert_true(transcripts_fill(store, events, 2, &e));
    play("=question|1/1", "=answer|1/2");
    assert_false(transcripts_fill(store, events, 2, &e)); /* it has a log */
    play("=answer|1/2", "1- ", "=answer|-");
    for (size_t i = 0; i < 2; i++)
        event_free(events[i]);
}

TEST(test_rolled_back_events_are_not_found)
{
    assert_true(store_begin(store, &e));
    play("0? gone", "=gone|0/1");
    store_rollback(store);
    play("=gone|-");
    last[0] = 0;
    play("0? kept", "=kept|0/1");
}

/* Bytes that JSON cannot hold are replaced in the index as in the log; otherwise they could not be
 * removed from the index. */
TEST(test_invalid_bytes)
{
    play("0? w\xffx y\xc3 \xed\xa0\x80z", "=y|0/1", "=w x|0/1", "0- ", "=y|-", "=w|-");
    put(0, false);
    last[0] = 0;
    play("0? x", "=y|-");
}

/* No event without its words, and no words without an event. */
TEST(test_an_append_that_fails_leaves_nothing)
{
    char *path = support_path("tiro.db");
    play("0? whole");
    damage_sql(path, "DROP TABLE transcript_words");
    AUTO(event_free_local) struct event *ev = event_new(EVENT_TEXT_COMPLETE);
    memcpy(ev->session_id, IDS[0], UUID_LEN);
    ev->seq = 2;
    ev->text = mem_strdup("half");
    assert_err(transcripts_append(store, ev, &e), e, ERR_SESSION_STORE_ERROR);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM event"), 1);
    say(0, EVENT_INTERRUPTED, NULL); /* needs no index; no transaction was left open */
    assert_int_equal(damage_number(path, "SELECT count(*) FROM event"), 2);
}

/* A number that has no room in a place of the index is in no other session's room. */
TEST(test_enormous_numbers)
{
    last[0] = 0xffffffff - 1;
    play("0? word", "0? beyond", "1? word", "=word|1/1 0/4294967295", "=beyond|-", "0- ",
         "=word|1/1");
}

TEST(test_a_reader_searches)
{
    struct store *reader;
    struct search_hits hits;
    bool more;
    play("0? word");
    assert_true(store_open(support_path("tiro.db"), STORE_READ_ONLY, &reader, &e));
    assert_true(transcripts_search(reader, "word", NULL, 5, &hits, &more, &e));
    assert_int_equal(hits.items.len, 1);
    search_hits_release(&hits);
    play("0? word once more");
    assert_true(transcripts_search(reader, "word", NULL, 5, &hits, &more, &e));
    assert_int_equal(hits.items.len, 2);
    search_hits_release(&hits);
    store_close(reader);
}

/* A store of memory alone is the same to search. */
TEST(test_in_memory)
{
    struct store *file = store;
    struct store *reader;
    struct search_hits hits;
    bool more;
    char *path = support_keep(store_memory_path());
    assert_true(store_open(path, STORE_READ_WRITE, &store, &e));
    put(0, false);
    play("0? word");
    assert_true(store_open(path, STORE_READ_ONLY, &reader, &e));
    assert_true(transcripts_search(reader, "word", NULL, 5, &hits, &more, &e));
    assert_int_equal(hits.items.len, 1);
    search_hits_release(&hits);
    play("0- ");
    assert_true(transcripts_search(reader, "word", NULL, 5, &hits, &more, &e));
    assert_int_equal(hits.items.len, 0);
    store_close(reader);
    store_close(store);
    store = file;
}
