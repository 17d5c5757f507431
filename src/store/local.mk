libtiro_a_SOURCES += \
	src/store/event_log.c src/store/event_log.h \
	src/store/migrate.c src/store/migrate.h \
	src/store/sessions.c src/store/sessions.h \
	src/store/snapshot.c src/store/snapshot.h \
	src/store/sql.c src/store/sql.h \
	src/store/store.c src/store/store.h
