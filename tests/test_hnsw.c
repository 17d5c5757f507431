#include <math.h>

#include "base/entropy.h"
#include "index/hnsw.h"
#include "index/int8.h"
#include "tests/suite.h"

enum { DIMENSION = 40, STRIDE = 48, COUNT = 2000 };

static float random_float(void)
{
    return (float)(entropy_unit() * 2 - 1);
}

/* --- bytes ----------------------------------------------------------------------------------- */

TEST(test_both_products_agree)
{
    static const int dimensions[] = {1, 15, 16, 17, 48, 768, 1536, 65536};
    entropy_seed(support_seed());
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++) {
        size_t stride = int8_stride(dimensions[i]);
        int8_t *a = mem_alloc(stride + 1), *b = mem_alloc(stride + 1);
        for (int round = 0; round < 20; round++) {
            for (int n = 0; n < dimensions[i]; n++) {
                a[n + 1] = (int8_t)(entropy_unit() * 255 - 127);
                b[n] = (int8_t)(entropy_unit() * 255 - 127);
            }
            assert_int_equal(int8_dot(a + 1, b, stride), int8_dot_plain(a + 1, b, stride));
        }
        free(a);
        free(b);
    }
}

/* The largest products there are: nothing may overflow. */
TEST(test_products_at_the_edge)
{
    int8_t *a = mem_alloc(65536), *b = mem_alloc(65536);
    for (int sign = -1; sign <= 1; sign += 2) {
        memset(a, 127, 65536);
        memset(b, 127 * sign, 65536);
        assert_int_equal(int8_dot(a, b, 65536), sign * 127 * 127 * 65536);
        assert_int_equal(int8_dot_plain(a, b, 65536), sign * 127 * 127 * 65536);
    }
    free(a);
    free(b);
}

TEST(test_quantised_is_near)
{
    float v[DIMENSION];
    int8_t bytes[STRIDE];
    entropy_seed(support_seed());
    for (int i = 0; i < DIMENSION; i++)
        v[i] = random_float();
    memset(bytes, 1, sizeof bytes);
    float scale = int8_quantise(v, DIMENSION, bytes);
    for (int i = 0; i < DIMENSION; i++)
        assert_true(fabsf(v[i] - scale * bytes[i]) <= scale * 0.51f);
    for (int i = DIMENSION; i < STRIDE; i++)
        assert_int_equal(bytes[i], 0);
    memset(v, 0, sizeof v);
    assert_true(int8_quantise(v, DIMENSION, bytes) == 0);
    assert_int_equal(bytes[0], 0);
}

/* --- the graph ------------------------------------------------------------------------------- */

struct points {
    int8_t bytes[COUNT][STRIDE];
    float scales[COUNT];
};

static struct points *make_points(void)
{
    struct points *p = mem_alloc(sizeof *p);
    for (int i = 0; i < COUNT; i++) {
        float v[DIMENSION], square = 0;
        for (int n = 0; n < DIMENSION; n++) {
            v[n] = random_float();
            square += v[n] * v[n];
        }
        for (int n = 0; n < DIMENSION; n++)
            v[n] /= sqrtf(square);
        p->scales[i] = int8_quantise(v, DIMENSION, p->bytes[i]);
    }
    return p;
}

static struct hnsw *make_graph(const struct points *p, int count)
{
    struct hnsw *h = hnsw_new(DIMENSION, 1);
    assert_non_null(h);
    for (int i = 0; i < count; i++)
        assert_true(hnsw_add(h, p->bytes[i], p->scales[i]));
    assert_int_equal(hnsw_count(h), count);
    return h;
}

static float cosine(const struct points *p, int a, int b)
{
    return p->scales[a] * p->scales[b] * (float)int8_dot_plain(p->bytes[a], p->bytes[b], STRIDE);
}

/* The number of the ten true nearest neighbours that the search finds. */
static int found_of_ten(struct hnsw *h, const struct points *p, int count, int query)
{
    struct hnsw_hit hits[10];
    int found = 0;
    assert_int_equal(hnsw_search(h, p->bytes[query], p->scales[query], 10, hits), 10);
    assert_int_equal(hits[0].element, query);
    for (int i = 0; i < 10; i++) {
        int nearer = 0;
        if (i > 0)
            assert_true(hits[i].cosine <= hits[i - 1].cosine);
        assert_true(fabsf(hits[i].cosine - cosine(p, query, (int)hits[i].element)) < 1e-4f);
        for (int n = 0; n < count; n++)
            nearer += cosine(p, query, n) > hits[i].cosine + 1e-5f;
        found += nearer < 10;
    }
    return found;
}

