libtui_a_SOURCES += \
	ui/term/cluster.c ui/term/cluster.h \
	ui/term/glyph.c ui/term/glyph.h \
	ui/term/input.c ui/term/input.h \
	ui/term/key.h \
	ui/term/keymap.c ui/term/keymap.h \
	ui/term/link.c ui/term/link.h \
	ui/term/link_cells.c ui/term/link_cells.h \
	ui/term/notification.c ui/term/notification.h \
	ui/term/probe.c ui/term/probe.h \
	ui/term/rows.c ui/term/rows.h \
	ui/term/signals.c ui/term/signals.h \
	ui/term/style.h \
	ui/term/term.c ui/term/term.h ui/term/term_private.h \
	ui/term/term_draw.c \
	ui/term/term_messages.c \
	ui/term/theme.c ui/term/theme.h \
	ui/term/tty.c ui/term/tty.h
