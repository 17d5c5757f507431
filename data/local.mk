# Files that are built into the program (src/base/paths.h). Every file of data/ that the program
# reads at run time stands here.
EMBEDDED_FILES = \
	data/completion/engine.bash \
	data/completion/engine.fish \
	data/completion/engine.zsh \
	data/forms/english.txt \
	data/forms/french.txt \
	data/forms/german.txt \
	data/forms/spanish.txt \
	data/models.ini \
	data/prompts/compaction-again.md \
	data/prompts/compaction-focus.md \
	data/prompts/compaction-fold.md \
	data/prompts/compaction-handoff.md \
	data/prompts/compaction-llm-replace.md \
	data/prompts/compaction-sections.md \
	data/prompts/compaction-structured.md \
	data/prompts/compaction-update.md \
	data/prompts/learned-extract.md \
	data/prompts/system.md \
	data/prompts/title.md \
	data/schema.sql \
	data/skills/memory-retrieval/SKILL.md \
	data/stopwords/dutch.txt \
	data/stopwords/english.txt \
	data/stopwords/french.txt \
	data/stopwords/german.txt \
	data/stopwords/italian.txt \
	data/stopwords/portuguese.txt \
	data/stopwords/russian.txt \
	data/stopwords/spanish.txt \
	data/stopwords/swedish.txt \
	data/stopwords/turkish.txt \
	data/themes/dark.ini \
	data/themes/high-contrast.ini \
	data/themes/light.ini \
	data/themes/mono.ini \
	data/themes/solarized-light.ini \
	data/themes/solarized.ini \
	data/tiro.ini \
	data/words.txt

# They ask the installed program for the rest, so that nothing of it has to run while it is built.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = data/completion/bash/tiro
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = data/completion/zsh/_tiro
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = data/completion/fish/tiro.fish

# Units of systemd for the user, within the prefix: systemd looks in /usr and /usr/local.
SERVICES = data/systemd/tiro.service data/systemd/tiro-import.service
EXTRA_DIST += data/systemd/tiro.service.in data/systemd/tiro-import.service.in \
	data/systemd/tiro.socket
if HAVE_SYSTEMD
systemduserunit_DATA = data/systemd/tiro.socket $(SERVICES)
CLEANFILES += $(SERVICES)
endif

data/systemd/tiro.service: data/systemd/tiro.service.in
data/systemd/tiro-import.service: data/systemd/tiro-import.service.in
$(SERVICES): Makefile
	$(AM_V_at)$(MKDIR_P) data/systemd
	$(AM_V_GEN)$(SED) 's,@[b]indir@,$(bindir),' $(srcdir)/$@.in >$@.tmp
	$(AM_V_at)mv $@.tmp $@

MANUAL = data/man/tiro.7 data/man/tiro.1 data/man/tiro.ini.5
dist_man_MANS = $(MANUAL)

nodist_libtiro_a_SOURCES += data/embedded.c
CLEANFILES += data/embedded.c data/manual.md
EXTRA_DIST += data/embed.sh data/manual.awk $(EMBEDDED_FILES)

# The manual pages as the offline provider quotes them.
data/manual.md: $(MANUAL) data/manual.awk
	$(AM_V_at)$(MKDIR_P) data
	$(AM_V_GEN)cd $(srcdir)/data/man && $(AWK) -f ../manual.awk tiro.7 tiro.1 tiro.ini.5 \
		>$(abs_builddir)/$@.tmp
	$(AM_V_at)mv $@.tmp $@

data/embedded.c: $(EMBEDDED_FILES) data/manual.md data/embed.sh
	$(AM_V_at)$(MKDIR_P) data
	$(AM_V_GEN)$(SHELL) $(srcdir)/data/embed.sh $(srcdir) $(EMBEDDED_FILES) data/manual.md >$@.tmp
	$(AM_V_at)mv $@.tmp $@

# The program as a plugin of other agents (doc/protocols.md).
plugindir = $(pkgdatadir)/plugin
dist_plugin_DATA = data/plugin/plugin.json data/plugin/mcp.json
pluginclaudedir = $(plugindir)/.claude-plugin
dist_pluginclaude_DATA = data/plugin/.claude-plugin/plugin.json data/plugin/.claude-plugin/marketplace.json
pluginhooksdir = $(plugindir)/hooks
dist_pluginhooks_DATA = data/plugin/hooks/hooks.json
pluginmemorydir = $(plugindir)/skills/memory
dist_pluginmemory_DATA = data/plugin/skills/memory/SKILL.md
