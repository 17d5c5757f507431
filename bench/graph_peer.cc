#include "bench/graph_peer.h"

#include <sys/stat.h>

#include <string>

#include <hnswlib/hnswlib.h>

enum { LINKS = 16, BUILD_BREADTH = 200 };

struct graph_peer {
    hnswlib::InnerProductSpace space;
    hnswlib::HierarchicalNSW<float> graph;

    graph_peer(size_t dimension, size_t capacity)
        : space(dimension), graph(&space, capacity, LINKS, BUILD_BREADTH)
    {
    }
};

struct graph_peer *graph_peer_new(size_t dimension, size_t capacity)
{
    return new graph_peer(dimension, capacity);
}

void graph_peer_free(struct graph_peer *g)
{
    delete g;
}

void graph_peer_add(struct graph_peer *g, const float *values, size_t number)
{
    g->graph.addPoint(values, number);
}

void graph_peer_search(struct graph_peer *g, const float *values, size_t limit)
{
    (void)g->graph.searchKnn(values, limit);
}

double graph_peer_save(struct graph_peer *g, const char *directory)
{
    struct stat st;
    std::string path = std::string(directory) + "/peer.hnsw";
    g->graph.saveIndex(path);
    return stat(path.c_str(), &st) == 0 ? static_cast<double>(st.st_size) / 1e6 : 0;
}
