libtiro_a_SOURCES += \
	src/serve/server.c src/serve/server.h
