libtiro_a_SOURCES += \
	src/provider/anthropic.c \
	src/provider/choose.c \
	src/provider/choose.h \
	src/provider/exchange.c \
	src/provider/exchange.h \
	src/provider/failure.c \
	src/provider/failure.h \
	src/provider/http.c \
	src/provider/http.h \
	src/provider/mask.c \
	src/provider/mask.h \
	src/provider/offline.c \
	src/provider/offline.h \
	src/provider/offline_rank.c \
	src/provider/ollama.c \
	src/provider/openai.c \
	src/provider/outgoing.c \
	src/provider/outgoing.h \
	src/provider/provider.c \
	src/provider/provider.h \
	src/provider/responses.c \
	src/provider/sse.c \
	src/provider/sse.h \
	src/provider/stream.c \
	src/provider/stream.h
