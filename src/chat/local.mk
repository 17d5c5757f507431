libtiro_a_SOURCES += \
	src/chat/change.c src/chat/change.h \
	src/chat/context.h \
	src/chat/event.c src/chat/event.h \
	src/chat/extract.c src/chat/extract.h \
	src/chat/form.c src/chat/form.h \
	src/chat/history.c src/chat/history.h \
	src/chat/image.c src/chat/image.h \
	src/chat/knowledge.c src/chat/knowledge.h \
	src/chat/memory.c src/chat/memory.h \
	src/chat/mention.c src/chat/mention.h \
	src/chat/message.c src/chat/message.h \
	src/chat/rebuild.c src/chat/rebuild.h \
	src/chat/session_info.c src/chat/session_info.h \
	src/chat/transcript_text.c src/chat/transcript_text.h \
	src/chat/usage.c src/chat/usage.h
