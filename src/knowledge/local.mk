libtiro_a_SOURCES += \
	src/knowledge/chunk.c src/knowledge/chunk.h \
	src/knowledge/code_language.c src/knowledge/code_language.h \
	src/knowledge/corpora.c src/knowledge/corpora.h src/knowledge/corpora_private.h \
	src/knowledge/corpora_cited.c \
	src/knowledge/corpora_embed.c \
	src/knowledge/corpora_given.c \
	src/knowledge/corpora_health.c \
	src/knowledge/corpora_ingest.c \
	src/knowledge/corpora_read.c \
	src/knowledge/corpora_remove.c \
	src/knowledge/corpora_search.c \
	src/knowledge/corpora_write.c \
	src/knowledge/directive.c src/knowledge/directive.h \
	src/knowledge/directive_patterns.c src/knowledge/directive_patterns.h \
	src/knowledge/document.c src/knowledge/document.h \
	src/knowledge/document_loaders.h \
	src/knowledge/entity_text.c src/knowledge/entity_text.h \
	src/knowledge/extraction.c src/knowledge/extraction.h \
	src/knowledge/flow.c src/knowledge/flow.h \
	src/knowledge/folded_words.c src/knowledge/folded_words.h \
	src/knowledge/graph.h src/knowledge/graph_private.h \
	src/knowledge/graph_delete.c \
	src/knowledge/graph_export.c \
	src/knowledge/graph_health.c \
	src/knowledge/graph_import.c \
	src/knowledge/graph_hint.c src/knowledge/graph_hint.h \
	src/knowledge/graph_read.c \
	src/knowledge/graph_row.c \
	src/knowledge/graph_search.c \
	src/knowledge/graph_write.c \
	src/knowledge/ignore.c src/knowledge/ignore.h \
	src/knowledge/ingest_files.c src/knowledge/ingest_private.h \
	src/knowledge/ingest_load.c \
	src/knowledge/learned.c src/knowledge/learned.h \
	src/knowledge/learned_access.c \
	src/knowledge/learned_extract.c src/knowledge/learned_extract.h \
	src/knowledge/learned_health.c \
	src/knowledge/learned_list.c src/knowledge/learned_private.h \
	src/knowledge/instructions.c src/knowledge/instructions.h \
	src/knowledge/learned_prompt.c src/knowledge/learned_prompt.h \
	src/knowledge/load_epub.c \
	src/knowledge/load_html.c src/knowledge/load_html.h \
	src/knowledge/load_markdown.c \
	src/knowledge/load_office.c \
	src/knowledge/load_program.c \
	src/knowledge/load_text.c \
	src/knowledge/lone_texts.h \
	src/knowledge/markup.h \
	src/knowledge/own_words.c src/knowledge/own_words.h \
	src/knowledge/package.h \
	src/knowledge/package_xml.c \
	src/knowledge/project.c src/knowledge/project.h \
	src/knowledge/rerank.c src/knowledge/rerank.h \
	src/knowledge/sentences.c src/knowledge/sentences.h \
	src/knowledge/session_digest.c src/knowledge/session_digest.h \
	src/knowledge/walk.c src/knowledge/walk.h

# Formats whose library is not there say so.
if HAVE_LIBXML2
libtiro_a_SOURCES += src/knowledge/markup.c
else
libtiro_a_SOURCES += src/knowledge/markup_none.c
endif
if HAVE_LIBARCHIVE
libtiro_a_SOURCES += src/knowledge/package.c
else
libtiro_a_SOURCES += src/knowledge/package_none.c
endif
EXTRA_DIST += \
	src/knowledge/markup.c src/knowledge/markup_none.c \
	src/knowledge/package.c src/knowledge/package_none.c
