tiro_SOURCES += \
	src/cli/cmd_chat.c \
	src/cli/cmd_config.c \
	src/cli/cmd_doctor.c \
	src/cli/cmd_help.c \
	src/cli/cmd_run.c \
	src/cli/cmd_sessions.c \
	src/cli/command_line.c src/cli/command_line.h \
	src/cli/help.c src/cli/help.h \
	src/cli/main.c \
	src/cli/prompt.c src/cli/prompt.h \
	src/cli/run_output.c src/cli/run_output.h \
	src/cli/session_options.c src/cli/session_options.h \
	src/cli/setup.c src/cli/setup.h \
	src/cli/signals.c src/cli/signals.h \
	src/cli/transcript_text.c src/cli/transcript_text.h
