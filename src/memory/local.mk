libtiro_a_SOURCES += \
	src/memory/content.c src/memory/content.h \
	src/memory/quoting.c src/memory/quoting.h \
	src/memory/recall.c src/memory/recall.h \
	src/memory/secrets.c src/memory/secrets.h \
	src/memory/sqlite_around.c \
	src/memory/sqlite_deferred.c \
	src/memory/sqlite_followed.c \
	src/memory/sqlite_forget.c \
	src/memory/sqlite_health.c \
	src/memory/sqlite_index.c \
	src/memory/sqlite_private.h \
	src/memory/sqlite_row.c \
	src/memory/sqlite_scope.c \
	src/memory/sqlite_search.c \
	src/memory/sqlite_memory.c \
	src/memory/memory.c src/memory/memory.h
