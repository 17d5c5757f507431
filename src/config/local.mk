libtiro_a_SOURCES += \
	src/config/config.c src/config/config.h \
	src/config/edit.c src/config/edit.h \
	src/config/ini.c src/config/ini.h \
	src/config/keys.h \
	src/config/permissions.c src/config/permissions.h
