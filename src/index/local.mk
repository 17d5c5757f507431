libtiro_a_SOURCES += \
	src/index/blend.c src/index/blend.h \
	src/index/calibration.c src/index/calibration.h \
	src/index/corpus.c src/index/corpus.h \
	src/index/embed_hashed.c \
	src/index/embed_ollama.c \
	src/index/embed_openai.c \
	src/index/embed_post.c \
	src/index/embed_rows.h \
	src/index/embedder.c src/index/embedder.h \
	src/index/graph_file.c src/index/graph_file.h \
	src/index/hnsw.h \
	src/index/int8.c src/index/int8.h \
	src/index/rank.c src/index/rank.h \
	src/index/rank_best.c \
	src/index/rank_postings.c \
	src/index/rank_rows.c src/index/rank_rows.h \
	src/index/search_place.c src/index/search_place.h \
	src/index/search_snippet.c src/index/search_snippet.h \
	src/index/transcripts.c src/index/transcripts.h \
	src/index/vectors.c src/index/vectors.h \
	src/index/vectors_embed.c \
	src/index/vectors_graph.c \
	src/index/vectors_private.h \
	src/index/vectors_scan.c \
	src/index/vectors_store.c \
	src/index/words.c src/index/words.h \
	src/index/words_merge.c \
	src/index/words_next.c \
	src/index/words_passage.c \
	src/index/words_private.h \
	src/index/words_purge.c \
	src/index/words_collect.c src/index/words_collect.h \
	src/index/words_query.c src/index/words_query.h \
	src/index/words_reindex.c \
	src/index/words_search.c

# The graph of vectors is C++, where there is a compiler for it and hnswlib.
if HAVE_HNSWLIB
libtiro_a_SOURCES += src/index/hnsw.cc
else
libtiro_a_SOURCES += src/index/hnsw_none.c
endif
EXTRA_DIST += src/index/hnsw.cc src/index/hnsw_none.c
