libtiro_a_SOURCES += \
	src/agent/agent.c \
	src/agent/agent.h \
	src/agent/approval.c \
	src/agent/approval.h \
	src/agent/bounds.c \
	src/agent/bounds.h \
	src/agent/budget.c \
	src/agent/budget.h \
	src/agent/confine.c \
	src/agent/confine.h \
	src/agent/pattern.c \
	src/agent/pattern.h \
	src/agent/prompt.c \
	src/agent/prompt.h \
	src/agent/simple_command.c \
	src/agent/simple_command.h \
	src/agent/tool.c \
	src/agent/tool.h \
	src/agent/tool_files.c \
	src/agent/tool_graph.c \
	src/agent/tool_memory.c \
	src/agent/tool_run_command.c \
	src/agent/tool_search_files.c \
	src/agent/tool_write.c \
	src/agent/turn.h \
	src/agent/turn_compact.c \
	src/agent/turn_tools.c
