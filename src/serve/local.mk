# The Agent Client Protocol.
libtiro_a_SOURCES += \
	src/serve/acp.c src/serve/acp.h src/serve/acp_private.h \
	src/serve/acp_answer.c src/serve/acp_answer.h \
	src/serve/acp_commands.c \
	src/serve/acp_difference.c src/serve/acp_difference.h \
	src/serve/acp_options.c src/serve/acp_options.h \
	src/serve/acp_prompt.c src/serve/acp_prompt.h \
	src/serve/acp_session.c \
	src/serve/acp_terminal.c \
	src/serve/acp_tool_call.c src/serve/acp_tool_call.h \
	src/serve/acp_turn.c \
	src/serve/acp_updates.c src/serve/acp_updates.h \
	src/serve/acp_wanted.c \
	src/serve/acp_words.c src/serve/acp_words.h

libtiro_a_SOURCES += \
	src/serve/authority.c src/serve/authority.h \
	src/serve/activation.c src/serve/activation.h \
	src/serve/contract.c src/serve/contract.h \
	src/serve/describe.c src/serve/describe.h \
	src/serve/http_checks.c src/serve/http_checks.h \
	src/serve/http_describe.c src/serve/http_describe.h \
	src/serve/http_events.c src/serve/http_events.h \
	src/serve/http_exchange.c src/serve/http_exchange.h \
	src/serve/http_feed.c src/serve/http_feed.h \
	src/serve/http_mcp.c src/serve/http_mcp.h \
	src/serve/http_private.h \
	src/serve/http_routes.c src/serve/http_routes.h \
	src/serve/http_server.c src/serve/http_server.h \
	src/serve/http_service.c src/serve/http_service.h \
	src/serve/http_surface.c src/serve/http_surface.h \
	src/serve/http_target.c src/serve/http_target.h \
	src/serve/http_ticket.c src/serve/http_ticket.h \
	src/serve/http_token.c src/serve/http_token.h \
	src/serve/jsonrpc.c src/serve/jsonrpc.h \
	src/serve/jsonrpc_methods.c \
	src/serve/jsonrpc_private.h \
	src/serve/libmicrohttpd.c src/serve/libmicrohttpd.h \
	src/serve/listening.c src/serve/listening.h \
	src/serve/notice_json.c src/serve/notice_json.h \
	src/serve/questions.c src/serve/questions.h \
	src/serve/server.c src/serve/server.h \
	src/serve/socket.c src/serve/socket.h \
	src/serve/subscriptions.c src/serve/subscriptions.h \
	src/serve/tails.c src/serve/tails.h \
	src/serve/transfer.c src/serve/transfer.h \
	src/serve/wire.c src/serve/wire.h

libtiro_a_SOURCES += \
	src/serve/mcp.c src/serve/mcp.h src/serve/mcp_private.h \
	src/serve/mcp_admit.c src/serve/mcp_admit.h \
	src/serve/mcp_call.c \
	src/serve/mcp_http.c \
	src/serve/mcp_lines.c \
	src/serve/mcp_resources.c \
	src/serve/mcp_subscriptions.c \
	src/serve/mcp_tools.c \
	src/serve/mcp_turn.c \
	src/serve/mcp_uri.c src/serve/mcp_uri.h
