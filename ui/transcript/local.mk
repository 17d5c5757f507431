libtui_a_SOURCES += \
	ui/transcript/compaction_card.c ui/transcript/compaction_card.h \
	ui/transcript/compaction_card_rows.c \
	ui/transcript/dropped.c ui/transcript/dropped.h \
	ui/transcript/item.c ui/transcript/item.h \
	ui/transcript/item_layout.c ui/transcript/item_layout.h \
	ui/transcript/message_row.c ui/transcript/message_row.h \
	ui/transcript/recalled.c ui/transcript/recalled.h \
	ui/transcript/tool_row.c ui/transcript/tool_row.h \
	ui/transcript/transcript.c ui/transcript/transcript.h \
	ui/transcript/transcript_compactions.c \
	ui/transcript/transcript_find.c \
	ui/transcript/transcript_items.c ui/transcript/transcript_items.h \
	ui/transcript/transcript_items_private.h \
	ui/transcript/transcript_pages.c \
	ui/transcript/transcript_private.h \
	ui/transcript/transcript_runs.c \
	ui/transcript/transcript_source.c \
	ui/transcript/transcript_spoken.c \
	ui/transcript/transcript_turns.c
