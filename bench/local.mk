# A program that measures: `make bench`, never part of `make check`. BENCH="start idle" takes some.
EXTRA_PROGRAMS += bench/tiro-bench
CLEANFILES += bench/tiro-bench$(EXEEXT)

bench_tiro_bench_SOURCES = \
	bench/chat.c bench/chat.h \
	bench/main.c \
	bench/make_session.c bench/make_session.h \
	bench/measure_bulk.c \
	bench/measure_idle.c \
	bench/measure_resume.c \
	bench/measure_start.c \
	bench/measure_stream.c \
	bench/measures.h \
	bench/process.c bench/process.h \
	bench/prose.c bench/prose.h \
	bench/source.c bench/source.h \
	bench/table.c bench/table.h \
	tests/screen.c tests/screen.h
bench_tiro_bench_LDADD = libtiro.a $(LTLIBINTL) $(LIBINTL) $(DEPS_LIBS) $(VTERM_LIBS) -lutil

bench: tiro$(EXEEXT) bench/tiro-bench$(EXEEXT)
	TIRO='$(abs_top_builddir)/tiro' bench/tiro-bench $(BENCH)

.PHONY: bench
