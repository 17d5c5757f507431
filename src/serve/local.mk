libtiro_a_SOURCES += \
	src/serve/acp.c src/serve/acp.h \
	src/serve/acp_commands.c \
	src/serve/acp_editor.c \
	src/serve/acp_private.h \
	src/serve/acp_prompt.c \
	src/serve/acp_session.c \
	src/serve/acp_updates.c src/serve/acp_updates.h \
	src/serve/contract.c src/serve/contract.h \
	src/serve/describe.c src/serve/describe.h \
	src/serve/http_events.c src/serve/http_events.h \
	src/serve/http_request.c src/serve/http_request.h \
	src/serve/http_server.c src/serve/http_server.h \
	src/serve/http_service.c src/serve/http_service.h \
	src/serve/jsonrpc.c src/serve/jsonrpc.h \
	src/serve/libmicrohttpd.c src/serve/libmicrohttpd.h \
	src/serve/mcp.c src/serve/mcp.h \
	src/serve/mcp_admit.c \
	src/serve/mcp_private.h \
	src/serve/mcp_graph.c \
	src/serve/mcp_resources.c \
	src/serve/mcp_tools.c \
	src/serve/notification.c src/serve/notification.h \
	src/serve/server.c src/serve/server.h \
	src/serve/socket.c src/serve/socket.h \
	src/serve/wire.c src/serve/wire.h
