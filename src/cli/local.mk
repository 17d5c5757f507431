tiro_SOURCES += \
	src/cli/cmd_chat.c \
	src/cli/cmd_config.c \
	src/cli/cmd_corpus.c \
	src/cli/cmd_doctor.c \
	src/cli/cmd_graph.c \
	src/cli/cmd_hook.c \
	src/cli/cmd_import.c \
	src/cli/cmd_space.c \
	src/cli/cmd_learned.c \
	src/cli/cmd_mcp.c \
	src/cli/cmd_permissions.c \
	src/cli/cmd_memory.c \
	src/cli/cmd_plugin.c \
	src/cli/cmd_run.c \
	src/cli/cmd_serve.c \
	src/cli/cmd_sessions.c \
	src/cli/cmd_skills.c \
	src/cli/command_line.c src/cli/command_line.h \
	src/cli/completion.c \
	src/cli/input.c src/cli/input.h \
	src/cli/main.c \
	src/cli/output.c src/cli/output.h \
	src/cli/run_output.c src/cli/run_output.h \
	src/cli/session_options.c src/cli/session_options.h \
	src/cli/setup.c src/cli/setup.h \
	src/cli/signals.c src/cli/signals.h \
	src/cli/verb.c src/cli/verb.h
