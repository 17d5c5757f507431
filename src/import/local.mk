libtiro_a_SOURCES += \
	src/import/aichat.c \
	src/import/aider.c \
	src/import/antigravity.c \
	src/import/chatgpt.c \
	src/import/claude.c \
	src/import/claude_ai.c \
	src/import/codex.c \
	src/import/copilot.c \
	src/import/cursor.c \
	src/import/gemini.c \
	src/import/opencode.c \
	src/import/pi.c \
	src/import/private.h \
	src/import/prompts.c \
	src/import/reader.c \
	src/import/scan.c src/import/scan.h \
	src/import/simple.c \
	src/import/sink.c \
	src/import/source.h \
	src/import/sources.c \
	src/import/tables.c \
	src/import/text.c src/import/text.h \
	src/import/watch.c src/import/watch.h
