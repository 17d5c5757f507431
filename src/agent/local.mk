libtiro_a_SOURCES += \
	src/agent/agent.c src/agent/agent.h \
	src/agent/approval.c src/agent/approval.h \
	src/agent/budget.c src/agent/budget.h \
	src/agent/builtin.c src/agent/builtin.h \
	src/agent/confine.c src/agent/confine.h \
	src/agent/difference.c src/agent/difference.h \
	src/agent/glob.c src/agent/glob.h \
	src/agent/graph_words.c src/agent/graph_words.h \
	src/agent/guard.c src/agent/guard.h \
	src/agent/head_tail.c src/agent/head_tail.h \
	src/agent/prompt.c src/agent/prompt.h \
	src/agent/regex.c src/agent/regex.h \
	src/agent/skill.c src/agent/skill.h \
	src/agent/tool.c src/agent/tool.h \
	src/agent/tool_call.c src/agent/tool_call.h \
	src/agent/tool_corpus.c \
	src/agent/tool_graph.c \
	src/agent/tool_learned_search.c \
	src/agent/tool_list_directory.c \
	src/agent/tool_memory_read.c \
	src/agent/tool_memory_search.c \
	src/agent/tool_read_file.c \
	src/agent/tool_run_command.c \
	src/agent/tool_search_files.c \
	src/agent/tool_surface.h \
	src/agent/tool_write_file.c \
	src/agent/toolset.c src/agent/toolset.h \
	src/agent/turn.h \
	src/agent/turn_compact.c \
	src/agent/turn_events.c \
	src/agent/turn_limits.c \
	src/agent/turn_tools.c
