libtiro_a_SOURCES += \
	src/memory/blend.c src/memory/blend.h \
	src/memory/calibration.c src/memory/calibration.h \
	src/memory/content.c src/memory/content.h \
	src/memory/embed_hashed.c \
	src/memory/embed_ollama.c \
	src/memory/embed_openai.c \
	src/memory/embed_post.c \
	src/memory/embed_rows.h \
	src/memory/embedder.c src/memory/embedder.h \
	src/memory/graph_file.c src/memory/graph_file.h \
	src/memory/hnsw.h \
	src/memory/int8.c src/memory/int8.h \
	src/memory/query.c src/memory/query.h \
	src/memory/quote.c src/memory/quote.h \
	src/memory/rank.c src/memory/rank.h \
	src/memory/rank_best.c \
	src/memory/rank_postings.c \
	src/memory/rank_rows.c src/memory/rank_rows.h \
	src/memory/recall.c src/memory/recall.h \
	src/memory/secrets.c src/memory/secrets.h \
	src/memory/sqlite_forget.c \
	src/memory/sqlite_index.c \
	src/memory/sqlite_private.h \
	src/memory/sqlite_quoted.c \
	src/memory/sqlite_reindex.c \
	src/memory/sqlite_row.c \
	src/memory/sqlite_scope.c \
	src/memory/sqlite_search.c \
	src/memory/sqlite_store.c src/memory/sqlite_store.h \
	src/memory/store.c src/memory/store.h \
	src/memory/vectors.c src/memory/vectors.h \
	src/memory/vectors_embed.c \
	src/memory/vectors_graph.c \
	src/memory/vectors_private.h \
	src/memory/vectors_scan.c \
	src/memory/vectors_store.c \
	src/memory/words.c src/memory/words.h \
	src/memory/words_merge.c \
	src/memory/words_next.c \
	src/memory/words_passage.c \
	src/memory/words_purge.c \
	src/memory/words_collect.c src/memory/words_collect.h \
	src/memory/words_query.c src/memory/words_query.h \
	src/memory/words_search.c

# The graph of vectors is C++, where there is a compiler for it and hnswlib.
if HAVE_HNSWLIB
libtiro_a_SOURCES += src/memory/hnsw.cc
else
libtiro_a_SOURCES += src/memory/hnsw_none.c
endif
EXTRA_DIST += src/memory/hnsw.cc src/memory/hnsw_none.c
