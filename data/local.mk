# Files that are built into the program (src/base/embedded.h). Every file of data/ that the program
# reads at run time stands here.
EMBEDDED_FILES = \
	data/models.ini \
	data/offline.md \
	data/prompts/system.md \
	data/schema.sql \
	data/themes/dark.ini \
	data/themes/light.ini \
	data/themes/mono.ini \
	data/tiro.ini

nodist_libtiro_a_SOURCES += data/embedded.c
CLEANFILES += data/embedded.c
EXTRA_DIST += data/embed.sh $(EMBEDDED_FILES)

data/embedded.c: $(EMBEDDED_FILES) data/embed.sh
	$(AM_V_at)$(MKDIR_P) data
	$(AM_V_GEN)$(SHELL) $(srcdir)/data/embed.sh $(srcdir) $(EMBEDDED_FILES) >$@.tmp
	$(AM_V_at)mv $@.tmp $@
