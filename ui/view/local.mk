libtui_a_SOURCES += \
	ui/view/approval.c ui/view/approval.h \
	ui/view/approval_rows.c \
	ui/view/compaction_detail.c ui/view/compaction_detail.h \
	ui/view/compaction_detail_private.h \
	ui/view/compaction_detail_rows.c \
	ui/view/context_view_private.h \
	ui/view/context_rows.c \
	ui/view/context_view.c ui/view/context_view.h \
	ui/view/corpus_view.c ui/view/corpus_view.h \
	ui/view/corpus_view_private.h \
	ui/view/corpus_view_rows.c \
	ui/view/draft_review.c ui/view/draft_review.h \
	ui/view/draft_review_rows.c \
	ui/view/graph_view.c ui/view/graph_view.h \
	ui/view/graph_view_private.h \
	ui/view/graph_view_rows.c \
	ui/view/hints.c ui/view/hints.h \
	ui/view/learned_view.c ui/view/learned_view.h \
	ui/view/learned_view_private.h \
	ui/view/learned_view_rows.c \
	ui/view/list.c ui/view/list.h \
	ui/view/list_view.c ui/view/list_view.h \
	ui/view/memory_line.c ui/view/memory_line.h \
	ui/view/memory_view.c ui/view/memory_view.h \
	ui/view/memory_view_ahead.c \
	ui/view/memory_view_answers.c \
	ui/view/memory_view_asked.c \
	ui/view/memory_view_edit.c \
	ui/view/memory_view_head.c \
	ui/view/memory_view_keys.c \
	ui/view/memory_view_list.c \
	ui/view/memory_view_preview.c \
	ui/view/memory_view_private.h \
	ui/view/memory_view_rows.c \
	ui/view/memory_view_tabs.c \
	ui/view/moves.c ui/view/moves.h \
	ui/view/outline.c ui/view/outline.h \
	ui/view/remark.c ui/view/remark.h \
	ui/view/sessions.c ui/view/sessions.h \
	ui/view/sessions_done.c \
	ui/view/sessions_fields.c \
	ui/view/sessions_hints.c \
	ui/view/sessions_input.c \
	ui/view/sessions_keys.c \
	ui/view/sessions_list.c \
	ui/view/sessions_private.h \
	ui/view/sessions_rows.c \
	ui/view/status.c ui/view/status.h \
	ui/view/view.c ui/view/view.h \
	ui/view/welcome.c ui/view/welcome.h
