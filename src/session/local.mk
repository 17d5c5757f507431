libtiro_a_SOURCES += \
	src/session/backend.c src/session/backend.h \
	src/session/capability.c src/session/capability.h \
	src/session/catalog.c src/session/catalog.h \
	src/session/catalog_fork.c \
	src/session/compaction_operations.c src/session/compaction_operations.h \
	src/session/config_check.c src/session/config_check.h \
	src/session/conversation.c src/session/conversation.h src/session/conversation_private.h \
	src/session/conversation_change.c \
	src/session/conversation_compact.c \
	src/session/conversation_context.c \
	src/session/conversation_corpora.c \
	src/session/conversation_surface.c \
	src/session/conversation_learned.c \
	src/session/conversation_prompt.c \
	src/session/conversation_memory.c \
	src/session/conversation_operations.c src/session/conversation_operations.h \
	src/session/conversation_place.c \
	src/session/conversation_serve.c \
	src/session/conversation_session.c \
	src/session/conversation_settings.c \
	src/session/conversation_tell.c \
	src/session/conversation_turn.c \
	src/session/corpora_desk.c src/session/corpora_desk.h \
	src/session/corpora_turn.c src/session/corpora_turn.h \
	src/session/corpus_operations.c src/session/corpus_operations.h \
	src/session/desk.c src/session/desk.h \
	src/session/engine.c src/session/engine.h src/session/engine_private.h \
	src/session/engine_front.c \
	src/session/engine_seats.c \
	src/session/engine_serve.c \
	src/session/config_operations.c src/session/config_operations.h \
	src/session/engine_operations.c src/session/engine_operations.h \
	src/session/export.c src/session/export.h \
	src/session/extractor.c src/session/extractor.h \
	src/session/folders.c src/session/folders.h \
	src/session/fork.c src/session/fork.h \
	src/session/graph_operations.c src/session/graph_operations.h \
	src/session/graph_transfer.c \
	src/session/graphs.c src/session/graphs.h \
	src/session/health.c src/session/health.h \
	src/session/image_file.c src/session/image_file.h \
	src/session/import.c src/session/import.h src/session/import_private.h \
	src/session/import_form.c \
	src/session/import_info.c \
	src/session/import_openai.c \
	src/session/import_own.c \
	src/session/import_spool.c \
	src/session/import_text.c src/session/import_text.h \
	src/session/journal.c src/session/journal.h \
	src/session/journal_compact.c src/session/journal_private.h \
	src/session/journal_show.c \
	src/session/lock.c src/session/lock.h \
	src/session/memories.c src/session/memories.h \
	src/session/memories_lines.c src/session/memories_lines.h \
	src/session/learned_operations.c src/session/learned_operations.h \
	src/session/memory_backlog.c \
	src/session/memory_desk.c src/session/memory_desk.h src/session/memory_desk_private.h \
	src/session/memory_operations.c src/session/memory_operations.h \
	src/session/memory_transfer.c \
	src/session/memory_follow.c src/session/memory_follow.h \
	src/session/memory_sink.c src/session/memory_sink.h \
	src/session/memory_work.c \
	src/session/notice.c src/session/notice.h \
	src/session/open_run.c src/session/open_run.h \
	src/session/operation.h src/session/operations.c \
	src/session/operation_request.c src/session/operation_request.h \
	src/session/orphans.c src/session/orphans.h \
	src/session/place.c src/session/place.h \
	src/session/projection.c src/session/projection.h \
	src/session/reader.c src/session/reader.h \
	src/session/removal.c src/session/removal.h \
	src/session/report.c src/session/report.h \
	src/session/session_operations.c src/session/session_operations.h \
	src/session/summary_file.c src/session/summary_file.h
