libtui_a_SOURCES += \
	ui/app/app.c ui/app/app.h \
	ui/app/cards.c ui/app/cards.h \
	ui/app/clipboard.c ui/app/clipboard.h \
	ui/app/commands.c \
	ui/app/completion.c ui/app/completion.h \
	ui/app/corpora.c ui/app/corpora.h \
	ui/app/dispatch.c ui/app/dispatch.h \
	ui/app/faults.c ui/app/faults.h \
	ui/app/find.c ui/app/find.h \
	ui/app/imports.c ui/app/imports.h \
	ui/app/mentions.c ui/app/mentions.h \
	ui/app/notices.c ui/app/notices.h \
	ui/app/panes.c ui/app/panes.h \
	ui/app/picker.c ui/app/picker.h \
	ui/app/plain.c ui/app/plain.h \
	ui/app/plain_commands.c \
	ui/app/lines.c ui/app/lines.h \
	ui/app/plain_io.c ui/app/plain_io.h \
	ui/app/plain_notices.c \
	ui/app/run.h \
	ui/app/screen.c ui/app/screen.h \
	ui/app/select.c ui/app/select.h \
	ui/app/slash.c ui/app/slash.h \
	ui/app/turns.c ui/app/turns.h \
	ui/app/welcome.c ui/app/welcome.h \
	ui/app/ui.c
