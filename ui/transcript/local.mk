libtui_a_SOURCES += \
	ui/transcript/compaction_card.c ui/transcript/compaction_card.h \
	ui/transcript/compaction_card_rows.c \
	ui/transcript/dropped.c ui/transcript/dropped.h \
	ui/transcript/fold.c ui/transcript/fold.h \
	ui/transcript/fold_compactions.c \
	ui/transcript/fold_pages.c \
	ui/transcript/fold_spoken.c \
	ui/transcript/fold_turns.c \
	ui/transcript/item.c ui/transcript/item.h \
	ui/transcript/item_layout.c ui/transcript/item_layout.h \
	ui/transcript/message_row.c ui/transcript/message_row.h \
	ui/transcript/recalled.c ui/transcript/recalled.h \
	ui/transcript/tool_row.c \
	ui/transcript/transcript.c ui/transcript/transcript.h \
	ui/transcript/transcript_citations.c \
	ui/transcript/transcript_find.c \
	ui/transcript/transcript_private.h \
	ui/transcript/transcript_scroll.c \
	ui/transcript/transcript_source.c
