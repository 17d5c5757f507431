libtiro_a_SOURCES += \
	src/mcp/config.c src/mcp/config.h
