libtiro_a_SOURCES += \
	src/session/backend.c src/session/backend.h \
	src/session/command.c src/session/command.h \
	src/session/journal.c src/session/journal.h \
	src/session/lock.c src/session/lock.h \
	src/session/notice.c src/session/notice.h \
	src/session/reader.c src/session/reader.h \
	src/session/report.c src/session/report.h \
	src/session/service.c src/session/service.h \
	src/session/worker.c src/session/worker.h
