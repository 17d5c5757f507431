libtiro_a_SOURCES += \
	src/base/base64.c src/base/base64.h \
	src/base/buf.c src/base/buf.h \
	src/base/charset.c src/base/charset.h \
	src/base/child.c src/base/child.h \
	src/base/child_environment.c src/base/child_environment.h \
	src/base/clock.c src/base/clock.h \
	src/base/descriptors.c src/base/descriptors.h \
	src/base/die.c src/base/die.h \
	src/base/embedded.c src/base/embedded.h \
	src/base/entropy.c src/base/entropy.h \
	src/base/environment.c src/base/environment.h \
	src/base/err.c src/base/err.h \
	src/base/i18n.h \
	src/base/json.c src/base/json.h \
	src/base/json_out.c src/base/json_out.h \
	src/base/json_pack.c src/base/json_pack.h \
	src/base/json_scan.c src/base/json_scan.h \
	src/base/key_command.c src/base/key_command.h \
	src/base/late_library.c src/base/late_library.h \
	src/base/log.c src/base/log.h \
	src/base/mailbox.c src/base/mailbox.h \
	src/base/mem.c src/base/mem.h \
	src/base/paths.c src/base/paths.h \
	src/base/rfc3339.c src/base/rfc3339.h \
	src/base/shape.c src/base/shape.h \
	src/base/shape_private.h \
	src/base/shape_read.c \
	src/base/shape_schema.c \
	src/base/temporary.c src/base/temporary.h \
	src/base/supervisor.c src/base/supervisor.h \
	src/base/thread.c src/base/thread.h \
	src/base/url.c src/base/url.h \
	src/base/utf8.c src/base/utf8.h \
	src/base/utf8_reveal.c \
	src/base/uuid.c src/base/uuid.h \
	src/base/vec.c src/base/vec.h \
	src/base/wakeup.c src/base/wakeup.h \
	src/base/whole_file.c src/base/whole_file.h \
	src/base/worker.c src/base/worker.h
