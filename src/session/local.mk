libtiro_a_SOURCES += \
	src/session/attach.c src/session/attach.h \
	src/session/backend.c src/session/backend.h \
	src/session/capability.c src/session/capability.h \
	src/session/catalog.c src/session/catalog.h \
	src/session/claude_lines.c src/session/claude_lines.h \
	src/session/config_operations.c src/session/config_operations.h \
	src/session/conversation.c src/session/conversation.h \
	src/session/conversation_compact.c \
	src/session/conversation_memory.c \
	src/session/conversation_operations.c src/session/conversation_operations.h \
	src/session/conversation_place.c \
	src/session/conversation_private.h \
	src/session/conversation_restore.c \
	src/session/conversation_session.c \
	src/session/conversation_turn.c \
	src/session/corpora_desk.c src/session/corpora_desk.h \
	src/session/corpus_operations.c src/session/corpus_operations.h \
	src/session/desk.c src/session/desk.h \
	src/session/engine.c src/session/engine.h \
	src/session/engine_private.h \
	src/session/engine_seats.c \
	src/session/export.c src/session/export.h \
	src/session/extractor.c src/session/extractor.h \
	src/session/folders.c src/session/folders.h \
	src/session/graph_operations.c src/session/graph_operations.h \
	src/session/health.c src/session/health.h \
	src/session/import.c src/session/import.h \
	src/session/import_desk.c src/session/import_desk.h \
	src/session/import_follow.c src/session/import_follow.h \
	src/session/import_form.c \
	src/session/import_operations.c src/session/import_operations.h \
	src/session/import_private.h \
	src/session/journal.c src/session/journal.h \
	src/session/learned_operations.c src/session/learned_operations.h \
	src/session/lock.c src/session/lock.h \
	src/session/mcp_operations.c src/session/mcp_operations.h \
	src/session/memories.h \
	src/session/memory_desk.c src/session/memory_desk.h \
	src/session/memory_operations.c src/session/memory_operations.h \
	src/session/memory_sink.c src/session/memory_sink.h \
	src/session/memory_transfer.c \
	src/session/notice.h \
	src/session/operation.c src/session/operation.h \
	src/session/permission_operations.c \
	src/session/skill_operations.c \
	src/session/space_desk.c src/session/space_desk.h \
	src/session/space_operations.c src/session/space_operations.h \
	src/session/plugin_operations.c src/session/plugin_operations.h \
	src/session/projection.c src/session/projection.h \
	src/session/session_operations.c src/session/session_operations.h
