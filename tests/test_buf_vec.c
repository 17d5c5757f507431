#include "base/vec.h"
#include "tests/suite.h"

TEST(an_empty_buffer_is_an_empty_string)
{
    AUTO(buf_release) struct buf b = BUF_INIT;
    assert_string_equal(b.data, "");
    buf_clear(&b);
    buf_consume(&b, 0);
    buf_splice(&b, 0, 0, NULL, 0);
    buf_add(&b, NULL, 0);
    assert_string_equal(b.data, "");
    auto_free char *taken = buf_take(&b);
    assert_string_equal(taken, "");
    assert_string_equal(buf_empty, "");
}

TEST(adders_append_and_terminate)
{
    AUTO(buf_release) struct buf b = {0};
    buf_init(&b, 0);
    buf_addstr(&b, "one");
    buf_addch(&b, ' ');
    buf_addf(&b, "%d-%s", 22, "two");
    buf_add(&b, "\0x", 2);
    assert_int_equal(b.len, 12);
    assert_memory_equal(b.data, "one 22-two\0x", 13);
    buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.data, "");
}

TEST(growth_keeps_the_content)
{
    AUTO(buf_release) struct buf b = BUF_INIT;
    for (int i = 0; i < 10000; i++)
        buf_addf(&b, "%04d", i);
    assert_int_equal(b.len, 40000);
    for (int i = 0; i < 10000; i += 777) {
        auto_free char *expected = mem_printf("%04d", i);
        assert_memory_equal(b.data + i * 4, expected, 4);
    }
    assert_int_equal(b.data[b.len], '\0');
}

TEST(the_maximum_refuses_whole_pieces)
{
    struct buf b;
    buf_init(&b, 5);
    assert_true(buf_try_add(&b, "abc", 3));
    assert_false(buf_try_add(&b, "def", 3));
    assert_string_equal(b.data, "abc");
    assert_true(buf_try_add(&b, "de", 2));
    assert_false(buf_try_add(&b, "f", 1));
    assert_true(buf_try_add(&b, "", 0));
    assert_false(buf_try_add(&b, "x", SIZE_MAX));
    buf_addstr(&b, "over");
    assert_false(buf_try_add(&b, "", 0));
    buf_release(&b);
    assert_int_equal(b.max, 5);
}

TEST(splice_replaces_anywhere)
{
    AUTO(buf_release) struct buf b = BUF_INIT;
    buf_splice(&b, 0, 0, "held", 4);
    buf_splice(&b, 4, 0, "out", 3);
    buf_splice(&b, 0, 4, "h", 1);
    assert_string_equal(b.data, "hout");
    buf_splice(&b, 1, 2, "-long middle-", 13);
    assert_string_equal(b.data, "h-long middle-t");
    buf_splice(&b, 1, 13, NULL, 0);
    assert_string_equal(b.data, "ht");
    assert_int_equal(b.len, 2);
}

TEST(consume_and_take)
{
    AUTO(buf_release) struct buf b = BUF_INIT;
    buf_addstr(&b, "head tail");
    buf_consume(&b, 5);
    assert_string_equal(b.data, "tail");
    auto_free char *taken = buf_take(&b);
    assert_string_equal(taken, "tail");
    assert_int_equal(b.len, 0);
    assert_string_equal(b.data, "");
    buf_addstr(&b, "again");
    assert_string_equal(taken, "tail");
}

struct pair {
    int a, b;
};

TEST(a_vector_keeps_its_order)
{
    VEC(struct pair) v = {0};
    for (int i = 0; i < 100; i++)
        vec_push(&v, (struct pair){i, -i});
    vec_insert(&v, 0, (struct pair){1000, 0});
    vec_insert(&v, v.len, (struct pair){2000, 0});
    vec_insert(&v, 51, (struct pair){3000, 0});
    assert_int_equal(v.len, 103);
    assert_int_equal(v.items[0].a, 1000);
    assert_int_equal(v.items[50].a, 49);
    assert_int_equal(v.items[51].a, 3000);
    assert_int_equal(v.items[52].a, 50);
    assert_int_equal(vec_last(&v).a, 2000);
    vec_remove(&v, 51, 1);
    vec_remove(&v, 0, 1);
    vec_remove(&v, v.len - 1, 1);
    assert_int_equal(v.len, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(v.items[i].b, -i);
    vec_remove(&v, 10, 80);
    assert_int_equal(v.len, 20);
    assert_int_equal(v.items[10].a, 90);
    vec_clear(&v);
    assert_int_equal(v.len, 0);
    vec_release(&v);
    assert_null(v.items);
}

TEST(reserving_grows_by_doubling)
{
    VEC(char) v = {0};
    size_t growths = 0, cap = 0;
    for (int i = 0; i < 100000; i++) {
        vec_push(&v, 'x');
        growths += v.cap != cap;
        cap = v.cap;
    }
    assert_in_range(growths, 1, 20);
    vec_reserve(&v, 500000);
    assert_true(v.cap >= 500000);
    assert_int_equal(v.len, 100000);
    vec_release(&v);
}

TEST(large_blocks_keep_what_they_hold)
{
    VEC(int) v = {0};
    for (int i = 0; i < 1000000; i++) {
        if (i % 1000 == 0)
            vec_reserve_large(&v, v.len + 1000);
        vec_push(&v, i);
    }
    size_t cap = v.cap;
    vec_reserve_large(&v, cap + 1);
    assert_true(v.cap >= 2 * cap);
    for (int i = 0; i < 1000000; i++)
        assert_int_equal(v.items[i], i);
    vec_release(&v);
}

TEST(large_blocks_are_used_again)
{
    enum { LARGE = 3 << 20 };
    VEC(char) a = {0}, b = {0}, small = {0};
    vec_reserve_large(&a, LARGE);
    vec_reserve_large(&b, 4 * LARGE);
    const char *first = a.items, *second = b.items;
    vec_release_large(&b);
    vec_release_large(&a);
    assert_null(a.items);
    assert_int_equal(a.cap, 0);

    vec_reserve_large(&b, LARGE); /* the smallest that is large enough */
    assert_ptr_equal(b.items, first);
    vec_reserve_large(&a, LARGE);
    assert_ptr_equal(a.items, second);
    assert_true(a.cap >= 4 * LARGE); /* all of the block is used */
    memset(a.items, 'x', a.cap);
    vec_reserve_large(&small, LARGE); /* there is none: a block of its own */
    assert_ptr_not_equal(small.items, first);
    assert_ptr_not_equal(small.items, second);

    vec_release_large(&small);
    vec_push(&small, 'x'); /* a block that is not large */
    vec_release_large(&small);
    vec_release_large(&a);
    vec_release_large(&b);
    mem_return_unused();
}

TEST(copies_of_strings)
{
    assert_null(mem_strdup(NULL));
    auto_free char *part = mem_strndup("abc\0def", 7);
    assert_memory_equal(part, "abc\0def", 8);
    auto_free char *text = mem_printf("%s-%03d", "x", 7);
    assert_string_equal(text, "x-007");
    unsigned char *zeroed = mem_alloc(100);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(zeroed[i], 0);
    free(zeroed);
}
