libtui_a_SOURCES += \
	ui/transcript/compaction_card.c ui/transcript/compaction_card.h \
	ui/transcript/fold.c ui/transcript/fold.h \
	ui/transcript/item.c ui/transcript/item.h \
	ui/transcript/item_layout.c \
	ui/transcript/messages.c ui/transcript/messages.h \
	ui/transcript/transcript.c ui/transcript/transcript.h \
	ui/transcript/transcript_find.c \
	ui/transcript/transcript_select.c \
	ui/transcript/transcript_private.h
