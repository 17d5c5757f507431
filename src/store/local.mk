libtiro_a_SOURCES += \
	src/store/db_cell.c src/store/db_cell.h \
	src/store/db_copy.c src/store/db_copy.h \
	src/store/db_lock.c src/store/db_lock.h \
	src/store/db_pages.c src/store/db_pages.h \
	src/store/event_log.c src/store/event_log.h \
	src/store/event_row.c src/store/event_row.h \
	src/store/event_tail.c \
	src/store/health.c src/store/health.h \
	src/store/health_rows.c src/store/health_rows.h \
	src/store/language.c src/store/language.h \
	src/store/migrate.c src/store/migrate.h \
	src/store/recover.c src/store/recover.h \
	src/store/recover_rows.c \
	src/store/salvage.c src/store/salvage.h \
	src/store/scrub.c src/store/scrub.h \
	src/store/session_files.c src/store/session_files.h \
	src/store/session_names.c \
	src/store/session_settings.c src/store/session_settings.h \
	src/store/sessions.c src/store/sessions.h \
	src/store/snapshot.c src/store/snapshot.h \
	src/store/sql.c src/store/sql.h \
	src/store/store.c src/store/store.h \
	src/store/token_fold.c src/store/token_fold.h \
	src/store/token_scan.c src/store/token_scan.h \
	src/store/tokenizer.c src/store/tokenizer.h
