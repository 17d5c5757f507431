/* Deleting elements in hnswlib can leave it without an entry point. So nothing is deleted: a
 * forgotten element is overwritten with zeros, and searches skip it. No exception leaves this file.
 */
#include "index/hnsw.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <vector>

/* Its own vector code, which is not used here, reads behind the end of lists. */
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include "index/int8.h"

namespace
{

using graph = hnswlib::HierarchicalNSW<float>;

const unsigned entry_none = static_cast<unsigned>(-1);
const size_t smallest_capacity = 1024;
const size_t search_width = 200;

/* An element: the scale of its bytes, and the bytes. */
float distance(const void *a, const void *b, const void *stride)
{
    const char *x = static_cast<const char *>(a), *y = static_cast<const char *>(b);
    float scale_x, scale_y;
    std::memcpy(&scale_x, x, sizeof scale_x);
    std::memcpy(&scale_y, y, sizeof scale_y);
    int32_t dot = int8_dot(reinterpret_cast<const int8_t *>(x + sizeof scale_x),
                           reinterpret_cast<const int8_t *>(y + sizeof scale_y),
                           *static_cast<const size_t *>(stride));
    return 1 - scale_x * scale_y * static_cast<float>(dot);
}

class byte_space : public hnswlib::SpaceInterface<float>
{
  public:
    explicit byte_space(int dimension) : stride(int8_stride(dimension))
    {
    }
    size_t get_data_size() override
    {
        return sizeof(float) + stride;
    }
    hnswlib::DISTFUNC<float> get_dist_func() override
    {
        return distance;
    }
    void *get_dist_func_param() override
    {
        return &stride;
    }

    size_t stride;
};

/* Stands before the elements. */
struct preamble {
    uint64_t count, element_size, links_size;
    uint32_t entry;
    int32_t top;
};

} // namespace

struct hnsw {
    hnsw(int dimension, size_t capacity)
        : space(dimension),
          index(&space, std::max(capacity, smallest_capacity), static_cast<size_t>(HNSW_M),
                static_cast<size_t>(HNSW_EF_CONSTRUCTION)),
          element(space.get_data_size())
    {
        level_of_unit = index.mult_;
        index.mult_ = 0; /* it would draw a level without a bound */
        index.metric_hops = 0;
        index.metric_distance_computations = 0;
    }

    int draw_level()
    {
        double unit = 1 - std::uniform_real_distribution<double>(0, 1)(random); /* never 0 */
        return std::min(static_cast<int>(-std::log(unit) * level_of_unit), HNSW_LAYERS - 1);
    }

    const void *pack(const int8_t *bytes, float scale)
    {
        std::memcpy(element.data(), &scale, sizeof scale);
        std::memcpy(element.data() + sizeof scale, bytes, space.stride);
        return element.data();
    }

    size_t links_bytes(size_t i) const
    {
        return static_cast<size_t>(index.element_levels_[i]) * index.size_links_per_element_;
    }

    byte_space space;
    graph index;
    std::vector<char> element;
    std::mt19937_64 random{20};
    double level_of_unit;
};

bool hnsw_available(void)
{
    return true;
}

struct hnsw *hnsw_new(int dimension, size_t capacity)
{
    try {
        return new hnsw(dimension, capacity);
    } catch (...) {
        return nullptr;
    }
}

void hnsw_free(struct hnsw *h)
{
    delete h;
}

bool hnsw_add(struct hnsw *h, const int8_t *bytes, float scale)
{
    try {
        size_t count = h->index.cur_element_count;
        if (count == h->index.max_elements_)
            h->index.resizeIndex(count + count / 4 + smallest_capacity);
        h->index.addPoint(h->pack(bytes, scale), count, h->draw_level());
        return true;
    } catch (...) {
        return false;
    }
}

size_t hnsw_count(const struct hnsw *h)
{
    return h->index.cur_element_count;
}

void hnsw_blank(struct hnsw *h, uint32_t element)
{
    std::memset(h->index.getDataByInternalId(element), 0, h->space.get_data_size());
}

float hnsw_cosine(const struct hnsw *h, uint32_t element, const int8_t *bytes, float scale)
{
    const char *packed = h->index.getDataByInternalId(element);
    float element_scale;
    std::memcpy(&element_scale, packed, sizeof element_scale);
    const int8_t *row = reinterpret_cast<const int8_t *>(packed + sizeof element_scale);
    return element_scale * scale * static_cast<float>(int8_dot(row, bytes, h->space.stride));
}

