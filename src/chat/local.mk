libtiro_a_SOURCES += \
	src/chat/attached_file.c src/chat/attached_file.h \
	src/chat/context.c src/chat/context.h \
	src/chat/corpora.c src/chat/corpora.h \
	src/chat/decision.h \
	src/chat/event.c src/chat/event.h \
	src/chat/event_fields.c \
	src/chat/event_pieces.c src/chat/event_pieces.h \
	src/chat/extract.c src/chat/extract.h \
	src/chat/figure.c src/chat/figure.h \
	src/chat/graph.c src/chat/graph.h \
	src/chat/history.c src/chat/history.h \
	src/chat/history_compact.c \
	src/chat/history_json.c \
	src/chat/history_pairs.c src/chat/history_private.h \
	src/chat/learned_item.c src/chat/learned_item.h \
	src/chat/log_messages.c src/chat/log_messages.h \
	src/chat/memory_entry.c src/chat/memory_entry.h \
	src/chat/memory_excerpt.c src/chat/memory_excerpt.h \
	src/chat/memory_hit.c src/chat/memory_hit.h \
	src/chat/message.c src/chat/message.h \
	src/chat/message_source.c src/chat/message_source.h \
	src/chat/rebuild.c src/chat/rebuild.h \
	src/chat/request_size.c src/chat/request_size.h \
	src/chat/search_hit.c src/chat/search_hit.h \
	src/chat/session_info.c src/chat/session_info.h \
	src/chat/session_tally.c src/chat/session_tally.h \
	src/chat/transcript_text.c src/chat/transcript_text.h \
	src/chat/usage.c src/chat/usage.h
