libtiro_a_SOURCES += \
	src/mcp/client.c src/mcp/client.h \
	src/mcp/client_private.h \
	src/mcp/config.c src/mcp/config.h \
	src/mcp/content.c \
	src/mcp/dialogue.c \
	src/mcp/http_link.c \
	src/mcp/offers.c \
	src/mcp/plugins.c src/mcp/plugins.h \
	src/mcp/stdio.c
