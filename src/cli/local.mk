tiro_SOURCES += \
	src/cli/cmd_chat.c \
	src/cli/cmd_config.c \
	src/cli/cmd_doctor.c \
	src/cli/cmd_run.c \
	src/cli/cmd_serve.c \
	src/cli/command_line.c src/cli/command_line.h \
	src/cli/completion.c \
	src/cli/config_change.c \
	src/cli/diagnosis.c src/cli/diagnosis.h \
	src/cli/diagnosis_json.c \
	src/cli/diagnosis_text.c \
	src/cli/corpus_change.c \
	src/cli/corpus_list.c \
	src/cli/graph_change.c \
	src/cli/graph_list.c \
	src/cli/grid.c src/cli/grid.h \
	src/cli/help.c \
	src/cli/input.c src/cli/input.h \
	src/cli/learned_change.c \
	src/cli/learned_list.c \
	src/cli/main.c \
	src/cli/memory_change.c \
	src/cli/memory_list.c \
	src/cli/memory_search.c \
	src/cli/memory_stats.c \
	src/cli/memory_transfer.c \
	src/cli/output.c src/cli/output.h \
	src/cli/run_output.c src/cli/run_output.h \
	src/cli/run_tally.c src/cli/run_tally.h \
	src/cli/session_options.c src/cli/session_options.h \
	src/cli/sessions_change.c \
	src/cli/sessions_list.c \
	src/cli/sessions_search.c \
	src/cli/sessions_show.c \
	src/cli/sessions_transfer.c \
	src/cli/setup.c src/cli/setup.h \
	src/cli/signals.c src/cli/signals.h \
	src/cli/verb.c src/cli/verb.h
