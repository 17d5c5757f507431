libtiro_a_SOURCES += \
	src/agent/agent.c src/agent/agent.h \
	src/agent/confine.c src/agent/confine.h \
	src/agent/rows.h \
	src/agent/schema.c src/agent/schema.h \
	src/agent/tool_list_directory.c \
	src/agent/tool_read_file.c \
	src/agent/tools.c src/agent/tools.h
