libtiro_a_SOURCES += \
	src/space/carrier.c src/space/carrier.h \
	src/space/folder.c
