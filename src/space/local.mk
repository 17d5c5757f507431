libtiro_a_SOURCES += \
	src/space/carrier.c src/space/carrier.h \
	src/space/folder.c \
	src/space/replica.c \
	src/space/space.c src/space/space.h
