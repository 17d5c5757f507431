libtiro_a_SOURCES += \
	src/base/buf.h \
	src/base/child.c src/base/child.h \
	src/base/clock.c src/base/clock.h \
	src/base/entropy.c src/base/entropy.h \
	src/base/environment.c src/base/environment.h \
	src/base/err.c src/base/err.h \
	src/base/i18n.h \
	src/base/json.c src/base/json.h \
	src/base/json_out.c src/base/json_out.h \
	src/base/json_pack.h \
	src/base/mem.c src/base/mem.h \
	src/base/paths.c src/base/paths.h \
	src/base/sandbox.c src/base/sandbox.h \
	src/base/shape.c src/base/shape.h \
	src/base/utf8.c src/base/utf8.h \
	src/base/vec.h \
	src/base/wakeup.h \
	src/base/worker.c src/base/worker.h
