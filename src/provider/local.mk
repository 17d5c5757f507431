libtiro_a_SOURCES += \
	src/provider/anthropic.c \
	src/provider/choose.c src/provider/choose.h \
	src/provider/choose_ollama.c \
	src/provider/dialects.h \
	src/provider/exchange.c src/provider/exchange.h \
	src/provider/failure.c src/provider/failure.h \
	src/provider/host.c src/provider/host.h \
	src/provider/http.c src/provider/http.h \
	src/provider/image.c src/provider/image.h \
	src/provider/libcurl.c src/provider/libcurl.h \
	src/provider/lines.c src/provider/lines.h \
	src/provider/mask.c src/provider/mask.h \
	src/provider/model_name.c src/provider/model_name.h \
	src/provider/models.c src/provider/models.h \
	src/provider/offline.c \
	src/provider/offline_extract.c \
	src/provider/offline_path.c \
	src/provider/offline_plan.c src/provider/offline_plan.h \
	src/provider/offline_rank.c src/provider/offline_rank.h \
	src/provider/offline_recall.c \
	src/provider/ollama.c \
	src/provider/openai.c \
	src/provider/outgoing.c src/provider/outgoing.h \
	src/provider/provider.c src/provider/provider.h \
	src/provider/server_error.c src/provider/server_error.h \
	src/provider/sse.c src/provider/sse.h \
	src/provider/stream.c src/provider/stream.h
