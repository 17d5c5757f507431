# A target: in one of these files, its row in tests/fuzz/fuzz.h, its seeds in tests/fuzz/seeds/NAME/.
FUZZ_SOURCES = \
	tests/fuzz/base.c \
	tests/fuzz/fuzz.c tests/fuzz/fuzz.h \
	tests/fuzz/memory.c \
	tests/fuzz/provider.c \
	tests/fuzz/screen.c \
	tests/fuzz/serve.c \
	tests/fuzz/session.c

EXTRA_PROGRAMS += tests/fuzz/fuzz
tests_fuzz_fuzz_SOURCES = tests/fuzz/libfuzzer.c $(FUZZ_SOURCES)
tests_fuzz_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

EXTRA_DIST += tests/fuzz/run.sh tests/fuzz/seeds tests/fuzz/dictionaries

# Each target for this long, two at a time; FUZZ="sse json" takes some. What is found is kept in
# tests/fuzz/findings of the build tree, what leads somewhere in tests/fuzz/corpus.
if FUZZING
fuzz: tests/fuzz/fuzz$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) \
	FUZZ="$(FUZZ)" FUZZ_SEED="$(FUZZ_SEED)" SECONDS_EACH=$${SECONDS_EACH-$$(($${MINUTES-1} * 60))} JOBS=$${JOBS-2} \
		$(SHELL) $(srcdir)/tests/fuzz/run.sh
else
fuzz:
	@echo 'This build is none for the fuzzer; configure another with --enable-fuzzing CC=clang.' >&2
	@exit 1
endif
.PHONY: fuzz
