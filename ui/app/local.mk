libtui_a_SOURCES += \
	ui/app/app.c ui/app/app.h \
	ui/app/asked.c ui/app/asked.h \
	ui/app/background.c ui/app/background.h \
	ui/app/bare.c ui/app/bare.h \
	ui/app/clipboard.c ui/app/clipboard.h \
	ui/app/commands.c ui/app/commands.h \
	ui/app/corpora.c ui/app/corpora.h \
	ui/app/compact.c ui/app/compact.h \
	ui/app/completion.c ui/app/completion.h \
	ui/app/dispatch.c ui/app/dispatch.h \
	ui/app/errand.c ui/app/errand.h \
	ui/app/faults.c ui/app/faults.h \
	ui/app/find.c ui/app/find.h \
	ui/app/fork.c ui/app/fork.h \
	ui/app/help.c ui/app/help.h \
	ui/app/jump.c ui/app/jump.h \
	ui/app/layout.c ui/app/layout.h \
	ui/app/cards.c ui/app/cards.h \
	ui/app/message.c ui/app/message.h \
	ui/app/notices.c ui/app/notices.h \
	ui/app/options.h \
	ui/app/panes.c ui/app/panes.h \
	ui/app/path_lister.c ui/app/path_lister.h \
	ui/app/picker.c ui/app/picker.h \
	ui/app/pin.c ui/app/pin.h \
	ui/app/plain.c ui/app/plain.h \
	ui/app/plain_commands.c \
	ui/app/plain_corpora.c \
	ui/app/plain_learned.c \
	ui/app/plain_notices.c \
	ui/app/plain_private.h \
	ui/app/plain_questions.c \
	ui/app/plain_reader.c ui/app/plain_reader.h \
	ui/app/plain_writer.c ui/app/plain_writer.h \
	ui/app/screen.c ui/app/screen.h \
	ui/app/slash.c ui/app/slash.h \
	ui/app/turns.c ui/app/turns.h \
	ui/app/ui.c ui/app/ui.h \
	ui/app/way_back.c ui/app/way_back.h
