/* The recent notices about sessions, for clients that resume reading. */
#include "serve/http_events.h"
#include "serve/http_server.h"
#include "tests/suite.h"

static const char one[] = "01900000-0000-7000-8000-000000000001";

static void add(struct http_feeds *all, struct http_feed *f, int64_t seq)
{
    http_feed_add(all, f, http_frame_new(seq, "text_delta", "{}"));
}

/* Numbers of the frames from a place on, "-" where there is none. */
static char *from(const struct http_feed *f, uint64_t place)
{
    struct buf out = BUF_INIT;
    for (uint64_t i = place - f->first; i < f->frames.len; i++)
        if (f->frames.items[i]->seq)
            buf_addf(&out, "%d ", (int)f->frames.items[i]->seq);
        else
            buf_addstr(&out, "- ");
    return support_keep(buf_take(&out));
}

TEST(a_frame_is_what_goes_over_the_wire)
{
    struct http_frame *f = http_frame_new(7, "text_delta", "{\"a\":1}");
    const char wire[] = "id: 7\nevent: text_delta\ndata: {\"a\":1}\n\n";
    assert_int_equal(f->len, sizeof wire - 1);
    assert_memory_equal(f->bytes, wire, f->len);
    http_frame_drop(f);
    f = http_frame_new(-1, "x", "y");
    assert_memory_equal(f->bytes, "event: x\ndata: y\n\n", f->len);
    assert_int_equal(f->seq, 0);
    http_frame_drop(f);
}

TEST(a_reader_goes_on_behind_the_number_that_it_saw)
{
    AUTO(http_feeds_release) struct http_feeds all = {0};
    struct http_feed *f = http_feed_get(&all, one);
    for (int64_t seq = 1; seq <= 4; seq++)
        add(&all, f, seq);
    add(&all, f, -1);
    add(&all, f, 5);
    assert_string_equal(from(f, http_feed_behind(f, 0)), "1 2 3 4 - 5 ");
    assert_string_equal(from(f, http_feed_behind(f, 2)), "3 4 - 5 ");
    assert_string_equal(from(f, http_feed_behind(f, 4)), "- 5 ");
    assert_string_equal(from(f, http_feed_behind(f, 5)), "");
    assert_string_equal(from(f, http_feed_behind(f, 99)), "");
    assert_int_equal(f->base, 0);
    assert_int_equal(f->breaks, 0);
    assert_ptr_equal(http_feed_find(&all, one), f);
}

TEST(a_missing_number_begins_it_anew_and_places_go_on)
{
    AUTO(http_feeds_release) struct http_feeds all = {0};
    struct http_feed *f = http_feed_get(&all, one);
    http_feed_begin(f, 10);
    add(&all, f, 11);
    assert_int_equal(f->breaks, 0);
    assert_int_equal(f->base, 10);
    uint64_t place = http_feed_behind(f, 11);
    add(&all, f, 20);
    assert_int_equal(f->breaks, 1);
    assert_int_equal(f->base, 19);
    assert_int_equal(f->first, place);
    assert_string_equal(from(f, place), "20 ");
}

TEST(it_is_bounded_and_tells_what_it_has_let_go_of)
{
    AUTO(http_feeds_release) struct http_feeds all = {0};
    struct http_feed *f = http_feed_get(&all, one);
    char *data = support_keep(mem_alloc(10001));
    memset(data, 'x', 10000);
    for (int64_t seq = 1; seq <= 100; seq++) {
        http_feed_add(&all, f, http_frame_new(seq, "e", data));
        assert_true(f->bytes <= HTTP_FEED_BYTES);
    }
    assert_int_equal(f->first, f->base);
    assert_int_equal(f->first + f->frames.len, 100);
    assert_int_equal(f->frames.items[0]->seq, f->base + 1);
    char *large = support_keep(mem_alloc(2 * HTTP_FEED_BYTES + 1));
    memset(large, 'y', 2 * HTTP_FEED_BYTES);
    http_feed_add(&all, f, http_frame_new(101, "e", large));
    assert_int_equal(f->frames.len, 0); /* the log has it */
    assert_int_equal(f->base, 101);
    assert_int_equal(f->first, 101);
    assert_int_equal(f->breaks, 1);
    http_feed_add(&all, f, http_frame_new(-1, "e", large));
    assert_int_equal(f->frames.len, 1); /* which has nothing without a number */
}

/* The limit holds for any number of readers and any size of events. */
TEST(what_readers_hold_of_the_log_has_a_bound)
{
    size_t held = 0, first = http_events_share(0);
    assert_in_range(first, 1, 8 << 20);
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        size_t share = http_events_share(held);
        assert_in_range(share, 16 * 1024, first);
        held += share;
    }
    assert_in_range(held, 1, 128 << 20);
}

TEST(those_that_nobody_needs_are_forgotten_oldest_first)
{
    AUTO(http_feeds_release) struct http_feeds all = {0};
    int reader;
    char id[UUID_LEN + 1];
    struct http_feed *busy = http_feed_get(&all, one), *read;
    busy->busy = true;
    read = http_feed_get(&all, "01900000-0000-7000-8000-000000000002");
    vec_push(&read->readers, &reader);
    for (int i = 0; i < 3 * HTTP_FEEDS_IDLE; i++) {
        snprintf(id, sizeof id, "01900000-0000-7000-8000-0000001%05d", i);
        add(&all, http_feed_get(&all, id), 1);
    }
    assert_int_equal(all.list.len, HTTP_FEEDS_IDLE + 1 + 2);
    assert_ptr_equal(http_feed_find(&all, one), busy);
    assert_ptr_equal(http_feed_find(&all, read->session), read);
    assert_non_null(http_feed_find(&all, id));
    assert_null(http_feed_find(&all, "01900000-0000-7000-8000-000000100000"));
    http_feed_leave(read, &reader);
    assert_int_equal(read->readers.len, 0);
}
