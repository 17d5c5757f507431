/* Vectors of corpora from an endpoint: the requests, and searches while the endpoint fails and
 * after it answers again. */
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "tests/model_server.h"
#include "tests/shelf.h"
#include "tests/suite.h"

static struct model_server *server;
static int64_t now;

static int set_up(void **state)
{
    shelf_setup(state);
    server = model_server_start();
    shelf_configure(CONFIG_EMBEDDING_PROVIDER, "openai");
    shelf_configure(CONFIG_EMBEDDING_MODEL, "m");
    shelf_configure(CONFIG_EMBEDDING_BASE_URL, support_text("%s/v1", model_server_url(server)));
    shelf_write("d/kyoto.md", "# Travel\n\nThe ryokan is booked.\n\n# Trains\n\nAt night.\n");
    shelf_write("d/garden.txt", "Basil wants sun.\n");
    assert_string_equal(shelf_add("d", "d"), "files 2 added 2");
    return 0;
}

static int tear_down(void **state)
{
    clock_replace(NULL, NULL);
    shape_release(&corpus_found_shape, &shelf.found);
    model_server_stop(server);
    return shelf_teardown(state);
}

FIXTURE(set_up, tear_down);

/* The next requests fail, this many times, with an error that is not retried at once. */
static void fail_next(int times)
{
    const struct reply refusal = {.fault = REPLY_STATUS, .status = 401};
    for (int i = 0; i < times; i++)
        model_server_queue(server, &refusal);
}

static int64_t stopped_clock(void)
{
    return now;
}

static void set_time(int64_t ms)
{
    now = ms;
    clock_replace(NULL, stopped_clock);
}

/* Texts in a request, from 0 on; -1: there was none. */
static int texts_in(size_t request)
{
    if (request >= model_server_requests(server))
        return -1;
    const char *body = model_server_body(server, request);
    AUTO(json_free_local) struct json *v = json_parse(body, strlen(body), NULL);
    return (int)json_len(json_get(v, "input"));
}

static const struct corpus_passage *first_hit(double weight)
{
    shelf_search_for(&(struct corpus_search){.query = "ryokan booked", .hybrid_weight = weight});
    assert_true(shelf.found.items.len > 0);
    assert_string_equal(shelf_file_name(shelf.found.items.items[0].file), "kyoto.md");
    return &shelf.found.items.items[0];
}

/* A search has a badge that begins so; NULL: none. */
static void expect_badge(const char *begins)
{
    first_hit(0.3);
    const char *badge = shelf.found.badge ? shelf.found.badge : "none";
    assert_int_equal(strncmp(badge, begins ? begins : "none", strlen(begins ? begins : "none")), 0);
}

static void expect_requests(size_t count)
{
    assert_int_equal(model_server_requests(server), count);
}

TEST(passages_are_sent_once_with_their_headings)
{
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    expect_requests(1);
    assert_int_equal(texts_in(0), 3);
    assert_non_null(strstr(model_server_body(server, 0), "\"Trains\\n# Trains\\n\\nAt night.\""));
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    expect_requests(1);
    const struct corpus_passage *hit = first_hit(0.3);
    assert_null(shelf.found.badge);
    assert_true(hit->vector > 0 && hit->words > 0);
    assert_int_equal(texts_in(1), 1);
    assert_true(first_hit(0)->words == 0);
    expect_requests(2); /* the same question */
}

TEST(what_changed_is_sent_alone)
{
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    shelf_write("d/garden.txt", "Carrots want sand.\n");
    assert_string_equal(shelf_add("d", NULL), "files 2 changed 1 unchanged 1");
    shelf_purge();
    expect_badge("words only: ");
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    assert_int_equal(texts_in(1), 1);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_vector"), 3);
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(an_endpoint_that_fails_is_left_alone_and_asked_again)
{
    fail_next(1);
    assert_int_equal(shelf_embed(), CORPORA_WAITS);
    assert_int_not_equal(shelf.e.code, ERR_OK);
    expect_requests(1);
    expect_badge("words only: passages lack vectors; tiro corpus update makes them");
    assert_int_equal(shelf_embed(), CORPORA_WAITS);
    expect_requests(1);
    int64_t again = shelf.corpora->encoder.retry_ms;
    set_time(again - 1);
    assert_int_equal(shelf_embed(), CORPORA_WAITS);
    expect_requests(1);
    set_time(again);
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    expect_requests(2);
    expect_badge(NULL);
}

TEST(an_answer_that_makes_no_sense_is_a_failure)
{
    static const struct reply bad[] = {{.fault = REPLY_MALFORMED_JSON},
                                       {.raw = "{\"data\":[]}"},
                                       {.raw = "[]"},
                                       {.fault = REPLY_WRONG_TYPE}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        model_server_queue(server, &bad[i]);
        shelf.corpora->encoder.retry_ms = 0;
        assert_int_equal(shelf_embed(), CORPORA_WAITS);
        assert_int_equal(shelf_number("SELECT count(*) FROM corpus_vector"), 0);
    }
    shelf.corpora->encoder.retry_ms = 0;
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_vector"), 3);
}

TEST(a_question_without_a_vector_is_searched_by_words)
{
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    fail_next(1);
    const struct corpus_passage *hit = first_hit(0.3);
    assert_string_equal(shelf.found.badge, "words only: the embedding endpoint does not answer");
    assert_true(hit->score == hit->words && hit->vector == -1);
    expect_requests(2);
    expect_badge("words only: ");
    expect_requests(2); /* it is left alone */
    set_time(shelf.corpora->encoder.retry_ms);
    assert_true(first_hit(0.3)->vector > 0);
    assert_null(shelf.found.badge);
}

TEST(another_model_makes_its_own_vectors)
{
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    shelf_configure(CONFIG_EMBEDDING_MODEL, "other");
    shelf_close();
    shelf_open();
    expect_badge("words only: ");
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    expect_badge(NULL);
    assert_non_null(strstr(model_server_body(server, 1), "\"other\""));
}

TEST(words_alone_ask_no_endpoint)
{
    shelf_configure(CONFIG_CORPUS_RANKING, "words");
    assert_int_equal(shelf_embed(), CORPORA_IDLE);
    expect_badge(NULL);
    expect_requests(0);
}

/* --- requests in advance ---------------------------------------------------------------------- */

static bool asks(const char *folder)
{
    struct ingest *in = shelf_begin("many", folder);
    bool out = false;
    assert_ok(ingest_asks(in, NULL, &out, &shelf.e), shelf.e);
    ingest_free(in);
    return out;
}

TEST(so_much_for_an_endpoint_is_asked_before)
{
    for (int i = 0; i < INGEST_ASK_FILES; i++)
        shelf_write(support_text("many/%04d.txt", i), "lantern");
    shelf_write("many/picture.png", "none");
    assert_false(asks("many"));
    shelf_write("many/one-more.txt", "lantern");
    assert_true(asks("many"));
    shelf_configure(CONFIG_CORPUS_RANKING, "words");
    assert_false(asks("many"));
    shelf_configure(CONFIG_CORPUS_RANKING, "both");
    shelf_configure(CONFIG_EMBEDDING_PROVIDER, "hashed");
    assert_false(asks("many"));
    shelf_configure(CONFIG_EMBEDDING_PROVIDER, "openai");
    shelf_add("many", "many");
    assert_false(asks("many")); /* they are there */
    shelf_write("large/a.txt", "");
    assert_int_equal(truncate(support_path("large/a.txt"), INGEST_ASK_BYTES), 0);
    assert_false(asks("large"));
    shelf_write("large/b.txt", "x");
    assert_true(asks("large"));
}
