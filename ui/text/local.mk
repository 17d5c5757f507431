libtui_a_SOURCES += \
	ui/text/editor.c ui/text/editor.h \
	ui/text/folds.c ui/text/folds.h \
	ui/text/format.c ui/text/format.h \
	ui/text/highlight.c ui/text/highlight.h \
	ui/text/markdown.c ui/text/markdown.h \
	ui/text/markdown_blocks.c \
	ui/text/markdown_private.h \
	ui/text/markdown_spans.c \
	ui/text/wrap.c ui/text/wrap.h