TEST_IF(hnsw_available(), test_it_finds_the_nearest)
{
    int found = 0;
    entropy_seed(support_seed());
    auto_free struct points *p = make_points();
    struct hnsw *h = make_graph(p, COUNT);
    for (int query = 0; query < 50; query++)
        found += found_of_ten(h, p, COUNT, query);
    assert_true(found >= 475);
    hnsw_free(h);
}

TEST_IF(hnsw_available(), test_empty_and_small)
{
    struct hnsw_hit hits[5];
    entropy_seed(support_seed());
    auto_free struct points *p = make_points();
    struct hnsw *h = make_graph(p, 0);
    assert_int_equal(hnsw_search(h, p->bytes[0], p->scales[0], 5, hits), 0);
    hnsw_free(h);
    h = make_graph(p, 3);
    assert_int_equal(hnsw_search(h, p->bytes[0], p->scales[0], 5, hits), 3);
    hnsw_free(h);
    hnsw_free(NULL);
}

static bool collect(void *context, const void *bytes, size_t len)
{
    buf_add(context, bytes, len);
    return true;
}

static bool contains(const struct buf *b, const int8_t *bytes)
{
    for (size_t i = 0; i + DIMENSION <= b->len; i++)
        if (memcmp(b->data + i, bytes, DIMENSION) == 0)
            return true;
    return false;
}

TEST_IF(hnsw_available(), test_blank_elements_are_gone_and_lead_on)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct hnsw_hit hits[10];
    entropy_seed(support_seed());
    auto_free struct points *p = make_points();
    struct hnsw *h = make_graph(p, 500);
    for (uint32_t i = 0; i < 500; i += 2)
        hnsw_blank(h, i);
    assert_true(hnsw_write(h, collect, &text));
    assert_false(contains(&text, p->bytes[0]));
    assert_true(contains(&text, p->bytes[1]));
    for (int query = 1; query < 500; query += 2) {
        assert_int_equal(hnsw_search(h, p->bytes[query], p->scales[query], 10, hits), 10);
        assert_int_equal(hits[0].element, query);
    }
    for (int i = 500; i < 600; i++)
        assert_true(hnsw_add(h, p->bytes[i], p->scales[i]));
    hnsw_search(h, p->bytes[550], p->scales[550], 1, hits);
    assert_int_equal(hits[0].element, 550);
    hnsw_free(h);
}

TEST_IF(hnsw_available(), test_it_is_read_again_and_appended_to)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    entropy_seed(support_seed());
    auto_free struct points *p = make_points();
    struct hnsw *h = make_graph(p, 1000);
    assert_true(hnsw_write(h, collect, &text));
    hnsw_free(h);
    h = hnsw_read(DIMENSION, text.data, text.len);
    assert_non_null(h);
    assert_int_equal(hnsw_count(h), 1000);
    for (int i = 1000; i < COUNT; i++)
        assert_true(hnsw_add(h, p->bytes[i], p->scales[i]));
    int found = 0;
    for (int query = 980; query < 1020; query++)
        found += found_of_ten(h, p, COUNT, query);
    assert_true(found >= 380);
    hnsw_free(h);
}

/* Bytes changed anywhere: it is refused, or it can be searched in. */
TEST_IF(hnsw_available(), test_damaged_bytes)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct hnsw_hit hits[10];
    entropy_seed(support_seed());
    auto_free struct points *p = make_points();
    struct hnsw *h = make_graph(p, 300);
    assert_true(hnsw_write(h, collect, &text));
    hnsw_free(h);
    assert_null(hnsw_read(DIMENSION + 16, text.data, text.len));
    assert_null(hnsw_read(DIMENSION, text.data, text.len - 1));
    assert_null(hnsw_read(DIMENSION, text.data, 0));
    for (int round = 0; round < 400; round++) {
        char *copy = support_keep(mem_alloc(text.len));
        size_t len = round % 10 == 0 ? (size_t)(entropy_unit() * (double)text.len) : text.len;
        memcpy(copy, text.data, text.len);
        for (int n = 0; n < 1 + round % 20; n++)
            entropy_fill(copy + (size_t)(entropy_unit() * (double)(text.len - 4)), 4);
        if (round % 4 == 0)
            entropy_fill(copy + (size_t)(entropy_unit() * 24), 4);
        h = hnsw_read(DIMENSION, copy, len);
        if (h) {
            hnsw_search(h, p->bytes[0], p->scales[0], 10, hits);
            hnsw_add(h, p->bytes[0], p->scales[0]);
        }
        hnsw_free(h);
    }
}
