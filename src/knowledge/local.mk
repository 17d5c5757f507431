libtiro_a_SOURCES += \
	src/knowledge/chunk.c src/knowledge/chunk.h \
	src/knowledge/corpora.c src/knowledge/corpora.h \
	src/knowledge/corpora_ingest.c \
	src/knowledge/corpora_private.h \
	src/knowledge/corpora_search.c \
	src/knowledge/corpora_write.c \
	src/knowledge/directive.c src/knowledge/directive.h \
	src/knowledge/document.c src/knowledge/document.h \
	src/knowledge/document_loaders.h \
	src/knowledge/graph.c src/knowledge/graph.h \
	src/knowledge/graph_lines.c \
	src/knowledge/graph_private.h \
	src/knowledge/graph_write.c \
	src/knowledge/learned.c src/knowledge/learned.h \
	src/knowledge/learned_extract.c src/knowledge/learned_extract.h \
	src/knowledge/load_html.c \
	src/knowledge/load_office.c \
	src/knowledge/load_text.c \
	src/knowledge/markup.c src/knowledge/markup.h \
	src/knowledge/memory_prompt.c src/knowledge/memory_prompt.h \
	src/knowledge/package.c src/knowledge/package.h \
	src/knowledge/project.c src/knowledge/project.h \
	src/knowledge/sentences.c src/knowledge/sentences.h \
	src/knowledge/session_digest.c src/knowledge/session_digest.h \
	src/knowledge/skills.c src/knowledge/skills.h \
	src/knowledge/trust.c src/knowledge/trust.h \
	src/knowledge/walk.c src/knowledge/walk.h
