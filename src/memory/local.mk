libtiro_a_SOURCES += \
	src/memory/content.c src/memory/content.h \
	src/memory/memory.c src/memory/memory.h \
	src/memory/recall.c src/memory/recall.h \
	src/memory/sqlite_entries.c \
	src/memory/sqlite_followed.c \
	src/memory/sqlite_health.c \
	src/memory/sqlite_memory.c \
	src/memory/sqlite_private.h \
	src/memory/sqlite_search.c \
	src/memory/summary_flags.c src/memory/summary_flags.h
