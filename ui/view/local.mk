libtui_a_SOURCES += \
	ui/view/approval.c ui/view/approval.h \
	ui/view/browser.c ui/view/browser.h \
	ui/view/compaction_detail.c \
	ui/view/context_view.c ui/view/context_view.h \
	ui/view/corpus_view.c \
	ui/view/draft_review.c ui/view/draft_review.h \
	ui/view/graph_view.c \
	ui/view/hints.c ui/view/hints.h \
	ui/view/learned_view.c \
	ui/view/list.c ui/view/list.h \
	ui/view/memory_line.c ui/view/memory_line.h \
	ui/view/memory_pane.c \
	ui/view/memory_preview.c \
	ui/view/memory_rows.c \
	ui/view/memory_view.c ui/view/memory_view.h \
	ui/view/memory_view_private.h \
	ui/view/outline.c ui/view/outline.h \
	ui/view/restore_view.c ui/view/restore_view.h \
	ui/view/sessions.c ui/view/sessions.h \
	ui/view/sessions_private.h \
	ui/view/sessions_rows.c \
	ui/view/sheet.c ui/view/sheet.h \
	ui/view/status.c ui/view/status.h \
	ui/view/view.c ui/view/view.h
