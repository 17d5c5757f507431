libtui_a_SOURCES += \
	ui/text/edit_line.c ui/text/edit_line.h \
	ui/text/editor.c ui/text/editor.h \
	ui/text/editor_history.c \
	ui/text/editor_layout.c \
	ui/text/editor_private.h \
	ui/text/editor_undo.c \
	ui/text/external_editor.c ui/text/external_editor.h \
	ui/text/format.c ui/text/format.h \
	ui/text/highlight.c ui/text/highlight.h \
	ui/text/languages.c \
	ui/text/markdown.c ui/text/markdown.h \
	ui/text/markdown_blocks.c ui/text/markdown_blocks.h \
	ui/text/markdown_code.c ui/text/markdown_code.h \
	ui/text/markdown_spans.c ui/text/markdown_spans.h \
	ui/text/markdown_split.c ui/text/markdown_split.h \
	ui/text/markdown_table.c ui/text/markdown_table.h \
	ui/text/styled.c \
	ui/text/wrap.c ui/text/wrap.h
