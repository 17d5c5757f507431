# A target: tests/fuzz/NAME.c here, its row in tests/fuzz/targets.h, its seeds in tests/fuzz/seeds/NAME/.
FUZZ_TARGET_SOURCES = \
	tests/fuzz/acp.c \
	tests/fuzz/acp_answer.c \
	tests/fuzz/answer.c tests/fuzz/answer.h \
	tests/fuzz/anthropic.c \
	tests/fuzz/approval.c \
	tests/fuzz/config.c \
	tests/fuzz/doclist.c \
	tests/fuzz/document.c \
	tests/fuzz/embedding.c \
	tests/fuzz/event.c \
	tests/fuzz/event_struct.c \
	tests/fuzz/glob.c \
	tests/fuzz/graph.c \
	tests/fuzz/graph_lines.c \
	tests/fuzz/history.c \
	tests/fuzz/http_request.c \
	tests/fuzz/import.c \
	tests/fuzz/json.c \
	tests/fuzz/key_command.c \
	tests/fuzz/keys.c \
	tests/fuzz/learned.c \
	tests/fuzz/lines.c \
	tests/fuzz/markdown.c \
	tests/fuzz/mcp.c \
	tests/fuzz/memory.c \
	tests/fuzz/ollama.c \
	tests/fuzz/openai.c \
	tests/fuzz/pages.c \
	tests/fuzz/rpc.c \
	tests/fuzz/schema.c \
	tests/fuzz/search.c \
	tests/fuzz/secrets.c \
	tests/fuzz/server_error.c \
	tests/fuzz/skill.c \
	tests/fuzz/snapshot.c \
	tests/fuzz/sse.c \
	tests/fuzz/theme.c \
	tests/fuzz/time.c \
	tests/fuzz/transcript.c \
	tests/fuzz/utf8.c \
	tests/fuzz/wrap.c

FUZZ_SOURCES = $(FUZZ_TARGET_SOURCES) tests/fuzz/fuzz.c tests/fuzz/fuzz.h tests/fuzz/targets.h

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
