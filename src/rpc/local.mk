libtiro_a_SOURCES += \
	src/rpc/peer.c src/rpc/peer.h
