libtiro_a_SOURCES += \
	src/config/compaction_modes.h \
	src/config/config.c src/config/config.h \
	src/config/config_file.c src/config/config_file.h \
	src/config/edit.c src/config/edit.h \
	src/config/ini.c src/config/ini.h \
	src/config/keys.h \
	src/config/load.c \
	src/config/nearest.c \
	src/config/value.c \
	src/config/values.h