size_t hnsw_search(struct hnsw *h, const int8_t *bytes, float scale, size_t limit,
                   struct hnsw_hit *out)
{
    try {
        h->index.setEf(std::max(limit, search_width));
        auto found = h->index.searchKnn(h->pack(bytes, scale), limit);
        size_t count = found.size();
        for (size_t i = count; i-- > 0; found.pop())
            out[i] = {static_cast<uint32_t>(found.top().second), 1 - found.top().first};
        return count;
    } catch (...) {
        return 0;
    }
}

/* --- as bytes -------------------------------------------------------------------------------- */

bool hnsw_write(const struct hnsw *h, bool (*write)(void *context, const void *bytes, size_t len),
                void *context)
{
    const graph &g = h->index;
    preamble p = {g.cur_element_count, g.size_data_per_element_, g.size_links_per_element_,
                  g.enterpoint_node_, g.maxlevel_};
    if (!write(context, &p, sizeof p) ||
        !write(context, g.data_level0_memory_, p.count * p.element_size))
        return false;
    for (size_t i = 0; i < p.count; i++) {
        int32_t level = g.element_levels_[i];
        if (!write(context, &level, sizeof level) ||
            (level > 0 && !write(context, g.linkLists_[i], h->links_bytes(i))))
            return false;
    }
    return true;
}

namespace
{

class reader
{
  public:
    reader(const void *bytes, size_t len) : at(static_cast<const char *>(bytes)), left(len)
    {
    }

    bool take(void *out, size_t len)
    {
        if (len > left)
            return false;
        std::memcpy(out, at, len);
        at += len;
        left -= len;
        return true;
    }

    const char *at;
    size_t left;
};

/* Every link leads to an element that has this layer. */
bool links_fit(const graph &g, size_t i, int level)
{
    const unsigned *list = g.get_linklist_at_level(static_cast<unsigned>(i), level);
    size_t size = *list, most = level ? g.maxM_ : g.maxM0_;
    if (size > most)
        return false;
    for (size_t n = 1; n <= size; n++)
        if (list[n] >= g.cur_element_count || list[n] == i || g.element_levels_[list[n]] < level)
            return false;
    return true;
}

bool preamble_fits(const graph &g, const preamble &p)
{
    if (p.element_size != g.size_data_per_element_ || p.links_size != g.size_links_per_element_)
        return false;
    if (p.count == 0)
        return p.entry == entry_none && p.top == -1;
    return p.entry < p.count && p.top >= 0 && p.top < HNSW_LAYERS;
}

bool read_links(struct hnsw *h, reader &in, size_t count)
{
    graph &g = h->index;
    for (size_t i = 0; i < count; i++) {
        int32_t level;
        if (!in.take(&level, sizeof level) || level < 0 || level >= HNSW_LAYERS)
            return false;
        char *links = nullptr;
        size_t size = static_cast<size_t>(level) * g.size_links_per_element_;
        if (level > 0 && (size > in.left || !(links = static_cast<char *>(malloc(size + 1)))))
            return false;
        g.linkLists_[i] = links;
        g.element_levels_[i] = level;
        g.cur_element_count = i + 1; /* what the destructor frees */
        if (level > 0 && !in.take(links, size))
            return false;
    }
    return in.left == 0;
}

bool read_graph(struct hnsw *h, reader &in, const preamble &p)
{
    graph &g = h->index;
    if (!in.take(g.data_level0_memory_, p.count * p.element_size) || !read_links(h, in, p.count))
        return false;
    for (size_t i = 0; i < p.count; i++) {
        for (int level = 0; level <= g.element_levels_[i]; level++)
            if (!links_fit(g, i, level))
                return false;
        if (g.getExternalLabel(static_cast<unsigned>(i)) != i || g.element_levels_[i] > p.top)
            return false;
        g.label_lookup_[i] = static_cast<unsigned>(i);
    }
    g.enterpoint_node_ = p.entry;
    g.maxlevel_ = p.top;
    return p.count == 0 || g.element_levels_[p.entry] == p.top;
}

} // namespace

struct hnsw *hnsw_read(int dimension, const void *bytes, size_t len)
{
    struct hnsw *h = nullptr;
    try {
        reader in(bytes, len);
        preamble p;
        if (!in.take(&p, sizeof p) || p.element_size < int8_stride(dimension) ||
            p.count > in.left / p.element_size)
            return nullptr;
        h = new hnsw(dimension, static_cast<size_t>(p.count));
        h->random.seed(p.count + 20);
        if (preamble_fits(h->index, p) && read_graph(h, in, p))
            return h;
    } catch (...) {
    }
    delete h;
    return nullptr;
}
