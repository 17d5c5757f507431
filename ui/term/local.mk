libtui_a_SOURCES += \
	ui/term/cells.c ui/term/cells.h \
	ui/term/keymap.c ui/term/keymap.h \
	ui/term/probe.c ui/term/probe.h \
	ui/term/rows.c ui/term/rows.h \
	ui/term/term.c ui/term/term.h \
	ui/term/term_draw.c \
	ui/term/term_private.h \
	ui/term/theme.c ui/term/theme.h \
	ui/term/tty.c ui/term/tty.h
