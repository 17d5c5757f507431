libtiro_a_SOURCES += \
	src/index/blend.c src/index/blend.h \
	src/index/corpus.c src/index/corpus.h \
	src/index/doclist.c src/index/doclist.h \
	src/index/embedder.c src/index/embedder.h \
	src/index/graph_file.c src/index/graph_file.h \
	src/index/hnsw.h \
	src/index/int8.c src/index/int8.h \
	src/index/rank.c src/index/rank.h \
	src/index/rank_best.c \
	src/index/transcripts.c src/index/transcripts.h \
	src/index/vectors.c src/index/vectors.h \
	src/index/vectors_graph.c \
	src/index/vectors_private.h \
	src/index/vectors_scan.c \
	src/index/words.c src/index/words.h \
	src/index/words_passage.c \
	src/index/words_private.h \
	src/index/words_search.c

# The graph of vectors is C++, where there is a compiler for it and hnswlib.
if HAVE_HNSWLIB
libtiro_a_SOURCES += src/index/hnsw.cc
else
libtiro_a_SOURCES += src/index/hnsw_none.c
endif
EXTRA_DIST += src/index/hnsw.cc src/index/hnsw_none.c
