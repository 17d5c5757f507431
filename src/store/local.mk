libtiro_a_SOURCES += \
	src/store/db_files.c src/store/db_files.h \
	src/store/db_pages.c src/store/db_pages.h \
	src/store/event_log.c src/store/event_log.h \
	src/store/health.c src/store/health.h \
	src/store/language.c src/store/language.h \
	src/store/recover.c \
	src/store/salvage.c src/store/salvage.h \
	src/store/sessions.c src/store/sessions.h \
	src/store/snapshot.c src/store/snapshot.h \
	src/store/sql.c src/store/sql.h \
	src/store/store.c src/store/store.h \
	src/store/tokenizer.c src/store/tokenizer.h
