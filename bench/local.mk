# A program that measures: `make bench`, never part of `make check`. BENCH="start idle" takes some
# of start idle stream bulk resume interrupt scale compaction.
EXTRA_PROGRAMS += bench/tiro-bench
CLEANFILES += bench/tiro-bench$(EXEEXT)

bench_tiro_bench_SOURCES = \
	bench/chat.c bench/chat.h \
	bench/command.c bench/command.h \
	bench/main.c \
	bench/make_session.c bench/make_session.h \
	bench/make_store.c bench/make_store.h \
	bench/measure_bulk.c \
	bench/measure_compaction.c \
	bench/measure_idle.c \
	bench/measure_interrupt.c \
	bench/measure_long_sessions.c \
	bench/measure_many_sessions.c \
	bench/measure_resume.c \
	bench/measure_start.c \
	bench/measure_stream.c \
	bench/measures.h \
	bench/process.c bench/process.h \
	bench/prose.c bench/prose.h \
	bench/source.c bench/source.h \
	bench/table.c bench/table.h \
	bench/write_session.c bench/write_session.h \
	tests/model_dialects.c tests/model_dialects.h \
	tests/model_listings.c \
	tests/model_server.c tests/model_server.h \
	tests/screen.c tests/screen.h
bench_tiro_bench_LDADD = libtiro.a $(LTLIBINTL) $(LIBINTL) $(DEPS_LIBS) $(MICROHTTPD_LIBS) \
	$(VTERM_LIBS) -lutil

bench: tiro$(EXEEXT) bench/tiro-bench$(EXEEXT)
	TIRO='$(abs_top_builddir)/tiro' bench/tiro-bench $(BENCH)

.PHONY: bench
